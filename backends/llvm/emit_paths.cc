// A `while` whose steps end in a branch that stores: each path asks by itself whether to go on.
//
// Where paths join before that is asked, nobody knows any more what one of them has decided or
// stored. A search that goes back has counted its depth up just now, which is not negative then,
// and reads the place that it has stored. LLVM finds both on a path of its own.
#include <functional>

#include "backends/llvm/function_emitter.h"
#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using ir::Block;
using ir::OpCode;
using llvm::BasicBlock;
using llvm::PHINode;

constexpr int kMostPaths = 6;
constexpr size_t kMostAsked = 4;  // Bindings of a test, which each path has for itself.

bool Is(const ir::Binding& b, std::initializer_list<OpCode> ops) {
  return std::find(ops.begin(), ops.end(), b.op) != ops.end();
}

const ir::Binding* LastChoice(const Block& block) {
  if (block.bindings.empty()) return nullptr;
  const ir::Binding* last = block.bindings.back();
  const bool is_choice = last->op == OpCode::kIf && last->attrs.Int(ir::Attr::kLikely) == 0;
  return is_choice ? last : nullptr;
}

int PathsOf(const Block& block) {
  const ir::Binding* choice = LastChoice(block);
  return choice == nullptr ? 1 : PathsOf(*choice->blocks[0]) + PathsOf(*choice->blocks[1]);
}

// What only chooses a value is better selected than branched upon.
bool Stores(const ir::Binding& choice) {
  bool stores = false;
  ir::ForEachBinding(Block{{}, {&choice}, {}},
                     [&](const ir::Binding& b) { stores |= Is(b, {OpCode::kStore}); });
  return stores;
}

bool IsShortTest(const Block& test) {
  return test.bindings.size() <= kMostAsked &&
         std::all_of(test.bindings.begin(), test.bindings.end(), [](const ir::Binding* b) {
           return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
         });
}

}  // namespace

bool FunctionEmitter::EndsOnPaths(const ir::Binding& loop) const {
  if (InKernel() || IsRemote() || !IsShortTest(*loop.blocks[0])) return false;
  const ir::Binding* choice = LastChoice(*loop.blocks[1]);
  return choice != nullptr && Stores(*choice) && PathsOf(*loop.blocks[1]) <= kMostPaths;
}

// Emits the block, and `finish` behind each of its paths, where its results have their values.
void FunctionEmitter::EmitPaths(const Block& block, const std::function<void()>& finish) {
  const ir::Binding* choice = LastChoice(block);
  EmitBindings(block, 0, block.bindings.size() - (choice == nullptr ? 0 : 1));
  if (choice == nullptr) return finish();
  BasicBlock* const sides[] = {NewBlock("then"), NewBlock("else")};
  emission_.span = choice->span;
  builder_.CreateCondBr(ValueOf(choice->operands[0]), sides[0], sides[1]);
  const int outer_group = launch_group_;
  for (int side = 0; side < 2; ++side) {
    const Block& taken = *choice->blocks[side];
    builder_.SetInsertPoint(sides[side]);
    launch_group_ = ++emission_.launch_groups;
    EmitPaths(taken, [&] {
      DefineFromParts(choice->results, PartsOf(choice->results, taken.results));
      finish();
    });
  }
  launch_group_ = outer_group;
}

void FunctionEmitter::EmitWhileOnPaths(const ir::Binding& loop) {
  const Block &test = *loop.blocks[0], &body = *loop.blocks[1];
  EnterLoopOfBlock(test);
  EnterLoopOfBlock(body);
  const Parts initial = PartsOf(test.params, loop.operands);
  BasicBlock *trip = NewBlock("trip"), *after = NewBlock("after");
  const auto phis_in = [&](BasicBlock* block) {
    builder_.SetInsertPoint(block);
    std::vector<PHINode*> phis;
    for (llvm::Value* part : initial) phis.push_back(builder_.CreatePHI(part->getType(), 2));
    return phis;
  };
  const auto values = [](const std::vector<PHINode*>& phis) {
    return std::vector<llvm::Value*>(phis.begin(), phis.end());
  };
  BasicBlock* const before = builder_.GetInsertBlock();
  const std::vector<PHINode*> carried = phis_in(trip), results = phis_in(after);
  const auto go_on = [&](const Parts& parts) {
    DefineFromParts(test.params, parts);
    EmitBlock(test);
    builder_.CreateCondBr(ValueOf(test.results[0]), trip, after);
    for (size_t k = 0; k < parts.size(); ++k) {
      carried[k]->addIncoming(parts[k], builder_.GetInsertBlock());
      results[k]->addIncoming(parts[k], builder_.GetInsertBlock());
    }
  };
  builder_.SetInsertPoint(before);
  go_on(initial);
  builder_.SetInsertPoint(trip);
  BasicBlock* const outer = std::exchange(emission_.loop, trip);
  DefineFromParts(body.params, values(carried));
  ++loops_around_;
  EmitPaths(body, [&] { go_on(PartsOf(body.params, body.results)); });
  --loops_around_;
  emission_.loop = outer;
  builder_.SetInsertPoint(after);
  DefineFromParts(loop.results, values(results));
}

}  // namespace parakeet::backends
