#ifndef PARAKEET_PASSES_ANALYSES_LINEAR_FORMS_H_
#define PARAKEET_PASSES_ANALYSES_LINEAR_FORMS_H_

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// An i64 as a constant plus multiples of values. Arithmetic wraps around, as the IR's does.
struct LinearForm {
  int64_t constant = 0;
  // In order of first use; no coefficient is 0.
  std::vector<std::pair<const ir::Var*, int64_t>> terms;

  static LinearForm Of(int64_t constant) { return {constant, {}}; }
  static LinearForm Of(const ir::Var* var) { return {0, {{var, 1}}}; }

  bool IsConstant() const { return terms.empty(); }
  // What a value is multiplied by; 0 where it has no part.
  int64_t Coefficient(const ir::Var* var) const;
  void Add(const LinearForm& other, int64_t times);
  // The form with `value` in place of a value.
  LinearForm With(const ir::Var* var, const LinearForm& value) const;
};

LinearForm Plus(LinearForm form, int64_t constant);
// The form of a - b.
LinearForm Difference(const LinearForm& a, const LinearForm& b);
// True when the two always have one value.
bool SameForm(const LinearForm& a, const LinearForm& b);
bool SameForms(const std::vector<LinearForm>& a, const std::vector<LinearForm>& b);

// The form as a value, of what `value_of` gives for its values.
ir::Operand Written(
    ir::Builder& builder, const LinearForm& form,
    const std::function<ir::Operand(const ir::Var*)>& value_of = [](auto* var) {
      return ir::Operand(var);
    });

// The forms of a function's values, sums and differences and constant multiples taken apart. They
// are equal to the values modulo 2^64, so two values whose forms differ by 0 are the same; which of
// two is less they do not say.
class WrappingForms {
 public:
  explicit WrappingForms(const ir::Function& function);

  LinearForm Of(const ir::Operand& operand) const;
  // True for a sum, difference or constant multiple of i64s.
  bool IsKnown(const ir::Binding& binding) const;
  // Takes in a binding that is new to the function.
  void Learn(const ir::Binding& binding);

 private:
  std::unordered_map<const ir::Var*, LinearForm> forms_;  // of what is more than itself
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_LINEAR_FORMS_H_
