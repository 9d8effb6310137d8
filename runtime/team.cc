#include "runtime/team.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace parakeet::runtime {
namespace {

constexpr const char* kVariable = "PARAKEET_NUM_THREADS";

std::atomic<int32_t> thread_count{0};  // 0: not asked for yet

// 0 when the text is no number in range.
int32_t ParseThreadCount(const char* text) {
  char* end = nullptr;
  errno = 0;
  const long count = std::strtol(text, &end, 10);
  const bool is_number = errno == 0 && end != text && *end == 0;
  return is_number && count >= 1 && count <= kMaxThreads ? int32_t(count) : 0;
}

// A mask grows until it holds as many cores as the kernel knows of.
int32_t CountUsableCores() {
  for (int cores = CPU_SETSIZE; cores <= (1 << 20); cores *= 2) {
    const size_t size = CPU_ALLOC_SIZE(cores);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(cores), [](cpu_set_t* set) { CPU_FREE(set); });
    if (mask == nullptr) break;
    if (sched_getaffinity(0, size, mask.get()) == 0) return CPU_COUNT_S(size, mask.get());
    if (errno != EINVAL) break;
  }
  return 1;
}

int32_t DefaultThreadCount() {
  const char* text = std::getenv(kVariable);
  const int32_t count = text == nullptr ? 0 : ParseThreadCount(text);
  return count > 0 ? count : std::clamp(CountUsableCores(), 1, kMaxThreads);
}

}  // namespace

int32_t ThreadCount() {
  int32_t count = thread_count.load(std::memory_order_relaxed);
  if (count > 0) return count;
  const int32_t first = DefaultThreadCount();
  // A number that someone has set meanwhile stays.
  return thread_count.compare_exchange_strong(count, first) ? first : count;
}

bool SetThreadCount(int32_t count) {
  if (count < 1 || count > kMaxThreads) return false;
  thread_count.store(count, std::memory_order_relaxed);
  return true;
}

std::string ThreadCountProblem() {
  const char* text = std::getenv(kVariable);
  if (text == nullptr || ParseThreadCount(text) > 0) return "";
  return std::string(kVariable) + " is '" + text + "'; expected a number from 1 to " +
         std::to_string(kMaxThreads);
}

}  // namespace parakeet::runtime
