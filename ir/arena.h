#ifndef PARAKEET_IR_ARENA_H_
#define PARAKEET_IR_ARENA_H_

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace parakeet::ir {

// Owns the nodes of a program; they live until it dies. Not safe for several threads at once.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <typename T>
  const T* New(T node) {
    auto* owned = new T(std::move(node));
    owned_.emplace_back(owned, [](void* pointer) { delete static_cast<T*>(pointer); });
    return owned;
  }

  // The same text, living as long as the arena.
  std::string_view Intern(std::string_view text) { return *names_.emplace(text).first; }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> owned_;
  std::unordered_set<std::string> names_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_ARENA_H_
