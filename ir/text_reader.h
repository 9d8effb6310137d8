#ifndef PARAKEET_IR_TEXT_READER_H_
#define PARAKEET_IR_TEXT_READER_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/lexer.h"
#include "ir/node.h"

namespace parakeet::ir {

// Walks over tokens and knows which names are in scope: what every production of the parser is
// written with. Each function throws as Parse (parser.h) does where the text is not what it reads.
class TextReader {
 public:
  TextReader(std::string_view text, Arena* arena) : tokens_(Lex(text)), arena_(arena) {}

  Arena* arena() const { return arena_; }

  // --- Tokens ---
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(place_ + ahead, tokens_.size() - 1)];
  }
  bool IsNext(TokenKind kind) const { return Peek().kind == kind; }
  // A word or a mark, by its text.
  bool IsNext(std::string_view text, size_t ahead = 0) const;
  const Token& Take() { return tokens_[place_ < tokens_.size() - 1 ? place_++ : place_]; }
  bool TakeIf(std::string_view text);
  void Expect(std::string_view text);
  // Where `kind` is not next, fails with "expected `what`".
  const Token& Expect(TokenKind kind, std::string_view what);
  [[noreturn]] void Fail(const std::string& message) const;
  // An i64 constant of at least `least`.
  int64_t Int(int64_t least);
  // The span that is next, or an unknown one.
  Span OptionalSpan();

  // --- Values in scope ---
  // A new value of the type. Its hint is the name without what made it unique.
  const Var* NewVar(std::string_view name, Type type);
  // Makes `name` mean `var` until the scope ends. Fails when the name is taken.
  void Define(std::string_view name, const Var* var);
  // The value that a name means, or null.
  const Var* Find(std::string_view name) const;
  // Scopes end by going back to a mark.
  size_t Mark() const { return defined_.size(); }
  void EndScope(size_t mark);

  // --- Operands, types, attributes ---
  bool IsOperandNext() const { return IsNext(TokenKind::kValue) || IsNext(TokenKind::kConstant); }
  Operand ReadOperand();
  // Operands parted by commas, up to `close`, which is taken.
  std::vector<Operand> Operands(std::string_view close);
  // As Operands, with the opening mark before them.
  std::vector<Operand> Operands(std::string_view open, std::string_view close);
  // A type. Sizes that are not in scope are defined when `binds_sizes`, else fail.
  Type ReadType(bool binds_sizes = false);
  // `%x: T`, put in scope.
  const Var* ReadDefinition();
  // `{key = value, ...}` into `attrs`, when that is next.
  void ReadAttributes(Attributes& attrs);

 private:
  Operand ReadSize(bool binds_sizes);
  Type ReadScalarType();
  AttrValue ReadAttrValue();

  std::vector<Token> tokens_;
  size_t place_ = 0;
  Arena* arena_;
  std::unordered_map<std::string_view, const Var*> names_;
  std::vector<std::string_view> defined_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_TEXT_READER_H_
