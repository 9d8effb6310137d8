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
// iteration makes become rows of an array for all, where that has few enough elements.
//
// Assumes: index form, of a GPU. Iterations of a foreach touch nothing that others store.
// Refuses: what stands inside another operator; iterations with one operator, or with none that
// goes through more than a few elements; those whose operators have lengths of their own, or may
// fail; scans, which have a pass of their own (separate_scans.cc); and what cannot be split
// (lowering/nest_splits.h).
#include <algorithm>
#include <optional>
#include <string>

#include "ir/uses.h"
#include "passes/lowering/loop_writer.h"
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

bool IsOperator(const Binding& b) { return ir::InfoOf(b.op).format == ir::OpFormat::kIndices; }

class LoopDistributor : public LoopWriter {
 public:
  LoopDistributor(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (inside_ || !IsOperator(*b)) return Mutator::Visit(b);
    inside_ = true;
    const Binding& nest = *Rewrite(b);
    inside_ = false;
    if (b->op != OpCode::kForeach || !HasWork(nest) || !Distribute(nest)) builder().Append(&nest);
  }

 private:
  static Operands Extents(const Binding& b) {
    return {b.operands.begin(), b.operands.begin() + b.blocks[0]->params.size()};
  }

  static bool IsShort(const Binding& b) {
    int64_t size = 1;
    for (const Operand& extent : Extents(b)) {
      if (!extent.IsConstant()) return false;
      size *= extent.constant().integer;
    }
    return size < kShortOperator;
  }

  // Whether an iteration holds nothing but operators with known extents, two at least, and what may
  // stand beside them.
  bool HasWork(const Binding& nest) const {
    const Block& body = *nest.blocks[0];
    const ir::VarSet inside = ir::DefinedVars(body);
    int operators = 0;
    bool is_long = false;
    for (const Binding* b : body.bindings) {
      if (EffectsOf(*b, roots_).may_fail) return false;
      if (b->op == OpCode::kStore || IsRepeated(*b) || IsChoice(*b)) continue;
      if (IsSort(*b)) continue;
      const bool is_known =
          b->op == OpCode::kImap || b->op == OpCode::kIreduce || b->op == OpCode::kForeach;
      if (!is_known) return false;
      const Operands extents = Extents(*b);
      if (std::any_of(extents.begin(), extents.end(),
                      [&](const Operand& size) { return inside.contains(size.var()); }))
        return false;
      ++operators;
      is_long |= !IsShort(*b);
    }
    return operators > 1 && is_long;
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

  // Appends the nests; false where there are none.
  bool Distribute(const Binding& nest) {
    Builder apart = builder().Nested();
    const std::string reason = SplitIntoMaps(apart, nest, PartsOf(*nest.blocks[0]), roots_);
    if (!reason.empty()) {
      context_.Note(nest.span, "not distributed over its operators: " + reason, Topic::kThreads);
      return false;
    }
    context_.Note(nest.span, "distributed over its operators", Topic::kThreads, Verdict::kDone);
    std::optional<Operand> rows;  // of the longest map
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (b->op != OpCode::kImap) continue;
      const Operand size = Product(Extents(*b));
      rows = rows ? Max(*rows, size) : size;
    }
    if (!rows) {
      for (const Binding* b : apart.bindings()) builder().Append(b);
      return true;
    }
    const Operand elements = builder().Mul(*rows, Product(Extents(nest)));
    Builder together = builder().Nested();
    together.Append(ir::CloneBlock(arena(), Block{{}, {&nest}, {}})->bindings[0]);
    builder().Emit(OpCode::kIf, {},
                   {builder().Scalar(OpCode::kLe, {elements, Int(kMostOfAllRows)})}, {},
                   {apart.Finish({}, {}), together.Finish({}, {})});
    return true;
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
