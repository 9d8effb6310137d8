#include "passes/lowering/loop_reductions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_cost.h"
#include "passes/lowering/guarded_comparisons.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// What stands around an inner reduction runs again for each of its elements once the two are one.
constexpr int kCheapBesideLoop = 16;

std::string Carried(const Var* value) {
  return NameOf(value) + " is carried from one iteration to the next";
}

std::string ReadWhileSummed(const Var* value) {
  return NameOf(value) + " is read while it is summed";
}

// Writes a loop's block without what it carries through chains.
class ChainWriter {
 public:
  // A carried value on its way through an iteration: what has been combined with it so far, none at
  // first, and the name under which the iteration, of a loop inside too, has it.
  struct Chain {
    size_t carried;
    const Var* from;
    std::optional<Operand> element;
  };

  ChainWriter(std::vector<const Var*> carried, std::vector<bool> is_chain)
      : carried_(std::move(carried)), ops_(carried_.size()) {
    for (size_t k = 0; k < carried_.size(); ++k) {
      if (is_chain[k]) chains_[carried_[k]] = {k, carried_[k], std::nullopt};
    }
  }

  const std::string& why_not() const { return why_not_; }

  void Write(Builder& builder, const Block& block) {
    for (const Binding* b : block.bindings) {
      if (!why_not_.empty()) return;
      builder.set_span(b->span);
      Write(builder, *b);
    }
  }

  // What iterations combine the carried value `k` with, and how.
  std::optional<Operand> ElementOf(size_t k, const Operand& yielded) {
    const std::optional<Chain> chain = ChainOf(yielded);
    if (!chain || chain->from != carried_[k]) return std::nullopt;
    return chain->element ? chain->element : IdentityFor(k);
  }
  OpCode OpOf(size_t k) const { return *ops_[k]; }

 private:
  void Refuse(const std::string& reason) {
    if (why_not_.empty()) why_not_ = reason;
  }

  std::optional<Chain> ChainOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? chains_.find(operand.var()) : chains_.end();
    return found == chains_.end() ? std::nullopt : std::optional(found->second);
  }

  // The carried value that the binding reads, itself or on its way; null for none.
  const Var* ReadBy(const Binding& b) const {
    for (const Var* carried : carried_) {
      const auto is_of = [&](const Var* read) {
        const auto chain = chains_.find(read);
        return chain != chains_.end() && carried_[chain->second.carried] == carried;
      };
      const VarSet read = ir::FreeVars(b);
      if (std::any_of(read.begin(), read.end(), is_of)) return carried;
    }
    return nullptr;
  }

  void Write(Builder& builder, const Binding& b) {
    const Var* read = ReadBy(b);
    if (read == nullptr) return builder.Append(&b);
    switch (b.op) {
      case OpCode::kSelect: return WriteSelect(builder, b);
      case OpCode::kIf: return WriteIf(builder, b);
      case OpCode::kIreduce: return WriteReduction(builder, b);
      case OpCode::kFor:
      case OpCode::kWhile: return WriteLoop(builder, b);
      default: break;
    }
    if (!ir::IsScalarOp(b.op) || b.operands.size() != 2) return Refuse(ReadWhileSummed(read));
    WriteStep(builder, b);
  }

  // True when the carried value goes through `op` alone, this time too.
  bool Takes(size_t k, OpCode op) {
    if (!ir::IsAssociative(op)) return false;
    if (!ops_[k]) ops_[k] = op;
    return ops_[k] == op;
  }

  // What leaves the carried value as it is; 1 * x is not x for every complex x.
  std::optional<Operand> IdentityFor(size_t k) const {
    const ir::DType dtype = carried_[k]->type.dtype();
    if (!ops_[k] || (ir::IsComplex(dtype) && ops_[k] != OpCode::kAdd)) return std::nullopt;
    const auto identity = ir::IdentityOf(*ops_[k], dtype);
    return identity ? std::optional<Operand>(*identity) : std::nullopt;
  }

  void WriteStep(Builder& builder, const Binding& b) {
    const std::optional<Chain> left = ChainOf(b.operands[0]);
    const std::optional<Chain> right = ChainOf(b.operands[1]);
    if (left && right) {
      const bool same = left->carried == right->carried;
      return Refuse(same ? NameOf(carried_[left->carried]) + " is summed with itself"
                         : ReadWhileSummed(carried_[right->carried]));
    }
    const Chain chain = left ? *left : *right;
    const bool takes_away = left && b.op == OpCode::kSub;
    const OpCode op = takes_away ? OpCode::kAdd : b.op;
    if ((right && !ir::IsCommutative(op)) || !Takes(chain.carried, op))
      return Refuse(Carried(carried_[chain.carried]));
    Operand element = b.operands[left ? 1 : 0];
    if (takes_away) element = builder.Scalar(OpCode::kNeg, {element});
    Put(builder, b.result(), chain, element);
  }

  void Put(Builder& builder, const Var* result, const Chain& chain, const Operand& more) {
    const Operand element =
        chain.element ? builder.Scalar(*ops_[chain.carried], {*chain.element, more}) : more;
    chains_[result] = {chain.carried, chain.from, element};
  }

  Operand OrIdentity(const Chain& chain) const {
    return chain.element ? *chain.element : *IdentityFor(chain.carried);
  }

  // The chain that a value is on both ways; null where it is none on either, with a reason where it
  // is on one.
  std::optional<Chain> Joined(const Operand& a, const Operand& b) {
    const std::optional<Chain> left = ChainOf(a);
    const std::optional<Chain> right = ChainOf(b);
    if (!left && !right) return std::nullopt;
    const bool joins = left && right && left->from == right->from;
    if (joins && ((left->element && right->element) || IdentityFor(left->carried))) return left;
    Refuse(Carried(carried_[left ? left->carried : right->carried]));
    return std::nullopt;
  }

  void WriteSelect(Builder& builder, const Binding& b) {
    if (const auto chain = ChainOf(b.operands[0])) return Refuse(Carried(carried_[chain->carried]));
    const std::optional<Chain> chain = Joined(b.operands[1], b.operands[2]);
    if (!chain) return;
    const Operand element = builder.Scalar(
        OpCode::kSelect,
        {b.operands[0], OrIdentity(*ChainOf(b.operands[1])), OrIdentity(*ChainOf(b.operands[2]))});
    chains_[b.result()] = {chain->carried, chain->from, element};
  }

  void WriteIf(Builder& builder, const Binding& b) {
    if (const auto chain = ChainOf(b.operands[0])) return Refuse(Carried(carried_[chain->carried]));
    Builder sides[2] = {builder.Nested(), builder.Nested()};
    for (int side = 0; side < 2; ++side) Write(sides[side], *b.blocks[side]);
    std::vector<Operand> yielded[2] = {b.blocks[0]->results, b.blocks[1]->results};
    Binding copy = b;
    for (size_t r = 0; r < b.results.size() && why_not_.empty(); ++r) {
      const std::optional<Chain> chain = Joined(yielded[0][r], yielded[1][r]);
      if (!chain) continue;
      for (std::vector<Operand>& results : yielded) results[r] = OrIdentity(*ChainOf(results[r]));
      copy.results[r] = builder.NewVar(b.results[r]->type, b.results[r]->hint);
      chains_[b.results[r]] = {chain->carried, chain->from, Operand(copy.results[r])};
    }
    if (!why_not_.empty()) return;
    for (int side = 0; side < 2; ++side)
      copy.blocks[side] = sides[side].Finish({}, std::move(yielded[side]));
    builder.Append(builder.arena()->New(std::move(copy)));
  }

  // One that starts from carried values, by their own operations, starts from nothing.
  void WriteReduction(Builder& builder, const Binding& b) {
    const size_t first_init = b.blocks[0]->params.size();
    Binding copy = b;
    std::vector<std::pair<const Var*, Chain>> found;
    for (size_t r = 0; r < b.results.size() && first_init + r < b.operands.size(); ++r) {
      const std::optional<Chain> chain = ChainOf(b.operands[first_init + r]);
      if (!chain) continue;
      const auto op = ir::CombineOp(*b.blocks[1], static_cast<int>(r));
      if (!op || !Takes(chain->carried, *op) || !IdentityFor(chain->carried))
        return Refuse(Carried(carried_[chain->carried]));
      copy.operands[first_init + r] = *IdentityFor(chain->carried);
      copy.results[r] = builder.NewVar(b.results[r]->type, b.results[r]->hint);
      found.emplace_back(b.results[r], *chain);
    }
    if (const Var* read = ReadBy(copy)) return Refuse(ReadWhileSummed(read));
    builder.Append(builder.arena()->New(copy));
    for (const auto& [result, chain] : found) {
      const size_t r = std::find(b.results.begin(), b.results.end(), result) - b.results.begin();
      Put(builder, result, chain, copy.results[r]);
    }
  }

  // A loop that a carried value goes through combines from nothing what it adds to it.
  void WriteLoop(Builder& builder, const Binding& b) {
    const size_t init = FirstInit(b), first = FirstCarried(b);
    std::vector<std::pair<size_t, Chain>> found;
    for (size_t r = 0; r < b.results.size(); ++r) {
      const std::optional<Chain> chain = ChainOf(b.operands[init + r]);
      if (!chain) continue;
      found.emplace_back(r, *chain);
      for (const Block* block : b.blocks) {
        const Var* param = block->params[first + r];
        chains_[param] = {chain->carried, param, std::nullopt};
      }
    }
    Binding copy = b;
    copy.blocks.clear();
    for (const Block* block : b.blocks) {
      Builder inner = builder.Nested();
      Write(inner, *block);
      std::vector<const Var*> params = block->params;
      std::vector<Operand> results = block->results;
      for (const auto& [r, chain] : found) {
        const size_t k = chain.carried;
        const Var* param = params[first + r];
        const Var* so_far = inner.NewVar(param->type, param->hint);
        params[first + r] = so_far;
        if (block != b.blocks.back()) continue;
        const std::optional<Chain> next = ChainOf(results[r]);
        if (!next || next->from != param || !IdentityFor(k)) return Refuse(Carried(carried_[k]));
        results[r] = so_far;
        if (next->element) results[r] = inner.Scalar(*ops_[k], {Operand(so_far), *next->element});
        copy.operands[init + r] = *IdentityFor(k);
      }
      for (const Operand& result : results) {
        if (const auto chain = ChainOf(result)) Refuse(ReadWhileSummed(carried_[chain->carried]));
      }
      if (!why_not_.empty()) return;
      copy.blocks.push_back(inner.Finish(std::move(params), std::move(results)));
    }
    for (const auto& [r, chain] : found)
      copy.results[r] = builder.NewVar(b.results[r]->type, b.results[r]->hint);
    builder.Append(builder.arena()->New(copy));
    for (const auto& [r, chain] : found) Put(builder, b.results[r], chain, copy.results[r]);
  }

  std::vector<const Var*> carried_;
  std::vector<std::optional<OpCode>> ops_;
  std::unordered_map<const Var*, Chain> chains_;
  std::string why_not_;
};

// A carried value that is replaced where another compares greater or less, and those replaced with
// it.
struct Extreme {
  const Binding* comparison;
  OpCode op;  // as in `value op carried`
  size_t carried;
  Operand value;
  std::vector<std::pair<size_t, Operand>> followers;
  std::vector<const Binding*> choices;

  bool KeepsLast() const { return op == OpCode::kGe || op == OpCode::kLe; }
  bool IsGreatest() const { return op == OpCode::kGt || op == OpCode::kGe; }
};

OpCode Mirrored(OpCode comparison) {
  switch (comparison) {
    case OpCode::kGt: return OpCode::kLt;
    case OpCode::kGe: return OpCode::kLe;
    case OpCode::kLt: return OpCode::kGt;
    default: return OpCode::kGe;
  }
}

// `f or x` is `if f { true } else { x }`, and `f and x` as well: what a carried flag decides about,
// where it is cheap and raises nothing, is computed in any case, and is a chain then.
class FlagWriter {
 public:
  FlagWriter(ir::Arena* arena, const Binding& loop) : loop_(loop), builder_(arena) {}

  const Binding* Write() {
    const Block& body = *loop_.blocks[0];
    for (const Binding* b : body.bindings) {
      builder_.set_span(b->span);
      if (!WriteFlag(*b)) builder_.Append(b);
    }
    if (!changed_) return &loop_;
    Binding written = loop_;
    written.blocks = {builder_.Finish(body.params, body.results)};
    return builder_.arena()->New(std::move(written));
  }

 private:
  bool WriteFlag(const Binding& b) {
    const std::vector<const Var*>& params = loop_.blocks[0]->params;
    const bool is_flag =
        b.op == OpCode::kIf && b.results.size() == 1 && b.operands[0].IsVar() &&
        std::find(params.begin() + 1, params.end(), b.operands[0].var()) != params.end() &&
        b.result()->type == ir::Type(ir::DType::kBool);
    if (!is_flag) return false;
    const Operand sides[2] = {b.blocks[0]->results[0], b.blocks[1]->results[0]};
    for (const bool settles : {true, false}) {
      const Block& other = *b.blocks[settles];
      if (sides[!settles] != Operand::Bool(settles) || !IsCheap(other)) continue;
      for (const Binding* inner : other.bindings) builder_.Append(inner);
      const OpCode op = settles ? OpCode::kOr : OpCode::kAnd;
      builder_.Emit(op, {b.result()}, {b.operands[0], sides[settles]});
      return changed_ = true;
    }
    return false;
  }

  static bool IsCheap(const Block& block) {
    return CostOf(block) <= kCheapBesideLoop &&
           std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
             return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
           });
  }

  const Binding& loop_;
  Builder builder_;
  bool changed_ = false;
};

class Finder {
 public:
  Finder(ir::Arena* arena, const Binding& loop, bool in_order)
      : loop_(loop),
        body_(*loop.blocks[0]),
        in_order_(in_order),
        builder_(arena),
        inner_(builder_.Nested()) {
    for (const Binding* b : body_.bindings) {
      for (const Var* result : b->results) definitions_[result] = b;
    }
    carried_.assign(body_.params.begin() + 1, body_.params.end());
  }

  LoopReduction Find() {
    FindExtremes();
    WriteElement();
    if (reduction_.why_not.empty()) MergeNest();
    return std::move(reduction_);
  }

 private:
  void Refuse(const std::string& reason) {
    if (reduction_.why_not.empty()) reduction_.why_not = reason;
  }

  // --- Extremes. ---

  void FindExtremes() {
    for (const Binding* b : body_.bindings) {
      switch (b->op) {
        case OpCode::kGt:
        case OpCode::kGe:
        case OpCode::kLt:
        case OpCode::kLe: AddExtreme(*b); break;
        default: break;
      }
    }
  }

  std::optional<size_t> CarriedBy(const Operand& operand) const {
    const auto found = std::find(carried_.begin(), carried_.end(), operand.var());
    if (!operand.IsVar() || found == carried_.end()) return std::nullopt;
    return found - carried_.begin();
  }

  void AddExtreme(const Binding& comparison) {
    const std::optional<size_t> left = CarriedBy(comparison.operands[0]);
    const std::optional<size_t> right = CarriedBy(comparison.operands[1]);
    if (left.has_value() == right.has_value()) return;
    Extreme e{&comparison,
              right ? comparison.op : Mirrored(comparison.op),
              right ? *right : *left,
              comparison.operands[right ? 0 : 1],
              {},
              {}};
    const ir::DType dtype = carried_[e.carried]->type.dtype();
    if (ir::IsComplex(dtype) || dtype == ir::DType::kBool) return;
    for (size_t k = 0; k < carried_.size(); ++k) AddFollower(e, k);
    const bool replaces = std::any_of(e.followers.begin(), e.followers.end(), [&](const auto& f) {
      return f.first == e.carried && f.second == e.value;
    });
    if (!replaces) return;
    std::erase_if(e.followers, [&](const auto& f) { return f.first == e.carried; });
    for (const Binding* choice : e.choices) {
      if (!std::all_of(choice->blocks.begin(), choice->blocks.end(), IsScalarCode)) return;
    }
    const bool is_alone = e.followers.empty() && e.choices[0]->results.size() == 1;
    (ir::IsFloat(dtype) || !is_alone ? extremes_ : plain_extremes_).push_back(std::move(e));
  }

  // Of integers, where it does not matter which of equals is kept.
  const Binding* AsOperation(const Extreme& e) {
    Binding operation = *e.choices[0];
    operation.op = e.IsGreatest() ? OpCode::kMax : OpCode::kMin;
    operation.operands = {Operand(carried_[e.carried]), e.value};
    operation.blocks.clear();
    return builder_.arena()->New(std::move(operation));
  }

  // A value that is chosen by the comparison, or else stays.
  void AddFollower(Extreme& e, size_t k) const {
    const auto found = definitions_.find(body_.results[k].var());
    if (!carried_[k]->type.IsScalar() || found == definitions_.end()) return;
    const Binding& choice = *found->second;
    if ((choice.op != OpCode::kSelect && choice.op != OpCode::kIf) ||
        choice.operands[0] != Operand(e.comparison->result()))
      return;
    const size_t r = std::find(choice.results.begin(), choice.results.end(), found->first) -
                     choice.results.begin();
    const bool is_select = choice.op == OpCode::kSelect;
    const Operand then = is_select ? choice.operands[1] : choice.blocks[0]->results[r];
    const Operand otherwise = is_select ? choice.operands[2] : choice.blocks[1]->results[r];
    if (otherwise != Operand(carried_[k])) return;
    e.followers.emplace_back(k, then);
    if (std::find(e.choices.begin(), e.choices.end(), &choice) == e.choices.end())
      e.choices.push_back(&choice);
  }

  static bool IsScalarCode(const Block* block) {
    return std::all_of(block->bindings.begin(), block->bindings.end(),
                       [](const Binding* b) { return ir::IsScalarOp(b->op); });
  }

  // --- The element and the combine. ---

  void WriteElement() {
    std::vector<bool> is_chain(carried_.size(), true);
    VarSet dropped;
    Block rest = body_;
    for (const Extreme& e : plain_extremes_) {
      dropped.insert(e.comparison->result());
      std::erase(rest.bindings, e.comparison);
      std::replace(rest.bindings.begin(), rest.bindings.end(), e.choices[0], AsOperation(e));
    }
    for (const Extreme& e : extremes_) {
      is_chain[e.carried] = false;
      for (const auto& [k, value] : e.followers) is_chain[k] = false;
      DropChoices(e, rest, dropped);
    }
    for (size_t k = 0; k < carried_.size(); ++k) {
      if (!is_chain[k]) dropped.insert(carried_[k]);
      if (!carried_[k]->type.IsScalar()) return Refuse(Carried(carried_[k]));
    }
    ChainWriter chains(carried_, is_chain);
    chains.Write(inner_, rest);
    if (!chains.why_not().empty()) return Refuse(chains.why_not());
    for (size_t k = 0; k < carried_.size(); ++k) {
      if (!is_chain[k]) continue;
      const std::optional<Operand> element = chains.ElementOf(k, body_.results[k]);
      if (!element) return Refuse(Carried(carried_[k]));
      AddChain(k, chains.OpOf(k), *element);
    }
    for (const Extreme& e : extremes_) in_order_ ? AddInOrder(e) : AddCombined(e);
    FinishCombine();
    if (in_order_) SortAccumulators();
    reduction_.element =
        *inner_.Finish({body_.params[0]}, std::vector<Operand>(elements_.begin(), elements_.end()));
    const VarSet read = ir::FreeVars(reduction_.element);
    for (const Var* carried : carried_) {
      if (read.contains(carried)) return Refuse(Carried(carried));
    }
    if (std::any_of(dropped.begin(), dropped.end(),
                    [&](const Var* value) { return read.contains(value); }))
      Refuse(Carried(carried_[0]));
  }

  // Leaves out the comparison and what it chooses; the scalar code of the branch that replaces runs
  // always.
  static void DropChoices(const Extreme& e, Block& rest, VarSet& dropped) {
    std::vector<const Binding*> kept;
    for (const Binding* b : rest.bindings) {
      const bool is_choice = std::find(e.choices.begin(), e.choices.end(), b) != e.choices.end();
      if (b != e.comparison && !is_choice) {
        kept.push_back(b);
        continue;
      }
      dropped.insert(b->results.begin(), b->results.end());
      if (b->op == OpCode::kIf)
        kept.insert(kept.end(), b->blocks[0]->bindings.begin(), b->blocks[0]->bindings.end());
    }
    rest.bindings = std::move(kept);
  }

  void AddChain(size_t k, OpCode op, const Operand& element) {
    const Block* single = ir::CombineBlock(builder_.arena(), op, carried_[k]->type.dtype());
    lefts_.push_back(single->params[0]);
    rights_.push_back(single->params[1]);
    combines_.push_back(single->bindings[0]);
    combined_.push_back(single->results[0]);
    elements_.push_back(element);
    reduction_.totals.push_back(loop_.results[k]);
    reduction_.inits.push_back(loop_.operands[3 + k]);
  }

  // A new accumulator; its place among them.
  size_t AddAccumulator(const Operand& element, const Operand& init, std::string_view hint) {
    const ir::Type type = ir::TypeOf(element);
    lefts_.push_back(builder_.NewVar(type, hint));
    rights_.push_back(builder_.NewVar(type, hint));
    elements_.push_back(element);
    reduction_.totals.push_back(builder_.NewVar(type, hint));
    reduction_.inits.push_back(init);
    combined_.emplace_back();
    return elements_.size() - 1;
  }

  // The extreme, its followers, and the index that decides between equals. They start from what no
  // iteration has, and what the loop starts from is put in behind it: its index is none.
  void AddCombined(const Extreme& e) {
    const ir::DType dtype = carried_[e.carried]->type.dtype();
    const OpCode chooses = e.IsGreatest() ? OpCode::kMax : OpCode::kMin;
    const Operand worst = *ir::IdentityOf(chooses, dtype);
    const bool takes_less = e.KeepsLast() != (loop_.operands[2].constant().integer > 0);
    const int64_t none =
        takes_less ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
    Operand value = e.value;
    Operand index = body_.params[0];
    if (!e.KeepsLast()) {
      const Operand counts = inner_.Scalar(e.op, {value, worst});
      value = inner_.Scalar(OpCode::kSelect, {counts, value, worst});
      index = inner_.Scalar(OpCode::kSelect, {counts, index, Operand::Int(none)});
    } else if (ir::IsFloat(dtype)) {
      const Operand is_nan = inner_.Scalar(OpCode::kIsNan, {value});
      value = inner_.Scalar(OpCode::kSelect, {is_nan, worst, value});
      index = inner_.Scalar(OpCode::kSelect, {is_nan, Operand::Int(none), index});
    }
    const size_t first = AddAccumulator(value, worst, carried_[e.carried]->hint);
    std::vector<std::pair<size_t, size_t>> members = {{e.carried, first}};
    std::vector<size_t> at_index;  // Followers that are the index itself.
    for (const auto& [k, follower] : e.followers) {
      if (follower == Operand(body_.params[0])) {
        at_index.push_back(k);
      } else {
        const Operand zero = ir::ZeroOf(carried_[k]->type.dtype());
        members.emplace_back(k, AddAccumulator(follower, zero, carried_[k]->hint));
      }
    }
    const size_t last = AddAccumulator(index, Operand::Int(none), body_.params[0]->hint);
    for (const size_t k : at_index) members.emplace_back(k, last);
    extreme_combines_.push_back({first, last, &e, takes_less});
    FinishExtreme(e, members, first, last, none);
  }

  // The extreme and its followers, of which the left ones come first. What never compares is worst.
  void AddInOrder(const Extreme& e) {
    const ir::DType dtype = carried_[e.carried]->type.dtype();
    Operand value = e.value;
    if (ir::IsFloat(dtype)) {
      // A nan that is last among the worst would take its followers along.
      if (e.KeepsLast() && !e.followers.empty()) return Refuse(Carried(carried_[e.carried]));
      const OpCode chooses = e.IsGreatest() ? OpCode::kMax : OpCode::kMin;
      const Operand worst = *ir::IdentityOf(chooses, dtype);
      const Operand counts = inner_.Scalar(e.op, {value, worst});
      value = inner_.Scalar(OpCode::kSelect, {counts, value, worst});
    }
    const size_t first = elements_.size();
    AddPrefixed(e.carried, value);
    for (const auto& [k, follower] : e.followers) AddPrefixed(k, follower);
    extreme_combines_.push_back({first, elements_.size() - 1, &e, false});
  }

  // An accumulator of carried value `k`, whose total is the loop's result.
  void AddPrefixed(size_t k, const Operand& element) {
    const size_t at = AddAccumulator(element, loop_.operands[3 + k], carried_[k]->hint);
    reduction_.totals[at] = loop_.results[k];
  }

  // Puts the accumulators in the order of the loop's results.
  void SortAccumulators() {
    const LoopReduction found = reduction_;
    const std::vector<Operand> elements = elements_, combined = reduction_.combine.results;
    const std::vector<const Var*> params = reduction_.combine.params;
    const size_t count = elements.size();
    for (size_t k = 0; k < count; ++k) {
      const size_t at = std::find(found.totals.begin(), found.totals.end(), loop_.results[k]) -
                        found.totals.begin();
      reduction_.totals[k] = found.totals[at];
      reduction_.inits[k] = found.inits[at];
      elements_[k] = elements[at];
      reduction_.combine.results[k] = combined[at];
      reduction_.combine.params[k] = params[at];
      reduction_.combine.params[count + k] = params[count + at];
    }
  }

  // The loop's results: what it started from where no iteration replaced that. What is beyond
  // anything counts, and has an index.
  void FinishExtreme(const Extreme& e, const std::vector<std::pair<size_t, size_t>>& members,
                     size_t first, size_t last, int64_t none) {
    Builder after = builder_.Nested();
    after.set_span(loop_.span);
    Operand replaced =
        after.Scalar(e.op, {reduction_.totals[first], loop_.operands[3 + e.carried]});
    if (e.KeepsLast()) {
      const Operand some = after.Scalar(OpCode::kNe, {reduction_.totals[last], Operand::Int(none)});
      replaced = after.Scalar(OpCode::kAnd, {some, replaced});
    }
    for (const auto& [k, accumulator] : members) {
      after.Emit(OpCode::kSelect, {loop_.results[k]},
                 {replaced, reduction_.totals[accumulator], loop_.operands[3 + k]});
    }
    reduction_.after.insert(reduction_.after.end(), after.bindings().begin(),
                            after.bindings().end());
  }

  // right is better, or as good and comes first (or last).
  void FinishCombine() {
    Builder combine = builder_.Nested();
    combine.set_span(loop_.span);
    for (const Binding* b : combines_) combine.Append(b);
    for (const auto& [first, last, e, takes_less] : extreme_combines_) {
      if (in_order_) {
        const Operand takes = combine.Scalar(e->op, {rights_[first], lefts_[first]});
        for (size_t k = first; k <= last; ++k)
          combined_[k] = combine.Scalar(OpCode::kSelect, {takes, rights_[k], lefts_[k]});
        continue;
      }
      const OpCode is_better = e->IsGreatest() ? OpCode::kGt : OpCode::kLt;
      const Operand better = combine.Scalar(is_better, {rights_[first], lefts_[first]});
      const Operand equal = combine.Scalar(OpCode::kEq, {rights_[first], lefts_[first]});
      const Operand sooner =
          combine.Scalar(takes_less ? OpCode::kLt : OpCode::kGt, {rights_[last], lefts_[last]});
      const Operand instead = combine.Scalar(OpCode::kAnd, {equal, sooner});
      const Operand takes = combine.Scalar(OpCode::kOr, {better, instead});
      for (size_t k = first; k <= last; ++k)
        combined_[k] = combine.Scalar(OpCode::kSelect, {takes, rights_[k], lefts_[k]});
    }
    std::vector<const Var*> params = lefts_;
    params.insert(params.end(), rights_.begin(), rights_.end());
    reduction_.combine = *combine.Finish(std::move(params), combined_);
  }

  // --- Nests. ---

  // An iteration that is nothing but an inner reduction by the same combine: one reduction over
  // both index spaces, in the same order.
  void MergeNest() {
    Block& element = reduction_.element;
    if (element.bindings.empty() || !extremes_.empty()) return;
    const Binding& inner = *element.bindings.back();
    const size_t rank = inner.op == OpCode::kIreduce ? inner.blocks[0]->params.size() : 0;
    if (rank == 0 || inner.operands.size() != rank + inner.results.size()) return;
    if (element.results != std::vector<Operand>(inner.results.begin(), inner.results.end())) return;
    for (size_t k = 0; k < inner.results.size(); ++k) {
      const auto op = ir::CombineOp(*inner.blocks[1], static_cast<int>(k));
      if (op != ir::CombineOp(reduction_.combine, static_cast<int>(k))) return;
      const auto identity = op ? ir::IdentityOf(*op, inner.results[k]->type.dtype()) : std::nullopt;
      if (!identity || inner.operands[rank + k] != Operand(*identity)) return;
    }
    const VarSet inside = ir::DefinedVars(element);
    for (size_t axis = 0; axis < rank; ++axis) {
      if (inside.contains(inner.operands[axis].var())) return;
    }
    Block merged = element;
    merged.bindings.pop_back();
    for (const Binding* b : merged.bindings) {
      if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad) return;
    }
    if (CostOf(merged) > kCheapBesideLoop) return;
    const Block& innermost = *inner.blocks[0];
    merged.params.insert(merged.params.end(), innermost.params.begin(), innermost.params.end());
    merged.bindings.insert(merged.bindings.end(), innermost.bindings.begin(),
                           innermost.bindings.end());
    merged.results = innermost.results;
    reduction_.inner_extents = {inner.operands.begin(), inner.operands.begin() + rank};
    element = std::move(merged);
  }

  struct ExtremeCombine {
    size_t first;  // accumulator
    size_t last;
    const Extreme* extreme;
    bool takes_less;  // Of equals, the one with the lesser index.
  };

  const Binding& loop_;
  const Block& body_;
  const bool in_order_;  // What it combines comes from left to right.
  Builder builder_;
  Builder inner_;  // Where the element is written.
  ir::DefinitionMap definitions_;
  std::vector<const Var*> carried_;
  std::vector<Extreme> extremes_;
  std::vector<Extreme> plain_extremes_;
  std::vector<const Var*> lefts_;
  std::vector<const Var*> rights_;
  std::vector<Operand> combined_;
  std::vector<const Binding*> combines_;
  std::vector<ExtremeCombine> extreme_combines_;
  std::vector<Operand> elements_;
  LoopReduction reduction_;
};

}  // namespace

LoopReduction ReductionOf(ir::Arena* arena, const ir::Binding& loop) {
  const ir::Binding* plain = FlagWriter(arena, *WithPlainComparisons(arena, loop)).Write();
  return Finder(arena, *plain, /*in_order=*/false).Find();
}

LoopReduction ScanOf(ir::Arena* arena, const ir::Binding& loop) {
  const ir::Binding* plain = FlagWriter(arena, *WithPlainComparisons(arena, loop)).Write();
  return Finder(arena, *plain, /*in_order=*/true).Find();
}

}  // namespace parakeet::passes
