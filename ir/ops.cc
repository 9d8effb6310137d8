#include "ir/ops.h"

#include <unordered_map>

namespace parakeet::ir {
namespace {

constexpr uint8_t P = static_cast<uint8_t>(Stage::kParallel);
constexpr uint8_t I = static_cast<uint8_t>(Stage::kIndexed);
constexpr uint8_t S = static_cast<uint8_t>(Stage::kScheduled);
constexpr uint8_t A = P | I | S;
constexpr uint8_t PI = P | I;
constexpr uint8_t IS = I | S;

constexpr uint8_t None = 0;
constexpr uint8_t Comm = 1;
constexpr uint8_t Assoc = 2;
constexpr uint8_t Idem = 4;

constexpr OpInfo kOps[] = {
#define PARAKEET_OP(name, text, format, rule, stages, flags, identity, cost, doc) \
  {text,                                                                          \
   OpFormat::k##format,                                                           \
   TypeRule::k##rule,                                                             \
   stages,                                                                        \
   static_cast<uint8_t>(flags),                                                   \
   Identity::k##identity,                                                         \
   cost,                                                                          \
   doc},
#include "ir/ops.def"
};

}  // namespace

std::string_view Name(Stage stage) {
  switch (stage) {
    case Stage::kParallel: return "parallel";
    case Stage::kIndexed: return "indexed";
    case Stage::kScheduled: return "scheduled";
  }
  return "";
}

const OpInfo& InfoOf(OpCode op) { return kOps[static_cast<int>(op)]; }

int NumOps() { return sizeof(kOps) / sizeof(kOps[0]); }

std::optional<OpCode> OpFromName(std::string_view text) {
  static const auto* by_name = [] {
    auto* names = new std::unordered_map<std::string_view, OpCode>;
    for (int i = 0; i < NumOps(); ++i) names->emplace(kOps[i].text, static_cast<OpCode>(i));
    return names;
  }();
  const auto found = by_name->find(text);
  if (found == by_name->end()) return std::nullopt;
  return found->second;
}

bool IsAllowed(OpCode op, Stage stage) { return InfoOf(op).stages & static_cast<uint8_t>(stage); }
bool IsCommutative(OpCode op) { return InfoOf(op).flags & Comm; }
bool IsAssociative(OpCode op) { return InfoOf(op).flags & Assoc; }
bool IsIdempotent(OpCode op) { return InfoOf(op).flags & Idem; }
bool IsScalarOp(OpCode op) { return op <= OpCode::kSelect; }
bool IsComparison(OpCode op) { return op >= OpCode::kEq && op <= OpCode::kGe; }

bool IsView(OpCode op) {
  return (op >= OpCode::kSlice && op <= OpCode::kAscribe) || op == OpCode::kView;
}

}  // namespace parakeet::ir
