// Writes `vector for` loops and `lanes` with values of several lanes: a loop of whole vectors, then
// one masked step for what is left, or where `short` says so its iterations one by one; of bytes
// and half words eight at a time, where registers of less than 64 bytes have no masks for these.
//
// Before:
//   vector for %i in %lo to %hi step 1 { %a: f64 = load %x[%i]  %b: f64 = tanh %a  store %r[%i],
//   %b }
// After:
//   for %i in %lo to %m step 8 { %a: f64x8 = load_lanes %x[%i] {axis = 0}  %b: f64x8 = tanh %a
//   store_lanes %r[%i], %b {axis = 0} }
//   if %some { the same once from %m, each access masked }
//
// Where much is made of an element, both are one loop (dear_body.h):
//   for %i in %lo to %hi step 8 { %a: f64x8 = if %whole { load_lanes ... } else { ... masked }  %b:
//   f64x8 = tanh %a  if %whole { store_lanes ... } else { ... masked } }
//
// What is the same in all lanes stays a number, be it carried by a loop or chosen by a branch. A
// loop with the attribute `lanes` takes so many at a time. How sums take lanes: lane_reductions.h.
//
// Assumes: vector_legality.cc found no reason against the loop, of what varying_values.cc says to
// differ between lanes. Tails take the same vector operations, so a value does not depend on its
// position.
// Refuses: nothing; what it cannot write is a Bug of whoever made the loop.
#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>

#include "ir/diagnostics.h"
#include "ir/uses.h"
#include "passes/analyses/varying_values.h"
#include "passes/lowering/dear_body.h"
#include "passes/lowering/lane_counts.h"
#include "passes/lowering/lane_reductions.h"
#include "passes/lowering/lane_values.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

constexpr int kLanesOfRest = 8;
constexpr int kBytesWithMasks = 64;  // of the registers of processors that have

class Vectorizer : public LaneReductionWriter {
 public:
  using LaneReductionWriter::LaneReductionWriter;

 protected:
  void Visit(const Binding* b) override {
    if (lanes_ != nullptr) return VisitInLanes(*b);
    if (b->op == OpCode::kFor && b->attrs.Text(Attr::kKind) == "vector") return WriteLoop(*b);
    if (b->op == OpCode::kLanes) return WriteReduction(*b, loops_around_ > 0);
    const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
    loops_around_ += is_loop;
    Mutator::Visit(b);
    loops_around_ -= is_loop;
  }

 private:
  // --- The two kinds of loop. ---

  // Runs `write` with the lanes of iterations from `start` on, under `mask` where it is given.
  template <typename Write>
  auto InLanes(int count, const Var* index, const Operand& start, std::optional<Operand> mask,
               Write write) {
    LaneValues values(count);
    if (index != nullptr) values.Set(index, {LaneValue::kLinear, start, 1});
    lanes_ = &values;
    mask_ = mask;
    failed_.reset();
    diverged_ = false;
    auto result = write();
    lanes_ = nullptr;
    mask_.reset();
    return result;
  }

  const Block* Copy(const Block& body) {
    const Block* copy = ir::CloneBlock(arena(), body);
    read_.clear();
    for (const Binding* b : copy->bindings)
      ir::ForEachUse(*b, [&](const Var* value) { read_.insert(value); });
    for (const Operand& result : copy->results) read_.insert(result.var());
    varying_ = VaryingValues(*copy, copy->params[0]);
    return copy;
  }

  Operands WriteValues(const Block& body, int lanes, const Operand& start, const Operand& hi,
                       std::optional<Operand> mask) override {
    const Block* copy = Copy(body);
    const auto one_by_one = [&] {
      LaneValues* const lanes_here = std::exchange(lanes_, nullptr);
      WriteOneByOne(body, start, mask ? hi : builder().Add(start, Int(lanes)));
      lanes_ = lanes_here;
    };
    return InLanes(lanes, copy->params[0], start, mask, [&] {
      bool asks_in_the_end = false;
      Operands values = WriteValuesFrom(*copy, 0, one_by_one, asks_in_the_end);
      if (!asks_in_the_end) return values;
      const auto nothing = [] { return Operands{}; };
      const auto raise = [&] { return one_by_one(), Operands{}; };
      Choose(values.back(), nothing, raise, Attributes{{Attr::kLikely, int64_t{1}}});
      values.pop_back();
      return values;
    });
  }

  // The bindings from `at` on. Before anything rests on checks that lanes may have failed, it is
  // asked whether any has: run one by one, the first of these iterations then raises. Where there
  // are more such places, the values end with whether no lane has failed, to be asked in the end.
  Operands WriteValuesFrom(const Block& body, size_t at, const std::function<void()>& one_by_one,
                           bool& asks_in_the_end) {
    const auto is_check = [](const Binding* b) { return b->op == OpCode::kCheck; };
    for (; at < body.bindings.size(); ++at) {
      const Binding* b = body.bindings[at];
      if (failed_ && !is_check(b) && !ir::IsScalarOp(b->op)) break;
      Visit(b);
    }
    Operands values;
    if (!failed_) {
      for (const Operand& result : body.results) values.push_back(AsVector(result));
      if (asks_in_the_end) values.push_back(Operand::Bool(true));
      return values;
    }
    const Operand fails = builder().EmitOne(OpCode::kAny, DType::kBool, {*failed_});
    failed_.reset();
    asks_in_the_end |=
        std::any_of(body.bindings.begin() + at, body.bindings.end(), HasCheckOfLanes);
    const auto raise = [&] {
      if (!asks_in_the_end) one_by_one();
      for (const Operand& result : body.results)
        values.push_back(lanes_->Splat(builder(), ir::ZeroOf(ir::DTypeOf(result))));
      if (asks_in_the_end) values.push_back(Operand::Bool(false));
      return values;
    };
    return Choose(
        builder().Scalar(OpCode::kNot, {fails}),
        [&] { return WriteValuesFrom(body, at, one_by_one, asks_in_the_end); }, raise,
        Attributes{{Attr::kLikely, int64_t{1}}});
  }

  // The iterations from `start` on, in lanes. Gives `hi`, or `start` where a check fails in one of
  // them: they then have stored nothing.
  Operand WriteIterations(const Block& body, int lanes, const Operand& start, const Operand& hi,
                          std::optional<Operand> mask) {
    const Block* copy = Copy(body);
    return InLanes(lanes, copy->params[0], start, mask,
                   [&] { return WriteFrom(*copy, 0, start, hi); });
  }

  // The bindings from `at` on. Before anything rests on checks that lanes may have failed, or at
  // the end, it is asked whether any has.
  Operand WriteFrom(const Block& body, size_t at, const Operand& start, const Operand& hi) {
    for (; at < body.bindings.size(); ++at) {
      const OpCode op = body.bindings[at]->op;
      if (failed_ && op != OpCode::kCheck && !ir::IsScalarOp(op)) break;
      Visit(body.bindings[at]);
    }
    if (!failed_) return hi;
    const Operand fails = builder().EmitOne(OpCode::kAny, DType::kBool, {*failed_});
    failed_.reset();
    lanes_may_fail_ = true;
    return Choose(
        fails, [&] { return Operands{start}; },
        [&] { return Operands{WriteFrom(body, at, start, hi)}; })[0];
  }

  // A loop being written: where it ends, and where the first vector with a lane that failed begins,
  // which is the end where there is none.
  struct Progress {
    Operand hi;
    Operand failed;
    bool has_checks;
  };

  // What `write` gives, unless a vector has failed before.
  Operand UnlessFailed(const Progress& progress, const Operand& failed,
                       const std::function<Operand()>& write) {
    if (!progress.has_checks) return write();
    return Choose(
        builder().Scalar(OpCode::kEq, {failed, progress.hi}), [&] { return Operands{write()}; },
        [&] { return Operands{failed}; })[0];
  }

  // The loop of whole vectors; where it ends.
  Operand WriteWhole(const Block& body, const Operand& lo, int lanes, Progress& progress) {
    const Operand end = EndOfWhole(lo, progress.hi, lanes);
    const Operands inits = progress.has_checks ? Operands{progress.failed} : Operands{};
    const Operands failed = Carry(
        lo, end, inits,
        [&](const Operand& i, const Operands& so_far) {
          const Operand now = UnlessFailed(progress, so_far.empty() ? progress.hi : so_far[0], [&] {
            return WriteIterations(body, lanes, i, progress.hi, std::nullopt);
          });
          return so_far.empty() ? Operands{} : Operands{now};
        },
        lanes);
    if (!failed.empty()) progress.failed = failed[0];
    return end;
  }

  void WriteLoop(const Binding& b) {
    const Operand lo = Apply(b.operands[0]);
    const Operand hi = Apply(b.operands[1]);
    const Block& body = *b.blocks[0];
    const bool has_checks =
        std::any_of(body.bindings.begin(), body.bindings.end(), HasCheckOfLanes);
    Progress progress{hi, hi, has_checks};
    lanes_may_fail_ = false;
    const int asked = static_cast<int>(b.attrs.Int(Attr::kLanes));
    const int narrow = asked > 0 ? asked : LanesFor(body);
    const int wide = asked > 0 ? asked : narrow * RegistersFor(body);
    // Long code is not written a third time for the few iterations that fill one register alone.
    const bool once = wide == narrow || IsLong(body);
    const Operand whole = once ? lo : WriteWhole(body, lo, wide, progress);
    const int lanes = once ? wide : narrow;
    const bool is_plain = !has_checks && b.attrs.Int(Attr::kShort) == 0;
    if (is_plain && PartDearBody(body)) return WriteTogether(body, whole, hi, lanes);
    const Operand end = WriteWhole(body, whole, lanes, progress);
    const auto carried = [&](const Operand& failed) {
      return has_checks ? Operands{failed} : Operands{};
    };
    const auto masked = [&] {
      return carried(UnlessFailed(progress, progress.failed, [&] {
        return WriteIterations(body, lanes, end, hi, MaskOfTail(builder(), end, hi, lanes));
      }));
    };
    const auto none_left = [&] { return carried(progress.failed); };
    const auto in_parts = [&] {
      const Operand at = WriteWhole(body, end, kLanesOfRest, progress);
      WriteOneByOne(body, at, hi);
      return none_left();
    };
    // Where checks may have failed, from the first of those on that is what is left in any case.
    const auto in_order = [&]() -> Operands {
      if (!has_checks) return WriteOneByOne(body, end, hi), none_left();
      lanes_may_fail_ = true;
      return {builder().Scalar(OpCode::kMin, {progress.failed, end})};
    };
    const auto rest = [&] {
      const int64_t least = b.attrs.Int(Attr::kShort);
      const bool has_masks = vector_bytes() >= kBytesWithMasks;
      const bool is_masked = has_masks || has_checks || asked > 0 || !IsOfBytes(body);
      const std::function<Operands()> left = is_masked ? std::function(masked) : in_parts;
      if (least == 0) return left();
      return Choose(builder().Scalar(OpCode::kLt, {builder().Sub(hi, lo), Int(least)}), in_order,
                    left);
    };
    const Operands failed = Choose(builder().Scalar(OpCode::kLt, {end, hi}), rest, none_left);
    if (lanes_may_fail_) WriteOneByOne(body, failed[0], hi);
  }

  // Whole vectors and the masked one by the same code but for what they load and store. Lanes that
  // are off have what the first one has.
  void WriteTogether(const Block& body, const Operand& lo, const Operand& hi, int lanes) {
    const Operand end = EndOfWhole(lo, hi, lanes);
    const Operand mask = MaskOfTail(builder(), end, hi, lanes);
    const auto write_parts = [&](const DearBody& parts, const Operand& is_whole) {
      const auto choose = [&](const std::function<Operands()>& each) {
        const auto masked = [&] { return mask_ = mask, each(); };
        Operands values = Choose(is_whole, each, masked, {{Attr::kLikely, int64_t{1}}});
        return mask_.reset(), values;
      };
      for (const Binding* b : parts.places) Visit(b);
      const Operands loaded = choose([&] {
        Operands values;
        for (const Binding* b : parts.loads) values.push_back(LoadFilled(*b));
        return values;
      });
      for (size_t k = 0; k < loaded.size(); ++k) SetVector(parts.loads[k]->result(), loaded[k]);
      for (const Binding* b : parts.work) Visit(b);
      return choose([&] {
        for (const Binding* b : parts.stores) AccessLanes(*b);
        return Operands{};
      });
    };
    const auto write = [&](const Operand& i) {
      const Block* copy = Copy(body);
      const Operand is_whole = builder().Scalar(OpCode::kLt, {i, end});
      InLanes(lanes, copy->params[0], i, std::nullopt,
              [&] { return write_parts(*PartDearBody(*copy), is_whole); });
    };
    Loop(lo, hi, {}, write, lanes);
  }

  Operand LoadFilled(const Binding& b) {
    AccessLanes(b);
    const Operand loaded = lanes_->Of(b.result()).value;
    if (!mask_) return loaded;
    Operands index;
    for (size_t k = 1; k < b.operands.size(); ++k) index.push_back(ValueOf(b.operands[k]).value);
    const Operand first = lanes_->Splat(builder(), builder().Load(Apply(b.operands[0]), index));
    return builder().Scalar(OpCode::kSelect, {*mask_, loaded, first});
  }

  // From the vector in which a lane has failed: its error is that of the first iteration to fail.
  void WriteOneByOne(const Block& body, const Operand& lo, const Operand& hi) {
    Loop(lo, hi, {}, [&](const Operand& i) { VisitBody(*ir::CloneBlock(arena(), body), {i}); });
  }

  // --- A body in lanes. ---

  LaneValue ValueOf(const Operand& operand) { return lanes_->Of(Apply(operand)); }
  Operand AsVector(const Operand& operand) { return lanes_->Vector(builder(), ValueOf(operand)); }
  bool Varies(const Operand& operand) { return ValueOf(operand).kind != LaneValue::kUniform; }
  bool AnyVaries(const Binding& b) {
    return std::any_of(b.operands.begin(), b.operands.end(),
                       [&](const Operand& o) { return Varies(o); });
  }

  void VisitInLanes(const Binding& b) {
    if (ir::IsScalarOp(b.op)) return AnyVaries(b) ? SetFrom(b) : Mutator::Visit(&b);
    switch (b.op) {
      case OpCode::kLoad: return AnyVaries(b) ? AccessLanes(b) : LoadUniform(b);
      case OpCode::kStore: return AccessLanes(b);
      case OpCode::kIf: return Varies(b.operands[0]) ? Diverge(b) : Branch(b);
      case OpCode::kFor: return CarryLanes(b);
      case OpCode::kWhile: return RepeatLanes(b);
      case OpCode::kCheck: {
        // Where lanes have parted, one that is off here may fail sooner.
        const bool fails_alone = failed_ || diverged_ || Varies(b.operands[0]);
        return fails_alone ? CheckLanes(b) : CheckAll(b);
      }
      default: ir::FailBug("no lanes for " + std::string(Name(b.op)), b.span);
    }
  }

  void SetFrom(const Binding& b) {
    Binding applied = b;
    applied.operands = Apply(b.operands);
    if (mask_ && IsOfLibrary(b))
      applied.operands = lanes_->Harmless(builder(), applied.operands, *mask_);
    lanes_->Set(b.result(), lanes_->Apply(builder(), applied));
    if (b.op == OpCode::kSelect && Varies(b.operands[0])) RememberWrap(b);
  }

  // An index that goes on at another place from some lane on, as those of rolled arrays do.
  struct Wrap {
    Operand condition;  // a vector
    LaneValue holds, otherwise;
  };

  void RememberWrap(const Binding& select) {
    const Wrap wrap = {AsVector(select.operands[0]), ValueOf(select.operands[1]),
                       ValueOf(select.operands[2])};
    const bool is_linear = wrap.holds.kind == LaneValue::kLinear && wrap.holds.step == 1 &&
                           wrap.otherwise.kind == LaneValue::kLinear && wrap.otherwise.step == 1;
    if (is_linear) wraps_.insert_or_assign(select.result(), wrap);
  }

  // Most vectors lie before the place where such an index wraps, or behind it: they are read or
  // stored as neighbours. False where the access has no such index.
  bool AccessWrapped(const Binding& b, int axis) {
    const bool is_load = b.op == OpCode::kLoad;
    const Operand index = Apply(b.operands[1 + axis]);
    const auto found = index.IsVar() ? wraps_.find(index.var()) : wraps_.end();
    if (found == wraps_.end()) return false;
    const Wrap& wrap = found->second;
    const auto any = [&](const Operand& vector) {
      return Operand(builder().EmitOne(OpCode::kAny, DType::kBool, {vector}));
    };
    Operands behind;  // the indexes
    if (!is_load) behind.push_back(AsVector(b.operands.back()));
    if (mask_) behind.push_back(*mask_);
    const auto access = [&](OpCode op, const Operand& at, Attributes attrs) {
      Operands operands = {Apply(b.operands[0])};
      for (int k = 0; k < b.operands[0].var()->type.rank(); ++k)
        operands.push_back(k == axis ? at : ValueOf(b.operands[1 + k]).value);
      operands.insert(operands.end(), behind.begin(), behind.end());
      if (mask_) attrs = attrs.With(Attr::kMasked, int64_t{1});
      if (!is_load) {
        builder().Emit(op, {}, std::move(operands), attrs);
        return Operands{};
      }
      const Type type = Type::Vector(b.result()->type.dtype(), lanes_->lanes());
      return Operands{builder().EmitOne(op, type, std::move(operands), attrs)};
    };
    const Attributes along{{Attr::kAxis, int64_t{axis}}};
    const auto neighbours = [&](const LaneValue& first) {
      return [&, first] {
        return access(is_load ? OpCode::kLoadLanes : OpCode::kStoreLanes, first.value, along);
      };
    };
    const Operand fails = any(builder().Scalar(OpCode::kNot, {wrap.condition}));
    const Operands values = Choose(
        builder().Scalar(OpCode::kNot, {fails}), neighbours(wrap.holds),
        [&] {
          const Operand none = builder().Scalar(OpCode::kNot, {any(wrap.condition)});
          return Choose(none, neighbours(wrap.otherwise), [&] {
            return access(is_load ? OpCode::kGatherLanes : OpCode::kScatterLanes,
                          AsVector(b.operands[1 + axis]), {});
          });
        },
        Attributes{{Attr::kLikely, int64_t{1}}});
    if (is_load) SetVector(b.result(), values[0]);
    return true;
  }

  void SetVector(const Var* var, const Operand& vector) {
    lanes_->Set(var, {LaneValue::kVarying, vector, 0});
  }

  Operand AnyActive() { return builder().EmitOne(OpCode::kAny, DType::kBool, {*mask_}); }

  // Where lanes have parted, none of those here may be active: what is read for all of them is
  // read for at least one.
  void LoadUniform(const Binding& b) {
    if (!diverged_) return Mutator::Visit(&b);
    const Operands value = Choose(
        AnyActive(),
        [&] {
          return Operands{builder().EmitOne(OpCode::kLoad, b.result()->type, Apply(b.operands))};
        },
        [&] { return Operands{ir::ZeroOf(b.result()->type.dtype())}; });
    Replace(b.result(), value[0]);
  }

  // All lanes fail or none does: the first of them is told.
  void CheckAll(const Binding& b) {
    Binding first = b;
    for (Operand& operand : first.operands) operand = FirstLane(operand);
    const auto check = [&] {
      builder().Append(arena()->New(first));
      return Operands{};
    };
    if (!diverged_) return void(check());
    Choose(AnyActive(), check, [] { return Operands{}; });
  }

  Operand FirstLane(const Operand& operand) {
    const LaneValue value = ValueOf(operand);
    if (value.kind != LaneValue::kVarying) return value.value;
    return builder().EmitOne(OpCode::kExtract, ir::DTypeOf(operand), {value.value, Int(0)});
  }

  // The iterations are run again one by one where a lane fails.
  void CheckLanes(const Binding& b) {
    const Operand holds = AsVector(b.operands[0]);
    const Operand fails = Masked(builder().Scalar(OpCode::kNot, {holds}));
    failed_ = failed_ ? builder().Scalar(OpCode::kOr, {*failed_, fails}) : fails;
    // To the end of a branch, lanes that have failed are off.
    if (diverged_) mask_ = Masked(holds);
  }

  // The condition where the mask lets it be.
  Operand Masked(const Operand& condition) {
    return mask_ ? builder().Scalar(OpCode::kAnd, {*mask_, condition}) : condition;
  }

  void AccessLanes(const Binding& b) {
    const bool is_load = b.op == OpCode::kLoad;
    const size_t rank = b.operands.size() - (is_load ? 1 : 2);
    int linear = -1;
    int last_moving = -1;
    int moving = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      const LaneValue index = ValueOf(b.operands[1 + axis]);
      if (index.kind == LaneValue::kUniform) continue;
      ++moving;
      last_moving = static_cast<int>(axis);
      if (index.kind == LaneValue::kLinear) linear = static_cast<int>(axis);
    }
    const bool contiguous = moving == 1 && linear >= 0;
    if (moving == 1 && linear < 0 && AccessWrapped(b, last_moving)) return;
    Attributes attrs;
    Operands operands = {Apply(b.operands[0])};
    for (size_t axis = 0; axis < rank; ++axis) {
      const LaneValue index = ValueOf(b.operands[1 + axis]);
      const bool scalar = index.kind == LaneValue::kUniform || contiguous;
      operands.push_back(scalar ? index.value : lanes_->Vector(builder(), index));
    }
    if (contiguous) {
      attrs = Attributes{{Attr::kAxis, int64_t{linear}}};
      const int64_t step = ValueOf(b.operands[1 + linear]).step;
      if (step != 1) attrs = attrs.With(Attr::kStep, step);
    } else if (moving == 0) {
      operands.back() = lanes_->Splat(builder(), operands.back());
    }
    if (!is_load) operands.push_back(AsVector(b.operands.back()));
    if (mask_) {
      operands.push_back(*mask_);
      attrs = attrs.With(Attr::kMasked, int64_t{1});
    }
    const OpCode op = is_load ? (contiguous ? OpCode::kLoadLanes : OpCode::kGatherLanes)
                              : (contiguous ? OpCode::kStoreLanes : OpCode::kScatterLanes);
    if (!is_load) return void(builder().Emit(op, {}, std::move(operands), attrs));
    const Type type = Type::Vector(b.result()->type.dtype(), lanes_->lanes());
    SetVector(b.result(),
              builder().EmitOne(op, type, std::move(operands), attrs, {}, b.result()->hint));
  }

  Operands WriteVectors(const Block& block) {
    for (const Binding* b : block.bindings) Visit(b);
    Operands results;
    for (const Operand& result : block.results) results.push_back(AsVector(result));
    return results;
  }

  // What the block yields for `results`: vectors where these vary, else scalars.
  Operands WriteFor(const std::vector<const Var*>& results, const Block& block) {
    for (const Binding* b : block.bindings) Visit(b);
    return ValuesFor(results, block.results.data());
  }

  Operands ValuesFor(const std::vector<const Var*>& vars, const Operand* operands) {
    Operands values;
    for (const Var* var : vars) {
      values.push_back(varying_.contains(var) ? AsVector(*operands) : Apply(*operands));
      ++operands;
    }
    return values;
  }

  template <typename Values>
  void Set(const Var* const* vars, const Values& values) {
    for (const Operand& value : values) {
      if (varying_.contains(*vars)) {
        SetVector(*vars, value);
      } else {
        Replace(*vars, value);
      }
      ++vars;
    }
  }

  // Every lane takes the same way.
  void Branch(const Binding& b) {
    const auto write = [&](const Block* block) {
      return [&, block] { return WriteFor(b.results, *block); };
    };
    Set(b.results.data(), Choose(Apply(b.operands[0]), write(b.blocks[0]), write(b.blocks[1])));
  }

  // Both ways, each under the mask of the lanes that take it.
  void Diverge(const Binding& b) {
    const Operand condition = AsVector(b.operands[0]);
    Operands results = WriteUnder(b, *b.blocks[0], condition);
    const Operands otherwise =
        WriteUnder(b, *b.blocks[1], builder().Scalar(OpCode::kNot, {condition}));
    for (size_t k = 0; k < results.size(); ++k) {
      if (varying_.contains(b.results[k]))
        results[k] = builder().Scalar(OpCode::kSelect, {condition, results[k], otherwise[k]});
    }
    Set(b.results.data(), results);
  }

  Operands WriteUnder(const Binding& b, const Block& block, const Operand& condition) {
    const std::optional<Operand> outer_mask = mask_;
    const bool outer_diverged = std::exchange(diverged_, true);
    mask_ = Masked(condition);
    Operands results = WriteFor(b.results, block);
    mask_ = outer_mask;
    diverged_ = outer_diverged;
    return results;
  }

  // A loop that every lane runs as often.
  void CarryLanes(const Binding& b) {
    const Block& body = *b.blocks[0];
    const auto write = [&](const Operand& i, const Operands& carried) {
      Replace(body.params[0], i);
      Set(body.params.data() + 1, carried);
      return WriteFor(b.results, body);
    };
    const Operands inits = ValuesFor(b.results, b.operands.data() + 3);
    Set(b.results.data(), Carry(Apply(b.operands[0]), Apply(b.operands[1]), inits, write,
                                b.operands[2].constant().integer));
  }

  // The same of a loop with a test. It is run for a lane at least: without one, what it tests may
  // be anything, and it might not end.
  void RepeatTogether(const Binding& b) {
    const Operands inits = ValuesFor(b.results, b.operands.data());
    const bool may_be_empty = std::exchange(diverged_, false);
    const auto write = [&] {
      const std::vector<const Var*> heads = NewVarsLike(inits);
      const Block* test = BlockOf(heads, [&] {
        Set(b.blocks[0]->params.data(), heads);
        for (const Binding* each : b.blocks[0]->bindings) Visit(each);
        return Operands{Apply(b.blocks[0]->results[0])};
      });
      const std::vector<const Var*> carried = NewVarsLike(inits);
      const Block* trip = BlockOf(carried, [&] {
        Set(b.blocks[1]->params.data(), carried);
        return WriteFor(b.results, *b.blocks[1]);
      });
      const std::vector<const Var*> results = NewVarsLike(inits);
      builder().Emit(OpCode::kWhile, results, inits, {}, {test, trip});
      return Operands(results.begin(), results.end());
    };
    Set(b.results.data(),
        may_be_empty ? Choose(AnyActive(), write, [&] { return inits; }) : write());
    diverged_ = may_be_empty;
  }

  // A loop that lanes leave one by one: it goes on while any lane does, and what a lane carries and
  // is read later stays as it was when that lane left. The test runs at the head of a trip, where
  // it shares code with the body. What is the same in all lanes that go on, as a counter, is a
  // number, and carried beside it is what it was in each lane when that left.
  void RepeatLanes(const Binding& b) {
    const Operand& goes_on = b.blocks[0]->results[0];
    if (!goes_on.IsVar() || !varying_.contains(goes_on.var())) return RepeatTogether(b);
    const Operand all = lanes_->Splat(builder(), Operand::Bool(true));
    Operands inits = {mask_ ? *mask_ : all};
    for (const Operand& init : ValuesFor(b.blocks[0]->params, b.operands.data()))
      inits.push_back(init);
    const std::vector<size_t> numbers = NumbersReadBehind(b);
    for (size_t k : numbers) inits.push_back(AsVector(b.operands[k]));
    const std::vector<const Var*> heads = NewVarsLike(inits);
    const Block* test = BlockOf(
        heads, [&] { return Operands{builder().EmitOne(OpCode::kAny, DType::kBool, {heads[0]})}; });
    const std::vector<const Var*> carried = NewVarsLike(inits);
    const Block* trip = BlockOf(carried, [&] { return WriteTrip(b, carried); });
    const std::vector<const Var*> results = NewVarsLike(inits);
    builder().Emit(OpCode::kWhile, results, inits, {}, {test, trip});
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (varying_.contains(b.blocks[0]->params[k])) SetVector(b.results[k], results[1 + k]);
    }
    for (size_t k = 0; k < numbers.size(); ++k)
      SetVector(b.results[numbers[k]], results[1 + b.results.size() + k]);
  }

  // What is the same in all lanes that go on, and read where they have left the loop.
  std::vector<size_t> NumbersReadBehind(const Binding& b) const {
    std::vector<size_t> numbers;
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!varying_.contains(b.blocks[0]->params[k]) && read_.contains(b.results[k]))
        numbers.push_back(k);
    }
    return numbers;
  }

  // One trip of the lanes in carried[0]: those that go on, and what all of them carry then.
  Operands WriteTrip(const Binding& b, const std::vector<const Var*>& carried) {
    const std::optional<Operand> outer_mask = std::exchange(mask_, Operand(carried[0]));
    const bool outer_diverged = std::exchange(diverged_, true);
    const auto own = carried.begin() + 1;
    const std::vector<const Var*> values(own, own + b.results.size());
    Set(b.blocks[0]->params.data(), values);
    mask_ = Masked(WriteVectors(*b.blocks[0])[0]);
    const std::vector<const Var*>& params = b.blocks[1]->params;
    Set(params.data(), values);
    for (const Binding* each : b.blocks[1]->bindings) Visit(each);
    Operands next = ValuesFor(params, b.blocks[1]->results.data());
    const auto as_left = [&](const Operand& value, const Var* before) {
      return builder().Scalar(OpCode::kSelect, {*mask_, value, before});
    };
    for (size_t k : NumbersReadBehind(b))
      next.push_back(as_left(AsVector(b.blocks[1]->results[k]), carried[1 + next.size()]));
    for (size_t k = 0; k < values.size(); ++k) {
      if (varying_.contains(params[k]) && read_.contains(b.results[k]))
        next[k] = as_left(next[k], values[k]);
    }
    next.insert(next.begin(), *mask_);
    mask_ = outer_mask;
    diverged_ = outer_diverged;
    return next;
  }

  int loops_around_ = 0;
  LaneValues* lanes_ = nullptr;
  std::optional<Operand> mask_;
  ir::VarSet read_;                             // All that the body being written reads.
  ir::VarSet varying_;                          // What differs from lane to lane in it.
  std::unordered_map<const Var*, Wrap> wraps_;  // Of the body as it is written now.
  std::optional<Operand> failed_;               // The lanes that have failed a check.
  bool lanes_may_fail_ = false;  // Some vector of the loop being written has such a check.
  bool diverged_ = false;        // Some lanes may be off for another reason than the loop's end.
};

}  // namespace

ir::Program VectorizeLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Vectorizer(program.arena.get(), context.options.vector_bytes).Run(function);
  });
}

}  // namespace parakeet::passes
