#include "passes/analyses/run_times.h"

#include <algorithm>
#include <utility>

#include "passes/analyses/find_cost.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/values_in_front.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Measured on an H200 and a core beside it, roughly. Nanoseconds.
constexpr double kLaunch = 1500;         // of a kernel, among others
constexpr double kElementOfHost = 3000;  // that host code reads or writes on the device
constexpr double kAllocation = 700;
constexpr double kHostAllocation = 50;
constexpr double kHostHalfCycle = 0.25;
constexpr double kThreadHalfCycle = 1.5;  // of one thread, which waits for all that it does
constexpr double kThreadLoad = 60;
constexpr double kThreadsAtOnce = 20000;  // that get on as fast as one
constexpr double kBlocksAtOnce = 500;
constexpr double kWait = 250;  // of a block's threads for one another, and for what they stored
constexpr double kThreadsOfBlock = 256;

bool IsNumber(const Operand& value, double number) {
  return value.IsConstant() && value.constant().real == number;
}

bool HasKind(const Binding& b, std::string_view kind) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == kind;
}

}  // namespace

ir::VarSet ValuesFromArrays(const ir::Function& function) {
  ir::VarSet found;
  const auto is_from = [&](const Var* value) { return found.contains(value); };
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    bool is = b.op == OpCode::kLoad;
    for (const Operand& operand : b.operands) is |= operand.IsVar() && is_from(operand.var());
    for (const Block* block : b.blocks) {
      ir::ForEachBinding(*block, [&](const Binding& inner) { is |= inner.op == OpCode::kLoad; });
    }
    if (!is) return;
    for (const Var* result : b.results) {
      if (result->type.IsScalar()) found.insert(result);
    }
    for (const Block* block : b.blocks) {
      const size_t first = b.op == OpCode::kFor ? 1 : 0;  // behind a loop's index
      for (size_t k = first; k < block->params.size(); ++k) found.insert(block->params[k]);
    }
  });
  return found;
}

RunTimes TimeWriter::Of(const Binding& loop, const Operand& turns_of_while) {
  const Block whole{{}, {&loop}, {}};
  turns_ = turns_of_while;
  definitions_ = ir::Definitions(whole);
  inside_ = ir::DefinedVars(whole);
  ir::ForEachBinding(whole, [&](const Binding& b) {
    if (b.op == OpCode::kFor) loops_[b.blocks[0]->params[0]] = &b;
  });
  return OfCode(loop, false);
}

RunTimes TimeWriter::OfBlock(const Block& block, bool in_thread) {
  RunTimes times = {Ns(0), Ns(0)};
  for (const Binding* b : block.bindings) {
    const RunTimes own = OfCode(*b, in_thread);
    times = {Sum(times.host, own.host), Sum(times.device, own.device)};
  }
  return times;
}

RunTimes TimeWriter::OfCode(const Binding& b, bool in_thread) {
  if (b.blocks.empty()) return OfScalar(b, in_thread);
  const bool is_single = !in_thread && IsForOneThread(b);
  if (is_single) return OfKernel(OfCode(b, true), Ns(1), 1);
  if (b.op == OpCode::kFor || b.op == OpCode::kLanes) return OfLoop(b, in_thread);
  RunTimes times = {Ns(0), Ns(0)};
  const bool is_while = b.op == OpCode::kWhile;
  const Operand turns = is_while ? std::exchange(turns_, Ns(kUnknownTrips)) : Ns(0);
  for (size_t side = 0; side < b.blocks.size(); ++side) {
    const Operand part = is_while ? turns : PartOf(b, side);
    const RunTimes own = OfBlock(*b.blocks[side], in_thread);
    times.host = Sum(times.host, Product(own.host, part));
    times.device = Sum(times.device, Product(own.device, part));
  }
  return times;
}

// How often a side of a branch is taken: half of the times where each trip may take another.
Operand TimeWriter::PartOf(const Binding& branch, size_t side) {
  const Operand& condition = branch.operands[0];
  const auto known = Known(condition);
  if (!known || (condition.IsVar() && varying_.contains(condition.var()))) return Ns(0.5);
  const Operand taken = side == 0 ? *known : builder_.Scalar(OpCode::kNot, {*known});
  return builder_.Scalar(OpCode::kSelect, {taken, Ns(1), Ns(0)});
}

RunTimes TimeWriter::OfLoop(const Binding& loop, bool in_thread) {
  const Operand trips = Trips(loop);
  turns_ = Ns(kUnknownTrips);
  const bool begins_kernel = IsForMany(loop) && !in_thread && !NeedsHost(*loop.blocks[0]);
  const RunTimes own = OfBlock(*loop.blocks[0], in_thread || begins_kernel);
  if (begins_kernel)
    return OfKernel(own, trips, HasKind(loop, "block") ? kBlocksAtOnce : kThreadsAtOnce);
  const bool is_for_each_thread = HasKind(loop, "thread");
  return {Product(own.host, trips), is_for_each_thread ? own.device : Product(own.device, trips)};
}

// One iteration takes as long as it takes, many take turns.
RunTimes TimeWriter::OfKernel(const RunTimes& iteration, const Operand& trips, double at_once) {
  const bool is_one_block = kernels_ == Kernels::kOneBlock;
  if (is_one_block) at_once = at_once == kThreadsAtOnce ? kThreadsOfBlock : 1;
  const Operand turns = Product(trips, Ns(1 / at_once));
  const Operand last = at_once == 1   ? turns
                       : is_one_block ? builder_.Scalar(OpCode::kMax, {turns, Ns(1)})
                                      : Sum(Ns(1), turns);
  return {Product(iteration.host, trips),
          Sum(Ns(is_one_block ? kWait : kLaunch), Product(iteration.device, last))};
}

RunTimes TimeWriter::OfScalar(const Binding& b, bool in_thread) {
  const double half_cycles = HalfCyclesOf(Block{{}, {&b}, {}});
  const Operand host = Ns(half_cycles * kHostHalfCycle);
  const Operand device = OnDevice(b, half_cycles, in_thread);
  return {b.op == OpCode::kAlloc && !in_thread ? Ns(kHostAllocation) : host, device};
}

Operand TimeWriter::OnDevice(const Binding& b, double half_cycles, bool in_thread) const {
  const double thread = half_cycles * kThreadHalfCycle;
  const bool is_one_block = kernels_ == Kernels::kOneBlock;
  if (in_thread || is_one_block) {
    if (b.op == OpCode::kAlloc && !in_thread) return Ns(0);
    if (b.op == OpCode::kStore && !in_thread) return Ns(kWait);
    return Ns(b.op == OpCode::kLoad ? kThreadLoad : thread);
  }
  if (b.op == OpCode::kAlloc) return Ns(kAllocation);
  const bool is_access = b.op == OpCode::kLoad || b.op == OpCode::kStore;
  return Ns(is_access ? kElementOfHost : half_cycles * kHostHalfCycle);
}

// --- Lengths of loops ---

Operand TimeWriter::Trips(const Binding& loop) {
  std::optional<Operand> lo = Known(loop.operands[0]), hi = Known(loop.operands[1]);
  if (!lo || !hi) return Ns(kUnknownTrips);
  const int64_t step = loop.op == OpCode::kFor ? loop.operands[2].constant().integer : 1;
  if (step < 0) std::swap(lo, hi);
  const Operand distance = builder_.Scalar(OpCode::kMax, {builder_.Sub(*hi, *lo), Operand::Int(0)});
  return Product(builder_.Cast(distance, DType::kF64), Ns(1 / std::abs(double(step))));
}

std::optional<Operand> TimeWriter::Known(const Operand& value) {
  if (value.IsConstant()) return value;
  const Var* var = value.var();
  if (!inside_.contains(var)) return is_known_(var) ? std::optional(value) : std::nullopt;
  const auto found = values_.find(var);
  if (found != values_.end()) return found->second;
  return values_[var] = Write(var);
}

std::optional<Operand> TimeWriter::Write(const Var* value) {
  const auto loop = loops_.find(value);
  if (loop != loops_.end()) {
    varying_.insert(value);
    return Middle(*loop->second);
  }
  const auto made = definitions_.find(value);
  if (made == definitions_.end() || !IsSizeExpression(*made->second)) return std::nullopt;
  std::vector<Operand> operands;
  for (const Operand& operand : made->second->operands) {
    const auto known = Known(operand);
    if (!known) return std::nullopt;
    if (operand.IsVar() && varying_.contains(operand.var())) varying_.insert(value);
    operands.push_back(*known);
  }
  return WriteSizeExpression(builder_, *made->second, std::move(operands));
}

std::optional<Operand> TimeWriter::Middle(const Binding& loop) {
  const auto lo = Known(loop.operands[0]), hi = Known(loop.operands[1]);
  if (!lo || !hi) return std::nullopt;
  return builder_.Scalar(OpCode::kFloorDiv, {builder_.Add(*lo, *hi), Operand::Int(2)});
}

Operand TimeWriter::Sum(const Operand& a, const Operand& b) {
  if (IsNumber(a, 0)) return b;
  return IsNumber(b, 0) ? a : builder_.Scalar(OpCode::kAdd, {a, b});
}

Operand TimeWriter::Product(const Operand& a, const Operand& b) {
  if (IsNumber(a, 0) || IsNumber(b, 1)) return a;
  if (IsNumber(b, 0) || IsNumber(a, 1)) return b;
  return builder_.Scalar(OpCode::kMul, {a, b});
}

}  // namespace parakeet::passes
