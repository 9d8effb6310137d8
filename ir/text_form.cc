#include "ir/text_form.h"

#include <algorithm>

#include "ir/builder.h"

namespace parakeet::ir {
namespace {

// --- Combines ---

// True when binding `k` of the block is one operation on the two parameters of accumulator `k`, of
// their type.
bool IsOneOperation(const Block& block, size_t k) {
  const size_t count = block.results.size();
  const Binding& binding = *block.bindings[k];
  const Type& type = block.params[k]->type;
  return binding.results.size() == 1 && binding.attrs.entries().empty() && IsScalarOp(binding.op) &&
         binding.operands == std::vector<Operand>{block.params[k], block.params[k + count]} &&
         block.results[k] == Operand(binding.result()) && binding.result()->type == type &&
         block.params[k + count]->type == type;
}

// --- Whether a binding fits its format ---

// True unless the attribute is there and of another kind.
template <typename Kind>
bool IsAbsentOr(const Binding& binding, Attr attr) {
  for (const auto& [key, value] : binding.attrs.entries()) {
    if (key == attr) return std::holds_alternative<Kind>(value);
  }
  return true;
}

// The attributes are numbers that need no sign, or absent.
bool HaveCounts(const Binding& binding, std::initializer_list<Attr> attrs) {
  return std::all_of(attrs.begin(), attrs.end(), [&](Attr attr) {
    return IsAbsentOr<int64_t>(binding, attr) && binding.attrs.Int(attr) >= 0;
  });
}

bool FitsCheck(const Binding& binding) {
  const int64_t fixed = binding.op == OpCode::kCheck ? 1 : 2;
  const int64_t rest = static_cast<int64_t>(binding.operands.size()) - fixed;
  return rest >= 0 && HaveCounts(binding, {Attr::kSite, Attr::kAt}) &&
         binding.attrs.Int(Attr::kAt) <= rest;
}

bool FitsSlice(const Binding& binding) {
  if (!binding.attrs.Has(Attr::kAxes) || !IsAbsentOr<std::string>(binding, Attr::kAxes))
    return false;
  size_t operands = 1;
  for (char entry : binding.attrs.Text(Attr::kAxes)) {
    if (entry != 'i' && entry != 'r' && entry != 'n') return false;
    operands += entry == 'i' ? 1 : entry == 'r' ? 3 : 0;
  }
  return binding.operands.size() == operands;
}

bool FitsView(const Binding& binding) {
  if (binding.operands.empty() || binding.results.size() != 1) return false;
  return (binding.operands.size() - 1) % (1 + binding.result()->type.rank()) == 0;
}

bool FitsElements(const Binding& binding) {
  const bool may_have_third = binding.op == OpCode::kContract || binding.op == OpCode::kLanes;
  const size_t most_blocks = may_have_third ? 3 : 2;
  if (binding.blocks.empty() || binding.blocks.size() > most_blocks) return false;
  return binding.blocks[0]->params.size() <= binding.operands.size() &&
         HaveCounts(binding, {Attr::kBlock, Attr::kMostBlock, Attr::kLanes});
}

bool FitsIndices(const Binding& binding) {
  if (!FitsElements(binding)) return false;
  const std::vector<const Var*>& indices = binding.blocks[0]->params;
  if (binding.op == OpCode::kLanes && (indices.size() != 1 || binding.operands.size() < 2))
    return false;
  return std::all_of(indices.begin(), indices.end(),
                     [](const Var* i) { return i->type == Type(DType::kI64); });
}

bool FitsCall(const Binding& binding) {
  return binding.attrs.Has(Attr::kCallee) && IsAbsentOr<std::string>(binding, Attr::kCallee) &&
         HaveCounts(binding, {Attr::kAt}) &&
         binding.attrs.Int(Attr::kAt) <= static_cast<int64_t>(binding.operands.size());
}

bool FitsAccess(const Binding& binding) {
  if (binding.operands.empty() || !binding.operands[0].IsVar()) return false;
  const Type& type = binding.operands[0].var()->type;
  return type.IsArray() && static_cast<int>(binding.operands.size()) > type.rank();
}

bool FitsIf(const Binding& binding) {
  return binding.operands.size() == 1 && binding.blocks.size() == 2 &&
         binding.blocks[0]->params.empty() && binding.blocks[1]->params.empty();
}

bool FitsFor(const Binding& binding) {
  if (binding.operands.size() < 3 || binding.blocks.size() != 1) return false;
  const std::vector<const Var*>& params = binding.blocks[0]->params;
  return params.size() == binding.operands.size() - 2 && params[0]->type == Type(DType::kI64) &&
         HaveCounts(binding, {Attr::kCost}) && IsAbsentOr<std::string>(binding, Attr::kKind);
}

bool FitsWhile(const Binding& binding) {
  return binding.blocks.size() == 2 && binding.blocks[0]->params.size() == binding.operands.size();
}

// True for what can stand before `for` in the text: `parallel`, `vector`.
bool IsKindWord(const std::string& kind) {
  return !kind.empty() && !OpFromName(kind) && kind != "generic" && kind != "yield" &&
         kind != "return" &&
         std::all_of(kind.begin(), kind.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsWordCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string Quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string WordText(std::string_view name) {
  const bool plain =
      !name.empty() && !IsDigit(name[0]) &&
      std::all_of(name.begin(), name.end(), [](char c) { return IsWordCharacter(c) || c == '.'; });
  return plain ? std::string(name) : Quoted(name);
}

std::vector<OpCode> CombineWords(const Binding& binding) {
  const OpFormat format = InfoOf(binding.op).format;
  const bool combines = format == OpFormat::kElements || format == OpFormat::kIndices;
  if (!combines || binding.blocks.size() < 2) return {};
  const Block& combine = *binding.blocks[1];
  const std::vector<Operand>& yielded = binding.blocks[0]->results;
  const size_t count = combine.results.size();
  if (combine.params.size() != 2 * count || combine.bindings.size() != count ||
      yielded.size() != count)
    return {};
  std::vector<OpCode> words;
  for (size_t k = 0; k < count; ++k) {
    if (!IsOneOperation(combine, k) || !(TypeOf(yielded[k]) == combine.params[k]->type)) return {};
    words.push_back(combine.bindings[k]->op);
  }
  return words;
}

const Block* CombineOfWords(Arena* arena, const std::vector<OpCode>& words,
                            const std::vector<Type>& types) {
  Builder builder(arena);
  std::vector<const Var*> left, right;
  std::vector<Operand> results;
  for (const Type& type : types) left.push_back(builder.NewVar(type, "a"));
  for (const Type& type : types) right.push_back(builder.NewVar(type, "b"));
  for (size_t k = 0; k < types.size(); ++k) {
    results.push_back(builder.EmitOne(words[k], types[k], {left[k], right[k]}));
  }
  left.insert(left.end(), right.begin(), right.end());
  return builder.Finish(std::move(left), std::move(results));
}

bool FitsFormat(const Binding& binding) {
  const bool no_blocks = binding.blocks.empty();
  switch (InfoOf(binding.op).format) {
    case OpFormat::kPlain: return no_blocks;
    case OpFormat::kCheck: return no_blocks && FitsCheck(binding);
    case OpFormat::kSlice: return no_blocks && FitsSlice(binding);
    case OpFormat::kView: return no_blocks && FitsView(binding);
    case OpFormat::kElements: return FitsElements(binding);
    case OpFormat::kIndices: return FitsIndices(binding);
    case OpFormat::kCall: return no_blocks && FitsCall(binding);
    case OpFormat::kAlloc: return no_blocks;
    case OpFormat::kFree: return no_blocks && !binding.operands.empty();
    case OpFormat::kAccess: return no_blocks && FitsAccess(binding);
    case OpFormat::kIf: return FitsIf(binding);
    case OpFormat::kFor: return FitsFor(binding);
    case OpFormat::kWhile: return FitsWhile(binding);
  }
  return false;
}

bool IsShownByFormat(const Binding& binding, Attr attr) {
  switch (InfoOf(binding.op).format) {
    case OpFormat::kCheck:
      return attr == Attr::kSite || (attr == Attr::kAt && binding.op == OpCode::kCheck);
    case OpFormat::kSlice: return attr == Attr::kAxes;
    case OpFormat::kElements:
    case OpFormat::kIndices:
      return attr == Attr::kBlock || attr == Attr::kMostBlock || attr == Attr::kLanes;
    case OpFormat::kCall: return attr == Attr::kCallee || attr == Attr::kAt;
    case OpFormat::kFor:
      return attr == Attr::kCost ||
             (attr == Attr::kKind && IsKindWord(binding.attrs.Text(Attr::kKind)));
    default: return false;
  }
}

}  // namespace parakeet::ir
