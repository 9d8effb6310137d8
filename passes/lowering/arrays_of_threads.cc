#include "passes/lowering/arrays_of_threads.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

bool IsFlatView(const Binding& b) { return b.op == OpCode::kView && b.attrs.Int(Attr::kFlat) != 0; }

constexpr int64_t kMostOfFrame = 1024;  // Bytes, as the back end has it (stack_arrays.h).

bool IsSmall(const ir::Type& type) {
  int64_t bytes = ir::SizeInBytes(type.dtype());
  for (const Operand& size : type.dims()) {
    if (!size.IsConstant() || size.constant().integer > kMostOfFrame) return false;
    bytes *= size.constant().integer;
    if (bytes > kMostOfFrame) return false;
  }
  return true;
}

// What blocks inside yield or carry, by whatever name.
ir::VarSet GivenOn(const Block& iteration) {
  ir::VarSet given;
  const auto add = [&](const Operand& value) {
    if (value.IsVar() && value.var()->type.IsArray()) given.insert(value.var());
  };
  std::vector<const Binding*> views;
  ir::ForEachBinding(iteration, [&](const Binding& b) {
    if (b.op == OpCode::kView) views.push_back(&b);
    for (const Block* block : b.blocks) {
      for (const Operand& result : block->results) add(result);
    }
    if (b.op != OpCode::kFor && b.op != OpCode::kWhile) return;
    for (const Operand& operand : b.operands) add(operand);
  });
  for (size_t at = views.size(); at-- > 0;) {
    if (given.contains(views[at]->result())) add(views[at]->operands[0]);
  }
  return given;
}

}  // namespace

ArraysOfThreads::Arrays ArraysOfThreads::FindArrays(const Block& iteration) {
  const ir::VarSet inside = ir::DefinedVars(iteration), given = GivenOn(iteration);
  ir::VarSet flat, seen;
  ir::ForEachBinding(iteration, [&](const Binding& b) {
    if (b.op == OpCode::kView) seen.insert(b.operands[0].var());
    if (IsFlatView(b)) flat.insert(b.operands[0].var());
  });
  Arrays arrays;
  ir::ForEachBinding(iteration, [&](const Binding& b) {
    if (b.op != OpCode::kAlloc || given.contains(b.result())) return;
    const ir::Type& type = b.result()->type;
    if (IsSmall(type) && !seen.contains(b.result())) return;
    const auto& dims = type.dims();
    const bool is_known = std::none_of(dims.begin(), dims.end(), [&](const Operand& size) {
      return size.IsVar() && inside.contains(size.var());
    });
    const bool is_line = type.rank() > 1 && flat.contains(b.result());
    if (is_known && !(is_line && ir::IsFortran(b))) arrays.push_back({&b, !is_line});
  });
  return arrays;
}

// One that is negative is an error of the iteration's.
ArraysOfThreads::Operands ArraysOfThreads::SizesOf(const Var& array) {
  Operands sizes = Apply(array.type.dims());
  for (Operand& size : sizes) size = Max(size, Int(0));
  return sizes;
}

Operand ArraysOfThreads::BytesOfThread(const Arrays& arrays) {
  Operand bytes = Int(1);
  for (const OwnArray& own : arrays) {
    const Var& array = *own.alloc->result();
    const Operand width = Int(ir::SizeInBytes(array.type.dtype()));
    bytes = builder().Add(bytes, builder().Mul(Product(SizesOf(array)), width));
  }
  return bytes;
}

void ArraysOfThreads::AllocateForThreads(const Arrays& arrays, const Operand& count) {
  for (const OwnArray& own : arrays) {
    const Var* array = own.alloc->result();
    Operands dims = SizesOf(*array);
    dims.insert(own.is_apart ? dims.end() : dims.begin(), count);
    const ir::Type type = ir::Type::Array(array->type.dtype(), dims);
    all_[array] = builder().EmitOne(OpCode::kAlloc, type, dims, {}, {}, array->hint);
    if (own.is_apart) apart_.insert(array);
  }
}

void ArraysOfThreads::TakeParts(const Arrays& arrays, const Operand& thread) {
  for (const OwnArray& own : arrays) {
    const Var* array = own.alloc->result();
    const size_t rank = size_t(array->type.rank()), of_threads = own.is_apart ? rank : 0;
    Operands view = {all_.at(array)};
    for (size_t axis = 0; axis <= rank; ++axis)
      view.push_back(axis == of_threads ? thread : Int(0));
    for (size_t axis = 0; axis <= rank; ++axis) {
      const size_t of_array = axis < of_threads ? axis : axis - 1;
      for (size_t k = 0; k < rank; ++k) view.push_back(Int(axis != of_threads && k == of_array));
    }
    Replace(array, builder().EmitOne(OpCode::kView, Apply(array->type), view, {}, {}, array->hint));
  }
}

// Of one axis, flat is as it is.
bool ArraysOfThreads::VisitPart(const Binding& b) {
  if (b.op == OpCode::kAlloc) return all_.contains(b.result());
  if (!IsFlatView(b) || !apart_.contains(b.operands[0].var())) return false;
  Binding view = *Rewrite(&b);
  view.attrs = view.attrs.Without(Attr::kFlat);
  builder().Append(arena()->New(std::move(view)));
  return true;
}

}  // namespace parakeet::passes
