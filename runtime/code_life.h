// Whose kernels a thread launches, for a device to know how long it needs what it has loaded of
// them.
#ifndef PARAKEET_RUNTIME_CODE_LIFE_H_
#define PARAKEET_RUNTIME_CODE_LIFE_H_

#include <memory>

namespace parakeet::runtime {

// Ends with the image that the code is in (image.h).
using CodeLife = std::weak_ptr<const void>;

// While it lives, what this thread launches is code of that life, which does not end meanwhile.
class CodeOfThread {
 public:
  explicit CodeOfThread(CodeLife life);
  ~CodeOfThread();
  CodeOfThread(const CodeOfThread&) = delete;
  CodeOfThread& operator=(const CodeOfThread&) = delete;

  // That of the innermost; null where there is none.
  static const CodeLife* Current();

 private:
  const CodeLife life_;
  const CodeLife* const before_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CODE_LIFE_H_
