// Parallel loops on the host: OpenMP regions, which the runtime's pk_fork runs. Written into each
// module, they would be two thirds of the code of a small parallel function.
#ifndef PARAKEET_BACKENDS_OPENMP_EMIT_PARALLEL_H_
#define PARAKEET_BACKENDS_OPENMP_EMIT_PARALLEL_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// Runs bodies on the team of the call. A loop that is too small for a fork, and every loop of a
// team of one, is one direct call of its body, or what stands for it.
//
// The trips are cut into pieces: one a thread where trips cost little, several where they cost much
// or nobody knows, which threads then take one after another. Pieces depend on the team, never on
// which threads the OpenMP library grants.
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
