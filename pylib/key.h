// The key of a call: what dispatch found out about its arguments, as words of 64 bits. Two calls
// with equal keys (and equal static objects, which the words only hash) run the same compiled code.
// The compiler knows nothing of the arguments beside the key, so that what it assumes is what
// dispatch has checked.
//
//   key        = header, then one argument a parameter
//   argument   = leaf word                            array or scalar
//              | static word, hash of its content     the object itself is kept beside the key
//              | tuple word, arguments...
//              | slice word, three arguments
//
// The leaf words in order are the arguments of the compiled entry, captures after them.
#ifndef PARAKEET_PYLIB_KEY_H_
#define PARAKEET_PYLIB_KEY_H_

#include <algorithm>
#include <cstdint>

namespace parakeet::pylib {

// How code is run. The interpreter runs the frontend's IR; kPython is the function as written. The
// last two have kernels on a device (runtime/device.h).
enum class Target : uint8_t { kSerial, kParallel, kInterpreter, kPython, kGpu, kEmulatedGpu };

// One number for a target and its device, as parakeet.targets gives it for a name.
constexpr Target TargetOfNumber(int number) { return Target(number & 0xff); }
constexpr int DeviceOfNumber(int number) { return number >> 8; }
constexpr bool HasDevice(Target target) { return target >= Target::kGpu; }
// Stands for no target, where a `with parakeet.target(...)` is looked for.
inline constexpr int kNoTarget = 0xff;

constexpr uint64_t HeaderWord(Target target, bool may_overlap, bool any_shapes = false,
                              bool profiled = false) {
  return uint64_t(target) | uint64_t(may_overlap) << 8 | uint64_t(any_shapes) << 9 |
         uint64_t(profiled) << 10;
}
constexpr Target TargetOf(uint64_t header) { return Target(header & 0xff); }
// The header with the architecture of the device that the code is for (runtime/device.h: 90 for
// compute capability 9.0). Devices of one architecture share code.
constexpr uint64_t WithArchitecture(uint64_t header, int architecture) {
  return header | uint64_t(architecture & 0xff) << 16;
}
constexpr int ArchitectureOf(uint64_t header) { return int(header >> 16 & 0xff); }
// With the assembler of kernels said, where it is libNVVM and not LLVM.
constexpr uint64_t WithLibNvvm(uint64_t header, bool libnvvm) {
  return header | uint64_t(libnvvm) << 24;
}
constexpr bool UsesLibNvvm(uint64_t header) { return (header >> 24 & 1) != 0; }
// Whether places of the arguments may be one in memory.
constexpr bool MayOverlap(uint64_t header) { return (header >> 8 & 1) != 0; }
// Whether the code takes shapes as they come. Other code gives up at once, with nothing done, where
// sizes that it takes to be equal are not (kOtherShapes in the manifest).
constexpr bool TakesAnyShapes(uint64_t header) { return (header >> 9 & 1) != 0; }
// Whether the code says where its time goes (pk_mark).
constexpr bool IsProfiled(uint64_t header) { return (header >> 10 & 1) != 0; }
// Whether the code has tiles for products with a short side. Other code that has products gives up
// at once where a side is short (kShortSides in the manifest).
constexpr bool HasShortSides(uint64_t header) { return (header >> 11 & 1) != 0; }
// The header that says so, where it is not a device's, which has no such tiles.
constexpr uint64_t WithShortSides(uint64_t header, bool short_sides) {
  return header | uint64_t(short_sides && !HasDevice(TargetOf(header))) << 11;
}
// The same of loops for few long rows (kFewLongRows in the manifest).
constexpr bool HasFewRows(uint64_t header) { return (header >> 12 & 1) != 0; }
constexpr uint64_t WithFewRows(uint64_t header, bool few_rows) {
  return header | uint64_t(few_rows && !HasDevice(TargetOf(header))) << 12;
}

enum class ArgumentKind : uint8_t { kArray, kScalar, kStatic, kTuple, kSlice };
// kC and kFortran are contiguous; in kFortranStrides the strides grow from the first axis to the
// last.
enum class ArrayLayout : uint8_t { kC, kFortran, kStrided, kFortranStrides };

inline constexpr int kMaxRank = 32;

// The lengths of a last axis, and of the one before it, that a word can say where there are both.
inline constexpr int64_t kShortestAxis = 2;
inline constexpr int64_t kLongestShortAxis = 4;

// What a key says of a parameter beside its type, as bits.
enum InKey : uint8_t { kValueInKey = 1, kLengthsInKey = 2 };

// The lengths that a word can say, from two on, of the last axis and of the two before it: of
// arrays that some code is better for knowing them of (Context::better_with_lengths in passes/). Of
// an array with two axes the first may be as long as the last.
inline constexpr int64_t kMostKnownLengths[] = {16, 8, 4};
constexpr int64_t MostKnownLength(int back, int rank) {
  return rank == 2 ? kMostKnownLengths[0] : kMostKnownLengths[back];
}

// Bits 0-3 kind; 4-8 NumPy's type number; 9-14 rank; 15-16 layout; then one bit each; 21-52 one bit
// an axis (51-52, of up to 30 axes, the length of the axis before the last, less one, where it is
// short and said); 53-54 that of the last axis; 55-58, 59-61
// and 62-63 the lengths of the last three axes, less one, where they are said. Of an array without
// axes: bit 21 says that it is a number. Of a tuple: bits 4-35 its length.
class ArgumentWord {
 public:
  constexpr explicit ArgumentWord(uint64_t bits) : bits_(bits) {}

  // `type` is NumPy's type number, with 7 and 8 for every 64-bit integer.
  static constexpr ArgumentWord Scalar(int type, bool python) {
    return ArgumentWord(uint64_t(ArgumentKind::kScalar) | uint64_t(type) << 4 |
                        uint64_t(python) << kPythonBit);
  }
  // The unit axes have bit k set where axis k has length 1.
  static constexpr ArgumentWord Array(int type, int rank, ArrayLayout layout, bool writable,
                                      bool aligned, uint64_t unit_axes) {
    return ArgumentWord(uint64_t(ArgumentKind::kArray) | uint64_t(type) << 4 | uint64_t(rank) << 9 |
                        uint64_t(layout) << 15 | uint64_t(writable) << kWritableBit |
                        uint64_t(aligned) << kAlignedBit | unit_axes << 21);
  }
  // With the lengths of the last two axes said that are short enough; `sizes` is one an axis.
  constexpr ArgumentWord WithShortAxes(const int64_t* sizes) const {
    uint64_t bits = bits_;
    for (int back = 0; back < ShortAxes(); ++back) {
      const int64_t length = sizes[rank() - 1 - back];
      const bool is_short = length >= kShortestAxis && length <= kLongestShortAxis;
      bits |= is_short ? uint64_t(length - 1) << kShortAxisBits[back] : 0;
    }
    return ArgumentWord(bits);
  }
  // With the lengths of the last three axes said that are short enough; `sizes` is one an axis.
  constexpr ArgumentWord WithLengths(const int64_t* sizes) const {
    uint64_t bits = bits_;
    for (int back = 0; back < kSaidAxes && back < rank(); ++back) {
      const int64_t length = sizes[rank() - 1 - back];
      const bool is_said = length > 1 && length <= MostKnownLength(back, rank());
      bits |= is_said ? uint64_t(length - 1) << kLengthBits[back] : 0;
    }
    return ArgumentWord(bits);
  }
  // Without what the two above say.
  constexpr ArgumentWord WithoutLengths() const {
    const int first = kShortAxisBits[ShortAxes() == 2 ? 1 : 0];
    return ArgumentWord(bits_ & ((uint64_t{1} << first) - 1));
  }
  // Without what WithLengths says.
  constexpr ArgumentWord WithoutSaidLengths() const {
    return ArgumentWord(bits_ & ((uint64_t{1} << kLengthBits[0]) - 1));
  }
  constexpr bool SaysLengths() const { return bits_ >> kLengthBits[0] != 0; }
  // A list of numbers, which dispatch copies to an array. `python`: all of them are Python's.
  constexpr ArgumentWord AsList(bool python) const {
    return ArgumentWord(bits_ | uint64_t{1} << kListBit | uint64_t(python) << kPythonBit);
  }
  // An array of rank 0 that the code takes as a NumPy scalar: a number on a device.
  constexpr ArgumentWord AsNumber() const {
    return ArgumentWord(bits_ | uint64_t{1} << kNumberBit);
  }
  static constexpr ArgumentWord Static() { return ArgumentWord(uint64_t(ArgumentKind::kStatic)); }
  static constexpr ArgumentWord Slice() { return ArgumentWord(uint64_t(ArgumentKind::kSlice)); }
  static constexpr ArgumentWord Tuple(uint32_t length) {
    return ArgumentWord(uint64_t(ArgumentKind::kTuple) | uint64_t(length) << 4);
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr ArgumentKind kind() const { return ArgumentKind(bits_ & 0xf); }
  constexpr bool IsLeaf() const { return kind() <= ArgumentKind::kScalar; }
  constexpr bool IsArray() const { return kind() == ArgumentKind::kArray; }
  constexpr int type() const { return int(bits_ >> 4 & 0x1f); }
  constexpr int rank() const { return int(bits_ >> 9 & 0x3f); }
  constexpr ArrayLayout layout() const { return ArrayLayout(bits_ >> 15 & 3); }
  constexpr bool writable() const { return Bit(kWritableBit); }
  constexpr bool aligned() const { return Bit(kAlignedBit); }
  constexpr bool is_list() const { return Bit(kListBit); }
  constexpr bool python() const { return Bit(kPythonBit); }
  constexpr bool is_number() const { return rank() == 0 && Bit(kNumberBit); }
  constexpr bool IsUnitAxis(int axis) const { return Bit(21 + axis); }
  // The length of an axis as WithShortAxes has said it, else 0.
  constexpr int ShortLengthOf(int axis) const {
    const int back = rank() - 1 - axis;
    if (back >= ShortAxes()) return 0;
    const int code = int(bits_ >> kShortAxisBits[back] & 3);
    return code == 0 ? 0 : code + 1;
  }
  // The length of an axis as WithLengths has said it, else 0.
  constexpr int64_t LengthOf(int axis) const {
    const int back = rank() - 1 - axis;
    if (back >= kSaidAxes) return 0;
    const uint64_t code = bits_ >> kLengthBits[back] & uint64_t(MostKnownLength(back, rank()) - 1);
    return code == 0 ? 0 : int64_t(code) + 1;
  }
  constexpr uint32_t length() const { return uint32_t(bits_ >> 4); }

 private:
  static constexpr int kWritableBit = 17;
  static constexpr int kAlignedBit = 18;
  static constexpr int kListBit = 19;
  static constexpr int kPythonBit = 20;
  static constexpr int kShortAxisBits[] = {53, 51};
  static constexpr int kSaidAxes = 3;
  static constexpr int kLengthBits[kSaidAxes] = {55, 59, 62};
  static constexpr int kNumberBit = 21;

  // How many axes WithShortAxes can say the lengths of.
  constexpr int ShortAxes() const {
    constexpr int kMostAxes = 30;  // whose bits leave those of the second
    if (!IsArray()) return 0;
    return rank() <= kMostAxes ? std::min(rank(), 2) : 1;
  }
  constexpr bool Bit(int bit) const { return (bits_ >> bit & 1) != 0; }

  uint64_t bits_;
};

// NumPy's type numbers of what compiled code takes; the rest is refused.
enum NumpyType : int {
  kBool = 0,
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kInt64 = 7,
  kUint64 = 8,
  kLongLong = 9,    // read as kInt64
  kULongLong = 10,  // read as kUint64
  kFloat32 = 11,
  kFloat64 = 12,
  kComplex64 = 14,
  kComplex128 = 15,
  kFloat16 = 23,
};

// The type number that stands for `type` in keys and manifests, or -1 for what is refused.
constexpr int CanonicalType(int type) {
  if (type == kLongLong) return kInt64;
  if (type == kULongLong) return kUint64;
  const bool known = (type >= kBool && type <= kFloat64) || type == kComplex64 ||
                     type == kComplex128 || type == kFloat16;
  return known ? type : -1;
}

// Bytes an element of a canonical type.
constexpr int SizeOfType(int type) {
  switch (type) {
    case kBool:
    case kInt8:
    case kUint8: return 1;
    case kInt16:
    case kUint16:
    case kFloat16: return 2;
    case kInt32:
    case kUint32:
    case kFloat32: return 4;
    case kComplex128: return 16;
    default: return 8;
  }
}

constexpr bool IsComplexType(int type) { return type == kComplex64 || type == kComplex128; }

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_KEY_H_
