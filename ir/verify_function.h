#ifndef PARAKEET_IR_VERIFY_FUNCTION_H_
#define PARAKEET_IR_VERIFY_FUNCTION_H_

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/breaches.h"
#include "ir/node.h"
#include "ir/store_roots.h"
#include "ir/verify_binding.h"

namespace parakeet::ir {

// Walks one function once: definitions and reads, types and constants, stores; and hands each
// binding to BindingVerifier.
class FunctionVerifier {
 public:
  FunctionVerifier(const Surroundings& surroundings, Breaches* breaches)
      : around_(surroundings), breaches_(*breaches) {}

  void Verify(const Function& function);

 private:
  void VerifyParams(const Function& function);
  void VerifyResults(const Function& function);
  // `operators`: how many blocks of data-parallel operators are around.
  void Walk(const Block& block, int operators, const Binding* owner);
  void Walk(const Binding& binding, int operators);
  // The sizes of arrays that a data-parallel operator's block yields, at the block's end.
  void VerifyYieldedSizes(const Block& block);

  void Define(const Var* var);
  void Read(const Operand& operand);
  void VerifyType(const Type& type);

  const Surroundings& around_;
  Breaches& breaches_;
  StoreRoots roots_;
  std::unordered_map<const Var*, int>
      nesting_;                      // Of the block that defines it; -1 when that has ended.
  std::vector<const Var*> defined_;  // What is in scope, the newest last.
  std::unordered_set<const Block*> walked_;
  int depth_ = 0;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_VERIFY_FUNCTION_H_
