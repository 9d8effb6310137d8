#include "backends/llvm/constant_extremes.h"

#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace parakeet::backends {
namespace {

// A loop over elements of %x, of which this makes %next of %left and the element %e.
std::string Joined(const std::string& body) {
  const std::string text = R"ll(
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
define i64 @f(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %left = phi i64 [ 7, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds i64, ptr %x, i64 %i
  %e = load i64, ptr %at
)ll" + body + R"ll(
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %out
out:
  ret i64 %next
})ll";
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str();
  llvm::Function& function = *module->getFunction("f");
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  JoinConstantsFirst(function, loops);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  std::string written;
  llvm::raw_string_ostream(written) << function;
  return written;
}

bool Selects(const std::string& written) { return written.find("select") != std::string::npos; }

TEST(ConstantExtremes, JoinWhatIsThereBeforeWhatIsCarried) {
  const std::string written = Joined(R"ll(
  %gap = add i64 %left, -2
  %inner = call i64 @llvm.smax.i64(i64 %gap, i64 %e)
  %next = call i64 @llvm.smax.i64(i64 %inner, i64 0))ll");
  EXPECT_NE(written.find("icmp sgt i64 %e, 0"), std::string::npos) << written;
  EXPECT_NE(written.find("smax.i64(i64 %1, i64 %gap)"), std::string::npos) << written;
}

TEST(ConstantExtremes, StayWhereNothingWaitsLess) {
  // Both follow from what is carried; neither does; another extreme; the inner one is read too.
  EXPECT_FALSE(Selects(Joined(R"ll(
  %gap = add i64 %left, -2
  %more.1 = add i64 %left, %e
  %inner = call i64 @llvm.smax.i64(i64 %gap, i64 %more.1)
  %next = call i64 @llvm.smax.i64(i64 %inner, i64 0))ll")));
  EXPECT_FALSE(Selects(Joined(R"ll(
  %inner = call i64 @llvm.smax.i64(i64 %i, i64 %e)
  %most = call i64 @llvm.smax.i64(i64 %inner, i64 0)
  %next = add i64 %left, %most)ll")));
  EXPECT_FALSE(Selects(Joined(R"ll(
  %inner = call i64 @llvm.smin.i64(i64 %left, i64 %e)
  %next = call i64 @llvm.smax.i64(i64 %inner, i64 0))ll")));
  EXPECT_FALSE(Selects(Joined(R"ll(
  %inner = call i64 @llvm.smax.i64(i64 %left, i64 %e)
  %most = call i64 @llvm.smax.i64(i64 %inner, i64 0)
  %next = add i64 %inner, %most)ll")));
}

}  // namespace
}  // namespace parakeet::backends
