#include "pylib/checked_file.h"

#include <cstdint>
#include <cstring>

#include "runtime/abi.h"

namespace parakeet::pylib {

std::string MakeCheckedFile(std::string_view line, std::string_view content) {
  const uint64_t checksum = PkImageChecksum(content.data(), content.size());
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
  if (PkImageChecksum(bytes.data(), bytes.size()) != checksum) return std::nullopt;
  return bytes;
}

}  // namespace parakeet::pylib
