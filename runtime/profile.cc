#include "runtime/profile.h"

#include <utility>

#include "runtime/call.h"

namespace parakeet::runtime {

void RegionTotals::Add(const RegionTotals& more) {
  entries += more.entries;
  ns += more.ns;
  bytes += more.bytes;
  operations += more.operations;
  allocated += more.allocated;
  knows_bytes &= more.knows_bytes;
  knows_operations &= more.knows_operations;
}

void Profile::Begin(int32_t region, int64_t bytes, int64_t operations) {
  End();
  if (region < 0 || size_t(region) >= regions_.size()) return;
  current_ = &regions_[region];
  current_->allocated += std::exchange(before_first_, 0);
  since_ = NowNanoseconds();
  if (bytes == kNoEntry) return;
  RegionTotals entered;
  entered.entries = 1;
  entered.knows_bytes = bytes >= 0;
  entered.knows_operations = operations >= 0;
  if (entered.knows_bytes) entered.bytes = bytes;
  if (entered.knows_operations) entered.operations = operations;
  current_->Add(entered);
}

void Profile::Allocate(int64_t bytes) {
  allocated_ += bytes;
  (current_ != nullptr ? current_->allocated : before_first_) += bytes;
}

void Profile::End(int64_t now) {
  if (current_ != nullptr) current_->ns += now - since_;
  current_ = nullptr;
}

}  // namespace parakeet::runtime

extern "C" void pk_mark(PkCall* call, int32_t region, int64_t bytes, int64_t operations) {
  parakeet::runtime::Profile* profile = static_cast<parakeet::runtime::Call*>(call)->profile();
  if (profile != nullptr) profile->Begin(region, bytes, operations);
}
