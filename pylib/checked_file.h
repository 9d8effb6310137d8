// How files of the disk cache begin:
//
//   a line of letters, to be read by people, which says what follows and in which version
//   checksum    8 bytes: PkImageChecksum of all that follows
#ifndef PARAKEET_PYLIB_CHECKED_FILE_H_
#define PARAKEET_PYLIB_CHECKED_FILE_H_

#include <optional>
#include <string>
#include <string_view>

namespace parakeet::pylib {

// `line` ends with a newline.
std::string MakeCheckedFile(std::string_view line, std::string_view content);

// The content, a part of `bytes`; nullopt for bytes that the above did not make with this line.
std::optional<std::string_view> ContentOf(std::string_view line, std::string_view bytes);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CHECKED_FILE_H_
