#include "runtime/shared_accesses.h"

#include "runtime/device_abi.h"

namespace parakeet::runtime {

int32_t SharedAccesses::Note(int64_t thread, int64_t offset, int64_t bytes, bool is_store) {
  int32_t other = kNone;
  for (int64_t i = offset; i < offset + bytes; ++i) {
    Cell& cell = cells_[uint64_t(i)];
    const int32_t found =
        is_store ? NoteStore(cell, int32_t(thread)) : NoteLoad(cell, int32_t(thread));
    if (found != kNone) other = found;
  }
  return other;
}

bool SharedAccesses::IsBehind(const Accessor& earlier, int32_t thread) const {
  return earlier.step != step_ && earlier.thread / kPkWarpThreads == thread / kPkWarpThreads;
}

int32_t SharedAccesses::NoteStore(Cell& cell, int32_t thread) const {
  int32_t other = kNone;
  if (cell.stored_in == interval_ && IsConcurrent(cell.storer, thread)) other = cell.storer.thread;
  if (cell.loaded_in == interval_) {
    for (const Accessor& loader : {cell.loader, cell.other_loader})
      if (IsConcurrent(loader, thread)) other = loader.thread;
  }
  cell.stored_in = interval_;
  cell.storer = {thread, step_};
  return other;
}

int32_t SharedAccesses::NoteLoad(Cell& cell, int32_t thread) const {
  const Accessor own = {thread, step_};
  if (cell.loaded_in != interval_) {
    cell.loaded_in = interval_;
    cell.loader = cell.other_loader = own;
  } else if (cell.loader.thread == thread || IsBehind(cell.loader, thread)) {
    // Whoever is not in order with the later load is not with the earlier one.
    if (cell.other_loader.thread == cell.loader.thread) cell.other_loader = own;
    cell.loader = own;
  } else {
    cell.other_loader = own;
  }
  const bool races = cell.stored_in == interval_ && IsConcurrent(cell.storer, thread);
  return races ? cell.storer.thread : kNone;
}

}  // namespace parakeet::runtime
