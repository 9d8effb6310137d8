// Checks first that no side of a product is short, and no rows are few and long, in code that has
// nothing for either.
//
// Before:
//   fn @f(%x: [n][l]f64, %y: [l][m]f64) ... {
//     %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... } }
// After:
//   fn @f(%x: [n][l]f64, %y: [l][m]f64) ... {
//     %least = min %n, %m  %is_long = gt %least, 4
//     check %is_long, site 0 at (0)
//     %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... } }
//
// And of `imap (%i) in (%n) { ... ireduce (%j) in (%m) ... }`, and of `imap (%i, %j) in (%n, %m)`,
// that
//     %few_and_long = %n < 6 and %m > 65536  %are_not = not %few_and_long  check %are_not, site 0
// holds: else threads had better share each of a few long rows (iterate_in_order, lower_to_loops).
//
// Tiles for few rows or columns are as much code again as those for many, and few programs need
// both (lowering/lower_contractions.h).
//
// Assumes: where that check fails, whose site is new and has the exception kShortSides, the caller
// runs the program made with Options::short_sides, and for kFewLongRows with Options::few_rows;
// right behind recognize_contractions, so that a call that would give up is found soon.
// Refuses: sizes that are no parameter's; products in loops, of complex numbers, of several sums
// and with itself, which have no such tiles; products one side of which is known to be short, which
// have them in any case; rows in loops and in kernels, and columns.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_contractions.h"
#include "passes/lowering/few_and_long.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Sides that are sizes of parameters, each once, of products that have tiles for as short ones.
class SideFinder {
 public:
  explicit SideFinder(const ir::Function& function)
      : patterns_(function), sizes_(SizesOfParameters(function)) {
    Visit(*function.body);
  }

  const std::map<int64_t, std::vector<Operand>>& sides() const { return sides_; }

 private:
  void Visit(const Block& block) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kContract) Add(*b);
      const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
      if (is_loop || b->op == OpCode::kContract) continue;
      for (const Block* inner : b->blocks) Visit(*inner);
    }
  }

  void Add(const Binding& contract) {
    const std::vector<Operand> own = SidesOf(contract);
    if (!MayBeLow(contract, own)) return;
    const int64_t longest = LongestOf(contract);
    for (const Operand& side : own) {
      if (!side.IsVar() || !sizes_.contains(side.var())) continue;
      std::vector<Operand>& sides = sides_[longest];
      if (std::count(sides.begin(), sides.end(), side) == 0) sides.push_back(side);
    }
  }

  // As LowTiles::FindLow has it.
  static bool MayBeLow(const Binding& contract, const std::vector<Operand>& sides) {
    const ir::DType dtype = ir::DTypeOf(contract.blocks[0]->results[0]);
    const auto combine = ir::CombineOp(*contract.blocks[1]);
    const bool is_extreme = combine == OpCode::kMin || combine == OpCode::kMax;
    const size_t summed = contract.blocks[0]->params.size() - contract.attrs.Int(Attr::kFree);
    if (ir::IsComplex(dtype) || (is_extreme && ir::IsFloat(dtype)) || summed != 1) return false;
    if (sides.size() == 2 && sides[0] == sides[1]) return false;
    return std::none_of(sides.begin(), sides.end(), IsKnownShortSide);
  }

  // Fewer where rows lie along the sums and columns along the result: tiles of columns are full.
  int64_t LongestOf(const Binding& contract) const {
    const Block& element = *contract.blocks[0];
    const size_t free = contract.attrs.Int(Attr::kFree);
    const auto some_along = [&](const Var* index) {
      return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
        return b->op == OpCode::kLoad && patterns_.LiesNext(*b, index);
      });
    };
    const bool is_plain = some_along(element.params.back()) && some_along(element.params[free - 1]);
    return is_plain ? kLongestSideOfRows : kLongestShortSide;
  }

  const AccessPatterns patterns_;
  const ir::VarSet sizes_;
  std::map<int64_t, std::vector<Operand>> sides_;
};

// Rows that are sizes of parameters, with operators that go through each: what there is of either,
// each once.
class RowFinder {
 public:
  struct Rows {
    std::vector<Operand> count;
    std::vector<Operand> elements;
    bool operator==(const Rows&) const = default;
  };

  explicit RowFinder(const ir::Function& function)
      : patterns_(function), sizes_(SizesOfParameters(function)) {
    for (const Binding* b : function.body->bindings) {
      if (b->op == OpCode::kImap || b->op == OpCode::kForeach) Add(*b);
    }
  }

  const std::vector<Rows>& rows() const { return rows_; }

 private:
  static std::vector<Operand> ExtentsOf(const Binding& b) {
    return {b.operands.begin(), b.operands.begin() + b.blocks[0]->params.size()};
  }

  void Add(const Binding& nest) {
    const std::vector<Operand> all = ExtentsOf(nest);
    if (all.size() > 1) Add({{all.begin(), all.end() - 1}, {all.back()}});
    for (const Binding* b : nest.blocks[0]->bindings) {
      const bool is_along = b->op == OpCode::kIreduce || b->op == OpCode::kIscan;
      if (is_along && GoesAlong(patterns_, *b)) Add({all, ExtentsOf(*b)});
    }
  }

  void Add(const Rows& rows) {
    const bool are_new = std::count(rows_.begin(), rows_.end(), rows) == 0;
    if (are_new && AreAmong(sizes_, rows.count) && AreAmong(sizes_, rows.elements))
      rows_.push_back(rows);
  }

  const AccessPatterns patterns_;
  const ir::VarSet sizes_;
  std::vector<Rows> rows_;
};

// The checks that a function begins with.
class Checks {
 public:
  Checks(ir::Arena* arena, const ir::Function& function) : arena_(arena), builder_(arena) {
    builder_.set_span(function.span);
  }

  // Each says whether there are any.
  bool OfSides(const std::map<int64_t, std::vector<Operand>>& all, int64_t site) {
    for (const auto& [longest, sides] : all) {
      Operand least = sides[0];
      for (size_t k = 1; k < sides.size(); ++k)
        least = builder_.Scalar(OpCode::kMin, {least, sides[k]});
      Check(builder_.Scalar(OpCode::kGt, {least, Operand::Int(longest)}), site);
    }
    return !all.empty();
  }

  bool OfRows(const std::vector<RowFinder::Rows>& all, int64_t site) {
    bool some = false;
    for (const RowFinder::Rows& rows : all) {
      const Operand are = AreFewAndLong(builder_, Product(rows.count), Product(rows.elements));
      if (are.IsConstant()) continue;
      Check(builder_.Scalar(OpCode::kNot, {are}), site);
      some = true;
    }
    return some;
  }

  // The function with what is checked first.
  const ir::Function* Before(const ir::Function& function) {
    for (const Binding* b : function.body->bindings) builder_.Append(b);
    ir::Function copy = function;
    copy.body = builder_.Finish(function.body->params, function.body->results);
    return arena_->New(std::move(copy));
  }

 private:
  void Check(const Operand& holds, int64_t site) {
    builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site}, {Attr::kAt, 0}});
  }

  Operand Product(const std::vector<Operand>& sizes) {
    Operand product = Operand::Int(1);
    for (const Operand& size : sizes) product = builder_.Mul(product, size);
    return product;
  }

  ir::Arena* arena_;
  ir::Builder builder_;
};

}  // namespace

ir::Program ExpectLongSides(const ir::Program& program, Context& context) {
  const Options& options = context.options;
  if (!options.assume_shapes) return program;
  const auto first = static_cast<int64_t>(program.sites.size());
  bool checks_sides = false, checks_rows = false;
  ir::Program expecting = ForEachFunction(program, [&](const ir::Function* function) {
    if (!function->entry) return function;
    Checks checks(program.arena.get(), *function);
    if (!options.short_sides) checks_sides = checks.OfSides(SideFinder(*function).sides(), first);
    if (!options.few_rows && !options.kernels)
      checks_rows = checks.OfRows(RowFinder(*function).rows(), first + int64_t(checks_sides));
    return checks_sides || checks_rows ? checks.Before(*function) : function;
  });
  if (checks_sides) expecting.sites.push_back({std::string(kShortSides), "", {}});
  if (checks_rows) expecting.sites.push_back({std::string(kFewLongRows), "", {}});
  return expecting;
}

}  // namespace parakeet::passes
