#ifndef PARAKEET_PASSES_ANALYSES_FIND_PRODUCTS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_PRODUCTS_H_

#include <optional>
#include <string>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// One factor of a product's terms: an element of an array, or its conjugate, or what is made of
// elements and would have to be an array first.
struct Factor {
  ir::Operand value;
  const ir::Binding* load = nullptr;  // null where it is made
  bool is_conjugated = false;
  std::vector<const ir::Binding*> made;  // in order; with the loads
  std::vector<size_t> indices;           // that it follows, in order
};

// A contraction that is a product of two matrices by its index maps: sums of products of two
// factors. Indices are numbered as the contraction's, free ones first.
struct MatrixProduct {
  Factor left;
  Factor right;
  std::vector<size_t> batch;    // free indices that both follow
  std::vector<size_t> rows;     // and those of the left factor alone,
  std::vector<size_t> columns;  // and of the right one
  std::vector<size_t> depth;    // what is summed over
};

// Nothing, with the reason, where it is another contraction.
std::optional<MatrixProduct> FindProduct(const ir::Binding& contract, std::string* why);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_PRODUCTS_H_
