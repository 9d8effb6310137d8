// Writes out axes of two to four elements where arrays would be made only because of them: the
// sum over such an axis, and a map along it whose elements are long reductions of the same dear
// elements.
//
// Before:
//   %d: [n][n]f64 = imap (%i, %j) in (%n, %n) { %s = ireduce (%k) in (3) add from 0.0 { ... }
//   %w = sqrt %s  yield %w }
//   %r: [n][3]f64 = imap (%i, %k) in (%n, 3) { %t = ireduce (%j) in (%n) add from 0.0 {
//   %a = load %d[%i, %j]  %b = load %x[%j, %k]  %c = mul %a, %b  yield %c }  yield %t }
// After:
//   %d: [n][n]f64 = imap (%i, %j) in (%n, %n) { %p = fma ...  %q = fma ...  %s = fma ...
//   %w = sqrt %s  yield %w }
//   %r: [n][3]f64 = alloc (%n, 3)
//   foreach (%i) in (%n) { %t = ireduce (%j) ...  %t.1 = ireduce (%j) ...  %t.2 = ireduce (%j) ...
//   store %r[%i, 0], %t  store %r[%i, 1], %t.1  store %r[%i, 2], %t.2 }
// which siblings and then producers are fused into: %d is made nowhere.
//
// So are the sums of a contraction where an axis of its result is as short, as of points that a
// small matrix turns: such tiles would be empty for the most part.
//
// Where an entry function's last axes would be written out if they were so short, and nobody knows
// how long they are, it checks that they are longer; of a contraction, that one of the two is.
//
// Assumes: where that check fails, whose site is new and has the exception kShortAxes, the caller
// runs the program made with these sizes known; index form behind fuse_elements, so that an array
// which is still there is dear; before recognize_contractions, which takes what this pass leaves.
// The order of each sum stays, and it takes up products as a contraction's does.
// Refuses: short sums in what is read by more than one reduction, or by something else: a
// contraction makes these better; elements that may raise or store; arrays in Fortran order.
#include <algorithm>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_contractions.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_reads.h"
#include "passes/lowering/check_long.h"
#include "passes/lowering/loop_writer.h"
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

constexpr int kMostCostWrittenOut =
    256;  // Of the element of a sum that is written out, all together.

// The one reduction of the block, and no other loop; null where there is none.
const Binding* OneLoopIn(const Block& block) {
  const Binding* reduction = nullptr;
  for (const Binding* b : block.bindings) {
    if (b->blocks.empty()) continue;
    if (b->op != OpCode::kIreduce || reduction != nullptr) return nullptr;
    reduction = b;
  }
  return reduction;
}

bool HasScalars(const Binding& reduction) {
  return std::all_of(reduction.results.begin(), reduction.results.end(),
                     [](const Var* result) { return result->type.IsScalar(); });
}

// Sizes that are looked at as if they were short: for what makes arrays, and for contractions.
struct Supposed {
  std::vector<const Var*> last;
  std::vector<const Var*> last_two;
};

// Decides what of a function is written out.
class ShortAxisFinder {
 public:
  ShortAxisFinder(const ir::Function& function, Supposed supposed, Context& context)
      : reads_(function), roots_(function), supposed_(std::move(supposed)), context_(context) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op != OpCode::kImap) return;
      for (const Var* result : b.results) makers_[result] = &b;
      if (MayPart(b)) {
        parted_.insert(&b);
        lengths_.insert(b.operands.back().var());
      }
    });
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op != OpCode::kImap) return;
      if (!FindProduct(b)) FindSums(b);
    });
  }

  bool IsSum(const Binding* b) const { return sums_.contains(b); }
  // True for a map whose last axis becomes reductions side by side.
  bool IsParted(const Binding* b) const { return parted_.contains(b); }
  // Of what is written out.
  const ir::VarSet& lengths() const { return lengths_; }
  // Of the contractions that are.
  const std::vector<ShortTogether>& products() const { return products_; }

 private:
  static bool IsShortAmong(const std::vector<const Var*>& supposed, const Operand& extent) {
    if (!extent.IsConstant()) return std::count(supposed.begin(), supposed.end(), extent.var()) > 0;
    const int64_t length = extent.constant().integer;
    return length >= kShortestAxis && length <= kLongestShortAxis;
  }

  bool IsShort(const Operand& extent) const { return IsShortAmong(supposed_.last, extent); }

  bool MayPart(const Binding& map) {
    if (map.operands.size() < 2 || !IsShort(map.operands.back())) return false;
    const Binding* reduction = OneLoopIn(*map.blocks[0]);
    if (reduction == nullptr || !ReadsAgain(map, *reduction)) return false;
    const std::string reason = WhyNotParted(map, *reduction);
    if (!reason.empty()) {
      context_.Note(map.span, "its short axis is not written out: " + reason, Topic::kNests,
                    Verdict::kRefused);
    }
    return reason.empty();
  }

  std::string WhyNotParted(const Binding& map, const Binding& reduction) const {
    if (map.attrs.Int(Attr::kFortran) != 0) return "its elements lie along another axis";
    if (map.results.size() != 1 || reduction.results.size() != 1) return "it has several results";
    if (!HasScalars(reduction)) return "it accumulates an array";
    return EffectsOf(*map.blocks[0], roots_).IsPure() ? "" : "its elements may raise or store";
  }

  // True where the reduction takes an element of another map, which is for it alone, at every index
  // but that of the last axis: an element for each of these.
  bool ReadsAgain(const Binding& map, const Binding& reduction) const {
    const Block& element = *reduction.blocks[0];
    return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
      if (b->op != OpCode::kLoad || !makers_.contains(b->operands[0].var())) return false;
      return IsReadBy(map, b->operands[0].var()) && FollowsAllButLast(*b, map, reduction);
    });
  }

  // True where nothing but that binding reads the array, and it reads elements.
  bool IsReadBy(const Binding& reader, const Var* array) const {
    const Reads& reads = reads_.Of(array);
    return reads.other == nullptr && !reads.is_result &&
           std::all_of(reads.loads.begin(), reads.loads.end(),
                       [&](const Read& read) { return read.reader == &reader; });
  }

  static bool FollowsAllButLast(const Binding& load, const Binding& map, const Binding& reduction) {
    const std::vector<const Var*>& outer = map.blocks[0]->params;
    const std::vector<const Var*>& inner = reduction.blocks[0]->params;
    const auto follows = [&](const Var* index) {
      return std::count(load.operands.begin() + 1, load.operands.end(), Operand(index)) > 0;
    };
    return std::all_of(outer.begin(), outer.end() - 1, follows) &&
           std::all_of(inner.begin(), inner.end(), follows) && !follows(outer.back());
  }

  // The short sums of a map of which each element goes into one element of a reduction.
  void FindSums(const Binding& map) {
    bool has_short = false;
    for (const Binding* b : map.blocks[0]->bindings) has_short |= IsShortSum(*b);
    if (!has_short) return;
    const std::string reason = WhyNoSums(map);
    if (!reason.empty()) {
      context_.Note(map.span, "its short sums are not written out: " + reason, Topic::kNests);
      return;
    }
    for (const Binding* b : map.blocks[0]->bindings) {
      if (!IsShortSum(*b)) continue;
      sums_.insert(b);
      lengths_.insert(b->operands[0].var());
    }
  }

  // The sums of a contraction, where they and an axis of the result are short.
  bool FindProduct(const Binding& map) {
    const Binding* reduction = OneLoopIn(*map.blocks[0]);
    if (reduction == nullptr || reduction->blocks[0]->params.size() != 1 ||
        !IsShortAmong(supposed_.last_two, reduction->operands[0]))
      return false;
    std::vector<ShortTogether> together;
    for (const Operand& extent : map.operands) {
      if (IsShortAmong(supposed_.last_two, extent))
        together.push_back(Unknown({reduction->operands[0], extent}));
    }
    if (together.empty() || !MayBeProduct(map, *reduction)) return false;
    sums_.insert(reduction);
    const bool is_known = std::count(together.begin(), together.end(), ShortTogether{}) > 0;
    if (!is_known) products_.insert(products_.end(), together.begin(), together.end());
    return true;
  }

  bool MayBeProduct(const Binding& map, const Binding& reduction) const {
    return map.attrs.Int(Attr::kFortran) == 0 && HasScalars(reduction) &&
           WhyNoContraction(map, reduction).empty() && EffectsOf(*map.blocks[0], roots_).IsPure() &&
           CostWrittenOut(*map.blocks[0]) <= kMostCostWrittenOut;
  }

  static ShortTogether Unknown(std::initializer_list<Operand> sizes) {
    ShortTogether unknown;
    for (const Operand& size : sizes) {
      if (size.IsVar()) unknown.push_back(size.var());
    }
    return unknown;
  }

  bool IsShortSum(const Binding& b) const {
    return b.op == OpCode::kIreduce && b.blocks[0]->params.size() == 1 && IsShort(b.operands[0]);
  }

  std::string WhyNoSums(const Binding& map) const {
    if (!EffectsOf(*map.blocks[0], roots_).IsPure()) return "its elements may raise or store";
    for (const Binding* b : map.blocks[0]->bindings) {
      if (b->blocks.empty()) continue;
      if (!IsShortSum(*b) || !HasScalars(*b)) return "it holds other loops";
      if (HoldsBlocks(*b->blocks[0])) return "what is summed holds loops";
    }
    if (CostWrittenOut(*map.blocks[0]) > kMostCostWrittenOut) return "what is summed is long";
    return WhyNotReduced(map);
  }

  static int64_t CostWrittenOut(const Block& body) {
    int64_t cost = 0;
    for (const Binding* b : body.bindings) {
      cost += InfoOf(b->op).cost;
      for (const Block* block : b->blocks) cost += kLongestShortAxis * CostOf(*block);
    }
    return cost;
  }

  static bool HoldsBlocks(const Block& block) {
    return std::any_of(block.bindings.begin(), block.bindings.end(),
                       [](const Binding* b) { return !b->blocks.empty(); });
  }

  // Why the elements of a map do not all go, each once, into one reduction, on the way through
  // other maps at most.
  std::string WhyNotReduced(const Binding& map) const {
    const Binding* reader = nullptr;
    const Block* where = nullptr;
    bool recomputes = false;
    for (const Var* result : map.results) {
      const Reads& reads = reads_.Of(result);
      if (reads.other != nullptr || reads.is_result) return "it is read as a whole";
      recomputes |= reads.recomputes;
      for (const Read& read : reads.loads) {
        if (read.reader == nullptr || (reader != nullptr && reader != read.reader) ||
            (where != nullptr && where != read.block))
          return "it is read in several places";
        reader = read.reader;
        where = read.block;
      }
    }
    if (reader == nullptr) return "nothing reads it";
    if (parted_.contains(reader)) return "";
    if (recomputes) return "its elements are read again and again";
    const bool passes_on = reader->op == OpCode::kImap && where == reader->blocks[0];
    if (passes_on) return WhyNotReduced(*reader);
    return IsReduced(*reader, where) ? "" : "no reduction reads it";
  }

  // True where the block is the element of a reduction: the reader, or one that stands in it.
  static bool IsReduced(const Binding& reader, const Block* where) {
    if (reader.op == OpCode::kIreduce) return where == reader.blocks[0];
    if (reader.op != OpCode::kImap) return false;
    const std::vector<const Binding*>& bindings = reader.blocks[0]->bindings;
    return std::any_of(bindings.begin(), bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kIreduce && where == b->blocks[0];
    });
  }

  ReadFinder reads_;
  Roots roots_;
  const Supposed supposed_;
  Context& context_;
  ir::VarSet lengths_;
  std::vector<ShortTogether> products_;
  ir::DefinitionMap makers_;
  std::unordered_set<const Binding*> parted_;
  std::unordered_set<const Binding*> sums_;
};

class ShortAxisUnroller : public LoopWriter {
 public:
  ShortAxisUnroller(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), finder_(function, {}, context), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (finder_.IsSum(b)) return WriteSum(*b);
    if (finder_.IsParted(b)) return WriteParts(*b);
    Mutator::Visit(b);
  }

 private:
  // The elements in order, as the loop would combine them.
  void WriteSum(const Binding& b) {
    context_.Note(b.span, "its short axis is written out", Topic::kNests, Verdict::kDone);
    const Operands operands = Apply(b.operands);
    Operands sum(operands.begin() + 1, operands.end());
    for (int64_t k = 0; k < b.operands[0].constant().integer; ++k) {
      const Operands element = VisitBody(*ir::CloneBlock(arena(), *b.blocks[0]), {Int(k)});
      sum =
          sum.empty() ? element : CombineWith(*ir::CloneBlock(arena(), *b.blocks[1]), sum, element);
    }
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], sum[k]);
  }

  // One reduction for each element of the last axis, side by side.
  void WriteParts(const Binding& b) {
    context_.Note(b.span, "its short axis is written out", Topic::kNests, Verdict::kDone);
    const Binding& map = *Rewrite(&b);
    const Var* result = map.results[0];
    builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    const std::vector<const Var*>& own = map.blocks[0]->params;
    std::vector<const Var*> params;
    for (size_t k = 0; k + 1 < own.size(); ++k)
      params.push_back(builder().NewVar(own[k]->type, own[k]->hint));
    Operands extents(map.operands.begin(), map.operands.end() - 1);
    const Block* body = BlockOf(params, [&] {
      StoreParts(map, result, Operands(params.begin(), params.end()));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, std::move(extents), {}, {body});
  }

  void StoreParts(const Binding& map, const Var* result, Operands index) {
    Operands parts;
    index.emplace_back();
    const int64_t count = map.operands.back().constant().integer;
    for (int64_t k = 0; k < count; ++k) {
      index.back() = Int(k);
      parts.push_back(ir::InlineBlock(builder(), *map.blocks[0], index)[0]);
    }
    for (int64_t k = 0; k < count; ++k) {
      index.back() = Int(k);
      builder().Store(result, index, parts[k]);
    }
  }

  ShortAxisFinder finder_;
  Context& context_;
};

// The sizes of the last `count` axes of what the function is given, where an array has several.
std::vector<const Var*> LastSizes(const ir::Function& function, size_t count) {
  std::vector<const Var*> sizes;
  for (const ir::Param& param : function.params) {
    const ir::Type& type = param.var->type;
    if (!type.IsArray() || type.rank() < 2) continue;
    const std::vector<Operand>& dims = type.dims();
    for (size_t back = 1; back <= std::min(count, dims.size()); ++back) {
      if (dims[dims.size() - back].IsVar()) sizes.push_back(dims[dims.size() - back].var());
    }
  }
  return sizes;
}

// What would be written out if it were short: each by itself, or several together.
std::vector<ShortTogether> BetterShort(const ir::Function& function) {
  Context nobody;
  const std::vector<const Var*> last = LastSizes(function, 1);
  const ShortAxisFinder finder(function, {last, LastSizes(function, 2)}, nobody);
  std::vector<ShortTogether> better;
  for (const Var* size : last) {
    if (finder.lengths().contains(size)) better.push_back({size});
  }
  for (const ShortTogether& sizes : finder.products()) {
    const bool is_said = std::any_of(sizes.begin(), sizes.end(), [&](const Var* size) {
      return std::count(better.begin(), better.end(), ShortTogether{size}) > 0;
    });
    if (!is_said && std::count(better.begin(), better.end(), sizes) == 0) better.push_back(sizes);
  }
  return better;
}

}  // namespace

ir::Program UnrollShortAxes(const ir::Program& program, Context& context) {
  const ir::Program checked = CheckShortAxes(program, context, BetterShort);
  return ForEachFunction(checked, [&](const ir::Function* function) {
    return ShortAxisUnroller(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
