#include "passes/lowering/sink_loads.h"

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Var;

bool HasKind(const Binding& b, std::string_view kind) {
  return b.op == OpCode::kFor && b.attrs.Text(ir::Attr::kKind) == kind;
}

// True where the kernel uses a value in what single threads do, and nowhere else.
bool UsesInThreads(const Binding& kernel, const Var* value) {
  for (const ir::Operand& operand : kernel.operands) {
    if (operand == ir::Operand(value)) return false;
  }
  const Block& body = *kernel.blocks[0];
  return std::all_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
    return HasKind(*b, "thread") || !ir::FreeVars(*b).contains(value);
  });
}

class Sinker : public ir::Mutator {
 public:
  Sinker(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    HasKind(*b, "block") ? builder().Append(b) : Mutator::Visit(b);
  }

  const Block* VisitBlock(const Block* block) override {
    const Block* visited = Mutator::VisitBlock(block);
    const ir::VarSet read = ReadIn(*visited);
    Block sunk = *visited;
    for (size_t at = sunk.bindings.size(); at-- > 0;) {
      const Binding& b = *sunk.bindings[at];
      if (b.results.size() != 1 || !read.contains(b.result())) continue;
      const auto users = KernelsOf(sunk, at);
      if (users.empty()) continue;
      for (const size_t user : users) sunk.bindings[user] = With(*sunk.bindings[user], b);
      sunk.bindings.erase(sunk.bindings.begin() + at);
    }
    const bool is_same = sunk.bindings.size() == visited->bindings.size();
    return is_same ? visited : arena()->New(std::move(sunk));
  }

 private:
  // What the block's bindings load. Arithmetic on that, once instead of once a thread, is
  // keep_scalars_on_device's.
  static ir::VarSet ReadIn(const Block& block) {
    ir::VarSet read;
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kLoad) read.insert(b->results.begin(), b->results.end());
    }
    return read;
  }

  // The places of the kernels that use the value at `at`; none where it has to stay.
  std::vector<size_t> KernelsOf(const Block& block, size_t at) const {
    const Binding& b = *block.bindings[at];
    const Var* value = b.result();
    if (std::count(block.results.begin(), block.results.end(), ir::Operand(value)) > 0) return {};
    std::vector<size_t> users;
    for (size_t later = at + 1; later < block.bindings.size(); ++later) {
      const Binding& user = *block.bindings[later];
      if (!ir::FreeVars(user).contains(value)) continue;
      if (!HasKind(user, "block") || !UsesInThreads(user, value)) return {};
      users.push_back(later);
    }
    if (users.empty()) return users;
    const ir::VarSet& array = roots_.Of(b.operands[0].var());
    for (size_t later = at + 1; later <= users.back(); ++later) {
      if (Intersects(EffectsOf(*block.bindings[later], roots_).writes, array)) return {};
    }
    return users;
  }

  // The kernel with the binding in those of its loops over threads that use it.
  const Binding* With(const Binding& kernel, const Binding& b) {
    ir::Builder names(arena());
    Block body = *kernel.blocks[0];
    for (const Binding*& threads : body.bindings) {
      if (!HasKind(*threads, "thread") || !ir::FreeVars(*threads).contains(b.result())) continue;
      Binding own = b;
      own.results = {names.NewVar(b.result()->type, b.result()->hint)};
      Block inner = *ir::CloneBlock(arena(), *threads->blocks[0], {{b.result(), own.result()}});
      inner.bindings.insert(inner.bindings.begin(), arena()->New(std::move(own)));
      Binding loop = *threads;
      loop.blocks = {arena()->New(std::move(inner))};
      threads = arena()->New(std::move(loop));
    }
    Binding with = kernel;
    with.blocks = {arena()->New(std::move(body))};
    return arena()->New(std::move(with));
  }

  Roots roots_;
};

}  // namespace

const ir::Function* SinkLoads(ir::Arena* arena, const ir::Function* function) {
  return Sinker(arena, *function).Run(function);
}

}  // namespace parakeet::passes
