#include "pylib/manifest.h"

#include <type_traits>

#include "pylib/archive.h"
#include "runtime/abi.h"

namespace parakeet::pylib {
namespace {

constexpr uint64_t kMagic = 0x31534554494e414d;  // "MANITES1"

template <typename Archive, typename Node>
void Fields(Archive& archive, Node& name)
  requires std::is_same_v<std::remove_const_t<Node>, OutsideName>
{
  archive.Plain(name.space);
  archive.Plain(name.function);
  archive.Text(name.name);
}

template <typename Archive, typename Node>
void Fields(Archive& archive, Node& node)
  requires std::is_same_v<std::remove_const_t<Node>, ResultNode>
{
  archive.Plain(node.kind);
  archive.Plain(node.type);
  archive.Plain(node.python);
  archive.Plain(node.is_view);
  archive.Plain(node.is_kept);
  archive.Plain(node.rank);
  archive.Plain(node.slot);
  archive.Plain(node.length);
}

template <typename Archive, typename Node>
void Fields(Archive& archive, Node& site)
  requires std::is_same_v<std::remove_const_t<Node>, ErrorSite>
{
  archive.Text(site.exception);
  archive.Text(site.message);
  archive.List(site.scalar_types, [&](auto& type) { archive.Plain(type); });
  archive.Text(site.file);
  archive.Text(site.function);
  archive.Plain(site.line);
  archive.Plain(site.column);
  archive.Plain(site.end_line);
  archive.Plain(site.end_column);
}

template <typename Archive, typename Node>
void Fields(Archive& archive, Node& manifest)
  requires std::is_same_v<std::remove_const_t<Node>, Manifest>
{
  const auto plain = [&](auto& item) { archive.Plain(item); };
  const auto fields = [&](auto& item) { Fields(archive, item); };
  archive.List(manifest.leaves, plain);
  archive.List(manifest.written, plain);
  archive.List(manifest.contents, plain);
  archive.List(manifest.results, fields);
  archive.Plain(manifest.result_slots);
  archive.List(manifest.captures, [&](auto& capture) {
    Fields(archive, capture.from);
    archive.List(capture.path, plain);
  });
  archive.List(manifest.dependencies, fields);
  archive.List(manifest.sites, fields);
  archive.Plain(manifest.is_bounded);
  archive.List(manifest.cost, [&](auto& term) {
    archive.Plain(term.cycles);
    archive.List(term.extents, plain);
  });
  archive.List(manifest.phases, [&](auto& phase) {
    archive.Text(phase.name);
    archive.Plain(phase.ms);
  });
  archive.List(manifest.regions, [&](auto& region) {
    archive.Text(region.file);
    archive.Plain(region.line);
    archive.Plain(region.column);
    archive.Plain(region.end_line);
    archive.Plain(region.end_column);
  });
}

// What follows node `at` and everything below it; 0 where the tree runs past its end.
size_t EndOfNode(const std::vector<ResultNode>& nodes, size_t at, int depth) {
  if (at >= nodes.size() || depth > 100) return 0;
  size_t end = at + 1;
  const uint32_t below = nodes[at].kind >= ResultKind::kTuple ? nodes[at].length : 0;
  for (uint32_t i = 0; i < below; ++i) {
    end = EndOfNode(nodes, end, depth + 1);
    if (end == 0) return 0;
  }
  return end;
}

uint64_t SlotsOf(const ResultNode& node) {
  if (node.kind == ResultKind::kScalar && !node.is_kept) return IsComplexType(node.type) ? 2 : 1;
  if (node.kind == ResultKind::kArray || node.kind == ResultKind::kScalar)
    return PkArrayResultSlots(node.rank);
  return 0;
}

bool ResultsHold(const Manifest& manifest) {
  for (const ResultNode& node : manifest.results) {
    if (node.kind > ResultKind::kList || node.rank > kMaxRank) return false;
    if (CanonicalType(node.type) != node.type) return false;
    if (node.slot + SlotsOf(node) > manifest.result_slots) return false;
  }
  const size_t end = EndOfNode(manifest.results, 0, 0);
  return end > 0 && end == manifest.results.size();
}

bool ArgumentsHold(const Manifest& manifest) {
  size_t arrays = 0, slots = 0;
  for (uint64_t bits : manifest.leaves) {
    const ArgumentWord word(bits);
    if (!word.IsLeaf() || word.rank() > kMaxRank) return false;
    if (CanonicalType(word.type()) != word.type()) return false;
    arrays += word.IsArray();
    slots += word.IsArray() ? PkArraySlots(word.rank()) : IsComplexType(word.type()) ? 2 : 1;
  }
  for (const CostTerm& term : manifest.cost) {
    for (uint32_t slot : term.extents) {
      if (slot >= slots) return false;
    }
  }
  return arrays == manifest.written.size() && arrays == manifest.contents.size() &&
         manifest.captures.size() <= manifest.leaves.size();
}

}  // namespace

std::string Serialize(const Manifest& manifest) {
  ArchiveWriter writer;
  writer.Plain(kMagic);
  Fields(writer, manifest);
  return writer.Take();
}

std::optional<Manifest> ParseManifest(std::string_view bytes) {
  ArchiveReader reader(bytes);
  uint64_t magic = 0;
  reader.Plain(magic);
  if (magic != kMagic) return std::nullopt;
  Manifest manifest;
  Fields(reader, manifest);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  if (!ResultsHold(manifest) || !ArgumentsHold(manifest)) return std::nullopt;
  return manifest;
}

}  // namespace parakeet::pylib
