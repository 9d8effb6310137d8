#ifndef PARAKEET_PASSES_ANALYSES_FIND_PRODUCTS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_PRODUCTS_H_

#include <optional>
#include <string>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// A contraction that is a product of two matrices by its index maps: sums of products of one
// element of either. Indices are numbered as the contraction's, free ones first.
struct MatrixProduct {
  const ir::Binding* left = nullptr;  // the loads
  const ir::Binding* right = nullptr;
  bool conjugates_left = false;
  bool conjugates_right = false;
  std::vector<size_t> batch;    // free indices that both follow
  std::vector<size_t> rows;     // and those of the left operand alone,
  std::vector<size_t> columns;  // and of the right one
  std::vector<size_t> depth;    // what is summed over
};

// Nothing, with the reason, where it is another contraction.
std::optional<MatrixProduct> FindProduct(const ir::Binding& contract, std::string* why);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_PRODUCTS_H_
