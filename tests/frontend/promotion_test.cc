#include "frontend/promotion.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/primitives.h"

namespace parakeet::frontend {
namespace {

using ir::DType;

const std::vector<std::string> kWeakNames = {"int", "float", "complex"};
constexpr int kDTypes = static_cast<int>(DType::kC128) + 1;

// The columns of the table: every dtype, then Python's int, float and complex.
std::vector<ScalarType> Columns() {
  std::vector<ScalarType> columns;
  for (int i = 0; i < kDTypes; ++i) columns.push_back({static_cast<DType>(i), false});
  for (DType dtype : {DType::kI64, DType::kF64, DType::kC128}) columns.push_back({dtype, true});
  return columns;
}

ScalarType TypeFromName(const std::string& name) {
  if (auto dtype = ir::DTypeFromName(name)) return {*dtype, false};
  for (size_t i = 0; i < kWeakNames.size(); ++i) {
    if (kWeakNames[i] == name) return Columns()[kDTypes + i];
  }
  ADD_FAILURE() << "no type is called " << name;
  return {DType::kBool, false};
}

std::string ResultName(const Primitive& primitive, const std::vector<ScalarType>& types) {
  const auto signature = SignatureOf(primitive, types);
  return signature ? std::string(ir::Name(signature->result)) : "-";
}

// The rows of NumPy's own answers (tools/promotion_table.py), split at spaces.
std::vector<std::vector<std::string>> Rows() {
  std::ifstream file("tests/frontend/promotion.txt");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    rows.emplace_back(std::istream_iterator<std::string>(words),
                      std::istream_iterator<std::string>());
  }
  return rows;
}

TEST(Promotion, PrimitivesGiveNumPysTypes) {
  const auto columns = Columns();
  int seen = 0;
  for (const auto& row : Rows()) {
    const Primitive* primitive = FindPrimitive(row[0]);
    if (primitive == nullptr) continue;
    const size_t first = primitive->arity;
    ASSERT_EQ(row.size(), first + columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      std::vector<ScalarType> types = {columns[i]};
      if (primitive->arity == 2) types.insert(types.begin(), TypeFromName(row[1]));
      EXPECT_EQ(ResultName(*primitive, types), row[first + i])
          << row[0] << " " << row[1] << " with column " << i;
      ++seen;
    }
  }
  EXPECT_EQ(seen, 11 * 17 + 10 * 17 * 17);
}

TEST(Promotion, ResultTypeIsTheTypeOfASum) {
  for (const auto& row : Rows()) {
    if (row[0] != "add") continue;
    for (size_t i = 0; i < Columns().size(); ++i) {
      EXPECT_EQ(ir::Name(ResultDType({TypeFromName(row[1]), Columns()[i]})), row[2 + i]);
    }
  }
}

TEST(Promotion, SameKindCastsAreNumPys) {
  int seen = 0;
  for (const auto& row : Rows()) {
    if (row[0] != "same_kind") continue;
    for (int i = 0; i < kDTypes; ++i, ++seen) {
      const DType from = *ir::DTypeFromName(row[1]);
      EXPECT_EQ(CanCastSameKind(from, static_cast<DType>(i)), row[2 + i] == "1")
          << row[1] << " to " << ir::Name(static_cast<DType>(i));
    }
  }
  EXPECT_EQ(seen, kDTypes * kDTypes);
}

TEST(Promotion, Int64AgainstUint64IsExact) {
  EXPECT_TRUE(IsMixedSign(*FindPrimitive("less"), {DType::kI64, DType::kU64}));
  EXPECT_FALSE(IsMixedSign(*FindPrimitive("less"), {DType::kI64, DType::kU32}));
  EXPECT_FALSE(IsMixedSign(*FindPrimitive("add"), {DType::kI64, DType::kU64}));
}

TEST(Promotion, RefusalsSayWhatNumPySays) {
  const std::vector<ScalarType> bools = {{DType::kBool}, {DType::kBool}};
  EXPECT_EQ(NoLoopMessage(*FindPrimitive("subtract"), bools).substr(0, 22),
            "numpy boolean subtract");
  EXPECT_EQ(NoLoopMessage(*FindPrimitive("bitwise_and"), {{DType::kF64}, {DType::kI64}}),
            "ufunc 'bitwise_and' not supported for the input types, and the inputs could not be "
            "safely coerced to any supported types according to the casting rule ''safe''");
}

}  // namespace
}  // namespace parakeet::frontend
