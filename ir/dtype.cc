#include "ir/dtype.h"

#include "ir/diagnostics.h"

namespace parakeet::ir {
namespace {

struct Row {
  std::string_view name;
  int bits;
  DTypeKind kind;
  int numpy;
};

constexpr Row kRows[] = {
#define PARAKEET_DTYPE(enumerator, text, bits, kind, number) {text, bits, DTypeKind::kind, number},
#include "ir/dtypes.def"
};

constexpr int kNumRows = sizeof(kRows) / sizeof(kRows[0]);
constexpr int kNumpyLongLong = 9;
constexpr int kNumpyUnsignedLongLong = 10;

const Row& RowOf(DType dtype) { return kRows[static_cast<int>(dtype)]; }

}  // namespace

std::string_view Name(DType dtype) { return RowOf(dtype).name; }
DTypeKind KindOf(DType dtype) { return RowOf(dtype).kind; }
int SizeInBits(DType dtype) { return RowOf(dtype).bits; }
int NumpyTypeNumber(DType dtype) { return RowOf(dtype).numpy; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (int i = 0; i < kNumRows; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromNumpy(int type_number) {
  if (type_number == kNumpyLongLong) return DType::kI64;
  if (type_number == kNumpyUnsignedLongLong) return DType::kU64;
  for (int i = 0; i < kNumRows; ++i) {
    if (kRows[i].numpy == type_number) return static_cast<DType>(i);
  }
  return std::nullopt;
}

DType PartOf(DType complex) {
  if (complex == DType::kC64) return DType::kF32;
  if (complex == DType::kC128) return DType::kF64;
  FailBug("PartOf takes a complex type");
}

}  // namespace parakeet::ir
