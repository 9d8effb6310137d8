// Every scalar operation on every dtype it has a meaning on, one at a time and in lanes, gives what
// ir/evaluate.h says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/compile.h"
#include "ir/array_value.h"
#include "ir/evaluate.h"
#include "ir/ops.h"
#include "tests/backends/compiled_program.h"

namespace parakeet::backends {
namespace {

using ir::Constant;
using ir::DType;
using ir::OpCode;

constexpr DType kAll[] = {
#define PARAKEET_DTYPE(enumerator, text, bits, kind, number) DType::enumerator,
#include "ir/dtypes.def"
};

std::vector<double> RealSamples(DType part) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> samples = {0.0,  -0.0, 1.0,   -1.0, 0.5,   -0.5,     1.5,       2.5,
                                 -2.5, 3.0,  -3.75, 7.25, 100.0, infinity, -infinity, NAN};
  if (part == DType::kF16) {
    samples.insert(samples.end(), {6e-8, 65504.0, -65504.0, 1e-3});
  } else if (part == DType::kF32) {
    samples.insert(samples.end(), {1e-45, 3e38, -3e38, 1e10, 2147483648.0, -2147483648.0, 9.3e18});
  } else {
    samples.insert(samples.end(), {5e-324, 1e300, -1e300, 1e10, 2147483647.5, -2147483648.5,
                                   -2147483649.0, 9223372036854775808.0, -9223372036854775808.0,
                                   1.2e19, 1.8446744073709552e19, -1e17});
  }
  return samples;
}

std::vector<Constant> Samples(DType dtype) {
  std::vector<Constant> samples;
  if (ir::IsBool(dtype)) return {Constant::Bool(false), Constant::Bool(true)};
  if (ir::IsInteger(dtype)) {
    const int width = ir::SizeInBits(dtype);
    for (int64_t value : {0, 1, -1, 2, 3, -3, 7, -7, 10, 31, 32, 63, 64, 100, -100, 127, -128}) {
      samples.push_back(ir::ConstantOf(dtype, value));
    }
    const int64_t least = int64_t(~uint64_t{0} << (width - 1));
    for (int64_t value :
         {least, least + 1, ~least, ~least - 1, int64_t(width), int64_t(width - 1)}) {
      samples.push_back(ir::ConstantOf(dtype, value));
    }
    return samples;
  }
  if (ir::IsFloat(dtype)) {
    for (double value : RealSamples(dtype)) {
      samples.push_back(ir::EvaluateCast(Constant::Float(value), dtype));
    }
    return samples;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (double real : {0.0, -0.0, 1.0, -2.5, 3.0, 0.25, infinity, double(NAN)}) {
    for (double imag : {0.0, -0.0, 1.0, -1.5, infinity, double(NAN)}) {
      samples.push_back(Constant::Complex(real, imag, dtype));
    }
  }
  for (int i = 0; i < 16; ++i) {  // a run without special values
    samples.push_back(Constant::Complex(0.75 * i - 6, 2 - 0.5 * i, dtype));
  }
  samples.push_back(Constant::Complex(99.0, 0, dtype));
  samples.push_back(Constant::Complex(-4.0, 0, dtype));
  return samples;
}

size_t OperandCount(OpCode op) {
  if (op <= OpCode::kCast) return 1;
  return op <= OpCode::kMakeComplex ? 2 : 3;
}

DType ResultDType(OpCode op, DType dtype) {
  if (op == OpCode::kMakeComplex) return dtype == DType::kF32 ? DType::kC64 : DType::kC128;
  if (ir::InfoOf(op).rule == ir::TypeRule::kBool) return DType::kBool;
  if (ir::InfoOf(op).rule == ir::TypeRule::kPart && ir::IsComplex(dtype)) return ir::PartOf(dtype);
  return dtype;
}

// One operation that a program tries: its operands' dtype, its result's.
struct Trial {
  OpCode op;
  DType result;
};

// Operand columns: all tuples of samples for up to two operands, and a walk through them for three.
std::vector<std::vector<Constant>> Columns(DType dtype, size_t lanes) {
  const std::vector<Constant> samples = Samples(dtype);
  std::vector<std::vector<Constant>> columns(3);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = 0; j < samples.size(); ++j) {
      columns[0].push_back(samples[i]);
      columns[1].push_back(samples[j]);
      columns[2].push_back(samples[(i * 7 + j * 3 + 1) % samples.size()]);
    }
  }
  while (columns[0].size() % lanes != 0) {
    for (auto& column : columns) column.push_back(samples[0]);
  }
  return columns;
}

ir::ArrayValue ArrayOf(DType dtype, const std::vector<Constant>& elements) {
  ir::ArrayValue array = ir::NewArray(dtype, {int64_t(elements.size())});
  for (size_t i = 0; i < elements.size(); ++i) {
    ir::StoreElement(elements[i], array.data + i * ir::SizeInBytes(dtype));
  }
  return array;
}

std::string VectorType(DType dtype, int lanes) {
  return std::string(ir::Name(dtype)) + (lanes == 1 ? "" : "x" + std::to_string(lanes));
}

// A program that applies each trial to each element of its columns and stores what comes out.
std::string ProgramText(DType dtype, const std::vector<Trial>& trials, int lanes) {
  const std::string name(ir::Name(dtype));
  std::string head =
      "fn @f(%a: [n]" + name + " c, %b: [n]" + name + " c, %c: [n]" + name + " c, %m: [n]bool c";
  const std::string load = lanes == 1 ? "load" : "load_lanes";
  const std::string axis = lanes == 1 ? "" : " {axis = 0}";
  std::string body = ") entry { for %i in 0 to %n step " + std::to_string(lanes) + " {\n";
  for (const char* column : {"a", "b", "c"}) {
    body += std::string("  %v") + column + ": " + VectorType(dtype, lanes) + " = " + load + " %" +
            column + "[%i]" + axis + "\n";
  }
  body += "  %vm: " + VectorType(DType::kBool, lanes) + " = " + load + " %m[%i]" + axis + "\n";
  for (size_t k = 0; k < trials.size(); ++k) {
    const Trial& trial = trials[k];
    const std::string number = std::to_string(k);
    head += ", %r" + number + ": [n]" + std::string(ir::Name(trial.result)) + " c";
    std::string operands = trial.op == OpCode::kSelect ? "%vm, %va, %vb" : "%va";
    if (trial.op != OpCode::kSelect && OperandCount(trial.op) > 1) operands += ", %vb";
    if (trial.op != OpCode::kSelect && OperandCount(trial.op) > 2) operands += ", %vc";
    body += "  %x" + number + ": " + VectorType(trial.result, lanes) + " = " +
            std::string(ir::Name(trial.op)) + " " + operands + "\n";
    body += (lanes == 1 ? "  store %r" : "  store_lanes %r") + number + "[%i], %x" + number + axis +
            "\n";
  }
  return head + body + "  } return }";
}

// libm is the interpreter's too. libmvec promises 4 units in the last place.
double ToleranceOf(OpCode op, DType dtype, int lanes) {
  const bool is_function =
      (op >= OpCode::kCbrt && op <= OpCode::kErfc) || op == OpCode::kPow || op == OpCode::kAtan2 ||
      op == OpCode::kHypot ||
      (ir::IsComplex(dtype) && (op == OpCode::kAbs || op == OpCode::kSign || op == OpCode::kSqrt));
  if (!is_function || lanes == 1) return 0;
  // Products of two such functions.
  if (dtype == DType::kC64 || dtype == DType::kC128) return dtype == DType::kC64 ? 1.5e-6 : 3e-15;
  if (dtype == DType::kF16) return 1e-3;
  return dtype == DType::kF32 ? 5e-7 : 1e-15;
}

bool IsClose(double wanted, double got, double tolerance) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  if (wanted == got) return std::signbit(wanted) == std::signbit(got);
  return std::fabs(wanted - got) <= tolerance * std::fabs(wanted);
}

bool IsClose(const Constant& wanted, const Constant& got, double tolerance) {
  return wanted.integer == got.integer && IsClose(wanted.real, got.real, tolerance) &&
         IsClose(wanted.imag, got.imag, tolerance);
}

void CheckTrials(DType dtype, const std::vector<Trial>& trials, int lanes,
                 const std::string& cpu = "") {
  const auto columns = Columns(dtype, lanes);
  const size_t count = columns[0].size();
  std::vector<Constant> mask;
  for (size_t i = 0; i < count; ++i) mask.push_back(Constant::Bool(i % 3 == 0));
  ir::Values arguments;
  for (const auto& column : columns) arguments.push_back(ArrayOf(dtype, column));
  arguments.push_back(ArrayOf(DType::kBool, mask));
  for (const Trial& trial : trials) {
    arguments.push_back(ir::NewArray(trial.result, {int64_t(count)}));
  }
  CompileOptions options;
  options.cpu = cpu;
  const CompiledProgram compiled(ProgramText(dtype, trials, lanes), options);
  compiled.Run(arguments);
  for (size_t k = 0; k < trials.size(); ++k) {
    const Trial& trial = trials[k];
    const auto& results = std::get<ir::ArrayValue>(arguments[4 + k]);
    int reported = 0;
    for (size_t i = 0; i < count && reported < 3; ++i) {
      std::vector<Constant> operands = {columns[0][i], columns[1][i], columns[2][i]};
      operands.resize(OperandCount(trial.op));
      if (trial.op == OpCode::kSelect) operands = {mask[i], columns[0][i], columns[1][i]};
      const auto wanted = ir::Evaluate(trial.op, operands, trial.result);
      ASSERT_TRUE(wanted.has_value());
      const Constant got =
          ir::LoadElement(trial.result, results.data + i * ir::SizeInBytes(trial.result));
      if (IsClose(*wanted, got, ToleranceOf(trial.op, dtype, lanes))) continue;
      ++reported;
      ADD_FAILURE() << ir::Name(trial.op) << " of " << ir::Name(dtype) << " x" << lanes << " to "
                    << ir::Name(trial.result) << ": "
                    << Describe({{operands.begin(), operands.end()}, std::nullopt}) << " gave "
                    << Describe({{got}, std::nullopt}) << ", expected "
                    << Describe({{*wanted}, std::nullopt});
    }
  }
}

// The operations that have a meaning on the dtype.
std::vector<Trial> TrialsOf(DType dtype) {
  std::vector<Trial> trials;
  for (int i = 0; i < ir::NumOps() && ir::IsScalarOp(OpCode(i)); ++i) {
    const OpCode op = OpCode(i);
    if (op == OpCode::kCast) {
      for (DType to : kAll) trials.push_back({op, to});
      continue;
    }
    const DType result = ResultDType(op, dtype);
    std::vector<Constant> operands(OperandCount(op), ir::ConstantOf(dtype, 1));
    if (op == OpCode::kBitcast) {
      for (DType to : kAll)
        if (ir::Evaluate(op, operands, to)) trials.push_back({op, to});
      continue;
    }
    if (op == OpCode::kSelect) operands[0] = Constant::Bool(true);
    if (ir::Evaluate(op, operands, result)) trials.push_back({op, result});
  }
  return trials;
}

// Divisors that are constants have code of their own.
TEST(ConstantDivisors, AgreeWithEvaluate) {
  for (const char* name : {"i8", "u8", "i32", "u64", "i64"}) {
    const DType dtype = *ir::DTypeFromName(name);
    const std::vector<Constant> samples = Samples(dtype);
    for (int64_t divisor : {0, 1, 2, 8, 64, 3, 7, -1, -2, -8, -128}) {
      const Constant by = ir::ConstantOf(dtype, divisor);
      const std::string literal = std::to_string(by.integer) + ":" + name;
      if (ir::IsUnsigned(dtype) && divisor < 0) continue;
      for (const OpCode op : {OpCode::kFloorDiv, OpCode::kMod, OpCode::kFmod}) {
        const std::string type = name;
        const CompiledProgram compiled(
            "fn @f(%x: [n]" + type + " c, %y: [n]" + type + " c, %z: [n]" + type +
            " c) entry {\n  %d: " + type + "x4 = splat " + literal +
            "\n  for %i in 0 to %n step 1 { %a: " + type + " = load %x[%i]  %b: " + type + " = " +
            std::string(ir::Name(op)) + " %a, " + literal + "  store %y[%i], %b }\n" +
            "  for %i in 0 to %n step 4 { %a: " + type +
            "x4 = load_lanes %x[%i] {axis = 0}  %b: " + type + "x4 = " + std::string(ir::Name(op)) +
            " %a, %d  store_lanes %z[%i], %b {axis = 0} }\n  return }");
        std::vector<Constant> column = samples;
        column.resize(column.size() / 4 * 4);
        const auto x = ArrayOf(dtype, column), y = ArrayOf(dtype, column),
                   z = ArrayOf(dtype, column);
        compiled.Run({x, y, z});
        for (size_t i = 0; i < column.size(); ++i) {
          const int64_t wanted = ir::Evaluate(op, {column[i], by}, dtype)->integer;
          const size_t at = i * ir::SizeInBytes(dtype);
          EXPECT_EQ(ir::LoadElement(dtype, y.data + at).integer, wanted) << ir::Name(op) << literal;
          EXPECT_EQ(ir::LoadElement(dtype, z.data + at).integer, wanted) << ir::Name(op) << literal;
        }
      }
    }
  }
}

class ScalarOps : public testing::TestWithParam<DType> {};

TEST_P(ScalarOps, OneAtATime) { CheckTrials(GetParam(), TrialsOf(GetParam()), 1); }
TEST_P(ScalarOps, InEightLanes) { CheckTrials(GetParam(), TrialsOf(GetParam()), 8); }
TEST_P(ScalarOps, InThirtyTwoLanes) {
  const int bytes = ir::SizeInBytes(GetParam());
  CheckTrials(GetParam(), TrialsOf(GetParam()), bytes >= 8 ? 16 : 32);
}
TEST_P(ScalarOps, InTwoLanes) { CheckTrials(GetParam(), TrialsOf(GetParam()), 2); }

// Without AVX-512 and without F16C, FMA and AVX, much of it is other code.
TEST_P(ScalarOps, OnOlderProcessors) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "skipped: no AVX2";
  for (const char* cpu : {"haswell", "x86-64"}) {
    CheckTrials(GetParam(), TrialsOf(GetParam()), 8, cpu);
    CheckTrials(GetParam(), TrialsOf(GetParam()), 1, cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ScalarOps, testing::ValuesIn(kAll),
                         [](const auto& info) { return std::string(ir::Name(info.param)); });

}  // namespace
}  // namespace parakeet::backends
