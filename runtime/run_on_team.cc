#include "runtime/run_on_team.h"

#include <atomic>

#include "runtime/openmp_calls.h"
#include "runtime/openmp_library.h"

namespace parakeet::runtime {
namespace {

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
  return OpenMpCalls::Bound().IsInParallel() ? 1 : call->team;
}

void RunOnTeam(int32_t threads, int64_t count, const std::function<void(int64_t)>& task) {
  Tasks tasks{&task, count};
  if (threads <= 1 || count <= 1) return tasks.RunOnes();
  OpenMpCalls::Bound().Fork(threads, RunMember, &tasks);
}

}  // namespace parakeet::runtime
