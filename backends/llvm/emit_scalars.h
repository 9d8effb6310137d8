// The scalar operations of the IR, on scalars and on lanes alike. Their meaning is ir/evaluate.h's.
#ifndef PARAKEET_BACKENDS_LLVM_EMIT_SCALARS_H_
#define PARAKEET_BACKENDS_LLVM_EMIT_SCALARS_H_

#include "backends/llvm/emission.h"
#include "ir/ops.h"
#include "ir/type.h"

namespace parakeet::backends {

Number EmitConstant(Emission& emission, const ir::Constant& constant);

// `dtype` is the operands' (of select, the second's), `result` the result's. Throws a Bug where the
// operation has no meaning on the dtype.
Number EmitScalarOp(Emission& emission, ir::OpCode op, llvm::ArrayRef<Number> operands,
                    ir::DType dtype, ir::DType result);

// Its parts, by what the operands are. Null where the operation has no meaning there; tests give
// i1, everything else the operands' type.
llvm::Value* EmitBoolOp(Emission& emission, ir::OpCode op, llvm::ArrayRef<Number> operands);
llvm::Value* EmitIntegerOp(Emission& emission, ir::OpCode op, llvm::ArrayRef<Number> operands,
                           bool is_signed);
// floordiv and mod of scalars where the divisor is positive, or nothing depends on the result.
llvm::Value* EmitPositiveDivision(Emission& emission, ir::OpCode op, llvm::Value* a, llvm::Value* b,
                                  bool is_signed);
// Of float, double and, for what does not round, half.
llvm::Value* EmitFloatOp(Emission& emission, ir::OpCode op, llvm::ArrayRef<Number> operands);
// Parts and tests give a number without imaginary part.
Number EmitComplexOp(Emission& emission, ir::OpCode op, llvm::ArrayRef<Number> operands);
Number EmitCast(Emission& emission, const Number& operand, ir::DType from, ir::DType to);
// The bits of a real number as one of the same width.
Number EmitBitcast(Emission& emission, const Number& operand, ir::DType to);

// The floor of the quotients of lanes that are integers, or what is left; 0 where the divisor is.
llvm::Value* EmitLaneDivision(Emission& emission, llvm::Value* a, llvm::Value* b, bool is_signed,
                              bool is_remainder);

// Of floats or doubles, or lanes of them, on the host: C's fmod.
llvm::Value* EmitFloatRemainder(Emission& emission, llvm::Value* a, llvm::Value* b);

// Lanes of float or double, x to the y.
llvm::Value* EmitLanePower(Emission& emission, llvm::Value* x, llvm::Value* y);
// Null where the processor does not look numbers up in tables.
llvm::Value* EmitTablePower(Emission& emission, llvm::Value* x, llvm::Value* y);

// Integers by squaring: a ** b, wrapping, with b unsigned.
llvm::Value* EmitIntegerPower(Emission& emission, llvm::Value* base, llvm::Value* exponent);
// Complex numbers, as NumPy's: whole exponents by squaring, others by C's cpow.
Number EmitComplexPower(Emission& emission, const Number& base, const Number& exponent);
// C's function of that name ("cexp"), or what gives lanes the same up to a few last bits.
Number EmitComplexFunction(Emission& emission, std::string_view name, const Number& z);
Number EmitComplexProduct(Emission& emission, const Number& a, const Number& b);
Number EmitComplexQuotient(Emission& emission, const Number& a, const Number& b);

// NumPy's minimum and maximum of floats; `op` is min, max, fmin or fmax.
llvm::Value* EmitFloatExtreme(Emission& emission, ir::OpCode op, llvm::Value* a, llvm::Value* b);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EMIT_SCALARS_H_
