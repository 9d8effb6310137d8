#include "runtime/cuda_copies.h"

#include <algorithm>
#include <cstring>

#include "runtime/pinned_buffers.h"
#include "runtime/team.h"

namespace parakeet::runtime {
namespace {

constexpr int64_t kSmallBytes = 64 * 1024;  // below which a copy goes through the ring
constexpr int64_t kRingPieceBytes = 256 * 1024;
// The driver takes a piece at a time, which costs it as much as half a MiB on the link; what is in
// the first pieces and the last ones does not overlap. A copy is in this many, within limits.
constexpr int64_t kPieces = 32;
constexpr int64_t kLeastPieceBytes = 1024 * 1024;
constexpr int64_t kMostPieceBytes = 2 * 1024 * 1024;
// A lane's share is worth waking its thread.
constexpr int64_t kLaneBytes = 2 * 1024 * 1024;
constexpr int64_t kMostLanes = 8;

}  // namespace

bool CudaCopies::Job::Take(int64_t* offset, int64_t* size) {
  *offset = next.fetch_add(piece, std::memory_order_relaxed);
  *size = std::min(piece, bytes - *offset);
  return *size > 0 && result.load(std::memory_order_relaxed) == 0;
}

bool CudaCopies::Job::Succeeds(CuResult code) {
  if (code != 0) result.store(code, std::memory_order_relaxed);
  return code == 0;
}

CuResult CudaCopies::MakePiece(Piece* piece, int64_t bytes) {
  if (piece->memory != nullptr) return 0;
  if (piece->event == nullptr) {
    if (const CuResult error = driver_.EventCreate(&piece->event, kCuEventWithoutTime)) {
      return error;
    }
  }
  void* memory = nullptr;
  if (const CuResult error = driver_.MemHostAlloc(&memory, size_t(bytes), 0)) return error;
  piece->memory = static_cast<char*>(memory);
  return 0;
}

// As many lanes as the bytes are worth; fewer where pinned memory ends.
CuResult CudaCopies::MakeLanes(int64_t bytes, size_t* count) {
  const int64_t most = std::min<int64_t>(ThreadCount(), kMostLanes);
  *count = size_t(std::clamp<int64_t>(bytes / kLaneBytes, 1, most));
  while (lanes_.size() < *count) {
    auto lane = std::make_unique<Lane>();
    CuResult error = MakePiece(&lane->pieces[0], kMostPieceBytes);
    if (error == 0) error = MakePiece(&lane->pieces[1], kMostPieceBytes);
    if (error != 0 && lanes_.empty()) return error;
    if (error != 0) break;
    lanes_.push_back(std::move(lane));
  }
  *count = std::min(*count, lanes_.size());
  return 0;
}

CuResult CudaCopies::CopyInLanes(CuAddress device, char* host, int64_t bytes,
                                 void (CudaCopies::*run)(Lane&, Job&)) {
  size_t count = 0;
  if (const CuResult error = MakeLanes(bytes, &count)) return error;
  const int64_t share = bytes / kPieces & -kSmallBytes;
  const int64_t piece = std::clamp(share, kLeastPieceBytes, kMostPieceBytes);
  Job job{device, host, bytes, piece};
  threads_.Run(count, [&](size_t lane) {
    const bool is_ready = lane == 0 || job.Succeeds(driver_.CtxSetCurrent(context_));
    if (is_ready) (this->*run)(*lanes_[lane], job);
  });
  return job.result.load();
}

// ---------------------------------------------------------------------------------------------
// Up
// ---------------------------------------------------------------------------------------------

// Memory that the stream no longer reads.
CuResult CudaCopies::TakeFromRing(int64_t bytes, char** memory) {
  for (Piece& piece : ring_.pieces) {
    if (const CuResult error = MakePiece(&piece, kRingPieceBytes)) return error;
  }
  if (ring_used_ + bytes > kRingPieceBytes) {
    if (const CuResult error = driver_.EventRecord(ring_.pieces[ring_piece_].event, stream_)) {
      return error;
    }
    ring_piece_ ^= 1;
    ring_used_ = 0;
    if (const CuResult error = driver_.EventSynchronize(ring_.pieces[ring_piece_].event)) {
      return error;
    }
  }
  *memory = ring_.pieces[ring_piece_].memory + ring_used_;
  ring_used_ += (bytes + 63) / 64 * 64;
  return 0;
}

CuResult CudaCopies::UpThroughRing(CuAddress device, const char* host, int64_t bytes) {
  char* memory = nullptr;
  if (const CuResult error = TakeFromRing(bytes, &memory)) return error;
  std::memcpy(memory, host, size_t(bytes));
  return driver_.MemcpyHtoDAsync(device, memory, size_t(bytes), stream_);
}

void CudaCopies::UpThroughLane(Lane& lane, Job& job) {
  int64_t offset = 0, size = 0;
  for (int turn = 0; job.Take(&offset, &size); turn ^= 1) {
    const Piece& piece = lane.pieces[turn];
    if (!job.Succeeds(driver_.EventSynchronize(piece.event))) return;
    std::memcpy(piece.memory, job.host + offset, size_t(size));
    const CuAddress to = job.device + CuAddress(offset);
    if (!job.Succeeds(driver_.MemcpyHtoDAsync(to, piece.memory, size_t(size), stream_))) return;
    if (!job.Succeeds(driver_.EventRecord(piece.event, stream_))) return;
  }
}

CuResult CudaCopies::UpStraight(CuAddress device, const char* host, int64_t bytes) {
  const CuResult error = driver_.MemcpyHtoDAsync(device, host, size_t(bytes), stream_);
  return error != 0 ? error : driver_.StreamSynchronize(stream_);
}

CuResult CudaCopies::Up(CuAddress device, const char* host, int64_t bytes) {
  if (bytes < kSmallBytes) return UpThroughRing(device, host, bytes);
  const PinnedUse use(host, bytes);
  if (use.is_pinned()) return UpStraight(device, host, bytes);
  return CopyInLanes(device, const_cast<char*>(host), bytes, &CudaCopies::UpThroughLane);
}

// ---------------------------------------------------------------------------------------------
// Down
// ---------------------------------------------------------------------------------------------

CuResult CudaCopies::DownThroughPiece(char* host, CuAddress device, int64_t bytes) {
  if (const CuResult error = MakePiece(&down_, kSmallBytes)) return error;
  CuResult error = driver_.MemcpyDtoHAsync(down_.memory, device, size_t(bytes), stream_);
  if (error == 0) error = driver_.StreamSynchronize(stream_);
  if (error == 0) std::memcpy(host, down_.memory, size_t(bytes));
  return error;
}

void CudaCopies::DownThroughLane(Lane& lane, Job& job) {
  struct Coming {
    int64_t offset = 0;
    int64_t size = 0;
  };
  Coming coming[2];
  // Waits for what is on its way to the piece and empties it.
  const auto finish = [&](int turn) {
    Coming& it = coming[turn];
    if (it.size == 0) return true;
    if (!job.Succeeds(driver_.EventSynchronize(lane.pieces[turn].event))) return false;
    std::memcpy(job.host + it.offset, lane.pieces[turn].memory, size_t(it.size));
    it.size = 0;
    return true;
  };
  int turn = 0;
  for (int64_t offset = 0, size = 0; finish(turn) && job.Take(&offset, &size); turn ^= 1) {
    const Piece& piece = lane.pieces[turn];
    const CuAddress from = job.device + CuAddress(offset);
    // An earlier copy up may still read the piece; it is before this on the stream.
    if (!job.Succeeds(driver_.MemcpyDtoHAsync(piece.memory, from, size_t(size), stream_))) return;
    if (!job.Succeeds(driver_.EventRecord(piece.event, stream_))) return;
    coming[turn] = {offset, size};
  }
  finish(turn ^ 1);
}

CuResult CudaCopies::DownStraight(char* host, CuAddress device, int64_t bytes) {
  const CuResult error = driver_.MemcpyDtoHAsync(host, device, size_t(bytes), stream_);
  return error != 0 ? error : driver_.StreamSynchronize(stream_);
}

CuResult CudaCopies::Down(char* host, CuAddress device, int64_t bytes) {
  if (bytes < kSmallBytes) return DownThroughPiece(host, device, bytes);
  const PinnedUse use(host, bytes);
  if (use.is_pinned()) return DownStraight(host, device, bytes);
  return CopyInLanes(device, host, bytes, &CudaCopies::DownThroughLane);
}

}  // namespace parakeet::runtime
