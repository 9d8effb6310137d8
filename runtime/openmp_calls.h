// The functions of the bound OpenMP library that compilers write parallel regions with.
#ifndef PARAKEET_RUNTIME_OPENMP_CALLS_H_
#define PARAKEET_RUNTIME_OPENMP_CALLS_H_

#include <cstdint>

namespace parakeet::runtime {

class OpenMpCalls {
 public:
  // Those of the library that is bound (openmp_library.h). Assumes that one is.
  static const OpenMpCalls& Bound();

  bool IsInParallel() const { return in_parallel_() != 0; }

  // Runs member(data) on each of a team of at most so many threads.
  template <typename Data>
  void Fork(int32_t threads, void (*member)(int32_t* global, int32_t* number, Data* data),
            Data* data) const {
    push_threads_(&location_, thread_number_(&location_), threads);
    fork_(&location_, 1, reinterpret_cast<Member>(member), data);
  }

  // Within a member: run(i) for this thread's share of 0 .. count - 1, where count > 0. Shares are
  // the same each time, or what each thread comes to.
  template <typename Run>
  void ShareStatically(uint64_t count, const Run& run) const {
    const int32_t thread = thread_number_(&location_);
    int32_t is_last = 0;
    uint64_t first = 0, last = count - 1;
    int64_t stride = 1;
    static_init_(&location_, thread, kStatic, &is_last, &first, &last, &stride, 1, 0);
    for (uint64_t i = first; i <= last; ++i) run(i);
    static_end_(&location_, thread);
  }
  template <typename Run>
  void ShareDynamically(uint64_t count, const Run& run) const {
    const int32_t thread = thread_number_(&location_);
    int32_t is_last = 0;
    uint64_t first = 0, last = 0;
    int64_t stride = 1;
    dynamic_init_(&location_, thread, kDynamic, 0, count - 1, 1, 1);
    while (dynamic_next_(&location_, thread, &is_last, &first, &last, &stride) != 0) {
      for (uint64_t i = first; i <= last; ++i) run(i);
    }
  }

  // Milliseconds that workers wait for the next region of this thread's before they sleep.
  int32_t BlockTime() const { return block_time_(); }
  void SetBlockTime(int32_t milliseconds) const { set_block_time_(milliseconds); }

 private:
  // As OpenMP's ident_t.
  struct Location {
    int32_t reserved1 = 0;
    int32_t flags = 2;
    int32_t reserved2 = 0;
    int32_t reserved3 = 0;
    const char* source = ";parakeet;runtime;0;0;;";
  };
  using Member = void (*)(int32_t*, int32_t*, void*);

  // As OpenMP's sched_type: static without chunks; dynamic, in an order that need not rise.
  static constexpr int32_t kStatic = 34;
  static constexpr int32_t kDynamic = 35 | 1 << 30;

  OpenMpCalls();

  static Location location_;
  int32_t (*in_parallel_)();
  int32_t (*thread_number_)(Location*);
  void (*push_threads_)(Location*, int32_t, int32_t);
  void (*fork_)(Location*, int32_t, Member, ...);
  void (*static_init_)(Location*, int32_t thread, int32_t schedule, int32_t* is_last,
                       uint64_t* first, uint64_t* last, int64_t* stride, int64_t step,
                       int64_t chunk);
  void (*static_end_)(Location*, int32_t);
  void (*dynamic_init_)(Location*, int32_t thread, int32_t schedule, uint64_t first, uint64_t last,
                        int64_t step, int64_t chunk);
  int32_t (*dynamic_next_)(Location*, int32_t thread, int32_t* is_last, uint64_t* first,
                           uint64_t* last, int64_t* stride);
  int32_t (*block_time_)();
  void (*set_block_time_)(int32_t);
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_OPENMP_CALLS_H_
