// Goes along one index through maps over axes of which the last may be short, where all that they
// read and make lies just so: a row of three elements fills no lanes.
//
// Before:
//   %r: [n][m][3]f32 = imap (%i, %j, %k) in (%n, %m, 3) {
//     %a = load %x[%i, %j, %k]  %b = mul %a, 2.0:f32  yield %b }
// After:
//   %all = mul (mul %n, %m), 3
//   %line: [all]f32 = view %x offset (0) strides ((1)) {flat = 1}
//   %r: [n][m][3]f32 = alloc (%n, %m, 3)
//   %line.1: [all]f32 = view %r offset (0) strides ((1)) {flat = 1}
//   foreach (%i) in (%all) { %a = load %line[%i]  %b = mul %a, 2.0:f32  store %line.1[%i], %b }
//
// Where accesses are to neighbours along the axis before the last, or not all of that axis is gone
// along, these two become one, whether that axis is short or nobody knows:
//
//   foreach (%i, %j, %k) in (%n, %m, 3) { %j.1 = add %j, 1  %a = load %x[%i, %j.1, %k]  ... }
//   => foreach (%i, %t) in (%n, %m * 3) { %at = (%i * %w + 1) * 3 + %t  %a = load %line[%at]  ... }
//
// Assumes: index form, behind all that looks for maps and arrays by their names.
// Refuses: arrays in another order, of other sizes, or read elsewhere than at the element's own
// index, beside it, or at one place for all; elements that hold loops or may raise; rows that are
// known to be long, which fill lanes.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/known_lengths.h"
#include "passes/analyses/linear_forms.h"
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

constexpr int64_t kLongestShortRow = 16;

bool IsAccess(const Binding& b) { return b.op == OpCode::kLoad || b.op == OpCode::kStore; }

// The index of an access.
std::vector<Operand> IndexOf(const Binding& access) {
  const int rank = access.operands[0].var()->type.rank();
  return {access.operands.begin() + 1, access.operands.begin() + 1 + rank};
}

class MapFlattener : public LoopWriter {
 public:
  MapFlattener(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        patterns_(function),
        forms_(function),
        lengths_(function, context.options),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (const auto line = lines_.find(IsAccess(*b) ? b->operands[0].var() : nullptr);
        own_ != nullptr && line != lines_.end() && IsOwn(*b, *own_))
      return AccessLine(*b, line->second, place_);
    if (beside_.contains(b)) return AccessBeside(*b);
    const bool is_flat = HasShortRows(*b) && IsFlat(*b);
    if (!is_flat && !IsFlatInRows(*b)) return Mutator::Visit(b);
    context_.Note(b->span, "goes along one index", Topic::kNests, Verdict::kDone);
    is_flat ? WriteFlat(*b) : WriteRows(*b);
  }

 private:
  static bool HasShortRows(const Binding& b) {
    if (b.op != OpCode::kImap && b.op != OpCode::kForeach) return false;
    if (b.attrs.Int(Attr::kFortran) != 0 || b.operands.size() != b.blocks[0]->params.size())
      return false;
    const size_t rank = b.operands.size();
    const Operand& row = b.operands.back();
    return rank > 1 && !(row.IsConstant() && row.constant().integer > kLongestShortRow);
  }

  // True where every access is to the element of its own index, or to one for all, and nothing
  // else takes part of the index.
  bool IsFlat(const Binding& nest) const {
    bool is_flat = true;
    const auto& params = nest.blocks[0]->params;
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      is_flat &= ir::IsScalarOp(b.op) || IsAccess(b);
      if (is_flat && IsAccess(b) && IsOwn(b, nest)) {
        const auto is_param = [&](const Var* param) { return b.operands.back() == Operand(param); };
        is_flat = b.op == OpCode::kLoad || std::none_of(params.begin(), params.end(), is_param);
        return;
      }
      is_flat &= b.op != OpCode::kStore;
      ir::ForEachUse(b, [&](const Var* value) {
        is_flat &= std::find(params.begin(), params.end(), value) == params.end();
      });
    });
    for (const Operand& result : nest.blocks[0]->results)
      is_flat &= std::find(params.begin(), params.end(), result.var()) == params.end();
    return is_flat;
  }

  bool IsOwn(const Binding& access, const Binding& nest) const {
    const Var* array = access.operands[0].var();
    const auto& params = nest.blocks[0]->params;
    return patterns_.LiesInC(array) && array->type.dims() == nest.operands &&
           IndexOf(access) == std::vector<Operand>(params.begin(), params.end());
  }

  void WriteFlat(const Binding& nest) {
    const Operand count = Product(Apply(nest.operands));
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      if (!IsAccess(b) || !IsOwn(b, nest) || lines_.contains(b.operands[0].var())) return;
      lines_[b.operands[0].var()] = LineOf(b.operands[0], count);
    });
    Operands made;
    for (const Var* result : nest.results) {
      builder().Emit(OpCode::kAlloc, {result}, Apply(result->type.dims()));
      made.push_back(LineOf(result, count));
    }
    own_ = &nest;
    place_ = builder().NewVar(ir::DType::kI64, "i");
    const Block* body = BlockOf({place_}, [&] {
      for (const Binding* b : nest.blocks[0]->bindings) Visit(b);
      for (size_t k = 0; k < made.size(); ++k)
        builder().Store(made[k], {place_}, Apply(nest.blocks[0]->results[k]));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {count}, nest.attrs, {body});
    lines_.clear();
    own_ = nullptr;
  }

  // --- The last two axes. ---

  // True where the last two indexes only say, of arrays whose last axis is as long, which element
  // is accessed: so far behind the first of its row. Keeps these accesses in `beside_`.
  bool IsFlatInRows(const Binding& nest) {
    if (nest.op != OpCode::kImap && nest.op != OpCode::kForeach) return false;
    const size_t rank = nest.operands.size();
    if (rank < 2 || rank != nest.blocks[0]->params.size() || nest.attrs.Int(Attr::kFortran) != 0)
      return false;
    const std::optional<int64_t> length = lengths_.Of(nest.operands.back());
    if (length && (*length < 2 || *length > kLongestShortRow)) return false;
    const auto& params = nest.blocks[0]->params;
    ir::VarSet moved = {params[rank - 2], params[rank - 1]};  // and what is computed of them
    std::vector<const Binding*> accesses;
    for (const Binding* b : nest.blocks[0]->bindings) {
      bool moves = false;
      ir::ForEachUse(*b, [&](const Var* value) { moves |= moved.contains(value); });
      if (IsAccess(*b) && IsBeside(*b, nest, moved)) {
        accesses.push_back(b);
      } else if (ir::IsScalarOp(b->op)) {
        if (moves) moved.insert(b->results.begin(), b->results.end());
      } else if (b->op != OpCode::kLoad || moves) {
        return false;
      }
    }
    for (const Operand& result : nest.blocks[0]->results) {
      if (moved.contains(result.var())) return false;
    }
    beside_.insert(accesses.begin(), accesses.end());
    return true;
  }

  // True for lengths that are one value, or known to be one number.
  bool AreAlike(const Operand& row, const Operand& other) const {
    const std::optional<int64_t> length = lengths_.Of(row);
    return row == other || (length && length == lengths_.Of(other));
  }

  bool IsBeside(const Binding& access, const Binding& nest, const ir::VarSet& moved) const {
    const Var* array = access.operands[0].var();
    const std::vector<Operand> index = IndexOf(access);
    const auto& params = nest.blocks[0]->params;
    const size_t rank = index.size();
    if (rank < 2 || !patterns_.LiesInC(array)) return false;
    if (!AreAlike(nest.operands.back(), array->type.dims().back())) return false;
    if (index.back() != Operand(params.back())) return false;
    if (access.op == OpCode::kStore && moved.contains(access.operands.back().var())) return false;
    for (size_t axis = 0; axis + 2 < rank; ++axis) {
      if (moved.contains(index[axis].var())) return false;
    }
    const LinearForm along = forms_.Of(index[rank - 2]);
    const Var* before = params[params.size() - 2];
    return along.Coefficient(before) == 1 &&
           std::all_of(along.terms.begin(), along.terms.end(), [&](const auto& term) {
             return term.first == before || !moved.contains(term.first);
           });
  }

  void WriteRows(const Binding& nest) {
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (beside_.contains(b) && !lines_.contains(b->operands[0].var()))
        lines_[b->operands[0].var()] = LineOfAll(b->operands[0].var());
    }
    Operands made;
    for (const Var* result : nest.results) {
      builder().Emit(OpCode::kAlloc, {result}, Apply(result->type.dims()));
      made.push_back(LineOfAll(result));
    }
    const auto& own = nest.blocks[0]->params;
    Operands extents = Apply(nest.operands);
    const Operand row = builder().Mul(extents[extents.size() - 2], RowOf(extents.back()));
    extents.resize(extents.size() - 1);
    extents.back() = row;
    std::vector<const Var*> params;
    for (size_t k = 0; k + 1 < own.size(); ++k)
      params.push_back(builder().NewVar(ir::DType::kI64, own[k]->hint));
    place_ = params.back();
    for (size_t k = 0; k < own.size(); ++k)
      Replace(own[k], k + 2 < own.size() ? Operand(params[k]) : Int(0));
    const Block* body = BlockOf(params, [&] {
      for (const Binding* b : nest.blocks[0]->bindings) Visit(b);
      for (size_t k = 0; k < made.size(); ++k) {
        const Operand at = InRow(Apply(Operands(own.begin(), own.end())), nest.results[k]);
        builder().Store(made[k], {at}, Apply(nest.blocks[0]->results[k]));
      }
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, std::move(extents), nest.attrs, {body});
    lines_.clear();
    beside_.clear();
  }

  // A length that the caller says is a number.
  Operand RowOf(const Operand& extent) const {
    const std::optional<int64_t> length = lengths_.Of(extent);
    return length ? Int(*length) : extent;
  }

  Operand LineOfAll(const Var* array) { return LineOf(array, Product(Apply(array->type.dims()))); }

  // The place in an array's line, so far behind that index.
  Operand InRow(const Operands& index, const Var* array) {
    Operands dims = Apply(array->type.dims());
    dims.back() = RowOf(array->type.dims().back());
    return builder().Add(Linear(index, dims), Operand(place_));
  }

  // Its index is that of the first element of the row.
  void AccessBeside(const Binding& access) {
    const Var* array = access.operands[0].var();
    AccessLine(access, lines_.at(array), InRow(Apply(IndexOf(access)), array));
  }

  Operand LineOf(const Operand& array, const Operand& count) {
    return builder().EmitOne(OpCode::kView, ir::Type::Array(ir::TypeOf(array).dtype(), {count}),
                             {Apply(array), Int(0), Int(1)}, {{Attr::kFlat, int64_t{1}}}, {},
                             "line");
  }

  void AccessLine(const Binding& access, const Operand& line, const Operand& place) {
    if (access.op == OpCode::kStore)
      return builder().Store(line, {place}, Apply(access.operands.back()));
    const Var* loaded = access.result();
    Replace(loaded, builder().Load(line, {place}, loaded->hint));
  }

  const AccessPatterns patterns_;
  const WrappingForms forms_;
  const KnownLengths lengths_;
  Context& context_;
  std::unordered_map<const Var*, Operand> lines_;  // Of the map being written, by array.
  const Binding* own_ = nullptr;                   // That map,
  const Var* place_ = nullptr;                     // and its index, or its last one.
  std::unordered_set<const Binding*> beside_;      // Accesses of the one whose rows are written.
};

}  // namespace

ir::Program FlattenMaps(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapFlattener(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
