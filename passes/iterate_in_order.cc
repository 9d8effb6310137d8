// Leaves loops of few iterations, each of which goes through whole arrays, as loops, so that
// threads share what an iteration does.
//
// Before:
//   foreach (%c) in (%n) {  (or an imap)
//     %t: [h][w]f64 = imap (%i, %j) in (%h, %w) { %a = load %x[%c, %i, %j] ... }
//     foreach (%i, %j) in (%h, %w) { ... load %t[...] ... store %y[%c, %i, %j], %q } }
// After:
//   if %n < 6 and %h * %w + %h * %w > 65536 {
//     for %c in 0 to %n step 1 { ... the same, whose operators threads share ... } } else {
//     foreach (%c) in (%n) { ... as before ... } }
//
// As iterations of the foreach, the threads of many cores would be few; on a GPU, where each would
// be one thread's, iterations are few that go through 128 times as many elements as there are of
// them. A few iterations that are known are a loop alone for threads of the host, whatever they go
// through: where that is little, no threads take part either way.
//
// Assumes: fusion is over. Nothing here asks for the number of threads: operators have other orders
// of sums as parts of an iteration.
// Refuses: what stands inside another operator; iterations that are known to be many, or go through
// little; of a GPU, those that go through rows one behind the other with reductions of them, which
// a block of threads shares (lowering/lower_block_rows.h); of the host, those that go through rows
// alone, unless they are known to be few or the code is for few rows (Options::few_rows;
// expect_long_sides.cc).
#include <algorithm>

#include "ir/uses.h"
#include "passes/lowering/few_and_long.h"
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

// What a thread of a GPU does one by one in the time that the host takes for a kernel.
constexpr int64_t kElementsOfLaunch = 128;
constexpr int64_t kManyIterations = 1 << 14;

bool IsOperator(const Binding& b) { return ir::InfoOf(b.op).format == ir::OpFormat::kIndices; }

std::vector<Operand> Extents(const Binding& b) {
  return {b.operands.begin(), b.operands.begin() + b.blocks[0]->params.size()};
}

// The product of the constants among them; 1 for none.
int64_t KnownSize(const std::vector<Operand>& extents) {
  int64_t size = 1;
  for (const Operand& extent : extents) {
    if (extent.IsConstant()) size *= extent.constant().integer;
  }
  return size;
}

bool IsKnown(const std::vector<Operand>& extents) {
  return std::all_of(extents.begin(), extents.end(), [](auto& e) { return e.IsConstant(); });
}

class OrderedIterator : public LoopWriter {
 public:
  OrderedIterator(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        patterns_(function),
        sizes_(SizesOfParameters(function)),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (!IsOperator(*b)) return Mutator::Visit(b);
    const bool is_nest =
        b->op == OpCode::kForeach || (b->op == OpCode::kImap && context_.options.few_rows);
    const Wide wide = is_nest ? WideIn(*b) : Wide{};
    if (wide.operators.empty()) return builder().Append(Rewrite(b));
    const Binding& nest = *Rewrite(b);
    context_.Note(b->span, "iterated in order where iterations are few and long", Topic::kThreads,
                  Verdict::kDone);
    const auto in_order = [&] {
      const Operands made = Buffers(nest);
      Iterate(nest, made, {});
      return made;
    };
    const auto as_before = [&] {
      Binding copy = nest;
      for (const Var*& result : copy.results) result = builder().NewVar(result->type, result->hint);
      builder().Append(arena()->New(copy));
      return Operands(copy.results.begin(), copy.results.end());
    };
    const Operands made =
        IsAlone(nest) ? in_order() : Choose(AreFewAndLong(nest, wide), in_order, as_before);
    for (size_t k = 0; k < made.size(); ++k) Replace(nest.results[k], made[k]);
  }

 private:
  // The operators of an iteration that threads may better share; and whether the code that is not
  // for few rows leaves them as they are.
  struct Wide {
    std::vector<const Binding*> operators;
    bool are_rows = false;
  };

  static bool Combines(const Binding& b) {
    return b.op == OpCode::kIreduce || b.op == OpCode::kIscan;
  }

  Operand AreFewAndLong(const Binding& nest, const Wide& wide) {
    const auto& operators = wide.operators;
    const bool combines = std::any_of(operators.begin(), operators.end(),
                                      [](const Binding* b) { return Combines(*b); });
    Operand elements = Int(0);
    for (const Binding* inner : operators) {
      const Operand own = Product(Apply(Extents(*inner)));
      // As expect_long_sides asks: an order of a sum follows from it.
      if (!wide.are_rows) elements = builder().Add(elements, own);
      else if (Combines(*inner) || !combines) elements = Max(elements, own);
    }
    const Operand count = Product(Extents(nest));
    if (context_.options.kernels) {
      const Operand least = builder().Mul(count, Int(kElementsOfLaunch));
      return builder().Scalar(OpCode::kGt, {elements, least});
    }
    return passes::AreFewAndLong(builder(), count, elements);
  }

  // None where the nest is to stay.
  Wide WideIn(const Binding& nest) const {
    const bool kernels = context_.options.kernels;
    const std::vector<Operand> iterations = Extents(nest);
    if (KnownSize(iterations) >= (kernels ? kManyIterations : kFewIterations)) return {};
    const Block& body = *nest.blocks[0];
    const ir::VarSet inside = ir::DefinedVars(body);
    std::vector<const Binding*> wide;
    bool reduces = false, has_rows_alone = true;
    for (const Binding* b : body.bindings) {
      if (!IsOperator(*b)) {
        has_rows_alone &= b->blocks.empty();
        continue;
      }
      const std::vector<Operand> extents = Extents(*b);
      const auto is_inside = [&](const Operand& size) { return inside.contains(size.var()); };
      if (std::any_of(extents.begin(), extents.end(), is_inside)) return {};
      reduces |= b->op == OpCode::kIreduce;
      bool holds_operator = false;
      ir::ForEachBinding(*b->blocks[0],
                         [&](const Binding& in) { holds_operator |= IsOperator(in); });
      has_rows_alone &= extents.size() == 1 && !holds_operator && b->op != OpCode::kContract;
      const int64_t little = kernels ? kElementsOfLaunch : kElementsOfTeam;
      const bool is_little = IsKnown(extents) && KnownSize(extents) < little;
      if (!is_little) wide.push_back(b);
    }
    if (kernels) return has_rows_alone && reduces ? Wide{} : Wide{wide};
    if (nest.op == OpCode::kForeach && (!has_rows_alone || IsKnown(iterations))) return {wide};
    return AreRows(nest, wide) ? Wide{wide, true} : Wide{};
  }

  // Whether the nest is a loop alone, whatever it goes through.
  bool IsAlone(const Binding& nest) const {
    return !context_.options.kernels && nest.op == OpCode::kForeach && IsKnown(Extents(nest));
  }

  // Whether code for few rows has these, of which expect_long_sides has seen what combines: columns
  // pass by side by side.
  bool AreRows(const Binding& nest, const std::vector<const Binding*>& operators) const {
    const auto is_row = [&](const Binding* b) {
      bool is_plain = b->op != OpCode::kContract && GoesAlong(patterns_, *b);
      ir::ForEachBinding(*b->blocks[0], [&](const Binding& in) { is_plain &= !IsOperator(in); });
      return is_plain && (!Combines(*b) || AreAmong(sizes_, Extents(*b)));
    };
    return context_.options.few_rows && AreAmong(sizes_, Extents(nest)) &&
           std::all_of(operators.begin(), operators.end(), is_row);
  }

  // An array for each result of the nest.
  Operands Buffers(const Binding& nest) {
    const ir::Attributes order = nest.attrs.Has(Attr::kFortran)
                                     ? ir::Attributes{{Attr::kFortran, int64_t{1}}}
                                     : ir::Attributes{};
    Operands buffers;
    for (const Var* result : nest.results) {
      buffers.push_back(builder().EmitOne(OpCode::kAlloc, result->type, result->type.dims(), order,
                                          {}, result->hint));
    }
    return buffers;
  }

  // Loops over the indexes of the nest behind `index`; what iterations yield goes to `buffers`.
  void Iterate(const Binding& nest, const Operands& buffers, const Operands& index) {
    const Operands extents = Extents(nest);
    if (index.size() < extents.size()) {
      return Loop(Int(0), extents[index.size()], {}, [&](const Operand& i) {
        Operands more = index;
        more.push_back(i);
        Iterate(nest, buffers, more);
      });
    }
    const Operands values = VisitBody(*ir::CloneBlock(arena(), *nest.blocks[0]), index);
    for (size_t k = 0; k < values.size(); ++k) Store(buffers[k], index, values[k]);
  }

  // The value at that index; its elements where it is an array.
  void Store(const Operand& buffer, const Operands& index, const Operand& value) {
    const ir::Type type = ir::TypeOf(value);
    if (type.IsScalar()) return builder().Store(buffer, index, value);
    std::vector<const Var*> params;
    for (int axis = 0; axis < type.rank(); ++axis)
      params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    ir::Builder inside = builder().Nested();
    Operands place = index;
    place.insert(place.end(), params.begin(), params.end());
    inside.Store(buffer, place, inside.Load(value, {params.begin(), params.end()}));
    builder().Emit(OpCode::kForeach, {}, type.dims(), {}, {inside.Finish(params, {})});
  }

  const AccessPatterns patterns_;
  const ir::VarSet sizes_;
  Context& context_;
};

}  // namespace

ir::Program IterateInOrder(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return OrderedIterator(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
