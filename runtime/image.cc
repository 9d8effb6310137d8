#include "runtime/image.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

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
const char* Divide(const void* bytes, size_t size, bool is_checked, Parts* parts) {
  if (size < sizeof(PkImageHeader)) return "shorter than a header";
  PkImageHeader& header = parts->header;
  std::memcpy(&header, bytes, sizeof(header));
  if (const char* problem = FindHeaderProblem(header, size)) return problem;
  const char* begin = static_cast<const char*>(bytes);
  const size_t covered = offsetof(PkImageHeader, abi_id);
  if (!is_checked && PkImageChecksum(begin + covered, size - covered) != header.checksum) {
    return "checksum differs";
  }
  parts->text = begin + sizeof(PkImageHeader);
  parts->slots = parts->text + header.text_size;
  parts->names = parts->slots + sizeof(PkImageSlot) * uint64_t{header.slot_count};
  const bool ends = header.names_size == 0 || parts->names[header.names_size - 1] == 0;
  return ends ? nullptr : "names do not end";
}

bool Protect(const Parts& parts, char* mapping) {
  const uint64_t table = parts.TableOffset();
  if (mprotect(mapping, table, PROT_READ | PROT_EXEC) != 0) return false;
  return parts.TableSize() == 0 || mprotect(mapping + table, parts.TableSize(), PROT_READ) == 0;
}

std::string SystemRefusal(const char* what) {
  return std::string("cannot ") + what + ": " + std::strerror(errno);
}

// From the parts of an image to memory.
class ImageLoader {
 public:
  ImageLoader(const Parts& parts, std::string* error) : parts_(parts), error_(*error) {}

  std::unique_ptr<Image> Load() {
    const size_t size = parts_.MemorySize();
    // All of it is written next: at once, and not page by page.
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (at == MAP_FAILED) {
      error_ = SystemRefusal("map an image");
      return nullptr;
    }
    char* mapping = static_cast<char*>(at);
    const auto entry = reinterpret_cast<PkEntry>(mapping + parts_.header.entry);
    image_ = std::make_unique<Image>(mapping, size, entry);
    std::memcpy(mapping, parts_.text, parts_.header.text_size);
    if (!FillTable(mapping)) return nullptr;
    if (!Protect(parts_, mapping)) {
      error_ = SystemRefusal("make an image executable");
      return nullptr;
    }
    __builtin___clear_cache(mapping, mapping + parts_.header.text_size);
    return std::move(image_);
  }

 private:
  bool FillTable(char* mapping) {
    for (uint32_t index = 0; index < parts_.header.slot_count; ++index) {
      PkImageSlot slot;
      std::memcpy(&slot, parts_.slots + sizeof(slot) * uint64_t{index}, sizeof(slot));
      const uint64_t offset = parts_.TableOffset() + 8 * uint64_t{index};
      const uint64_t word = Resolve(slot, reinterpret_cast<uint64_t>(mapping));
      if (!error_.empty()) return false;
      std::memcpy(mapping + offset, &word, sizeof(word));
    }
    return true;
  }

  // The word of one slot, for an image that lies at `base`. Sets the error where there is none.
  uint64_t Resolve(const PkImageSlot& slot, uint64_t base) {
    switch (slot.kind) {
      case kPkSlotLiteral: return slot.value;
      case kPkSlotInternal:
        if (slot.value >= parts_.MemorySize()) error_ = "a slot points outside the image";
        return base + slot.value;
      case kPkSlotImport:
        if (slot.name >= parts_.header.names_size) {
          error_ = "a slot's name is outside the names";
          return 0;
        }
        return Import(parts_.names + slot.name);
      default: error_ = "a slot of unknown kind"; return 0;
    }
  }

  uint64_t Import(const char* name) {
    if (std::strcmp(name, "pk_fork") == 0) image_->NoteRegions();
    return reinterpret_cast<uint64_t>(FindSymbol(name, &error_));
  }

  const Parts& parts_;
  std::string& error_;
  std::unique_ptr<Image> image_;
};

std::atomic<uint64_t> unloads{0};

}  // namespace

Image::~Image() {
  munmap(mapping_, size_);
  unloads.fetch_add(1, std::memory_order_release);
}

uint64_t CountImageUnloads() { return unloads.load(std::memory_order_acquire); }

std::unique_ptr<Image> LoadImage(const void* bytes, size_t size, std::string* error,
                                 bool is_checked) {
  error->clear();
  Parts parts;
  if (const char* problem = Divide(bytes, size, is_checked, &parts)) {
    *error = std::string("image refused: ") + problem;
    return nullptr;
  }
  return ImageLoader(parts, error).Load();
}

}  // namespace parakeet::runtime
