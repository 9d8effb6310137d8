#include "backends/nvvm/write_nvvm_ir.h"

#include "backends/nvvm/nvvm_ir_writer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"

namespace parakeet::backends {
namespace {

using llvm::Attribute;

// As NVIDIA's description of NVVM IR has them; version 2.0 is the dialect of LLVM 7.
constexpr const char* kHead =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
    "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n";

const char* LinkageOf(const llvm::GlobalValue& global) {
  if (global.hasLocalLinkage()) return "internal ";
  return global.isDeclaration() ? "external " : "";
}

struct NamedKind {
  unsigned kind;
  const char* name;
};
constexpr NamedKind kMetadata[] = {
    {llvm::LLVMContext::MD_range, "range"},
    {llvm::LLVMContext::MD_alias_scope, "alias.scope"},
    {llvm::LLVMContext::MD_noalias, "noalias"},
    {llvm::LLVMContext::MD_invariant_load, "invariant.load"},
    {llvm::LLVMContext::MD_loop, "llvm.loop"},
};

}  // namespace

std::string WriteNvvmIr(const llvm::Module& module) { return NvvmIrWriter(module).Write(); }

std::string NvvmIrWriter::Write() {
  text_ = kHead;
  for (const llvm::GlobalVariable& global : module_.globals()) WriteGlobal(global);
  for (const llvm::Function& function : module_) {
    if (!function.isIntrinsic()) WriteFunction(function);
  }
  WriteIntrinsics();
  WriteMetadata();
  return std::move(text_);
}

void NvvmIrWriter::WriteGlobal(const llvm::GlobalVariable& global) {
  text_ += NameOf(global) + " = " + LinkageOf(global) + "addrspace(" +
           std::to_string(SpaceOf(global)) + ") " +
           (global.isConstant() ? "constant " : "global ") + NameOf(global.getValueType());
  if (global.hasInitializer()) text_ += " " + TextOf(*global.getInitializer());
  if (global.getAlign()) text_ += ", align " + std::to_string(global.getAlign()->value());
  text_ += "\n";
}

std::string NvvmIrWriter::AttributesOf(const llvm::AttributeSet& parameter) {
  std::string text;
  if (parameter.hasAttribute(Attribute::ByVal)) text += " byval";
  if (parameter.hasAttribute(Attribute::NoAlias)) text += " noalias";
  if (parameter.hasAttribute(Attribute::NoCapture)) text += " nocapture";
  if (parameter.hasAttribute(Attribute::ReadOnly)) text += " readonly";
  if (parameter.hasAttribute(Attribute::ReadNone)) text += " readnone";
  if (parameter.hasAttribute(Attribute::ZExt)) text += " zeroext";
  if (parameter.hasAttribute(Attribute::SExt)) text += " signext";
  if (const llvm::MaybeAlign align = parameter.getAlignment())
    text += " align " + std::to_string(align->value());
  return text;
}

std::string NvvmIrWriter::AttributesOf(const llvm::AttributeList& attributes,
                                       llvm::MemoryEffects effects) {
  std::string text;
  if (attributes.hasFnAttr(Attribute::AlwaysInline)) text += " alwaysinline";
  if (attributes.hasFnAttr(Attribute::NoInline)) text += " noinline";
  if (attributes.hasFnAttr(Attribute::Convergent)) text += " convergent";
  if (attributes.hasFnAttr(Attribute::NoReturn)) text += " noreturn";
  if (attributes.hasFnAttr(Attribute::NoUnwind)) text += " nounwind";
  if (effects.doesNotAccessMemory()) return text + " readnone";
  if (effects.onlyReadsMemory()) text += " readonly";
  if (effects.onlyAccessesArgPointees()) text += " argmemonly";
  return text;
}

std::string NvvmIrWriter::ParametersOf(const llvm::Function& function) {
  std::string text;
  for (const llvm::Argument& argument : function.args()) {
    const unsigned i = argument.getArgNo();
    text += (i == 0 ? "" : ", ") +
            ParameterType(function.getFunctionType(), i, function.getAttributes()) +
            AttributesOf(function.getAttributes().getParamAttrs(i));
    if (!function.isDeclaration()) text += " " + names_.at(&argument);
  }
  return text;
}

void NvvmIrWriter::WriteFunction(const llvm::Function& function) {
  names_.clear();
  next_temporary_ = 0;
  for (const llvm::Argument& argument : function.args())
    names_[&argument] = "%a" + std::to_string(argument.getArgNo());
  unsigned value = 0, block_number = 0;
  for (const llvm::BasicBlock& block : function) {
    names_[&block] = "%b" + std::to_string(block_number++);
    for (const llvm::Instruction& instruction : block) {
      if (!instruction.getType()->isVoidTy()) names_[&instruction] = "%v" + std::to_string(value++);
    }
  }
  text_ += function.isDeclaration() ? "declare " : std::string("define ") + LinkageOf(function);
  text_ += NameOf(function.getReturnType()) + " " + NameOf(function) + "(" +
           ParametersOf(function) + ")" +
           AttributesOf(function.getAttributes(), function.getMemoryEffects());
  if (!function.isDeclaration()) WriteBody(function);
  text_ += "\n";
}

void NvvmIrWriter::WriteBody(const llvm::Function& function) {
  text_ += " {\n";
  for (const llvm::BasicBlock& block : function) {
    text_ += names_.at(&block).substr(1) + ":\n";
    if (&block == &function.getEntryBlock()) {
      for (const llvm::Argument& argument : function.args()) {
        if (!argument.hasByValAttr()) continue;
        const std::string held = names_.at(&argument), bytes = held + "_bytes";
        Line(bytes + " = bitcast " +
             PointerTo(argument.getParamByValType(), argument.getType()->getPointerAddressSpace()) +
             " " + held + " to " + NameOf(argument.getType()));
        names_[&argument] = bytes;
      }
    }
    for (const llvm::Instruction& instruction : block) Write(instruction);
  }
  text_ += "}";
}

void NvvmIrWriter::WriteIntrinsics() {
  for (const auto& [name, declaration] : intrinsics_) text_ += declaration + "\n";
}

std::string NvvmIrWriter::MetadataOf(const llvm::Instruction& instruction) {
  std::string text;
  for (const auto& [kind, name] : kMetadata) {
    const llvm::MDNode* node = instruction.getMetadata(kind);
    if (node != nullptr) text += std::string(", !") + name + " " + NameOf(*node);
  }
  return text;
}

std::string NvvmIrWriter::NameOf(const llvm::MDNode& node) {
  const auto [place, is_new] = nodes_.try_emplace(&node, node_order_.size());
  if (is_new) node_order_.push_back(&node);
  return "!" + std::to_string(place->second);
}

std::string NvvmIrWriter::TextOf(const llvm::Metadata* part) {
  if (part == nullptr) return "null";
  if (const auto* node = llvm::dyn_cast<llvm::MDNode>(part)) return NameOf(*node);
  if (const auto* text = llvm::dyn_cast<llvm::MDString>(part)) {
    std::string escaped;
    llvm::raw_string_ostream stream(escaped);
    llvm::printEscapedString(text->getString(), stream);
    return "!\"" + escaped + "\"";
  }
  const auto* value = llvm::dyn_cast<llvm::ConstantAsMetadata>(part);
  if (value == nullptr) RefuseForNvvm("metadata of a value");
  if (const auto* function = llvm::dyn_cast<llvm::Function>(value->getValue())) {
    return NameOf(function->getFunctionType(), function->getAttributes()) + "* " +
           NameOf(*function);
  }
  return Typed(*value->getValue());
}

std::string NvvmIrWriter::TextOf(const llvm::MDNode& node) {
  std::string text = node.isDistinct() ? "distinct !{" : "!{";
  for (unsigned i = 0; i < node.getNumOperands(); ++i)
    text += (i == 0 ? "" : ", ") + TextOf(node.getOperand(i).get());
  return text + "}";
}

void NvvmIrWriter::WriteMetadata() {
  if (const llvm::NamedMDNode* annotations = module_.getNamedMetadata("nvvm.annotations")) {
    std::string names;
    for (const llvm::MDNode* node : annotations->operands())
      names += (names.empty() ? "" : ", ") + NameOf(*node);
    text_ += "!nvvm.annotations = !{" + names + "}\n";
  }
  // Nodes name others, which come behind.
  for (size_t i = 0; i < node_order_.size(); ++i) {
    const std::string node = TextOf(*node_order_[i]);
    text_ += "!" + std::to_string(i) + " = " + node + "\n";
  }
  const std::string version = "!" + std::to_string(node_order_.size());
  text_ += "!nvvmir.version = !{" + version + "}\n" + version + " = !{i32 2, i32 0}\n";
}

}  // namespace parakeet::backends
