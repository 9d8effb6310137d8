#include "runtime/error_slot.h"

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/abi.h"

namespace parakeet::runtime {

void ErrorSlot::Record(int32_t site, int32_t place_count, const int64_t* place,
                       int32_t scalar_count, const int64_t* scalars) noexcept {
  const bool is_less =
      !is_set_ || std::lexicographical_compare(place, place + place_count, record_.place.begin(),
                                               record_.place.end());
  if (!is_less) return;
  is_set_ = true;
  try {
    ErrorRecord record{site, {place, place + place_count}, {scalars, scalars + scalar_count}};
    record_ = std::move(record);
  } catch (const std::bad_alloc&) {
    record_.site = kPkSiteMemory;
    record_.place.clear();
    record_.scalars.clear();
  }
}

}  // namespace parakeet::runtime
