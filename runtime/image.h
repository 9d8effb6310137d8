// Loads compiled code: an image (abi.h) becomes executable memory with its imports filled in.
#ifndef PARAKEET_RUNTIME_IMAGE_H_
#define PARAKEET_RUNTIME_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/abi.h"
#include "runtime/code_life.h"

namespace parakeet::runtime {

// The memory of one loaded image; its end unmaps it. No call may be running in it then, and no
// OpenMP worker: a region's workers have left its code when the region's call returns.
class Image {
 public:
  Image(void* mapping, size_t size, PkEntry entry)
      : mapping_(mapping), size_(size), entry_(entry) {}
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  PkEntry entry() const { return entry_; }
  const void* text() const { return mapping_; }
  CodeLife life() const { return life_; }

  // Whether the code has parallel regions: without, a team of one is all that it can use.
  bool has_regions() const { return has_regions_; }
  void NoteRegions() { has_regions_ = true; }

 private:
  void* mapping_;
  size_t size_;
  PkEntry entry_;
  bool has_regions_ = false;
  const std::shared_ptr<const void> life_ = std::make_shared<const char>('\0');
};

// Null with a reason in `error` when the bytes are truncated, damaged, of another build or machine,
// when an import is missing, or when the system refuses executable memory. Copies what it needs;
// `bytes` may have any alignment. An image is code and must come from a trusted place: damage is
// detected, malice is not. `is_checked`: the bytes are known to be undamaged.
std::unique_ptr<Image> LoadImage(const void* bytes, size_t size, std::string* error,
                                 bool is_checked = false);

// How many images have been unmapped so far. What was read of an image's constants still holds
// while this is the same; when it is not, another image may be at their addresses.
uint64_t CountImageUnloads();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_IMAGE_H_
