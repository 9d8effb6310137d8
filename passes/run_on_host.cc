// Lets the host run loops that one thread of a device would take longer for, copies included.
//
// Before:
//   %s: f64 = for %i in 0 to %n step 1 (%acc: f64 = 0.0) {
//     ... %a = load %y[%i]  ... store %y[%i], %t  yield %t }
// After:
//   %device = 1500 + %n * 70  %host = %n * 2 + 40000 + 2 * (%n * 8) / 25
//   %is_worth = lt %host, %device
//   %s: f64 = if %is_worth {
//     %s.1: f64 = for %i.1 in 0 to %n step 1 (%acc.1: f64 = 0.0) {on_host = 1} { ... }
//     yield %s.1 } else {
//     %s.2: f64 = for %i in 0 to %n step 1 (%acc: f64 = 0.0) { ... }
//     yield %s.2 }
//
// A core goes through a sequential loop ten or thirty times as fast as a thread of a device, and
// through steps of a time loop on little data as fast as kernels are launched. The host works on
// copies of the arrays (backends/llvm/emit_on_host.cc), by loops that are all sequential. Bits are
// the same, but for functions of the math libraries. What loops take is written by
// analyses/run_times.
//
// Assumes: loops over buffers; extract-kernels, which makes kernels of the other block, is next.
// Refuses: loops that call functions or carry arrays, and long ones that hold kernels, of which all
// code would be there twice.
#include <algorithm>

#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/run_times.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr double kBeginning = 40000;   // nanoseconds until copies are there, and back,
constexpr double kPerByte = 1.0 / 25;  // and for each byte
constexpr int kMostOfKernels = 150;    // bindings of a loop that holds loops over threads

// True for a loop that the host can run on copies.
bool MayRunOnHost(const Binding& loop) {
  if (loop.op != OpCode::kFor && loop.op != OpCode::kWhile) return false;
  if (IsForOneThread(loop)) return true;
  const Block whole{{}, {&loop}, {}};
  int bindings = 0;
  bool may = !NeedsHost(whole), touches = false;
  ir::ForEachBinding(whole, [&](const Binding& b) {
    ++bindings;
    touches |= b.op == OpCode::kLoad || b.op == OpCode::kStore;
    may &= b.op != OpCode::kFor || b.attrs.Text(Attr::kKind) != "block";
    for (const Var* result : b.results) {
      const bool is_apart = b.op == OpCode::kAlloc || b.op == OpCode::kView;
      may &= is_apart || !result->type.IsArray();
    }
  });
  return may && touches && bindings <= kMostOfKernels;
}

class HostChooser : public LoopWriter {
 public:
  HostChooser(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        context_(context),
        roots_(function),
        from_arrays_(ValuesFromArrays(function)) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_kernel = IsForMany(*b) && !NeedsHost(*b->blocks[0]);
    if (!is_kernel && MayRunOnHost(*b)) return WriteChoice(*b);
    is_kernel ? builder().Append(Applied(*b)) : Mutator::Visit(b);
  }

 private:
  // With what has been replaced, and otherwise as it is.
  const Binding* Applied(const Binding& b) {
    ir::Substitution replaced;
    ir::ForEachUse(b, [&](const Var* value) {
      if (Apply(Operand(value)) != Operand(value)) replaced[value] = Apply(Operand(value));
    });
    if (replaced.empty()) return &b;
    const Operands results(b.results.begin(), b.results.end());
    const Block& copy = *ir::CloneBlock(arena(), Block{{}, {&b}, results}, std::move(replaced));
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], copy.results[k]);
    return copy.bindings[0];
  }

  void WriteChoice(const Binding& loop) {
    const Binding& applied = *Applied(loop);
    const auto is_known = [&](const Var* value) { return !from_arrays_.contains(value); };
    const std::vector<const Var*> touched = Touched(loop);
    const RunTimes times = TimeWriter(builder(), is_known).Of(applied, TurnsOf(loop, touched));
    const bool is_short = times.device.IsConstant() && times.device.constant().real < kBeginning;
    if (is_short) return builder().Append(&applied);
    const Operand on_host = builder().Scalar(OpCode::kAdd, {times.host, CopiesOf(touched)});
    const Operand is_worth = builder().Scalar(OpCode::kLt, {on_host, times.device});
    const Operands results =
        Choose(is_worth, [&] { return OnHost(applied); }, [&] { return OnDevice(applied); });
    for (size_t k = 0; k < results.size(); ++k) Replace(loop.results[k], results[k]);
  }

  Operands OnHost(const Binding& loop) {
    context_.Note(loop.span, "run by the host where that is sooner done", Topic::kThreads,
                  Verdict::kDone);
    const Block& copy = *Copy(loop);
    Binding on_host = *Sequential(copy.bindings[0]);
    on_host.attrs = on_host.attrs.With(Attr::kOnHost, int64_t{1});
    builder().Append(arena()->New(std::move(on_host)));
    return copy.results;
  }

  // The binding with all loops in it sequential ones.
  const Binding* Sequential(const Binding* b) {
    Binding sequential = *b;
    sequential.attrs = b->attrs.Without(Attr::kKind).Without(Attr::kCost);
    for (const Block*& block : sequential.blocks) {
      Block inner = *block;
      for (const Binding*& binding : inner.bindings) binding = Sequential(binding);
      block = arena()->New(std::move(inner));
    }
    return arena()->New(std::move(sequential));
  }

  Operands OnDevice(const Binding& loop) {
    const Block& copy = *Copy(loop);
    for (const Binding* b : copy.bindings) builder().Append(b);
    return copy.results;
  }

  const Block* Copy(const Binding& loop) {
    return ir::CloneBlock(arena(), Block{{}, {&loop}, {loop.results.begin(), loop.results.end()}});
  }

  // Arrays of outside that the loop touches, one of each memory; what it stores to twice.
  std::vector<const Var*> Touched(const Binding& loop) {
    const Effects effects = EffectsOf(loop, roots_);
    const ir::VarSet free = ir::FreeVars(loop);
    std::vector<const Var*> touched;
    for (const Var* array : free) {
      const bool is_known = std::any_of(touched.begin(), touched.end(), [&](const Var* other) {
        return roots_.MayShare(array, other);
      });
      if (!array->type.IsArray() || is_known) continue;
      touched.push_back(array);
      if (Intersects(effects.writes, roots_.Of(array))) touched.push_back(array);
    }
    return touched;
  }

  // What it takes to copy that to the host, and back.
  Operand CopiesOf(const std::vector<const Var*>& touched) {
    Operand time = Ns(kBeginning);
    for (const Var* array : touched) {
      Operand own = Ns(ir::SizeInBytes(array->type.dtype()) * kPerByte);
      for (const Operand& size : array->type.dims())
        own = builder().Scalar(OpCode::kMul, {own, builder().Cast(Apply(size), DType::kF64)});
      time = builder().Scalar(OpCode::kAdd, {time, own});
    }
    return time;
  }

  // How often a `while` is gone through: one that goes through arrays, along the longest axis.
  Operand TurnsOf(const Binding& loop, const std::vector<const Var*>& touched) {
    if (loop.op != OpCode::kWhile || !IsForOneThread(loop)) return Ns(kUnknownTrips);
    Operand longest = Int(1);
    for (const Var* array : touched) {
      for (const Operand& size : array->type.dims()) longest = Max(longest, Apply(size));
    }
    return builder().Cast(longest, DType::kF64);
  }

  Context& context_;
  Roots roots_;
  ir::VarSet from_arrays_;
};

}  // namespace

ir::Program RunOnHost(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return HostChooser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
