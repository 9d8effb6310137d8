// Sorts on a GPU what the host's library would sort, by kernels.
//
// Before:
//   %s: i64 = library_call @sort(%v)
// After: (%s is 0; radix_sort_writer.h and sort_writer.h say what the kernels do)
//   if the array is long {
//     block for ... { each counts the digits of a part of %v }
//     for each digit { block for ... { each moves a tile of %v to where its digits are to be } }
//   } else {
//   block for %b in 0 to %tiles step 1 { ... each sorts a tile of %v in shared memory ... }
//   while { more than a tile } { block for ... { merges tiles of %v, two by two, into %w }
//                                block for ... { and those of %w into %v } } }
//
// A copy that is made to be sorted is made by the first of the kernels that move keys, which takes
// them from what would be copied.
//
// Where the rows of an array are sorted as they are made, all of them are made first:
//   %r: [n][m]f64 = imap (%i) in (%n) { %v = imap (%j) in (%m) { ... }
//                                       %s = library_call @sort(%v)  yield %v }
// becomes that imap without the call, and kernels that sort the rows of %r. Where the program, or
// the caller (Options::lengths), says that they are short, a thread sorts each row in registers:
//   foreach (%i) in (%n) { %a = load %r[%i, 0] ... exchanges of pairs ... store %r[%i, 0], %b ... }
// That is a nest by itself too, so that no order of a sum follows from lengths.
//
// Where an element reads on in the row that it has sorted, the nest is two, between which the rows
// of all elements are sorted: what it does before, and what behind, with what that needs of before.
//
// Assumes: index form, behind what fuses elements: arrays that are sorted exist. What is called
// `sort` may keep the order of equal elements.
// Refuses: sorts inside loops and branches of other operators, and rows that are handed on as
// wholes where they are sorted: kernels start no kernels.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/library_routines.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/known_lengths.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/radix_sort_writer.h"
#include "passes/lowering/sorting_network.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// The operands of a call of a library's sort.
struct SortCall {
  const Binding* binding;
  const Var* keys;
  const Var* places;  // Null where the keys themselves are sorted.
  const Var* sorted() const { return places != nullptr ? places : keys; }
};

std::optional<SortCall> AsSort(const Binding& b) {
  if (b.op != OpCode::kLibraryCall) return std::nullopt;
  const std::string& routine = b.attrs.Text(Attr::kCallee);
  const bool has_places = routine == "argsort";
  if (!has_places && routine != "sort" && routine != "stable_sort") return std::nullopt;
  for (const Operand& operand : b.operands) {
    if (!operand.IsVar() || operand.var()->type.dims().size() != 1) return std::nullopt;
  }
  return SortCall{&b, b.operands[0].var(), has_places ? b.operands[1].var() : nullptr};
}

bool HoldsSort(const Block& block) {
  bool holds = false;
  ir::ForEachBinding(block, [&](const Binding& b) { holds |= AsSort(b).has_value(); });
  return holds;
}

// The only sort of an element, at its outermost level.
std::optional<SortCall> OnlySort(const Block& element) {
  std::optional<SortCall> only;
  for (const Binding* b : element.bindings) {
    const std::optional<SortCall> sort = AsSort(*b);
    const bool is_inside = std::any_of(b->blocks.begin(), b->blocks.end(),
                                       [](const Block* k) { return HoldsSort(*k); });
    if (is_inside || (sort && only)) return std::nullopt;
    if (sort) only = sort;
  }
  return only;
}

// True where every array of the call is made by the element, as long as the element's index does
// not say, and its name is the only one.
bool OwnsArrays(const Block& element, const SortCall& sort) {
  const ir::VarSet inside = ir::DefinedVars(element);
  const auto is_own = [&](const Var* array) {
    const Operand& length = array->type.dims()[0];
    if (length.IsVar() && inside.contains(length.var())) return false;
    return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
      return (b->op == OpCode::kImap || b->op == OpCode::kAlloc) &&
             std::find(b->results.begin(), b->results.end(), array) != b->results.end();
    });
  };
  return is_own(sort.keys) && is_own(sort.sorted()) && sort.keys != sort.places;
}

// True where nothing but the call and the element's end reads or writes an array of the call once
// it is sorted, and nothing before gives one another name.
bool IsOnlyYielded(const Block& element, const SortCall& sort) {
  const auto call = std::find(element.bindings.begin(), element.bindings.end(), sort.binding);
  const auto uses = [&](const Binding* b) {
    bool found = false;
    ir::ForEachUse(*b, [&](const Var* used) { found |= used == sort.keys || used == sort.places; });
    return found;
  };
  const auto names = [&](const Binding* b) {
    return uses(b) &&
           std::any_of(b->results.begin(), b->results.end(),
                       [](const Var* v) { return v->type.IsArray(); }) &&
           b->op != OpCode::kImap;
  };
  const auto is_sorted = [&](const Operand& o) { return o.IsVar() && o.var() == sort.sorted(); };
  return std::none_of(call + 1, element.bindings.end(), uses) &&
         std::none_of(element.bindings.begin(), call, names) &&
         std::count_if(element.results.begin(), element.results.end(), is_sorted) == 1;
}

// The array that an imap copies, element by element; null for another imap.
const Var* CopiedBy(const Binding& b) {
  if (b.op != OpCode::kImap || b.results.size() != 1) return nullptr;
  const Block& element = *b.blocks[0];
  if (element.params.size() != 1 || element.bindings.size() != 1) return nullptr;
  const Binding& load = *element.bindings[0];
  const bool copies = load.op == OpCode::kLoad && load.operands.size() == 2 &&
                      load.operands[1] == Operand(element.params[0]) &&
                      element.results[0] == Operand(load.result());
  return copies ? load.operands[0].var() : nullptr;
}

// The binding of the block that copies what is sorted by binding `at`, where nothing comes between
// that could read or write either array; null for none.
const Binding* CopyBefore(const Block& block, size_t at) {
  const std::optional<SortCall> sort = AsSort(*block.bindings[at]);
  if (!sort || sort->places != nullptr) return nullptr;
  while (at-- > 0) {
    const Binding* b = block.bindings[at];
    if (CopiedBy(*b) != nullptr && b->result() == sort->keys) return b;
    if (!ir::IsScalarOp(b->op)) return nullptr;
  }
  return nullptr;
}

// An element in two: up to its first sort, and what comes behind that.
struct Halves {
  SortCall sort;
  std::vector<const Binding*> before, behind;
  std::vector<const Binding*> again;  // Of `before`: scalar code that `behind` does for itself.
  std::vector<const Var*> handed_on;  // What else of `before` is read behind.
};

// True where all that the bindings do with the array is to load its elements, or to store to them.
bool IsReadByElements(const std::vector<const Binding*>& bindings, const Var* array) {
  const Block block{{}, bindings, {}};
  bool by_elements = true;
  ir::ForEachBinding(block, [&](const Binding& b) {
    const bool accesses = b.op == OpCode::kLoad || b.op == OpCode::kStore;
    for (size_t k = accesses ? 1 : 0; k < b.operands.size(); ++k)
      by_elements &= b.operands[k] != Operand(array);
    for (const Block* inner : b.blocks)
      by_elements &= std::count(inner->results.begin(), inner->results.end(), Operand(array)) == 0;
  });
  return by_elements;
}

// The element taken apart at its first sort; nothing where it cannot be.
std::optional<Halves> HalvesOf(const Binding& nest, const Roots& roots) {
  const Block& element = *nest.blocks[0];
  if (nest.attrs.Int(Attr::kFortran) != 0) return std::nullopt;  // Rows would not lie together.
  const auto holds_sort = [](const Binding* b) {
    return AsSort(*b) || std::any_of(b->blocks.begin(), b->blocks.end(),
                                     [](const Block* block) { return HoldsSort(*block); });
  };
  const auto at = std::find_if(element.bindings.begin(), element.bindings.end(), holds_sort);
  if (at == element.bindings.end() || !AsSort(**at)) return std::nullopt;
  Halves halves{};
  halves.sort = *AsSort(**at);
  halves.before.assign(element.bindings.begin(), at);
  halves.behind.assign(at + 1, element.bindings.end());
  if (!OwnsArrays(element, halves.sort)) return std::nullopt;
  // An error of one element comes before what the next ones do.
  const Effects first = EffectsOf(Block{{}, halves.before, {}}, roots);
  const ir::VarSet inside = ir::DefinedVars(element);
  if (first.may_fail || std::any_of(first.writes.begin(), first.writes.end(),
                                    [&](const Var* root) { return !inside.contains(root); }))
    return std::nullopt;
  const Block behind{{}, halves.behind, element.results};
  const ir::VarSet made = ir::DefinedVars(Block{{}, halves.before, {}});
  const ir::VarSet used = ir::FreeVars(behind);
  std::vector<const Binding*> needed;
  for (const Binding* b : halves.before) {
    for (const Var* var : b->results) {
      if (!used.contains(var)) continue;
      const std::vector<const Binding*> makers = NeededBindings(element, ir::VarSet{var});
      const bool is_scalar_code = std::all_of(
          makers.begin(), makers.end(), [](const Binding* m) { return ir::IsScalarOp(m->op); });
      if (is_scalar_code) {
        needed.insert(needed.end(), makers.begin(), makers.end());
      } else if (var != halves.sort.keys && var != halves.sort.places) {
        halves.handed_on.push_back(var);
      }
    }
  }
  for (const Binding* b : halves.before) {
    if (std::find(needed.begin(), needed.end(), b) != needed.end()) halves.again.push_back(b);
    // Another name of an array of the element says nothing of which row it is a part.
    const bool names = ir::IsView(b->op) || b->op == OpCode::kIf || b->op == OpCode::kFor;
    for (const Var* var : b->results) {
      if (names && var->type.IsArray()) return std::nullopt;
    }
  }
  std::vector<const Var*> arrays = halves.handed_on;
  arrays.push_back(halves.sort.keys);
  if (halves.sort.places != nullptr) arrays.push_back(halves.sort.places);
  for (const Var* array : arrays) {
    if (!array->type.IsArray()) continue;
    for (const Operand& extent : array->type.dims()) {
      if (extent.IsVar() && inside.contains(extent.var())) return std::nullopt;
    }
    if (!IsReadByElements(halves.behind, array)) return std::nullopt;
  }
  return halves;
}

// Takes what an element has made, an array of its own, for a row of what all elements have.
class RowReader : public ir::Mutator {
 public:
  RowReader(ir::Arena* arena, std::vector<const Var*> row) : Mutator(arena), row_(std::move(row)) {}

  void Learn(const Var* array, const Var* whole) { wholes_[array] = whole; }
  const Block* Run(const Block& block) { return VisitBlock(&block); }

 protected:
  void Visit(const Binding* b) override {
    const bool accesses = b->op == OpCode::kLoad || b->op == OpCode::kStore;
    const auto whole = accesses ? wholes_.find(b->operands[0].var()) : wholes_.end();
    if (whole == wholes_.end()) return Mutator::Visit(b);
    Binding in_rows = *b;
    in_rows.operands[0] = whole->second;
    in_rows.operands.insert(in_rows.operands.begin() + 1, row_.begin(), row_.end());
    Mutator::Visit(arena()->New(std::move(in_rows)));
  }

 private:
  const std::vector<const Var*> row_;
  std::unordered_map<const Var*, const Var*> wholes_;
};

class DeviceSorter : public RadixSortWriter {
 public:
  DeviceSorter(ir::Arena* arena, const ir::Function& function, Context& context)
      : RadixSortWriter(arena),
        context_(context),
        lengths_(function, context.options),
        roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (copies_.contains(b)) return WriteAllocation(*b);
    const std::optional<SortCall> sort = inside_ ? std::nullopt : AsSort(*b);
    if (sort) return WriteCall(*sort);
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    if (!inside_ && is_nest && SortBetween(*b)) return;
    if (!inside_ && b->op == OpCode::kImap && SortRows(*b)) return;
    const bool is_operator = ir::InfoOf(b->op).format == ir::OpFormat::kIndices;
    if (!inside_ && is_operator) NoteRefused(*b);
    const bool outer = std::exchange(inside_, inside_ || is_operator);
    Mutator::Visit(b);
    inside_ = outer;
  }

  const Block* VisitBlock(const Block* block) override {
    for (size_t at = 0; !inside_ && at < block->bindings.size(); ++at) {
      const Binding* copy = CopyBefore(*block, at);
      if (copy == nullptr) continue;
      copies_.insert(copy);
      sources_[block->bindings[at]] = CopiedBy(*copy);
    }
    return RadixSortWriter::VisitBlock(block);
  }

 private:
  void WriteAllocation(const Binding& copy) {
    const Binding alloc{OpCode::kAlloc, copy.results, copy.operands, {}, {}, copy.span};
    builder().Append(Rewrite(arena()->New(alloc)));
  }

  void NoteDone(const ir::Span& span) {
    context_.Note(span, "sorted by kernels", Topic::kThreads, Verdict::kDone);
  }

  void NoteRefused(const Binding& nest) {
    for (const Block* block : nest.blocks) {
      ir::ForEachBinding(*block, [&](const Binding& b) {
        if (!AsSort(b)) return;
        context_.Note(b.span,
                      "not sorted by kernels: no kernel starts another, and the rows are more than "
                      "sorted here",
                      Topic::kNests, Verdict::kRefused);
      });
    }
  }

  const Var* Current(const Var* array) { return Apply(Operand(array)).var(); }

  void WriteCall(const SortCall& sort) {
    NoteDone(sort.binding->span);
    const auto source = sources_.find(sort.binding);
    const Var* keys = Current(sort.keys);
    WriteEither(keys, sort.places != nullptr ? Current(sort.places) : nullptr,
                source != sources_.end() ? Current(source->second) : keys);
    Replace(sort.binding->result(), Int(0));
  }

  void WriteCopy(const Var* from, const Var* to) {
    const Var* index = builder().NewVar(ir::DType::kI64, "i");
    const Block* element = BlockOf({index}, [&] {
      builder().Store(to, {index}, builder().Load(from, {index}));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, to->type.dims(), {}, {element});
  }

  void WriteEither(const Var* keys, const Var* places, const Var* source) {
    const auto by_digits = [&] {
      WriteRadixSort(keys, places, source);
      return Operands{};
    };
    const auto by_merging = [&] {
      if (source != keys) WriteCopy(source, keys);
      WriteSort(keys, places);
      return Operands{};
    };
    Choose(IsForRadix(keys), by_digits, by_merging);
  }

  bool SortRows(const Binding& nest) {
    const Block& element = *nest.blocks[0];
    const std::optional<SortCall> sort = OnlySort(element);
    if (!sort || !OwnsArrays(element, *sort) || !IsOnlyYielded(element, *sort)) return false;
    NoteDone(sort->binding->span);
    const Binding* made = MakeRows(nest, *sort);
    const auto at =
        std::find(element.results.begin(), element.results.end(), Operand(sort->sorted()));
    const Var* sorted = made->results[at - element.results.begin()];
    builder().set_span(sort->binding->span);
    const Var* keys = sort->places != nullptr ? made->results.back() : sorted;
    const Var* places = sort->places != nullptr ? sorted : nullptr;
    const std::optional<int64_t> length = LengthInNetwork(element, *sort);
    length ? WriteNetworks(keys, places, *length) : WriteSort(keys, places);
    return true;
  }

  // Writes the nest as two, and the sorts of all its rows between them.
  bool SortBetween(const Binding& nest) {
    const std::optional<Halves> halves = HalvesOf(nest, roots_);
    if (!halves) return false;
    const SortCall& sort = halves->sort;
    const Block& element = *nest.blocks[0];
    NoteDone(sort.binding->span);
    const std::optional<int64_t> length = LengthInNetwork(element, sort);
    std::vector<const Var*> made = halves->handed_on;
    made.push_back(sort.keys);
    if (sort.places != nullptr) made.push_back(sort.places);
    const std::vector<const Var*> wholes = MakeWholes(nest, *halves, made);
    const Var* places = sort.places != nullptr ? wholes.back() : nullptr;
    const Var* keys = wholes[wholes.size() - (places != nullptr ? 2 : 1)];
    builder().set_span(sort.binding->span);
    length ? WriteNetworks(keys, places, *length) : WriteSort(keys, places);
    Replace(sort.binding->result(), Int(0));
    const Operands index(element.params.begin(), element.params.end());
    Binding rest = nest;
    rest.results.clear();
    Block behind{element.params, halves->again, {}};
    RowReader reader(arena(), element.params);
    for (size_t k = 0; k < made.size(); ++k) {
      if (made[k]->type.IsArray()) {
        reader.Learn(made[k], wholes[k]);
        continue;
      }
      Operands operands = {wholes[k]};
      operands.insert(operands.end(), index.begin(), index.end());
      behind.bindings.push_back(
          arena()->New(Binding{OpCode::kLoad, {made[k]}, std::move(operands), {}, {}, nest.span}));
    }
    behind.bindings.insert(behind.bindings.end(), halves->behind.begin(), halves->behind.end());
    for (size_t k = 0; k < element.results.size(); ++k) {
      const auto whole = std::find(made.begin(), made.end(), element.results[k].var());
      if (whole != made.end() && (*whole)->type.IsArray()) {
        Replace(nest.results[k], wholes[whole - made.begin()]);
        continue;
      }
      rest.results.push_back(nest.results[k]);
      behind.results.push_back(element.results[k]);
    }
    if (nest.op == OpCode::kImap && rest.results.empty()) return true;
    rest.blocks = {reader.Run(*arena()->New(std::move(behind)))};
    Visit(arena()->New(std::move(rest)));
    return true;
  }

  // Writes what comes before the sort, for what `made` is of all elements: a nest for each array
  // that scalar code makes, over its own indexes too, and one for all the rest.
  std::vector<const Var*> MakeWholes(const Binding& nest, const Halves& halves,
                                     const std::vector<const Var*>& made) {
    std::vector<const Var*> wholes;
    Binding rest{OpCode::kImap, {}, nest.operands, {}, {}, nest.span};
    Block before{nest.blocks[0]->params, halves.before, {}};
    for (const Var* each : made) {
      Operands dims = nest.operands;
      if (each->type.IsArray())
        dims.insert(dims.end(), each->type.dims().begin(), each->type.dims().end());
      const ir::Type type = ir::Type::Array(each->type.dtype(), dims);
      wholes.push_back(builder().NewVar(type, each->hint));
      if (const std::optional<Block> element = ElementAlone(nest, halves, each)) {
        AppendWhole({OpCode::kImap, {wholes.back()}, dims, {}, {}, nest.span}, *element);
      } else {
        rest.results.push_back(wholes.back());
        before.results.push_back(each);
      }
    }
    if (!rest.results.empty()) AppendWhole(std::move(rest), before);
    return wholes;
  }

  void AppendWhole(Binding whole, const Block& element) {
    whole.blocks = {ir::CloneBlock(arena(), element)};
    const bool outer = std::exchange(inside_, true);
    builder().Append(Rewrite(arena()->New(std::move(whole))));
    inside_ = outer;
  }

  // What makes one element of an array, at the nest's indexes and its own; nothing where that takes
  // more than scalar code, or the array may be changed.
  static std::optional<Block> ElementAlone(const Binding& nest, const Halves& halves,
                                           const Var* array) {
    Block element{nest.blocks[0]->params, {}, {}};
    const Block before{{}, halves.before, {}};
    bool is_changed = false;
    ir::ForEachBinding(before, [&](const Binding& b) {
      is_changed |= b.op != OpCode::kLoad &&
                    std::count(b.operands.begin(), b.operands.end(), Operand(array)) > 0;
    });
    if (is_changed || !array->type.IsArray()) return std::nullopt;
    for (const Binding* b : NeededBindings(before, ir::VarSet{array})) {
      const auto made = std::find(b->results.begin(), b->results.end(), array);
      if (made == b->results.end()) {
        if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad) return std::nullopt;
        element.bindings.push_back(b);
        continue;
      }
      if (b->op != OpCode::kImap) return std::nullopt;
      const Block& inner = *b->blocks[0];
      element.params.insert(element.params.end(), inner.params.begin(), inner.params.end());
      element.bindings.insert(element.bindings.end(), inner.bindings.begin(), inner.bindings.end());
      element.results = {inner.results[made - b->results.begin()]};
    }
    const bool is_scalar = !element.results.empty() && ir::TypeOf(element.results[0]).IsScalar();
    return is_scalar ? std::optional(std::move(element)) : std::nullopt;
  }

  // Of rows that a network may sort, if it is known: of a stable sort, zeros of either sign keep
  // their order, and of places, the first ones count up.
  std::optional<int64_t> LengthInNetwork(const Block& element, const SortCall& sort) {
    const ir::DType dtype = sort.keys->type.dtype();
    const bool keeps_zeros = sort.binding->attrs.Text(Attr::kCallee) == "stable_sort";
    if (!HasSortingNetwork(dtype) || (keeps_zeros && ir::IsFloat(dtype))) return std::nullopt;
    if (sort.places != nullptr && !CountsUp(element, sort.places)) return std::nullopt;
    const Operand& extent = sort.keys->type.dims()[0];
    const std::optional<int64_t> length = lengths_.Of(extent);
    if (!length) context_.better_with_lengths.merge(lengths_.ParametersOf(extent));
    const bool is_short = length && *length >= 1 && *length <= kMostInNetwork;
    return is_short ? length : std::nullopt;
  }

  static bool CountsUp(const Block& element, const Var* places) {
    return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kImap && b->results[0] == places && b->blocks[0]->bindings.empty() &&
             b->blocks[0]->results[0] == Operand(b->blocks[0]->params[0]);
    });
  }

  void WriteNetworks(const Var* keys, const Var* places, int64_t length) {
    const std::vector<Operand>& dims = keys->type.dims();
    std::vector<const Var*> row;
    for (size_t axis = 0; axis + 1 < dims.size(); ++axis) {
      row.push_back(builder().NewVar(ir::DType::kI64, "i"));
    }
    const Block* body = BlockOf(row, [&] {
      const auto at = [&](int64_t k) {
        Operands index(row.begin(), row.end());
        index.push_back(Int(k));
        return index;
      };
      Operands elements;
      for (int64_t k = 0; k < length; ++k) elements.push_back(builder().Load(keys, at(k)));
      const Operands sorted = places != nullptr ? OrderByNetwork(builder(), elements)
                                                : SortByNetwork(builder(), elements);
      const Var* made = places != nullptr ? places : keys;
      for (int64_t k = 0; k < length; ++k) builder().Store(made, at(k), sorted[k]);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {dims.begin(), dims.end() - 1}, {}, {body});
  }

  // The nest without the call; the keys of places are its last result.
  const Binding* MakeRows(const Binding& nest, const SortCall& sort) {
    Block element = *nest.blocks[0];
    std::erase(element.bindings, sort.binding);
    Replace(sort.binding->result(), Int(0));
    Binding rows = nest;
    if (sort.places != nullptr) {
      element.results.push_back(sort.keys);
      Operands dims = nest.operands;
      dims.push_back(sort.keys->type.dims()[0]);
      const ir::Type type = ir::Type::Array(sort.keys->type.dtype(), dims);
      rows.results.push_back(builder().NewVar(type, "keys"));
    }
    rows.blocks[0] = arena()->New(std::move(element));
    inside_ = true;
    const Binding* made = Rewrite(arena()->New(std::move(rows)));
    inside_ = false;
    builder().Append(made);
    return made;
  }

  Context& context_;
  const KnownLengths lengths_;
  const Roots roots_;
  bool inside_ = false;
  std::unordered_set<const Binding*> copies_;               // made where they are sorted,
  std::unordered_map<const Binding*, const Var*> sources_;  // by a call, from these.
};

}  // namespace

ir::Program SortOnDevice(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return DeviceSorter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
