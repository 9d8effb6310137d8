#include "ir/verifier.h"

#include "ir/breaches.h"
#include "ir/diagnostics.h"
#include "ir/verify_binding.h"
#include "ir/verify_function.h"

namespace parakeet::ir {
namespace {

// A doubled brace is a literal one.
int CountHoles(std::string_view message) {
  int holes = 0;
  for (size_t at = message.find('{'); at != std::string_view::npos; at = message.find('{', at)) {
    const bool is_literal = at + 1 < message.size() && message[at + 1] == '{';
    if (!is_literal) ++holes;
    at += is_literal ? 2 : 1;
  }
  return holes;
}

Surroundings SurroundingsOf(const Program& program, Stage stage) {
  Surroundings around{stage, {}, {}};
  for (const Site& site : program.sites) around.holes.push_back(CountHoles(site.message));
  for (const Function* function : program.functions)
    around.functions.emplace(function->name, function);
  return around;
}

}  // namespace

std::string_view Sentence(Invariant invariant) {
  switch (invariant) {
#define PARAKEET_INVARIANT(enumerator, sentence) \
  case Invariant::k##enumerator: return sentence;
#include "ir/invariants.def"
  }
  return "";
}

std::vector<std::string> Verify(const Program& program, Stage stage) {
  const Surroundings around = SurroundingsOf(program, stage);
  Breaches breaches;
  for (const Function* function : program.functions) {
    breaches.Enter(function);
    breaches.Require(around.functions.at(function->name) == function, Invariant::kFunctionsAreNamed,
                     "another function has this name");
    breaches.Require(!function->entry || function == program.functions.front(),
                     Invariant::kFunctionsAreNamed, "an entry comes after another function");
    FunctionVerifier(around, &breaches).Verify(*function);
  }
  return breaches.messages();
}

void VerifyOrFail(const Program& program, Stage stage, std::string_view made_by) {
  const std::vector<std::string> messages = Verify(program, stage);
  if (messages.empty()) return;
  std::string text = "the program is not valid at the stage " + std::string(Name(stage));
  if (!made_by.empty()) text += " after " + std::string(made_by);
  for (const std::string& message : messages) text += "\n  " + message;
  FailBug(text);
}

}  // namespace parakeet::ir
