#include "passes/analyses/find_products.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/analyses/needed_bindings.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

bool IsOfLibraries(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kC64 ||
         dtype == DType::kC128;
}

bool IsZero(const Operand& operand) {
  if (!operand.IsConstant()) return false;
  const ir::Constant& constant = operand.constant();
  return constant.real == 0 && constant.imag == 0;
}

const Binding* DefinitionIn(const Block& block, const Operand& operand) {
  for (const Binding* b : block.bindings) {
    if (operand.IsVar() && b->result() == operand.var()) return b;
  }
  return nullptr;
}

Factor FactorOf(const Block& element, const Operand& value) {
  Factor factor{value, nullptr, false, NeededBindings(element, {value}), {}};
  for (size_t k = 0; k < element.params.size(); ++k) {
    const auto uses = [&](const Binding* b) {
      return std::count(b->operands.begin(), b->operands.end(), Operand(element.params[k])) > 0;
    };
    if (std::any_of(factor.made.begin(), factor.made.end(), uses)) factor.indices.push_back(k);
  }
  const Binding* made = DefinitionIn(element, value);
  if (made != nullptr && made->op == OpCode::kConj) {
    factor.is_conjugated = true;
    made = DefinitionIn(element, made->operands[0]);
  }
  if (made != nullptr && made->op == OpCode::kLoad) factor.load = made;
  else factor.is_conjugated = false;
  return factor;
}

bool Follows(const Factor& factor, size_t index) {
  return std::count(factor.indices.begin(), factor.indices.end(), index) > 0;
}

// Each index to where it belongs; the reason where one belongs nowhere.
std::string SortIndices(const Binding& contract, MatrixProduct* product) {
  const auto free = static_cast<size_t>(contract.attrs.Int(Attr::kFree));
  for (size_t k = 0; k < contract.blocks[0]->params.size(); ++k) {
    const bool in_left = Follows(product->left, k);
    const bool in_right = Follows(product->right, k);
    if (k >= free) {
      if (!in_left || !in_right) return "one factor does not follow what is summed over";
      product->depth.push_back(k);
    } else if (in_left && in_right) {
      product->batch.push_back(k);
    } else if (in_left || in_right) {
      (in_left ? product->rows : product->columns).push_back(k);
    } else {
      return "neither factor follows one of its indexes";
    }
  }
  const bool is_product = !product->rows.empty() && !product->columns.empty();
  return is_product ? "" : "one factor has no index of its own";
}

}  // namespace

std::optional<MatrixProduct> FindProduct(const Binding& contract, std::string* why) {
  const Block& element = *contract.blocks[0];
  const Operand& term = element.results[0];
  const auto refuse = [&](const char* reason) {
    *why = reason;
    return std::nullopt;
  };
  if (!IsOfLibraries(ir::DTypeOf(term))) return refuse("its elements are of no dtype of BLAS");
  if (ir::CombineOp(*contract.blocks[1]) != OpCode::kAdd) return refuse("it is no sum");
  const bool has_init = contract.operands.size() > element.params.size();
  if (has_init && !IsZero(contract.operands.back())) return refuse("its sums do not begin at 0");
  const Binding* times = DefinitionIn(element, term);
  if (times == nullptr || times->op != OpCode::kMul)
    return refuse("its terms are no products of two factors");
  MatrixProduct product;
  product.left = FactorOf(element, times->operands[0]);
  product.right = FactorOf(element, times->operands[1]);
  *why = SortIndices(contract, &product);
  if (!why->empty()) return std::nullopt;
  return product;
}

}  // namespace parakeet::passes
