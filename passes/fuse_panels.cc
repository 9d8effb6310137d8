// Reads the rows of a matrix some at a time, for what is made of rows and for what is made of
// columns: from memory once, and from cache behind that.
//
// Before:
//   %t: [n]f64 = imap (%i) in (%n) { %s = ireduce (%j) in (%m) add ... { load %a[%i, %j] ... } }
//   %y: [m]f64 = imap (%j) in (%m) { %s = ireduce (%i) in (%n) add from 0.0 { %u = load %t[%i]
//   %b = load %a[%i, %j] ... } yield %s }
// After:
//   %t: [n]f64 = alloc (%n)  %y: [m]f64 = alloc (%m)
//   if %pays {
//     %part: [blocks][m]f64 = alloc (%blocks, %m)
//     foreach (%b) in (%blocks) {
//       for %p in %first to %last step 4 {
//         foreach (%k) in (4) { %i = add %p, %k ... store %t[%i], ... }
//         foreach (%j) in (%m) { %c = load %part[%b, %j] ... store %part[%b, %j], %sum } } }
//     foreach (%j) in (%m) { %s = ireduce (%b) in (%blocks) add from 0.0 { load %part[%b, %j] } ...
//     store %y[%j], %s } } else { ... }
//
// `(A @ x) @ A`, a gradient `X.T @ (f(X @ w) - y)`, `r @ A, A @ p`. A sum of columns is of blocks
// of rows, whose size depends on the matrix's alone: one core and many give the same bits.
//
// Assumes: index form behind fusion, before choose_trees, which says how what is left is summed.
// Refuses: a sum of columns that reads what rows made elsewhere than in its own row; rows that may
// fail, or that need each other; arguments that may overlap; results in Fortran order.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Rows of a panel: each sum of a column is read and stored once for all of them.
constexpr int64_t kPanel = 4;
// Rows of a block are so many at least, and its elements: sums of columns are kept for each block.
// Threads share fewer blocks unevenly.
constexpr int64_t kLeastBlock = 32;
constexpr int64_t kElementsOfBlock = 8192;
constexpr int64_t kFewestBlocks = 16;
// A panel has to stay in a core's own cache, and the matrix is read no slower twice if all of it
// does. Rows that are short are summed faster many at a time.
constexpr int64_t kFewestRowBytes = 512;
constexpr int64_t kMostRowBytes = 131072;
constexpr int64_t kFewestBytes = 1 << 19;
constexpr size_t kMostBetween = 32;  // Bindings between two members of a group.

bool IsNest(const Binding& b) { return b.op == OpCode::kImap || b.op == OpCode::kForeach; }

// Nests of one block of the program that go through the rows of one matrix.
struct Group {
  std::vector<const Binding*> members;  // in order
  VarSet matrix;                        // roots
  Operand rows;
  Operand columns;
  int64_t row_bytes = 0;  // of an element of the widest sums
};

class PanelFuser : public LoopWriter {
 public:
  PanelFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        roots_(function),
        patterns_(function),
        may_overlap_(function.may_overlap),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const auto group = groups_.find(b);
    if (group == groups_.end()) return Mutator::Visit(b);
    if (group->second.members.back() == b) Write(group->second);
  }

  const Block* VisitBlock(const Block* block) override {
    if (!may_overlap_) FindGroups(*block);
    return Mutator::VisitBlock(block);
  }

 private:
  // --- What goes together ---

  void FindGroups(const Block& block) {
    const auto& bindings = block.bindings;
    for (size_t at = 0; at < bindings.size(); ++at) {
      if (groups_.contains(bindings[at])) continue;
      const Binding* sum = SumOfColumns(*bindings[at]);
      if (sum == nullptr) continue;
      Group group = GroupOf(*bindings[at], *sum);
      if (group.matrix.empty()) continue;
      Grow(bindings, at, group);
      if (group.members.size() < 2) continue;
      for (const Binding* member : group.members) {
        groups_[member] = group;
        const Binding* first = group.members.front();
        const Binding* other = member == first ? group.members.back() : first;
        context_.Note(member->span, "shares the traversal of a matrix's rows", Topic::kMemory,
                      Verdict::kDone, other->span);
      }
    }
  }

  // The reduction of a nest over columns that sums each of them, of elements made by scalar code;
  // null where the nest is another one.
  const Binding* SumOfColumns(const Binding& nest) const {
    if (!IsNest(nest) || nest.operands.size() != 1) return nullptr;
    const Block& body = *nest.blocks[0];
    const Binding* sum = nullptr;
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kIreduce && sum == nullptr) {
        sum = b;
      } else if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad && b->op != OpCode::kStore) {
        return nullptr;
      }
    }
    const bool fits = sum != nullptr && IsSum(*sum) && !IsOfBody(*sum->blocks[0], body) &&
                      patterns_.UnitStrides(*sum->blocks[0], body.params[0]) > 0;
    return fits ? sum : nullptr;
  }

  static bool IsSum(const Binding& b) {
    if (b.blocks[0]->params.size() != 1) return false;
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!b.results[k]->type.IsScalar() || !IdentityOf(b, k)) return false;
    }
    const auto& elements = b.blocks[0]->bindings;
    return std::all_of(elements.begin(), elements.end(), [](const Binding* inner) {
      return ir::IsScalarOp(inner->op) || inner->op == OpCode::kLoad;
    });
  }

  // What a sum of nothing is.
  static std::optional<ir::Constant> IdentityOf(const Binding& sum, size_t result) {
    const auto op = ir::CombineOp(*sum.blocks[1], static_cast<int>(result));
    return op ? ir::IdentityOf(*op, sum.results[result]->type.dtype()) : std::nullopt;
  }

  // Whether the element reads what the nest around makes for it.
  static bool IsOfBody(const Block& element, const Block& body) {
    VarSet made = ir::DefinedVars(body);
    for (const Var* param : body.params) made.erase(param);
    const VarSet read = ir::FreeVars(element);
    return std::any_of(read.begin(), read.end(), [&](const Var* v) { return made.contains(v); });
  }

  Group GroupOf(const Binding& nest, const Binding& sum) const {
    const Var* row = sum.blocks[0]->params[0];
    const Var* column = nest.blocks[0]->params[0];
    Group group{{&nest}, {}, sum.operands[0], nest.operands[0], 0};
    for (const Binding* b : sum.blocks[0]->bindings) {
      const bool is_of_matrix = b->op == OpCode::kLoad && b->operands.size() == 3 &&
                                b->operands[1] == Operand(row) && b->operands[2] == Operand(column);
      if (!is_of_matrix) continue;
      const VarSet& roots = roots_.Of(b->operands[0].var());
      group.matrix.insert(roots.begin(), roots.end());
      const int64_t bytes = ir::SizeInBytes(b->result()->type.dtype());
      group.row_bytes = std::max(group.row_bytes, bytes);
    }
    return group;
  }

  // Takes in what stands before and behind, as far as the order of what is done allows.
  void Grow(const std::vector<const Binding*>& bindings, size_t at, Group& group) {
    std::vector<const Binding*> between;
    for (size_t k = at; k-- > 0 && between.size() < kMostBetween;) {
      const Binding* b = bindings[k];
      if (Fits(*b, group) && !groups_.contains(b) && MovesBehind(*b, between) &&
          std::all_of(group.members.begin(), group.members.end(),
                      [&](const Binding* later) { return GoTogether(*b, *later); })) {
        group.members.insert(group.members.begin(), b);
      } else {
        between.push_back(b);
      }
    }
    between.clear();
    for (size_t k = at + 1; k < bindings.size() && between.size() < kMostBetween; ++k) {
      const Binding* b = bindings[k];
      const bool joins =
          Fits(*b, group) && !groups_.contains(b) &&
          std::all_of(group.members.begin(), group.members.end(), [&](const Binding* before) {
            return MovesBehind(*before, between) && GoTogether(*before, *b);
          });
      joins ? group.members.push_back(b) : between.push_back(b);
    }
  }

  // Whether a nest goes through the rows of the group's matrix, or sums its columns.
  bool Fits(const Binding& b, const Group& group) const {
    if (!IsNest(b) || b.attrs.Int(Attr::kFortran) != 0) return false;
    if (const Binding* sum = SumOfColumns(b)) {
      const Group other = GroupOf(b, *sum);
      return other.rows == group.rows && other.columns == group.columns &&
             Intersects(other.matrix, group.matrix);
    }
    if (b.operands[0] != group.rows || EffectsOf(b, roots_).may_fail) return false;
    const auto& results = b.blocks[0]->results;
    bool reads = false;
    ForEachAccess(b, [&](const Var* array, const Operand& at) {
      reads |= at == Operand(b.blocks[0]->params[0]) && Intersects(roots_.Of(array), group.matrix);
    });
    return reads && std::all_of(results.begin(), results.end(), [](const Operand& result) {
             return ir::TypeOf(result).IsScalar();
           });
  }

  bool MovesBehind(const Binding& b, const std::vector<const Binding*>& others) const {
    const Effects effects = EffectsOf(b, roots_);
    return std::none_of(others.begin(), others.end(), [&](const Binding* other) {
      return Uses(*other, b) || Conflict(effects, EffectsOf(*other, roots_));
    });
  }

  static bool Uses(const Binding& reader, const Binding& made) {
    const VarSet read = ir::FreeVars(reader);
    return std::any_of(made.results.begin(), made.results.end(),
                       [&](const Var* result) { return read.contains(result); });
  }

  // Whether a panel of `later` may be made behind the same panel of `before`, and before the next
  // one of that.
  bool GoTogether(const Binding& before, const Binding& later) const {
    const Effects first = EffectsOf(before, roots_), second = EffectsOf(later, roots_);
    if (SumOfColumns(before) != nullptr) return !Uses(later, before) && !Conflict(first, second);
    if (Intersects(first.reads, second.writes)) return false;
    VarSet shared(before.results.begin(), before.results.end());
    shared.insert(first.writes.begin(), first.writes.end());
    return IsByRow(before, shared) && IsByRow(later, shared);
  }

  // Whether all that the nest does to these arrays is to load and store elements of its own row.
  bool IsByRow(const Binding& nest, const VarSet& arrays) const {
    const Binding* sum = SumOfColumns(nest);
    const Block& body = *nest.blocks[0];
    const Operand row(sum == nullptr ? body.params[0] : sum->blocks[0]->params[0]);
    bool is_by_row = true;
    ForEachAccess(nest, [&](const Var* array, const Operand& at) {
      is_by_row &= at == row || !Intersects(roots_.Of(array), arrays);
    });
    return is_by_row;
  }

  // Calls `see` with each array that the nest's bindings take, and the first index where they load
  // or store an element of it.
  static void ForEachAccess(const Binding& nest,
                            const std::function<void(const Var*, const Operand&)>& see) {
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      const bool is_element = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      for (const Operand& operand : b.operands) {
        if (!operand.IsVar() || !operand.var()->type.IsArray()) continue;
        see(operand.var(), is_element && b.operands.size() > 1 ? b.operands[1] : Int(-1));
      }
    });
  }

  // --- The panels ---

  void Write(const Group& group) {
    for (const Binding* member : group.members) {
      for (const Var* result : member->results) {
        const ir::Type type = Apply(result->type);
        Replace(result, builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, result->hint));
      }
    }
    const Operand many = builder().Scalar(
        OpCode::kFloorDiv, {Int(kElementsOfBlock / kPanel), Max(Apply(group.columns), Int(1))});
    const Operand block = Max(builder().Mul(many, Int(kPanel)), Int(kLeastBlock));
    Choose(
        Pays(group, block),
        [&] {
          WritePanels(group, block);
          return Operands{};
        },
        [&] {
          for (const Binding* member : group.members)
            WriteNest(*member, Int(0), Apply(member->operands[0]), *member->blocks[0]);
          return Operands{};
        });
  }

  // With blocks of so many rows.
  Operand Pays(const Group& group, const Operand& block) {
    const Operand bytes = builder().Mul(Apply(group.columns), Int(group.row_bytes));
    const Operand all = builder().Mul(Apply(group.rows), bytes);
    const std::pair<Operand, Operand> limits[] = {
        {Int(kFewestRowBytes), bytes},
        {bytes, Int(kMostRowBytes)},
        {Int(kFewestBytes), all},
        {builder().Mul(block, Int(kFewestBlocks)), Apply(group.rows)}};
    Operand pays = Operand::Bool(true);
    for (const auto& [least, most] : limits)
      pays = builder().Scalar(OpCode::kAnd, {pays, builder().Scalar(OpCode::kLe, {least, most})});
    return pays;
  }

  void WritePanels(const Group& group, const Operand& block) {
    const Operand rows = Apply(group.rows), columns = Apply(group.columns);
    const Operand blocks = CeilDiv(rows, block);
    Parts parts;
    for (const Binding* member : group.members) {
      const Binding* sum = SumOfColumns(*member);
      if (sum == nullptr) continue;
      parts.emplace_back(member, std::vector<const Var*>{});
      for (const Var* result : sum->results) {
        const ir::Type type = ir::Type::Array(result->type.dtype(), {blocks, columns});
        parts.back().second.push_back(
            builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "part"));
      }
    }
    Foreach({blocks}, [&](const Operands& at) {
      const Operand first = builder().Mul(at[0], block);
      const Operand last = Min(builder().Add(first, block), rows);
      Foreach({columns}, [&](const Operands& column) {
        for (const auto& [nest, arrays] : parts) {
          for (size_t k = 0; k < arrays.size(); ++k)
            builder().Store(arrays[k], {at[0], column[0]}, *IdentityOf(*SumOfColumns(*nest), k));
        }
      });
      Loop(
          first, last, {}, [&](const Operand& row) { WritePanel(group, parts, at[0], row, last); },
          kPanel);
    });
    for (const auto& [nest, arrays] : parts) WriteTotals(*nest, arrays, blocks);
  }

  // The nests that sum columns, each with an array of its sums by block and column for every result
  // of its reduction.
  using Parts = std::vector<std::pair<const Binding*, std::vector<const Var*>>>;

  void WritePanel(const Group& group, const Parts& parts, const Operand& block,
                  const Operand& first, const Operand& last) {
    const Operand end = Min(builder().Add(first, Int(kPanel)), last);
    const Operand count = builder().Sub(end, first);
    for (const Binding* member : group.members) {
      if (SumOfColumns(*member) == nullptr) WriteNest(*member, first, count, *member->blocks[0]);
    }
    const auto add = [&](const Operand& row, int64_t rows) {
      Foreach({Apply(group.columns)}, [&](const Operands& column) {
        for (const auto& [nest, arrays] : parts)
          AddRows(*nest, arrays, {block, column[0]}, row, rows);
      });
      return Operands{};
    };
    Choose(
        builder().Scalar(OpCode::kEq, {count, Int(kPanel)}), [&] { return add(first, kPanel); },
        [&] {
          Loop(first, end, {}, [&](const Operand& row) { add(row, 1); });
          return Operands{};
        });
  }

  // So many of a nest's outermost indexes, from `first` on, with `body` as its block.
  void WriteNest(const Binding& nest, const Operand& first, const Operand& count,
                 const Block& body) {
    Operands extents = Apply(nest.operands);
    extents[0] = count;
    builder().set_span(nest.span);
    Foreach(extents, [&](Operands index) {
      if (!first.IsInt(0)) index[0] = builder().Add(first, index[0]);
      const Operands made = VisitBody(*ir::CloneBlock(arena(), body), index);
      for (size_t k = 0; k < made.size(); ++k)
        builder().Store(Apply(Operand(nest.results[k])), index, made[k]);
    });
  }

  // Adds elements of a column, which are in so many rows, to its sums in a block.
  void AddRows(const Binding& nest, const std::vector<const Var*>& arrays, const Operands& place,
               const Operand& first, int64_t rows) {
    const Binding& sum = *SumOfColumns(nest);
    builder().set_span(nest.span);
    Replace(nest.blocks[0]->params[0], place[1]);
    Operands totals;
    for (const Var* array : arrays) totals.push_back(builder().Load(array, place));
    for (int64_t row = 0; row < rows; ++row) {
      const Operands element =
          VisitBody(*ir::CloneBlock(arena(), *sum.blocks[0]), {builder().Add(first, Int(row))});
      totals = CombineWith(*sum.blocks[1], totals, element);
    }
    for (size_t k = 0; k < arrays.size(); ++k) builder().Store(arrays[k], place, totals[k]);
  }

  // The nest of the columns, where each sum is of what blocks have summed.
  void WriteTotals(const Binding& nest, const std::vector<const Var*>& arrays,
                   const Operand& blocks) {
    const Binding& sum = *SumOfColumns(nest);
    const Var* column = nest.blocks[0]->params[0];
    const Var* at = builder().NewVar(ir::DType::kI64, "b");
    Binding total = sum;
    total.operands[0] = blocks;
    total.blocks[0] = BlockOf({at}, [&] {
      Operands sums;
      for (const Var* array : arrays) sums.push_back(builder().Load(array, {at, column}));
      return sums;
    });
    Block body = *nest.blocks[0];
    std::replace(body.bindings.begin(), body.bindings.end(), &sum,
                 static_cast<const Binding*>(arena()->New(std::move(total))));
    Restore(column);
    WriteNest(nest, Int(0), Apply(nest.operands[0]), body);
  }

  void Foreach(const Operands& extents, const std::function<void(const Operands&)>& write) {
    std::vector<const Var*> indexes;
    for (size_t k = 0; k < extents.size(); ++k)
      indexes.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* body = BlockOf(indexes, [&] {
      write({indexes.begin(), indexes.end()});
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, extents, {}, {body});
  }

  Roots roots_;
  AccessPatterns patterns_;
  bool may_overlap_;
  Context& context_;
  std::unordered_map<const Binding*, Group> groups_;  // by member
};

}  // namespace

ir::Program FusePanels(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return PanelFuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
