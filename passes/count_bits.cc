// Computes what a `while` does that goes through the bits of a number: it counts those that are
// set, or the places up to the last or the first of them.
//
// Before:
//   %v, %c = while (%v.1 = %x, %c.1 = %n) { %go = ne %v.1, 0  yield %go } do (%v.2, %c.2) {
//     %less = sub %v.2, 1
//     %v.3 = and %v.2, %less
//     %c.3 = add %c.2, 1
//     yield %v.3, %c.3 }
// After:
//   %bits = popcount %x
//   %c = add %n, %bits
// and %v is 0. `while v > 0: v >>= 1` runs as often as v has places, `while v & 1 == 0: v >>= 1` as
// often as there are zeros behind the last bit that is set. What else is carried is made of how
// often the loop runs: a sum of what stays, what is shifted by one place, what goes back and forth;
// and a sum of the bits that are shifted out.
//
// A loop that does not end for some numbers, as the last of these for 0, stays behind what is
// computed, for those: it begins with what it would have come to. Where what makes the number shows
// that it is none of those, or a branch or a loop around asks so, nothing stays.
//
// Assumes: nothing.
// Refuses: loops that do anything else, memory and checks among it; floats, whose sums round.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What a condition asks of the one carried number that it reads.
struct AskedOfBits {
  const Var* number = nullptr;
  bool is_nonzero = false;
  std::optional<int64_t> above;
  std::optional<int64_t> last_bit;
};

// How a loop goes through the bits of its carried value `number`.
struct BitLoop {
  size_t number;
  bool halves;  // else it takes the last bit off that is set
  AskedOfBits asked;
};

// What a branch or a loop around says of a number.
struct Known {
  Operand number;
  bool is_set;      // not 0
  bool is_natural;  // not negative
};

// What becomes of another carried value in each iteration.
enum class Carried { kStays, kSum, kDifference, kTurns, kDoubles, kHalves, kBitSum, kBitXor };

class BitCounter : public ir::Mutator {
 public:
  BitCounter(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), makers_(ir::Definitions(*function.body)), context_(context) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kFor && b.operands[2].constant().integer > 0)
        lowest_.emplace(b.blocks[0]->params[0], b.operands[0]);
      if (ir::InfoOf(b.op).format != ir::OpFormat::kIndices || b.op == OpCode::kLanes) return;
      for (const Var* index : b.blocks[0]->params) lowest_.emplace(index, Operand::Int(0));
    });
  }

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kWhile && b->attrs.entries().empty()) {
      inside_ = ir::DefinedVars(*b->blocks[1]);
      if (const std::optional<BitLoop> loop = LoopOf(*b)) {
        context_.Note(b->span, "counts bits", Topic::kOther, Verdict::kDone);
        return Write(*b, *loop);
      }
    }
    if (b->op == OpCode::kIf) {
      Learn(b->operands[0], true, {}, *b->blocks[0]);
      Learn(b->operands[0], false, {}, *b->blocks[1]);
    }
    if (b->op == OpCode::kWhile)
      Learn(b->blocks[0]->results[0], true, b->blocks[0]->params, *b->blocks[1]);
    Mutator::Visit(b);
  }

  const Block* VisitBlock(const Block* block) override {
    const size_t outer = known_.size();
    if (const auto found = known_in_.find(block); found != known_in_.end())
      known_.insert(known_.end(), found->second.begin(), found->second.end());
    const Block* visited = Mutator::VisitBlock(block);
    known_.resize(outer);
    return visited;
  }

 private:
  // What holds inside the block where `condition` does, or does not. Parameters of a loop's test
  // stand for those of its body.
  void Learn(const Operand& condition, bool is_true, const std::vector<const Var*>& params,
             const Block& inside) {
    const Binding* b = MakerOf(condition);
    if (b == nullptr) return;
    if (b->op == OpCode::kNot) return Learn(b->operands[0], !is_true, params, inside);
    if (b->op == (is_true ? OpCode::kAnd : OpCode::kOr)) {
      for (const Operand& part : b->operands) Learn(part, is_true, params, inside);
      return;
    }
    if (!ir::IsComparison(b->op) || !b->operands[0].IsVar() || !b->operands[1].IsConstant() ||
        !ir::IsInteger(ir::DTypeOf(b->operands[0])))
      return;
    const auto says = [&](OpCode held, OpCode failed) {
      return b->op == (is_true ? held : failed);
    };
    const int64_t with = b->operands[1].constant().integer;
    const bool is_from = says(OpCode::kGe, OpCode::kLt);
    const bool above = says(OpCode::kGt, OpCode::kLe) ? with >= 0 : is_from && with >= 1;
    const bool is_set = above || (says(OpCode::kNe, OpCode::kEq) && with == 0);
    const bool is_natural = above || (is_from && with == 0);
    if (!is_set && !is_natural) return;
    const auto at = std::find(params.begin(), params.end(), b->operands[0].var());
    const Operand number =
        at == params.end() ? Apply(b->operands[0]) : Operand(inside.params[at - params.begin()]);
    known_in_[&inside].push_back({number, is_set, is_natural});
  }

  const Binding* MakerOf(const Operand& value) const {
    const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
    return found == makers_.end() ? nullptr : found->second;
  }

  // The maker, where it is `op` of `own` and `other`; a constant stands at the right.
  bool Makes(const Operand& value, OpCode op, const Operand& own, int64_t other) const {
    const Binding* b = MakerOf(value);
    return b != nullptr && b->op == op && b->operands[0] == own && b->operands[1].IsInt(other);
  }

  bool IsHalf(const Operand& value, const Operand& own) const {
    return Makes(value, OpCode::kShr, own, 1) || Makes(value, OpCode::kFloorDiv, own, 2);
  }

  bool IsLastBit(const Operand& value, const Operand& own) const {
    return Makes(value, OpCode::kAnd, own, 1) || Makes(value, OpCode::kMod, own, 2);
  }

  bool IsNegated(const Operand& value, const Operand& own) const {
    const Binding* b = MakerOf(value);
    if (b == nullptr) return false;
    if (b->op == OpCode::kNeg) return b->operands[0] == own;
    return b->op == OpCode::kSub && b->operands[0].IsInt(0) && b->operands[1] == own;
  }

  // The other operand of `op`, in either order.
  std::optional<Operand> OtherOf(const Operand& value, OpCode op, const Operand& own) const {
    const Binding* b = MakerOf(value);
    if (b == nullptr || b->op != op) return std::nullopt;
    if (b->operands[0] == own) return b->operands[1];
    return b->operands[1] == own ? std::optional(b->operands[0]) : std::nullopt;
  }

  // v & (v - 1), or v without v & -v.
  bool LosesLastSet(const Operand& value, const Operand& own) const {
    if (const auto less = OtherOf(value, OpCode::kAnd, own))
      return Makes(*less, OpCode::kSub, own, 1) || Makes(*less, OpCode::kAdd, own, -1);
    auto last = OtherOf(value, OpCode::kXor, own);
    if (const Binding* b = MakerOf(value); b != nullptr && b->op == OpCode::kSub)
      last = b->operands[0] == own ? std::optional(b->operands[1]) : std::nullopt;
    const auto negated = last ? OtherOf(*last, OpCode::kAnd, own) : std::nullopt;
    return negated && IsNegated(*negated, own);
  }

  static bool IsScalarCode(const Block& block) {
    return std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
      return b->op == OpCode::kIf ? IsScalarCode(*b->blocks[0]) && IsScalarCode(*b->blocks[1])
                                  : ir::IsScalarOp(b->op);
    });
  }

  // Adds what it says of a number that a value of the condition is true, or not.
  bool Ask(const Operand& value, bool is_true, AskedOfBits* asked) const {
    const Binding* b = MakerOf(value);
    if (b == nullptr) return false;
    if (b->op == OpCode::kNot) return Ask(b->operands[0], !is_true, asked);
    if (b->op == OpCode::kAnd && is_true)
      return Ask(b->operands[0], true, asked) && Ask(b->operands[1], true, asked);
    if (b->op == OpCode::kIf && is_true)
      return b->results.size() == 1 && b->blocks[1]->results[0] == Operand::Bool(false) &&
             Ask(b->operands[0], true, asked) && Ask(b->blocks[0]->results[0], true, asked);
    return ir::IsComparison(b->op) && b->operands[1].IsConstant() &&
           AskByComparison(*b, is_true, asked);
  }

  bool AskByComparison(const Binding& b, bool is_true, AskedOfBits* asked) const {
    const Operand& compared = b.operands[0];
    if (!compared.IsVar() || !ir::IsInteger(ir::DTypeOf(compared))) return false;
    const int64_t with = b.operands[1].constant().integer;
    const bool is_equality = b.op == OpCode::kEq || b.op == OpCode::kNe;
    const Binding* maker = MakerOf(compared);
    if (is_equality && maker != nullptr && maker->operands.size() == 2 &&
        IsLastBit(compared, maker->operands[0]) && (with == 0 || with == 1)) {
      asked->last_bit = (b.op == OpCode::kEq) == is_true ? with : 1 - with;
      return IsOf(maker->operands[0], asked);
    }
    if (is_equality) {
      asked->is_nonzero = true;
      return with == 0 && (b.op == OpCode::kNe) == is_true && IsOf(compared, asked);
    }
    const bool above = is_true ? b.op == OpCode::kGt : b.op == OpCode::kLe;
    const bool from = is_true ? b.op == OpCode::kGe : b.op == OpCode::kLt;
    asked->above = from ? with - 1 : with;
    return (above || from) && (asked->above == 0 || asked->above == 1) && IsOf(compared, asked);
  }

  // All that is asked is asked of one number.
  static bool IsOf(const Operand& value, AskedOfBits* asked) {
    if (!value.IsVar() || (asked->number != nullptr && asked->number != value.var())) return false;
    asked->number = value.var();
    return true;
  }

  std::optional<BitLoop> LoopOf(const Binding& loop) const {
    const Block &condition = *loop.blocks[0], &body = *loop.blocks[1];
    BitLoop found{};
    if (!IsScalarCode(condition) || !IsScalarCode(body) ||
        !Ask(condition.results[0], true, &found.asked))
      return std::nullopt;
    const std::vector<const Var*>& params = condition.params;
    const auto at = std::find(params.begin(), params.end(), found.asked.number);
    if (at == params.end() || !found.asked.number->type.IsScalar()) return std::nullopt;
    found.number = at - params.begin();
    const Operand next = body.results[found.number], own = body.params[found.number];
    found.halves = IsHalf(next, own);
    if (!found.halves &&
        (!LosesLastSet(next, own) || found.asked.last_bit || found.asked.above.value_or(0) != 0))
      return std::nullopt;
    if (found.asked.last_bit && found.asked.above.value_or(0) != 0) return std::nullopt;
    for (size_t k = 0; k < loop.results.size(); ++k) {
      if (k != found.number && !CarriedAs(loop, found, k)) return std::nullopt;
    }
    if (IsLeftOver(Apply(loop.operands[found.number]))) return std::nullopt;
    return found;
  }

  // What a loop begins with that stands behind what it would have come to.
  bool IsLeftOver(const Operand& begin) const {
    const Binding* b = MakerOf(begin);
    if (b == nullptr) return false;
    if (b->op == OpCode::kMin) return b->operands[1].IsInt(0);
    const Binding* by = b->op == OpCode::kShr ? MakerOf(b->operands[1]) : nullptr;
    return by != nullptr && by->op == OpCode::kTrailingZeros;
  }

  bool IsSame(const Operand& value) const {
    return value.IsConstant() || !inside_.contains(value.var());
  }

  // True for the bit that an iteration shifts out of the number, up to where none is left.
  bool IsShiftedOut(Operand value, const Binding& loop, const BitLoop& bits) const {
    if (!bits.halves || bits.asked.last_bit || bits.asked.above.value_or(0) != 0) return false;
    if (const Binding* b = MakerOf(value); b != nullptr && b->op == OpCode::kCast)
      value = b->operands[0];
    return IsLastBit(value, loop.blocks[1]->params[bits.number]);
  }

  // The sum of `if v & 1: c += by`.
  std::optional<Operand> SumOfBits(const Binding& b, const Operand& own, const Binding& loop,
                                   const BitLoop& bits) const {
    const Binding* is_set = MakerOf(b.operands[0]);
    if (b.results.size() != 1 || b.blocks[1]->results[0] != own || is_set == nullptr ||
        (is_set->op != OpCode::kNe && is_set->op != OpCode::kEq) ||
        !is_set->operands[1].IsInt(is_set->op == OpCode::kEq) ||
        !IsShiftedOut(is_set->operands[0], loop, bits))
      return std::nullopt;
    const std::optional<Operand> by = OtherOf(b.blocks[0]->results[0], OpCode::kAdd, own);
    return by && IsSame(*by) ? by : std::nullopt;
  }

  struct Part {
    Carried kind;
    Operand by;  // Of sums, for each iteration or each bit that is set.
  };

  std::optional<Part> CarriedAs(const Binding& loop, const BitLoop& bits, size_t k) const {
    const Block& body = *loop.blocks[1];
    const Operand own = body.params[k], next = body.results[k];
    if (next == own) return Part{Carried::kStays, {}};
    const Binding* b = MakerOf(next);
    if (b == nullptr || !own.var()->type.IsScalar()) return std::nullopt;
    const DType dtype = ir::DTypeOf(own);
    if (dtype != DType::kBool && !ir::IsInteger(dtype)) return std::nullopt;
    if (b->op == OpCode::kNot || b->op == OpCode::kNeg) return TurnsOf(b->operands[0] == own);
    if (b->op == OpCode::kSub && b->operands[1] == own) return TurnsOf(IsSame(b->operands[0]));
    if (b->op == OpCode::kSub && b->operands[0] == own && IsSame(b->operands[1]))
      return Part{Carried::kDifference, b->operands[1]};
    if (const auto by = OtherOf(next, OpCode::kAdd, own)) {
      if (IsSame(*by)) return Part{Carried::kSum, *by};
      if (IsShiftedOut(*by, loop, bits)) return Part{Carried::kBitSum, One(dtype)};
      return std::nullopt;
    }
    if (const auto by = OtherOf(next, OpCode::kXor, own)) {
      if (IsSame(*by)) return TurnsOf(true);
      if (IsShiftedOut(*by, loop, bits)) return Part{Carried::kBitXor, {}};
      return std::nullopt;
    }
    if (b->op == OpCode::kIf) {
      const std::optional<Operand> by = SumOfBits(*b, own, loop, bits);
      return by ? std::optional(Part{Carried::kBitSum, *by}) : std::nullopt;
    }
    if (Makes(next, OpCode::kShl, own, 1) || Makes(next, OpCode::kMul, own, 2))
      return Part{Carried::kDoubles, {}};
    return IsHalf(next, own) ? std::optional(Part{Carried::kHalves, {}}) : std::nullopt;
  }

  static std::optional<Part> TurnsOf(bool holds) {
    return holds ? std::optional(Part{Carried::kTurns, {}}) : std::nullopt;
  }

  static Operand Int(int64_t value, DType dtype) { return ir::Constant::Int(value, dtype); }
  static Operand One(DType dtype) { return Int(1, dtype); }

  Operand Make(OpCode op, const Operand& a, const Operand& b) {
    return builder().Scalar(op, {a, b});
  }

  // How often the loop runs, up to where it would not end.
  Operand TripsOf(const BitLoop& bits, const Operand& begin) {
    const DType dtype = ir::DTypeOf(begin);
    const Operand zero = Int(0, dtype);
    if (bits.asked.last_bit) {
      const bool sets = *bits.asked.last_bit == 1;
      const Operand seen = sets ? builder().Scalar(OpCode::kNot, {begin}) : begin;
      const Operand trips = builder().Scalar(OpCode::kTrailingZeros, {seen});
      if (!bits.asked.above && (sets || !bits.asked.is_nonzero)) return trips;
      const Operand runs = Make(bits.asked.above ? OpCode::kGt : OpCode::kNe, begin, zero);
      return builder().Scalar(OpCode::kSelect, {runs, trips, zero});
    }
    const bool clips =
        ir::IsSigned(dtype) ? bits.asked.above || bits.halves : bits.asked.above.value_or(0) != 0;
    const Operand above = Int(bits.asked.above.value_or(0), dtype);
    const Operand seen = clips ? Make(OpCode::kMax, begin, above) : begin;
    if (!bits.halves) return builder().Scalar(OpCode::kPopCount, {seen});
    return Make(OpCode::kSub, builder().Scalar(OpCode::kBitLength, {seen}), above);
  }

  // What the number has come to.
  Operand LastOf(const BitLoop& bits, const Operand& begin, const Operand& trips) {
    const DType dtype = ir::DTypeOf(begin);
    if (bits.asked.last_bit) return Make(OpCode::kShr, begin, trips);
    if (!bits.asked.above && (!bits.halves || !ir::IsSigned(dtype))) return Int(0, dtype);
    return Make(OpCode::kMin, begin, Int(bits.asked.above.value_or(0), dtype));
  }

  // True where the loop goes on for ever with some numbers.
  static bool MayStay(const BitLoop& bits, DType dtype) {
    if (bits.asked.above) return false;
    if (!bits.asked.last_bit) return bits.halves && ir::IsSigned(dtype);
    return *bits.asked.last_bit == 0 ? !bits.asked.is_nonzero : ir::IsSigned(dtype);
  }

  // True where the loop ends with the number that it begins with.
  bool Ends(const BitLoop& bits, const Operand& begin) const {
    return bits.asked.last_bit == 0 ? IsSet(begin) : IsNatural(begin);
  }

  bool IsKnown(const Operand& number, bool Known::* what) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const Known& known) { return known.number == number && known.*what; });
  }

  // Not 0.
  bool IsSet(const Operand& value) const {
    if (value.IsConstant()) return value.constant().integer != 0;
    if (IsKnown(value, &Known::is_set)) return true;
    if (const Operand* lowest = LowestOf(value)) return IsNatural(*lowest) && IsSet(*lowest);
    const Binding* b = MakerOf(value);
    if (b == nullptr || !ir::IsInteger(ir::DTypeOf(value))) return false;
    if (b->op == OpCode::kOr) return IsSet(b->operands[0]) || IsSet(b->operands[1]);
    return b->op == OpCode::kMax && b->operands[1].IsConstant() && IsNatural(b->operands[1]) &&
           IsSet(b->operands[1]);
  }

  // Not negative.
  bool IsNatural(const Operand& value) const {
    if (value.IsConstant()) return value.constant().integer >= 0;
    if (ir::IsUnsigned(ir::DTypeOf(value))) return true;
    if (IsKnown(value, &Known::is_natural)) return true;
    if (const Operand* lowest = LowestOf(value)) return IsNatural(*lowest);
    const Binding* b = MakerOf(value);
    if (b == nullptr) return false;
    const auto is_natural = [&](size_t k) { return IsNatural(b->operands[k]); };
    switch (b->op) {
      case OpCode::kCast: {
        const DType from = ir::DTypeOf(b->operands[0]);
        if (!ir::IsInteger(from)) return from == DType::kBool;
        return ir::SizeInBits(from) < ir::SizeInBits(ir::DTypeOf(value)) && is_natural(0);
      }
      case OpCode::kAnd:
      case OpCode::kMax: return is_natural(0) || is_natural(1);
      case OpCode::kOr:
      case OpCode::kXor:
      case OpCode::kMin: return is_natural(0) && is_natural(1);
      case OpCode::kShr: return is_natural(0);
      default: return false;
    }
  }

  // What an index is no less than; null for what is none.
  const Operand* LowestOf(const Operand& value) const {
    const auto found = lowest_.find(value.var());
    return found == lowest_.end() ? nullptr : &found->second;
  }

  Operand WriteCarried(const Binding& loop, const BitLoop& bits, size_t k, const Operand& begin,
                       const Operand& trips) {
    const Part part = *CarriedAs(loop, bits, k);
    const Operand first = Apply(loop.operands[k]);
    const DType dtype = ir::DTypeOf(first);
    const auto times = [&](const Operand& count) {
      const Operand by = Apply(part.by), number = builder().Cast(count, dtype);
      return by.IsInt(1) ? number : Make(OpCode::kMul, by, number);
    };
    switch (part.kind) {
      case Carried::kStays: return first;
      case Carried::kSum: return Make(OpCode::kAdd, first, times(trips));
      case Carried::kDifference: return Make(OpCode::kSub, first, times(trips));
      case Carried::kDoubles: return Make(OpCode::kShl, first, builder().Cast(trips, dtype));
      case Carried::kHalves: return Make(OpCode::kShr, first, builder().Cast(trips, dtype));
      case Carried::kBitSum: return Make(OpCode::kAdd, first, times(SetBits(begin)));
      case Carried::kBitXor: {
        const Operand last = Make(OpCode::kAnd, SetBits(begin), One(ir::DTypeOf(begin)));
        return Make(OpCode::kXor, first, builder().Cast(last, dtype));
      }
      case Carried::kTurns: return Turned(loop, k, first, trips);
    }
    return first;
  }

  // Of what is not negative.
  Operand SetBits(const Operand& begin) {
    const DType dtype = ir::DTypeOf(begin);
    const Operand seen = ir::IsSigned(dtype) ? Make(OpCode::kMax, begin, Int(0, dtype)) : begin;
    return builder().Scalar(OpCode::kPopCount, {seen});
  }

  // Every other iteration undoes what one does.
  Operand Turned(const Binding& loop, size_t k, const Operand& first, const Operand& trips) {
    const Block& body = *loop.blocks[1];
    const Binding& b = *MakerOf(body.results[k]);
    std::vector<Operand> operands;
    for (const Operand& operand : b.operands)
      operands.push_back(operand == Operand(body.params[k]) ? first : Apply(operand));
    const Operand turned = builder().Scalar(b.op, operands);
    const DType dtype = ir::DTypeOf(trips);
    const Operand odd = Make(OpCode::kNe, Make(OpCode::kAnd, trips, One(dtype)), Int(0, dtype));
    return builder().Scalar(OpCode::kSelect, {odd, turned, first});
  }

  void Write(const Binding& loop, const BitLoop& bits) {
    const Operand begin = Apply(loop.operands[bits.number]);
    const Operand trips = TripsOf(bits, begin);
    std::vector<Operand> last;
    for (size_t k = 0; k < loop.results.size(); ++k)
      last.push_back(k == bits.number ? LastOf(bits, begin, trips)
                                      : WriteCarried(loop, bits, k, begin, trips));
    if (MayStay(bits, ir::DTypeOf(begin)) && !Ends(bits, begin)) {
      Binding rest = *Rewrite(&loop);
      rest.operands = last;
      return builder().Append(arena()->New(std::move(rest)));
    }
    for (size_t k = 0; k < loop.results.size(); ++k) Replace(loop.results[k], last[k]);
  }

  const ir::DefinitionMap makers_;
  std::unordered_map<const Block*, std::vector<Known>> known_in_;  // of sides and bodies
  std::vector<Known> known_;                                       // in all blocks around
  std::unordered_map<const Var*, Operand> lowest_;                 // of indexes that go up
  ir::VarSet inside_;  // What the loop defines that is looked at.
  Context& context_;
};

bool HasWhiles(const ir::Function& function) {
  bool has = false;
  ir::ForEachBinding(*function.body, [&](const Binding& b) { has |= b.op == OpCode::kWhile; });
  return has;
}

}  // namespace

ir::Program CountBits(const ir::Program& program, Context& context) {
  ir::Arena* arena = program.arena.get();
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!HasWhiles(*function)) return function;
    return BitCounter(arena, *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
