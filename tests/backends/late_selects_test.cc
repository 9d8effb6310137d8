#include "backends/llvm/late_selects.h"

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

// A loop over elements of %x, of which this makes %next of %left, the element %e and %y.
std::string Selected(const std::string& body) {
  const std::string text = R"ll(
define i64 @f(ptr %x, i64 %n, i64 %y) {
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
  SelectLast(function, loops);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  std::string written;
  llvm::raw_string_ostream(written) << function;
  return written;
}

bool EndsWithSelect(const std::string& written) {
  return written.find("[ %0, %loop ]") == std::string::npos &&
         written.find("[ %1, %loop ]") != std::string::npos &&
         written.find("%1 = select i1 %odd") != std::string::npos;
}

constexpr char kOdd[] = R"ll(
  %bit = and i64 %left, 1
  %mixed = xor i64 %bit, %e
  %odd = icmp ne i64 %mixed, 0
  %half = lshr i64 %left, 1
)ll";

TEST(LateSelects, ChooseLastWhereTheConditionIsLate) {
  const std::string written = Selected(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 %y, i64 0
  %next = xor i64 %half, %joins)ll");
  EXPECT_TRUE(EndsWithSelect(written)) << written;
  EXPECT_NE(written.find("%0 = xor i64 %half, %y"), std::string::npos) << written;
  EXPECT_NE(written.find("%1 = select i1 %odd, i64 %0, i64 %half"), std::string::npos) << written;
  // The other way round, and what is taken off.
  EXPECT_TRUE(EndsWithSelect(Selected(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 -1, i64 %y
  %next = and i64 %joins, %half)ll")));
  EXPECT_TRUE(EndsWithSelect(Selected(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 %y, i64 0
  %next = sub i64 %half, %joins)ll")));
}

TEST(LateSelects, StayWhereNothingWaitsLess) {
  const auto stays = [](const std::string& body) {
    return Selected(body).find("%next = ") != std::string::npos;
  };
  // A condition of elements alone; one that is there first; what is taken from; quotients; what
  // is read elsewhere too; no identity.
  EXPECT_TRUE(stays(R"ll(
  %odd = icmp ne i64 %e, 0
  %joins = select i1 %odd, i64 %y, i64 0
  %next = add i64 %left, %joins)ll"));
  EXPECT_TRUE(stays(R"ll(
  %odd = icmp ne i64 %left, 0
  %half = lshr i64 %left, 1
  %joins = select i1 %odd, i64 %y, i64 0
  %next = xor i64 %half, %joins)ll"));
  EXPECT_TRUE(stays(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 %y, i64 0
  %next = sub i64 %joins, %half)ll"));
  EXPECT_TRUE(stays(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 %y, i64 1
  %next = sdiv i64 %half, %joins)ll"));
  EXPECT_TRUE(stays(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 %y, i64 0
  %once = add i64 %joins, %e
  store i64 %once, ptr %at
  %next = xor i64 %half, %joins)ll"));
  EXPECT_TRUE(stays(std::string(kOdd) + R"ll(
  %joins = select i1 %odd, i64 %y, i64 5
  %next = xor i64 %half, %joins)ll"));
}

}  // namespace
}  // namespace parakeet::backends
