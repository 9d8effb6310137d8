#include "frontend/sequential_comprehensions.h"

#include <algorithm>
#include <utility>

#include "frontend/array_roots.h"
#include "frontend/call_memo.h"
#include "frontend/comprehension_scope.h"
#include "frontend/first_reads.h"
#include "frontend/loop_builder.h"

namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

bool DefinesAny(ir::Builder& block, const Operand& size) {
  const auto& bindings = block.bindings();
  return std::any_of(bindings.begin(), bindings.end(), [&](const ir::Binding* b) {
    return std::find(b->results.begin(), b->results.end(), size.var()) != b->results.end();
  });
}

}  // namespace

std::vector<const Variable*> SequentialComprehension::NamesCarried(Evaluator* evaluator,
                                                                   const ComprehensionExpr& expr,
                                                                   bool is_read) {
  const std::vector<const Variable*> names = NamesBoundBy(expr);
  if (names.empty() || (expr.is_generator && !is_read)) return {};
  const std::set<const Variable*> first = ReadFirstByElements(expr);
  const bool is_carried = std::any_of(names.begin(), names.end(), [&](const Variable* name) {
    return first.contains(name) || evaluator->Live().After(expr, *name);
  });
  return is_carried ? names : std::vector<const Variable*>{};
}

SequentialComprehension::SequentialComprehension(Evaluator* evaluator,
                                                 const ComprehensionExpr& expr,
                                                 std::vector<const Variable*> names,
                                                 std::optional<bool> stop)
    : evaluator_(evaluator),
      expr_(expr),
      names_(std::move(names)),
      stop_(stop),
      count_(evaluator->frame().NewControl("count")),
      last_(evaluator->frame().NewControl("last")),
      sizes_(evaluator->frame().NewControl("sizes")),
      done_(evaluator->frame().NewControl("done")) {
  const bool is_simple = expr.generators.size() == 1 && expr.generators[0].conditions.empty();
  if (is_simple && !stop) length_ = Operand::Int(0);
}

Value SequentialComprehension::Run(const Sequence& sequence) {
  const ComprehensionFunction scope(&evaluator_->frame(), expr_);
  const Environment before = environment();
  if (length_ && sequence.fixed) {
    Value list = RunAtCompileTime(*sequence.fixed);
    Restore(before);
    return list;
  }
  if (length_) length_ = sequence.length;
  Try(sequence);
  environment() = before;
  const bool sizes_are_known =
      std::all_of(dims_.begin(), dims_.end(), [](const auto& dim) { return dim.has_value(); });
  if (!length_ || !sizes_are_known) Count(sequence);
  environment() = before;
  Value made = Fill(sequence);
  Restore(before);
  return made;
}

// Only the names that `:=` binds outlive the comprehension.
void SequentialComprehension::Restore(const Environment& before) {
  Environment restored = before;
  for (const Variable* name : names_) restored.Set(name, environment().Get(name));
  restored.state = environment().state;
  environment() = std::move(restored);
}

// As many elements as values that are known: a list display of them.
Value SequentialComprehension::RunAtCompileTime(const Values& values) {
  Values elements;
  for (const Value& value : values) {
    evaluator_->Assign(*expr_.generators[0].target, value);
    elements.push_back(evaluator_->Evaluate(*expr_.element));
  }
  return Value::List(std::move(elements));
}

void SequentialComprehension::Try(const Sequence& sequence) {
  ir::Builder trial = context().NewBlock();
  const Inside inside(&context(), &trial);
  try {
    Run(sequence, [&](const Value& element) {
      pattern_ = Join(pattern_, PatternOf(element));
      environment().Bind(last_, element);
    });
  } catch (const Leaves&) {  // Met again where it counts.
  }
  using Kind = Pattern::Kind;
  if (pattern_.kind == Kind::kFree) pattern_ = PatternOf(Value::Float(0.0));
  if (pattern_.kind != Kind::kScalar && pattern_.kind != Kind::kArray) {
    context().FailLimitation(
        "the elements of this comprehension are no numbers or arrays of one "
        "rank; use a for loop");
  }
  dims_ = pattern_.dims;
  const auto* last = environment().Get(last_).value.TryAs<ArrayValue>();
  for (size_t i = 0; i < dims_.size(); ++i) {
    const bool is_outer =
        dims_[i] && (dims_[i]->IsConstant() || (last != nullptr && last->dims()[i] == *dims_[i] &&
                                                !DefinesAny(trial, *dims_[i])));
    if (!is_outer) dims_[i] = std::nullopt;
  }
}

void SequentialComprehension::Count(const Sequence& sequence) {
  ir::Builder counting = context().NewBlock();
  {
    const Inside inside(&context(), &counting);
    const Values zeros(dims_.size(), Value::Int(0));
    environment().Bind(count_, Value::Int(0));
    environment().Bind(sizes_, Value::Tuple(zeros));
    Run(sequence, [&](const Value& element) {
      environment().Bind(count_, Value::Python(builder().Add(Counted(), Operand::Int(1))));
      const auto* array = element.TryAs<ArrayValue>();
      if (array == nullptr) return;
      Values sizes;
      for (const Operand& dim : array->dims()) sizes.push_back(Value::Python(dim));
      environment().Bind(sizes_, Value::Tuple(std::move(sizes)));
    });
    length_ = Counted();
    const Values& sizes = *environment().Get(sizes_).value.Elements();
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (!dims_[i]) dims_[i] = sizes[i].op();
    }
  }
  const auto effects = [this](const std::string& name) {
    return evaluator_->memo_->EffectsOf(name);
  };
  if (StoresOutside(counting.bindings(), effects)) {
    context().FailLimitation(
        "this comprehension stores to an array, and only the run knows how many elements it has or "
        "of which size; use a for loop");
  }
  for (const ir::Binding* binding : counting.bindings()) builder().Append(binding);
}

Value SequentialComprehension::Fill(const Sequence& sequence) {
  std::vector<Operand> dims = {*length_};
  for (const auto& dim : dims_) dims.push_back(*dim);
  const ir::Type type = ir::Type::Array(pattern_.dtype, dims);
  const Operand array = builder().EmitOne(OpCode::kAlloc, type, dims);
  environment().Bind(count_, Value::Int(0));
  Run(sequence, [&](const Value& element) {
    const Operand at = Counted();
    Store(array, at, element);
    environment().Bind(count_, Value::Python(builder().Add(at, Operand::Int(1))));
  });
  return Value::NewArray(array, Order::kC, pattern_.python);
}

void SequentialComprehension::Store(const Operand& array, const Operand& at, const Value& element) {
  if (pattern_.kind == Pattern::Kind::kScalar) {
    std::vector<Operand> converted;
    Flatten(evaluator_, &element, pattern_, &converted);
    builder().Store(array, {at}, converted[0]);
    return;
  }
  const Value place = evaluator_->ElementAt(Value::Array(array), at);
  const Value converted = evaluator_->CastArray(element, pattern_.dtype);
  evaluator_->CopyInto(Value::Array(CheckedArray(converted, place.As<ArrayValue>().dims())), place);
}

Operand SequentialComprehension::CheckedArray(const Value& element,
                                              const std::vector<Operand>& dims) {
  const auto& array = element.As<ArrayValue>();
  if (array.dims() == dims) return array.op;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (array.dims()[i] == dims[i]) continue;
    context().Check(builder().Scalar(OpCode::kEq, {array.dims()[i], dims[i]}), "ValueError",
                    "setting an array element with a sequence. The requested array has an "
                    "inhomogeneous shape: an element has {} along axis {}, the last has {}",
                    {array.dims()[i], Operand::Int(static_cast<int64_t>(i)), dims[i]});
  }
  return builder().EmitOne(OpCode::kAscribe, ir::Type::Array(array.dtype(), dims), {array.op});
}

void SequentialComprehension::Run(const Sequence& sequence, const Visit& visit) {
  if (stop_) environment().Bind(done_, Value::Bool(false));
  RunGenerator(0, sequence, visit);
}

void SequentialComprehension::RunGenerator(size_t depth, const Sequence& sequence,
                                           const Visit& visit) {
  if (sequence.fixed) return RunUnrolled(depth, *sequence.fixed, visit);
  std::vector<const Variable*> carried = names_;
  carried.insert(carried.end(), {count_, last_, sizes_});
  if (stop_) carried.push_back(done_);
  const Environment before = environment();
  const Sequence::Counted range =
      sequence.counted.value_or(Sequence::Counted{Operand::Int(0), sequence.length, 1});
  LoopBuilder loop(evaluator_, &expr_.generators[depth], carried);
  try {
    loop.BuildFor(range, [&](const Value& index) {
      evaluator_->Reaches(
          [&] { RunItem(depth, sequence.counted ? index : sequence.element(index.op()), visit); });
    });
  } catch (const NeedStatic& need) {
    if (need.parameter != loop.index_origin()) throw;
    environment() = before;
    RunUnrolled(depth, evaluator_->UnrolledValues(sequence), visit);
  }
}

void SequentialComprehension::RunUnrolled(size_t depth, const Values& values, const Visit& visit) {
  for (const Value& value : values) RunItem(depth, value, visit);
}

void SequentialComprehension::RunItem(size_t depth, const Value& item, const Visit& visit) {
  const auto run = [&] {
    evaluator_->Assign(*expr_.generators[depth].target, item);
    RunInside(depth, 0, visit);
    return Value::None();
  };
  if (!stop_) {
    run();
    return;
  }
  evaluator_->Choose(environment().Get(done_).value.op(), -1, [] { return Value::None(); }, run);
}

// What stands inside generator `depth`, where its conditions from `condition` on hold.
void SequentialComprehension::RunInside(size_t depth, size_t condition, const Visit& visit) {
  const auto& generators = expr_.generators;
  if (condition < generators[depth].conditions.size()) {
    const Operand truth = evaluator_->EvaluateTruth(*generators[depth].conditions[condition]);
    const auto rest = [&] {
      RunInside(depth, condition + 1, visit);
      return Value::None();
    };
    evaluator_->Choose(truth, -1, rest, [] { return Value::None(); });
  } else if (depth + 1 < generators.size()) {
    RunGenerator(depth + 1, evaluator_->IterateLoop(*generators[depth + 1].iterable), visit);
  } else {
    visit(Element());
  }
}

Value SequentialComprehension::Element() {
  Value element = evaluator_->Evaluate(*expr_.element);
  if (stop_) {
    const Operand truth = evaluator_->Truth(element);
    environment().Bind(done_,
                       Value::Python(*stop_ ? truth : builder().Scalar(OpCode::kNot, {truth})));
  }
  return element.Elements() != nullptr ? evaluator_->AsArray(element) : element;
}

}  // namespace parakeet::frontend
