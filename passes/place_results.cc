// Writes results where they are to be: rows straight into the array of rows, an array that is only
// copied straight to where it is copied, and an imap's result over an array that ends there. A scan
// that may do so is marked.
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
//   foreach (%i) in (%n) { %a: f64 = load %t[%i]  ... store %t[%i], %w }    and %s is %t
// and where it also reads %t[%k], which depends on fewer indexes than it writes, that is copied
// before, or read before the loops over the other indexes.
//
// A loop whose carried array is so written over carries it no more; an imap that copies what ends
// is nothing.
//
// Assumes: index form; fusion is over, which wants values and not stores.
// Refuses: rows and copied arrays that are made by other than imaps and allocs, or passed on as a
// whole, but to a routine of a library, which takes rows where they lie dense; copies whose target
// is touched, or behind something that may raise, after the array is made (find_copies.h); reuse of
// what is another's, of another type or order, read at other indexes, or seen afterwards
// (find_reuse.h); copies of slices for kernels, each of which would be one more to launch. An error
// within leaves arrays half written, which nobody sees.
#include <algorithm>
#include <unordered_map>

#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_copies.h"
#include "passes/analyses/find_reuse.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Writes imaps as nests that store their values.
class ResultWriter : public LoopWriter {
 protected:
  using LoopWriter::LoopWriter;

  // A result of `imap`, in its order.
  void Allocate(const Var* result, const Binding& imap) {
    const bool is_fortran = imap.attrs.Int(ir::Attr::kFortran) != 0;
    const ir::Attributes order =
        is_fortran ? ir::Attributes{{ir::Attr::kFortran, int64_t{1}}} : ir::Attributes{};
    builder().Emit(OpCode::kAlloc, {result}, result->type.dims(), order);
  }

  // A foreach of the imap's block, then of what `store` writes of its values.
  void WriteForeach(const Binding& imap, const std::function<void(const Operands&)>& store) {
    const std::vector<const Var*>& params = imap.blocks[0]->params;
    const Block* body = BlockOf(params, [&] {
      store(VisitBody(*imap.blocks[0], Operands(params.begin(), params.end())));
      return Operands{};
    });
    const ir::Attributes attrs = imap.attrs.Without(ir::Attr::kFortran);
    builder().Emit(OpCode::kForeach, {}, Apply(imap.operands), attrs, {body});
  }
};

// Writes imaps over arrays that end there.
class Reuser : public ResultWriter {
 public:
  Reuser(ir::Arena* arena, const ir::Function& function, const ReuseFinder& finder,
         Context& context)
      : ResultWriter(arena),
        finder_(finder),
        definitions_(ir::Definitions(*function.body)),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kImap) return VisitImap(*b);
    if (b->op == OpCode::kIscan) return VisitScan(*b);
    if (b->op == OpCode::kIf || IsLoop(b->op)) return VisitJoin(*b);
    if (b->op == OpCode::kLoad && slices_.contains(b)) return VisitSlice(*b);
    Mutator::Visit(b);
  }

 private:
  // How many leading axes a nest of their own goes over first, so that what depends on them alone
  // is read there, by the thread that writes over it; 0: none. Where another order of axes is read
  // too, the loops are left in one.
  size_t AxesAround(const Binding& imap) const {
    const std::vector<const Var*>& params = imap.blocks[0]->params;
    const auto axis_of = [&](const Operand& index) {
      return size_t(std::find(params.begin(), params.end(), index.var()) - params.begin());
    };
    if (imap.attrs.Int(ir::Attr::kFortran) != 0) return 0;
    bool is_in_order = true;
    ir::ForEachBinding(*imap.blocks[0], [&](const Binding& b) {
      if (b.op != OpCode::kLoad) return;
      std::vector<size_t> axes;
      for (size_t k = 1; k < b.operands.size(); ++k) {
        const size_t axis = axis_of(b.operands[k]);
        if (axis < params.size()) axes.push_back(axis);
      }
      is_in_order = is_in_order && std::is_sorted(axes.begin(), axes.end());
    });
    if (!is_in_order) return 0;
    size_t around = 0;
    for (const Binding* load : finder_.SlicesOf(imap)) {
      const size_t used = ParamsOf(imap, *load).size();
      if (IsWithin(imap, *load, used)) around = std::max(around, used);
    }
    return around;
  }

  // True for a load that depends on just so many leading axes and lies where the trip of their
  // loops writes: no other trip writes over it.
  static bool IsWithin(const Binding& imap, const Binding& load, size_t axes) {
    const std::vector<const Var*>& params = imap.blocks[0]->params;
    return ParamsOf(imap, load).size() == axes &&
           std::equal(params.begin(), params.begin() + axes, load.operands.begin() + 1,
                      [](const Var* param, const Operand& index) { return index.var() == param; });
  }

  // The parameters of the imap that are among the indexes of a load, in the imap's order.
  static std::vector<const Var*> ParamsOf(const Binding& imap, const Binding& load) {
    std::vector<const Var*> used;
    for (const Var* param : imap.blocks[0]->params) {
      const auto begin = load.operands.begin() + 1;
      if (std::find(begin, load.operands.end(), Operand(param)) != load.operands.end()) {
        used.push_back(param);
      }
    }
    return used;
  }

  // The imap's sizes along `params`. An imap without elements reads nothing: the first is 0 then.
  Operands SizesAlong(const Binding& imap, const std::vector<const Var*>& params) {
    Operands sizes;
    Operand share = Int(1);
    for (size_t k = 0; k < imap.operands.size(); ++k) {
      const Operand size = Apply(imap.operands[k]);
      const Var* param = imap.blocks[0]->params[k];
      const bool is_along = std::find(params.begin(), params.end(), param) != params.end();
      if (is_along) sizes.push_back(size);
      else share = Min(share, size);
    }
    if (sizes.empty()) sizes.push_back(Int(1));
    sizes[0] = builder().Scalar(OpCode::kMul, {sizes[0], share});
    return sizes;
  }

  // What a load of an imap reads, copied to where it stays while the imap is written over it: an
  // array with an axis for each parameter among its indexes, or one element.
  struct Slice {
    const Var* copy;
    std::vector<const Var*> params;
  };

  void CopySlice(const Binding& imap, const Binding& load) {
    Slice slice{nullptr, ParamsOf(imap, load)};
    const Operands sizes = SizesAlong(imap, slice.params);
    std::vector<const Var*> params;
    for (size_t k = 0; k < sizes.size(); ++k) {
      params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    }
    const Block* body = BlockOf(params, [&] {
      Operands from = Apply(load.operands);
      for (size_t k = 0; k < slice.params.size(); ++k) {
        std::replace(from.begin() + 1, from.end(), Operand(slice.params[k]), Operand(params[k]));
      }
      return Operands{builder().Load(from[0], {from.begin() + 1, from.end()})};
    });
    const ir::DType dtype = load.results[0]->type.dtype();
    slice.copy = builder().NewVar(ir::Type::Array(dtype, sizes), "slice");
    builder().Emit(OpCode::kImap, {slice.copy}, sizes, {}, {body});
    slices_[&load] = slice;
  }

  void VisitSlice(const Binding& load) {
    const Slice& slice = slices_.at(&load);
    if (slice.copy == nullptr) return;  // It is read around the loops that this is in.
    Operands index(slice.params.begin(), slice.params.end());
    if (index.empty()) index.push_back(Int(0));
    Replace(load.results[0], builder().Load(slice.copy, Apply(index)));
  }

  // As WriteForeach, where the imap reads slices of what it is written over.
  void WriteOverSlices(const Binding& imap, const std::function<void(const Operands&)>& store) {
    const Block& block = *imap.blocks[0];
    const std::vector<const Var*>& params = block.params;
    const size_t around = AxesAround(imap);
    const std::vector<const Var*> outer(params.begin(), params.begin() + around);
    std::vector<const Binding*> read_around;
    for (const Binding* load : finder_.SlicesOf(imap)) {
      if (around > 0 && IsWithin(imap, *load, around)) read_around.push_back(load);
      else CopySlice(imap, *load);
    }
    if (around == 0) return WriteForeach(imap, store);
    const ir::Attributes attrs = imap.attrs.Without(ir::Attr::kFortran);
    const Block* body = BlockOf(outer, [&] {
      for (const Binding* load : read_around) {
        const Operands from = Apply(load->operands);
        Replace(load->results[0], builder().Load(from[0], {from.begin() + 1, from.end()}));
        slices_[load] = {nullptr, {}};
      }
      const Block* inner = BlockOf({params.begin() + around, params.end()}, [&] {
        store(VisitBody(block, Operands(params.begin(), params.end())));
        return Operands{};
      });
      const Operands sizes(imap.operands.begin() + around, imap.operands.end());
      builder().Emit(OpCode::kForeach, {}, Apply(sizes), attrs, {inner});
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, SizesAlong(imap, outer), attrs, {body});
  }

  void VisitImap(const Binding& b) {
    const bool reuses = std::any_of(b.results.begin(), b.results.end(),
                                    [&](const Var* result) { return finder_.ReusedBy(result); });
    if (!reuses) return Mutator::Visit(&b);
    for (const Var* result : b.results) {
      const Var* array = finder_.ReusedBy(result);
      if (array == nullptr) {
        Allocate(result, b);
        continue;
      }
      const bool is_copied = !finder_.SlicesOf(b).empty();
      context_.Note(b.span,
                    "written over " + NameOf(array) + ", which ends there" +
                        (is_copied ? "; slices that it reads are taken before" : ""),
                    Topic::kMemory, Verdict::kDone);
      Replace(result, array);
    }
    if (IsNothing(b)) return;
    const auto store = [&](const Operands& values) {
      const std::vector<const Var*>& params = b.blocks[0]->params;
      for (size_t k = 0; k < values.size(); ++k) {
        if (KeepsElements(b, k)) continue;
        builder().Store(Apply(b.results[k]), {params.begin(), params.end()}, values[k]);
      }
    };
    if (finder_.SlicesOf(b).empty()) WriteForeach(b, store);
    else WriteOverSlices(b, store);
  }

  // Which array it is, the lowering finds again: a value that a scan makes is one of its own here.
  void VisitScan(const Binding& b) {
    const auto found = std::find_if(b.results.begin(), b.results.end(),
                                    [&](const Var* result) { return finder_.ScannedOver(result); });
    if (found == b.results.end()) return Mutator::Visit(&b);
    const Var* array = finder_.ScannedOver(*found);
    context_.Note(b.span, "written over " + NameOf(array) + ", which ends there", Topic::kMemory,
                  Verdict::kDone);
    Binding over = *Rewrite(&b);
    over.attrs = over.attrs.With(ir::Attr::kOver, int64_t{1});
    builder().Append(arena()->New(std::move(over)));
  }

  // True where result `k` is the array that it is written over.
  bool KeepsElements(const Binding& imap, size_t k) const {
    const Block& body = *imap.blocks[0];
    const auto load = definitions_.find(body.results[k].var());
    if (load == definitions_.end() || load->second->op != OpCode::kLoad) return false;
    const Operands& read = load->second->operands;
    return read[0] == Operand(finder_.ReusedBy(imap.results[k])) &&
           std::equal(read.begin() + 1, read.end(), body.params.begin(), body.params.end());
  }

  // True where no element changes and nothing else is done.
  bool IsNothing(const Binding& imap) const {
    for (size_t k = 0; k < imap.results.size(); ++k) {
      if (!KeepsElements(imap, k)) return false;
    }
    const std::vector<const Binding*>& bindings = imap.blocks[0]->bindings;
    return std::all_of(bindings.begin(), bindings.end(), [](const Binding* b) {
      return b->op == OpCode::kLoad || ir::IsScalarOp(b->op);
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

  // The array under the name that it has before all reuse; asked of each once, since both sides of
  // an `if` may ask for what is before it.
  const Var* Once(const Var* array) const {
    if (const auto known = once_.find(array); known != once_.end()) return known->second;
    const Var* const found = FindOnce(array);
    once_[array] = found;
    return found;
  }

  const Var* FindOnce(const Var* array) const {
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
  const ir::DefinitionMap definitions_;
  Context& context_;
  std::unordered_map<const Binding*, Slice> slices_;  // by loads
  mutable std::unordered_map<const Var*, const Var*> once_;
};

// Writes rows that imaps yield, and arrays that are copied, straight to where they end up.
class Placer : public ResultWriter {
 public:
  Placer(ir::Arena* arena, const CopyFinder& copies, Context& context)
      : ResultWriter(arena), copies_(copies), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kLoad || b->op == OpCode::kStore) return VisitAccess(*b);
    if (b->op == OpCode::kLibraryCall) return VisitRoutine(*b);
    if (copies_.IsCopy(b)) return;
    if (b->op == OpCode::kAlloc || b->op == OpCode::kImap) PlaceCopied(*b);
    const bool is_placed = std::any_of(b->results.begin(), b->results.end(),
                                       [&](const Var* r) { return places_.contains(r); });
    if (b->op == OpCode::kAlloc && is_placed) return;
    if (b->op != OpCode::kImap || !(is_placed || YieldsNewRows(*b))) return Mutator::Visit(b);
    for (const Var* result : b->results) {
      if (places_.contains(result)) continue;
      Allocate(result, *b);
      if (ir::IsFortran(*b)) turned_.insert(result);
    }
    WriteInto(*b);
  }

 private:
  // Where an array lies: at an index of the leading axes of another, or where `map` takes its
  // index.
  struct Place {
    const Var* array;
    Operands index;
    const Block* map = nullptr;
  };

  void PlaceCopied(const Binding& maker) {
    for (const Var* result : maker.results) {
      const CopiedArray* copied = copies_.Of(result);
      if (copied == nullptr) continue;
      context_.Note(maker.span, "made where it is copied to", Topic::kMemory, Verdict::kDone);
      places_[result] = {copied->target, {}, copied->index};
    }
  }

  // Array and index for an element of an array that may lie in another, which may lie in another.
  Operands Locate(const Var* array, Operands index) {
    for (auto found = places_.find(array); found != places_.end(); found = places_.find(array)) {
      const Place& place = found->second;
      index.insert(index.begin(), place.index.begin(), place.index.end());
      if (place.map != nullptr) index = ir::InlineBlock(builder(), *place.map, index);
      array = place.array;
    }
    index.insert(index.begin(), Operand(array));
    return index;
  }

  void VisitAccess(const Binding& b) {
    const Var* array = b.operands[0].var();
    if (!places_.contains(array)) return Mutator::Visit(&b);
    const size_t rank = array->type.rank();
    Binding copy = b;
    copy.operands = Apply(b.operands);
    const Operands rest(copy.operands.begin() + 1 + rank, copy.operands.end());
    copy.operands = Locate(array, {copy.operands.begin() + 1, copy.operands.begin() + 1 + rank});
    copy.operands.insert(copy.operands.end(), rest.begin(), rest.end());
    builder().Append(arena()->New(std::move(copy)));
  }

  // What a routine is given of a row is a view of where that lies.
  void VisitRoutine(const Binding& b) {
    const auto is_placed = [&](const Operand& operand) {
      return operand.IsVar() && places_.contains(operand.var());
    };
    if (std::none_of(b.operands.begin(), b.operands.end(), is_placed)) return Mutator::Visit(&b);
    Binding copy = b;
    copy.operands = Apply(b.operands);
    for (Operand& operand : copy.operands) {
      if (is_placed(operand)) operand = RowAt(*operand.var());
    }
    builder().Append(arena()->New(std::move(copy)));
  }

  const Var* RowAt(const Var& row) {
    const size_t rank = row.type.rank();
    Operands view = Locate(&row, Operands(rank, Int(0)));
    const size_t before = view.size() - 1 - rank;
    for (size_t axis = 0; axis < before + rank; ++axis) {
      for (size_t own = 0; own < rank; ++own) view.push_back(Int(axis == before + own));
    }
    return builder().EmitOne(OpCode::kView, Apply(row.type), std::move(view), {}, {}, row.hint);
  }

  // True where rows of the result, placed or about to be, lie dense. A device has its own memory.
  bool HasDenseRows(const Binding& imap, const Var* result) const {
    if (context_.options.kernels) return false;
    auto found = places_.find(result);
    if (found == places_.end()) return !ir::IsFortran(imap);
    for (; found != places_.end(); found = places_.find(result)) {
      if (found->second.map != nullptr) return false;
      result = found->second.array;
    }
    return !turned_.contains(result);
  }

  // True when some row that the block yields can be made in its place. The others are said.
  bool YieldsNewRows(const Binding& imap) {
    bool some = false;
    for (size_t k = 0; k < imap.results.size(); ++k) {
      const Operand& row = imap.blocks[0]->results[k];
      if (!ir::TypeOf(row).IsArray()) continue;
      const std::string reason = WhyNotPlaced(imap, k);
      some |= reason.empty();
      if (reason.empty()) {
        context_.Note(imap.span, "its rows are made in place", Topic::kMemory, Verdict::kDone);
      } else {
        context_.Note(imap.span, "its rows are copied: " + reason, Topic::kMemory,
                      Verdict::kRefused);
      }
    }
    return some;
  }

  std::string WhyNotPlaced(const Binding& imap, size_t k) const {
    const Block& block = *imap.blocks[0];
    const Var* row = block.results[k].var();
    if (MakerOf(block, row) < 0) return NameOf(row) + " is not made by an imap or alloc in it";
    if (std::count(block.results.begin(), block.results.end(), Operand(row)) > 1)
      return NameOf(row) + " is yielded twice";
    return WhyWhole(block, row, HasDenseRows(imap, imap.results[k]));
  }

  // The imap as a foreach that stores into the places of its results.
  void WriteInto(const Binding& imap) {
    const Block& block = *imap.blocks[0];
    const Operands index(block.params.begin(), block.params.end());
    std::vector<bool> is_placed;
    for (size_t k = 0; k < imap.results.size(); ++k) {
      const Operand& row = block.results[k];
      is_placed.push_back(ir::TypeOf(row).IsArray() && WhyNotPlaced(imap, k).empty());
    }
    for (size_t k = 0; k < imap.results.size(); ++k) {
      if (is_placed[k]) places_[block.results[k].var()] = {imap.results[k], index};
    }
    WriteForeach(imap, [&](const Operands& values) {
      for (size_t k = 0; k < values.size(); ++k) {
        if (!is_placed[k]) StoreInto(imap.results[k], index, values[k]);
      }
    });
  }

  // Stores a scalar, or copies an array.
  void StoreInto(const Var* array, const Operands& index, const Operand& value) {
    const ir::Type type = ir::TypeOf(value);
    if (!type.IsArray()) return StoreAt(array, index, value);
    std::vector<const Var*> params;
    for (int axis = 0; axis < type.rank(); ++axis)
      params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* body = BlockOf(params, [&] {
      const Operands within(params.begin(), params.end());
      Operands whole = index;
      whole.insert(whole.end(), params.begin(), params.end());
      const Operands from = Locate(value.var(), within);
      StoreAt(array, whole, builder().Load(from[0], {from.begin() + 1, from.end()}));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, type.dims(), {}, {body});
  }

  void StoreAt(const Var* array, const Operands& index, const Operand& value) {
    const Operands place = Locate(array, index);
    builder().Store(place[0], {place.begin() + 1, place.end()}, value);
  }

  const CopyFinder& copies_;
  Context& context_;
  std::unordered_map<const Var*, Place> places_;
  ir::VarSet turned_;  // what is made in Fortran order
};

}  // namespace

ir::Program PlaceResults(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    ir::Arena* arena = program.arena.get();
    // Each copy would be a kernel of its own.
    const ReuseFinder finder(*function, /*copies_slices=*/!context.options.kernels);
    for (const auto& [imap, reason] : finder.refusals())
      context.Note(imap->span, "not in place: " + reason, Topic::kMemory);
    const ir::Function* reused = Reuser(arena, *function, finder, context).Run(function);
    const CopyFinder copies(arena, *reused);
    for (const auto& [foreach, reason] : copies.refusals())
      context.Note(foreach->span, "copied: " + reason, Topic::kMemory, Verdict::kRefused);
    return Placer(arena, copies, context).Run(reused);
  });
}

}  // namespace parakeet::passes
