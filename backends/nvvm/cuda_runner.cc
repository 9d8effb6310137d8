#include "backends/nvvm/cuda_runner.h"

#include <map>
#include <set>

#include "backends/nvvm/device_functions.h"
#include "backends/nvvm/split_ptx.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

// Dynamic: a launch says how much of it a block has.
constexpr const char* kSharedMemory = "parakeet_shared";
constexpr unsigned kSharedSpace = 3;

// Lanes that match one another wait for shared memory, step by step, and those that shuffle for
// what they load and for each other. Of so many blocks, some warps go on meanwhile: they get as few
// registers as that takes, where those hold what the threads have: doubles need more. Of lanes that
// match, a filter's have little, a sort's their keys.
int64_t ResidentBlocks(const KernelTraits& traits) {
  if (traits.matches) return traits.own_bytes > 64 ? 3 : 6;
  if (!traits.shuffles || traits.own_width > 4 || traits.own_bytes > 320) return 1;
  return traits.own_bytes >= 64 ? 5 : 8;
}

Value* Register(Emission& emission, llvm::Intrinsic::ID id) {
  llvm::IRBuilder<>& builder = emission.builder;
  return builder.CreateZExt(builder.CreateIntrinsic(id, {}, {}), builder.getInt64Ty());
}

// Of the host's module, which keeps none of them.
void EraseHelpers(llvm::Module& module) {
  std::vector<llvm::Function*> helpers;
  for (llvm::Function& function : module) {
    if (function.getName().starts_with(kDeviceHelper)) helpers.push_back(&function);
  }
  for (llvm::Function* helper : helpers) helper->deleteBody();
  for (llvm::Function* helper : helpers) helper->eraseFromParent();
}

}  // namespace

// The launch's error record.
Value* CudaRunner::Context(Emission& emission, llvm::Function* kernel) const {
  return emission.builder.CreateLoad(emission.builder.getPtrTy(), kernel->getArg(1));
}

Value* CudaRunner::BlockNumber(Emission& emission, Value*) const {
  return Register(emission, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
}

Value* CudaRunner::ThreadNumber(Emission& emission, Value*) const {
  return Register(emission, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
}

void CudaRunner::Barrier(Emission& emission, Value*) const {
  emission.builder.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

void CudaRunner::WarpBarrier(Emission& emission, Value*) const {
  emission.builder.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {},
                                   {emission.builder.getInt32(~0u)});
}

// A vote for each bit: an instruction for all of them is there on few architectures, and no faster.
Value* CudaRunner::Match(Emission& emission, Value*, Value* number, int bits) const {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* all = builder.getInt32(~0u);
  Value* same = all;
  for (int bit = 0; bit < bits; ++bit) {
    Value* is_set = builder.CreateTrunc(builder.CreateLShr(number, bit), builder.getInt1Ty());
    Value* votes =
        builder.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {}, {all, is_set});
    Value* differ = builder.CreateXor(votes, builder.CreateSExt(is_set, builder.getInt32Ty()));
    same = builder.CreateAnd(same, builder.CreateNot(differ));
  }
  return same;
}

// 64 bits as two halves.
Value* CudaRunner::Shuffle(Emission& emission, Value* context, Value* number, Value* lane) const {
  llvm::IRBuilder<>& builder = emission.builder;
  if (number->getType()->getIntegerBitWidth() == 64) {
    llvm::Type* half = builder.getInt32Ty();
    Value* high = builder.CreateTrunc(builder.CreateLShr(number, 32), half);
    Value* low = Shuffle(emission, context, builder.CreateTrunc(number, half), lane);
    high = Shuffle(emission, context, high, lane);
    llvm::Type* whole = number->getType();
    return builder.CreateOr(builder.CreateShl(builder.CreateZExt(high, whole), 32),
                            builder.CreateZExt(low, whole));
  }
  return builder.CreateIntrinsic(
      llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
      {builder.getInt32(~0u), number, lane, builder.getInt32(kWarpThreads - 1)});
}

Value* CudaRunner::Shared(Emission& emission, Value*, int64_t offset) const {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::GlobalVariable* shared = emission.module.getGlobalVariable(kSharedMemory);
  if (shared == nullptr) {
    auto* type = llvm::ArrayType::get(builder.getInt8Ty(), 0);
    shared = new llvm::GlobalVariable(emission.module, type, /*isConstant=*/false,
                                      llvm::GlobalValue::ExternalLinkage, nullptr, kSharedMemory,
                                      nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    shared->setAlignment(llvm::Align(64));
  }
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), shared, offset);
  return builder.CreateAddrSpaceCast(address, builder.getPtrTy());
}

llvm::Function* CudaRunner::Fail(Emission& emission) const {
  llvm::Type *pointer = emission.builder.getPtrTy(), *count = emission.builder.getInt32Ty();
  return emission.Declare(kFailFunction, emission.builder.getVoidTy(),
                          {pointer, count, count, pointer, count, pointer});
}

llvm::Function* CudaRunner::Allocate(Emission& emission) const {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare(kAllocateFunction, pointer, {pointer, emission.builder.getInt64Ty()});
}

llvm::Function* CudaRunner::Free(Emission& emission) const {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare(kFreeFunction, emission.builder.getVoidTy(), {pointer, pointer});
}

void CudaRunner::Fence(Emission& emission) const {
  emission.builder.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
}

llvm::Constant* CudaRunner::Describe(Emission& emission, llvm::Function* kernel,
                                     const KernelTraits& traits) {
  KernelTraits anywhere = traits;
  anywhere.group = 0;
  kernel = mergers_[anywhere].Merged(kernel);
  bool is_new = true;
  for (const Described& d : described_) {
    if (d.kernel != kernel) continue;
    if (d.traits.group == traits.group) return d.constant;
    is_new = false;
  }
  if (is_new) kernel->setName("kernel_" + std::to_string(described_.size()));
  described_.push_back(
      {kernel, DeclareKernelConstant(emission, kernel->getName()), traits, is_new});
  described_.back().constant->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return described_.back().constant;
}

void CudaRunner::TakeKernels(Emission& emission, const CompileOptions& options) {
  std::vector<KernelEntry> entries;
  for (Described& d : described_) {
    d.name = d.kernel->getName().str();
    if (!d.is_new) continue;
    entries.push_back(
        {d.kernel, d.traits.capture_bytes, d.traits.threads, ResidentBlocks(d.traits)});
  }
  if (!entries.empty()) ptx_ = std::make_unique<PtxInMaking>(emission.module, entries, options);
  for (const Described& d : described_) {
    if (d.is_new) d.kernel->eraseFromParent();
  }
  EraseHelpers(emission.module);
  for (const char* name : {kFailFunction, kAllocateFunction, kFreeFunction}) {
    if (llvm::Function* function = emission.module.getFunction(name)) function->eraseFromParent();
  }
}

// Each group's code is loaded when the first of its kernels is launched: a text of each, which the
// driver assembles side by side.
std::string CudaRunner::DefineKernels(llvm::Module& module) {
  if (ptx_ == nullptr) return "";
  const std::string ptx = ptx_->Take();
  std::map<int, std::set<std::string, std::less<>>> groups;
  for (const Described& d : described_) groups[d.traits.group].insert(d.name);
  for (const auto& [group, names] : groups) {
    std::string code;
    for (const std::string& name : names) {
      if (!code.empty()) code += '\0';
      code += KeepKernels(ptx, {name});
    }
    auto* text = llvm::ConstantDataArray::getString(module.getContext(), code);
    auto* global = new llvm::GlobalVariable(module, text->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, text);
    for (const Described& d : described_) {
      if (d.traits.group == group) Define(d, global, int64_t(code.size()) + 1, module);
    }
  }
  return ptx;
}

void CudaRunner::Define(const Described& kernel, llvm::GlobalVariable* text, int64_t bytes,
                        llvm::Module& module) {
  llvm::GlobalVariable* constant = kernel.constant;
  const bool is_apart = constant->getParent() != &module;
  if (is_apart) {
    constant =
        new llvm::GlobalVariable(module, constant->getValueType(), /*isConstant=*/true,
                                 llvm::GlobalValue::ExternalLinkage, nullptr, constant->getName());
  }
  DefineKernelConstant(constant, kPkKernelCuda, kernel.traits, text, bytes, kernel.name);
  if (is_apart) constant->setLinkage(llvm::GlobalValue::ExternalLinkage);
}

}  // namespace parakeet::backends
