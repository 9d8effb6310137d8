// Gives arrays that loops carry the sizes that they begin with, where each step seems to keep them.
//
// Before:
//   %r_n: i64, %r: [r_n]f64 = for %i in 0 to %k step 1 (%x_n: i64 = %m, %x: [x_n]f64 = %y) {
//     ...  %s: i64 = select %is_one, %t, %x_n
//     %z: [s]f64 = map ...
//     yield %s, %z }
// After:
//   %r: [m]f64 = for %i in 0 to %k step 1 (%x: [m]f64 = %y) {
//     ...  %s: i64 = select %is_one, %t, %m
//     %z: [s]f64 = map ...
//     %same: bool = eq %s, %m
//     check %same, site 1 at ()
//     %w: [m]f64 = ascribe %z
//     yield %w }
//
// `d = np.minimum(d, d[:, k:k+1] + d[k:k+1, :])` may change the shape of `d`: a slice may be empty,
// and what has one row is repeated. Where slices lie inside their arrays it does not, which
// assume-shapes checks first; then the check of a step is known to hold, and goes. Without it each
// element of an iteration would be found by asking for the sizes of that iteration.
//
// Assumes: parallel form, right before assume-shapes. Where a check fails, whose site is new and
// has the exception kOtherShapes, the caller runs the program made without this pass
// (Options::assume_shapes).
// Refuses: functions that store to their arguments: by then some iterations have been made; steps
// of which the next size would differ even where slices lie inside; sizes that depend on more than
// the entry's sizes and scalars, and loops' indexes.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "ir/mutator.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_effects.h"
#include "passes/assuming/assumptions.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// By loop, which of the values that it carries are sizes that its steps seem to keep.
using KeptSizes = std::unordered_map<const Binding*, std::vector<bool>>;

class KeptSizeFinder : public Assumptions {
 public:
  using Assumptions::Assumptions;

  KeptSizes Find() {
    FindIn(*function_.body);
    return std::move(kept_);
  }

 private:
  void FindIn(const Block& block) {
    for (const Binding* b : block.bindings) {
      if (IsLoop(b->op)) {
        FindKept(*b);
      } else {
        for (const Block* inner : b->blocks) FindIn(*inner);
      }
    }
  }

  // By induction: what a step makes of sizes that are what the loop begins with.
  void FindKept(const Binding& loop) {
    const Block& body = *loop.blocks.back();
    const std::vector<bool> sizes = SizesOf(body.params);
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const size_t at = FirstCarried(loop) + k;
      const auto begins = sizes[at] ? Likely(loop.operands[FirstInit(loop) + k]) : std::nullopt;
      if (!begins) continue;
      for (const Block* block : loop.blocks) Suppose(block->params[at], *begins);
    }
    for (const Block* block : loop.blocks) FindIn(*block);
    std::vector<bool> keeps(loop.results.size());
    bool is_new = false;
    for (size_t k = 0; k < keeps.size(); ++k) {
      const size_t at = FirstCarried(loop) + k;
      if (!sizes[at] || !IsKept({body.results[k], loop.operands[FirstInit(loop) + k]})) continue;
      keeps[k] = true;
      Suppose(loop.results[k], *Likely(loop.operands[FirstInit(loop) + k]));
      is_new |= !(body.results[k] == Operand(body.params[at]));
    }
    if (is_new) kept_.emplace(&loop, std::move(keeps));
  }

  // Which of these are sizes of others.
  static std::vector<bool> SizesOf(const std::vector<const Var*>& params) {
    ir::VarSet dims;
    for (const Var* param : params) {
      for (const Operand& dim : param->type.dims()) {
        if (dim.IsVar()) dims.insert(dim.var());
      }
    }
    std::vector<bool> sizes;
    for (const Var* param : params) sizes.push_back(dims.contains(param));
    return sizes;
  }

  // The same, or two that the entry is given, which will be taken to be equal.
  bool IsKept(const Pair& next_and_begin) {
    const std::optional<LinearForm> gap = LikelyGap(next_and_begin);
    if (!gap || gap->constant != 0) return false;
    const auto is_given = [&](const auto& term) {
      return given_.contains(term.first) && term.second * term.second == 1;
    };
    const auto& terms = gap->terms;
    return terms.empty() || (terms.size() == 2 && terms[0].second == -terms[1].second &&
                             std::all_of(terms.begin(), terms.end(), is_given));
  }

  KeptSizes kept_;
};

class SizeKeeper : public ir::Mutator {
 public:
  SizeKeeper(ir::Arena* arena, KeptSizes kept, int64_t site)
      : Mutator(arena), kept_(std::move(kept)), site_(site) {}

 protected:
  void Visit(const Binding* b) override {
    const auto found = kept_.find(b);
    if (found == kept_.end()) return Mutator::Visit(b);
    const std::vector<Operand> inits =
        Apply({b->operands.begin() + FirstInit(*b), b->operands.end()});
    const Binding* checked = Checked(*b, found->second);
    std::vector<bool> changes(inits.size(), true);
    for (size_t k = 0; k < inits.size(); ++k) {
      if (!found->second[k]) continue;
      changes[k] = false;
      Replace(b->results[k], inits[k]);
      for (const Block* block : b->blocks) Replace(block->params[FirstCarried(*b) + k], inits[k]);
    }
    builder().Append(Rewrite(KeepResults(arena(), *checked, changes)));
  }

 private:
  // The loop with steps that check what they seem to keep, and give arrays of those sizes.
  const Binding* Checked(const Binding& loop, const std::vector<bool>& keeps) {
    Block body = *loop.blocks.back();
    ir::Builder checks(arena());
    checks.set_span(loop.span);
    ir::VarSet sizes;
    for (size_t k = 0; k < keeps.size(); ++k) {
      const Var* size = body.params[FirstCarried(loop) + k];
      if (!keeps[k]) continue;
      sizes.insert(size);
      if (body.results[k] == Operand(size)) continue;
      const Operand same = checks.Scalar(OpCode::kEq, {body.results[k], size});
      checks.Emit(OpCode::kCheck, {}, {same}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    }
    for (size_t k = 0; k < keeps.size(); ++k) {
      const ir::Type& type = body.params[FirstCarried(loop) + k]->type;
      if (!type.IsArray()) continue;
      const ir::Type next = ir::TypeOf(body.results[k]);
      std::vector<Operand> dims = next.dims();
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const Operand& dim = type.dims()[axis];
        if (dim.IsVar() && sizes.contains(dim.var())) dims[axis] = dim;
      }
      if (dims == next.dims()) continue;
      body.results[k] = checks.EmitOne(
          OpCode::kAscribe, ir::Type::Array(type.dtype(), std::move(dims)), {body.results[k]});
    }
    const std::vector<const Binding*>& more = checks.bindings();
    body.bindings.insert(body.bindings.end(), more.begin(), more.end());
    Binding copy = loop;
    copy.blocks.back() = arena()->New(std::move(body));
    return arena()->New(std::move(copy));
  }

  const KeptSizes kept_;
  const int64_t site_;
};

bool StoresToArguments(const ir::Function& function) {
  const Roots roots(function);
  const ir::VarSet writes = EffectsOf(*function.body, roots).writes;
  return std::any_of(function.params.begin(), function.params.end(),
                     [&](const ir::Param& param) { return writes.contains(param.var); });
}

}  // namespace

ir::Program KeepSizes(const ir::Program& program, Context& context) {
  if (!context.options.assume_shapes) return program;
  ir::Arena* const arena = program.arena.get();
  const auto site = static_cast<int64_t>(program.sites.size());
  ir::Program keeping = ForEachFunction(program, [&](const ir::Function* function) {
    if (!function->entry || StoresToArguments(*function)) return function;
    KeptSizes kept = KeptSizeFinder(arena, *function, site, context).Find();
    if (kept.empty()) return function;
    return SizeKeeper(arena, std::move(kept), site).Run(function);
  });
  if (keeping.functions == program.functions) return program;
  keeping.sites.push_back({std::string(kOtherShapes), "", {}});
  return keeping;
}

}  // namespace parakeet::passes
