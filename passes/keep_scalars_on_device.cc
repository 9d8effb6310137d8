// Leaves numbers that kernels make where kernels read them, so that the host waits for none.
//
// Before:
//   block for %i in 0 to 1 step 1 { ... thread for %t in 0 to 1 step 1 { ... store %total[], %s } }
//   %a: f64 = load %total[]
//   %n.1: f64 = cast %n
//   %m: f64 = div %a, %n.1
//   block for %j in 0 to %blocks step 1 { thread for ... { ... %d = sub %x, %m ... } }
// After:
//   %n.1: f64 = cast %n
//   %m.1: []f64 = alloc ()
//   block for %i in 0 to 1 step 1 { ... thread for %t in 0 to 1 step 1 { ... store %total[], %s }
//     thread for %u in 0 to 1 step 1 {
//       %a: f64 = load %total[]
//       %m: f64 = div %a, %n.1
//       store %m.1[], %m } }
//   block for %j in 0 to %blocks step 1 { thread for ... {
//     %m.2: f64 = load %m.1[] {unchanged = 1}  ... %d = sub %x, %m.2 ... } }
//
// Host code between two kernels becomes one thread's: of the kernel of one block before it, or of a
// kernel of its own. What loops carry and branches yield has one place in memory. A branch on such
// a number that is of few kernels is taken by them: each begins with `if %condition`, and the host
// starts those of both sides. Results of the entry that may (Options::kept_results) are arrays
// without axes then. A load of a number that is stored once is no code of its own: its readers read
// that memory.
//
// Assumes: extract-kernels has run; plan-memory has not.
// Refuses: what the host must know (analyses/device_scalars.h), and all that is computed for it
// alone; functions of complex numbers, which a device may not have.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/uses.h"
#include "passes/analyses/device_scalars.h"
#include "passes/analyses/holds_op.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool IsThreads(const Binding& b) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == "thread";
}

bool IsOfOneBlock(const Binding& b) {
  return IsKernel(b) && b.operands[0].IsInt(0) && b.operands[1].IsInt(1);
}

// What moves past a kernel: it has no effect and reads no memory.
bool MovesPastKernels(const Binding& b) {
  return ir::IsScalarOp(b.op) || ir::IsView(b.op) || b.op == OpCode::kAlloc;
}

// Arrays without axes that are stored to at one place and loaded from, no more.
VarSet StoredOnce(const ir::Function& function) {
  std::unordered_map<const Var*, int> stores;
  VarSet others;
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    for (const Block* block : b.blocks) {
      for (const Operand& result : block->results) {
        if (result.IsVar()) others.insert(result.var());
      }
    }
    for (size_t k = 0; k < b.operands.size(); ++k) {
      if (!b.operands[k].IsVar()) continue;
      const bool is_access = k == 0 && (b.op == OpCode::kLoad || b.op == OpCode::kStore);
      if (!is_access) others.insert(b.operands[k].var());
      if (b.op == OpCode::kStore && k == 0) ++stores[b.operands[0].var()];
    }
  });
  for (const Operand& result : function.body->results) {
    if (result.IsVar()) others.insert(result.var());
  }
  VarSet once;
  for (const auto& [array, count] : stores) {
    if (count == 1 && array->type.rank() == 0 && !others.contains(array)) once.insert(array);
  }
  return once;
}

class ScalarKeeper : public LoopWriter {
 public:
  ScalarKeeper(ir::Arena* arena, const ir::Function& function, const std::vector<size_t>& kept)
      : LoopWriter(arena), scalars_(function, kept), stored_once_(StoredOnce(function)) {
    for (const Binding* b : function.body->bindings) CountUses(*b);
    for (const Operand& result : function.body->results) CountUse(result);
  }

  const ir::Function* Keep(const ir::Function* function) {
    if (scalars_.IsEmpty()) return function;
    ir::Function kept = *function;
    kept.body = HostBlock(*function->body, function->body->params, function->body->results, {});
    for (size_t k = 0; k < kept.results.size(); ++k) {
      if (!scalars_.Has(function->body->results[k])) continue;
      kept.results[k] = builder().NewVar(HomeType(kept.results[k]), kept.results[k]->hint);
    }
    return arena()->New(std::move(kept));
  }

 protected:
  void Visit(const Binding* b) override {
    if (in_kernel_) return VisitInside(*b);
    if (in_host_loop_) return Mutator::Visit(b);
    if (IsOnDevice(*b)) return Wait(*b);
    if (MovesPastKernels(*b)) {
      if (b->op == OpCode::kAlloc) fresh_.insert(b->result());
      return Mutator::Visit(b);
    }
    Flush();
    if (IsKernel(*b)) return VisitKernel(*b);
    if (IsOnHost(*b)) return VisitHostLoop(*b);
    if (b->op == OpCode::kIf) return VisitIf(*b);
    if (b->op == OpCode::kFor || b->op == OpCode::kWhile) return VisitLoop(*b);
    Mutator::Visit(b);
  }

 private:
  // A number, and the memory that is to hold it.
  using Puts = std::vector<std::pair<Operand, const Var*>>;
  using Vars = std::vector<const Var*>;  // in the order of their first use

  static bool IsAmong(const Var* value, const Vars& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
  void See(const Var* value, Vars& seen) const {
    if (scalars_.Has(value) && !IsAmong(value, seen)) seen.push_back(value);
  }

  static ir::Type HomeType(const Var* value) { return ir::Type::Array(value->type.dtype(), {}); }

  const Var* NewHome(const Var* value) {
    const Var* home = builder().NewVar(HomeType(value), value->hint);
    builder().Emit(OpCode::kAlloc, {home}, {});
    return home;
  }

  void CountUse(const Operand& value) {
    if (value.IsVar()) ++uses_[value.var()];
  }
  void CountUses(const Binding& b) {
    ir::ForEachUse(b, [&](const Var* value) { ++uses_[value]; });
  }

  // --- Host code ---

  bool IsOnDevice(const Binding& b) const {
    if (b.op == OpCode::kStore) {
      return std::any_of(b.operands.begin() + 1, b.operands.end(),
                         [&](const Operand& operand) { return scalars_.Has(operand); });
    }
    return b.blocks.empty() && b.results.size() == 1 && scalars_.Has(b.result());
  }

  // A block of the host's, with some of its parameters and results; at its end it puts others.
  const Block* HostBlock(const Block& block, std::vector<const Var*> params,
                         const Operands& results, const Puts& puts) {
    ir::Builder outer = std::exchange(builder(), builder().Nested());
    const VarSet fresh_outside = std::exchange(fresh_, {});
    for (const Binding* b : block.bindings) {
      builder().set_span(b->span);
      Visit(b);
    }
    Flush(puts);
    Operands yielded;
    for (const Operand& result : results) {
      yielded.push_back(scalars_.Has(result) ? Operand(homes_.at(result.var())) : Apply(result));
    }
    const Block* made = builder().Finish(std::move(params), std::move(yielded));
    builder() = std::move(outer);
    fresh_ = fresh_outside;
    return made;
  }

  // Kernels of both sides, of which those of one do anything.
  void VisitBranchOfKernels(const Binding& b) {
    for (const Var* result : b.results) homes_[result] = NewHome(result);
    for (size_t side = 0; side < 2; ++side) {
      taken_ = Taken{homes_.at(b.operands[0].var()), side == 0};
      Puts puts;
      for (size_t k = 0; k < b.results.size(); ++k)
        puts.emplace_back(b.blocks[side]->results[k], homes_.at(b.results[k]));
      for (const Binding* inner : b.blocks[side]->bindings) {
        builder().set_span(inner->span);
        Visit(inner);
      }
      Flush(puts);
      taken_.reset();
    }
    for (const Var* result : b.results) {
      if (scalars_.Has(result)) continue;
      Replace(result, builder().Load(homes_.at(result), {}, result->hint));
      homes_.erase(result);
    }
  }

  // What `write` appends, where the side of the branch that is visited is taken.
  void IfTaken(const std::function<void()>& write) {
    if (!taken_) return write();
    const Operand condition = builder().Load(taken_->condition, {});
    If(taken_->side ? condition : builder().Scalar(OpCode::kEq, {condition, Operand::Bool(false)}),
       write);
  }

  void VisitIf(const Binding& b) {
    if (scalars_.IsBranchOfKernels(b)) return VisitBranchOfKernels(b);
    std::vector<const Var*> results;
    std::vector<Operands> yields(2);
    std::vector<Puts> puts(2);
    for (size_t k = 0; k < b.results.size(); ++k) {
      const bool is_kept = scalars_.Has(b.results[k]);
      if (is_kept) homes_[b.results[k]] = NewHome(b.results[k]);
      if (!is_kept) results.push_back(b.results[k]);
      for (size_t side = 0; side < 2; ++side) {
        const Operand& yielded = b.blocks[side]->results[k];
        if (is_kept) puts[side].emplace_back(yielded, homes_[b.results[k]]);
        if (!is_kept) yields[side].push_back(yielded);
      }
    }
    std::vector<const Block*> blocks;
    for (size_t side = 0; side < 2; ++side)
      blocks.push_back(HostBlock(*b.blocks[side], {}, yields[side], puts[side]));
    builder().Emit(b.op, std::move(results), Apply(b.operands), b.attrs, std::move(blocks));
  }

  void VisitLoop(const Binding& b) {
    const std::vector<CarriedSlot> slots = CarriedSlots(b);
    const bool is_for = b.op == OpCode::kFor;
    Operands operands =
        Apply(is_for ? Operands(b.operands.begin(), b.operands.begin() + 3) : Operands{});
    std::vector<const Var*> results;
    std::vector<std::vector<const Var*>> params(b.blocks.size());
    if (is_for) params[0].push_back(b.blocks[0]->params[0]);
    Operands yields;
    Puts before, after;
    for (const CarriedSlot& slot : slots) {
      if (scalars_.Has(slot.result)) {
        const Var* home = NewHome(slot.result);
        carried_.insert(home);
        homes_[slot.result] = home;
        for (const Var* param : slot.params) homes_[param] = home;
        before.emplace_back(slot.init, home);
        after.emplace_back(slot.next, home);
        continue;
      }
      results.push_back(slot.result);
      operands.push_back(Apply(slot.init));
      yields.push_back(slot.next);
      for (size_t k = 0; k < params.size(); ++k) params[k].push_back(slot.params[k]);
    }
    Flush(before);
    std::vector<const Block*> blocks;
    if (!is_for) blocks.push_back(HostBlock(*b.blocks[0], params[0], b.blocks[0]->results, {}));
    blocks.push_back(HostBlock(*b.blocks.back(), params.back(), yields, after));
    builder().Emit(b.op, std::move(results), std::move(operands), b.attrs, std::move(blocks));
  }

  // The host asks for what it needs where the loop is its own.
  void VisitHostLoop(const Binding& loop) {
    Vars read;
    ir::ForEachUse(loop, [&](const Var* value) { See(value, read); });
    for (const Var* value : read) Replace(value, builder().Load(homes_.at(value), {}, value->hint));
    in_host_loop_ = true;
    Mutator::Visit(&loop);
    in_host_loop_ = false;
    for (const Var* value : read) Restore(value);
  }

  // --- What becomes one thread's ---

  void Wait(const Binding& b) {
    if (b.op == OpCode::kLoad && IsHome(b.operands[0].var())) {
      homes_[b.result()] = b.operands[0].var();
      return;
    }
    waiting_.push_back(&b);
  }

  bool IsHome(const Var* array) const {
    return stored_once_.contains(array) && fresh_.contains(array) && stored_.contains(array);
  }

  // Writes what waits, and puts numbers where they belong.
  void Flush(const Puts& puts = {}) {
    if (waiting_.empty() && puts.empty()) return;
    std::vector<const Binding*> code = std::exchange(waiting_, {});
    const VarSet live = LiveBehind(code, puts);
    Drop(code, live, puts);
    if (code.empty() && puts.empty()) return;
    Puts all;
    for (const Binding* b : code) {
      for (const Var* made : b->results) {
        if (!live.contains(made)) continue;
        homes_[made] = NewHome(made);
        all.emplace_back(made, homes_[made]);
      }
    }
    all.insert(all.end(), puts.begin(), puts.end());
    const bool stores = std::any_of(code.begin(), code.end(),
                                    [](const Binding* b) { return b->op == OpCode::kStore; });
    Launch(stores, [&] { WriteCode(code, all); });
  }

  // What other code reads of what waiting code makes.
  VarSet LiveBehind(const std::vector<const Binding*>& code, const Puts& puts) {
    std::unordered_map<const Var*, int> inside;
    for (const Binding* b : code) ir::ForEachUse(*b, [&](const Var* value) { ++inside[value]; });
    for (const auto& [value, home] : puts) {
      if (value.IsVar()) ++inside[value.var()];
    }
    VarSet live;
    for (const Binding* b : code) {
      for (const Var* made : b->results) {
        if (uses_[made] > inside[made]) live.insert(made);
      }
    }
    return live;
  }

  // Code whose results nobody reads.
  static void Drop(std::vector<const Binding*>& code, VarSet read, const Puts& puts) {
    for (const auto& [value, home] : puts) {
      if (value.IsVar()) read.insert(value.var());
    }
    std::vector<const Binding*> used;
    for (size_t at = code.size(); at-- > 0;) {
      const Binding* b = code[at];
      if (b->op != OpCode::kStore && !read.contains(b->result())) continue;
      ir::ForEachUse(*b, [&](const Var* value) { read.insert(value); });
      used.insert(used.begin(), b);
    }
    code = std::move(used);
  }

  void WriteCode(const std::vector<const Binding*>& code, const Puts& puts) {
    VarSet made;
    for (const Binding* b : code) made.insert(b->results.begin(), b->results.end());
    Vars read;
    const auto see = [&](const Var* value) {
      if (!made.contains(value)) See(value, read);
    };
    for (const Binding* b : code) ir::ForEachUse(*b, see);
    for (const auto& [value, home] : puts) {
      if (value.IsVar()) see(value.var());
    }
    for (const Var* value : read) Replace(value, builder().Load(homes_.at(value), {}, value->hint));
    for (const Binding* b : code) builder().Append(Rewrite(b));
    for (const auto& [value, home] : puts) builder().Store(home, {}, Apply(value));
    for (const Var* value : read) Restore(value);
  }

  // In the kernel of one block that has been written last, if nothing with effects is behind it.
  void Launch(bool stores, const std::function<void()>& write) {
    const auto threads = [&] { Threads(1, [&](const Operand&) { IfTaken(write); }); };
    auto& bindings = builder().bindings();
    size_t at = bindings.size();
    while (at > 0 && MovesPastKernels(*bindings[at - 1])) --at;
    // The kernel may have said of its loads that they are of what it does not change; and a thread
    // would go on behind a check that fails in another.
    if (stores || at == 0 || !IsOfOneBlock(*bindings[at - 1]) ||
        HoldsOp(*bindings[at - 1]->blocks[0], OpCode::kCheck)) {
      return Blocks(Int(1), [&](const Operand&) { threads(); });
    }
    Binding kernel = *bindings[at - 1];
    bindings.erase(bindings.begin() + (at - 1));
    const Block& body = *kernel.blocks[0];
    kernel.blocks[0] = BlockOf(body.params, [&] {
      for (const Binding* b : body.bindings) builder().Append(b);
      threads();
      return body.results;
    });
    builder().Append(arena()->New(std::move(kernel)));
  }

  // --- Kernels, which read the numbers ---

  void VisitKernel(const Binding& kernel) {
    ir::ForEachBinding(*kernel.blocks[0], [&](const Binding& b) {
      for (const size_t k : ir::StoredOperands(b)) stored_.insert(b.operands[k].var());
    });
    common_.clear();
    FindCommon(*kernel.blocks[0]);
    in_kernel_ = true;
    Binding rewritten = kernel;
    rewritten.operands = Apply(kernel.operands);
    rewritten.blocks[0] = WithLoads(*kernel.blocks[0], common_);
    in_kernel_ = false;
    if (taken_) rewritten.blocks[0] = Guarded(*rewritten.blocks[0]);
    builder().Append(arena()->New(std::move(rewritten)));
  }

  const Block* Guarded(const Block& block) {
    return BlockOf(block.params, [&] {
      IfTaken([&] {
        for (const Binding* b : block.bindings) builder().Append(b);
      });
      return Operands{};
    });
  }

  // What a block's threads read alike.
  void FindCommon(const Block& block) {
    const auto see = [&](const Var* value) { See(value, common_); };
    for (const Binding* b : block.bindings) {
      if (IsThreads(*b)) continue;
      if (b->blocks.empty()) ir::ForEachUse(*b, see);
      for (const Operand& operand : b->operands) {
        if (operand.IsVar()) see(operand.var());
      }
      for (const Block* inner : b->blocks) FindCommon(*inner);
    }
    for (const Operand& result : block.results) {
      if (result.IsVar()) see(result.var());
    }
  }

  void VisitInside(const Binding& b) {
    Vars own;
    ir::ForEachUse(b, [&](const Var* value) {
      if (IsThreads(b) && !IsAmong(value, common_)) See(value, own);
    });
    if (own.empty()) return Mutator::Visit(&b);
    Binding rewritten = b;
    rewritten.blocks[0] = WithLoads(*b.blocks[0], own);
    builder().Append(arena()->New(std::move(rewritten)));
  }

  const Block* WithLoads(const Block& block, const Vars& values) {
    const Block* made = BlockOf(block.params, [&] {
      for (const Var* value : values) Replace(value, LoadFor(value));
      for (const Binding* b : block.bindings) {
        builder().set_span(b->span);
        Visit(b);
      }
      return Apply(block.results);
    });
    for (const Var* value : values) Restore(value);
    return made;
  }

  Operand LoadFor(const Var* value) {
    const Var* home = homes_.at(value);
    Attributes attrs;
    if (!carried_.contains(home)) attrs = {{Attr::kUnchanged, int64_t{1}}};
    return builder().EmitOne(OpCode::kLoad, value->type, {home}, attrs, {}, value->hint);
  }

  DeviceScalars scalars_;
  VarSet stored_once_;
  std::unordered_map<const Var*, int> uses_;
  std::unordered_map<const Var*, const Var*> homes_;  // The memory that a number is in.
  VarSet carried_;                                    // Homes that change from trip to trip.
  std::vector<const Binding*> waiting_;               // Host code that one thread is to run.
  VarSet fresh_;                                      // Arrays of the host's block that is visited,
  VarSet stored_;  // and those that kernels so far have stored to.
  // The side of a branch that is visited, which kernels take by themselves.
  struct Taken {
    const Var* condition;  // its home
    bool side;
  };
  std::optional<Taken> taken_;
  Vars common_;  // What all threads of the kernel that is visited read.
  bool in_kernel_ = false;
  bool in_host_loop_ = false;
};

}  // namespace

ir::Program KeepScalarsOnDevice(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const bool is_entry = function == program.functions.front();
    const std::vector<size_t> none;
    return ScalarKeeper(program.arena.get(), *function,
                        is_entry ? context.options.kept_results : none)
        .Keep(function);
  });
}

}  // namespace parakeet::passes
