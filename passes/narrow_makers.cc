// Makes of an array only what is read of it, where that is an element, a row or another slice.
//
// Before:
//   %y: [n][m]f64 = imap (%i, %j) in (%n, %m) { ... sum over k of %a[%i, k] * %b[k, %j] ... }
//   %r: [m]f64 = slice %y[%k, 0:%m:1]
// After:
//   %r: [m]f64 = imap (%j) in (%m) { ... sum over k of %a[%k, k] * %b[k, %j] ... }
//
// How a part of each operator's result is made is a row of fusing/part_makers.cc: prefixes of a
// scan are made up to the last that is read, with the bits that they had. What is left of one
// operator reads less of another: of `(a @ b @ c)[i]`, a row of `a @ b` is made. Sums in a row or
// an element of a product are made as those of a vector's are (docs/same-bits.md).
//
// Assumes: slices lie inside their arrays, as behind the checks that the front end writes.
// Refuses: what is read whole somewhere, or at indexes of a loop, or stored to; operators that may
// raise, since they would raise later; what would be made more than once, but for a few rows or
// columns of it. Single elements that no loop makes are left to fusion.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_parts_read.h"
#include "passes/fusing/part_makers.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr size_t kMostReads = 4;      // Rows or columns that are made each by itself.
constexpr int kMostRounds = 16;       // Operators one behind the other that are narrowed.
constexpr int64_t kFewElements = 64;  // Arrays of so few are made whole.

// An index of an array that is known to lie inside an axis of some length.
struct InRange {
  AxisPart part;
  Operand extent;
  friend bool operator==(const InRange&, const InRange&) = default;
};

// What holds from one round to the next.
struct Known {
  std::vector<InRange> in_range;
  ir::VarSet settled;  // Made of what is read already.
};

bool IsFew(const ir::Type& type) {
  int64_t count = 1;
  for (const Operand& size : type.dims()) {
    if (!size.IsConstant()) return false;
    count *= size.constant().integer;
  }
  return count <= kFewElements;
}

// True where an element takes a loop, as a sum does.
bool IsDear(const Binding& maker) {
  if (maker.op == OpCode::kScan) return true;
  const auto& bindings = maker.blocks[0]->bindings;
  return std::any_of(bindings.begin(), bindings.end(),
                     [](const Binding* b) { return !b->blocks.empty(); });
}

// True where each of the reads takes one index of some axis that all of them do.
bool AreRows(const std::vector<PartRead>& reads) {
  for (size_t axis = 0; axis < reads[0].parts.size(); ++axis) {
    const auto has_index = [&](const PartRead& read) { return read.HasIndex(axis); };
    if (std::all_of(reads.begin(), reads.end(), has_index)) return true;
  }
  return false;
}

class Narrowing {
 public:
  Narrowing(const ir::Function& function, Known& known)
      : roots_(function), finder_(function), known_(known) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const size_t stored : ir::StoredOperands(b)) NoteStore(b.operands[stored]);
      if (b.op != OpCode::kCall) return;
      for (const Operand& operand : b.operands) NoteStore(operand);
    });
  }

  // The parts to be made of what a binding makes; none where it stays.
  std::optional<PartsRead> Of(const Binding& maker) const {
    const PartMaker* part_maker = FindPartMaker(maker.op);
    if (part_maker == nullptr || maker.results.size() != 1) return std::nullopt;
    if (known_.settled.contains(maker.result()) || IsFew(maker.result()->type)) return std::nullopt;
    std::optional<PartsRead> parts = finder_.Of(maker);
    if (!parts || !IsWorthIt(maker, parts->reads)) return std::nullopt;
    if (stored_.contains(maker.result())) return std::nullopt;
    const Effects effects = EffectsOf(maker, roots_);
    if (!effects.IsPure()) return std::nullopt;
    for (const PartRead& read : parts->reads) {
      if (!part_maker->can_make(maker, read) || !MayMove(maker, read, effects) ||
          !IsKnownAt(read, maker.result()->type.dims())) {
        return std::nullopt;
      }
    }
    return parts;
  }

 private:
  void NoteStore(const Operand& array) {
    if (!array.IsVar() || !array.var()->type.IsArray()) return;
    const ir::VarSet& roots = roots_.Of(array.var());
    stored_.insert(roots.begin(), roots.end());
  }

  bool IsWorthIt(const Binding& maker, const std::vector<PartRead>& reads) const {
    if (reads.empty() || reads.size() > kMostReads) return false;
    const bool is_dear = IsDear(maker);
    if (reads.size() > 1) return is_dear && AreRows(reads);
    return is_dear || !reads[0].IsElement();
  }

  // True where the read's indexes are known, and inside the array, where its part would be made:
  // at the reader itself, or where an iteration reads what was read in front before.
  bool IsKnownAt(const PartRead& read, const std::vector<Operand>& extents) const {
    if (read.at == read.reader) return true;
    if (EffectsOf(*read.at, roots_).may_fail) return false;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      if (read.parts[axis].IsWhole(extents[axis])) continue;
      if (!read.through[axis].empty()) return false;
      const InRange needed{read.parts[axis], extents[axis]};
      if (std::find(known_.in_range.begin(), known_.in_range.end(), needed) ==
          known_.in_range.end()) {
        return false;
      }
    }
    return true;
  }

  // True where nothing between the two writes what the maker reads.
  bool MayMove(const Binding& maker, const PartRead& read, const Effects& effects) const {
    const auto& bindings = finder_.BlockOf(&maker)->bindings;
    auto at = std::find(bindings.begin(), bindings.end(), &maker);
    while (*++at != read.at) {
      if (Intersects(EffectsOf(**at, roots_).writes, effects.reads)) return false;
    }
    return true;
  }

  const Roots roots_;
  const PartsReadFinder finder_;
  Known& known_;
  ir::VarSet stored_;
};

class MakerNarrower : public ir::Mutator {
 public:
  MakerNarrower(ir::Arena* arena, const ir::Function& function, Known& known, Context& context)
      : Mutator(arena), known_(known) {
    const Narrowing narrowing(function, known);
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      std::optional<PartsRead> parts = narrowing.Of(b);
      if (!parts) return;
      context.Note(b.span, "of " + NameOf(b.result()) + ", only what is read is made",
                   Topic::kFusion, Verdict::kDone);
      Plan(b, std::move(*parts));
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const auto found = made_at_.find(b);
    if (found != made_at_.end()) {
      for (const auto& [maker, read] : found->second) Make(*maker, read);
    }
    if (!dropped_.contains(b)) Mutator::Visit(b);
  }

 private:
  void Plan(const Binding& maker, PartsRead parts) {
    dropped_.insert(&maker);
    dropped_.insert(parts.views.begin(), parts.views.end());
    for (PartRead& read : parts.reads) {
      dropped_.insert(read.reader);
      made_at_[read.at].push_back({&maker, std::move(read)});
    }
  }

  void Make(const Binding& maker, PartRead read) {
    builder().set_span(maker.span);
    const size_t before = builder().bindings().size();
    for (AxisPart& part : read.parts) part = Renamed(part);
    for (std::vector<AxisPart>& ranges : read.through) {
      for (AxisPart& range : ranges) range = Renamed(range);
    }
    const std::vector<AxisPart> parts = read.Composed(builder());
    const Operand made = FindPartMaker(maker.op)->make(builder(), *Rewrite(&maker), parts);
    Replace(read.reader->result(), Turned(made, read));
    Learn(parts, Apply(maker.result()->type), before);
  }

  AxisPart Renamed(const AxisPart& part) const {
    return {part.is_index, Apply(part.start), Apply(part.size), Apply(part.step)};
  }

  // What is made, with its axes as the reader gives them.
  Operand Turned(const Operand& made, const PartRead& read) {
    if (read.IsElement()) return made;
    const ir::Type type = Apply(read.reader->result()->type);
    const Operand turned = WithNewAxes(InOrder(made, read), read, type);
    if (ir::TypeOf(turned) == type) return turned;
    return builder().EmitOne(OpCode::kAscribe, type, {turned});
  }

  Operand InOrder(const Operand& made, const PartRead& read) {
    std::vector<int> left;
    for (size_t axis = 0; axis < read.parts.size(); ++axis) {
      if (!read.HasIndex(axis)) left.push_back(int(axis));
    }
    std::vector<int64_t> perm;
    std::vector<Operand> sizes;
    for (const int axis : read.axes) {
      if (axis < 0) continue;
      perm.push_back(std::find(left.begin(), left.end(), axis) - left.begin());
      sizes.push_back(ir::TypeOf(made).dims()[size_t(perm.back())]);
    }
    if (std::is_sorted(perm.begin(), perm.end())) return made;
    const ir::Type type = ir::Type::Array(ir::TypeOf(made).dtype(), sizes);
    return builder().EmitOne(OpCode::kTranspose, type, {made}, {{Attr::kPerm, perm}});
  }

  Operand WithNewAxes(const Operand& made, const PartRead& read, const ir::Type& type) {
    if (std::count(read.axes.begin(), read.axes.end(), -1) == 0) return made;
    std::string axes;
    std::vector<Operand> operands = {made};
    size_t axis = 0;
    for (const int from : read.axes) {
      axes += from < 0 ? 'n' : 'r';
      if (from < 0) continue;
      const Operand size = ir::TypeOf(made).dims()[axis++];
      operands.insert(operands.end(), {Operand::Int(0), size, Operand::Int(1)});
    }
    return builder().EmitOne(OpCode::kSlice, type, operands, {{Attr::kAxes, axes}});
  }

  void Learn(const std::vector<AxisPart>& parts, const ir::Type& type, size_t first_made) {
    for (size_t axis = 0; axis < parts.size(); ++axis)
      known_.in_range.push_back({parts[axis], type.dims()[axis]});
    for (size_t k = first_made; k < builder().bindings().size(); ++k) {
      const Binding& b = *builder().bindings()[k];
      if (b.op == OpCode::kScan) known_.settled.insert(b.result());
    }
  }

  Known& known_;
  std::unordered_map<const Binding*, std::vector<std::pair<const Binding*, PartRead>>> made_at_;
  std::unordered_set<const Binding*> dropped_;
};

const ir::Function* Narrow(const ir::Function* function, ir::Arena* arena, Context& context) {
  Known known;
  for (int round = 0; round < kMostRounds; ++round) {
    const ir::Function* narrowed = MakerNarrower(arena, *function, known, context).Run(function);
    if (narrowed == function) break;
    function = narrowed;
  }
  return function;
}

}  // namespace

ir::Program NarrowMakers(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Narrow(function, program.arena.get(), context);
  });
}

}  // namespace parakeet::passes
