#include "backends/llvm/target.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/llvm/code_switch.h"
#include "backends/llvm/emit_object.h"
#include "ir/diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"

namespace parakeet::backends {
namespace {

using Machine = std::unique_ptr<llvm::TargetMachine>;

// The passes for an object, and the machine that they are for.
struct ReadyWriter {
  Machine machine;
  std::unique_ptr<ObjectWriter> writer;
};

// By processor.
struct Pool {
  std::mutex mutex;
  std::map<std::string, std::vector<Machine>> machines;
  std::map<std::string, std::vector<ReadyWriter>> writers;
};

// Never destroyed: a thread may still compile while the process ends.
Pool& ThePool() {
  static Pool* const pool = new Pool;
  return *pool;
}

// An empty one where none is idle.
template <typename T>
T Take(std::map<std::string, std::vector<T>> Pool::* idle, const std::string& key) {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  std::vector<T>& all = (pool.*idle)[key];
  if (all.empty()) return {};
  T last = std::move(all.back());
  all.pop_back();
  return last;
}

template <typename T>
void Give(std::map<std::string, std::vector<T>> Pool::* idle, const std::string& key, T ready) {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  (pool.*idle)[key].push_back(std::move(ready));
}

constexpr CodeSwitch kSwitches[] = {
    // General arithmetic that might be done in mask registers: much is searched, nothing found.
    {"disable-x86-domain-reassignment", true},
    // A branch where a loop carries the result of a select: right where it goes one way mostly. The
    // larger of two that a table of distances is made of goes either way, and a wrong guess costs
    // more than ten selects.
    {"x86-cmov-converter", false},
};

// How many ways to count a loop are compared before some are dropped unseen; LLVM's own limit is
// 65535. A function of 30 stencils along borders takes half the time to compile, and 87 programs
// have as many instructions in their innermost loops, by one or two in each hundred.
constexpr CodeLimit kWaysToCount = {"lsr-complexity-limit", 10000};

void InitializeOnce() {
  [[maybe_unused]] static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    for (const CodeSwitch& each : kSwitches) Set(each);
    Set(kWaysToCount);
    return true;
  }();
}

const std::string& HostCpu() {
  static const auto* const name = new std::string(llvm::sys::getHostCPUName());
  return *name;
}

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

const llvm::Target& TheTarget() {
  InitializeOnce();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) ir::FailBug("no code generator for " + std::string(kTriple));
  return *target;
}

// The host's features that are `wanted` or not, of those that `cpu` with `features` has not so.
std::string Differing(bool wanted, const std::string& cpu, const std::string& features) {
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      TheTarget().createMCSubtargetInfo(kTriple, cpu, features));
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::string text;
  for (const llvm::SubtargetFeatureKV& feature : info->getAllProcessorFeatures()) {
    const auto found = host.find(feature.Key);
    if (found == host.end() || found->second != wanted) continue;
    if (info->getFeatureBits().test(feature.Value) == wanted) continue;
    if (!text.empty()) text += ',';
    text += (wanted ? "+" : "-") + std::string(feature.Key);
  }
  return text;
}

// What the host has beside what its name says, then what it lacks: those that are left have none
// of the latter. Short, since LLVM reads it for every function.
const std::string& HostFeatures() {
  static const auto* const features = [] {
    auto* text = new std::string(Differing(true, HostCpu(), ""));
    const std::string lacks = Differing(false, HostCpu(), *text);
    if (!text->empty() && !lacks.empty()) *text += ',';
    *text += lacks;
    return text;
  }();
  return *features;
}

// Processors that divide 64 bits nearly as fast as 32 (Intel's since Ice Lake, AMD's since Zen 3:
// those with vaes) need no branch to narrow divisions for small numbers, of which LLVM's tuning of
// some still makes one each.
std::string WithWholeDivision(const llvm::MCSubtargetInfo& info, const std::string& features) {
  if (!info.checkFeatures("+vaes,+idivq-to-divl")) return features;
  return features + (features.empty() ? "" : ",") + "-idivq-to-divl";
}

int VectorBitsOf(const llvm::MCSubtargetInfo& info) {
  if (info.checkFeatures("+avx512f,+avx512vl,+avx512dq,+avx512bw")) return 512;
  return info.checkFeatures("+avx2") ? 256 : 128;
}

Processor Describe(const std::string& cpu, const std::string& features) {
  const llvm::Target& target = TheTarget();
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target.createMCSubtargetInfo(kTriple, "", ""));
  if (!known->isCPUStringValid(cpu)) ir::FailBug("no processor is called " + cpu);
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      target.createMCSubtargetInfo(kTriple, cpu, features));
  return {cpu, WithWholeDivision(*info, features), VectorBitsOf(*info),
          info->checkFeatures("+fast-gather")};
}

const Processor& HostProcessor() {
  static const auto* const host = new Processor(Describe(HostCpu(), HostFeatures()));
  return *host;
}

std::unique_ptr<llvm::TargetMachine> MakeMachine(const Processor& processor,
                                                 Effort effort = Effort::kWhole) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(TheTarget().createTargetMachine(
      kTriple, processor.cpu, processor.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small,
      effort == Effort::kWhole ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None));
}

std::string KeyOf(const Processor& processor, Effort effort = Effort::kWhole) {
  return processor.cpu + ' ' + processor.features + (effort == Effort::kWhole ? "" : " least");
}

void MarkFor(const Processor& processor, llvm::Function* function) {
  function->addFnAttr("target-cpu", processor.cpu);
  function->addFnAttr("target-features", processor.features);
  function->addFnAttr("prefer-vector-width", std::to_string(processor.vector_bits));
}

// What LLVM makes when a machine is first asked about a function for the processor.
const llvm::TargetInstrInfo& AskOnce(const Processor& processor,
                                     const llvm::TargetMachine& machine) {
  llvm::LLVMContext context;
  llvm::Module module("", context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "marked", &module);
  MarkFor(processor, function);
  return *machine.getSubtargetImpl(*function)->getInstrInfo();
}

// The tables that LLVM makes, once, when instructions are first taken apart.
void MakeTables(const llvm::TargetInstrInfo& info) {
  info.getOpcodeAfterMemoryUnfold(/*Opc=*/0, /*UnfoldLoad=*/true, /*UnfoldStore=*/false);
}

}  // namespace

Processor FindProcessor(const std::string& cpu, const std::string& features) {
  // The features of a named processor are its own, not the host's.
  if (!cpu.empty()) return Describe(cpu, features);
  return features.empty() ? HostProcessor() : Describe(HostCpu(), features);
}

void PrepareMachine() {
  const Processor& host = HostProcessor();
  Machine machine = MakeMachine(host);
  AskOnce(host, *machine);
  Give(&Pool::machines, KeyOf(host), std::move(machine));
}

void PrepareWriter() {
  const Processor& host = HostProcessor();
  ReadyWriter ready = {MakeMachine(host), nullptr};
  MakeTables(AskOnce(host, *ready.machine));
  ready.writer = std::make_unique<ObjectWriter>(*ready.machine);
  Give(&Pool::writers, KeyOf(host), std::move(ready));
}

Target::Target(const std::string& cpu, const std::string& features, Effort effort)
    : processor_(FindProcessor(cpu, features)),
      key_(KeyOf(processor_, effort)),
      machine_(Take(&Pool::machines, key_)) {
  if (machine_ == nullptr) machine_ = MakeMachine(processor_, effort);
}

void Target::Mark(llvm::Function& function) const { MarkFor(processor_, &function); }

llvm::SmallVector<char, 0> Target::WriteObject(llvm::Module& module) {
  ReadyWriter ready = Take(&Pool::writers, key_);
  if (ready.writer == nullptr) return ObjectWriter(*machine_).Write(module);
  llvm::SmallVector<char, 0> object = ready.writer->Write(module);
  ready.writer.reset();
  Give(&Pool::machines, key_, std::move(ready.machine));
  return object;
}

Target::~Target() { Give(&Pool::machines, key_, std::move(machine_)); }

}  // namespace parakeet::backends
