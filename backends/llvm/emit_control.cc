// Blocks, branches and sequential loops.
#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"
#include "ir/uses.h"
#include "llvm/IR/MDBuilder.h"

namespace parakeet::backends {
namespace {

using ir::OpCode;
using ir::Operand;
using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

std::vector<PHINode*> PhisLike(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> parts) {
  std::vector<PHINode*> phis;
  for (Value* part : parts) phis.push_back(builder.CreatePHI(part->getType(), 2));
  return phis;
}

void AddIncoming(llvm::ArrayRef<PHINode*> phis, llvm::ArrayRef<Value*> parts, BasicBlock* from) {
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(parts[i], from);
}

std::vector<Value*> AsValues(llvm::ArrayRef<PHINode*> phis) {
  return std::vector<Value*>(phis.begin(), phis.end());
}

bool Stores(const ir::Block& body) {
  bool stores = false;
  ir::ForEachBinding(body, [&](const ir::Binding& b) { stores |= b.op == OpCode::kStore; });
  return stores;
}

void AskOfLoop(llvm::Instruction* latch, const char* what) {
  llvm::LLVMContext& context = latch->getContext();
  llvm::MDNode* asked = llvm::MDNode::get(context, llvm::MDString::get(context, what));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, asked});
  loop->replaceOperandWith(0, loop);
  latch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

// A loop's parameters behind its index.
std::vector<const ir::Var*> CarriedParams(const ir::Block& body) {
  return std::vector<const ir::Var*>(body.params.begin() + 1, body.params.end());
}

constexpr int kMostCostOfChoice = 8;
constexpr size_t kMostSelects = 3;  // that LLVM makes of a branch around nothing
constexpr int kCostByConstant = 2;  // Of a division.

int CostOfScalar(const ir::Binding& b) {
  const bool divides = b.op == OpCode::kFloorDiv || b.op == OpCode::kMod;
  const bool is_cheap =
      divides && b.operands[1].IsConstant() && ir::IsInteger(ir::DTypeOf(b.operands[1]));
  return is_cheap ? kCostByConstant : ir::InfoOf(b.op).cost;
}

// True where both arms are but a few scalar operations, which may be done for nothing.
bool IsShortChoice(const ir::Binding& binding) {
  int cost = 0;
  for (const ir::Var* result : binding.results) {
    if (result->type.IsArray()) return false;
  }
  for (const ir::Block* arm : binding.blocks) {
    for (const ir::Binding* b : arm->bindings) {
      if (!ir::IsScalarOp(b->op) || ir::IsComplex(b->result()->type.dtype())) return false;
      cost += CostOfScalar(*b);
    }
  }
  return !binding.results.empty() && cost <= kMostCostOfChoice;
}

// True where the two sides do nothing, and more values are chosen between than LLVM makes selects
// of. Of two empty blocks it would do so however many values that are: what a loop carries then
// waits in each step for the condition, and for the selects one after another, where a branch goes
// on with what is likely. A wrong guess costs about as much as these selects do.
bool IsChoiceOfMany(const ir::Binding& binding) {
  return binding.blocks[0]->bindings.empty() && binding.blocks[1]->bindings.empty() &&
         binding.results.size() > kMostSelects;
}

// True where `value`, made in the block, is false once `flag` is true.
bool IsFalseBy(const ir::Var* flag, const Operand& value, const ir::DefinitionMap& makers) {
  if (value.IsConstant()) return value.constant().integer == 0;
  const auto found = makers.find(value.var());
  if (found == makers.end()) return false;
  const ir::Binding& b = *found->second;
  const auto is_false = [&](const Operand& operand) { return IsFalseBy(flag, operand, makers); };
  switch (b.op) {
    case OpCode::kNot: return b.operands[0] == Operand(flag);
    case OpCode::kAnd: return is_false(b.operands[0]) || is_false(b.operands[1]);
    case OpCode::kSelect: return b.operands[0] == Operand(flag) && is_false(b.operands[1]);
    case OpCode::kIf: return b.operands[0] == Operand(flag) && is_false(b.blocks[0]->results[0]);
    default: return false;
  }
}

bool OnlyComputes(const ir::Block& block) {
  bool only = true;
  ir::ForEachBinding(block, [&](const ir::Binding& b) {
    only &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf;
  });
  return only;
}

// True where the test of a loop does nothing, and says no, once its parameter `flag` is true.
bool EndsBy(const ir::Block& test, const ir::Var* flag, const ir::DefinitionMap& makers) {
  if (!IsFalseBy(flag, test.results[0], makers)) return false;
  return std::all_of(test.bindings.begin(), test.bindings.end(), [&](const ir::Binding* b) {
    const bool asks = b->op == OpCode::kIf && b->operands[0] == Operand(flag);
    return OnlyComputes(asks ? *b->blocks[0] : ir::Block{{}, {b}, {}});
  });
}

constexpr size_t kMostBehindEnding = 8;

// Where in the body of a `while` a branch stands whose condition ends the loop, as that around a
// `break`, behind which little is done; the number of its bindings where none does.
size_t EndingOf(const ir::Binding& loop) {
  const ir::Block &test = *loop.blocks[0], &body = *loop.blocks[1];
  const ir::DefinitionMap makers = ir::Definitions(test);
  const auto ends = [&](const Operand& condition) {
    for (size_t k = 0; k < body.results.size(); ++k) {
      if (body.results[k] == condition && EndsBy(test, test.params[k], makers)) return true;
    }
    return false;
  };
  const size_t count = body.bindings.size();
  for (size_t at = count; at-- > 0 && count - at <= kMostBehindEnding + 1;) {
    const ir::Binding& b = *body.bindings[at];
    if (b.op == OpCode::kIf) return ends(b.operands[0]) ? at : count;
    if (!ir::IsScalarOp(b.op)) return count;
  }
  return count;
}

constexpr int kMostAskedTwice = 12;

// True for a short test that asks one thing after another, as `j < n and x[j] == x[i]` does.
bool AsksInTurn(const ir::Block& test) {
  int asked = 0;
  bool chooses = false;
  ir::ForEachBinding(test, [&](const ir::Binding& b) {
    ++asked;
    chooses |= b.op == OpCode::kIf;
  });
  return chooses && asked <= kMostAskedTwice && OnlyComputes(test);
}

}  // namespace

BasicBlock* FunctionEmitter::NewBlock(const char* name) {
  return BasicBlock::Create(emission_.context(), name, function_);
}

void FunctionEmitter::EmitBlock(const ir::Block& block) {
  if (asking_.contains(&block)) AskForRoom(builder_.CreateSub(room_, builder_.getInt32(1)));
  EmitBindings(block, 0, block.bindings.size());
}

void FunctionEmitter::EmitBindings(const ir::Block& block, size_t begin, size_t end) {
  for (size_t at = begin; at < end; ++at) {
    next_ = at + 1 < block.bindings.size() ? block.bindings[at + 1] : nullptr;
    EmitBinding(*block.bindings[at]);
  }
}

void FunctionEmitter::EmitBinding(const ir::Binding& binding) {
  emission_.span = binding.span;
  if (ir::IsScalarOp(binding.op)) return EmitScalar(binding);
  if (apart_.nests.erase(&binding) > 0) return EmitApart(binding);
  switch (binding.op) {
    case OpCode::kCheck: return EmitCheck(binding);
    case OpCode::kView: return EmitView(binding);
    case OpCode::kCall: return EmitCall(binding);
    case OpCode::kLibraryCall: return EmitLibraryCall(binding);
    case OpCode::kAlloc: return EmitAlloc(binding);
    case OpCode::kFree: return EmitFree(binding);
    case OpCode::kMark: return EmitMark(binding);
    case OpCode::kLoad: return EmitLoad(binding);
    case OpCode::kStore: return EmitStore(binding);
    case OpCode::kAtomic: return EmitAtomic(binding);
    case OpCode::kMatch: return EmitMatch(binding);
    case OpCode::kShuffle: return EmitShuffle(binding);
    case OpCode::kPrefetch: return EmitPrefetch(binding);
    case OpCode::kDrain: return EmitDrain();
    case OpCode::kIf: return EmitIf(binding);
    case OpCode::kFor:
    case OpCode::kWhile: return EmitLoop(binding);
    case OpCode::kTeam: return EmitTeam(binding);
    case OpCode::kAligned: return EmitAligned(binding);
    case OpCode::kSplat:
    case OpCode::kIota:
    case OpCode::kLoadLanes:
    case OpCode::kStoreLanes:
    case OpCode::kGatherLanes:
    case OpCode::kScatterLanes:
    case OpCode::kLowHalf:
    case OpCode::kHighHalf:
    case OpCode::kInterleave:
    case OpCode::kSlide:
    case OpCode::kExtract:
    case OpCode::kAny:
    case OpCode::kAllLanes:
    case OpCode::kFirstLane: return EmitLanes(binding);
    default:
      ir::FailBug("no code for " + std::string(ir::Name(binding.op)) +
                      ", which the scheduled stage has not after vectorize_loops",
                  binding.span);
  }
}

void FunctionEmitter::EmitScalar(const ir::Binding& binding) {
  llvm::SmallVector<Number, 3> operands;
  for (const Operand& operand : binding.operands) operands.push_back(NumberOf(operand));
  const size_t typical = binding.op == OpCode::kSelect ? 1 : 0;
  const ir::DType dtype = DTypeOf(binding.operands[typical]);
  Number number;
  if (binding.attrs.Int(ir::Attr::kPositive) != 0 && !operands[0].value->getType()->isVectorTy()) {
    number.value = EmitPositiveDivision(emission_, binding.op, operands[0].value, operands[1].value,
                                        ir::IsSigned(dtype));
  } else {
    number = EmitScalarOp(emission_, binding.op, operands, dtype, binding.result()->type.dtype());
  }
  auto* math = llvm::dyn_cast<llvm::BinaryOperator>(number.value);
  if (math != nullptr && IsCount(binding, counters_)) math->setHasNoSignedWrap();
  numbers_[binding.result()] = number;
}

void FunctionEmitter::EmitIf(const ir::Binding& binding) {
  Parts parts[2];
  // On a GPU, threads that choose otherwise wait for one another, and a branch is dearer than a few
  // operations more.
  if (InKernel() && IsShortChoice(binding)) {
    for (int side = 0; side < 2; ++side) {
      EmitBlock(*binding.blocks[side]);
      parts[side] = PartsOf(binding.results, binding.blocks[side]->results);
    }
    Value* condition = ValueOf(binding.operands[0]);
    for (size_t k = 0; k < parts[0].size(); ++k)
      parts[0][k] = builder_.CreateSelect(condition, parts[0][k], parts[1][k]);
    return DefineFromParts(binding.results, parts[0]);
  }
  const bool stays = !InKernel() && IsChoiceOfMany(binding);
  BasicBlock* const then = NewBlock("then");
  BasicBlock* const otherwise = stays ? nullptr : NewBlock("else");
  BasicBlock* const after = NewBlock("after");
  BasicBlock* const entries[] = {then, stays ? after : otherwise};
  llvm::MDNode* weights = nullptr;
  if (binding.attrs.Int(ir::Attr::kLikely) != 0)
    weights = llvm::MDBuilder(emission_.context()).createLikelyBranchWeights();
  llvm::BranchInst* branch =
      builder_.CreateCondBr(ValueOf(binding.operands[0]), entries[0], entries[1], weights);
  BasicBlock* ends[2];
  const int outer_group = launch_group_;
  const bool has_loaded = kernel_.has_loaded;
  bool loads = false;
  if (stays) {
    builder_.SetInsertPoint(branch);
    parts[1] = PartsOf(binding.results, binding.blocks[1]->results);
    ends[1] = branch->getParent();
  }
  for (int side = 0; side < (stays ? 1 : 2); ++side) {
    const ir::Block& block = *binding.blocks[side];
    builder_.SetInsertPoint(entries[side]);
    if (!InKernel()) launch_group_ = ++emission_.launch_groups;
    kernel_.has_loaded = has_loaded;
    EmitBlock(block);
    loads |= kernel_.has_loaded;
    parts[side] = PartsOf(binding.results, block.results);
    ends[side] = builder_.GetInsertBlock();
    builder_.CreateBr(after);
  }
  launch_group_ = outer_group;
  kernel_.has_loaded = loads;
  builder_.SetInsertPoint(after);
  const std::vector<PHINode*> phis = PhisLike(builder_, parts[0]);
  for (int side = 0; side < 2; ++side) AddIncoming(phis, parts[side], ends[side]);
  DefineFromParts(binding.results, AsValues(phis));
}

// A thread's own array is in registers where all its indexes are constants: whether what the loop
// counts is among them. A loop that does not, a time loop for one, may go on for very long.
bool FunctionEmitter::GoesThroughOwn(const ir::Block& body) const {
  if (kernel_.own.empty()) return false;
  ir::VarSet counted = {body.params[0]};
  const auto is_counted = [&](const Operand& operand) {
    return operand.IsVar() && counted.contains(operand.var());
  };
  bool goes = false;
  ir::ForEachBinding(body, [&](const ir::Binding& b) {
    if (ir::IsScalarOp(b.op) && std::any_of(b.operands.begin(), b.operands.end(), is_counted))
      counted.insert(b.result());
    if (b.operands.empty() || !b.operands[0].IsVar()) return;
    const ir::Var* array = b.operands[0].var();
    const size_t rank = kernel_.own.contains(array) ? array->type.rank() : 0;
    for (size_t k = 1; k <= rank && k < b.operands.size(); ++k) goes |= is_counted(b.operands[k]);
  });
  return goes;
}

// Where there is nothing to go through, nobody has waited in it.
void FunctionEmitter::EmitLoop(const ir::Binding& binding) {
  if (IsRemote() && binding.attrs.Int(ir::Attr::kOnHost) != 0) return EmitOnHost(binding);
  const bool is_of_block = binding.attrs.Text(ir::Attr::kKind).empty();
  const bool has_loaded = is_of_block && kernel_.has_loaded;
  binding.op == OpCode::kFor ? EmitFor(binding) : EmitWhile(binding);
  kernel_.has_loaded |= has_loaded;
}

// Tested at its end, with one test before it: the form that LLVM's loop passes like. In a kernel, a
// loop that stores and runs for nobody knows how long gains nothing by being unrolled, and would
// take registers that other threads could have.
void FunctionEmitter::EmitFor(const ir::Binding& binding) {
  const std::string& kind = binding.attrs.Text(ir::Attr::kKind);
  if (kind == "parallel") return EmitParallel(binding);
  if (kind == "block") return EmitLaunch(binding);
  if (kind == "thread") return EmitThreads(binding);
  if (!kind.empty()) ir::FailBug("no code for a loop of kind " + kind, binding.span);
  const ir::Block& body = *binding.blocks[0];
  EnterLoopOfBlock(body);
  const std::vector<const ir::Var*> carried = CarriedParams(body);
  const int64_t step = binding.operands[2].constant().integer;
  const auto is_inside = [&](Value* index, Value* end) {
    return step > 0 ? builder_.CreateICmpSLT(index, end) : builder_.CreateICmpSGT(index, end);
  };
  Value *lo = ValueOf(binding.operands[0]), *hi = ValueOf(binding.operands[1]);
  const Parts initial = PartsOf(carried, llvm::ArrayRef<Operand>(binding.operands).drop_front(3));
  BasicBlock *before = builder_.GetInsertBlock(), *head = NewBlock("loop"),
             *after = NewBlock("after");
  builder_.CreateCondBr(is_inside(lo, hi), head, after);
  builder_.SetInsertPoint(head);
  PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  const std::vector<PHINode*> phis = PhisLike(builder_, initial);
  numbers_[body.params[0]] = {index, nullptr};
  DefineFromParts(carried, AsValues(phis));
  ++loops_around_;
  llvm::BasicBlock* const outer = std::exchange(emission_.loop, head);
  EmitBlock(body);
  emission_.loop = outer;
  --loops_around_;
  const Parts next = PartsOf(carried, body.results);
  Value* next_index = builder_.CreateNSWAdd(index, I64(step));
  BasicBlock* latch = builder_.GetInsertBlock();
  llvm::Instruction* again = builder_.CreateCondBr(is_inside(next_index, hi), head, after);
  if (InKernel() && carried.empty() && !llvm::isa<llvm::Constant>(hi) && Stores(body))
    AskOfLoop(again, "llvm.loop.unroll.disable");
  const bool is_short = llvm::isa<llvm::Constant>(lo) && llvm::isa<llvm::Constant>(hi);
  if (is_short && GoesThroughOwn(body)) AskOfLoop(again, "llvm.loop.unroll.full");
  index->addIncoming(lo, before);
  index->addIncoming(next_index, latch);
  AddIncoming(phis, initial, before);
  AddIncoming(phis, next, latch);
  builder_.SetInsertPoint(after);
  const std::vector<PHINode*> results = PhisLike(builder_, initial);
  AddIncoming(results, initial, before);
  AddIncoming(results, next, latch);
  DefineFromParts(binding.results, AsValues(results));
}

// Tested before it and at its end, of which LLVM makes such a loop where one thing is asked. What
// holds the first time in any case is asked only behind a step then: of a run of equal elements,
// that its first one is equal to itself.
void FunctionEmitter::EmitTestedWhile(const ir::Binding& loop) {
  const ir::Block &test = *loop.blocks[0], &body = *loop.blocks[1];
  EnterLoopOfBlock(test);
  EnterLoopOfBlock(body);
  const Parts initial = PartsOf(test.params, loop.operands);
  BasicBlock *trip = NewBlock("trip"), *after = NewBlock("after");
  const auto ask = [&](const Parts& parts) {
    DefineFromParts(test.params, parts);
    EmitBlock(test);
    builder_.CreateCondBr(ValueOf(test.results[0]), trip, after);
    return builder_.GetInsertBlock();
  };
  BasicBlock* const before = ask(initial);
  builder_.SetInsertPoint(trip);
  const std::vector<PHINode*> carried = PhisLike(builder_, initial);
  AddIncoming(carried, initial, before);
  DefineFromParts(body.params, AsValues(carried));
  llvm::BasicBlock* const outer = std::exchange(emission_.loop, trip);
  ++loops_around_;
  EmitBlock(body);
  --loops_around_;
  const Parts next = PartsOf(body.params, body.results);
  BasicBlock* const latch = ask(next);
  emission_.loop = outer;
  AddIncoming(carried, next, latch);
  builder_.SetInsertPoint(after);
  const std::vector<PHINode*> results = PhisLike(builder_, initial);
  AddIncoming(results, initial, before);
  AddIncoming(results, next, latch);
  DefineFromParts(loop.results, AsValues(results));
}

// A step that is not the last one does not wait for what ends the loop, as it would where a value
// were chosen by that: the branch leaves. What stands behind it is written for either side.
FunctionEmitter::Ending FunctionEmitter::EmitEnding(const ir::Block& body, size_t at,
                                                    BasicBlock* after) {
  const ir::Binding& choice = *body.bindings[at];
  BasicBlock *const last = NewBlock("last"), *const on = NewBlock("on");
  builder_.CreateCondBr(ValueOf(choice.operands[0]), last, on);
  Ending ending;
  for (int side = 0; side < 2; ++side) {
    builder_.SetInsertPoint(side == 0 ? last : on);
    EmitBlock(*choice.blocks[side]);
    DefineFromParts(choice.results, PartsOf(choice.results, choice.blocks[side]->results));
    EmitBindings(body, at + 1, body.bindings.size());
    if (side == 1) break;
    ending = {PartsOf(body.params, body.results), builder_.GetInsertBlock()};
    builder_.CreateBr(after);
  }
  return ending;
}

void FunctionEmitter::EmitWhile(const ir::Binding& binding) {
  if (EndsOnPaths(binding)) return EmitWhileOnPaths(binding);
  const ir::Block &test = *binding.blocks[0], &body = *binding.blocks[1];
  const bool is_plain = !InKernel() && !IsRemote() && EndingOf(binding) == body.bindings.size();
  if (is_plain && AsksInTurn(test)) return EmitTestedWhile(binding);
  EnterLoopOfBlock(test);
  EnterLoopOfBlock(body);
  const Parts initial = PartsOf(test.params, binding.operands);
  BasicBlock *before = builder_.GetInsertBlock(), *head = NewBlock("test"),
             *trip = NewBlock("trip"), *after = NewBlock("after");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  const std::vector<PHINode*> phis = PhisLike(builder_, initial);
  AddIncoming(phis, initial, before);
  DefineFromParts(test.params, AsValues(phis));
  llvm::BasicBlock* const outer = std::exchange(emission_.loop, head);
  EmitBlock(test);
  builder_.CreateCondBr(ValueOf(test.results[0]), trip, after);
  BasicBlock* const tested = builder_.GetInsertBlock();
  builder_.SetInsertPoint(trip);
  DefineFromParts(body.params, AsValues(phis));
  ++loops_around_;
  const size_t ending = InKernel() || IsRemote() ? body.bindings.size() : EndingOf(binding);
  EmitBindings(body, 0, ending);
  Ending last;
  if (ending < body.bindings.size()) last = EmitEnding(body, ending, after);
  --loops_around_;
  emission_.loop = outer;
  const Parts next = PartsOf(body.params, body.results);
  AddIncoming(phis, next, builder_.GetInsertBlock());
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
  if (last.from == nullptr) return DefineFromParts(binding.results, AsValues(phis));
  const std::vector<PHINode*> results = PhisLike(builder_, initial);
  AddIncoming(results, AsValues(phis), tested);
  AddIncoming(results, last.parts, last.from);
  DefineFromParts(binding.results, AsValues(results));
}

}  // namespace parakeet::backends
