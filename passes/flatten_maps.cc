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
// Assumes: index form, behind all that looks for maps and arrays by their names.
// Refuses: arrays in another order, of other sizes, or read elsewhere than at the element's own
// index or at one place for all; elements that hold loops or may raise; maps over two axes, or over
// long ones, whose rows fill lanes.
#include <algorithm>
#include <unordered_map>

#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
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
      : LoopWriter(arena), patterns_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (const auto line = lines_.find(IsAccess(*b) ? b->operands[0].var() : nullptr);
        line != lines_.end() && IsOwn(*b, *own_))
      return AccessLine(*b, line->second);
    if (!HasShortRows(*b) || !IsFlat(*b)) return Mutator::Visit(b);
    context_.Note(b->span, "goes along one index", Topic::kNests, Verdict::kDone);
    WriteFlat(*b);
  }

 private:
  static bool HasShortRows(const Binding& b) {
    if (b.op != OpCode::kImap && b.op != OpCode::kForeach) return false;
    if (b.attrs.Int(Attr::kFortran) != 0 || b.operands.size() != b.blocks[0]->params.size())
      return false;
    const size_t rank = b.operands.size();
    const Operand& row = b.operands.back();
    return row.IsConstant() ? rank > 1 && row.constant().integer <= kLongestShortRow : rank > 2;
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
  }

  Operand LineOf(const Operand& array, const Operand& count) {
    return builder().EmitOne(OpCode::kView, ir::Type::Array(ir::TypeOf(array).dtype(), {count}),
                             {Apply(array), Int(0), Int(1)}, {{Attr::kFlat, int64_t{1}}}, {},
                             "line");
  }

  void AccessLine(const Binding& access, const Operand& line) {
    if (access.op == OpCode::kStore)
      return builder().Store(line, {place_}, Apply(access.operands.back()));
    const Var* loaded = access.result();
    Replace(loaded, builder().Load(line, {place_}, loaded->hint));
  }

  const AccessPatterns patterns_;
  Context& context_;
  std::unordered_map<const Var*, Operand> lines_;  // Of the map being written, by array.
  const Binding* own_ = nullptr;                   // That map,
  const Var* place_ = nullptr;                     // and its index.
};

}  // namespace

ir::Program FlattenMaps(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapFlattener(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
