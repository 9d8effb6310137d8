#ifndef PARAKEET_IR_ARENA_H_
#define PARAKEET_IR_ARENA_H_

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace parakeet::ir {

// Owns the nodes of a program; they live until it dies. Not safe for several threads at once.
class Arena {
 public:
  Arena() = default;
  ~Arena() {
    for (const Owned& node : owned_) node.destroy(node.pointer);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <typename T>
  const T* New(T node) {
    return NewToFill(std::move(node));
  }
  // The same for one that its maker goes on to change before anyone else sees it.
  template <typename T>
  T* NewToFill(T node) {
    static_assert(sizeof(T) <= kChunk && alignof(T) <= alignof(std::max_align_t));
    void* place = Place(sizeof(T), alignof(T));
    T* made = new (place) T(std::move(node));
    if constexpr (!std::is_trivially_destructible_v<T>) {
      owned_.push_back({made, [](void* pointer) { static_cast<T*>(pointer)->~T(); }});
    }
    return made;
  }

  // The same text, living as long as the arena.
  std::string_view Intern(std::string_view text) { return *names_.emplace(text).first; }

 private:
  struct Owned {
    void* pointer;
    void (*destroy)(void*);
  };
  static constexpr size_t kChunk = 1 << 15;

  // Nodes stand side by side in chunks: there are hundreds of thousands of them.
  void* Place(size_t size, size_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    if (chunks_.empty() || used_ + size > kChunk) {
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunk));
      used_ = 0;
    }
    void* place = chunks_.back().get() + used_;
    used_ += size;
    return place;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  size_t used_ = 0;  // of the last chunk
  std::vector<Owned> owned_;
  std::unordered_set<std::string> names_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_ARENA_H_
