// Arrays: layouts, views, allocation, elements of every dtype.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/array_value.h"
#include "runtime/abi.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::Count;
using ir::I64;

// The same elements, every other one of a larger array, backwards along the first axis.
ir::ArrayValue Strided(const ir::ArrayValue& array) {
  std::vector<int64_t> sizes = array.sizes;
  for (int64_t& size : sizes) size *= 2;
  ir::ArrayValue view = ir::NewArray(array.dtype, sizes);
  view.sizes = array.sizes;
  for (int64_t& stride : view.strides) stride *= 2;
  view.data += view.strides[0] * (view.sizes[0] - 1);
  view.strides[0] = -view.strides[0];
  ir::CopyElements(array, view);
  return view;
}

ir::ArrayValue Fortran(const ir::ArrayValue& array) {
  ir::ArrayValue copy = ir::NewArray(array.dtype, array.sizes, /*fortran=*/true);
  ir::CopyElements(array, copy);
  return copy;
}

// The same elements at odd addresses.
ir::ArrayValue Unaligned(const ir::ArrayValue& array) {
  ir::ArrayValue moved = array;
  moved.storage = std::make_shared<std::vector<std::byte>>(array.storage->size() + 1);
  std::copy(array.storage->begin(), array.storage->end(), moved.storage->begin() + 1);
  moved.data = moved.storage->data() + 1;
  return moved;
}

std::string Transposed(const std::string& marks) {
  return "fn @f(%x: [h][w]i64" + marks + R"ir() -> ([w][h]i64, i64) entry {
  %r: [w][h]i64 = alloc (%w, %h)
  %s: i64 = for %i in 0 to %h step 1 (%s: i64 = 0) {
    %u: i64 = for %j in 0 to %w step 1 (%t: i64 = %s) {
      %e: i64 = load %x[%i, %j]  store %r[%j, %i], %e
      %f: i64 = mul %t, 3  %g: i64 = add %f, %e  yield %g }
    yield %u }
  store %x[0, 1], 77
  return %r, %s })ir";
}

TEST(Memory, EveryLayout) {
  const ir::ArrayValue x = Count({3, 4});
  ExpectAgreement(Transposed(" c"), {x});
  ExpectAgreement(Transposed(" fortran"), {Fortran(x)});
  ExpectAgreement(Transposed(""), {x});
  ExpectAgreement(Transposed(""), {Strided(x)});
  ExpectAgreement(Transposed(" c unaligned"), {Unaligned(x)});
}

TEST(Memory, EveryDTypeMoves) {
  for (const char* name : {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16",
                           "f32", "f64", "c64", "c128"}) {
    const std::string dtype = name;
    const std::string text = "fn @f(%x: [n]" + dtype + " c, %k: " + dtype + ") -> ([n]" + dtype +
                             ", " + dtype + ", []" + dtype + ") entry {\n %y: [n]" + dtype +
                             " = alloc (%n)\n for %i in 0 to %n step 1 { %e: " + dtype +
                             " = load %x[%i] store %y[%i], %e }\n store %y[1], %k\n %l: " + dtype +
                             " = load %x[2]\n %z: []" + dtype +
                             " = alloc ()\n store %z[], %l\n"
                             " return %y, %l, %z }";
    const ir::DType type = *ir::DTypeFromName(name);
    ir::ArrayValue x = ir::NewArray(type, {4});
    for (int i = 0; i < 4; ++i) {
      ir::Constant value = ir::ConstantOf(type, i == 2 ? -3 : i);
      if (ir::IsComplex(type)) value.imag = 0.5 * i;
      ir::StoreElement(value, x.data + i * ir::SizeInBytes(type));
    }
    ExpectAgreement(text, {x, ir::ConstantOf(type, 1)});
  }
}

TEST(Memory, Views) {
  ExpectAgreement(R"ir(
fn @f(%x: [h][w]i64 c, %o: i64) -> ([3]i64, [2][2]i64, [3][2]i64, [0]i64, [w]i64, i64) entry {
  %a: [3]i64 = view %x offset (0, 2) strides ((0), (-1))
  %b: [2][2]i64 = view %x offset (1, 0) strides ((-1, 0), (0, 2))
  %c: [3][2]i64 = view %x offset (0) strides ((1, 3)) {flat = 1}
  %d: [0]i64 = view %x offset (9, 9) strides ((1), (1))
  %row: [w]i64 = view %x offset (%o, 0) strides ((0), (1))
  %bb: [2]i64 = view %b offset (0, 1) strides ((1), (0))
  %e: i64 = load %bb[1]
  store %row[2], 55
  return %a, %b, %c, %d, %row, %e })ir",
                  {Count({2, 3}), I64(1)});
}

TEST(Memory, AJoinOfRowsKeepsItsUnitStride) {
  ExpectAgreement(
      R"ir(
fn @f(%x: [h][w]f64 c, %y: [h][w]f64 c, %c: bool) -> [4]f64 entry {
  %r: [h][w]f64 = if %c { yield %x } else { yield %y }
  %a: [2][4]f64 = view %r offset (1, 1) strides ((1, 0), (0, 1))
  %b: [2][4]f64 = view %y offset (0, 2) strides ((1, 0), (0, 1))
  %v: [2][4]f64 = if %c { yield %a } else { yield %b }
  %o: [4]f64 = alloc (4)
  %e: f64x4 = load_lanes %v[1, 0] {axis = 1}
  store_lanes %o[0], %e {axis = 0}
  return %o })ir",
      {ir::F64Array({3, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}),
       ir::F64Array({3, 6}, {9, 1, 2, 9, 4, 5, 9, 7, 8, 9, 9, 11, 9, 13, 14, 9, 16, 17}),
       ir::Constant::Bool(true)});
}

TEST(Memory, TemporariesAreFreed) {
  ExpectAgreement(R"ir(
fn @f(%n: i64) -> i64 entry {
  %s: i64 = for %i in 0 to %n step 1 (%s: i64 = 0) {
    %a: [i][2]i64 = alloc (%i, 2)
    %b: [i][2]i64 = alloc (%i, 2)
    for %j in 0 to %i step 1 { store %a[%j, 1], %j  store %b[%j, 1], -1 }
    %t: i64 = for %j in 0 to %i step 1 (%t: i64 = %s) {
      %e: i64 = load %a[%j, 1]  %u: i64 = add %t, %e  yield %u }
    free %a
    free %b
    yield %t }
  return %s })ir",
                  {I64(20)});
}

TEST(Memory, SizesThatOverflowRaiseMemoryError) {
  constexpr std::string_view kText = R"ir(
fn @f(%n: i64, %m: i64) -> i64 entry {
  %a: [n][m]f64 = alloc (%n, %m)
  store %a[0, 0], 1.0
  return 3 })ir";
  const CompiledProgram compiled(kText);
  EXPECT_EQ(Describe(compiled.Run({I64(2), I64(3)})), "3");
  for (int64_t n : {int64_t{1} << 40, int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
    const ir::RunResult run = compiled.Run({I64(n), I64(int64_t{1} << 40)});
    ASSERT_TRUE(run.error.has_value());
    EXPECT_EQ(run.error->site, kPkSiteMemory);
    EXPECT_EQ(run.error->scalars.at(0).integer, -1);
  }
}

}  // namespace
}  // namespace parakeet::backends
