#include "tests/ir/interpreter_cases.h"

#include <cstdio>

#include "ir/parser.h"

namespace parakeet::ir {
namespace {

std::string ShowScalar(const Constant& value) {
  if (IsBool(value.dtype)) return value.integer ? "true" : "false";
  if (IsInteger(value.dtype)) return std::to_string(value.integer);
  char text[64];
  if (IsComplex(value.dtype)) {
    std::snprintf(text, sizeof text, "%g%+gj", value.real, value.imag);
  } else {
    std::snprintf(text, sizeof text, "%g", value.real);
  }
  return text;
}

std::string ShowArray(const ArrayValue& array) {
  if (array.sizes.empty()) return ShowScalar(LoadElement(array.dtype, array.data));
  std::string text = "[";
  for (int64_t i = 0; i < array.sizes[0]; ++i) {
    text += (i ? " " : "") + ShowArray(SubArray(array, std::vector<int64_t>{i}));
  }
  return text + "]";
}

template <typename T>
std::string List(const std::vector<T>& values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) {
    text += i ? ", " : "";
    if constexpr (std::is_same_v<T, Constant>) {
      text += ShowScalar(values[i]);
    } else {
      text += std::to_string(values[i]);
    }
  }
  return text + ")";
}

constexpr std::string_view kMapOfRows = R"ir(
fn @f(%x: [h][w]i64, %s: [h]i64) -> ([h][w]i64, [h]i64) {
  %y: [h][w]i64, %t: [h]i64 = map (%r: [w]i64 in %x, %k: i64 in %s) {
    %q: [w]i64 = map (%a: i64 in %r) { %b: i64 = mul %a, %k  yield %b }
    %sum: i64 = reduce (%a: i64 in %q) add from 0 { yield %a }
    yield %q, %sum }
  return %y, %t })ir";

constexpr std::string_view kReduceOfTwo = R"ir(
fn @f(%x: [n]i64, %y: [n]i64) -> (i64, i64) {
  %a: i64, %b: i64 = reduce (%p: i64 in %x, %q: i64 in %y) (add, max) from (100, -1) {
    yield %p, %q }
  return %a, %b })ir";

constexpr std::string_view kReduceWithoutInit = R"ir(
fn @f(%x: [h][w]i64) -> i64 {
  %a: i64 = reduce (%p: i64 in %x) { yield %p } combine (%l: i64, %r: i64) {
    %t: i64 = mul %l, 10  %u: i64 = add %t, %r  yield %u }
  return %a })ir";

constexpr std::string_view kReduceOfRows = R"ir(
fn @f(%x: [h][w]i64) -> [w]i64 {
  %a: [w]i64 = reduce (%p: [w]i64 in %x) { yield %p } combine (%l: [w]i64, %r: [w]i64) {
    %s: [w]i64 = map (%u: i64 in %l, %v: i64 in %r) {
      %t: i64 = add %u, %v  yield %t }
    yield %s }
  return %a })ir";

constexpr std::string_view kScans = R"ir(
fn @f(%x: [n]i64) -> ([n]i64, [n]i64, [n]i64, [n]i64) {
  %a: [n]i64 = scan (%e: i64 in %x) add from 100 { yield %e }
  %b: [n]i64 = iscan (%i) in (%n) max { %e: i64 = load %x[%i]  yield %e }
  %c: [n]i64 = scan (%e: i64 in %x) add from 100 tree(block 2) { yield %e }
  %d: [n]i64 = iscan (%i) in (%n) tree(block 2) { %e: i64 = load %x[%i]  yield %e }
    combine (%l: i64, %r: i64) { yield %r }
  return %a, %b, %c, %d })ir";

constexpr std::string_view kFilters = R"ir(
fn @f(%x: [h][w]i64) -> (%k: i64, [k]i64, %j: i64, [j]i64, [j]f64, %r: i64, [r][w]i64) {
  %k: i64, %y: [k]i64 = filter (%e: i64 in %x) { %o: i64 = and %e, 1  %p: bool = cast %o  yield %p }
  %j: i64, %u: [j]i64, %v: [j]f64 = ifilter (%a, %b) in (%h, %w) {
    %e: i64 = load %x[%a, %b]  %p: bool = gt %e, 3  %d: f64 = cast %e  yield %p, %b, %d }
  %r: i64, %z: [r][w]i64 = filter (%row: [w]i64 in %x) {
    %e: i64 = load %row[0]  %p: bool = gt %e, 2  yield %p }
  return %k, %y, %j, %u, %v, %r, %z })ir";

constexpr std::string_view kIndexSpaces = R"ir(
fn @f(%x: [n]i64, %h: i64) -> ([h][n]i64, i64, i64) {
  %a: [h][n]i64 = imap (%i, %j) in (%h, %n) { %e: i64 = load %x[%j]  %t: i64 = mul %i, 10
    %v: i64 = add %e, %t  yield %v }
  %b: i64, %c: i64 = ireduce (%i, %j) in (%h, %n) (add, min) from (0, 50) {
    %e: i64 = load %a[%i, %j]  yield %e, %e }
  foreach (%i) in (%n) { store %x[%i], %i }
  return %a, %b, %c })ir";

constexpr std::string_view kContract = R"ir(
fn @f(%a: [h][l]i64, %b: [l][w]i64) -> ([h][w]i64, i64) {
  %c: [h][w]i64 = contract (%i, %j, %p) in (%h, %w, %l) add from 0 {free = 2} {
    %e: i64 = load %a[%i, %p]  %f: i64 = load %b[%p, %j]  %g: i64 = mul %e, %f  yield %g }
  %d: i64 = contract (%i, %j) in (%h, %l) add from 0 {free = 0} {
    %e: i64 = load %a[%i, %j]  yield %e }
  return %c, %d })ir";

constexpr std::string_view kContractThen = R"ir(
fn @f(%a: [h][l]i64, %b: [l][w]i64) -> ([h][w]i64, [h][w]f64, i64) {
  %k: i64 = add 5, 5
  %c: [h][w]i64, %d: [h][w]f64 = contract (%i, %j, %p) in (%h, %w, %l) add from 0 {free = 2} {
    %e: i64 = load %a[%i, %p]  %f: i64 = load %b[%p, %j]  %g: i64 = mul %e, %f  yield %g }
    then (%row: i64, %column: i64, %s: i64) {
    %m: i64 = mul %k, %column  %r: i64 = add %s, %m  %q: f64 = cast %row  yield %r, %q }
  %t: i64 = contract (%i, %j) in (%h, %l) add from 0 {free = 0} {
    %e: i64 = load %a[%i, %j]  yield %e } then (%s: i64) { %n: i64 = neg %s  yield %n }
  return %c, %d, %t })ir";

constexpr std::string_view kEmptySpaces = R"ir(
fn @f(%n: i64, %m: i64) -> ([n]i64, [n][m]i64, i64, [n]i64, %k: i64, [k]i64) {
  %a: [n]i64 = imap (%i) in (%n) { yield %i }
  %b: [n][m]i64 = imap (%i) in (%n) { %r: [m]i64 = imap (%j) in (%m) { yield %j }  yield %r }
  %c: i64 = ireduce (%i, %j) in (%m, %n) add from 7 tree(block 4, lanes 2) { yield %i }
  %d: [n]i64 = iscan (%i) in (%n) add from 7 { yield %i }
  %k: i64, %e: [k]i64 = ifilter (%i) in (%n) { yield true, %i }
  return %a, %b, %c, %d, %k, %e })ir";

constexpr std::string_view kViews = R"ir(
fn @f(%x: [h][w]i64) -> ([2]i64, [1][h]i64, [w][h]i64, [2][h][w]i64, %n: i64, [n]i64, [3]i64) {
  %n: i64 = mul %h, %w
  %a: [2]i64 = slice %x[1, 2:2:-2]
  %b: [1][h]i64 = slice %x[new, 0:%h:1, 1]
  %c: [w][h]i64 = transpose %x {perm = [1, 0]}
  %d: [2][h][w]i64 = broadcast %x
  %e: [n]i64 = reshape %c
  %g: [3]i64 = slice %x[0, 0:3:1]
  %s: [3]i64 = ascribe %g
  return %a, %b, %c, %d, %n, %e, %s })ir";

constexpr std::string_view kViewOperation = R"ir(
fn @f(%x: [h][w]i64) -> ([3]i64, [2][2]i64, [3][2]i64, [0]i64) {
  %a: [3]i64 = view %x offset (0, 2) strides ((0), (-1))
  %b: [2][2]i64 = view %x offset (1, 0) strides ((-1, 0), (0, 2))
  %c: [3][2]i64 = view %x offset (0) strides ((1, 3)) {flat = 1}
  %d: [0]i64 = view %x offset (9, 9) strides ((1), (1))
  return %a, %b, %c, %d })ir";

constexpr std::string_view kMemory = R"ir(
fn @f(%x: [n]i64) -> ([n]i64, [n]i64) {
  %a: [n]i64 = alloc (%n)
  copy %x, %a
  %t: [n][2]i64 = alloc (%n, 2) {fortran = 1}
  store %t[1, 1], 5
  %e: i64 = load %t[1, 1]
  store %a[0], %e
  %back: [n]i64 = slice %x[2:%n:-1]
  store %back[0], 9
  mark %n, 1 {region = 0}
  free %t
  return %a, %x })ir";

constexpr std::string_view kRoutine = R"ir(
fn @f(%x: [n]i64) -> (i64, [n]i64, [n]i64) {
  %a: [n]i64 = alloc (%n)
  copy %x, %a
  %s: i64 = library_call @argsort(%x, %a)
  return %s, %x, %a })ir";

// Results in Fortran order; what is flat is read in C order all the same.
constexpr std::string_view kFortran = R"ir(
fn @f(%x: [2][3]i64) -> ([2][3]i64, [2][3]i64, [6]i64) {
  %a: [2][3]i64 = map (%e: i64 in %x) {fortran = 1} { %t: i64 = neg %e  yield %t }
  %b: [2][3]i64 = imap (%i, %j) in (2, 3) {fortran = 1} { %t: i64 = load %a[%i, %j]  yield %t }
  %c: [6]i64 = reshape %b
  return %a, %b, %c })ir";

constexpr std::string_view kControl = R"ir(
fn @f(%n: i64, %x: [m]i64, %y: [m]i64) -> (i64, i64, i64, [m]i64, [m]i64) {
  %c: bool = gt %n, 3
  %a: i64 = if %c { yield 1 } else { %t: i64 = neg %n  yield %t }
  %sum: i64 = parallel for %i in 10 to 0 step -3 cost 4 (%acc: i64 = 0) {
    %t: i64 = add %acc, %i  yield %t }
  %k: i64, %u: [m]i64, %v: [m]i64 = while (%k: i64 = 0, %p: [m]i64 = %x, %q: [m]i64 = %y) {
    %go: bool = lt %k, %n  yield %go } do (%k: i64, %p: [m]i64, %q: [m]i64) {
    %next: i64 = add %k, 1
    yield %next, %q, %p }
  return %a, %sum, %k, %u, %v })ir";

constexpr std::string_view kFibonacci = R"ir(
fn @f(%n: i64) -> i64 {
  %small: bool = lt %n, 2
  %r: i64 = if %small { yield %n } else {
    %a: i64 = sub %n, 1  %b: i64 = sub %n, 2
    %x: i64 = call @f(%a)  %y: i64 = call @f(%b)
    %z: i64 = add %x, %y  yield %z }
  return %r })ir";

constexpr std::string_view kCheck = R"ir(
site 0 IndexError "index {} is out of bounds for size {}"
fn @f(%x: [n]i64, %y: [n]i64) -> [n]i64 {
  %r: [n]i64 = imap (%i) in (%n) {
    %j: i64 = load %x[%i]
    %e: i64 = call @get(%y, %j) at (4, %i)
    yield %e }
  return %r }
fn @get(%y: [n]i64, %j: i64) -> i64 {
  %ok: bool = lt %j, %n
  check %ok, site 0 at (1, %j) with (%j, %n)
  %e: i64 = load %y[%j]
  return %e })ir";

constexpr std::string_view kBroadcastSize = R"ir(
site 0 ValueError "operands could not be broadcast together with shapes ({},) ({},)"
fn @f(%n: i64, %m: i64) -> i64 { %s: i64 = broadcast_size %n, %m, site 0 at (2, 7)  return %s })ir";

constexpr std::string_view kLaneArithmetic = R"ir(
fn @f(%x: [n]f64, %s: f64) -> (f64, f64, bool, bool, f64, i64, i64) {
  %v: f64x4 = load_lanes %x[1] {axis = 0}
  %w: f64x4 = splat %s
  %p: f64x4 = mul %v, %w
  %i: i64x4 = iota
  %two: i64x4 = splat 2
  %m: boolx4 = lt %i, %two
  %c: f64x4 = select %m, %p, %v
  store_lanes %x[0], %c {axis = 0}
  %lo: f64x2 = low_half %c
  %hi: f64x2 = high_half %c
  %h: f64x2 = add %lo, %hi
  %a: f64 = extract %h, 0
  %b: f64 = high_half %h
  %any: bool = any %m
  %all: bool = all %m
  %last: f64 = load %x[3]
  %others: boolx4 = not %m
  %third: i64 = first_lane %others
  %none: boolx4 = and %m, %others
  %behind: i64 = first_lane %none
  return %a, %b, %any, %all, %last, %third, %behind })ir";

constexpr std::string_view kLaneNeighbours = R"ir(
fn @f(%x: [n]i64) -> [n]i64 {
  %a: i64x2 = load_lanes %x[0] {axis = 0, step = 2, place = 0}
  %b: i64x2 = load_lanes %x[1] {axis = 0, step = 2, place = 1}
  %c: i64x4 = interleave %b, %a
  %d: i64x4 = load_lanes %x[4] {axis = 0, repeat = 2, phase = 1}
  %e: i64x4 = slide %c, %d {by = 3}
  store_lanes %x[0], %c {axis = 0}
  store_lanes %x[4], %d {axis = 0}
  store_lanes %x[8], %e {axis = 0}
  return %x })ir";

constexpr std::string_view kAtomics = R"ir(
fn @f(%x: [n]i64) -> (i64, i64, i64, [n]i64) entry {
  %a: i64 = atomic %x[1], 10 {combine = "add"}
  %b: i64 = atomic %x[1], 7 {combine = "min", ordered = 1}
  %c: i64 = atomic %x[2], 8 {combine = "max"}
  %d: i64 = atomic %x[3], 6 {combine = "and"}
  %e: i64 = atomic %x[2], 1 {combine = "or"}
  %g: i64 = atomic %x[2], 3 {combine = "xor"}
  return %a, %b, %g, %x })ir";

constexpr std::string_view kMatches = R"ir(
fn @f(%x: [n]i64) -> [n]i64 entry {
  %y: [n]i64 = alloc (%n)
  block for %b in 0 to 1 step 1 {
    %own: [64][1]u8 = alloc (64, 1) {private = 1}
    thread for %t in 0 to 64 step 1 {
      %k: i64 = mod %t, %n
      %a: i64 = load %x[%k]
      %d: u8 = cast %a
      store %own[%t, 0], %d }
    thread for %t in 0 to 64 step 1 {warp = 1} {
      %peers: u32 = match %own[%t, 0]
      %several: u32 = popcount %peers
      %first: i64 = sub %t, 32
      %is_of_second: bool = lt %first, %n
      %is_behind: bool = ge %first, 0
      %is_wanted: bool = and %is_of_second, %is_behind
      if %is_wanted {
        %w: i64 = cast %several
        store %y[%first], %w } } }
  return %y })ir";

constexpr std::string_view kShuffles = R"ir(
fn @f(%x: [n]i64) -> [n]i64 entry {
  %y: [n]i64 = alloc (%n)
  block for %b in 0 to 1 step 1 {
    %own: [n]i64 = alloc (%n) {private = 1}
    thread for %t in 0 to %n step 1 {
      %a: i64 = load %x[%t]
      store %own[%t], %a }
    thread for %t in 0 to %n step 1 {warp = 1} {
      %lane: i64 = add %t, 2
      %other: i64 = shuffle %own[%t], %lane
      store %y[%t], %other } }
  return %y })ir";

constexpr std::string_view kLaneMemory = R"ir(
fn @f(%x: [h][w]i64) -> (i64, i64, i64, i64, [h][w]i64) {
  %i: i64x2 = iota
  %one: i64x2 = splat 1
  %m: boolx2 = lt %i, %one
  %column: i64x2 = load_lanes %x[0, 1] {axis = 0}
  %backwards: i64x2 = load_lanes %x[1, 2], %m {axis = 1, step = -2, masked = 1}
  %gathered: i64x2 = gather_lanes %x[%i, 2]
  prefetch %x[0, 99]
  drain
  scatter_lanes %x[0, 0], %gathered
  store_lanes %x[1, 2], %column, %m {axis = 1, masked = 1}
  %a: i64 = extract %column, 1
  %b: i64 = extract %backwards, 0
  %c: i64 = extract %backwards, 1
  %d: i64 = extract %gathered, 1
  return %a, %b, %c, %d, %x })ir";

constexpr std::string_view kLanesLoop = R"ir(
fn @f(%x: [n]i64) -> (i64, i64) {
  %t: i64 = team
  %a: bool = aligned %x
  %one: i64 = cast %a
  %s: i64, %l: i64 = lanes (%i) in %one to %n (add, max) from (0, -99) tree(lanes 4) {
    %e: i64 = load %x[%i]  yield %e, %i }
  return %s, %l })ir";

}  // namespace

RuntimeValue F64(double value) { return Constant::Float(value); }
RuntimeValue I64(int64_t value) { return Constant::Int(value); }

ArrayValue F64Array(std::vector<int64_t> sizes, const std::vector<double>& elements) {
  ArrayValue array = NewArray(DType::kF64, std::move(sizes));
  for (size_t i = 0; i < elements.size(); ++i) {
    StoreElement(Constant::Float(elements[i]), array.data + 8 * i);
  }
  return array;
}

ArrayValue I64Array(std::vector<int64_t> sizes, const std::vector<int64_t>& elements) {
  ArrayValue array = NewArray(DType::kI64, std::move(sizes));
  for (size_t i = 0; i < elements.size(); ++i) {
    StoreElement(Constant::Int(elements[i]), array.data + 8 * i);
  }
  return array;
}

ArrayValue Count(std::vector<int64_t> sizes) {
  std::vector<int64_t> elements(CountOf(sizes));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(i);
  return I64Array(std::move(sizes), elements);
}

std::string Show(const RuntimeValue& value) {
  if (const auto* array = std::get_if<ArrayValue>(&value)) return ShowArray(*array);
  return ShowScalar(std::get<Constant>(value));
}

std::string Show(const RunResult& result) {
  if (result.error) {
    return "error " + std::to_string(result.error->site) + " at " + List(result.error->place) +
           " with " + List(result.error->scalars);
  }
  std::string text;
  for (const RuntimeValue& value : result.values) text += (text.empty() ? "" : ", ") + Show(value);
  return text;
}

// Stands for the libraries: writes how many operands there are to where a routine may write.
static int64_t TellWhatIsCalled(const std::string& symbol, const std::string& signature,
                                const std::vector<uint64_t>& operands) {
  *reinterpret_cast<int64_t*>(operands.at(2)) = static_cast<int64_t>(operands.size());
  return symbol == "pk_numpy_argsort_i64" && signature == "StK" ? 7 : -1;
}

RunResult RunText(std::string_view text, Values arguments) {
  return Interpret(Parse(text), "f", std::move(arguments), TellWhatIsCalled);
}

std::vector<InterpreterCase> OperatorCases() {
  return {
      {"map of rows",
       kMapOfRows,
       {Count({2, 3}), I64Array({2}, {10, -1})},
       "[[0 10 20] [-3 -4 -5]], [30 -12]"},
      {"reduce of two arrays", kReduceOfTwo, {Count({4}), I64Array({4}, {3, 9, 2, 9})}, "106, 9"},
      {"reduce of nothing gives init", kReduceOfTwo, {Count({0}), Count({0})}, "100, -1"},
      {"reduce without init, in order of rows", kReduceWithoutInit, {Count({2, 3})}, "12345"},
      {"reduce of arrays", kReduceOfRows, {Count({3, 2})}, "[6 9]"},
      {"scans",
       kScans,
       {I64Array({5}, {1, 5, 2, 7, 3})},
       "[101 106 108 115 118], [1 5 5 7 7], [101 106 108 115 118], [1 5 2 7 3]"},
      {"filters", kFilters, {Count({2, 3})}, "3, [1 3 5], 2, [1 2], [4 5], 1, [[3 4 5]]"},
      {"index spaces",
       kIndexSpaces,
       {I64Array({2}, {4, 5}), I64(3)},
       "[[4 5] [14 15] [24 25]], 87, 4"},
      {"contract", kContract, {Count({2, 3}), Count({3, 2})}, "[[10 13] [28 40]], 15"},
      {"contract with what follows",
       kContractThen,
       {Count({2, 3}), Count({3, 2})},
       "[[10 23] [28 50]], [[0 0] [1 1]], -15"},
      {"empty spaces", kEmptySpaces, {I64(0), I64(3)}, "[], [], 7, [], 0, []"},
  };
}

std::vector<InterpreterCase> MemoryCases() {
  return {
      {"views",
       kViews,
       {Count({2, 3})},
       "[5 3], [[1 4]], [[0 3] [1 4] [2 5]], [[[0 1 2] [3 4 5]] [[0 1 2] [3 4 5]]], 6, [0 3 1 4 2 "
       "5], [0 1 2]"},
      {"view", kViewOperation, {Count({2, 3})}, "[2 1 0], [[3 5] [0 2]], [[0 3] [1 4] [2 5]], []"},
      {"routine", kRoutine, {Count({3})}, "7, [0 1 2], [4 1 2]"},
      {"memory", kMemory, {Count({3})}, "[5 1 2], [0 1 9]"},
      {"fortran",
       kFortran,
       {Count({2, 3})},
       "[[0 -1 -2] [-3 -4 -5]], [[0 -1 -2] [-3 -4 -5]], [0 -1 -2 -3 -4 -5]"},
  };
}

std::vector<InterpreterCase> ControlCases() {
  return {
      {"control", kControl, {I64(3), Count({2}), I64Array({2}, {8, 9})}, "-3, 22, 3, [8 9], [0 1]"},
      {"the other branch",
       kControl,
       {I64(4), Count({2}), I64Array({2}, {8, 9})},
       "1, 22, 4, [0 1], [8 9]"},
      {"recursion", kFibonacci, {I64(15)}, "610"},
      {"checks that hold", kCheck, {I64Array({2}, {1, 0}), I64Array({2}, {7, 8})}, "[8 7]"},
      {"the first check that fails",
       kCheck,
       {I64Array({3}, {1, 5, 9}), Count({3})},
       "error 0 at (4, 1, 1, 5) with (5, 3)"},
      {"equal sizes", kBroadcastSize, {I64(4), I64(4)}, "4"},
      {"one before", kBroadcastSize, {I64(1), I64(0)}, "0"},
      {"one after", kBroadcastSize, {I64(4), I64(1)}, "4"},
      {"sizes that differ", kBroadcastSize, {I64(4), I64(3)}, "error 0 at (2, 7) with (4, 3)"},
  };
}

std::vector<InterpreterCase> LaneCases() {
  return {
      {"arithmetic",
       kLaneArithmetic,
       {F64Array({5}, {0, 1, 2, 3, 4}), F64(10)},
       "13, 24, true, false, 4, 2, 4"},
      {"atomics", kAtomics, {Count({4})}, "1, 11, 9, [0 7 10 2]"},
      {"matches", kMatches, {I64Array({3}, {7, 263, 8})}, "[11 21 21]"},
      {"shuffles", kShuffles, {I64Array({4}, {5, 6, 7, 8})}, "[7 8 7 8]"},
      {"memory", kLaneMemory, {Count({2, 3})}, "4, 5, 0, 5, [[5 1 2] [3 4 1]]"},
      {"neighbours", kLaneNeighbours, {Count({12})}, "[1 0 3 2 4 5 5 6 2 4 5 5]"},
      {"loop", kLanesLoop, {I64Array({8}, {100, 1, 2, 3, 4, 5, 6, 7})}, "28, 7"},
      {"empty loop", kLanesLoop, {I64Array({1}, {100})}, "0, -99"},
  };
}

}  // namespace parakeet::ir
