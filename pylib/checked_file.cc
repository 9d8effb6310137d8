#include "pylib/checked_file.h"

#include <cstdint>
#include <cstring>

#include "runtime/abi.h"

namespace parakeet::pylib {
namespace {

// As PkImageChecksum, with four states side by side, which do not wait for one another.
uint64_t ChecksumOf(std::string_view bytes) {
  constexpr size_t kStates = 4, kStep = kStates * sizeof(uint64_t);
  uint64_t states[kStates] = {1, 2, 3, 4};
  for (; bytes.size() >= kStep; bytes.remove_prefix(kStep)) {
    uint64_t words[kStates];
    std::memcpy(words, bytes.data(), kStep);
    for (size_t k = 0; k < kStates; ++k) {
      states[k] = (states[k] ^ words[k]) * 0xd6e8feb86659fd93u;
      states[k] ^= states[k] >> 32;
    }
  }
  const uint64_t of_rest = PkImageChecksum(bytes.data(), bytes.size());
  return of_rest ^ PkImageChecksum(states, sizeof(states));
}

}  // namespace

std::string MakeCheckedFile(std::string_view line, std::string_view content) {
  const uint64_t checksum = ChecksumOf(content);
  std::string bytes(line);
  bytes.reserve(line.size() + sizeof(checksum) + content.size());
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return bytes.append(content);
}

std::optional<std::string_view> ContentOf(std::string_view line, std::string_view bytes) {
  uint64_t checksum = 0;
  if (bytes.size() < line.size() + sizeof(checksum) || !bytes.starts_with(line)) {
    return std::nullopt;
  }
  std::memcpy(&checksum, bytes.data() + line.size(), sizeof(checksum));
  bytes.remove_prefix(line.size() + sizeof(checksum));
  if (ChecksumOf(bytes) != checksum) return std::nullopt;
  return bytes;
}

}  // namespace parakeet::pylib
