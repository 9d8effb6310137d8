#ifndef PARAKEET_IR_FLOAT16_H_
#define PARAKEET_IR_FLOAT16_H_

#include <cstdint>
#include <cstring>

namespace parakeet::ir {

// The value of the IEEE half-precision number with these bits. Exact.
inline double DoubleFromHalf(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, sizeof half);
  return static_cast<double>(half);
}

// The bits of the half-precision number nearest to `value`, ties to even; rounded once, from the
// double.
inline uint16_t HalfFromDouble(double value) {
  const _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_FLOAT16_H_
