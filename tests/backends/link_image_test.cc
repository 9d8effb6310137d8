// Objects become images that run, or are refused by the name of what an image cannot say.
#include "backends/llvm/link_image.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "backends/llvm/target.h"
#include "ir/diagnostics.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "runtime/call.h"
#include "runtime/image.h"

namespace parakeet::backends {
namespace {

using Object = llvm::SmallVector<char, 0>;

Object Assemble(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(text, problem, context);
  if (module == nullptr) throw std::runtime_error(problem.getMessage().str());
  Target target("", "");
  module->setDataLayout(target.machine().createDataLayout());
  module->setTargetTriple(target.machine().getTargetTriple().str());
  return target.WriteObject(*module);
}

llvm::StringRef View(const Object& object) { return {object.data(), object.size()}; }

std::string Link(const std::string& text, const std::string& entry = "entry") {
  const Object object = Assemble(text);
  return LinkImage(View(object), entry);
}

// Runs an entry of one slot each way.
uint64_t RunImage(const std::string& image, uint64_t argument) {
  std::string error;
  const auto loaded = runtime::LoadImage(image.data(), image.size(), &error);
  if (loaded == nullptr) throw std::runtime_error(error);
  runtime::Call call(1);
  uint64_t result = 0;
  EXPECT_EQ(loaded->entry()(&call, &argument, &result), 0);
  return result;
}

std::string RefusalOf(const std::string& text, const std::string& entry = "entry") {
  try {
    Link(text, entry);
  } catch (const ir::Failure& failure) {
    EXPECT_EQ(failure.kind(), ir::FailureKind::kBug);
    return failure.what();
  }
  return "";
}

TEST(LinkImage, CallsImportsThroughStubsAndSlots) {
  const std::string image = Link(R"(
declare double @hypot(double, double)
declare double @cbrt(double)
define i32 @entry(ptr %call, ptr %args, ptr %results) {
  %x = load double, ptr %args
  %h = call double @hypot(double %x, double 4.0)
  %f = select i1 true, ptr @cbrt, ptr null
  store volatile ptr %f, ptr %results
  %g = load volatile ptr, ptr %results
  %c = call double %g(double 27.0)
  %s = fadd double %h, %c
  store double %s, ptr %results
  ret i32 0
})");
  const double x = 3.0;
  const uint64_t result = RunImage(image, std::bit_cast<uint64_t>(x));
  EXPECT_EQ(std::bit_cast<double>(result), 8.0);
}

TEST(LinkImage, ReadsConstantsAndTablesOfPointers) {
  const std::string image = Link(R"(
@a = private constant [2 x i64] [i64 10, i64 20]
@b = private constant i64 300, align 64
@table = private constant { i32, i32, ptr, ptr, ptr }
  { i32 1, i32 2, ptr getelementptr (i8, ptr @a, i64 8), ptr @b, ptr @twice }
define internal i64 @twice(i64 %x) { %y = add i64 %x, %x ret i64 %y }
define i32 @entry(ptr %call, ptr %args, ptr %results) {
  %i = load i64, ptr %args
  %place = getelementptr { i32, i32, ptr, ptr, ptr }, ptr @table, i64 0, i32 2
  %at = getelementptr ptr, ptr %place, i64 %i
  %p = load ptr, ptr %at
  %v = load i64, ptr %p
  %fp = getelementptr { i32, i32, ptr, ptr, ptr }, ptr @table, i64 0, i32 4
  %f = load volatile ptr, ptr %fp
  %w = call i64 %f(i64 %v)
  store i64 %w, ptr %results
  ret i32 0
})");
  EXPECT_EQ(RunImage(image, 0), 40u);
  EXPECT_EQ(RunImage(image, 1), 600u);
}

TEST(LinkImage, JumpTablesAreRelative) {
  const std::string image = Link(R"(
declare void @pk_free(ptr, ptr)
define i32 @entry(ptr %call, ptr %args, ptr %results) {
  %i = load i64, ptr %args
  switch i64 %i, label %none
    [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d i64 4, label %e ]
a: store i64 7, ptr %results
  ret i32 0
b: call void @pk_free(ptr %call, ptr null)
  store i64 11, ptr %results
  ret i32 0
c: store i64 13, ptr %args
  store i64 19, ptr %results
  ret i32 0
d: store i64 23, ptr %results
  ret i32 0
e: store i64 29, ptr %results
  ret i32 0
none: store i64 31, ptr %results
  ret i32 0
})");
  const uint64_t wanted[] = {7, 11, 19, 23, 29, 31};
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(RunImage(image, i), wanted[i]);
}

constexpr const char* kEntry =
    "define i32 @entry(ptr %call, ptr %args, ptr %results) { %v = load i64, ptr @g "
    "store i64 %v, ptr %results ret i32 0 }";

TEST(LinkImage, RefusesWritableData) {
  EXPECT_NE(RefusalOf(std::string("@g = internal global i64 3\ndefine void @set() { store i64 4, "
                                  "ptr @g ret void }") +
                      kEntry)
                .find("section .data"),
            std::string::npos);
  EXPECT_NE(RefusalOf(std::string("@g = internal global i64 0\ndefine void @set() { store i64 4, "
                                  "ptr @g ret void }") +
                      kEntry)
                .find("section .bss"),
            std::string::npos);
}

TEST(LinkImage, RefusesThreadLocalsByTheirRelocation) {
  const std::string refusal =
      RefusalOf(std::string("@g = external thread_local global i64\n") + kEntry);
  EXPECT_NE(refusal.find("R_X86_64_"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find(" of g"), std::string::npos) << refusal;
}

TEST(LinkImage, RefusesAMissingEntry) {
  EXPECT_EQ(RefusalOf("define i32 @other() { ret i32 0 }"), "cannot link: no function entry");
}

TEST(LinkImage, RefusesWhatIsNoObject) {
  EXPECT_THROW(LinkImage(llvm::StringRef("not an object"), "entry"), ir::Failure);
}

constexpr const char* kCaller = R"(
declare hidden i64 @callee(i64)
declare double @cbrt(double)
@names = private constant [1 x ptr] [ptr @callee]
define i32 @entry(ptr %call, ptr %args, ptr %results) {
  %x = load i64, ptr %args
  %direct = call i64 @callee(i64 %x)
  %function = load volatile ptr, ptr @names
  %indirect = call i64 %function(i64 %direct)
  %root = call double @cbrt(double 27.0)
  %three = fptosi double %root to i64
  %sum = add i64 %indirect, %three
  store i64 %sum, ptr %results
  ret i32 0
})";

TEST(LinkImage, ObjectsCallOneAnotherAndShareImports) {
  const Object caller = Assemble(kCaller);
  const Object callee = Assemble(R"(
declare double @cbrt(double)
define hidden i64 @callee(i64 %x) {
  %root = call double @cbrt(double 1000.0)
  %ten = fptosi double %root to i64
  %product = mul i64 %x, %ten
  ret i64 %product
})");
  EXPECT_EQ(RunImage(LinkImage({View(caller), View(callee)}, "entry"), 5), 503u);
  EXPECT_EQ(RunImage(LinkImage({View(callee), View(caller)}, "entry"), 5), 503u);
}

TEST(LinkImage, RefusesTwoDefinitions) {
  const Object object = Assemble(kCaller);
  EXPECT_THROW(LinkImage({View(object), View(object)}, "entry"), ir::Failure);
}

TEST(LinkImage, ImportsThatAreMissingAreFoundAtLoading) {
  const std::string image = Link(R"(
declare void @no_such_function()
define i32 @entry(ptr %call, ptr %args, ptr %results) {
  call void @no_such_function()
  ret i32 0
})");
  std::string error;
  EXPECT_EQ(runtime::LoadImage(image.data(), image.size(), &error), nullptr);
  EXPECT_NE(error.find("no_such_function"), std::string::npos);
}

}  // namespace
}  // namespace parakeet::backends
