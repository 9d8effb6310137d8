#include "pylib/manifest.h"

#include <gtest/gtest.h>

#include <string>

#include "pylib/key.h"

namespace parakeet::pylib {
namespace {

// One of everything.
Manifest MakeManifest() {
  Manifest manifest;
  manifest.leaves = {ArgumentWord::Array(kFloat64, 2, ArrayLayout::kC, true, true, 1).bits(),
                     ArgumentWord::Scalar(kComplex64, true).bits()};
  manifest.written = {1};
  manifest.contents = {0};
  manifest.results = {{ResultKind::kTuple, 0, false, false, 0, 0, 3},
                      {ResultKind::kNone},
                      {ResultKind::kScalar, kComplex128, true, false, 0, 0, 0},
                      {ResultKind::kList, 0, false, false, 0, 0, 1},
                      {ResultKind::kArray, kInt8, false, true, 2, 2, 0}};
  manifest.result_slots = 9;
  manifest.captures = {{{Namespace::kClosure, 0, "table"}, {1, 0}}};
  manifest.dependencies = {{Namespace::kBuiltin, 1, "len"}};
  manifest.sites = {{"IndexError", "index {}", {kInt64}, "demo.py", "f", 3, 4, 5, 6}};
  manifest.is_bounded = true;
  manifest.cost = {{2.5, {1, 2}}, {10, {}}};
  manifest.phases = {{"frontend", 1.25}};
  return manifest;
}

TEST(ManifestTest, ParsesToWhatWasSerialized) {
  const std::string bytes = Serialize(MakeManifest());
  const auto parsed = ParseManifest(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(Serialize(*parsed), bytes);
  EXPECT_EQ(parsed->leaves, MakeManifest().leaves);
  EXPECT_EQ(parsed->results[4].rank, 2);
  EXPECT_EQ(parsed->results[2].type, kComplex128);
  EXPECT_TRUE(parsed->results[2].python);
  EXPECT_EQ(parsed->captures[0].path, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(parsed->dependencies[0].space, Namespace::kBuiltin);
  EXPECT_EQ(parsed->sites[0].message, "index {}");
  EXPECT_EQ(parsed->sites[0].end_column, 6);
  EXPECT_EQ(parsed->cost[0].cycles, 2.5);
  EXPECT_EQ(parsed->phases[0].ms, 1.25);
}

TEST(ManifestTest, AnyPrefixIsRefused) {
  const std::string bytes = Serialize(MakeManifest());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseManifest(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(ParseManifest(bytes + '\0'));
}

// A damaged byte may change a name or a number; it must never be read out of bounds, ask for more
// memory than there are bytes, or give a manifest that breaks its own rules.
TEST(ManifestTest, AnyDamagedByteIsSafe) {
  const std::string bytes = Serialize(MakeManifest());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char damage : {'\0', '\1', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = damage;
      const auto parsed = ParseManifest(damaged);
      if (!parsed) continue;
      for (const ResultNode& node : parsed->results) EXPECT_LE(node.slot, parsed->result_slots);
      EXPECT_EQ(parsed->written.size(), 1u);
      EXPECT_EQ(parsed->contents.size(), 1u);
    }
  }
}

void ExpectRefused(void (*damage)(Manifest*)) {
  Manifest manifest = MakeManifest();
  damage(&manifest);
  EXPECT_FALSE(ParseManifest(Serialize(manifest)));
}

TEST(ManifestTest, BrokenRulesAreRefused) {
  ExpectRefused([](Manifest* m) { m->results[0].length = 4; });  // a child too many
  ExpectRefused([](Manifest* m) { m->results[0].length = 2; });  // a node that is nobody's
  ExpectRefused([](Manifest* m) { m->results.clear(); });        // no result at all
  ExpectRefused([](Manifest* m) { m->results[4].slot = 3; });    // runs past the slots
  ExpectRefused([](Manifest* m) { m->results[4].type = 13; });   // long double
  ExpectRefused([](Manifest* m) { m->results[4].rank = 33; });   // too deep
  ExpectRefused([](Manifest* m) { m->written.push_back(0); });   // more arrays than leaves
  ExpectRefused([](Manifest* m) { m->contents.push_back(0); });
  ExpectRefused([](Manifest* m) { m->cost[0].extents = {7}; });  // no such argument slot
  ExpectRefused([](Manifest* m) { m->leaves[0] = ArgumentWord::Static().bits(); });
}

TEST(KeyTest, WordsSayWhatTheyWereMadeOf) {
  const ArgumentWord word =
      ArgumentWord::Array(kFloat16, 32, ArrayLayout::kFortranStrides, false, true, 0x80000001);
  EXPECT_EQ(word.kind(), ArgumentKind::kArray);
  EXPECT_EQ(word.type(), kFloat16);
  EXPECT_EQ(word.rank(), 32);
  EXPECT_EQ(word.layout(), ArrayLayout::kFortranStrides);
  EXPECT_FALSE(word.writable());
  EXPECT_TRUE(word.aligned());
  EXPECT_TRUE(word.IsUnitAxis(0));
  EXPECT_FALSE(word.IsUnitAxis(1));
  EXPECT_TRUE(word.IsUnitAxis(31));
  for (const int length : {2, 3, 4, 5}) {
    const std::vector<int64_t> sizes(32, length);
    const ArgumentWord said = word.WithShortAxes(sizes.data());
    EXPECT_EQ(said.ShortLengthOf(31), length < 5 ? length : 0);
    EXPECT_EQ(said.ShortLengthOf(30), 0);
    EXPECT_EQ(said.AsList(true).rank(), 32);
    EXPECT_EQ(said.WithoutLengths().bits(), word.bits());
  }
  EXPECT_FALSE(word.is_list());
  EXPECT_TRUE(word.AsList(true).is_list());
  EXPECT_TRUE(word.AsList(true).python());
  EXPECT_FALSE(word.AsList(false).python());
  EXPECT_EQ(ArgumentWord::Tuple(123456).length(), 123456u);
  EXPECT_TRUE(ArgumentWord::Scalar(kInt64, true).python());
  EXPECT_EQ(TargetOf(HeaderWord(Target::kInterpreter, true)), Target::kInterpreter);
  EXPECT_TRUE(MayOverlap(HeaderWord(Target::kSerial, true)));
  EXPECT_FALSE(MayOverlap(HeaderWord(Target::kSerial, false)));
}

TEST(KeyTest, AWordSaysTheLengthsOfShortAxes) {
  const ArgumentWord word = ArgumentWord::Array(kFloat64, 4, ArrayLayout::kC, true, true, 0);
  EXPECT_FALSE(word.SaysLengths());
  const auto lengths = [&](std::vector<int64_t> sizes) {
    const ArgumentWord is_short = word.WithShortAxes(sizes.data());
    const ArgumentWord said = is_short.WithLengths(sizes.data());
    for (int axis = 2; axis < 4; ++axis) {
      const bool says = sizes[axis] >= kShortestAxis && sizes[axis] <= kLongestShortAxis;
      EXPECT_EQ(said.ShortLengthOf(axis), says ? sizes[axis] : 0);
    }
    EXPECT_EQ(said.ShortLengthOf(1), 0);
    EXPECT_EQ(said.WithoutLengths().bits(), word.bits());
    EXPECT_EQ(said.WithoutSaidLengths().bits(), is_short.bits());
    std::vector<int64_t> read;
    for (int axis = 0; axis < 4; ++axis) read.push_back(said.LengthOf(axis));
    EXPECT_EQ(said.SaysLengths(), read != std::vector<int64_t>(4));
    return read;
  };
  using Lengths = std::vector<int64_t>;
  EXPECT_EQ(lengths({4, 4, 8, 16}), (Lengths{0, 4, 8, 16}));
  EXPECT_EQ(lengths({2, 2, 2, 2}), (Lengths{0, 2, 2, 2}));
  EXPECT_EQ(lengths({2, 5, 9, 17}), (Lengths{0, 0, 0, 0}));
  EXPECT_EQ(lengths({1, 1, 3, 0}), (Lengths{0, 0, 3, 0}));
}

TEST(KeyTest, AHeaderHasTheArchitectureAndANumberTheDevice) {
  const uint64_t header = WithArchitecture(HeaderWord(Target::kGpu, true, true, true), 121);
  EXPECT_EQ(TargetOf(header), Target::kGpu);
  EXPECT_EQ(ArchitectureOf(header), 121);
  EXPECT_TRUE(MayOverlap(header) && TakesAnyShapes(header) && IsProfiled(header));
  EXPECT_EQ(ArchitectureOf(HeaderWord(Target::kEmulatedGpu, true, true, true)), 0);
  const uint64_t by_libnvvm = WithLibNvvm(header, true);
  EXPECT_NE(by_libnvvm, header);
  EXPECT_TRUE(UsesLibNvvm(by_libnvvm) && !UsesLibNvvm(WithLibNvvm(header, false)));
  EXPECT_EQ(ArchitectureOf(by_libnvvm), 121);
  const int number = int(Target::kGpu) | 9999 << 8;
  EXPECT_EQ(TargetOfNumber(number), Target::kGpu);
  EXPECT_EQ(DeviceOfNumber(number), 9999);
  EXPECT_TRUE(HasDevice(Target::kGpu) && HasDevice(Target::kEmulatedGpu));
  EXPECT_FALSE(HasDevice(Target::kPython));
}

TEST(KeyTest, LongLongIsInt64) {
  EXPECT_EQ(CanonicalType(kLongLong), kInt64);
  EXPECT_EQ(CanonicalType(kULongLong), kUint64);
  EXPECT_EQ(CanonicalType(13), -1);
  EXPECT_EQ(CanonicalType(17), -1);
}

}  // namespace
}  // namespace parakeet::pylib
