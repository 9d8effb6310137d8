#include "runtime/buffer_pool.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace parakeet::runtime {

Block* BufferPool::Take(uint32_t size_class) {
  Block* block = of_class_[size_class];
  if (block == nullptr) return nullptr;
  Unlink(block);
  block->state = BlockState::kLive;
  return block;
}

Block* BufferPool::Put(Block* block) {
  block->state = BlockState::kPooled;
  Link(block);
  return EvictDownTo(cap_);
}

Block* BufferPool::SetCap(uint64_t bytes) {
  cap_ = bytes;
  return EvictDownTo(cap_);
}

Block* BufferPool::TakeAll() { return EvictDownTo(0); }

void BufferPool::Link(Block* block) {
  Block*& first = of_class_[block->size_class];
  block->class_previous = nullptr;
  block->class_next = first;
  if (first != nullptr) first->class_previous = block;
  first = block;

  block->previous = nullptr;
  block->next = newest_;
  (newest_ != nullptr ? newest_->previous : oldest_) = block;
  newest_ = block;
  pooled_bytes_ += block->capacity;
}

void BufferPool::Unlink(Block* block) {
  Block* class_next = block->class_next;
  Block* class_previous = block->class_previous;
  (class_previous != nullptr ? class_previous->class_next : of_class_[block->size_class]) =
      class_next;
  if (class_next != nullptr) class_next->class_previous = class_previous;

  (block->previous != nullptr ? block->previous->next : newest_) = block->next;
  (block->next != nullptr ? block->next->previous : oldest_) = block->previous;
  pooled_bytes_ -= block->capacity;
}

Block* BufferPool::EvictDownTo(uint64_t bytes) {
  Block* evicted = nullptr;
  while (pooled_bytes_ > bytes) {
    Block* block = oldest_;
    Unlink(block);
    block->next = evicted;
    evicted = block;
  }
  return evicted;
}

void DeleteChain(Block* first) {
  while (first != nullptr) {
    Block* next = first->next;
    DeleteBlock(first);
    first = next;
  }
}

namespace {

// The control group's limit in bytes; the largest number when it has none or says it elsewhere.
uint64_t GroupLimit() {
  unsigned long long limit = ~0ull;
  std::FILE* file = std::fopen("/sys/fs/cgroup/memory.max", "re");
  if (file == nullptr) return limit;
  if (std::fscanf(file, "%llu", &limit) != 1) limit = ~0ull;
  std::fclose(file);
  return limit;
}

}  // namespace

uint64_t DefaultPoolCap() {
  const uint64_t machine = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  return std::min<uint64_t>(machine, GroupLimit()) / 8;
}

}  // namespace parakeet::runtime
