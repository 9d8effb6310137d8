#include "pylib/disk_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "pylib/key.h"

namespace parakeet::pylib {
namespace {

// One of everything.
DiskEntry MakeEntry() {
  DiskEntry entry;
  entry.question = "build, function, arguments";
  entry.holders = {{Origin::Kind::kRoot, 0, {}}, {Origin::Kind::kRecord, 1, {0, 2}}};
  entry.records = {{{Namespace::kGlobal, 0, "k"}, "3"},
                   {{Namespace::kClosure, 0, "parts"}, "(f, g)"},
                   {{Namespace::kAttribute, 1, "scale"}, "0.5"}};
  entry.homes = {{{Origin::Kind::kRoot, 0, {}}, "program.py", 12}};
  entry.manifest.results = {{ResultKind::kScalar, kFloat64, true, 0, 0, 0}};
  entry.manifest.result_slots = 1;
  entry.manifest.captures = {{{Namespace::kGlobal, 1, "table"}, {}}};
  entry.manifest.leaves = {ArgumentWord::Scalar(kFloat64, true).bits()};
  entry.manifest.sites = {{"IndexError", "index {}", {kInt64}, "program.py", "f", 13, 4, 13, 6},
                          {"ValueError", "no", {}, "library.py", "g", 1, 0, 1, 2}};
  entry.manifest.phases = {{"frontend", 1.5}};
  entry.site_homes = {0, kNoHome};
  entry.image = std::string_view("code\0code", 9);
  return entry;
}

TEST(DiskEntryTest, ParsesToWhatWasSerialized) {
  const std::string bytes = SerializeEntry(MakeEntry());  // what is parsed looks into
  const auto parsed = ParseEntry(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->question, MakeEntry().question);
  EXPECT_EQ(parsed->holders[1].path, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(parsed->records[2].content, "0.5");
  EXPECT_EQ(parsed->homes[0].first_line, 12);
  EXPECT_EQ(parsed->site_homes, MakeEntry().site_homes);
  EXPECT_EQ(parsed->manifest.sites[0].line, 13);
  EXPECT_EQ(parsed->image, MakeEntry().image);
  // The records stand for the dependencies; how long it took to compile is nobody's here.
  ASSERT_EQ(parsed->manifest.dependencies.size(), 3u);
  EXPECT_EQ(parsed->manifest.dependencies[1].name, "parts");
  EXPECT_TRUE(parsed->manifest.phases.empty());
}

TEST(DiskEntryTest, StaticParametersAreAnAnswerOfTheirOwn) {
  DiskEntry entry = MakeEntry();
  entry.need_static = {0, 2};
  entry.need_lengths = {1};
  entry.has_answer = false;
  const std::string bytes = SerializeEntry(entry);
  const auto parsed = ParseEntry(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->need_static, entry.need_static);
  EXPECT_EQ(parsed->need_lengths, entry.need_lengths);
  EXPECT_FALSE(parsed->has_answer);
  EXPECT_EQ(parsed->records.size(), 3u);
  EXPECT_TRUE(parsed->image.empty());
}

TEST(DiskEntryTest, BeginsWithALineForPeople) {
  EXPECT_TRUE(SerializeEntry(MakeEntry()).starts_with("parakeet cache entry 03\n"));
}

TEST(DiskEntryTest, AnyPrefixIsRefused) {
  const std::string bytes = SerializeEntry(MakeEntry());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseEntry(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(ParseEntry(bytes + '\0'));
}

TEST(DiskEntryTest, AnyDamagedByteIsRefused) {
  const std::string bytes = SerializeEntry(MakeEntry());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = char(damaged[at] ^ 1 << bit);
      EXPECT_FALSE(ParseEntry(damaged)) << at << ", bit " << bit;
    }
  }
}

void ExpectRefused(void (*damage)(DiskEntry*)) {
  DiskEntry entry = MakeEntry();
  damage(&entry);
  EXPECT_FALSE(ParseEntry(SerializeEntry(entry)));
}

TEST(DiskEntryTest, BrokenRulesAreRefused) {
  ExpectRefused([](DiskEntry* e) { e->records[0].name.function = 2; });  // no such holder
  ExpectRefused([](DiskEntry* e) { e->records[0].name.function = 1; });  // holder comes later
  ExpectRefused([](DiskEntry* e) { e->records[0].name.space = Namespace(6); });
  ExpectRefused([](DiskEntry* e) { e->holders[1].index = 3; });  // no such record
  ExpectRefused([](DiskEntry* e) { e->homes[0].origin = {Origin::Kind::kRecord, 3, {}}; });
  ExpectRefused([](DiskEntry* e) { e->site_homes[0] = 1; });      // no such home
  ExpectRefused([](DiskEntry* e) { e->site_homes.pop_back(); });  // a site without
  ExpectRefused([](DiskEntry* e) { e->manifest.captures[0].from.function = 2; });
  ExpectRefused([](DiskEntry* e) { e->manifest.results.clear(); });
}

}  // namespace
}  // namespace parakeet::pylib
