// Writes every operator of index form as loops over buffers, as schedule and choose_trees have
// said.
//
// Before:
//   %r: [n]f64 = imap (%i) in (%n) {parallel = 1, vector = 0} { %a: f64 = load %x[%i]  yield %a }
// After:
//   %r: [n]f64 = alloc (%n)
//   parallel for %t in 0 to %n step 4096 cost 512 {
//     %h = min (%t + 4096), %n
//     vector for %i in %t to %h step 1 { %a: f64 = load %x[%i]  store %r[%i], %a } }
//
// Assumes: schedule and choose_trees have run.
// Refuses: nothing; a reduction of arrays combines in order, whatever its tree says.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_copies.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/short_siblings.h"
#include "passes/lowering/lower_product_calls.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Elements of a map that one thread takes at a time, at most, and about how many cycles it should
// take for them.
constexpr int64_t kMostElementsAtOnce = 4096;
constexpr int64_t kChunkCycles = 16384;
// As the runtime shares out what takes long: 16 pieces a thread.
constexpr int64_t kPiecesOfThread = 16;
constexpr int64_t kFewOutermost = 16;  // for certain, whatever the threads
constexpr int64_t kWholeLines = 256;   // elements, of whatever size
// Elements below which those that no whole vector takes are taken in order, where they are stored
// and soon loaded again.
constexpr int64_t kShortRow = 32;
constexpr int64_t kUsualLanes = 8;
constexpr int64_t kUsualRegisters = 4;  // Of lanes that hold what a loop carries.

class Lowering : public ProductCallLowering {
 public:
  Lowering(ir::Arena* arena, const ir::Function& function, Context& context)
      : ProductCallLowering(arena, function, context.options.vector_bytes), context_(context) {
    for_kernels_ = in_lanes_ = context.options.kernels;
    options_ = &context.options;
    FindScannedOver(function);
    FindReaders(function);
    if (for_kernels_) return;
    FindLast(function);
    siblings_ = FindShortSiblings(function);
  }

 protected:
  void Visit(const Binding* b) override {
    if (done_.contains(b)) return;
    if (VisitPrefix(*b) || VisitInGroup(*b) || VisitByBlock(*b) || VisitLine(*b)) return;
    if (LowerWithReader(*b, [&](const Var* result) { return Allocate(result, *b); })) return;
    if (LowerLast(*b) || LowerShortSiblings(*b)) return;
    switch (b->op) {
      case OpCode::kImap: return LowerImap(*b);
      case OpCode::kForeach: return LowerForeach(*b);
      case OpCode::kIreduce:
        if (SumParts(*b)) return;
        return LowerReduce(*b);
      case OpCode::kIscan: return LowerScan(*b);
      case OpCode::kIfilter: return LowerFilter(*b);
      case OpCode::kContract: return LowerContract(*b);
      case OpCode::kCheck: LearnSizes(*b); return Mutator::Visit(b);
      case OpCode::kIf:
        if (b->attrs.Has(Attr::kRare)) rare_.insert(b->blocks[1]);
        return Mutator::Visit(b);
      case OpCode::kFor:
      case OpCode::kWhile: return LowerLoop(*b);
      case OpCode::kAlloc:
        if (shared_.contains(b->result())) return;
        return Mutator::Visit(b);
      default: return Mutator::Visit(b);
    }
  }

 private:
  using Body = std::function<void(const Operands& index)>;

  void LowerImap(const Binding& b) {
    std::vector<const Var*> results;
    for (const Var* result : b.results) results.push_back(Allocate(result, b));
    const auto store = [&](const Operands& index, const Operands& values) {
      for (size_t k = 0; k < values.size(); ++k) {
        IsByBlock() ? StoreByBlock(results[k], index, values[k])
                    : StoreElement(results[k], index, values[k]);
      }
    };
    LowerColumnsOrNest(
        b, [&](const Operands& index) { store(index, VisitBody(*BodyOf(b), index)); }, store);
  }

  void LowerForeach(const Binding& b) {
    if (WriteCopied(b)) return;
    const bool is_grid = for_kernels_ && b.attrs.Int(Attr::kParallel) != 0;
    if (is_grid && FindRowScan(b, roots())) return WriteRowScans(b);
    const Finish nothing = [](const Operands&, const Operands&) {};
    LowerColumnsOrNest(b, [&](const Operands& index) { VisitBody(*BodyOf(b), index); }, nothing);
  }

  // Sums of a few columns stay in registers, where a loop makes them at each step: what lanes store
  // under a mask is not in memory yet for the next row.
  void LowerColumnsOrNest(const Binding& b, const Body& body, const Finish& finish) {
    const Binding* columns = ColumnsOf(b);
    if (columns == nullptr) return LowerNest(b, body, finish);
    const auto in_memory = [&] { return WriteColumns(b, *columns, finish), Operands{}; };
    if (repeats_ == 0 || for_kernels_) return void(in_memory());
    Choose(HasFewRows(*columns), [&] { return LowerNest(b, body, finish), Operands{}; }, in_memory);
  }

  // From here on a loop is serial that is nothing else.
  void LowerLoop(const Binding& b) {
    Binding plain = b;
    if (b.attrs.Text(Attr::kKind) == "serial") plain.attrs = b.attrs.Without(Attr::kKind);
    ++repeats_;
    Mutator::Visit(plain.attrs == b.attrs ? &b : arena()->New(std::move(plain)));
    --repeats_;
  }

  // Both where the first of them stands.
  bool LowerShortSiblings(const Binding& b) {
    const auto found = siblings_.find(&b);
    if (found == siblings_.end() || found->second.first != &b) return false;
    const auto [first, nest, reduction] = found->second;
    const int64_t least = reduction->attrs.Int(Attr::kShort);
    if (nest->attrs.Int(Attr::kShort) != least) return false;
    done_.insert(first == nest ? reduction : nest);
    const auto in_order = [&, sum = reduction, beside = nest] {
      return ReducedInOrder(*sum, [&](const Operand& i) { VisitBody(*BodyOf(*beside), {i}); });
    };
    const auto apart = [&, sum = reduction, stores = nest] {
      Binding alone = *stores;
      alone.attrs = stores->attrs.Without(Attr::kShort);
      LowerForeach(*arena()->New(std::move(alone)));
      return Reduced(*sum);
    };
    const Operand is_short =
        builder().Scalar(OpCode::kLt, {Apply(nest->operands[0]), Int(least)}, "short");
    const Operands results = Choose(is_short, in_order, apart);
    for (size_t k = 0; k < results.size(); ++k) Replace(reduction->results[k], results[k]);
    return true;
  }

  // For kernels, and where few are taken in order, the element is written several times.
  const Block* BodyOf(const Binding& b) {
    return for_kernels_ || b.attrs.Has(Attr::kShort) ? ir::CloneBlock(arena(), *b.blocks[0])
                                                     : b.blocks[0];
  }

  // The buffer of a result of `b`, which stands for the result from here on.
  const Var* Allocate(const Var* result, const Binding& b) {
    if (const auto shared = shared_.find(result); shared != shared_.end()) return shared->second;
    const Var* buffer = builder().NewVar(Apply(result->type), result->hint);
    const Attributes order = IsFortran(b) ? Attributes{{Attr::kFortran, int64_t{1}}} : Attributes{};
    builder().Emit(OpCode::kAlloc, {buffer}, buffer->type.dims(), order);
    Replace(result, buffer);
    return buffer;
  }

  static Attributes ParallelKind(int64_t cost) {
    return {{Attr::kKind, std::string("parallel")}, {Attr::kCost, std::max<int64_t>(1, cost)}};
  }

  // True where some elements may take many times as long as others.
  static bool IsUneven(const Block& block) {
    bool uneven = false;
    ir::ForEachBinding(block, [&](const Binding& b) { uneven |= b.op == OpCode::kWhile; });
    return uneven;
  }

  // The loops of an imap or foreach: the vector index innermost, the first of the others over
  // threads.
  // `finish`: of an element made beside others.
  void LowerNest(const Binding& b, const Body& body, const Finish& finish) {
    if (!b.attrs.Has(Attr::kShort)) return LowerLongNest(b, body, finish);
    const auto in_order = [&] {
      const Operands extents = Apply(b.operands);
      LowerAxes({extents, LoopOrder(extents.size(), -1, false), -1, body, nullptr},
                Operands(extents.size()), 0);
      return Operands{};
    };
    const auto in_lanes = [&] { return LowerLongNest(b, body, finish), Operands{}; };
    Choose(IsShort(b), in_order, in_lanes);
  }

  // Where there are few elements along the lanes' index, and few rows of them.
  Operand IsShort(const Binding& b) {
    const Operand least = Int(b.attrs.Int(Attr::kShort));
    Operands rows = Apply(b.operands);
    const auto lanes = rows.begin() + b.attrs.Int(Attr::kVector);
    const Operand is_short = builder().Scalar(OpCode::kLt, {*lanes, least});
    rows.erase(lanes);
    if (rows.empty()) return is_short;
    const Operand few = builder().Scalar(OpCode::kLt, {Product(rows), least});
    return builder().Scalar(OpCode::kAnd, {is_short, few});
  }

  void LowerLongNest(const Binding& b, const Body& body, const Finish& finish) {
    const bool may_turn = !for_kernels_ && !in_lanes_ && b.op != OpCode::kContract && finish;
    const auto turned = may_turn && b.attrs.Has(Attr::kVector) ? FindTurned(b) : std::nullopt;
    if (!turned) return LowerInRows(b, body, finish);
    const Operands extents = Apply(b.operands);
    const auto in_tiles = [&] {
      const auto kind = [&](int64_t elements) {
        const int64_t cost = CyclesInLanes(*b.blocks[0]) * elements / kUsualLanes;
        return b.attrs.Int(Attr::kParallel) != 0 ? ParallelKind(cost) : Attributes{};
      };
      in_lanes_ = true;
      WriteTurned(b, *turned, extents, kind, finish);
      in_lanes_ = false;
      return Operands{};
    };
    const auto in_rows = [&] { return LowerInRows(b, body, finish), Operands{}; };
    Choose(WorthTurning(b, *turned, extents), in_tiles, in_rows);
  }

  void LowerInRows(const Binding& b, const Body& body, const Finish& finish) {
    const Operands extents = Apply(b.operands);
    const int vector = static_cast<int>(b.attrs.Int(Attr::kVector, -1));
    const bool parallel = b.attrs.Int(Attr::kParallel) != 0;
    const bool outer_lanes = std::exchange(in_lanes_, in_lanes_ || vector >= 0);
    // Lanes along the first index are those of arrays in Fortran order. Where an element may raise,
    // the first in program order has to come first.
    const bool may_raise = MayRaise(*b.blocks[0]);
    const bool backwards = (IsFortran(b) || vector == 0) && !may_raise;
    // Neighbouring threads go to neighbouring elements, whichever index of a loop that is; maps are
    // written as they lie.
    const bool goes_along = for_kernels_ && vector < 0 && b.op == OpCode::kForeach && !may_raise;
    const int fastest = goes_along ? patterns_.VectorAxis(b) : vector;
    const Binding* shared = for_kernels_ ? nullptr : SharedBy(b);
    const Body several = [&](const Operands& index) { WriteRows(b, *shared, index, finish); };
    Nest nest{extents, LoopOrder(extents.size(), fastest, backwards), vector, body,
              shared != nullptr ? &several : nullptr};
    const int64_t least = b.attrs.Int(Attr::kShort);
    if (least > 0 && least < kShortRow)
      nest.of_vector = nest.of_vector.With(Attr::kShort, kShortRow);
    if (parallel && for_kernels_) {
      LowerForThreads(b, nest, finish);
    } else if (parallel && vector < 0 && b.attrs.Has(Attr::kCost)) {
      // Of dear iterations, threads take one at a time.
      Loop(Int(0), extents[0], ParallelKind(b.attrs.Int(Attr::kCost)), [&](const Operand& at) {
        Operands index(extents.size());
        index[0] = at;
        LowerAxes(nest, index, 1);
      });
    } else if (parallel && !extents.empty()) {
      LowerChunks(nest, *b.blocks[0]);
    } else {
      LowerAxes(nest, Operands(extents.size()), 0);
    }
    in_lanes_ = outer_lanes;
  }

  // What an element of a nest takes: a cost, as often as the product of some sizes says.
  struct Work {
    int64_t cost;
    Operands trips;
  };

  // The sizes are those of the first loop in the body of a nest: as they are in its middle, where
  // each element has its own.
  Work WorkOf(const Block& body, const Operands& extents) {
    const auto [around, b] = FirstLoopIn(body);
    if (b == nullptr) return {CyclesInLanes(body), {}};
    Operands sizes(b->operands.begin(), b->operands.begin() + b->blocks[0]->params.size());
    if (b->op == OpCode::kFor) sizes = {b->operands[1], b->operands[0]};
    std::optional<Operands> known =
        AreMadeInBranches(body, sizes) ? std::nullopt : InMiddle(body, extents, sizes);
    if (!known) return {CyclesInLanes(body), {}};
    Work work{CyclesInLanes(*around), {}};
    if (b->op == OpCode::kFor) known = {{builder().Sub((*known)[0], (*known)[1])}};
    for (const Operand& size : *known) {
      if (size.IsConstant()) continue;
      work.trips.push_back(builder().Scalar(OpCode::kMax, {size, Int(1)}));
      work.cost = std::max<int64_t>(1, work.cost / kUnknownTrips);
    }
    return work;
  }

  // And the block that it stands in: a branch where that is the likely one, as of rows that are
  // made together where there are so many.
  static std::pair<const Block*, const Binding*> FirstLoopIn(const Block& body) {
    for (const Binding* b : body.bindings) {
      const bool is_nest =
          b->op == OpCode::kIreduce || b->op == OpCode::kImap || b->op == OpCode::kForeach;
      if (is_nest || b->op == OpCode::kFor) return {&body, b};
      if (b->op == OpCode::kIf && b->attrs.Int(Attr::kLikely) != 0) {
        const auto found = FirstLoopIn(*b->blocks[0]);
        if (found.second != nullptr) return found;
      }
    }
    return {nullptr, nullptr};
  }

  static bool AreMadeInBranches(const Block& body, const Operands& values) {
    ir::VarSet inside = ir::DefinedVars(body);
    for (const Var* param : body.params) inside.erase(param);
    for (const Binding* b : body.bindings) {
      for (const Var* result : b->results) inside.erase(result);
    }
    return std::any_of(values.begin(), values.end(), [&](const Operand& value) {
      return value.IsVar() && inside.contains(value.var());
    });
  }

  // The values in the middle of the body's index space; nothing where more than arithmetic makes
  // them.
  std::optional<Operands> InMiddle(const Block& body, const Operands& extents,
                                   const Operands& values) {
    std::unordered_map<const Var*, Operand> known;
    const auto at = [&](const Operand& operand) {
      const auto found = operand.IsVar() ? known.find(operand.var()) : known.end();
      return found == known.end() ? Apply(operand) : found->second;
    };
    const std::vector<const Binding*> makers = NeededBindings(body, values);
    for (const Binding* b : makers) {
      if (!ir::IsScalarOp(b->op) || b->op == OpCode::kCast) return std::nullopt;
    }
    for (size_t k = 0; k < body.params.size() && k < extents.size(); ++k)
      known[body.params[k]] = builder().Quotient(extents[k], Int(2));
    for (const Binding* b : makers) {
      Operands operands;
      for (const Operand& operand : b->operands) operands.push_back(at(operand));
      known[b->result()] = builder().Scalar(b->op, std::move(operands));
    }
    Operands middle;
    for (const Operand& value : values) middle.push_back(at(value));
    return middle;
  }

  // What the body takes where the loops in it that have lanes take a vector at a time.
  static int64_t CyclesInLanes(const Block& body) {
    int64_t half_cycles = 0;
    for (const Binding* b : body.bindings) {
      const bool in_lanes = b->attrs.Has(Attr::kVector) || b->attrs.Int(Attr::kLanes) > 1;
      half_cycles += HalfCyclesOf(Block{{}, {b}, {}}) / (in_lanes ? kUsualLanes : 1);
    }
    return std::max<int64_t>(1, half_cycles / 2);
  }

  static bool MayRaise(const Block& block) {
    bool raises = false;
    ir::ForEachBinding(block, [&](const Binding& b) {
      raises |= b.op == OpCode::kCheck || b.op == OpCode::kCall;
    });
    return raises;
  }

  // The indexes as they are nested, outermost first: in memory order, the fastest innermost.
  static std::vector<int> LoopOrder(size_t rank, int fastest, bool backwards) {
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(rank); ++i) {
      const int axis = backwards ? static_cast<int>(rank) - 1 - i : i;
      if (axis != fastest) order.push_back(axis);
    }
    if (fastest >= 0) order.push_back(fastest);
    return order;
  }

  // A nest of loops to write, outermost first.
  struct Nest {
    Operands extents;
    std::vector<int> order;
    int vector;
    const Body& body;
    const Body* several;  // Some neighbours along the last index at once, where that is better.
    Attributes of_vector = {{Attr::kKind, std::string("vector")}};
  };

  void LowerFewElements(const Elements& elements) {
    const Binding& b = elements.nest;
    const auto worth = WorthParts(b);
    if (!worth) return WriteElements(elements);
    const auto in_parts = [&] {
      WriteInParts(b, elements.extents, [&] { WriteElements(elements); });
      return Operands{};
    };
    const auto alone = [&] {
      WriteElements(elements);
      return Operands{};
    };
    Choose(*worth, in_parts, alone);
  }

  void LowerForThreads(const Binding& b, const Nest& nest, const Finish& finish) {
    const Elements elements{b, nest.extents, nest.order, nest.body, finish};
    const auto transposed = b.op == OpCode::kContract || nest.order.empty()
                                ? std::nullopt
                                : FindTransposed(b, size_t(nest.order.back()));
    if (transposed) {
      const auto in_tiles = [&] {
        WriteTransposed(b, *transposed, nest.extents, finish);
        return Operands{};
      };
      const auto alone = [&] {
        WriteElements(elements);
        return Operands{};
      };
      return void(Choose(WorthTransposing(*transposed, nest.extents), in_tiles, alone));
    }
    const auto worth = b.op == OpCode::kContract ? std::nullopt : WorthBlocks(b);
    if (!worth) return LowerFewElements(elements);
    const auto groups = WorthGroups(b);
    const auto by_groups = [&] {
      WriteGroups(b, nest.extents, finish);
      return Operands{};
    };
    const auto whole = [&] {
      WriteBlocks(b, nest.extents, nest.body);
      return Operands{};
    };
    const auto in_runs = [&] {
      WriteInRuns(b, nest.extents, whole);
      return Operands{};
    };
    const auto worth_runs = WorthRuns(b);
    const auto by_blocks = [&] {
      return worth_runs ? Choose(*worth_runs, in_runs, whole) : whole();
    };
    const auto alone = [&] {
      WriteElements(elements);
      return Operands{};
    };
    groups ? Choose(*groups, by_groups, by_blocks) : Choose(*worth, by_blocks, alone);
  }

  // Threads take chunks of the outermost index, of about as much work each whatever the inner
  // extents turn out to be: a nest of one chunk is too small to share.
  void LowerChunks(const Nest& nest, const Block& block) {
    const Work work = WorkOf(block, nest.extents);
    const int64_t lanes = nest.vector >= 0 ? kUsualLanes : 1;
    // Where lanes are split, whole vectors: several registers of them.
    const int64_t least = nest.order[0] == nest.vector ? kUsualLanes * kUsualRegisters : 1;
    const int64_t elements = std::max(ElementsAtOnce(work.cost, lanes), least);
    const Operand extent = nest.extents[nest.order[0]];
    const Attributes kind = IsUneven(block)
                                ? OverThreads()
                                : ParallelKind(std::max<int64_t>(1, work.cost * elements / lanes));
    if (nest.extents.size() > 1 && nest.vector < 0 && nest.order[0] == 0 && LoopsIn(block) > 1)
      return LowerRows(nest, block, kind, FittingRows(elements, work.trips));
    const bool shares_arrays = nest.vector < 0 && MakesArrays(block);
    const auto chunk = [&](const Operand& start, const Operand& width) {
      const Operand end = Min(builder().Add(start, width), extent);
      if (nest.extents.size() == 1) ShareBuffers(block);
      LowerAxis(nest, Operands(nest.extents.size()), 0, start, end);
    };
    if (nest.extents.size() == 1 && work.trips.empty() && !shares_arrays) {
      return Loop(
          Int(0), extent, kind, [&](const Operand& start) { chunk(start, Int(elements)); },
          elements);
    }
    Operands inner = work.trips;
    for (size_t depth = 1; depth < nest.order.size(); ++depth)
      inner.push_back(nest.extents[nest.order[depth]]);
    const Operand fitting = FittingRows(elements, inner);
    Operand rows = builder().Mul(CeilDiv(fitting, Int(least)), Int(least));
    if (shares_arrays) rows = Max(rows, ShareOfPiece(extent));
    const Operand chunks = CeilDiv(extent, rows);
    if (MayBeFew(nest) && !shares_arrays)
      return LowerPieces(nest, chunks, rows, kind, CeilDiv(Product(inner), Int(elements)));
    // A share of what there is costs what nobody knows: the runtime takes each by itself then.
    Loop(Int(0), chunks, shares_arrays ? OverThreads() : kind,
         [&](const Operand& at) { chunk(builder().Mul(at, rows), rows); });
  }

  // Whether there may be fewer rows along the outermost index than threads, as of the planes of an
  // image. Rows that lanes take are left whole where nothing says that they are few: small nests
  // are soon done.
  bool MayBeFew(const Nest& nest) const {
    if (options_->one_thread || nest.order.size() < 2) return false;
    const Operand& rows = nest.extents[nest.order[0]];
    if (rows.IsConstant()) return rows.constant().integer < kFewOutermost;
    return nest.order[1] != nest.vector || options_->few_rows;
  }

  // Threads take chunks of the outermost index, or, where those are few, pieces of the second one
  // of each, of which there are at most so many. As chunks may be of any length, it is pieces whose
  // cost the runtime is told: eight images of a convolution would not be worth a fork.
  void LowerPieces(const Nest& nest, const Operand& chunks, const Operand& rows,
                   const Attributes& kind, const Operand& most) {
    const int first = nest.order[0], second = nest.order[1];
    const int64_t least = second == nest.vector ? kWholeLines : 1;
    const Operand threads = builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {});
    const Operand enough = builder().Mul(threads, Int(kPiecesOfThread));
    const Operand are_few =
        builder().Scalar(OpCode::kAnd, {builder().Scalar(OpCode::kLt, {chunks, enough}),
                                        builder().Scalar(OpCode::kGt, {most, Int(1)})});
    // Of one chunk: how long its pieces are, and how many.
    const auto parted = [&] {
      const Operand pieces = Min(CeilDiv(enough, Max(chunks, Int(1))), most);
      const Operand lines = CeilDiv(nest.extents[second], builder().Mul(pieces, Int(least)));
      const Operand width = Max(builder().Mul(lines, Int(least)), Int(1));
      return Operands{width, CeilDiv(nest.extents[second], width)};
    };
    const Operands cut =
        Choose(are_few, parted, [&] { return Operands{nest.extents[second], Int(1)}; });
    const Operand width = cut[0], of_chunk = cut[1];
    Loop(Int(0), builder().Mul(chunks, of_chunk), kind, [&](const Operand& piece) {
      const Operands place = Choose(
          builder().Scalar(OpCode::kGt, {of_chunk, Int(1)}),
          [&] {
            return Operands{builder().Quotient(piece, of_chunk),
                            builder().Remainder(piece, of_chunk)};
          },
          [&] { return Operands{piece, Int(0)}; });
      const Operand start = builder().Mul(place[0], rows), lo = builder().Mul(place[1], width);
      const Operand end = Min(builder().Add(start, rows), nest.extents[first]);
      const Operand hi = Min(builder().Add(lo, width), nest.extents[second]);
      Loop(start, end, {}, [&](const Operand& i) {
        Operands index(nest.extents.size());
        index[first] = i;
        LowerAxis(nest, std::move(index), 1, lo, hi);
      });
    });
  }

  static bool MakesArrays(const Block& block) {
    return std::any_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
      return b->op == OpCode::kAlloc || b->op == OpCode::kImap;
    });
  }

  // As many as the runtime gives a thread at a time: those of one piece share the arrays that each
  // of them makes for itself.
  Operand ShareOfPiece(const Operand& extent) {
    const Operand threads = builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {});
    return CeilDiv(extent, builder().Mul(threads, Int(kPiecesOfThread)));
  }

  // Of how many rows of that extent so many elements are; one at least.
  Operand FittingRows(int64_t elements, const Operands& row) {
    const Operand size = builder().Scalar(OpCode::kMax, {Product(row), Int(1)});
    const Operand fitting = builder().Quotient(Int(elements), size);
    return builder().Scalar(OpCode::kMax, {fitting, Int(1)});
  }

  static int LoopsIn(const Block& block) {
    return std::count_if(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
      return InfoOf(b->op).format == ir::OpFormat::kIndices || b->op == OpCode::kFor;
    });
  }

  // Rows at several indexes are one sequence, of which threads take parts: the first extent alone
  // may be small.
  void LowerRows(const Nest& nest, const Block& block, const Attributes& kind,
                 const Operand& rows) {
    const Operand total = Product(nest.extents);
    Loop(Int(0), CeilDiv(total, rows), kind, [&](const Operand& at) {
      const Operand start = builder().Mul(at, rows);
      ShareBuffers(block);
      Carry(start, Min(builder().Add(start, rows), total), Delinear(start, nest.extents),
            [&](const Operand&, const Operands& index) {
              nest.body(index);
              return Next(index, nest.extents);
            });
    });
  }

  // The index behind this one in C order.
  Operands Next(Operands index, const Operands& extents) {
    Operand step = Int(1);
    for (size_t axis = index.size(); axis-- > 0;) {
      const Operand next = builder().Add(index[axis], step);
      if (axis == 0) {
        index[0] = next;
        break;
      }
      const Operand wraps = builder().Scalar(OpCode::kEq, {next, extents[axis]});
      index[axis] = builder().Scalar(OpCode::kSelect, {wraps, Int(0), next});
      step = builder().Cast(wraps, ir::DType::kI64);
    }
    return index;
  }

  // What an iteration makes for itself alone is one buffer for all that a thread takes at a time,
  // of which there is one at least. Where something may raise it would raise before there is not
  // enough memory, but for what the program makes in front of the loop.
  void ShareBuffers(const Block& block) {
    const bool raises = MayRaise(block);
    const ir::VarSet inside = ir::DefinedVars(block);
    for (const Binding* b : block.bindings) {
      if (b->op != OpCode::kImap && b->op != OpCode::kAlloc) continue;
      if (raises && !b->attrs.Has(Attr::kPrivate)) continue;
      for (const Var* result : b->results) {
        const std::vector<Operand>& dims = result->type.dims();
        const bool is_known = std::none_of(dims.begin(), dims.end(), [&](const Operand& size) {
          return inside.contains(size.var());
        });
        if (is_known && WhyWhole(block, result).empty() &&
            std::count(block.results.begin(), block.results.end(), Operand(result)) == 0)
          shared_[result] = Allocate(result, *b);
      }
    }
  }

  // A power of two, so that chunks of a contiguous array begin where vectors do.
  static int64_t ElementsAtOnce(int64_t cost, int64_t lanes) {
    int64_t elements = kMostElementsAtOnce;
    while (elements > 1 && elements * cost > kChunkCycles * lanes) elements /= 2;
    return elements;
  }

  void LowerAxes(const Nest& nest, Operands index, size_t depth) {
    if (depth == nest.order.size()) return nest.body(index);
    LowerAxis(nest, std::move(index), depth, Int(0), nest.extents[nest.order[depth]]);
  }

  void LowerAxis(const Nest& nest, Operands index, size_t depth, const Operand& lo,
                 const Operand& hi) {
    const int axis = nest.order[depth];
    const bool is_innermost = depth + 1 == nest.order.size();
    if (nest.several != nullptr && is_innermost && axis + 1 == static_cast<int>(depth + 1))
      return LowerSeveral(nest, std::move(index), lo, hi);
    Loop(lo, hi, axis == nest.vector ? nest.of_vector : Attributes{}, [&](const Operand& i) {
      index[axis] = i;
      LowerAxes(nest, index, depth + 1);
    });
  }

  void LowerSeveral(const Nest& nest, Operands index, const Operand& lo, const Operand& hi) {
    const Operand count = builder().Scalar(OpCode::kMax, {builder().Sub(hi, lo), Int(0)});
    const Operand rest = builder().Remainder(count, Int(kRowsAtOnce));
    const Operand whole = builder().Add(lo, builder().Sub(count, rest));
    const auto at = [&](const Operand& i) {
      index.back() = i;
      return index;
    };
    Loop(lo, whole, {}, [&](const Operand& i) { (*nest.several)(at(i)); }, kRowsAtOnce);
    Loop(whole, hi, {}, [&](const Operand& i) { nest.body(at(i)); });
  }

  void LowerContract(const Binding& b) {
    std::vector<const Var*> results;
    for (const Var* result : b.results) results.push_back(Allocate(result, b));
    const auto tiling = FindTiling(b);
    NoteTiling(b, tiling);
    if (for_kernels_) return LowerContractByBlocks(b, tiling, results);
    Choose(
        tiling ? IsSmall(*tiling) : Operand::Bool(true),
        [&] {
          LowerAsNest(b, results);
          return Operands{};
        },
        [&] {
          LowerTiled(*tiling, FindLow(*tiling), 0, results);
          return Operands{};
        });
  }

  // By the first low tiles that fit, else by others.
  void LowerTiled(const Tiling& tiling, const std::vector<Low>& low, size_t at,
                  const std::vector<const Var*>& results) {
    if (at == low.size()) return WriteTiled(tiling, results);
    Choose(
        low[at].fits,
        [&] {
          WriteLow(low[at].tiling, results);
          return Operands{};
        },
        [&] {
          LowerTiled(tiling, low, at + 1, results);
          return Operands{};
        });
  }

  void LowerContractByBlocks(const Binding& b, const std::optional<Tiling>& tiling,
                             const std::vector<const Var*>& results) {
    const bool is_grid = b.attrs.Int(Attr::kParallel) != 0;
    const auto by_our_kernels = [&] {
      Choose(
          is_grid && tiling ? WorthTiles(*tiling) : Operand::Bool(false),
          [&] {
            WriteTilesByBlocks(*tiling, results);
            return Operands{};
          },
          [&] {
            LowerAsNest(b, results);
            return Operands{};
          });
      return Operands{};
    };
    Choose(CallLibrary(b, results), [] { return Operands{}; }, by_our_kernels);
  }

  void NoteTiling(const Binding& b, const std::optional<Tiling>& tiling) {
    if (for_kernels_ && tiling) {
      const bool is_called = b.attrs.Has(Attr::kCallee);
      context_.Note(b.span, (is_called ? "cuBLAS where it is found, else " : "") + TilesOfBlocks(),
                    Topic::kContraction, Verdict::kDone);
    } else if (tiling) {
      context_.Note(b.span,
                    "packed in tiles of " + std::to_string(tiling->rows.width) + " by " +
                        std::to_string(tiling->columns.width),
                    Topic::kContraction, Verdict::kDone);
    } else {
      context_.Note(b.span, "not packed: no two of its indexes can be tiled", Topic::kContraction,
                    Verdict::kRefused);
    }
  }

  // The contraction as it says itself: a map over the free indices of a reduction over the rest.
  void LowerAsNest(const Binding& b, const std::vector<const Var*>& results) {
    const size_t free = b.attrs.Int(Attr::kFree);
    Block element = *ir::CloneBlock(arena(), *b.blocks[0]);
    const std::vector<const Var*> params(element.params.begin(), element.params.begin() + free);
    element.params.erase(element.params.begin(), element.params.begin() + free);
    Binding reduce{
        OpCode::kIreduce, {}, {b.operands.begin() + free, b.operands.end()}, {}, {}, b.span};
    reduce.results = {builder().NewVar(ir::TypeOf(element.results[0]), "s")};
    reduce.blocks = {arena()->New(std::move(element)), b.blocks[1]};
    reduce.attrs =
        Attributes{{Attr::kBlock, int64_t{0}}, {Attr::kLanes, b.attrs.Int(Attr::kLanes, 1)}};
    Binding nest{OpCode::kImap, b.results, {b.operands.begin(), b.operands.begin() + free}, {},
                 b.attrs,       b.span};
    nest.blocks = {
        arena()->New(Block{params, {arena()->New(reduce)}, {Operand(reduce.results[0])}})};
    LowerNest(nest,
              [&](const Operands& index) {
                Operands values = VisitBody(*BodyOf(nest), index);
                if (b.blocks.size() > 2) {
                  values.insert(values.begin(), index.begin(), index.end());
                  values = VisitBody(*ir::CloneBlock(arena(), *b.blocks[2]), values);
                }
                for (size_t k = 0; k < values.size(); ++k)
                  StoreElement(results[k], index, values[k]);
              },
              {});
  }

  Context& context_;
  std::unordered_map<const Var*, const Var*> shared_;  // buffers made before the loop around
  std::unordered_map<const Binding*, ShortSiblings> siblings_;
  std::unordered_set<const Binding*> done_;  // beside their siblings
};

}  // namespace

ir::Program LowerToLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Lowering(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
