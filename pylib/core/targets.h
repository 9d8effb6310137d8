// Which target a call runs on: the keyword of the call, then `with parakeet.target(...)`, then the
// decorator, then the configuration. Names are read by parakeet.targets, which refuses what it does
// not know.
#ifndef PARAKEET_PYLIB_CORE_TARGETS_H_
#define PARAKEET_PYLIB_CORE_TARGETS_H_

#include <atomic>

#include "pylib/key.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// The number that a name stands for (key.h: target and device), or -1 with an exception set.
int TargetNamed(PyObject* name);

// `keyword` is the call's own (null: none), `decorated` the decorator's (-1: none). -1 with an
// exception set.
inline int ChooseTarget(PyObject* keyword, int decorated);

// What the blocks or the decorator say, or kNoTarget where both leave it to the configuration; -1
// with an exception set.
int GivenTarget(int decorated);

// The configured target.
void SetDefaultTarget(int target);
int DefaultTarget();

// Whether libNVVM makes the code of a GPU (parakeet.config.gpu_assembler), of calls to come.
void SetUsesLibNvvm(bool value);
bool UsesLibNvvm();

// The context variable in which parakeet.targets keeps the number that the innermost block names.
void SetTargetVariable(PyObject* variable);

// How many `with parakeet.target(...)` blocks are open in the process: where there is none, no call
// looks for one.
void CountTargetBlocks(int change);

// ---------------------------------------------------------------------------------------------

extern std::atomic<int> default_target;
extern std::atomic<int> open_target_blocks;

// Where a keyword or a block may say it.
int ChooseTargetAmong(PyObject* keyword, int decorated);

inline int ChooseTarget(PyObject* keyword, int decorated) {
  if (keyword != nullptr || open_target_blocks.load(std::memory_order_relaxed) > 0) {
    return ChooseTargetAmong(keyword, decorated);
  }
  return decorated >= 0 ? decorated : default_target.load(std::memory_order_relaxed);
}

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_TARGETS_H_
