#ifndef PARAKEET_PASSES_ANALYSES_FIND_HISTOGRAMS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_HISTOGRAMS_H_

#include <optional>
#include <string>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// An array of which a loop changes elements by h[k] = h[k] op w alone.
struct Histogram {
  const ir::Var* array;
  ir::OpCode combine;                     // of two copies
  std::vector<const ir::Binding*> steps;  // h[k] op w

  // What a copy starts from: combined with it, an element keeps its bits.
  std::optional<ir::Constant> Start() const;
};

// The arrays that a loop counts or sums in, where it stores to nothing else that outlives an
// iteration.
class HistogramLoop {
 public:
  // `arrays` are the function's, in order of definition; `overlapping` those of its parameters that
  // may share memory with themselves or another.
  HistogramLoop(const ir::Binding& loop, const Roots& roots,
                const std::vector<const ir::Var*>& arrays, const ir::VarSet& overlapping);

  const ir::Binding& loop() const { return loop_; }
  const std::vector<Histogram>& found() const { return found_; }
  // Why iterations may not run in another order although there are such arrays; else empty.
  const std::string& reason() const { return reason_; }
  // True where an iteration may raise and the arrays show what was stored before: its checks are
  // to be made before it runs (lowering/checks_alone.h), as they can be where there is no reason.
  bool must_check_first() const { return must_check_first_; }

 private:
  std::optional<Histogram> Find(const ir::Var* root) const;
  std::string WhyNot() const;

  const ir::Binding& loop_;
  const Roots& roots_;
  std::vector<Histogram> found_;
  std::string reason_;
  bool must_check_first_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_HISTOGRAMS_H_
