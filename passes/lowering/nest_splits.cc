#include "passes/lowering/nest_splits.h"

#include <algorithm>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Operands = std::vector<Operand>;

// Loads elements of rows from the arrays of all rows.
class RowReader : public ir::Mutator {
 public:
  RowReader(ir::Arena* arena, const RowArrays& rows, Operands index)
      : Mutator(arena), rows_(rows), index_(std::move(index)) {}

  const Block* Read(const Block& block) { return VisitBlock(&block); }

 protected:
  void Visit(const Binding* b) override {
    const auto row = b->op == OpCode::kLoad ? rows_.find(b->operands[0].var()) : rows_.end();
    if (row == rows_.end()) return Mutator::Visit(b);
    Operands place = index_;
    for (size_t k = 1; k < b->operands.size(); ++k) place.push_back(Apply(b->operands[k]));
    Replace(b->result(), builder().Load(row->second, place, b->result()->hint));
  }

 private:
  const RowArrays& rows_;
  Operands index_;
};

class NestSplitter {
 public:
  NestSplitter(Builder& builder, const Binding& nest, const std::vector<NestPart>& parts,
               RowArrays kept, const Roots& roots, bool maps_values)
      : builder_(builder),
        nest_(nest),
        parts_(parts),
        rows_(std::move(kept)),
        roots_(roots),
        maps_values_(maps_values) {
    for (const NestPart& part : parts) owned_.insert(part.begin(), part.end());
  }

  std::string Split() {
    std::string reason = WhyNotRepeated();
    for (size_t k = 0; k < parts_.size(); ++k) blocks_.push_back(BlockOfPart(k));
    if (reason.empty()) reason = FindCrossing();
    if (!reason.empty()) return reason;
    for (const Var* value : crossing_) {
      if (!IsMap(made_.at(value))) Allocate(value);
    }
    for (size_t k = 0; k < parts_.size(); ++k) WritePart(k);
    return "";
  }

 private:
  const Block& body() const { return *nest_.blocks[0]; }

  std::string WhyNotRepeated() const {
    std::vector<const Var*> stored;
    ir::ForEachBinding(body(), [&](const Binding& b) {
      for (const size_t operand : ir::StoredOperands(b))
        stored.push_back(b.operands[operand].var());
    });
    for (const Binding* b : body().bindings) {
      if (b->op == OpCode::kCheck) return "the rows themselves are checked";
      if (b->op != OpCode::kLoad || owned_.contains(b)) continue;
      for (const Var* array : stored) {
        if (roots_.MayShare(array, b->operands[0].var()))
          return "what it stores over is read before";
      }
    }
    return "";
  }

  // Its own bindings, and those repeated that these need, in order.
  Block BlockOfPart(size_t part) const {
    Block block{body().params, {}, {}};
    ir::VarSet needed;
    for (size_t k = body().bindings.size(); k-- > 0;) {
      const Binding& b = *body().bindings[k];
      const bool is_own = std::count(parts_[part].begin(), parts_[part].end(), &b) > 0;
      const bool is_needed = IsRepeated(b) && !owned_.contains(&b) && needed.contains(b.result());
      if (!is_own && !is_needed) continue;
      needed.merge(ir::FreeVars(b));
      block.bindings.insert(block.bindings.begin(), &b);
    }
    return block;
  }

  // What parts read that others make.
  std::string FindCrossing() {
    std::unordered_map<const Var*, size_t> made;
    for (size_t k = 0; k < parts_.size(); ++k) {
      for (const Binding* b : parts_[k])
        for (const Var* result : b->results) made[result] = k;
    }
    const ir::VarSet inside = ir::DefinedVars(body());
    for (size_t k = 0; k < parts_.size(); ++k) {
      // In order of definition.
      const ir::VarSet free = ir::FreeVars(blocks_[k]);
      for (const Binding* b : body().bindings) {
        for (const Var* value : b->results) {
          const auto maker = made.find(value);
          if (!free.contains(value) || maker == made.end()) continue;
          if (maker->second > k) return "its operators need one another's results";
          if (b->op == OpCode::kAlloc) return "an array of the row's own is stored to";
          for (const Operand& size : value->type.dims()) {
            if (inside.contains(size.var())) return "rows have lengths of their own";
          }
          if (!rows_.contains(value) && std::count(crossing_.begin(), crossing_.end(), value) == 0)
            crossing_.push_back(value);
        }
      }
    }
    ir::VarSet rows;
    for (const auto& [row, array] : rows_) rows.insert(row);
    for (const Var* value : crossing_) {
      if (value->type.IsArray()) rows.insert(value);
    }
    for (size_t k = 0; k < parts_.size(); ++k) {
      ir::VarSet others;
      for (const Var* row : rows) {
        if (made.at(row) != k) others.insert(row);
      }
      if (!LoadsAlone(blocks_[k], others)) return "a row is passed on as a whole";
    }
    made_ = std::move(made);
    return "";
  }

  // Of the value in all iterations.
  ir::Type TypeOfAll(const Var* value) const {
    Operands dims = nest_.operands;
    const auto& own = value->type.IsArray() ? value->type.dims() : Operands{};
    dims.insert(dims.end(), own.begin(), own.end());
    return ir::Type::Array(value->type.dtype(), dims);
  }

  void Allocate(const Var* value) {
    const ir::Type type = TypeOfAll(value);
    arrays_[value] = builder_.EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, value->hint);
  }

  // Whether the part is written as a map: it may be, and stores to nothing but rows of its own.
  bool IsMap(size_t part) const {
    if (!maps_values_) return false;
    const ir::VarSet inside = ir::DefinedVars(body());
    const NestPart& own = parts_[part];
    return std::all_of(own.begin(), own.end(), [&](const Binding* b) {
      const ir::VarSet written = EffectsOf(*b, roots_).writes;
      return b->op != OpCode::kStore && b->op != OpCode::kForeach &&
             std::all_of(written.begin(), written.end(),
                         [&](const Var* root) { return inside.contains(root); });
    });
  }

  void WritePart(size_t part) {
    const bool is_map = IsMap(part);
    Builder inner = builder_.Nested();
    ir::Substitution values;
    Operands index;
    std::vector<const Var*> params;
    for (const Var* param : body().params) {
      params.push_back(inner.NewVar(param->type, param->hint));
      index.push_back(params.back());
      values[param] = index.back();
    }
    RowArrays rows;
    for (const auto& [row, array] : rows_) {
      if (made_.at(row) != part) rows[row] = array;
    }
    Block block = blocks_[part];
    const ir::VarSet free = ir::FreeVars(block);
    for (const Var* value : crossing_) {
      if (made_.at(value) == part) {
        if (!is_map) AppendStore(block, value);
      } else if (made_.at(value) > part) {
        continue;
      } else if (value->type.IsArray()) {
        rows[value] = arrays_.at(value);
      } else if (free.contains(value)) {
        values[value] = inner.Load(arrays_.at(value), index, value->hint);
      }
    }
    const Operands old_index(body().params.begin(), body().params.end());
    std::vector<const Var*> yielded;
    if (is_map) {
      for (const Var* value : crossing_) {
        if (made_.at(value) != part) continue;
        block.results.push_back(value);
        arrays_[value] = builder_.NewVar(TypeOfAll(value), value->hint);
        yielded.push_back(arrays_.at(value));
      }
    }
    const Block* read = RowReader(builder_.arena(), rows, old_index).Read(block);
    const Operands results = ir::InlineBlock(inner, *read, values);
    builder_.set_span(nest_.span);
    if (is_map) {
      builder_.Emit(OpCode::kImap, yielded, nest_.operands, nest_.attrs,
                    {inner.Finish(std::move(params), results)});
      return;
    }
    Operands extents = nest_.operands;
    const Block* all = inner.Finish(std::move(params), {});
    if (const Binding* loop = LoopAtEnd(*all)) all = Flattened(*all, *loop, extents);
    builder_.Emit(OpCode::kForeach, {}, std::move(extents), nest_.attrs, {all});
  }

  // A foreach that only scalar code and loads are before; null where there is none, or where these
  // say how long it is.
  static const Binding* LoopAtEnd(const Block& block) {
    const Binding* last = block.bindings.back();
    if (last->op != OpCode::kForeach) return nullptr;
    ir::VarSet inside(block.params.begin(), block.params.end());
    for (const Binding* b : block.bindings) {
      if (b != last && !IsRepeated(*b)) return nullptr;
      inside.insert(b->results.begin(), b->results.end());
    }
    const bool is_known = std::none_of(last->operands.begin(), last->operands.end(),
                                       [&](auto& size) { return inside.contains(size.var()); });
    return is_known ? last : nullptr;
  }

  // The block over the indexes of the loop too.
  const Block* Flattened(const Block& block, const Binding& loop, Operands& extents) const {
    Block flat = block;
    const Block& inner = *loop.blocks[0];
    flat.bindings.pop_back();
    flat.bindings.insert(flat.bindings.end(), inner.bindings.begin(), inner.bindings.end());
    flat.params.insert(flat.params.end(), inner.params.begin(), inner.params.end());
    extents.insert(extents.end(), loop.operands.begin(), loop.operands.end());
    return builder_.arena()->New(std::move(flat));
  }

  // Of what the part makes for others.
  void AppendStore(Block& block, const Var* value) {
    Builder store = builder_.Nested();
    Operands place(body().params.begin(), body().params.end());
    if (!value->type.IsArray()) {
      store.Store(arrays_.at(value), place, value);
    } else {
      Builder each = builder_.Nested();
      std::vector<const Var*> inner;
      for (size_t axis = 0; axis < value->type.dims().size(); ++axis) {
        inner.push_back(each.NewVar(ir::DType::kI64, "j"));
        place.push_back(inner.back());
      }
      const Operands own(inner.begin(), inner.end());
      each.Store(arrays_.at(value), place, each.Load(value, own));
      store.Emit(OpCode::kForeach, {}, value->type.dims(), {}, {each.Finish(inner, {})});
    }
    block.bindings.insert(block.bindings.end(), store.bindings().begin(), store.bindings().end());
  }

  Builder& builder_;
  const Binding& nest_;
  const std::vector<NestPart>& parts_;
  RowArrays rows_;  // Whose parts store them.
  const Roots& roots_;
  const bool maps_values_;
  std::unordered_set<const Binding*> owned_;  // by some part
  std::vector<Block> blocks_;                 // of the parts
  std::unordered_map<const Var*, size_t> made_;
  std::vector<const Var*> crossing_;
  std::unordered_map<const Var*, const Var*> arrays_;
};

}  // namespace

bool LoadsAlone(const Block& block, const ir::VarSet& arrays) {
  int loads = 0, uses = 0;
  ir::ForEachBinding(block, [&](const Binding& b) {
    loads += b.op == OpCode::kLoad && arrays.contains(b.operands[0].var());
  });
  ir::ForEachUse(block, [&](const Var* var) { uses += arrays.contains(var); });
  return loads == uses;
}

bool IsRepeated(const Binding& b) { return ir::IsScalarOp(b.op) || b.op == OpCode::kLoad; }

std::string SplitNest(Builder& builder, const Binding& nest, const std::vector<NestPart>& parts,
                      RowArrays kept, const Roots& roots) {
  return NestSplitter(builder, nest, parts, std::move(kept), roots, false).Split();
}

std::string SplitIntoMaps(Builder& builder, const Binding& nest, const std::vector<NestPart>& parts,
                          const Roots& roots) {
  return NestSplitter(builder, nest, parts, {}, roots, true).Split();
}

}  // namespace parakeet::passes
