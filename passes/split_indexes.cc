// Goes by several indexes where one is taken apart: divisions of each iteration become loops.
//
// Before:
//   %k = mul %m, %n
//   %y: [k]f64 = imap (%i) in (%k) { %p = floordiv %i, %n  %q = mod %i, %n  %a = load %x[%q, %p]
//   yield %a }
// After:
//   %y: [k]f64 = alloc (%k)
//   %long: bool = ge %n, 8
//   if %long {
//     %z: [m][n]f64 = view %y offset (0) strides ((%n, 1)) {flat = 1}
//     foreach (%p, %q) in (%m, %n) { %a = load %x[%q, %p]  store %z[%p, %q], %a } } else {
//     foreach (%i) in (%k) { ... } }
// The same where several indexes are first put together: a transposed array is given another shape.
// Where one of these is used by itself too, and the divisors make up the last axis, that axis alone
// is taken apart: np.kron(a, b) + np.eye(n).
// A loop of a few elements takes longer to begin than to divide for each of them.
//
// Assumes: index form, behind flatten_loads, which needs no index taken apart for what lies in C
// order. Iterations keep their order.
// Where nobody knows whether a factor is negative, the code asks that too.
// Refuses: a divisor that is no factor of the extents, or few of which one is a small constant, by
// which dividing is cheap; several indexes of which something else is made than the place that they
// stand for, but for the above, where nothing else is made of a quotient; results in Fortran order.
#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/size_factors.h"
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

constexpr int64_t kFewestOfLoop = 8;
// Where so many divisions would be made for each element, one of fewer does not.
constexpr size_t kManyLevels = 3;
constexpr int64_t kFewestOfDeepLoop = 2;

// How an index is taken apart, or the place that neighbouring indexes stand for.
struct Split {
  size_t first;  // of the nest's indexes
  size_t last;
  Operand place;
  std::vector<const Binding*> links;  // what makes the place of several indexes, itself last
  Operands divisors;                  // of the place, then of each quotient
  Operands rest;                      // factors of the extents that no divisor has
};

// What nests do with their indexes.
class IndexReader : public ir::Mutator {
 protected:
  IndexReader(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), factors_(function), patterns_(function) {}

  static bool IsNest(const Binding& b) { return b.op == OpCode::kImap || b.op == OpCode::kForeach; }

  // The place that the indexes stand for, and what it is made by.
  static std::optional<Operand> PlaceOf(const Binding& nest, size_t first, size_t last,
                                        std::vector<const Binding*>* links) {
    const Block& body = *nest.blocks[0];
    Operand place = body.params[first];
    for (size_t k = first + 1; k <= last; ++k) {
      for (const auto& [op, with] : {std::pair{OpCode::kMul, nest.operands[k]},
                                     std::pair{OpCode::kAdd, Operand(body.params[k])}}) {
        const auto link = std::find_if(
            body.bindings.begin(), body.bindings.end(), [&, op = op, with = with](const auto* b) {
              return b->op == op && ((b->operands[0] == place && b->operands[1] == with) ||
                                     (b->operands[1] == place && b->operands[0] == with));
            });
        if (link == body.bindings.end()) return std::nullopt;
        links->push_back(*link);
        place = (*link)->result();
      }
    }
    return place;
  }

  // Whether one of several indexes, or what is made on the way, is used for more than the place.
  bool UsesOtherwise(const Binding& nest, const Split& split) const {
    const Block& body = *nest.blocks[0];
    const std::vector<const Binding*>& links = split.links;
    if (links.empty()) return false;
    ir::VarSet indexes(body.params.begin() + split.first, body.params.begin() + split.last + 1);
    for (size_t k = 0; k + 1 < links.size(); ++k) indexes.insert(links[k]->result());
    const auto is_index = [&](const Var* used) { return indexes.contains(used); };
    for (const Operand& result : body.results) {
      if (result.IsVar() && is_index(result.var())) return true;
    }
    return std::any_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
      if (std::find(links.begin(), links.end(), b) != links.end()) return false;
      if (IsOfAll(nest, split) && IsWhole(nest, *b)) return false;
      bool uses = false;
      ir::ForEachUse(*b, [&](const Var* used) { uses |= is_index(used); });
      return uses;
    });
  }

  static bool IsOfAll(const Binding& nest, const Split& split) {
    return !split.links.empty() && split.last - split.first + 1 == nest.operands.size();
  }

  // Whether the binding loads the element at the nest's index of an array of its extents, but for
  // the first, which the element's place does not depend on.
  bool IsWhole(const Binding& nest, const Binding& b) const {
    if (b.op != OpCode::kLoad || !patterns_.LiesInC(b.operands[0].var())) return false;
    const std::vector<Operand>& dims = b.operands[0].var()->type.dims();
    const std::vector<const Var*>& params = nest.blocks[0]->params;
    return dims.size() == params.size() &&
           std::equal(
               dims.begin() + 1, dims.end(), nest.operands.begin() + 1,
               [&](const Operand& a, const Operand& b) { return factors_.AreEqual(a, b); }) &&
           std::equal(params.begin(), params.end(), b.operands.begin() + 1,
                      [](const Var* param, const Operand& at) { return at == Operand(param); });
  }

  static bool Divides(const Binding& b, const Operand& value) {
    return (b.op == OpCode::kFloorDiv || b.op == OpCode::kMod) && b.operands[0] == value;
  }

  static std::optional<Operand> DivisorOf(const Block& body, const Operand& value) {
    const ir::VarSet inside = ir::DefinedVars(body);
    for (const Binding* b : body.bindings) {
      if (Divides(*b, value) && !inside.contains(b->operands[1].var())) return b->operands[1];
    }
    return std::nullopt;
  }

  static std::optional<Operand> QuotientOf(const Block& body, const Operand& value,
                                           const Operand& divisor) {
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kFloorDiv && Divides(*b, value) && b->operands[1] == divisor)
        return Operand(b->result());
    }
    return std::nullopt;
  }

  SizeFactors factors_;
  AccessPatterns patterns_;
};

// Before:
//   imap (%i, %j) in (%m, %n) { %k = mul %i, %n  %p = add %k, %j
//     %q = mod %p, %b  %r = floordiv %p, %b  %s = mod %r, %a  %t = floordiv %r, %a ... }
// After, where %n is %a * %b and an index is used by itself too:
//   imap (%i, %j) in (%m, %n) { %q = mod %j, %b  %s = floordiv %j, %b ... } with %i for %t
class AxesApart : public IndexReader {
 public:
  AxesApart(ir::Arena* arena, const ir::Function& function) : IndexReader(arena, function) {}

 protected:
  void Visit(const Binding* b) override {
    const SizeFactors::Known known = factors_.known();
    if (IsNest(*b)) TakeApart(*b);
    if (const auto found = stand_.find(b); found != stand_.end()) {
      Replace(b->result(), found->second);
    } else if (const auto moved = divided_.find(b); moved != divided_.end()) {
      Binding of_axis = *b;
      of_axis.operands = {Apply(moved->second), Apply(b->operands[1])};
      builder().Append(arena()->New(std::move(of_axis)));
    } else {
      Mutator::Visit(b);
    }
    factors_.Forget(known);
    factors_.Learn(*b);
  }

 private:
  void TakeApart(const Binding& nest) {
    const size_t rank = nest.blocks[0]->params.size();
    for (size_t size = rank; size > 1; --size) {
      for (size_t first = 0; first + size <= rank; ++first) {
        if (TakeApart(nest, first, first + size - 1)) return;
      }
    }
  }

  bool TakeApart(const Binding& nest, size_t first, size_t last) {
    const Block& body = *nest.blocks[0];
    Split split = {first, last, {}, {}, {}, {}};
    const auto place = PlaceOf(nest, first, last, &split.links);
    std::vector<const Binding*> ahead;
    const auto before = PlaceOf(nest, first, last - 1, &ahead);
    if (!place || !before || !UsesOtherwise(nest, split)) return false;
    Operands rest = factors_.Of(nest.operands[last]);
    for (Operand value = *place;;) {
      const auto divisor = DivisorOf(body, value);
      const auto without = divisor ? factors_.Without(rest, *divisor) : std::nullopt;
      if (!without || !factors_.IsSize(*divisor)) return false;
      rest = *without;
      if (rest.empty()) {
        Move(body, *place, value, *divisor, *before, body.params[last]);
        return true;
      }
      const auto quotient = QuotientOf(body, value, *divisor);
      if (!quotient || !IsOnlyDivided(body, *quotient)) return false;
      value = *quotient;
    }
  }

  // Whether a quotient, which is another one of the last axis alone, is divided by one divisor and
  // used for nothing else.
  static bool IsOnlyDivided(const Block& body, const Operand& quotient) {
    const auto divisor = DivisorOf(body, quotient);
    const auto is_quotient = [&](const Operand& result) { return result == quotient; };
    if (!divisor || std::any_of(body.results.begin(), body.results.end(), is_quotient))
      return false;
    return std::all_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
      bool uses = false;
      ir::ForEachUse(*b, [&](const Var* used) { uses |= quotient == Operand(used); });
      return !uses || (Divides(*b, quotient) && b->operands[1] == *divisor);
    });
  }

  // The place is divided on the last axis alone; behind `value`, which is less than the last
  // divisor then, comes the place on the axes before.
  void Move(const Block& body, const Operand& place, const Operand& value, const Operand& divisor,
            const Operand& before, const Operand& index) {
    for (const Binding* b : body.bindings) {
      if (Divides(*b, value) && b->operands[1] == divisor) {
        const bool is_quotient = b->op == OpCode::kFloorDiv;
        stand_[b] = is_quotient ? before : value == place ? index : value;
      } else if (Divides(*b, place) && b->operands[1] == DivisorOf(body, place)) {
        divided_[b] = index;
      }
    }
  }

  std::unordered_map<const Binding*, Operand> stand_;    // for what a binding makes
  std::unordered_map<const Binding*, Operand> divided_;  // in place of the place
};

class IndexSplitter : public IndexReader {
 public:
  IndexSplitter(ir::Arena* arena, const ir::Function& function) : IndexReader(arena, function) {}

 protected:
  void Visit(const Binding* b) override {
    const SizeFactors::Known known = factors_.known();
    const auto split = FindSplit(*b);
    split ? Write(*b, *split) : Mutator::Visit(b);
    factors_.Forget(known);
    factors_.Learn(*b);
  }

 private:
  // --- What is taken apart ---

  std::optional<Split> FindSplit(const Binding& nest) const {
    if (!IsNest(nest) || nest.attrs.Int(Attr::kFortran) != 0) return std::nullopt;
    const Block& body = *nest.blocks[0];
    for (const Operand& result : body.results) {
      if (ir::TypeOf(result).IsArray()) return std::nullopt;
    }
    for (size_t size = body.params.size(); size > 0; --size) {
      // The last first: what divides an index further out is done once a row.
      for (size_t first = body.params.size() - size + 1; first-- > 0;) {
        if (auto split = FindSplit(nest, first, first + size - 1)) return split;
      }
    }
    return std::nullopt;
  }

  std::optional<Split> FindSplit(const Binding& nest, size_t first, size_t last) const {
    const Block& body = *nest.blocks[0];
    Split split = {first, last, {}, {}, {}, {}};
    const auto place = PlaceOf(nest, first, last, &split.links);
    if (!place || UsesOtherwise(nest, split)) return std::nullopt;
    split.place = *place;
    Operands product;
    for (size_t k = first; k <= last; ++k) {
      for (const Operand& factor : factors_.Of(nest.operands[k])) product.push_back(factor);
    }
    Operand quotient = split.place;
    size_t before_short = body.bindings.size();
    Operands rest_before_short;
    while (const auto divisor = DivisorOf(body, quotient)) {
      const auto rest = factors_.Without(product, *divisor);
      if (!rest) break;
      if (IsShort(*divisor) && before_short > split.divisors.size()) {
        before_short = split.divisors.size();
        rest_before_short = product;
      }
      product = *rest;
      split.divisors.push_back(*divisor);
      const auto next = QuotientOf(body, quotient, *divisor);
      if (!next) break;
      quotient = *next;
    }
    const bool are_short = std::all_of(split.divisors.begin(), split.divisors.end(), IsShort);
    if (before_short < split.divisors.size() && (are_short || !HasManyLevels(split))) {
      split.divisors.resize(before_short);
      product = rest_before_short;
    }
    split.rest = product;
    return split.divisors.empty() ? std::nullopt : std::optional(split);
  }

  static bool IsShort(const Operand& divisor) {
    return divisor.IsConstant() && divisor.constant().integer < kFewestOfLoop;
  }

  static bool HasManyLevels(const Split& split) { return split.divisors.size() >= kManyLevels; }

  // --- The nest ---

  Operand Product(const Operands& factors) {
    Operand product = Operand::Int(1);
    for (const Operand& factor : factors) product = builder().Mul(product, Apply(factor));
    return product;
  }

  void Write(const Binding& nest, const Split& split) {
    const Operands all = Apply(nest.operands);
    Operands extents(all.begin(), all.begin() + split.first);
    if (!split.rest.empty()) extents.push_back(Product(split.rest));
    for (size_t level = split.divisors.size(); level-- > 0;)
      extents.push_back(Apply(split.divisors[level]));
    extents.insert(extents.end(), all.begin() + split.last + 1, all.end());
    std::vector<const Var*> made;
    for (const Var* result : nest.results) {
      const ir::Type type = Apply(result->type);
      made.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, result->hint));
    }
    const auto write = [&](const std::function<void()>& writer) {
      ir::Builder around = std::exchange(builder(), builder().Nested());
      writer();
      const Block* block = builder().Finish({}, {});
      builder() = std::move(around);
      return block;
    };
    const Operand is_long = IsWorth(split, extents, split.last + 1 == all.size());
    if (is_long.IsConstant()) {
      WriteSplit(nest, split, extents, made);
    } else {
      // The loop as it is comes first: values of its body stand for others behind that.
      const Block* otherwise = write([&] { WriteWhole(nest, made); });
      const Block* then = write([&] { WriteSplit(nest, split, extents, made); });
      builder().Emit(OpCode::kIf, {}, {is_long}, {}, {then, otherwise});
    }
    for (size_t k = 0; k < made.size(); ++k) Replace(nest.results[k], made[k]);
  }

  // Whether the innermost loop is long enough, and no factor negative of which that is not known.
  Operand IsWorth(const Split& split, const Operands& extents, bool is_innermost) {
    const int64_t fewest = HasManyLevels(split) ? kFewestOfDeepLoop : kFewestOfLoop;
    Operand worth = Operand::Bool(true);
    const auto require = [&](const Operand& size, int64_t least) {
      const Operand is_so = builder().Scalar(OpCode::kGe, {size, Operand::Int(least)});
      worth = builder().Scalar(OpCode::kAnd, {worth, is_so});
    };
    if (is_innermost) require(extents.back(), fewest);
    for (const Operands* sizes : {&split.divisors, &split.rest}) {
      for (const Operand& size : *sizes) {
        if (!factors_.IsSize(size)) require(Apply(size), 0);
      }
    }
    return worth;
  }

  void WriteWhole(const Binding& nest, const std::vector<const Var*>& made) {
    const Block* body = ir::CloneBlock(arena(), *nest.blocks[0]);
    ir::Builder around = std::exchange(builder(), builder().Nested());
    for (const Binding* b : body->bindings) Visit(b);
    StoreAll(made, {body->params.begin(), body->params.end()}, Apply(body->results));
    const Block* stores = builder().Finish(body->params, {});
    builder() = std::move(around);
    builder().Emit(OpCode::kForeach, {}, Apply(nest.operands), nest.attrs, {stores});
  }

  void WriteSplit(const Binding& nest, const Split& split, const Operands& extents,
                  const std::vector<const Var*>& made) {
    const std::vector<std::pair<const Binding*, const Var*>> lines = Lines(nest, split);
    std::vector<const Var*> views;
    for (const Var* array : made) {
      Operands operands = {array, Operand::Int(0)};
      for (size_t axis = 0; axis < extents.size(); ++axis) {
        Operand stride = Operand::Int(1);
        for (size_t k = axis + 1; k < extents.size(); ++k)
          stride = builder().Mul(stride, extents[k]);
        operands.push_back(stride);
      }
      views.push_back(builder().EmitOne(OpCode::kView,
                                        ir::Type::Array(array->type.dtype(), extents), operands,
                                        {{Attr::kFlat, int64_t{1}}}, {}, array->hint));
    }
    const Block* body = Body(nest, split, extents.size(), lines, views);
    builder().Emit(OpCode::kForeach, {}, extents, nest.attrs, {body});
  }

  void StoreAll(const std::vector<const Var*>& arrays, const Operands& index,
                const Operands& values) {
    for (size_t k = 0; k < arrays.size(); ++k) builder().Store(arrays[k], index, values[k]);
  }

  // What is loaded at the very index, as arrays of one axis.
  std::vector<std::pair<const Binding*, const Var*>> Lines(const Binding& nest,
                                                           const Split& split) {
    std::vector<std::pair<const Binding*, const Var*>> lines;
    if (!IsOfAll(nest, split)) return lines;
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (!IsWhole(nest, *b)) continue;
      const Operand array = Apply(b->operands[0]);
      const ir::Type type = ir::Type::Array(ir::DTypeOf(array), {Product(nest.operands)});
      lines.emplace_back(
          b, builder().EmitOne(OpCode::kView, type, {array, Operand::Int(0), Operand::Int(1)},
                               {{Attr::kFlat, int64_t{1}}}, {}, "line"));
    }
    return lines;
  }

  const Block* Body(const Binding& nest, const Split& split, size_t rank,
                    const std::vector<std::pair<const Binding*, const Var*>>& lines,
                    const std::vector<const Var*>& views) {
    std::vector<const Var*> indexes;
    for (size_t k = 0; k < rank; ++k) indexes.push_back(builder().NewVar(ir::DType::kI64, "i"));
    ir::Builder around = std::exchange(builder(), builder().Nested());
    const std::vector<const Var*>& params = nest.blocks[0]->params;
    for (size_t k = 0; k < split.first; ++k) Replace(params[k], indexes[k]);
    for (size_t k = split.last + 1; k < params.size(); ++k)
      Replace(params[k], indexes[rank - params.size() + k]);
    // From the outermost in: what each quotient is, last of all the place.
    const size_t levels = split.divisors.size();
    const size_t innermost = split.first + levels - (split.rest.empty() ? 1 : 0);
    Operands quotients(levels + 1);
    quotients[levels] = split.rest.empty() ? Operand::Int(0) : Operand(indexes[split.first]);
    for (size_t level = levels; level-- > 0;) {
      const Operand above = builder().Mul(quotients[level + 1], Apply(split.divisors[level]));
      quotients[level] = builder().Add(above, indexes[innermost - level]);
    }
    Block element = *nest.blocks[0];
    const auto stands_for = [&](const Binding* b, const Operand& value) {
      std::erase(element.bindings, b);
      Replace(b->result(), value);
    };
    Operand value = split.place;
    Replace(value.var(), quotients[0]);
    for (const auto& [load, line] : lines)
      stands_for(load, builder().Load(line, {quotients[0]}, load->result()->hint));
    for (size_t level = 0; level < levels; ++level) {
      std::optional<Operand> next;
      for (const Binding* b : nest.blocks[0]->bindings) {
        if (!Divides(*b, value) || b->operands[1] != split.divisors[level]) continue;
        const bool is_quotient = b->op == OpCode::kFloorDiv;
        if (is_quotient) next = b->result();
        stands_for(b, is_quotient ? quotients[level + 1] : Operand(indexes[innermost - level]));
      }
      if (!next) break;
      value = *next;
    }
    for (const Binding* link : split.links) std::erase(element.bindings, link);
    for (const Binding* b : element.bindings) Visit(b);
    StoreAll(views, {indexes.begin(), indexes.end()}, Apply(element.results));
    const Block* body = builder().Finish(indexes, {});
    builder() = std::move(around);
    return body;
  }
};

}  // namespace

ir::Program SplitIndexes(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* apart = AxesApart(program.arena.get(), *function).Run(function);
    return IndexSplitter(program.arena.get(), *apart).Run(apart);
  });
}

}  // namespace parakeet::passes
