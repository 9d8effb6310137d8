#include "runtime/freed_blocks.h"

#include <algorithm>
#include <utility>

namespace parakeet::runtime {
namespace {

// Kernels that go through more take longer than the driver.
constexpr size_t kMostOfBlock = size_t{16} << 20;
constexpr size_t kMostInAll = size_t{64} << 20;
constexpr size_t kMostBlocks = 64;

}  // namespace

std::optional<CuAddress> FreedBlocks::Take(size_t bytes) {
  const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [&](const Block& block) { return block.bytes == bytes; });
  if (found == blocks_.rend()) return std::nullopt;
  const CuAddress address = found->address;
  blocks_.erase(std::next(found).base());
  bytes_ -= bytes;
  return address;
}

bool FreedBlocks::Keep(Block block) {
  blocks_.push_back(block);
  bytes_ += block.bytes;
  return bytes_ <= kMostInAll && blocks_.size() <= kMostBlocks && block.bytes <= kMostOfBlock;
}

std::vector<FreedBlocks::Block> FreedBlocks::TakeTooMuch() {
  std::vector<Block> too_much, rest;
  size_t blocks = blocks_.size();
  for (const Block& block : blocks_) {
    const bool is_one = bytes_ > kMostInAll || blocks > kMostBlocks || block.bytes > kMostOfBlock;
    (is_one ? too_much : rest).push_back(block);
    if (!is_one) continue;
    bytes_ -= block.bytes;
    --blocks;
  }
  blocks_ = std::move(rest);
  return too_much;
}

std::vector<FreedBlocks::Block> FreedBlocks::TakeAll() {
  bytes_ = 0;
  return std::exchange(blocks_, {});
}

}  // namespace parakeet::runtime
