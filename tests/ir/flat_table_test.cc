#include "ir/flat_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace parakeet::ir {
namespace {

TEST(FlatTable, HoldsWhatAMapHoldsWhateverIsInsertedAndErased) {
  for (const int keys : {4, 9, 40, 700}) {
    std::mt19937 random(static_cast<unsigned>(keys));
    std::vector<int> nodes(static_cast<size_t>(keys));
    FlatMap<const int*, int> flat;
    std::map<const int*, int> expected;
    for (int step = 0; step < 20000; ++step) {
      const int* key = &nodes[random() % nodes.size()];
      switch (random() % 4) {
        case 0: EXPECT_EQ(flat.erase(key), expected.erase(key)); break;
        case 1:
          EXPECT_EQ(flat.emplace(key, step).second, expected.emplace(key, step).second);
          break;
        case 2: flat[key] = expected[key] = step; break;
        default: ASSERT_EQ(flat.contains(key), expected.contains(key));
      }
      ASSERT_EQ(flat.size(), expected.size());
    }
    for (const auto& [key, value] : expected) ASSERT_EQ(flat.at(key), value);
  }
}

TEST(FlatTable, GoesInOrderOfInsertion) {
  int nodes[20];
  FlatSet<const int*> set;
  for (int k = 19; k >= 0; --k) set.insert(&nodes[k]);
  int next = 19;
  for (const int* node : set) EXPECT_EQ(node, &nodes[next--]);
}

TEST(FlatTable, SetsAreEqualWhateverTheOrder) {
  int nodes[3];
  EXPECT_EQ((FlatSet<const int*>{&nodes[0], &nodes[1]}),
            (FlatSet<const int*>{&nodes[1], &nodes[0]}));
  EXPECT_FALSE((FlatSet<const int*>{&nodes[0]}) == (FlatSet<const int*>{&nodes[2]}));
}

TEST(FlatTable, AMapSaysWhereItHasNoKey) {
  int node = 0;
  const FlatMap<const int*, std::string> map;
  EXPECT_THROW(map.at(&node), std::out_of_range);
}

}  // namespace
}  // namespace parakeet::ir
