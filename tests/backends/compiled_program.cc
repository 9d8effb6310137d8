#include "tests/backends/compiled_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ir/array_value.h"
#include "ir/parser.h"
#include "runtime/abi.h"
#include "runtime/call.h"
#include "runtime/openmp_library.h"

namespace parakeet::backends {
namespace {

using ir::ArrayValue;
using ir::Constant;
using ir::DType;

// The slots of a scalar, encoded as runtime/abi.h says.
std::vector<uint64_t> SlotsOf(const Constant& value) {
  std::byte bytes[16] = {};
  ir::StoreElement(value, bytes);
  if (ir::IsInteger(value.dtype) || ir::IsBool(value.dtype)) return {uint64_t(value.integer)};
  const int part = ir::SizeInBytes(value.dtype) / (ir::IsComplex(value.dtype) ? 2 : 1);
  std::vector<uint64_t> slots(ir::IsComplex(value.dtype) ? 2 : 1, 0);
  for (size_t i = 0; i < slots.size(); ++i) std::memcpy(&slots[i], bytes + i * part, part);
  return slots;
}

Constant ConstantFromSlots(DType dtype, const uint64_t* slots) {
  if (ir::IsInteger(dtype) || ir::IsBool(dtype)) return ir::ConstantOf(dtype, int64_t(slots[0]));
  std::byte bytes[16];
  const int part = ir::SizeInBytes(dtype) / (ir::IsComplex(dtype) ? 2 : 1);
  std::memcpy(bytes, &slots[0], part);
  if (ir::IsComplex(dtype)) std::memcpy(bytes + part, &slots[1], part);
  return ir::LoadElement(dtype, bytes);
}

std::vector<uint64_t> EncodeArguments(const ir::Values& arguments) {
  std::vector<uint64_t> slots;
  for (const ir::RuntimeValue& argument : arguments) {
    if (const auto* scalar = std::get_if<Constant>(&argument)) {
      for (uint64_t slot : SlotsOf(*scalar)) slots.push_back(slot);
      continue;
    }
    const ArrayValue& array = std::get<ArrayValue>(argument);
    slots.push_back(reinterpret_cast<uint64_t>(array.data));
    slots.insert(slots.end(), array.sizes.begin(), array.sizes.end());
    slots.insert(slots.end(), array.strides.begin(), array.strides.end());
  }
  return slots;
}

size_t SlotCount(const ir::Type& type) {
  if (type.IsArray()) return PkArrayResultSlots(type.rank());
  return ir::IsComplex(type.dtype()) ? 2 : 1;
}

// Reads results; copies what the call is about to free.
class ResultReader {
 public:
  explicit ResultReader(const ir::Values& arguments) {
    for (const ir::RuntimeValue& argument : arguments) {
      if (const auto* array = std::get_if<ArrayValue>(&argument)) arrays_.push_back(*array);
    }
  }

  ArrayValue Read(const ir::Type& type, const uint64_t* slots) {
    ArrayValue array;
    array.dtype = type.dtype();
    const int64_t root = int64_t(slots[0]);
    array.data = reinterpret_cast<std::byte*>(slots[2]);
    array.sizes.assign(slots + 3, slots + 3 + type.rank());
    array.strides.assign(slots + 3 + type.rank(), slots + 3 + 2 * type.rank());
    if (root >= 0) {
      EXPECT_LT(root, int64_t(arrays_.size()));
      EXPECT_EQ(slots[1], 0u) << "a view of an argument has no base";
      array.storage = arrays_.at(root).storage;
      return array;
    }
    EXPECT_NE(slots[1], 0u) << "a fresh result has a base";
    bases_.resize(std::max<size_t>(bases_.size(), -root), 0);
    uint64_t& base = bases_[-1 - root];
    EXPECT_TRUE(base == 0 || base == slots[1]) << "one number, one buffer";
    base = slots[1];
    return ir::CopyOf(array);
  }

  // Buffers are numbered from 0 without gaps, and two numbers are two buffers.
  void CheckBases() const {
    for (size_t i = 0; i < bases_.size(); ++i) {
      EXPECT_NE(bases_[i], 0u) << "buffer numbers have a gap";
      for (size_t k = 0; k < i; ++k) EXPECT_NE(bases_[i], bases_[k]);
    }
  }

 private:
  std::vector<ArrayValue> arrays_;
  std::vector<uint64_t> bases_;
};

const char* BindOpenMp() {
  const char* path = std::getenv("PARAKEET_TEST_LIBOMP");
  if (path == nullptr) path = "/usr/lib/llvm-19/lib/libomp.so.5";
  runtime::SetOpenMpPath(path);
  return path;
}

bool IsSame(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return std::signbit(a) == std::signbit(b) || tolerance > 0;
  return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

bool IsSame(const Constant& a, const Constant& b, double tolerance) {
  return a.dtype == b.dtype && a.integer == b.integer && IsSame(a.real, b.real, tolerance) &&
         IsSame(a.imag, b.imag, tolerance);
}

bool IsSame(const ir::RuntimeValue& a, const ir::RuntimeValue& b, double tolerance) {
  if (const auto* scalar = std::get_if<Constant>(&a)) {
    return IsSame(*scalar, std::get<Constant>(b), tolerance);
  }
  const ArrayValue &x = std::get<ArrayValue>(a), &y = std::get<ArrayValue>(b);
  if (x.dtype != y.dtype || x.sizes != y.sizes) return false;
  bool same = true;
  ir::ForEachIndex(x.sizes, [&](const ir::Index& index) {
    same = same && IsSame(ir::LoadElement(x.dtype, ir::ElementAt(x, index)),
                          ir::LoadElement(y.dtype, ir::ElementAt(y, index)), tolerance);
  });
  return same;
}

bool IsSame(const ir::Values& a, const ir::Values& b, double tolerance) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!IsSame(a[i], b[i], tolerance)) return false;
  }
  return true;
}

bool IsSame(const ir::RunError& a, const ir::RunError& b) {
  std::vector<uint64_t> x, y;
  for (const Constant& scalar : a.scalars) {
    for (uint64_t slot : SlotsOf(scalar)) x.push_back(slot);
  }
  for (const Constant& scalar : b.scalars) y.push_back(uint64_t(scalar.integer));
  return a.site == b.site && a.place == b.place && x == y;
}

// An argument without storage of its own is a view of caller's memory: not supported in tests.
ArrayValue DeepCopyArray(const ArrayValue& array) {
  ArrayValue copy = array;
  if (array.storage == nullptr) return copy;
  copy.storage = std::make_shared<std::vector<std::byte>>(*array.storage);
  copy.data = copy.storage->data() + (array.data - array.storage->data());
  return copy;
}

std::string DescribeScalar(const Constant& value) {
  char text[80];
  if (ir::IsComplex(value.dtype)) {
    std::snprintf(text, sizeof text, "%.17g%+.17gj", value.real, value.imag);
  } else if (ir::IsFloat(value.dtype)) {
    std::snprintf(text, sizeof text, "%.17g", value.real);
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value.integer));
  }
  return text;
}

std::string DescribeArray(const ArrayValue& array) {
  if (array.sizes.empty()) return DescribeScalar(ir::LoadElement(array.dtype, array.data));
  std::string text = "[";
  for (int64_t i = 0; i < array.sizes[0]; ++i) {
    text += (i ? " " : "") + DescribeArray(ir::SubArray(array, std::vector<int64_t>{i}));
  }
  return text + "]";
}

// What does not fit a few lines ends in dots.
std::string Shortened(std::string text) {
  constexpr size_t kMost = 400;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

std::string DescribeValues(const ir::Values& values) {
  std::string text;
  for (const ir::RuntimeValue& value : values) {
    if (!text.empty()) text += ", ";
    const auto* array = std::get_if<ArrayValue>(&value);
    text += array != nullptr ? DescribeArray(*array) : DescribeScalar(std::get<Constant>(value));
  }
  return Shortened(text);
}

// Runs the interpreter and the compiled program, the latter with two teams.
void ExpectSame(const CompiledProgram& compiled, const ir::Values& arguments, double tolerance,
                const std::string& mode) {
  const ir::Program& program = compiled.program();
  const ir::Values wanted_arguments = DeepCopy(arguments);
  const ir::RunResult wanted = ir::Interpret(program, program.functions[0]->name, wanted_arguments);
  for (const int team : {1, 3}) {
    const ir::Values got_arguments = DeepCopy(arguments);
    const ir::RunResult got = compiled.Run(got_arguments, team);
    const std::string difference = mode + ", team " + std::to_string(team) + ": " +
                                   Describe(wanted) + " against " + Describe(got);
    ASSERT_EQ(wanted.error.has_value(), got.error.has_value()) << difference;
    if (wanted.error) {
      EXPECT_TRUE(IsSame(*wanted.error, *got.error)) << difference;
      continue;
    }
    EXPECT_TRUE(IsSame(wanted.values, got.values, tolerance)) << difference;
    EXPECT_TRUE(IsSame(wanted_arguments, got_arguments, tolerance))
        << mode << ", team " << team << ", arguments: " << DescribeValues(wanted_arguments)
        << " against " << DescribeValues(got_arguments);
  }
}

}  // namespace

CompiledProgram::CompiledProgram(const ir::Program& program, const CompileOptions& options)
    : program_(program), compiled_(Compile(program, options)) {
  [[maybe_unused]] static const char* const bound = BindOpenMp();
  std::string error;
  image_ = runtime::LoadImage(compiled_.image.data(), compiled_.image.size(), &error);
  if (image_ == nullptr) throw std::runtime_error(error);
}

CompiledProgram::CompiledProgram(std::string_view text, const CompileOptions& options)
    : CompiledProgram(ir::Parse(text), options) {}

ir::RunResult CompiledProgram::Run(const ir::Values& arguments, int team) const {
  const ir::Function& function = *program_.functions[0];
  const std::vector<uint64_t> slots = EncodeArguments(arguments);
  size_t result_slots = 0;
  for (const ir::Var* result : function.results) result_slots += SlotCount(result->type);
  std::vector<uint64_t> results(result_slots, 0xcbcbcbcbcbcbcbcbu);
  runtime::Call call(team);
  const int32_t failed = image_->entry()(&call, slots.data(), results.data());
  EXPECT_EQ(failed != 0, call.has_failed());
  ir::RunResult run;
  if (failed != 0) {
    const runtime::ErrorRecord& error = call.error();
    run.error = ir::RunError{error.site, error.place, {}};
    for (int64_t scalar : error.scalars) run.error->scalars.push_back(Constant::Int(scalar));
    return run;
  }
  ResultReader reader(arguments);
  const uint64_t* next = results.data();
  for (const ir::Var* result : function.results) {
    if (result->type.IsArray()) {
      run.values.push_back(reader.Read(result->type, next));
    } else {
      run.values.push_back(ConstantFromSlots(result->type.dtype(), next));
    }
    next += SlotCount(result->type);
  }
  reader.CheckBases();
  return run;
}

ir::Values DeepCopy(const ir::Values& values) {
  ir::Values copies;
  for (const ir::RuntimeValue& value : values) {
    const auto* array = std::get_if<ArrayValue>(&value);
    copies.push_back(array == nullptr ? value : ir::RuntimeValue(DeepCopyArray(*array)));
  }
  return copies;
}

std::string Describe(const ir::RunResult& result) {
  if (!result.error) return DescribeValues(result.values);
  std::string text = "error " + std::to_string(result.error->site) + " at (";
  for (int64_t place : result.error->place) text += std::to_string(place) + " ";
  text += ") with (";
  for (const Constant& scalar : result.error->scalars) text += DescribeScalar(scalar) + " ";
  return text + ")";
}

void ExpectAgreement(std::string_view text, const ir::Values& arguments, double tolerance) {
  ExpectAgreements(text, {arguments}, tolerance);
}

void ExpectAgreements(std::string_view text, const std::vector<ir::Values>& calls,
                      double tolerance) {
  const ir::Program program = ir::Parse(text);
  // Where there are loops, once more with each nest a function of its own, as in long functions.
  for (const int apart_above : {CompileOptions().apart_above, 0}) {
    if (apart_above == 0 && text.find("for %") == text.npos) break;
    for (const bool parallel : {false, true}) {
      CompileOptions options;
      options.parallel = parallel;
      options.apart_above = apart_above;
      if (apart_above == 0) options.cold_above = 0;
      const CompiledProgram compiled(program, options);
      const std::string mode = parallel ? "parallel" : "serial";
      for (const ir::Values& arguments : calls) {
        ExpectSame(compiled, arguments, tolerance, mode + (apart_above == 0 ? ", apart" : ""));
      }
    }
  }
}

}  // namespace parakeet::backends
