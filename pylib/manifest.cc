#include "pylib/manifest.h"

#include <cstring>
#include <type_traits>

#include "runtime/abi.h"

namespace parakeet::pylib {
namespace {

constexpr uint64_t kMagic = 0x31534554494e414d;  // "MANITES1"

// One description of the fields serves both directions: an archive is given references.
class Writer {
 public:
  template <typename T>
  void Plain(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(const std::string& text) {
    Plain(uint32_t(text.size()));
    bytes_ += text;
  }
  template <typename T, typename Each>
  void List(const std::vector<T>& list, Each each) {
    Plain(uint32_t(list.size()));
    for (const T& item : list) each(item);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads nothing more after the first fault; `ok` says whether there was one.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void Plain(T& value) {
    if (!Has(sizeof(T))) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = bytes_[0] != 0;
    } else {
      std::memcpy(&value, bytes_.data(), sizeof(T));
    }
    bytes_.remove_prefix(sizeof(T));
  }
  void Text(std::string& text) {
    const uint32_t size = Count();
    text.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  // An item takes a byte at least, so a damaged count cannot ask for more memory than the bytes do.
  template <typename T, typename Each>
  void List(std::vector<T>& list, Each each) {
    const uint32_t count = Count();
    list.resize(count);
    for (T& item : list) each(item);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  bool Has(size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) bytes_ = {};
    return ok_;
  }
  uint32_t Count() {
    uint32_t count = 0;
    Plain(count);
    return Has(count) ? count : 0;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

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
  archive.List(manifest.remarks, [&](auto& remark) { archive.Text(remark); });
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
  if (node.kind == ResultKind::kScalar) return IsComplexType(node.type) ? 2 : 1;
  if (node.kind == ResultKind::kArray) return PkArrayResultSlots(node.rank);
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
  return arrays == manifest.written.size() && manifest.captures.size() <= manifest.leaves.size();
}

}  // namespace

std::string Serialize(const Manifest& manifest) {
  Writer writer;
  writer.Plain(kMagic);
  Fields(writer, manifest);
  return writer.Take();
}

std::optional<Manifest> ParseManifest(std::string_view bytes) {
  Reader reader(bytes);
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
