// Loads compiled code: an image (abi.h) becomes executable memory with its imports filled in.
#ifndef PARAKEET_RUNTIME_IMAGE_H_
#define PARAKEET_RUNTIME_IMAGE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/abi.h"

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

 private:
  void* mapping_;
  size_t size_;
  PkEntry entry_;
};

// Null with a reason in `error` when the bytes are truncated, damaged, of another build or machine,
// when an import is missing, or when the system refuses executable memory. Copies what it needs;
// `bytes` may have any alignment. An image is code and must come from a trusted place: damage is
// detected, malice is not.
std::unique_ptr<Image> LoadImage(const void* bytes, size_t size, std::string* error);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_IMAGE_H_
