#ifndef PARAKEET_FRONTEND_JOINS_H_
#define PARAKEET_FRONTEND_JOINS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/value.h"
#include "ir/builder.h"

// What a value may be where paths meet: the branches of an `if`, the entry and the end of a loop's
// body, the returns of a function.
namespace parakeet::frontend {

class Evaluator;

// A value without its run-time parts: how many operands it takes, of which types. Sizes that are
// not the same operand on every path belong to the value and are carried beside it.
struct Pattern {
  enum class Kind {
    kFree,    // no path says anything yet
    kStatic,  // `prototype` itself, on every path
    kScalar,
    kArray,
    kParts,     // a tuple, slice, closure ...: `prototype` with other parts
    kConflict,  // paths disagree: `prototype` is Undefined and says how
  };
  Kind kind = Kind::kFree;
  Value prototype;
  ir::DType dtype = ir::DType::kI64;
  bool python = false;  // Of a scalar, or of an array's elements.
  Access access = Access::kWritable;
  Order order = Order::kC;
  bool dense = false;
  std::vector<std::optional<ir::Operand>> dims;  // nullopt: a size carried beside the array.
  std::vector<Pattern> parts;

  friend bool operator==(const Pattern& a, const Pattern& b);
};

Pattern PatternOf(const Value& value);
// The least pattern of both. `origin` is the parameter that chose between the paths, or -1: a
// conflict remembers it.
Pattern Join(const Pattern& a, const Pattern& b, int origin = -1);
// The pattern with sizes carried beside the array unless they are constants or `keep` says so.
Pattern OwnSizes(const Pattern& pattern, const std::function<bool(const ir::Operand&)>& keep);

// A pattern's operands in order: per array its own sizes, then the array; per scalar itself.
// Appends the value's, converted, to `operands`; code goes to the open block. A null value stands
// for one that is never looked at: zeros and empty arrays.
void Flatten(Evaluator* evaluator, const Value* value, const Pattern& pattern,
             std::vector<ir::Operand>* operands);
// New variables for a pattern's operands, and the value made of them.
Value MakeVars(const ir::Builder& builder, const Pattern& pattern, const std::string& hint,
               std::vector<const ir::Var*>* vars);

// The values inside a compound value (a tuple's elements, a closure's captures), null for others.
std::optional<Values> PartsOf(const Value& value);
Value WithParts(const Value& value, Values parts);
// The first origin of a run-time scalar in the value or inside it, -1 where there is none.
int OriginWithin(const Value& value);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_JOINS_H_
