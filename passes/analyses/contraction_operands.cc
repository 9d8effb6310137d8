#include "passes/analyses/contraction_operands.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_contractions.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/place_steps.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// An array is made for no fewer readers of each of its elements.
constexpr int64_t kFewestReaders = 8;
// Multiples of indexes are not looked at beyond this.
constexpr int64_t kMostBetween = int64_t{1} << 28;

bool IsPlainCode(const Block& block) {
  bool is_plain = true;
  ir::ForEachBinding(block, [&](const Binding& b) {
    is_plain &= (ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf) &&
                b.results.size() == 1;
  });
  return is_plain;
}

bool Includes(const VarSet& all, const VarSet& part) {
  return std::all_of(part.begin(), part.end(), [&](const Var* v) { return all.contains(v); });
}

class OperandWriter {
 public:
  OperandWriter(ir::Builder& builder, const WrappingForms& forms, const Binding& nest,
                const Binding& reduction)
      : builder_(builder),
        before_(builder.Nested()),
        forms_(forms),
        nest_(nest),
        reduction_(reduction) {
    const Block &body = *nest.blocks[0], &summed = *reduction.blocks[0];
    AddIndexes(body.params, nest.operands, free_);
    AddIndexes(summed.params, reduction.operands, summed_);
    element_.params = summed.params;
    element_.bindings = NeededBindings(body, ir::FreeVars(summed));
    std::erase(element_.bindings, &reduction);
    element_.bindings.insert(element_.bindings.end(), summed.bindings.begin(),
                             summed.bindings.end());
    element_.results = summed.results;
    made_ = ir::DefinedVars(body);
  }

  const Binding* Write() {
    if (reduction_.results.size() != 1 || !IsPlainCode(element_)) return &nest_;
    FindReach();
    if (HasWindows() || !FindArrays() || IsPlainAlready()) return &nest_;
    const Binding* plain = NestOf(WithOperands());
    if (!WhyNoContraction(*plain, *ReductionIn(*plain)).empty()) return &nest_;
    for (const Binding* b : before_.bindings()) builder_.Append(b);
    return plain;
  }

 private:
  void AddIndexes(const std::vector<const Var*>& params, const std::vector<Operand>& extents,
                  VarSet& into) {
    for (size_t k = 0; k < params.size(); ++k) {
      extents_[params[k]] = extents[k];
      order_.push_back(params[k]);
      into.insert(params[k]);
      reach_[params[k]] = {params[k]};
    }
  }

  // --- What there is. ---

  void FindReach() {
    for (const Binding* b : element_.bindings) {
      VarSet all;
      ir::ForEachUse(*b, [&](const Var* used) {
        const auto known = reach_.find(used);
        if (known != reach_.end()) all.insert(known->second.begin(), known->second.end());
      });
      for (const Var* result : b->results) reach_[result] = all;
      definitions_[b->result()] = b;
    }
  }

  bool IsIndex(const Operand& operand) const {
    return operand.IsVar() && extents_.contains(operand.var());
  }

  bool ReadsPlainly(const Binding& load) const {
    return std::none_of(load.operands.begin() + 1, load.operands.end(), [&](const Operand& at) {
      return at.IsVar() && made_.contains(at.var()) && !IsIndex(at);
    });
  }

  // Free indexes that all operands follow: each of their places is a contraction of its own.
  VarSet BatchIndexes() const {
    VarSet batch;
    for (const Var* index : free_) {
      const bool is_followed =
          std::all_of(element_.bindings.begin(), element_.bindings.end(), [&](const Binding* b) {
            const VarSet& reach = reach_.at(b->result());
            return b->op != OpCode::kLoad || !Reaches(reach, summed_) || reach.contains(index);
          });
      if (is_followed) batch.insert(index);
    }
    return batch;
  }

  // True where an axis of a load follows what is summed and a free index that is no batch's, and
  // elements are met again and again, as a window's are.
  bool HasWindows() const {
    VarSet tiled = free_;
    const VarSet batch = BatchIndexes();
    for (const Var* index : batch) tiled.erase(index);
    return std::any_of(element_.bindings.begin(), element_.bindings.end(), [&](const Binding* b) {
      if (b->op != OpCode::kLoad || ReadsPlainly(*b) || IsTakenApart(*b)) return false;
      return std::any_of(b->operands.begin() + 1, b->operands.end(), [&](const Operand& at) {
        const auto reached = at.IsVar() ? reach_.find(at.var()) : reach_.end();
        return reached != reach_.end() && Reaches(reached->second, tiled) &&
               Reaches(reached->second, summed_) && !GoesByBlocks(at);
      });
    });
  }

  // True of a load at a place that a quotient decides of what follows free indexes and those summed
  // over: rows of a matrix that had more axes before, which are dear to find wherever read.
  bool IsTakenApart(const Binding& b) const {
    const auto reaches_both = [&](const Operand& o) {
      const auto reached = o.IsVar() ? reach_.find(o.var()) : reach_.end();
      return reached != reach_.end() && Reaches(reached->second, free_) &&
             Reaches(reached->second, summed_);
    };
    if (b.op == OpCode::kFloorDiv && reaches_both(b.operands[0])) return true;
    return std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& o) {
      const auto made = o.IsVar() ? definitions_.find(o.var()) : definitions_.end();
      return made != definitions_.end() && ir::IsScalarOp(made->second->op) &&
             IsTakenApart(*made->second);
    });
  }

  // True for a place at multiples of free indexes that are farther apart than all that is summed
  // between them. Multiples of a size are rows, of which no other index has more than one.
  bool GoesByBlocks(const Operand& at) const {
    std::map<std::multiset<const Var*>, std::vector<Step>> parts;  // by what they are multiples of
    for (const Step& step : steps_.Of(at)) {
      if (steps_.IsMade(step.var)) return false;
      if (extents_.contains(step.var))
        parts[{step.factors.begin(), step.factors.end()}].push_back(step);
    }
    return std::all_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return LieBetween(part.second, parts.size() > 1); });
  }

  bool LieBetween(const std::vector<Step>& steps, bool has_rows) const {
    int64_t nearest = std::numeric_limits<int64_t>::max(), farthest = 0;
    for (const Step& step : steps) {
      if (step.times > kMostBetween || step.times < -kMostBetween) return false;
      if (free_.contains(step.var)) nearest = std::min(nearest, std::abs(step.times));
    }
    if (has_rows && nearest == std::numeric_limits<int64_t>::max()) return true;
    for (const Step& step : steps) {
      if (!summed_.contains(step.var)) continue;
      const Operand& extent = extents_.at(step.var);
      if (!extent.IsConstant() || extent.constant().integer > kMostBetween) return false;
      farthest += std::abs(step.times) * std::max<int64_t>(extent.constant().integer - 1, 0);
    }
    return farthest < nearest;
  }

  static bool Reaches(const VarSet& reach, const VarSet& indexes) {
    return std::any_of(reach.begin(), reach.end(),
                       [&](const Var* v) { return indexes.contains(v); });
  }

  // True for a value that some free index does not decide.
  bool IsOfOneSide(const Binding& b) const { return !Includes(reach_.at(b.result()), free_); }

  // True for what a contraction does not read: branches, numbers that are free indexes, and loads
  // at places that only a value says.
  bool IsAwkward(const Binding& b) const {
    if (b.op == OpCode::kLoad) return !ReadsPlainly(b) && !steps_.ReadsLinearly(b);
    return b.op == OpCode::kIf ||
           std::any_of(b.operands.begin(), b.operands.end(),
                       [&](const Operand& o) { return o.IsVar() && free_.contains(o.var()); });
  }

  bool IsLeaf(const Binding& b) const {
    return arrays_.contains(&b) || (b.op == OpCode::kLoad && !IsAwkward(b));
  }

  // What the results are made of, down to loads that stay such, or are views', and to arrays.
  std::vector<const Binding*> NeededOfElement() const {
    VarSet values;
    for (const Operand& result : element_.results) {
      if (result.IsVar()) values.insert(result.var());
    }
    std::vector<const Binding*> needed;
    for (auto b = element_.bindings.rbegin(); b != element_.bindings.rend(); ++b) {
      if (!values.contains((*b)->result())) continue;
      needed.push_back(*b);
      if (IsLeaf(**b)) continue;
      ir::ForEachUse(**b, [&](const Var* used) { values.insert(used); });
    }
    std::reverse(needed.begin(), needed.end());
    return needed;
  }

  // Finds the largest values of one side that hold what is awkward. False where that decides both
  // sides together, or few would read what is made.
  bool FindArrays() {
    VarSet awkward;
    const auto holds = [&](const Binding& b) {
      bool found = IsAwkward(b);
      if (!IsLeaf(b)) ir::ForEachUse(b, [&](const Var* v) { found |= awkward.contains(v); });
      return found;
    };
    const std::vector<const Binding*> needed = NeededOfElement();
    for (const Binding* b : needed) {
      if (!holds(*b)) continue;
      awkward.insert(b->result());
      if (!IsOfOneSide(*b) && IsAwkward(*b)) return false;
    }
    std::unordered_set<const Binding*> found;
    for (const Binding* b : needed) {
      if (IsOfOneSide(*b) || IsLeaf(*b)) continue;
      ir::ForEachUse(*b, [&](const Var* v) {
        if (awkward.contains(v) && IsOfOneSide(*definitions_.at(v)))
          found.insert(definitions_.at(v));
      });
    }
    arrays_ = std::move(found);
    return std::all_of(arrays_.begin(), arrays_.end(),
                       [&](const Binding* b) { return IsWorth(*b); });
  }

  bool IsSeen(const Binding& b) const { return b.op == OpCode::kLoad && !ReadsPlainly(b); }

  bool IsPlainAlready() const {
    const std::vector<const Binding*> needed = NeededOfElement();
    return arrays_.empty() &&
           std::none_of(needed.begin(), needed.end(), [&](const Binding* b) { return IsSeen(*b); });
  }

  bool IsWorth(const Binding& value) const {
    int64_t readers = 1;
    for (const Var* index : free_) {
      if (reach_.at(value.result()).contains(index)) continue;
      const Operand& extent = extents_.at(index);
      const int64_t known = extent.IsConstant() ? extent.constant().integer : kFewestReaders;
      readers *= std::min(known, kFewestReaders);
    }
    return readers >= kFewestReaders && Reaches(reach_.at(value.result()), free_);
  }

  // --- What is made of it. ---

  Block WithOperands() {
    Block plain = element_;
    plain.bindings.clear();
    for (const Binding* b : NeededOfElement()) {
      plain.bindings.push_back(arrays_.contains(b) ? LoadOfArray(*b)
                               : IsSeen(*b) ? builder_.arena()->New(steps_.LoadOfView(before_, *b))
                                            : b);
    }
    return plain;
  }

  const Binding* LoadOf(const Binding& value, const Var* array,
                        const std::vector<const Var*>& indexes) {
    Binding load{OpCode::kLoad, {value.result()}, {Operand(array)}, {}, {}, value.span};
    for (const Var* index : indexes) load.operands.emplace_back(index);
    return builder_.arena()->New(std::move(load));
  }

  std::vector<Operand> ExtentsOf(const std::vector<const Var*>& indexes) const {
    std::vector<Operand> extents;
    for (const Var* index : indexes) extents.push_back(extents_.at(index));
    return extents;
  }

  // What follows the last free index lies along it, as a row of the result does.
  const Binding* LoadOfArray(const Binding& value) {
    const VarSet& reach = reach_.at(value.result());
    std::vector<const Var*> indexes;
    for (const Var* index : order_) {
      if (reach.contains(index)) indexes.push_back(index);
    }
    const Var* last = nest_.blocks[0]->params.back();
    if (reach.contains(last)) {
      std::erase(indexes, last);
      indexes.push_back(last);
    }
    const std::vector<Operand> extents = ExtentsOf(indexes);
    const Block* made =
        ir::CloneBlock(builder_.arena(), Block{indexes,
                                               NeededBindings(element_, {Operand(value.result())}),
                                               {Operand(value.result())}});
    const Var* array =
        before_.EmitOne(OpCode::kImap, ir::Type::Array(value.result()->type.dtype(), extents),
                        extents, {}, {made}, "made");
    return LoadOf(value, array, indexes);
  }

  // The nest with that element, and without what only made the other.
  const Binding* NestOf(const Block& element) {
    ir::Arena* arena = builder_.arena();
    Binding reduction = reduction_;
    reduction.blocks[0] = ir::CloneBlock(arena, element);
    const Binding* summed = arena->New(std::move(reduction));
    Block body = *nest_.blocks[0];
    std::replace(body.bindings.begin(), body.bindings.end(), &reduction_, summed);
    VarSet kept = ir::FreeVars(*summed);
    for (const Operand& result : body.results) {
      if (result.IsVar()) kept.insert(result.var());
    }
    std::vector<const Binding*> bindings;
    for (auto b = body.bindings.rbegin(); b != body.bindings.rend(); ++b) {
      const auto is_kept = [&](const Var* result) { return kept.contains(result); };
      // Atomics give what was there before.
      const bool is_value = ir::IsScalarOp((*b)->op) || (*b)->op == OpCode::kLoad;
      if (*b != summed && is_value &&
          std::none_of((*b)->results.begin(), (*b)->results.end(), is_kept))
        continue;
      bindings.push_back(*b);
      ir::ForEachUse(**b, [&](const Var* used) { kept.insert(used); });
    }
    body.bindings.assign(bindings.rbegin(), bindings.rend());
    Binding nest = nest_;
    nest.blocks[0] = arena->New(std::move(body));
    return arena->New(std::move(nest));
  }

  ir::Builder& builder_;
  ir::Builder before_;
  const WrappingForms& forms_;
  const Binding& nest_;
  const Binding& reduction_;
  Block element_;  // over what is summed
  VarSet free_, summed_, made_;
  std::vector<const Var*> order_;  // free indexes, then those summed
  PlaceSteps::Extents extents_;
  std::unordered_map<const Var*, VarSet> reach_;  // the indexes that decide a value
  ir::DefinitionMap definitions_;
  const PlaceSteps steps_{forms_, extents_, made_, definitions_};
  std::unordered_set<const Binding*> arrays_;  // makers of values that become arrays
};

}  // namespace

bool ReadsAsContractions(const Block& element) {
  const VarSet indexes(element.params.begin(), element.params.end());
  const VarSet made = ir::DefinedVars(element);
  return std::all_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
    const bool is_load = b->op == OpCode::kLoad;
    return (is_load || ir::IsScalarOp(b->op)) &&
           std::none_of(b->operands.begin(), b->operands.end(), [&](const Operand& o) {
             return o.IsVar() && (is_load ? made.contains(o.var()) && !indexes.contains(o.var())
                                          : indexes.contains(o.var()));
           });
  });
}

const Binding* WithPlainOperands(ir::Builder& builder, const WrappingForms& forms,
                                 const Binding& nest) {
  return OperandWriter(builder, forms, nest, *ReductionIn(nest)).Write();
}

}  // namespace parakeet::passes
