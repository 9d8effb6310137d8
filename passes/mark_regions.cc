// Puts before each nest of a profiled function, and before each array that is made for one, what
// says that time and memory are its own from there on, and what it is to move and compute.
//
// Before:
//   %r: [n]f64 = imap (%i) in (%n) {parallel = 1} { %a: f64 = load %x[%i]  %b: f64 = exp %a  yield
//   %b }
// After:
//   %0: i64 = mul %n, 16
//   mark %0, %n {region = 0}
//   %r: [n]f64 = imap (%i) in (%n) {parallel = 1} { ... }
//
// Assumes: schedule has run. Nothing that moves nests over one another comes behind it.
// Refuses: what stands inside a nest, which may run on several threads; loops that hold no nest
// that is spread over threads are nests themselves: a clock read in each iteration would be what is
// measured. Functions that stay calls belong to the line that calls them.
#include <map>
#include <tuple>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_traffic.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;

// As the bytes of a mark: an array is made for the region, whose nests are still to come (pk_mark).
constexpr int64_t kNoEntry = -2;

bool HoldsSpread(const Binding& b) {
  bool holds = false;
  for (const ir::Block* block : b.blocks) {
    ir::ForEachBinding(*block,
                       [&](const Binding& inner) { holds |= inner.attrs.Has(Attr::kParallel); });
  }
  return holds;
}

class RegionMarker : public ir::Mutator {
 public:
  using Mutator::Mutator;

 protected:
  void Visit(const Binding* b) override {
    const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
    if ((is_loop && HoldsSpread(*b)) || b->op == OpCode::kIf) return Mutator::Visit(b);
    if (b->op == OpCode::kAlloc) Emit(*b, {ir::Operand::Int(kNoEntry), ir::Operand::Int(0)});
    if (!is_loop && !IsNest(*b)) return builder().Append(Rewrite(b));
    Emit(*b, TrafficOf(*b, builder()));
    builder().Append(b);
  }

 private:
  static bool IsNest(const Binding& b) {
    return InfoOf(b.op).format == ir::OpFormat::kIndices || b.op == OpCode::kCopy ||
           b.op == OpCode::kCall || b.op == OpCode::kLibraryCall;
  }

  // The nests of one operator of the source are one region.
  void Emit(const Binding& b, const Traffic& traffic) {
    const ir::Span& at = b.span;
    const auto [region, is_new] = regions_.try_emplace(
        {at.file, at.line, at.column, at.end_line, at.end_column}, int64_t(regions_.size()));
    builder().set_span(at);
    builder().Emit(OpCode::kMark, {}, {traffic.bytes, traffic.operations},
                   {{Attr::kRegion, region->second}});
  }

  using Place = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>;
  std::map<Place, int64_t> regions_;
};

}  // namespace

ir::Program MarkRegions(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return function->entry ? RegionMarker(program.arena.get()).Run(function) : function;
  });
}

}  // namespace parakeet::passes
