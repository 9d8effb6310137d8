#include "pylib/compiler/debug_options.h"

#include <algorithm>
#include <cstdlib>

#include "ir/diagnostics.h"
#include "passes/pass.h"

namespace parakeet::pylib {
namespace {

[[noreturn]] void Refuse(const std::string& why) {
  ir::FailUser("ValueError", "PARAKEET_DEBUG: " + why, {});
}

std::string WithHyphens(std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string PassName(std::string_view text) {
  std::string name = WithHyphens(text);
  const bool is_known = name == "frontend" || name == "all" || passes::FindPass(name) != nullptr;
  if (!is_known) Refuse("no pass is called " + name);
  return name;
}

// What is no pass and can be left out too: calls of libmvec.
constexpr std::string_view kVectorMath = "vector-math";

// What there is to leave out, for messages.
std::string OptionalPasses() {
  std::string names;
  for (const passes::Pass& pass : passes::AllPasses()) {
    if (passes::IsOptional(pass)) names += (names.empty() ? "" : ", ") + std::string(pass.name);
  }
  for (const std::string_view form : passes::AllForms()) names += ", " + std::string(form);
  return names + ", " + std::string(kVectorMath);
}

std::string DisabledPass(std::string_view text) {
  const std::string name = WithHyphens(text);
  const std::vector<std::string_view>& forms = passes::AllForms();
  const bool is_form = std::find(forms.begin(), forms.end(), name) != forms.end();
  if (name == kVectorMath || is_form) return name;
  const passes::Pass* pass = passes::FindPass(name);
  if (pass == nullptr)
    Refuse("no pass is called " + name + "; can be disabled: " + OptionalPasses());
  if (!passes::IsOptional(*pass))
    Refuse("pass " + name + " cannot be disabled: what comes after it takes only what it makes");
  return name;
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

int RegisterBytes(std::string_view text) {
  if (text == "16") return 16;
  if (text == "32") return 32;
  Refuse("vector registers of " + std::string(text) + " bytes; expected 16 or 32");
}

void ParseWord(std::string_view word, DebugOptions* options) {
  const std::string whole(word);
  if (word == "verify") {
    options->verify = true;
  } else if (TakePrefix(&word, "dump:after:")) {
    const size_t at = word.find('@');
    const std::string function(at == word.npos ? "" : word.substr(at + 1));
    options->dumps.push_back({PassName(word.substr(0, at)), function});
  } else if (TakePrefix(&word, "disable:")) {
    options->disabled.insert(DisabledPass(word));
  } else if (TakePrefix(&word, "fail:")) {
    options->failing.insert(PassName(word));
  } else if (TakePrefix(&word, "registers:")) {
    options->registers = RegisterBytes(word);
  } else {
    Refuse("cannot read \"" + whole +
           "\"; expected dump:after:<pass>[@<function>], disable:<pass>, fail:<pass>, "
           "registers:<bytes> or verify");
  }
}

}  // namespace

bool DebugOptions::Dumps(std::string_view pass, std::string_view function) const {
  return std::any_of(dumps.begin(), dumps.end(), [&](const Dump& dump) {
    return (dump.pass == pass || dump.pass == "all") &&
           (dump.function.empty() || dump.function == function);
  });
}

DebugOptions ParseDebugOptions(std::string_view text) {
  DebugOptions options;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) ParseWord(text.substr(0, end), &options);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return options;
}

DebugOptions ReadDebugOptions() {
  const char* text = std::getenv("PARAKEET_DEBUG");
  return ParseDebugOptions(text == nullptr ? "" : text);
}

}  // namespace parakeet::pylib
