// Plain values, texts and lists as bytes, and back. One description of a struct's fields serves
// both directions: it is a template over the archive, which is given references.
#ifndef PARAKEET_PYLIB_ARCHIVE_H_
#define PARAKEET_PYLIB_ARCHIVE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parakeet::pylib {

class ArchiveWriter {
 public:
  template <typename T>
  void Plain(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(std::string_view text) {
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
class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

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
    std::string_view view;
    Text(view);
    text.assign(view);
  }
  // A part of the bytes that are read.
  void Text(std::string_view& text) {
    const uint32_t size = Count();
    text = bytes_.substr(0, size);
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

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_ARCHIVE_H_
