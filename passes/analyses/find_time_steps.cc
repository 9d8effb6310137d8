#include "passes/analyses/find_time_steps.h"

#include <algorithm>
#include <cstdlib>

#include "ir/uses.h"
#include "passes/analyses/carried_values.h"

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
  StepsFinder(const Binding& loop, const Roots& roots, const WrappingForms& forms)
      : loop_(loop), body_(*loop.blocks.back()), roots_(roots), forms_(forms) {}

  std::optional<TimeSteps> Find() {
    if (loop_.op != OpCode::kFor || !loop_.operands[2].IsInt(1) || !FindTurns()) return {};
    inside_ = ir::DefinedVars(body_);
    inside_.insert(body_.params.begin(), body_.params.end());
    FindStored();
    if (stored_.empty() || !AreApart()) return {};
    bool holds_rows = false;
    for (const std::vector<size_t>& turn : steps_.turns) {
      for (const Binding* b : body_.bindings) {
        if (b->op != OpCode::kForeach) {
          if (!IsAlike(*b, turn)) return {};
          if (b->op == OpCode::kCheck && turn == steps_.turns[0])
            steps_.conditions.push_back(b->operands[0]);
          continue;
        }
        if (!AddNest(*b, turn)) return {};
        holds_rows |= steps_.nests.back().goes_by_rows && !b->operands[0].IsConstant();
      }
    }
    if (!holds_rows) return {};
    FindShifts();
    return std::move(steps_);
  }

 private:
  // Whose initial value each of the carried arrays is, step by step, until all are back.
  bool FindTurns() {
    const size_t count = loop_.results.size();
    std::vector<size_t> next(count);
    bool changes = false;
    for (size_t k = 0; k < count; ++k) {
      const Var* param = body_.params[FirstCarried(loop_) + k];
      const Operand& result = body_.results[k];
      if (!loop_.operands[FirstInit(loop_) + k].IsVar() && param->type.IsArray()) return false;
      next[k] = k;
      if (param->type.IsArray()) {
        const auto first = body_.params.begin() + FirstCarried(loop_);
        const auto found = std::find(first, body_.params.end(), result.var());
        if (found == body_.params.end()) return false;
        next[k] = size_t(found - first);
      } else if (result != Operand(param)) {
        if (!IsNotOf(result, param)) return false;
        changes = true;
      }
    }
    std::vector<size_t> now(count);
    for (size_t k = 0; k < count; ++k) now[k] = k;
    const std::vector<size_t> begin = now;
    do {
      steps_.turns.push_back(now);
      std::vector<size_t> then(count);
      for (size_t k = 0; k < count; ++k) then[k] = now[next[k]];
      now = std::move(then);
    } while (int64_t(steps_.turns.size()) < kMostTogether &&
             (now != begin || (changes && steps_.turns.size() % 2 == 1)));
    steps_.together = int64_t(steps_.turns.size());
    return now == begin && !(changes && steps_.together % 2 == 1);
  }

  bool IsNotOf(const Operand& result, const Var* param) const {
    return std::any_of(body_.bindings.begin(), body_.bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kNot && Operand(b->result()) == result &&
             b->operands[0] == Operand(param);
    });
  }

  // The array's name outside the loop, in a step of those.
  const Var* Outside(const Var* array, const std::vector<size_t>& turn) const {
    const auto first = body_.params.begin() + FirstCarried(loop_);
    const auto found = std::find(first, body_.params.end(), array);
    if (found == body_.params.end()) return array;
    return loop_.operands[FirstInit(loop_) + turn[size_t(found - first)]].var();
  }

  void FindStored() {
    ir::ForEachBinding(body_, [&](const Binding& b) {
      for (const std::vector<size_t>& turn : steps_.turns) {
        if (b.op == OpCode::kStore) stored_.insert(Outside(b.operands[0].var(), turn));
        if (b.op == OpCode::kStore || b.op == OpCode::kLoad)
          touched_.insert(Outside(b.operands[0].var(), turn));
      }
    });
  }

  // Whether what is stored to is known by one name each.
  bool AreApart() const {
    for (size_t k = 0; k < loop_.results.size(); ++k) {
      for (size_t other = 0; other < k; ++other) {
        const Operand& init = loop_.operands[FirstInit(loop_) + k];
        if (init.IsVar() && init == loop_.operands[FirstInit(loop_) + other] &&
            init.var()->type.IsArray())
          return false;
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

  // True for what every band may do again: arithmetic, and reading what no step stores to; and for
  // what is known before the loop not to raise.
  bool IsAlike(const Binding& b, const std::vector<size_t>& turn) const {
    if (ir::IsScalarOp(b.op)) return true;
    if (b.op == OpCode::kCheck) return !inside_.contains(b.operands[0].var());
    return b.op == OpCode::kLoad && !stored_.contains(Outside(b.operands[0].var(), turn));
  }

  bool AddNest(const Binding& nest, const std::vector<size_t>& turn) {
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
    const Var* index = element.params[0];
    for (const auto& [value, times] : own->terms) {
      if (value == index ? times != 1 : inside_.contains(value)) return false;
    }
    ir::ForEachBinding(element, [&](const Binding& b) {
      if (b.op != OpCode::kStore && b.op != OpCode::kLoad) return;
      const Var* array = Outside(b.operands[0].var(), turn);
      if (std::find(steps_.arrays.begin(), steps_.arrays.end(), array) == steps_.arrays.end())
        steps_.arrays.push_back(array);
      if (!stored_.contains(array)) return;
      if (b.op == OpCode::kStore) steps_.stored = array;
      is_fit &= array->type.rank() > 0;
      if (!is_fit) return;
      const LinearForm apart = Difference(forms_.Of(b.operands[1]), *own);
      is_fit &= apart.IsConstant() && std::abs(apart.constant) <= kFarthest;
      touches.push_back({array, apart.constant, b.op == OpCode::kStore});
    });
    RowNest rows;
    rows.goes_by_rows = own->Coefficient(index) != 0;
    rows.first = own->With(index, LinearForm::Of(int64_t{0}));
    steps_.nests.push_back(std::move(rows));
    touches_.push_back(std::move(touches));
    return is_fit;
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
  TimeSteps steps_{};
  VarSet inside_;                              // what the loop defines
  VarSet stored_, touched_;                    // by their names outside the loop
  std::vector<std::vector<Touched>> touches_;  // of each nest, in arrays that are stored to
};

}  // namespace

std::optional<TimeSteps> FindTimeSteps(const Binding& loop, const Roots& roots,
                                       const WrappingForms& forms) {
  return StepsFinder(loop, roots, forms).Find();
}

}  // namespace parakeet::passes
