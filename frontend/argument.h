#ifndef PARAKEET_FRONTEND_ARGUMENT_H_
#define PARAKEET_FRONTEND_ARGUMENT_H_

#include <string>
#include <vector>

#include "frontend/py_ref.h"
#include "ir/dtype.h"
#include "ir/node.h"

namespace parakeet::frontend {

// What a compilation knows of one argument of the entry function. Tuples and slices (three
// children) hold further arguments.
struct Argument {
  enum class Kind { kStatic, kScalar, kArray, kTuple, kSlice };
  Kind kind = Kind::kStatic;

  // kStatic: the object itself decides (None, a function, a dtype, a string, a number where the
  // result's type depends on it). `static_key` tells it from others.
  PyRef object;
  std::string static_key;

  // kScalar and kArray.
  ir::DType dtype = ir::DType::kF64;
  bool python = false;  // A Python scalar, or a list of Python scalars.

  // kArray. One entry an axis: whether its length is 1.
  std::vector<bool> unit_axes;
  std::vector<int> short_axes;  // Of each axis the length where that is known, else 0; or none.
  ir::Layout layout = ir::Layout::kStrided;
  bool strides_grow =
      false;  // Of kStrided: from the first axis to the last, axes of length 1 aside.
  bool writable = true;
  bool aligned = true;
  bool is_list = false;

  // kTuple, kSlice.
  std::vector<Argument> children;

  static Argument Static(PyRef object, std::string key);
  static Argument Scalar(ir::DType dtype, bool python);
  static Argument Array(ir::DType dtype, std::vector<bool> unit_axes,
                        ir::Layout layout = ir::Layout::kC);
  static Argument Tuple(std::vector<Argument> children);
  static Argument Slice(std::vector<Argument> children);
};

// A text equal for arguments that compile alike, the same in every process:
// "f64[n][1]C", "py i64", "(f32, =None)". Layout letters: C, F, S, FS for strides that grow; then r
// read-only, u unaligned, l list.
std::string KeyOf(const Argument& argument);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_ARGUMENT_H_
