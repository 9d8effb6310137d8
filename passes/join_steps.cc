// Makes one kernel of several nests of a time loop, and of several steps: what a nest would store
// is made again by each thread that reads it, so that arrays are read and written once for all.
//
// Before:
//   for %t in 0 to %steps step 1 {
//     foreach (%i, %j) in (%h, %w) { ... load %u[%p, %j], %u[%i, %j] ...  store %v[%p, %q], %s }
//     foreach (%k, %l) in (%h, %w) { ... the same of %v, to %u } }
// After:
//   %pairs = (%steps - 1) / 2, or 0
//   if %pairs > 0 {
//     %other = alloc (the size of %u)
//     for %g in 0 to %pairs step 1 {
//       foreach (%i, %j) in (the inside) { ... a %v and four around it, of thirteen loads of %u ...
//         store %other[%i, %j], %s }
//       foreach (%e) in (what is around it) { ... }
//       ... the same of %other, to %u ... } }
//   for %t in 2 * %pairs to %steps step 1 { ... as before ... }
//
// Threads read what there was before all the nests alone, and store to another array: nobody waits
// for anybody. Two arrays take turns, and are back behind two kernels. Of what every step stores
// before it reads it, nothing is stored but by the last step, which is done as before.
//
// Inside, no nest begins or ends between what an element needs, and all comparisons of indexes
// there have one result. Around it every element is made of what each nest may have done. No bit
// changes, since every element is made of what it was made of before.
//
// How many steps are joined follows from what is moved, and from what is made again.
//
// Assumes: index form.
// Refuses: what tile_steps refuses; nests whose elements hold loops, store in branches or elsewhere
// than their own index says, or divide by what they read; what is read too often, or made again;
// arrays that are small, or of which steps store little.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "passes/analyses/carried_values.h"
#include "passes/lowering/element_remaker.h"
#include "passes/lowering/step_writer.h"
#include "passes/lowering/work_of_element.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr double kWorth = 0.9;  // of the time that it takes
constexpr int64_t kMostRepeated = 3;

// The part of a space of indexes where all is decided, axis by axis.
struct Box {
  std::vector<Operand> lengths;  // of the space
  std::vector<Operand> begin, count;
};

class StepJoiner : public StepWriter {
 public:
  using StepWriter::StepWriter;

 private:
  using Arrays = ElementRemaker::Sources;

  // Nests of steps, one behind the other.
  struct Taken {
    std::deque<ir::Substitution> known;  // by step
    std::vector<RemadeNest> nests;
  };

  bool WriteLoop(const Binding& loop, const Binding& storing, const TimeSteps& steps) override {
    const int64_t repeated = FindLive(storing, steps) ? BestRepeats(storing, steps) : 0;
    if (repeated == 0) return false;
    context().Note(loop.span, "several steps in one kernel", Topic::kMemory, Verdict::kDone);
    builder().set_span({});  // What goes around the nests is not the source's.
    const Operand of_pair = Int(2 * repeated * steps.together);
    const Operand all = builder().Sub(loop.operands[1], loop.operands[0]);
    const Operand before_last = builder().Sub(all, Int(steps.together));
    const Operand pairs = FloorDiv(Max(before_last, Int(0)), of_pair);
    const Operand is_worth = All(Conditions(steps, all, pairs));
    Operands behind(loop.operands.begin() + FirstInit(loop), loop.operands.end());
    const auto write = [&] { return WritePairs(storing, steps, repeated, pairs); };
    if (steps.own.empty() && steps.numbers.empty()) {
      If(is_worth, write);
    } else {
      behind = Choose(is_worth, write, [&] { return behind; });
    }
    const Operand done = builder().Mul(pairs, of_pair);
    WriteRest(loop, builder().Scalar(OpCode::kSelect, {is_worth, done, Int(0)}), behind);
    return true;
  }

  // The nests of so many groups of steps, behind `number` steps. What else a step does is written;
  // `numbers` are those that are carried, before and behind.
  std::optional<Taken> Take(const Binding& loop, const TimeSteps& steps, int64_t groups,
                            const Operand& number, Operands& numbers) {
    const Block& body = *loop.blocks[0];
    const Block rest = WithoutNests(body);
    Taken taken;
    Operands carried(loop.operands.begin() + FirstInit(loop), loop.operands.end());
    for (size_t k = 0; k < numbers.size(); ++k) carried[steps.numbers[k]] = numbers[k];
    for (int64_t at = 0; at < groups * steps.together; ++at) {
      ir::Substitution known;
      const Operand own_number = builder().Add(number, Int(at));
      known[body.params[0]] = builder().Add(loop.operands[0], own_number);
      for (size_t k = 0; k < carried.size(); ++k)
        known[body.params[FirstCarried(loop) + k]] = carried[k];
      for (const auto& [local, outside] : steps.names[size_t(at % steps.together)])
        known[local] = outside;
      const Operands made = ir::InlineBlock(builder(), rest, known);
      std::copy(made.begin(), made.begin() + carried.size(), carried.begin());
      for (size_t k = carried.size(); k < made.size(); ++k) known[rest.results[k].var()] = made[k];
      taken.known.push_back(std::move(known));
      for (const Binding* b : body.bindings) {
        if (b->op != OpCode::kForeach) continue;
        auto nest = AsRemadeNest(*b, taken.known.back(), forms());
        if (!nest) return {};
        taken.nests.push_back(std::move(*nest));
      }
    }
    for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = carried[steps.numbers[k]];
    return taken;
  }

  // What a step makes besides; what it yields, and behind that all that it makes.
  static Block WithoutNests(const Block& body) {
    Block rest = WithoutArrays(body);
    std::erase_if(rest.bindings, [](const Binding* b) { return b->op == OpCode::kForeach; });
    for (const Binding* b : rest.bindings)
      rest.results.insert(rest.results.end(), b->results.begin(), b->results.end());
    return rest;
  }

  Operands FirstNumbers(const Binding& loop, const TimeSteps& steps) const {
    Operands numbers;
    for (const size_t k : steps.numbers) numbers.push_back(loop.operands[FirstInit(loop) + k]);
    return numbers;
  }

  // Calls `write` to write what is not kept.
  template <typename Write>
  auto Tried(const Write& write) {
    ir::Builder outer = std::exchange(builder(), builder().Nested());
    auto result = write();
    builder() = std::move(outer);
    return result;
  }

  // Finds the arrays of which steps read what steps before them have stored: the others are stored
  // by each group of steps before it reads them. False where this cannot be done.
  bool FindLive(const Binding& loop, const TimeSteps& steps) {
    return Tried([&] {
      Operands numbers = FirstNumbers(loop, steps);
      const auto taken = Take(loop, steps, 1, Int(0), numbers);
      if (!taken) return false;
      stored_.clear();
      live_.clear();
      boxes_.clear();
      before_ = {};
      std::map<const Var*, int> stores;
      for (const RemadeNest& nest : taken->nests) {
        for (const StoredElements& stored : nest.stored) ++stores[stored.array];
      }
      ir::VarSet remade;
      for (const RemadeNest& nest : taken->nests) AddNest(nest, stores, remade);
      return AreAlike(loop, steps);
    });
  }

  void AddNest(const RemadeNest& nest, const std::map<const Var*, int>& stores,
               ir::VarSet& remade) {
    const auto keep = [&](const Var* array) {
      if (std::find(live_.begin(), live_.end(), array) == live_.end()) live_.push_back(array);
    };
    ir::VarSet touched;
    WorkOfElement work;
    ir::ForEachBinding(*nest.nest->blocks[0], [&](const Binding& b) {
      work.operations += IsOperation(b);
      if (b.op != OpCode::kLoad) return;
      ++work.loads;
      const Var* array = nest.NameOutside(b.operands[0].var());
      touched.insert(array);
      if (stores.contains(array) && !remade.contains(array)) keep(array);
    });
    const size_t axes = nest.stored[0].axes.size();
    const bool is_whole = nest.nest->blocks[0]->params.size() == axes;
    if (is_whole) {
      before_.moves += nest.stored.size() + touched.size();
      before_.loads += work.loads;
      before_.operations += work.operations;
      boxes_.emplace_back(nest.stored[0].array, nest.nest->operands);
    }
    for (const StoredElements& stored : nest.stored) {
      stored_.insert(stored.array);
      const bool is_live = std::find(live_.begin(), live_.end(), stored.array) != live_.end();
      if (!is_live && stores.at(stored.array) == 1) {
        remade.insert(stored.array);
      } else {
        keep(stored.array);
      }
    }
  }

  static bool IsOperation(const Binding& b) {
    if (!ir::IsScalarOp(b.op)) return false;
    const ir::DType dtype = b.result()->type.dtype();
    return dtype != ir::DType::kI64 && dtype != ir::DType::kBool;
  }

  // Whether all that kernels store has as many axes, and is known before the loop.
  bool AreAlike(const Binding& loop, const TimeSteps& steps) {
    if (live_.empty() || boxes_.empty()) return false;
    const ir::VarSet inside = ir::DefinedVars(*loop.blocks[0]);
    for (const auto& [array, extents] : boxes_) {
      for (const Operand& extent : extents) {
        if (extent.IsVar() && inside.contains(extent.var())) return false;
      }
    }
    read_only_ = 0;
    for (const Var* array : steps.arrays)
      read_only_ += !stored_.contains(array) && array->type.rank() == live_[0]->type.rank();
    return std::all_of(live_.begin(), live_.end(), [&](const Var* array) {
      return array->type.rank() > 0 && array->type.rank() == live_[0]->type.rank();
    });
  }

  // How often a group of steps is best repeated in a kernel; 0: as it is.
  int64_t BestRepeats(const Binding& loop, const TimeSteps& steps) {
    int64_t best = 0;
    if (const int64_t given = context().options.joined.repeated; given > 0)
      return Tried([&] { return WorkOf(loop, steps, given); }) ? given : 0;
    double least = kWorth * before_.Time();
    for (int64_t repeated = 1; repeated <= kMostRepeated; ++repeated) {
      const auto work = Tried([&] { return WorkOf(loop, steps, repeated); });
      if (!work) break;
      const double time = work->Time() / double(repeated);
      if (time >= least) continue;
      least = time;
      best = repeated;
    }
    return best;
  }

  std::optional<WorkOfElement> WorkOf(const Binding& loop, const TimeSteps& steps,
                                      int64_t repeated) {
    Operands numbers = FirstNumbers(loop, steps);
    const auto taken = Take(loop, steps, repeated, Int(0), numbers);
    const Arrays same = SameArrays();
    Inside inside = NewInside();
    ElementRemaker remaker(builder(), taken->nests, same, &inside);
    const std::vector<LinearForm> place = PlaceOf({inside.space.begin(), inside.space.end()});
    ElementRemaker around(builder(), taken->nests, same, nullptr);
    for (const Var* array : live_) {
      remaker.Element(array, place);
      around.Element(array, place);
    }
    if (remaker.IsTooLarge() || around.IsTooLarge()) return {};
    return WorkOfElement{2 * live_.size() + read_only_, remaker.loads(), remaker.operations()};
  }

  Arrays SameArrays() const {
    Arrays same;
    for (const Var* array : stored_) same[array] = array;
    return same;
  }

  static std::vector<LinearForm> PlaceOf(const Operands& index) {
    std::vector<LinearForm> place;
    for (const Operand& at : index)
      place.push_back(at.IsVar() ? LinearForm::Of(at.var())
                                 : LinearForm::Of(at.constant().integer));
    return place;
  }

  // An empty part of the space of all arrays that are stored.
  Inside NewInside() {
    Inside inside;
    const size_t rank = size_t(live_[0]->type.rank());
    for (size_t axis = 0; axis < rank; ++axis) {
      Operand length = live_[0]->type.dims()[axis];
      for (const Var* array : live_) {
        if (array->type.dims()[axis] != length) length = Max(length, array->type.dims()[axis]);
      }
      inside.lengths.push_back(length);
      inside.space.push_back(builder().NewVar(ir::DType::kI64, "i"));
    }
    inside.from.resize(rank);
    inside.below.resize(rank);
    return inside;
  }

  Operands Conditions(const TimeSteps& steps, const Operand& count, const Operand& pairs) {
    Operands conditions = steps.conditions;
    conditions.push_back(builder().Scalar(OpCode::kGt, {pairs, Int(0)}));
    if (!steps.own.empty())
      conditions.push_back(builder().Scalar(OpCode::kGe, {count, Int(kFewestBehindCopy)}));
    const Operand size = Product(live_[0]->type.dims());
    conditions.push_back(
        builder().Scalar(OpCode::kGe, {size, Int(context().options.joined.least)}));
    // Kernels store all of an array.
    for (const auto& [array, extents] : boxes_) {
      const Operand twice = builder().Mul(Product(extents), Int(2));
      conditions.push_back(builder().Scalar(OpCode::kGe, {twice, Product(array->type.dims())}));
    }
    // Any element is read of what nobody takes.
    for (const Var* array : steps.arrays) {
      for (const Operand& length : array->type.dims())
        conditions.push_back(builder().Scalar(OpCode::kGt, {length, Int(0)}));
    }
    return conditions;
  }

  Operands WritePairs(const Binding& loop, const TimeSteps& steps, int64_t repeated,
                      const Operand& pairs) {
    MakeOwn(steps);
    Arrays first = SameArrays(), second = first;
    for (const Var* array : live_) {
      const Operands& dims = array->type.dims();
      const ir::Type type = ir::Type::Array(array->type.dtype(), dims);
      second[array] = builder().EmitOne(OpCode::kAlloc, type, dims, {}, {}, array->hint);
    }
    const auto pair = [&](const Operand& at, Operands numbers) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t many = repeated * steps.together;
        const Operand number = builder().Add(builder().Mul(at, Int(2 * many)), Int(half * many));
        const auto taken = Take(loop, steps, repeated, number, numbers);
        builder().set_span(loop.span);
        WriteKernels(*taken, half == 0 ? first : second, half == 0 ? second : first);
        builder().set_span({});
      }
      return numbers;
    };
    // No block of threads alone is to go through arrays of this size.
    const ir::Attributes attrs = {{ir::Attr::kCost, int64_t{0}}};
    return Behind(loop, steps, Carry(Int(0), pairs, FirstNumbers(loop, steps), pair, 1, attrs));
  }

  void WriteKernels(const Taken& taken, const Arrays& from, const Arrays& to) {
    Inside inside = NewInside();
    std::vector<const Var*> begin, index;
    for (size_t axis = 0; axis < inside.space.size(); ++axis) {
      begin.push_back(builder().NewVar(ir::DType::kI64, "begin"));
      index.push_back(builder().NewVar(ir::DType::kI64, "i"));
    }
    const Block* element = BlockOf(index, [&] {
      for (size_t axis = 0; axis < begin.size(); ++axis)
        builder().Emit(OpCode::kAdd, {inside.space[axis]}, {begin[axis], index[axis]});
      ElementRemaker remaker(builder(), taken.nests, from, &inside);
      StoreAll(remaker, {inside.space.begin(), inside.space.end()}, to);
      return Operands{};
    });
    const Box box = WriteBox(inside, begin);
    builder().Emit(OpCode::kForeach, {}, box.count, {}, {element});
    WriteAround(taken, box, from, to);
  }

  // Makes an element of each array, then stores those whose place is in their array: inside, all.
  void StoreAll(ElementRemaker& remaker, const Operands& index, const Arrays& to,
                const Operands* lengths = nullptr) {
    Operands values;
    for (const Var* array : live_) values.push_back(remaker.Element(array, PlaceOf(index)));
    for (size_t k = 0; k < live_.size(); ++k) {
      const auto store = [&] { builder().Store(to.at(live_[k]), index, values[k]); };
      const Operands conditions =
          lengths == nullptr ? Operands{} : InArray(*live_[k], *lengths, index);
      conditions.empty() ? store() : If(All(conditions), store);
    }
  }

  // Where what the elements inside ask for is so.
  Box WriteBox(const Inside& inside, const std::vector<const Var*>& begin) {
    Box box{inside.lengths, {begin.begin(), begin.end()}, {}};
    for (size_t axis = 0; axis < begin.size(); ++axis) {
      Operand least = Int(0), end = inside.lengths[axis];
      for (const LinearForm& form : inside.from[axis]) least = Max(least, Written(builder(), form));
      for (const LinearForm& form : inside.below[axis]) end = Min(end, Written(builder(), form));
      for (const Var* array : live_) {
        const Operand& length = array->type.dims()[axis];
        if (length != inside.lengths[axis]) end = Min(end, length);
      }
      builder().Emit(OpCode::kMin, {begin[axis]}, {least, inside.lengths[axis]});
      box.count.push_back(Max(builder().Sub(end, begin[axis]), Int(0)));
    }
    return box;
  }

  // What is left of the space.
  void WriteAround(const Taken& taken, const Box& box, const Arrays& from, const Arrays& to) {
    const Operand count = builder().Sub(Product(box.lengths), Product(box.count));
    const Var* number = builder().NewVar(ir::DType::kI64, "around");
    const Block* element = BlockOf({number}, [&] {
      const Operands index = PlaceAround(box, number, 0);
      ElementRemaker remaker(builder(), taken.nests, from, nullptr);
      StoreAll(remaker, index, to, &box.lengths);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, {count}, {}, {element});
  }

  // What must be so for a place of the space to be one of the array.
  Operands InArray(const Var& array, const Operands& lengths, const Operands& index) {
    Operands conditions;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      const Operand& length = array.type.dims()[axis];
      if (length != lengths[axis])
        conditions.push_back(builder().Scalar(OpCode::kLt, {index[axis], length}));
    }
    return conditions;
  }

  // The place of an element around the box, by its number: first what is before the box along the
  // first axis, then what is behind it, then of the rest the same along the next one.
  Operands PlaceAround(const Box& box, const Operand& number, size_t axis) {
    Operands dims = box.count, first = box.begin;
    for (size_t k = axis; k < dims.size(); ++k) {
      dims[k] = box.lengths[k];
      first[k] = Int(0);
    }
    const Operand end = builder().Add(box.begin[axis], box.count[axis]);
    const auto part = [&](const Operand& at, const Operand& length, const Operand& begin) {
      dims[axis] = length;
      first[axis] = begin;
      Operands index = Delinear(at, dims);
      for (size_t k = 0; k < index.size(); ++k) index[k] = builder().Add(index[k], first[k]);
      return index;
    };
    const auto size_of = [&](const Operand& length) {
      dims[axis] = length;
      return Product(dims);
    };
    const Operand before = size_of(box.begin[axis]);
    const Operand length = builder().Sub(box.lengths[axis], end);
    const Operand behind = size_of(length);
    const Operand left = builder().Sub(number, before);
    const auto after = [&] {
      if (axis + 1 == dims.size()) return part(left, length, end);
      return Choose(
          builder().Scalar(OpCode::kLt, {left, behind}), [&] { return part(left, length, end); },
          [&] { return PlaceAround(box, builder().Sub(left, behind), axis + 1); });
    };
    return Choose(
        builder().Scalar(OpCode::kLt, {number, before}),
        [&] { return part(number, box.begin[axis], Int(0)); }, after);
  }

  std::vector<const Var*> live_;  // arrays of which steps read what steps before them store
  ir::VarSet stored_;             // and all that they store to
  size_t read_only_ = 0;          // further arrays that kernels read
  std::vector<std::pair<const Var*, Operands>> boxes_;  // what whole nests store, and of how many
  WorkOfElement before_;                                // of one group of steps, nest by nest
};

}  // namespace

ir::Program JoinSteps(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StepJoiner(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
