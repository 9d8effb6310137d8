#include "passes/lowering/lower_product_calls.h"

#include <algorithm>
#include <string>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

// Of products of fewer terms a launch is all that counts, and our kernels need no more than one.
// The runtime asks for more (cuda_device.cc), by what was measured.
constexpr int64_t kLeastTerms = 1 << 15;
// Of those whose factors have to be made first, which would be in vain below what the runtime asks
// for.
constexpr int64_t kLeastTermsToMake = 1 << 21;

// True where the block makes nothing of the sum: `then (%i, %j, %s) { yield %s }`.
bool IsJustTheSum(const Block& then) {
  return then.bindings.empty() && then.results.size() == 1 &&
         then.results[0] == Operand(then.params.back());
}

}  // namespace

Operand ProductCallLowering::CallLibrary(const Binding& contract, const Results& results) {
  std::string why;
  if (!contract.attrs.Has(Attr::kCallee)) return Operand::Bool(false);
  const auto product = FindProduct(contract, &why);
  if (!product) return Operand::Bool(false);
  Operands extents = Apply(contract.operands);
  extents.resize(contract.blocks[0]->params.size());
  const bool has_both = product->left.load != nullptr && product->right.load != nullptr;
  const int64_t least = has_both ? kLeastTerms : kLeastTermsToMake;
  const auto no = [] { return Operands{Operand::Bool(false)}; };
  const Operand is_worth = builder().Scalar(OpCode::kGe, {Product(std::move(extents)), Int(least)});
  const auto call = [&] {
    const Var* sums = PlaceOfSums(contract, results);
    const Operand is_done = MakeSums(contract, *product, sums);
    const bool is_all = contract.blocks.size() < 3 || IsJustTheSum(*contract.blocks[2]);
    if (is_all) return Operands{is_done};
    const auto follow = [&] {
      FollowSums(contract, sums, results);
      return Operands{Operand::Bool(true)};
    };
    return Choose(is_done, follow, no);
  };
  return Choose(is_worth, call, no)[0];
}

// The first result, where it can hold them until they are read: each is then read by the thread
// that writes there.
const Var* ProductCallLowering::PlaceOfSums(const Binding& contract, const Results& results) {
  const DType dtype = ir::DTypeOf(contract.blocks[0]->results[0]);
  if (!results.empty() && results[0]->type.dtype() == dtype) return results[0];
  Operands extents = Apply(contract.operands);
  extents.resize(contract.attrs.Int(Attr::kFree));
  return builder().EmitOne(OpCode::kAlloc, Type::Array(dtype, extents), extents, {}, {}, "sums");
}

const Var* ProductCallLowering::ViewAlong(const Binding& contract,
                                          const std::vector<size_t>& indices, const Operand& array,
                                          const Operands& at) {
  const std::vector<const Var*>& params = contract.blocks[0]->params;
  const auto is_index = [&](const Operand& operand) {
    return std::count(params.begin(), params.end(), operand.var()) > 0;
  };
  Operands operands = {array}, dims;
  for (const Operand& operand : at) operands.push_back(is_index(operand) ? Int(0) : Apply(operand));
  for (const Operand& operand : at) {
    for (size_t index : indices) operands.push_back(Int(operand == Operand(params[index])));
  }
  for (size_t index : indices) dims.push_back(Apply(contract.operands[index]));
  const DType dtype = ir::TypeOf(array).dtype();
  return builder().EmitOne(OpCode::kView, Type::Array(dtype, std::move(dims)), std::move(operands));
}

void ProductCallLowering::ForEachThread(const Operands& extents,
                                        const std::function<void(const Operands& index)>& body) {
  const Attributes kind = OverThreads();
  Loop(Int(0), Product(extents), kind, [&](const Operand& at) { body(Delinear(at, extents)); });
}

const Var* ProductCallLowering::ViewOfFactor(const Binding& contract, const Factor& factor,
                                             const std::vector<size_t>& indices) {
  if (factor.load != nullptr) {
    const Operands& operands = factor.load->operands;
    return ViewAlong(contract, indices, Apply(operands[0]), {operands.begin() + 1, operands.end()});
  }
  Operands place;
  for (size_t index : factor.indices) place.push_back(contract.blocks[0]->params[index]);
  return ViewAlong(contract, indices, MakeFactor(contract, factor), place);
}

// An array over the indices that the factor follows.
const Var* ProductCallLowering::MakeFactor(const Binding& contract, const Factor& factor) {
  Operands extents;
  std::vector<const Var*> params;
  for (size_t index : factor.indices) {
    extents.push_back(Apply(contract.operands[index]));
    params.push_back(contract.blocks[0]->params[index]);
  }
  const Type type = Type::Array(ir::DTypeOf(factor.value), extents);
  const Var* made = builder().EmitOne(OpCode::kAlloc, type, extents, {}, {}, "factor");
  const Block block{params, factor.made, {factor.value}};
  ForEachThread(extents, [&](const Operands& index) {
    builder().Store(made, index, VisitBody(*ir::CloneBlock(arena(), block), index)[0]);
  });
  return made;
}

Operand ProductCallLowering::MakeSums(const Binding& contract, const MatrixProduct& product,
                                      const Var* sums) {
  const auto along = [&](const std::vector<size_t>& own, const std::vector<size_t>& others) {
    std::vector<size_t> indices = product.batch;
    indices.insert(indices.end(), own.begin(), own.end());
    indices.insert(indices.end(), others.begin(), others.end());
    return indices;
  };
  const std::vector<const Var*>& params = contract.blocks[0]->params;
  const Operands place(params.begin(), params.begin() + contract.attrs.Int(Attr::kFree));
  const auto count = [](const std::vector<size_t>& indices) {
    return Int(static_cast<int64_t>(indices.size()));
  };
  const Operands operands = {
      count(product.batch),
      count(product.rows),
      count(product.columns),
      count(product.depth),
      Int((product.left.is_conjugated ? 1 : 0) | (product.right.is_conjugated ? 2 : 0)),
      ViewOfFactor(contract, product.left, along(product.rows, product.depth)),
      ViewOfFactor(contract, product.right, along(product.depth, product.columns)),
      ViewAlong(contract, along(product.rows, product.columns), sums, place)};
  const Var* status =
      builder().EmitOne(OpCode::kLibraryCall, DType::kI64, operands,
                        Attributes{{Attr::kCallee, contract.attrs.Text(Attr::kCallee)}});
  return builder().Scalar(OpCode::kEq, {status, Int(0)});
}

void ProductCallLowering::FollowSums(const Binding& contract, const Var* sums,
                                     const Results& results) {
  Operands extents = Apply(contract.operands);
  extents.resize(contract.attrs.Int(Attr::kFree));
  if (IsFortran(contract)) std::reverse(extents.begin(), extents.end());
  ForEachThread(extents, [&](Operands index) {
    if (IsFortran(contract)) std::reverse(index.begin(), index.end());
    Operands arguments = index;
    arguments.push_back(builder().Load(sums, index));
    const Operands values = VisitBody(*ir::CloneBlock(arena(), *contract.blocks[2]), arguments);
    for (size_t k = 0; k < values.size(); ++k) StoreElement(results[k], index, values[k]);
  });
}

}  // namespace parakeet::passes
