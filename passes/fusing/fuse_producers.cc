#include "passes/fusing/fuse_producers.h"

#include <unordered_map>
#include <utility>

#include "ir/mutator.h"
#include "passes/analyses/linear_forms.h"
#include "passes/fusing/checks_apart.h"
#include "passes/fusing/choose_producers.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class Fuser : public ir::Mutator {
 public:
  Fuser(ir::Arena* arena, const ir::Function& function, bool elements_only, Context& context)
      : Mutator(arena), chooser_(function, elements_only, context), forms_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kLoad && Substitute(*b)) return;
    if (chooser_.IsChosen(b)) return Keep(*b);
    const bool is_nest = ir::InfoOf(b->op).format == ir::OpFormat::kIndices;
    const bool outer = std::exchange(in_nest_, in_nest_ || is_nest);
    const Binding* rewritten = Rewrite(b);
    in_nest_ = outer;
    if (copying_) forms_.Learn(*rewritten);
    builder().Append(rewritten);
  }

  const Block* VisitBlock(const Block* block) override {
    if (!copying_) chooser_.Choose(*block, in_nest_);
    ++depth_;
    computed_.emplace_back();
    const Block* rewritten = Mutator::VisitBlock(block);
    computed_.pop_back();
    --depth_;
    return rewritten;
  }

 private:
  // An imap that has disappeared.
  struct Producer {
    const Block* body = nullptr;
    size_t result = 0;
    int depth = 0;  // of the block that it stood in
  };

  // A producer's elements at one index, computed in a block that is being written.
  struct Computed {
    const Block* body;
    std::vector<LinearForm> index;
    std::vector<Operand> values;
  };

  // The producer stands nowhere any more, but for its checks. Its block still reads the producers
  // before it, each of which it gets when it is copied.
  void Keep(const Binding& imap) {
    if (HasChecks(*imap.blocks[0])) KeepChecks(imap);
    const int kept = std::exchange(kept_depth_, depth_);
    const bool outer = std::exchange(in_nest_, true);
    const Block* body = VisitBlock(arena()->New(WithoutChecks(*imap.blocks[0])));
    in_nest_ = outer;
    kept_depth_ = kept;
    for (size_t k = 0; k < imap.results.size(); ++k) {
      producers_[imap.results[k]] = {body, k, depth_};
    }
  }

  void KeepChecks(const Binding& imap) {
    ir::Builder checks = builder().Nested();
    WriteChecks(checks, imap);
    for (const Binding* b : checks.bindings()) Visit(b);
  }

  bool Substitute(const Binding& load) {
    const auto found = producers_.find(load.operands[0].var());
    if (found == producers_.end() || found->second.depth <= kept_depth_) return false;
    const Producer producer = found->second;
    std::vector<Operand> index = Apply(load.operands);
    index.erase(index.begin());
    Replace(load.result(), ElementsAt(*producer.body, index)[producer.result]);
    return true;
  }

  // What the producer's block yields at the index, computed here unless it has been already.
  std::vector<Operand> ElementsAt(const Block& body, const std::vector<Operand>& index) {
    std::vector<LinearForm> forms;
    for (const Operand& operand : index) forms.push_back(forms_.Of(operand));
    for (const std::vector<Computed>& scope : computed_) {
      for (const Computed& known : scope) {
        if (known.body == &body && SameForms(known.index, forms)) return known.values;
      }
    }
    const Block* copy = ir::CloneBlock(arena(), body);
    for (size_t k = 0; k < index.size(); ++k) Replace(copy->params[k], index[k]);
    const bool copying = std::exchange(copying_, true);
    for (const Binding* b : copy->bindings) Visit(b);
    copying_ = copying;
    std::vector<Operand> values = Apply(copy->results);
    computed_.back().push_back({&body, std::move(forms), values});
    return values;
  }

  ProducerChooser chooser_;
  WrappingForms forms_;
  std::unordered_map<const Var*, Producer> producers_;
  std::vector<std::vector<Computed>> computed_;  // by the blocks being written, outermost first
  int depth_ = 0;                                // of the block being written
  int kept_depth_ = -1;   // Producers of no greater depth are not put into what is being written.
  bool copying_ = false;  // What is visited is the copy of a producer's block.
  bool in_nest_ = false;  // or the block of an element of a nest.
};

}  // namespace

ir::Program FuseProducers(const ir::Program& program, bool elements_only, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Fuser(program.arena.get(), *function, elements_only, context).Run(function);
  });
}

}  // namespace parakeet::passes
