#include "passes/analyses/linear_forms.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr size_t kMostTerms = 16;  // A longer sum is taken as one value.

int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

int64_t Product(int64_t a, int64_t b) {
  return Wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t Sum(int64_t a, int64_t b) {
  return Wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

int64_t LinearForm::Coefficient(const Var* var) const {
  for (const auto& [term, coefficient] : terms) {
    if (term == var) return coefficient;
  }
  return 0;
}

void LinearForm::Add(const LinearForm& other, int64_t times) {
  constant = Sum(constant, Product(other.constant, times));
  for (const auto& [var, coefficient] : other.terms) {
    const auto has_var = [wanted = var](const auto& term) { return term.first == wanted; };
    const auto found = std::find_if(terms.begin(), terms.end(), has_var);
    if (found == terms.end()) {
      terms.emplace_back(var, Product(coefficient, times));
    } else {
      found->second = Sum(found->second, Product(coefficient, times));
    }
  }
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
}

LinearForm LinearForm::With(const Var* var, const LinearForm& value) const {
  const int64_t coefficient = Coefficient(var);
  if (coefficient == 0) return *this;
  LinearForm form = *this;
  form.Add(Of(var), Product(coefficient, -1));
  form.Add(value, coefficient);
  return form;
}

LinearForm Plus(LinearForm form, int64_t constant) {
  form.constant = Sum(form.constant, constant);
  return form;
}

LinearForm Difference(const LinearForm& a, const LinearForm& b) {
  LinearForm result = a;
  result.Add(b, -1);
  return result;
}

bool SameForm(const LinearForm& a, const LinearForm& b) {
  const LinearForm gap = Difference(a, b);
  return gap.IsConstant() && gap.constant == 0;
}

bool SameForms(const std::vector<LinearForm>& a, const std::vector<LinearForm>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), SameForm);
}

Operand Written(ir::Builder& builder, const LinearForm& form,
                const std::function<Operand(const Var*)>& value_of) {
  Operand value = Operand::Int(form.constant);
  for (const auto& [var, times] : form.terms)
    value = builder.Add(value, builder.Mul(value_of(var), Operand::Int(times)));
  return value;
}

WrappingForms::WrappingForms(const ir::Function& function) {
  ir::ForEachBinding(*function.body, [&](const Binding& b) { Learn(b); });
}

void WrappingForms::Learn(const Binding& b) {
  const bool is_sum = b.op == OpCode::kAdd || b.op == OpCode::kSub;
  const bool is_multiple =
      b.op == OpCode::kMul && (b.operands[0].IsConstant() || b.operands[1].IsConstant());
  if ((!is_sum && !is_multiple) || b.result()->type != ir::Type(ir::DType::kI64)) return;
  LinearForm form;
  if (is_sum) {
    form = Of(b.operands[0]);
    form.Add(Of(b.operands[1]), b.op == OpCode::kAdd ? 1 : -1);
  } else {
    const int side = b.operands[1].IsConstant() ? 0 : 1;
    form.Add(Of(b.operands[side]), b.operands[1 - side].constant().integer);
  }
  if (form.terms.size() <= kMostTerms) forms_[b.result()] = std::move(form);
}

bool WrappingForms::IsKnown(const Binding& binding) const {
  return binding.results.size() == 1 && forms_.contains(binding.results[0]);
}

LinearForm WrappingForms::Of(const Operand& operand) const {
  if (operand.IsConstant()) return LinearForm::Of(operand.constant().integer);
  const auto known = forms_.find(operand.var());
  return known == forms_.end() ? LinearForm::Of(operand.var()) : known->second;
}

}  // namespace parakeet::passes
