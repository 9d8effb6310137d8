// What became of the operators and loops of a function's source: read off the program as it was
// built, as it was scheduled and as it runs, by the spans that its bindings carry.
#ifndef PARAKEET_PYLIB_COMPILER_ACCOUNT_H_
#define PARAKEET_PYLIB_COMPILER_ACCOUNT_H_

#include <string>
#include <vector>

#include "ir/node.h"

namespace parakeet::pylib {

// How the traversals of an operator are spread over threads: all of them, some, or what stands
// around them.
enum class Threads : uint8_t { kNone, kOwn, kPart, kAround };

// An operator or loop of the source: what the front end made with that one span. What a library
// function is made of has the span of its call, and is one.
struct SourceOperator {
  ir::Span span;
  std::vector<std::string> kinds;  // "map", "reduction", "loop" ...; in program order, each once
  // Whether a traversal is its own. Where none is, its code stands in those of `into`, which are
  // spans of other operators; where that is empty too, nothing is left of it.
  bool is_own = false;
  std::vector<ir::Span> into;
  bool is_sequential = false;  // a loop that goes on around its traversals, one trip after another
  Threads threads = Threads::kNone;
  ir::Span around;                  // of the nest around it that is spread; unknown for none
  int lanes = 1;                    // how many elements an iteration takes, at most
  std::vector<std::string> checks;  // exceptions that its loops may raise still, one a check
  int results = 0;                  // arrays made to be given back
  int temporaries = 0;              // arrays made that end before the call does
  std::vector<std::string> calls;   // routines of libraries and functions that it calls, each once
};

// Counts are of the program's text: what a loop does each time counts once, and of the two sides of
// a branch the larger.
struct Account {
  std::vector<SourceOperator> operators;  // in source order
  int traversals = 0;                     // outermost nests, and those in sequential loops
  int parallel_regions = 0;
  int results = 0;
  int temporaries = 0;
  int buffers = 0;  // work space that is no array of the source: panels, parts of sums
  int checks_in_loops = 0;
  int checks_before = 0;  // outside loops
};

// `built`: with calls inlined. `scheduled`: of the indexed stage, with what schedule says. `final`:
// of the scheduled stage, after the last pass; for kernels or a host.
Account AccountFor(const ir::Program& built, const ir::Program& scheduled, const ir::Program& final,
                   bool for_kernels);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_ACCOUNT_H_
