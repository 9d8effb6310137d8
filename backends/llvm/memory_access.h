// Loads and stores of elements, one at a time or in lanes.
#ifndef PARAKEET_BACKENDS_LLVM_MEMORY_ACCESS_H_
#define PARAKEET_BACKENDS_LLVM_MEMORY_ACCESS_H_

#include "backends/llvm/alias_scopes.h"
#include "backends/llvm/emission.h"

namespace parakeet::backends {

// What all accesses to one array share.
struct MemoryTraits {
  ir::DType dtype;
  llvm::Align alignment;  // of a number's value, or of a complex number's parts
  AccessScopes scopes;
  bool unchanged = false;  // Nobody writes it while code that reads it runs.
  bool streams = false;    // Stores go past the caches.
};

// Where the lanes of one access lie. Either lane l is at `address` + l * `stride`, a number of
// bytes (i64), or lane l is at `address` + `offsets`[l] * `unit` bytes.
struct LanesPlace {
  llvm::Value* address = nullptr;
  llvm::Value* stride = nullptr;
  llvm::Value* offsets = nullptr;
  int64_t unit = 1;
  int lanes = 0;
  // Of loads by `stride`. `repeat` lanes read the same element, and `phase` more before the first
  // would read its. Where `place` is no less than 0, it is the element's among as many neighbours
  // as lanes are apart, all of which are there where the mask lets the lane be.
  int repeat = 1;
  int phase = 0;
  int place = -1;
  llvm::Value* mask = nullptr;  // null: all lanes
};

// `address` moved by `index` steps of `stride` bytes, both i64. With `inside` the result is known
// to lie in the array.
llvm::Value* Advance(Emission& emission, llvm::Value* address, llvm::Value* index,
                     llvm::Value* stride, ir::DType dtype, bool inside);

Number LoadNumber(Emission& emission, const MemoryTraits& traits, llvm::Value* address);
void StoreNumber(Emission& emission, const MemoryTraits& traits, llvm::Value* address,
                 const Number& number);

// Lanes that the mask leaves out are zero, and their memory is not touched. Of lanes at one place
// the last is stored.
Number LoadLanes(Emission& emission, const MemoryTraits& traits, const LanesPlace& place);
void StoreLanes(Emission& emission, const MemoryTraits& traits, const LanesPlace& place,
                const Number& number);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_MEMORY_ACCESS_H_
