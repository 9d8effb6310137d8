#include "ir/lexer.h"

#include <charconv>

#include "ir/constant_text.h"
#include "ir/diagnostics.h"
#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

bool IsNameCharacter(char c) { return IsWordCharacter(c) || c == '.'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> All() {
    std::vector<Token> tokens;
    do {
      SkipBlank();
      tokens.push_back(Next());
    } while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  char At(size_t offset) const {
    return place_ + offset < text_.size() ? text_[place_ + offset] : '\0';
  }
  bool AtEnd() const { return place_ >= text_.size(); }

  void SkipBlank() {
    while (!AtEnd()) {
      const char c = At(0);
      if (c == '\n') {
        ++line_;
        line_start_ = place_ + 1;
      } else if (c == '/' && At(1) == '/') {
        while (!AtEnd() && At(0) != '\n') ++place_;
        continue;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
      ++place_;
    }
  }

  int Column() const { return static_cast<int>(place_ - line_start_) + 1; }
  [[noreturn]] void Fail(const std::string& message) const { FailParse(line_, Column(), message); }

  Token Next() {
    Token token;
    token.line = line_;
    token.column = Column();
    const size_t start = place_;
    if (!AtEnd()) Read(token);
    if (token.text.empty()) token.text = text_.substr(start, place_ - start);
    return token;
  }

  void Read(Token& token) {
    const char c = At(0);
    if (const size_t length = ReadConstant(text_.substr(place_), &token.constant)) {
      token.kind = TokenKind::kConstant;
      place_ += length;
    } else if (c == '%' && IsNameCharacter(At(1))) {
      ++place_;
      token.kind = TokenKind::kValue;
      token.text = Name();
    } else if (c == '@') {
      ReadAt(token);
    } else if (c == '"') {
      token.kind = TokenKind::kString;
      token.string = String();
    } else if (IsWordCharacter(c) && !IsDigit(c)) {
      token.kind = TokenKind::kWord;
      Name();
    } else {
      ReadMark(token);
    }
  }

  void ReadMark(Token& token) {
    token.kind = TokenKind::kMark;
    if (At(0) == '-' && At(1) == '>') {
      place_ += 2;
    } else if (At(0) != '\0' &&
               std::string_view("()[]{},:=").find(At(0)) != std::string_view::npos) {
      ++place_;
    } else {
      Fail("unexpected character");
    }
  }

  void ReadAt(Token& token) {
    ++place_;
    if (IsDigit(At(0))) {
      token.kind = TokenKind::kSpan;
      token.span = ReadSpan();
    } else if (At(0) == '"') {
      token.kind = TokenKind::kFunction;
      token.string = String();
    } else {
      token.kind = TokenKind::kFunction;
      token.string = std::string(Name());
      if (token.string.empty()) Fail("expected a function's name after @");
    }
  }

  std::string_view Name() {
    const size_t start = place_;
    while (IsNameCharacter(At(0))) ++place_;
    return text_.substr(start, place_ - start);
  }

  Span ReadSpan() {
    Span span;
    span.file = SpanPart(0);
    span.line = SpanPart(':');
    span.column = SpanPart(':');
    span.end_line = SpanPart('-');
    span.end_column = SpanPart(':');
    return span;
  }

  int32_t SpanPart(char before) {
    if (before != 0 && At(0) != before) Fail("expected a span: @file:line:column-line:column");
    if (before != 0) ++place_;
    int32_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + place_, text_.data() + text_.size(), value);
    if (error != std::errc()) Fail("expected a number in a span");
    place_ = end - text_.data();
    return value;
  }

  std::string String() {
    std::string value;
    for (++place_; !AtEnd() && At(0) != '"' && At(0) != '\n'; ++place_)
      value += At(0) == '\\' ? Escaped() : At(0);
    if (At(0) != '"') Fail("expected \" at the end of a string");
    ++place_;
    return value;
  }

  // The character that an escape stands for; stays on the escape's last character.
  char Escaped() {
    ++place_;
    switch (At(0)) {
      case '"': return '"';
      case '\\': return '\\';
      case 'n': return '\n';
      case 't': return '\t';
      case 'x':
        if (HexDigit(At(1)) >= 0 && HexDigit(At(2)) >= 0) {
          place_ += 2;
          return static_cast<char>(16 * HexDigit(At(-1)) + HexDigit(At(0)));
        }
        break;
      default: break;
    }
    Fail("unknown escape in a string");
  }

  std::string_view text_;
  size_t place_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;
};

}  // namespace

std::vector<Token> Lex(std::string_view text) { return Lexer(text).All(); }

void FailParse(int line, int column, const std::string& message) {
  FailUser("ParseError", std::to_string(line) + ":" + std::to_string(column) + ": " + message, {});
}

}  // namespace parakeet::ir
