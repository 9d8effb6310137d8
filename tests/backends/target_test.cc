#include "backends/llvm/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Host.h"

namespace parakeet::backends {
namespace {

// What a hypervisor hides of a processor would trap.
TEST(TargetTest, HasNoFeatureThatTheHostLacks) {
  const Target target("", "");
  const llvm::MCSubtargetInfo& info = *target.machine().getMCSubtargetInfo();
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const llvm::SubtargetFeatureKV& feature : info.getAllProcessorFeatures()) {
    const auto found = host.find(feature.Key);
    if (found == host.end() || found->second) continue;
    EXPECT_FALSE(info.getFeatureBits().test(feature.Value)) << feature.Key;
  }
}

TEST(TargetTest, HasTheHostsVectors) {
  const Target target("", "");
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  const bool has_512 = host["avx512f"] && host["avx512vl"] && host["avx512dq"] && host["avx512bw"];
  EXPECT_EQ(target.vector_bits(), has_512 ? 512 : host["avx2"] ? 256 : 128);
  EXPECT_EQ(target.machine().getMCSubtargetInfo()->checkFeatures("+fma"), host["fma"]);
}

// A processor that lacks nothing of what its name says is named in a word.
TEST(TargetTest, NamesOnlyWhatTheProcessorsNameDoesNotSay) {
  const Target target("", "");
  const llvm::MCSubtargetInfo& info = *target.machine().getMCSubtargetInfo();
  const std::string features = target.machine().getTargetFeatureString().str();
  const size_t named = std::count(features.begin(), features.end(), ',');
  EXPECT_LT(named, info.getAllProcessorFeatures().size() / 2);
}

// Where 64 bits are divided as fast as 32, no branch asks whether 32 would do.
TEST(TargetTest, DividesWholeNumbersWhereThatIsFast) {
  const auto narrows = [](const std::string& cpu) {
    return Target(cpu, "").machine().getMCSubtargetInfo()->checkFeatures("+idivq-to-divl");
  };
  EXPECT_TRUE(narrows("skylake-avx512"));
  EXPECT_FALSE(narrows("icelake-server"));
  EXPECT_FALSE(narrows("sapphirerapids"));
  EXPECT_FALSE(narrows("znver3"));
}

// Nor does who wants one kind of code find a machine of the other in the pool.
TEST(TargetTest, MakesAsMuchOfCodeAsIsAsked) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Target("", "").machine().getOptLevel(), llvm::CodeGenOptLevel::Aggressive);
    EXPECT_EQ(Target("", "", Effort::kLeast).machine().getOptLevel(), llvm::CodeGenOptLevel::None);
  }
}

TEST(TargetTest, FunctionsSayTheirMachine) {
  const Target target("haswell", "");
  llvm::LLVMContext context;
  llvm::Module module("", context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "f", &module);
  target.Mark(*function);
  EXPECT_EQ(function->getFnAttribute("target-cpu").getValueAsString(), "haswell");
  EXPECT_EQ(function->getFnAttribute("prefer-vector-width").getValueAsString(), "256");
}

}  // namespace
}  // namespace parakeet::backends
