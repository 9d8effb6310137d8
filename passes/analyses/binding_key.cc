#include "passes/analyses/binding_key.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class KeyWriter {
 public:
  std::string Key(const Binding& b) {
    key_.reserve(kUsualLength);
    Write(b, true);
    return std::move(key_);
  }

 private:
  static constexpr size_t kUsualLength = 128;

  template <typename T>
  void Put(const T& value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void Write(const Operand& operand) {
    if (operand.IsConstant()) {
      const ir::Constant& c = operand.constant();
      key_ += 'c';
      Put(c.dtype);
      Put(c.integer);
      Put(c.real);
      Put(c.imag);
      return;
    }
    const auto inside = numbers_.find(operand.var());
    key_ += inside == numbers_.end() ? 'v' : 'n';
    inside == numbers_.end() ? Put(operand.var()) : Put(inside->second);
  }

  void Write(const ir::Type& type) {
    Put(type.dtype());
    Put(type.lanes());
    Put(type.IsArray());
    for (const Operand& dim : type.dims()) Write(dim);
  }

  void WriteAttributes(const Binding& b) {
    for (const auto& [attr, value] : b.attrs.entries()) {
      Put(attr);
      if (const auto* number = std::get_if<int64_t>(&value)) Put(*number);
      if (const auto* text = std::get_if<std::string>(&value)) key_ += *text;
      if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
        for (const int64_t entry : *list) Put(entry);
      }
      key_ += ';';
    }
  }

  void Define(const Var* var) {
    Write(var->type);
    numbers_.emplace(var, static_cast<int>(numbers_.size()));
  }

  // Of what may fail only the values that decide it count, not the message or the place.
  static size_t CountingOperands(const Binding& b) {
    if (b.op == OpCode::kCheck) return 1;
    return b.op == OpCode::kBroadcastSize ? 2 : b.operands.size();
  }

  void Write(const Binding& b, bool is_outermost = false) {
    const size_t count = CountingOperands(b);
    Put(b.op);
    if (count == b.operands.size()) WriteAttributes(b);
    for (size_t k = 0; k < count; ++k) Write(b.operands[k]);
    for (const Block* block : b.blocks) Write(*block);
    // What nothing later can read needs no number.
    if (is_outermost && b.results.size() == 1) Write(b.result()->type);
    else
      for (const Var* result : b.results) Define(result);
    key_ += '.';
  }

  void Write(const Block& block) {
    key_ += '{';
    for (const Var* param : block.params) Define(param);
    for (const Binding* b : block.bindings) Write(*b);
    for (const Operand& result : block.results) Write(result);
    key_ += '}';
  }

  std::string key_;
  ir::FlatMap<const Var*, int> numbers_;
};

}  // namespace

std::string KeyOf(const Binding& binding) { return KeyWriter().Key(binding); }

const Binding* CountOnly(ir::Arena* arena, const Binding& filter) {
  const Block& block = *filter.blocks[0];
  Block kept{block.params, {}, {block.results[0]}};
  ir::VarSet needed = ir::FreeVars(Block{{}, {}, kept.results});
  for (auto it = block.bindings.rbegin(); it != block.bindings.rend(); ++it) {
    const std::vector<const Var*>& results = (*it)->results;
    const auto is_needed = [&](const Var* result) { return needed.contains(result); };
    if (std::none_of(results.begin(), results.end(), is_needed)) continue;
    kept.bindings.push_back(*it);
    needed.merge(ir::FreeVars(**it));
  }
  std::reverse(kept.bindings.begin(), kept.bindings.end());
  std::vector<Operand> operands = filter.operands;
  for (size_t k = operands.size(); filter.op == OpCode::kFilter && k-- > 0;) {
    if (needed.contains(kept.params[k]) || operands.size() == 1) continue;
    kept.params.erase(kept.params.begin() + static_cast<std::ptrdiff_t>(k));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return arena->New(Binding{filter.op,
                            {filter.results[0]},
                            std::move(operands),
                            {arena->New(std::move(kept))},
                            {},
                            filter.span});
}

}  // namespace parakeet::passes
