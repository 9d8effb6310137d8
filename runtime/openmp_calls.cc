#include "runtime/openmp_calls.h"

#include "runtime/openmp_library.h"

namespace parakeet::runtime {
namespace {

template <typename Function>
void Find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(OpenMpSymbol(name));
}

}  // namespace

OpenMpCalls::Location OpenMpCalls::location_;

const OpenMpCalls& OpenMpCalls::Bound() {
  static const OpenMpCalls calls;
  return calls;
}

OpenMpCalls::OpenMpCalls() {
  Find(in_parallel_, "omp_in_parallel");
  Find(thread_number_, "__kmpc_global_thread_num");
  Find(push_threads_, "__kmpc_push_num_threads");
  Find(fork_, "__kmpc_fork_call");
  Find(static_init_, "__kmpc_for_static_init_8u");
  Find(static_end_, "__kmpc_for_static_fini");
  Find(dynamic_init_, "__kmpc_dispatch_init_8u");
  Find(dynamic_next_, "__kmpc_dispatch_next_8u");
  Find(block_time_, "kmp_get_blocktime");
  Find(set_block_time_, "kmp_set_blocktime");
}

}  // namespace parakeet::runtime
