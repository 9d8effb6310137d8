#ifndef PARAKEET_FRONTEND_VALUE_H_
#define PARAKEET_FRONTEND_VALUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/py_ref.h"
#include "frontend/syntax.h"
#include "ir/ops.h"
#include "ir/type.h"

// What an expression is while IR is built: a run-time scalar or array, or something that only the
// compiler knows (a tuple, a function, a dtype ...). Values are small, immutable and copied freely.
namespace parakeet::frontend {

class Value;
using Values = std::vector<Value>;
using ValuesPtr = std::shared_ptr<const Values>;

// Nothing is bound here. `why` says more where the paths that meet disagree about what is bound
// ("an array on one path and a tuple on the other"); `origin` is then the parameter that chose the
// path (see ScalarValue), or -1; `remedy` is what would work.
struct UndefinedValue {
  std::string why;
  int origin = -1;
  std::string remedy = "give it one type on every path";
};

// None, which is also np.newaxis.
struct NoneValue {};
struct EllipsisValue {};

// A scalar; its dtype is the operand's. `python` tells Python's weak scalar (int: i64, float: f64,
// bool, complex: c128) from NumPy's. It is static where the operand is a constant. `origin` is the
// parameter of the function being built that it is, unmodified (below -1: the loop whose index it
// is), or -1: what can be made static.
struct ScalarValue {
  // A parameter of the function being built. Only whole numbers and bools are worth a compilation
  // for each of their values.
  static ScalarValue Parameter(const ir::Var* var, bool python, int number) {
    const ir::DType dtype = var->type.dtype();
    return {var, python, ir::IsInteger(dtype) || ir::IsBool(dtype) ? number : -1};
  }

  ir::Operand op;
  bool python = false;
  int origin = -1;
};

// Whether elements may be stored: a list argument refuses at compile time, a read-only array raises
// at run time, where paths disagree the store is a Limitation, and in kPart, what is made of the
// real or imaginary parts of a complex array, too: it is no view here.
enum class Access : uint8_t { kWritable, kReadOnly, kList, kUnknown, kPart };

// How an array's axes follow each other in memory: kC from the longest step to the shortest,
// kFortran the other way round. What an element-wise operation makes keeps the order; nothing else
// may rest on it.
enum class Order : uint8_t { kC, kFortran, kOther };

// An array; dtype, rank and sizes are those of the operand's type. A size that is the constant 1
// broadcasts. `python_elements`: it stands for a list of Python scalars, so that elements read from
// it are Python's. Views keep `access` of what they see.
struct ArrayValue {
  ir::Operand op;
  Access access = Access::kWritable;
  bool python_elements = false;
  Order order = Order::kC;
  bool dense = false;  // Known to lie without gaps, in that order.
  // Of z.real and z.imag of a complex array: z. `op` holds its parts as they were when the array
  // was last read by a name; a store goes to z.
  std::optional<ir::Operand> whole = std::nullopt;
  bool is_imaginary = false;

  // `view` of this array, its axes in the same order.
  ArrayValue Seen(ir::Operand view) const;
  const std::vector<ir::Operand>& dims() const { return op.var()->type.dims(); }
  ir::DType dtype() const { return op.var()->type.dtype(); }
  int rank() const { return op.var()->type.rank(); }
};

inline ArrayValue ArrayValue::Seen(ir::Operand view) const {
  const int rank = view.var()->type.rank();
  return {view, access, python_elements, rank < 2 ? Order::kC : order};
}

struct TupleValue {
  ValuesPtr elements;
};

// A list display: an array, or a tuple where a shape, an axis or an index is expected.
struct ListValue {
  ValuesPtr elements;
};

// start, stop, step: each None or an integer scalar.
struct SliceValue {
  ValuesPtr parts;
  const Value& start() const;
  const Value& stop() const;
  const Value& step() const;
};

// A string, or an f-string: a format string in Python's sense (`{}`, `{:.3f}`, `{!r}`, literal
// braces doubled) with the scalars of its holes. Only one without holes is a static string.
struct StringValue {
  std::string text;  // Without holes: the string itself, braces single.
  std::vector<ir::Operand> scalars;
  bool is_format = false;  // `text` is a format string.
};

struct DTypeValue {
  ir::DType dtype;
};

// What only iteration understands. Parts: range: start, stop, step (Python ints); zip: the
// iterables; enumerate: the iterable, the first number; reversed: the iterable; ndindex: the sizes.
enum class IterableKind : uint8_t { kRange, kZip, kEnumerate, kReversed, kNdIndex };
struct IterableValue {
  IterableKind kind;
  ValuesPtr parts;
};

// A Python module, for the attributes read from it.
struct ModuleValue {
  PyRef module;
};

// Another object of Python's that may be read through its attributes (a class as namespace,
// `np.finfo(...)`) and compared by identity, nothing else.
struct ObjectValue {
  PyRef object;
};

// A Python function (jitted objects are unwrapped): compiled with its caller. `stands_for` is the
// object that it is called in the place of (parakeet.overload), whose attributes stay; or null.
struct UserFunctionValue {
  PyRef function;
  PyRef stands_for;
};

// A nested function or lambda. While the frame that defined it is being built, `frame` is that
// frame's number, and captured variables are read from it when the closure is called. Once it has
// left the frame (as an argument, in a result) `frame` is kNoFrame, and `variables` and `captured`
// hold what it, and closures that it captured, need of the frame; those closures have kSameFrame.
struct Closure {
  static constexpr int kNoFrame = -1;
  static constexpr int kSameFrame = -2;
  FunctionSyntaxPtr syntax;
  PyRef home;  // The Python function in whose source it stands.
  int frame = kNoFrame;
  std::vector<const Variable*> variables;
  Values captured;  // One a variable.
  // One a variable: whether it may be unbound. Then what is captured is a tuple of the value and
  // whether it is bound, which is looked at where the closure reads it.
  std::vector<bool> may_be_unbound;
  Values defaults;  // Of the parameters that have one, in order.
};
struct ClosureValue {
  std::shared_ptr<const Closure> closure;
};

// A scalar primitive of the IR, lifted to arrays by broadcasting. `rule` names its typing rule.
struct PrimitiveValue {
  std::string name;
  std::string rule;
  PyRef object;
};

// A data-parallel operator (`map`, `reduce`, ...) by name.
struct OperatorValue {
  std::string name;
};

// A function that the front end itself knows (`len`, `range`, `float` ...) by name.
struct IntrinsicValue {
  std::string name;
};

// A method looked up on a value and not called yet.
struct BoundMethodValue {
  ValuesPtr self;  // One value.
  std::string name;
};

// A built-in exception class, by name.
struct ExceptionValue {
  std::string name;
};

class Value {
 public:
  using Variant =
      std::variant<UndefinedValue, NoneValue, EllipsisValue, ScalarValue, ArrayValue, TupleValue,
                   ListValue, SliceValue, StringValue, DTypeValue, IterableValue, ModuleValue,
                   ObjectValue, UserFunctionValue, ClosureValue, PrimitiveValue, OperatorValue,
                   IntrinsicValue, BoundMethodValue, ExceptionValue>;

  Value() = default;  // Undefined.
  template <typename T>
    requires std::is_constructible_v<Variant, T> && (!std::is_same_v<std::decay_t<T>, Value>)
  Value(T payload) : variant_(std::move(payload)) {}  // NOLINT: payloads are values

  static Value None() { return NoneValue{}; }
  static Value Python(ir::Operand op, int origin = -1) { return ScalarValue{op, true, origin}; }
  static Value NumPy(ir::Operand op) { return ScalarValue{op, false, -1}; }
  static Value Int(int64_t value) { return Python(ir::Operand::Int(value)); }
  static Value Bool(bool value) { return Python(ir::Operand::Bool(value)); }
  static Value Float(double value) { return Python(ir::Constant::Float(value)); }
  static Value Array(ir::Operand op, Access access = Access::kWritable, Order order = Order::kC) {
    return ArrayValue{op, access, false, order};
  }
  // A new array, which lies without gaps.
  static Value NewArray(ir::Operand op, Order order = Order::kC, bool python = false) {
    const bool has_order = ir::TypeOf(op).rank() > 1;
    return ArrayValue{op, Access::kWritable, python, has_order ? order : Order::kC, true};
  }
  static Value Tuple(Values elements) { return TupleValue{Share(std::move(elements))}; }
  static Value List(Values elements) { return ListValue{Share(std::move(elements))}; }
  static Value Slice(Value start, Value stop, Value step);
  static Value String(std::string text) { return StringValue{std::move(text), {}, false}; }
  static Value Range(Value start, Value stop, Value step);
  static Value Iterable(IterableKind kind, Values parts) {
    return IterableValue{kind, Share(std::move(parts))};
  }
  static Value Method(Value self, std::string name);

  template <typename T>
  bool Is() const {
    return std::holds_alternative<T>(variant_);
  }
  // Null where the value is of another kind.
  template <typename T>
  const T* TryAs() const {
    return std::get_if<T>(&variant_);
  }
  template <typename T>
  const T& As() const {
    return std::get<T>(variant_);
  }

  bool IsUndefined() const { return Is<UndefinedValue>(); }
  bool IsNone() const { return Is<NoneValue>(); }
  bool IsScalar() const { return Is<ScalarValue>(); }
  bool IsArray() const { return Is<ArrayValue>(); }
  bool IsTuple() const { return Is<TupleValue>(); }
  bool IsList() const { return Is<ListValue>(); }
  bool IsCallable() const;
  // A scalar known at compile time.
  bool IsStaticScalar() const;
  bool IsPythonScalar() const;
  // The elements of a tuple or list display, else null.
  const Values* Elements() const;
  // The operand of a scalar or array.
  ir::Operand op() const;
  const Variant& variant() const { return variant_; }

 private:
  static ValuesPtr Share(Values values) {
    return std::make_shared<const Values>(std::move(values));
  }

  Variant variant_;
};

// What the value is, for messages: "a float64 array of rank 2", "an int", "a tuple", "None".
std::string Describe(const Value& value);

// The same value for the compiler: the same operands, elements and objects. Scalars that differ in
// `origin` only are the same.
bool SameValue(const Value& a, const Value& b);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_VALUE_H_
