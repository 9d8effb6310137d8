#ifndef PARAKEET_PASSES_LOWERING_CACHED_ROWS_H_
#define PARAKEET_PASSES_LOWERING_CACHED_ROWS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// A row of an array that several operators of a nest's element go through, each at its own index:
//
//   foreach (%i) in (%n) {
//     %t = ireduce (%j) in (%m) ... { ... load %x[%i, %j] ... }
//     foreach (%j) in (%m) { ... load %x[%i, %j] ... store %y[%i, %j] ... } }
//
// A thread that takes the same indexes of every operator reads and writes elements of its own
// alone, so that they may stand in faster memory meanwhile. An access is known by its operator and
// its place in that, both counted from 0.
struct CachedRow {
  struct Access {
    size_t op;
    size_t at;
    auto operator<=>(const Access&) const = default;
  };
  const ir::Var* array;  // As the nest has it: from outside, or an operator's result.
  ir::Operand length;
  Access first;  // It brings the element, by a load, or makes it.
  Access last;
  bool brings;
  // Stores before the last one show nowhere. For an operator's result there is none.
  size_t last_store;  // its operator; kNone
  int buffer;         // Rows of one dtype that are never needed at once share one.

  static constexpr size_t kNone = SIZE_MAX;
};

struct CachedRows {
  std::vector<const ir::Binding*> operators;  // the element's
  std::vector<CachedRow> rows;
  std::vector<ir::DType> buffers;
};

// Whether a reduction starts from its first element, which every thread reads.
using IsPeeled = std::function<bool(const ir::Binding& reduction)>;

// Those of an imap or foreach, in so many buffers at most.
CachedRows FindCachedRows(const ir::Binding& nest, const Roots& roots, const IsPeeled& is_peeled,
                          size_t most_buffers);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_CACHED_ROWS_H_
