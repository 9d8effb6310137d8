#include "passes/analyses/find_copies.h"

#include <algorithm>
#include <functional>

#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool Holds(const std::vector<Operand>& operands, const Var* value) {
  return std::find(operands.begin(), operands.end(), Operand(value)) != operands.end();
}

// The load and the store of a foreach that does nothing but copy elements; null when it does.
struct Copy {
  const Binding* load = nullptr;
  const Binding* store = nullptr;
};

Copy CopyIn(const Binding& foreach) {
  Copy copy;
  for (const Binding* b : foreach.blocks[0]->bindings) {
    if (b->op == OpCode::kLoad && copy.load == nullptr) {
      copy.load = b;
    } else if (b->op == OpCode::kStore && copy.store == nullptr) {
      copy.store = b;
    } else if (!ir::IsScalarOp(b->op)) {
      return {};
    }
  }
  if (copy.load == nullptr || copy.store == nullptr) return {};
  const std::vector<const Var*>& params = foreach.blocks[0]->params;
  const std::vector<Operand> index(copy.load->operands.begin() + 1, copy.load->operands.end());
  const bool is_whole = index == std::vector<Operand>(params.begin(), params.end()) &&
                        foreach.operands == TypeOf(copy.load->operands[0]).dims();
  const bool is_plain = copy.store->operands.back() == Operand(copy.load->result());
  return is_whole && is_plain ? copy : Copy{};
}

std::string PassedOn(const Var* array, OpCode by) {
  return NameOf(array) + " is passed on by " + std::string(Name(by));
}

// What bindings take or yield as a whole, in program order.
void ForEachPassed(const Block& block, const std::function<void(const Var*, OpCode)>& action) {
  ir::ForEachBinding(block, [&](const Binding& b) {
    const auto pass = [&](const std::vector<Operand>& operands) {
      for (const Operand& operand : operands) {
        if (operand.IsVar()) action(operand.var(), b.op);
      }
    };
    if (b.op != OpCode::kLoad && b.op != OpCode::kStore) pass(b.operands);
    for (const Block* inner : b.blocks) pass(inner->results);
  });
}

}  // namespace

int MakerOf(const Block& block, const Var* array) {
  for (size_t at = 0; at < block.bindings.size(); ++at) {
    const Binding& b = *block.bindings[at];
    const bool makes = b.op == OpCode::kImap || b.op == OpCode::kAlloc;
    if (makes && std::find(b.results.begin(), b.results.end(), array) != b.results.end())
      return static_cast<int>(at);
  }
  return -1;
}

std::string WhyWhole(const Block& block, const Var* array, bool routines_may) {
  std::string reason;
  ForEachPassed(block, [&](const Var* passed, OpCode by) {
    if (routines_may && by == OpCode::kLibraryCall) return;
    if (passed == array) reason = PassedOn(array, by);
  });
  return reason;
}

CopyFinder::CopyFinder(ir::Arena* arena, const ir::Function& function)
    : arena_(arena), roots_(function), may_overlap_(!function.entry || function.may_overlap) {
  Visit(*function.body);
}

const CopiedArray* CopyFinder::Of(const Var* array) const {
  const auto found = arrays_.find(array);
  return found == arrays_.end() ? nullptr : &found->second;
}

void CopyFinder::Visit(const Block& block) {
  for (size_t at = 0; at < block.bindings.size(); ++at) {
    const Binding& b = *block.bindings[at];
    for (const Block* inner : b.blocks) Visit(*inner);
    if (b.op == OpCode::kForeach) Choose(block, at);
  }
}

// Once for a block: a long one has many copies.
const CopyFinder::Uses& CopyFinder::UsesIn(const Block& block) {
  const auto [found, is_new] = uses_.try_emplace(&block);
  Uses& uses = found->second;
  if (!is_new) return uses;
  for (size_t at = 0; at < block.bindings.size(); ++at) {
    for (const Var* used : ir::FreeVars(*block.bindings[at])) uses.last[used] = at;
  }
  ForEachPassed(block, [&](const Var* passed, OpCode by) { uses.passed_by[passed] = by; });
  return uses;
}

void CopyFinder::Choose(const Block& block, size_t at) {
  const Binding& foreach = *block.bindings[at];
  const Copy copy = CopyIn(foreach);
  if (copy.load == nullptr || MakerOf(block, copy.load->operands[0].var()) < 0) return;
  const Var* array = copy.load->operands[0].var();
  const std::vector<Operand>& stored = copy.store->operands;
  CopiedArray copied{&foreach, stored[0].var()};
  const std::string reason = WhyNot(block, at, copied, array);
  if (!reason.empty()) return refusals_.emplace_back(&foreach, reason), void();
  Block index = *foreach.blocks[0];
  std::erase_if(index.bindings, [](const Binding* b) { return !ir::IsScalarOp(b->op); });
  index.results.assign(stored.begin() + 1, stored.end() - 1);
  copied.index = arena_->New(std::move(index));
  arrays_[array] = copied;
  copies_[&foreach] = array;
}

std::string CopyFinder::WhyNot(const Block& block, size_t at, const CopiedArray& copied,
                               const Var* array) {
  const std::string name = NameOf(array);
  const Uses& uses = UsesIn(block);
  if (uses.last.at(array) > at) return name + " is read afterwards";
  if (Holds(block.results, array)) return name + " is read afterwards";
  if (roots_.MayShare(copied.target, array)) return name + " is copied within itself";
  if (may_overlap_ && !roots_.IsFresh(copied.target))
    return "places of " + NameOf(copied.target) + " may overlap";
  const auto passed = uses.passed_by.find(array);
  if (passed != uses.passed_by.end()) return PassedOn(array, passed->second);
  return WhyNotEarlier(block, MakerOf(block, array), at, copied, array);
}

// Why what the copy stores may not be stored as soon as it is known.
std::string CopyFinder::WhyNotEarlier(const Block& block, size_t made, size_t at,
                                      const CopiedArray& copied, const Var* array) const {
  const VarSet& target = roots_.Of(copied.target);
  const VarSet needed = ir::FreeVars(*copied.copy);
  for (size_t k = made; k < at; ++k) {
    const Binding& b = *block.bindings[k];
    for (const Var* result : b.results) {
      if (result != array && needed.contains(result))
        return "where it is copied to is known only after " + NameOf(array) + " is made";
    }
    const Effects effects = EffectsOf(b, roots_);
    if (effects.may_fail) return "what is between may raise";
    if (Intersects(effects.reads, target) || Intersects(effects.writes, target))
      return NameOf(copied.target) + " is touched before the copy";
  }
  return "";
}

bool OnlyLoads(const Block& block, const Var* array) {
  bool only = std::count(block.results.begin(), block.results.end(), Operand(array)) == 0;
  ir::ForEachBinding(block, [&](const Binding& b) {
    const size_t uses = std::count(b.operands.begin(), b.operands.end(), Operand(array));
    only &= uses == 0 || b.op == OpCode::kLoad;
    for (const Block* inner : b.blocks) {
      only &= std::count(inner->results.begin(), inner->results.end(), Operand(array)) == 0;
    }
  });
  return only;
}

const Var* CopiedWhole(const Binding& imap) {
  if (imap.op != OpCode::kImap || imap.results.size() != 1) return nullptr;
  const Block& body = *imap.blocks[0];
  if (body.bindings.size() != 1 || body.bindings[0]->op != OpCode::kLoad) return nullptr;
  const Binding& load = *body.bindings[0];
  const Var* array = load.operands[0].var();
  const bool is_whole = body.results[0] == Operand(load.result()) &&
                        imap.operands == array->type.dims() &&
                        std::equal(load.operands.begin() + 1, load.operands.end(),
                                   body.params.begin(), body.params.end());
  return is_whole ? array : nullptr;
}

}  // namespace parakeet::passes
