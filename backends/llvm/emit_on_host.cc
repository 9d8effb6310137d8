// Loops that the host of a call on a device runs in the place of kernels, on copies of the arrays.
//
// At its beginning each array that the loop touches is copied to the host (the runtime copies the
// memory of two arrays once where they share it), and what is stored to goes back at its end, also
// behind a failure. Inside, arrays are the copies, and memory that is allocated is the host's.
#include <algorithm>
#include <utility>

#include "backends/llvm/function_emitter.h"
#include "backends/llvm/runtime_calls.h"
#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Value;

bool MayMeet(const ArrayFacts& a, const ArrayFacts& b) {
  if (a.anywhere || b.anywhere) return true;
  return std::any_of(a.roots.begin(), a.roots.end(),
                     [&](int root) { return b.roots.contains(root); });
}

}  // namespace

void FunctionEmitter::EmitOnHost(const ir::Binding& loop) {
  const auto outer_arrays = arrays_;
  const FailureTarget outer_failure = failure_;
  BasicBlock* const failed = NewBlock("copies_failed");
  failure_ = {failed, nullptr};
  CopyToHost(loop);
  is_on_copies_ = true;
  EmitLoop(loop);
  is_on_copies_ = false;
  failure_ = outer_failure;
  EndCopies(failed);
  arrays_ = outer_arrays;
}

void FunctionEmitter::CopyToHost(const ir::Binding& loop) {
  const ir::Block block{{}, {&loop}, {}};
  std::vector<ArrayFacts> stored;
  ir::ForEachBinding(block, [&](const ir::Binding& b) {
    for (const size_t k : ir::StoredOperands(b)) stored.push_back(facts_.Of(b.operands[k].var()));
  });
  std::vector<const ir::Var*> touched;
  const ir::VarSet inside = ir::DefinedVars(block);
  ir::ForEachUse(block, [&](const ir::Var* value) {
    const bool is_seen = std::find(touched.begin(), touched.end(), value) != touched.end();
    if (value->type.IsArray() && !inside.contains(value) && !is_seen) touched.push_back(value);
  });
  for (const ir::Var* array : touched) {
    const bool is_written = std::any_of(stored.begin(), stored.end(), [&](const ArrayFacts& to) {
      return MayMeet(to, facts_.Of(array));
    });
    Value* device = ArrayOf(array).data;
    Value* host = builder_.CreateCall(PkDeviceCopyToHost(emission_),
                                      {Local(call_), device, builder_.getInt32(is_written)});
    // An array without elements may be nowhere.
    ContinueUnless(
        builder_.CreateAnd(builder_.CreateIsNull(host), builder_.CreateIsNotNull(device)));
    arrays_[array].data = host;
  }
}

void FunctionEmitter::EndCopies(BasicBlock* failed) {
  const auto end = [&] {
    return builder_.CreateCall(PkDeviceEndCopies(emission_), {Local(call_)});
  };
  ContinueUnless(builder_.CreateIsNotNull(end()));
  if (failed->use_empty()) {
    failed->eraseFromParent();
    return;
  }
  const llvm::IRBuilder<>::InsertPoint here = builder_.saveIP();
  builder_.SetInsertPoint(failed);
  end();
  GoToFailure();
  builder_.restoreIP(here);
}

}  // namespace parakeet::backends
