#ifndef PARAKEET_IR_LEXER_H_
#define PARAKEET_IR_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/span.h"
#include "ir/type.h"

namespace parakeet::ir {

enum class TokenKind {
  kEnd,
  kWord,      // fn, f64, add, n.1
  kValue,     // %x, its text without the %
  kFunction,  // @f or @"<lambda>", its name in `string`
  kSpan,      // @0:12:9-12:20
  kConstant,  // 3, 0.5:f32, (1.0,2.0):c128, true
  kString,    // "...", unescaped in `string`
  kMark,      // one of ( ) [ ] { } , : = ->
};

// A piece of text. `text` points into the source given to Lex.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  int line = 1;
  int column = 1;
  std::string string;
  Constant constant;
  Span span;
};

// Cuts text into tokens, the last being kEnd. White space and comments from `//` to the end of a
// line part tokens. Throws as Parse (parser.h) does.
std::vector<Token> Lex(std::string_view text);

// Throws the Failure of Parse for a place in the text.
[[noreturn]] void FailParse(int line, int column, const std::string& message);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_LEXER_H_
