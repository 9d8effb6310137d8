// Kernels that are launched in other cases are in modules of their own.
#include "backends/nvvm/split_ptx.h"

#include <gtest/gtest.h>

namespace parakeet::backends {
namespace {

constexpr std::string_view kHead = ".version 7.8\n.target sm_90\n\n";
constexpr std::string_view kHelper = ".func helper()\n{\n\tret;\n}\n";
constexpr std::string_view kFirst =
    ".visible .entry kernel_1(\n\t.param .b64 p\n)\n.maxntid 256, 1, 1\n{\n\tret;\n}\n";
constexpr std::string_view kSecond = ".visible .entry kernel_10()\n{\n\t{\n\tret;\n\t}\n}\n";

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

TEST(KeepKernels, LeavesOutTheOthersAlone) {
  const std::string all = Join({kHead, kFirst, kHelper, kSecond});
  EXPECT_EQ(KeepKernels(all, {"kernel_1", "kernel_10"}), all);
  EXPECT_EQ(KeepKernels(all, {"kernel_1"}), Join({kHead, kFirst, kHelper}));
  EXPECT_EQ(KeepKernels(all, {"kernel_10"}), Join({kHead, kHelper, kSecond}));
  EXPECT_EQ(KeepKernels(all, {}), Join({kHead, kHelper}));
}

TEST(KeepKernels, TakesTextWithoutALastLineEnd) {
  EXPECT_EQ(KeepKernels(".version 7.8", {}), ".version 7.8");
}

// Before the first instruction of kernels, and of nothing else.
TEST(OverlapKernels, LetsKernelsWait) {
  constexpr std::string_view kWaits =
      "\tgriddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;\n";
  EXPECT_EQ(OverlapKernels(Join({kHead, kHelper, kFirst})),
            Join({kHead, kHelper, kFirst.substr(0, kFirst.find("\tret")), kWaits, "\tret;\n}\n"}));
  constexpr std::string_view kOpen =
      ".visible .entry kernel_2(\n\t.param .b64 p\n)\n{\n\t.reg .b32 \t%r<3>;\n"
      "\t// demoted\n\t.shared .align 8 .b8 s[8];\n\n// %bb.0:\n";
  constexpr std::string_view kCode = "$L__BB0_1:\n\tmov.u32 %r1, 0;\n\tret;\n}\n";
  EXPECT_EQ(OverlapKernels(Join({kHead, kOpen, kCode, kHelper})),
            Join({kHead, kOpen, kWaits, kCode, kHelper}));
}

TEST(WithoutCallNumbers, IsAllElse) {
  EXPECT_EQ(WithoutCallNumbers("// by hand\n\n\t{ // callseq 3, 0\n\t} // callseq 3\n\tret;"),
            "// by hand\n\n\t{\n\t}\n\tret;");
  EXPECT_EQ(WithoutCallNumbers(""), "");
}

constexpr std::string_view kSizes = ".version 7.8\n.target sm_90\n.address_size 64\n";

TEST(JoinPtx, HasWhatSeveralDeclareOrDefineOnce) {
  constexpr std::string_view kDeclared = ".func helper()\n;\n";
  constexpr std::string_view kTable = ".global .align 4 .b8 table[3] = {1, 2, 3};\n";
  const std::string first = Join({"// by hand\n", kSizes, "\n\t// .globl kernel_1\n", kDeclared,
                                  kTable, "\n", kFirst, kHelper});
  const std::string second =
      Join({"// by hand\n", kSizes, ".weak ", kDeclared, kTable, kSecond, ".weak ", kHelper});
  EXPECT_EQ(JoinPtx({first, second}), Join({"// by hand\n", kSizes, "\n", kDeclared, "\n", kTable,
                                            "\n", kFirst, "\n", kHelper, "\n", kSecond}));
}

}  // namespace
}  // namespace parakeet::backends
