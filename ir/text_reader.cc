#include "ir/text_reader.h"

#include <charconv>
#include <optional>

#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

constexpr int kMostLanes = 4096;

// What the printer was given: nothing for a number, and without the suffix that made it unique.
std::string_view HintOf(std::string_view name) {
  if (IsDigit(name[0])) return "";
  return name.substr(0, name.find('.'));
}

std::optional<Attr> AttrFromName(std::string_view name) {
#define PARAKEET_ATTRIBUTE(enumerator, text, kind, doc) \
  if (name == text) return Attr::k##enumerator;
#include "ir/attributes.def"
  return std::nullopt;
}

}  // namespace

bool TextReader::IsNext(std::string_view text, size_t ahead) const {
  const Token& token = Peek(ahead);
  return (token.kind == TokenKind::kWord || token.kind == TokenKind::kMark) && token.text == text;
}

bool TextReader::TakeIf(std::string_view text) {
  if (!IsNext(text)) return false;
  Take();
  return true;
}

void TextReader::Expect(std::string_view text) {
  if (!TakeIf(text)) Fail("expected " + std::string(text));
}

const Token& TextReader::Expect(TokenKind kind, std::string_view what) {
  if (!IsNext(kind)) Fail("expected " + std::string(what));
  return Take();
}

void TextReader::Fail(const std::string& message) const {
  const Token& token = Peek();
  const std::string sigil = token.kind == TokenKind::kValue ? "%" : "";
  const std::string found = token.kind == TokenKind::kEnd ? "the end" : std::string(token.text);
  FailParse(token.line, token.column, message + ", found " + sigil + found);
}

int64_t TextReader::Int(int64_t least) {
  const bool fits = IsNext(TokenKind::kConstant) && Peek().constant.dtype == DType::kI64 &&
                    Peek().constant.integer >= least;
  if (!fits) Fail("expected an integer of at least " + std::to_string(least));
  return Take().constant.integer;
}

Span TextReader::OptionalSpan() { return IsNext(TokenKind::kSpan) ? Take().span : Span(); }

const Var* TextReader::NewVar(std::string_view name, Type type) {
  return arena_->New(Var{std::move(type), arena_->Intern(HintOf(name))});
}

void TextReader::Define(std::string_view name, const Var* var) {
  if (!names_.emplace(name, var).second) Fail("%" + std::string(name) + " is defined already");
  defined_.push_back(name);
}

const Var* TextReader::Find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

void TextReader::EndScope(size_t mark) {
  for (size_t i = mark; i < defined_.size(); ++i) names_.erase(defined_[i]);
  defined_.resize(mark);
}

Operand TextReader::ReadOperand() {
  if (IsNext(TokenKind::kConstant)) return Take().constant;
  if (!IsNext(TokenKind::kValue)) Fail("expected a value or a constant");
  const Var* var = Find(Peek().text);
  if (!var) Fail("unknown value");
  Take();
  return var;
}

std::vector<Operand> TextReader::Operands(std::string_view close) {
  std::vector<Operand> operands;
  while (!IsNext(close)) {
    if (!operands.empty()) Expect(",");
    operands.push_back(ReadOperand());
  }
  Expect(close);
  return operands;
}

std::vector<Operand> TextReader::Operands(std::string_view open, std::string_view close) {
  Expect(open);
  return Operands(close);
}

Operand TextReader::ReadSize(bool binds_sizes) {
  if (IsNext(TokenKind::kConstant)) return Take().constant;
  if (!IsNext(TokenKind::kWord) && !IsNext(TokenKind::kValue)) Fail("expected a size");
  const std::string_view name = Peek().text;
  const Var* var = Find(name);
  if (!var && !binds_sizes) Fail("unknown size");
  if (!var) {
    var = NewVar(name, DType::kI64);
    Define(name, var);
  }
  Take();
  return var;
}

Type TextReader::ReadType(bool binds_sizes) {
  std::vector<Operand> dims;
  if (!IsNext("[")) return ReadScalarType();
  if (IsNext("]", 1)) {
    Take();
    Take();
  } else {
    while (TakeIf("[")) {
      dims.push_back(ReadSize(binds_sizes));
      Expect("]");
    }
  }
  const Type element = ReadScalarType();
  if (element.IsVector()) Fail("expected an array of scalars");
  return Type::Array(element.dtype(), std::move(dims));
}

Type TextReader::ReadScalarType() {
  if (!IsNext(TokenKind::kWord)) Fail("expected a type");
  const std::string_view text = Peek().text;
  const size_t x = text.find('x');
  const std::optional<DType> dtype = DTypeFromName(text.substr(0, x));
  if (!dtype) Fail("unknown type");
  int lanes = 1;
  if (x != std::string_view::npos) {
    const auto [end, error] =
        std::from_chars(text.data() + x + 1, text.data() + text.size(), lanes);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || lanes < 2 || lanes > kMostLanes)
      Fail("expected 2 to " + std::to_string(kMostLanes) + " lanes");
  }
  Take();
  return Type::Vector(*dtype, lanes);
}

const Var* TextReader::ReadDefinition() {
  const std::string_view name = Expect(TokenKind::kValue, "a new value").text;
  Expect(":");
  const Var* var = NewVar(name, ReadType());
  Define(name, var);
  return var;
}

void TextReader::ReadAttributes(Attributes& attrs) {
  if (!IsNext("{") || Peek(1).kind != TokenKind::kWord || !IsNext("=", 2)) return;
  Take();
  do {
    const std::optional<Attr> attr = AttrFromName(Peek().text);
    if (!attr) Fail("unknown attribute");
    if (attrs.Has(*attr)) Fail("attribute given twice");
    Take();
    Expect("=");
    attrs = attrs.With(*attr, ReadAttrValue());
  } while (TakeIf(","));
  Expect("}");
}

AttrValue TextReader::ReadAttrValue() {
  if (IsNext(TokenKind::kString)) return Take().string;
  if (!TakeIf("[")) return Int(INT64_MIN);
  std::vector<int64_t> values;
  while (!IsNext("]")) {
    if (!values.empty()) Expect(",");
    values.push_back(Int(INT64_MIN));
  }
  Take();
  return values;
}

}  // namespace parakeet::ir
