#include "passes/lowering/row_sorter.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool Uses(const Binding& b, const Var* array) {
  bool uses = false;
  ir::ForEachUse(b, [&](const Var* used) { uses |= used == array; });
  return uses;
}

// True of scalar code, loads and choices: elements that may be made wherever they are read.
bool IsPure(const Block& block) {
  return std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
    if (b->op == OpCode::kIf) {
      return std::all_of(b->blocks.begin(), b->blocks.end(),
                         [](const Block* inner) { return IsPure(*inner); });
    }
    return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
  });
}

bool IsRow(const Operand& operand) {
  return operand.IsVar() && operand.var()->type.IsArray() && operand.var()->type.rank() == 1;
}

// True for a map whose elements may be made wherever they are read.
bool MakesRow(const Binding& b) {
  const bool is_map = b.op == OpCode::kImap || b.op == OpCode::kMap;
  return is_map && b.results.size() == 1 && b.result()->type.rank() == 1 && IsPure(*b.blocks[0]) &&
         (b.op == OpCode::kMap ? std::all_of(b.operands.begin(), b.operands.end(), IsRow)
                               : b.blocks[0]->params.size() == 1);
}

// True for an imap of its own index.
bool CountsUp(const Binding& maker) {
  const Block& element = *maker.blocks[0];
  return maker.op == OpCode::kImap && element.bindings.empty() &&
         element.results[0] == Operand(element.params[0]);
}

// True for what finds elements, or their indexes, at places that an operand has.
bool Selects(const std::string& routine) { return routine == "select" || routine == "argselect"; }

int64_t LengthOfRow(const Operand& row) { return row.var()->type.dims()[0].constant().integer; }

// The operand that the routine writes its result to.
size_t PlaceOfResult(const std::string& routine) {
  if (routine == "argsort") return 1;
  return routine == "sort" || routine == "stable_sort" ? 0 : 2;
}

}  // namespace

RowSorter::RowSorter(ir::Arena* arena, const ir::Function& function, Context& context)
    : LoopWriter(arena), context_(context), definitions_(ir::Definitions(*function.body)) {}

std::optional<RowSorter::Call> RowSorter::AsCall(const Binding& b) {
  if (b.op != OpCode::kLibraryCall) return std::nullopt;
  const std::string& routine = b.attrs.Text(Attr::kCallee);
  const bool selects = Selects(routine) || routine == "partition" || routine == "argpartition";
  const bool sorts = routine == "sort" || routine == "stable_sort" || routine == "argsort";
  if (!selects && !sorts) return std::nullopt;
  if (!std::all_of(b.operands.begin(), b.operands.end(), IsRow)) return std::nullopt;
  const ir::Type& type = b.operands[0].var()->type;
  if (!HasSortingNetwork(type.dtype())) return std::nullopt;
  // Of zeros, a stable sort keeps the first first.
  if (routine == "stable_sort" && ir::IsFloat(type.dtype())) return std::nullopt;
  if (Selects(routine)) {
    const Operand& count = b.operands[1].var()->type.dims()[0];
    if (!count.IsConstant() || count.constant().integer > kMostInNetwork) return std::nullopt;
  }
  const std::optional<int64_t> length = LengthOf(b, type.dims()[0]);
  if (!length || *length < 1 || *length > kMostInNetwork) return std::nullopt;
  return Call{&b, routine, *length};
}

// The map of the block that makes the array for the call at `at`, where nobody else reads it before
// the call, nor behind it where the call's result does not replace it. Null where there is none.
const Binding* RowSorter::MakerOf(const Block& block, size_t at, const Var* array,
                                  bool is_replaced) const {
  const Binding* maker = nullptr;
  for (size_t k = 0; k < block.bindings.size(); ++k) {
    const Binding* b = block.bindings[k];
    if (k < at && MakesRow(*b) && b->result() == array) {
      maker = b;
    } else if (maker != nullptr && k < at) {
      // What is stored before the call may be what the elements are made of.
      if (Uses(*b, array) ||
          !(ir::IsScalarOp(b->op) || b->op == OpCode::kLoad || b->op == OpCode::kImap ||
            b->op == OpCode::kMap || b->op == OpCode::kAlloc || ir::IsView(b->op))) {
        return nullptr;
      }
    } else if (k > at && !is_replaced && Uses(*b, array)) {
      return nullptr;
    }
  }
  const Operand self(array);
  if (!is_replaced && std::count(block.results.begin(), block.results.end(), self) > 0) {
    return nullptr;
  }
  return maker;
}

void RowSorter::Plan(const Block& block, size_t at) {
  std::optional<Call> call = AsCall(*block.bindings[at]);
  if (!call) return;
  const Binding& b = *call->binding;
  const size_t result = PlaceOfResult(call->routine);
  call->keys = MakerOf(block, at, b.operands[0].var(), result == 0);
  if (b.operands.size() > 1 && b.operands[0] == b.operands[1]) return;
  if (b.operands.size() > 1) {
    call->places = MakerOf(block, at, b.operands[1].var(), result == 1);
  }
  if (call->routine == "argsort" && (call->places == nullptr || !CountsUp(*call->places))) return;
  if (call->keys != nullptr) makers_[call->keys] = call->length;
  // Of a partition, where all is in order everywhere, nobody asks at which places.
  const bool selects = Selects(call->routine);
  const bool reads_places = selects || call->routine == "argsort";
  if (call->places != nullptr && reads_places) {
    makers_[call->places] = selects ? LengthOfRow(b.operands[1]) : call->length;
  }
  calls_.emplace(&b, *call);
}

const Block* RowSorter::VisitBlock(const Block* block) {
  for (size_t at = 0; at < block->bindings.size(); ++at) {
    if (block->bindings[at]->op == OpCode::kLibraryCall) Plan(*block, at);
  }
  return LoopWriter::VisitBlock(block);
}

void RowSorter::Visit(const Binding* b) {
  const auto call = calls_.find(b);
  if (call != calls_.end()) return Write(call->second);
  makers_.contains(b) ? Make(*b) : LoopWriter::Visit(b);
}

void RowSorter::Make(const Binding& maker) {
  Operands elements;
  for (int64_t k = 0; k < makers_.at(&maker); ++k) elements.push_back(ElementOf(maker, k));
  made_[&maker] = std::move(elements);
}

Operand RowSorter::ElementOf(const Binding& maker, int64_t place) {
  const Block& element = *ir::CloneBlock(arena(), *maker.blocks[0]);
  if (maker.op == OpCode::kImap) return VisitBody(element, {Int(place)})[0];
  Operands read;
  for (const Operand& operand : Apply(maker.operands)) {
    read.push_back(builder().Load(operand, {Int(place)}));
  }
  return VisitBody(element, read)[0];
}

// Where an element of a row is: of a view of an array, in that array.
LoopWriter::Operands RowSorter::PlaceIn(const Var* array, const Var** root, int64_t place) {
  const auto found = definitions_.find(array);
  const Binding* view = found != definitions_.end() ? found->second : nullptr;
  *root = Apply(Operand(array)).var();
  if (view == nullptr || view->op != OpCode::kView || view->attrs.Int(Attr::kFlat) != 0) {
    return {Int(place)};
  }
  const Var* seen = view->operands[0].var();
  if (seen->type.dtype() != array->type.dtype()) return {Int(place)};
  *root = Apply(Operand(seen)).var();
  const size_t axes = seen->type.rank();
  Operands places;
  for (size_t axis = 0; axis < axes; ++axis) {
    const Operand step = builder().Mul(Apply(view->operands[1 + axes + axis]), Int(place));
    places.push_back(builder().Add(Apply(view->operands[1 + axis]), step));
  }
  return places;
}

LoopWriter::Operands RowSorter::ElementsOf(const Var* array, const Binding* maker, int64_t count) {
  if (maker != nullptr) return made_.at(maker);
  Operands elements;
  for (int64_t k = 0; k < count; ++k) {
    const Var* root;
    const Operands place = PlaceIn(array, &root, k);
    elements.push_back(builder().Load(root, place));
  }
  return elements;
}

void RowSorter::Store(const Var* array, const Operands& values) {
  for (size_t k = 0; k < values.size(); ++k) {
    const Var* root;
    const Operands place = PlaceIn(array, &root, int64_t(k));
    builder().Store(root, place, values[k]);
  }
}

// A new array in the place of one that was not made.
const Var* RowSorter::NewFor(const Var* array) {
  const ir::Type type = Apply(array->type);
  const Var* made = builder().EmitOne(OpCode::kAlloc, type, type.dims());
  Replace(array, made);
  return made;
}

Operand RowSorter::ElementAt(const Operands& sorted, const Operand& place) {
  Operand found = sorted.back();
  for (size_t k = sorted.size() - 1; k-- > 0;) {
    const Operand is_here = builder().Scalar(OpCode::kEq, {place, Int(int64_t(k))});
    found = builder().Scalar(OpCode::kSelect, {is_here, sorted[k], found});
  }
  return found;
}

Operand RowSorter::CountOfNans(const Operands& elements) {
  if (!ir::IsFloat(ir::DTypeOf(elements[0]))) return Int(0);
  Operand count = Int(0);
  for (const Operand& element : elements) {
    const Operand is_nan = builder().Scalar(OpCode::kIsNan, {element});
    count = builder().Add(count, builder().Cast(is_nan, ir::DType::kI64));
  }
  return Max(count, Int(0));  // So that who asks of the status sees what it is not.
}

void RowSorter::Write(const Call& call) {
  const Binding& b = *call.binding;
  context_.Note(b.span, "sorted by a network of exchanges", Topic::kNests, Verdict::kDone);
  const Operands elements = ElementsOf(b.operands[0].var(), call.keys, call.length);
  Operand status = Int(0);
  if (Selects(call.routine)) {
    const bool is_order = call.routine == "argselect";
    const Operands sorted =
        is_order ? OrderByNetwork(builder(), elements) : SortByNetwork(builder(), elements);
    const Var* asked = b.operands[1].var();
    Operands found;
    for (const Operand& place : ElementsOf(asked, call.places, LengthOfRow(b.operands[1]))) {
      found.push_back(ElementAt(sorted, place));
    }
    Store(b.operands[2].var(), found);
    if (!is_order) status = CountOfNans(elements);
  } else {
    WriteSorted(call, elements);
  }
  Replace(b.result(), status);
}

void RowSorter::WriteSorted(const Call& call, const Operands& elements) {
  const bool is_order = call.routine == "argsort" || call.routine == "argpartition";
  const Operands sorted =
      is_order ? OrderByNetwork(builder(), elements) : SortByNetwork(builder(), elements);
  const size_t result = PlaceOfResult(call.routine);
  const Operand& array = call.binding->operands[result];
  const Binding* maker = result == 0 ? call.keys : result == 1 ? call.places : nullptr;
  Store(maker != nullptr ? NewFor(array.var()) : array.var(), sorted);
}

}  // namespace parakeet::passes
