#include "passes/analyses/monomials.h"

#include <algorithm>
#include <cmath>

namespace parakeet::passes {

using ir::Var;

namespace {

constexpr size_t kLongestProduct = 4;
constexpr size_t kLongestPolynomial = 16;
constexpr double kLargestFactor = 1099511627776.0;  // 2^40

}  // namespace

std::vector<const Var*> Monomials::FactorsOf(const Var* var) const {
  const auto found = factors_.find(var);
  return found == factors_.end() ? std::vector{var} : found->second;
}

const Var* Monomials::ProductOf(std::vector<const Var*> factors) {
  if (factors.size() == 1) return factors[0];
  std::sort(factors.begin(), factors.end());
  const Var*& product = by_factors_[factors];
  if (product == nullptr) {
    product = &products_.emplace_back(ir::Var{ir::Type(ir::DType::kI64), "product"});
    factors_.emplace(product, std::move(factors));
  }
  return product;
}

std::optional<LinearForm> Monomials::Times(const LinearForm& a, const LinearForm& b) {
  LinearForm product;
  const auto add = [&](std::vector<const Var*> factors, int64_t x, int64_t y) {
    if (x == 0 || y == 0) return true;
    if (std::abs(static_cast<double>(x) * static_cast<double>(y)) > kLargestFactor) return false;
    if (factors.size() > kLongestProduct || product.terms.size() > kLongestPolynomial) return false;
    product.Add(factors.empty() ? LinearForm::Of(int64_t{1}) : LinearForm::Of(ProductOf(factors)),
                x * y);
    return true;
  };
  const auto times = [&](const LinearForm& form, std::vector<const Var*> factors, int64_t number) {
    bool fits = add(factors, form.constant, number);
    for (const auto& [var, coefficient] : form.terms) {
      std::vector<const Var*> all = FactorsOf(var);
      all.insert(all.end(), factors.begin(), factors.end());
      fits = fits && add(std::move(all), coefficient, number);
    }
    return fits;
  };
  bool fits = times(b, {}, a.constant);
  for (const auto& [var, coefficient] : a.terms)
    fits = fits && times(b, FactorsOf(var), coefficient);
  return fits ? std::optional(std::move(product)) : std::nullopt;
}

}  // namespace parakeet::passes
