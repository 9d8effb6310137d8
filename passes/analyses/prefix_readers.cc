#include "passes/analyses/prefix_readers.h"

#include <algorithm>
#include <optional>

#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/scan_costs.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What costs more takes lanes, which a scan has not; threads of a GPU have none.
constexpr int kDearReader = 12;
constexpr int kDearOnDevice = 128;

class ReaderFinder {
 public:
  ReaderFinder(const ir::Function& function, bool for_kernels)
      : for_kernels_(for_kernels), roots_(function), definitions_(ir::Definitions(*function.body)) {
    ir::ForEachUse(*function.body, [&](const Var* value) { ++uses_[value]; });
    FindIn(*function.body);
  }

  std::unordered_map<const Binding*, PrefixReader> Take() { return std::move(found_); }

 private:
  void FindIn(const Block& block) {
    std::vector<const Binding*> waiting;  // Scans that may as well be written further down.
    for (const Binding* b : block.bindings) {
      if (IsNest(*b)) FindReader(*b, waiting);
      std::erase_if(waiting, [&](const Binding* scan) { return !MayStandBehind(*scan, *b); });
      if (b->op == OpCode::kIscan) waiting.push_back(b);
      for (const Block* inner : b->blocks) FindIn(*inner);
    }
  }

  // Of the last scan that it can be written with.
  void FindReader(const Binding& nest, const std::vector<const Binding*>& waiting) {
    for (auto scan = waiting.rbegin(); scan != waiting.rend(); ++scan) {
      if (auto reader = ReaderOf(**scan, nest)) return void(found_.emplace(&nest, *reader));
    }
  }

  bool MayStandBehind(const Binding& scan, const Binding& b) const {
    if (Reads(b, scan)) return false;
    if (ir::IsScalarOp(b.op)) return true;
    const ir::VarSet writes = EffectsOf(b, roots_).writes;
    return writes.empty() || !Intersects(EffectsOf(scan, roots_).reads, writes);
  }

  static bool IsNest(const Binding& b) { return b.op == OpCode::kForeach || b.op == OpCode::kImap; }

  static bool Reads(const Binding& b, const Binding& scan) {
    const ir::VarSet read = ir::FreeVars(b);
    return std::any_of(scan.results.begin(), scan.results.end(),
                       [&](const Var* result) { return read.contains(result); });
  }

  // True for a scan that is written with each prefix at hand once, whatever becomes of it.
  bool PutsPrefixes(const Binding& scan) const {
    if (!for_kernels_) return !NeedsItsArrays(scan);
    return scan.attrs.Int(Attr::kParallel) != 0 && scan.attrs.Int(Attr::kLanes) > 1 &&
           HasElementsInShared(scan);
  }

  std::optional<PrefixReader> ReaderOf(const Binding& scan, const Binding& nest) const {
    if (nest.operands.size() != 1 || nest.operands[0] != scan.operands[0] || !Reads(nest, scan) ||
        scan.blocks[0]->params.size() != 1 || !PutsPrefixes(scan))
      return std::nullopt;
    for (const Operand& result : scan.blocks[1]->results) {
      if (!ir::TypeOf(result).IsScalar()) return std::nullopt;
    }
    const Block& block = *nest.blocks[0];
    if (CostOf(block) > (for_kernels_ ? kDearOnDevice : kDearReader) || !IsPlain(nest) ||
        !StoresAreApart(scan, nest))
      return std::nullopt;
    return WithValues(scan, nest);
  }

  // Neither loops nor what may raise; nothing but numbers is yielded.
  bool IsPlain(const Binding& nest) const {
    bool is_plain = !EffectsOf(nest, roots_).may_fail;
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                  b.op == OpCode::kIf;
    });
    for (const Operand& result : nest.blocks[0]->results) is_plain &= ir::TypeOf(result).IsScalar();
    return is_plain;
  }

  // True where each element of the scan reads what the nest stores to only where it does so itself.
  bool StoresAreApart(const Binding& scan, const Binding& nest) const {
    const Effects elements = EffectsOf(*scan.blocks[0], roots_);
    if (!elements.IsPure() || !EffectsOf(*scan.blocks[1], roots_).IsPure()) return false;
    const Effects stored = EffectsOf(nest, roots_);
    if (!Intersects(elements.reads, stored.writes)) return true;
    bool are_apart = true;
    ir::ForEachBinding(*scan.blocks[0], [&](const Binding& load) {
      const Effects effects = EffectsOf(load, roots_);
      if (!Intersects(effects.reads, stored.writes)) return;
      const bool is_load = load.op == OpCode::kLoad;
      ir::ForEachBinding(*nest.blocks[0], [&](const Binding& store) {
        if (store.op != OpCode::kStore ||
            !roots_.MayShare(store.operands[0].var(), load.operands[0].var()))
          return;
        are_apart = are_apart && is_load && IsSamePlace(scan, load, nest, store);
      });
      are_apart = are_apart && is_load;
    });
    return are_apart;
  }

  bool IsSamePlace(const Binding& scan, const Binding& load, const Binding& nest,
                   const Binding& store) const {
    if (load.operands[0] != store.operands[0]) return false;
    for (size_t axis = 1; axis < load.operands.size(); ++axis) {
      if (!IsSame(load.operands[axis], scan.blocks[0]->params[0], store.operands[axis],
                  nest.blocks[0]->params[0]))
        return false;
    }
    return true;
  }

  // Whether two indexes are one, each of its own parameter.
  bool IsSame(const Operand& a, const Var* of_a, const Operand& b, const Var* of_b) const {
    if (a == Operand(of_a) || b == Operand(of_b)) return a == Operand(of_a) && b == Operand(of_b);
    if (a == b) return true;
    const Binding* one = DefinitionOf(a);
    const Binding* other = DefinitionOf(b);
    if (one == nullptr || other == nullptr || !ir::IsScalarOp(one->op) || one->op != other->op ||
        one->attrs != other->attrs || one->operands.size() != other->operands.size())
      return false;
    for (size_t k = 0; k < one->operands.size(); ++k) {
      if (!IsSame(one->operands[k], of_a, other->operands[k], of_b)) return false;
    }
    return true;
  }

  const Binding* DefinitionOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  // The reader whose body takes values in the place of its loads of them.
  std::optional<PrefixReader> WithValues(const Binding& scan, const Binding& nest) const {
    PrefixReader reader{&scan, &nest, *nest.blocks[0], {}, {}};
    const Operand index(reader.body.params[0]);
    for (size_t k = 0; k < scan.results.size(); ++k) {
      const Var* prefixes = scan.results[k];
      int taken = 0, stored = 0, used = 0;
      for (const Binding* b : nest.blocks[0]->bindings) {
        if (b->operands.empty() || b->operands[0] != Operand(prefixes)) continue;
        if (b->operands.size() < 2 || b->operands[1] != index) return std::nullopt;
        if (b->op == OpCode::kLoad && ++taken == 1 && stored == 0) {
          reader.body.params.push_back(b->result());
          std::erase(reader.body.bindings, b);
        }
        stored += b->op == OpCode::kStore;
      }
      ir::ForEachUse(nest, [&](const Var* value) { used += value == prefixes; });
      if (taken > 1 || stored > 1 || used != taken + stored) return std::nullopt;
      if (taken == 1) reader.takes.push_back(k);
      const bool is_read_elsewhere = uses_.contains(prefixes) && uses_.at(prefixes) > used;
      if (stored == 1) {
        reader.arrays.push_back(PrefixReader::kReused);
      } else {
        reader.arrays.push_back(is_read_elsewhere ? PrefixReader::kStored : PrefixReader::kLeftOut);
      }
    }
    // A load behind the store is what has been stored.
    const bool takes_all = reader.body.params.size() == 1 + reader.takes.size();
    return takes_all ? std::optional(std::move(reader)) : std::nullopt;
  }

  const bool for_kernels_;
  const Roots roots_;
  const ir::DefinitionMap definitions_;
  std::unordered_map<const Var*, int> uses_;
  std::unordered_map<const Binding*, PrefixReader> found_;
};

}  // namespace

std::unordered_map<const Binding*, PrefixReader> FindPrefixReaders(const ir::Function& function,
                                                                   bool for_kernels) {
  return ReaderFinder(function, for_kernels).Take();
}

}  // namespace parakeet::passes
