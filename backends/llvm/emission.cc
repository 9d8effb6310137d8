#include "backends/llvm/emission.h"

#include <algorithm>
#include <limits>

#include "ir/diagnostics.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"

namespace parakeet::backends {
namespace {

constexpr size_t kMostParts = 64;  // that are looked at

llvm::FastMathFlags FlagsOf(const std::set<std::string>& names) {
  llvm::FastMathFlags flags;
  for (const std::string& name : names) {
    if (name == "fast") flags.setFast();
    else if (name == "nnan") flags.setNoNaNs();
    else if (name == "ninf") flags.setNoInfs();
    else if (name == "nsz") flags.setNoSignedZeros();
    else if (name == "arcp") flags.setAllowReciprocal();
    else if (name == "contract") flags.setAllowContract(true);
    else if (name == "afn") flags.setApproxFunc();
    else if (name == "reassoc") flags.setAllowReassoc();
    else ir::FailBug("no fast-math flag is called " + name);
  }
  return flags;
}

llvm::Type* Widen(llvm::Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, lanes);
}

llvm::Type* ElementType(llvm::LLVMContext& context, ir::DType dtype) {
  if (ir::IsComplex(dtype)) dtype = ir::PartOf(dtype);
  if (!ir::IsFloat(dtype)) return llvm::Type::getIntNTy(context, ir::SizeInBits(dtype));
  switch (dtype) {
    case ir::DType::kF16: return llvm::Type::getHalfTy(context);
    case ir::DType::kF32: return llvm::Type::getFloatTy(context);
    default: return llvm::Type::getDoubleTy(context);
  }
}

}  // namespace

Emission::Emission(llvm::Module* module, const CompileOptions& options, const MathLibrary* math,
                   const ParallelRunner* parallel)
    : module(*module),
      builder(module->getContext()),
      math(math),
      parallel(parallel),
      // Parts stand in for long bodies of the host's; those of kernels are functions anyway.
      apart_above(options.kernels == KernelTarget::kNone ? options.apart_above
                                                         : std::numeric_limits<int>::max()),
      cold_above(options.cold_above),
      may_share(options.fastmath.empty()) {
  builder.setFastMathFlags(FlagsOf(options.fastmath));
}

llvm::Function* Emission::Declare(llvm::StringRef name, llvm::Type* result,
                                  llvm::ArrayRef<llvm::Type*> params) {
  if (llvm::Function* known = module.getFunction(name)) return known;
  auto* type = llvm::FunctionType::get(result, params, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, &module);
  function->setDoesNotThrow();
  return function;
}

llvm::Function* Emission::DeclarePure(llvm::StringRef name, llvm::Type* result,
                                      llvm::ArrayRef<llvm::Type*> params) {
  llvm::Function* function = Declare(name, result, params);
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  return function;
}

std::string Emission::HelperName(const std::string& what) const {
  if (!is_of_kernel) return "parakeet." + what;
  std::string name = kDeviceHelper + what;
  std::replace(name.begin(), name.end(), '.', '_');  // PTX has none in names.
  return name;
}

bool Emission::Varies(llvm::Value* value) const {
  const llvm::Function* function = builder.GetInsertBlock()->getParent();
  if (loop == nullptr || loop->getParent() != function) return false;
  const llvm::Function::const_iterator first(loop->getIterator());
  std::vector<llvm::Value*> parts = {value};
  for (size_t k = 0; k < parts.size(); ++k) {
    const auto* made = llvm::dyn_cast<llvm::Instruction>(parts[k]);
    // Blocks stand in the order in which they are written.
    const auto is_its = [&](const llvm::BasicBlock& block) { return &block == made->getParent(); };
    if (made == nullptr || std::none_of(first, function->end(), is_its)) continue;
    // Divisions too stand in front of loops.
    const bool is_plain = llvm::isa<llvm::BinaryOperator>(made) ||
                          (llvm::isSafeToSpeculativelyExecute(made) && !made->mayReadFromMemory());
    if (!is_plain || parts.size() > kMostParts) return true;
    parts.insert(parts.end(), made->op_begin(), made->op_end());
  }
  return false;
}

llvm::Value* Emission::Text(const std::string& text) {
  llvm::Value*& known = texts[text];
  if (known == nullptr) known = builder.CreateGlobalString(text);
  return known;
}

llvm::Value* Emission::Zeros() {
  if (zeros == nullptr) {
    llvm::Type* type = llvm::ArrayType::get(builder.getInt64Ty(), 2);
    zeros = new llvm::GlobalVariable(module, type, /*isConstant=*/true,
                                     llvm::GlobalValue::PrivateLinkage,
                                     llvm::Constant::getNullValue(type), "zeros");
    zeros->setAlignment(llvm::Align(16));
  }
  return zeros;
}

void SayNotNegative(llvm::LoadInst& load) {
  const llvm::APInt low = llvm::APInt::getZero(64), high = llvm::APInt::getSignedMinValue(64);
  load.setMetadata(llvm::LLVMContext::MD_range,
                   llvm::MDBuilder(load.getContext()).createRange(low, high));
}

bool IsSaidNotNegative(llvm::Value& value) {
  using namespace llvm::PatternMatch;
  if (!value.getType()->isIntegerTy(64)) return false;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&value))
    return load->hasMetadata(llvm::LLVMContext::MD_range);
  return match(&value, m_c_SMax(m_NonNegative(), m_Value()));
}

void LeaveAsWritten(llvm::Function& function) {
  function.addFnAttr(llvm::Attribute::OptimizeNone);
  function.addFnAttr(llvm::Attribute::NoInline);
}

llvm::Type* RegisterType(Emission& emission, ir::DType dtype, int lanes) {
  if (ir::IsBool(dtype)) return Widen(emission.builder.getInt1Ty(), lanes);
  return Widen(ElementType(emission.context(), dtype), lanes);
}

llvm::Type* MemoryType(Emission& emission, ir::DType dtype, int lanes) {
  return Widen(ElementType(emission.context(), dtype), lanes);
}

llvm::Type* WithElement(llvm::Type* like, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector == nullptr ? element : Widen(element, vector->getNumElements());
}

}  // namespace parakeet::backends
