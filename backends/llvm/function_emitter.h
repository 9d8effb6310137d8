// Writes one function of scheduled IR, with the bodies of its parallel loops, into a module.
//
// The parts by file: emit_function.cc (parameters, values), emit_returns.cc, emit_control.cc
// (blocks, if, loops), emit_paths.cc (loops whose steps end on several paths),
// emit_parallel_loops.cc, emit_kernels.cc, emit_on_host.cc, emit_apart.cc, emit_checks.cc,
// emit_memory.cc, emit_lanes.cc, emit_calls.cc, emit_library_calls.cc.
#ifndef PARAKEET_BACKENDS_LLVM_FUNCTION_EMITTER_H_
#define PARAKEET_BACKENDS_LLVM_FUNCTION_EMITTER_H_

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backends/llvm/alias_scopes.h"
#include "backends/llvm/array_facts.h"
#include "backends/llvm/captures.h"
#include "backends/llvm/choose_apart.h"
#include "backends/llvm/counters.h"
#include "backends/llvm/emission.h"
#include "backends/llvm/kernel_runner.h"
#include "backends/llvm/memory_access.h"
#include "backends/llvm/share_parts.h"
#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::backends {

// An array value at run time. `root` is abi.h's number of a parameter, or -1 where it is memory of
// its own, whose address as pk_alloc gave it is `base`. Sizes are in elements, strides in bytes;
// all three are i64.
struct ArrayValue {
  llvm::Value* data = nullptr;
  llvm::Value* base = nullptr;
  llvm::Value* root = nullptr;
  std::vector<llvm::Value*> sizes;
  std::vector<llvm::Value*> strides;
};

// A function that calls go to. Its arguments are the stack (abi.h's PkStack), how many calls there
// is room for, the place of the call where it may fail a check, and the parts of each parameter.
// Its result is whether it failed, and the parts of each result.
struct Callee {
  llvm::Function* function = nullptr;
  bool takes_place = false;
  bool asks_late = false;  // for room: whoever calls it has asked whether there is any for it
};

// The functions that calls may go to, by name.
using CalleeTable = std::map<std::string, Callee, std::less<>>;

class FunctionEmitter {
 public:
  // The entry, whose signature is that of PkEntry, or a callee. All arguments outlive the emitter.
  FunctionEmitter(Emission& emission, const CalleeTable& callees, const ir::Function& source,
                  llvm::Function* entry);
  FunctionEmitter(Emission& emission, const CalleeTable& callees, const ir::Function& source,
                  const Callee& callee);

  // Throws a Bug for what is not of the scheduled stage.
  void Emit();

  static llvm::FunctionType* CalleeType(Emission& emission, const ir::Function& source,
                                        bool takes_place);

 private:
  using Parts = std::vector<llvm::Value*>;

  // Where control goes after a failure: to a block, once `flag`, if there is one, holds 1.
  struct FailureTarget {
    llvm::BasicBlock* block = nullptr;
    llvm::Value* flag = nullptr;
  };

  FunctionEmitter(Emission& emission, const CalleeTable& callees, const ir::Function& source,
                  llvm::Function* function, const Callee* self);

  // emit_function.cc
  void EmitEntryParams();
  void EmitCalleeParams();
  void EmitParamArray(const ir::Param& param, ArrayValue array);
  void EmitFailureExit();
  // A value of the function as the code being written sees it: captured, inside a parallel body.
  llvm::Value* Local(llvm::Value* value);
  Number NumberOf(const ir::Operand& operand);
  llvm::Value* ValueOf(const ir::Operand& operand) { return NumberOf(operand).value; }
  ArrayValue ArrayOf(const ir::Operand& operand);
  std::vector<llvm::Value*> SizesOf(const ir::Type& type);
  std::vector<llvm::Value*> ContiguousStrides(const ir::Type& type, MemoryOrder order,
                                              const std::vector<llvm::Value*>& sizes);

  // The LLVM values that make a value of the type and order of `like`: what phis and calls carry.
  // Sizes are not among them, and strides only where the order does not give them.
  void AppendParts(const ir::Var* like, const ir::Operand& from, Parts& parts);
  Parts PartsOf(const std::vector<const ir::Var*>& like, llvm::ArrayRef<ir::Operand> from);
  void DefineFromParts(const std::vector<const ir::Var*>& vars, llvm::ArrayRef<llvm::Value*> parts);

  // emit_returns.cc
  void EmitEntryReturn();
  void EmitCalleeReturn();
  llvm::Value* AsSlot(llvm::Value* value, ir::DType dtype);
  void EmitArrayResult(const ArrayValue& array, llvm::Value* root, int64_t slot);

  // emit_control.cc
  void EmitBlock(const ir::Block& block);
  void EmitBindings(const ir::Block& block, size_t begin, size_t end);
  void EmitBinding(const ir::Binding& binding);
  void EmitScalar(const ir::Binding& binding);
  void EmitIf(const ir::Binding& binding);
  void EmitLoop(const ir::Binding& binding);
  void EmitFor(const ir::Binding& binding);
  void EmitWhile(const ir::Binding& binding);
  void EmitTestedWhile(const ir::Binding& loop);
  // What a loop carries where its last step has left it, and from where.
  struct Ending {
    Parts parts;
    llvm::BasicBlock* from = nullptr;
  };
  Ending EmitEnding(const ir::Block& body, size_t at, llvm::BasicBlock* after);
  llvm::BasicBlock* NewBlock(const char* name);

  // emit_paths.cc
  bool EndsOnPaths(const ir::Binding& loop) const;
  void EmitPaths(const ir::Block& block, const std::function<void()>& finish);
  void EmitWhileOnPaths(const ir::Binding& loop);

  // emit_parallel_loops.cc
  void EmitParallel(const ir::Binding& loop);
  void EmitTeam(const ir::Binding& team);
  void EmitAligned(const ir::Binding& aligned);
  void EmitForked(const ir::Binding& loop, llvm::AllocaInst* flag);
  ParallelRunner::Body Outlined(const ir::Binding& loop, llvm::AllocaInst* flag);
  void EmitTrips(const ir::Binding& loop, llvm::Value* begin, llvm::Value* end, llvm::Value* flag);
  llvm::Value* TripCount(const ir::Binding& loop);
  void FailIfSet(llvm::AllocaInst* flag);

  // emit_apart.cc
  struct CaptureMemory {
    llvm::AllocaInst* memory;
    int64_t bytes;
    int64_t own_bytes;  // as far as a kernel is launched with them
    bool are_elsewhere;
  };
  // Lets `write` write the body of `function`, whose argument 0 is the call and 1 what it captures;
  // then, in the function around it, fills memory with that.
  CaptureMemory WriteInside(llvm::Function* function, llvm::function_ref<void()> write);
  // What a part gives back: constants, and null for what its memory holds, in order.
  struct PartResults {
    Parts parts;
    llvm::StructType* layout = nullptr;
    bool can_fail = false;
  };
  void EmitApart(const ir::Binding& binding);
  // The binding as the function for it says it, which begins here.
  const ir::Binding& TakeConstants(const ir::Binding& binding);
  PartResults WritePart(const ir::Binding& binding);

  // emit_kernels.cc
  // A kernel being written; none where `body` is null.
  struct Kernel {
    int64_t threads = 0;
    const ir::Block* body = nullptr;
    KernelTraits traits;
    bool in_thread = false;
    bool has_loaded = false;                 // Its threads have read alike since they last waited.
    std::unordered_set<const ir::Var*> own;  // Arrays of single threads.
  };
  bool InKernel() const { return kernel_.body != nullptr; }
  // What captures begin with.
  int64_t RuntimeBytes() const;
  llvm::Value* BlockNumber();
  void EmitLaunch(const ir::Binding& grid);
  void WriteKernel(const ir::Binding& grid);
  void EmitThreads(const ir::Binding& loop);
  void WaitForBlock();
  void WaitForWarp();
  // Of a loop that every thread of a block goes through: what it reads, its next turn has read.
  void EnterLoopOfBlock(const ir::Block& body);
  void EmitPrivateAlloc(const ir::Binding& alloc);
  Number LoadOwn(const ir::Binding& b);
  void EmitMatch(const ir::Binding& match);
  void EmitShuffle(const ir::Binding& shuffle);
  bool GoesThroughOwn(const ir::Block& body) const;
  void EmitSharedAlloc(const ir::Binding& alloc);
  llvm::Function* AllocateFunction();
  llvm::Function* FreeFunction();
  llvm::Function* FailFunction();
  void CheckAccess(const ir::Operand& array, llvm::Value* address, int access);
  Number ReadFromDevice(const ir::Operand& array, llvm::Value* address);
  void WriteToDevice(const ir::Operand& array, llvm::Value* address, const Number& number);

  // emit_on_host.cc
  // Whether the code being written is the host's, around kernels: memory is elsewhere.
  bool IsRemote() const { return emission_.kernels != nullptr && !InKernel() && !is_on_copies_; }
  void EmitOnHost(const ir::Binding& loop);
  void CopyToHost(const ir::Binding& loop);
  void EndCopies(llvm::BasicBlock* failed);

  // emit_checks.cc
  void EmitCheck(const ir::Binding& check);
  void GoToFailure();
  void ContinueUnless(llvm::Value* failed);
  // The operands as slots on the stack; null when there are none.
  llvm::Value* StoreSlots(llvm::ArrayRef<ir::Operand> operands, llvm::Value*& count);
  // What a callee's checks put before their places, as a node of PlaceNode's type.
  llvm::Value* EmitPlaceNode(llvm::ArrayRef<ir::Operand> place);

  // emit_memory.cc
  bool IsOnStack(const ir::Var* array) const;
  void EmitAlloc(const ir::Binding& alloc);
  void EmitFree(const ir::Binding& free);
  void EmitMark(const ir::Binding& mark);
  void EmitLoad(const ir::Binding& load);
  void EmitAtomic(const ir::Binding& atomic);
  void EmitAtomicLoad(const ir::Binding& atomic, llvm::Value* address);
  void EmitPrefetch(const ir::Binding& prefetch);
  void EmitDrain();
  void EmitStore(const ir::Binding& store);
  void EmitView(const ir::Binding& view);
  MemoryTraits TraitsOf(const ir::Operand& array);
  llvm::Value* AddressOf(const ir::Operand& array, llvm::ArrayRef<ir::Operand> index, bool inside);

  // emit_lanes.cc
  void EmitLanes(const ir::Binding& binding);
  void EmitLoadLanes(const ir::Binding& load);
  void EmitStoreLanes(const ir::Binding& store);
  bool IsOfNeighbours(const ir::Binding& access);
  void CheckLanes(const ir::Operand& array, const LanesPlace& place, int access);
  MemoryTraits TraitsOfWhole(const ir::Operand& array, const LanesPlace& place);
  LanesPlace PlaceOf(const ir::Binding& binding, int lanes);
  void AddIndexVectors(const ir::Binding& binding, LanesPlace& place);

  // emit_calls.cc
  void EmitCall(const ir::Binding& call);
  void EmitEnter();
  void AskForRoom(llvm::Value* room);
  void RefuseWithout(llvm::Value* room);
  void ReturnFailed();
  // What callees are handed first: the stack of this thread and the room on it.
  std::pair<llvm::Value*, llvm::Value*> FindStack();

  // emit_library_calls.cc
  void EmitLibraryCall(const ir::Binding& call);
  void EmitDeviceRoutine(const ir::Binding& call);
  llvm::Value* StoreWords(llvm::ArrayRef<llvm::Value*> words);

  llvm::Value* I64(int64_t value) { return builder_.getInt64(value); }
  // The address of a slot of 8 bytes.
  llvm::Value* SlotAddress(llvm::Value* slots, int64_t index);
  // Memory of the frame of the function being written.
  llvm::AllocaInst* OnStack(llvm::Type* type);

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const CalleeTable& callees_;
  const ir::Function& source_;
  const Callee* self_;  // null in the entry
  ArrayAnalysis facts_;
  ir::VarSet stack_arrays_;
  std::unordered_set<const ir::Block*> asking_;  // for room, as they begin
  const ir::Binding* next_ = nullptr;  // Behind the binding whose code begins, in its block.
  AliasScopes scopes_;

  ir::Arena arena_;
  ChosenParts apart_;
  SharedParts shared_;

  // The one being written: the function itself, a part of it or a parallel body.
  llvm::Function* function_;
  llvm::Value* call_ = nullptr;
  llvm::Value* stack_ = nullptr;  // null in the entry, as is `room_`
  llvm::Value* room_ = nullptr;
  llvm::Value* caller_place_ = nullptr;  // null in the entry, and where no check can fail
  llvm::Value* results_ = nullptr;       // of the entry
  FailureTarget failure_;
  Captures* captures_ = nullptr;  // null in the function itself
  ir::VarSet counters_;           // of loops that are entered, which never wrap around
  int launch_group_ = 0;          // of what is written: another in each side of a branch
  int loops_around_ = 0;          // sequential ones
  bool in_parallel_ = false;      // a team is at work
  bool is_on_copies_ = false;     // of arrays of the device, which the host works on
  Kernel kernel_;
  std::unordered_map<const ir::Var*, Number> numbers_;
  std::unordered_map<const ir::Var*, ArrayValue> arrays_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_FUNCTION_EMITTER_H_
