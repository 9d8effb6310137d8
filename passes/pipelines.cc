#include "passes/pipelines.h"

#include <algorithm>
#include <set>

namespace parakeet::passes {

const std::vector<std::string_view>& CpuPipeline() {
  static const auto* const kPasses = new std::vector<std::string_view>{
      "inline-calls",
      "simplify",
      "eliminate-common-subexpressions",
      "eliminate-dead-code",
      // Before all that asks how often loops run.
      "count-bits",
      "count-whiles",
      // Of loops that are counted now.
      "count-carried",
      // What ranges decide of sizes is no assumption.
      "prove-bounds",
      "simplify",
      // Before checks are looked at: an index that is known is in range, or is not.
      "unroll-loops",
      "keep-sizes",
      "assume-shapes",
      // Again: counts that are one make sizes that loops carry one, and checks of them true.
      "eliminate-common-subexpressions",
      "simplify",
      "prove-bounds",
      "simplify",
      // Behind what knows sizes to be equal, while views are slices.
      "narrow-makers",
      // Before express-by-index, which makes dense what a library is to sort.
      "sort-by-network",
      // Of rows that are not known to be short.
      "select-of-sorted",
      "turn-maps",
      "express-by-index",
      "simplify",
      // Before all that would go through such rows, or make arrays of them.
      "unroll-short-rows",
      // Before split-at-borders: ends that a loop's condition reads are known where it begins.
      "hoist-conditions",
      // Before loops are split at borders, whose parts would have to be put together.
      "drop-fills",
      // Before borders are looked for, which are known in front of a loop: `i + p - k // 2`.
      "hoist-invariants",
      // Before prove-bounds, which sees what is so between the borders.
      "split-at-borders",
      "version-loops",
      // Bounds first: a check that stays hides independence and forbids fusion.
      "prove-bounds",
      "simplify",
      "hoist-invariants",
      "eliminate-common-subexpressions",
      "eliminate-dead-code",
      // By places that are one value where they are equal.
      "read-stored",
      "split-at-places",
      "simplify",
      "join-stores",
      // Before what checks are in the way of.
      "check-ends",
      // A sum that is carried is a reduction, or a scan.
      "carry-elements",
      // Again: of counts that were elements.
      "count-bits",
      // An extreme and its place.
      "carry-chosen",
      "read-chosen",
      // Two extremes, of which one was asked for where the other was not.
      "separate-extremes",
      // Before parallelize-loops, to which all that is carried in another way is in order.
      "remake-carried",
      "forward-stores",
      "separate-stores",
      "check-first",
      "parallelize-loops",
      "combine-nested-maps",
      // Before parallelize-loops, which makes maps of nests that fill arrays in order.
      "order-nests",
      // Behind parallelize-loops, which shows what loops inside store.
      "privatize-arrays",
      // Again: nests combined above may fill whole arrays, and iterations have arrays of their own.
      "parallelize-loops",
      // Before fusion, which would put blocks' extremes into what reads them.
      "reduce-by-blocks",
      // Before fusion: an array whose rows are reduced as wholes is not fused.
      "interchange-reductions",
      "join-regions",
      // Before fusion: a map whose checks are made is fused with what reads it.
      "check-places",
      "fuse-elements",
      "combine-nested-maps",
      "fuse-updates",
      "simplify",
      "eliminate-common-subexpressions",
      // Again: of what an array begins with and what a branch stores over it.
      "join-stores",
      "eliminate-dead-code",
      // Behind fuse-elements, which makes one nest of what is done with a row, and before
      // privatize-histograms, which would count in copies.
      "interchange-updates",
      "combine-nested-maps",
      // Again: nests that fusion has combined.
      "order-nests",
      // Again: updates that are sums now, and nests that fill whole arrays.
      "parallelize-loops",
      "combine-nested-maps",
      // Of loops that stay in order; before what counts in copies.
      "join-loops",
      // What privatize-histograms takes as one of its places.
      "place-sums",
      // Behind fuse-elements: rows that are added to are not made first.
      "privatize-histograms",
      // Of what parallelize-loops has left.
      "recognize-filters",
      // Behind fuse-elements: a loop reads what is kept, not arrays made of it.
      "fuse-filters",
      // Of what elements are still made for: recognize-contractions would keep it.
      "unroll-short-axes",
      // While reductions still stand by themselves.
      "block-triangles",
      "recognize-contractions",
      // As soon as there are products: a call that has others is compiled anew.
      "expect-long-sides",
      "shift-moments",
      "shift-column-moments",
      "fuse-horizontally",
      // Again: siblings that share a traversal share what is put into it.
      "fuse-vertically",
      "combine-nested-maps",
      "simplify",
      "eliminate-common-subexpressions",
      "eliminate-dead-code",
      // Behind combine-nested-maps, which would undo it. Within a row, an element is cheap that
      // waited for a reduction.
      "fuse-rows",
      "fuse-vertically",
      "fuse-horizontally",
      "eliminate-common-subexpressions",
      // Behind fusion, which joins what a step does.
      "interchange-loops",
      // Again: what steps begin with is made where they are.
      "fuse-elements",
      "hoist-invariants",
      "eliminate-common-subexpressions",
      // Of what a step handed on under another name, which nobody may read behind the last.
      "eliminate-dead-code",
      // Of what fusion has left, since a contraction is fused into nothing.
      "fuse-epilogues",
      // Of what is left of contractions and their readers.
      "block-contractions",
      // Behind all that fuses what a step does.
      "renew-arrays",
      // Again: of what is fused into nothing.
      "fuse-updates",
      // Again: of what an array begins with and what a branch stores over it.
      "join-stores",
      // Behind all that looks for values, to which stores are opaque; before schedule, which says
      // how the new nests run.
      "fill-rest",
      // Behind fusion, to which an iteration is one element; before choose-trees, which gives
      // operators their orders by where they stand.
      "iterate-in-order",
      // Behind what fuses, so that orders of sums follow from no lengths that only some calls have.
      "sort-known-rows",
      "place-results",
      // Behind place-results, which writes over what a step has read for the last time: of arrays
      // that a step still makes anew.
      "begin-with-sources",
      // Of rows that are sorted, few elements may be read again, and none of what they were.
      "simplify",
      "read-stored",
      "unroll-short-maps",
      "narrow-reductions",
      // Behind all that fuses into contractions.
      "dot-thin-rows",
      // Behind what knows sums of products, as contractions are.
      "split-complex-sums",
      "narrow-integers",
      // By other names than the passes above look for.
      "flatten-loads",
      "see-rows",
      "eliminate-dead-code",
      // Of divisions that are left, those of reductions.
      "make-turned-first",
      "split-indexes",
      // Behind all that looks for sums of columns, or makes less of a nest.
      "fuse-panels",
      "eliminate-dead-code",
      // Behind all that asks which nests there are; choose-trees gives each its order.
      "split-nests",
      "choose-trees",
      // Behind choose-trees: orders of sums follow from no lengths that only some calls have.
      "unroll-reductions",
      // Behind all that looks for maps.
      "split-maps-at-borders",
      "simplify",
      "prove-bounds",
      "simplify",
      // Again: of the sizes of parts, which tile-steps asks for before the loop.
      "hoist-invariants",
      // Behind all that makes nests of a step; before rows become parts of lines.
      "tile-steps",
      // Of what no reduction is left in.
      "flatten-maps",
      "unroll-last-axes",
      // Again: sums that have been written out.
      "narrow-integers",
      "store-behind-checks",
      // Behind choose-trees, which says what is added in order, and what makes maps of nests.
      "check-within-sums",
      "eliminate-common-subexpressions",
      // Behind all that looks for reductions; before schedule, which asks what lanes read.
      "load-before-branches",
      // Behind choose-trees, which says where lanes go; its maps are scheduled too.
      "gather-columns",
      // Before jam-neighbours, which makes what is left of rows a few at a time.
      "separate-ends",
      // Behind choose-trees, whose orders it keeps.
      "jam-neighbours",
      // Behind what knows how often a loop runs, and loads in front of it.
      "leave-settled",
      "schedule",
      // Of what schedule leaves to one thread.
      "store-at-once",
      // Behind schedule, which says what lanes take.
      "load-for-lanes",
      "lower-to-loops",
      // Again: sums of what is small.
      "narrow-integers",
      "simplify",
      "settle-ties",
      // Before vectorize-loops, which gives lanes to what tells whether an extreme stays.
      "repeat-extremes",
      "forget-last-values",
      "eliminate-dead-code",
      "vectorize-loops",
      // Nothing is left for it, but where vectorize-loops has been disabled.
      "write-one-by-one",
      // Of what no lanes have taken.
      "search-in-lanes",
      "simplify",
      "eliminate-common-subexpressions",
      // Behind vectorize-loops, which gives lanes what it knows the form of.
      "combine-carried-last",
      "flatten-lanes",
      // By indexes that are one value where they are equal.
      "join-lanes",
      "hoist-loads",
      "branch-checks",
      // Behind what makes branches of checks that it cannot join.
      "join-checks",
      // Behind what knows which loads join-lanes reads as whole vectors.
      "carry-lanes",
      "eliminate-dead-code",
      "prefetch-streams",
      "even-costs",
      // Behind all that looks for stores, or for the loops around them.
      "stream-stores",
      "hoist-arrays",
      // Frees name what is left, so nothing may run after it.
      "plan-memory",
  };
  return *kPasses;
}

const std::vector<std::string_view>& ProfiledPipeline() {
  static const auto* const kPasses = [] {
    auto* passes = new std::vector<std::string_view>(CpuPipeline());
    passes->insert(std::find(passes->begin(), passes->end(), "lower-to-loops"), "mark-regions");
    return passes;
  }();
  return *kPasses;
}

const std::vector<std::string_view>& GpuPipeline() {
  static const auto* const kPasses = [] {
    // Each thread of a GPU makes one element: what is made for many in the caches of a core or in
    // lanes is made otherwise, and all of an array by one kernel.
    const std::set<std::string_view> left_out = {"split-at-borders",  "version-loops",
                                                 "split-nests",       "split-maps-at-borders",
                                                 "dot-thin-rows",     "fill-rest",
                                                 "fuse-panels",       "flatten-maps",
                                                 "block-triangles",   "block-contractions",
                                                 "unroll-last-axes",  "vectorize-loops",
                                                 "flatten-lanes",     "store-behind-checks",
                                                 "join-lanes",        "hoist-loads",
                                                 "branch-checks",     "prefetch-streams",
                                                 "even-costs",        "write-one-by-one",
                                                 "stream-stores",     "load-before-branches",
                                                 "store-at-once",     "hoist-arrays",
                                                 "gather-columns",    "make-turned-first",
                                                 "join-checks",       "tile-steps",
                                                 "repeat-extremes",   "separate-ends",
                                                 "expect-long-sides", "search-in-lanes",
                                                 "load-for-lanes",    "check-places",
                                                 "carry-lanes"};
    auto* passes = new std::vector<std::string_view>;
    for (std::string_view pass : CpuPipeline()) {
      // Before what sees sums in updates.
      if (pass == "carry-elements") passes->push_back("gather-updates");
      // Behind all that fuses, and before arrays share memory.
      if (pass == "place-results")
        passes->insert(passes->end(), {"merge-regions", "separate-scans"});
      // Before what makes maps of nests that fill arrays, and behind the fusion of elements: what
      // that leaves of an iteration is made as arrays.
      if (pass == "interchange-updates")
        passes->insert(passes->end(), {"block-triangles", "box-triangles", "distribute-loops"});
      // What that leaves is shifted.
      if (pass == "shift-moments") passes->push_back("moments-by-rows");
      // Rows that are sorted are made by what fuses from here on; scatters may sort their places.
      if (pass == "fuse-filters")
        passes->insert(passes->end(), {"share-scatters", "sort-on-device"});
      // Of elements that need no loop around a step's.
      if (pass == "fuse-epilogues") passes->push_back("fuse-steps");
      if (pass == "plan-memory") {
        passes->insert(passes->end(), {"keep-loops-in-block", "run-on-host", "extract-kernels",
                                       "keep-scalars-on-device", "join-blocks"});
      }
      if (pass == "jam-neighbours")
        passes->insert(passes->end(), {"make-rows-first", "split-long-rows"});
      if (pass == "lower-to-loops") passes->push_back("call-libraries");
      if (pass == "tile-steps") passes->push_back("join-steps");
      if (!left_out.contains(pass)) passes->push_back(pass);
    }
    return passes;
  }();
  return *kPasses;
}

const std::vector<std::string_view>* FindPipeline(std::string_view name) {
  if (name == "cpu") return &CpuPipeline();
  if (name == "gpu") return &GpuPipeline();
  return name == "profiled" ? &ProfiledPipeline() : nullptr;
}

}  // namespace parakeet::passes
