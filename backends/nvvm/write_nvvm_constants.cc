// Types and constants in libNVVM's dialect.
#include "backends/nvvm/nvvm_ir_writer.h"
#include "ir/diagnostics.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/raw_ostream.h"

namespace parakeet::backends {
namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kConstantSpace = 4;

std::string PrintedBy(llvm::function_ref<void(llvm::raw_ostream&)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

std::string Space(unsigned space) {
  return space == 0 ? "" : " addrspace(" + std::to_string(space) + ")";
}

}  // namespace

void RefuseForNvvm(const std::string& what) {
  ir::FailLimitation(
      "libNVVM cannot be given " + what +
          "; parakeet.config.gpu_assembler = 'nvptx' compiles kernels without libNVVM",
      {});
}

std::string NvvmIrWriter::PointerTo(const Type* element, unsigned space) {
  return NameOf(element) + Space(space) + "*";
}

std::string NvvmIrWriter::NameOf(const Type* type) {
  switch (type->getTypeID()) {
    case Type::VoidTyID: return "void";
    case Type::HalfTyID: return "half";
    case Type::FloatTyID: return "float";
    case Type::DoubleTyID: return "double";
    case Type::MetadataTyID: return "metadata";
    case Type::LabelTyID: return "label";
    case Type::IntegerTyID: return "i" + std::to_string(type->getIntegerBitWidth());
    case Type::PointerTyID: return "i8" + Space(type->getPointerAddressSpace()) + "*";
    case Type::FunctionTyID: return NameOf(llvm::cast<llvm::FunctionType>(type));
    case Type::ArrayTyID:
      return "[" + std::to_string(type->getArrayNumElements()) + " x " +
             NameOf(type->getArrayElementType()) + "]";
    case Type::FixedVectorTyID: {
      const auto* vector = llvm::cast<llvm::FixedVectorType>(type);
      return "<" + std::to_string(vector->getNumElements()) + " x " +
             NameOf(vector->getElementType()) + ">";
    }
    case Type::StructTyID: {
      const auto* record = llvm::cast<llvm::StructType>(type);
      if (record->isOpaque()) break;
      std::string fields;
      for (const Type* field : record->elements())
        fields += (fields.empty() ? "" : ", ") + NameOf(field);
      return record->isPacked() ? "<{" + fields + "}>" : "{" + fields + "}";
    }
    default: break;
  }
  RefuseForNvvm("the type " + PrintedBy([&](llvm::raw_ostream& out) { type->print(out); }));
}

std::string NvvmIrWriter::ParameterType(const llvm::FunctionType* type, unsigned index,
                                        const llvm::AttributeList& attributes) {
  const Type* parameter = type->getParamType(index);
  const Type* held = attributes.getParamByValType(index);
  if (held == nullptr) return NameOf(parameter);
  return PointerTo(held, parameter->getPointerAddressSpace());
}

std::string NvvmIrWriter::NameOf(const llvm::FunctionType* type,
                                 const llvm::AttributeList& attributes) {
  std::string parameters;
  for (unsigned i = 0; i < type->getNumParams(); ++i)
    parameters += (i == 0 ? "" : ", ") + ParameterType(type, i, attributes);
  if (type->isVarArg()) parameters += parameters.empty() ? "..." : ", ...";
  return NameOf(type->getReturnType()) + " (" + parameters + ")";
}

std::string NvvmIrWriter::NameOf(const llvm::GlobalValue& global) {
  if (global.hasName())
    return PrintedBy([&](llvm::raw_ostream& out) { global.printAsOperand(out, false); });
  std::string& name = unnamed_[&global];
  if (name.empty()) name = "@unnamed_" + std::to_string(unnamed_.size() - 1);
  return name;
}

unsigned NvvmIrWriter::SpaceOf(const llvm::GlobalVariable& global) {
  if (global.getAddressSpace() != 0) return global.getAddressSpace();
  return global.isConstant() ? kConstantSpace : kGlobalSpace;
}

std::string NvvmIrWriter::TextOf(const llvm::GlobalValue& global) {
  const std::string wanted = NameOf(global.getType());
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&global)) {
    const std::string type = NameOf(function->getFunctionType(), function->getAttributes());
    return "bitcast (" + type + "* " + NameOf(global) + " to " + wanted + ")";
  }
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
  if (variable == nullptr) RefuseForNvvm("the alias " + global.getName().str());
  const unsigned space = SpaceOf(*variable);
  const std::string own = PointerTo(variable->getValueType(), space) + " " + NameOf(global);
  if (space == global.getAddressSpace()) return "bitcast (" + own + " to " + wanted + ")";
  const std::string bytes = "i8" + Space(space) + "*";
  return "addrspacecast (" + bytes + " bitcast (" + own + " to " + bytes + ") to " + wanted + ")";
}

std::string NvvmIrWriter::Typed(const llvm::Constant& constant) {
  return NameOf(constant.getType()) + " " + TextOf(constant);
}

std::string NvvmIrWriter::Elements(const llvm::Constant& constant, const char* open,
                                   const char* close) {
  std::string text = open;
  for (unsigned i = 0; const llvm::Constant* element = constant.getAggregateElement(i); ++i)
    text += (i == 0 ? "" : ", ") + Typed(*element);
  return text + close;
}

std::string NvvmIrWriter::ConstantAddress(const llvm::GEPOperator& address) {
  const auto* base = llvm::cast<llvm::Constant>(address.getPointerOperand());
  const unsigned space = address.getPointerAddressSpace();
  const std::string from = PointerTo(address.getSourceElementType(), space);
  std::string text = std::string("getelementptr ") + (address.isInBounds() ? "inbounds " : "") +
                     "(" + NameOf(address.getSourceElementType()) + ", " + from + " bitcast (" +
                     Typed(*base) + " to " + from + ")";
  for (const llvm::Use& index : address.indices())
    text += ", " + Typed(*llvm::cast<llvm::Constant>(index.get()));
  return "bitcast (" + PointerTo(address.getResultElementType(), space) + " " + text + ") to " +
         NameOf(address.getType()) + ")";
}

std::string NvvmIrWriter::TextOf(const llvm::ConstantExpr& expression) {
  if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(&expression)) {
    if (!expression.getType()->isVectorTy()) return ConstantAddress(*address);
  } else if (expression.isCast()) {
    return std::string(expression.getOpcodeName()) + " (" + Typed(*expression.getOperand(0)) +
           " to " + NameOf(expression.getType()) + ")";
  } else if (llvm::Instruction::isBinaryOp(expression.getOpcode())) {
    return std::string(expression.getOpcodeName()) + " (" + Typed(*expression.getOperand(0)) +
           ", " + Typed(*expression.getOperand(1)) + ")";
  }
  RefuseForNvvm("the constant expression '" + std::string(expression.getOpcodeName()) + "'");
}

std::string NvvmIrWriter::TextOf(const llvm::Constant& constant) {
  using llvm::isa;
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&constant)) return TextOf(*global);
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant))
    return TextOf(*expression);
  if (isa<llvm::UndefValue>(constant)) return "undef";  // poison too
  if (isa<llvm::ConstantPointerNull>(constant)) return "null";
  if (isa<llvm::ConstantAggregateZero>(constant)) return "zeroinitializer";
  const Type* type = constant.getType();
  if (type->isVectorTy()) return Elements(constant, "<", ">");
  if (type->isArrayTy()) return Elements(constant, "[", "]");
  if (const auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    return record->isPacked() ? Elements(constant, "<{", "}>") : Elements(constant, "{", "}");
  }
  if (isa<llvm::ConstantInt>(constant) || isa<llvm::ConstantFP>(constant))
    return PrintedBy([&](llvm::raw_ostream& out) { constant.printAsOperand(out, false); });
  RefuseForNvvm("the constant " +
                PrintedBy([&](llvm::raw_ostream& out) { constant.printAsOperand(out); }));
}

}  // namespace parakeet::backends
