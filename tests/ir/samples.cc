#include "tests/ir/samples.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "ir/evaluate.h"

namespace parakeet::ir {
namespace {

// f64 first, so that it is the first sample of what takes it, and stands in docs/ops.md.
std::vector<DType> DTypes() {
  std::vector<DType> dtypes = {
#define PARAKEET_DTYPE(enumerator, text, bits, kind, number) DType::enumerator,
#include "ir/dtypes.def"
  };
  std::stable_partition(dtypes.begin(), dtypes.end(), [](DType d) { return d == DType::kF64; });
  return dtypes;
}

constexpr char kParallel[] = R"ir(
site 0 IndexError "index {} is out of bounds for axis 0 with size {}"
site 1 ValueError "operands could not be broadcast together with shapes ({},) ({},)"

fn @whole_arrays(%x: [n]f64, %m: [h][w]f32 c, %k: i64)
    -> (%kept: i64, [kept]f64, [h][w]f32, f64) entry {
  %ok: bool = lt %k, %n
  check %ok, site 0 at (1, %k) with (%k, %n)
  %s: i64 = broadcast_size %n, 3, site 1 at (2)
  %part: [k]f64 = slice %x[0:%k:1]
  %row: [1][w]f32 = slice %m[%k, new, 0:%w:1]
  %turned: [w][h]f32 = transpose %m {perm = [1, 0]}
  %wide: [h][n]f64 = broadcast %x
  %flat: [n][1]f64 = reshape %x
  %same: [k]f64 = ascribe %part
  %sum: [n]f64 = map (%a: f64 in %x, %b: f64 in %x) {
    %c: f64 = add %a, %b
    yield %c }
  %rows: [h]f32 = map (%r: [w]f32 in %m) {
    %t: f32 = reduce (%e: f32 in %r) add from 0.0:f32 {
      yield %e }
    yield %t }
  %best: f64, %least: f64 = reduce (%a: f64 in %x, %b: f64 in %sum) (max, min) from (0.0, -inf) {
    yield %a, %b }
  %last: f64 = reduce (%a: f64 in %x) {
    yield %a } combine (%l: f64, %r: f64) {
    yield %r }
  %running: [n]f64 = scan (%a: f64 in %x) add {
    yield %a }
  %count: i64, %kept: [count]f64 = filter (%a: f64 in %x) {
    %positive: bool = gt %a, 0.0
    yield %positive }
  %square: [h][w]f32 = imap (%i, %j) in (%h, %w) {
    %a: f32 = load %m[%i, %j]
    yield %a }
  %total: f64 = ireduce (%i) in (%n) add from 0.0 tree(block 8192, lanes 32) {
    %a: f64 = load %x[%i]
    yield %a }
  %sums: [n]f64 = iscan (%i) in (%n) mul from 1.0 {
    %a: f64 = load %x[%i]
    yield %a }
  %y: [n]f64 = alloc (%n)
  copy %x, %y
  %status: i64 = library_call @sort(%y)
  %z: f64 = call @"<lambda>"(%x, %k) at (3, %k)
  return %count, %kept, %square, %z }

fn @"<lambda>"(%x: [n]f64 readonly, %i: i64) -> f64 {
  %a: f64 = load %x[%i]
  return %a }
)ir";

constexpr char kIndexed[] = R"ir(
fn @index_spaces(%x: [n]f64, %a: [h][l]f32 fortran unaligned, %b: [l][w]f32)
    -> (%k: i64, [k]i64, [h][w]f32, [n][1]f64) entry may_overlap {
  foreach (%i) in (%n) {
    %e: f64 = load %x[%i]
    %d: f64 = mul %e, 2.0
    store %x[%i], %d }
  %k: i64, %places: [k]i64 = ifilter (%i) in (%n) {
    %e: f64 = load %x[%i]
    %positive: bool = gt %e, 0.0
    yield %positive, %i }
  %c: [h][w]f32 = contract (%i, %j, %p) in (%h, %w, %l) add from 0.0:f32 {free = 2} {
    %e: f32 = load %a[%i, %p]
    %f: f32 = load %b[%p, %j]
    %g: f32 = mul %e, %f
    yield %g }
  %scaled: [h][w]f64 = contract (%i, %j, %p) in (%h, %w, %l) {free = 2} {
    %e: f32 = load %a[%i, %p]
    yield %e } combine (%s: f32, %t: f32) {
    %u: f32 = fmax %t, %s
    yield %u } then (%i: i64, %j: i64, %s: f32) {
    %e: f64 = cast %s
    yield %e }
  %column: [n][1]f64 = view %x offset (0) strides ((1, 0))
  %all: [h][w]f32 = view %c offset (0) strides ((%w, 1)) {flat = 1}
  mark %n, 0 {region = 0}
  return %k, %places, %c, %column }
)ir";

constexpr char kScheduled[] = R"ir(
fn @loops(%x: [n]f64 c, %rounds: i64) -> ([n]f64, f64, i64) entry {
  %y: [n]f64 = alloc (%n)
  %t: [n]f64 = alloc (%n) {fortran = 1}
  parallel for %i in 0 to %n step 4096 cost 40 {
    %hi: i64 = add %i, 4096
    vector for %j in %i to %hi step 4 {
      %four: f64x4 = load_lanes %x[%j] {axis = 0}
      store_lanes %y[%j], %four {axis = 0} } }
  for %i in 0 to %n step 1 {why = "line 5: y[i] may be \"x[j]\""} {
    %e: f64 = load %x[%i]
    store %t[%i], %e }
  free %t unless (%x, %y)
  %s: f64 = lanes (%i) in 0 to %n add from 0.0 tree(lanes 32) {
    %e: f64 = load %x[%i]
    yield %e }
  %v: f64x4 = splat %s
  %i4: i64x4 = iota
  %m: boolx4 = lt %i4, %i4
  %any: bool = any %m
  %every: bool = all %m
  %nearest: i64 = first_lane %m
  %g: f64x4 = gather_lanes %x[%i4], %m {masked = 1}
  scatter_lanes %y[%i4], %g, %m {masked = 1}
  prefetch %x[%n]
  drain
  %counts: [1]i64 = alloc (1)
  %old: i64 = atomic %counts[0], 1 {combine = "add", ordered = 1}
  %threads: i64 = team
  %lies: bool = aligned %x
  block for %block in 0 to 1 step 1 {
    %own: [64][1]u8 = alloc (64, 1) {private = 1}
    thread for %lane in 0 to 64 step 1 {warp = 1} {
      store %own[%lane, 0], 1:u8 }
    thread for %lane in 0 to 64 step 1 {
      %peers: u32 = match %own[%lane, 0]
      %next: i64 = add %lane, 1
      %other: u8 = shuffle %own[%lane, 0], %next } }
  %low: f64x2 = low_half %g
  %high: f64x2 = high_half %g
  %woven: f64x4 = interleave %high, %low
  %slid: f64x4 = slide %g, %woven {by = 3}
  %one: f64 = extract %low, 1
  %c: f64 = if %any {
    yield %one } else {
    yield %s }
  if %every {
    store %y[0], %c }
  %steps: i64, %left: i64 = while (%k: i64 = 0, %l: i64 = %rounds) {
    %go: bool = gt %l, 0
    yield %go } do (%k: i64, %l: i64) {
    %k2: i64 = add %k, 1
    %l2: i64 = sub %l, 1
    yield %k2, %l2 }
  %sum: f64 = for %i in %rounds to 0 step -1 (%acc: f64 = 0.0) {
    %next: f64 = add %acc, %c
    yield %next }
  return %y, %sum, %steps }
)ir";

// How many operands a scalar operation takes, as ops.def's sections say.
size_t CountOperands(OpCode op) {
  return op <= OpCode::kCast ? 1 : op <= OpCode::kMakeComplex ? 2 : 3;
}

std::vector<DType> OperandDTypes(OpCode op, DType dtype) {
  std::vector<DType> dtypes(CountOperands(op), dtype);
  if (InfoOf(op).rule == TypeRule::kChoice) dtypes[0] = DType::kBool;
  return dtypes;
}

DType OfSameWidth(DType dtype) {
  if (!IsFloat(dtype)) return dtype;
  return dtype == DType::kF64 ? DType::kU64 : dtype == DType::kF32 ? DType::kU32 : DType::kU16;
}

DType ResultDType(OpCode op, DType dtype) {
  if (op == OpCode::kMakeComplex) return dtype == DType::kF32 ? DType::kC64 : DType::kC128;
  if (op == OpCode::kCast) return DType::kF64;
  if (op == OpCode::kBitcast) return OfSameWidth(dtype);
  if (InfoOf(op).rule == TypeRule::kBool) return DType::kBool;
  return InfoOf(op).rule == TypeRule::kPart && IsComplex(dtype) ? PartOf(dtype) : dtype;
}

// One binding for each scalar operation and each dtype that it has a meaning for.
std::string ScalarOperations() {
  std::string params = "%bool: bool", body;
  int number = 0;
  for (const DType dtype : DTypes()) {
    if (dtype != DType::kBool)
      params += ", %" + std::string(Name(dtype)) + ": " + std::string(Name(dtype));
    for (int i = 0; i < NumOps() && IsScalarOp(static_cast<OpCode>(i)); ++i) {
      const OpCode op = static_cast<OpCode>(i);
      std::vector<Constant> ones;
      std::string operands;
      for (DType operand : OperandDTypes(op, dtype)) {
        operands += (ones.empty() ? "%" : ", %") + std::string(Name(operand));
        ones.push_back(ConstantOf(operand, 1));
      }
      const DType result = ResultDType(op, dtype);
      if (!Evaluate(op, ones, result)) continue;
      body += "%" + std::to_string(number++) + ": " + std::string(Name(result)) + " = " +
              std::string(Name(op)) + " " + operands + "\n";
    }
  }
  return "fn @scalars(" + params + ") {\n" + body + "return }\n";
}

constexpr std::string_view kPieces[] = {
    "{",       "}",     "(",     ")",       "[",  "]",    ",",  ":",   "=",
    "%x",      "%0",    "yield", "add",     "@f", "\"",   "->", "1",   "nan",
    "-",       "f64x4", "from",  "generic", "\\", "%",    "@",  "for", "//",
    "0.5:f32", "i64",   "%i",    "combine", "at", "site", "0"};

}  // namespace

std::string Mutated(std::string text, std::mt19937& random) {
  for (int change = random() % 3; change >= 0; --change) {
    const size_t place = random() % text.size();
    const size_t cut = random() % 4 == 0 ? random() % 40 : random() % 2;
    text.replace(place, cut, random() % 3 == 0 ? "" : kPieces[random() % std::size(kPieces)]);
  }
  return text;
}

std::vector<std::pair<Stage, std::string>> Samples() {
  return {{Stage::kParallel, kParallel},
          {Stage::kIndexed, kIndexed},
          {Stage::kScheduled, kScheduled},
          {Stage::kParallel, ScalarOperations()}};
}

}  // namespace parakeet::ir
