#ifndef PARAKEET_IR_PRINTER_H_
#define PARAKEET_IR_PRINTER_H_

#include <string>

#include "ir/node.h"

namespace parakeet::ir {

struct PrintOptions {
  // Shows the table of source names, and after each site, function and binding where it came from:
  // @file:line:column-line:column, as Span counts.
  bool spans = false;
};

// The text of a program: sources (with spans), sites, then functions. Parse (parser.h) reads it
// back. Deterministic: values are named by their hints, made unique within the function (%x, %x.1),
// or numbered in order of definition. Nodes that break the rules of their operation print in the
// form `generic op operands {attributes} (params) { }`.
std::string Print(const Program& program, PrintOptions options = {});

// One function, ending in a newline.
std::string Print(const Function& function, PrintOptions options = {});

// One binding with its blocks, without a newline at the end. With `within`, values have the names
// that they have in that function's text; without, names of their own.
std::string Print(const Binding& binding, const Function* within = nullptr);

// A type, its sizes by their hints: for messages.
std::string Print(const Type& type);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_PRINTER_H_
