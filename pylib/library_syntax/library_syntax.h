// The syntax trees of the library that is written in Python (frontend/syntax_archive.h), made when
// the compiler is built (tools/write_library_syntax.cc).
#ifndef PARAKEET_PYLIB_LIBRARY_SYNTAX_LIBRARY_SYNTAX_H_
#define PARAKEET_PYLIB_LIBRARY_SYNTAX_LIBRARY_SYNTAX_H_

#include <string_view>

namespace parakeet::pylib {

// Bytes for a frontend::SyntaxArchive; they live as long as the process.
std::string_view LibrarySyntax();

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_LIBRARY_SYNTAX_LIBRARY_SYNTAX_H_
