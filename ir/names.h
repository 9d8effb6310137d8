#ifndef PARAKEET_IR_NAMES_H_
#define PARAKEET_IR_NAMES_H_

#include <string>
#include <unordered_map>

#include "ir/node.h"

namespace parakeet::ir {

// The names that values have in text, without the %. A hint is made unique by a suffix (x, x.1,
// x.2); values without one are numbered (0, 1, 2). Both count in order of definition, as the text
// is read.
class Names {
 public:
  Names() = default;
  // Names everything that the function defines.
  explicit Names(const Function& function);

  // Names the function's parameters and the sizes that their types bind.
  void DefineParams(const Function& function);
  void Define(const Block& block);
  void Define(const Binding& binding);
  void Define(const Var* var);

  // The name of a value. One that was not defined, which the verifier refuses, gets its name here.
  const std::string& Of(const Var* var);

 private:
  std::string Unique(std::string_view hint);

  std::unordered_map<const Var*, std::string> names_;
  std::unordered_map<std::string, int> taken_;
  int unnamed_ = 0;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_NAMES_H_
