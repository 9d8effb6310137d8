#include "ir/mutator.h"

#include <utility>

namespace parakeet::ir {
namespace {

Operand Substitute(const Substitution& substitution, const Operand& operand) {
  if (!operand.IsVar() || substitution.empty()) return operand;
  const auto found = substitution.find(operand.var());
  return found == substitution.end() ? operand : found->second;
}

// Whether substitution may change one of them: most bindings keep all of theirs.
bool Touches(const Substitution& substitution, const std::vector<Operand>& operands) {
  if (substitution.empty()) return false;
  for (const Operand& operand : operands) {
    if (operand.IsVar() && substitution.contains(operand.var())) return true;
  }
  return false;
}

Type Substitute(const Substitution& substitution, const Type& type) {
  if (!Touches(substitution, type.dims())) return type;
  std::vector<Operand> dims;
  for (const Operand& dim : type.dims()) dims.push_back(Substitute(substitution, dim));
  return Type::Array(type.dtype(), std::move(dims));
}

// Copies blocks with new definitions.
class Cloner {
 public:
  Cloner(Arena* arena, Substitution substitution)
      : arena_(arena), substitution_(std::move(substitution)) {}

  std::vector<Operand> Inline(Builder& builder, const Block& block) {
    for (const Binding* binding : block.bindings) builder.Append(Clone(*binding));
    return All(block.results);
  }

  const Block* Clone(const Block& block) {
    Block copy;
    copy.params.reserve(block.params.size());
    copy.bindings.reserve(block.bindings.size());
    for (const Var* param : block.params) copy.params.push_back(Define(param));
    for (const Binding* binding : block.bindings) copy.bindings.push_back(Clone(*binding));
    copy.results = All(block.results);
    return arena_->New(std::move(copy));
  }

 private:
  const Binding* Clone(const Binding& binding) {
    Binding copy{binding.op, {}, All(binding.operands), {}, binding.attrs, binding.span};
    for (const Block* block : binding.blocks) copy.blocks.push_back(Clone(*block));
    for (const Var* result : binding.results) copy.results.push_back(Define(result));
    return arena_->New(std::move(copy));
  }

  const Var* Define(const Var* var) {
    const Var* copy = arena_->New(Var{Substitute(substitution_, var->type), var->hint});
    substitution_[var] = copy;
    return copy;
  }

  std::vector<Operand> All(const std::vector<Operand>& operands) const {
    std::vector<Operand> result;
    result.reserve(operands.size());
    for (const Operand& operand : operands) result.push_back(Substitute(substitution_, operand));
    return result;
  }

  Arena* arena_;
  Substitution substitution_;
};

}  // namespace

const Function* Mutator::Run(const Function* function) {
  const Block* body = VisitBlock(function->body);
  if (body == function->body) return function;
  Function copy = *function;
  copy.body = body;
  return arena()->New(std::move(copy));
}

Operand Mutator::Apply(const Operand& operand) const { return Substitute(substitution_, operand); }

std::vector<Operand> Mutator::Apply(const std::vector<Operand>& operands) const {
  std::vector<Operand> result;
  result.reserve(operands.size());
  for (const Operand& operand : operands) result.push_back(Apply(operand));
  return result;
}

Type Mutator::Apply(const Type& type) const { return Substitute(substitution_, type); }

const Var* Mutator::ApplyToResult(const Var* result) {
  if (!Touches(substitution_, result->type.dims())) return result;
  Type type = Apply(result->type);
  if (type == result->type) return result;
  const Var* renewed = arena()->New(Var{std::move(type), result->hint});
  substitution_[result] = renewed;
  return renewed;
}

void Mutator::Visit(const Binding* binding) { builder_.Append(Rewrite(binding)); }

const Binding* Mutator::Rewrite(const Binding* binding) {
  Binding* copy = nullptr;
  const auto changed = [&]() -> Binding& {
    if (copy == nullptr) copy = arena()->NewToFill(*binding);
    return *copy;
  };
  if (Touches(substitution_, binding->operands)) {
    std::vector<Operand> operands = Apply(binding->operands);
    if (operands != binding->operands) changed().operands = std::move(operands);
  }
  for (size_t i = 0; i < binding->blocks.size(); ++i) {
    const Block* block = VisitBlock(binding->blocks[i]);
    if (block != binding->blocks[i]) changed().blocks[i] = block;
  }
  for (size_t i = 0; i < binding->results.size(); ++i) {
    const Var* result = ApplyToResult(binding->results[i]);
    if (result != binding->results[i]) changed().results[i] = result;
  }
  return copy == nullptr ? binding : copy;
}

const Block* Mutator::VisitBlock(const Block* block) {
  Builder outer = std::exchange(builder_, builder_.Nested());
  builder_.bindings().reserve(block->bindings.size());
  // Copied once something differs: mostly nothing does.
  std::vector<const Var*> params;
  for (size_t i = 0; i < block->params.size(); ++i) {
    const Var* param = ApplyToResult(block->params[i]);
    if (param == block->params[i]) continue;
    if (params.empty()) params = block->params;
    params[i] = param;
  }
  for (const Binding* binding : block->bindings) {
    builder_.set_span(binding->span);
    Visit(binding);
  }
  const bool keeps_results = !Touches(substitution_, block->results);
  std::vector<Operand> results = keeps_results ? std::vector<Operand>() : Apply(block->results);
  const bool same = params.empty() && builder_.bindings() == block->bindings &&
                    (keeps_results || results == block->results);
  if (!same && params.empty()) params = block->params;
  if (!same && keeps_results) results = block->results;
  const Block* rewritten = same ? block : builder_.Finish(std::move(params), std::move(results));
  builder_ = std::move(outer);
  return rewritten;
}

std::vector<Operand> InlineBlock(Builder& builder, const Block& block, Substitution substitution) {
  return Cloner(builder.arena(), std::move(substitution)).Inline(builder, block);
}

std::vector<Operand> InlineBlock(Builder& builder, const Block& block,
                                 const std::vector<Operand>& arguments) {
  Substitution substitution;
  for (size_t i = 0; i < block.params.size(); ++i) substitution[block.params[i]] = arguments[i];
  return InlineBlock(builder, block, std::move(substitution));
}

const Block* CloneBlock(Arena* arena, const Block& block, Substitution substitution) {
  return Cloner(arena, std::move(substitution)).Clone(block);
}

const Var* CopyVar(Builder& builder, const Var* var, Substitution* copies) {
  const Var* copy = builder.NewVar(Substitute(*copies, var->type), var->hint);
  (*copies)[var] = copy;
  return copy;
}

std::vector<Operand> CopyLoop(Builder& builder, const Binding& loop, const Operand& lo,
                              const Operand& hi, const std::vector<Operand>& carried) {
  std::vector<Operand> operands = {lo, hi, loop.operands[2]};
  operands.insert(operands.end(), carried.begin(), carried.end());
  std::vector<const Var*> results;
  Substitution copies;
  for (const Var* result : loop.results) results.push_back(CopyVar(builder, result, &copies));
  builder.Emit(OpCode::kFor, results, std::move(operands), loop.attrs,
               {CloneBlock(builder.arena(), *loop.blocks[0])});
  return {results.begin(), results.end()};
}

}  // namespace parakeet::ir
