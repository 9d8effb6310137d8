#include "pylib/disk_entry.h"

#include <type_traits>
#include <utility>

#include "pylib/archive.h"
#include "pylib/checked_file.h"

namespace parakeet::pylib {
namespace {

constexpr std::string_view kHeader = "parakeet cache entry 03\n";

template <typename Archive, typename Node>
void OriginFields(Archive& archive, Node& origin) {
  archive.Plain(origin.kind);
  archive.Plain(origin.index);
  archive.List(origin.path, [&](auto& step) { archive.Plain(step); });
}

template <typename Archive, typename Node>
void Fields(Archive& archive, Node& entry) {
  const auto plain = [&](auto& item) { archive.Plain(item); };
  archive.Text(entry.question);
  archive.List(entry.holders, [&](auto& origin) { OriginFields(archive, origin); });
  archive.List(entry.records, [&](auto& record) {
    archive.Plain(record.name.space);
    archive.Plain(record.name.function);
    archive.Text(record.name.name);
    archive.Text(record.content);
  });
  archive.Plain(entry.allows_no_overload);
  archive.List(entry.need_static, plain);
  archive.List(entry.need_lengths, plain);
  archive.Plain(entry.need_short_axes);
  archive.Plain(entry.has_answer);
  archive.List(entry.homes, [&](auto& home) {
    OriginFields(archive, home.origin);
    archive.Text(home.file);
    archive.Plain(home.first_line);
  });
  archive.List(entry.site_homes, plain);
}

// Whether `origin` needs no more than the first `records` records.
bool IsFrom(const Origin& origin, size_t records) {
  return origin.kind < Origin::Kind::kRecord ||
         (origin.kind == Origin::Kind::kRecord && origin.index < records);
}

bool RecordsHold(const DiskEntry& entry) {
  for (size_t i = 0; i < entry.records.size(); ++i) {
    const OutsideName& name = entry.records[i].name;
    if (name.space > Namespace::kAttribute || name.function >= entry.holders.size()) return false;
    if (!IsFrom(entry.holders[name.function], i)) return false;
  }
  for (const Origin& origin : entry.holders) {
    if (!IsFrom(origin, entry.records.size())) return false;
  }
  for (const SourceHome& home : entry.homes) {
    if (!IsFrom(home.origin, entry.records.size())) return false;
  }
  return true;
}

bool HomesHold(const std::vector<uint32_t>& numbers, size_t count, size_t homes) {
  for (uint32_t number : numbers) {
    if (number >= homes && number != kNoHome) return false;
  }
  return numbers.size() == count;
}

bool AnswerHolds(const DiskEntry& entry) {
  for (const CaptureSource& capture : entry.manifest.captures) {
    if (capture.from.function >= entry.holders.size()) return false;
  }
  return HomesHold(entry.site_homes, entry.manifest.sites.size(), entry.homes.size());
}

// The manifest without what the entry stores elsewhere.
std::string SerializeBare(Manifest manifest) {
  manifest.dependencies.clear();
  manifest.phases.clear();
  return Serialize(manifest);
}

bool ReadAnswer(ArchiveReader* reader, DiskEntry* entry) {
  std::string_view bytes;
  reader->Text(bytes);
  reader->Text(entry->image);
  std::optional<Manifest> manifest = ParseManifest(bytes);
  if (!manifest) return false;
  entry->manifest = std::move(*manifest);
  for (const OutsideRecord& record : entry->records) {
    entry->manifest.dependencies.push_back(record.name);
  }
  return AnswerHolds(*entry);
}

}  // namespace

std::string SerializeEntry(const DiskEntry& entry) {
  ArchiveWriter writer;
  Fields(writer, entry);
  if (entry.has_answer) {
    writer.Text(SerializeBare(entry.manifest));
    writer.Text(entry.image);
  }
  return MakeCheckedFile(kHeader, writer.Take());
}

std::optional<DiskEntry> ParseEntry(std::string_view bytes) {
  const std::optional<std::string_view> fields = ContentOf(kHeader, bytes);
  if (!fields) return std::nullopt;
  ArchiveReader reader(*fields);
  DiskEntry entry;
  Fields(reader, entry);
  if (!reader.ok() || !RecordsHold(entry)) return std::nullopt;
  if (entry.has_answer && !ReadAnswer(&reader, &entry)) return std::nullopt;
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return entry;
}

}  // namespace parakeet::pylib
