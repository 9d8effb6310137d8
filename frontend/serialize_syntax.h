#ifndef PARAKEET_FRONTEND_SERIALIZE_SYNTAX_H_
#define PARAKEET_FRONTEND_SERIALIZE_SYNTAX_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/syntax.h"

namespace parakeet::frontend {

// Integers of seven bits a byte, the least first; the eighth bit says that more follow.
void AppendNumber(uint64_t number, std::string* bytes);
// Takes a number off the front of `bytes`; a bug where there is none.
uint64_t TakeNumber(std::string_view* bytes);

// A tree as bytes: syntax_fields.h says in which order. Which file its spans are in is left out.
std::string SerializeSyntax(const FunctionSyntax& function);

// The tree that SerializeSyntax wrote, with the spans in `file`; a bug where `bytes` are no tree.
FunctionSyntaxPtr DeserializeSyntax(std::string_view bytes, int32_t file);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SERIALIZE_SYNTAX_H_
