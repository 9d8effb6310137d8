#include "runtime/run_on_team.h"

#include <atomic>

#include "runtime/openmp_library.h"

namespace parakeet::runtime {
namespace {

// As OpenMP's ident_t.
struct Location {
  int32_t reserved1 = 0;
  int32_t flags = 2;
  int32_t reserved2 = 0;
  int32_t reserved3 = 0;
  const char* source = ";parakeet;runtime;0;0;;";
};
Location location;

template <typename Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(OpenMpSymbol(name));
}

struct Tasks {
  const std::function<void(int64_t)>* task;
  int64_t count;
  std::atomic<int64_t> next{0};

  void RunOnes() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) (*task)(i);
  }
};

void RunMember(int32_t* /*global*/, int32_t* /*number*/, Tasks* tasks) { tasks->RunOnes(); }

}  // namespace

int32_t FreeThreads(const PkCall* call) {
  if (call->team <= 1 || !BindOpenMp().empty()) return 1;
  auto* const is_in_parallel = Find<int32_t()>("omp_in_parallel");
  return is_in_parallel == nullptr || is_in_parallel() != 0 ? 1 : call->team;
}

void RunOnTeam(int32_t threads, int64_t count, const std::function<void(int64_t)>& task) {
  Tasks tasks{&task, count};
  if (threads <= 1 || count <= 1) return tasks.RunOnes();
  auto* const number = Find<int32_t(Location*)>("__kmpc_global_thread_num");
  auto* const push = Find<void(Location*, int32_t, int32_t)>("__kmpc_push_num_threads");
  auto* const fork =
      Find<void(Location*, int32_t, void (*)(int32_t*, int32_t*, Tasks*), ...)>("__kmpc_fork_call");
  push(&location, number(&location), threads);
  fork(&location, 1, RunMember, &tasks);
}

}  // namespace parakeet::runtime
