// Makes kernels of parallel loops, and of sequential code that goes through arrays.
//
// Before:
//   parallel for %i in %lo to %hi step 2 cost 0 { ... store %r[%i], %v }
// After:
//   %trips = max (%hi - %lo + 1) / 2, 0
//   block for %b in 0 to (%trips + 255) / 256 step 1 {
//     thread for %t in 0 to 256 step 1 {
//       %at = %b * 256 + %t  %in = lt %at, %trips
//       if %in { %i = %lo + %at * 2  ... store %r[%i], %v } } }
//
// Where the iteration is short, a thread takes as many iterations as make 16 bytes, 256 apart:
// neighbouring threads read neighbours, and what a thread reads for one iteration does not wait for
// what it does in another. Where an iteration reads and stores the elements of its own index alone
// (analyses/neighbour_accesses.h), a thread takes neighbours, which are read and stored as one. The
// iterations are written once for all threads, which takes a third of the time to compile; where
// some are not there, the thread makes its first one again, and stores nothing:
//
//   %lies = aligned %x and aligned %r
//   ... %whole = all of the block's iterations are there, and %lies
//       %first = ...  %step = select %whole, 1, 256
//       if %whole { %four = load_lanes %x[%first] {whole = 1}  store_lanes %own[%t, 0], %four
//       } else { ... store %own[%t, 1], (load %x[%second < %trips ? %second : %first]) ... }
//       ... %a = load %own[%t, 0]  ... store %made[%t, 0], %v ...
//       if %whole { ... store_lanes %r[%first], %results {whole = 1} } else { ... }
//
// Divisions by a value that the host knows are products with its reciprocal, in threads whose
// numbers are small enough (lowering/index_writer.h):
//
//   %q = floordiv %at, %m  %r = mod %at, %m
// becomes
//   %small = %m fits and 0 <= %at < 2^31
//   %q, %r = if %small { ... } else { %q = floordiv %at, %m  %r = mod %at, %m }
//
// Arrays that an iteration makes for itself are parts of one that is made in front of the kernel,
// for as many threads as run at once; each then takes iterations one behind the other
// (lowering/arrays_of_threads.h).
//
// What the host would read for kernels alone, their threads read (lowering/sink_loads.h). A load of
// an array that no thread of its kernel writes says so, {unchanged = 1}: a GPU may have it from a
// cache of its own, and before earlier stores.
//
// A `block for` is a launch: its iterations are blocks of threads, those of each `thread for`
// straight inside it are the block's threads, which wait for one another behind it (behind a
// `warp for`, the same otherwise, each warp's do). What an iteration of a block makes before,
// between and behind them, its threads have in common. A loop that touches arrays and holds nothing
// parallel is a kernel of one thread; a value it carries out is read from an array of one element.
//
// Assumes: loops over buffers, without lanes; behind it keep-scalars-on-device alone moves code
// into kernels, and says of its own loads what they read.
// Refuses: sequential loops that call, allocate or call libraries, and those that hold a kernel:
// the host runs them. A loop of kind parallel that calls is a sequential one there. What the host
// runs on copies of arrays (run_on_host.cc) stays as it is.
#include <algorithm>
#include <unordered_set>

#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/neighbour_accesses.h"
#include "passes/lowering/arrays_of_threads.h"
#include "passes/lowering/index_writer.h"
#include "passes/lowering/sink_loads.h"
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

constexpr int64_t kThreads = 256;
constexpr int64_t kBytesOfThread = 16;  // that it is to read of an array, where an iteration
constexpr int kShortIteration = 64;     // costs no more than this;
constexpr int64_t kMostTripsOfThread = 4;
// Of iterations with arrays of their own, which are long.
constexpr int64_t kThreadsWithArrays = 64;
constexpr int64_t kMostBlocksWithArrays = 4096;
constexpr int64_t kMostBytesOfArrays = int64_t{1} << 31;
constexpr int64_t kMostSmall = (int64_t{1} << 31) - 1;  // that products divide

bool HasKind(const Binding& b, std::string_view kind) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == kind;
}

bool IsParallel(const Binding& b) { return HasKind(b, "parallel"); }
bool IsKernel(const Binding& b) { return HasKind(b, "block"); }

class KernelExtractor : public ArraysOfThreads {
 public:
  KernelExtractor(ir::Arena* arena, const ir::Function& function, Context& context)
      : ArraysOfThreads(arena),
        context_(context),
        patterns_(function),
        definitions_(ir::Definitions(*function.body)) {}

 protected:
  void Visit(const Binding* b) override {
    if (in_host_loop_) return Mutator::Visit(b);
    if (in_kernel_) return VisitInside(*b);
    if (IsKernel(*b)) {
      in_kernel_ = true;
      Mutator::Visit(b);
      in_kernel_ = false;
      return;
    }
    if (IsParallel(*b) && !NeedsHost(*b->blocks[0])) return WriteGrid(*b);
    if (IsOnHost(*b)) return VisitHostLoop(*b);
    if (IsForOneThread(*b)) return WriteSingle(*b);
    if (b->op == OpCode::kFor) return builder().Append(AsSequential(*Rewrite(b)));
    Mutator::Visit(b);
  }

 private:
  // Inside a kernel, what was parallel or in lanes is one thread's.
  void VisitInside(const Binding& b) {
    if (VisitPart(b)) return;
    const std::string kind = b.op == OpCode::kFor ? b.attrs.Text(Attr::kKind) : "thread";
    if (kind == "thread") return Mutator::Visit(&b);
    builder().Append(AsSequential(*Rewrite(&b)));
  }

  const Binding* AsSequential(const Binding& loop) {
    Binding sequential = loop;
    sequential.attrs = loop.attrs.Without(Attr::kKind).Without(Attr::kCost);
    return arena()->New(std::move(sequential));
  }

  void WriteGrid(const Binding& loop) {
    const Operands range = Apply(loop.operands);
    const int64_t step = range[2].constant().integer;
    const Operand distance =
        step > 0 ? builder().Sub(range[1], range[0]) : builder().Sub(range[0], range[1]);
    const Operand trips = CeilDiv(Max(distance, Int(0)), Int(std::abs(step)));
    context_.Note(loop.span, "a kernel", Topic::kThreads, Verdict::kDone);
    const bool has_own = context_.options.HasForm("gpu-own-arrays");
    const Arrays arrays = has_own ? FindArrays(*loop.blocks[0]) : Arrays{};
    if (!arrays.empty()) return WriteGridWithArrays(loop, range, trips, arrays);
    const int64_t several = TripsOfThread(*loop.blocks[0]);
    const auto iterate = [&](const Operand& at) {
      Inside(*loop.blocks[0], builder().Add(range[0], builder().Mul(at, Int(step))));
    };
    const std::optional<Neighbours> neighbours = NeighboursOf(loop, several);
    Blocks(CeilDiv(trips, Int(kThreads * several)), [&](const Operand& block) {
      const OwnArrays own = neighbours ? AllocateOwn(*neighbours) : OwnArrays{};
      Threads(kThreads, [&](const Operand& thread) {
        const Operand begin = builder().Mul(block, Int(kThreads * several));
        if (neighbours) return WriteNeighbours(*neighbours, own, thread, begin, trips);
        const Operand first = builder().Add(begin, thread);
        if (several == 1) return WriteTrip(first, trips, iterate);
        WriteTrips(first, several, trips, iterate);
      });
    });
  }

  // Each thread takes some iterations, one behind the other: there are no more threads than run at
  // once, nor more memory for them than that.
  void WriteGridWithArrays(const Binding& loop, const Operands& range, const Operand& trips,
                           const Arrays& arrays) {
    const Operand of_block = builder().Mul(BytesOfThread(arrays), Int(kThreadsWithArrays));
    const Operand fit = builder().Quotient(Int(kMostBytesOfArrays), of_block);
    const Operand most = Min(Max(fit, Int(1)), Int(kMostBlocksWithArrays));
    const Operand blocks = Min(CeilDiv(trips, Int(kThreadsWithArrays)), most);
    const Operand count = builder().Mul(blocks, Int(kThreadsWithArrays));
    const Operand turns = CeilDiv(trips, Max(count, Int(1)));
    AllocateForThreads(arrays, count);
    Blocks(blocks, [&](const Operand& block) {
      Threads(kThreadsWithArrays, [&](const Operand& thread) {
        const Operand own = builder().Add(builder().Mul(block, Int(kThreadsWithArrays)), thread);
        TakeParts(arrays, own);
        Loop(Int(0), turns, {}, [&](const Operand& turn) {
          const Operand at = builder().Add(builder().Mul(turn, count), own);
          WriteTrip(at, trips, [&](const Operand& trip) {
            in_kernel_ = true;
            VisitBody(*loop.blocks[0], {builder().Add(range[0], builder().Mul(trip, range[2]))});
            in_kernel_ = false;
          });
        });
      });
    });
  }

  // Iterations that have accesses to neighbours at these places in the body of their loop, as one
  // where `lies`, a bool of the host's, says so.
  struct Neighbours {
    const Block& body;
    int64_t count;
    std::set<size_t> accesses;
    Operand lies;
  };
  // What a thread has of its own for each access.
  using OwnArrays = std::unordered_map<size_t, const Var*>;

  std::optional<Neighbours> NeighboursOf(const Binding& loop, int64_t count) {
    const bool is_plain = loop.operands[0].IsInt(0) && loop.operands[2].IsInt(1);
    if (count == 1 || !is_plain || !context_.options.HasForm("gpu-neighbours")) return std::nullopt;
    const Block& body = *loop.blocks[0];
    const auto accesses = NeighbourAccesses(loop, patterns_, definitions_);
    if (!accesses) return std::nullopt;
    Operand lies = Operand::Bool(true);
    ir::VarSet asked;
    for (const size_t at : *accesses) {
      const Operand& array = body.bindings[at]->operands[0];
      if (asked.contains(array.var())) continue;
      asked.insert(array.var());
      const Var* own = builder().EmitOne(OpCode::kAligned, ir::DType::kBool, {Apply(array)});
      lies = builder().Scalar(OpCode::kAnd, {lies, own});
    }
    return Neighbours{body, count, *accesses, lies};
  }

  OwnArrays AllocateOwn(const Neighbours& neighbours) {
    OwnArrays own;
    for (const size_t at : neighbours.accesses) {
      const Operand& array = neighbours.body.bindings[at]->operands[0];
      const Operands dims = {Int(kThreads), Int(neighbours.count)};
      own[at] = builder().EmitOne(OpCode::kAlloc, ir::Type::Array(ir::DTypeOf(array), dims), dims,
                                  {{Attr::kPrivate, int64_t{1}}}, {}, "own");
    }
    return own;
  }

  // Where a thread's iterations are: side by side where `whole`, else as far apart as a block has
  // threads.
  struct Places {
    Operand whole;
    Operands at;
    Operands is_there;  // of the first: true
  };

  // Reads all, makes all, stores all.
  void WriteNeighbours(const Neighbours& neighbours, const OwnArrays& own, const Operand& thread,
                       const Operand& begin, const Operand& trips) {
    const auto scalar = [&](OpCode op, const Operands& operands) {
      return builder().Scalar(op, operands);
    };
    const int64_t count = neighbours.count;
    const Operand end = builder().Add(begin, Int(kThreads * count));
    Places places{
        scalar(OpCode::kAnd, {neighbours.lies, scalar(OpCode::kLe, {end, trips})}), {}, {}};
    const Operand from =
        scalar(OpCode::kSelect, {places.whole, builder().Mul(thread, Int(count)), thread});
    const Operand first = builder().Add(begin, from);
    const Operand step = scalar(OpCode::kSelect, {places.whole, Int(1), Int(kThreads)});
    WriteTrip(first, trips, [&](const Operand&) {
      for (int64_t k = 0; k < count; ++k) {
        places.at.push_back(builder().Add(first, builder().Mul(step, Int(k))));
        places.is_there.push_back(k == 0 ? Operand::Bool(true)
                                         : scalar(OpCode::kLt, {places.at.back(), trips}));
        if (k > 0) {
          // The first one again, where there is none: its elements are this thread's.
          places.at.back() =
              scalar(OpCode::kSelect, {places.is_there.back(), places.at.back(), first});
        }
      }
      Move(OpCode::kLoad, neighbours, own, thread, places);
      for (int64_t k = 0; k < count; ++k) WriteOne(neighbours, own, {thread, Int(k)}, places.at[k]);
      Move(OpCode::kStore, neighbours, own, thread, places);
    });
  }

  // An iteration on what its thread has of its own.
  void WriteOne(const Neighbours& neighbours, const OwnArrays& own, const Operands& place,
                const Operand& index) {
    in_kernel_ = true;
    const Block& copy = *ir::CloneBlock(arena(), neighbours.body);
    Replace(copy.params[0], index);
    for (size_t at = 0; at < copy.bindings.size(); ++at) {
      const Binding& b = *copy.bindings[at];
      builder().set_span(b.span);
      if (!neighbours.accesses.contains(at)) {
        Visit(&b);
      } else if (b.op == OpCode::kLoad) {
        Replace(b.result(), builder().Load(own.at(at), place, b.result()->hint));
      } else {
        builder().Store(own.at(at), place, Apply(b.operands.back()));
      }
    }
    in_kernel_ = false;
  }

  // Between memory and what a thread has of its own: all that is loaded, or all that is stored.
  void Move(OpCode op, const Neighbours& neighbours, const OwnArrays& own, const Operand& thread,
            const Places& places) {
    const auto side_by_side = [&] {
      MoveAsOne(op, neighbours, own, thread, places.at[0]);
      return Operands{};
    };
    const auto apart = [&] {
      for (size_t k = 0; k < places.at.size(); ++k) {
        const auto move = [&] { MoveEach(op, neighbours, own, {thread, Int(k)}, places.at[k]); };
        if (op == OpCode::kLoad || k == 0) {
          move();
        } else {
          If(places.is_there[k], move);
        }
      }
      return Operands{};
    };
    const bool any = std::any_of(neighbours.accesses.begin(), neighbours.accesses.end(),
                                 [&](size_t at) { return neighbours.body.bindings[at]->op == op; });
    if (any) Choose(places.whole, side_by_side, apart);
  }

  void MoveEach(OpCode op, const Neighbours& neighbours, const OwnArrays& own, const Operands& mine,
                const Operand& at) {
    for (const size_t access : neighbours.accesses) {
      const Binding& b = *neighbours.body.bindings[access];
      if (b.op != op) continue;
      const Operand array = Apply(b.operands[0]);
      if (op == OpCode::kLoad) {
        builder().Store(own.at(access), mine, builder().Load(array, {at}, b.result()->hint));
      } else {
        builder().Store(array, {at}, builder().Load(own.at(access), mine));
      }
    }
  }

  void MoveAsOne(OpCode op, const Neighbours& neighbours, const OwnArrays& own,
                 const Operand& thread, const Operand& first) {
    const Attributes of_own{{Attr::kAxis, int64_t{1}}};
    const Attributes of_memory{{Attr::kAxis, int64_t{0}}, {Attr::kWhole, int64_t{1}}};
    for (const size_t at : neighbours.accesses) {
      const Binding& b = *neighbours.body.bindings[at];
      if (b.op != op) continue;
      const bool loads = op == OpCode::kLoad;
      const Operands memory = {Apply(b.operands[0]), first};
      const Operands mine = {own.at(at), thread, Int(0)};
      const ir::Type type = ir::Type::Vector(ir::DTypeOf(b.operands[0]), int(neighbours.count));
      const Var* lanes = builder().EmitOne(OpCode::kLoadLanes, type, loads ? memory : mine,
                                           loads ? of_memory : of_own);
      Operands to = loads ? mine : memory;
      to.push_back(lanes);
      builder().Emit(OpCode::kStoreLanes, {}, to, loads ? of_own : of_memory);
    }
  }

  using Iterate = std::function<void(const Operand& at)>;

  void WriteTrip(const Operand& at, const Operand& trips, const Iterate& iterate) {
    If(builder().Scalar(OpCode::kLt, {at, trips}), [&] { iterate(at); });
  }

  // Those from `first` on, as far apart as a block has threads; in the last block some have fewer.
  void WriteTrips(const Operand& first, int64_t several, const Operand& trips,
                  const Iterate& iterate) {
    const Operand last = builder().Add(first, Int((several - 1) * kThreads));
    const auto all = [&] {
      for (int64_t k = 0; k < several; ++k) iterate(builder().Add(first, Int(k * kThreads)));
      return Operands{};
    };
    const auto some = [&] {
      Loop(first, trips, {}, iterate, kThreads);
      return Operands{};
    };
    Choose(builder().Scalar(OpCode::kLt, {last, trips}), all, some);
  }

  // As many as are to be taken of the widest elements that an iteration reads and writes.
  static int64_t TripsOfThread(const Block& body) {
    int64_t widest = 0;
    bool is_short = CostOf(body) <= kShortIteration;
    ir::ForEachBinding(body, [&](const Binding& b) {
      is_short &= b.op != OpCode::kFor && b.op != OpCode::kWhile && b.op != OpCode::kAlloc;
      if (b.op == OpCode::kAtomic) widest = kBytesOfThread;
      if (b.op == OpCode::kLoad || b.op == OpCode::kStore)
        widest = std::max<int64_t>(widest, ir::SizeInBytes(ir::DTypeOf(b.operands[0])));
    });
    if (!is_short || widest == 0) return 1;
    return std::clamp<int64_t>(kBytesOfThread / widest, 1, kMostTripsOfThread);
  }

  void Inside(const Block& body, const Operand& index) {
    in_kernel_ = true;
    VisitBody(*ir::CloneBlock(arena(), body), {index});
    in_kernel_ = false;
  }

  // --- Code for one thread ---

  // It is as it should be (run_on_host.cc).
  void VisitHostLoop(const Binding& loop) {
    in_host_loop_ = true;
    Mutator::Visit(&loop);
    in_host_loop_ = false;
  }

  void WriteSingle(const Binding& code) {
    context_.Note(code.span, "a kernel of one thread", Topic::kThreads, Verdict::kRefused);
    std::vector<const Var*> handed;
    for (const Var* result : code.results) {
      handed.push_back(
          builder().NewVar(ir::Type::Array(result->type.dtype(), {Int(1)}), result->hint));
      builder().Emit(OpCode::kAlloc, {handed.back()}, {Int(1)});
    }
    Blocks(Int(1), [&](const Operand&) {
      Threads(1, [&](const Operand&) {
        in_kernel_ = true;
        Mutator::Visit(&code);
        in_kernel_ = false;
        for (size_t k = 0; k < handed.size(); ++k)
          builder().Store(handed[k], {Int(0)}, Apply(Operand(code.results[k])));
      });
    });
    for (size_t k = 0; k < handed.size(); ++k)
      Replace(code.results[k], builder().Load(handed[k], {Int(0)}, code.results[k]->hint));
  }

  Context& context_;
  bool in_kernel_ = false;
  bool in_host_loop_ = false;
  AccessPatterns patterns_;
  ir::DefinitionMap definitions_;
};

// Divides by products in kernels.
class Divider : public IndexWriter {
 public:
  using IndexWriter::IndexWriter;

 protected:
  void Visit(const Binding* b) override {
    if (!IsKernel(*b)) {
      const auto radix = IsDivision(*b) ? radixes_.find(b->operands[1].var()) : radixes_.end();
      return radix == radixes_.end() ? Mutator::Visit(b) : Divide(*b, radix->second);
    }
    const ir::VarSet inside = ir::DefinedVars(*b->blocks[0]);
    ir::ForEachBinding(*b->blocks[0], [&](const Binding& inner) {
      const Var* divisor = IsDivision(inner) ? inner.operands[1].var() : nullptr;
      if (divisor == nullptr || inside.contains(divisor) || radixes_.contains(divisor)) return;
      Radix radix = RadixOf({Int(1), Apply(Operand(divisor))});
      const Operand is_positive = builder().Scalar(OpCode::kGt, {radix.sizes[1], Int(0)});
      radix.fits = builder().Scalar(OpCode::kAnd, {radix.fits, is_positive});
      radixes_[divisor] = std::move(radix);
    });
    Mutator::Visit(b);
    radixes_.clear();
  }

  // A quotient is known in the block that it is found in, and inside it.
  const Block* VisitBlock(const Block* block) override {
    const auto outer = known_;
    const Block* visited = Mutator::VisitBlock(block);
    known_ = outer;
    return visited;
  }

 private:
  static bool IsDivision(const Binding& b) {
    return (b.op == OpCode::kFloorDiv || b.op == OpCode::kMod) && b.operands[1].IsVar() &&
           b.result()->type == ir::Type(ir::DType::kI64);
  }

  void Divide(const Binding& b, const Radix& radix) {
    const Operand dividend = Apply(b.operands[0]);
    const auto same = [&](const Known& known) {
      return known.dividend == dividend && known.divisor == radix.sizes[1];
    };
    auto found = std::find_if(known_.begin(), known_.end(), same);
    if (found == known_.end())
      found = known_.insert(known_.end(), {dividend, radix.sizes[1], Parts(dividend, radix)});
    Replace(b.result(), found->parts[b.op == OpCode::kMod]);
  }

  // Quotient and remainder.
  Operands Parts(const Operand& dividend, const Radix& radix) {
    const auto scalar = [&](OpCode op, const Operand& a, const Operand& b) {
      return builder().Scalar(op, {a, b});
    };
    const Operand number = builder().Cast(dividend, ir::DType::kU64);
    const Operand most = Operand(ir::ConstantOf(ir::DType::kU64, kMostSmall));
    const Operand is_small = scalar(OpCode::kAnd, radix.fits, scalar(OpCode::kLe, number, most));
    return Choose(
        is_small, [&] { return IndexByProducts(dividend, radix); },
        [&] {
          return Operands{scalar(OpCode::kFloorDiv, dividend, radix.sizes[1]),
                          scalar(OpCode::kMod, dividend, radix.sizes[1])};
        });
  }

  struct Known {
    Operand dividend;
    Operand divisor;
    Operands parts;
  };
  std::unordered_map<const Var*, Radix> radixes_;  // by divisor of the kernel
  std::vector<Known> known_;
};

// Marks what the threads of a kernel read alone.
class ReadMarker : public ir::Mutator {
 public:
  ReadMarker(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_kernel = IsKernel(*b);
    if (is_kernel) {
      inside_ = ir::DefinedVars(*b->blocks[0]);
      ir::ForEachBinding(*b->blocks[0], [&](const Binding& inner) {
        goes_on_ |= IsLoop(inner.op) && std::any_of(inner.results.begin(), inner.results.end(),
                                                    [](const Var* v) { return v->type.IsArray(); });
        for (const size_t stored : ir::StoredOperands(inner))
          stored_.insert(inner.operands[stored].var());
      });
    }
    const bool is_load = b->op == OpCode::kLoad || b->op == OpCode::kLoadLanes;
    if (is_load && !inside_.empty() && IsUnchanged(b->operands[0].var())) {
      Binding marked = *Rewrite(b);
      marked.attrs = marked.attrs.With(Attr::kUnchanged, int64_t{1});
      return builder().Append(arena()->New(std::move(marked)));
    }
    Mutator::Visit(b);
    if (!is_kernel) return;
    inside_.clear();
    stored_.clear();
    goes_on_ = false;
  }

 private:
  bool IsUnchanged(const Var* array) const {
    return !inside_.contains(array) &&
           std::none_of(stored_.begin(), stored_.end(), [&](const Var* stored) {
             return goes_on_ ? roots_.MayShare(array, stored) : roots_.MayShareNow(array, stored);
           });
  }

  Roots roots_;
  ir::VarSet inside_;     // What the kernel that is visited defines,
  ir::VarSet stored_;     // and what it stores to.
  bool goes_on_ = false;  // Whether it goes through iterations that carry arrays.
};

}  // namespace

ir::Program ExtractKernels(const ir::Program& program, Context& context) {
  const ir::Program extracted = ForEachFunction(program, [&](const ir::Function* function) {
    return KernelExtractor(program.arena.get(), *function, context).Run(function);
  });
  return ForEachFunction(extracted, [&](const ir::Function* function) {
    const ir::Function* sunk = SinkLoads(program.arena.get(), function);
    const ir::Function* divided = Divider(program.arena.get()).Run(sunk);
    return ReadMarker(program.arena.get(), *divided).Run(divided);
  });
}

}  // namespace parakeet::passes
