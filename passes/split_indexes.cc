// Goes by several indexes where one is taken apart: divisions of each iteration become loops.
//
// Before:
//   %k = mul %m, %n
//   %y: [k]f64 = imap (%i) in (%k) { %p = floordiv %i, %n  %q = mod %i, %n  %a = load %x[%q, %p]
//   yield %a }
// After:
//   %z: [m][n]f64 = imap (%p, %q) in (%m, %n) { %a = load %x[%q, %p]  yield %a }
//   %y: [k]f64 = view %z offset (0) strides ((1)) {flat = 1}
// The same where several indexes are first put together: a transposed array is given another shape.
//
// Assumes: index form, behind flatten_loads, which needs no index taken apart for what lies in C
// order. Iterations keep their order.
// Refuses: a divisor that is no factor of the extents, or may be negative; several indexes of which
// something else is made than the place that they stand for; results in Fortran order.
#include <algorithm>
#include <optional>
#include <utility>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
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

// What sizes are products of, and what checks say of them.
class SizeFactors {
 public:
  explicit SizeFactors(const ir::Function& function)
      : definitions_(ir::Definitions(*function.body)) {
    for (const ir::Param& param : function.params) {
      for (const Operand& dim : param.var->type.dims()) sizes_.insert(dim.var());
    }
  }

  const Binding* DefinitionOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  Operands Of(const Operand& product) const {
    const Binding* b = DefinitionOf(product);
    if (b == nullptr || b->op != OpCode::kMul) return {product};
    Operands factors = Of(b->operands[0]);
    for (const Operand& factor : Of(b->operands[1])) factors.push_back(factor);
    return factors;
  }

  // What a check says holds from here on, until it is forgotten.
  struct Known {
    size_t equal;
    size_t sizes;
  };
  Known known() const { return {equal_.size(), checked_.size()}; }
  void Forget(const Known& known) {
    equal_.resize(known.equal);
    checked_.resize(known.sizes);
  }
  void Learn(const Binding& check) {
    const Binding* b = DefinitionOf(check.operands[0]);
    if (b == nullptr || b->operands.size() != 2) return;
    if (ir::DTypeOf(b->operands[0]) != ir::DType::kI64) return;
    if (b->op == OpCode::kLe && b->operands[0].IsInt(0)) checked_.push_back(b->operands[1]);
    if (b->op != OpCode::kEq) return;
    const Operands a = Of(b->operands[0]), other = Of(b->operands[1]);
    equal_.emplace_back(a, other);
    equal_.emplace_back(other, a);
  }

  bool AreEqual(const Operand& a, const Operand& b) const {
    return a == b || std::find(equal_.begin(), equal_.end(), std::pair(Operands{a}, Operands{b})) !=
                         equal_.end();
  }

  // The factors of a product without `part`'s, as they are or as a check says; nothing where it is
  // no factor.
  std::optional<Operands> Without(const Operands& product, const Operand& part) const {
    if (auto rest = Remove(product, Of(part))) return rest;
    for (const auto& [side, other] : equal_) {
      auto same = Remove(product, side);
      if (!same) continue;
      same->insert(same->end(), other.begin(), other.end());
      if (auto rest = Remove(*same, Of(part))) return rest;
    }
    return std::nullopt;
  }

  // True of what is surely not negative: sizes, and what is made of them.
  bool IsSize(const Operand& operand) const {
    if (operand.IsConstant()) return operand.constant().integer >= 0;
    if (sizes_.contains(operand.var())) return true;
    if (std::find(checked_.begin(), checked_.end(), operand) != checked_.end()) return true;
    const Binding* b = DefinitionOf(operand);
    if (b == nullptr) return false;
    const auto is_size = [&](size_t k) { return IsSize(b->operands[k]); };
    switch (b->op) {
      case OpCode::kMul:
      case OpCode::kAdd:
      case OpCode::kMin:
      case OpCode::kMod:
      case OpCode::kFloorDiv: return is_size(0) && is_size(1);
      case OpCode::kMax: return is_size(0) || is_size(1);
      case OpCode::kSelect: return is_size(1) && (is_size(2) || IsNegative(b->operands));
      default: return false;
    }
  }

 private:
  // Whether `select %c, %a, %b` takes %a where %b is negative.
  bool IsNegative(const Operands& select) const {
    const Binding* b = DefinitionOf(select[0]);
    return b != nullptr && b->op == OpCode::kLt && b->operands[0] == select[2] &&
           b->operands[1].IsInt(0);
  }

  static std::optional<Operands> Remove(Operands product, const Operands& part) {
    for (const Operand& factor : part) {
      const auto found = std::find(product.begin(), product.end(), factor);
      if (found == product.end()) return std::nullopt;
      product.erase(found);
    }
    return product;
  }

  std::unordered_map<const Var*, const Binding*> definitions_;
  ir::VarSet sizes_;
  std::vector<std::pair<Operands, Operands>> equal_;
  Operands checked_;  // not to be negative
};

// How the place of an iteration, in the order of all, is taken apart.
struct Split {
  Operand place;
  std::vector<const Binding*> links;  // what makes the place of several indexes, itself last
  Operands divisors;                  // of the place, then of each quotient
  Operands rest;                      // factors of the extents that no divisor has
};

class IndexSplitter : public ir::Mutator {
 public:
  IndexSplitter(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), factors_(function) {
    for (const ir::Param& param : function.params) {
      if (param.layout == ir::Layout::kC) in_c_order_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      const bool makes =
          b.op == OpCode::kAlloc || ir::InfoOf(b.op).format == ir::OpFormat::kIndices;
      if (makes && b.attrs.Int(Attr::kFortran) == 0)
        in_c_order_.insert(b.results.begin(), b.results.end());
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const SizeFactors::Known known = factors_.known();
    const auto split = FindSplit(*b);
    split ? Write(*b, *split) : Mutator::Visit(b);
    factors_.Forget(known);
    if (b->op == OpCode::kCheck) factors_.Learn(*b);
  }

 private:
  // --- What is taken apart ---

  std::optional<Split> FindSplit(const Binding& nest) const {
    const bool is_nest = nest.op == OpCode::kImap || nest.op == OpCode::kForeach;
    if (!is_nest || nest.attrs.Int(Attr::kFortran) != 0) return std::nullopt;
    const Block& body = *nest.blocks[0];
    for (const Operand& result : body.results) {
      if (ir::TypeOf(result).IsArray()) return std::nullopt;
    }
    Split split;
    const auto place = PlaceOf(nest, &split.links);
    if (!place || UsesOtherwise(nest, split.links)) return std::nullopt;
    split.place = *place;
    Operands product;
    for (const Operand& extent : nest.operands) {
      for (const Operand& factor : factors_.Of(extent)) product.push_back(factor);
    }
    Operand quotient = split.place;
    while (const auto divisor = DivisorOf(body, quotient)) {
      const auto rest = factors_.Without(product, *divisor);
      if (!rest || !factors_.IsSize(*divisor)) break;
      product = *rest;
      split.divisors.push_back(*divisor);
      const auto next = QuotientOf(body, quotient, *divisor);
      if (!next) break;
      quotient = *next;
    }
    split.rest = product;
    const bool are_sizes = std::all_of(product.begin(), product.end(),
                                       [&](const Operand& size) { return factors_.IsSize(size); });
    if (split.divisors.empty() || !are_sizes) return std::nullopt;
    return split;
  }

  // The place that the indexes stand for, and what it is made by.
  static std::optional<Operand> PlaceOf(const Binding& nest, std::vector<const Binding*>* links) {
    const Block& body = *nest.blocks[0];
    if (body.params.empty()) return std::nullopt;
    Operand place = body.params[0];
    for (size_t k = 1; k < body.params.size(); ++k) {
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
  bool UsesOtherwise(const Binding& nest, const std::vector<const Binding*>& links) const {
    const Block& body = *nest.blocks[0];
    if (body.params.size() == 1) return false;
    ir::VarSet indexes(body.params.begin(), body.params.end());
    for (size_t k = 0; k + 1 < links.size(); ++k) indexes.insert(links[k]->result());
    const auto is_index = [&](const Var* used) { return indexes.contains(used); };
    for (const Operand& result : body.results) {
      if (result.IsVar() && is_index(result.var())) return true;
    }
    return std::any_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
      if (std::find(links.begin(), links.end(), b) != links.end() || IsWhole(nest, *b))
        return false;
      bool uses = false;
      ir::ForEachUse(*b, [&](const Var* used) { uses |= is_index(used); });
      return uses;
    });
  }

  // Whether the binding loads the element at the nest's index of an array of its extents, but for
  // the first, which the element's place does not depend on.
  bool IsWhole(const Binding& nest, const Binding& b) const {
    if (b.op != OpCode::kLoad || !in_c_order_.contains(b.operands[0].var())) return false;
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

  // --- The nest ---

  Operand Product(const Operands& factors) {
    Operand product = Operand::Int(1);
    for (const Operand& factor : factors) product = builder().Mul(product, Apply(factor));
    return product;
  }

  void Write(const Binding& nest, const Split& split) {
    Operands extents;
    if (!split.rest.empty()) extents.push_back(Product(split.rest));
    for (size_t level = split.divisors.size(); level-- > 0;)
      extents.push_back(Apply(split.divisors[level]));
    const std::vector<std::pair<const Binding*, const Var*>> lines = Lines(nest);
    std::vector<const Var*> results;
    for (const Var* result : nest.results) {
      const ir::Type type = ir::Type::Array(result->type.dtype(), extents);
      results.push_back(builder().NewVar(type, result->hint));
    }
    const Block* body = Body(nest, split, extents.size(), lines);
    builder().Emit(nest.op, results, extents, nest.attrs, {body});
    for (size_t k = 0; k < results.size(); ++k) ViewAs(nest.results[k], results[k]);
  }

  // The array by the name that it had, of the shape that it had.
  void ViewAs(const Var* result, const Var* array) {
    const std::vector<Operand>& dims = result->type.dims();
    Operands operands = {array, Operand::Int(0)};
    for (size_t axis = 0; axis < dims.size(); ++axis)
      operands.push_back(Product({dims.begin() + axis + 1, dims.end()}));
    const Var* view = builder().EmitOne(OpCode::kView, Apply(result->type), operands,
                                        {{Attr::kFlat, int64_t{1}}}, {}, result->hint);
    Replace(result, view);
  }

  // What is loaded at the very index, as arrays of one axis.
  std::vector<std::pair<const Binding*, const Var*>> Lines(const Binding& nest) {
    std::vector<std::pair<const Binding*, const Var*>> lines;
    if (nest.operands.size() < 2) return lines;
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
                    const std::vector<std::pair<const Binding*, const Var*>>& lines) {
    std::vector<const Var*> indexes;
    for (size_t k = 0; k < rank; ++k) indexes.push_back(builder().NewVar(ir::DType::kI64, "i"));
    ir::Builder around = std::exchange(builder(), builder().Nested());
    // From the outermost in: what each quotient is, last of all the place.
    const size_t levels = split.divisors.size();
    Operands quotients(levels + 1);
    quotients[levels] = rank > levels ? Operand(indexes[0]) : Operand::Int(0);
    for (size_t level = levels; level-- > 0;) {
      const Operand above = builder().Mul(quotients[level + 1], Apply(split.divisors[level]));
      quotients[level] = builder().Add(above, indexes[rank - 1 - level]);
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
        stands_for(b, is_quotient ? quotients[level + 1] : Operand(indexes[rank - 1 - level]));
      }
      if (!next) break;
      value = *next;
    }
    for (const Binding* link : split.links) std::erase(element.bindings, link);
    for (const Binding* b : element.bindings) Visit(b);
    const Operands yields = Apply(element.results);
    const Block* body = builder().Finish(indexes, yields);
    builder() = std::move(around);
    return body;
  }

  SizeFactors factors_;
  ir::VarSet in_c_order_;
};

}  // namespace

ir::Program SplitIndexes(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return IndexSplitter(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
