#include "backends/nvvm/split_ptx.h"

namespace parakeet::backends {
namespace {

constexpr std::string_view kEntry = ".visible .entry ";

// What other texts may have too.
constexpr std::string_view kWeak = ".weak ";

// The kernel whose first line it is; empty for another line.
std::string_view KernelOf(std::string_view line) {
  if (!line.starts_with(kEntry)) return {};
  line.remove_prefix(kEntry.size());
  return line.substr(0, line.find('('));
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == text.npos ? end : end + 1);
  text.remove_prefix(line.size());
  return line;
}

// What the code of every text is for: the lines up to the size of addresses.
std::string_view TakeHead(std::string_view& text) {
  const std::string_view all = text;
  while (!text.empty() && !TakeLine(text).starts_with(".address_size")) continue;
  return all.substr(0, all.size() - text.size());
}

// A declaration or definition at the front of the text: from a directive to its semicolon, or to
// the end of its body. `name`: what comes before the body.
struct Item {
  std::string_view name;
  std::string_view text;
};

Item TakeItem(std::string_view& text) {
  while (!text.empty() && !text.starts_with('.')) TakeLine(text);
  if (text.starts_with(kWeak)) text.remove_prefix(kWeak.size());
  const std::string_view all = text;
  size_t name = 0;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const size_t end = all.size() - text.size();
    if (line.starts_with('{')) name = end - line.size();
    const bool is_declared = name == 0 && line.substr(0, line.find('\n')).ends_with(';');
    if (!is_declared && !line.starts_with('}')) continue;
    return {all.substr(0, is_declared ? end : name), all.substr(0, end)};
  }
  return {};
}

}  // namespace

std::string WithoutCallNumbers(std::string_view ptx) {
  std::string text;
  while (!ptx.empty()) {
    const std::string_view line = TakeLine(ptx);
    const size_t number = line.find(" // callseq");
    text.append(line.substr(0, number)).append(number == line.npos ? "" : "\n");
  }
  return text;
}

std::string OverlapKernels(std::string_view ptx) {
  std::string text;
  bool is_kernel = false;  // of which no instruction has come
  bool is_body = false;
  while (!ptx.empty()) {
    const std::string_view line = TakeLine(ptx);
    if (!KernelOf(line).empty()) is_kernel = true;
    const size_t first = line.find_first_not_of(" \t\n");
    const bool declares = first == line.npos || line[first] == '.' || line[first] == '/';
    if (is_body && !declares) {
      text += "\tgriddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;\n";
      is_kernel = is_body = false;
    }
    is_body = is_body || (is_kernel && line.starts_with('{'));
    text += line;
  }
  return text;
}

std::string JoinPtx(const std::vector<std::string>& texts) {
  std::string joined;
  std::set<std::string_view> taken;
  for (std::string_view text : texts) {
    const std::string_view head = TakeHead(text);
    if (joined.empty()) joined += head;
    for (Item item = TakeItem(text); !item.text.empty(); item = TakeItem(text)) {
      if (taken.insert(item.name).second) joined.append("\n").append(item.text);
    }
  }
  return joined;
}

std::string KeepKernels(std::string_view ptx, const std::set<std::string, std::less<>>& names) {
  std::string kept;
  bool leaves_out = false;
  while (!ptx.empty()) {
    const std::string_view line = TakeLine(ptx);
    const std::string_view kernel = KernelOf(line);
    if (!kernel.empty()) leaves_out = !names.contains(kernel);
    if (!leaves_out) kept += line;
    if (line.starts_with('}')) leaves_out = false;
  }
  return kept;
}

}  // namespace parakeet::backends
