// Holds docs/ops.md to the tables that the IR is made from, with an example of each operation from
// the samples. With PARAKEET_GOLDEN_UPDATE set to the root of the source tree, the page is
// rewritten there instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/uses.h"
#include "ir/verifier.h"
#include "tests/ir/samples.h"

namespace parakeet::ir {
namespace {

constexpr char kPage[] = "docs/ops.md";
constexpr char kOpening[] =
    "# The operations of the IR\n\n"
    "Made from `ir/ops.def`, `ir/attributes.def`, `ir/dtypes.def` and `ir/invariants.def` by "
    "`./dev golden --update`;\n`tests/ir/operations_page_test.cc` holds this page to them. "
    "`ir/ops.h` says what each column means.\n";

// The columns that InfoOf keeps as bits, as ops.def writes them.
constexpr std::string_view kRules[] = {
#define PARAKEET_OP(name, text, format, rule, stages, flags, identity, cost, doc) #rule,
#include "ir/ops.def"
};
constexpr std::string_view kStages[] = {
#define PARAKEET_OP(name, text, format, rule, stages, flags, identity, cost, doc) #stages,
#include "ir/ops.def"
};
constexpr std::string_view kFlags[] = {
#define PARAKEET_OP(name, text, format, rule, stages, flags, identity, cost, doc) #flags,
#include "ir/ops.def"
};
constexpr std::string_view kIdentities[] = {
#define PARAKEET_OP(name, text, format, rule, stages, flags, identity, cost, doc) #identity,
#include "ir/ops.def"
};

// A cell of a table, where a bar would end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell + " | ";
}

// The first line of the first binding of each operation in the samples.
std::map<OpCode, std::string> Examples() {
  std::map<OpCode, std::string> examples;
  for (const auto& [stage, text] : Samples()) {
    const Program program = Parse(text);
    for (const Function* function : program.functions) {
      ForEachBinding(*function->body, [&](const Binding& binding) {
        if (examples.contains(binding.op)) return;
        const std::string printed = Print(binding);
        const size_t end = printed.find('\n');
        examples[binding.op] =
            end == std::string::npos ? printed : printed.substr(0, end) + " ... }";
      });
    }
  }
  return examples;
}

std::string Operations() {
  const std::map<OpCode, std::string> examples = Examples();
  std::string text =
      "\n| operation | what it does | for example | result | stages | flags | identity | cost |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (int i = 0; i < NumOps(); ++i) {
    const OpCode op = static_cast<OpCode>(i);
    text += "| " + Cell("`" + std::string(Name(op)) + "`") + Cell(InfoOf(op).doc) +
            Cell("`" + examples.at(op) + "`") + Cell(kRules[i]) + Cell(kStages[i]) +
            Cell(kFlags[i]) + Cell(kIdentities[i]) + std::to_string(InfoOf(op).cost) + " |\n";
  }
  return text;
}

std::string Attributes() {
  std::string text = "\n## Attributes\n\n| attribute | kind | what it says |\n|---|---|---|\n";
#define PARAKEET_ATTRIBUTE(name, spelling, kind, doc) \
  text += "| " + Cell("`" spelling "`") + Cell(#kind) + std::string(doc) + " |\n";
#include "ir/attributes.def"
  return text;
}

std::string DTypes() {
  std::string text = "\n## Scalar types\n\n| type | bits | NumPy's number |\n|---|---|---|\n";
#define PARAKEET_DTYPE(enumerator, spelling, bits, kind, number) \
  text += "| " + Cell("`" spelling "`") + Cell(#bits) + #number + " |\n";
#include "ir/dtypes.def"
  return text;
}

std::string Invariants() {
  std::string text =
      "\n## Invariants\n\nWhat the verifier holds every program to, at every stage.\n\n";
#define PARAKEET_INVARIANT(enumerator, sentence) text += "1. " sentence "\n";
#include "ir/invariants.def"
  return text;
}

TEST(OperationsPage, IsCurrent) {
  const std::string expected = kOpening + Operations() + Attributes() + DTypes() + Invariants();
  if (const char* root = std::getenv("PARAKEET_GOLDEN_UPDATE")) {
    std::ofstream(std::string(root) + "/" + kPage) << expected;
    return;
  }
  std::ostringstream actual;
  actual << std::ifstream(kPage).rdbuf();
  EXPECT_TRUE(actual.str() == expected) << kPage << " is not current: run ./dev golden --update";
}

}  // namespace
}  // namespace parakeet::ir
