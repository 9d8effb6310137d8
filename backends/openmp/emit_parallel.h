// Parallel loops on the host: calls of the runtime's pk_fork, which weighs whether an OpenMP region
// is worth it. Written into each module, both would be two thirds of a small parallel function.
#ifndef PARAKEET_BACKENDS_OPENMP_EMIT_PARALLEL_H_
#define PARAKEET_BACKENDS_OPENMP_EMIT_PARALLEL_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// Runs bodies on the team of the call. A loop that is too small for a fork, and every loop of a
// team of one, is one direct call of its body, which the runtime makes, or what stands for it.
class OpenMpRunner : public ParallelRunner {
 public:
  // `yields_cores`: between regions a library runs threads of its own; workers sleep meanwhile.
  explicit OpenMpRunner(bool yields_cores) : yields_cores_(yields_cores) {}
  void Run(Emission& emission, llvm::Value* call, llvm::Value* trips, int64_t cost, bool is_even,
           llvm::function_ref<Body()> outline, llvm::function_ref<void()> direct) const override;
  llvm::Value* Team(Emission& emission, llvm::Value* call) const override;

 private:
  bool yields_cores_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_OPENMP_EMIT_PARALLEL_H_
