// Names loops that store what they keep one behind the other as filters.
//
// Before:
//   %k: i64 = for %i in 0 to %n step 1 (%c: i64 = 0) {
//     %a = load %x[%i]  %keep = gt %a, 0.0
//     %d: i64 = if %keep {
//       %ok = lt %c, %m  check %ok, site 0 at (0, %i) with (%c, %m)
//       store %y[%c], %a  %e = add %c, 1  yield %e } else { yield %c }
//     yield %d }
// After: (where there are many iterations; else the loop as it was)
//   %count: i64, %kept: [%count]f64 = ifilter (%i) in (%n) {
//     %a = load %x[%i]  %keep = gt %a, 0.0  yield %keep, %a }
//   %fits = le %count, %m
//   %k: i64 = if %fits {
//     foreach (%j) in (%count) { %b = load %kept[%j]  store %y[%j], %b }
//     yield %count } else { ... the loop as it was ... }
//
// Loops in loops that hand on the count are one. On the host, lower-to-loops writes what is kept
// straight to where the foreach stores it (find_filter_copies.h).
//
// Assumes: index form, behind parallelize_loops, which has left what depends on other iterations.
// Refuses: loops inside operators, or of which elements say how often they run within another;
// counts that are used otherwise; arrays that are read too; stores at places that follow from more
// than the count; checks, but of the count against the length of an axis.
#include <algorithm>
#include <optional>

#include "ir/uses.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/stored_places.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/loop_nest.h"
#include "passes/lowering/loop_writer.h"
#include "passes/lowering/serial_loops.h"
#include "passes/lowering/storing_loops.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;
using ir::VarSet;

constexpr int64_t kLeastFiltered = 1024;

// A nest that counts what it keeps, and what it does where it keeps an element.
struct Compaction {
  const Binding* branch;               // Of the nest's body, behind all else,
  const Block* keeps;                  // one of its blocks.
  std::vector<const Binding*> stores;  // There,
  std::vector<const Binding*> made;    // and what else is computed there of the element.
  std::vector<Operand> limits;         // What the count is to be less than at each store.
};

class CompactionFinder {
 public:
  CompactionFinder(const LoopNest& nest, const VarSet& written) : nest_(nest), written_(written) {}

  std::optional<Compaction> Find() {
    const Block& body = *nest_.body;
    if (nest_.carried.size() != 1 || body.bindings.empty()) return std::nullopt;
    count_ = nest_.carried[0];
    inside_ = ir::DefinedVars(body);
    found_.branch = body.bindings.back();
    const bool is_branch = found_.branch->op == OpCode::kIf && found_.branch->results.size() == 1 &&
                           body.results[0] == Operand(found_.branch->result());
    if (!is_branch || !IsElement({body.bindings.begin(), body.bindings.end() - 1}))
      return std::nullopt;
    const Block& yes = *found_.branch->blocks[0];
    const Block& no = *found_.branch->blocks[1];
    found_.keeps = LeavesCount(no) ? &yes : LeavesCount(yes) ? &no : nullptr;
    if (found_.keeps == nullptr || !TakeApart(*found_.keeps)) return std::nullopt;
    return found_;
  }

 private:
  bool LeavesCount(const Block& block) const {
    return block.bindings.empty() && block.results[0] == Operand(count_);
  }

  // True for what is computed of the element alone.
  bool IsElement(const std::vector<const Binding*>& bindings) const {
    return std::all_of(bindings.begin(), bindings.end(), [&](const Binding* b) {
      bool is_pure = !ir::FreeVars(*b).contains(count_);
      ir::ForEachBinding(Block{{}, {b}, {}}, [&](const Binding& each) {
        const bool is_scalar = ir::IsScalarOp(each.op) || each.op == OpCode::kLoad ||
                               each.op == OpCode::kIf || each.op == OpCode::kFor ||
                               each.op == OpCode::kIreduce;
        is_pure &= is_scalar;
        for (const Operand& o : each.operands) is_pure &= !written_.contains(o.var());
      });
      return is_pure;
    });
  }

  bool TakeApart(const Block& keeps) {
    const Binding* next = nullptr;
    std::vector<const Binding*> limits;
    for (const Binding* b : keeps.bindings) {
      const bool is_next = Operand(b->results.empty() ? nullptr : b->result()) == keeps.results[0];
      if (b->op == OpCode::kStore) {
        if (!IsAtCount(*b)) return false;
        found_.stores.push_back(b);
      } else if (b->op == OpCode::kCheck) {
        const auto limit = std::find_if(limits.begin(), limits.end(), [&](const Binding* l) {
          return Operand(l->result()) == b->operands[0];
        });
        if (limit == limits.end()) return false;
        found_.limits.push_back((*limit)->operands[1]);
      } else if (is_next) {
        next = b;
      } else if (b->op == OpCode::kLt && b->operands[0] == Operand(count_)) {
        if (!IsOutside(b->operands[1])) return false;
        limits.push_back(b);
      } else {
        if (!IsElement({b})) return false;
        found_.made.push_back(b);
      }
    }
    const auto adds_one = [&](const Binding& b) {
      return b.op == OpCode::kAdd && b.operands[0] == Operand(count_) && b.operands[1].IsInt(1);
    };
    return next != nullptr && adds_one(*next) && !found_.stores.empty();
  }

  bool IsOutside(const Operand& o) const { return !o.IsVar() || !inside_.contains(o.var()); }

  // True for a store at the count, on one axis, and the same place on all others.
  bool IsAtCount(const Binding& store) const {
    int at_count = 0;
    for (size_t k = 1; k + 1 < store.operands.size(); ++k) {
      const bool is_count = store.operands[k] == Operand(count_);
      at_count += is_count;
      if (!is_count && !IsOutside(store.operands[k])) return false;
    }
    return at_count == 1 && store.operands.back() != Operand(count_) &&
           IsOutside(store.operands[0]);
  }

  using Operands = std::vector<Operand>;

  const LoopNest& nest_;
  const VarSet& written_;
  const Var* count_ = nullptr;
  VarSet inside_;
  Compaction found_{};
};

class FilterRecognizer : public StoringLoops<LoopWriter> {
 public:
  using StoringLoops::StoringLoops;

 protected:
  void Visit(const Binding* b) override {
    if (Recognize(*b)) return;
    VisitWithin(*b, IsOperator(*b));
  }

 private:
  bool IsCandidate(const Binding& b) const {
    return b.op == OpCode::kFor && !inside_ && b.results.size() == 1 &&
           b.results[0]->type == Type(ir::DType::kI64) && b.operands[2].IsInt(1) &&
           b.attrs.Text(Attr::kKind).empty() && !NeedsHost(*b.blocks[0]) &&
           !around_.contains(b.operands[0].var()) && !around_.contains(b.operands[1].var());
  }

  bool Recognize(const Binding& loop) {
    if (!IsCandidate(loop)) return false;
    std::vector<const Binding*> outer;
    std::swap(outer, builder().bindings());
    const bool is_recognized = WriteInstead(loop);
    std::swap(outer, builder().bindings());
    if (is_recognized)
      builder().bindings().insert(builder().bindings().end(), outer.begin(), outer.end());
    return is_recognized;
  }

  bool WriteInstead(const Binding& original) {
    inside_ = true;  // Loops within are a part of it.
    const Binding& loop = *Rewrite(&original);
    inside_ = false;
    const LoopNest nest = NestOf(builder(), loop, roots_);
    const std::vector<StoredArray> stored =
        StoredArraysOf(*nest.body, roots_, arrays_, overlapping_);
    VarSet written;
    for (const StoredArray& each : stored) {
      if (each.IsRead()) return false;
      for (const Var* view : roots_.ViewsOf(each.array)) written.insert(view);
    }
    const auto found = CompactionFinder(nest, written).Find();
    if (!found || !std::all_of(found->stores.begin(), found->stores.end(), [&](const Binding* b) {
          return written.contains(b->operands[0].var());
        }))
      return false;
    const auto as_before = [&] {
      const Binding* serial = SerialLoops(arena()).Turn(loop);
      const Var* count = builder().NewVar(ir::DType::kI64, loop.result()->hint);
      Binding copy = *serial;
      copy.results = {count};
      copy.blocks = {ir::CloneBlock(arena(), *serial->blocks[0])};
      builder().Append(arena()->New(std::move(copy)));
      return Operands{count};
    };
    const Operand is_worth =
        builder().Scalar(OpCode::kGe, {Product(nest.extents), Int(kLeastFiltered)});
    const auto in_two = [&] { return WriteFilter(loop, nest, *found, as_before); };
    const Operand count = Choose(is_worth, in_two, as_before, {{Attr::kLikely, int64_t{1}}})[0];
    Replace(original.result(), count);
    std::erase_if(context_.remarks, [&](const Remark& remark) {
      return remark.span == loop.span && remark.topic == Topic::kThreads &&
             remark.verdict == Verdict::kRefused;
    });
    context_.Note(loop.span, "made a filter", Topic::kThreads, Verdict::kDone);
    return true;
  }

  // The filter's results, then its stores where all are within their arrays.
  Operands WriteFilter(const Binding& loop, const LoopNest& nest, const Compaction& found,
                       const std::function<Operands()>& as_before) {
    Operands values;
    const VarSet inside = ir::DefinedVars(*nest.body);
    for (const Binding* store : found.stores) {
      const Operand& value = store->operands.back();
      const bool is_new = std::find(values.begin(), values.end(), value) == values.end();
      if (is_new && value.IsVar() && inside.contains(value.var())) values.push_back(value);
    }
    const Operand total = Product(nest.extents);
    const Var* count = builder().NewVar(ir::DType::kI64, "count");
    std::vector<const Var*> results = {count};
    for (const Operand& value : values)
      results.push_back(builder().NewVar(Type::Array(ir::DTypeOf(value), {count}), "kept"));
    builder().Emit(OpCode::kIfilter, results, {total}, {}, {ElementBlock(nest, found, values)});
    const Operand& first = loop.operands[3];
    const Operand end = builder().Add(first, count);
    Operand fits = Operand::Bool(true);
    for (const Operand& limit : found.limits) {
      fits = builder().Scalar(OpCode::kAnd, {fits, builder().Scalar(OpCode::kLe, {end, limit})});
    }
    const auto store = [&] {
      WriteStores(found, values, results, first);
      return Operands{end};
    };
    return Choose(fits, store, as_before);
  }

  // Whether an element is kept, and what is stored of it: what only kept ones need is computed of
  // them alone.
  const Block* ElementBlock(const LoopNest& nest, const Compaction& found, const Operands& values) {
    const Binding& branch = *found.branch;
    ir::Builder own = builder().Nested();
    own.bindings() = {nest.body->bindings.begin(), nest.body->bindings.end() - 1};
    const Operand keeps = found.keeps == branch.blocks[0]
                              ? branch.operands[0]
                              : own.Scalar(OpCode::kNot, {branch.operands[0]});
    VarSet of_kept;
    for (const Binding* b : found.made) of_kept.insert(b->results.begin(), b->results.end());
    Block kept{{}, found.made, {}}, other;
    Operands results = {keeps};
    std::vector<const Var*> chosen;
    for (const Operand& value : values) {
      results.push_back(value);
      if (!of_kept.contains(value.var())) continue;
      kept.results.push_back(value);
      other.results.push_back(ir::ZeroOf(ir::DTypeOf(value)));
      chosen.push_back(own.NewVar(ir::TypeOf(value)));
      results.back() = chosen.back();
    }
    if (!chosen.empty()) {
      own.Emit(OpCode::kIf, chosen, {keeps}, {},
               {arena()->New(std::move(kept)), arena()->New(std::move(other))});
    }
    const Block* element = own.Finish({}, results);
    const Var* trip = builder().NewVar(ir::DType::kI64, nest.indexes.back()->hint);
    return BlockOf({trip}, [&] {
      const Operands index = Delinear(trip, nest.extents);
      ir::Substitution places;
      for (size_t k = 0; k < index.size(); ++k) places[nest.indexes[k]] = index[k];
      return ir::InlineBlock(builder(), *element, places);
    });
  }

  void WriteStores(const Compaction& found, const Operands& values,
                   const std::vector<const Var*>& results, const Operand& first) {
    const Var* kept = builder().NewVar(ir::DType::kI64, "j");
    const Block* body = BlockOf({kept}, [&] {
      const Operand place = builder().Add(first, kept);
      for (const Binding* store : found.stores) {
        Operands index(store->operands.begin() + 1, store->operands.end() - 1);
        for (Operand& at : index) {
          if (IsCount(at, found)) at = place;
        }
        const Operand& value = store->operands.back();
        const auto at = std::find(values.begin(), values.end(), value);
        const Operand stored =
            at == values.end()
                ? value
                : builder().Load(results[1 + (at - values.begin())], {Operand(kept)});
        builder().Store(store->operands[0], index, stored);
      }
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {Operand(results[0])}, {}, {body});
  }

  // What the other side of the branch leaves as it is.
  static bool IsCount(const Operand& value, const Compaction& found) {
    const Block& other = *found.branch->blocks[found.keeps == found.branch->blocks[0] ? 1 : 0];
    return value == other.results[0];
  }
};

}  // namespace

ir::Program RecognizeFilters(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* counted = CountLoops(program.arena.get(), function);
    return FilterRecognizer(program.arena.get(), *counted, context).Run(counted);
  });
}

}  // namespace parakeet::passes
