#include "runtime/shared_accesses.h"

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

int32_t SharedAccesses::NoteStore(Cell& cell, int32_t thread) const {
  int32_t other = kNone;
  if (cell.stored_in == interval_ && cell.storer != thread) other = cell.storer;
  if (cell.loaded_in == interval_) {
    if (cell.loader != thread) other = cell.loader;
    if (cell.other_loader != thread) other = cell.other_loader;
  }
  cell.stored_in = interval_;
  cell.storer = thread;
  return other;
}

int32_t SharedAccesses::NoteLoad(Cell& cell, int32_t thread) const {
  if (cell.loaded_in != interval_) {
    cell.loaded_in = interval_;
    cell.loader = cell.other_loader = thread;
  } else if (cell.loader != thread) {
    cell.other_loader = thread;
  }
  return cell.stored_in == interval_ && cell.storer != thread ? cell.storer : kNone;
}

}  // namespace parakeet::runtime
