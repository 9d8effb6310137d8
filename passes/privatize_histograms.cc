// Gives each part of a loop that counts or sums at places its own copy of the array, so that parts
// run on several threads, and neighbouring iterations in several copies.
//
// Before:
//   for %i in 0 to %n step 1 { %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1
//   store %h[%k], %d }
// After: (the loop as it was, where it is no longer than one part)
//   %sums: [%parts][m]i64 = alloc (%parts, %m)
//   foreach (%p) in (%parts) {
//     %copies: [4][m]i64 = imap (%r, %j) in (4, %m) { yield 0 }
//     for %i in %lo to %whole step 4 { the same for four iterations, in a row each }
//     for %i in %whole to %hi step 1 { the same in row (%i and 3) }   // the last three
//     foreach (%j) in (%m) { %a = load %copies[0, %j]  store %sums[%p, %j], %a }
//     for %r in 1 to 4 step 1 {
//       foreach (%j) in (%m) {
//         %a = load %sums[%p, %j]  %b = load %copies[%r, %j]  %t = add %a, %b
//         store %sums[%p, %j], %t } } }
//   for %p in 1 to %parts step 1 { foreach (%j) in (%m) { the same: row %p into row 0 of %sums } }
//   foreach (%j) in (%m) {
//     %t = load %sums[0, %j]  %c = load %h[%j]  %d = add %c, %t  store %h[%j], %d }
//
// A part's copies are few and stay in its core's cache; where an iteration is dear or has loops,
// the part's row of the sums is its only copy. What is dear and may be done in vector lanes (which
// places, what is added) is done 512 iterations at a time before what touches the copies:
//   for %start in %lo to %hi step 512 {
//     %trips = min(%hi - %start, 512)
//     foreach (%j) in (%trips) { what touches none at %start + %j; store %kept[%j], %k }
//     for %j in 0 to %whole step 4 { the other half of four iterations, in a row each }
//     for %j in %whole to %trips step 1 { what is left of the last stretch, one by one } }
//
// On a GPU, whose threads have no caches for copies of their own, integers are combined by atomics
// in copies that many threads share, each thread doing one trip:
//   %copies: [%c][m]i64 = imap (%r, %j) in (%c, %m) { yield 0 }
//   foreach (%i) in (%n) {
//     %k = load %x[%i]  %r = %i >> 8 & %c - 1  %old = atomic %copies[%r, %k], 1 {combine = "add"} }
//   foreach (%j) in (%m) {
//     %t = ireduce (%r) in (%c) add { %a = load %copies[%r, %j]  yield %a }
//     %c = load %h[%j]  %d = add %c, %t  store %h[%j], %d }
// Small counts of few places are made in a block's shared memory first:
//   block for %b in 0 to %blocks step 1 {
//     %counts: [4096]i32 = alloc (4096)
//     its threads clear it, count the block's trips in it by atomics, eight at a time so that as
//     many loads are under way, and add it to the array itself
// What depends on the order is combined in copies in shared memory, where one fits a block:
//   block for %b in 0 to %blocks step 1 {
//     %copies: [5632]f64 = alloc (5632)      // %c copies of %m places
//     for %start in %lo to %hi step 256 {
//       its threads do 256 trips but for the places, and keep what those need
//       thread for %t { copy %t takes trips %t, %t + %c, %t + 2 * %c ... in order }
//     the copies, combined in order, are row %b of %sums, which are summed as those copies
//
// Assumes: index form, behind parallelize_loops: what is left depends on the order of iterations;
// behind fuse_elements: a row that is added to is no array that is made first.
// How many parts and copies there are follows from the loop's trips and the array's size alone, so
// that sums of floats have the same bits on any number of threads.
// An array of one place, as place-sums makes, has no rows: its copies are values that the part's
// loops carry.
//
// Refuses: values carried; arrays that are read otherwise, or stored to but by h[k] = h[k] op w
// with an op that has an identity; an array whose stores would show after an error, where what
// fails cannot be told before the first store. On a GPU, atomics of an array of which elements may
// lie at any byte: it has copies.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/atomics.h"
#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_histograms.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/vector_legality.h"
#include "passes/lowering/checks_alone.h"
#include "passes/lowering/copied_histograms.h"
#include "passes/lowering/grouped_iterations.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/serial_loops.h"
#include "passes/lowering/storing_loops.h"
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

constexpr int64_t kLeastTrips = 16384;  // of a part,
constexpr int64_t kTripsAPlace = 8;     // and for each place of its copies, which are to be summed.
constexpr int64_t kMostParts = 256;     // Their sums are combined by few threads.
constexpr int64_t kMostPlaces = 2048;   // Of an array with neighbours that often meet at a place.
constexpr int kDear = 4;
constexpr int kLeastCostApart = 4;  // Of what is dear.
// Of a GPU, whose threads have no caches for copies of their own.
constexpr int64_t kLeastTripsOfThread = 256;
constexpr int64_t kTripsOfBlock = 256;  // that take one copy in atomics;
constexpr int64_t kMostCopies = 1024;   // a power of two.
// In shared memory: threads of a block and trips that are worth one; blocks, of which each SM has
// several; places, and what a trip may add, so that a block's sums fit 32 bits.
constexpr int64_t kThreads = 256;
constexpr int64_t kLeastTripsOfBlock = 4096;
constexpr int64_t kMostBlocks = 1024;
constexpr int64_t kSharedPlaces = 4096;
constexpr int64_t kLargestStep = 1024;
constexpr int64_t kMostTripsInShared = 1 << 20;
constexpr int64_t kTripsAtOnce = 8;  // of a thread
constexpr int64_t kMostThreads = 4096;
constexpr int64_t kFewTrips = 16;
// Of a trip, which threads share then, each of elements of its own.
constexpr int64_t kManyUpdates = 65536;
constexpr int64_t kManyUpdatesOnGpu = 4096;
constexpr int kMostCostInCopies = 20;  // A dearer iteration hides that they do.

class Privatizer : public StoringLoops<CopiedHistograms> {
 public:
  Privatizer(ir::Arena* arena, const ir::Function& function, Context& context)
      : StoringLoops(arena, function, context) {
    combines_in_order_ = !context.options.kernels;
    for (const ir::Param& param : function.params) {
      if (!param.aligned) unaligned_.insert(param.var);
    }
  }

 protected:
  void Visit(const Binding* b) override {
    if (VisitShared(*b)) return;
    const auto own = rows_.empty() || b->operands.empty() || !b->operands[0].IsVar()
                         ? rows_.end()
                         : rows_.find(b->operands[0].var());
    if (own != rows_.end() && is_atomic_) return TouchAtomically(*b, own->second);
    if (own != rows_.end()) return TouchCopy(*b, own->second);
    if (is_atomic_ && TakeStep(*b)) return;
    const bool writes = !rows_.empty() || WritesShared();
    if (!writes && !inside_ && b->op == OpCode::kFor && Privatize(*b)) return;
    VisitWithin(*b, IsOperator(*b));
  }

 private:
  bool Privatize(const Binding& b) {
    const HistogramLoop loop(b, roots_, arrays_, overlapping_);
    if (loop.found().empty() || IsShortAround(loop)) return false;
    if (!loop.reason().empty()) {
      context_.Note(b.span, "no copies: " + loop.reason(), Topic::kThreads, Verdict::kRefused);
      return false;
    }
    // What parallelize_loops said of the loop does not hold any more.
    std::erase_if(context_.remarks, [&](const Remark& remark) {
      return remark.span == b.span && remark.topic == Topic::kThreads &&
             remark.verdict == Verdict::kRefused;
    });
    context_.Note(b.span, "counted in copies, spread over threads", Topic::kThreads,
                  Verdict::kDone);
    Write(loop);
    return true;
  }

  // True where few trips are known, whose loops inside have all that is to be shared.
  static bool IsShortAround(const HistogramLoop& histograms) {
    const std::vector<const Binding*>& body = histograms.loop().blocks[0]->bindings;
    const auto stands_inside = [&](const Binding* step) {
      return std::none_of(body.begin(), body.end(), [&](const Binding* b) { return b == step; });
    };
    const auto are_inside = [&](const Histogram& h) {
      return std::all_of(h.steps.begin(), h.steps.end(), stands_inside);
    };
    return RunsAtMost(histograms.loop(), kFewTrips) &&
           std::all_of(histograms.found().begin(), histograms.found().end(), are_inside);
  }

  void Write(const HistogramLoop& histograms) {
    const ChecksAlone checks(histograms.loop(), roots_, ChecksAlone::Form::kReduction);
    const Binding& loop =
        histograms.must_check_first() ? *Unchecked(histograms, checks) : histograms.loop();
    const std::vector<Histogram>& found = histograms.found();
    const bool is_atomic = context_.options.kernels && CanBeAtomic(histograms);
    const Parts parts = is_atomic ? Parts{} : Divide(loop, found);
    // On a GPU, what is not in copies is grouped by place, but not where something raises.
    const auto as_before = [&] {
      builder().Append(is_atomic ? SerialLoops(arena()).Turn(histograms.loop())
                                 : &histograms.loop());
      return Operands{};
    };
    const bool may_share = context_.options.kernels && !is_atomic && CanBeShared(histograms);
    const Operand trips =
        may_share ? Max(builder().Sub(loop.operands[1], loop.operands[0]), Int(0)) : Int(0);
    const Operand inside = may_share ? TripsInside(loop) : Int(1);
    const Operand shares =
        may_share ? IsWorthSharing(loop, found, trips, inside) : Operand::Bool(false);
    // Threads take places then, in order.
    const bool is_grouped = context_.options.kernels && !is_atomic &&
                            CanBeGrouped(arena(), histograms.loop(), roots_, arrays_, overlapping_);
    const auto in_blocks = [&] {
      const std::vector<const Var*> sums = WriteInBlocks(loop, found, trips, inside);
      for (size_t k = 0; k < found.size(); ++k) Combine(found[k], sums[k], sums[k]->type.dims()[0]);
      return Operands{};
    };
    const auto in_parts = [&] {
      WriteParts(loop, found, parts);
      return Operands{};
    };
    const auto in_copies = [&] {
      if (is_atomic) WriteAtomics(loop, found);
      if (!is_atomic && !may_share) WriteParts(loop, found, parts);
      if (may_share) is_grouped ? in_blocks() : Choose(shares, in_blocks, in_parts);
      return Operands{};
    };
    const auto check_first = [&] { return Operands{checks.Write(builder())}; };
    const Operand are_few = HasFewUpdates(histograms);
    const auto by_atomics = [&] {
      if (!histograms.must_check_first()) return in_copies();
      return Choose(check_first()[0], in_copies, as_before);
    };
    const auto by_nests = [&] {
      builder().Append(ir::CloneBlock(arena(), Block{{}, {&histograms.loop()}, {}})->bindings[0]);
      return Operands{};
    };
    const bool must_choose = !are_few.IsConstant();
    if (is_atomic) return void(must_choose ? Choose(are_few, by_atomics, by_nests) : by_atomics());
    const Operand in_several =
        is_grouped ? Operand::Bool(false) : builder().Scalar(OpCode::kGt, {parts.count, Int(1)});
    Operand condition = builder().Scalar(OpCode::kOr, {shares, in_several});
    condition = builder().Scalar(OpCode::kAnd, {condition, are_few});
    if (histograms.must_check_first()) {
      const auto no = [] { return Operands{Operand::Bool(false)}; };
      condition = Choose(condition, check_first, no)[0];
    }
    Choose(condition, in_copies, as_before);
  }

  // Whether threads have little to share within a trip.
  Operand HasFewUpdates(const HistogramLoop& histograms) {
    const Block& body = *histograms.loop().blocks[0];
    const VarSet local = ir::DefinedVars(body);
    const int64_t many = context_.options.kernels ? kManyUpdatesOnGpu : kManyUpdates;
    Operand are_few = Operand::Bool(true);
    for (const Histogram& h : histograms.found()) {
      const Operand updates = UpdatesOfTrip(body, h, local);
      if (updates.IsInt(1)) continue;
      const Operand is_few = builder().Scalar(OpCode::kLt, {updates, Int(many)});
      are_few = builder().Scalar(OpCode::kAnd, {are_few, is_few});
    }
    return are_few;
  }

  // The loop as it is once it is known that nothing raises.
  const Binding* Unchecked(const HistogramLoop& histograms, const ChecksAlone& checks) {
    Binding unchecked = histograms.loop();
    unchecked.blocks = {checks.Unchecked(arena())};
    return arena()->New(std::move(unchecked));
  }

  Parts Divide(const Binding& loop, const std::vector<Histogram>& found) {
    const Block& body = *loop.blocks[0];
    Operand places = Int(0);
    for (const Histogram& h : found) places = builder().Add(places, Product(h.array->type.dims()));
    const bool kernels = context_.options.kernels;
    const bool in_halves = !kernels && HasHalves(body, found);
    const Block& meets = in_halves ? Split(body, found).second : body;
    const bool in_copies =
        !kernels && CostOf(meets) <= kMostCostInCopies &&
        std::all_of(meets.bindings.begin(), meets.bindings.end(),
                    [](const Binding* b) { return b->blocks.empty() || b->op == OpCode::kIf; });
    const Operand is_small = builder().Scalar(OpCode::kLe, {places, Int(kMostPlaces)});
    const Operand copies =
        in_copies ? builder().Scalar(OpCode::kSelect, {is_small, Int(kCopies), Int(1)}) : Int(1);
    const Operand least = Max(Int(kernels ? kLeastTripsOfThread : kLeastTrips),
                              builder().Mul(builder().Mul(places, copies), Int(kTripsAPlace)));
    const Operand enough = builder().Quotient(least, Max(TripsInside(loop), Int(1)));
    const Operand trips = Max(builder().Sub(loop.operands[1], loop.operands[0]), Int(0));
    const Operand length =
        Max(Max(enough, CeilDiv(trips, Int(kernels ? kMostThreads : kMostParts))), Int(1));
    return {CeilDiv(trips, length), length, copies, in_copies, in_copies && in_halves};
  }

  // True where what an iteration does before it touches an array is worth vector lanes. Of two
  // halves that may raise, the first would in a later iteration.
  static bool HasHalves(const Block& body, const std::vector<Histogram>& found) {
    const auto [first, second] = Split(body, found);
    const auto is_scalar = [](const Operand& value) { return !ir::TypeOf(value).IsArray(); };
    const auto dear = [](const Binding& b) {
      const int cost = ir::InfoOf(b.op).cost;
      return cost < kDear ? 0 : cost;
    };
    return CostOf(first, dear) >= kLeastCostApart && !(MayRaise(first) && MayRaise(second)) &&
           std::all_of(first.results.begin(), first.results.end(), is_scalar) &&
           WhyNotVector(first, first.params[0]).empty();
  }

  // --- Atomics ---

  bool CanBeAtomic(const HistogramLoop& histograms) const {
    return !NeedsHost(*histograms.loop().blocks[0]) &&
           std::all_of(histograms.found().begin(), histograms.found().end(),
                       [&](const Histogram& h) {
                         return ir::IsAtomicCombine(h.combine) &&
                                ir::IsAtomicDType(h.array->type.dtype()) &&
                                !Intersects(roots_.Of(h.array), unaligned_);
                       });
  }

  void WriteAtomics(const Binding& loop, const std::vector<Histogram>& found) {
    const Operand trips = Max(builder().Sub(loop.operands[1], loop.operands[0]), Int(0));
    // Where there are many places, threads seldom meet.
    const auto in_place = [&] {
      WriteInPlace(loop, found, trips);
      return Operands{};
    };
    if (!AreCounts(loop, found)) {
      const Operand copies = CountCopies(trips, found);
      const auto in_global = [&] {
        WriteInGlobal(loop, found, trips, copies);
        return Operands{};
      };
      const Operand are_several = builder().Scalar(OpCode::kGt, {copies, Int(1)});
      return void(Choose(are_several, in_global, in_place));
    }
    const Operand blocks = Min(CeilDiv(trips, Int(kLeastTripsOfBlock)), Int(kMostBlocks));
    const Operand length = CeilDiv(trips, Max(blocks, Int(1)));
    Operand fits = builder().Scalar(OpCode::kLe, {length, Int(kMostTripsInShared)});
    for (const Histogram& h : found) {
      const Operand are_few =
          builder().Scalar(OpCode::kLe, {Product(h.array->type.dims()), Int(kSharedPlaces)});
      fits = builder().Scalar(OpCode::kAnd, {fits, are_few});
    }
    const auto in_shared = [&] {
      WriteInShared(loop, found, blocks, length);
      return Operands{};
    };
    Choose(fits, in_shared, in_place);
  }

  // True where a trip adds a small constant to a place of each histogram, or none.
  static bool AreCounts(const Binding& loop, const std::vector<Histogram>& found) {
    const Block& body = *loop.blocks[0];
    bool loops = false;
    ir::ForEachBinding(
        body, [&](const Binding& b) { loops |= !b.blocks.empty() && b.op != OpCode::kIf; });
    const auto is_small = [](const Operand& o) {
      return o.IsConstant() && std::abs(o.constant().integer) <= kLargestStep;
    };
    return !loops && std::all_of(found.begin(), found.end(), [&](const Histogram& h) {
      return h.combine == OpCode::kAdd && h.steps.size() == 1 &&
             std::any_of(h.steps[0]->operands.begin(), h.steps[0]->operands.end(), is_small);
    });
  }

  void WriteInShared(const Binding& loop, const std::vector<Histogram>& found,
                     const Operand& blocks, const Operand& length) {
    Blocks(blocks, [&](const Operand& block) {
      std::vector<const Var*> counts;
      for (size_t k = 0; k < found.size(); ++k) {
        const ir::Type type = ir::Type::Array(ir::DType::kI32, {Int(kSharedPlaces)});
        counts.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "counts"));
      }
      EachByThreads(found, [&](size_t k, const Operand& place) {
        builder().Store(counts[k], {place}, ir::Constant::Int(0, ir::DType::kI32));
      });
      const Operand lo = builder().Add(loop.operands[0], builder().Mul(block, length));
      const Operand hi = Min(builder().Add(lo, length), loop.operands[1]);
      CountByThreads(loop, found, counts, lo, hi);
      EachByThreads(found, [&](size_t k, const Operand& place) {
        const Operand count = builder().Load(counts[k], {place});
        const Operands at = Delinear(place, found[k].array->type.dims());
        builder().Atomic(OpCode::kAdd, found[k].array, at,
                         builder().Cast(count, found[k].array->type.dtype()));
      });
    });
  }

  // Trips from lo to hi, neighbours by neighbouring threads, each of which does several at a time.
  void CountByThreads(const Binding& loop, const std::vector<Histogram>& found,
                      const std::vector<const Var*>& counts, const Operand& lo, const Operand& hi) {
    const int64_t at_once = TripsAtOnce(*loop.blocks[0]);
    const int64_t stretch = kThreads * at_once;
    const Operand trips = Max(builder().Sub(hi, lo), Int(0));
    const Operand rest = builder().Remainder(trips, Int(stretch));
    const Operand whole = builder().Add(lo, builder().Sub(trips, rest));
    const auto several = [&](const Operand& i) {
      Operands all = {i};
      for (int64_t k = 1; k < at_once; ++k) all.push_back(builder().Add(i, Int(k * kThreads)));
      CountTrips(loop, found, counts, all);
    };
    const auto single = [&](const Operand& i) { CountTrips(loop, found, counts, {i}); };
    Threads(kThreads, [&](const Operand& thread) {
      if (at_once > 1) Loop(builder().Add(lo, thread), whole, {}, several, stretch);
      Loop(builder().Add(at_once > 1 ? whole : lo, thread), hi, {}, single, kThreads);
    });
  }

  // Of several checks of an iteration, a later one may fail in an earlier iteration.
  static int64_t TripsAtOnce(const Block& body) {
    int checks = 0;
    ir::ForEachBinding(body, [&](const Binding& b) { checks += b.op == OpCode::kCheck; });
    return checks > 1 ? 1 : kTripsAtOnce;
  }

  // Trips in the block's counts, side by side: each step of all of them before the next.
  void CountTrips(const Binding& loop, const std::vector<Histogram>& found,
                  const std::vector<const Var*>& counts, const Operands& trips) {
    for (size_t k = 0; k < found.size(); ++k)
      rows_[found[k].array] = {counts[k], {}, OpCode::kAdd, found[k].array->type.dims()};
    is_atomic_ = true;
    std::vector<const Block*> bodies;
    for (const Operand& i : trips) {
      bodies.push_back(ir::CloneBlock(arena(), *loop.blocks[0]));
      Replace(bodies.back()->params[0], i);
    }
    for (size_t step = 0; step < bodies[0]->bindings.size(); ++step) {
      builder().set_span(bodies[0]->bindings[step]->span);
      for (const Block* body : bodies) Visit(body->bindings[step]);
    }
    is_atomic_ = false;
    rows_.clear();
  }

  // Indexes from lo to hi, every one for one of a block's threads, neighbours for neighbours.
  void ByThreads(const Operand& lo, const Operand& hi,
                 const std::function<void(const Operand& i)>& write) {
    Threads(kThreads, [&](const Operand& thread) {
      Loop(builder().Add(lo, thread), hi, {}, write, kThreads);
    });
  }

  void EachByThreads(const std::vector<Histogram>& found,
                     const std::function<void(size_t k, const Operand& place)>& write) {
    for (size_t k = 0; k < found.size(); ++k) {
      ByThreads(Int(0), Product(found[k].array->type.dims()),
                [&](const Operand& place) { write(k, place); });
    }
  }

  void WriteInPlace(const Binding& loop, const std::vector<Histogram>& found,
                    const Operand& trips) {
    const Var* trip = builder().NewVar(ir::DType::kI64, "i");
    const Block* body = BlockOf({trip}, [&] {
      for (const Histogram& h : found) rows_[h.array] = {h.array, std::nullopt, h.combine};
      is_atomic_ = true;
      VisitBody(*ir::CloneBlock(arena(), *loop.blocks[0]), {builder().Add(loop.operands[0], trip)});
      is_atomic_ = false;
      rows_.clear();
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {trips}, {}, {body});
  }

  void WriteInGlobal(const Binding& loop, const std::vector<Histogram>& found, const Operand& trips,
                     const Operand& copies) {
    std::vector<Shared> all;
    for (const Histogram& h : found) all.push_back({h, nullptr, StartRows(h, copies)});
    const Operand last = builder().Sub(copies, Int(1));
    const Var* trip = builder().NewVar(ir::DType::kI64, "i");
    const Block* body = BlockOf({trip}, [&] {
      const Operand block = builder().Quotient(trip, Int(kTripsOfBlock));
      is_atomic_ = true;
      WriteTrip(loop, all, {builder().Scalar(OpCode::kAnd, {block, last}), 0},
                builder().Add(loop.operands[0], trip));
      is_atomic_ = false;
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {trips}, {}, {body});
    for (const Shared& shared : all) Combine(shared.histogram, shared.copies, copies);
  }

  // Many, so that threads seldom meet at a place, yet few beside the trips; a power of two.
  Operand CountCopies(const Operand& trips, const std::vector<Histogram>& found) {
    Operand places = Int(1);
    for (const Histogram& h : found) places = builder().Add(places, Product(h.array->type.dims()));
    const Operand wanted = builder().Quotient(trips, builder().Mul(places, Int(kTripsAPlace)));
    Operand copies = Int(1);
    for (int64_t power = 4; power <= kMostCopies; power *= 4) {
      const Operand is_enough = builder().Scalar(OpCode::kGe, {wanted, Int(power)});
      copies = builder().Scalar(OpCode::kSelect, {is_enough, Int(power), copies});
    }
    return copies;
  }

  void TouchAtomically(const Binding& b, const Row& row) {
    if (b.op == OpCode::kLoad) return TakeOld(b.result());
    const Operands place = Apply(Operands(b.operands.begin() + 1, b.operands.end() - 1));
    const Operand added = Added(b.operands.back());
    if (!row.dims.empty()) {
      builder().Atomic(row.combine, row.copies, {Linear(place, row.dims)},
                       builder().Cast(added, ir::DType::kI32));
      return;
    }
    Operands index = place;
    if (row.row) index.insert(index.begin(), *row.row);
    builder().Atomic(row.combine, row.copies, index, added);
  }

  // How many iterations of operators inside, each of which changes an element of its own, update
  // the array in a trip; 1 where that is not known before.
  Operand UpdatesOfTrip(const Block& body, const Histogram& h, const VarSet& local) {
    for (const Binding* b : body.bindings) {
      const auto changes = [&](const Binding* step) { return Holds(*b, *step); };
      if (b->blocks.empty() || std::none_of(h.steps.begin(), h.steps.end(), changes)) continue;
      const Operand inside = UpdatesOfTrip(*b->blocks[0], h, local);
      const auto is_local = [&](const Operand& o) { return o.IsVar() && local.contains(o.var()); };
      const bool is_nest = b->op == OpCode::kForeach;
      if (!is_nest || std::any_of(b->operands.begin(), b->operands.end(), is_local)) return inside;
      return builder().Mul(Product(b->operands), inside);
    }
    return Int(1);
  }

  static bool Holds(const Binding& outer, const Binding& step) {
    bool holds = false;
    ir::ForEachBinding(Block{{}, {&outer}, {}}, [&](const Binding& b) { holds |= &b == &step; });
    return holds;
  }

  // How often the loops inside run, where that is known before: as often as in the middle of this
  // one, where that decides.
  Operand TripsInside(const Binding& loop) {
    const VarSet local = ir::DefinedVars(*loop.blocks[0]);
    return TripsInside(loop, local, true);
  }

  Operand TripsInside(const Binding& loop, const VarSet& local, bool is_outermost) {
    for (const Binding* b : loop.blocks[0]->bindings) {
      const bool is_loop = b->op == OpCode::kFor && b->operands[2].IsInt(1);
      if (!is_loop && b->op != OpCode::kForeach) continue;
      const bool is_known = std::none_of(b->operands.begin(), b->operands.end(),
                                         [&](const Operand& o) { return local.contains(o.var()); });
      std::optional<Operands> bounds;
      if (is_known) bounds = b->operands;
      if (!is_known && is_outermost) bounds = BoundsInside(loop, *b);
      if (!bounds) continue;
      const Operand own = is_loop ? builder().Sub((*bounds)[1], (*bounds)[0]) : Product(*bounds);
      return builder().Mul(own, TripsInside(*b, local, false));
    }
    return Int(1);
  }

  // The operands of a loop within, in the middle of this one; nothing where more than arithmetic
  // makes them.
  std::optional<Operands> BoundsInside(const Binding& loop, const Binding& inner) {
    if (loop.op != OpCode::kFor || loop.blocks[0]->params.size() != 1) return std::nullopt;
    Block bounds;
    bounds.results = inner.operands;
    bounds.bindings = NeededBindings(*loop.blocks[0], inner.operands);
    for (const Binding* b : bounds.bindings) {
      if (!ir::IsScalarOp(b->op)) return std::nullopt;
    }
    const Operand ends = builder().Add(loop.operands[0], loop.operands[1]);
    const Operand middle = builder().Quotient(ends, Int(2));
    const ir::Substitution at = {{loop.blocks[0]->params[0], middle}};
    return ir::InlineBlock(builder(), bounds, at);
  }

  bool is_atomic_ = false;  // whether the iteration that is written combines so
  VarSet unaligned_;        // parameters of which elements may lie anywhere
};

}  // namespace

ir::Program PrivatizeHistograms(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Privatizer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
