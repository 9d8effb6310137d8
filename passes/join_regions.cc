// Makes an array that is stored to piece by piece, and then read, an imap whose elements are chosen
// by their index, where what reads it takes them as they are made: joined arrays, padded ones,
// slopes with their ends, zeros with an inside.
//
// Before:
//   %t: [%k]f64 = alloc (%k)
//   foreach (%i) in (%n) { %a = load %x[%i]  store %t[%i], %a }
//   foreach (%j) in (%m) { %b = load %y[%j]  %p = add %n, %j  store %t[%p], %b }
//   %s: f64 = ireduce (%l) in (%k) add from 0.0 { %c = load %t[%l]  yield %c }
// After:
//   %t: [%k]f64 = imap (%l) in (%k) {
//     %ok = ge %l, %n
//     %e = if %ok { %q = sub %l, %n  %b = load %y[%q]  yield %b }
//          else { %a = load %x[%l]  yield %a }
//     yield %e }
//   %s: f64 = ireduce ...
// which fuse-elements puts into its reader, and split-nests goes through apart.
//
// Assumes: index form; pieces that follow one another to the end leave no place out.
// Refuses: arrays that fuse-elements would leave where they are, or whose elements are read again
// and again, at many places, or by scans and filters, which would ask at each element; pieces that
// may raise, or read the array or what is stored to in between.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_pieces.h"
#include "passes/analyses/find_reads.h"
#include "passes/fusing/choose_producers.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Joins the arrays that `may_join` admits, all where it is null.
class RegionJoiner : public ir::Mutator {
 public:
  RegionJoiner(ir::Arena* arena, const ir::Function& function, const VarSet* may_join)
      : Mutator(arena), finder_(function), forms_(function), may_join_(may_join) {}

  // The imaps that have been written.
  const std::vector<const Binding*>& joined() const { return joined_; }

 protected:
  const Block* VisitBlock(const Block* block) override {
    for (size_t at = 0; at < block->bindings.size(); ++at) {
      if (may_join_ != nullptr && !MayJoin(*block->bindings[at])) continue;
      auto made = finder_.Of(*block, at);
      if (!made) continue;
      left_out_.insert(made->maker);
      for (const Piece& piece : made->pieces) left_out_.insert(piece.nest);
      arrays_.emplace(made->pieces.back().nest, std::move(*made));
    }
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    const auto made = arrays_.find(b);
    if (made != arrays_.end()) return WriteImap(made->second);
    if (!left_out_.contains(b)) Mutator::Visit(b);
  }

 private:
  // What is known of an index where a choice stands.
  struct Known {
    std::vector<LinearForm> lower;  // by axis: from here on
    std::vector<LinearForm> upper;  // and below here
  };

  bool MayJoin(const Binding& b) const {
    return b.results.size() == 1 && may_join_->contains(b.result());
  }

  void WriteImap(const PiecewiseArray& made) {
    const Binding& maker = *made.maker;
    builder().set_span(maker.span);
    ir::Builder body = builder().Nested();
    std::vector<const Var*> params;
    Known known;
    for (const Operand& size : maker.operands) {
      params.push_back(body.NewVar(ir::DType::kI64, "i"));
      known.lower.push_back(LinearForm::Of(int64_t{0}));
      known.upper.push_back(forms_.Of(size));
    }
    const Operand element = Choose(body, made, made.pieces.size(), params, known);
    const ir::Attributes order = maker.attrs.Has(ir::Attr::kFortran)
                                     ? ir::Attributes{{ir::Attr::kFortran, int64_t{1}}}
                                     : ir::Attributes{};
    const Block* block = body.Finish(params, {element});
    joined_.push_back(
        builder().Emit(OpCode::kImap, {maker.result()}, Apply(maker.operands), order, {block}));
  }

  // The element at the index, of the first `count` pieces: what is stored last is there.
  Operand Choose(ir::Builder& body, const PiecewiseArray& made, size_t count,
                 const std::vector<const Var*>& index, const Known& known) {
    const bool has_ground = made.maker->op == OpCode::kImap;
    const std::vector<Operand> places(index.begin(), index.end());
    if (count == 0) return ir::InlineBlock(body, *made.maker->blocks[0], places)[0];
    const Piece& piece = made.pieces[count - 1];
    if (count == 1 && !has_ground) return ElementOf(body, piece, index);
    Known otherwise = known;
    const Operand is_inside = WriteInside(body, piece, index, otherwise);
    if (is_inside.IsConstant()) return ElementOf(body, piece, index);
    ir::Builder then = body.Nested(), rest = body.Nested();
    const Operand own = ElementOf(then, piece, index);
    const Operand other = Choose(rest, made, count - 1, index, otherwise);
    return body.EmitOne(OpCode::kIf, ir::TypeOf(own), {is_inside}, {},
                        {then.Finish({}, {own}), rest.Finish({}, {other})});
  }

  // Whether the index is one of the piece; `known` becomes what is known where it is not.
  Operand WriteInside(ir::Builder& body, const Piece& piece, const std::vector<const Var*>& index,
                      Known& known) {
    Operand is_inside = Operand::Bool(true);
    int asked = 0;
    const auto ask = [&](OpCode op, size_t axis, const LinearForm& end,
                         const std::vector<LinearForm>& bounds) {
      if (SameForm(end, bounds[axis])) return false;
      const Operand holds = body.Scalar(op, {index[axis], Outside(end)});
      is_inside = body.Scalar(OpCode::kAnd, {is_inside, holds});
      ++asked;
      return true;
    };
    Known otherwise = known;
    for (size_t axis = 0; axis < piece.sides.size(); ++axis) {
      const PieceSide& side = piece.sides[axis];
      if (ask(OpCode::kGe, axis, side.begin, known.lower)) otherwise.upper[axis] = side.begin;
      if (ask(OpCode::kLt, axis, side.end, known.upper)) otherwise.lower[axis] = side.end;
    }
    if (asked == 1) known = std::move(otherwise);
    return is_inside;
  }

  // A form in terms of values outside the imap, written before it.
  Operand Outside(const LinearForm& form) {
    return Written(builder(), form, [&](const Var* value) { return Apply(Operand(value)); });
  }

  // What the piece stores at that index of the array.
  Operand ElementOf(ir::Builder& body, const Piece& piece, const std::vector<const Var*>& index) {
    const Operand& stored = piece.store->operands.back();
    if (piece.nest == piece.store) return Apply(stored);
    Block value = *piece.nest->blocks[0];
    value.bindings.pop_back();
    value.results = {stored};
    std::vector<Operand> own(value.params.size());
    for (size_t axis = 0; axis < piece.sides.size(); ++axis) {
      const PieceSide& side = piece.sides[axis];
      if (side.index) own[*side.index] = Moved(body, index[axis], side.begin);
    }
    ir::Substitution values;
    for (size_t k = 0; k < own.size(); ++k) values[value.params[k]] = own[k];
    return ir::InlineBlock(body, value, std::move(values))[0];
  }

  // The index from there on; a sum where it can be, which joins others.
  Operand Moved(ir::Builder& body, const Var* index, const LinearForm& begin) {
    if (begin.IsConstant()) return body.Add(index, Operand::Int(-begin.constant));
    return body.Sub(index, Outside(begin));
  }

  PieceFinder finder_;
  WrappingForms forms_;
  const VarSet* may_join_;
  std::unordered_set<const Binding*> left_out_;
  std::unordered_map<const Binding*, PiecewiseArray> arrays_;  // by the last piece
  std::vector<const Binding*> joined_;
};

constexpr size_t kMostOperations = 150;  // of an array's element, at all places that read it

// How many indexes go around the load in the nest; 0 where it is not there.
size_t IndexesAround(const Binding& nest, const Binding& load) {
  for (const Block* block : nest.blocks) {
    for (const Binding* b : block->bindings) {
      if (b == &load) return block->params.size();
      const size_t inside = b->blocks.empty() ? 0 : IndexesAround(*b, load);
      if (inside > 0) return inside + block->params.size();
    }
  }
  return 0;
}

// True where all that reads the array, each element once a load, are maps and reductions in the
// end, which may be split.
bool EndsInNests(const Var* array, const ReadFinder& reads, const ProducerChooser& chooser) {
  const std::vector<Read>& loads = reads.Of(array).loads;
  return std::all_of(loads.begin(), loads.end(), [&](const Read& read) {
    if (read.reader == nullptr) return false;
    const Binding& reader = *read.reader;
    if (static_cast<int>(IndexesAround(reader, *read.load)) > array->type.rank()) return false;
    if (reader.op == OpCode::kIreduce || reader.op == OpCode::kForeach) return true;
    if (reader.op != OpCode::kImap) return false;
    return !chooser.IsChosen(&reader) ||
           std::all_of(reader.results.begin(), reader.results.end(),
                       [&](const Var* result) { return EndsInNests(result, reads, chooser); });
  });
}

size_t OperationsOf(const Binding& imap, const ReadFinder& reads) {
  size_t operations = 0;
  ir::ForEachBinding(*imap.blocks[0], [&](const Binding&) { ++operations; });
  return operations * reads.Of(imap.result()).loads.size();
}

// Of the joined arrays, those that disappear into what reads them.
VarSet FusedOf(const ir::Function& function, const std::vector<const Binding*>& joined) {
  const ReadFinder reads(function);
  Context unheard;
  ProducerChooser chooser(function, true, unheard);
  chooser.Choose(*function.body, /*in_nest=*/false);
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    const bool is_nest = ir::InfoOf(b.op).format == ir::OpFormat::kIndices;
    for (const Block* block : b.blocks) chooser.Choose(*block, is_nest);
  });
  VarSet fused;
  for (const Binding* imap : joined) {
    const Var* array = imap->result();
    if (chooser.IsChosen(imap) && !reads.Of(array).recomputes &&
        OperationsOf(*imap, reads) <= kMostOperations && EndsInNests(array, reads, chooser))
      fused.insert(array);
  }
  return fused;
}

}  // namespace

ir::Program JoinRegions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    RegionJoiner all(program.arena.get(), *function, nullptr);
    const ir::Function* tried = all.Run(function);
    if (all.joined().empty()) return function;
    const VarSet fused = FusedOf(*tried, all.joined());
    if (fused.empty()) return function;
    for (const Binding* imap : all.joined()) {
      if (fused.contains(imap->result()))
        context.Note(imap->span, "made where it is read", Topic::kFusion, Verdict::kDone);
    }
    if (fused.size() == all.joined().size()) return tried;
    return RegionJoiner(program.arena.get(), *function, &fused).Run(function);
  });
}

}  // namespace parakeet::passes
