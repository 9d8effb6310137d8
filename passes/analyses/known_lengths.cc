#include "passes/analyses/known_lengths.h"

#include <algorithm>

namespace parakeet::passes {

bool IsSayable(const ir::Operand& extent, const ir::Var* array) {
  const std::vector<ir::Operand>& dims = array->type.dims();
  const size_t said = std::min(dims.size(), std::size(kMostKnownLengths));
  return std::find(dims.end() - said, dims.end(), extent) != dims.end();
}

KnownLengths::KnownLengths(const ir::Function& function, const Options& options) {
  if (!function.entry) return;
  for (size_t k = 0; k < function.params.size(); ++k) {
    const ir::Type& type = function.params[k].var->type;
    if (!type.IsArray()) continue;
    arrays_[function.params[k].var] = k;
    const bool is_said = k < options.lengths.size();
    for (int axis = 0; axis < type.rank(); ++axis) {
      const ir::Operand& size = type.dims()[axis];
      if (!size.IsVar()) continue;
      const int64_t length = is_said ? options.lengths[k][axis] : 0;
      if (length > 0) lengths_.emplace(size.var(), length);
    }
  }
}

std::optional<int64_t> KnownLengths::Of(const ir::Operand& extent) const {
  if (extent.IsConstant()) return extent.constant().integer;
  const auto found = lengths_.find(extent.var());
  return found == lengths_.end() ? std::nullopt : std::optional(found->second);
}

std::set<size_t> KnownLengths::ParametersOf(const ir::Operand& extent) const {
  std::set<size_t> numbers;
  for (const auto& [array, number] : arrays_) {
    if (IsSayable(extent, array)) numbers.insert(number);
  }
  return numbers;
}

std::optional<size_t> KnownLengths::NumberOf(const ir::Var* array) const {
  const auto found = arrays_.find(array);
  return found == arrays_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace parakeet::passes
