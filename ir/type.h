#ifndef PARAKEET_IR_TYPE_H_
#define PARAKEET_IR_TYPE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace parakeet::ir {

struct Var;

// A scalar known at compile time. Booleans and integers live in `integer` (unsigned 64-bit values
// keep their bits), floats in `real` (rounded to the dtype), complex numbers in `real` and `imag`.
struct Constant {
  DType dtype = DType::kI64;
  int64_t integer = 0;
  double real = 0.0;
  double imag = 0.0;

  static Constant Bool(bool value) { return {DType::kBool, value, 0.0, 0.0}; }
  static Constant Int(int64_t value, DType dtype = DType::kI64) { return {dtype, value, 0.0, 0.0}; }
  static Constant Float(double value, DType dtype = DType::kF64) { return {dtype, 0, value, 0.0}; }
  static Constant Complex(double re, double im, DType dtype = DType::kC128) {
    return {dtype, 0, re, im};
  }

  // Equal bit for bit: NaN equals itself, 0.0 differs from -0.0.
  friend bool operator==(const Constant& a, const Constant& b);
};

// Zero of any dtype, and `value` converted to `dtype` (wrapping integers, rounding floats).
Constant ZeroOf(DType dtype);
Constant ConstantOf(DType dtype, int64_t value);

// What an operation takes: a value defined elsewhere, or a constant. Two operands are equal when
// they are the same value or equal constants.
class Operand {
 public:
  Operand() = default;
  Operand(const Var* var) : var_(var) {}  // NOLINT: operands are written as values
  Operand(const Constant& constant) : constant_(constant) {}  // NOLINT
  static Operand Int(int64_t value) { return Operand(Constant::Int(value)); }
  static Operand Bool(bool value) { return Operand(Constant::Bool(value)); }

  bool IsVar() const { return var_ != nullptr; }
  bool IsConstant() const { return var_ == nullptr; }
  const Var* var() const { return var_; }
  const Constant& constant() const { return constant_; }
  // True for the integer or boolean constant `value`.
  bool IsInt(int64_t value) const;

  friend bool operator==(const Operand& a, const Operand& b) {
    return a.var_ == b.var_ && (a.var_ != nullptr || a.constant_ == b.constant_);
  }

 private:
  const Var* var_ = nullptr;
  Constant constant_;
};

// The type of a value: a scalar, a vector of lanes (scheduled stage only), or an array with static
// dtype and rank whose sizes are i64 operands. An array may have rank 0.
class Type {
 public:
  Type() = default;
  Type(DType dtype) : dtype_(dtype) {}  // NOLINT: a dtype is a scalar type
  static Type Vector(DType dtype, int lanes);
  static Type Array(DType dtype, std::vector<Operand> dims);

  DType dtype() const { return dtype_; }
  int lanes() const { return lanes_; }
  bool IsScalar() const { return !is_array_ && lanes_ == 1; }
  bool IsVector() const { return lanes_ > 1; }
  bool IsArray() const { return is_array_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  const std::vector<Operand>& dims() const { return dims_; }
  // The same shape or lanes with another dtype.
  Type With(DType dtype) const;

  friend bool operator==(const Type&, const Type&) = default;

 private:
  DType dtype_ = DType::kI64;
  bool is_array_ = false;
  int lanes_ = 1;
  std::vector<Operand> dims_;
};

// A value: defined once, by a binding, a block's parameters, or a parameter's type (a size).
// Identity is its address. `hint` is the name the printer tries to show.
struct Var {
  Type type;
  std::string_view hint;  // Interned in the arena that owns the Var.
};

// The type of an operand: its Var's, or the constant's dtype.
Type TypeOf(const Operand& operand);
DType DTypeOf(const Operand& operand);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_TYPE_H_
