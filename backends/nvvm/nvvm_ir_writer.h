// The parts of write_nvvm_ir.h: types and constants, instructions, and what holds them.
#ifndef PARAKEET_BACKENDS_NVVM_NVVM_IR_WRITER_H_
#define PARAKEET_BACKENDS_NVVM_NVVM_IR_WRITER_H_

#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

namespace parakeet::backends {

// A pointer's type is that of a pointer to bytes in its address space. In front of a use that needs
// another, the instruction's line is preceded by a cast.
class NvvmIrWriter {
 public:
  explicit NvvmIrWriter(const llvm::Module& module) : module_(module) {}

  std::string Write();

 private:
  using Type = llvm::Type;
  using Value = llvm::Value;

  // --- Types and constants (write_nvvm_constants.cc) ---

  std::string NameOf(const Type* type);
  std::string NameOf(const llvm::FunctionType* type, const llvm::AttributeList& attributes = {});
  // A pointer to elements of a type: "float addrspace(1)*".
  std::string PointerTo(const Type* element, unsigned space);
  // The type of an argument; one by value points to what it holds.
  std::string ParameterType(const llvm::FunctionType* type, unsigned index,
                            const llvm::AttributeList& attributes);
  std::string NameOf(const llvm::GlobalValue& global);
  // Globals of the generic space are in global memory.
  static unsigned SpaceOf(const llvm::GlobalVariable& global);
  // As an operand, without its type.
  std::string TextOf(const llvm::Constant& constant);
  std::string Typed(const llvm::Constant& constant);
  std::string TextOf(const llvm::ConstantExpr& expression);
  std::string TextOf(const llvm::GlobalValue& global);
  std::string ConstantAddress(const llvm::GEPOperator& address);
  std::string Elements(const llvm::Constant& constant, const char* open, const char* close);

  // --- Instructions (write_nvvm_instructions.cc) ---

  void Write(const llvm::Instruction& instruction);
  std::string TextOf(const Value* value);  // of a constant, local value or block
  std::string Typed(const Value* value);
  std::string Typed(const llvm::Use& use) { return Typed(use.get()); }
  // "float* %t3", a cast of the pointer written before.
  std::string As(const Type* element, const Value* pointer);
  std::string Fresh() { return "%t" + std::to_string(next_temporary_++); }
  void Line(const std::string& text);
  // Gives the instruction its name.
  void Define(const llvm::Instruction& instruction, const std::string& text);
  // The same where the text makes a pointer to such an element.
  void DefinePointer(const llvm::Instruction& instruction, const Type* element,
                     const std::string& text);
  std::string Operands(const llvm::Instruction& instruction);
  std::string ListOf(const llvm::Instruction& instruction);
  void WritePhi(const llvm::PHINode& phi);
  void WriteBranch(const llvm::BranchInst& branch);
  void WriteSwitch(const llvm::SwitchInst& choice);
  void WriteShuffle(const llvm::ShuffleVectorInst& shuffle);
  void WriteAggregate(const llvm::Instruction& instruction, llvm::ArrayRef<unsigned> indices);
  void WriteAlloca(const llvm::AllocaInst& variable);
  void WriteAddress(const llvm::GetElementPtrInst& address);
  void WriteLoad(const llvm::LoadInst& load);
  void WriteStore(const llvm::StoreInst& store);
  void WriteAtomic(const llvm::AtomicRMWInst& rmw);
  void WriteFloatAtomic(const llvm::AtomicRMWInst& rmw);
  void WriteExchange(const llvm::AtomicCmpXchgInst& exchange);
  void WriteCall(const llvm::CallInst& call);
  // Of the function that is called; intrinsics that LLVM 7 knows under the names they have there.
  std::string CalleeOf(const llvm::CallInst& call);

  // --- Functions, globals, metadata (write_nvvm_ir.cc) ---

  void WriteGlobal(const llvm::GlobalVariable& global);
  void WriteFunction(const llvm::Function& function);
  void WriteBody(const llvm::Function& function);
  void WriteIntrinsics();
  void WriteMetadata();
  std::string ParametersOf(const llvm::Function& function);
  std::string AttributesOf(const llvm::AttributeSet& parameter);
  std::string AttributesOf(const llvm::AttributeList& attributes, llvm::MemoryEffects effects);
  // ", !range !3", of what LLVM 7 reads.
  std::string MetadataOf(const llvm::Instruction& instruction);
  std::string NameOf(const llvm::MDNode& node);
  std::string TextOf(const llvm::MDNode& node);
  std::string TextOf(const llvm::Metadata* part);

  const llvm::Module& module_;
  std::string text_;
  llvm::DenseMap<const Value*, std::string> names_;      // of the function's values and blocks
  llvm::DenseMap<const Value*, std::string> unnamed_;    // globals without a name
  std::map<std::string, std::string> intrinsics_;        // their declarations
  llvm::DenseMap<const llvm::MDNode*, unsigned> nodes_;  // numbers of metadata
  std::vector<const llvm::MDNode*> node_order_;
  unsigned next_temporary_ = 0;
};

// Throws a Limitation: libNVVM is not given this.
[[noreturn]] void RefuseForNvvm(const std::string& what);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_NVVM_IR_WRITER_H_
