// Makes the rows of a contraction some at a time, and reads them while they are in cache.
//
// Before:
//   %d: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} {
//     ... load %x[%i, %k] ... load %y[%j, %k] ... yield %c }
//   %r: [n]f64 = imap (%i) in (%n) {
//     %s = ireduce (%j) in (%m) min { ... load %d[%i, %j] ... }  yield %s }
// After:
//   %r: [n]f64 = alloc (%n)
//   foreach (%b) in (%blocks) {
//     %lo = %b * %each   %h = min (%n - %lo), %each
//     %xs: [h][l]f64 = view %x offset (%lo, 0) ...
//     %d: [h][m]f64 = contract (%i, %j, %k) in (%h, %m, %l) add from 0.0 {free = 2} {
//       ... load %xs[%i, %k] ... load %y[%j, %k] ... yield %c }
//     foreach (%i) in (%h) {
//       %s = ireduce (%j) in (%m) min { ... load %d[%i, %j] ... }  store %r[%lo + %i], %s } }
//
// A map of reductions within the reader, as comprehensions write it, that would be a contraction
// with the reader's index is one here. No sum changes with how many rows a block has: each is made
// in index order. A block lies in Fortran order where the reader reduces its rows: lanes then take
// one row each, and none have to be combined.
//
// Assumes: index form after fusion, before results are placed.
// Refuses: sums of products, which are mostly long, and of few rows as likely as of many: what is
// packed for all rows would be packed again for each block; a contraction that others read, or
// other rows of which are, or that is read element by element; a reader that may raise, lies in
// Fortran order or stands within another nest.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_contractions.h"
#include "passes/analyses/find_copies.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/vector_legality.h"
#include "passes/fusing/choose_rows.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Rows of a block: as many results as lie near the first cache (128 KiB took 4.2 ms where 512 took
// 5.4, 1e5 points and 50 centres), and terms enough to be worth a
// thread's while, but blocks enough for many threads where there are that many rows.
constexpr int64_t kMostResults = 1 << 14;
constexpr int64_t kLeastTerms = 1 << 17;
constexpr int64_t kBlocks = 32;
// What all rows read together is packed for each block; the more of it, the more rows share it.
constexpr int64_t kLeastRows = 64;
constexpr int64_t kManyRows = 128;
constexpr int64_t kTermsOfARow = 512;

// A contraction and the map that reads its rows. `inner` is where it stood within the reader.
struct Pair {
  const Binding* contraction = nullptr;
  const Binding* reader = nullptr;
  const Binding* inner = nullptr;
};

// True where what follows the rows and what follows the columns meet in multiplications alone: the
// sums of a matrix product, whatever its operands are made of.
bool IsProduct(const Block& element) {
  enum : int { kRow = 1, kColumn = 2 };
  std::unordered_map<const Var*, int> sides;
  for (size_t k : {0, 1}) sides[element.params[k]] = k == 0 ? kRow : kColumn;
  for (const Binding* b : element.bindings) {
    int all = 0;
    bool meet = false;
    for (const Operand& operand : b->operands) {
      const auto found = operand.IsVar() ? sides.find(operand.var()) : sides.end();
      const int side = found == sides.end() ? 0 : found->second;
      meet |= all != 0 && side != 0 && side != all;
      all |= side;
    }
    if (meet && b->op != OpCode::kMul) return false;
    if (all == (kRow | kColumn) && b->op != OpCode::kMul && b->op != OpCode::kCast) return false;
    for (const Var* result : b->results) sides[result] = all;
  }
  return true;
}

// True where the first index stands in loads only, once in each: a block of rows is a view.
bool IsBlocked(const Binding& contraction) {
  const Block& element = *contraction.blocks[0];
  const Operand row(element.params[0]);
  bool is_plain = std::count(element.results.begin(), element.results.end(), row) == 0;
  for (const Binding* b : element.bindings) {
    const auto times = std::count(b->operands.begin(), b->operands.end(), row);
    is_plain &= times == 0 || (times == 1 && b->op == OpCode::kLoad);
  }
  return is_plain;
}

// True where nothing but the array, of what reductions in the block read anew for each element, is
// read at the row.
bool ReducesOnly(const Block& body, const Var* array) {
  const Operand row(body.params[0]);
  bool reduces = false;
  bool reads_others = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op != OpCode::kIreduce) return;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& load) {
      if (load.op != OpCode::kLoad) return;
      const bool is_own = load.operands[0] == Operand(array);
      reduces |= is_own;
      reads_others |= !is_own && std::count(load.operands.begin(), load.operands.end(), row) > 0;
    });
  });
  return reduces && !reads_others;
}

// True for a reader of which lanes can take a row each.
bool SuitsLanes(const Pair& pair) {
  Block body = *pair.reader->blocks[0];
  std::erase(body.bindings, pair.inner);
  const Binding& maker = pair.inner == nullptr ? *pair.contraction : *pair.inner;
  return ReducesOnly(body, maker.result()) && WhyNotVector(body, body.params[0]).empty();
}

std::string WhyNotBlocked(const Binding& contraction) {
  if (contraction.results.size() != 1 || contraction.attrs.Int(Attr::kFree) != 2)
    return "it has other than rows and columns";
  if (contraction.attrs.Int(Attr::kFortran) != 0) return "it lies in Fortran order";
  return IsBlocked(contraction) ? "" : "its rows are more than an index of what it reads";
}

class ContractionBlocker : public LoopWriter {
 public:
  ContractionBlocker(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    if (!writing_) FindPairs(*block);
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (moved_.contains(b)) return;
    const auto pair = pairs_.find(b);
    if (pair != pairs_.end()) return WriteBlocks(pair->second);
    if (b->op == OpCode::kLoad && ReadRow(*b)) return;
    // What is within a nest is on one thread.
    const bool is_nest = InfoOf(b->op).format == ir::OpFormat::kIndices;
    if (is_nest && !writing_) return builder().Append(b);
    Mutator::Visit(b);
  }

 private:
  // --- What is to be blocked. ---

  void FindPairs(const Block& block) {
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      const Binding& reader = *block.bindings[at];
      if (!IsReader(reader)) continue;
      Pair pair = PairBefore(block, at);
      if (pair.reader == nullptr) pair = PairWithin(reader);
      if (pair.reader == nullptr) continue;
      context_.Note(reader.span, "reads a contraction some rows at a time");
      pairs_[&reader] = pair;
      moved_.insert(pair.inner == nullptr ? pair.contraction : pair.inner);
    }
  }

  // True for a map of many rows, in its own order in memory, that nothing stops.
  bool IsReader(const Binding& b) const {
    return b.op == OpCode::kImap && b.operands.size() == 1 && !b.operands[0].IsConstant() &&
           b.attrs.Int(Attr::kFortran) == 0 && EffectsOf(b, roots_).IsPure();
  }

  // The contraction of the block whose rows the binding is alone in reading.
  Pair PairBefore(const Block& block, size_t at) {
    const Binding& reader = *block.bindings[at];
    for (size_t made = at; made-- > 0;) {
      const Binding& contraction = *block.bindings[made];
      // One that stores what follows its sums, or makes two arrays, has other readers.
      if (contraction.op != OpCode::kContract || contraction.results.size() != 1 ||
          moved_.contains(&contraction) || !Intersects(RowsOf(reader, 1), {contraction.results[0]}))
        continue;
      const std::string reason = WhyNot(block, made, at);
      if (reason.empty()) return {&contraction, &reader, nullptr};
      context_.Note(contraction.span, "not made some rows at a time: " + reason);
    }
    return {};
  }

  std::string WhyNot(const Block& block, size_t made, size_t at) const {
    const Binding& contraction = *block.bindings[made];
    const Binding& reader = *block.bindings[at];
    const VarSet results(contraction.results.begin(), contraction.results.end());
    std::string reason = WhyNotBlocked(contraction);
    if (reason.empty()) reason = WhyOtherRows(reader, results, 1);
    if (!reason.empty()) return reason;
    if (IsProduct(*contraction.blocks[0])) return "its sums, of products, are mostly long";
    if (contraction.operands[0] != reader.operands[0]) return "not all rows are read";
    const Effects effects = EffectsOf(contraction, roots_);
    for (size_t k = made + 1; k < block.bindings.size(); ++k) {
      const Binding& other = *block.bindings[k];
      if (k != at && Intersects(ir::FreeVars(other), results)) return "it is read elsewhere too";
      if (k < at && Conflict(effects, EffectsOf(other, roots_)))
        return "an effect stands between it and its reader";
    }
    const bool is_result = std::any_of(block.results.begin(), block.results.end(),
                                       [&](const Operand& o) { return results.contains(o.var()); });
    return is_result ? "it is read elsewhere too" : "";
  }

  // The map within the reader's block that is a contraction over the reader's index too.
  Pair PairWithin(const Binding& reader) {
    const Block& body = *reader.blocks[0];
    VarSet inside = ir::DefinedVars(body);
    inside.erase(body.params[0]);
    for (const Binding* inner : body.bindings) {
      const Binding* reduction =
          inner->op == OpCode::kImap ? OnlyReduction(*inner->blocks[0]) : nullptr;
      if (reduction == nullptr || inner->operands.size() != 1) continue;
      if (Intersects(ir::FreeVars(*inner), inside) || !WhyWhole(body, inner->result()).empty() ||
          std::count(body.results.begin(), body.results.end(), Operand(inner->result())) > 0)
        continue;
      const Binding* contraction = Contracted(reader, *inner, *reduction);
      if (contraction != nullptr && WhyNotBlocked(*contraction).empty())
        return {contraction, &reader, inner};
    }
    return {};
  }

  // The map with the reader's index before its own, where that is a contraction; else null.
  const Binding* Contracted(const Binding& reader, const Binding& inner,
                            const Binding& reduction) const {
    Binding map = inner;
    map.operands.insert(map.operands.begin(), reader.operands[0]);
    Block body = *inner.blocks[0];
    body.params.insert(body.params.begin(), reader.blocks[0]->params[0]);
    map.blocks = {arena()->New(std::move(body))};
    return WhyNoContraction(map, reduction).empty() ? ContractionOf(arena(), map, reduction)
                                                    : nullptr;
  }

  // --- Writing blocks. ---

  void WriteBlocks(const Pair& pair) {
    writing_ = true;
    const Binding& reader = *pair.reader;
    const Operands extents = Apply(pair.contraction->operands);
    const Operand each = RowsOfBlock(*pair.contraction, extents);
    for (const Var* result : reader.results)
      builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    const Var* block = builder().NewVar(ir::DType::kI64, "b");
    const Block* body = BlockOf({block}, [&] {
      const Operand lo = builder().Mul(block, each);
      const Operand height = Min(builder().Sub(extents[0], lo), each);
      const Var* rows = WriteRows(pair, lo, height);
      WriteReader(pair, rows, lo, height);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {CeilDiv(extents[0], each)}, {}, {body});
    writing_ = false;
  }

  Operand RowsOfBlock(const Binding& contraction, const Operands& extents) {
    const size_t indices = contraction.blocks[0]->params.size();
    const auto at_least = [&](const Operand& a, const Operand& least) {
      return builder().Scalar(OpCode::kMax, {a, least});
    };
    const auto ratio = [&](const Operand& a, const Operand& b) {
      return builder().Quotient(a, at_least(b, Int(1)));
    };
    const Operand terms = Product({extents.begin() + 1, extents.begin() + indices});
    const Operand least =
        at_least(Min(ratio(terms, Int(kTermsOfARow)), Int(kManyRows)), Int(kLeastRows));
    const Operand fitting =
        Min(ratio(extents[0], Int(kBlocks)), ratio(Int(kMostResults), extents[1]));
    return at_least(at_least(fitting, ratio(Int(kLeastTerms), terms)), least);
  }

  // The contraction for some rows.
  const Var* WriteRows(const Pair& pair, const Operand& lo, const Operand& height) {
    const Binding& contraction = *pair.contraction;
    Binding rows = contraction;
    if (SuitsLanes(pair)) rows.attrs = rows.attrs.With(Attr::kFortran, int64_t{1});
    rows.operands = Apply(contraction.operands);
    rows.operands[0] = height;
    const Var* result = contraction.results[0];
    rows.results = {builder().NewVar(
        ir::Type::Array(result->type.dtype(), {height, rows.operands[1]}), result->hint)};
    Block element = *contraction.blocks[0];
    for (const Binding*& b : element.bindings) b = OfRows(*b, element.params[0], lo, height);
    rows.blocks[0] = arena()->New(std::move(element));
    if (rows.blocks.size() > 2) rows.blocks[2] = Then(*rows.blocks[2], lo);
    builder().Append(arena()->New(rows));
    return rows.results[0];
  }

  // The load of a view whose rows are those of the block.
  const Binding* OfRows(const Binding& b, const Var* row, const Operand& lo,
                        const Operand& height) {
    const auto found = std::find(b.operands.begin(), b.operands.end(), Operand(row));
    if (found == b.operands.end()) return &b;
    const size_t axis = found - b.operands.begin() - 1;
    const Operand array = Apply(b.operands[0]);
    const ir::Type type = ir::TypeOf(array);
    std::vector<Operand> dims = type.dims();
    dims[axis] = height;
    Operands view = {array};
    for (size_t k = 0; k < dims.size(); ++k) view.push_back(k == axis ? lo : Int(0));
    for (size_t k = 0; k < dims.size(); ++k) {
      for (size_t own = 0; own < dims.size(); ++own) view.push_back(Int(k == own));
    }
    Binding load = b;
    load.operands[0] =
        builder().EmitOne(OpCode::kView, ir::Type::Array(type.dtype(), std::move(dims)),
                          std::move(view), {}, {}, "rows");
    return arena()->New(std::move(load));
  }

  // What follows a sum takes the row's own index.
  const Block* Then(const Block& then, const Operand& lo) {
    std::vector<const Var*> params = then.params;
    params[0] = builder().NewVar(ir::DType::kI64, "i");
    return BlockOf(params, [&] {
      Operands arguments(params.begin(), params.end());
      arguments[0] = builder().Add(lo, params[0]);
      return VisitBody(then, arguments);
    });
  }

  void WriteReader(const Pair& pair, const Var* rows, const Operand& lo, const Operand& height) {
    const Block& body = *pair.reader->blocks[0];
    std::vector<const Var*> index = body.params;
    index[0] = builder().NewVar(ir::DType::kI64, "i");
    rows_[pair.contraction->results[0]] = {rows, index[0], pair.inner == nullptr};
    Operands extents = Apply(pair.reader->operands);
    extents[0] = height;
    const Block* block = BlockOf(index, [&] {
      Operands place(index.begin(), index.end());
      place[0] = builder().Add(lo, index[0]);
      const Operands values = VisitBody(body, place);
      for (size_t k = 0; k < values.size(); ++k) StoreAt(pair.reader->results[k], place, values[k]);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, extents, {}, {block});
  }

  void StoreAt(const Var* array, const Operands& place, const Operand& value) {
    const ir::Type type = ir::TypeOf(value);
    if (!type.IsArray()) return builder().Store(array, place, value);
    std::vector<const Var*> within;
    for (int axis = 0; axis < type.rank(); ++axis)
      within.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* copy = BlockOf(within, [&] {
      Operands whole = place;
      whole.insert(whole.end(), within.begin(), within.end());
      builder().Store(array, whole, builder().Load(value, {within.begin(), within.end()}));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, type.dims(), {}, {copy});
  }

  bool ReadRow(const Binding& load) {
    const auto found = rows_.find(load.operands[0].var());
    if (found == rows_.end()) return false;
    const Rows& rows = found->second;
    Binding read = load;
    read.operands = Apply(load.operands);
    read.operands[0] = rows.array;
    if (rows.has_index) {
      read.operands[1] = rows.index;
    } else {
      read.operands.insert(read.operands.begin() + 1, Operand(rows.index));
    }
    builder().Append(arena()->New(std::move(read)));
    return true;
  }

  // The rows of a block that is being written: loads of the array are of these, at `index`, which
  // stands in them or is put before theirs.
  struct Rows {
    const Var* array;
    const Var* index;
    bool has_index;
  };

  Roots roots_;
  Context& context_;
  std::unordered_map<const Binding*, Pair> pairs_;  // by reader
  std::unordered_set<const Binding*> moved_;
  std::unordered_map<const Var*, Rows> rows_;  // by the contraction's result
  bool writing_ = false;
};

}  // namespace

ir::Program BlockContractions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ContractionBlocker(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
