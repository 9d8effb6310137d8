#ifndef PARAKEET_FRONTEND_INDEXING_H_
#define PARAKEET_FRONTEND_INDEXING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/broadcasting.h"
#include "frontend/evaluator.h"
#include "frontend/value.h"

// Subscripts: what an index says about each axis, and what it reads.
namespace parakeet::frontend {

// How NumPy speaks of the array that a store goes to.
enum class Destination : uint8_t { kAssignment, kOutput };

// Raises where the array may not be stored into: a list at compile time, a read-only array at run
// time.
void RequireWritable(Context* context, const ArrayValue& array,
                     Destination destination = Destination::kAssignment);

// `index + size` for a negative index, checked: 0 <= result < size, else IndexError in NumPy's
// words.
ir::Operand NormaliseIndex(Context* context, const ir::Operand& index, int axis,
                           const ir::Operand& size);

// One axis cut by a slice: in range, size >= 0.
struct Range {
  ir::Operand start;
  ir::Operand size;
  ir::Operand step;
};
Range NormaliseSlice(Evaluator* evaluator, const SliceValue& slice, const ir::Operand& size);

// One entry of an index after `...` has been filled in: an integer, a slice, a new axis, or an
// integer or bool array.
struct IndexEntry {
  enum class Kind { kInteger, kSlice, kNewAxis, kArray } kind;
  Value value;
  int axis = 0;  // The array's axis that it indexes; a bool array of rank k takes k axes from here.
  bool in_range = false;  // Of an array: none of its entries is negative or too large.
  bool is_copy = false;   // An array of rank 0, which NumPy's copying kind of indexing takes too.
};
// Raises IndexError where the index does not suit an array of `rank` axes.
std::vector<IndexEntry> ParseIndex(Evaluator* evaluator, const Value& index, int rank);
bool HasArrays(const std::vector<IndexEntry>& entries);

// True for an index that gives a view: no list or array in it.
bool IsBasicIndex(const Value& index);

// The `slice` view of entries without arrays; a scalar load where they are all integers.
Value ReadBasic(Evaluator* evaluator, const Value& array, const std::vector<IndexEntry>& entries);
// As ReadBasic, but a full index gives a view of rank 0.
Value ViewBasic(Evaluator* evaluator, const Value& array, const std::vector<IndexEntry>& entries);

// Advanced indexing: entries with at least one array (index_arrays.cc).
Value ReadAdvanced(Evaluator* evaluator, const Value& array, std::vector<IndexEntry> entries);
void StoreAdvanced(Evaluator* evaluator, const Value& array, std::vector<IndexEntry> entries,
                   const Value& value);

// True for a bool array with the axes of an array that it indexes.
bool IsMaskOf(const Value& array, const Value& index);
// `array[mask] op= number`, done to all elements of which those under the mask are kept; false, and
// nothing done, where that would not be cheap, or is not asked.
bool UpdateWhereTrue(Evaluator* evaluator, BinaryOperator op, const Value& array, const Value& mask,
                     const Value& number);

// The indexes at which a bool array is true: one integer array an axis (of one size), and how many.
Values NonZero(Evaluator* evaluator, const Value& mask);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_INDEXING_H_
