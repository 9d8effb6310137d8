#include "passes/fusing/renew_arrays.h"

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// How much shorter a region may be than its array, along each axis.
constexpr int64_t kMostOutside = 16;

// What a loop's body does to an array.
struct Update {
  const Var* array;
  size_t made;    // of the body's bindings, the imap
  size_t stored;  // and the foreach that copies it
};

bool IsPlain(const Block& body) {
  bool is_plain = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf;
  });
  return is_plain;
}

bool Loads(const Block& body, const Var* array) {
  bool loads = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    loads |= b.op == OpCode::kLoad && b.operands[0] == Operand(array);
  });
  return loads;
}

size_t UsesIn(const Block& block, const Var* var) {
  size_t uses = std::count(block.results.begin(), block.results.end(), Operand(var));
  for (const Binding* b : block.bindings) uses += ir::FreeVars(*b).contains(var);
  return uses;
}

// The load of a foreach that copies elements and does arithmetic of indexes alone, at its own
// index.
const Binding* CopiedBy(const Binding& foreach) {
  const Block& body = *foreach.blocks[0];
  if (body.bindings.empty() || body.bindings.back()->op != OpCode::kStore) return nullptr;
  const Binding* load = nullptr;
  for (size_t at = 0; at + 1 < body.bindings.size(); ++at) {
    const Binding& b = *body.bindings[at];
    if (b.op == OpCode::kLoad && load == nullptr) {
      load = &b;
    } else if (!ir::IsScalarOp(b.op)) {
      return nullptr;
    }
  }
  const bool copies = load != nullptr && body.bindings.back()->operands.back() == load->result() &&
                      std::equal(load->operands.begin() + 1, load->operands.end(),
                                 body.params.begin(), body.params.end());
  return copies ? load : nullptr;
}

class Renewer : public ir::Mutator {
 public:
  Renewer(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), forms_(function), context_(context) {
    for (const ir::Param& param : function.params) {
      if (param.layout != ir::Layout::kC) turned_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.attrs.Has(ir::Attr::kFortran)) turned_.insert(b.results.begin(), b.results.end());
    });
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    const Block* visited = Mutator::VisitBlock(block);
    Block renewed = *visited;
    bool found = false;
    for (size_t at = 0; at < renewed.bindings.size(); ++at) {
      const Binding& b = *renewed.bindings[at];
      const bool makes = b.op == OpCode::kImap || b.op == OpCode::kAlloc;
      if (makes) made_.insert(b.results.begin(), b.results.end());
      if (b.op != OpCode::kFor) continue;
      while (const auto update = FindUpdate(*renewed.bindings[at])) {
        Renew(renewed, at, *update);
        found = true;
      }
    }
    return found ? arena()->New(std::move(renewed)) : visited;
  }

 private:
  std::optional<Update> FindUpdate(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    for (size_t stored = 0; stored < body.bindings.size(); ++stored) {
      const Binding& foreach = *body.bindings[stored];
      const Binding* load = foreach.op == OpCode::kForeach ? CopiedBy(foreach) : nullptr;
      if (load == nullptr) continue;
      const Var* array = foreach.blocks[0]->bindings.back()->operands[0].var();
      const auto made = MadeBefore(body, stored, *load);
      if (made && MayRenew(loop, array) && Loads(*body.bindings[*made]->blocks[0], array) &&
          IsNearlyWhole(foreach, array))
        return Update{array, *made, stored};
    }
    return std::nullopt;
  }

  // The imap that makes what is loaded, where that is for this alone.
  static std::optional<size_t> MadeBefore(const Block& body, size_t stored, const Binding& load) {
    const Var* copied = load.operands[0].var();
    if (UsesIn(body, copied) != 1) return std::nullopt;
    for (size_t at = stored; at-- > 0;) {
      const Binding& b = *body.bindings[at];
      if (b.op == OpCode::kImap && b.results.size() == 1 && b.result() == copied) {
        const bool is_whole = std::equal(b.operands.begin(), b.operands.end(),
                                         body.bindings[stored]->operands.begin());
        return is_whole && IsPlain(*b.blocks[0]) ? std::optional(at) : std::nullopt;
      }
      if (!ir::IsScalarOp(b.op)) return std::nullopt;
    }
    return std::nullopt;
  }

  // True for an array that the loop knows by this name only. One that others may see when the loop
  // raises has to be as it is in each iteration.
  bool MayRenew(const Binding& loop, const Var* array) const {
    const bool is_carried =
        std::count(loop.operands.begin(), loop.operands.end(), Operand(array)) > 0;
    if (is_carried || turned_.contains(array)) return false;
    if (renewed_.contains(array)) return true;
    return roots_.ViewsOf(array).size() == 1 &&
           (made_.contains(array) || !EffectsOf(loop, roots_).may_fail);
  }

  bool IsNearlyWhole(const Binding& foreach, const Var* array) const {
    const std::vector<Operand>& dims = array->type.dims();
    if (dims.size() != foreach.blocks[0]->params.size()) return false;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const LinearForm outside =
          Difference(forms_.Of(dims[axis]), forms_.Of(foreach.operands[axis]));
      const bool is_near =
          outside.IsConstant() && outside.constant >= 0 && outside.constant <= kMostOutside;
      if (!is_near) return false;
    }
    return true;
  }

  void Renew(Block& block, size_t at, const Update& update) {
    const Binding& loop = *block.bindings[at];
    context_.Note(loop.blocks[0]->bindings[update.stored]->span, "made anew in each iteration",
                  Topic::kMemory, Verdict::kDone);
    const Var* array = update.array;
    ir::Builder names(arena());
    const Var* last = names.NewVar(array->type, array->hint);
    Binding carrying = loop;
    carrying.operands.push_back(array);
    carrying.results.push_back(last);
    carrying.blocks = {BodyThatCarries(*loop.blocks[0], update)};
    block.bindings[at] = arena()->New(std::move(carrying));
    if (!made_.contains(array)) {
      block.bindings.insert(block.bindings.begin() + at + 1, CopiedBack(last, array, loop));
      return;
    }
    Block rest{{}, {block.bindings.begin() + at + 1, block.bindings.end()}, block.results};
    rest = *ir::CloneBlock(arena(), rest, {{array, last}});
    block.bindings.resize(at + 1);
    block.bindings.insert(block.bindings.end(), rest.bindings.begin(), rest.bindings.end());
    block.results = rest.results;
    made_.insert(last);
    renewed_.insert(last);
  }

  const Block* BodyThatCarries(const Block& body, const Update& update) {
    const Var* array = update.array;
    const Binding& made = *body.bindings[update.made];
    ir::Builder builder(arena());
    builder.set_span(made.span);
    const Var* fresh = builder.NewVar(array->type, array->hint);
    Block carrying = body;
    carrying.bindings.assign(body.bindings.begin(), body.bindings.begin() + update.stored);
    carrying.bindings.erase(carrying.bindings.begin() + update.made);
    carrying.bindings.push_back(CopyOf(array, fresh, made));
    carrying.bindings.push_back(StoredInto(fresh, made, *body.bindings[update.stored]));
    Block rest{{}, {body.bindings.begin() + update.stored + 1, body.bindings.end()}, body.results};
    rest = *ir::CloneBlock(arena(), rest, {{array, fresh}});
    carrying.bindings.insert(carrying.bindings.end(), rest.bindings.begin(), rest.bindings.end());
    carrying.results = rest.results;
    carrying.results.push_back(fresh);
    const Var* old = builder.NewVar(array->type, array->hint);
    carrying = *ir::CloneBlock(arena(), carrying, {{array, old}});
    carrying.params.push_back(old);
    return arena()->New(std::move(carrying));
  }

  std::vector<const Var*> IndexOf(const Var* array, const ir::Builder& builder) {
    std::vector<const Var*> index;
    for (int axis = 0; axis < array->type.rank(); ++axis)
      index.push_back(builder.NewVar(ir::DType::kI64, "i"));
    return index;
  }

  // All elements as they are.
  const Binding* CopyOf(const Var* array, const Var* fresh, const Binding& made) {
    ir::Builder element(arena());
    element.set_span(made.span);
    const std::vector<const Var*> params = IndexOf(array, element);
    const Operand value = element.Load(array, {params.begin(), params.end()});
    Binding copy{OpCode::kImap, {fresh}, array->type.dims(), {}, {}, made.span};
    copy.blocks = {element.Finish(params, {value})};
    return arena()->New(std::move(copy));
  }

  // The last array as the one that is known outside, behind the loop.
  const Binding* CopiedBack(const Var* last, const Var* array, const Binding& loop) {
    ir::Builder element(arena());
    element.set_span(loop.span);
    const std::vector<const Var*> params = IndexOf(array, element);
    const std::vector<Operand> index(params.begin(), params.end());
    element.Store(array, index, element.Load(last, index));
    Binding copy{OpCode::kForeach, {}, array->type.dims(), {}, {}, loop.span};
    copy.blocks = {element.Finish(params, {})};
    return arena()->New(std::move(copy));
  }

  // What the map makes, stored to the new array where the region stored it.
  const Binding* StoredInto(const Var* fresh, const Binding& made, const Binding& region) {
    const Block& stores = *region.blocks[0];
    const Binding& load = *CopiedBy(region);
    ir::Builder body(arena());
    body.set_span(made.span);
    std::vector<const Var*> params;
    for (const Var* param : stores.params) params.push_back(body.NewVar(param->type, param->hint));
    const std::vector<Operand> index(params.begin(), params.end());
    const Operand value = ir::InlineBlock(body, *made.blocks[0], index)[0];
    Block rest = stores;
    std::erase(rest.bindings, &load);
    ir::Substitution known = {{load.result(), value},
                              {stores.bindings.back()->operands[0].var(), fresh}};
    for (size_t k = 0; k < params.size(); ++k) known[stores.params[k]] = params[k];
    ir::InlineBlock(body, rest, std::move(known));
    Binding merged = region;
    merged.blocks = {body.Finish(params, {})};
    return arena()->New(std::move(merged));
  }

  Roots roots_;
  WrappingForms forms_;
  Context& context_;
  ir::VarSet turned_;   // What may lie otherwise than in C order.
  ir::VarSet made_;     // In the block that is visited, or one around or before.
  ir::VarSet renewed_;  // by this pass
};

}  // namespace

const ir::Function* RenewArrays(ir::Arena* arena, const ir::Function* function, Context& context) {
  return Renewer(arena, *function, context).Run(function);
}

}  // namespace parakeet::passes
