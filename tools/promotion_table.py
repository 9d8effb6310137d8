"""Prints what the installed NumPy gives for every pair of dtypes: tests/frontend/promotion.txt.

Run it with NumPy 2: `python tools/promotion_table.py > tests/frontend/promotion.txt`. A row is a
function, its first operand's type, and the result for each type of the second operand (of functions
of one operand: for each type). `-` stands where NumPy raises TypeError.
"""

import warnings

import numpy as np

NAMES = "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 c64 c128".split()
DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
          np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128]
WEAK = {"int": 1, "float": 1.0, "complex": 1 + 0j}
UNARY = ["negative", "absolute", "sign", "invert", "logical_not", "floor", "sqrt", "cbrt", "isnan",
         "signbit", "conjugate"]
BINARY = ["add", "subtract", "divide", "floor_divide", "power", "arctan2", "bitwise_and",
          "left_shift", "less", "logical_and"]


def result(function, *operands):
    try:
        dtype = np.asarray(function(*operands)).dtype
    except TypeError:
        return "-"
    return NAMES[DTYPES.index(dtype.type)]


def main():
    warnings.simplefilter("ignore")
    operands = dict(zip(NAMES, (np.ones(1, dtype) for dtype in DTYPES), strict=True)) | WEAK
    for name in UNARY:
        print(name, *(result(getattr(np, name), x) for x in operands.values()))
    for name in BINARY:
        for first, x in operands.items():
            print(name, first, *(result(getattr(np, name), x, y) for y in operands.values()))
    for first, x in zip(NAMES, DTYPES, strict=True):
        print("same_kind", first, *(int(np.can_cast(x, y, "same_kind")) for y in DTYPES))


if __name__ == "__main__":
    main()
