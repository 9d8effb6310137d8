// Asks ahead for what a loop reads from end to end where it also stores at places that it has read
// or counts.
//
// Before:
//   for %i in %lo to %hi step 1 {
//     %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d }
// After:
//   %low = max %hi, -9223372036854775801  %last = sub %low, 7
//   %done = for %j in %lo to %last step 8 carry (%at = %lo) {
//     %ahead = add %j, 256  prefetch %x[%ahead]  %next = add %j, 8
//     for %i in %j to %next step 1 {
//       %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d }
//     yield %next }
//   for %i in %done to %hi step 1 {
//     %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d }
//
// A step of such a loop may wait for the one before it, so that the processor looks too few
// elements ahead to see what memory it will want; in other loops it does. A line is asked for once:
// asking at each element took a quarter of the time of such loops over what caches hold. A loop
// whose steps take half a line or more asks at each.
//
// Assumes: loops over buffers, behind vectorize_loops.
// Refuses: loops in lanes and loops that hold others; the few steps that a loop by several leaves,
// or that are known to be few; arrays whose neighbours along the last axis may lie apart; arrays of
// a known size that the first cache holds; elements of less than four bytes, of which a line lasts
// long enough for the processor to see the next one coming.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// What memory takes to answer, at the rate at which such loops read.
constexpr int64_t kBytesAhead = 2048;
constexpr int kLeastBytes = 4;  // of an element
constexpr int64_t kBytesOfLine = 64;
constexpr int64_t kFewestSteps = 4;           // of a line that one asks for once
constexpr int64_t kBytesOfCache = 16 * 1024;  // half of one, which others want too

class Prefetcher : public ir::Mutator {
 public:
  Prefetcher(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), makers_(ir::Definitions(*function.body)) {
    for (const ir::Param& param : function.params) {
      if (param.layout == ir::Layout::kC) in_c_order_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kAlloc && b.attrs.Int(ir::Attr::kFortran) == 0 && !IsSmall(b))
        in_c_order_.insert(b.result());
    });
  }

 protected:
  void Visit(const Binding* b) override {
    if (asking_.contains(b)) Ask(*b, b->operands.back());
    if (b->op != OpCode::kFor || !StoresAtPlacesRead(*b->blocks[0])) return Mutator::Visit(b);
    if (IsRest(*b) || IsFew(*b)) return Mutator::Visit(b);
    const std::vector<const Binding*> streams = StreamsOf(*b);
    const int64_t steps = StepsOfLine(*b, streams);
    if (steps >= kFewestSteps) return WriteLines(*b, streams, steps);
    asking_.insert(streams.begin(), streams.end());
    Mutator::Visit(b);
  }

 private:
  // What fits the first cache stays there.
  static bool IsSmall(const Binding& alloc) {
    int64_t bytes = ir::SizeInBytes(alloc.result()->type.dtype());
    for (const Operand& extent : alloc.operands) {
      if (!extent.IsConstant() || bytes > kBytesOfCache) return false;
      bytes *= extent.constant().integer;
    }
    return bytes <= kBytesOfCache;
  }

  // True where some store's index is made of what the body loads or carries, and no loop is inside.
  static bool StoresAtPlacesRead(const Block& body) {
    VarSet read(body.params.begin() + 1, body.params.end());
    bool stores = false, has_loops = false;
    ir::ForEachBinding(body, [&](const Binding& b) {
      has_loops |= b.op == OpCode::kFor || b.op == OpCode::kWhile;
      const auto is_read = [&](const Operand& o) { return o.IsVar() && read.contains(o.var()); };
      const bool any = std::any_of(b.operands.begin(), b.operands.end(), is_read);
      if (any || b.op == OpCode::kLoad) read.insert(b.results.begin(), b.results.end());
      stores |= b.op == OpCode::kStore &&
                std::any_of(b.operands.begin() + 1, b.operands.end() - 1, is_read);
    });
    return stores && !has_loops;
  }

  // True of so few steps that nothing is left to be asked ahead for.
  static bool IsFew(const Binding& loop) {
    const Operand &lo = loop.operands[0], &hi = loop.operands[1];
    return lo.IsConstant() && hi.IsConstant() &&
           std::abs(double(hi.constant().integer) - double(lo.constant().integer)) <=
               kBytesAhead / kLeastBytes;
  }

  // True of what a loop by several steps leaves: it ends at most a line's elements from its start.
  bool IsRest(const Binding& loop) const {
    const auto maker = [&](const Operand& value) -> const Binding* {
      const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
      return found == makers_.end() ? nullptr : found->second;
    };
    const Binding* end = maker(loop.operands[1]);
    if (end == nullptr || end->op != OpCode::kAdd) return false;
    const bool is_first = end->operands[0] == loop.operands[0];
    if (!is_first && end->operands[1] != loop.operands[0]) return false;
    const Binding* rest = maker(end->operands[is_first ? 1 : 0]);
    if (rest == nullptr || rest->op != OpCode::kMod || !rest->operands[1].IsConstant())
      return false;
    const int64_t steps = rest->operands[1].constant().integer;
    return steps > 0 && steps <= kBytesOfLine / kLeastBytes;
  }

  // Loads of the loop's next element, in branches too.
  std::vector<const Binding*> StreamsOf(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const Var* index = body.params[0];
    const VarSet inside = ir::DefinedVars(body);
    std::vector<const Binding*> streams;
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op != OpCode::kLoad || b.operands.size() < 2) return;
      if (BytesOf(b) < kLeastBytes) return;
      const bool stays =
          std::all_of(b.operands.begin() + 1, b.operands.end() - 1,
                      [&](const Operand& o) { return !o.IsVar() || !inside.contains(o.var()); });
      if (!stays || b.operands.back() != Operand(index)) return;
      if (in_c_order_.contains(b.operands[0].var())) return streams.push_back(&b);
      context_.Note(b.span, "not asked for ahead: its elements may lie apart", Topic::kOther,
                    Verdict::kAside);
    });
    return streams;
  }

  static int64_t BytesOf(const Binding& load) {
    return ir::SizeInBytes(ir::DTypeOf(load.operands[0]));
  }

  // How many steps a loop makes within one line of each of what it reads.
  static int64_t StepsOfLine(const Binding& loop, const std::vector<const Binding*>& streams) {
    const int64_t step = loop.operands[2].constant().integer;
    if (step < 1 || streams.empty() || !loop.attrs.Text(ir::Attr::kKind).empty()) return 0;
    // The sizes of arrays that it carries may be carried too.
    const auto is_array = [](const Var* result) { return result->type.IsArray(); };
    if (std::any_of(loop.results.begin(), loop.results.end(), is_array)) return 0;
    int64_t steps = kBytesOfLine;
    for (const Binding* load : streams)
      steps = std::min(steps, kBytesOfLine / (BytesOf(*load) * step));
    return steps;
  }

  // Asks for the line of the element that an index lies some way before.
  void Ask(const Binding& load, const Operand& index) {
    std::vector<Operand> at = Apply(load.operands);
    at.back() = builder().Add(Apply(index), Operand::Int(kBytesAhead / BytesOf(load)));
    builder().set_span(load.span);
    builder().Emit(OpCode::kPrefetch, {}, at);
  }

  // The loop in turns of so many steps, and then the steps of no whole turn.
  void WriteLines(const Binding& b, const std::vector<const Binding*>& streams, int64_t steps) {
    const Binding& loop = *Rewrite(&b);
    const Operand lo = loop.operands[0], hi = loop.operands[1];
    const int64_t width = steps * loop.operands[2].constant().integer;
    const int64_t further = width - 1;
    const Operand least = Operand::Int(std::numeric_limits<int64_t>::min() + further);
    const Operand last =
        builder().Sub(builder().Scalar(OpCode::kMax, {hi, least}), Operand::Int(further));
    std::vector<Operand> carried(loop.operands.begin() + 3, loop.operands.end());

    std::vector<const Var*> params = {builder().NewVar(ir::DType::kI64, "line")};
    ir::Substitution of_params;
    for (size_t k = 0; k < carried.size(); ++k)
      params.push_back(ir::CopyVar(builder(), loop.blocks[0]->params[1 + k], &of_params));
    ir::Builder outside = std::exchange(builder(), builder().Nested());
    std::vector<std::vector<Operand>> asked;
    for (const Binding* load : streams) {
      if (std::find(asked.begin(), asked.end(), load->operands) != asked.end()) continue;
      asked.push_back(load->operands);
      Ask(*load, params[0]);
    }
    const Operand next = builder().Add(params[0], Operand::Int(width));
    std::vector<Operand> yielded =
        CopyLoop(builder(), loop, params[0], next, {params.begin() + 1, params.end()});
    yielded.insert(yielded.begin(), next);
    params.insert(params.begin() + 1, builder().NewVar(ir::DType::kI64, "done"));
    const Block* turn = builder().Finish(params, yielded);
    builder() = std::move(outside);

    std::vector<Operand> operands = {lo, last, Operand::Int(width), lo};
    operands.insert(operands.end(), carried.begin(), carried.end());
    std::vector<const Var*> results;
    ir::Substitution copies;
    for (size_t k = 1; k < params.size(); ++k)
      results.push_back(ir::CopyVar(builder(), params[k], &copies));
    builder().Emit(OpCode::kFor, results, std::move(operands), {}, {turn});
    const std::vector<Operand> made =
        CopyLoop(builder(), loop, results[0], hi, {results.begin() + 1, results.end()});
    for (size_t k = 0; k < made.size(); ++k) Replace(b.results[k], made[k]);
  }

  Context& context_;
  ir::DefinitionMap makers_;
  VarSet in_c_order_;
  std::unordered_set<const Binding*> asking_;  // Loads that each ask ahead.
};

}  // namespace

ir::Program PrefetchStreams(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Prefetcher(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
