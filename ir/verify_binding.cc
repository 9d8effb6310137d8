#include "ir/verify_binding.h"

#include "ir/evaluate.h"
#include "ir/library_routines.h"
#include "ir/printer.h"

namespace parakeet::ir {
namespace {

constexpr int kAny = -1;

// How many operands, results and blocks an operation has. `or_more` operands may follow, and one
// more block where `or_block`.
struct Counts {
  int operands;
  int results;
  int blocks;
  bool or_more = false;
  bool or_block = false;
};

// Scalar operations are not here: evaluation knows how many operands each takes.
Counts CountsOf(OpCode op) {
  switch (op) {
    case OpCode::kCheck: return {1, 0, 0, true};
    case OpCode::kBroadcastSize: return {2, 1, 0, true};
    case OpCode::kSlice:
    case OpCode::kView:
    case OpCode::kLoad:
    case OpCode::kLoadLanes:
    case OpCode::kGatherLanes: return {1, 1, 0, true};
    case OpCode::kTranspose:
    case OpCode::kBroadcast:
    case OpCode::kReshape:
    case OpCode::kAscribe:
    case OpCode::kSplat:
    case OpCode::kLowHalf:
    case OpCode::kHighHalf:
    case OpCode::kAny:
    case OpCode::kAllLanes:
    case OpCode::kFirstLane: return {1, 1, 0};
    case OpCode::kSlide: return {2, 1, 0};
    case OpCode::kInterleave: return {2, 1, 0, true};
    case OpCode::kMap:
    case OpCode::kFilter: return {1, kAny, 1, true};
    case OpCode::kReduce:
    case OpCode::kScan: return {1, kAny, 2, true};
    case OpCode::kImap:
    case OpCode::kIfilter: return {kAny, kAny, 1};
    case OpCode::kForeach: return {kAny, 0, 1};
    case OpCode::kIreduce:
    case OpCode::kIscan:
    case OpCode::kWhile: return {kAny, kAny, 2};
    case OpCode::kContract: return {kAny, kAny, 2, false, true};
    case OpCode::kCall: return {kAny, kAny, 0};
    case OpCode::kLibraryCall:
    case OpCode::kAlloc: return {kAny, 1, 0};
    case OpCode::kFree: return {1, 0, 0, true};
    case OpCode::kStore:
    case OpCode::kStoreLanes:
    case OpCode::kScatterLanes: return {2, 0, 0, true};
    case OpCode::kAtomic: return {2, 1, 0, true};
    case OpCode::kMatch: return {1, 1, 0, true};
    case OpCode::kShuffle: return {2, 1, 0, true};
    case OpCode::kPrefetch: return {1, 0, 0, true};
    case OpCode::kDrain: return {0, 0, 0};
    case OpCode::kCopy:
    case OpCode::kMark: return {2, 0, 0};
    case OpCode::kIf: return {1, kAny, 2};
    case OpCode::kFor: return {3, kAny, 1, true};
    case OpCode::kLanes: return {2, kAny, 2, true, true};
    case OpCode::kTeam:
    case OpCode::kIota: return {0, 1, 0};
    case OpCode::kAligned: return {1, 1, 0};
    case OpCode::kExtract: return {2, 1, 0};
    default: return {kAny, 1, 0};
  }
}

bool Fits(size_t actual, int expected, bool or_more = false) {
  return expected == kAny || actual == static_cast<size_t>(expected) ||
         (or_more && actual > static_cast<size_t>(expected));
}

// The alternatives of AttrValue, named as in attributes.def.
constexpr size_t kInt = 0;
constexpr size_t kInts = 1;
constexpr size_t kText = 2;

size_t KindOf(Attr attr) {
  switch (attr) {
#define PARAKEET_ATTRIBUTE(name, text, kind, doc) \
  case Attr::k##name: return k##kind;
#include "ir/attributes.def"
  }
  return kInt;
}

}  // namespace

bool IsCompatible(const Type& a, const Type& b) {
  if (a.dtype() != b.dtype() || a.lanes() != b.lanes() || a.IsArray() != b.IsArray() ||
      a.rank() != b.rank()) {
    return false;
  }
  for (int axis = 0; axis < a.rank(); ++axis) {
    const Operand& x = a.dims()[axis];
    const Operand& y = b.dims()[axis];
    if (x.IsConstant() && y.IsConstant() && !(x == y)) return false;
  }
  return true;
}

bool BindingVerifier::RequireType(const Type& actual, const Type& expected, std::string_view what,
                                  Invariant invariant) {
  if (IsCompatible(actual, expected)) return true;
  breaches_.Add(invariant,
                std::string(what) + " is " + Print(actual) + "; expected " + Print(expected));
  return false;
}

bool BindingVerifier::RequireInts(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (!RequireType(TypeAt(i), DType::kI64, "operand " + std::to_string(i))) return false;
  }
  return true;
}

bool BindingVerifier::RequireArray(size_t operand) {
  const bool is_array = TypeAt(operand).IsArray() && b_.operands[operand].IsVar();
  return Require(is_array, Invariant::kTypesMatch,
                 "operand " + std::to_string(operand) + " is no array");
}

void BindingVerifier::Verify() {
  breaches_.Enter(&b_);
  if (!IsAllowed(b_.op, around_.stage)) {
    breaches_.Add(Invariant::kStageAllows,
                  "not allowed at the stage " + std::string(Name(around_.stage)));
  }
  if (AttributesHaveTheirKinds() && CountsMatch()) Dispatch();
}

bool BindingVerifier::AttributesHaveTheirKinds() {
  for (const auto& [attr, value] : b_.attrs.entries()) {
    if (value.index() == KindOf(attr)) continue;
    breaches_.Add(Invariant::kAttributesFit,
                  "attribute " + std::string(Name(attr)) + " is of another kind");
    return false;
  }
  return true;
}

bool BindingVerifier::CountsMatch() {
  const Counts counts = CountsOf(b_.op);
  return Require(Fits(b_.operands.size(), counts.operands, counts.or_more), Invariant::kCountsMatch,
                 "expected " + std::to_string(counts.operands) + " operands" +
                     (counts.or_more ? " or more" : "")) &&
         Require(Fits(b_.results.size(), counts.results), Invariant::kCountsMatch,
                 "expected " + std::to_string(counts.results) + " results") &&
         Require(Fits(b_.blocks.size(), counts.blocks) ||
                     (counts.or_block && Fits(b_.blocks.size(), counts.blocks + 1)),
                 Invariant::kCountsMatch, "expected " + std::to_string(counts.blocks) + " blocks");
}

void BindingVerifier::Dispatch() {
  switch (b_.op) {
    case OpCode::kCheck: return Check();
    case OpCode::kBroadcastSize: return BroadcastSize();
    case OpCode::kSlice: return Slice();
    case OpCode::kTranspose: return Transpose();
    case OpCode::kBroadcast: return Broadcast();
    case OpCode::kReshape: return Reshape();
    case OpCode::kAscribe: return Ascribe();
    case OpCode::kView: return View();
    case OpCode::kMap: return Map();
    case OpCode::kReduce: return Reduce();
    case OpCode::kScan: return Scan();
    case OpCode::kFilter: return Filter();
    case OpCode::kImap: return Imap();
    case OpCode::kIreduce: return Ireduce();
    case OpCode::kIscan: return Iscan();
    case OpCode::kForeach: return Foreach();
    case OpCode::kIfilter: return Ifilter();
    case OpCode::kContract: return Contract();
    case OpCode::kCall: return Call();
    case OpCode::kLibraryCall: return LibraryCall();
    case OpCode::kAlloc: return Alloc();
    case OpCode::kFree: return Free();
    case OpCode::kLoad: return Load();
    case OpCode::kStore: return Store();
    case OpCode::kAtomic: return Atomic();
    case OpCode::kMatch: return Match();
    case OpCode::kShuffle: return Shuffle();
    case OpCode::kPrefetch: return Prefetch();
    case OpCode::kDrain: return;
    case OpCode::kCopy: return Copy();
    case OpCode::kMark: return Mark();
    case OpCode::kIf: return If();
    case OpCode::kFor: return For();
    case OpCode::kWhile: return While();
    case OpCode::kLanes: return Lanes();
    case OpCode::kLoadLanes:
    case OpCode::kGatherLanes: return LoadLanes();
    case OpCode::kStoreLanes:
    case OpCode::kScatterLanes: return StoreLanes();
    case OpCode::kSplat:
    case OpCode::kIota:
    case OpCode::kLowHalf:
    case OpCode::kHighHalf:
    case OpCode::kInterleave:
    case OpCode::kSlide:
    case OpCode::kExtract:
    case OpCode::kAny:
    case OpCode::kAllLanes:
    case OpCode::kFirstLane: return VectorOperation();
    case OpCode::kTeam: RequireType(ResultType(), DType::kI64, "the result"); return;
    case OpCode::kAligned: RequireType(ResultType(), DType::kBool, "the result"); return;
    default: return Scalar();
  }
}

// Every scalar operation is tried on ones: that evaluation knows a value says that the operation
// takes such dtypes, and the value has the result's dtype.
void BindingVerifier::Scalar() {
  std::vector<Constant> ones;
  for (const Operand& operand : b_.operands) {
    const Type type = TypeOf(operand);
    const bool fits = !type.IsArray() && type.lanes() == ResultType().lanes();
    if (!Require(fits, Invariant::kTypesMatch, Print(type) + " is not a scalar or of other lanes"))
      return;
    ones.push_back(ConstantOf(type.dtype(), 1));
  }
  const std::optional<Constant> value = Evaluate(b_.op, ones, ResultType().dtype());
  if (!Require(value.has_value(), Invariant::kTypesMatch, "the operation takes no such operands"))
    return;
  const Type expected = Type::Vector(value->dtype, ResultType().lanes());
  RequireType(ResultType(), expected, "the result");
}

void BindingVerifier::SiteTakes(int scalars) {
  const int64_t site = b_.attrs.Int(Attr::kSite, -1);
  const bool exists = site >= 0 && site < static_cast<int64_t>(around_.holes.size());
  if (!Require(exists, Invariant::kSiteExists, "no such site")) return;
  const int holes = around_.holes[site];
  Require(holes == scalars, Invariant::kSiteExists,
          std::to_string(scalars) + " scalars for " + std::to_string(holes) + " holes");
}

void BindingVerifier::Check() {
  const int64_t place = b_.attrs.Int(Attr::kAt);
  const int64_t rest = static_cast<int64_t>(b_.operands.size()) - 1;
  if (!Require(place >= 0 && place <= rest, Invariant::kAttributesFit,
               "`at` counts more operands than there are")) {
    return;
  }
  RequireType(TypeAt(0), DType::kBool, "the condition");
  RequireInts(1, 1 + place);
  for (size_t i = 1 + place; i < b_.operands.size(); ++i) {
    Require(TypeAt(i).IsScalar(), Invariant::kTypesMatch,
            "operand " + std::to_string(i) + " is no scalar");
  }
  SiteTakes(static_cast<int>(rest - place));
}

// The message's scalars are the two sizes.
void BindingVerifier::BroadcastSize() {
  RequireInts(0, b_.operands.size());
  RequireType(ResultType(), DType::kI64, "the result");
  SiteTakes(2);
}

void BindingVerifier::Call() {
  const auto found = around_.functions.find(b_.attrs.Text(Attr::kCallee));
  if (!Require(found != around_.functions.end(), Invariant::kCallFits, "no such function")) return;
  const Function& callee = *found->second;
  const size_t arguments = callee.params.size();
  const int64_t place = b_.attrs.Int(Attr::kAt);
  const bool counts = place >= 0 && b_.operands.size() == arguments + place &&
                      b_.results.size() == callee.results.size();
  if (!Require(counts, Invariant::kCallFits,
               "the function has other numbers of parameters or results"))
    return;
  for (size_t i = 0; i < arguments; ++i) {
    RequireType(TypeAt(i), callee.params[i].var->type, "argument " + std::to_string(i),
                Invariant::kCallFits);
  }
  RequireInts(arguments, b_.operands.size());
  for (size_t i = 0; i < b_.results.size(); ++i) {
    RequireType(ResultType(i), callee.results[i]->type, "result " + std::to_string(i),
                Invariant::kCallFits);
  }
}

void BindingVerifier::LibraryCall() {
  const Routine* routine = FindRoutine(b_.attrs.Text(Attr::kCallee));
  if (!Require(routine != nullptr, Invariant::kCallFits, "no such routine")) return;
  if (!Require(b_.operands.size() == routine->size() && !b_.attrs.Has(Attr::kAt),
               Invariant::kCallFits, "the routine takes another number of operands"))
    return;
  const DType dtype = DTypeOf(*routine, b_);
  Require(!SymbolOf(*routine, dtype).empty(), Invariant::kCallFits,
          "the routine has no such dtype");
  for (size_t i = 0; i < routine->size(); ++i) {
    const bool fits = TypeAt(i).IsArray() == routine->IsArray(i) && TypeAt(i).lanes() == 1 &&
                      TypeAt(i).dtype() == routine->DTypeOf(i, dtype);
    Require(fits, Invariant::kCallFits, "operand " + std::to_string(i) + " is " + Print(TypeAt(i)));
  }
  RequireType(ResultType(), DType::kI64, "the result", Invariant::kCallFits);
}

}  // namespace parakeet::ir
