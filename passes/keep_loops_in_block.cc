// Lets one block of a GPU's threads go through a loop in order whose iterations have little to do.
//
// Before:
//   %r: [n]f64 = for %t in 0 to %steps step 1 (%x: [n]f64 = %x0) {
//     %y: [n]f64 = alloc (%n)
//     parallel for %i in 0 to %n step 1 { ... load %x[...]  store %y[%i], %v }
//     yield %y }
// After:
//   %is_worth = %steps * (250 + ...) + 3000 < %steps * (700 + 1500 + ...)
//   %r = if %is_worth {
//     %a = alloc (%n)  %b = alloc (%n)  %all = alloc (%n)
//     block for %one in 0 to 1 step 1 {
//       %r.1 = for %t in 0 to %steps step 1 (%x = %x0, %y = %a, %z = %b) {
//         thread for %k in 0 to 512 step 1 {
//           for %i in %k to %n step 512 { ... load %x[...]  store %y[%i], %v } }
//         yield %y, %z, %y }
//       thread for %k in 0 to 512 step 1 { ... store %all[%i], %r.1[%i] } }
//     yield %all } else { ... as above ... }
//
// A time loop on little data: its threads wait for one another in less time than it takes to launch
// the next kernel (a recurrence over 64 states: two kernels a step). What kernels of many blocks
// do, one block does block by block, with the same bits. What iterations make is made in front, and
// buffers take turns for what a loop carries on (analyses/loop_buffers.h). Branches that small
// arrays do not take, of what is there for large ones, are left out, and asked about in front, as
// are checks of sizes.
//
// Assumes: loops over buffers, before extract-kernels, which sees a kernel here.
// Refuses: loops that call; that hold atomics, by which blocks wait for others, or checks that
// single threads come to, behind which the others would go on; that keep more in shared memory than
// a block has, or are long; and what the analysis refuses.
#include <algorithm>
#include <utility>

#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/loop_buffers.h"
#include "passes/analyses/run_times.h"
#include "passes/analyses/values_in_front.h"
#include "passes/lowering/loop_writer.h"
#include "passes/lowering/settle_carried.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

constexpr int64_t kMostThreads = 512;
constexpr double kBeginning = 3000;  // Nanoseconds: of the one kernel, and of what it hands over.
constexpr int64_t kUsualSize = 64;   // of what is small
constexpr int kMostBindings = 1000;
constexpr int64_t kMostShared = 32 * 1024;  // bytes

const std::string& KindOf(const Binding& b) { return b.attrs.Text(Attr::kKind); }
bool IsParallel(const Binding& b) { return b.op == OpCode::kFor && KindOf(b) == "parallel"; }

// A condition that is `value` where arrays are small.
struct Taken {
  Operand condition;
  bool value;
};

// Puts the side of each branch between kernels in its place that small arrays take, and leaves out
// checks of what is known in front of the loop.
class SideTaker : public LoopWriter {
 public:
  SideTaker(ir::Arena* arena, const ValuesInFront& front, const ir::VarSet& sizes)
      : LoopWriter(arena), front_(front), sizes_(sizes) {}

  const Block* Take(const Block* whole) { return VisitBlock(whole); }
  const std::vector<Taken>& taken() const { return taken_; }

 protected:
  void Visit(const Binding* b) override {
    const bool is_many = IsForMany(*b);
    const auto value = in_many_ ? std::nullopt : ValueOf(*b);
    if (value) return TakeSide(*b, *value);
    if (!in_many_ && b->op == OpCode::kCheck && front_.IsKnown(b->operands[0]))
      return taken_.push_back({b->operands[0], true});
    in_many_ |= is_many;
    Mutator::Visit(b);
    if (is_many) in_many_ = false;
  }

 private:
  std::optional<bool> ValueOf(const Binding& b) const {
    if (b.op != OpCode::kIf || !front_.IsKnown(b.operands[0])) return std::nullopt;
    const auto value = front_.WhereSizesAre(kUsualSize, sizes_, b.operands[0], arena());
    return value ? std::optional(value->integer != 0) : std::nullopt;
  }

  void TakeSide(const Binding& b, bool value) {
    taken_.push_back({b.operands[0], value});
    const Operands results = VisitBody(*b.blocks[value ? 0 : 1], {});
    for (size_t k = 0; k < results.size(); ++k) Replace(b.results[k], results[k]);
  }

  const ValuesInFront& front_;
  const ir::VarSet& sizes_;
  std::vector<Taken> taken_;
  bool in_many_ = false;
};

// --- What may be one kernel ---

// Whether what stands in a kernel is what a loop inside one block can do.
bool IsFitForThreads(const Binding& many) {
  bool is_fit = true;
  ir::ForEachBinding(*many.blocks[0], [&](const Binding& b) {
    is_fit &= b.op != OpCode::kCheck && (b.op != OpCode::kAlloc || !IsParallel(many));
  });
  return is_fit;
}

int64_t BytesOf(const Type& type) {
  int64_t bytes = ir::SizeInBytes(type.dtype());
  for (const Operand& size : type.dims())
    bytes = size.IsConstant() ? bytes * size.constant().integer : kMostShared;
  return std::max<int64_t>(bytes, 16);
}

int64_t SharedBytesOf(const Binding& many) {
  int64_t bytes = 0;
  ir::ForEachBinding(*many.blocks[0], [&](const Binding& b) {
    const bool is_shared = b.op == OpCode::kAlloc && b.attrs.Int(Attr::kPrivate) == 0;
    if (is_shared) bytes += BytesOf(b.result()->type);
  });
  return bytes;
}

// The threads that the block's kernels have, or those of the block where it has none.
int64_t ThreadsOf(const Block& whole) {
  int64_t threads = 0;
  ir::ForEachBinding(whole, [&](const Binding& b) {
    if (b.op == OpCode::kFor && KindOf(b) == "thread")
      threads = std::max(threads, b.operands[1].constant().integer);
  });
  return threads == 0 ? kMostThreads : threads;
}

// Whether the lanes of warps that wait for one another are those of all warps that there are.
bool HasAllWarps(const Binding& many, int64_t threads) {
  bool waits = false;
  ir::ForEachBinding(*many.blocks[0], [&](const Binding& b) {
    waits |= b.op == OpCode::kMatch || b.op == OpCode::kShuffle;
  });
  return !waits || ThreadsOf(*many.blocks[0]) == threads;
}

bool HasChecks(const Block& block) {
  bool has = false;
  ir::ForEachBinding(block, [&](const Binding& b) { has |= b.op == OpCode::kCheck; });
  return has;
}

// Of a loop with what stands inside it. Kernels may be none of it.
bool IsFit(const Block& whole) {
  using enum OpCode;
  int bindings = 0, kernels = 0;
  int64_t shared = 0;
  const int64_t threads = ThreadsOf(whole);
  bool is_fit = !NeedsHost(whole);
  ir::ForEachBinding(whole, [&](const Binding& b) {
    ++bindings;
    is_fit &= b.op != kAtomic && b.op != kTeam && b.op != kFree && !IsOnHost(b);
    // One thread comes to them.
    if (IsLoop(b.op) && IsForOneThread(b)) is_fit &= !HasChecks(*b.blocks.back());
    if (!IsForMany(b)) return;
    ++kernels;
    is_fit &= IsFitForThreads(b) && HasAllWarps(b, threads);
    shared += KindOf(b) == "block" ? SharedBytesOf(b) : 0;
  });
  return is_fit && kernels > 0 && bindings <= kMostBindings && shared <= kMostShared;
}

class BlockKeeper : public LoopWriter {
 public:
  BlockKeeper(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        context_(context),
        from_arrays_(ValuesFromArrays(function)),
        definitions_(ir::Definitions(*function.body)) {
    for (const Var* size : function.Sizes()) sizes_.insert(size);
  }

 protected:
  void Visit(const Binding* b) override {
    if (in_block_) return VisitInBlock(*b);
    if (IsForMany(*b)) return builder().Append(Rewrite(b));
    if (!IsLoop(b->op) || IsForOneThread(*b) || !Write(*b)) Mutator::Visit(b);
  }

 private:
  // --- The choice ---

  // A loop's form for one block, with what must hold for it.
  struct Form {
    const Binding* loop;
    LoopBuffers buffers;
    std::vector<Taken> taken;
  };

  bool Write(const Binding& loop) {
    if (loop.attrs.Has(Attr::kCost)) return false;  // It has much to do, whatever sizes are.
    const Block& copy = *Copy(loop);
    ValuesInFront front(copy, definitions_);
    const std::optional<Form> form = FormOf(copy, front);
    if (!form) return false;
    const Operands results = Choose(
        IsWorth(*form, front), [&] { return InBlock(*form, front); },
        [&] {
          const Block& other = *Copy(loop);
          Mutator::Visit(other.bindings[0]);
          return Apply(other.results);
        });
    for (size_t k = 0; k < results.size(); ++k) Replace(loop.results[k], results[k]);
    return true;
  }

  // With what has been replaced.
  const Block* Copy(const Binding& loop) {
    ir::Substitution replaced;
    ir::ForEachUse(loop, [&](const Var* value) {
      if (Apply(Operand(value)) != Operand(value)) replaced[value] = Apply(Operand(value));
    });
    const Operands given(loop.results.begin(), loop.results.end());
    return ir::CloneBlock(arena(), Block{{}, {&loop}, given}, std::move(replaced));
  }

  std::optional<Form> FormOf(const Block& copy, const ValuesInFront& front) {
    SideTaker sides(arena(), front, sizes_);
    const Block& taken = *sides.Take(&copy);
    const Binding& loop = *taken.bindings.back();
    if (taken.bindings.size() != 1 || !IsFit(taken)) return std::nullopt;
    auto buffers = BuffersOf(loop);
    if (!buffers || !AreKnown(*buffers, loop, front)) return std::nullopt;
    return Form{&loop, std::move(*buffers), sides.taken()};
  }

  // Whether all sizes are there in front of the loop, and what it carries that of outside.
  static bool AreKnown(const LoopBuffers& buffers, const Binding& loop,
                       const ValuesInFront& front) {
    for (const LoopBuffer& buffer : buffers.buffers) {
      for (const Operand& size : buffer.alloc->operands) {
        if (!front.IsKnown(size)) return false;
      }
    }
    const bool counts = loop.op == OpCode::kFor;
    return std::all_of(buffers.results.begin(), buffers.results.end(), [&](const auto& result) {
      const auto& dims = loop.results[result.slot]->type.dims();
      return counts && std::all_of(dims.begin(), dims.end(), [&](const Operand& size) {
               return size.IsConstant() || !front.IsInside(size.var());
             });
    });
  }

  Operand IsWorth(const Form& form, ValuesInFront& front) {
    const auto is_known = [&](const Var* value) { return !from_arrays_.contains(value); };
    const Binding& loop = *form.loop;
    const Operand turns = Ns(kUnknownTrips);
    const Operand many = TimeWriter(builder(), is_known).Of(loop, turns).device;
    const Operand one = TimeWriter(builder(), is_known, Kernels::kOneBlock).Of(loop, turns).device;
    const auto scalar = [&](OpCode op, const Operand& a, const Operand& b) {
      return builder().Scalar(op, {a, b});
    };
    Operand is_worth = scalar(OpCode::kLt, scalar(OpCode::kAdd, one, Ns(kBeginning)), many);
    for (const Taken& taken : form.taken) {
      Operand condition = front.Write(builder(), taken.condition);
      if (!taken.value) condition = builder().Scalar(OpCode::kNot, {condition});
      is_worth = scalar(OpCode::kAnd, is_worth, condition);
    }
    for (const Operand& size : SizesOf(form, front))
      is_worth = scalar(OpCode::kAnd, is_worth, scalar(OpCode::kGe, size, Int(0)));
    // Before that, what comes out is what goes in.
    int64_t least = 0;
    for (const auto& result : form.buffers.results) least = std::max(least, result.least_trips);
    if (least == 0) return is_worth;
    const int64_t step = loop.operands[2].constant().integer;
    const bool rises = step > 0;
    const Operand distance = builder().Sub(loop.operands[rises], loop.operands[!rises]);
    const Operand runs = scalar(OpCode::kGt, distance, Int((least - 1) * std::abs(step)));
    return scalar(OpCode::kAnd, is_worth, runs);
  }

  // Sizes of what is made that are no sizes of arguments.
  Operands SizesOf(const Form& form, ValuesInFront& front) {
    Operands found;
    for (const LoopBuffer& buffer : form.buffers.buffers) {
      for (const Operand& size : buffer.alloc->operands) {
        const Operand written = front.Write(builder(), size);
        const bool is_known = written.IsConstant() || sizes_.contains(written.var());
        if (!is_known && std::find(found.begin(), found.end(), written) == found.end())
          found.push_back(written);
      }
    }
    return found;
  }

  // --- The kernel ---

  Operands InBlock(const Form& form, ValuesInFront& front) {
    const Binding& loop = *form.loop;
    context_.Note(loop.span, "all of it one kernel of one block where its arrays are small",
                  Topic::kThreads, Verdict::kDone);
    made_.clear();
    for (const LoopBuffer& buffer : form.buffers.buffers)
      made_.push_back(MakeBuffers(buffer, front));
    std::vector<const Var*> handed;
    for (size_t slot = 0; slot < loop.results.size(); ++slot) {
      const size_t first = FirstOfSame(form.buffers, slot);
      handed.push_back(first == slot ? MakeHanded(form, slot) : handed[first]);
    }
    form_ = &form;
    threads_ = ThreadsOf(Block{{}, {&loop}, {}});
    Blocks(Int(1), [&](const Operand&) {
      in_block_ = true;
      VisitLoop(loop);
      for (size_t k = 0; k < handed.size(); ++k) {
        if (FirstOfSame(form.buffers, k) == k) HandOver(loop.results[k], handed[k]);
      }
      in_block_ = false;
    });
    Operands results;
    for (size_t k = 0; k < handed.size(); ++k) {
      const bool is_array = loop.results[k]->type.IsArray();
      results.push_back(is_array ? Operand(handed[k]) : builder().Load(handed[k], {Int(0)}));
    }
    return results;
  }

  std::vector<const Var*> MakeBuffers(const LoopBuffer& buffer, ValuesInFront& front) {
    Operands sizes;
    for (const Operand& size : buffer.alloc->operands)
      sizes.push_back(front.Write(builder(), size));
    std::vector<const Var*> buffers;
    const Var& array = *buffer.alloc->result();
    for (int64_t k = 0; k < buffer.count; ++k) {
      const Type type = Type::Array(array.type.dtype(), sizes);
      buffers.push_back(
          builder().EmitOne(OpCode::kAlloc, type, sizes, buffer.alloc->attrs, {}, array.hint));
    }
    return buffers;
  }

  // The first of the results that are one array: of one buffer, as many iterations ago.
  static size_t FirstOfSame(const LoopBuffers& buffers, size_t slot) {
    const auto is_own = [&](const auto& result) { return result.slot == slot; };
    const auto own = std::find_if(buffers.results.begin(), buffers.results.end(), is_own);
    if (own == buffers.results.end()) return slot;
    return std::find_if(buffers.results.begin(), buffers.results.end(),
                        [&](const auto& result) {
                          return result.buffer == own->buffer &&
                                 result.least_trips == own->least_trips;
                        })
        ->slot;
  }

  // What a result of the loop is left in.
  const Var* MakeHanded(const Form& form, size_t slot) {
    const Var& result = *form.loop->results[slot];
    Operands sizes = {Int(1)};
    ir::Attributes attrs;
    for (const auto& array : form.buffers.results) {
      if (array.slot != slot) continue;
      sizes = result.type.dims();
      attrs = form.buffers.buffers[array.buffer].alloc->attrs;
    }
    const Type type = Type::Array(result.type.dtype(), sizes);
    return builder().EmitOne(OpCode::kAlloc, type, sizes, attrs, {}, result.hint);
  }

  void HandOver(const Var* result, const Var* to) {
    const Operand from = Apply(Operand(result));
    if (!result->type.IsArray()) return ByOne([&] { builder().Store(to, {Int(0)}, from); });
    const Operands dims = to->type.dims();
    ByAll(Product(dims), [&](const Operand& at) {
      const Operands index = Delinear(at, dims);
      builder().Store(to, index, builder().Load(from, index));
    });
  }

  void ByOne(const std::function<void()>& write) {
    Threads(1, [&](const Operand&) { write(); });
  }

  void ByAll(const Operand& count, const std::function<void(const Operand& at)>& write) {
    Threads(threads_, [&](const Operand& thread) { Loop(thread, count, {}, write, threads_); });
  }

  void VisitInBlock(const Binding& b) {
    if (in_threads_) return Mutator::Visit(&b);
    if (b.op == OpCode::kAlloc) return TakeBuffer(b);
    if (b.op == OpCode::kStore) return ByOne([&] { builder().Append(Rewrite(&b)); });
    if (IsParallel(b)) return ShareAmongThreads(b);
    if (IsForMany(b)) return GoThroughBlocks(b);
    if (!IsLoop(b.op)) return Mutator::Visit(&b);
    IsForOneThread(b) ? LeaveToOne(b) : VisitLoop(b);
  }

  std::optional<size_t> PlaceOf(const Binding& alloc) const {
    const auto& buffers = form_->buffers.buffers;
    for (size_t k = 0; k < buffers.size(); ++k) {
      if (buffers[k].alloc->result() == alloc.result()) return k;
    }
    return std::nullopt;
  }

  // One that takes turns is there already.
  void TakeBuffer(const Binding& alloc) {
    const size_t place = *PlaceOf(alloc);
    if (form_->buffers.buffers[place].count == 1) Replace(alloc.result(), made_[place][0]);
  }

  void ShareAmongThreads(const Binding& loop) {
    const Operands range = Apply(loop.operands);
    const int64_t step = range[2].constant().integer;
    const Operand distance =
        step > 0 ? builder().Sub(range[1], range[0]) : builder().Sub(range[0], range[1]);
    const Operand trips = CeilDiv(Max(distance, Int(0)), Int(std::abs(step)));
    ByAll(trips, [&](const Operand& at) {
      in_threads_ = true;
      VisitBody(*loop.blocks[0], {builder().Add(range[0], builder().Mul(at, Int(step)))});
      in_threads_ = false;
    });
  }

  // Behind a kernel nobody waited: where its last threads did so for their warps alone, all do.
  void GoThroughBlocks(const Binding& loop) {
    in_threads_ = true;
    Binding blocks = *Rewrite(&loop);
    in_threads_ = false;
    blocks.attrs = blocks.attrs.Without(Attr::kKind);
    if (WaitsByWarps(*blocks.blocks[0])) {
      const Block& body = *blocks.blocks[0];
      blocks.blocks[0] = BlockOf(body.params, [&] {
        for (const Binding* b : body.bindings) builder().Append(b);
        Threads(threads_, [](const Operand&) {});
        return body.results;
      });
    }
    builder().Append(arena()->New(std::move(blocks)));
  }

  static bool WaitsByWarps(const Block& body) {
    bool waits = false;
    ir::ForEachBinding(body, [&](const Binding& b) { waits |= b.attrs.Int(Attr::kWarp) != 0; });
    return waits;
  }

  // What it carries out goes by shared memory.
  void LeaveToOne(const Binding& loop) {
    std::vector<const Var*> handed;
    for (const Var* result : loop.results) {
      const Type type = Type::Array(result->type.dtype(), {Int(1)});
      handed.push_back(builder().EmitOne(OpCode::kAlloc, type, {Int(1)}, {}, {}, result->hint));
    }
    ByOne([&] {
      in_threads_ = true;
      Mutator::Visit(&loop);
      in_threads_ = false;
      for (size_t k = 0; k < handed.size(); ++k)
        builder().Store(handed[k], {Int(0)}, Apply(Operand(loop.results[k])));
    });
    for (size_t k = 0; k < handed.size(); ++k)
      Replace(loop.results[k], builder().Load(handed[k], {Int(0)}, loop.results[k]->hint));
  }

  // With the buffers that take turns among what it carries: each iteration has the first for what
  // it makes.
  void VisitLoop(const Binding& loop) {
    const auto turning = form_->buffers.turning.find(&loop);
    const bool turns = turning != form_->buffers.turning.end();
    std::vector<std::vector<const Var*>> inits, params;
    for (const size_t place : turns ? turning->second : std::vector<size_t>{}) {
      inits.push_back(made_[place]);
      params.push_back(NewLike(made_[place]));
      Replace(form_->buffers.buffers[place].alloc->result(), params.back()[0]);
    }
    Binding wider = *Rewrite(&loop);
    for (size_t k = 0; k < inits.size(); ++k) Widen(wider, inits[k], params[k]);
    builder().Append(arena()->New(std::move(wider)));
  }

  std::vector<const Var*> NewLike(const std::vector<const Var*>& arrays) {
    std::vector<const Var*> copies;
    for (const Var* array : arrays) copies.push_back(builder().NewVar(array->type, array->hint));
    return copies;
  }

  void Widen(Binding& loop, const std::vector<const Var*>& inits,
             const std::vector<const Var*>& params) {
    loop.operands.insert(loop.operands.end(), inits.begin(), inits.end());
    const std::vector<const Var*> results = NewLike(inits);
    loop.results.insert(loop.results.end(), results.begin(), results.end());
    for (const Block*& block : loop.blocks) {
      const bool is_body = &block == &loop.blocks.back();
      Block wider = *block;
      const std::vector<const Var*> own = is_body ? params : NewLike(inits);
      wider.params.insert(wider.params.end(), own.begin(), own.end());
      if (is_body) {
        wider.results.insert(wider.results.end(), params.begin() + 1, params.end());
        wider.results.push_back(params[0]);
      }
      block = arena()->New(std::move(wider));
    }
  }

  Context& context_;
  ir::VarSet from_arrays_;
  ir::DefinitionMap definitions_;
  ir::VarSet sizes_;  // Of what the function is given: never negative.
  const Form* form_ = nullptr;
  std::vector<std::vector<const Var*>> made_;  // by buffer
  int64_t threads_ = kMostThreads;
  bool in_block_ = false;
  bool in_threads_ = false;
};

}  // namespace

ir::Program KeepLoopsInBlock(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* settled = SettleCarried(program.arena.get(), function);
    return BlockKeeper(program.arena.get(), *settled, context).Run(settled);
  });
}

}  // namespace parakeet::passes
