#ifndef PARAKEET_IR_PARSER_H_
#define PARAKEET_IR_PARSER_H_

#include <string_view>

#include "ir/node.h"

namespace parakeet::ir {

// The program that `text` shows: the inverse of Print (printer.h), up to hints, which lose what
// made them unique, and the text of source files, which is not printed. Line breaks mean nothing;
// `//` starts a comment. A name may be used again where the earlier value of that name is out of
// scope. Only form is checked: Verify (verifier.h) checks meaning. Throws a Failure of kind
// kUserError, exception "ParseError", message "line:column: ..." with both counted from 1.
Program Parse(std::string_view text);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_PARSER_H_
