#include "pylib/compiler/account.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_reuse.h"
#include "passes/analyses/prefix_readers.h"
#include "passes/other_shapes.h"

namespace parakeet::pylib {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Span;

constexpr int64_t kFewOfFixed = 64;  // Elements that are no array's, where their number is fixed.

// Source order, what is around before what is inside.
using Place = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>;

Place PlaceOf(const Span& span) {
  return {span.file, span.line, span.column, -span.end_line, -span.end_column};
}

bool Contains(const Span& outer, const Span& inner) {
  return outer.file == inner.file &&
         std::pair(outer.line, outer.column) <= std::pair(inner.line, inner.column) &&
         std::pair(outer.end_line, outer.end_column) >= std::pair(inner.end_line, inner.end_column);
}

// What the source has there, in a word; empty for what is no operator or loop.
std::string_view KindOf(const Binding& b) {
  switch (b.op) {
    case OpCode::kMap:
    case OpCode::kImap: return "map";
    case OpCode::kReduce:
    case OpCode::kIreduce: return "reduction";
    case OpCode::kScan:
    case OpCode::kIscan: return "scan";
    case OpCode::kFilter: return "filter";
    case OpCode::kCopy: return "copy";
    case OpCode::kFor: return "loop";
    case OpCode::kWhile: return "while loop";
    case OpCode::kCall:
    case OpCode::kLibraryCall: return "call";
    default: return "";
  }
}

// What runs element by element, or as one in another library.
bool IsNest(OpCode op) {
  switch (op) {
    case OpCode::kImap:
    case OpCode::kForeach:
    case OpCode::kIreduce:
    case OpCode::kIscan:
    case OpCode::kIfilter:
    case OpCode::kContract:
    case OpCode::kFor:
    case OpCode::kWhile:
    case OpCode::kCopy:
    case OpCode::kCall:
    case OpCode::kLibraryCall: return true;
    default: return false;
  }
}

bool IsSequentialLoop(OpCode op) { return op == OpCode::kFor || op == OpCode::kWhile; }

// A nest of the scheduled program.
struct Nest {
  Span span;
  OpCode op;
  int around;  // the nest around; -1 for none
  bool is_parallel;
  bool is_traversal;
};

class Accountant {
 public:
  explicit Accountant(bool for_kernels) : for_kernels_(for_kernels) {}

  Account Take() {
    for (auto& [place, made] : operators_) account_.operators.push_back(std::move(made));
    return std::move(account_);
  }

  void SeeBuilt(const Block& block) {
    ir::ForEachBinding(block, [&](const Binding& b) {
      const std::string_view kind = KindOf(b);
      if (kind.empty() || !b.span.IsKnown()) return;
      SourceOperator& made = operators_[PlaceOf(b.span)];
      made.span = b.span;
      if (std::find(made.kinds.begin(), made.kinds.end(), kind) == made.kinds.end())
        made.kinds.emplace_back(kind);
    });
  }

  void SeeScheduled(const ir::Program& program) {
    for (const ir::Function* function : program.functions) {
      FindResults(*function);
      const Counts counts = VisitScheduled(*function->body, -1);
      account_.results += counts.results;
      account_.temporaries += counts.temporaries;
    }
    for (auto& [place, made] : operators_) Settle(&made);
  }

  void SeeFinal(const ir::Function& function, const ir::Sites& sites) {
    sites_ = &sites;
    const Counts counts = VisitFinal(*function.body);
    account_.parallel_regions += counts.regions;
    account_.buffers += counts.allocations;
  }

  void Finish() {
    account_.buffers = std::max(0, account_.buffers - account_.results - account_.temporaries);
    for (const auto& [site, in_loop] : checks_) {
      (in_loop ? account_.checks_in_loops : account_.checks_before)++;
    }
  }

 private:
  // --- The scheduled program: which nests hold the code of which operator. ---

  // Of a part of a program; of the two sides of a branch, the larger of each.
  struct Counts {
    int regions = 0;
    int allocations = 0;
    int results = 0;
    int temporaries = 0;

    void Add(const Counts& more) {
      regions += more.regions;
      allocations += more.allocations;
      results += more.results;
      temporaries += more.temporaries;
    }
    void Raise(const Counts& other) {
      regions = std::max(regions, other.regions);
      allocations = std::max(allocations, other.allocations);
      results = std::max(results, other.results);
      temporaries = std::max(temporaries, other.temporaries);
    }
  };

  void FindResults(const ir::Function& function) {
    const passes::Roots roots(function);
    roots_of_results_.clear();
    for (const ir::Operand& result : function.body->results) {
      if (!result.IsVar() || !result.var()->type.IsArray()) continue;
      const ir::VarSet& of = roots.Of(result.var());
      roots_of_results_.insert(of.begin(), of.end());
    }
    FindScannedOver(function, roots);
    readers_ = passes::FindPrefixReaders(function, for_kernels_);
    for (const auto& [nest, reader] : readers_) {
      for (size_t k = 0; k < reader.arrays.size(); ++k) {
        if (reader.arrays[k] == passes::PrefixReader::kLeftOut)
          scanned_over_.insert(reader.scan->results[k]);
      }
    }
  }

  // Prefixes that are written over what is scanned are no array of their own.
  void FindScannedOver(const ir::Function& function, const passes::Roots& roots) {
    scanned_over_.clear();
    std::vector<const Binding*> marked;
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kIscan && b.attrs.Int(Attr::kOver) != 0) marked.push_back(&b);
    });
    if (marked.empty()) return;
    const passes::ReuseFinder finder(function, /*copies_slices=*/true);
    for (auto scan = marked.rbegin(); scan != marked.rend(); ++scan) {
      for (const ir::Var* result : (*scan)->results) {
        const ir::Var* array = finder.ScannedOver(result);
        if (array == nullptr) continue;
        scanned_over_.insert(result);
        const ir::VarSet& of = roots.Of(array);
        if (roots_of_results_.contains(result)) roots_of_results_.insert(of.begin(), of.end());
      }
    }
  }

  Counts VisitScheduled(const Block& block, int around) {
    Counts counts;
    for (const Binding* b : block.bindings) {
      int here = around;
      const auto reader = readers_.find(b);
      if (reader != readers_.end()) {
        // What takes a scan's prefixes is written in its traversal.
        here = nest_of_.at(reader->second.scan);
      } else if (IsNest(b->op)) {
        here = nest_of_[b] = int(nests_.size());
        nests_.push_back(
            {b->span, b->op, around, b->attrs.Int(Attr::kParallel) != 0, IsTraversal(*b)});
        account_.traversals += nests_.back().is_traversal && !IsInside(around);
      }
      const bool is_of_source = here >= 0 && nests_[here].span.IsKnown();
      if (is_of_source && b->span.IsKnown()) holders_[PlaceOf(b->span)].insert(here);
      if (b->op == OpCode::kAlloc || InfoOf(b->op).format == ir::OpFormat::kIndices)
        SeeArrays(*b, &counts);
      Counts inside;
      for (const Block* inner : b->blocks) {
        inside.Raise(VisitScheduled(*inner, here));
        if (IsLikely(*b)) break;
      }
      counts.Add(inside);
    }
    return counts;
  }

  // Whether the first block of a branch is nearly always the one: it is what is told.
  static bool IsLikely(const Binding& b) { return b.attrs.Int(Attr::kLikely) != 0; }

  // Not of a fixed few elements, which are no array's; nor of another part of what is counted.
  static bool IsTraversal(const Binding& nest) {
    if (IsSequentialLoop(nest.op) || nest.op == OpCode::kCall) return false;
    if (nest.attrs.Int(Attr::kPart) != 0) return false;
    if (ir::InfoOf(nest.op).format != ir::OpFormat::kIndices) return true;
    const size_t rank = nest.blocks[0]->params.size();
    return !std::all_of(nest.operands.begin(), nest.operands.begin() + rank, [](const auto& n) {
      return n.IsConstant() && n.constant().integer <= kFewOfFixed;
    });
  }

  void SeeArrays(const Binding& b, Counts* counts) {
    const auto made = InnermostAt(b.span);
    for (const ir::Var* result : b.results) {
      if (!result->type.IsArray() || scanned_over_.contains(result)) continue;
      const bool is_result = roots_of_results_.contains(result);
      (is_result ? counts->results : counts->temporaries)++;
      if (made != operators_.end()) (is_result ? made->second.results : made->second.temporaries)++;
    }
  }

  // Whether a nest, or one around it, is more than a sequential loop.
  bool IsInside(int nest) const {
    for (; nest >= 0; nest = nests_[nest].around) {
      if (!IsSequentialLoop(nests_[nest].op)) return true;
    }
    return false;
  }

  // The nest itself, or the one around it, that is spread over threads; -1 for none.
  int ParallelAt(int nest) const {
    while (nest >= 0 && !nests_[nest].is_parallel) nest = nests_[nest].around;
    return nest;
  }

  void Settle(SourceOperator* made) {
    std::set<int> holders = HoldersOf(*made);
    for (int nest : holders) made->is_own |= nests_[nest].span == made->span;
    if (made->is_own) {
      std::erase_if(holders, [&](int nest) { return nests_[nest].span != made->span; });
    }
    if (made->is_own && StaysSequential(*made, holders)) {
      made->is_sequential = true;
      std::erase_if(holders, [&](int nest) { return !IsSequentialLoop(nests_[nest].op); });
    }
    size_t spread = 0, apart = 0;
    for (int nest : holders) {
      const int parallel = ParallelAt(nest);
      const bool is_spread = parallel == nest || (parallel >= 0 && holders.contains(parallel));
      spread += made->is_own && is_spread;
      apart += parallel < 0 && nests_[nest].is_traversal;
      if (parallel >= 0 && !is_spread) made->around = nests_[parallel].span;
      const Span& span = nests_[nest].span;
      const bool is_known =
          std::find(made->into.begin(), made->into.end(), span) != made->into.end();
      if (!made->is_own && !is_known) made->into.push_back(span);
    }
    if (spread > 0) {
      made->threads = apart > 0 ? Threads::kPart : Threads::kOwn;
    } else if (made->around.IsKnown()) {
      made->threads = Threads::kAround;
    }
  }

  // Whether a loop of the source is still the loop around its traversals: other nests that bear its
  // span are what passes have put before or into it.
  bool StaysSequential(const SourceOperator& made, const std::set<int>& holders) const {
    const auto is_loop = [](const std::string& kind) { return kind.ends_with("loop"); };
    if (!std::all_of(made.kinds.begin(), made.kinds.end(), is_loop)) return false;
    for (size_t nest = 0; nest < nests_.size(); ++nest) {
      for (int at = nests_[nest].around; at >= 0; at = nests_[at].around) {
        const bool is_it = holders.contains(at) && IsSequentialLoop(nests_[at].op);
        if (is_it && !nests_[at].is_parallel) return true;
      }
    }
    return false;
  }

  // The innermost nests around code of the operator: code of its very span, or else code inside it
  // that belongs to no smaller operator, as the element of a comprehension does.
  std::set<int> HoldersOf(const SourceOperator& made) {
    const auto own = holders_.find(PlaceOf(made.span));
    if (own != holders_.end()) return own->second;
    std::set<int> holders;
    for (const auto& [place, nests] : holders_) {
      const Span inner = SpanAt(place);
      if (!Contains(made.span, inner) || InnermostAt(inner)->second.span != made.span) continue;
      holders.insert(nests.begin(), nests.end());
    }
    return holders.empty() ? HoldersAround(made.span) : holders;
  }

  // Of a loop that has become an index of another: what stands around the nests inside it.
  std::set<int> HoldersAround(const Span& span) const {
    std::set<int> holders;
    for (const auto& [place, nests] : holders_) {
      if (!Contains(span, SpanAt(place))) continue;
      for (int nest : nests) {
        while (nest >= 0 && Contains(span, nests_[nest].span)) nest = nests_[nest].around;
        if (nest >= 0) holders.insert(nest);
      }
    }
    return holders;
  }

  static Span SpanAt(const Place& place) {
    const auto& [file, line, column, end_line, end_column] = place;
    return {file, line, column, -end_line, -end_column};
  }

  // The smallest operator whose source the span is part of; the end where there is none.
  std::map<Place, SourceOperator>::iterator InnermostAt(const Span& span) {
    auto best = operators_.end();
    for (auto at = operators_.begin(); at != operators_.end(); ++at) {
      if (!Contains(at->second.span, span)) continue;
      if (best == operators_.end() || Contains(best->second.span, at->second.span)) best = at;
    }
    return best;
  }

  // --- The final program: lanes, checks, arrays and regions. ---

  Counts VisitFinal(const Block& block) {
    Counts counts;
    for (const Binding* b : block.bindings) {
      SeeLanes(*b);
      if (b->op == OpCode::kCheck) SeeCheck(*b);
      if (b->op == OpCode::kLibraryCall || b->op == OpCode::kCall) SeeCall(*b);
      counts.allocations += b->op == OpCode::kAlloc;
      const bool is_loop = IsSequentialLoop(b->op) || b->op == OpCode::kLanes;
      const std::string_view kind = b->attrs.Text(Attr::kKind);
      counts.regions += kind == "parallel" || kind == "block";
      if (is_loop) around_.push_back(b);
      Counts inside;
      for (const Block* inner : b->blocks) {
        const bool is_rare = IsLikely(*b) && inner != b->blocks[0];
        const size_t loops = is_rare ? around_.size() : most_loops_;
        const size_t outer = std::exchange(most_loops_, std::min(most_loops_, loops));
        const Counts of_block = VisitFinal(*inner);
        most_loops_ = outer;
        if (!is_rare) inside.Raise(of_block);
      }
      if (is_loop) around_.pop_back();
      counts.Add(inside);
    }
    return counts;
  }

  // An operator's code has lanes where a value of its span has, or its loop holds one that has.
  void SeeLanes(const Binding& b) {
    int lanes = 1;
    for (const ir::Var* result : b.results) lanes = std::max(lanes, result->type.lanes());
    if (lanes == 1) return;
    Widen(b.span, lanes);
    if (!around_.empty()) Widen(around_.back()->span, lanes);
  }

  void Widen(const Span& span, int lanes) {
    const auto found = operators_.find(PlaceOf(span));
    if (found == operators_.end() || found->second.is_sequential) return;
    found->second.lanes = std::max(found->second.lanes, lanes);
  }

  void SeeCall(const Binding& b) {
    const auto made = InnermostAt(b.span);
    if (made == operators_.end()) return;
    std::vector<std::string>& calls = made->second.calls;
    const std::string callee(b.attrs.Text(Attr::kCallee));
    if (callee == "matmul") return;  // by the device's own library
    if (std::find(calls.begin(), calls.end(), callee) == calls.end()) calls.push_back(callee);
  }

  // A check that was written several times, for lanes and for what is left, is one.
  void SeeCheck(const Binding& b) {
    const int site = int(b.attrs.Int(Attr::kSite, -1));
    if (site < 0 || passes::IsGuard((*sites_)[site].exception)) return;
    if (around_.size() > most_loops_) return;
    const bool in_loop = !around_.empty();
    const auto [known, is_new] = checks_.try_emplace(site, in_loop);
    const bool was_in_loop = !is_new && known->second;
    known->second |= in_loop;
    if (!in_loop || was_in_loop) return;
    const auto made = InnermostAt(b.span);
    if (made != operators_.end()) made->second.checks.push_back((*sites_)[site].exception);
  }

  Account account_;
  std::map<Place, SourceOperator> operators_;
  std::vector<Nest> nests_;
  std::map<Place, std::set<int>> holders_;  // by the span of a binding, the innermost nests around
  std::vector<const Binding*> around_;      // the loops of the final program that the walk is in
  size_t most_loops_ = SIZE_MAX;  // Those inside more run where another loop's checks have failed.
  ir::VarSet roots_of_results_;
  ir::VarSet scanned_over_;  // and what is in no array at all
  std::unordered_map<const Binding*, passes::PrefixReader> readers_;  // by nest
  std::unordered_map<const Binding*, int> nest_of_;                   // numbers in nests_
  const bool for_kernels_;
  std::map<int, bool> checks_;  // by site, whether one is in a loop
  const ir::Sites* sites_ = nullptr;
};

}  // namespace

Account AccountFor(const ir::Program& built, const ir::Program& scheduled, const ir::Program& final,
                   bool for_kernels) {
  Accountant accountant(for_kernels);
  for (const ir::Function* function : built.functions) accountant.SeeBuilt(*function->body);
  accountant.SeeScheduled(scheduled);
  for (const ir::Function* function : final.functions) accountant.SeeFinal(*function, final.sites);
  accountant.Finish();
  return accountant.Take();
}

}  // namespace parakeet::pylib
