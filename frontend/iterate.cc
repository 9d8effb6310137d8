#include <algorithm>
#include <utility>

#include "frontend/evaluator.h"
#include "frontend/promotion.h"

namespace parakeet::frontend {
namespace {

Sequence FixedSequence(Values values) {
  Sequence sequence;
  sequence.length = ir::Operand::Int(static_cast<int64_t>(values.size()));
  sequence.fixed = std::move(values);
  return sequence;
}

// ceil((stop - start) / step) for a step that is not zero, and 0 for a stop behind the start: it is
// brought to the start first, since the difference of ends far apart the other way would wrap.
ir::Operand CountSteps(ir::Builder& builder, const ir::Operand& start, const ir::Operand& stop,
                       const ir::Operand& step) {
  const ir::Operand zero = ir::Operand::Int(0), one = ir::Operand::Int(1);
  if (step.IsInt(1)) {
    if (start.IsConstant()) {
      return builder.Scalar(ir::OpCode::kMax, {builder.Sub(stop, start), zero});
    }
    return builder.Sub(builder.Scalar(ir::OpCode::kMax, {stop, start}), start);
  }
  const ir::Operand is_up = builder.Scalar(ir::OpCode::kGt, {step, zero});
  const auto chosen = [&](const ir::Operand& up, const ir::Operand& down) {
    return builder.Scalar(ir::OpCode::kSelect, {is_up, up, down});
  };
  const ir::Operand end = chosen(builder.Scalar(ir::OpCode::kMax, {stop, start}),
                                 builder.Scalar(ir::OpCode::kMin, {stop, start}));
  // floor((distance -+ 1) / step) + 1: no sum is farther from zero than the distance.
  const ir::Operand nearer =
      builder.Sub(builder.Sub(end, start), chosen(one, ir::Operand::Int(-1)));
  const ir::Operand count = builder.Add(builder.Scalar(ir::OpCode::kFloorDiv, {nearer, step}), one);
  return builder.Scalar(ir::OpCode::kMax, {count, zero});
}

Sequence IterateRange(Evaluator* evaluator, const Values& parts) {
  ir::Builder& builder = evaluator->builder();
  const ir::Operand start = parts[0].op();
  const ir::Operand stop = parts[1].op();
  const ir::Operand step = parts[2].op();
  evaluator->context().Check(builder.Scalar(ir::OpCode::kNe, {step, ir::Operand::Int(0)}),
                             "ValueError", "range() arg 3 must not be zero");
  if (step.IsInt(0)) throw Leaves{};
  Sequence sequence;
  sequence.length = CountSteps(builder, start, stop, step);
  sequence.element = [evaluator, start, step](const ir::Operand& index) {
    ir::Builder& inner = evaluator->builder();
    return Value::Python(inner.Add(start, inner.Mul(index, step)));
  };
  if (step.IsConstant()) sequence.counted = {start, stop, step.constant().integer};
  return sequence;
}

// The shortest of several sequences, element by element.
Sequence IterateZip(Evaluator* evaluator, const Values& parts) {
  std::vector<Sequence> sequences;
  for (const Value& part : parts) sequences.push_back(evaluator->Iterate(part));
  if (sequences.empty()) return FixedSequence({});
  const auto is_fixed = [](const Sequence& s) { return s.fixed.has_value(); };
  if (std::all_of(sequences.begin(), sequences.end(), is_fixed)) {
    size_t length = sequences[0].fixed->size();
    for (const Sequence& s : sequences) length = std::min(length, s.fixed->size());
    Values tuples;
    for (size_t i = 0; i < length; ++i) {
      Values elements;
      for (const Sequence& s : sequences) elements.push_back((*s.fixed)[i]);
      tuples.push_back(Value::Tuple(std::move(elements)));
    }
    return FixedSequence(std::move(tuples));
  }
  // A tuple beside an array is read by a run-time index.
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (is_fixed(sequences[i])) sequences[i] = evaluator->Iterate(evaluator->AsArray(parts[i]));
  }
  Sequence zipped;
  zipped.length = sequences[0].length;
  for (const Sequence& s : sequences) {
    if (s.length == zipped.length) continue;
    zipped.length = evaluator->builder().Scalar(ir::OpCode::kMin, {zipped.length, s.length});
  }
  zipped.element = [sequences](const ir::Operand& index) {
    Values elements;
    for (const Sequence& s : sequences) elements.push_back(s.element(index));
    return Value::Tuple(std::move(elements));
  };
  return zipped;
}

Sequence IterateEnumerate(Evaluator* evaluator, const Values& parts) {
  const Sequence inner = evaluator->Iterate(parts[0]);
  const ir::Operand first = parts[1].op();
  if (inner.fixed) {
    Values tuples;
    for (size_t i = 0; i < inner.fixed->size(); ++i) {
      const ir::Operand number =
          evaluator->builder().Add(first, ir::Operand::Int(static_cast<int64_t>(i)));
      tuples.push_back(Value::Tuple({Value::Python(number), (*inner.fixed)[i]}));
    }
    return FixedSequence(std::move(tuples));
  }
  Sequence enumerated;
  enumerated.length = inner.length;
  enumerated.element = [evaluator, inner, first](const ir::Operand& index) {
    const Value number = Value::Python(evaluator->builder().Add(first, index));
    return Value::Tuple({number, inner.element(index)});
  };
  return enumerated;
}

Sequence IterateReversed(Evaluator* evaluator, const Value& value) {
  Sequence inner = evaluator->Iterate(value);
  if (inner.fixed) {
    std::reverse(inner.fixed->begin(), inner.fixed->end());
    return inner;
  }
  Sequence reversed;
  reversed.length = inner.length;
  reversed.element = [evaluator, inner](const ir::Operand& index) {
    ir::Builder& builder = evaluator->builder();
    return inner.element(builder.Sub(builder.Sub(inner.length, ir::Operand::Int(1)), index));
  };
  return reversed;
}

// Indexes of a shape in row-major order, as tuples.
Sequence IterateNdIndex(Evaluator* evaluator, const Values& sizes) {
  Sequence indexes;
  indexes.length = ir::Operand::Int(1);
  for (const Value& size : sizes) {
    indexes.length = evaluator->builder().Mul(indexes.length, size.op());
  }
  indexes.element = [evaluator, sizes](const ir::Operand& index) {
    ir::Builder& builder = evaluator->builder();
    Values tuple(sizes.size());
    ir::Operand rest = index;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      const ir::Operand size = sizes[axis].op();
      const bool is_first = axis == 0;
      tuple[axis] = Value::Python(is_first ? rest : builder.Scalar(ir::OpCode::kMod, {rest, size}));
      if (!is_first) rest = builder.Scalar(ir::OpCode::kFloorDiv, {rest, size});
    }
    return Value::Tuple(std::move(tuple));
  };
  return indexes;
}

Sequence IterateArray(Evaluator* evaluator, const Value& value) {
  const auto& array = value.As<ArrayValue>();
  if (array.rank() == 0) evaluator->context().FailType("iteration over a 0-d array");
  Sequence sequence;
  sequence.length = array.dims()[0];
  sequence.element = [evaluator, value](const ir::Operand& index) {
    return evaluator->ElementAt(value, index);
  };
  return sequence;
}

}  // namespace

Sequence Evaluator::Iterate(const Value& iterable) {
  if (const Values* elements = iterable.Elements()) return FixedSequence(*elements);
  if (iterable.IsArray()) return IterateArray(this, iterable);
  if (const auto* known = iterable.TryAs<IterableValue>()) {
    switch (known->kind) {
      case IterableKind::kRange: return IterateRange(this, *known->parts);
      case IterableKind::kZip: return IterateZip(this, *known->parts);
      case IterableKind::kEnumerate: return IterateEnumerate(this, *known->parts);
      case IterableKind::kReversed: return IterateReversed(this, (*known->parts)[0]);
      case IterableKind::kNdIndex: return IterateNdIndex(this, *known->parts);
    }
  }
  if (iterable.Is<StringValue>()) {
    context_->FailLimitation(
        "strings exist as static arguments and messages only; a string "
        "cannot be iterated over");
  }
  context_->FailType("'" + PythonTypeName(iterable) + "' object is not iterable");
}

}  // namespace parakeet::frontend
