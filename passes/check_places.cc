// Makes the places that elements say, and checks them, before the map that reads there, where each
// is the place of many elements: rows, columns.
//
// Before:
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) {
//     %p = load %at[%i]  %ok = lt %p, %k  check %ok, site 0 at (0, %i, %j) with (%p, %k)
//     %a = load %x[%p, %j]  yield %a }
// After:
//   %none = le %m, 0  %q = select %none, 0, %n
//   %places: [q]i64 = imap (%i) in (%q) {
//     %p = load %at[%i]  %ok = lt %p, %k  check %ok, site 0 at (0, %i, 0) with (%p, %k)
//     yield %p }
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) {
//     %p = load %places[%i]  %a = load %x[%p, %j]  yield %a }
//
// What is left checks nothing, so it is fused with what reads it, and goes along rows as they lie
// in memory. Where no element is made there is nothing to check, as before.
//
// Assumes: index form, bounds proven; before what fuses elements.
// Refuses: checks that ask for all of the index, or not all for the same of it: which of them fails
// first would not be told; checks in branches or in loops of an element; maps in other operators;
// more than two places, and what is a number of another kind; elements that hold arrays or stores.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = std::vector<Operand>;

constexpr size_t kMostPlaces = 2;

bool IsOperator(OpCode op) {
  return op == OpCode::kImap || op == OpCode::kForeach || op == OpCode::kIreduce ||
         op == OpCode::kIscan;
}

// What goes in front of a map: its checks with all that they ask, and the axes of it.
struct Front {
  std::vector<const Binding*> bindings;
  std::vector<size_t> axes;
  std::vector<const Var*> places;  // those that the rest of the map reads
};

class PlaceChecker : public ir::Mutator {
 public:
  PlaceChecker(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kImap && depth_ == 0) {
      if (const auto front = FrontOf(*b)) return Write(*b, *front);
    }
    depth_ += IsOperator(b->op);
    Mutator::Visit(b);
    depth_ -= IsOperator(b->op);
  }

 private:
  static std::optional<Front> FrontOf(const Binding& map) {
    const Block& body = *map.blocks[0];
    ir::VarSet asked;
    if (map.operands.size() != body.params.size() || !IsPlain(body) || !FindAsked(body, &asked))
      return std::nullopt;
    Front front;
    front.bindings = NeededBindings(body, asked);
    const bool is_fit = std::all_of(
        front.bindings.begin(), front.bindings.end(),
        [](const Binding* b) { return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad; });
    if (!is_fit || !FindAxes(body, &front) || !FindPlaces(body, &front)) return std::nullopt;
    return front;
  }

  // True for what only computes, reads and checks.
  static bool IsPlain(const Block& body) {
    bool is_plain = true;
    ir::ForEachBinding(body, [&](const Binding& b) {
      is_plain &= b.op == OpCode::kCheck || ir::IsScalarOp(b.op) || b.op == OpCode::kLoad ||
                  b.op == OpCode::kIreduce || (b.op == OpCode::kIf && !b.results.empty());
    });
    return is_plain;
  }

  // The values that checks read beside the index. False where there are none, where some are in
  // blocks, or where one's place is computed of the index.
  static bool FindAsked(const Block& body, ir::VarSet* asked) {
    ir::VarSet made;
    size_t all = 0, own = 0;
    for (const Binding* b : body.bindings) made.insert(b->results.begin(), b->results.end());
    ir::ForEachBinding(body, [&](const Binding& b) { all += b.op == OpCode::kCheck; });
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kCheck) continue;
      ++own;
      for (size_t k = 0; k < b->operands.size(); ++k) {
        const Operand& operand = b->operands[k];
        if (!operand.IsVar()) continue;
        if (!IsPlace(*b, k)) asked->insert(operand.var());
        if (IsPlace(*b, k) && made.contains(operand.var())) return false;
      }
    }
    return own > 0 && own == all;
  }

  // Whether an operand says where in the program a check stands.
  static bool IsPlace(const Binding& check, size_t operand) {
    return operand > 0 && operand <= static_cast<size_t>(check.attrs.Int(Attr::kAt));
  }

  // The axes that a check's values follow, which must be the same of all, and not all axes.
  static bool FindAxes(const Block& body, Front* front) {
    std::optional<std::vector<size_t>> common;
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kCheck) continue;
      const std::vector<size_t> axes = AxesOf(body, *b);
      if (common && *common != axes) return false;
      common = axes;
    }
    front->axes = *common;
    return !common->empty() && common->size() < body.params.size();
  }

  static std::vector<size_t> AxesOf(const Block& body, const Binding& check) {
    ir::VarSet values;
    for (size_t k = 0; k < check.operands.size(); ++k) {
      if (!IsPlace(check, k) && check.operands[k].IsVar()) values.insert(check.operands[k].var());
    }
    for (const Binding* b : NeededBindings(body, values))
      ir::ForEachUse(*b, [&](const Var* used) { values.insert(used); });
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < body.params.size(); ++axis) {
      if (values.contains(body.params[axis])) axes.push_back(axis);
    }
    return axes;
  }

  static bool FindPlaces(const Block& body, Front* front) {
    ir::VarSet made, read;
    for (const Binding* b : front->bindings) made.insert(b->results.begin(), b->results.end());
    for (const Binding* b : body.bindings) {
      const bool is_front = b->op == OpCode::kCheck || made.contains(b->result());
      if (!is_front) ir::ForEachUse(*b, [&](const Var* used) { read.insert(used); });
    }
    for (const Operand& result : body.results) {
      if (result.IsVar()) read.insert(result.var());
    }
    for (const Binding* b : front->bindings) {
      if (read.contains(b->result())) front->places.push_back(b->result());
    }
    return !front->places.empty() && front->places.size() <= kMostPlaces &&
           std::all_of(front->places.begin(), front->places.end(),
                       [](const Var* place) { return place->type.dtype() == ir::DType::kI64; });
  }

  void Write(const Binding& map, const Front& front) {
    context_.Note(map.span, "places that elements say are checked first", Topic::kOther,
                  Verdict::kDone);
    const Operands own = Extents(map, front);
    std::vector<const Var*> arrays;
    for (size_t k = 0; k < front.places.size(); ++k)
      arrays.push_back(builder().NewVar(ir::Type::Array(ir::DType::kI64, own), "places"));
    WriteFront(map, front, own, arrays);
    Binding rest = map;
    rest.blocks = {RestOf(*map.blocks[0], front, arrays)};
    Mutator::Visit(arena()->New(std::move(rest)));
  }

  // How many places there are along each of their axes: none where no element is made.
  Operands Extents(const Binding& map, const Front& front) {
    Operand none = Operand::Bool(false);
    Operands own;
    for (size_t axis = 0; axis < map.operands.size(); ++axis) {
      const Operand extent = Apply(map.operands[axis]);
      if (std::find(front.axes.begin(), front.axes.end(), axis) != front.axes.end()) {
        own.push_back(extent);
        continue;
      }
      const Operand is_empty = builder().Scalar(OpCode::kLe, {extent, Operand::Int(0)});
      none = builder().Scalar(OpCode::kOr, {none, is_empty});
    }
    if (!none.IsConstant())
      own[0] = builder().Scalar(OpCode::kSelect, {none, Operand::Int(0), own[0]});
    return own;
  }

  void WriteFront(const Binding& map, const Front& front, const Operands& own,
                  const std::vector<const Var*>& arrays) {
    const Block& body = *map.blocks[0];
    Operands places(front.places.begin(), front.places.end());
    Block all{{}, {}, std::move(places)};
    for (const size_t axis : front.axes) all.params.push_back(body.params[axis]);
    for (const Binding* b : body.bindings) {
      const bool is_asked =
          std::find(front.bindings.begin(), front.bindings.end(), b) != front.bindings.end();
      if (is_asked || b->op == OpCode::kCheck) all.bindings.push_back(b);
    }
    const Block* copy = ir::CloneBlock(arena(), WithoutOtherAxes(body, front, all));
    Builder outer = std::exchange(builder(), builder().Nested());
    for (const Binding* b : copy->bindings) {
      builder().set_span(b->span);
      Mutator::Visit(b);
    }
    const Block* block = builder().Finish(copy->params, Apply(copy->results));
    builder() = std::move(outer);
    builder().Emit(OpCode::kImap, arrays, own, {}, {block});
  }

  // The checks as of the first element of each place.
  Block WithoutOtherAxes(const Block& body, const Front& front, Block all) {
    for (const Binding*& b : all.bindings) {
      if (b->op != OpCode::kCheck) continue;
      Binding check = *b;
      for (Operand& operand : check.operands) {
        const auto param = std::find_if(body.params.begin(), body.params.end(),
                                        [&](const Var* each) { return operand == Operand(each); });
        const size_t axis = param - body.params.begin();
        const bool is_other =
            param != body.params.end() &&
            std::find(front.axes.begin(), front.axes.end(), axis) == front.axes.end();
        if (is_other) operand = Operand::Int(0);
      }
      b = arena()->New(std::move(check));
    }
    return all;
  }

  const Block* RestOf(const Block& body, const Front& front,
                      const std::vector<const Var*>& arrays) {
    Operands index;
    for (const size_t axis : front.axes) index.push_back(body.params[axis]);
    Block rest{body.params, {}, body.results};
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kCheck) continue;
      const auto place = std::find(front.places.begin(), front.places.end(), b->result());
      if (place != front.places.end()) {
        Operands operands = {arrays[place - front.places.begin()]};
        operands.insert(operands.end(), index.begin(), index.end());
        b = arena()->New(Binding{OpCode::kLoad, {*place}, std::move(operands), {}, {}, b->span});
      }
      rest.bindings.push_back(b);
    }
    rest.bindings = NeededBindings(rest, rest.results);
    return arena()->New(std::move(rest));
  }

  Context& context_;
  int depth_ = 0;
};

}  // namespace

ir::Program CheckPlaces(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return PlaceChecker(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
