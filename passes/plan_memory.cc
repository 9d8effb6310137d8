// Gives arrays back as soon as nothing reads them any more.
//
// Before:
//   %a: [n]f64 = alloc (%n)
//   %r: [n]f64 = for %t in 0 to %k step 1 (%b: [n]f64 = %a) {
//     %c: [n]f64 = alloc (%n)
//     ... reads %b, writes %c
//     yield %c }
//   ... the last read of %r
//   ... more
// After:
//   %a: [n]f64 = alloc (%n)
//   %r: [n]f64 = for %t in 0 to %k step 1 (%b: [n]f64 = %a) {
//     %c: [n]f64 = alloc (%n)
//     ... reads %b, writes %c
//     free %b unless (%c)
//     yield %c }
//   ... the last read of %r
//   free %r
//   ... more
//
// Where a value ends is known from the text; whether another one that goes on has the same buffer
// is asked when the program runs (`free %b unless (%c)`), and only of those that may. An initial
// value that ends with its loop is the loop's own to give back; so at most two buffers are held for
// an array that is replaced in each of a million iterations.
//
// Assumes: scheduled IR; an error or the end of the call frees what is still held; an argument's
// memory is never freed.
// Refuses: what leaves its function; its caller owns that.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class MemoryPlanner {
 public:
  MemoryPlanner(ir::Arena* arena, const ir::Function& function) : arena_(arena), roots_(function) {
    Holders params;
    for (const ir::Param& param : function.params) {
      AddHolder(param.var);
      Add(param.var, params);
      for (const Var* root : roots_.Of(param.var)) outside_.insert(root);
    }
    NumberHolders(*function.body);
    body_ = Plan(*function.body, params, {});
  }

  const Block* body() const { return body_; }

 private:
  // Values that hold a buffer, by the order of their definitions. A view holds what it is a view
  // of.
  using Holders = std::set<int>;

  void NumberHolders(const Block& block) {
    for (const Var* param : block.params) AddHolder(param);
    for (const Binding* b : block.bindings) {
      for (const Block* inner : b->blocks) NumberHolders(*inner);
      for (const Var* result : b->results) {
        if (!ir::IsView(b->op)) {
          AddHolder(result);
        } else if (result->type.IsArray()) {
          numbers_[result] = numbers_.at(b->operands[0].var());
        }
      }
    }
  }

  void AddHolder(const Var* var) {
    if (!var->type.IsArray()) return;
    numbers_[var] = static_cast<int>(holders_.size());
    holders_.push_back(var);
  }

  void Add(const Operand& value, Holders& to) const {
    if (value.IsVar() && value.var()->type.IsArray()) to.insert(numbers_.at(value.var()));
  }

  template <typename Values>
  void AddAll(const Values& values, Holders& to) const {
    for (const auto& value : values) Add(value, to);
  }

  // What the binding, its blocks included, takes from outside.
  Holders UsesOf(const Binding& b) const {
    Holders uses;
    if (b.blocks.empty()) AddAll(b.operands, uses);
    else AddAll(ir::FreeVars(b), uses);
    return uses;
  }

  // Most bindings are of numbers, and nothing begins or ends at them.
  static bool MeetsArrays(const Binding& b) {
    const auto is_array = [](const Operand& value) {
      return value.IsVar() && value.var()->type.IsArray();
    };
    return !b.blocks.empty() || std::any_of(b.results.begin(), b.results.end(), is_array) ||
           std::any_of(b.operands.begin(), b.operands.end(), is_array);
  }

  // The block with its ends written. `live` goes on behind it; of its parameters, `owned` are its
  // own to give back.
  const Block* Plan(const Block& block, Holders live, const Holders& owned) {
    AddAll(block.results, live);
    Holders own = owned;
    for (const Binding* b : block.bindings) AddAll(b->results, own);
    std::vector<const Binding*> backwards;
    for (size_t at = block.bindings.size(); at-- > 0;) {
      const Binding* b = block.bindings[at];
      if (!MeetsArrays(*b)) {
        backwards.push_back(b);
        continue;
      }
      Holders made;
      AddAll(b->results, made);
      const Holders uses = UsesOf(*b);
      Holders ending = Without(Common(Union(uses, made), own), live);
      const Holders passed_on = InitsOf(*b, ending);
      ending = Without(ending, passed_on);
      if (!ending.empty()) AppendFrees(ending, live, backwards);
      live = Without(std::move(live), made);
      backwards.push_back(b->blocks.empty() ? b
                                            : PlanBlocks(b, Union(live, Without(uses, passed_on))));
      live = Union(std::move(live), uses);
    }
    AppendFrees(Without(owned, live), live, backwards);
    if (std::equal(backwards.rbegin(), backwards.rend(), block.bindings.begin(),
                   block.bindings.end())) {
      return &block;
    }
    Block planned = block;
    planned.bindings.assign(backwards.rbegin(), backwards.rend());
    return arena_->New(std::move(planned));
  }

  // The binding with its blocks planned; `live` is what none of them may give back.
  const Binding* PlanBlocks(const Binding* b, const Holders& live) {
    std::vector<const Block*> blocks;
    const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
    for (const Block* block : b->blocks) {
      Holders params;
      AddAll(block->params, params);
      // A condition's parameters are its body's too.
      const bool owns = is_loop && block == b->blocks.back();
      blocks.push_back(owns ? Plan(*block, live, params) : Plan(*block, Union(live, params), {}));
    }
    if (blocks == b->blocks) return b;
    Binding planned = *b;
    planned.blocks = std::move(blocks);
    return arena_->New(std::move(planned));
  }

  // Of what ends at a loop, what only begins it: each trip may give its own back.
  Holders InitsOf(const Binding& b, const Holders& ending) const {
    const bool is_for = b.op == OpCode::kFor;
    if (!is_for && b.op != OpCode::kWhile) return {};
    Holders inits;
    for (size_t k = is_for ? 3 : 0; k < b.operands.size(); ++k) Add(b.operands[k], inits);
    for (const Block* block : b.blocks) {
      Holders inside;
      AddAll(ir::FreeVars(*block), inside);
      inits = Without(inits, inside);
    }
    return Common(inits, ending);
  }

  // Appends, last first, the ends of `ending` at a place where `live` goes on.
  void AppendFrees(const Holders& ending, Holders live, std::vector<const Binding*>& backwards) {
    for (auto at = ending.rbegin(); at != ending.rend(); ++at) {
      const Var* array = holders_[*at];
      if (MayBeOurs(array)) {
        Binding free{OpCode::kFree, {}, {array}, {}, {}, {}};
        for (const int other : live) {
          if (roots_.MayShare(array, holders_[other])) free.operands.push_back(holders_[other]);
        }
        backwards.push_back(arena_->New(std::move(free)));
      }
      // It goes on while those before it end.
      live.insert(*at);
    }
  }

  // True when the array may be one that the function, or one it calls, made.
  bool MayBeOurs(const Var* array) const {
    const ir::VarSet& roots = roots_.Of(array);
    return std::any_of(roots.begin(), roots.end(),
                       [&](const Var* root) { return !outside_.contains(root); });
  }

  static Holders Union(Holders a, const Holders& b) {
    a.insert(b.begin(), b.end());
    return a;
  }
  static Holders Without(Holders a, const Holders& b) {
    for (const int holder : b) a.erase(holder);
    return a;
  }
  static Holders Common(const Holders& a, const Holders& b) { return Without(a, Without(a, b)); }

  ir::Arena* arena_;
  Roots roots_;
  ir::VarSet outside_;  // the parameters
  std::vector<const Var*> holders_;
  std::unordered_map<const Var*, int> numbers_;
  const Block* body_ = nullptr;
};

}  // namespace

ir::Program PlanMemory(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const Block* body = MemoryPlanner(program.arena.get(), *function).body();
    if (body == function->body) return function;
    ir::Function planned = *function;
    planned.body = body;
    return program.arena->New(std::move(planned));
  });
}

}  // namespace parakeet::passes
