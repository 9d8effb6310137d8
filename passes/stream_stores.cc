// Stores past the caches where an array is larger than they are: a line that is wholly overwritten
// need not be read first, and what will be gone before it is read again pushes nothing else out.
//
// Before:
//   %y: [n]f64 = alloc (%n)
//   parallel for %i in 0 to %n step 4096 {
//     ...
//     for %j in %i to %hi step 8 { %a: f64x8 = load_lanes %x[%j]  store_lanes %y[%j], %a } }
// After:
//   %bytes = mul %n, 8  %large = ge %bytes, 33554432
//   parallel for %i in 0 to %n step 4096 {
//     ...
//     %over = mod %i, 8  %even = eq %over, 0  %past = and %large, %even
//     if %past {
//       for %j in %i to %hi step 8 { ...  store_lanes %y[%j], %a {streams = 1} } } else {
//       for %j in %i to %hi step 8 { ...  store_lanes %y[%j], %a } }
//     if %large { drain } }
//
// An array begins with a line of the caches, and so does each store that streams: %even says so of
// the first one. That may lie some elements behind the loop's index, as in a block of a longer
// array.
//
// Assumes: loops over buffers, behind all passes that look for stores or put loops elsewhere.
// Refuses: arrays that were not made here, or are read in the nest; edges; stores in lanes that are
// no whole lines, or whose lanes are no neighbours; loops that hold others, and those that wait for
// their arithmetic.
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr int64_t kBytesOfLine = 64;
// Of all that makes an element, and of one operation, by ops.def: longer arithmetic hides that a
// line is read, and waits for what streams. 40 MB of tanh(2 x) + 1 in float32 take 7.4 ms past the
// caches, and 5.7 through them.
constexpr int kMostArithmetic = 40;
constexpr int kMostOfOneStep = 9;
constexpr int64_t kFewest = 4096;  // elements
// Where nothing is read, many threads fill a cache that is shared by all faster than memory.
constexpr int64_t kSharesOfFilled = 4;

bool IsParallel(const Binding& b) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == "parallel";
}

// True for the edges of an array, a few elements however large it is, some of them a step.
bool IsShort(const Binding& loop) {
  const Operand &lo = loop.operands[0], &hi = loop.operands[1];
  return lo.IsConstant() && hi.IsConstant() && loop.operands[2].constant().integer > 1 &&
         hi.constant().integer - lo.constant().integer < kFewest;
}

bool HoldsParallel(const Block& block) {
  bool holds = false;
  ir::ForEachBinding(block, [&](const Binding& b) { holds |= IsParallel(b); });
  return holds;
}

class Streamer : public ir::Mutator {
 public:
  Streamer(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        context_(context),
        roots_(function),
        definitions_(ir::Definitions(*function.body)) {}

 protected:
  void Visit(const Binding* b) override {
    if (in_nest_) return VisitInside(*b);
    in_nest_ = b->op == OpCode::kFor && (IsParallel(*b) || !HoldsParallel(*b->blocks[0]));
    if (in_nest_ && !IsShort(*b) && FindLarge(*b)) {
      WriteNest(*b);
    } else {
      Mutator::Visit(b);
    }
    if (b->op == OpCode::kFor) in_nest_ = false;
    large_.clear();
  }

  const Block* VisitBlock(const Block* block) override {
    const bool drains = std::exchange(drains_, drains_ == block ? nullptr : drains_) == block;
    const Block* rewritten = Mutator::VisitBlock(block);
    if (!drains) return rewritten;
    ir::Builder outside = std::exchange(builder(), builder().Nested());
    for (const Binding* b : rewritten->bindings) builder().Append(b);
    Drain();
    const Block* drained = builder().Finish(rewritten->params, rewritten->results);
    builder() = std::move(outside);
    return drained;
  }

 private:
  // Threads wait for each other behind a parallel loop, with what they stored in memory.
  void WriteNest(const Binding& nest) {
    if (IsParallel(nest)) {
      drains_ = nest.blocks[0];
      return Mutator::Visit(&nest);
    }
    VisitInside(nest);
    Drain();
  }

  void VisitInside(const Binding& b) {
    const std::vector<const Binding*> stores =
        large_.empty() ? std::vector<const Binding*>() : StreamsOf(b);
    stores.empty() ? Mutator::Visit(&b) : WriteBoth(b, stores);
  }

  // Writes, before a nest, which arrays are larger than the caches; false where it fills none that
  // it does not read.
  bool FindLarge(const Binding& nest) {
    VarSet unfit = ir::DefinedVars(*nest.blocks[0]);
    unfit.merge(EffectsOf(*nest.blocks[0], roots_).reads);
    FindLargeOf(nest, unfit);
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) { FindLargeOf(b, unfit); });
    return !large_.empty();
  }

  void FindLargeOf(const Binding& loop, const VarSet& unfit) {
    for (const Binding* store : StreamsOf(loop)) {
      const Var* array = store->operands[0].var();
      if (unfit.contains(array) || LargeOf(array) != nullptr) continue;
      const bool reads = !EffectsOf(*loop.blocks[0], roots_).reads.empty();
      const Operand large = IsLarge(*definitions_.at(array), reads ? 1 : kSharesOfFilled);
      if (large.IsVar()) large_.emplace_back(array, large);
    }
  }

  const Operand* LargeOf(const Var* array) const {
    for (const auto& [known, large] : large_) {
      if (known == array) return &large;
    }
    return nullptr;
  }

  Operand IsLarge(const Binding& alloc, int64_t shares) {
    Operand bytes = Operand::Int(ir::SizeInBytes(alloc.result()->type.dtype()));
    for (const Operand& extent : alloc.operands) bytes = builder().Mul(Apply(extent), bytes);
    const auto& streamed = context_.options.streamed;
    Operand least = Operand::Int(streamed.least);
    if (streamed.of_thread != 0) {
      const Operand threads = builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {});
      const Operand all = builder().Mul(threads, Operand::Int(shares * streamed.of_thread));
      least = builder().Scalar(OpCode::kMax, {least, all});
    }
    return builder().Scalar(OpCode::kGe, {bytes, least});
  }

  // The stores of an innermost loop that may stream, where all of its stores may.
  std::vector<const Binding*> StreamsOf(const Binding& loop) const {
    if (loop.op != OpCode::kFor || !loop.attrs.Text(Attr::kKind).empty()) return {};
    const Block& body = *loop.blocks[0];
    if (CostOf(body) > kMostArithmetic) return {};
    for (const Binding* b : body.bindings) {
      if (InfoOf(b->op).cost > kMostOfOneStep) return {};
    }
    std::vector<const Binding*> stores;
    for (const Binding* b : body.bindings) {
      if (!b->blocks.empty()) return {};
      if (EffectsOf(*b, roots_).writes.empty()) continue;
      if (!FillsLines(*b, loop)) return {};
      stores.push_back(b);
    }
    const Effects effects = EffectsOf(body, roots_);
    return Intersects(effects.reads, effects.writes) ? std::vector<const Binding*>() : stores;
  }

  // True for lanes that are whole lines, one behind the other in every iteration, if the first is.
  bool FillsLines(const Binding& store, const Binding& loop) const {
    if (store.op != OpCode::kStoreLanes || store.attrs.Int(Attr::kMasked) != 0) return false;
    for (const Attr attr : {Attr::kStep, Attr::kFlat, Attr::kRepeat, Attr::kPhase, Attr::kPlace}) {
      if (store.attrs.Has(attr)) return false;
    }
    const Var* array = store.operands[0].var();
    const auto made = definitions_.find(array);
    if (made == definitions_.end() || made->second->op != OpCode::kAlloc) return false;
    const int unit = UnitAxis(*made->second);
    const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      const Operand& index = store.operands[1 + axis];
      const bool stays = index.IsConstant() || !inside.contains(index.var());
      if (axis == unit ? !FirstOf(index, loop) : !stays) return false;
    }
    const int64_t lanes = ir::TypeOf(store.operands.back()).lanes();
    return store.attrs.Int(Attr::kAxis) == unit && loop.operands[2] == Operand::Int(lanes) &&
           lanes * ir::SizeInBytes(array->type.dtype()) % kBytesOfLine == 0;
  }

  // Of an index that is the loop's, or lies at one distance from it, the other term of that sum.
  std::optional<Operand> FirstOf(const Operand& index, const Binding& loop) const {
    const Block& body = *loop.blocks[0];
    const Operand own(body.params[0]);
    if (index == own) return Operand::Int(0);
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kAdd || index != Operand(b->result())) continue;
      const Operand &left = b->operands[0], &right = b->operands[1];
      const Operand& other = left == own ? right : left;
      const bool stays = other.IsConstant() || !ir::DefinedVars(body).contains(other.var());
      if ((left == own || right == own) && stays) return other;
    }
    return std::nullopt;
  }

  static int UnitAxis(const Binding& alloc) {
    return ir::IsFortran(alloc) ? 0 : alloc.result()->type.rank() - 1;
  }

  void WriteBoth(const Binding& loop, const std::vector<const Binding*>& stores) {
    Operand past = Operand::Bool(true);
    for (const Binding* store : stores) {
      const Operand* large = LargeOf(store->operands[0].var());
      if (large == nullptr) return Mutator::Visit(&loop);
      past = builder().Scalar(OpCode::kAnd, {past, *large});
      past = builder().Scalar(OpCode::kAnd, {past, BeginsLine(*store, loop)});
    }
    const Binding& rewritten = *Rewrite(&loop);
    std::vector<const Block*> blocks = {Copy(rewritten, true), Copy(rewritten, false)};
    std::vector<const Var*> results;
    for (const Var* result : rewritten.results)
      results.push_back(builder().NewVar(result->type, result->hint));
    builder().Emit(OpCode::kIf, results, {past}, {}, std::move(blocks));
    for (size_t k = 0; k < results.size(); ++k) Replace(loop.results[k], results[k]);
    context_.Note(stores[0]->span, "stored past the caches where it is larger than they are",
                  Topic::kMemory, Verdict::kAside);
  }

  // Whether the first of a loop's stores begins where a line does.
  Operand BeginsLine(const Binding& store, const Binding& loop) {
    const Binding& alloc = *definitions_.at(store.operands[0].var());
    const int unit = UnitAxis(alloc), rank = static_cast<int>(alloc.operands.size());
    Operand place = Operand::Int(0);
    for (int k = 0; k < rank; ++k) {
      const int axis = ir::IsFortran(alloc) ? rank - 1 - k : k;
      Operand index = Apply(store.operands[1 + axis]);
      if (axis == unit) {
        const Operand first = *FirstOf(store.operands[1 + axis], loop);
        index = builder().Add(Apply(first), Apply(loop.operands[0]));
      }
      place = builder().Add(builder().Mul(place, Apply(alloc.operands[axis])), index);
    }
    const int64_t width = kBytesOfLine / ir::SizeInBytes(alloc.result()->type.dtype());
    const Operand over = builder().Scalar(OpCode::kMod, {place, Operand::Int(width)});
    return builder().Scalar(OpCode::kEq, {over, Operand::Int(0)});
  }

  const Block* Copy(const Binding& loop, bool streams) {
    ir::Builder copy = builder().Nested();
    const std::vector<Operand> made = CopyLoop(copy, loop, loop.operands[0], loop.operands[1],
                                               {loop.operands.begin() + 3, loop.operands.end()});
    if (streams) {
      const Binding*& copied = copy.bindings().back();
      Block body = *copied->blocks[0];
      for (const Binding*& b : body.bindings) {
        if (b->op != OpCode::kStoreLanes) continue;
        Binding store = *b;
        store.attrs = b->attrs.With(Attr::kStreams, 1);
        b = arena()->New(std::move(store));
      }
      Binding streaming = *copied;
      streaming.blocks = {arena()->New(std::move(body))};
      copied = arena()->New(std::move(streaming));
    }
    return copy.Finish({}, made);
  }

  // Waits until all that has been streamed is in memory.
  void Drain() {
    Operand any = Operand::Bool(false);
    for (const auto& [array, large] : large_) any = builder().Scalar(OpCode::kOr, {any, large});
    ir::Builder drain = builder().Nested(), nothing = builder().Nested();
    drain.Emit(OpCode::kDrain, {}, {});
    builder().Emit(OpCode::kIf, {}, {any}, {}, {drain.Finish({}, {}), nothing.Finish({}, {})});
  }

  Context& context_;
  const Roots roots_;
  const ir::DefinitionMap definitions_;
  std::vector<std::pair<const Var*, Operand>> large_;  // of the nest that is being written
  bool in_nest_ = false;
  const Block* drains_ = nullptr;  // the block at whose end it waits
};

}  // namespace

ir::Program StreamStores(const ir::Program& program, Context& context) {
  if (context.options.streamed.least == 0) return program;
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Streamer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
