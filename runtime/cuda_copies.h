// Copies between the host's memory and a CUDA device's, in the order of one stream.
//
// The device reads and writes pinned memory at the speed of its link, and other memory not at all.
// So bytes pass through pinned pieces: small ones through a ring of their own, large ones in turns,
// where a piece is filled or emptied while another one is on its way. One core copies slower than
// the link, so several threads, each with pieces of its own, do a large one. What is pinned itself
// (pinned_buffers.h) goes straight.
#ifndef PARAKEET_RUNTIME_CUDA_COPIES_H_
#define PARAKEET_RUNTIME_CUDA_COPIES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/copy_threads.h"
#include "runtime/cuda_driver.h"

namespace parakeet::runtime {

// Used by one thread at a time. Pieces are made at their first need and kept.
class CudaCopies {
 public:
  CudaCopies(const CudaDriver& driver, CuContext context, CuStream stream)
      : driver_(driver), context_(context), stream_(stream) {}
  CudaCopies(const CudaCopies&) = delete;
  CudaCopies& operator=(const CudaCopies&) = delete;

  // `host` has been read by the time it returns; the copy may still be on its way.
  CuResult Up(CuAddress device, const char* host, int64_t bytes);
  // `host` has been written by the time it returns.
  CuResult Down(char* host, CuAddress device, int64_t bytes);

 private:
  // Pinned memory, and the end of what the stream last did with it.
  struct Piece {
    char* memory = nullptr;
    CuEvent event = nullptr;
  };
  // Of one of the threads that copy.
  struct Lane {
    Piece pieces[2];
  };
  // A copy in pieces that the lanes take one after another.
  struct Job {
    CuAddress device;
    char* host;
    int64_t bytes;
    int64_t piece;
    std::atomic<int64_t> next{0};
    std::atomic<CuResult> result{0};

    // The next piece, or false: none is left, or one has failed.
    bool Take(int64_t* offset, int64_t* size);
    bool Succeeds(CuResult code);
  };

  CuResult MakePiece(Piece* piece, int64_t bytes);
  CuResult MakeLanes(int64_t bytes, size_t* count);
  CuResult TakeFromRing(int64_t bytes, char** memory);
  CuResult UpThroughRing(CuAddress device, const char* host, int64_t bytes);
  // From and to memory that is pinned itself.
  CuResult UpStraight(CuAddress device, const char* host, int64_t bytes);
  CuResult DownStraight(char* host, CuAddress device, int64_t bytes);
  CuResult DownThroughPiece(char* host, CuAddress device, int64_t bytes);
  // A large copy, by `run` in each lane.
  CuResult CopyInLanes(CuAddress device, char* host, int64_t bytes,
                       void (CudaCopies::*run)(Lane&, Job&));
  void UpThroughLane(Lane& lane, Job& job);
  void DownThroughLane(Lane& lane, Job& job);

  const CudaDriver& driver_;
  const CuContext context_;
  const CuStream stream_;
  Lane ring_;
  int ring_piece_ = 0;
  int64_t ring_used_ = 0;
  Piece down_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  CopyThreads threads_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_COPIES_H_
