#include "passes/analyses/find_traffic.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/library_routines.h"
#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::OpFormat;
using ir::Var;
using ir::VarSet;

// How often something runs: a product of sizes; nothing where one is not known.
using Trips = std::optional<std::vector<Operand>>;

int64_t ComplexOperations(OpCode op) {
  switch (op) {
    case OpCode::kMul: return 6;
    case OpCode::kDiv: return 11;
    default: return 2;
  }
}

int64_t OperationsOf(const Binding& b) {
  const ir::DType dtype = b.result()->type.dtype();
  switch (b.op) {
    case OpCode::kCast:
    case OpCode::kSelect:
    case OpCode::kReal:
    case OpCode::kImag:
    case OpCode::kConj:
    case OpCode::kMakeComplex: return 0;
    case OpCode::kFma: return 2;
    default: break;
  }
  if (ir::IsComplex(dtype)) return ComplexOperations(b.op);
  return ir::IsFloat(dtype) ? 1 : 0;
}

// The loops of a nest, what is touched by them and what is computed in them.
class TrafficFinder {
 public:
  TrafficFinder(const Binding& nest, ir::Builder& builder)
      : builder_(builder), results_(nest.results.begin(), nest.results.end()) {
    for (const Block* block : nest.blocks) {
      const VarSet defined = ir::DefinedVars(*block);
      inside_.insert(defined.begin(), defined.end());
    }
    Visit(nest, std::vector<Operand>());
  }

  Operand Operations() {
    Operand total = Operand::Int(0);
    for (const auto& [count, trips] : work_)
      total = builder_.Add(total, builder_.Mul(Operand::Int(count), Product(trips)));
    return knows_operations_ ? total : Operand::Int(-1);
  }

  Operand Bytes() {
    Operand total = Operand::Int(0);
    for (size_t k = 0; k < touched_.size() && knows_bytes_; ++k) {
      const Operand elements = ElementsOf(touched_[k]);
      const Operand size = Operand::Int(ir::SizeInBytes(touched_[k].array->type.dtype()));
      total = builder_.Add(total, builder_.Mul(elements, size));
    }
    return knows_bytes_ ? total : Operand::Int(-1);
  }

 private:
  // An array, and the sets of loops whose indexes its accesses follow.
  struct Touched {
    const Var* array;
    bool is_written;
    std::vector<std::vector<const Var*>> loops;
  };

  bool IsKnown(const Operand& size) const {
    return size.IsConstant() || !(inside_.contains(size.var()) || results_.contains(size.var()));
  }

  Operand Product(const std::vector<Operand>& sizes) {
    Operand product = Operand::Int(1);
    for (const Operand& size : sizes) product = builder_.Mul(product, size);
    return product;
  }

  // --- The walk. ---

  void Visit(const Block& block, const Trips& trips) {
    for (const Binding* b : block.bindings) Visit(*b, trips);
  }

  void Visit(const Binding& b, const Trips& trips) {
    if (ir::IsScalarOp(b.op)) {
      Compute(OperationsOf(b), trips);
      return Follow(b);
    }
    switch (b.op) {
      case OpCode::kLoad: Follow(b); return Touch(b, false);
      case OpCode::kStore: return Touch(b, true);
      case OpCode::kCopy: TouchAll(b.operands[0], false); return TouchAll(b.operands[1], true);
      case OpCode::kFor: return VisitFor(b, trips);
      case OpCode::kWhile: return VisitWhile(b);
      case OpCode::kCall: knows_operations_ = knows_bytes_ = false; return;
      case OpCode::kLibraryCall: return VisitRoutine(b);
      default: break;
    }
    if (InfoOf(b.op).format == OpFormat::kIndices) return VisitOperator(b, trips);
    for (const Block* block : b.blocks) Visit(*block, trips);
    Follow(b);
  }

  // Each array once, or read and written; what a library computes with them it does not say.
  void VisitRoutine(const Binding& b) {
    const ir::Routine& routine = ir::RoutineOf(b);
    knows_operations_ = false;
    for (size_t k = 0; k < routine.size(); ++k) {
      if (!routine.IsArray(k)) continue;
      TouchAll(b.operands[k], false);
      if (routine.IsWritten(k)) TouchAll(b.operands[k], true);
    }
  }

  void VisitOperator(const Binding& b, const Trips& trips) {
    const std::vector<const Var*>& params = b.blocks[0]->params;
    Trips inner = trips;
    std::vector<const Var*> loops = around_;
    for (size_t k = 0; k < params.size(); ++k) {
      Loop(params[k], IsKnown(b.operands[k]) ? std::optional(b.operands[k]) : std::nullopt, inner);
    }
    Visit(*b.blocks[0], inner);
    if (b.blocks.size() > 1) Visit(*b.blocks[1], inner);
    const bool is_contraction = b.op == OpCode::kContract;
    const size_t kept = is_contraction ? size_t(b.attrs.Int(Attr::kFree)) : params.size();
    if (b.blocks.size() > 2) Visit(*b.blocks[2], FreeTrips(b, kept, trips));
    loops.insert(loops.end(), params.begin(), params.begin() + kept);
    around_.resize(around_.size() - params.size());
    for (const Var* result : b.results) {
      follows_[result] = {};
      if (result->type.IsArray()) Add(result, true, loops);
    }
  }

  // The epilogue of a contraction runs once an element.
  Trips FreeTrips(const Binding& b, size_t free, Trips trips) const {
    for (size_t k = 0; k < free && trips; ++k) {
      if (!IsKnown(b.operands[k])) return std::nullopt;
      trips->push_back(b.operands[k]);
    }
    return trips;
  }

  void VisitFor(const Binding& b, const Trips& trips) {
    const Block& body = *b.blocks[0];
    Trips inner = trips;
    Loop(body.params[0], TripsOf(b), inner);
    for (size_t k = 1; k < body.params.size(); ++k) follows_[body.params[k]] = around_;
    Visit(body, inner);
    around_.pop_back();
    for (const Var* result : b.results) follows_[result] = around_;
  }

  std::optional<Operand> TripsOf(const Binding& loop) {
    const int64_t step = loop.operands[2].constant().integer;
    if (!IsKnown(loop.operands[0]) || !IsKnown(loop.operands[1])) return std::nullopt;
    const Operand& low = loop.operands[step > 0 ? 0 : 1];
    const Operand& high = loop.operands[step > 0 ? 1 : 0];
    const Operand span = builder_.Sub(high, low);
    const Operand steps = builder_.Scalar(
        OpCode::kFloorDiv,
        {builder_.Add(span, Operand::Int(std::abs(step) - 1)), Operand::Int(std::abs(step))});
    return builder_.Scalar(OpCode::kMax, {steps, Operand::Int(0)});
  }

  // How often it runs depends on data.
  void VisitWhile(const Binding& b) {
    for (const Block* block : b.blocks) {
      for (const Var* param : block->params) follows_[param] = around_;
      Visit(*block, std::nullopt);
    }
    for (const Var* result : b.results) follows_[result] = around_;
  }

  void Loop(const Var* index, std::optional<Operand> size, Trips& trips) {
    follows_[index] = {index};
    if (trips && size) trips->push_back(*size);
    if (!size) trips.reset();
    sizes_[index] = std::move(size);
    around_.push_back(index);
  }

  void Compute(int64_t count, const Trips& trips) {
    if (count == 0) return;
    if (!trips) {
      knows_operations_ = false;
      return;
    }
    for (auto& [earlier, same] : work_) {
      if (same == *trips) return void(earlier += count);
    }
    work_.emplace_back(count, *trips);
  }

  // A value follows the loops that what it is computed from does.
  void Follow(const Binding& b) {
    const std::vector<const Var*> loops = LoopsOf(b.operands, 0, b.operands.size());
    for (const Var* result : b.results) follows_[result] = loops;
  }

  // The loops around, in their order, that some of the operands follow.
  std::vector<const Var*> LoopsOf(const std::vector<Operand>& operands, size_t first,
                                  size_t last) const {
    std::vector<const Var*> loops;
    for (const Var* loop : around_) {
      const bool follows = std::any_of(
          operands.begin() + first, operands.begin() + last, [&](const Operand& operand) {
            const auto known = follows_.find(operand.var());
            return known != follows_.end() &&
                   std::count(known->second.begin(), known->second.end(), loop) > 0;
          });
      if (follows) loops.push_back(loop);
    }
    return loops;
  }

  void Touch(const Binding& access, bool is_written) {
    const Var* array = access.operands[0].var();
    Add(array, is_written, LoopsOf(access.operands, 1, 1 + array->type.rank()));
  }

  void TouchAll(const Operand& array, bool is_written) {
    Add(array.var(), is_written, around_);
    touched_.back().loops.back().push_back(nullptr);  // No loop says how much: all of it.
  }

  // What is made inside stays in cache.
  void Add(const Var* array, bool is_written, std::vector<const Var*> loops) {
    if (inside_.contains(array)) return;
    const auto is_same = [&](const Touched& each) {
      return each.array == array && each.is_written == is_written;
    };
    auto touched = std::find_if(touched_.begin(), touched_.end(), is_same);
    if (touched == touched_.end())
      touched = touched_.insert(touched_.end(), {array, is_written, {}});
    const bool is_known =
        std::find(touched->loops.begin(), touched->loops.end(), loops) != touched->loops.end();
    if (!is_known) touched->loops.push_back(std::move(loops));
  }

  // --- Sums. ---

  Operand ElementsOf(const Touched& touched) {
    const std::vector<Operand>& dims = touched.array->type.dims();
    const bool knows_all =
        std::all_of(dims.begin(), dims.end(), [&](const Operand& dim) { return IsKnown(dim); });
    std::optional<Operand> sum = Operand::Int(0);
    for (const std::vector<const Var*>& loops : touched.loops) {
      std::vector<Operand> sizes;
      for (const Var* loop : loops) {
        const auto size = sizes_.find(loop);
        if (size == sizes_.end() || !size->second) sum.reset();
        if (sum) sizes.push_back(*size->second);
      }
      if (sum) sum = builder_.Add(*sum, Product(sizes));
    }
    if (!knows_all) knows_bytes_ &= sum.has_value();
    if (!knows_all) return sum.value_or(Operand::Int(0));
    const Operand all = Product(dims);
    return sum ? builder_.Scalar(OpCode::kMin, {*sum, all}) : all;
  }

  ir::Builder& builder_;
  VarSet inside_;                   // defined in the nest
  VarSet results_;                  // How many elements a filter keeps is one of them.
  std::vector<const Var*> around_;  // the indexes of the loops that the walk is in
  std::unordered_map<const Var*, std::optional<Operand>> sizes_;     // by index
  std::unordered_map<const Var*, std::vector<const Var*>> follows_;  // by value, indexes
  std::vector<std::pair<int64_t, std::vector<Operand>>> work_;       // operations, trips
  std::vector<Touched> touched_;
  bool knows_operations_ = true;
  bool knows_bytes_ = true;
};

}  // namespace

Traffic TrafficOf(const Binding& nest, ir::Builder& builder) {
  TrafficFinder finder(nest, builder);
  const Operand bytes = finder.Bytes();
  return {bytes, finder.Operations()};
}

}  // namespace parakeet::passes
