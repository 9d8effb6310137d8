#include "passes/analyses/find_products.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"

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

// The load that a factor is, or is the conjugate of; null where it is something else.
const Binding* LoadOf(const Block& element, const Operand& factor, bool* conjugates) {
  const Binding* made = DefinitionIn(element, factor);
  if (made != nullptr && made->op == OpCode::kConj) {
    *conjugates = true;
    made = DefinitionIn(element, made->operands[0]);
  }
  return made != nullptr && made->op == OpCode::kLoad ? made : nullptr;
}

bool Follows(const Binding& load, const Var* index) {
  return std::count(load.operands.begin() + 1, load.operands.end(), Operand(index)) > 0;
}

// Each free index to where it belongs; the reason where an index belongs nowhere.
std::string SortIndices(const Binding& contract, MatrixProduct* product) {
  const auto free = static_cast<size_t>(contract.attrs.Int(Attr::kFree));
  const std::vector<const Var*>& indices = contract.blocks[0]->params;
  for (size_t k = 0; k < indices.size(); ++k) {
    const bool in_left = Follows(*product->left, indices[k]);
    const bool in_right = Follows(*product->right, indices[k]);
    if (k >= free) {
      if (!in_left || !in_right) return "one operand does not follow what is summed over";
      product->depth.push_back(k);
    } else if (in_left && in_right) {
      product->batch.push_back(k);
    } else if (in_left || in_right) {
      (in_left ? product->rows : product->columns).push_back(k);
    } else {
      return "neither operand follows one of its indexes";
    }
  }
  const bool is_product = !product->rows.empty() && !product->columns.empty();
  return is_product ? "" : "one operand has no index of its own";
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
  MatrixProduct product;
  if (times != nullptr && times->op == OpCode::kMul) {
    product.left = LoadOf(element, times->operands[0], &product.conjugates_left);
    product.right = LoadOf(element, times->operands[1], &product.conjugates_right);
  }
  if (product.left == nullptr || product.right == nullptr)
    return refuse("its terms are more than products of two elements");
  *why = SortIndices(contract, &product);
  if (!why->empty()) return std::nullopt;
  return product;
}

}  // namespace parakeet::passes
