#include "ir/breaches.h"

#include "ir/print_block.h"

namespace parakeet::ir {
namespace {

// More tell nothing new, and their texts would take time beyond linear.
constexpr size_t kMostMessages = 20;

}  // namespace

void Breaches::Enter(const Function* function) {
  function_ = function;
  binding_ = nullptr;
  names_.reset();
}

const Names& Breaches::FunctionNames() {
  if (!names_) names_ = function_ ? Names(*function_) : Names();
  return *names_;
}

std::string Breaches::Text(const Operand& operand) {
  if (messages_.size() >= kMostMessages) return "";
  return BlockPrinter(FunctionNames(), std::nullopt).Text(operand);
}

void Breaches::Add(Invariant invariant, std::string_view found) {
  if (messages_.size() >= kMostMessages) return;
  std::string text;
  if (function_) text += "@" + function_->name + ": ";
  if (binding_) {
    BlockPrinter printer(FunctionNames(), std::nullopt);
    printer.Print(*binding_);
    text += "`" + printer.out().substr(0, printer.out().find('\n')) + "`: ";
  }
  messages_.push_back(text + std::string(found) + " (" + std::string(Sentence(invariant)) + ")");
}

bool Breaches::Require(bool holds, Invariant invariant, std::string_view found) {
  if (!holds) Add(invariant, found);
  return holds;
}

}  // namespace parakeet::ir
