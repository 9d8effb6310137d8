// The rows of operations with blocks: data-parallel operators and control flow.

#include "ir/combines.h"
#include "ir/printer.h"
#include "ir/verify_binding.h"

namespace parakeet::ir {
namespace {

std::vector<Type> TypesOf(const std::vector<Operand>& operands, size_t begin = 0) {
  std::vector<Type> types;
  for (size_t i = begin; i < operands.size(); ++i) types.push_back(TypeOf(operands[i]));
  return types;
}

std::vector<Type> TypesOf(const std::vector<const Var*>& vars) {
  std::vector<Type> types;
  for (const Var* var : vars) types.push_back(var->type);
  return types;
}

// An array with the extents, then the axes of the element.
Type ArrayOver(const std::vector<Operand>& extents, const Type& element) {
  std::vector<Operand> dims = extents;
  dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  return Type::Array(element.dtype(), std::move(dims));
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

bool BindingVerifier::Yields(const Block& block, const std::vector<Type>& types,
                             std::string_view which) {
  const std::string name = "what " + std::string(which) + " yields";
  if (!Require(block.results.size() == types.size(), Invariant::kBlocksMatch,
               name + " is " + std::to_string(block.results.size()) + " values; expected " +
                   std::to_string(types.size()))) {
    return false;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (!RequireType(TypeOf(block.results[i]), types[i], name, Invariant::kBlocksMatch))
      return false;
  }
  return true;
}

// The parameters from `first` on have these types.
bool BindingVerifier::Takes(const Block& block, size_t first, const std::vector<Type>& types,
                            std::string_view which) {
  const std::string name = "what " + std::string(which) + " takes";
  if (!Require(block.params.size() == first + types.size(), Invariant::kBlocksMatch,
               name + " is " + std::to_string(block.params.size()) + " values; expected " +
                   std::to_string(first + types.size()))) {
    return false;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (!RequireType(block.params[first + i]->type, types[i], name, Invariant::kBlocksMatch))
      return false;
  }
  return true;
}

// --- Index spaces ---

bool BindingVerifier::Elements(std::vector<Operand>* extents) {
  const std::vector<const Var*>& params = b_.blocks[0]->params;
  if (!Require(!params.empty() && params.size() <= b_.operands.size(), Invariant::kBlocksMatch,
               "the block takes more elements than there are arrays, or none")) {
    return false;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (!RequireArray(i)) return false;
    const std::vector<Operand>& dims = b_.operands[i].var()->type.dims();
    const size_t leading = dims.size() - params[i]->type.rank();
    const bool has_axes = dims.size() > static_cast<size_t>(params[i]->type.rank()) &&
                          (i == 0 || leading == extents->size());
    if (!Require(has_axes, Invariant::kBlocksMatch, "the arrays have no index space in common"))
      return false;
    const std::vector<Operand> outer(dims.begin(), dims.begin() + leading);
    if (i == 0) *extents = outer;
    for (size_t axis = 0; axis < leading; ++axis) SizeAgrees(outer[axis], (*extents)[axis]);
    const std::vector<Operand> inner(dims.begin() + leading, dims.end());
    const DType dtype = DTypeOf(b_.operands[i]);
    const Type element =
        inner.empty() && !params[i]->type.IsArray() ? Type(dtype) : Type::Array(dtype, inner);
    if (!RequireType(params[i]->type, element, "an element", Invariant::kBlocksMatch)) return false;
  }
  return true;
}

bool BindingVerifier::Indices(std::vector<Operand>* extents) {
  const std::vector<const Var*>& params = b_.blocks[0]->params;
  if (!Require(params.size() <= b_.operands.size(), Invariant::kBlocksMatch,
               "the block takes more indexes than extents")) {
    return false;
  }
  for (const Var* param : params) {
    if (!RequireType(param->type, DType::kI64, "an index", Invariant::kBlocksMatch)) return false;
  }
  extents->assign(b_.operands.begin(), b_.operands.begin() + params.size());
  return RequireInts(0, params.size());
}

// --- Results ---

void BindingVerifier::ResultsOver(const std::vector<Operand>& extents, size_t first_result,
                                  size_t first_yield, size_t block) {
  const std::vector<Operand>& yielded = b_.blocks[block]->results;
  const bool counts = b_.results.size() - first_result == yielded.size() - first_yield;
  if (!Require(counts, Invariant::kBlocksMatch,
               "the block yields more or fewer values than there are results"))
    return;
  for (size_t i = first_result; i < b_.results.size(); ++i) {
    const Type element = TypeOf(yielded[first_yield + i - first_result]);
    if (!Require(!element.IsVector(), Invariant::kBlocksMatch, "a vector is no element")) return;
    RequireType(ResultType(i), ArrayOver(extents, element), "result " + std::to_string(i));
  }
}

bool BindingVerifier::Accumulators(size_t first_init, bool needs_inits) {
  const std::vector<Type> types = TypesOf(b_.blocks[0]->results);
  const size_t inits = b_.operands.size() - first_init;
  const bool fit_results = b_.blocks.size() > 2 || types.size() == b_.results.size();
  const bool counts = fit_results && (inits == types.size() || (inits == 0 && !needs_inits));
  if (!Require(counts, Invariant::kBlocksMatch,
               "results, initial values and what the block yields differ in number")) {
    return false;
  }
  for (size_t i = 0; i < inits; ++i)
    RequireType(TypeAt(first_init + i), types[i], "an initial value");
  std::vector<Type> both = types;
  both.insert(both.end(), types.begin(), types.end());
  return TreeIsSound() && Takes(*b_.blocks[1], 0, both, "the combine") &&
         Yields(*b_.blocks[1], types, "the combine");
}

bool BindingVerifier::TreeIsSound() {
  const int64_t block = b_.attrs.Int(Attr::kBlock), most = b_.attrs.Int(Attr::kMostBlock, block);
  const bool grows = b_.attrs.Has(Attr::kMostBlock);
  return Require(block >= 0 && IsPowerOfTwo(b_.attrs.Int(Attr::kLanes, 1)),
                 Invariant::kAttributesFit,
                 "a tree has blocks of at least 0 and lanes of a power of two") &&
         Require(!b_.attrs.Has(Attr::kRun) || (b_.attrs.Int(Attr::kRun) > 0 && block == 0 &&
                                               (b_.attrs.Int(Attr::kLanes, 1) > 1 ||
                                                (b_.blocks[0]->params.size() == 1 &&
                                                 !TraitsOf(*b_.blocks[1]).identities.empty()))),
                 Invariant::kAttributesFit,
                 "runs are of lanes, or of a reduction in order over one axis, with an identity to "
                 "start from") &&
         Require(!grows || (block > 0 && most >= block && b_.blocks[0]->params.size() == 1),
                 Invariant::kAttributesFit, "blocks of a tree over one axis alone grow");
}

// --- Operators ---

void BindingVerifier::Map() {
  std::vector<Operand> extents;
  if (!Elements(&extents)) return;
  Require(b_.blocks[0]->params.size() == b_.operands.size(), Invariant::kBlocksMatch,
          "the block takes fewer elements than there are arrays");
  ResultsOver(extents, 0, 0);
}

void BindingVerifier::Reduce() {
  std::vector<Operand> extents;
  if (!Elements(&extents) || !Accumulators(b_.blocks[0]->params.size(), false)) return;
  Yields(*b_.blocks[0], TypesOf(b_.results), "the block");
}

void BindingVerifier::Scan() {
  std::vector<Operand> extents;
  if (!Elements(&extents) || !Accumulators(b_.blocks[0]->params.size(), false)) return;
  if (Require(extents.size() == 1, Invariant::kBlocksMatch, "a scan runs along one axis"))
    ResultsOver(extents, 0, 0);
}

void BindingVerifier::KeptValues(const std::vector<Type>& elements) {
  const bool counts = b_.results.size() == 1 + elements.size();
  if (!Require(counts, Invariant::kBlocksMatch,
               "expected a count, then a result for each value kept"))
    return;
  RequireType(ResultType(), DType::kI64, "the count");
  for (size_t i = 0; i < elements.size(); ++i) {
    const Type& type = ResultType(1 + i);
    const bool is_sized = type.rank() > 0 && type.dims()[0] == Operand(b_.result());
    if (!Require(is_sized, Invariant::kSizesAgree,
                 "the first size of what is kept is not the count"))
      return;
    RequireType(type, ArrayOver({b_.result()}, elements[i]), "result " + std::to_string(1 + i));
  }
}

void BindingVerifier::Filter() {
  std::vector<Operand> extents;
  if (!Elements(&extents) || !Yields(*b_.blocks[0], {DType::kBool}, "the block")) return;
  Require(b_.blocks[0]->params.size() == b_.operands.size(), Invariant::kBlocksMatch,
          "the block takes fewer elements than there are arrays");
  KeptValues(TypesOf(b_.blocks[0]->params));
}

void BindingVerifier::Imap() {
  std::vector<Operand> extents;
  if (!Indices(&extents)) return;
  Require(extents.size() == b_.operands.size(), Invariant::kBlocksMatch,
          "the block takes fewer indexes than extents");
  ResultsOver(extents, 0, 0);
}

void BindingVerifier::Ireduce() {
  std::vector<Operand> extents;
  if (!Indices(&extents) || !Accumulators(extents.size(), false)) return;
  Yields(*b_.blocks[0], TypesOf(b_.results), "the block");
}

void BindingVerifier::Iscan() {
  std::vector<Operand> extents;
  if (!Indices(&extents) || !Accumulators(extents.size(), false)) return;
  if (Require(extents.size() == 1, Invariant::kBlocksMatch, "a scan runs over one index"))
    ResultsOver(extents, 0, 0);
}

void BindingVerifier::Foreach() {
  std::vector<Operand> extents;
  if (!Indices(&extents)) return;
  Require(extents.size() == b_.operands.size(), Invariant::kBlocksMatch,
          "the block takes fewer indexes than extents");
  Yields(*b_.blocks[0], {}, "the block");
}

void BindingVerifier::Ifilter() {
  std::vector<Operand> extents;
  if (!Indices(&extents)) return;
  Require(extents.size() == b_.operands.size(), Invariant::kBlocksMatch,
          "the block takes fewer indexes than extents");
  const std::vector<Operand>& yielded = b_.blocks[0]->results;
  const bool decides = !yielded.empty() && TypeOf(yielded[0]) == Type(DType::kBool);
  if (!Require(decides, Invariant::kBlocksMatch, "the block yields no bool first")) return;
  KeptValues(TypesOf(yielded, 1));
}

void BindingVerifier::Contract() {
  std::vector<Operand> extents;
  if (!Indices(&extents) || !Accumulators(extents.size(), false)) return;
  const int64_t free = b_.attrs.Int(Attr::kFree, -1);
  const bool in_range = free >= 0 && free <= static_cast<int64_t>(extents.size());
  if (!Require(in_range, Invariant::kAttributesFit,
               "`free` counts more indexes than there are, or is missing"))
    return;
  if (b_.blocks.size() > 2 && !Epilogue(free)) return;
  const size_t last = b_.blocks.size() > 2 ? 2 : 0;
  if (free == 0) {
    Yields(*b_.blocks[last], TypesOf(b_.results), "the block");
  } else {
    ResultsOver({extents.begin(), extents.begin() + free}, 0, 0, last);
  }
}

// Block 2 takes the free indexes, then what is accumulated.
bool BindingVerifier::Epilogue(size_t free) {
  std::vector<Type> types(free, Type(DType::kI64));
  const std::vector<Type> accumulated = TypesOf(b_.blocks[0]->results);
  types.insert(types.end(), accumulated.begin(), accumulated.end());
  return Takes(*b_.blocks[2], 0, types, "what follows the sum");
}

void BindingVerifier::Lanes() {
  RequireInts(0, 2);
  if (!Takes(*b_.blocks[0], 0, {DType::kI64}, "the block") || !Accumulators(2, true)) return;
  Require(b_.attrs.Has(Attr::kLanes), Invariant::kAttributesFit, "`lanes` is missing");
  const std::vector<Type> types = TypesOf(b_.results);
  if (!Yields(*b_.blocks[0], types, "the block") || b_.blocks.size() == 2) return;
  if (Takes(*b_.blocks[2], 0, TypesOf(b_.blocks[1]->params), "the take"))
    Yields(*b_.blocks[2], types, "the take");
}

// --- Control flow ---

void BindingVerifier::If() {
  RequireType(TypeAt(0), DType::kBool, "the condition");
  const std::vector<Type> types = TypesOf(b_.results);
  for (const Block* block : b_.blocks) {
    if (!Takes(*block, 0, {}, "a branch") || !Yields(*block, types, "a branch")) return;
  }
}

void BindingVerifier::For() {
  if (!RequireInts(0, 3)) return;
  const Operand& step = b_.operands[2];
  // A value's text needs the names of all values, and so is made for a breach only.
  if (!step.IsConstant() || step.IsInt(0))
    breaches_.Add(Invariant::kStepIsConstant, "the step is " + breaches_.Text(step));
  const std::vector<Type> types = TypesOf(b_.results);
  const Block& body = *b_.blocks[0];
  if (!Takes(body, 1, types, "the body") || !Yields(body, types, "the body")) return;
  RequireType(body.params[0]->type, DType::kI64, "the index", Invariant::kBlocksMatch);
  if (!Require(b_.operands.size() == 3 + types.size(), Invariant::kCountsMatch,
               "expected an initial value a result")) {
    return;
  }
  for (size_t i = 0; i < types.size(); ++i)
    RequireType(TypeAt(3 + i), types[i], "an initial value");
}

void BindingVerifier::While() {
  const std::vector<Type> types = TypesOf(b_.results);
  if (!Require(b_.operands.size() == types.size(), Invariant::kCountsMatch,
               "expected an initial value a result"))
    return;
  for (size_t i = 0; i < types.size(); ++i) RequireType(TypeAt(i), types[i], "an initial value");
  if (!Takes(*b_.blocks[0], 0, types, "the condition") ||
      !Takes(*b_.blocks[1], 0, types, "the body"))
    return;
  Yields(*b_.blocks[0], {DType::kBool}, "the condition");
  Yields(*b_.blocks[1], types, "the body");
}

}  // namespace parakeet::ir
