#ifndef PARAKEET_IR_TEXT_FORM_H_
#define PARAKEET_IR_TEXT_FORM_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"

namespace parakeet::ir {

// What the writing and the reading of IR text agree on.

// Letters, digits, the underscore, and every byte of a character beyond ASCII: what names are made
// of.
bool IsWordCharacter(char c);
bool IsDigit(char c);

// In quotes, with \", \\, \n, \t and \xNN for other control characters.
std::string Quoted(std::string_view text);

// A name as it is where it is a plain word (with dots), else quoted: `f`, `"<lambda>"`.
std::string WordText(std::string_view name);

// The operations that the combine block of a reduction or scan is written as: `add`, `(add, min)`.
// Empty where it has to be written out, because it does anything more than one operation an
// accumulator.
std::vector<OpCode> CombineWords(const Binding& binding);

// The combine block that those words stand for, when block 0 yields values of these types.
const Block* CombineOfWords(Arena* arena, const std::vector<OpCode>& words,
                            const std::vector<Type>& types);

// True where the production of the operation's format (OpFormat) shows this binding whole. Others
// are written in the generic form.
bool FitsFormat(const Binding& binding);

// True for the attributes that the operation's format shows in its own words.
bool IsShownByFormat(const Binding& binding, Attr attr);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_TEXT_FORM_H_
