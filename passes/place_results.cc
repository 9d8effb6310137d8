// Writes results where they are to be: rows straight into the array of rows, and an imap's result
// over an array that ends there.
//
// Before:
//   %r: [n][m]f64 = imap (%i) in (%n) {
//     %row: [m]f64 = imap (%j) in (%m) { ... yield %v }
//     ... load %row[%k] ...
//     yield %row }
//   %s: [n]f64 = imap (%i) in (%n) { %a: f64 = load %t[%i]  ... yield %w }    the last read of %t
// After:
//   %r: [n][m]f64 = alloc (%n, %m)
//   foreach (%i) in (%n) {
//     foreach (%j) in (%m) { ... store %r[%i, %j], %v }
//     ... load %r[%i, %k] ... }
//   foreach (%i) in (%n) { %a: f64 = load %t[%i]  ... store %t[%i], %w }    and %t is %s
//
// A loop whose carried array is so written over carries it no more.
//
// Assumes: index form; fusion is over, which wants values and not stores.
// Refuses: rows that are made by other than imaps and allocs, or seen as a whole by other than
// their block; and reuse of what is another's, of another type, read at other indexes, or seen
// afterwards (find_reuse.h). An error within leaves arrays half written, which nobody sees.
#include <algorithm>
#include <unordered_map>

#include "passes/carried_values.h"
#include "passes/find_reuse.h"
#include "passes/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Writes imaps as what stores their values.
class ResultWriter : public LoopWriter {
 protected:
  using LoopWriter::LoopWriter;

  void Allocate(const Var* result) {
    builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
  }

  // A foreach of the imap's block, then of what `store` writes of its values.
  void WriteForeach(const Binding& imap, const std::function<void(const Operands&)>& store) {
    const std::vector<const Var*>& params = imap.blocks[0]->params;
    const Block* body = BlockOf(params, [&] {
      store(VisitBody(*imap.blocks[0], Operands(params.begin(), params.end())));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, Apply(imap.operands), imap.attrs, {body});
  }
};

// Writes imaps over arrays that end there.
class Reuser : public ResultWriter {
 public:
  Reuser(ir::Arena* arena, const ir::Function& function, const ReuseFinder& finder)
      : ResultWriter(arena), finder_(finder), definitions_(ir::Definitions(*function.body)) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kImap) return VisitImap(*b);
    if (b->op == OpCode::kIf || IsLoop(b->op)) return VisitJoin(*b);
    Mutator::Visit(b);
  }

 private:
  void VisitImap(const Binding& b) {
    const bool reuses = std::any_of(b.results.begin(), b.results.end(),
                                    [&](const Var* result) { return finder_.ReusedBy(result); });
    if (!reuses) return Mutator::Visit(&b);
    for (const Var* result : b.results) {
      const Var* array = finder_.ReusedBy(result);
      array != nullptr ? Replace(result, array) : Allocate(result);
    }
    WriteForeach(b, [&](const Operands& values) {
      const std::vector<const Var*>& params = b.blocks[0]->params;
      for (size_t k = 0; k < values.size(); ++k)
        builder().Store(Apply(b.results[k]), {params.begin(), params.end()}, values[k]);
    });
  }

  // What a loop carries or an `if` chooses between, when it is one array all the time, is that
  // array.
  void VisitJoin(const Binding& b) {
    std::vector<bool> keeps;
    for (size_t k = 0; k < b.results.size(); ++k) {
      const Var* always = AlwaysOf(b, k);
      keeps.push_back(always == nullptr);
      if (always == nullptr) continue;
      Replace(b.results[k], always);
      if (b.op == OpCode::kIf) continue;
      for (const Block* block : b.blocks) Replace(block->params[FirstCarried(b) + k], always);
    }
    builder().Append(KeepResults(arena(), *Rewrite(&b), keeps));
  }

  // The array, defined before, that result `k` of an `if` or loop is; null when it depends.
  const Var* AlwaysOf(const Binding& b, size_t k) const {
    if (!b.results[k]->type.IsArray()) return nullptr;
    const Var* last = Once(b.blocks.back()->results[k].var());
    if (b.op == OpCode::kIf) return Once(b.blocks[0]->results[k].var()) == last ? last : nullptr;
    const bool is_kept = last == b.blocks.back()->params[FirstCarried(b) + k];
    return is_kept ? b.operands[FirstInit(b) + k].var() : nullptr;
  }

  // The array under the name that it has before all reuse.
  const Var* Once(const Var* array) const {
    if (const Var* reused = finder_.ReusedBy(array)) return Once(reused);
    const auto found = definitions_.find(array);
    if (found == definitions_.end()) return array;
    const Binding& b = *found->second;
    if (b.op != OpCode::kIf && !IsLoop(b.op)) return array;
    const size_t k = std::find(b.results.begin(), b.results.end(), array) - b.results.begin();
    const Var* always = AlwaysOf(b, k);
    return always == nullptr ? array : Once(always);
  }

  const ReuseFinder& finder_;
  const std::unordered_map<const Var*, const Binding*> definitions_;
};

// Writes the rows that imaps yield straight into their results.
class RowPlacer : public ResultWriter {
 public:
  RowPlacer(ir::Arena* arena, Context& context) : ResultWriter(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_placed =
        !b->results.empty() && std::any_of(b->results.begin(), b->results.end(),
                                           [&](const Var* r) { return places_.contains(r); });
    if (b->op == OpCode::kLoad || b->op == OpCode::kStore) return VisitAccess(*b);
    if (b->op == OpCode::kAlloc && is_placed) return;
    if (b->op != OpCode::kImap || !(is_placed || YieldsNewRows(*b))) return Mutator::Visit(b);
    for (const Var* result : b->results) {
      if (places_.contains(result)) continue;
      Allocate(result);
      places_[result] = {result, {}};
    }
    WriteInto(*b);
  }

 private:
  // Where an array lies: at an index of the leading axes of another.
  struct Place {
    const Var* array;
    Operands index;
  };

  void VisitAccess(const Binding& b) {
    const auto found = places_.find(b.operands[0].var());
    if (found == places_.end() || found->second.array == found->first) return Mutator::Visit(&b);
    Binding copy = b;
    copy.operands = Apply(b.operands);
    copy.operands[0] = found->second.array;
    copy.operands.insert(copy.operands.begin() + 1, found->second.index.begin(),
                         found->second.index.end());
    builder().Append(arena()->New(std::move(copy)));
  }

  // True when some row that the block yields can be made in its place. The others are said.
  bool YieldsNewRows(const Binding& imap) {
    bool some = false;
    for (const Operand& row : imap.blocks[0]->results) {
      if (!ir::TypeOf(row).IsArray()) continue;
      const std::string reason = WhyNotPlaced(*imap.blocks[0], row.var());
      some |= reason.empty();
      if (!reason.empty()) context_.Note(imap.span, "its rows are copied: " + reason);
    }
    return some;
  }

  static std::string WhyNotPlaced(const Block& block, const Var* row) {
    const std::string name = NameOf(row);
    const auto maker = std::find_if(block.bindings.begin(), block.bindings.end(), [&](auto* b) {
      return std::find(b->results.begin(), b->results.end(), row) != b->results.end();
    });
    if (maker == block.bindings.end()) return name + " is made outside";
    if ((*maker)->op != OpCode::kImap && (*maker)->op != OpCode::kAlloc)
      return name + " is made by " + std::string(Name((*maker)->op));
    if (std::count(block.results.begin(), block.results.end(), Operand(row)) > 1)
      return name + " is yielded twice";
    std::string reason;
    ir::ForEachBinding(block, [&](const Binding& b) {
      const bool accesses = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      const bool is_passed = std::count(b.operands.begin(), b.operands.end(), Operand(row)) > 0;
      if (is_passed && !accesses) reason = name + " is passed on by " + std::string(Name(b.op));
      for (const Block* inner : b.blocks) {
        if (std::count(inner->results.begin(), inner->results.end(), Operand(row)) > 0)
          reason = name + " is passed on by " + std::string(Name(b.op));
      }
    });
    return reason;
  }

  // The imap as a foreach that stores into the places of its results.
  void WriteInto(const Binding& imap) {
    const Block& block = *imap.blocks[0];
    std::vector<Place> places;
    std::vector<bool> is_placed;
    for (size_t k = 0; k < imap.results.size(); ++k) {
      Place place = places_.at(imap.results[k]);
      place.index.insert(place.index.end(), block.params.begin(), block.params.end());
      const Operand& row = block.results[k];
      is_placed.push_back(ir::TypeOf(row).IsArray() && WhyNotPlaced(block, row.var()).empty());
      if (is_placed.back()) places_[row.var()] = place;
      places.push_back(std::move(place));
    }
    WriteForeach(imap, [&](const Operands& values) {
      for (size_t k = 0; k < values.size(); ++k) {
        if (!is_placed[k]) StoreInto(places[k], values[k]);
      }
    });
  }

  // Stores a scalar, or copies an array, to a place.
  void StoreInto(const Place& place, const Operand& value) {
    const ir::Type type = ir::TypeOf(value);
    if (!type.IsArray()) return builder().Store(place.array, place.index, value);
    std::vector<const Var*> params;
    for (int axis = 0; axis < type.rank(); ++axis)
      params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* body = BlockOf(params, [&] {
      Operands index = place.index;
      index.insert(index.end(), params.begin(), params.end());
      const Operand element = builder().Load(value, {params.begin(), params.end()});
      builder().Store(place.array, index, element);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, type.dims(), {}, {body});
  }

  Context& context_;
  std::unordered_map<const Var*, Place> places_;
};

}  // namespace

ir::Program PlaceResults(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    ir::Arena* arena = program.arena.get();
    const ReuseFinder finder(*function);
    for (const auto& [imap, reason] : finder.refusals())
      context.Note(imap->span, "not in place: " + reason);
    const ir::Function* reused = Reuser(arena, *function, finder).Run(function);
    return RowPlacer(arena, context).Run(reused);
  });
}

}  // namespace parakeet::passes
