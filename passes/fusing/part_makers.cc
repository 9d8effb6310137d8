#include "passes/fusing/part_makers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ir/mutator.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::TypeOf;
using ir::Var;
using Parts = std::vector<AxisPart>;
using Operands = std::vector<Operand>;

bool IsIndex(const AxisPart& part) { return part.is_index; }

bool IsConstantStep(const AxisPart& part) { return part.is_index || part.step.IsConstant(); }

bool AreWhole(const Parts& parts, const std::vector<Operand>& extents) {
  for (size_t axis = 0; axis < parts.size(); ++axis) {
    if (!parts[axis].IsWhole(extents[axis])) return false;
  }
  return true;
}

// The part of an array of which one axis or more is left.
Operand SliceOf(Builder& builder, const Operand& array, const Parts& parts) {
  if (AreWhole(parts, array.var()->type.dims())) return array;
  std::string axes;
  Operands operands = {array};
  std::vector<Operand> sizes;
  for (const AxisPart& part : parts) {
    axes += part.is_index ? 'i' : 'r';
    operands.push_back(part.start);
    if (part.is_index) continue;
    operands.insert(operands.end(), {part.size, part.step});
    sizes.push_back(part.size);
  }
  const ir::Type type = ir::Type::Array(array.var()->type.dtype(), sizes);
  return builder.EmitOne(OpCode::kSlice, type, operands, {{Attr::kAxes, axes}});
}

Operand PartOf(Builder& builder, const Operand& array, const Parts& parts) {
  if (!std::all_of(parts.begin(), parts.end(), IsIndex)) return SliceOf(builder, array, parts);
  Operands index;
  for (const AxisPart& part : parts) index.push_back(part.start);
  return builder.Load(array, index);
}

// The leading parts, and all of the axes behind.
Parts LeadingParts(const Parts& parts, size_t count, const ir::Type& type) {
  Parts leading(parts.begin(), parts.begin() + std::ptrdiff_t(count));
  for (size_t axis = count; axis < size_t(type.rank()); ++axis)
    leading.push_back(AxisPart::Whole(type.dims()[axis]));
  return leading;
}

// What a block makes of its elements: a part of it, where it is an array.
Operand Element(Builder& builder, const Block& block, const Operands& arguments,
                const Parts& inner) {
  const Operand value = ir::InlineBlock(builder, block, arguments)[0];
  return inner.empty() ? value : PartOf(builder, value, inner);
}

Operands SizesOf(const Parts& parts) {
  Operands sizes;
  for (const AxisPart& part : parts) {
    if (!part.is_index) sizes.push_back(part.size);
  }
  return sizes;
}

// An operator that makes the axes that are left of `parts`, the first of them by its index.
Operand EmitLike(Builder& builder, const Binding& maker, Operands operands, const Block* block,
                 const Parts& parts) {
  const ir::Type type = ir::Type::Array(maker.result()->type.dtype(), SizesOf(parts));
  const ir::Attributes attrs = type.rank() < 2 ? maker.attrs.Without(Attr::kFortran) : maker.attrs;
  return builder.EmitOne(maker.op, type, std::move(operands), attrs, {block}, maker.result()->hint);
}

size_t IndexRank(const Binding& maker) {
  if (maker.op == OpCode::kImap) return maker.operands.size();
  return size_t(maker.operands[0].var()->type.rank() - maker.blocks[0]->params[0]->type.rank());
}

// An element of an array that has no axes left is no element.
bool CanMakeElements(const Binding& maker, const PartRead& read) {
  const size_t rank = IndexRank(maker);
  if (maker.op == OpCode::kMap && rank == 0) return false;
  const bool is_element = std::all_of(read.parts.begin(), read.parts.end(), IsIndex);
  return is_element == read.IsElement();
}

Operand MakeByIndex(Builder& builder, const Binding& maker, const Parts& parts) {
  const size_t rank = IndexRank(maker);
  const Parts inner_parts(parts.begin() + std::ptrdiff_t(rank), parts.end());
  Builder inner = builder.Nested();
  std::vector<const Var*> params;
  Operands index, extents;
  for (size_t axis = 0; axis < rank; ++axis) {
    const AxisPart& part = parts[axis];
    if (part.is_index) {
      index.push_back(part.start);
      continue;
    }
    params.push_back(builder.NewVar(ir::DType::kI64, maker.blocks[0]->params[axis]->hint));
    extents.push_back(part.size);
    index.push_back(PlaceIn(inner, part, params.back()));
  }
  if (params.empty()) return Element(builder, *maker.blocks[0], index, inner_parts);
  const Operand made = Element(inner, *maker.blocks[0], index, inner_parts);
  return EmitLike(builder, maker, extents, inner.Finish(params, {made}), parts);
}

Operand MakeOfArrays(Builder& builder, const Binding& maker, const Parts& parts) {
  const size_t rank = IndexRank(maker);
  const Parts inner_parts(parts.begin() + std::ptrdiff_t(rank), parts.end());
  Operands arrays;
  for (const Operand& array : maker.operands)
    arrays.push_back(PartOf(builder, array, LeadingParts(parts, rank, array.var()->type)));
  const bool is_one = std::all_of(parts.begin(), parts.begin() + std::ptrdiff_t(rank), IsIndex);
  if (is_one) return Element(builder, *maker.blocks[0], arrays, inner_parts);
  Builder inner = builder.Nested();
  std::vector<const Var*> params;
  for (const Var* param : maker.blocks[0]->params)
    params.push_back(builder.NewVar(param->type, param->hint));
  const Operands arguments(params.begin(), params.end());
  const Operand made = Element(inner, *maker.blocks[0], arguments, inner_parts);
  return EmitLike(builder, maker, arrays, inner.Finish(params, {made}), parts);
}

// Prefixes are those of fewer elements: none is made behind the last that is read.
bool CanMakePrefixes(const Binding& maker, const PartRead& read) {
  const std::vector<Operand>& extents = maker.result()->type.dims();
  for (size_t axis = 1; axis < extents.size(); ++axis) {
    if (!read.parts[axis].IsWhole(extents[axis])) return false;
  }
  return IsConstantStep(read.parts[0]) &&
         std::all_of(read.through[0].begin(), read.through[0].end(), IsConstantStep);
}

// Behind the last of the places.
Operand EndOf(Builder& builder, const AxisPart& part) {
  const Operand one = Operand::Int(1);
  if (part.is_index) return builder.Add(part.start, one);
  if (part.start.IsInt(0) && part.step.IsInt(1)) return part.size;
  Operand last = part.start;
  if (part.step.constant().integer > 0)
    last = Plus(builder, last, Times(builder, builder.Sub(part.size, one), part.step));
  const Operand some = builder.Scalar(OpCode::kGt, {part.size, Operand::Int(0)});
  return builder.Scalar(OpCode::kSelect, {some, builder.Add(last, one), Operand::Int(0)});
}

// Whether one prefix is what its elements come to in any order.
bool IsTotal(const Binding& maker, const Parts& parts) {
  const ir::DType dtype = maker.result()->type.dtype();
  const auto op = ir::CombineOp(*maker.blocks[1]);
  return op && parts.size() == 1 && parts[0].is_index && ir::IsAssociative(*op) &&
         (ir::IsInteger(dtype) || dtype == ir::DType::kBool);
}

Operand MakePrefixes(Builder& builder, const Binding& maker, const Parts& parts) {
  const AxisPart prefix = AxisPart::Whole(EndOf(builder, parts[0]));
  Parts made_parts = parts;
  made_parts[0] = prefix;
  const size_t arrays = maker.blocks[0]->params.size();
  Operands operands = maker.operands;
  for (size_t k = 0; k < arrays; ++k)
    operands[k] = SliceOf(builder, operands[k], LeadingParts(made_parts, 1, TypeOf(operands[k])));
  const Block* element = ir::CloneBlock(builder.arena(), *maker.blocks[0]);
  const Block* combine = ir::CloneBlock(builder.arena(), *maker.blocks[1]);
  if (IsTotal(maker, parts)) {
    const ir::DType dtype = maker.result()->type.dtype();
    return builder.EmitOne(OpCode::kReduce, dtype, operands, {}, {element, combine});
  }
  const ir::Type type = ir::Type::Array(maker.result()->type.dtype(), SizesOf(made_parts));
  const Var* made = builder.EmitOne(OpCode::kScan, type, operands, maker.attrs, {element, combine},
                                    maker.result()->hint);
  return PartOf(builder, made, parts);
}

constexpr PartMaker kMakers[] = {
    {OpCode::kImap, CanMakeElements, MakeByIndex},
    {OpCode::kMap, CanMakeElements, MakeOfArrays},
    {OpCode::kScan, CanMakePrefixes, MakePrefixes},
};

}  // namespace

const PartMaker* FindPartMaker(OpCode op) {
  for (const PartMaker& maker : kMakers) {
    if (maker.op == op) return &maker;
  }
  return nullptr;
}

}  // namespace parakeet::passes
