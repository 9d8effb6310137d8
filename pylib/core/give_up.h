// Code that gives up a call, with nothing done, since it was compiled for other arguments.
#ifndef PARAKEET_PYLIB_CORE_GIVE_UP_H_
#define PARAKEET_PYLIB_CORE_GIVE_UP_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "pylib/manifest.h"
#include "runtime/error_slot.h"

namespace parakeet::pylib {

enum class GaveUp : uint8_t { kNo, kOtherShapes, kShortAxes, kShortSides, kFewLongRows };

// `error` is what the call has failed with.
inline GaveUp WhyGivenUp(const Manifest& manifest, const runtime::ErrorRecord& error) {
  if (error.site < 0 || size_t(error.site) >= manifest.sites.size()) return GaveUp::kNo;
  const std::string& exception = manifest.sites[error.site].exception;
  if (exception == kShortAxes) return GaveUp::kShortAxes;
  if (exception == kShortSides) return GaveUp::kShortSides;
  if (exception == kFewLongRows) return GaveUp::kFewLongRows;
  return exception == kOtherShapes ? GaveUp::kOtherShapes : GaveUp::kNo;
}

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_GIVE_UP_H_
