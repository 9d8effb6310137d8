// One entry of the disk cache as bytes: the question that it answers, what the answer depends on,
// and the answer. A file is "parakeet cache entry 01\n" and a checksum (checked_file.h), then the
// fields of DiskEntry as an archive (archive.h).
#ifndef PARAKEET_PYLIB_DISK_ENTRY_H_
#define PARAKEET_PYLIB_DISK_ENTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pylib/manifest.h"

namespace parakeet::pylib {

// How an object is come by in another process: the function that is compiled, one of its static
// arguments, or what an earlier record was, and from there through tuples.
struct Origin {
  enum class Kind : uint8_t { kNone, kRoot, kStatic, kRecord };
  Kind kind = Kind::kNone;  // kNone: Python's None
  uint32_t index = 0;
  std::vector<uint32_t> path;
};

// One outside thing that the compilation read, and what it found (core/fingerprint.h).
struct OutsideRecord {
  OutsideName name;  // `function` indexes the entry's holders
  std::string content;
};

// A function that lines of sites are counted from: it may stand elsewhere by now.
struct SourceHome {
  Origin origin;
  std::string file;
  int32_t first_line = 0;
};

struct DiskEntry {
  std::string question;                // compared as a whole: the file's name only hashes it
  std::vector<Origin> holders;         // what the manifest and the records call functions
  std::vector<OutsideRecord> records;  // in the order of the compilation; they are the manifest's
                                       // dependencies, which it does not store itself
  bool allows_no_overload = false;     // holds only where no user's overload is registered
  std::vector<uint32_t> need_static;   // parameters whose values belong into the key,
  std::vector<uint32_t> need_lengths;  // and whose lengths
  bool need_short_axes = false;        // whether short last axes of a call belong there
  bool has_answer = true;              // else that is the answer, and nothing follows
  std::vector<SourceHome> homes;
  std::vector<uint32_t> site_homes;  // one a site: the number of its home, or none from there on
  Manifest manifest;
  std::string_view image;  // part of the bytes that the entry was parsed from, or whoever made it's
};

inline constexpr uint32_t kNoHome = 0xffffffff;

std::string SerializeEntry(const DiskEntry& entry);

// nullopt for bytes that SerializeEntry did not write, by their checksum, which the image is under.
// The manifest's dependencies are the records' names. Every index is inside its list, and a
// record's holder comes from records before it.
std::optional<DiskEntry> ParseEntry(std::string_view bytes);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_DISK_ENTRY_H_
