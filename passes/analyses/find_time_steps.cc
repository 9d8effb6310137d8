#include "passes/analyses/find_time_steps.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/ring_forms.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr int64_t kMostTogether = 4;
constexpr int64_t kFarthest = 64;  // rows from an iteration's own

// Elements of an array that a nest touches, in rows so many behind its own.
struct Touched {
  const Var* array;  // by its name outside the loop
  int64_t rows;
  bool stores;
};

class StepsFinder {
 public:
  StepsFinder(const Binding& loop, const Roots& roots, const WrappingForms& forms,
              const ir::DefinitionMap& definitions, ir::Arena* arena)
      : loop_(loop),
        body_(*loop.blocks.back()),
        roots_(roots),
        forms_(forms),
        rings_(forms, definitions),
        arena_(arena) {}

  std::optional<TimeSteps> Find() {
    if (loop_.op != OpCode::kFor || !loop_.operands[2].IsInt(1)) return {};
    inside_ = ir::DefinedVars(body_);
    inside_.insert(body_.params.begin(), body_.params.end());
    if (!FindCarried() || !FindTurns()) return {};
    FindStored();
    if (stored_.empty() || !AreApart() || StoresToCopied() || !AreNumbersKnown()) return {};
    bool holds_rows = false;
    for (const Names& names : steps_.names) {
      for (const Binding* b : body_.bindings) {
        if (b->op != OpCode::kForeach) {
          if (!IsAlike(*b, names)) return {};
          if (b->op == OpCode::kCheck && names == steps_.names[0])
            steps_.conditions.push_back(b->operands[0]);
          continue;
        }
        if (!AddNest(*b, names)) return {};
        holds_rows |= steps_.nests.back().goes_by_rows && !b->operands[0].IsConstant();
      }
    }
    if (!holds_rows || (steps_.is_ring && !HaveOneLength())) return {};
    FindShifts();
    return std::move(steps_);
  }

 private:
  using Names = std::vector<std::pair<const Var*, const Var*>>;

  // The arrays that the body has by names of its own: those that are carried, and those that it
  // makes. Numbers are the same there; false where something is carried that is no turn.
  bool FindCarried() {
    for (size_t k = 0; k < loop_.results.size(); ++k) {
      const Var* param = body_.params[FirstCarried(loop_) + k];
      if (param->type.IsArray()) {
        if (!loop_.operands[FirstInit(loop_) + k].IsVar() || !HasOneSize(param)) return false;
        local_.push_back(param);
        first_.push_back(loop_.operands[FirstInit(loop_) + k].var());
        results_.push_back(body_.results[k].var());
      } else if (body_.results[k] != Operand(param)) {
        IsNotOf(body_.results[k], param) ? alternating_.push_back(param)
                                         : steps_.numbers.push_back(k);
      }
    }
    for (const Binding* b : body_.bindings) {
      if (b->op != OpCode::kAlloc) continue;
      if (b->attrs.Has(ir::Attr::kFortran) || !HasOneSize(b->result())) return false;
      local_.push_back(b->result());
    }
    return true;
  }

  // True for an array that is as large in every step.
  bool HasOneSize(const Var* array) const {
    const std::vector<Operand>& dims = array->type.dims();
    return std::none_of(dims.begin(), dims.end(), [&](const Operand& size) {
      return size.IsVar() && inside_.contains(size.var());
    });
  }

  // What each of them is outside, step by step, until all are back: those that a step makes have
  // the memory of arrays that are carried no further.
  bool FindTurns() {
    const size_t carried = results_.size(), count = local_.size();
    std::vector<size_t> now(count);
    for (size_t k = 0; k < count; ++k) now[k] = k;
    const std::vector<size_t> begin = now;
    std::vector<std::vector<size_t>> turns;
    std::vector<bool> is_made(count);  // in some step
    do {
      turns.push_back(now);
      for (size_t k = carried; k < count; ++k) is_made[now[k]] = true;
      if (!TakeTurn(now)) return false;
    } while (int64_t(turns.size()) < kMostTogether &&
             (now != begin || (!alternating_.empty() && turns.size() % 2 == 1)));
    if (now != begin || (!alternating_.empty() && turns.size() % 2 == 1)) return false;
    steps_.together = int64_t(turns.size());
    std::vector<const Var*> outside;
    for (size_t k = 0; k < count; ++k) {
      outside.push_back(k < carried ? first_[k] : nullptr);
      if (!is_made[k]) continue;
      const Var* own = ir::Builder(arena_).NewVar(local_[k]->type, local_[k]->hint);
      steps_.own.push_back({own, std::exchange(outside[k], own)});
    }
    for (const std::vector<size_t>& turn : turns) {
      steps_.names.emplace_back();
      for (size_t k = 0; k < count; ++k) {
        if (local_[k]->type != outside[turn[k]]->type) return false;
        steps_.names.back().emplace_back(local_[k], outside[turn[k]]);
      }
    }
    return true;
  }

  // What the arrays are in the next step.
  bool TakeTurn(std::vector<size_t>& now) const {
    const size_t carried = results_.size();
    std::vector<size_t> next(now.size());
    std::vector<bool> is_free(now.size(), true);
    for (size_t k = 0; k < carried; ++k) {
      const auto found = std::find(local_.begin(), local_.end(), results_[k]);
      if (found == local_.end()) return false;
      next[k] = now[size_t(found - local_.begin())];
      if (!is_free[next[k]]) return false;
      is_free[next[k]] = false;
    }
    for (size_t k = carried; k < now.size(); ++k) {
      const size_t first =
          size_t(std::find(is_free.begin(), is_free.end(), true) - is_free.begin());
      next[k] = is_free[now[k]] ? now[k] : first;
      is_free[next[k]] = false;
    }
    now = std::move(next);
    return true;
  }

  bool IsNotOf(const Operand& result, const Var* param) const {
    return std::any_of(body_.bindings.begin(), body_.bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kNot && Operand(b->result()) == result &&
             b->operands[0] == Operand(param);
    });
  }

  // The array's name outside the loop, in a step of those.
  static const Var* Outside(const Var* array, const Names& names) {
    for (const auto& [local, outside] : names) {
      if (local == array) return outside;
    }
    return array;
  }

  void FindStored() {
    ir::ForEachBinding(body_, [&](const Binding& b) {
      for (const Names& names : steps_.names) {
        if (b.op == OpCode::kStore) stored_.insert(Outside(b.operands[0].var(), names));
        if (b.op == OpCode::kStore || b.op == OpCode::kLoad)
          touched_.insert(Outside(b.operands[0].var(), names));
      }
    });
  }

  // Whether what is stored to is known by one name each.
  bool AreApart() const {
    const Names& names = steps_.names[0];
    for (size_t k = 0; k < names.size(); ++k) {
      for (size_t other = 0; other < k; ++other) {
        if (names[k].second == names[other].second) return false;
      }
    }
    for (const Var* stored : stored_) {
      if (inside_.contains(stored)) return false;
      for (const Var* other : touched_) {
        if (other != stored && roots_.MayShare(stored, other)) return false;
      }
    }
    return true;
  }

  // Whether a step stores to what others know of what the loop begins with.
  bool StoresToCopied() const {
    bool stores = false;
    ir::ForEachBinding(body_, [&](const Binding& b) {
      if (b.op != OpCode::kStore) return;
      const Var* outside = Outside(b.operands[0].var(), steps_.names[0]);
      stores |= std::any_of(steps_.own.begin(), steps_.own.end(), [&](const OwnArray& own) {
        return own.array == outside && own.copied != nullptr;
      });
    });
    return stores;
  }

  // Whether numbers that are carried may be made for all steps before any nest runs.
  bool AreNumbersKnown() const {
    std::vector<Operand> next;
    for (const size_t k : steps_.numbers) next.push_back(body_.results[k]);
    const std::vector<const Binding*> makers = NeededBindings(body_, next);
    return std::all_of(makers.begin(), makers.end(), [&](const Binding* b) {
      const ir::VarSet uses = ir::FreeVars(*b);
      return b->op != OpCode::kAlloc && IsAlike(*b, steps_.names[0]) &&
             std::none_of(alternating_.begin(), alternating_.end(),
                          [&](const Var* value) { return uses.contains(value); });
    });
  }

  // True for what every band may do again: arithmetic, and reading what no step stores to; and for
  // what is known before the loop not to raise.
  bool IsAlike(const Binding& b, const Names& names) const {
    if (ir::IsScalarOp(b.op) || b.op == OpCode::kAlloc) return true;
    if (b.op == OpCode::kCheck) return !inside_.contains(b.operands[0].var());
    return b.op == OpCode::kLoad && !stored_.contains(Outside(b.operands[0].var(), names));
  }

  bool AddNest(const Binding& nest, const Names& names) {
    const Block& element = *nest.blocks[0];
    std::vector<Touched> touches;
    std::optional<LinearForm> own;
    bool is_fit = !element.params.empty();
    ir::ForEachBinding(element, [&](const Binding& b) {
      if (b.op == OpCode::kStore && !own) own = forms_.Of(b.operands[1]);
      is_fit &= ir::IsScalarOp(b.op) || b.op == OpCode::kIf || b.op == OpCode::kLoad ||
                b.op == OpCode::kStore || b.op == OpCode::kIreduce;
    });
    if (!is_fit || !own) return false;
    const Operand own_index = StoredIndex(element);
    const Var* index = element.params[0];
    for (const auto& [value, times] : own->terms) {
      if (value == index ? times != 1 : inside_.contains(value)) return false;
    }
    ir::ForEachBinding(element, [&](const Binding& b) {
      if (b.op != OpCode::kStore && b.op != OpCode::kLoad) return;
      const Var* array = Outside(b.operands[0].var(), names);
      if (std::find(steps_.arrays.begin(), steps_.arrays.end(), array) == steps_.arrays.end())
        steps_.arrays.push_back(array);
      if (!stored_.contains(array)) return;
      if (b.op == OpCode::kStore) steps_.stored = array;
      is_fit &= array->type.rank() > 0;
      if (!is_fit) return;
      LinearForm apart = Difference(forms_.Of(b.operands[1]), *own);
      if (!IsNear(apart)) {
        const Operand& rows = array->type.dims()[0];
        apart = Difference(rings_.Of(b.operands[1], rows), rings_.Of(own_index, rows));
        steps_.is_ring = true;
      }
      is_fit &= IsNear(apart);
      touches.push_back({array, apart.constant, b.op == OpCode::kStore});
    });
    RowNest rows;
    rows.goes_by_rows = own->Coefficient(index) != 0;
    rows.first = own->With(index, LinearForm::Of(int64_t{0}));
    steps_.nests.push_back(std::move(rows));
    touches_.push_back(std::move(touches));
    return is_fit;
  }

  static bool IsNear(const LinearForm& apart) {
    return apart.IsConstant() && std::abs(apart.constant) <= kFarthest;
  }

  // The row that the first store of an iteration goes to.
  static Operand StoredIndex(const Block& element) {
    Operand index;
    bool is_found = false;
    ir::ForEachBinding(element, [&](const Binding& b) {
      if (b.op == OpCode::kStore && !std::exchange(is_found, true)) index = b.operands[1];
    });
    return index;
  }

  bool HaveOneLength() const {
    return std::all_of(stored_.begin(), stored_.end(), [&](const Var* array) {
      return array->type.dims()[0] == steps_.stored->type.dims()[0];
    });
  }

  // Calls `see` with how far the row of a conflicting iteration of `later` may lie behind that of
  // `earlier`.
  template <typename See>
  void ForEachConflict(size_t earlier, size_t later, const See& see) const {
    for (const Touched& a : touches_[earlier]) {
      for (const Touched& b : touches_[later]) {
        if (a.array == b.array && (a.stores || b.stores)) see(a.rows - b.rows);
      }
    }
  }

  // As far as each nest must stay from where the ones before it began, and each group of steps from
  // the one before.
  void FindShifts() {
    std::vector<RowNest>& nests = steps_.nests;
    for (size_t later = 0; later < nests.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) {
        ForEachConflict(earlier, later, [&](int64_t apart) {
          nests[later].behind = std::max(nests[later].behind, nests[earlier].behind + apart);
          nests[later].before = std::max(nests[later].before, nests[earlier].before - apart);
        });
      }
    }
    int64_t behind = 0, before = 0, apart_most = 0;
    for (size_t later = 0; later < nests.size(); ++later) {
      behind = std::max(behind, nests[later].behind);
      before = std::max(before, nests[later].before);
      for (size_t earlier = 0; earlier < nests.size(); ++earlier) {
        ForEachConflict(earlier, later, [&](int64_t apart) {
          const RowNest &a = nests[earlier], &b = nests[later];
          apart_most = std::max(apart_most, std::abs(apart));
          steps_.behind = std::max(steps_.behind, a.behind + apart - b.behind);
          steps_.before = std::max(steps_.before, a.before - apart - b.before);
        });
      }
    }
    steps_.reach = behind + before + apart_most;
  }

  const Binding& loop_;
  const Block& body_;
  const Roots& roots_;
  const WrappingForms& forms_;
  const RingForms rings_;
  ir::Arena* arena_;
  TimeSteps steps_{};
  std::vector<const Var*> local_;        // carried arrays, and behind them those that a step makes
  std::vector<const Var*> first_;        // initial values of the carried ones,
  std::vector<const Var*> results_;      // and what a step yields for them
  std::vector<const Var*> alternating_;  // truth values that are carried and change in every step
  VarSet inside_;                        // what the loop defines
  VarSet stored_, touched_;              // by their names outside the loop
  std::vector<std::vector<Touched>> touches_;  // of each nest, in arrays that are stored to
};

}  // namespace

std::optional<TimeSteps> FindTimeSteps(const Binding& loop, const Roots& roots,
                                       const WrappingForms& forms,
                                       const ir::DefinitionMap& definitions, ir::Arena* arena) {
  return StepsFinder(loop, roots, forms, definitions, arena).Find();
}

}  // namespace parakeet::passes
