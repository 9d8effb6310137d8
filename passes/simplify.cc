// Local algebra, one equation a line, sizes that checks have made equal, integers computed before,
// and those that a loop carries and keeps: equal sizes make further ones equal. Axes of one
// iteration are no axes of a foreach. Where there is one thread, what is for several is left out.
//
// Before:
//   %s: i64 = broadcast_size %n, %n, site 0 at (1)
//   %a: f64 = add 1.0, %x
//   %b: f64 = log %a
// After:
//   %b: f64 = log1p %x
//
// Assumes: nothing; it runs at every stage.
// Refuses: what changes a value: floats keep their order of additions and products; only rules that
// are as exact or more stand in the table.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/fold.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/kept_values.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kMostFactors = 8;  // of a power that is written as products
constexpr int kMostTerms = 6;    // of a sum that one is taken out of

class Simplifier : public ir::Mutator {
 public:
  Simplifier(ir::Arena* arena, const ir::Function& function, bool one_thread)
      : Mutator(arena), one_thread_(one_thread) {
    if (!function.entry) return;
    for (const Var* size : function.Sizes()) not_one_.insert(size);
  }

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kIf) Assume(*b);
    if (IsLoop(b->op)) b = WithoutKept(*b);
    if (b->op == OpCode::kForeach) b = WithoutUnitAxes(*b);
    if (InfoOf(b->op).format == ir::OpFormat::kIndices) LearnExtents(*b);
    const Binding* rewritten = Rewrite(b);
    // Its results may have new types; what reads the old ones reads the new.
    if (auto value = Simpler(*rewritten)) return Stand(*b, *rewritten, *value);
    if (const Var* same = ComputedBefore(*rewritten)) return Stand(*b, *rewritten, same);
    if (TakeBranch(*b, *rewritten) || DropCheck(*rewritten)) return;
    if (rewritten->op == OpCode::kBroadcastSize && MakeCheck(*b, *rewritten)) return;
    rewritten = WithoutBroadcast(*rewritten);
    builder().Append(rewritten);
    Define(*rewritten);
    if (rewritten->op == OpCode::kCheck) Learn(rewritten->operands[0], true);
  }

  // What a check or a branch says holds to the end of its block.
  const Block* VisitBlock(const Block* block) override {
    const size_t outer = learned_.size();
    const size_t computed = computed_.size();
    const size_t not_zero = not_zero_.size();
    if (const auto known = assumed_.find(block); known != assumed_.end()) {
      Learn(Apply(known->second.condition), known->second.value);
    }
    const Block* rewritten = Mutator::VisitBlock(block);
    while (learned_.size() > outer) {
      Restore(learned_.back());
      learned_.pop_back();
    }
    not_zero_.resize(not_zero);
    while (computed_.size() > computed) {
      std::erase(by_hash_[HashOf(*computed_.back())], computed_.back());
      computed_.pop_back();
    }
    return rewritten;
  }

 private:
  // What holds in one block of an `if`.
  struct Assumption {
    Operand condition;
    bool value;
  };

  void Assume(const Binding& b) {
    assumed_[b.blocks[0]] = {b.operands[0], true};
    assumed_[b.blocks[1]] = {b.operands[0], false};
  }

  // The nest without axes of one iteration, of which one stays if there is no other.
  const Binding* WithoutUnitAxes(const Binding& nest) {
    const Block& body = *nest.blocks[0];
    const auto is_unit = [](const Operand& extent) { return extent.IsInt(1); };
    if (body.params.size() < 2 || nest.attrs != ir::Attributes() ||
        std::none_of(nest.operands.begin(), nest.operands.end(), is_unit))
      return &nest;
    Binding rest = nest;
    Block element{{}, body.bindings, body.results};
    rest.operands.clear();
    for (size_t k = 0; k < body.params.size(); ++k) {
      const bool is_last = k + 1 == body.params.size();
      if (is_unit(nest.operands[k]) && !(is_last && rest.operands.empty())) {
        Replace(body.params[k], Operand::Int(0));
        continue;
      }
      rest.operands.push_back(nest.operands[k]);
      element.params.push_back(body.params[k]);
    }
    rest.blocks = {arena()->New(std::move(element))};
    return arena()->New(std::move(rest));
  }

  // The loop without what it carries and keeps, for which what it begins with reads from here on.
  const Binding* WithoutKept(const Binding& loop) {
    const std::vector<Operand> inits =
        Apply({loop.operands.begin() + FirstInit(loop), loop.operands.end()});
    std::vector<bool> changes = KeptValues(loop, inits, arena());
    for (size_t k = 0; k < changes.size(); ++k) {
      changes[k] = !changes[k];
      if (changes[k]) continue;
      Replace(loop.results[k], inits[k]);
      for (const Block* block : loop.blocks)
        Replace(block->params[FirstCarried(loop) + k], inits[k]);
    }
    return KeepResults(arena(), loop, changes);
  }

  void Define(const Binding& b) {
    for (const Var* result : b.results) definitions_[result] = &b;
  }

  static bool IsInteger(const Binding& b) {
    const ir::Type& type = b.results.size() == 1 ? b.result()->type : ir::Type(ir::DType::kF64);
    return ir::IsScalarOp(b.op) &&
           (type == ir::Type(ir::DType::kI64) || type == ir::Type(ir::DType::kBool));
  }

  static size_t HashOf(const Binding& b) {
    size_t hash = static_cast<size_t>(b.op);
    for (const Operand& operand : b.operands) {
      const size_t part = operand.IsVar() ? std::hash<const Var*>()(operand.var())
                                          : static_cast<size_t>(operand.constant().integer);
      hash = hash * 31 + part;
    }
    return hash;
  }

  // The result of an equal binding of an i64 or bool in this block or one around it; null where
  // there is none, and the binding is kept to be found.
  const Var* ComputedBefore(const Binding& b) {
    if (!IsInteger(b)) return nullptr;
    std::vector<const Binding*>& equal_hash = by_hash_[HashOf(b)];
    for (const Binding* other : equal_hash) {
      if (other->op == b.op && other->operands == b.operands && other->attrs == b.attrs &&
          other->result()->type == b.result()->type) {
        return other->result();
      }
    }
    equal_hash.push_back(&b);
    computed_.push_back(&b);
    return nullptr;
  }

  // `value` reads for the result from here on, under both its names.
  void Stand(const Binding& from, const Binding& to, const Operand& value) {
    Replace(from.results[0], value);
    if (from.results[0] != to.results[0]) Replace(to.results[0], value);
  }

  // A scalar operation that the rules see in turn.
  Operand Make(OpCode op, std::vector<Operand> operands, std::string_view hint = "") {
    const size_t count = builder().bindings().size();
    const Operand value = builder().Scalar(op, std::move(operands), hint);
    if (builder().bindings().size() == count) return value;
    const Binding& made = *builder().bindings().back();
    if (const Var* same = ComputedBefore(made)) {
      builder().bindings().pop_back();
      return same;
    }
    Define(made);
    return value;
  }

  std::optional<Operand> Simpler(const Binding& b) {
    if (b.op == OpCode::kBroadcastSize) return SimplerSize(b);
    if (b.op == OpCode::kAscribe || b.op == OpCode::kBroadcast || b.op == OpCode::kReshape)
      return SameView(b);
    if (b.op == OpCode::kTranspose) return SimplerTranspose(b);
    if (b.op == OpCode::kIf) return ChosenByBranch(b);
    if (b.op == OpCode::kTeam && one_thread_) return Operand::Int(1);
    if (!ir::IsScalarOp(b.op)) return std::nullopt;
    if (auto folded = ir::Fold(b.op, b.operands, b.result()->type)) return folded;
    return ApplyRules(b);
  }

  // A view that sees its operand as it is.
  static std::optional<Operand> SameView(const Binding& b) {
    const ir::Type type = ir::TypeOf(b.operands[0]);
    return type == b.result()->type ? std::optional(b.operands[0]) : std::nullopt;
  }

  // transpose(transpose(x)) => x
  std::optional<Operand> SimplerTranspose(const Binding& b) const {
    const std::vector<int64_t>& perm = b.attrs.Ints(Attr::kPerm);
    bool same = true;
    for (size_t axis = 0; axis < perm.size(); ++axis)
      same &= perm[axis] == static_cast<int64_t>(axis);
    if (same) return b.operands[0];
    const Binding* inner = DefinitionOf(b.operands[0]);
    if (inner == nullptr || inner->op != OpCode::kTranspose) return std::nullopt;
    for (size_t axis = 0; axis < perm.size(); ++axis) {
      if (inner->attrs.Ints(Attr::kPerm)[perm[axis]] != static_cast<int64_t>(axis))
        return std::nullopt;
    }
    return inner->operands[0];
  }

  // --- Scalar rules. ---

  const Binding* DefinitionOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  const Binding* DefinedBy(const Operand& operand, OpCode op) const {
    const Binding* definition = DefinitionOf(operand);
    return definition != nullptr && definition->op == op ? definition : nullptr;
  }

  static bool IsOne(const Operand& operand) {
    return operand.IsConstant() &&
           operand.constant() == ir::ConstantOf(operand.constant().dtype, 1);
  }

  // A float that an integer was: never nan nor infinite, and nothing is behind its point. Not of
  // float16, whose largest number is below those of 16 bits.
  bool IsWhole(const Operand& operand) const {
    const Binding* cast = DefinedBy(operand, OpCode::kCast);
    if (cast == nullptr || !ir::IsFloat(cast->result()->type.dtype())) return false;
    const ir::DType from = ir::DTypeOf(cast->operands[0]);
    return ir::SizeInBits(cast->result()->type.dtype()) >= 32 &&
           (ir::IsBool(from) || ir::IsInteger(from));
  }

  void LearnExtents(const Binding& nest) {
    const std::vector<const Var*>& indexes = nest.blocks[0]->params;
    for (size_t k = 0; k < indexes.size() && k < nest.operands.size(); ++k)
      extents_.insert_or_assign(indexes[k], Apply(nest.operands[k]));
  }

  // %i * (%n != 1) => %i of an index that goes to n: where n is 1, it is 0. An axis is read so that
  // may have been broadcast.
  std::optional<Operand> IndexOfAxis(const Operand& index, const Operand& factor) const {
    const Binding* cast = DefinedBy(factor, OpCode::kCast);
    const Binding* is_long = cast == nullptr ? nullptr : DefinedBy(cast->operands[0], OpCode::kNe);
    const auto extent = index.IsVar() ? extents_.find(index.var()) : extents_.end();
    const bool is_same = is_long != nullptr && extent != extents_.end() &&
                         is_long->operands[0] == extent->second && is_long->operands[1].IsInt(1);
    return is_same ? std::optional(index) : std::nullopt;
  }

  std::optional<Operand> ApplyRules(const Binding& b) {
    const std::vector<Operand>& in = b.operands;
    switch (b.op) {
      case OpCode::kMul: {
        const auto index = IndexOfAxis(in[0], in[1]);
        return index ? index : IndexOfAxis(in[1], in[0]);
      }
      case OpCode::kLog: {  // log(1 + x) => log1p(x)
        const Binding* sum = DefinedBy(in[0], OpCode::kAdd);
        if (sum == nullptr || !ir::IsFloat(b.result()->type.dtype())) return std::nullopt;
        if (IsOne(sum->operands[0]))
          return Make(OpCode::kLog1p, {sum->operands[1]}, b.result()->hint);
        if (IsOne(sum->operands[1]))
          return Make(OpCode::kLog1p, {sum->operands[0]}, b.result()->hint);
        return std::nullopt;
      }
      case OpCode::kSub: {
        const Binding* power = DefinedBy(in[0], OpCode::kExp);  // exp(x) - 1 => expm1(x)
        if (power != nullptr && IsOne(in[1]) && ir::IsFloat(b.result()->type.dtype())) {
          return Make(OpCode::kExpm1, {power->operands[0]}, b.result()->hint);
        }
        return SimplerDifference(b);
      }
      case OpCode::kNeg: {  // -x => 0 - x, of integers: what looks for sums sees one more
        const DType dtype = b.result()->type.dtype();
        if (!b.result()->type.IsScalar() || !ir::IsInteger(dtype)) return std::nullopt;
        return Make(OpCode::kSub, {ir::ZeroOf(dtype), in[0]}, b.result()->hint);
      }
      case OpCode::kNot: {  // not (not x) => x
        const Binding* inner = DefinedBy(in[0], OpCode::kNot);
        return inner == nullptr ? std::nullopt : std::optional(inner->operands[0]);
      }
      case OpCode::kSelect:  // select(c, x, x) => x
        if (in[1] == in[2]) return in[1];
        if (auto logic = Logic(in[0], in[1], in[2], b.result()->hint)) return logic;
        return ChosenExtreme(in[0], in[1], in[2], b.result());
      case OpCode::kPow: return SimplerPower(b);
      case OpCode::kFloor:
      case OpCode::kCeil:
      case OpCode::kTrunc:
      case OpCode::kRint: return IsWhole(in[0]) ? std::optional(in[0]) : std::nullopt;
      case OpCode::kIsNan:
      case OpCode::kIsInf:
      case OpCode::kIsFinite:
        if (!b.result()->type.IsScalar() || !IsWhole(in[0])) return std::nullopt;
        return Operand::Bool(b.op == OpCode::kIsFinite);
      case OpCode::kEq:
      case OpCode::kNe:
        if (!b.result()->type.IsScalar()) return std::nullopt;
        if (in[0] == in[1] && IsWhole(in[0])) return Operand::Bool(b.op == OpCode::kEq);
        if (IsZero(in[1]) && IsNotZero(in[0])) return Operand::Bool(b.op == OpCode::kNe);
        return ComparedWithOne(b);
      case OpCode::kAdd: return SimplerSum(b);
      default: return std::nullopt;
    }
  }

  // select(c, true, x) => c or x, select(c, x, false) => c and x, and with `not c` where c is false
  std::optional<Operand> Logic(const Operand& condition, const Operand& yes, const Operand& no,
                               std::string_view hint) {
    if (ir::TypeOf(yes) != ir::Type(DType::kBool)) return std::nullopt;
    const auto with = [&](OpCode op, bool is_negated, const Operand& other) {
      const Operand side = is_negated ? builder().Scalar(OpCode::kNot, {condition}) : condition;
      return builder().Scalar(op, {side, other}, hint);
    };
    if (yes.IsInt(1)) return with(OpCode::kOr, false, no);
    if (no.IsInt(0)) return with(OpCode::kAnd, false, yes);
    if (yes.IsInt(0)) return with(OpCode::kAnd, true, no);
    if (no.IsInt(1)) return with(OpCode::kOr, true, yes);
    return std::nullopt;
  }

  // The same of an `if` that only chooses.
  std::optional<Operand> ChosenByBranch(const Binding& b) {
    const Block &yes = *b.blocks[0], &no = *b.blocks[1];
    if (b.results.size() != 1 || !yes.bindings.empty() || !no.bindings.empty()) return std::nullopt;
    const Operand &taken = yes.results[0], &other = no.results[0];
    if (auto logic = Logic(b.operands[0], taken, other, b.result()->hint)) return logic;
    return ChosenExtreme(b.operands[0], taken, other, b.result());
  }

  // select(x < y, y, x) => max(x, y), select(x < y, x, y) => min(x, y), of integers
  std::optional<Operand> ChosenExtreme(const Operand& chooses, const Operand& yes,
                                       const Operand& no, const Var* result) {
    const Binding* condition = DefinitionOf(chooses);
    if (condition == nullptr || !ir::IsInteger(result->type.dtype())) return std::nullopt;
    const Binding& comparison = *condition;
    const bool less = comparison.op == OpCode::kLt || comparison.op == OpCode::kLe;
    const bool more = comparison.op == OpCode::kGt || comparison.op == OpCode::kGe;
    if (!less && !more) return std::nullopt;
    const bool same = comparison.operands[0] == yes && comparison.operands[1] == no;
    const bool swapped = comparison.operands[0] == no && comparison.operands[1] == yes;
    if (!same && !swapped) return std::nullopt;
    return builder().Scalar(less == same ? OpCode::kMin : OpCode::kMax,
                            {comparison.operands[0], comparison.operands[1]}, result->hint);
  }

  // (x + c) - x => c, (x + c) - c => x, (x + c - d) - x => c - d, (x + c) - d => x + (c - d), of
  // integers
  std::optional<Operand> SimplerDifference(const Binding& b) {
    if (!ir::IsInteger(b.result()->type.dtype())) return std::nullopt;
    if (b.operands[1].IsVar()) {
      if (auto rest = WithoutTerm(b.operands[0], b.operands[1], kMostTerms)) return rest;
    }
    if (const auto distance = DistanceOf(b.operands[1]))
      return Moved(b, b.operands[0], -*distance, *distance < 0);
    const Binding* sum = DefinedBy(b.operands[0], OpCode::kAdd);
    return sum == nullptr ? std::nullopt
                          : Joined(*sum, OpCode::kSub, b.operands[1], b.result()->hint);
  }

  // Of what may be negated.
  static std::optional<int64_t> DistanceOf(const Operand& operand) {
    if (!operand.IsConstant() || operand.constant().dtype != DType::kI64) return std::nullopt;
    const int64_t value = operand.constant().integer;
    return value == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional(value);
  }

  // (x - c) + d => x + (d - c), x + -c => x - c and their like: one sum or difference, with what is
  // positive, so that places and sizes that are the same are one value. Nothing where it is so.
  std::optional<Operand> Moved(const Binding& b, Operand from, int64_t distance, bool is_negative) {
    bool is_simpler = is_negative;
    for (const OpCode op : {OpCode::kAdd, OpCode::kSub}) {
      const Binding* inner = DefinedBy(from, op);
      if (inner == nullptr) continue;
      const size_t side = op == OpCode::kAdd && inner->operands[0].IsConstant() ? 0 : 1;
      const auto before = DistanceOf(inner->operands[side]);
      int64_t both = 0;
      if (!before ||
          __builtin_add_overflow(distance, op == OpCode::kAdd ? *before : -*before, &both))
        continue;
      from = inner->operands[1 - side];
      distance = both;
      is_simpler = true;
      break;
    }
    if (!is_simpler || distance == std::numeric_limits<int64_t>::min()) return std::nullopt;
    if (distance == 0) return from;
    const bool goes_back = distance < 0;
    const Operand by = Operand::Int(goes_back ? -distance : distance);
    return Make(goes_back ? OpCode::kSub : OpCode::kAdd, {from, by}, b.result()->hint);
  }

  // A sum of terms without one of them, the others in their order; nothing where it is none of so
  // many. What is left is what would have been written without it: `i + n - m + 1 - i` is as long
  // as `n - m + 1`.
  std::optional<Operand> WithoutTerm(const Operand& sum, const Operand& term, int most) {
    for (const OpCode op : {OpCode::kAdd, OpCode::kSub}) {
      const Binding* made = DefinedBy(sum, op);
      if (made == nullptr || most == 0) continue;
      const Operand &left = made->operands[0], &right = made->operands[1];
      if (left == term && op == OpCode::kAdd) return right;
      if (left == term) return Make(op, {ir::ZeroOf(ir::DTypeOf(sum)), right});
      if (right == term && op == OpCode::kAdd) return left;
      if (const auto rest = WithoutTerm(left, term, most - 1)) return Make(op, {*rest, right});
      if (op == OpCode::kSub) continue;
      if (const auto rest = WithoutTerm(right, term, most - 1)) return Make(op, {left, *rest});
    }
    return std::nullopt;
  }

  // (x - y) + y => x, (x + c) + d => x + (c + d), of integers
  std::optional<Operand> SimplerSum(const Binding& b) {
    if (!ir::IsInteger(b.result()->type.dtype())) return std::nullopt;
    for (const int side : {0, 1}) {
      const Operand& other = b.operands[1 - side];
      const Binding* difference = DefinedBy(b.operands[side], OpCode::kSub);
      if (difference != nullptr && difference->operands[1] == other) return difference->operands[0];
      if (const auto distance = DistanceOf(other))
        return Moved(b, b.operands[side], *distance, *distance < 0);
      const Binding* sum = DefinedBy(b.operands[side], OpCode::kAdd);
      if (sum == nullptr) continue;
      if (auto joined = Joined(*sum, OpCode::kAdd, other, b.result()->hint)) return joined;
    }
    return std::nullopt;
  }

  // x + (c op d) for x + c with the constant d beside it.
  std::optional<Operand> Joined(const Binding& sum, OpCode op, const Operand& d,
                                std::string_view hint) {
    for (const int side : {0, 1}) {
      const Operand& c = sum.operands[side];
      if (!c.IsConstant() || !d.IsConstant()) continue;
      return Make(OpCode::kAdd, {sum.operands[1 - side], Make(op, {c, d})}, hint);
    }
    return std::nullopt;
  }

  // x ** 2 => x * x, x ** 0.5 => sqrt(x) (sqrt(-0.0) is -0.0 where pow gives 0.0, so not that), x
  // ** 1 => x
  // Products are as near as a power is: each multiplication adds half a unit in the last place.
  std::optional<Operand> SimplerPower(const Binding& b) {
    const Operand& base = b.operands[0];
    if (IsOne(b.operands[1])) return base;
    const DType dtype = DTypeOf(base);
    if (!b.operands[1].IsConstant() || (ir::IsComplex(dtype) || dtype == DType::kF16))
      return IsTwo(b.operands[1]) ? std::optional(Product(b, base, base)) : std::nullopt;
    for (int times = 2; times <= kMostFactors; ++times) {
      if (b.operands[1].constant() == ir::ConstantOf(dtype, times)) return PowerOf(b, base, times);
    }
    if (!ir::IsFloat(dtype) || !b.result()->type.IsScalar()) return std::nullopt;
    return PowerByRoot(b, base, b.operands[1].constant().real);
  }

  // Powers of a root and a quotient, which round up to three times. A power of -0 or of -inf has
  // the sign that its root and its product have not.
  //   x ** -1 => 1 / x, x ** -2 => (1 / x) * (1 / x)
  //   x ** 0.5 => |sqrt(x)|, x ** 1.5 => |x * sqrt(x)|, inf of -inf
  //   x ** -0.5 => |1 / sqrt(x)|, x ** -1.5 => |1 / x / sqrt(x)|, 0 of -inf
  std::optional<Operand> PowerByRoot(const Binding& b, const Operand& base, double exponent) {
    const DType dtype = DTypeOf(base);
    const Operand one(ir::ConstantOf(dtype, 1));
    const auto quotient = [&](const Operand& x, const Operand& y) {
      return Make(OpCode::kDiv, {x, y}, b.result()->hint);
    };
    if (exponent == -1 || exponent == -2) {
      const Operand inverse = quotient(one, base);
      return exponent == -1 ? inverse : Product(b, inverse, inverse);
    }
    const bool is_root = exponent == 0.5 || exponent == -0.5;
    if (!is_root && exponent != 1.5 && exponent != -1.5) return std::nullopt;
    const Operand root = Make(OpCode::kSqrt, {base}, b.result()->hint);
    const Operand power = exponent < 0 ? quotient(is_root ? one : quotient(one, base), root)
                          : is_root    ? root
                                       : Product(b, base, root);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Operand least(ir::Constant::Float(-kInfinity, dtype));
    const Operand end(ir::Constant::Float(exponent < 0 ? 0.0 : kInfinity, dtype));
    return Make(OpCode::kSelect, {Make(OpCode::kEq, {base, least}), end,
                                  Make(OpCode::kAbs, {power}, b.result()->hint)});
  }

  Operand PowerOf(const Binding& b, const Operand& base, int times) {
    if (times == 1) return base;
    const Operand half = PowerOf(b, base, times / 2);
    const Operand even = Product(b, half, half);
    return times % 2 == 0 ? even : Product(b, even, base);
  }

  Operand Product(const Binding& b, const Operand& left, const Operand& right) {
    return Make(OpCode::kMul, {left, right}, b.result()->hint);
  }

  static bool IsTwo(const Operand& operand) {
    return operand.IsConstant() && operand.constant() == ir::ConstantOf(DTypeOf(operand), 2);
  }

  // --- Sizes. ---

  // A parameter's axis is not 1 where its type does not say so.
  std::optional<Operand> ComparedWithOne(const Binding& b) const {
    for (const int side : {0, 1}) {
      const Operand& size = b.operands[side];
      if (size.IsVar() && not_one_.contains(size.var()) && b.operands[1 - side].IsInt(1)) {
        return Operand::Bool(b.op == OpCode::kNe);
      }
    }
    return std::nullopt;
  }

  bool IsNotOne(const Operand& size) const {
    return size.IsVar() ? not_one_.contains(size.var()) : !size.IsInt(1);
  }

  // broadcast_size(n, n) => n; broadcast_size(1, n) => n
  std::optional<Operand> SimplerSize(const Binding& b) const {
    if (b.operands[0] == b.operands[1] || b.operands[1].IsInt(1)) return b.operands[0];
    if (b.operands[0].IsInt(1)) return b.operands[1];
    return std::nullopt;
  }

  // Where neither size is 1 there is nothing to broadcast: they are equal, or it is an error.
  bool MakeCheck(const Binding& original, const Binding& b) {
    const Operand& n = b.operands[0];
    const Operand& m = b.operands[1];
    if (!IsNotOne(n) || !IsNotOne(m)) return false;
    const Operand equal = Make(OpCode::kEq, {n, m});
    std::vector<Operand> operands = {equal};
    operands.insert(operands.end(), b.operands.begin() + 2, b.operands.end());
    const auto count = static_cast<int64_t>(operands.size() - 1);
    operands.push_back(n);
    operands.push_back(m);
    const ir::Attributes attrs{{Attr::kSite, b.attrs.Int(Attr::kSite)}, {Attr::kAt, count}};
    builder().Emit(OpCode::kCheck, {}, std::move(operands), attrs);
    Learn(equal, true);
    Replace(original.results[0], n);
    return true;
  }

  // --- What is known. ---

  // From here to the end of the block `condition` reads as `value`, and so do its parts: both sides
  // of a true `and` are true, two integers that are equal are one.
  void Learn(const Operand& condition, bool value) {
    if (!condition.IsVar()) return;
    Read(condition.var(), Operand::Bool(value));
    const Binding* b = DefinitionOf(condition);
    if (b == nullptr) return;
    if (b->op == OpCode::kNot) Learn(b->operands[0], !value);
    if (b->op == (value ? OpCode::kAnd : OpCode::kOr)) {
      for (const Operand& part : b->operands) Learn(part, value);
    }
    if (b->op == (value ? OpCode::kEq : OpCode::kNe)) LearnEqual(b->operands[0], b->operands[1]);
    if (b->operands.size() == 2) LearnNotZero(*b, value);
  }

  // Of `if abs(x) < 1e-9` and the like, that x is not 0 on the other side: nan is not either, of
  // which no comparison but != is true.
  void LearnNotZero(const Binding& b, bool value) {
    const Operand& x = b.operands[0];
    if (!x.IsVar() || !b.operands[1].IsConstant()) return;
    const ir::Constant& limit = b.operands[1].constant();
    if (!ir::IsFloat(limit.dtype) && !ir::IsComplex(limit.dtype)) return;
    const bool is_zero = IsZero(b.operands[1]);
    const bool is_above = ir::IsFloat(limit.dtype) && limit.real > 0.0;
    const bool is_below = ir::IsFloat(limit.dtype) && limit.real < 0.0;
    bool excludes = false;  // what is not so, or is, leaves no 0
    switch (b.op) {
      case OpCode::kEq: excludes = !value && is_zero; break;
      case OpCode::kNe: excludes = value && is_zero; break;
      case OpCode::kLt: excludes = value ? is_zero || is_below : is_above; break;
      case OpCode::kLe: excludes = value ? is_below : is_zero || is_above; break;
      case OpCode::kGt: excludes = value ? is_zero || is_above : is_below; break;
      case OpCode::kGe: excludes = value ? is_above : is_zero || is_below; break;
      default: return;
    }
    if (!excludes) return;
    not_zero_.push_back(x.var());
    const Binding* magnitude = DefinedBy(x, OpCode::kAbs);
    if (magnitude != nullptr && magnitude->operands[0].IsVar())
      not_zero_.push_back(magnitude->operands[0].var());
  }

  static bool IsZero(const Operand& operand) {
    return operand.IsConstant() && operand.constant() == ir::ZeroOf(operand.constant().dtype);
  }

  bool IsNotZero(const Operand& operand) const {
    return operand.IsVar() &&
           std::find(not_zero_.begin(), not_zero_.end(), operand.var()) != not_zero_.end();
  }

  // A constant stands for both; else the value that is given from outside, else the first.
  void LearnEqual(const Operand& a, const Operand& b) {
    if (DTypeOf(a) != ir::DType::kI64 || !TypeOf(a).IsScalar()) return;
    const bool b_is_given = b.IsVar() && DefinitionOf(b) == nullptr;
    const bool swap = b.IsConstant() || (a.IsVar() && DefinitionOf(a) != nullptr && b_is_given);
    const Operand& kept = swap ? b : a;
    const Operand& gone = swap ? a : b;
    if (gone.IsVar() && !(kept == gone)) Read(gone.var(), kept);
  }

  void Read(const Var* var, const Operand& as) {
    Replace(var, as);
    learned_.push_back(var);
  }

  // broadcast x (n, m) => ascribe x (n, m) where no axis is repeated
  const Binding* WithoutBroadcast(const Binding& b) {
    if (b.op != OpCode::kBroadcast) return &b;
    const ir::Type from = Apply(ir::TypeOf(b.operands[0]));
    if (from.rank() != b.result()->type.rank()) return &b;
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (from.dims()[axis] != b.result()->type.dims()[axis]) return &b;
    }
    Binding copy = b;
    copy.op = OpCode::kAscribe;
    return arena()->New(std::move(copy));
  }

  // --- Control. ---

  // An `if` on a constant is the block it takes.
  bool TakeBranch(const Binding& original, const Binding& b) {
    if (b.op != OpCode::kIf || !b.operands[0].IsConstant()) return false;
    const Block& taken = *b.blocks[b.operands[0].constant().integer ? 0 : 1];
    for (const Binding* inner : taken.bindings) {
      builder().Append(inner);
      Define(*inner);
    }
    for (size_t k = 0; k < b.results.size(); ++k) {
      Replace(original.results[k], taken.results[k]);
      if (b.results[k] != original.results[k]) Replace(b.results[k], taken.results[k]);
    }
    return true;
  }

  static bool DropCheck(const Binding& b) {
    return b.op == OpCode::kCheck && b.operands[0].IsInt(1);
  }

  bool one_thread_;
  ir::VarSet not_one_;
  std::vector<const Var*> learned_;   // in order, what reads as something else to its block's end
  std::vector<const Var*> not_zero_;  // floats and complex numbers, to their block's end
  std::vector<const Binding*> computed_;  // integers and bools, of this block and those around it
  std::unordered_map<size_t, std::vector<const Binding*>> by_hash_;  // of the same
  std::unordered_map<const Block*, Assumption> assumed_;
  ir::DefinitionMap definitions_;
  std::unordered_map<const Var*, Operand> extents_;  // by index of a nest
};

}  // namespace

ir::Program Simplify(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Simplifier(program.arena.get(), *function, context.options.one_thread).Run(function);
  });
}

}  // namespace parakeet::passes
