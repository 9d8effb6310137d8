#ifndef PARAKEET_PASSES_LOWERING_ELEMENT_REMAKER_H_
#define PARAKEET_PASSES_LOWERING_ELEMENT_REMAKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What a nest stores to an array: an element for each iteration, whose index along an axis is one
// of the nest's own plus what is known outside, or that alone.
struct StoredElements {
  const ir::Var* array;  // by its name outside the steps
  ir::Operand value;
  struct Axis {
    const ir::Var* param;  // null: all iterations store to one place
    LinearForm first;      // of values of the step, the place of the first iteration
  };
  std::vector<Axis> axes;
};

// A nest of a step. `known`: what values of the step are where it is made again; arrays of the step
// by their names outside.
struct RemadeNest {
  const ir::Binding* nest;
  const ir::Substitution* known;
  std::vector<StoredElements> stored;
  ir::DefinitionMap definitions;  // of what an element is made of

  // The name of an array outside the steps.
  const ir::Var* NameOutside(const ir::Var* array) const;
};

// The nest, where each element that it stores is known by its index, and depends on nothing that
// the nest itself stores elsewhere; else nothing.
std::optional<RemadeNest> AsRemadeNest(const ir::Binding& nest, const ir::Substitution& known,
                                       const WrappingForms& forms);

// The part of a space of indexes where no nest's end, nor what it compares an index with, lies
// between what several nests need: what each does there is known.
struct Inside {
  std::vector<const ir::Var*> space;  // the index along each axis,
  std::vector<ir::Operand> lengths;   // and how many there are
  // The part lies at or behind all of these, and before all of those, of values from outside.
  std::vector<std::vector<LinearForm>> from, below;
  ir::VarSet inner;  // values that are made for each element

  // The axis along which a place goes as the space does.
  std::optional<size_t> AxisOf(const LinearForm& place) const;
  // Whether a place of that axis is near its beginning, or its end; else nobody knows.
  bool IsNearBegin(size_t axis, const LinearForm& place) const;
  bool IsNearEnd(size_t axis, const LinearForm& place) const;
  // Leaves out where a place that goes along an axis is before `least`, or is at `limit` or behind.
  void KeepFrom(const LinearForm& place, const LinearForm& least);
  void KeepBelow(const LinearForm& place, const LinearForm& limit);
};

// Makes elements that several nests would store, one behind the other, of those that there were
// before all: what a nest reads that others store is made again, wherever it lies.
class ElementRemaker {
 public:
  // By array that the nests store to: where its elements before all nests are.
  using Sources = ir::FlatMap<const ir::Var*, const ir::Var*>;

  // Elements are made in the block that `builder` builds. `inside`: for places inside alone, of
  // which it takes what they ask for; null: for places anywhere in the arrays, where what a nest
  // does not store is made too, of any elements, and not taken.
  ElementRemaker(ir::Builder& builder, const std::vector<RemadeNest>& nests, const Sources& sources,
                 Inside* inside)
      : builder_(builder), nests_(nests), sources_(sources), inside_(inside) {}

  // The element of an array behind all nests.
  ir::Operand Element(const ir::Var* array, const std::vector<LinearForm>& place) {
    return ElementBehind(nests_.size(), array, place);
  }

  // Whether that is more than a thread should do, and not all has been made.
  bool IsTooLarge() const {
    return elements_ > kMostElements || (inside_ != nullptr && loads_ > kMostLoads);
  }
  size_t loads() const { return loads_; }
  size_t operations() const { return operations_; }

 private:
  static constexpr size_t kMostLoads = 64, kMostElements = 200;

  using Place = std::vector<LinearForm>;
  // What is known of an iteration of a nest.
  struct Iteration {
    const RemadeNest* nest;
    size_t number;  // of the nest
    std::map<const ir::Var*, LinearForm> forms;
    std::map<const ir::Var*, ir::Operand> values;
  };
  // Whether a nest stores to a place, as far as an axis says: at all that are inside; where it lies
  // among the nest's own, of which all are inside; at none, since the nest's are at an edge.
  enum class Along { kAlways, kInside, kAtEdge, kNever, kUnknown };

  ir::Operand ElementBehind(size_t count, const ir::Var* array, const Place& place);
  ir::Operand Either(size_t number, const StoredElements& stored, const Place& place,
                     const std::vector<ir::Operand>& conditions);
  ir::Operand Loaded(const ir::Var* array, const Place& place);
  Along StoresAlong(const RemadeNest& nest, const StoredElements& stored, size_t axis,
                    const LinearForm& place) const;
  // False where the nest stores to no such place inside; else what else must be so for it to.
  bool IsStored(const RemadeNest& nest, const StoredElements& stored, const Place& place,
                std::vector<ir::Operand>& conditions);
  void KeepOffEdge(const RemadeNest& nest, const StoredElements::Axis& axis,
                   const LinearForm& place);
  ir::Operand Made(size_t number, const StoredElements& stored, const Place& place);
  // Which iteration of the nest, along an axis, and of how many.
  static LinearForm IterationAt(const RemadeNest& nest, const StoredElements::Axis& axis,
                                const LinearForm& place);
  static LinearForm Extent(const RemadeNest& nest, const StoredElements::Axis& axis);
  static std::vector<uintptr_t> KeyOf(size_t number, const ir::Var* array, const Place& place);

  LinearForm FormIn(Iteration& iteration, const ir::Operand& operand);
  std::optional<LinearForm> LinearFormOf(Iteration& iteration, const ir::Binding& b);
  ir::Operand ValueIn(Iteration& iteration, const ir::Operand& operand);
  ir::Operand ValueOf(Iteration& iteration, const ir::Binding& b, const ir::Var* result);
  ir::Operand Compared(Iteration& iteration, const ir::Binding& b);
  std::optional<bool> IsBelow(const LinearForm& apart);
  void KeepOff(const LinearForm& apart);
  LinearForm Limit(const LinearForm& form, size_t axis) const;
  ir::Operand Computed(const ir::Binding& b, std::vector<ir::Operand> operands);
  ir::Operand Chosen(Iteration& iteration, const ir::Binding& branch, const ir::Var* result);
  const ir::Block* BlockIn(Iteration& iteration, const ir::Block& block);
  const ir::Var* NewValue(const ir::Var* of);

  ir::Operand Written(const LinearForm& form) { return passes::Written(builder_, form); }

  ir::Builder& builder_;
  const std::vector<RemadeNest>& nests_;
  const Sources& sources_;
  Inside* inside_;
  std::map<std::vector<uintptr_t>, ir::Operand> made_;  // by nest, array and place
  int unsure_ = 0;       // how many nests around what is made may not store it
  size_t elements_ = 0;  // that were made, in branches again
  size_t loads_ = 0, operations_ = 0;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_ELEMENT_REMAKER_H_
