#ifndef PARAKEET_PASSES_ANALYSES_MONOMIALS_H_
#define PARAKEET_PASSES_ANALYSES_MONOMIALS_H_

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// Products of values as values of their own, so that a polynomial is a linear form: of
// (i * m + j) * n the terms are those of i m n and of j n. No function has these values.
class Monomials {
 public:
  Monomials() = default;
  Monomials(const Monomials&) = delete;
  Monomials& operator=(const Monomials&) = delete;

  bool IsProduct(const ir::Var* var) const { return factors_.contains(var); }
  // Of a product; of any other value that alone.
  std::vector<const ir::Var*> FactorsOf(const ir::Var* var) const;
  // One value for one product, in whatever order; of one factor that itself.
  const ir::Var* ProductOf(std::vector<const ir::Var*> factors);
  // The product of two forms; none where it has many terms, many factors or large numbers.
  std::optional<LinearForm> Times(const LinearForm& a, const LinearForm& b);

 private:
  std::deque<ir::Var> products_;
  std::map<std::vector<const ir::Var*>, const ir::Var*> by_factors_;
  std::unordered_map<const ir::Var*, std::vector<const ir::Var*>> factors_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_MONOMIALS_H_
