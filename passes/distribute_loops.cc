// Distributes loops over their operators: each operator of an iteration becomes a nest over all
// iterations, as the same would be that is written for whole arrays, and threads of a GPU share its
// elements, or its rows.
//
// Before:
//   foreach (%j) in (%n) {
//     %s: f64 = ireduce (%i) in (%m) max { %a: f64 = load %x[%i, %j]  yield %a }
//     %t: f64 = sqrt %s
//     foreach (%i) in (%m) { ... %t ... store %y[%i, %j], %q } }
// After:
//   %ts: [n]f64 = imap (%j) in (%n) {
//     %s: f64 = ireduce (%i) in (%m) max { %a: f64 = load %x[%i, %j]  yield %a }
//     %t: f64 = sqrt %s
//     yield %t }
//   foreach (%j, %i) in (%n, %m) { %u: f64 = load %ts[%j]  ... %u ... store %y[%i, %j], %q }
//
// As it was, each iteration would be one thread's. Scalars that operators, or elements that are
// stored over, go into are made once; other scalar code and loads are repeated. Rows that an
// iteration makes become rows of an array for all, where that has few enough elements. Operators
// that have a length of their own in each iteration, as rows of triangles, go over the most that
// any has, behind a guard (lowering/box_writer.h).
//
// Assumes: index form, of a GPU. Iterations of a foreach touch nothing that others store.
// Refuses: what stands inside another operator; iterations with one operator, or with none that
// goes through more than a few elements; those whose operators have lengths without a bound, or may
// fail, or combine rows of such lengths by what has no identity; scans, which have a pass of their
// own (separate_scans.cc); and what cannot be split (lowering/nest_splits.h).
#include <algorithm>
#include <optional>
#include <string>

#include "ir/uses.h"
#include "passes/lowering/box_writer.h"
#include "passes/lowering/nest_splits.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// So few elements are as well one thread's.
constexpr int64_t kShortOperator = 32;
// Of rows that all iterations make.
constexpr int64_t kMostOfAllRows = int64_t{1} << 26;
// Of windows, each a thread's.
constexpr int64_t kManyWindows = 1 << 14;

bool IsOperator(const Binding& b) { return ir::InfoOf(b.op).format == ir::OpFormat::kIndices; }

class LoopDistributor : public BoxWriter {
 public:
  LoopDistributor(ir::Arena* arena, const ir::Function& function, Context& context)
      : BoxWriter(arena), function_(function), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (inside_ || !IsOperator(*b)) return Mutator::Visit(b);
    inside_ = true;
    const Binding& nest = *Rewrite(b);
    inside_ = false;
    if (b->op != OpCode::kForeach || !HasWork(nest) || !Distribute(nest)) builder().Append(&nest);
  }

 private:
  // Appends the nests; false where there are none.
  bool Distribute(const Binding& nest) {
    ExtentBounds bounds(function_, nest);
    const Binding* known = WithKnownLengths(nest, bounds);
    if (known == nullptr || !HasWork(*known)) return false;
    Builder apart = builder().Nested();
    const std::string reason = SplitIntoMaps(apart, *known, PartsOf(*known->blocks[0]), roots_);
    if (!reason.empty()) {
      context_.Note(nest.span, "not distributed over its operators: " + reason, Topic::kThreads);
      return false;
    }
    context_.Note(nest.span, "distributed over its operators", Topic::kThreads, Verdict::kDone);
    const Operand is_worth = IsWorth(*known, bounds);
    if (is_worth == Operand::Bool(true)) {
      for (const Binding* b : apart.bindings()) builder().Append(b);
      return true;
    }
    Builder together = builder().Nested();
    together.Append(ir::CloneBlock(arena(), Block{{}, {&nest}, {}})->bindings[0]);
    builder().Emit(OpCode::kIf, {}, {is_worth}, {},
                   {apart.Finish({}, {}), together.Finish({}, {})});
    return true;
  }

  // Whether lengths are at most as is known, rows have few enough elements, and windows, of which
  // many threads would each have one, are few.
  Operand IsWorth(const Binding& nest, const ExtentBounds& bounds) {
    Operand is_worth = bounds.Holds(builder());
    const Operand count = Product(Extents(nest));
    std::optional<Operand> rows;  // of the longest map
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (b->op != OpCode::kImap) continue;
      const Operand size = Product(Extents(*b));
      rows = rows ? Max(*rows, size) : size;
    }
    if (rows) {
      const Operand elements = builder().Mul(*rows, count);
      is_worth = And(is_worth, builder().Scalar(OpCode::kLe, {elements, Int(kMostOfAllRows)}));
    }
    if (bounds.HasWindow())
      is_worth = And(is_worth, builder().Scalar(OpCode::kLt, {count, Int(kManyWindows)}));
    return is_worth;
  }

  Operand And(const Operand& a, const Operand& b) { return builder().Scalar(OpCode::kAnd, {a, b}); }

  static bool IsShort(const Binding& b) {
    int64_t size = 1;
    for (const Operand& extent : Extents(b)) {
      if (!extent.IsConstant()) return false;
      size *= extent.constant().integer;
    }
    return size < kShortOperator;
  }

  // Whether an iteration holds nothing but operators, two at least, and what may stand beside them.
  bool HasWork(const Binding& nest) const {
    const Block& body = *nest.blocks[0];
    int operators = 0;
    bool is_long = false;
    for (const Binding* b : body.bindings) {
      if (EffectsOf(*b, roots_).may_fail) return false;
      if (b->op == OpCode::kStore || IsRepeated(*b) || IsChoice(*b)) continue;
      if (IsSort(*b)) continue;
      const bool is_known =
          b->op == OpCode::kImap || b->op == OpCode::kIreduce || b->op == OpCode::kForeach;
      if (!is_known) return false;
      ++operators;
      is_long |= !IsShort(*b);
    }
    return operators > 1 && is_long;
  }

  // The nest with all operators over as many elements in each iteration; null where that
  // cannot be, or a row is passed on as a whole.
  const Binding* WithKnownLengths(const Binding& nest, ExtentBounds& bounds) {
    const Block& body = *nest.blocks[0];
    ir::VarSet longer;
    Binding known = nest;
    std::vector<std::pair<const Binding*, Operands>> boxes;
    for (const Binding* b : body.bindings) {
      if (!IsOperator(*b)) continue;
      const std::optional<Operands> most = MostExtents(bounds, nest, *b);
      if (!most) return nullptr;
      if (*most == Extents(*b)) continue;
      boxes.emplace_back(b, *most);
      if (b->op == OpCode::kImap) longer.insert(b->results.begin(), b->results.end());
    }
    if (boxes.empty()) return &nest;
    if (!LoadsAlone(body, longer)) return nullptr;
    inside_ = true;
    known.blocks[0] = BlockOf(body.params, [&] {
      for (const Binding* b : body.bindings) {
        const auto box = std::find_if(boxes.begin(), boxes.end(),
                                      [&](const auto& pair) { return pair.first == b; });
        const Binding* now = Rewrite(b);
        box == boxes.end() ? builder().Append(now) : AppendBoxed(*now, box->second);
      }
      return Operands{};
    });
    inside_ = false;
    return arena()->New(std::move(known));
  }

  void AppendBoxed(const Binding& inner, const Operands& most) {
    Binding boxed = Boxed(inner, most);
    for (const Var*& result : boxed.results) {
      if (!result->type.IsArray()) continue;
      const Var* row = result;
      result = builder().NewVar(ir::Type::Array(row->type.dtype(), most), row->hint);
      Replace(row, Operand(result));
    }
    builder().Append(arena()->New(std::move(boxed)));
  }

  // Of a row, by the library, or by kernels where all rows are one array (sort_on_device.cc).
  static bool IsSort(const Binding& b) {
    if (b.op != OpCode::kLibraryCall || b.operands.size() != 1) return false;
    const std::string& routine = b.attrs.Text(ir::Attr::kCallee);
    return routine == "sort" || routine == "stable_sort";
  }

  // Between scalars.
  static bool IsChoice(const Binding& b) {
    if (b.op != OpCode::kIf || b.results.empty()) return false;
    bool is_plain = true;
    for (const Block* block : b.blocks) {
      ir::ForEachBinding(*block, [&](const Binding& in) {
        is_plain &= IsRepeated(in) || in.op == OpCode::kIf;
        for (const Var* result : in.results) is_plain &= result->type.IsScalar();
      });
    }
    return is_plain && std::all_of(b.results.begin(), b.results.end(),
                                   [](const Var* result) { return result->type.IsScalar(); });
  }

  // Of what parts do not repeat, an operator begins one, with what follows a reduction up to the
  // next operator; loops and rows stand alone.
  std::vector<NestPart> PartsOf(const Block& body) const {
    ir::VarSet stored;
    for (const Binding* b : body.bindings) stored.merge(EffectsOf(*b, roots_).writes);
    std::vector<NestPart> parts;
    ir::VarSet made;  // by parts
    bool ends = true;
    for (const Binding* b : body.bindings) {
      const ir::VarSet used = ir::FreeVars(*b);
      const bool follows =
          std::any_of(used.begin(), used.end(), [&](const Var* v) { return made.contains(v); });
      const bool is_kept =
          IsRepeated(*b) && !follows && !Intersects(EffectsOf(*b, roots_).reads, stored);
      if (is_kept) continue;
      const bool is_operator = IsOperator(*b);
      // A row is sorted where it is made.
      const bool joins = IsSort(*b) && !parts.empty() && Makes(parts.back(), b->operands[0]);
      if (!joins && (ends || is_operator)) parts.emplace_back();
      parts.back().push_back(b);
      made.insert(b->results.begin(), b->results.end());
      ends = joins || (is_operator && b->op != OpCode::kIreduce);
    }
    return parts;
  }

  static bool Makes(const NestPart& part, const Operand& row) {
    return std::any_of(part.back()->results.begin(), part.back()->results.end(),
                       [&](const Var* result) { return Operand(result) == row; });
  }

  const ir::Function& function_;
  Roots roots_;
  Context& context_;
  bool inside_ = false;
};

}  // namespace

ir::Program DistributeLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LoopDistributor(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
