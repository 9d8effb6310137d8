#ifndef PARAKEET_PYLIB_COMPILER_WRITE_ACCOUNT_H_
#define PARAKEET_PYLIB_COMPILER_WRITE_ACCOUNT_H_

#include <string>
#include <vector>

#include "ir/span.h"
#include "passes/pass.h"
#include "pylib/compiler/account.h"

namespace parakeet::pylib {

// The account and the passes' remarks as JSON (RFC 8259), which parakeet.explanation reads: an
// object of the account's counts, "operators" and "notes". A span is a list of file, line, column,
// end line and end column, columns being bytes as Python's `ast` gives them; null where it is not
// known. With an operator come the text of its line and its own text.
std::string WriteAccount(const Account& account, const std::vector<passes::Remark>& remarks,
                         const ir::SourceMap& sources);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_WRITE_ACCOUNT_H_
