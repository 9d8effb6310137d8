#include "backends/nvvm/split_ptx.h"

namespace parakeet::backends {
namespace {

constexpr std::string_view kEntry = ".visible .entry ";

// The kernel whose first line it is; empty for another line.
std::string_view KernelOf(std::string_view line) {
  if (!line.starts_with(kEntry)) return {};
  line.remove_prefix(kEntry.size());
  return line.substr(0, line.find('('));
}

}  // namespace

std::string KeepKernels(std::string_view ptx, const std::set<std::string, std::less<>>& names) {
  std::string kept;
  bool leaves_out = false;
  while (!ptx.empty()) {
    const size_t end = ptx.find('\n');
    const std::string_view line = ptx.substr(0, end == ptx.npos ? end : end + 1);
    const std::string_view kernel = KernelOf(line);
    if (!kernel.empty()) leaves_out = !names.contains(kernel);
    if (!leaves_out) kept += line;
    if (line.starts_with('}')) leaves_out = false;
    ptx.remove_prefix(line.size());
  }
  return kept;
}

}  // namespace parakeet::backends
