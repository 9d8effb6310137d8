#include "ir/parse_block.h"

#include <optional>
#include <string>
#include <utility>

#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

// Blocks nested deeper are refused, so that no text exhausts the stack.
constexpr int kDeepestNesting = 500;

}  // namespace

const Block* BlockParser::Read(size_t scope, std::vector<const Var*> params,
                               std::string_view last_word) {
  if (++depth_ > kDeepestNesting) reader_.Fail("blocks are nested too deep");
  Block block;
  block.params = std::move(params);
  reader_.Expect("{");
  while (!reader_.IsNext("}") && !reader_.IsNext(last_word))
    block.bindings.push_back(ReadBinding());
  if (reader_.TakeIf(last_word)) {
    block.results = reader_.Operands("}");
  } else {
    reader_.Expect("}");
  }
  reader_.EndScope(scope);
  --depth_;
  return reader_.arena()->New(std::move(block));
}

const Binding* BlockParser::ReadBinding() {
  Binding binding{};
  std::vector<std::string_view> names;
  const size_t scope = reader_.Mark();
  while (reader_.IsNext(TokenKind::kValue)) {
    names.push_back(reader_.Peek().text);
    binding.results.push_back(reader_.ReadDefinition());
    if (!reader_.TakeIf(",")) break;
  }
  if (!names.empty()) reader_.Expect("=");
  reader_.EndScope(
      scope);  // The results' types see the results before them, the rest of the binding does not.
  ReadInFormat(binding);
  binding.span = reader_.OptionalSpan();
  for (size_t i = 0; i < names.size(); ++i) reader_.Define(names[i], binding.results[i]);
  return reader_.arena()->New(std::move(binding));
}

void BlockParser::ReadInFormat(Binding& binding) {
  if (reader_.TakeIf("generic")) return ReadGeneric(binding);
  std::string_view word = reader_.Expect(TokenKind::kWord, "an operation").text;
  if (reader_.TakeIf("for")) {
    SetAttr(binding, Attr::kKind, std::string(word));
    word = "for";
  }
  const std::optional<OpCode> op = OpFromName(word);
  if (!op) reader_.Fail("unknown operation " + std::string(word));
  binding.op = *op;
  switch (InfoOf(*op).format) {
    case OpFormat::kPlain: return ReadPlain(binding);
    case OpFormat::kCheck: return ReadCheck(binding);
    case OpFormat::kSlice: return ReadSlice(binding);
    case OpFormat::kView: return ReadView(binding);
    case OpFormat::kElements: return ReadElements(binding);
    case OpFormat::kIndices: return ReadIndices(binding);
    case OpFormat::kCall: return ReadCall(binding);
    case OpFormat::kAlloc: AppendOperands(binding); return reader_.ReadAttributes(binding.attrs);
    case OpFormat::kFree: return ReadFree(binding);
    case OpFormat::kAccess: return ReadAccess(binding);
    case OpFormat::kIf: return ReadIf(binding);
    case OpFormat::kFor: return ReadFor(binding);
    case OpFormat::kWhile: return ReadWhile(binding);
  }
}

void BlockParser::SetAttr(Binding& binding, Attr attr, AttrValue value) {
  if (binding.attrs.Has(attr)) reader_.Fail("attribute given twice");
  binding.attrs = binding.attrs.With(attr, std::move(value));
}

int64_t BlockParser::AppendOperands(Binding& binding) {
  const std::vector<Operand> operands = reader_.Operands("(", ")");
  binding.operands.insert(binding.operands.end(), operands.begin(), operands.end());
  return static_cast<int64_t>(operands.size());
}

const Block* BlockParser::ReadBlockOfParams() {
  const size_t scope = reader_.Mark();
  std::vector<const Var*> params;
  reader_.Expect("(");
  while (!reader_.IsNext(")")) {
    if (!params.empty()) reader_.Expect(",");
    params.push_back(reader_.ReadDefinition());
  }
  reader_.Expect(")");
  return Read(scope, std::move(params), "yield");
}

void BlockParser::ReadGeneric(Binding& binding) {
  const std::string_view word = reader_.Expect(TokenKind::kWord, "an operation").text;
  const std::optional<OpCode> op = OpFromName(word);
  if (!op) reader_.Fail("unknown operation " + std::string(word));
  binding.op = *op;
  ReadPlain(binding);
  while (reader_.IsNext("(")) binding.blocks.push_back(ReadBlockOfParams());
}

void BlockParser::ReadPlain(Binding& binding) {
  // A value with a type after it is the next binding's result.
  const bool has_operands =
      reader_.IsOperandNext() && !(reader_.IsNext(TokenKind::kValue) && reader_.IsNext(":", 1));
  if (has_operands) {
    do {
      binding.operands.push_back(reader_.ReadOperand());
    } while (reader_.TakeIf(","));
  }
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadFree(Binding& binding) {
  binding.operands.push_back(reader_.ReadOperand());
  if (reader_.TakeIf("unless")) AppendOperands(binding);
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadCheck(Binding& binding) {
  const bool is_check = binding.op == OpCode::kCheck;
  binding.operands.push_back(reader_.ReadOperand());
  if (!is_check) {
    reader_.Expect(",");
    binding.operands.push_back(reader_.ReadOperand());
  }
  if (reader_.TakeIf(",")) {
    reader_.Expect("site");
    SetAttr(binding, Attr::kSite, reader_.Int(0));
  }
  if (reader_.TakeIf("at")) {
    const int64_t count = AppendOperands(binding);
    if (is_check) SetAttr(binding, Attr::kAt, count);
  }
  if (is_check && reader_.TakeIf("with")) AppendOperands(binding);
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadSlice(Binding& binding) {
  std::string axes;
  binding.operands.push_back(reader_.ReadOperand());
  reader_.Expect("[");
  while (!reader_.IsNext("]")) {
    if (!axes.empty()) reader_.Expect(",");
    if (reader_.TakeIf("new")) {
      axes += 'n';
      continue;
    }
    binding.operands.push_back(reader_.ReadOperand());
    axes += reader_.IsNext(":") ? 'r' : 'i';
    if (axes.back() == 'i') continue;
    for (int part = 0; part < 2; ++part) {
      reader_.Expect(":");
      binding.operands.push_back(reader_.ReadOperand());
    }
  }
  reader_.Expect("]");
  SetAttr(binding, Attr::kAxes, axes);
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadView(Binding& binding) {
  binding.operands.push_back(reader_.ReadOperand());
  reader_.Expect("offset");
  const int64_t rows = AppendOperands(binding);
  reader_.Expect("strides");
  reader_.Expect("(");
  for (int64_t row = 0; row < rows; ++row) {
    if (row > 0) reader_.Expect(",");
    AppendOperands(binding);
  }
  reader_.Expect(")");
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadElements(Binding& binding) {
  const size_t scope = reader_.Mark();
  std::vector<const Var*> params;
  reader_.Expect("(");
  while (!reader_.IsNext(")")) {
    if (!params.empty()) reader_.Expect(",");
    params.push_back(reader_.ReadDefinition());
    reader_.Expect("in");
    binding.operands.push_back(reader_.ReadOperand());
  }
  reader_.Expect(")");
  ReadOperator(binding, scope, std::move(params));
}

const Var* BlockParser::DefineIndex() {
  const std::string_view name = reader_.Expect(TokenKind::kValue, "a new index").text;
  const Var* index = reader_.NewVar(name, DType::kI64);
  reader_.Define(name, index);
  return index;
}

void BlockParser::ReadIndices(Binding& binding) {
  const size_t scope = reader_.Mark();
  std::vector<const Var*> params;
  reader_.Expect("(");
  while (!reader_.IsNext(")")) {
    if (!params.empty()) reader_.Expect(",");
    params.push_back(DefineIndex());
  }
  reader_.Expect(")");
  reader_.Expect("in");
  if (binding.op == OpCode::kLanes) {
    binding.operands.push_back(reader_.ReadOperand());
    reader_.Expect("to");
    binding.operands.push_back(reader_.ReadOperand());
  } else if (AppendOperands(binding) != static_cast<int64_t>(params.size())) {
    reader_.Fail("expected one extent an index");
  }
  ReadOperator(binding, scope, std::move(params));
}

std::vector<OpCode> BlockParser::ReadCombineWords() {
  std::vector<OpCode> words;
  const bool several = reader_.TakeIf("(");
  do {
    const std::optional<OpCode> op = OpFromName(reader_.Peek().text);
    const bool known = reader_.IsNext(TokenKind::kWord) && op && IsScalarOp(*op);
    if (!known && (several || !words.empty())) reader_.Fail("expected an operation on two scalars");
    if (!known) return words;
    words.push_back(*op);
    reader_.Take();
  } while (several && reader_.TakeIf(","));
  if (several) reader_.Expect(")");
  return words;
}

void BlockParser::ReadTree(Binding& binding) {
  if (!reader_.TakeIf("tree")) return;
  reader_.Expect("(");
  do {
    const Attr attr = reader_.IsNext("block") ? Attr::kBlock : Attr::kLanes;
    reader_.Expect(Name(attr));
    SetAttr(binding, attr, reader_.Int(0));
    if (attr == Attr::kBlock && reader_.TakeIf("to"))
      SetAttr(binding, Attr::kMostBlock, reader_.Int(0));
  } while (reader_.TakeIf(","));
  reader_.Expect(")");
}

void BlockParser::ReadOperator(Binding& binding, size_t scope, std::vector<const Var*> params) {
  const std::vector<OpCode> words = ReadCombineWords();
  if (reader_.TakeIf("from")) {
    if (reader_.IsNext("(")) {
      AppendOperands(binding);
    } else {
      binding.operands.push_back(reader_.ReadOperand());
    }
  }
  ReadTree(binding);
  reader_.ReadAttributes(binding.attrs);
  binding.blocks.push_back(Read(scope, std::move(params), "yield"));
  if (!words.empty()) {
    std::vector<Type> types;
    for (const Operand& yielded : binding.blocks[0]->results) types.push_back(TypeOf(yielded));
    if (types.size() != words.size())
      reader_.Fail("expected as many values yielded as combine operations");
    binding.blocks.push_back(CombineOfWords(reader_.arena(), words, types));
  } else if (reader_.TakeIf("combine")) {
    binding.blocks.push_back(ReadBlockOfParams());
  }
  if (reader_.TakeIf(binding.op == OpCode::kLanes ? "take" : "then"))
    binding.blocks.push_back(ReadBlockOfParams());
}

void BlockParser::ReadCall(Binding& binding) {
  SetAttr(binding, Attr::kCallee, reader_.Expect(TokenKind::kFunction, "a function").string);
  AppendOperands(binding);
  if (reader_.TakeIf("at")) SetAttr(binding, Attr::kAt, AppendOperands(binding));
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadAccess(Binding& binding) {
  binding.operands.push_back(reader_.ReadOperand());
  const Operand array = binding.operands[0];
  const std::vector<Operand> index = reader_.Operands("[", "]");
  if (TypeOf(array).rank() != static_cast<int>(index.size()) || !TypeOf(array).IsArray()) {
    reader_.Fail("expected as many indexes as the array has axes");
  }
  binding.operands.insert(binding.operands.end(), index.begin(), index.end());
  while (reader_.TakeIf(",")) binding.operands.push_back(reader_.ReadOperand());
  reader_.ReadAttributes(binding.attrs);
}

void BlockParser::ReadIf(Binding& binding) {
  binding.operands.push_back(reader_.ReadOperand());
  reader_.ReadAttributes(binding.attrs);
  binding.blocks.push_back(Read(reader_.Mark(), {}, "yield"));
  if (reader_.TakeIf("else")) {
    binding.blocks.push_back(Read(reader_.Mark(), {}, "yield"));
  } else {
    binding.blocks.push_back(reader_.arena()->New(Block{}));
  }
}

void BlockParser::ReadCarried(Binding& binding, std::vector<const Var*>& params) {
  if (!reader_.TakeIf("(")) return;
  do {
    params.push_back(reader_.ReadDefinition());
    reader_.Expect("=");
    binding.operands.push_back(reader_.ReadOperand());
  } while (reader_.TakeIf(","));
  reader_.Expect(")");
}

void BlockParser::ReadFor(Binding& binding) {
  const size_t scope = reader_.Mark();
  std::vector<const Var*> params = {DefineIndex()};
  for (const std::string_view before : {"in", "to", "step"}) {
    reader_.Expect(before);
    binding.operands.push_back(reader_.ReadOperand());
  }
  if (reader_.TakeIf("cost")) SetAttr(binding, Attr::kCost, reader_.Int(0));
  ReadCarried(binding, params);
  reader_.ReadAttributes(binding.attrs);
  binding.blocks.push_back(Read(scope, std::move(params), "yield"));
}

void BlockParser::ReadWhile(Binding& binding) {
  const size_t scope = reader_.Mark();
  std::vector<const Var*> params;
  ReadCarried(binding, params);
  reader_.ReadAttributes(binding.attrs);
  binding.blocks.push_back(Read(scope, std::move(params), "yield"));
  reader_.Expect("do");
  if (reader_.IsNext("(")) {
    binding.blocks.push_back(ReadBlockOfParams());
  } else {
    binding.blocks.push_back(Read(reader_.Mark(), {}, "yield"));
  }
}

}  // namespace parakeet::ir
