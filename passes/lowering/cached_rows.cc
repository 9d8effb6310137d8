#include "passes/lowering/cached_rows.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool IsOperator(const Binding& b) {
  return b.op == OpCode::kImap || b.op == OpCode::kForeach || b.op == OpCode::kIreduce;
}

bool IsAccess(const Binding& b) { return b.op == OpCode::kLoad || b.op == OpCode::kStore; }

// What is seen of an array while the element is gone through.
struct Seen {
  std::vector<const Binding*> accesses;
  std::vector<CachedRow::Access> at;
  Operand length;
  bool fits = true;
};

class RowFinder {
 public:
  RowFinder(const Binding& nest, const Roots& roots, const IsPeeled& is_peeled)
      : nest_(nest),
        roots_(roots),
        is_peeled_(is_peeled),
        inside_(ir::DefinedVars(*nest.blocks[0])) {
    for (const Var* param : nest.blocks[0]->params) inside_.erase(param);
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (IsOperator(*b)) operators_.push_back(b);
    }
    for (size_t op = 0; op < operators_.size(); ++op) See(*operators_[op], op);
    SpoilOtherUses();
    SpoilOtherNames();
    for (auto& [array, seen] : seen_) seen.fits &= HasPlainStores(seen);
  }

  CachedRows Find(size_t most_buffers) {
    CachedRows found{operators_, {}, {}};
    std::vector<const Var*> arrays;
    for (const auto& [array, seen] : seen_) {
      if (seen.fits && seen.at.front().op != seen.at.back().op) arrays.push_back(array);
    }
    std::sort(arrays.begin(), arrays.end(), [&](const Var* a, const Var* b) {
      return seen_.at(a).at.front() < seen_.at(b).at.front();
    });
    for (const Var* array : arrays) {
      CachedRow row = Describe(array);
      if (TakeBuffer(row, most_buffers, found)) found.rows.push_back(row);
    }
    return found;
  }

 private:
  void See(const Binding& op, size_t number) {
    const Block& body = *op.blocks[0];
    const bool is_row = body.params.size() == 1 && !inside_.contains(op.operands[0].var()) &&
                        !(op.op == OpCode::kIreduce && is_peeled_(op));
    for (size_t at = 0; at < body.bindings.size(); ++at) {
      const Binding& b = *body.bindings[at];
      if (!IsAccess(b)) continue;
      Seen& seen = seen_[b.operands[0].var()];
      if (seen.accesses.empty()) seen.length = op.operands[0];
      seen.fits &= is_row && seen.length == op.operands[0] && IsOfRow(b, body) &&
                   (seen.accesses.empty() || SameIndex(seen.accesses.front(), b));
      seen.accesses.push_back(&b);
      seen.at.push_back({number, at});
    }
    if (op.op != OpCode::kImap || !is_row) return;
    for (const Var* result : op.results) {
      Seen& seen = seen_[result];
      seen.length = op.operands[0];
      seen.fits = result->type.rank() == 1;
      seen.accesses.push_back(nullptr);
      seen.at.push_back({number, body.bindings.size()});
    }
  }

  // At the operator's index along the last axis, and elsewhere the same in every iteration of it.
  bool IsOfRow(const Binding& b, const Block& body) const {
    const size_t last = size_t(b.operands[0].var()->type.rank());
    for (size_t axis = 1; axis < last; ++axis) {
      if (inside_.contains(b.operands[axis].var())) return false;
    }
    return b.operands[last] == Operand(body.params[0]);
  }

  static bool SameIndex(const Binding* a, const Binding& b) {
    const size_t last = size_t(b.operands[0].var()->type.rank());
    return a == nullptr ||
           std::equal(a->operands.begin(), a->operands.begin() + last, b.operands.begin());
  }

  // Whatever else is done with an array.
  void SpoilOtherUses() {
    std::unordered_map<const Var*, size_t> uses;
    ir::ForEachUse(nest_, [&](const Var* var) { ++uses[var]; });
    for (auto& [array, seen] : seen_) {
      const size_t known = std::count_if(seen.accesses.begin(), seen.accesses.end(),
                                         [](const Binding* b) { return b != nullptr; });
      seen.fits &= uses[array] == known;
    }
  }

  // Where one of two names of some memory is stored to, neither holds what the other does.
  void SpoilOtherNames() {
    VarSet arrays;
    VarSet stored;
    ir::ForEachBinding(*nest_.blocks[0], [&](const Binding& b) {
      for (const Operand& operand : b.operands) {
        if (operand.IsVar() && operand.var()->type.IsArray()) arrays.insert(operand.var());
      }
      for (const size_t operand : ir::StoredOperands(b)) stored.insert(b.operands[operand].var());
    });
    for (auto& [array, seen] : seen_) {
      for (const Var* other : arrays) {
        if (other == array || !roots_.MayShare(array, other)) continue;
        seen.fits &= !stored.contains(array) && !stored.contains(other);
      }
    }
  }

  // Not where a load may bring what the same iteration has stored, nor where what a store leaves
  // shows when a check behind it fails.
  bool HasPlainStores(const Seen& seen) const {
    bool stores = false;
    bool stored_before = false;
    for (size_t k = 0; k < seen.accesses.size(); ++k) {
      const bool is_first = seen.at[k].op == seen.at.front().op;
      const bool is_store = seen.accesses[k] != nullptr && seen.accesses[k]->op == OpCode::kStore;
      if (!is_store && is_first && stores) return false;
      stored_before |= stores && is_store && seen.at[k].op != seen.at[k - 1].op;
      stores |= is_store;
    }
    return !stored_before || !HasChecks();
  }

  bool HasChecks() const {
    bool checks = false;
    ir::ForEachBinding(*nest_.blocks[0],
                       [&](const Binding& b) { checks |= b.op == OpCode::kCheck; });
    return checks;
  }

  CachedRow Describe(const Var* array) const {
    const Seen& seen = seen_.at(array);
    CachedRow row{array, seen.length, seen.at.front(), seen.at.back(), false, CachedRow::kNone, 0};
    const Binding* first = seen.accesses.front();
    row.brings = first != nullptr && first->op == OpCode::kLoad;
    for (size_t k = 0; k < seen.accesses.size(); ++k) {
      const Binding* access = seen.accesses[k];
      if (access != nullptr && access->op == OpCode::kStore) row.last_store = seen.at[k].op;
    }
    return row;
  }

  static bool TakeBuffer(CachedRow& row, size_t most_buffers, CachedRows& found) {
    const ir::DType dtype = row.array->type.dtype();
    for (size_t k = 0; k < found.buffers.size(); ++k) {
      const bool is_free =
          found.buffers[k] == dtype &&
          std::all_of(found.rows.begin(), found.rows.end(), [&](const CachedRow& other) {
            return other.buffer != int(k) || other.last < row.first;
          });
      if (!is_free) continue;
      row.buffer = int(k);
      return true;
    }
    if (found.buffers.size() == most_buffers) return false;
    row.buffer = int(found.buffers.size());
    found.buffers.push_back(dtype);
    return true;
  }

  const Binding& nest_;
  const Roots& roots_;
  const IsPeeled& is_peeled_;
  VarSet inside_;
  std::vector<const Binding*> operators_;
  std::unordered_map<const Var*, Seen> seen_;
};

}  // namespace

CachedRows FindCachedRows(const Binding& nest, const Roots& roots, const IsPeeled& is_peeled,
                          size_t most_buffers) {
  return RowFinder(nest, roots, is_peeled).Find(most_buffers);
}

}  // namespace parakeet::passes
