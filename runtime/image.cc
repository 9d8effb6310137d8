#include "runtime/image.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "runtime/symbols.h"

namespace parakeet::runtime {
namespace {

// The parts of an image, once CheckHeader has found them to be inside it.
struct Parts {
  PkImageHeader header;
  const char* text;
  const char* slots;
  const char* names;

  uint64_t TableOffset() const { return PkImageTableOffset(header.text_size); }
  uint64_t TableSize() const { return 8 * uint64_t{header.slot_count}; }
  uint64_t MemorySize() const { return TableOffset() + TableSize(); }
};

const char* FindHeaderProblem(const PkImageHeader& header, size_t size) {
  if (std::memcmp(header.magic, kPkImageMagic, sizeof(kPkImageMagic)) != 0) return "no image";
  if (header.abi_id != kPkAbiId) return "of another build";
  if (header.machine != kPkImageMachine) return "for another machine";
  if (header.image_size != size) return "truncated or too long";
  const bool in_range = header.text_size >= 1 && header.text_size <= kPkImageMaxText &&
                        header.slot_count <= kPkImageMaxSlots &&
                        header.names_size <= kPkImageMaxNames;
  if (!in_range) return "sizes out of range";
  const uint64_t sum = sizeof(PkImageHeader) + header.text_size +
                       sizeof(PkImageSlot) * uint64_t{header.slot_count} + header.names_size;
  if (sum != size) return "sizes do not add up";
  if (header.entry >= header.text_size) return "entry outside the text";
  return nullptr;
}

// Returns what is wrong with the image, or null and its parts.
const char* Divide(const void* bytes, size_t size, Parts* parts) {
  if (size < sizeof(PkImageHeader)) return "shorter than a header";
  PkImageHeader& header = parts->header;
  std::memcpy(&header, bytes, sizeof(header));
  if (const char* problem = FindHeaderProblem(header, size)) return problem;
  const char* begin = static_cast<const char*>(bytes);
  const size_t covered = offsetof(PkImageHeader, abi_id);
  if (PkImageChecksum(begin + covered, size - covered) != header.checksum) {
    return "checksum differs";
  }
  parts->text = begin + sizeof(PkImageHeader);
  parts->slots = parts->text + header.text_size;
  parts->names = parts->slots + sizeof(PkImageSlot) * uint64_t{header.slot_count};
  const bool ends = header.names_size == 0 || parts->names[header.names_size - 1] == 0;
  return ends ? nullptr : "names do not end";
}

// The word of one slot, for an image that will lie at `base`. Sets `error` where there is none.
uint64_t ResolveSlot(const Parts& parts, const PkImageSlot& slot, uint64_t base,
                     std::string* error) {
  switch (slot.kind) {
    case kPkSlotLiteral: return slot.value;
    case kPkSlotInternal:
      if (slot.value >= parts.MemorySize()) *error = "a slot points outside the image";
      return base + slot.value;
    case kPkSlotImport:
      if (slot.name >= parts.header.names_size) {
        *error = "a slot's name is outside the names";
        return 0;
      }
      return reinterpret_cast<uint64_t>(FindSymbol(parts.names + slot.name, error));
    default: *error = "a slot of unknown kind"; return 0;
  }
}

bool FillTable(const Parts& parts, char* mapping, std::string* error) {
  char* table = mapping + parts.TableOffset();
  for (uint32_t index = 0; index < parts.header.slot_count; ++index) {
    PkImageSlot slot;
    std::memcpy(&slot, parts.slots + sizeof(slot) * uint64_t{index}, sizeof(slot));
    const uint64_t word = ResolveSlot(parts, slot, reinterpret_cast<uint64_t>(mapping), error);
    if (!error->empty()) return false;
    std::memcpy(table + 8 * uint64_t{index}, &word, sizeof(word));
  }
  return true;
}

bool Protect(const Parts& parts, char* mapping) {
  const uint64_t table = parts.TableOffset();
  if (mprotect(mapping, table, PROT_READ | PROT_EXEC) != 0) return false;
  return parts.TableSize() == 0 || mprotect(mapping + table, parts.TableSize(), PROT_READ) == 0;
}

std::string SystemRefusal(const char* what) {
  return std::string("cannot ") + what + ": " + std::strerror(errno);
}

std::unique_ptr<Image> Map(const Parts& parts, std::string* error) {
  const size_t size = parts.MemorySize();
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    *error = SystemRefusal("map an image");
    return nullptr;
  }
  char* mapping = static_cast<char*>(at);
  const auto entry = reinterpret_cast<PkEntry>(mapping + parts.header.entry);
  auto image = std::make_unique<Image>(mapping, size, entry);
  std::memcpy(mapping, parts.text, parts.header.text_size);
  if (!FillTable(parts, mapping, error)) return nullptr;
  if (!Protect(parts, mapping)) {
    *error = SystemRefusal("make an image executable");
    return nullptr;
  }
  __builtin___clear_cache(mapping, mapping + parts.header.text_size);
  return image;
}

}  // namespace

Image::~Image() { munmap(mapping_, size_); }

std::unique_ptr<Image> LoadImage(const void* bytes, size_t size, std::string* error) {
  error->clear();
  Parts parts;
  if (const char* problem = Divide(bytes, size, &parts)) {
    *error = std::string("image refused: ") + problem;
    return nullptr;
  }
  return Map(parts, error);
}

}  // namespace parakeet::runtime
