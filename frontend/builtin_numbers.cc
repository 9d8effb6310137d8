#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/intrinsics.h"
#include "frontend/py_ref.h"
#include "frontend/python_errors.h"
#include "frontend/registry.h"

// Python's builtin functions of numbers.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

// What Python reads in a string that is known at compile time.
Operand NumberInText(const Context& context, const std::string& text, const std::string& function) {
  PyObject* builtins = PyEval_GetBuiltins();  // Borrowed.
  PyObject* type = PyDict_GetItemString(builtins, function.c_str());
  const PyRef read = PyRef::Steal(PyObject_CallFunction(type, "s", text.c_str()));
  if (!read) FailFromPython(context.span());
  if (function == "float") return Operand(ir::Constant::Float(PyFloat_AsDouble(read.get())));
  if (function == "complex") {
    return Operand(ir::Constant::Complex(PyComplex_RealAsDouble(read.get()),
                                         PyComplex_ImagAsDouble(read.get())));
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(read.get(), &overflow);
  if (overflow != 0)
    context.FailLimitation("this integer does not fit 64 bits; write it as a float");
  return Operand::Int(number);
}

// The scalar that a conversion to a Python number takes.
Operand ScalarOf(Evaluator* evaluator, const Value& value, const std::string& function) {
  const Value settled = value.IsTuple() || value.IsList() ? value : SettleOperand(evaluator, value);
  if (settled.IsScalar()) return settled.op();
  if (settled.IsArray()) {
    evaluator->context().FailType("only 0-dimensional arrays can be converted to Python scalars");
  }
  if (const auto* text = settled.TryAs<StringValue>(); text != nullptr && !text->is_format) {
    return NumberInText(evaluator->context(), text->text, function);
  }
  const char* kinds = function == "int" ? "a string, a bytes-like object or a real number"
                                        : "a string or a real number";
  evaluator->context().FailType(function + "() argument must be " + kinds + ", not '" +
                                PythonTypeName(settled) + "'");
}

// An int rounded to tens, hundreds ...: halves to even.
Value RoundIntTo(Context* context, const Operand& number, int64_t digits) {
  ir::Builder& builder = context->builder();
  if (digits >= 0) return Value::Python(number);
  int64_t unit = 1;
  for (int64_t i = digits; i < 0 && unit <= 100000000000000000; ++i) unit *= 10;
  const Operand size = Operand::Int(unit);
  const Operand quotient = builder.Scalar(OpCode::kFloorDiv, {number, size});
  const Operand rest = builder.Sub(number, builder.Mul(quotient, size));
  const Operand half = Operand::Int(unit / 2);
  const Operand odd = builder.Scalar(OpCode::kAnd, {quotient, Operand::Int(1)});
  const Operand above = builder.Scalar(OpCode::kGt, {rest, half});
  const Operand tie = builder.Scalar(OpCode::kEq, {rest, half});
  const Operand tie_up =
      builder.Scalar(OpCode::kAnd, {tie, builder.Scalar(OpCode::kEq, {odd, Operand::Int(1)})});
  const Operand up = builder.Scalar(OpCode::kOr, {above, tie_up});
  const Operand units = builder.Add(quotient, builder.Cast(up, DType::kI64));
  return Value::Python(builder.Mul(units, size));
}

void RequireOne(const Context& context, const char* name, const Values& arguments) {
  if (arguments.size() < 2) return;
  context.FailType(std::string(name) + " expected at most 1 argument, got " +
                   std::to_string(arguments.size()));
}

bool IsIntLike(const Operand& op) {
  return ir::IsInteger(ir::DTypeOf(op)) || ir::IsBool(ir::DTypeOf(op));
}

}  // namespace

Value BuiltinAbs(Evaluator* evaluator, const Values& arguments) {
  const Value& value = arguments[0];
  if (!value.IsPythonScalar())
    return ApplyPrimitive(evaluator, *FindPrimitive("absolute"), arguments);
  ir::Builder& builder = evaluator->builder();
  const Operand number = IsIntLike(value.op()) ? builder.Cast(value.op(), DType::kI64) : value.op();
  return Value::Python(builder.Scalar(OpCode::kAbs, {number}));
}

Value BuiltinInt(Evaluator* evaluator, const Values& arguments) {
  RequireOne(evaluator->context(), "int", arguments);
  if (arguments.empty()) return Value::Int(0);
  return Value::Python(
      ToPythonInt(&evaluator->context(), ScalarOf(evaluator, arguments[0], "int")));
}

Value BuiltinFloat(Evaluator* evaluator, const Values& arguments) {
  RequireOne(evaluator->context(), "float", arguments);
  if (arguments.empty()) return Value::Float(0.0);
  return Value::Python(
      ToPythonFloat(&evaluator->context(), ScalarOf(evaluator, arguments[0], "float")));
}

Value BuiltinBool(Evaluator* evaluator, const Values& arguments) {
  RequireOne(evaluator->context(), "bool", arguments);
  if (arguments.empty()) return Value::Bool(false);
  return Value::Python(evaluator->Truth(arguments[0]));
}

Value BuiltinComplex(Evaluator* evaluator, const Values& arguments) {
  ir::Builder& builder = evaluator->builder();
  const auto part = [&](const Value& value) {
    return builder.Cast(ScalarOf(evaluator, value, "complex"), DType::kC128);
  };
  const Operand real =
      arguments[0].IsNone() ? Operand(ir::ZeroOf(DType::kC128)) : part(arguments[0]);
  if (arguments[1].IsNone()) return Value::Python(real);
  const Operand imaginary = part(arguments[1]);
  // complex(a, b) is a + b * 1j, for complex a and b too, part by part.
  const Operand re = builder.Sub(builder.Scalar(OpCode::kReal, {real}),
                                 builder.Scalar(OpCode::kImag, {imaginary}));
  const Operand im = builder.Add(builder.Scalar(OpCode::kImag, {real}),
                                 builder.Scalar(OpCode::kReal, {imaginary}));
  return Value::Python(builder.Scalar(OpCode::kMakeComplex, {re, im}));
}

Value BuiltinRound(Evaluator* evaluator, const Values& arguments) {
  Context& context = evaluator->context();
  ir::Builder& builder = evaluator->builder();
  const bool rounds_array = arguments[0].IsArray() && arguments[0].As<ArrayValue>().rank() > 0;
  if (rounds_array || (!arguments[1].IsNone() && !arguments[0].IsPythonScalar())) {
    return evaluator->Call(LibraryFunction("round"),
                           {arguments[0], arguments[1].IsNone() ? Value::Int(0) : arguments[1]});
  }
  const Operand number = ScalarOf(evaluator, arguments[0], "round");
  if (ir::IsBool(ir::DTypeOf(number)) && !arguments[0].IsPythonScalar()) {
    context.FailType("type numpy.bool doesn't define __round__ method");
  }
  if (IsIntLike(number)) {
    const Operand integer = builder.Cast(number, DType::kI64);
    if (arguments[1].IsNone()) return Value::Python(integer);
    return RoundIntTo(&context, integer, context.StaticInt(arguments[1], "ndigits"));
  }
  if (ir::IsComplex(ir::DTypeOf(number))) {
    context.FailType("type complex doesn't define __round__ method");
  }
  if (arguments[1].IsNone()) {
    return Value::Python(ToPythonInt(&context, builder.Scalar(OpCode::kRint, {number})));
  }
  const Value rounded =
      evaluator->Call(LibraryFunction("round_float"), {Value::Python(number), arguments[1]});
  return Value::Python(rounded.op());
}

Value BuiltinDivmod(Evaluator* evaluator, const Values& arguments) {
  const Value quotient = evaluator->Binary(BinaryOperator::kFloorDiv, arguments[0], arguments[1]);
  return Value::Tuple(
      {quotient, evaluator->Binary(BinaryOperator::kMod, arguments[0], arguments[1])});
}

Value BuiltinPow(Evaluator* evaluator, const Values& arguments) {
  if (!arguments[2].IsNone()) {
    for (const Value& argument : arguments) {
      if (argument.IsPythonScalar() && IsIntLike(argument.op())) continue;
      evaluator->context().FailType(
          "pow() 3rd argument not allowed unless all arguments are integers");
    }
    return evaluator->Call(LibraryFunction("power_modulo"), arguments);
  }
  return evaluator->Binary(BinaryOperator::kPow, arguments[0], arguments[1]);
}

}  // namespace parakeet::frontend
