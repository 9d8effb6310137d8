// Finds what is read of a sorted array without sorting it: its least and its greatest by a
// traversal, other places by selection.
//
// Before:
//   %v: [n]f64 = map (%a in %x) { yield %a }
//   %s: i64 = library_call @sort(%v)
//   %r: [k]f64 = slice %v[0:%k:1]
// After:
//   %places: [k]i64 = imap (%i) in (%k) { yield %i }
//   %r: [k]f64 = alloc (%k)
//   %s: i64 = library_call @select(%x, %places, %r)
//
// Orders (argsort) are done likewise: the first place of the least element, the last of the
// greatest, or a call of `argselect`. Elements are those that sorting puts there, to the sign of a
// zero: -0 stands before 0, nan behind the rest. Elements that do not lie one after the other are
// copied for a selection, and for a traversal are not.
//
// Assumes: slices lie inside their arrays.
// Refuses: complex numbers and float16; stable sorts of floats, which keep zeros of either sign in
// order; what is read in loops, what is neither an element nor at a side, which may be nearly all;
// parts of rows, since rows may turn out to be short enough for networks. A GPU sorts what is not
// at an end.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_parts_read.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr size_t kMostReads = 4;

// A sort of which only parts are read.
struct Sort {
  const Binding* call;
  const Binding* maker;  // Of the array that the call sorts, or of the indexes.
  Operand keys;          // What is sorted, as it was.
  bool are_in_line;      // Whether the keys lie one after the other.
  bool is_order;
  PartsRead parts;
};

bool IsIdentity(const Binding& maker) {
  const Block& block = *maker.blocks[0];
  return maker.op == OpCode::kMap && maker.operands.size() == 1 && block.bindings.empty() &&
         block.results[0] == Operand(block.params[0]) && block.params[0]->type.IsScalar();
}

bool CountsUp(const Binding& maker) {
  const Block& block = *maker.blocks[0];
  return maker.op == OpCode::kImap && block.bindings.empty() && block.params.size() == 1 &&
         block.results[0] == Operand(block.params[0]);
}

bool IsOrdered(DType dtype) { return !ir::IsComplex(dtype) && dtype != DType::kF16; }

class SortFinder {
 public:
  SortFinder(const ir::Function& function, bool for_kernels)
      : roots_(function),
        finder_(function),
        definitions_(ir::Definitions(*function.body)),
        for_kernels_(for_kernels) {
    for (const ir::Param& param : function.params) {
      if (param.layout == ir::Layout::kC) in_c_order_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Block* block : b.blocks) around_[block] = &b;
      for (const size_t stored : ir::StoredOperands(b)) {
        for (const Var* root : roots_.Of(b.operands[stored].var())) ++stores_[root];
      }
    });
  }

  std::optional<Sort> Of(const Binding& call) const {
    if (call.op != OpCode::kLibraryCall) return std::nullopt;
    const std::string& routine = call.attrs.Text(Attr::kCallee);
    if (routine != "sort" && routine != "stable_sort" && routine != "argsort") return std::nullopt;
    const ir::Type& type = ir::TypeOf(call.operands[0]);
    if (type.rank() != 1 || !IsOrdered(type.dtype())) return std::nullopt;
    if (routine == "stable_sort" && ir::IsFloat(type.dtype())) return std::nullopt;
    const bool is_order = routine == "argsort";
    const Binding* maker = MakerOf(call, call.operands[is_order ? 1 : 0].var());
    if (maker == nullptr || (is_order && !CountsUp(*maker))) return std::nullopt;
    std::optional<PartsRead> parts = finder_.Of(*maker, &call);
    if (!parts || !ArePartsOf(call, *parts)) return std::nullopt;
    const Operand keys = KeysOf(call, parts->reads);
    const bool are_in_line = keys == call.operands[0] || LiesInLine(keys);
    Sort sort{&call, maker, keys, are_in_line, is_order, std::move(*parts)};
    if (is_order && !IsKept(sort.keys, call, sort.parts.reads)) return std::nullopt;
    return sort;
  }

  // True for the last index of an array of so many elements.
  bool IsLast(const Operand& index, const Operand& extent) const {
    const Binding* b = DefinitionOf(index);
    return b != nullptr && b->op == OpCode::kSub && b->operands[0] == extent &&
           b->operands[1].IsInt(1);
  }

  const Binding* DefinitionOf(const Operand& value) const {
    const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  // True where a value is known in front of a binding.
  bool IsKnownAt(const Operand& value, const Binding& at) const {
    const Binding* maker = DefinitionOf(value);
    if (maker == nullptr) return true;
    const Block* block = finder_.BlockOf(&at);
    return finder_.BlockOf(maker) != block || NumberOf(*maker) < NumberOf(at);
  }

 private:
  const Binding* MakerOf(const Binding& call, const Var* array) const {
    const Binding* maker = DefinitionOf(array);
    if (maker == nullptr || maker->results.size() != 1) return nullptr;
    if (maker->op != OpCode::kMap && maker->op != OpCode::kImap) return nullptr;
    const auto stores = stores_.find(array);
    const bool is_only = stores != stores_.end() && stores->second == 1;
    return is_only && finder_.BlockOf(maker) == finder_.BlockOf(&call) ? maker : nullptr;
  }

  // What is sorted, be it as it lies before it is copied for that.
  Operand KeysOf(const Binding& call, const std::vector<PartRead>& reads) const {
    const Operand& keys = call.operands[0];
    const Binding* copy = DefinitionOf(keys);
    const bool is_copy =
        copy != nullptr && IsIdentity(*copy) && finder_.BlockOf(copy) == finder_.BlockOf(&call);
    return is_copy && IsKept(copy->operands[0], *copy, reads) ? copy->operands[0] : keys;
  }

  // Whether that is known of an array of one axis.
  bool LiesInLine(const Operand& array) const {
    const Binding* maker = DefinitionOf(array);
    if (maker == nullptr) return in_c_order_.contains(array.var());
    switch (maker->op) {
      case OpCode::kAlloc:
      case OpCode::kFilter:
      case OpCode::kImap:
      case OpCode::kMap: return true;
      case OpCode::kSlice:
        return maker->attrs.Text(Attr::kAxes) == "r" && maker->operands[3].IsInt(1) &&
               LiesInLine(maker->operands[0]);
      default: return false;
    }
  }

  std::ptrdiff_t NumberOf(const Binding& b) const {
    const auto& bindings = finder_.BlockOf(&b)->bindings;
    return std::find(bindings.begin(), bindings.end(), &b) - bindings.begin();
  }

  // Whether all parts are read behind the call, in its block, and may be had without it.
  bool ArePartsOf(const Binding& call, const PartsRead& parts) const {
    if (parts.reads.empty() || parts.reads.size() > kMostReads) return false;
    const bool is_rows = IsRows(finder_.BlockOf(&call));
    return std::all_of(parts.reads.begin(), parts.reads.end(), [&](const PartRead& read) {
      if (read.at != read.reader || NumberOf(*read.reader) < NumberOf(call)) return false;
      if (read.IsElement()) return !for_kernels_ || IsAtEnd(read);
      if (for_kernels_ || parts.reads.size() > 1 || !IsAtSide(read)) return false;
      return !is_rows || read.parts[0].size.IsConstant();
    });
  }

  // The first ones, or the last ones, whichever way: what lies between may be nearly all.
  bool IsAtSide(const PartRead& read) const {
    if (read.axes.size() != 1 || read.through[0].size() > 1) return false;
    const AxisPart& part = read.parts[0];
    if (!part.step.IsInt(1)) return false;
    const Operand extent = ir::TypeOf(read.reader->operands[0]).dims()[0];
    if (!read.through[0].empty()) {
      const AxisPart& turned = read.through[0][0];
      return part.start.IsInt(0) && turned.step.IsInt(-1) && IsLast(turned.start, turned.size);
    }
    const Binding* size = DefinitionOf(part.size);
    const bool is_rest = size != nullptr && size->op == OpCode::kSub &&
                         size->operands[0] == extent && size->operands[1] == part.start;
    return part.start.IsInt(0) || is_rest;
  }

  // At the first place or the last.
  bool IsAtEnd(const PartRead& read) const {
    if (!read.through[0].empty()) return false;
    const Operand& array = read.reader->operands[0];
    const Operand& index = read.parts[0].start;
    return index.IsInt(0) || IsLast(index, ir::TypeOf(array).dims()[0]);
  }

  bool IsRows(const Block* block) const {
    const auto around = around_.find(block);
    if (around == around_.end()) return false;
    const OpCode op = around->second->op;
    return op == OpCode::kImap || op == OpCode::kMap || IsRows(finder_.BlockOf(around->second));
  }

  // Whether an array is the same from a binding to all readers.
  bool IsKept(const Operand& array, const Binding& from, const std::vector<PartRead>& reads) const {
    const auto& bindings = finder_.BlockOf(&from)->bindings;
    const ir::VarSet& roots = roots_.Of(array.var());
    std::ptrdiff_t last = 0;
    for (const PartRead& read : reads) last = std::max(last, NumberOf(*read.reader));
    for (std::ptrdiff_t k = NumberOf(from) + 1; k < last; ++k) {
      if (Intersects(EffectsOf(*bindings[size_t(k)], roots_).writes, roots)) return false;
    }
    return true;
  }

  const Roots roots_;
  const PartsReadFinder finder_;
  const ir::DefinitionMap definitions_;
  const bool for_kernels_;
  ir::VarSet in_c_order_;
  std::unordered_map<const Block*, const Binding*> around_;
  std::unordered_map<const Var*, int> stores_;
};

// Writes what stands at places of sorted elements.
class SelectionWriter {
 public:
  // `new_site` gives the number of a site for what fails without memory.
  SelectionWriter(Builder& builder, std::function<int64_t()> new_site, Operand keys,
                  bool are_in_line, bool is_order)
      : builder_(builder),
        new_site_(std::move(new_site)),
        keys_(std::move(keys)),
        are_in_line_(are_in_line),
        is_order_(is_order) {}

  Operand Least() { return AtEnd(OpCode::kFmin, OpCode::kMin, true); }
  Operand Greatest() { return AtEnd(OpCode::kMax, OpCode::kMax, false); }

  // What stands at each of the places.
  Operand At(const Operand& places, const Operand& count) {
    const DType dtype = is_order_ ? DType::kI64 : Dtype();
    const Var* made = builder_.EmitOne(OpCode::kAlloc, ir::Type::Array(dtype, {count}), {count});
    const std::string routine = is_order_ ? "argselect" : "select";
    const Operand keys = are_in_line_ ? keys_ : CopyOfKeys();
    const Operand status = builder_.EmitOne(OpCode::kLibraryCall, DType::kI64, {keys, places, made},
                                            {{Attr::kCallee, routine}});
    const Operand is_made = builder_.Scalar(OpCode::kGe, {status, Int(0)});
    builder_.Emit(OpCode::kCheck, {}, {is_made}, {{Attr::kSite, new_site_()}, {Attr::kAt, 0}});
    return made;
  }

 private:
  static Operand Int(int64_t value) { return Operand::Int(value); }
  DType Dtype() const { return ir::TypeOf(keys_).dtype(); }
  Operand Extent() const { return ir::TypeOf(keys_).dims()[0]; }
  Operand Zero(bool is_negative) const {
    return ir::Constant::Float(is_negative ? -0.0 : 0.0, Dtype());
  }

  Operand CopyOfKeys() {
    const Var* a = builder_.NewVar(Dtype(), "a");
    return builder_.EmitOne(OpCode::kMap, ir::Type::Array(Dtype(), {Extent()}), {keys_}, {},
                            {builder_.Nested().Finish({a}, {a})});
  }

  Operand AtEnd(OpCode of_floats, OpCode of_integers, bool is_least) {
    const bool is_float = ir::IsFloat(Dtype());
    OpCode op = is_float ? of_floats : of_integers;
    if (Dtype() == DType::kBool) op = is_least ? OpCode::kAnd : OpCode::kOr;
    const Operand extreme =
        Reduce(op, *ir::IdentityOf(op, Dtype()), [](Builder&, const Operand& a) { return a; });
    if (is_order_) return PlaceOf(extreme, is_least);
    return is_float ? WithSignOfZero(extreme, is_least) : extreme;
  }

  template <typename Make>
  Operand Reduce(OpCode op, const Operand& init, const Make& make) {
    Builder inner = builder_.Nested();
    const Var* a = builder_.NewVar(Dtype(), "a");
    const Operand value = make(inner, a);
    const DType dtype = ir::DTypeOf(value);
    const Block* element = inner.Finish({a}, {value});
    return builder_.EmitOne(OpCode::kReduce, dtype, {keys_, init}, {},
                            {element, ir::CombineBlock(builder_.arena(), op, dtype)});
  }

  // Of zeros, -0 stands first.
  Operand WithSignOfZero(const Operand& extreme, bool is_least) {
    const Operand is_zero = builder_.Scalar(OpCode::kEq, {extreme, Zero(false)});
    Builder then = builder_.Nested(), otherwise = builder_.Nested();
    std::swap(then, builder_);
    const auto is_first = [&](Builder& b, const Operand& a) {
      Operand is_here = b.Scalar(OpCode::kSignbit, {a});
      if (!is_least) is_here = b.Scalar(OpCode::kNot, {is_here});
      return b.Scalar(OpCode::kAnd, {b.Scalar(OpCode::kEq, {a, Zero(false)}), is_here});
    };
    const Operand any = Reduce(OpCode::kOr, Operand::Bool(false), is_first);
    const Operand zero = builder_.Scalar(OpCode::kSelect, {any, Zero(is_least), Zero(!is_least)});
    std::swap(then, builder_);
    return builder_.EmitOne(OpCode::kIf, Dtype(), {is_zero}, {},
                            {then.Finish({}, {zero}), otherwise.Finish({}, {extreme})});
  }

  // The first place of the least element, or the last one of the greatest, which may be nan; the
  // first where all are.
  Operand PlaceOf(const Operand& extreme, bool is_least) {
    const OpCode op = is_least ? OpCode::kMin : OpCode::kMax;
    const Operand none = is_least ? Extent() : Int(-1);
    Builder inner = builder_.Nested();
    const Var* i = builder_.NewVar(DType::kI64, "i");
    const Operand a = inner.Load(keys_, {i});
    Operand is_here = inner.Scalar(OpCode::kEq, {a, extreme});
    if (!is_least && ir::IsFloat(Dtype())) {
      const Operand are_nan = inner.Scalar(OpCode::kAnd, {inner.Scalar(OpCode::kIsNan, {a}),
                                                          inner.Scalar(OpCode::kIsNan, {extreme})});
      is_here = inner.Scalar(OpCode::kOr, {is_here, are_nan});
    }
    const Operand place = inner.Scalar(OpCode::kSelect, {is_here, i, none});
    const Operand found = builder_.EmitOne(
        OpCode::kIreduce, DType::kI64, {Extent(), none}, {},
        {inner.Finish({i}, {place}), ir::CombineBlock(builder_.arena(), op, DType::kI64)});
    if (!is_least) return found;
    const Operand is_none = builder_.Scalar(OpCode::kEq, {found, none});
    return builder_.Scalar(OpCode::kSelect, {is_none, Int(0), found});
  }

  Builder& builder_;
  const std::function<int64_t()> new_site_;
  const Operand keys_;
  const bool are_in_line_;
  const bool is_order_;
};

class Selecting : public ir::Mutator {
 public:
  Selecting(ir::Arena* arena, const ir::Function& function, Context& context,
            std::vector<ir::Site>& sites, size_t first_site)
      : Mutator(arena),
        finder_(function, context.options.kernels),
        sites_(sites),
        first_site_(first_site) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      std::optional<Sort> sort = finder_.Of(b);
      if (!sort) return;
      context.Note(b.span, "not sorted: only parts of it are read", Topic::kFusion, Verdict::kDone);
      Plan(std::move(*sort));
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const auto sort = sorts_.find(b);
    if (sort != sorts_.end()) return Replace(b->result(), Operand::Int(0));
    const auto read = reads_.find(b);
    if (read != reads_.end()) return Make(*read->second.first, *read->second.second);
    if (!dropped_.contains(b)) Mutator::Visit(b);
  }

 private:
  void Plan(Sort sort) {
    const Binding* call = sort.call;
    const Sort& kept = sorts_.emplace(call, std::move(sort)).first->second;
    dropped_.insert(kept.parts.views.begin(), kept.parts.views.end());
    if (kept.is_order || kept.keys != Operand(kept.maker->result())) dropped_.insert(kept.maker);
    for (const PartRead& read : kept.parts.reads) reads_[read.reader] = {&kept, &read};
  }

  SelectionWriter WriterFor(const Sort& sort) {
    const auto new_site = [this, &sort] {
      sites_.push_back({"MemoryError", "no memory to sort", sort.call->span});
      return int64_t(first_site_ + sites_.size() - 1);
    };
    return {builder(), new_site, Apply(sort.keys), sort.are_in_line, sort.is_order};
  }

  void Make(const Sort& sort, const PartRead& read) {
    if (made_.contains(&read)) return;
    builder().set_span(sort.call->span);
    SelectionWriter writer = WriterFor(sort);
    const AxisPart part = Renamed(read)[0];
    if (!read.IsElement()) return Replace(read.reader->result(), Range(writer, part));
    if (const std::optional<Operand> end = AtEnd(sort, writer, part.start))
      return Replace(read.reader->result(), *end);
    MakeElements(sort, read, writer);
  }

  std::vector<AxisPart> Renamed(PartRead read) {
    for (AxisPart& part : read.parts) part = Renamed(part);
    for (std::vector<AxisPart>& ranges : read.through) {
      for (AxisPart& range : ranges) range = Renamed(range);
    }
    return read.Composed(builder());
  }

  AxisPart Renamed(const AxisPart& part) const {
    return {part.is_index, Apply(part.start), Apply(part.size), Apply(part.step)};
  }

  Operand Range(SelectionWriter& writer, const AxisPart& part) {
    Builder inner = builder().Nested();
    const Var* i = builder().NewVar(DType::kI64, "i");
    const Operand place = PlaceIn(inner, part, i);
    const Var* places = builder().EmitOne(OpCode::kImap, ir::Type::Array(DType::kI64, {part.size}),
                                          {part.size}, {}, {inner.Finish({i}, {place})}, "places");
    return writer.At(places, part.size);
  }

  std::optional<Operand> AtEnd(const Sort& sort, SelectionWriter& writer, const Operand& index) {
    if (index.IsInt(0)) return writer.Least();
    const Operand extent = ir::TypeOf(sort.keys).dims()[0];
    if (finder_.IsLast(index, extent)) return writer.Greatest();
    return std::nullopt;
  }

  // The element and those others of which the places are known, in one call.
  void MakeElements(const Sort& sort, const PartRead& first, SelectionWriter& writer) {
    std::vector<const PartRead*> reads;
    std::vector<Operand> places;
    for (const PartRead& read : sort.parts.reads) {
      if (!read.IsElement() || made_.contains(&read) || !IsKnownAt(read, *first.reader)) continue;
      const Operand place = Renamed(read)[0].start;
      reads.push_back(&read);
      places.push_back(&read == &first ? place : InRange(place, ir::TypeOf(sort.keys).dims()[0]));
    }
    const Operand count = Operand::Int(int64_t(reads.size()));
    const Var* asked = builder().EmitOne(OpCode::kAlloc, ir::Type::Array(DType::kI64, {count}),
                                         {count}, {}, {}, "places");
    for (size_t k = 0; k < places.size(); ++k)
      builder().Store(asked, {Operand::Int(int64_t(k))}, places[k]);
    const Operand made = writer.At(asked, count);
    for (size_t k = 0; k < reads.size(); ++k) {
      made_.insert(reads[k]);
      Replace(reads[k]->reader->result(), builder().Load(made, {Operand::Int(int64_t(k))}));
    }
  }

  // Whether a read is at a place that is known in front of another, or computed of such.
  bool IsKnownAt(const PartRead& read, const Binding& at) {
    if (read.reader == &at) return true;
    if (!read.through[0].empty() || read.parts[0].start.IsInt(0)) return false;
    const Operand& place = read.parts[0].start;
    const Operand extent = ir::TypeOf(read.reader->operands[0]).dims()[0];
    return !finder_.IsLast(place, extent) && MakeKnown(place, at, kMostSteps);
  }

  // Computes a place in front of where the program does, if scalars are all that it takes.
  bool MakeKnown(const Operand& place, const Binding& at, int steps) {
    if (finder_.IsKnownAt(place, at) || Apply(place) != place) return true;
    const Binding* b = finder_.DefinitionOf(place);
    if (steps == 0 || !ir::IsScalarOp(b->op)) return false;
    for (const Operand& operand : b->operands) {
      if (!MakeKnown(operand, at, steps - 1)) return false;
    }
    Binding copy = *Rewrite(b);
    copy.results = {builder().NewVar(place.var()->type, place.var()->hint)};
    builder().Append(arena()->New(copy));
    Replace(place.var(), copy.result());
    return true;
  }

  // The check of a place that is read later has not been made.
  Operand InRange(const Operand& place, const Operand& extent) {
    const Operand last = builder().Sub(Apply(extent), Operand::Int(1));
    const Operand least = builder().Scalar(OpCode::kMax, {place, Operand::Int(0)});
    return builder().Scalar(OpCode::kMin, {least, last});
  }

  static constexpr int kMostSteps = 8;

  const SortFinder finder_;
  std::vector<ir::Site>& sites_;
  const size_t first_site_;
  std::unordered_map<const Binding*, Sort> sorts_;
  std::unordered_map<const Binding*, std::pair<const Sort*, const PartRead*>> reads_;
  std::unordered_set<const Binding*> dropped_;
  std::unordered_set<const PartRead*> made_;
};

bool CallsLibrary(const ir::Function& function) {
  bool calls = false;
  ir::ForEachBinding(*function.body,
                     [&](const Binding& b) { calls |= b.op == OpCode::kLibraryCall; });
  return calls;
}

}  // namespace

ir::Program SelectOfSorted(const ir::Program& program, Context& context) {
  std::vector<ir::Site> sites;
  ir::Program selecting = ForEachFunction(program, [&](const ir::Function* function) {
    if (!CallsLibrary(*function)) return function;
    return Selecting(program.arena.get(), *function, context, sites, program.sites.size())
        .Run(function);
  });
  for (const ir::Site& site : sites) selecting.sites.push_back(site);
  return selecting;
}

}  // namespace parakeet::passes
