// A `while` that goes on to what a path of its step has just stored: each path asks by itself
// whether to go on.
//
// Where paths join before that is asked, nobody knows any more what one of them has decided or
// stored. A search that goes back has counted its depth up just now, which is not negative then,
// and reads the place that it has stored. LLVM finds both on a path of its own.
#include <algorithm>
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

// Whether some path of a step goes on to a place at which it has just stored, and which a step
// reads where it begins.
class StoredPlaces {
 public:
  explicit StoredPlaces(const ir::Binding& loop) : body_(*loop.blocks[1]) {
    for (const Block* block : loop.blocks) {
      for (const ir::Binding* b : block->bindings) {
        if (b->op == OpCode::kLoad) reads_.push_back({b, &block->params});
      }
    }
  }

  bool AreReadNext() { return AreReadBehind(body_, body_.results); }

 private:
  // `yielded` is what the step yields where the block ends.
  bool AreReadBehind(const Block& block, const std::vector<ir::Operand>& yielded) {
    const size_t outer = stores_.size();
    for (const ir::Binding* b : block.bindings) {
      if (b->op == OpCode::kStore) stores_.push_back(b);
    }
    const ir::Binding* choice = LastChoice(block);
    bool are = choice == nullptr && IsReadNext(yielded);
    for (size_t side = 0; choice != nullptr && side < 2; ++side)
      are |= AreReadBehind(*choice->blocks[side], OnSide(*choice, side, yielded));
    stores_.resize(outer);
    return are;
  }

  static std::vector<ir::Operand> OnSide(const ir::Binding& choice, size_t side,
                                         std::vector<ir::Operand> yielded) {
    for (ir::Operand& operand : yielded) {
      for (size_t k = 0; k < choice.results.size(); ++k) {
        if (operand != ir::Operand(choice.results[k])) continue;
        operand = choice.blocks[side]->results[k];
        break;
      }
    }
    return yielded;
  }

  bool IsReadNext(const std::vector<ir::Operand>& yielded) const {
    for (size_t k = 0; k < yielded.size(); ++k) {
      if (!yielded[k].IsVar() || yielded[k] == ir::Operand(body_.params[k])) continue;
      for (const ir::Binding* store : stores_) {
        if (std::any_of(reads_.begin(), reads_.end(), [&](const Read& read) {
              return read.load->operands[0] == store->operands[0] &&
                     Has(*read.load, ir::Operand((*read.params)[k]), 0) &&
                     Has(*store, yielded[k], 1);
            }))
          return true;
      }
    }
    return false;
  }

  // Among the indexes, behind which so many operands stand.
  static bool Has(const ir::Binding& access, const ir::Operand& index, size_t behind) {
    const auto begin = access.operands.begin() + 1, end = access.operands.end() - behind;
    return std::find(begin, end, index) != end;
  }

  struct Read {
    const ir::Binding* load;
    const std::vector<const ir::Var*>* params;  // of its block
  };
  const Block& body_;
  std::vector<Read> reads_;
  std::vector<const ir::Binding*> stores_;  // on the path that is looked at
};

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
  return choice != nullptr && PathsOf(*loop.blocks[1]) <= kMostPaths &&
         StoredPlaces(loop).AreReadNext();
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

// Its counters are known not to wrap around. Of those of other loops LLVM would only make tests of
// what they were before, for which a search keeps both in registers.
void FunctionEmitter::EmitWhileOnPaths(const ir::Binding& loop) {
  FindCounters(loop, counters_);
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
