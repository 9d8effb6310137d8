// Packs machine code into an image, as the linker in backends/ does, so that tests can damage it.
#ifndef PARAKEET_TESTS_RUNTIME_IMAGE_BYTES_H_
#define PARAKEET_TESTS_RUNTIME_IMAGE_BYTES_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/abi.h"

namespace parakeet::runtime {

struct ImageParts {
  std::string text;
  std::vector<PkImageSlot> slots;
  std::string names;

  void AddImport(const std::string& name) {
    slots.push_back({kPkSlotImport, uint32_t(names.size()), 0});
    names += name;
    names += '\0';
  }
};

// Makes the checksum right again after a test has changed other bytes.
inline void Seal(std::string* image) {
  const size_t covered = offsetof(PkImageHeader, abi_id);
  const uint64_t checksum = PkImageChecksum(image->data() + covered, image->size() - covered);
  std::memcpy(image->data() + offsetof(PkImageHeader, checksum), &checksum, sizeof(checksum));
}

inline std::string Pack(const ImageParts& parts, uint64_t entry = 0) {
  const size_t slot_bytes = parts.slots.size() * sizeof(PkImageSlot);
  PkImageHeader header = {};
  std::memcpy(header.magic, kPkImageMagic, sizeof(kPkImageMagic));
  header.abi_id = kPkAbiId;
  header.machine = kPkImageMachine;
  header.slot_count = uint32_t(parts.slots.size());
  header.image_size = sizeof(header) + parts.text.size() + slot_bytes + parts.names.size();
  header.text_size = parts.text.size();
  header.entry = entry;
  header.names_size = parts.names.size();
  std::string image(reinterpret_cast<const char*>(&header), sizeof(header));
  image += parts.text;
  image.append(reinterpret_cast<const char*>(parts.slots.data()), slot_bytes);
  image += parts.names;
  Seal(&image);
  return image;
}

// Appends a 32-bit displacement from the end of it to slot number `slot`. `text_size` is the final
// size of the text.
inline void AppendSlotDisplacement(std::string* text, size_t text_size, uint32_t slot) {
  const int64_t target = int64_t(PkImageTableOffset(text_size)) + 8 * int64_t{slot};
  const auto displacement = int32_t(target - int64_t(text->size()) - 4);
  text->append(reinterpret_cast<const char*>(&displacement), 4);
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_TESTS_RUNTIME_IMAGE_BYTES_H_
