// Lets lanes go by elements where the axes behind theirs are short: the channels of pixels lie
// between two lanes.
//
// Before:
//   %a: u8x32 = load_lanes %x[%y, %i, 2] {axis = 1}                   (%x: [h][w][3]u8 c)
//   store_lanes %r[%y, %i, 1], %a {axis = 1}                          (%r: [h][w][3]u8)
// After:
//   %a: u8x32 = load_lanes %x[%y, %i, 2] {axis = 1, step = 3, place = 2, flat = 1}
//   store_lanes %r[%y, %i, 1], %a {axis = 1, step = 3, flat = 1}
//
// join_lanes takes it up. Who reads an element at a constant place knows that the others of its
// pixel are there, since an array has whole ones: it is read out of whole vectors.
//
// Where the length of such an axis is a parameter's, and the caller says how long that is
// (Options::lengths), it is that number. Where the caller does not, and the loop has to do with
// more than one place of a pixel, the pass says that it would like to know
// (Context::better_with_lengths).
//
// Assumes: lanes are written; behind choose_trees, so that no order of a sum depends on lengths.
// Refuses: arrays that lie otherwise than in C order, or that a join, a view or a call gives;
// pixels of more than kLongestStep elements; lanes that go backwards.
#include <map>
#include <optional>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/known_lengths.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kLongestStep = 4;

// What lies behind the axis along which an access in lanes goes.
struct Pixel {
  int64_t length = 1;            // elements of it
  std::optional<int64_t> place;  // of the element among them, where it is known
};

class LaneFlattener : public ir::Mutator {
 public:
  LaneFlattener(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), lengths_(function, context.options) {
    for (const ir::Param& param : function.params) {
      if (param.layout == ir::Layout::kC) in_c_order_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kAlloc && b.attrs.Int(Attr::kFortran) == 0)
        in_c_order_.insert(b.result());
    });
    ir::ForEachBinding(*function.body, [&](const Binding& b) { Wish(b, context); });
  }

 protected:
  void Visit(const Binding* b) override {
    const std::optional<Pixel> pixel = IsByPixels(*b) ? PixelOf(*b) : std::nullopt;
    const int64_t step = b->attrs.Int(Attr::kStep, 1);
    if (!pixel || pixel->length < 2 || step * pixel->length > kLongestStep)
      return Mutator::Visit(b);
    Binding flat = *Rewrite(b);
    flat.attrs = flat.attrs.With(Attr::kStep, step * pixel->length).With(Attr::kFlat, int64_t{1});
    if (b->op == OpCode::kLoadLanes && step == 1 && pixel->place)
      flat.attrs = flat.attrs.With(Attr::kPlace, *pixel->place);
    builder().Append(arena()->New(std::move(flat)));
  }

 private:
  // Whether lanes go forwards along another axis than the last.
  bool IsByPixels(const Binding& b) const {
    if (b.op != OpCode::kLoadLanes && b.op != OpCode::kStoreLanes) return false;
    const Var* array = b.operands[0].var();
    const int64_t step = b.attrs.Int(Attr::kStep, 1);
    return in_c_order_.contains(array) && step > 0 && step <= kLongestStep &&
           b.attrs.Int(Attr::kAxis) + 1 < array->type.rank() && !b.attrs.Has(Attr::kFlat) &&
           !b.attrs.Has(Attr::kPlace) && !b.attrs.Has(Attr::kRepeat);
  }

  // Nothing where lengths are not known.
  std::optional<Pixel> PixelOf(const Binding& b) const {
    const std::vector<Operand>& dims = b.operands[0].var()->type.dims();
    Pixel pixel;
    pixel.place = 0;
    for (size_t axis = b.attrs.Int(Attr::kAxis) + 1; axis < dims.size(); ++axis) {
      const std::optional<int64_t> length = lengths_.Of(dims[axis]);
      if (!length || *length < 1 || *length > kLongestStep) return std::nullopt;
      pixel.length *= *length;
      const Operand& index = b.operands[1 + axis];
      const bool is_known =
          index.IsConstant() && index.constant().integer >= 0 && index.constant().integer < *length;
      if (!is_known || !pixel.place) {
        pixel.place.reset();
      } else {
        pixel.place = *pixel.place * *length + index.constant().integer;
      }
    }
    return pixel;
  }

  void Wish(const Binding& b, Context& context) {
    if (!IsByPixels(b) || !lengths_.NumberOf(b.operands[0].var())) return;
    const Var* array = b.operands[0].var();
    std::set<size_t> wished;
    std::vector<int64_t> place;
    for (int axis = b.attrs.Int(Attr::kAxis) + 1; axis < array->type.rank(); ++axis) {
      const Operand& index = b.operands[1 + axis];
      if (!index.IsConstant() || index.constant().integer >= kLongestStep) return;
      place.push_back(index.constant().integer);
      const Operand& extent = array->type.dims()[axis];
      if (lengths_.Of(extent)) continue;
      if (!IsSayable(extent, array)) return;
      wished.insert(*lengths_.NumberOf(array));
    }
    const auto [other, is_first] = places_.emplace(*lengths_.NumberOf(array), place);
    if (wished.empty() || is_first || other->second == place) return;
    context.Note(b.span, "its elements would be read or stored together if its length were known",
                 Topic::kLanes);
    context.better_with_lengths.merge(wished);
  }

  KnownLengths lengths_;
  ir::VarSet in_c_order_;
  std::map<size_t, std::vector<int64_t>> places_;  // By parameter, the first that is accessed.
};

}  // namespace

ir::Program FlattenLanes(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LaneFlattener(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
