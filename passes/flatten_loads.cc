// Reads along one index what a reshape takes apart: an array that lies in C order has its elements
// one after the other.
//
// Before:
//   %y: [k]f64 = imap (%i) in (%k) { %p = floordiv %i, %m  %q = mod %i, %m  %a = load %x[%p, %q]
//   yield %a }
// After:
//   %line: [k]f64 = view %x offset (0) strides ((1)) {flat = 1}
//   %y: [k]f64 = imap (%i) in (%k) { %a = load %line[%i]  yield %a }
//
// Assumes: index form, behind all that looks for arrays by their names. A load's index is in
// range, so the place that it was made from is too.
// Refuses: arrays that lie otherwise, or that a join, a view or a call gives; an index that is
// taken apart by other sizes than the array's.
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// The loads of a function that follow one index.
class LineFinder {
 public:
  explicit LineFinder(const ir::Function& function)
      : definitions_(ir::Definitions(*function.body)) {
    for (const ir::Param& param : function.params) {
      if (param.layout == ir::Layout::kC) in_c_order_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      const bool makes =
          b.op == OpCode::kAlloc || ir::InfoOf(b.op).format == ir::OpFormat::kIndices;
      if (makes && b.attrs.Int(ir::Attr::kFortran) == 0)
        in_c_order_.insert(b.results.begin(), b.results.end());
    });
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kLoad && PlaceOf(b)) read_.insert(b.operands[0].var());
    });
  }

  // Whether some load of the array does.
  bool IsRead(const Var* array) const { return read_.contains(array); }

  // The place in C order that a load's index comes from.
  std::optional<Operand> PlaceOf(const Binding& load) const {
    const Operand& array = load.operands[0];
    if (!in_c_order_.contains(array.var()) || array.var()->type.rank() < 2) return std::nullopt;
    std::vector<Operand> dims, index;  // without the axes of one element, along which nothing moves
    for (size_t axis = 0; axis < array.var()->type.dims().size(); ++axis) {
      if (array.var()->type.dims()[axis].IsInt(1)) continue;
      dims.push_back(array.var()->type.dims()[axis]);
      index.push_back(load.operands[1 + axis]);
    }
    return dims.size() < 2 ? std::nullopt : PlaceOf(index, dims);
  }

 private:
  std::optional<Operand> PlaceOf(const std::vector<Operand>& index,
                                 const std::vector<Operand>& dims) const {
    const Binding* last = Find(index.back(), OpCode::kMod, dims.back());
    if (last == nullptr) return std::nullopt;
    const Operand place = last->operands[0];
    Operand rest = place;
    for (size_t axis = dims.size() - 1; axis-- > 0;) {
      Operand quotient = index[axis];
      if (axis > 0) {
        const Binding* part = Find(quotient, OpCode::kMod, dims[axis]);
        if (part == nullptr) return std::nullopt;
        quotient = part->operands[0];
      }
      const Binding* above = Find(quotient, OpCode::kFloorDiv, dims[axis + 1]);
      if (above == nullptr || above->operands[0] != rest) return std::nullopt;
      rest = quotient;
    }
    return place;
  }

  // The binding of a value that is `op` of something and `size`.
  const Binding* Find(const Operand& value, OpCode op, const Operand& size) const {
    const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
    if (found == definitions_.end() || found->second->op != op) return nullptr;
    return found->second->operands[1] == size ? found->second : nullptr;
  }

  ir::DefinitionMap definitions_;
  ir::VarSet in_c_order_;
  ir::VarSet read_;
};

class Flattener : public ir::Mutator {
 public:
  Flattener(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), function_(function), finder_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (!std::exchange(has_begun_, true)) {
      for (const ir::Param& param : function_.params) AddLine(param.var);
    }
    const auto place = b->op == OpCode::kLoad ? finder_.PlaceOf(*b) : std::nullopt;
    if (place) return ReadLine(*b, *place);
    Mutator::Visit(b);
    for (const Var* result : b->results) AddLine(result);
  }

 private:
  void AddLine(const Var* array) {
    if (!finder_.IsRead(array)) return;
    Operand count = Operand::Int(1);
    for (const Operand& dim : array->type.dims()) count = builder().Mul(count, Apply(dim));
    lines_[array] = builder().EmitOne(OpCode::kView, ir::Type::Array(array->type.dtype(), {count}),
                                      {Apply(Operand(array)), Operand::Int(0), Operand::Int(1)},
                                      ir::Attributes{{ir::Attr::kFlat, int64_t{1}}}, {}, "line");
  }

  void ReadLine(const Binding& load, const Operand& place) {
    Binding read = load;
    read.operands = {Operand(lines_.at(load.operands[0].var())), Apply(place)};
    builder().Append(arena()->New(std::move(read)));
  }

  const ir::Function& function_;
  LineFinder finder_;
  std::unordered_map<const Var*, const Var*> lines_;  // by array
  bool has_begun_ = false;
};

}  // namespace

ir::Program FlattenLoads(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Flattener(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
