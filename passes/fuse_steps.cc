// Makes the elements of several steps of a time loop at once: an element of the last of them is
// made of what the loop carried before the first, so that arrays are read and written, and kernels
// launched, once for all.
//
// Before:
//   %v: [n]f64 = for %t in 0 to %steps step 1 (%u: [n]f64 = %x) {
//     %w: [n]f64 = imap (%i) in (%n) { ... load %u[%i], load %u[%j] ...  yield %s }
//     yield %w }
// After:
//   %groups = %steps / 2
//   %half: [n]f64 = for %g in 0 to %groups step 1 (%u: [n]f64 = %x) {
//     %w: [n]f64 = imap (%i) in (%n) { ... what one step makes at %i and at %j, of %u ... }
//     yield %w }
//   %v: [n]f64 = for %t in 2 * %groups to %steps step 1 (%u: [n]f64 = %half) { ... as before ... }
//
// An element that the last step reads at two places is made twice, but what is the same of several
// is made once: of neighbours along an axis one more is made a step. How many steps are joined
// follows from what is moved, and from what is made again. No bit changes.
//
// Assumes: index form, behind fusion and interchange-loops; what is read of a step is in range.
// Refuses: loops inside other nests; steps that hold more than one imap and arithmetic, or read
// elements beside it of what they make; imaps that may raise or hold loops; what is read at so many
// places that no two steps are faster together.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/work_of_element.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Operands = std::vector<Operand>;

constexpr double kFaster = 0.9;  // Of the time of single steps, at most, that joined ones take.
constexpr int64_t kStepsAtOnce[] = {2, 3, 4, 6, 8};
constexpr int kMostOfElement = 200;  // bindings

// The imap of a step; null for one that holds anything else than it and arithmetic.
const Binding* OnlyImap(const Block& step) {
  const Binding* imap = nullptr;
  for (const Binding* b : step.bindings) {
    if (b->op == OpCode::kImap && imap == nullptr) imap = b;
    else if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad) return nullptr;
  }
  return imap;
}

// Why steps of the loop stay by themselves; empty where they may be joined.
std::string WhyApart(const Binding& loop) {
  const Block& step = *loop.blocks[0];
  const Binding* imap = OnlyImap(step);
  if (imap == nullptr) return "a step holds more than one map and arithmetic";
  ir::VarSet changes(step.params.begin(), step.params.end());
  changes.insert(imap->results.begin(), imap->results.end());
  for (const Binding* b : step.bindings) {
    const bool reads = b->op == OpCode::kLoad && changes.contains(b->operands[0].var());
    if (reads) return NameOf(b->operands[0].var()) + " is read beside the map";
  }
  for (const Binding* b : imap->blocks[0]->bindings) {
    if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad)
      return "its elements hold " + std::string(Name(b->op));
  }
  for (const Operand& element : imap->blocks[0]->results) {
    if (!ir::TypeOf(element).IsScalar()) return "its elements are arrays";
  }
  return "";
}

// Writes several steps as one. Values that steps make are known by the step and their number.
class StepComposer : public ir::Mutator {
 public:
  StepComposer(ir::Arena* arena, const Binding& loop) : Mutator(arena), loop_(loop) {}

  // The block of a loop over groups of so many steps, which takes the number of the group and what
  // the loop carries; null where it is too much.
  const Block* Write(int64_t steps) {
    const Block& body = *loop_.blocks[0];
    builder() = builder().Nested();
    builder().set_span(loop_.span);
    const Block& head = *ir::CloneBlock(arena(), Block{body.params, {}, {}});
    std::vector<Carried> carried;
    for (size_t k = 1; k < head.params.size(); ++k) carried.push_back({head.params[k], -1, 0});
    for (int64_t s = 0; s < steps; ++s) carried = WriteStep(head.params[0], steps, s, carried);
    Operands results = WriteImap(carried);
    return is_too_much_ ? nullptr : builder().Finish(head.params, std::move(results));
  }

  // What has been written of an element, but for what is moved.
  const WorkOfElement& work() const { return work_; }

 private:
  // What a step hands on: a value, or what the imap of one before makes.
  struct Carried {
    Operand value;
    int64_t step;  // -1: the value
    size_t result;
  };

  std::vector<Carried> WriteStep(const Operand& group, int64_t steps, int64_t s,
                                 const std::vector<Carried>& carried) {
    const Block& step = *ir::CloneBlock(arena(), *loop_.blocks[0]);
    const Operand number =
        builder().Add(builder().Mul(group, Operand::Int(steps)), Operand::Int(s));
    Replace(step.params[0],
            builder().Add(loop_.operands[0], builder().Mul(number, loop_.operands[2])));
    std::map<const Var*, Carried> known;
    for (size_t k = 0; k < carried.size(); ++k) {
      const Var* param = step.params[1 + k];
      known.insert({param, carried[k]});
      if (carried[k].step < 0) Replace(param, carried[k].value);
      else made_.insert({param, carried[k]});
    }
    for (const Binding* b : step.bindings) {
      if (b->op != OpCode::kImap) {
        Visit(b);
        continue;
      }
      imaps_.push_back(b);
      for (size_t k = 0; k < b->results.size(); ++k)
        known.insert({b->results[k], {Operand(), s, k}});
    }
    std::vector<Carried> next;
    for (const Operand& result : step.results) {
      const auto found = result.IsVar() ? known.find(result.var()) : known.end();
      next.push_back(found != known.end() ? found->second : Carried{Apply(result), -1, 0});
    }
    return next;
  }

  // The imap of the last step, with what is handed on of steps before it beside what it makes.
  Operands WriteImap(const std::vector<Carried>& carried) {
    const Binding& last = *imaps_.back();
    const Operands extents = Apply(last.operands);
    ir::Builder around = std::exchange(builder(), builder().Nested());
    std::vector<const Var*> params;
    for (const Var* param : last.blocks[0]->params)
      params.push_back(builder().NewVar(ir::DType::kI64, param->hint));
    const Operands index(params.begin(), params.end());
    std::vector<const Var*> arrays;
    Operands elements, results;
    for (const Carried& value : carried) {
      results.push_back(value.value);
      if (value.step < 0) continue;
      const Binding& imap = *imaps_[value.step];
      is_too_much_ |= Apply(imap.operands) != extents;
      elements.push_back(ElementsOf(value.step, index)[value.result]);
      const Var* made = imap.results[value.result];
      arrays.push_back(builder().NewVar(ir::Type::Array(made->type.dtype(), extents), made->hint));
      results.back() = arrays.back();
    }
    const Block* block = builder().Finish(std::move(params), std::move(elements));
    builder() = std::move(around);
    builder().Emit(OpCode::kImap, std::move(arrays), extents, last.attrs, {block});
    return results;
  }

  // What the imap of a step makes at an index, each once.
  Operands ElementsOf(int64_t step, const Operands& index) {
    const Block& body = *imaps_[step]->blocks[0];
    const auto known = std::find_if(elements_.begin(), elements_.end(), [&](const Element& e) {
      return e.step == step && e.index == index;
    });
    if (known != elements_.end()) return known->values;
    Operands values;
    if (is_too_much_) {
      for (const Operand& result : body.results) values.push_back(ir::ZeroOf(ir::DTypeOf(result)));
      return values;
    }
    const Block& copy = *ir::CloneBlock(arena(), body);
    for (size_t k = 0; k < index.size(); ++k) Replace(copy.params[k], index[k]);
    for (const Binding* b : copy.bindings) {
      const auto made = b->op == OpCode::kLoad ? made_.find(b->operands[0].var()) : made_.end();
      if (made == made_.end()) {
        EmitOnce(*b);
        continue;
      }
      Operands place = Apply(b->operands);
      place.erase(place.begin());
      Replace(b->result(), ElementsOf(made->second.step, place)[made->second.result]);
    }
    values = Apply(copy.results);
    elements_.push_back({step, index, values});
    return values;
  }

  // A binding that is there already is that one: neighbours of neighbours are read again.
  void EmitOnce(const Binding& b) {
    Binding once = b;
    once.operands = Apply(b.operands);
    if (const auto moved = Moved(once)) {
      if (moved->second == 0) return Replace(b.result(), moved->first);
      once.op = OpCode::kAdd;
      once.operands = {Operand::Int(moved->second), moved->first};
    }
    const auto [found, is_new] = emitted_.insert({KeyOf(once), nullptr});
    if (is_new) {
      once.results = {builder().NewVar(b.result()->type, b.result()->hint)};
      found->second = once.results[0];
      if (once.op == OpCode::kAdd && once.operands[0].IsConstant() && once.operands[1].IsVar() &&
          ir::DTypeOf(found->second) == ir::DType::kI64)
        moved_[found->second] = {once.operands[1], once.operands[0].constant().integer};
      if (once.op == OpCode::kLoad) ++work_.loads;
      else work_.operations += InfoOf(once.op).cost;
      is_too_much_ |= static_cast<int>(emitted_.size()) > kMostOfElement;
      builder().Append(arena()->New(std::move(once)));
    }
    Replace(b.result(), found->second);
  }

  // For an index that is another one and a constant, whatever it is written as: the first that it
  // comes from, and how far it is.
  std::optional<std::pair<Operand, int64_t>> Moved(const Binding& b) const {
    if ((b.op != OpCode::kAdd && b.op != OpCode::kSub) ||
        b.result()->type != ir::Type(ir::DType::kI64))
      return std::nullopt;
    const bool is_second = b.operands[1].IsConstant();
    if (!is_second && (b.op == OpCode::kSub || !b.operands[0].IsConstant())) return std::nullopt;
    const Operand& from = b.operands[is_second ? 0 : 1];
    if (!from.IsVar()) return std::nullopt;
    const int64_t constant = b.operands[is_second ? 1 : 0].constant().integer;
    const auto before = moved_.find(from.var());
    const auto [first, by] =
        before == moved_.end() ? std::pair<Operand, int64_t>{from, 0} : before->second;
    const auto far = static_cast<uint64_t>(by);
    const auto more = static_cast<uint64_t>(constant);
    return std::pair{first, static_cast<int64_t>(b.op == OpCode::kAdd ? far + more : far - more)};
  }

  struct Element {
    int64_t step;
    Operands index;
    Operands values;
  };

  const Binding& loop_;
  std::vector<const Binding*> imaps_;          // by step
  std::map<const Var*, Carried> made_;         // what a step carries that another makes
  std::vector<Element> elements_;              // that have been written
  std::map<std::string, const Var*> emitted_;  // by what they compute
  std::map<const Var*, std::pair<Operand, int64_t>> moved_;
  WorkOfElement work_;
  bool is_too_much_ = false;
};

class StepFuser : public ir::Mutator {
 public:
  StepFuser(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_control =
        b->op == OpCode::kFor || b->op == OpCode::kWhile || b->op == OpCode::kIf;
    if (!is_control) return builder().Append(b);
    const bool is_plain = b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty();
    if (!is_plain || !WhyApart(*b).empty()) return Mutator::Visit(b);
    const Operand trips = TripCount(builder(), *b);
    const auto [steps, block] = Choose(*b, trips);
    if (block == nullptr) {
      context_.Note(b->span, "steps stay apart: too much would be made again", Topic::kMemory,
                    Verdict::kRefused);
      return builder().Append(b);
    }
    context_.Note(b->span, std::to_string(steps) + " steps are made at once", Topic::kMemory,
                  Verdict::kDone);
    Write(*b, trips, steps, block);
  }

 private:
  // How many steps take the least time, each; none where that is hardly less than by themselves.
  std::pair<int64_t, const Block*> Choose(const Binding& loop, const Operand& trips) {
    StepComposer alone(arena(), loop);
    std::pair<int64_t, const Block*> best{1, nullptr};
    if (alone.Write(1) == nullptr) return best;
    double least = kFaster * TimeOf(loop, alone, 1);
    for (const int64_t steps : kStepsAtOnce) {
      if (trips.IsConstant() && trips.constant().integer < steps) break;
      StepComposer composer(arena(), loop);
      const Block* block = composer.Write(steps);
      if (block == nullptr) break;
      const double time = TimeOf(loop, composer, steps);
      if (time >= least) continue;
      least = time;
      best = {steps, block};
    }
    return best;
  }

  // Of each step.
  static double TimeOf(const Binding& loop, const StepComposer& composer, int64_t steps) {
    WorkOfElement work = composer.work();
    for (const Var* result : loop.results) work.moves += result->type.IsArray() ? 2 : 0;
    return work.Time() / static_cast<double>(steps);
  }

  void Write(const Binding& loop, const Operand& trips, int64_t steps, const Block* block) {
    const Operand groups =
        builder().Scalar(OpCode::kFloorDiv, {trips, Operand::Int(steps)}, "groups");
    Binding joined = loop;
    joined.operands[0] = Operand::Int(0);
    joined.operands[1] = groups;
    joined.operands[2] = Operand::Int(1);
    joined.attrs = loop.attrs.Without(Attr::kWhy);
    joined.blocks = {block};
    // The type of an array may name a size among the results.
    for (const Var*& result : joined.results) {
      const Var* left = builder().NewVar(Apply(result->type), result->hint);
      Replace(std::exchange(result, left), left);
    }
    for (const Var* result : loop.results) Restore(result);
    Binding rest = loop;
    const Operand done = builder().Mul(groups, Operand::Int(steps));
    rest.operands[0] = builder().Add(loop.operands[0], builder().Mul(done, loop.operands[2]));
    std::copy(joined.results.begin(), joined.results.end(), rest.operands.begin() + 3);
    builder().Append(arena()->New(std::move(joined)));
    builder().Append(arena()->New(std::move(rest)));
  }

  Context& context_;
};

}  // namespace

ir::Program FuseSteps(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StepFuser(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
