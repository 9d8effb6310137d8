#include "backends/nvvm/make_ptx.h"

#include <algorithm>
#include <memory>
#include <set>

#include "backends/llvm/emission.h"
#include "backends/llvm/emit_object.h"
#include "backends/nvvm/ask_high_halves.h"
#include "backends/nvvm/cheapen_tests.h"
#include "backends/nvvm/device_functions.h"
#include "backends/nvvm/keep_zeros.h"
#include "backends/nvvm/libnvvm.h"
#include "backends/nvvm/lower_for_nvvm.h"
#include "backends/nvvm/split_ptx.h"
#include "backends/nvvm/write_nvvm_ir.h"
#include "ir/diagnostics.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "runtime/device_abi.h"

extern "C" const char parakeet_libdevice[];
extern "C" const char parakeet_libdevice_end[];

namespace parakeet::backends {
namespace {

using llvm::Function;

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
// The architectures that LLVM 19 writes code for, and the PTX of a driver for CUDA 11.8.
constexpr int kLlvmArchitectures[] = {50, 52, 60, 61, 70, 72, 75, 80, 86, 87, 89, 90};
constexpr const char* kFeatures = "+ptx78";

std::unique_ptr<llvm::TargetMachine> MachineFor(int architecture) {
  [[maybe_unused]] static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) ir::FailBug("no code generator for GPUs: " + error);
  int known = kLlvmArchitectures[0];
  for (int candidate : kLlvmArchitectures) {
    if (candidate <= architecture) known = candidate;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, "sm_" + std::to_string(known), kFeatures, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

// The kernel's body in a function of one parameter.
void MakeEntry(llvm::Module& module, Function* kernel, const KernelEntry& described) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
  auto* entry = Function::Create(type, llvm::GlobalValue::ExternalLinkage, "", &module);
  entry->takeName(kernel);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  auto* captures = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), described.capture_bytes);
  llvm::AttrBuilder attributes(context);
  attributes.addByValAttr(captures);
  attributes.addAlignmentAttr(llvm::Align(8));
  entry->addParamAttrs(0, attributes);
  entry->splice(entry->begin(), kernel);
  kernel->getArg(0)->replaceAllUsesWith(llvm::PoisonValue::get(pointer));
  kernel->getArg(1)->replaceAllUsesWith(entry->getArg(0));
  kernel->eraseFromParent();
  llvm::Type* number = llvm::Type::getInt32Ty(context);
  llvm::NamedMDNode* annotations = module.getOrInsertNamedMetadata("nvvm.annotations");
  const auto annotate = [&](const char* name, int64_t value) {
    annotations->addOperand(llvm::MDNode::get(
        context, {llvm::ValueAsMetadata::get(entry), llvm::MDString::get(context, name),
                  llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(number, value))}));
  };
  annotate("kernel", 1);
  annotate("maxntidx", described.threads);
  if (described.blocks > 1) annotate("minctasm", described.blocks);
}

void Link(llvm::Module& module, std::unique_ptr<llvm::Module> library) {
  library->setDataLayout(module.getDataLayout());
  library->setTargetTriple(module.getTargetTriple());
  const auto internalize = [](llvm::Module& linked, const llvm::StringSet<>& names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue& value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded,
                                internalize))
    ir::FailBug("device code does not link");
}

void LinkDeviceFunctions(llvm::Module& module) {
  llvm::SMDiagnostic problem;
  auto functions = llvm::parseAssemblyString(DeviceFunctions(), problem, module.getContext());
  if (functions == nullptr) ir::FailBug("device functions: " + problem.getMessage().str());
  Link(module, std::move(functions));
}

std::string_view Libdevice() {
  return {parakeet_libdevice, size_t(parakeet_libdevice_end - parakeet_libdevice)};
}

void LinkLibdevice(llvm::Module& module) {
  const bool calls_libdevice = llvm::any_of(
      module, [](const Function& function) { return function.getName().starts_with("__nv_"); });
  if (!calls_libdevice) return;
  const llvm::MemoryBufferRef bytes(Libdevice(), "libdevice");
  auto libdevice = llvm::getLazyBitcodeModule(bytes, module.getContext());
  if (!libdevice) ir::FailBug("libdevice: " + llvm::toString(libdevice.takeError()));
  Link(module, std::move(*libdevice));
  for (const Function& function : module) {
    if (function.isDeclaration() && function.getName().starts_with("__nv_"))
      ir::FailBug("libdevice has no " + function.getName().str());
  }
}

void OptimizeForGpu(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgsccs;
  llvm::ModuleAnalysisManager modules;
  // A thread has no vectors that these could make code for.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgsccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgsccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

// What kernels of several texts call or read is the same in all: not fitted to the callers of one.
void KeepAsItIs(llvm::Module& device) {
  for (llvm::GlobalObject& object : device.global_objects()) {
    if (!object.isDeclaration() && object.hasLocalLinkage())
      object.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  }
}

// `is_part`: of what several threads make.
std::string MakePtxByLlvm(llvm::Module& device, const CompileOptions& options, bool is_part) {
  const std::unique_ptr<llvm::TargetMachine> machine = MachineFor(options.gpu_architecture);
  LinkLibdevice(device);
  if (is_part) KeepAsItIs(device);
  OptimizeForGpu(device, *machine);
  KeepZeros(device);
  AskHighHalves(device);
  CheapenTests(device);
  const auto text = EmitAssembly(device, *machine);
  return TestBitsAgainstZero(WithoutCallNumbers({text.data(), text.size()}));
}

// The module goes there as it was emitted: libNVVM has optimisations of its own, and what LLVM's
// would make of it is the further from what libNVVM reads.
std::string MakePtxByLibNvvm(llvm::Module& device, const CompileOptions& options) {
  KeepZerosInPtx(device);
  LowerForNvvm(device);
  const bool may_contract =
      options.fastmath.contains("contract") || options.fastmath.contains("fast");
  return AssembleByLibNvvm(
      {WriteNvvmIr(device), Libdevice(), options.gpu_architecture, may_contract},
      options.libnvvm_files);
}

// What only host code used, or kernels of other modules.
void DropUnused(llvm::Module& device) {
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(device.globals())) {
    global.removeDeadConstantUsers();
    if (global.use_empty()) global.eraseFromParent();
  }
  for (Function& function : llvm::make_early_inc_range(device)) {
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }
}

// The kernels, and what they call beside libraries.
std::unique_ptr<llvm::Module> Separate(const llvm::Module& module,
                                       const std::vector<KernelEntry>& kernels,
                                       const CompileOptions& options) {
  std::set<const llvm::GlobalValue*> chosen;
  for (const Function& function : module) {
    if (function.getName().starts_with(kDeviceHelper)) chosen.insert(&function);
  }
  for (const KernelEntry& kernel : kernels) chosen.insert(kernel.function);
  llvm::ValueToValueMapTy copies;
  std::unique_ptr<llvm::Module> device =
      llvm::CloneModule(module, copies, [&](const llvm::GlobalValue* value) {
        const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(value);
        return chosen.contains(value) || (global != nullptr && global->hasInitializer());
      });
  device->setDataLayout(MachineFor(options.gpu_architecture)->createDataLayout());
  device->setTargetTriple(kTriple);
  device->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  for (const KernelEntry& kernel : kernels) {
    MakeEntry(*device, llvm::cast<Function>(copies[kernel.function]), kernel);
  }
  DropUnused(*device);
  LinkDeviceFunctions(*device);
  for (Function& function : *device) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
  return device;
}

// Kernels that different threads compile. Of libNVVM a program makes one module.
std::vector<std::vector<KernelEntry>> Share(const std::vector<KernelEntry>& kernels,
                                            const CompileOptions& options) {
  if (!options.libnvvm_files.empty()) return {kernels};
  std::vector<Function*> functions;
  for (const KernelEntry& kernel : kernels) functions.push_back(kernel.function);
  std::vector<std::vector<KernelEntry>> shares;
  for (const std::vector<Function*>& part : Spread(functions, options.threads)) {
    std::vector<KernelEntry>& share = shares.emplace_back();
    for (const KernelEntry& kernel : kernels) {
      if (llvm::is_contained(part, kernel.function)) share.push_back(kernel);
    }
  }
  return shares;
}

// Constants without a name would get the same in several texts.
void NameConstants(llvm::Module& module) {
  for (llvm::GlobalVariable& global : module.globals()) {
    if (!global.hasName()) global.setName("parakeet_constant");
  }
}

}  // namespace

PtxInMaking::PtxInMaking(llvm::Module& module, const std::vector<KernelEntry>& kernels,
                         const CompileOptions& options)
    : options_(options) {
  NameConstants(module);
  for (const std::vector<KernelEntry>& share : Share(kernels, options))
    pieces_.push_back(WritePiece(*Separate(module, share, options)));
  for (const Piece& piece : pieces_) texts_.push_back(Make(piece, pieces_.size() > 1));
}

// By a thread if there is one to be had, else when the text is asked for.
std::future<std::string> PtxInMaking::Make(const Piece& piece, bool is_part) const {
  const bool is_of_llvm = options_.libnvvm_files.empty();
  const auto when = std::launch::deferred | (is_of_llvm ? std::launch::async : std::launch{});
  return std::async(when, [&piece, &options = options_, is_of_llvm, is_part] {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> device = ReadPiece(piece, context);
    return is_of_llvm ? MakePtxByLlvm(*device, options, is_part)
                      : MakePtxByLibNvvm(*device, options);
  });
}

std::string PtxInMaking::Take() {
  std::vector<std::string> texts;
  for (auto& text : texts_) texts.push_back(text.get());
  const std::string ptx = texts.size() == 1 ? texts[0] : JoinPtx(texts);
  return options_.gpu_architecture >= kPkLeastOverlapping ? OverlapKernels(ptx) : ptx;
}

}  // namespace parakeet::backends
