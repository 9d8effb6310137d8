#include "runtime/image.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include "runtime/buffers.h"
#include "runtime/call.h"
#include "tests/runtime/image_bytes.h"

namespace parakeet::runtime {
namespace {

using std::string_literals::operator""s;

// results[0] = args[0] + args[1]; return 0
ImageParts AddParts() {
  return {
      "\x48\x8b\x06"      // mov rax, [rsi]
      "\x48\x03\x46\x08"  // add rax, [rsi + 8]
      "\x48\x89\x02"      // mov [rdx], rax
      "\x31\xc0"          // xor eax, eax
      "\xc3",             // ret
      {},
      ""};
}

// results[0] = pk_alloc(call, args[0]); return results[0] == null
ImageParts AllocParts(const std::string& import = "pk_alloc", size_t text_size = 27) {
  ImageParts parts;
  parts.slots.push_back({kPkSlotLiteral, 0, 0});
  parts.AddImport(import);
  parts.text =
      "\x53"          // push rbx
      "\x48\x89\xd3"  // mov rbx, rdx
      "\x48\x8b\x36"  // mov rsi, [rsi]
      "\xff\x15";     // call [rip + slot 1]
  AppendSlotDisplacement(&parts.text, text_size, 1);
  parts.text +=
      "\x48\x89\x03"  // mov [rbx], rax
      "\x48\x85\xc0"  // test rax, rax
      "\x0f\x94\xc0"  // sete al
      "\x0f\xb6\xc0"  // movzx eax, al
      "\x5b\xc3";     // pop rbx; ret
  parts.text.resize(text_size, '\xcc');
  return parts;
}

// results[0] = slot 0; results[1] = the word that slot 1 points to; return 0
ImageParts SlotParts(uint64_t literal, uint64_t constant) {
  constexpr size_t kTextSize = 40;
  ImageParts parts;
  parts.slots = {{kPkSlotLiteral, 0, literal}, {kPkSlotInternal, 0, 32}};
  parts.text = "\x48\x8b\x05";  // mov rax, [rip + slot 0]
  AppendSlotDisplacement(&parts.text, kTextSize, 0);
  parts.text +=
      "\x48\x89\x02"   // mov [rdx], rax
      "\x48\x8b\x05";  // mov rax, [rip + slot 1]
  AppendSlotDisplacement(&parts.text, kTextSize, 1);
  parts.text += "\x48\x8b\x00\x48\x89\x42\x08\x31\xc0\xc3"s;  // load, store, return 0
  parts.text.resize(32, '\xcc');
  parts.text.append(reinterpret_cast<const char*>(&constant), 8);
  return parts;
}

std::unique_ptr<Image> Load(const std::string& bytes, std::string* error) {
  return LoadImage(bytes.data(), bytes.size(), error);
}

std::string Refusal(const std::string& bytes) {
  std::string error;
  EXPECT_EQ(Load(bytes, &error), nullptr);
  EXPECT_FALSE(error.empty());
  return error;
}

PkImageHeader HeaderOf(const std::string& image) {
  PkImageHeader header;
  std::memcpy(&header, image.data(), sizeof(header));
  return header;
}

// The image with another header, sealed.
std::string WithHeader(std::string image, const PkImageHeader& header) {
  std::memcpy(image.data(), &header, sizeof(header));
  Seal(&image);
  return image;
}

TEST(Image, RunsCodeWithoutImports) {
  std::string error;
  const auto image = Load(Pack(AddParts()), &error);
  ASSERT_NE(image, nullptr) << error;
  Call call(1);
  const uint64_t args[] = {40, 2};
  uint64_t result = 0;
  EXPECT_EQ(image->entry()(&call, args, &result), 0);
  EXPECT_EQ(result, 42u);
}

TEST(Image, MayBeginAtAnyAddressInMemory) {
  std::string error;
  const std::string bytes = "?" + Pack(AllocParts());
  EXPECT_NE(LoadImage(bytes.data() + 1, bytes.size() - 1, &error), nullptr) << error;
}

TEST(Image, CallsAnImportThroughTheTable) {
  const int64_t live = ReadBufferCounters().live_bytes;
  // 5000 puts the table behind the second page.
  for (size_t text_size : {27u, 4096u, 5000u}) {
    std::string error;
    const auto image = Load(Pack(AllocParts("pk_alloc", text_size)), &error);
    ASSERT_NE(image, nullptr) << error;
    Call call(1);
    uint64_t bytes = 1000;
    uint64_t result = 0;
    EXPECT_EQ(image->entry()(&call, &bytes, &result), 0);
    EXPECT_NE(result, 0u);
    EXPECT_EQ(ReadBufferCounters().live_bytes, live + 1000);
    bytes = uint64_t(-8);
    EXPECT_EQ(image->entry()(&call, &bytes, &result), 1);
    EXPECT_EQ(call.error().site, kPkSiteMemory);
  }
  EXPECT_EQ(ReadBufferCounters().live_bytes, live);
}

TEST(Image, SlotsAreLiteralsAndAddressesInside) {
  std::string error;
  const auto image = Load(Pack(SlotParts(0x1122334455667788, 77)), &error);
  ASSERT_NE(image, nullptr) << error;
  Call call(1);
  uint64_t results[2] = {};
  EXPECT_EQ(image->entry()(&call, nullptr, results), 0);
  EXPECT_EQ(results[0], 0x1122334455667788u);
  EXPECT_EQ(results[1], 77u);
}

TEST(Image, EntryMayBeInsideTheText) {
  ImageParts parts = AddParts();
  parts.text.insert(0, 100, '\xcc');
  std::string error;
  const auto image = Load(Pack(parts, 100), &error);
  ASSERT_NE(image, nullptr) << error;
  Call call(1);
  const uint64_t args[] = {1, 2};
  uint64_t result = 0;
  EXPECT_EQ(image->entry()(&call, args, &result), 0);
  EXPECT_EQ(result, 3u);
}

// The access rights ("r-xp") of the page that holds an address; empty when it is not mapped.
std::string RightsOf(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin, end;
    char rights[8];
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
    const auto at = reinterpret_cast<unsigned long>(address);
    if (begin <= at && at < end) return rights;
  }
  return "";
}

TEST(Image, IsNeverWritableAndGoneAfterwards) {
  std::string error;
  auto image = Load(Pack(AllocParts()), &error);
  ASSERT_NE(image, nullptr) << error;
  const auto* text = static_cast<const char*>(image->text());
  EXPECT_EQ(RightsOf(text), "r-xp");
  EXPECT_EQ(RightsOf(text + PkImageTableOffset(27)), "r--p");
  image.reset();
  EXPECT_NE(RightsOf(text), "r-xp");
}

TEST(Image, RunsInAForkedChild) {
  std::string error;
  const auto image = Load(Pack(AddParts()), &error);
  ASSERT_NE(image, nullptr) << error;
  const pid_t child = fork();
  if (child == 0) {
    Call call(1);
    const uint64_t args[] = {4, 5};
    uint64_t result = 0;
    image->entry()(&call, args, &result);
    _exit(int(result));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST(ImageRefusal, EveryTruncation) {
  const std::string image = Pack(AllocParts());
  for (size_t size = 0; size < image.size(); ++size) Refusal(image.substr(0, size));
  EXPECT_EQ(Refusal(image.substr(0, 10)), "image refused: shorter than a header");
  EXPECT_EQ(Refusal(image.substr(0, 100)), "image refused: truncated or too long");
  EXPECT_EQ(Refusal(image + '\0'), "image refused: truncated or too long");
  EXPECT_EQ(Refusal(""), "image refused: shorter than a header");
}

TEST(ImageRefusal, EveryFlippedBit) {
  const std::string image = Pack(AllocParts());
  for (size_t bit = 0; bit < image.size() * 8; ++bit) {
    std::string damaged = image;
    damaged[bit / 8] ^= 1 << bit % 8;
    Refusal(damaged);
  }
}

TEST(ImageRefusal, HeaderFields) {
  const std::string image = Pack(AllocParts());
  const PkImageHeader good = HeaderOf(image);
  const auto refuse = [&](auto change) {
    PkImageHeader header = good;
    change(header);
    return Refusal(WithHeader(image, header));
  };
  EXPECT_EQ(refuse([](auto& h) { h.magic[3] = '?'; }), "image refused: no image");
  EXPECT_EQ(refuse([](auto& h) { h.abi_id ^= 1; }), "image refused: of another build");
  EXPECT_EQ(refuse([](auto& h) { h.machine = 183; }), "image refused: for another machine");
  EXPECT_EQ(refuse([](auto& h) { h.text_size = 0; }), "image refused: sizes out of range");
  EXPECT_EQ(refuse([](auto& h) { h.text_size = UINT64_MAX; }), "image refused: sizes out of range");
  EXPECT_EQ(refuse([](auto& h) { h.slot_count = UINT32_MAX; }),
            "image refused: sizes out of range");
  EXPECT_EQ(refuse([](auto& h) { h.names_size = UINT64_MAX - 50; }),
            "image refused: sizes out of range");
  EXPECT_EQ(refuse([](auto& h) { h.text_size += 16; }), "image refused: sizes do not add up");
  EXPECT_EQ(refuse([](auto& h) { h.entry = h.text_size; }),
            "image refused: entry outside the text");
  PkImageHeader unsealed = good;
  unsealed.checksum ^= 1;
  std::string damaged = image;
  std::memcpy(damaged.data(), &unsealed, sizeof(unsealed));
  EXPECT_EQ(Refusal(damaged), "image refused: checksum differs");
}

TEST(ImageRefusal, Slots) {
  const auto refuse = [](PkImageSlot slot) {
    ImageParts parts = AllocParts();
    parts.slots[1] = slot;
    return Refusal(Pack(parts));
  };
  EXPECT_EQ(refuse({7, 0, 0}), "a slot of unknown kind");
  EXPECT_EQ(refuse({kPkSlotImport, 1000, 0}), "a slot's name is outside the names");
  EXPECT_EQ(refuse({kPkSlotInternal, 0, 4096 + 16}), "a slot points outside the image");
  EXPECT_EQ(refuse({kPkSlotInternal, 0, UINT64_MAX}), "a slot points outside the image");
  ImageParts parts = AllocParts();
  parts.names.pop_back();
  EXPECT_EQ(Refusal(Pack(parts)), "image refused: names do not end");
}

TEST(ImageRefusal, UnknownImports) {
  EXPECT_EQ(Refusal(Pack(AllocParts("pk_no_such"))), "no library has pk_no_such");
  EXPECT_EQ(Refusal(Pack(AllocParts("_ZGVbN2v_nothing"))), "libmvec.so.1 has no _ZGVbN2v_nothing");
}

// Headers, slots and names of random content, sealed: refused or loaded, never run and never worse.
TEST(ImageRefusal, RandomDamageUnderARightChecksum) {
  const std::string image = Pack(AllocParts());
  std::mt19937_64 random(11);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = image;
    for (int change = 0; change < 3; ++change) {
      const size_t at = random() % damaged.size();
      const uint64_t interesting[] = {0, 1, 0x7f, 0xff, random()};
      damaged[at] = char(interesting[random() % 5]);
    }
    if (random() % 4 == 0) damaged.resize(random() % (damaged.size() + 1));
    if (damaged.size() >= sizeof(PkImageHeader)) Seal(&damaged);
    std::string error;
    refused += Load(damaged, &error) == nullptr;
  }
  EXPECT_GT(refused, 1000);
}

TEST(Checksum, DependsOnEveryByteAndTheLength) {
  const std::string bytes = "some bytes, not a multiple of 8.";
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(PkImageChecksum(bytes.data(), size), PkImageChecksum(bytes.data(), size + 1));
  }
  const char zeros[16] = {};
  EXPECT_NE(PkImageChecksum(zeros, 8), PkImageChecksum(zeros, 9));
}

}  // namespace
}  // namespace parakeet::runtime
