// Writes out the last axis of maps that has two to four elements, so that lanes take the axis
// before it instead of a few elements; along axes of one element nothing moves.
//
// Before:
//   %r: [n][m][3]f32 = imap (%i, %j, %k) in (%n, %m, 3) {
//     %a = load %x[%i, %j, %k]  %b = load %g[%k]  %c = mul %a, %b  yield %c }
// After:
//   %r: [n][m][3]f32 = alloc (%n, %m, 3)
//   foreach (%i, %j) in (%n, %m) { %a = load %x[%i, %j, 0]  %b = load %g[0]  %c = mul %a, %b  ...
//     store %r[%i, %j, 0], %c  store %r[%i, %j, 1], %f  store %r[%i, %j, 2], %h }
//
// What a loop does with a row of so few elements, `h[k] = p[i]`, is written out: a vector that
// is stored under a mask is not there yet where a number of it is read.
//
// flatten_lanes and join_lanes read and store the elements of such pixels as they lie in memory.
//
// Where the length of such an axis is a parameter's, and the caller says how long that is
// (Options::lengths), it is that number; of a map over three axes or more, the pass says that it
// would like to know (Context::better_with_lengths).
//
// Assumes: index form, behind all that looks for maps: behind choose_trees, so that no order of a
// sum depends on lengths; behind flatten_maps, which writes some with whole lanes.
// Refuses: elements that hold loops or may raise, or of many operations, or of a function of a
// library whose argument some indexes move alone; an axis before it that is as short; arrays in
// Fortran order.
#include <algorithm>
#include <set>
#include <utility>

#include "passes/analyses/known_lengths.h"
#include "passes/analyses/varying_values.h"
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

constexpr int64_t kShortestPixel = 2;
constexpr int64_t kLongestPixel = 4;
constexpr int64_t kLeastBefore = 16;  // Elements of the axis that lanes take, if known.
constexpr int kMostWrittenOut = 160;  // Operations, of all elements together.

class LastAxisUnroller : public LoopWriter {
 public:
  LastAxisUnroller(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), lengths_(function, context.options), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (IsNest(*b)) StayAtSingles(*b);
    const int64_t count = LengthOf(*b);
    Wish(*b);
    if (count == 0 || !IsPlain(*b, count)) return VisitInside(b);
    context_.Note(b->span, "its last axis is written out", Topic::kNests, Verdict::kDone);
    WriteOut(*b, count);
  }

 private:
  void VisitInside(const Binding* b) {
    const bool repeats = b->op == OpCode::kFor || b->op == OpCode::kWhile;
    const bool is_branch = b->op == OpCode::kIf;
    const bool outside = std::exchange(in_loop_, repeats || (is_branch && in_loop_));
    const size_t outer = std::exchange(axes_around_, AxesAround(*b));
    Mutator::Visit(b);
    axes_around_ = outer;
    in_loop_ = outside;
  }

  // Of a nest that does no more than another one for each of its elements.
  static size_t AxesAround(const Binding& b) {
    if (!IsNest(b)) return 0;
    const std::vector<const Binding*>& body = b.blocks[0]->bindings;
    const auto has_blocks = [](const Binding* inner) { return !inner->blocks.empty(); };
    return std::count_if(body.begin(), body.end(), has_blocks) == 1 ? b.operands.size() : 0;
  }

  static bool IsNest(const Binding& b) {
    return (b.op == OpCode::kImap || b.op == OpCode::kForeach) &&
           b.operands.size() == b.blocks[0]->params.size();
  }

  // Lanes have nothing to take of axes of one element, beside longer ones.
  void StayAtSingles(const Binding& b) {
    const bool are_all = std::all_of(b.operands.begin(), b.operands.end(),
                                     [](const Operand& extent) { return extent.IsInt(1); });
    if (b.op != OpCode::kForeach || are_all || !TakesLanesAlike(b)) return;
    for (size_t axis = 0; axis < b.operands.size(); ++axis) {
      if (b.operands[axis].IsInt(1)) Replace(b.blocks[0]->params[axis], Int(0));
    }
  }

  static ir::VarSet FunctionsOf(const Block& body) {
    constexpr int kLeastCost = 10;
    ir::VarSet functions;
    ir::ForEachBinding(body, [&](const Binding& inner) {
      if (!ir::IsScalarOp(inner.op) || InfoOf(inner.op).cost < kLeastCost) return;
      for (const Var* result : inner.results) {
        if (!ir::IsInteger(result->type.dtype())) functions.insert(result);
      }
    });
    return functions;
  }

  static bool CallsFunctions(const Binding& b) { return !FunctionsOf(*b.blocks[0]).empty(); }

  // Functions of libraries round otherwise in lanes than for one number that all lanes share: of
  // each, all indexes move the argument or none does, whichever index lanes take.
  static bool TakesLanesAlike(const Binding& b) {
    const Block& body = *b.blocks[0];
    const ir::VarSet functions = FunctionsOf(body);
    if (functions.empty()) return true;
    std::vector<ir::VarSet> varying;
    for (const Var* param : body.params) varying.push_back(VaryingValues(body, param));
    return std::all_of(functions.begin(), functions.end(), [&](const Var* result) {
      return std::all_of(varying.begin(), varying.end(), [&](const ir::VarSet& values) {
        return values.contains(result) == varying[0].contains(result);
      });
    });
  }

  // Of the last axis, where it is to be written out; 0 for another operator.
  int64_t LengthOf(const Binding& b) const {
    if (!IsNest(b)) return 0;
    const size_t rank = b.operands.size();
    if (rank == 0 || b.attrs.Int(Attr::kFortran) != 0) return 0;
    const int64_t length = lengths_.Of(b.operands[rank - 1]).value_or(0);
    if (rank == 1) return in_loop_ && length <= kLongestPixel && !CallsFunctions(b) ? length : 0;
    const int64_t before = lengths_.Of(b.operands[rank - 2]).value_or(kLeastBefore);
    const bool is_pixel = length >= kShortestPixel && length <= kLongestPixel;
    return is_pixel && before >= kLeastBefore ? length : 0;
  }

  // Of maps over rows of a matrix nothing is asked: most rows are long.
  void Wish(const Binding& b) {
    const bool is_asked = IsNest(b) && b.operands.size() > 1 &&
                          axes_around_ + b.operands.size() > 2 && !lengths_.Of(b.operands.back());
    if (!is_asked || !IsPlain(b, kLongestPixel)) return;
    const std::set<size_t> parameters = lengths_.ParametersOf(b.operands.back());
    if (parameters.empty()) return;
    context_.Note(b.span, "its last axis would be written out if its length were known",
                  Topic::kNests);
    context_.better_with_lengths.insert(parameters.begin(), parameters.end());
  }

  static bool IsPlain(const Binding& b, int64_t count) {
    bool is_plain = true;
    int operations = 0;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
      ++operations;
      is_plain &= ir::IsScalarOp(inner.op) || inner.op == OpCode::kLoad ||
                  inner.op == OpCode::kStore || inner.op == OpCode::kIf;
    });
    return is_plain && operations * count <= kMostWrittenOut && TakesLanesAlike(b);
  }

  void WriteOut(const Binding& b, int64_t count) {
    for (const Var* result : b.results)
      builder().Emit(OpCode::kAlloc, {result}, Apply(result->type.dims()));
    const Operands operands = Apply(b.operands);
    if (operands.size() == 1) return WriteElements(b, {}, count);
    const std::vector<const Var*>& own = b.blocks[0]->params;
    std::vector<const Var*> params;
    for (size_t k = 0; k + 1 < own.size(); ++k)
      params.push_back(builder().NewVar(own[k]->type, own[k]->hint));
    const Block* body = BlockOf(params, [&] {
      Operands index(params.begin(), params.end());
      for (size_t axis = 0; axis < index.size(); ++axis) {
        if (operands[axis].IsInt(1)) index[axis] = Int(0);
      }
      WriteElements(b, std::move(index), count);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, Operands(operands.begin(), operands.end() - 1), b.attrs,
                   {body});
  }

  // True where nothing comes behind what an element stores.
  static bool StoresAtEnd(const Block& element) {
    const auto is_store = [](const Binding* b) { return b->op == OpCode::kStore; };
    const auto& bindings = element.bindings;
    const bool branches = std::any_of(bindings.begin(), bindings.end(),
                                      [](const Binding* b) { return !b->blocks.empty(); });
    return !branches &&
           std::all_of(std::find_if(bindings.begin(), bindings.end(), is_store), bindings.end(),
                       [&](const Binding* b) { return is_store(b) || ir::IsScalarOp(b->op); });
  }

  // All elements read before any stores, since they may come in any order.
  void WriteElements(const Binding& b, Operands index, int64_t count) {
    const bool at_end = StoresAtEnd(*b.blocks[0]);
    std::vector<const Binding*> stores;
    std::vector<std::pair<Operands, Operands>> elements;  // indexes and what is made there
    index.emplace_back();
    for (int64_t k = 0; k < count; ++k) {
      index.back() = Int(k);
      const Block* element = ir::CloneBlock(arena(), *b.blocks[0]);
      for (size_t p = 0; p < index.size(); ++p) Replace(element->params[p], index[p]);
      for (const Binding* inner : element->bindings) {
        if (at_end && inner->op == OpCode::kStore) {
          stores.push_back(inner);
        } else {
          Mutator::Visit(inner);
        }
      }
      elements.emplace_back(index, Apply(element->results));
    }
    for (const Binding* store : stores) Mutator::Visit(store);
    for (const auto& [at, values] : elements) {
      for (size_t r = 0; r < b.results.size(); ++r) builder().Store(b.results[r], at, values[r]);
    }
  }

  const KnownLengths lengths_;
  Context& context_;
  bool in_loop_ = false;    // and in no nest inside it
  size_t axes_around_ = 0;  // of the nest that goes through rows of this one, which is all it does
};

}  // namespace

ir::Program UnrollLastAxes(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LastAxisUnroller(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
