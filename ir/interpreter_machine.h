#ifndef PARAKEET_IR_INTERPRETER_MACHINE_H_
#define PARAKEET_IR_INTERPRETER_MACHINE_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/interpreter.h"
#include "ir/interpreter_code.h"

namespace parakeet::ir {

// One run of a program. A failing check throws its RunError, which ends the run; a program that is
// not valid throws a Bug. Steps read and write the frame of the innermost call.
class Machine {
 public:
  Machine(const Program& program, const CallLibrary& library);

  Values Call(std::string_view function, Values arguments);

 private:
  // --- interpreter.cc ---
  const FunctionCode& CodeOf(std::string_view function);
  void Lend(const Values& arguments);
  void BindArguments(const FunctionCode& code, Values arguments);
  void Run(const BlockCode& block);
  // Sets the block's parameters, from `first` on, and runs it.
  void SetParams(const BlockCode& block, Values values, size_t first = 0);
  Values ResultsOf(const BlockCode& block) const;
  void Execute(const Step& step);
  void ExecuteArrays(const Step& step);
  void ExecuteLanes(const Step& step);
  void CheckSizes(const Step& step) const;
  // Throws a Bug where a value is not of the type, whose sizes are in these slots.
  void CheckType(const RuntimeValue& value, const Type& type, const std::vector<int>& sizes,
                 const std::string& what) const;
  void CheckResults(const FunctionCode& code, const Values& results);

  // --- What steps read and write. ---
  const RuntimeValue& At(int slot) const { return frame_[slot]; }
  const Constant& ScalarAt(int slot) const;
  const ArrayValue& ArrayAt(int slot) const;
  int64_t IntAt(int slot) const { return ScalarAt(slot).integer; }
  // The scalar, or lane `lane` of the vector.
  const Constant& LaneAt(int slot, int lane) const;
  std::vector<int64_t> IntsAt(const std::vector<int>& slots, size_t first, size_t count) const;
  void Set(const Step& step, size_t result, RuntimeValue value) {
    frame_[step.results[result]] = std::move(value);
  }
  void SetAll(const Step& step, Values values);
  // A vector of the result's lanes; a scalar where it has one.
  void SetLanes(const Step& step, std::vector<Constant> lanes);
  ArrayValue New(DType dtype, std::vector<int64_t> sizes, bool fortran = false) const;
  // A new array for a result: `leading` sizes, then those of its type's further axes.
  ArrayValue NewResult(const Step& step, size_t result, std::vector<int64_t> leading) const;

  // --- interpreter_scalars.cc ---
  void Scalar(const Step& step);
  void Check(const Step& step);
  void BroadcastSize(const Step& step);

  // --- interpreter_control.cc ---
  void If(const Step& step);
  void For(const Step& step);
  void While(const Step& step);
  void CallFunction(const Step& step);

  // --- interpreter_library.cc ---
  void LibraryCall(const Step& step);
  void AppendOperand(const Step& step, size_t operand, std::vector<uint64_t>& words) const;

  // --- interpreter_memory.cc ---
  void Alloc(const Step& step);
  void Free(const Step& step);
  void Load(const Step& step);
  void Store(const Step& step);
  void Atomic(const Step& step);
  void Match(const Step& step);
  void Shuffle(const Step& step);

  // --- interpreter_views.cc ---
  void Slice(const Step& step);
  void Transpose(const Step& step);
  void Broadcast(const Step& step);
  void Reshape(const Step& step);
  void View(const Step& step);

  // --- interpreter_operators.cc ---
  // The index space of an operator, and block 0 at one of its indexes: on elements, slices or
  // indexes.
  std::vector<int64_t> ExtentsOf(const Step& step) const;
  void RunElement(const Step& step, const Index& index);
  // Writes what a block yielded, a scalar or an array, at an index of the array's leading axes.
  static void WriteAt(const ArrayValue& array, const Index& index, const RuntimeValue& value);
  void Map(const Step& step);
  void Foreach(const Step& step);
  void Filter(const Step& step);
  void Contract(const Step& step);
  // What the third block makes of a contraction's totals at `index`.
  Values Epilogue(const BlockCode& block, const Index& index, Values totals);

  // --- interpreter_reductions.cc ---
  bool HasInits(const Step& step) const {
    return step.operands.size() > step.blocks[0].params.size();
  }
  Values InitsOf(const Step& step) const;
  Values Combine(const Step& step, Values left, Values right);
  Values CombineBy(const BlockCode& block, Values left, Values right);
  // Folds `right` into the accumulators; starts them where they are empty.
  void Accumulate(const Step& step, Values& accumulators, Values right);
  Values Identities(const Step& step) const;
  Values Element(const Step& step, const Index& index);
  // The reduction over the index space whose leading indexes are `outer`; empty when it has no
  // element and no init.
  Values ReduceFrom(const Step& step, const Index& outer, const std::vector<int64_t>& extents);
  Values FoldInOrder(const Step& step, const Index& outer, const std::vector<int64_t>& extents);
  Values FoldInRuns(const Step& step, const Index& outer, int64_t size, int64_t run);
  Values Tree(const Step& step, const Index& outer, const std::vector<int64_t>& extents);
  Values RunOfLanes(const Step& step, Index& index, int64_t lo, int64_t hi);
  Values CombineHalves(const Step& step, std::vector<Values> lanes);
  Values CombineByLanes(const Step& step, std::vector<Values> parts);
  Values CombineNeighbours(const Step& step, std::vector<Values> parts);
  void Reduce(const Step& step);
  void Scan(const Step& step);
  void Lanes(const Step& step);

  // --- interpreter_lanes.cc ---
  void Iota(const Step& step);
  void Team(const Step& step);
  void LoadLanes(const Step& step);
  void StoreLanes(const Step& step);
  void Interleave(const Step& step);
  void Slide(const Step& step);
  void Half(const Step& step, bool high);
  void Extract(const Step& step);
  void AnyOrAll(const Step& step);
  void FirstLane(const Step& step);
  // The place of lane `lane`, null where the mask excludes it. The index is operands 1 to rank.
  std::byte* LanePlace(const Step& step, int lane) const;

  const Program& program_;
  const CallLibrary& library_;
  std::unordered_map<std::string_view, std::unique_ptr<FunctionCode>> codes_;
  Values frame_;
  std::vector<Constant> scratch_;
  int depth_ = 0;
  std::unordered_set<const void*> lent_;  // Storages of the arguments: not the program's to free.
  // Freed storages; a new one at the address of one that is gone is another.
  std::set<std::weak_ptr<Storage::element_type>, std::owner_less<>> freed_;
  const std::byte* stack_start_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_INTERPRETER_MACHINE_H_
