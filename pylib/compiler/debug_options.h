// PARAKEET_DEBUG, the one debug variable. Words separated by commas:
//
//   dump:after:<pass>[@<function>]   prints the IR after each run of a pass to stderr; the pass
//                                    `frontend` is what comes before the first, `all` is every one
//   disable:<pass>                   leaves a pass out, if the others can do without it
//   fail:<pass>                      as if the pass had a bug
//   registers:<bytes>                code for processors of vector registers of 16 or 32 bytes
//   verify                           verifies the IR after every pass
//
// A pass is written as in passes.def or with underscores, a function as in the user's source.
#ifndef PARAKEET_PYLIB_COMPILER_DEBUG_OPTIONS_H_
#define PARAKEET_PYLIB_COMPILER_DEBUG_OPTIONS_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace parakeet::pylib {

struct DebugOptions {
  struct Dump {
    std::string pass;
    std::string function;  // empty: every one
  };
  std::vector<Dump> dumps;
  std::set<std::string, std::less<>> disabled;
  std::set<std::string, std::less<>> failing;
  int registers = 0;  // bytes of a vector register; 0: the host's
  bool verify = false;

  bool Dumps(std::string_view pass, std::string_view function) const;
};

// Throws a UserError (ValueError) for what is not in the grammar, or names no pass.
DebugOptions ParseDebugOptions(std::string_view text);

// Of the environment, as it is now.
DebugOptions ReadDebugOptions();

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_DEBUG_OPTIONS_H_
