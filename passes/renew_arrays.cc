// Lets a step of a loop that stores to nearly all of an array what it makes of elements around
// store to another array: nothing is made apart first, and nothing copied back.
//
// Before:
//   for %t in 0 to %steps step 1 {
//     %new: [%h][%w]f64 = imap (%i, %j) in (%h, %w) { ... load %u[%i, %q] ...  yield %s }
//     foreach (%k, %l) in (%h, %w) {
//       %s = load %new[%k, %l]  %p = add %k, 1  %q = add %l, 1  store %u[%p, %q], %s } }
// After:
//   %v: [n][m]f64 = alloc (%n, %m)
//   foreach ... { ... store %v[%p, %q], (load %u[%p, %q]) }      for the edges of each axis
//   %last, %spare = for %t in 0 to %steps step 1 (%old = %u, %next = %v) {
//     foreach (%k, %l) in (%h, %w) {
//       %p = add %k, 1  %q = add %l, 1  ... load %old[%k, %q] ...  store %next[%p, %q], %s }
//     yield %next, %old }
// where two arrays take turns, alike at the edges. Where the loop stores to %u elsewhere too, there
// is a new array in each iteration, whose edges are copied there; on a GPU by an imap of all of it,
// which merge-regions makes one kernel with the region.
//
// A whole copy of %u that the step reads, or what comes behind it, is %old itself. An array that
// the loop's block has not made is copied back behind the loop.
//
// One step is written anew at a time: what a name may stand for is found out again behind each.
//
// Assumes: index form, behind fusion.
// Refuses: arrays of which the region is more than a few elements smaller, or that lie otherwise
// than in C order; those that others see where the loop may raise, or that may overlap; regions
// that do more than copy; what stands between the two and is more than arithmetic; on a GPU, maps
// that may raise or hold loops.
#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_copies.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// How much shorter a region may be than its array, along each axis.
constexpr int64_t kMostOutside = 16;

// How many elements of an axis a region leaves out, and how many of them lie before it.
struct Edge {
  int64_t outside = 0;
  int64_t before = 0;
};

// What a step does to one array. Numbers are of the bindings of the loop's body.
struct Part {
  const Var* array;
  size_t stored;               // the foreach that stores the region
  std::vector<Edge> edges;     // of the region, by axis; empty for one moved by what varies
  std::vector<size_t> copies;  // imaps that copy the array as it is when the step begins
  bool is_read = false;        // Where not, the step may store to the array itself.
  bool takes_turns = false;
};

// What is stored to one array, or to those for which one imap makes it.
struct Update {
  std::optional<size_t> made;  // the imap, where what is stored is made apart
  std::vector<Part> parts;

  size_t LastStored() const {
    size_t last = 0;
    for (const Part& part : parts) last = std::max(last, part.stored);
    return last;
  }
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

// The store that ends the block of a foreach that stores nothing else; null for another.
const Binding* StoreOf(const Binding& foreach) {
  const Block& body = *foreach.blocks[0];
  if (body.bindings.empty() || body.bindings.back()->op != OpCode::kStore) return nullptr;
  const Block before{body.params, {body.bindings.begin(), body.bindings.end() - 1}, {}};
  return IsPlain(before) ? body.bindings.back() : nullptr;
}

// The load of a foreach that copies elements and does arithmetic of indexes alone, at its own
// index.
const Binding* CopiedBy(const Binding& foreach) {
  const Block& body = *foreach.blocks[0];
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
  // Puts the arrays that it has renewed, as they are known behind their loops, to those before.
  Renewer(ir::Arena* arena, const ir::Function& function, Context& context, VarSet& renewed)
      : Mutator(arena),
        roots_(function),
        forms_(function),
        renewed_(renewed),
        context_(context),
        may_overlap_(!function.entry || function.may_overlap) {
    for (const ir::Param& param : function.params) {
      if (param.layout != ir::Layout::kC) turned_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.attrs.Has(ir::Attr::kFortran)) turned_.insert(b.results.begin(), b.results.end());
    });
  }

  bool has_renewed() const { return has_renewed_; }

 protected:
  const Block* VisitBlock(const Block* block) override {
    const Block* visited = Mutator::VisitBlock(block);
    for (size_t at = 0; at < visited->bindings.size() && !has_renewed_; ++at) {
      const Binding& b = *visited->bindings[at];
      const bool makes = b.op == OpCode::kImap || b.op == OpCode::kAlloc;
      for (const Var* result : b.results) {
        if (makes || renewed_.contains(result)) made_.insert(result);
      }
      const std::optional<Update> update =
          IsLoop(b.op) ? FindUpdate(*visited, at) : std::optional<Update>();
      if (!update) continue;
      has_renewed_ = true;
      return Renewed(*visited, at, *update);
    }
    return visited;
  }

 private:
  bool IsForKernels() const { return context_.options.kernels; }

  // A step of the loop at that place of the block.
  std::optional<Update> FindUpdate(const Block& block, size_t at) const {
    const Block& body = *block.bindings[at]->blocks.back();
    for (size_t stored = 0; stored < body.bindings.size(); ++stored) {
      const Binding& foreach = *body.bindings[stored];
      const Binding* store = foreach.op == OpCode::kForeach ? StoreOf(foreach) : nullptr;
      if (store == nullptr) continue;
      Update update = UpdateBy(body, stored);
      if (Complete(block, at, update)) return update;
    }
    return std::nullopt;
  }

  // The step that the foreach at that place is, or is a part of.
  Update UpdateBy(const Block& body, size_t stored) const {
    const Binding* load = CopiedBy(*body.bindings[stored]);
    for (size_t at = stored; load != nullptr && at-- > 0;) {
      const Binding& b = *body.bindings[at];
      const auto& results = b.results;
      if (std::find(results.begin(), results.end(), load->operands[0].var()) == results.end())
        continue;
      Update update{at, PartsOf(body, at)};
      if (!update.parts.empty()) return update;
    }
    return {std::nullopt, {PartAt(body, stored)}};
  }

  static Part PartAt(const Block& body, size_t stored) {
    return {StoreOf(*body.bindings[stored])->operands[0].var(), stored, {}, {}};
  }

  // Where each result of the imap goes, if that is nothing but elements of as many arrays, and
  // nothing else is done until then; else nothing.
  std::vector<Part> PartsOf(const Block& body, size_t made) const {
    const Binding& imap = *body.bindings[made];
    if (imap.op != OpCode::kImap) return {};
    if (IsForKernels() && !(IsPlain(*imap.blocks[0]) && imap.results.size() == 1)) return {};
    std::vector<Part> parts;
    for (size_t at = made + 1; parts.size() < imap.results.size(); ++at) {
      if (at == body.bindings.size()) return {};
      const Binding& b = *body.bindings[at];
      if (ir::IsScalarOp(b.op)) continue;
      const bool stores = b.op == OpCode::kForeach && StoreOf(b) != nullptr;
      const Binding* load = stores ? CopiedBy(b) : nullptr;
      if (load == nullptr || b.operands != imap.operands) return {};
      const Var* result = load->operands[0].var();
      const bool is_made =
          std::find(imap.results.begin(), imap.results.end(), result) != imap.results.end();
      if (!is_made || CountReaders(body, result) != 1) return {};
      parts.push_back(PartAt(body, at));
      for (size_t k = 0; k + 1 < parts.size(); ++k) {
        if (roots_.MayShare(parts[k].array, parts.back().array)) return {};
      }
    }
    return parts;
  }

  // Whether the step gains by other arrays, and may have them: what is found out of its parts.
  bool Complete(const Block& block, size_t at, Update& update) const {
    const Block& body = *block.bindings[at]->blocks.back();
    const Binding* imap = update.made ? body.bindings[*update.made] : nullptr;
    bool gains = false;
    for (Part& part : update.parts) {
      part.copies = CopiesBefore(body, part);
      part.is_read = !part.copies.empty() || (imap != nullptr && MayLoad(*imap, part.array));
      gains |= part.is_read;
      if (!part.is_read && update.parts.size() > 1) {
        if (EffectsOf(*imap, roots_).may_fail) return false;
        continue;
      }
      if (!MayRenew(block, at, part.array) || !FindEdges(*body.bindings[part.stored], part))
        return false;
      part.takes_turns = TakesTurns(body, part);
    }
    return gains;
  }

  bool MayLoad(const Binding& imap, const Var* array) const {
    return Loads(*imap.blocks[0], array) ||
           Intersects(EffectsOf(imap, roots_).reads, roots_.Of(array));
  }

  // Copies of the array behind which it is as they are until the step stores to it.
  std::vector<size_t> CopiesBefore(const Block& body, const Part& part) const {
    std::vector<size_t> copies;
    for (size_t at = part.stored; at-- > 0;) {
      const Binding& b = *body.bindings[at];
      if (Stores(b, part.array)) break;
      if (CopiedWhole(b) == part.array && OnlyLoads(body, b.result())) copies.push_back(at);
    }
    return copies;
  }

  bool Stores(const Binding& b, const Var* array) const {
    return Intersects(EffectsOf(b, roots_).writes, roots_.Of(array));
  }

  // True for an array that the loop at that place, and what comes behind it, know by this name
  // only. One that others may see when the loop raises has to be as it is in each iteration.
  bool MayRenew(const Block& block, size_t at, const Var* array) const {
    const Binding& loop = *block.bindings[at];
    const bool is_carried =
        std::count(loop.operands.begin(), loop.operands.end(), Operand(array)) > 0;
    if (is_carried || turned_.contains(array)) return false;
    if (ir::DefinedVars(*loop.blocks.back()).contains(array)) return false;
    if (renewed_.contains(array)) return made_.contains(array) && !HasOtherNames(block, at, array);
    if (roots_.Of(array) != VarSet{array} || roots_.ViewsOf(array).size() != 1) return false;
    if (may_overlap_ && !roots_.IsFresh(array)) return false;
    return made_.contains(array) || !EffectsOf(loop, roots_).may_fail;
  }

  // True where the block, from that place on, reads by another name what may be the array.
  bool HasOtherNames(const Block& block, size_t at, const Var* array) const {
    const Block rest{{}, {block.bindings.begin() + at, block.bindings.end()}, block.results};
    bool has_others = false;
    ir::ForEachUse(rest, [&](const Var* used) {
      has_others |= used != array && used->type.IsArray() && roots_.MayShare(used, array);
    });
    return has_others;
  }

  // Whether the region is nearly all of the array, and where it lies within.
  bool FindEdges(const Binding& foreach, Part& part) const {
    const std::vector<Operand>& dims = part.array->type.dims();
    const Block& body = *foreach.blocks[0];
    if (dims.size() != body.params.size()) return false;
    bool is_moved_by_constants = true;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const LinearForm outside =
          Difference(forms_.Of(dims[axis]), forms_.Of(foreach.operands[axis]));
      const bool is_near =
          outside.IsConstant() && outside.constant >= 0 && outside.constant <= kMostOutside;
      if (!is_near) return false;
      const Operand& place = body.bindings.back()->operands[1 + axis];
      const LinearForm before = Difference(forms_.Of(place), LinearForm::Of(body.params[axis]));
      is_moved_by_constants &=
          before.IsConstant() && before.constant >= 0 && before.constant <= outside.constant;
      part.edges.push_back({outside.constant, before.constant});
    }
    if (!is_moved_by_constants) part.edges.clear();
    return is_moved_by_constants || IsForKernels();
  }

  // True where two arrays may take turns: what the step leaves out never changes.
  bool TakesTurns(const Block& body, const Part& part) const {
    if (IsForKernels()) return false;
    for (size_t at = 0; at < body.bindings.size(); ++at) {
      if (at != part.stored && Stores(*body.bindings[at], part.array)) return false;
    }
    return true;
  }

  // What a part's array is called where the loop carries it.
  struct Carried {
    const Part* part;
    const Var* old;
    const Var* next;      // where two arrays take turns
    const Var* is_other;  // and the last one may be another than the first: whether it is
  };

  // True where the last array is to be copied to the one that is known behind the loop.
  bool IsCopiedBack(const Part& part) const { return !made_.contains(part.array); }

  // Names for one of the loop's blocks, or its results, in the order in which they are carried.
  std::vector<Carried> NewNames(const Update& update, std::vector<const Var*>& vars) const {
    const ir::Builder names(arena());
    std::vector<Carried> carried;
    for (const Part& part : update.parts) {
      if (!part.is_read) continue;
      const auto name = [&](const ir::Type& type, std::string_view hint) {
        vars.push_back(names.NewVar(type, hint));
        return vars.back();
      };
      Carried& each = carried.emplace_back(Carried{&part, nullptr, nullptr, nullptr});
      each.old = name(part.array->type, part.array->hint);
      if (!part.takes_turns) continue;
      each.next = name(part.array->type, part.array->hint);
      if (IsCopiedBack(part)) each.is_other = name(ir::Type(ir::DType::kBool), "");
    }
    return carried;
  }

  // The block with the loop at that place written anew.
  const Block* Renewed(const Block& block, size_t at, const Update& update) {
    const Binding& loop = *block.bindings[at];
    const Block& body = *loop.blocks.back();
    ir::Builder around(arena());
    Binding carrying = loop;
    for (const Part& part : update.parts) {
      if (!part.is_read) continue;
      const ir::Span& span = body.bindings[part.stored]->span;
      context_.Note(span,
                    part.takes_turns ? "two arrays take turns" : "made anew in each iteration",
                    Topic::kMemory, Verdict::kDone);
      around.set_span(span);
      carrying.operands.push_back(part.array);
      if (!part.takes_turns) continue;
      carrying.operands.push_back(WriteEdges(around, part, part.array));
      if (IsCopiedBack(part)) carrying.operands.push_back(Operand::Bool(false));
    }
    const std::vector<Carried> last = NewNames(update, carrying.results);
    carrying.blocks = BlocksThatCarry(loop, update);
    around.Append(arena()->New(std::move(carrying)));
    ir::Substitution known;
    for (const Carried& each : last) {
      const Var* array = each.part->array;
      if (IsCopiedBack(*each.part)) {
        CopyBack(around, each, loop.span);
        continue;
      }
      known[array] = each.old;
      renewed_.insert(each.old);
    }
    Block rest{{}, {block.bindings.begin() + at + 1, block.bindings.end()}, block.results};
    if (!known.empty()) rest = *ir::CloneBlock(arena(), rest, known);
    Block renewed{block.params, {block.bindings.begin(), block.bindings.begin() + at}, {}};
    std::vector<const Binding*>& bindings = renewed.bindings;
    bindings.insert(bindings.end(), around.bindings().begin(), around.bindings().end());
    bindings.insert(bindings.end(), rest.bindings.begin(), rest.bindings.end());
    renewed.results = rest.results;
    return arena()->New(std::move(renewed));
  }

  // The loop's blocks with the arrays among what is carried.
  std::vector<const Block*> BlocksThatCarry(const Binding& loop, const Update& update) {
    std::vector<const Block*> blocks;
    for (const Block* block : loop.blocks) {
      std::vector<const Var*> params;
      const std::vector<Carried> carried = NewNames(update, params);
      const bool is_body = block == loop.blocks.back();
      Block carrying = is_body ? Step(*block, update, carried) : *block;
      ir::Substitution known;
      for (const Carried& each : carried) {
        known[each.part->array] = each.old;
        if (!is_body) continue;
        for (const size_t copy : each.part->copies)
          known[block->bindings[copy]->result()] = each.old;
      }
      carrying = *ir::CloneBlock(arena(), carrying, known);
      carrying.params.insert(carrying.params.end(), params.begin(), params.end());
      blocks.push_back(arena()->New(std::move(carrying)));
    }
    return blocks;
  }

  // The body, storing to other arrays. It yields what is carried, and reads the arrays by the
  // names that they have before the step.
  Block Step(const Block& body, const Update& update, const std::vector<Carried>& carried) {
    ir::Builder builder(arena());
    const std::vector<const Binding*>& bindings = body.bindings;
    VarSet dropped;  // by what they make
    for (const Part& part : update.parts) {
      for (const size_t copy : part.copies) dropped.insert(bindings[copy]->result());
    }
    const size_t last = update.LastStored();
    for (size_t at = 0; at < last; ++at) {
      const Binding& b = *bindings[at];
      const bool is_copy = !b.results.empty() && dropped.contains(b.result());
      const bool is_part = std::any_of(update.parts.begin(), update.parts.end(),
                                       [&](const Part& part) { return part.stored == at; });
      if (!is_copy && !is_part && at != update.made) builder.Append(&b);
    }
    builder.set_span(bindings[last]->span);
    ir::Substitution next;
    for (const Carried& each : carried) {
      const Var* array = each.part->array;
      next[array] = each.next ? each.next : FreshArray(builder, *each.part);
    }
    builder.Append(StoredInto(next, update, body));
    Block rest{{}, {bindings.begin() + last + 1, bindings.end()}, body.results};
    rest = *ir::CloneBlock(arena(), rest, next);
    for (const Binding* b : rest.bindings) builder.Append(b);
    std::vector<Operand> results = rest.results;
    for (const Carried& each : carried) {
      results.push_back(next.at(each.part->array));
      if (each.next) results.push_back(each.part->array);
      if (each.is_other) results.push_back(builder.Scalar(OpCode::kNot, {each.is_other}));
    }
    return *builder.Finish(body.params, std::move(results));
  }

  // A new array that is as the old one where the step does not store.
  const Var* FreshArray(ir::Builder& builder, const Part& part) {
    if (!IsForKernels()) return WriteEdges(builder, part, part.array);
    const Var* fresh = builder.NewVar(part.array->type, part.array->hint);
    builder.Append(CopyOf(part.array, fresh, builder.span()));
    return fresh;
  }

  std::vector<const Var*> IndexOf(const Var* array, const ir::Builder& builder) {
    std::vector<const Var*> index;
    for (int axis = 0; axis < array->type.rank(); ++axis)
      index.push_back(builder.NewVar(ir::DType::kI64, "i"));
    return index;
  }

  // A new array with the elements of `array` outside the region. What lies before and behind it
  // along an axis are gone through together; of the axes before that one, the region's part.
  const Var* WriteEdges(ir::Builder& builder, const Part& part, const Var* array) {
    const std::vector<Operand>& dims = array->type.dims();
    const Var* fresh = builder.EmitOne(OpCode::kAlloc, array->type, dims, {}, {}, array->hint);
    std::vector<Operand> within;  // The region's extents. Without a region all is edge.
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const Operand size = builder.Sub(dims[axis], Operand::Int(part.edges[axis].outside));
      within.push_back(builder.Scalar(OpCode::kMax, {size, Operand::Int(0)}));
    }
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (part.edges[axis].outside == 0) continue;
      std::vector<Operand> extents = within;
      std::copy(dims.begin() + axis + 1, dims.end(), extents.begin() + axis + 1);
      extents[axis] = builder.Sub(dims[axis], within[axis]);
      ir::Builder element = builder.Nested();
      const std::vector<const Var*> params = IndexOf(array, element);
      std::vector<Operand> index(params.begin(), params.end());
      for (size_t k = 0; k < axis; ++k)
        index[k] = element.Add(index[k], Operand::Int(part.edges[k].before));
      const Operand is_before =
          element.Scalar(OpCode::kLt, {index[axis], Operand::Int(part.edges[axis].before)});
      const Operand behind = element.Add(index[axis], within[axis]);
      index[axis] = element.Scalar(OpCode::kSelect, {is_before, index[axis], behind});
      element.Store(fresh, index, element.Load(array, index));
      builder.Emit(OpCode::kForeach, {}, extents, {}, {element.Finish(params, {})});
    }
    return fresh;
  }

  // All elements as they are.
  const Binding* CopyOf(const Var* array, const Var* fresh, const ir::Span& span) {
    ir::Builder element(arena());
    element.set_span(span);
    const std::vector<const Var*> params = IndexOf(array, element);
    const Operand value = element.Load(array, {params.begin(), params.end()});
    Binding copy{OpCode::kImap, {fresh}, array->type.dims(), {}, {}, span};
    copy.blocks = {element.Finish(params, {value})};
    return arena()->New(std::move(copy));
  }

  // The last array as the one that is known outside, behind the loop.
  void CopyBack(ir::Builder& builder, const Carried& last, const ir::Span& span) {
    const Var* array = last.part->array;
    builder.set_span(span);
    ir::Builder copying = last.is_other ? builder.Nested() : ir::Builder(arena());
    ir::Builder& copies = last.is_other ? copying : builder;
    ir::Builder element = copies.Nested();
    const std::vector<const Var*> params = IndexOf(array, element);
    const std::vector<Operand> index(params.begin(), params.end());
    element.Store(array, index, element.Load(last.old, index));
    copies.Emit(OpCode::kForeach, {}, array->type.dims(), {}, {element.Finish(params, {})});
    if (!last.is_other) return;
    const Block* copy = copying.Finish({}, {});
    const Block* nothing = builder.Nested().Finish({}, {});
    builder.Emit(OpCode::kIf, {}, {last.is_other}, {}, {copy, nothing});
  }

  // The regions stored to the arrays `next` of theirs; what is made apart for them, there too.
  const Binding* StoredInto(const ir::Substitution& next, const Update& update, const Block& body) {
    const Binding& first = *body.bindings[update.parts[0].stored];
    const Binding* made = update.made ? body.bindings[*update.made] : nullptr;
    ir::Builder builder(arena());
    builder.set_span(made ? made->span : first.span);
    std::vector<const Var*> params;
    for (const Var* param : first.blocks[0]->params)
      params.push_back(builder.NewVar(param->type, param->hint));
    const std::vector<Operand> index(params.begin(), params.end());
    ir::Substitution values;
    if (made != nullptr) {
      const std::vector<Operand> elements = ir::InlineBlock(builder, *made->blocks[0], index);
      for (size_t k = 0; k < elements.size(); ++k) values[made->results[k]] = elements[k];
    }
    for (const Part& part : update.parts) {
      const Binding& region = *body.bindings[part.stored];
      Block stores = *region.blocks[0];
      ir::Substitution known;
      if (made != nullptr) {
        const Binding* load = CopiedBy(region);
        std::erase(stores.bindings, load);
        known[load->result()] = values.at(load->operands[0].var());
      }
      Binding store = *stores.bindings.back();
      const auto other = next.find(part.array);
      if (other != next.end()) store.operands[0] = other->second;
      stores.bindings.back() = arena()->New(std::move(store));
      for (size_t k = 0; k < params.size(); ++k) known[stores.params[k]] = params[k];
      ir::InlineBlock(builder, stores, std::move(known));
    }
    Binding merged = first;
    merged.blocks = {builder.Finish(params, {})};
    return arena()->New(std::move(merged));
  }

  const Roots roots_;
  const WrappingForms forms_;
  VarSet& renewed_;  // by this pass; each is made by a loop
  Context& context_;
  const bool may_overlap_;  // Arguments, or two elements of one.
  VarSet turned_;           // What may lie otherwise than in C order.
  VarSet made_;             // In the block that is visited, or in one before.
  bool has_renewed_ = false;
};

}  // namespace

ir::Program RenewArrays(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    VarSet renewed;
    while (true) {
      Renewer renewer(program.arena.get(), *function, context, renewed);
      function = renewer.Run(function);
      if (!renewer.has_renewed()) return function;
    }
  });
}

}  // namespace parakeet::passes
