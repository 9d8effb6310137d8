// Where machine code that the CUDA driver has assembled is kept from one process to the next. The
// runtime knows of no disk: whoever has a cache there gives it a store.
#ifndef PARAKEET_RUNTIME_CUBIN_STORE_H_
#define PARAKEET_RUNTIME_CUBIN_STORE_H_

#include <optional>
#include <string>
#include <string_view>

namespace parakeet::runtime {

// Called by any thread that launches, several at a time. A key is all that decides about the code;
// it holds the source, so it is long, and may hold any byte. A failure is no error: what cannot be
// read is not there, and what cannot be written is not kept.
class CubinStore {
 public:
  virtual ~CubinStore() = default;
  // Whether this thread's code may be kept at all.
  virtual bool IsOpen() = 0;
  virtual std::optional<std::string> Find(const std::string& key) = 0;
  // In the place of what was kept under the key.
  virtual void Keep(const std::string& key, std::string_view cubin) = 0;
};

// The store from now on, which outlives every launch; null, as at first: none.
void SetCubinStore(CubinStore* store);
CubinStore* TheCubinStore();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUBIN_STORE_H_
