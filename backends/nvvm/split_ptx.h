// Parts of PTX text, as LLVM and libNVVM write it.
#ifndef PARAKEET_BACKENDS_NVVM_SPLIT_PTX_H_
#define PARAKEET_BACKENDS_NVVM_SPLIT_PTX_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace parakeet::backends {

// The text with no other kernels than those of the given names; all else that it declares stays. A
// driver takes tens of milliseconds for a kernel, so those that may never run are not in the module
// of one that does.
std::string KeepKernels(std::string_view ptx, const std::set<std::string, std::less<>>& names);

// The text with kernels that wait for the ones before them by themselves (griddepcontrol, of sm_90
// and newer): the next one may begin at once, its blocks where room is left, and wait there for the
// memory of all before it. Launches take microseconds, which is how long many kernels run.
std::string OverlapKernels(std::string_view ptx);

// LLVM numbers a process's calls in comments, so that equal code would differ.
std::string WithoutCallNumbers(std::string_view ptx);

// One text of those that a module's kernels were compiled to apart: what several declare or define,
// by the same name and parameters, once, and not weak.
std::string JoinPtx(const std::vector<std::string>& texts);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_SPLIT_PTX_H_
