#include <algorithm>

#include "ir/diagnostics.h"
#include "ir/interpreter_machine.h"

namespace parakeet::ir {
std::vector<int64_t> Machine::ExtentsOf(const Step& step) const {
  const std::vector<const Var*>& params = step.binding->blocks[0]->params;
  std::vector<int64_t> extents;
  if (InfoOf(step.op).format != OpFormat::kElements) {
    extents = IntsAt(step.operands, 0, params.size());
    if (std::any_of(extents.begin(), extents.end(), [](int64_t n) { return n < 0; }))
      FailBug("an extent is negative", step.binding->span);
    return extents;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const std::vector<int64_t>& sizes = ArrayAt(step.operands[i]).sizes;
    const std::ptrdiff_t leading =
        static_cast<std::ptrdiff_t>(sizes.size()) - params[i]->type.rank();
    if (leading < 0) FailBug("an element has more axes than its array", step.binding->span);
    const std::vector<int64_t> these(sizes.begin(), sizes.begin() + leading);
    if (i > 0 && these != extents) {
      FailBug("the arrays of " + std::string(Name(step.op)) + " differ in shape",
              step.binding->span);
    }
    extents = these;
  }
  return extents;
}

void Machine::RunElement(const Step& step, const Index& index) {
  const BlockCode& block = step.blocks[0];
  const bool takes_elements = InfoOf(step.op).format == OpFormat::kElements;
  for (size_t i = 0; i < block.params.size(); ++i) {
    RuntimeValue& param = frame_[block.params[i]];
    if (!takes_elements) {
      param = Constant::Int(index[i]);
      continue;
    }
    const ArrayValue& array = ArrayAt(step.operands[i]);
    if (step.binding->blocks[0]->params[i]->type.IsArray()) {
      param = SubArray(array, index);
    } else {
      param = LoadElement(array.dtype, ElementAt(array, index));
    }
  }
  Run(block);
}

void Machine::WriteAt(const ArrayValue& array, const Index& index, const RuntimeValue& value) {
  if (const auto* element = std::get_if<ArrayValue>(&value)) {
    CopyElements(*element, SubArray(array, index));
    return;
  }
  const Constant& scalar = std::get<Constant>(value);
  if (index.size() != array.sizes.size() || scalar.dtype != array.dtype) {
    FailBug("a block yields what its operator's result does not hold");
  }
  StoreElement(scalar, ElementAt(array, index));
}

void Machine::Map(const Step& step) {
  const std::vector<int64_t> extents = ExtentsOf(step);
  std::vector<ArrayValue> arrays;
  for (size_t i = 0; i < step.results.size(); ++i) arrays.push_back(NewResult(step, i, extents));
  const std::vector<int>& yields = step.blocks[0].results;
  ForEachIndex(extents, [&](const Index& index) {
    RunElement(step, index);
    for (size_t i = 0; i < arrays.size(); ++i) WriteAt(arrays[i], index, At(yields[i]));
  });
  for (size_t i = 0; i < arrays.size(); ++i) Set(step, i, std::move(arrays[i]));
}

void Machine::Foreach(const Step& step) {
  ForEachIndex(ExtentsOf(step), [&](const Index& index) { RunElement(step, index); });
}

// Of filter the kept values are the elements themselves, of ifilter what the block yields after the
// bool.
void Machine::Filter(const Step& step) {
  const BlockCode& block = step.blocks[0];
  const std::vector<int>& kept_slots =
      step.op == OpCode::kFilter ? block.params
                                 : std::vector<int>(block.results.begin() + 1, block.results.end());
  std::vector<Values> kept;
  ForEachIndex(ExtentsOf(step), [&](const Index& index) {
    RunElement(step, index);
    if (IntAt(block.results[0]) == 0) return;
    Values& values = kept.emplace_back();
    for (int slot : kept_slots) values.push_back(At(slot));
  });
  const int64_t count = static_cast<int64_t>(kept.size());
  Set(step, 0, Constant::Int(count));
  for (size_t i = 1; i < step.results.size(); ++i) {
    ArrayValue array = NewResult(step, i, {count});
    for (int64_t k = 0; k < count; ++k) WriteAt(array, {k}, kept[k][i - 1]);
    Set(step, i, std::move(array));
  }
}

Values Machine::Epilogue(const BlockCode& block, const Index& index, Values totals) {
  for (size_t i = 0; i < index.size(); ++i) frame_[block.params[i]] = Constant::Int(index[i]);
  SetParams(block, std::move(totals), index.size());
  Run(block);
  return ResultsOf(block);
}

void Machine::Contract(const Step& step) {
  const std::vector<int64_t> extents = ExtentsOf(step);
  const auto free = static_cast<std::ptrdiff_t>(step.binding->attrs.Int(Attr::kFree));
  const std::vector<int64_t> outer(extents.begin(), extents.begin() + free);
  const std::vector<int64_t> reduced(extents.begin() + free, extents.end());
  std::vector<ArrayValue> arrays;
  for (size_t i = 0; i < step.results.size() && free > 0; ++i) {
    arrays.push_back(NewResult(step, i, outer));
  }
  ForEachIndex(outer, [&](const Index& index) {
    Values totals = ReduceFrom(step, index, reduced);
    if (step.blocks.size() > 2) totals = Epilogue(step.blocks[2], index, std::move(totals));
    if (free == 0) return SetAll(step, std::move(totals));
    for (size_t i = 0; i < arrays.size(); ++i) WriteAt(arrays[i], index, totals[i]);
  });
  for (size_t i = 0; i < arrays.size(); ++i) Set(step, i, std::move(arrays[i]));
}

}  // namespace parakeet::ir
