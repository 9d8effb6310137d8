#include "frontend/memory_order.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "frontend/static_values.h"

namespace parakeet::frontend {
namespace {

using Dims = std::vector<ir::Operand>;

// What the operands say of two axes of the result, counted from the last.
bool AreFortran(const Context& context, const Values& operands, size_t inner, size_t outer) {
  bool fortran = false;
  for (const Value& operand : operands) {
    const auto* array = operand.TryAs<ArrayValue>();
    if (array == nullptr || array->dims().size() <= outer) continue;
    const auto is_narrow = [&](size_t axis) {
      return context.IsNarrow(array->dims().rbegin()[axis]);
    };
    if (is_narrow(inner) || is_narrow(outer)) continue;
    if (array->order != Order::kFortran) return false;
    fortran = true;
  }
  return fortran;
}

}  // namespace

Order KeptOrder(const Context& context, const Dims& dims, const Values& operands) {
  std::vector<size_t> axes;  // Counted from the last.
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!context.IsNarrow(dims.rbegin()[axis])) axes.push_back(axis);
  }
  if (axes.size() < 2) return Order::kC;
  for (size_t i = 0; i < axes.size(); ++i) {
    for (size_t j = i + 1; j < axes.size(); ++j) {
      if (!AreFortran(context, operands, axes[i], axes[j])) return Order::kC;
    }
  }
  return Order::kFortran;
}

Order TransposedOrder(const Context& context, const ArrayValue& array,
                      const std::vector<int64_t>& perm) {
  std::vector<int64_t> wide;
  for (const int64_t axis : perm) {
    if (!context.IsNarrow(array.dims()[axis])) wide.push_back(axis);
  }
  if (std::is_sorted(wide.begin(), wide.end())) return array.order;
  if (!std::is_sorted(wide.rbegin(), wide.rend())) return Order::kOther;
  if (array.order == Order::kC) return Order::kFortran;
  return array.order == Order::kFortran ? Order::kC : Order::kOther;
}

Order StaticOrder(Evaluator* evaluator, const Value& order, size_t rank, const Value* like) {
  const std::string otherwise = like == nullptr ? "C" : "K";
  const std::string text = order.IsNone() ? otherwise : StaticString(evaluator, order, "order");
  const char letter = text.size() == 1 ? static_cast<char>(std::toupper(text[0])) : '?';
  if (letter == 'C') return Order::kC;
  if (letter == 'F') return Order::kFortran;
  if (letter != 'A' && letter != 'K') {
    evaluator->context().FailUser(
        "ValueError", "order must be one of 'C', 'F', 'A', or 'K' (got '" + text + "')");
  }
  if (like == nullptr) {
    evaluator->context().FailUser("ValueError", "only 'C' or 'F' order is permitted");
  }
  const Dims& dims = like->As<ArrayValue>().dims();
  return dims.size() == rank ? KeptOrder(evaluator->context(), dims, {*like}) : Order::kC;
}

ir::Attributes OrderAttributes(Order order, size_t rank) {
  if (order != Order::kFortran || rank < 2) return {};
  return {{ir::Attr::kFortran, int64_t{1}}};
}

}  // namespace parakeet::frontend
