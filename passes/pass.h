#ifndef PARAKEET_PASSES_PASS_H_
#define PARAKEET_PASSES_PASS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"
#include "ir/ops.h"
#include "ir/span.h"

namespace parakeet::passes {

// What a remark is about: for each binding of the source, the last remark of a topic is what holds.
enum class Topic : uint8_t {
  kOther,
  kFusion,       // a producer put into what reads it
  kSiblings,     // traversals made one
  kNests,        // loops in loops made one, or exchanged
  kThreads,      // spread over threads
  kLanes,        // spread over the lanes of vectors
  kContraction,  // written as a matrix product is
  kMemory,       // where results are written
  kShapes,       // what is assumed of sizes
};
std::string_view Name(Topic topic);

// What came of it. A refusal costs the user something: the report gives its reason where the code
// as it runs still bears it out. An aside is found among all the notes only.
enum class Verdict : uint8_t { kDone, kRefused, kAside };
std::string_view Name(Verdict verdict);

// Something a pass did or refused, where, and why.
struct Remark {
  std::string pass;
  ir::Span span;
  std::string text;
  Topic topic = Topic::kOther;
  Verdict verdict = Verdict::kAside;
  ir::Span other = {};  // the other party: what reads it, the sibling; unknown where there is none
};

// What a pass may know beside the program. Serial and parallel take the same options, but that the
// one has one thread: one schedule serves both.
struct Options {
  bool fastmath = false;
  // Whether loops have one thread, whatever runs them: the code has nothing for several then. No
  // bit depends on it.
  bool one_thread = false;
  // Whether the program may give up, with nothing done, for shapes that it does not take
  // (assume_shapes.cc).
  bool assume_shapes = true;
  // Whether products with a short side have tiles of their own. Code without them gives up a call
  // with such a side, where it may give up (expect_long_sides.cc). No bit depends on it.
  bool short_sides = false;
  // Whether threads share each row where rows are few and long (iterate_in_order, lower_to_loops).
  // Other code gives up a call with such rows likewise, where they are rows of parameters.
  bool few_rows = false;
  // Of the widest vector register. What is summed in registers is tiled for it; no order of a sum
  // depends on it, so neither do results.
  int vector_bytes = 64;
  // Whether lanes read places that data say faster than as many reads one by one. Neither does any
  // order of a sum depend on this.
  bool fast_gathers = true;
  // Arrays of so many bytes, and of so many for each thread, are better stored past the caches. 0:
  // none is known to be.
  struct {
    int64_t least = int64_t{32} << 20;
    int64_t of_thread = 0;
  } streamed;
  // Bytes of the rows that a thread goes through in several steps of a time loop at once: a part of
  // its own cache. And how many each thread has at least in all steps that are done at once, where
  // it is worth waiting for the others.
  struct {
    int64_t of_band = int64_t{1} << 19;
    int64_t of_thread = int64_t{1} << 17;
  } tiled;
  // Elements of arrays, at least, of which a kernel makes several steps of a time loop; and how
  // many times what brings all arrays back it does, 0: as often as is worth it.
  struct {
    int64_t least = int64_t{1} << 16;
    int64_t repeated = 0;
  } joined;
  // Whether threads of a GPU take what threads of the host would: one element each, without lanes.
  bool kernels = false;
  // Of the entry's parameters, in order, the lengths of axes that every call has; 0 where calls
  // differ. Shorter lists say nothing of the rest. No order of a sum depends on them: nothing
  // before choose_trees asks, but sort_known_rows, which leaves reductions as they are.
  std::vector<std::vector<int64_t>> lengths;
  // Forms (forms.def) that are not to be used; names of passes may be among them.
  std::set<std::string, std::less<>> left_out;
  bool HasForm(std::string_view form) const { return !left_out.contains(form); }
  // Numbers of the entry's results that may be left in a device's memory, as arrays without axes.
  std::vector<size_t> kept_results;
};

// The axes whose lengths may be known: the last, the one before it and the one before that, where
// they have two elements or more, and at most so many; of two axes, both at most the first.
inline constexpr int64_t kMostKnownLengths[] = {16, 8, 4};

// A pass's surroundings: its options, and where its remarks go.
struct Context {
  Options options;
  std::vector<Remark> remarks;
  // Numbers of the entry's parameters for which better code could be made if the lengths of their
  // short axes were known, where they are not.
  std::set<size_t> better_with_lengths;

  // Keeps a remark of the running pass, which the pass manager names.
  void Note(const ir::Span& span, std::string text, Topic topic = Topic::kOther,
            Verdict verdict = Verdict::kAside, const ir::Span& other = {}) {
    remarks.push_back({running, span, std::move(text), topic, verdict, other});
  }
  std::string running;
};

// A pass is a function of its input and options. It returns the same function pointers where it
// changes nothing.
using PassFunction = ir::Program (*)(const ir::Program&, Context&);

// One row of passes.def.
struct Pass {
  std::string_view name;  // as in --passes=: "fuse-vertically"
  PassFunction run;
  ir::Stage before;  // the stage its input verifies at
  ir::Stage after;   // the stage its output verifies at
  std::string_view doc;
};

const std::vector<Pass>& AllPasses();
// Names of all forms (forms.def).
const std::vector<std::string_view>& AllForms();
// The pass of that name; null when there is none.
const Pass* FindPass(std::string_view name);

// Whether a pipeline can do without the pass. It cannot without one from stage to stage, nor
// without write_one_by_one: backends take no vector loops.
bool IsOptional(const Pass& pass);

// A value as remarks name it: "%x", or what it is where it has no name.
std::string NameOf(const ir::Var* value);

#define PARAKEET_PASS(Function, name, before, after, doc) \
  ir::Program Function(const ir::Program&, Context&);
#include "passes/passes.def"

// The program with `rewrite` applied to every function.
ir::Program ForEachFunction(const ir::Program& program,
                            const std::function<const ir::Function*(const ir::Function*)>& rewrite);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_PASS_H_
