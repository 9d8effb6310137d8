#ifndef PARAKEET_IR_CONSTANT_TEXT_H_
#define PARAKEET_IR_CONSTANT_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace parakeet::ir {

// How constants are written: i64 `3`, f64 `2.0` (shortest text that reads back to the same bits),
// `inf`, `-inf`, `nan` (other NaN payloads `nan:0x7ff8000000000001`), bool `true` and `false`,
// complex `(1.0,2.0):c128`, and every other dtype with its name: `3:i8`, `0.5:f32`.
std::string Text(const Constant& constant);

// Reads a constant at the start of `text` into `constant`. Returns how many characters it took, 0
// where there is no constant or its value does not fit its dtype.
size_t ReadConstant(std::string_view text, Constant* constant);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_CONSTANT_TEXT_H_
