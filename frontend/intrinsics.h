#ifndef PARAKEET_FRONTEND_INTRINSICS_H_
#define PARAKEET_FRONTEND_INTRINSICS_H_

#include "frontend/evaluator.h"
#include "frontend/value.h"

// The functions that the front end itself knows. Each takes its arguments bound to its parameters
// (intrinsics.cc lists them), None where an optional one is not given.
namespace parakeet::frontend {

// views.cc
Value TransposeAxes(Evaluator* evaluator, const Values& arguments);  // x, axes: a permutation
Value ReshapeArray(Evaluator* evaluator, const Values& arguments);   // x, shape; one size may be -1
Value BroadcastArray(Evaluator* evaluator, const Values& arguments);  // x, shape
Value ExpandDims(Evaluator* evaluator, const Values& arguments);    // x, axis or axes of the result
Value SqueezeAxes(Evaluator* evaluator, const Values& arguments);   // x, axis or axes of size 1
Value MoveAxes(Evaluator* evaluator, const Values& arguments);      // x, from axes, to axes
Value AscribeSizes(Evaluator* evaluator, const Values& arguments);  // x, shape that was checked

// constructors.cc
Value MakeEmpty(Evaluator* evaluator, const Values& arguments);      // shape, dtype
Value MakeEmptyLike(Evaluator* evaluator, const Values& arguments);  // x, dtype
Value MakeFullLike(Evaluator* evaluator, const Values& arguments);   // x, value, dtype
Value MakeFull(Evaluator* evaluator, const Values& arguments);       // shape, value, dtype
Value MakeArray(Evaluator* evaluator,
                const Values& arguments);                       // x, dtype, order: itself if it can
Value MakeCopy(Evaluator* evaluator, const Values& arguments);  // x
Value CastTo(Evaluator* evaluator, const Values& arguments);    // x, dtype: a new array
Value MakeStrong(Evaluator* evaluator,
                 const Values& arguments);  // x: Python scalars become NumPy's
Value FindNonZero(Evaluator* evaluator, const Values& arguments);  // x: a tuple of index arrays
Value SelectWhere(Evaluator* evaluator, const Values& arguments);  // condition, x, y
Value TakeItem(Evaluator* evaluator, const Values& arguments);     // x: its only element, Python's
Value TakeElementAt(Evaluator* evaluator,
                    const Values& arguments);  // x, of one axis, and a place in it, unchecked

// library_calls.cc
Value CallRoutine(Evaluator* evaluator, const Values& arguments);  // name, then its operands

// bits.cc
Value BitcastElements(Evaluator* evaluator, const Values& arguments);  // x, dtype of its width
Value CountSetBits(Evaluator* evaluator, const Values& arguments);     // x, of integers

// static_functions.cc
Value ResultTypeOf(Evaluator* evaluator, const Values& arguments);  // any values and dtypes
Value PromoteTypes(Evaluator* evaluator, const Values& arguments);  // two dtypes
Value SumType(Evaluator* evaluator, const Values& arguments);    // dtype: what sums accumulate in
Value FloatType(Evaluator* evaluator, const Values& arguments);  // what arctan2 gives for them
Value MemoryOrder(Evaluator* evaluator,
                  const Values& arguments);  // array: "F" if it lies so, or "C"
Value IsOnDevice(Evaluator* evaluator, const Values& arguments);
Value CanCastTo(Evaluator* evaluator, const Values& arguments);    // dtype or array, dtype, casting
Value FloatInfo(Evaluator* evaluator, const Values& arguments);    // dtype or array: np.finfo of it
Value IntegerInfo(Evaluator* evaluator, const Values& arguments);  // dtype or array: np.iinfo of it
Value NormaliseAxes(Evaluator* evaluator, const Values& arguments);  // axis or axes, rank: a tuple
Value IsInstance(Evaluator* evaluator, const Values& arguments);     // value, class or classes

// einsum_subscripts.cc
Value EinsumLabels(Evaluator* evaluator, const Values& arguments);  // subscripts, ranks: tuples

// builtins.cc
Value BuiltinLen(Evaluator* evaluator, const Values& arguments);
Value BuiltinMin(Evaluator* evaluator, const Values& arguments);
Value BuiltinMax(Evaluator* evaluator, const Values& arguments);
Value BuiltinSum(Evaluator* evaluator, const Values& arguments);  // iterable, start
Value BuiltinAll(Evaluator* evaluator, const Values& arguments);
Value BuiltinAny(Evaluator* evaluator, const Values& arguments);
Value BuiltinRange(Evaluator* evaluator, const Values& arguments);
Value BuiltinEnumerate(Evaluator* evaluator, const Values& arguments);  // iterable, start
Value BuiltinZip(Evaluator* evaluator, const Values& arguments);
Value BuiltinReversed(Evaluator* evaluator, const Values& arguments);
Value BuiltinTuple(Evaluator* evaluator, const Values& arguments);
Value BuiltinList(Evaluator* evaluator, const Values& arguments);
Value BuiltinSlice(Evaluator* evaluator, const Values& arguments);
Value MakeNdIndex(Evaluator* evaluator, const Values& arguments);  // sizes, or one shape

// builtin_numbers.cc
Value BuiltinAbs(Evaluator* evaluator, const Values& arguments);
Value BuiltinInt(Evaluator* evaluator, const Values& arguments);
Value BuiltinFloat(Evaluator* evaluator, const Values& arguments);
Value BuiltinBool(Evaluator* evaluator, const Values& arguments);
Value BuiltinComplex(Evaluator* evaluator, const Values& arguments);  // real, imaginary
Value BuiltinRound(Evaluator* evaluator, const Values& arguments);    // number, digits
Value BuiltinDivmod(Evaluator* evaluator, const Values& arguments);
Value BuiltinPow(Evaluator* evaluator, const Values& arguments);  // base, exponent, modulus

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_INTRINSICS_H_
