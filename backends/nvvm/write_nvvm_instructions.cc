// Instructions in libNVVM's dialect.
#include "backends/nvvm/nvvm_ir_writer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

namespace parakeet::backends {
namespace {

using llvm::Instruction;

std::string FlagsOf(const Instruction& instruction) {
  std::string flags;
  if (const auto* math = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&instruction)) {
    if (math->hasNoUnsignedWrap()) flags += " nuw";
    if (math->hasNoSignedWrap()) flags += " nsw";
  }
  if (const auto* exact = llvm::dyn_cast<llvm::PossiblyExactOperator>(&instruction)) {
    if (exact->isExact()) flags += " exact";
  }
  const bool takes_fast =  // LLVM 7 has no such flags on selections and phis.
      llvm::isa<llvm::FPMathOperator>(instruction) && !llvm::isa<llvm::PHINode>(instruction) &&
      !llvm::isa<llvm::SelectInst>(instruction);
  if (!takes_fast) return flags;
  const llvm::FastMathFlags fast = instruction.getFastMathFlags();
  if (fast.isFast()) return flags + " fast";
  if (fast.noNaNs()) flags += " nnan";
  if (fast.noInfs()) flags += " ninf";
  if (fast.noSignedZeros()) flags += " nsz";
  if (fast.allowReciprocal()) flags += " arcp";
  if (fast.allowContract()) flags += " contract";
  if (fast.approxFunc()) flags += " afn";
  if (fast.allowReassoc()) flags += " reassoc";
  return flags;
}

// Of those that libNVVM compiles for every architecture: another may end the process.
bool IsKnownIntrinsic(llvm::StringRef name) {
  constexpr const char* kKnown[] = {
      "llvm.bitreverse.",
      "llvm.bswap.",
      "llvm.convert.from.fp16.",
      "llvm.convert.to.fp16.",
      "llvm.ctlz.",
      "llvm.ctpop.",
      "llvm.cttz.",
      "llvm.fma.",
      "llvm.fmuladd.",
      "llvm.fshl.",
      "llvm.fshr.",
      "llvm.memcpy.",
      "llvm.memmove.",
      "llvm.memset.",
      "llvm.sadd.with.",
      "llvm.smul.with.",
      "llvm.ssub.with.",
      "llvm.uadd.with.",
      "llvm.umul.with.",
      "llvm.usub.with.",
      "llvm.sqrt.",
      "llvm.trap",
      "llvm.nvvm.barrier0",
      "llvm.nvvm.bar.warp.sync",
      "llvm.nvvm.membar.",
      "llvm.nvvm.read.ptx.sreg.",
      "llvm.nvvm.shfl.sync.",
      "llvm.nvvm.vote.",
  };
  for (const char* known : kKnown) {
    if (name.starts_with(known)) return true;
  }
  return false;
}

std::string AlignmentOf(llvm::Align alignment) {
  return ", align " + std::to_string(alignment.value());
}

const char* Volatile(bool is_volatile) { return is_volatile ? "volatile " : ""; }

}  // namespace

void NvvmIrWriter::Line(const std::string& text) { text_ += "  " + text + "\n"; }

std::string NvvmIrWriter::TextOf(const Value* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return TextOf(*constant);
  const auto known = names_.find(value);
  if (known == names_.end()) RefuseForNvvm("a value that is no constant and none of the function");
  return known->second;
}

std::string NvvmIrWriter::Typed(const Value* value) {
  return NameOf(value->getType()) + " " + TextOf(value);
}

std::string NvvmIrWriter::As(const Type* element, const Value* pointer) {
  if (element->isIntegerTy(8)) return Typed(pointer);
  const std::string type = PointerTo(element, pointer->getType()->getPointerAddressSpace());
  const std::string cast = Fresh();
  Line(cast + " = bitcast " + Typed(pointer) + " to " + type);
  return type + " " + cast;
}

void NvvmIrWriter::Define(const Instruction& instruction, const std::string& text) {
  Line(names_.at(&instruction) + " = " + text + MetadataOf(instruction));
}

void NvvmIrWriter::DefinePointer(const Instruction& instruction, const Type* element,
                                 const std::string& text) {
  if (element->isIntegerTy(8)) return Define(instruction, text);
  const std::string pointer = Fresh();
  Line(pointer + " = " + text);
  Define(instruction, "bitcast " +
                          PointerTo(element, instruction.getType()->getPointerAddressSpace()) +
                          " " + pointer + " to " + NameOf(instruction.getType()));
}

// "float %a, %b": of one type.
std::string NvvmIrWriter::Operands(const Instruction& instruction) {
  return Typed(instruction.getOperand(0)) + ", " + TextOf(instruction.getOperand(1));
}

// "i1 %a, float %b, float %c": each with its type.
std::string NvvmIrWriter::ListOf(const Instruction& instruction) {
  std::string text;
  for (const llvm::Use& operand : instruction.operands())
    text += (text.empty() ? "" : ", ") + Typed(operand);
  return text;
}

void NvvmIrWriter::WritePhi(const llvm::PHINode& phi) {
  std::string text = "phi " + NameOf(phi.getType());
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    text += std::string(i == 0 ? " [ " : ", [ ") + TextOf(phi.getIncomingValue(i)) + ", " +
            TextOf(phi.getIncomingBlock(i)) + " ]";
  }
  Define(phi, text);
}

void NvvmIrWriter::WriteBranch(const llvm::BranchInst& branch) {
  std::string text = "br ";
  if (branch.isConditional()) text += Typed(branch.getCondition()) + ", ";
  text += "label " + TextOf(branch.getSuccessor(0));
  if (branch.isConditional()) text += ", label " + TextOf(branch.getSuccessor(1));
  Line(text + MetadataOf(branch));
}

void NvvmIrWriter::WriteSwitch(const llvm::SwitchInst& choice) {
  std::string text = "switch " + Typed(choice.getCondition()) + ", label " +
                     TextOf(choice.getDefaultDest()) + " [";
  for (const auto& each : choice.cases()) {
    text += " " + Typed(static_cast<const llvm::Constant&>(*each.getCaseValue())) + ", label " +
            TextOf(each.getCaseSuccessor());
  }
  Line(text + " ]");
}

void NvvmIrWriter::WriteShuffle(const llvm::ShuffleVectorInst& shuffle) {
  std::string mask;
  for (int lane : shuffle.getShuffleMask()) {
    mask += (mask.empty() ? "i32 " : ", i32 ") + (lane < 0 ? "undef" : std::to_string(lane));
  }
  Define(shuffle, "shufflevector " + ListOf(shuffle) + ", <" +
                      std::to_string(shuffle.getShuffleMask().size()) + " x i32> <" + mask + ">");
}

void NvvmIrWriter::WriteAggregate(const Instruction& instruction,
                                  llvm::ArrayRef<unsigned> indices) {
  std::string text = std::string(instruction.getOpcodeName()) + " " + ListOf(instruction);
  for (unsigned index : indices) text += ", " + std::to_string(index);
  Define(instruction, text);
}

void NvvmIrWriter::WriteAlloca(const llvm::AllocaInst& variable) {
  if (variable.isArrayAllocation()) RefuseForNvvm("'alloca' of a number of elements");
  const Type* type = variable.getAllocatedType();
  DefinePointer(variable, type, "alloca " + NameOf(type) + AlignmentOf(variable.getAlign()));
}

void NvvmIrWriter::WriteAddress(const llvm::GetElementPtrInst& address) {
  if (address.getType()->isVectorTy()) RefuseForNvvm("'getelementptr' of vectors");
  const Type* source = address.getSourceElementType();
  std::string text = std::string("getelementptr ") + (address.isInBounds() ? "inbounds " : "") +
                     NameOf(source) + ", " + As(source, address.getPointerOperand());
  for (const llvm::Use& index : address.indices()) text += ", " + Typed(index);
  DefinePointer(address, address.getResultElementType(), text);
}

void NvvmIrWriter::WriteLoad(const llvm::LoadInst& load) {
  if (load.isAtomic()) RefuseForNvvm("an atomic 'load'");
  const Type* type = load.getType();
  const std::string from = As(type, load.getPointerOperand());
  Define(load, std::string("load ") + Volatile(load.isVolatile()) + NameOf(type) + ", " + from +
                   AlignmentOf(load.getAlign()));
}

void NvvmIrWriter::WriteStore(const llvm::StoreInst& store) {
  if (store.isAtomic()) RefuseForNvvm("an atomic 'store'");
  const Value* value = store.getValueOperand();
  const std::string to = As(value->getType(), store.getPointerOperand());
  Line(std::string("store ") + Volatile(store.isVolatile()) + Typed(value) + ", " + to +
       AlignmentOf(store.getAlign()) + MetadataOf(store));
}

void NvvmIrWriter::WriteAtomic(const llvm::AtomicRMWInst& rmw) {
  using Atomic = llvm::AtomicRMWInst;
  const Type* type = rmw.getType();
  const llvm::StringRef name = Atomic::getOperationName(rmw.getOperation());
  if (rmw.getOperation() == Atomic::FAdd) return WriteFloatAtomic(rmw);
  const bool is_known = rmw.getOperation() <= Atomic::UMin && rmw.getOperation() != Atomic::Nand &&
                        (type->isIntegerTy(32) || type->isIntegerTy(64)) &&
                        rmw.getOrdering() == llvm::AtomicOrdering::Monotonic;
  if (!is_known) RefuseForNvvm("'atomicrmw " + name.str() + "' of " + NameOf(type));
  const std::string at = As(type, rmw.getPointerOperand());
  Define(rmw, std::string("atomicrmw ") + Volatile(rmw.isVolatile()) + name.str() + " " + at +
                  ", " + Typed(rmw.getValOperand()) + " monotonic");
}

// LLVM 7 has an intrinsic of NVIDIA's for it.
void NvvmIrWriter::WriteFloatAtomic(const llvm::AtomicRMWInst& rmw) {
  const Type* type = rmw.getType();
  if (!type->isFloatTy() && !type->isDoubleTy())
    RefuseForNvvm("'atomicrmw fadd' of " + NameOf(type));
  const unsigned space = rmw.getPointerAddressSpace();
  const std::string suffix = type->isFloatTy() ? "f32" : "f64";
  const std::string name =
      "@llvm.nvvm.atomic.load.add." + suffix + ".p" + std::to_string(space) + suffix;
  intrinsics_[name] = "declare " + NameOf(type) + " " + name + "(" + PointerTo(type, space) + ", " +
                      NameOf(type) + ")";
  const std::string at = As(type, rmw.getPointerOperand());
  Define(rmw,
         "call " + NameOf(type) + " " + name + "(" + at + ", " + Typed(rmw.getValOperand()) + ")");
}

void NvvmIrWriter::WriteExchange(const llvm::AtomicCmpXchgInst& exchange) {
  const Type* type = exchange.getCompareOperand()->getType();
  const bool is_known = (type->isIntegerTy(32) || type->isIntegerTy(64)) &&
                        exchange.getSuccessOrdering() == llvm::AtomicOrdering::Monotonic;
  if (!is_known) RefuseForNvvm("'cmpxchg' of " + NameOf(type));
  const std::string at = As(type, exchange.getPointerOperand());
  Define(exchange, "cmpxchg " + at + ", " + Typed(exchange.getCompareOperand()) + ", " +
                       Typed(exchange.getNewValOperand()) + " monotonic monotonic");
}

std::string NvvmIrWriter::CalleeOf(const llvm::CallInst& call) {
  if (const auto* text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    std::string escaped, constraints;
    llvm::raw_string_ostream escaped_stream(escaped), constraints_stream(constraints);
    llvm::printEscapedString(text->getAsmString(), escaped_stream);
    llvm::printEscapedString(text->getConstraintString(), constraints_stream);
    return std::string("asm ") + (text->hasSideEffects() ? "sideeffect " : "") + "\"" + escaped +
           "\", \"" + constraints + "\"";
  }
  const llvm::Function* function = call.getCalledFunction();
  if (function == nullptr) RefuseForNvvm("a 'call' of a pointer");
  if (!function->isIntrinsic()) return NameOf(*function);
  const std::string own = function->getName().str();
  if (!IsKnownIntrinsic(own)) RefuseForNvvm("the intrinsic '" + own + "'");
  // A pointer among overloaded types carries its element type: "p0" is "p0i8".
  std::string name = "@";
  for (size_t at = 0; at < own.size(); ++at) {
    name += own[at];
    const bool is_space = at > 1 && own[at - 2] == '.' && own[at - 1] == 'p' &&
                          llvm::isDigit(own[at]) && (at + 1 == own.size() || own[at + 1] == '.');
    if (is_space) name += "i8";
  }
  std::string parameters;
  for (unsigned i = 0; i < function->arg_size(); ++i)
    parameters += (i == 0 ? "" : ", ") + NameOf(function->getArg(i)->getType());
  intrinsics_[name] =
      "declare " + NameOf(function->getReturnType()) + " " + name + "(" + parameters + ")";
  return name;
}

void NvvmIrWriter::WriteCall(const llvm::CallInst& call) {
  if (call.getFunctionType()->isVarArg()) RefuseForNvvm("a 'call' of any number of arguments");
  if (call.hasOperandBundles()) RefuseForNvvm("a 'call' with operand bundles");
  const std::string callee = CalleeOf(call);
  std::string arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (call.isByValArgument(i)) RefuseForNvvm("a 'call' with memory by value");
    const Value* argument = call.getArgOperand(i);
    arguments += (i == 0 ? "" : ", ") + NameOf(argument->getType()) +
                 AttributesOf(call.getAttributes().getParamAttrs(i)) + " " + TextOf(argument);
  }
  const std::string text = "call" + FlagsOf(call) + " " + NameOf(call.getType()) + " " + callee +
                           "(" + arguments + ")" +
                           AttributesOf(call.getAttributes(), call.getMemoryEffects());
  if (call.getType()->isVoidTy()) return Line(text + MetadataOf(call));
  Define(call, text);
}

void NvvmIrWriter::Write(const Instruction& i) {
  using llvm::cast;
  const std::string name = i.getOpcodeName();
  if (i.isBinaryOp()) return Define(i, name + FlagsOf(i) + " " + Operands(i));
  if (i.isCast())
    return Define(i, name + " " + Typed(i.getOperand(0)) + " to " + NameOf(i.getType()));
  switch (i.getOpcode()) {
    case Instruction::ICmp:
    case Instruction::FCmp: {
      const llvm::StringRef predicate =
          llvm::CmpInst::getPredicateName(cast<llvm::CmpInst>(i).getPredicate());
      return Define(i, name + FlagsOf(i) + " " + predicate.str() + " " + Operands(i));
    }
    case Instruction::Select:
    case Instruction::ExtractElement:
    case Instruction::InsertElement: return Define(i, name + " " + ListOf(i));
    case Instruction::PHI: return WritePhi(cast<llvm::PHINode>(i));
    case Instruction::Br: return WriteBranch(cast<llvm::BranchInst>(i));
    case Instruction::Switch: return WriteSwitch(cast<llvm::SwitchInst>(i));
    case Instruction::ShuffleVector: return WriteShuffle(cast<llvm::ShuffleVectorInst>(i));
    case Instruction::ExtractValue:
      return WriteAggregate(i, cast<llvm::ExtractValueInst>(i).getIndices());
    case Instruction::InsertValue:
      return WriteAggregate(i, cast<llvm::InsertValueInst>(i).getIndices());
    case Instruction::Alloca: return WriteAlloca(cast<llvm::AllocaInst>(i));
    case Instruction::GetElementPtr: return WriteAddress(cast<llvm::GetElementPtrInst>(i));
    case Instruction::Load: return WriteLoad(cast<llvm::LoadInst>(i));
    case Instruction::Store: return WriteStore(cast<llvm::StoreInst>(i));
    case Instruction::AtomicRMW: return WriteAtomic(cast<llvm::AtomicRMWInst>(i));
    case Instruction::AtomicCmpXchg: return WriteExchange(cast<llvm::AtomicCmpXchgInst>(i));
    case Instruction::Call: return WriteCall(cast<llvm::CallInst>(i));
    case Instruction::Unreachable: return Line("unreachable");
    case Instruction::Ret:
      return Line(i.getNumOperands() == 0 ? "ret void" : "ret " + Typed(i.getOperand(0)));
    default: RefuseForNvvm("the instruction '" + name + "'");
  }
}

}  // namespace parakeet::backends
