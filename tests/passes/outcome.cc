#include "tests/passes/outcome.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "ir/constant_text.h"
#include "ir/diagnostics.h"

namespace parakeet {
namespace {

using ir::ArrayValue;
using ir::Constant;
using ir::DType;
using ir::Layout;

// Quarters, so that most sums and products of few of them are exact in any order.
double RandomReal(bool specials, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (specials && random() % 6 == 0) {
    const double values[] = {0.0, -0.0, kInfinity, -kInfinity, std::nan("")};
    return values[random() % std::size(values)];
  }
  return (static_cast<int>(random() % 65) - 32) / 4.0;
}

Constant RandomScalar(DType dtype, bool specials, Random& random) {
  if (ir::IsBool(dtype)) return Constant::Bool(random() % 2 == 0);
  if (ir::IsFloat(dtype)) {
    const double value = RandomReal(specials, random);
    return Constant::Float(dtype == DType::kF64 || std::isinf(value) ? value : std::fmod(value, 64),
                           dtype);
  }
  if (ir::IsComplex(dtype)) {
    return Constant::Complex(RandomReal(false, random), RandomReal(false, random), dtype);
  }
  if (ir::IsUnsigned(dtype)) return ir::ConstantOf(dtype, static_cast<int64_t>(random() % 16));
  return ir::ConstantOf(dtype, static_cast<int64_t>(random() % 16) - 4);
}

struct Strides {
  std::vector<int64_t> of_axes;
  int64_t first = 0;  // bytes before the element at index 0
  int64_t bytes = 0;
};

// Axes from slowest to fastest, each reversed or spread by `random` where the layout allows.
Strides ChooseStrides(const std::vector<int64_t>& sizes, int64_t element, Layout layout,
                      Random& random) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  const bool free = layout == Layout::kStrided;
  if (layout == Layout::kFortran || (free && random() % 3 == 0)) {
    std::reverse(order.begin(), order.end());
  }
  Strides strides{std::vector<int64_t>(sizes.size()), 0, element};
  for (size_t k = order.size(); k-- > 0;) {
    const int64_t size = sizes[order[k]];
    int64_t stride = strides.bytes;
    if (free && random() % 4 == 0) stride *= 2;
    strides.bytes = stride * std::max<int64_t>(size, 1);
    const bool reversed = free && random() % 4 == 0;
    if (reversed && size > 0) strides.first += (size - 1) * stride;
    strides.of_axes[order[k]] = reversed ? -stride : stride;
  }
  return strides;
}

ArrayValue RandomArray(DType dtype, const std::vector<int64_t>& sizes, Layout layout, bool specials,
                       Random& random) {
  const Strides strides = ChooseStrides(sizes, ir::SizeInBytes(dtype), layout, random);
  ArrayValue array{dtype, std::make_shared<std::vector<std::byte>>(strides.bytes), nullptr, sizes,
                   strides.of_axes};
  array.data = array.storage->data() + strides.first;
  ir::ForEachIndex(sizes, [&](const ir::Index& index) {
    ir::StoreElement(RandomScalar(dtype, specials, random), ir::ElementAt(array, index));
  });
  return array;
}

std::vector<Constant> Elements(const ir::RuntimeValue& value) {
  const auto* array = std::get_if<ArrayValue>(&value);
  if (array == nullptr) return {std::get<Constant>(value)};
  std::vector<Constant> elements;
  ir::ForEachIndex(array->sizes, [&](const ir::Index& index) {
    elements.push_back(ir::LoadElement(array->dtype, ir::ElementAt(*array, index)));
  });
  return elements;
}

std::string Text(const ir::RunError& error) {
  std::string text = "site " + std::to_string(error.site) + " at (";
  for (const int64_t number : error.place) text += std::to_string(number) + ",";
  text += ") with (";
  for (const Constant& scalar : error.scalars) text += ir::Text(scalar) + ",";
  return text + ")";
}

// The strides that can be told from the elements' places.
std::vector<int64_t> StridesThatCount(const ArrayValue& array) {
  std::vector<int64_t> strides = array.strides;
  const bool is_empty = ir::CountOf(array.sizes) == 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (is_empty || array.sizes[axis] == 1) strides[axis] = 0;
  }
  return strides;
}

void AddValue(const ir::RuntimeValue& value, Outcome& outcome) {
  const auto* array = std::get_if<ArrayValue>(&value);
  outcome.values.push_back(Elements(value));
  outcome.shapes.push_back(array == nullptr ? std::vector<int64_t>() : array->sizes);
  outcome.strides.push_back(array == nullptr ? std::vector<int64_t>() : StridesThatCount(*array));
}

// The first of the values that has the storage of `value`, or -1.
int OwnerOf(const ir::RuntimeValue& value, const std::vector<const ir::Values*>& others) {
  const auto* array = std::get_if<ArrayValue>(&value);
  int number = 0;
  for (const ir::Values* values : others) {
    for (const ir::RuntimeValue& other : *values) {
      if (&other == &value) return -1;
      const auto* owner = std::get_if<ArrayValue>(&other);
      if (array != nullptr && owner != nullptr && owner->storage == array->storage) return number;
      ++number;
    }
  }
  return -1;
}

bool SameReal(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (tolerance == kExactly) return a == b && std::signbit(a) == std::signbit(b);
  return a == b || std::abs(a - b) <= tolerance * (1.0 + std::max(std::abs(a), std::abs(b)));
}

bool Same(const Constant& a, const Constant& b, double tolerance) {
  return a.dtype == b.dtype && a.integer == b.integer && SameReal(a.real, b.real, tolerance) &&
         SameReal(a.imag, b.imag, tolerance);
}

}  // namespace

ir::Values RandomArguments(const ir::Function& function, const ArgumentOptions& options,
                           Random& random) {
  std::unordered_map<const ir::Var*, int64_t> bound;
  ir::Values arguments;
  for (const ir::Param& param : function.params) {
    const ir::Type& type = param.var->type;
    if (!type.IsArray()) {
      arguments.push_back(RandomScalar(type.dtype(), options.specials, random));
      continue;
    }
    std::vector<int64_t> sizes;
    for (const ir::Operand& dim : type.dims()) {
      if (dim.IsConstant()) {
        sizes.push_back(dim.constant().integer);
        continue;
      }
      int64_t size = options.sizes[random() % options.sizes.size()];
      if (function.entry && size == 1) size = 2;  // An axis of length 1 would be so in the type.
      sizes.push_back(bound.try_emplace(dim.var(), size).first->second);
    }
    arguments.push_back(RandomArray(type.dtype(), sizes, param.layout, options.specials, random));
  }
  return arguments;
}

ir::Values CopyArguments(const ir::Values& arguments) {
  std::map<const void*, ir::Storage> copies;
  ir::Values result;
  for (const ir::RuntimeValue& argument : arguments) {
    const auto* array = std::get_if<ArrayValue>(&argument);
    if (array == nullptr) {
      result.push_back(argument);
      continue;
    }
    ir::Storage& storage = copies[array->storage.get()];
    if (storage == nullptr) storage = std::make_shared<std::vector<std::byte>>(*array->storage);
    ArrayValue copy = *array;
    copy.data = storage->data() + (array->data - array->storage->data());
    copy.storage = storage;
    result.push_back(std::move(copy));
  }
  return result;
}

template <typename Less>
void SortPlaces(const std::vector<uint64_t>& operands, Less is_less) {
  auto* places = reinterpret_cast<int64_t*>(operands[2]);
  std::stable_sort(places, places + operands[3], is_less);
}

// The indexes that sorting puts at the places that an operand has.
template <typename Less>
std::vector<int64_t> OrderOf(const std::vector<uint64_t>& operands, Less is_less) {
  std::vector<int64_t> order(operands[1]);
  for (size_t k = 0; k < order.size(); ++k) order[k] = int64_t(k);
  std::stable_sort(order.begin(), order.end(), is_less);
  const auto* asked = reinterpret_cast<const int64_t*>(operands[2]);
  std::vector<int64_t> chosen;
  for (uint64_t k = 0; k < operands[3]; ++k) chosen.push_back(order[size_t(asked[k])]);
  return chosen;
}

// Stands for the libraries: sorts numbers of 64 bits as NumPy does, all of them stably.
int64_t SortDoubles(const std::string& symbol, const std::string&,
                    const std::vector<uint64_t>& operands) {
  const auto is_less = [](double a, double b) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  };
  auto* numbers = reinterpret_cast<double*>(operands[0]);
  if (symbol == "pk_numpy_argsort_f64") {
    SortPlaces(operands, [&](int64_t a, int64_t b) { return is_less(numbers[a], numbers[b]); });
    return 0;
  }
  if (symbol == "pk_numpy_argsort_i64") {
    const auto* integers = reinterpret_cast<const int64_t*>(operands[0]);
    SortPlaces(operands, [&](int64_t a, int64_t b) { return integers[a] < integers[b]; });
    return 0;
  }
  const auto by_element = [&](int64_t a, int64_t b) { return is_less(numbers[a], numbers[b]); };
  if (symbol == "pk_numpy_select_f64") {
    auto* made = reinterpret_cast<double*>(operands[4]);
    for (const int64_t place : OrderOf(operands, by_element)) *made++ = numbers[place];
    return 0;
  }
  if (symbol == "pk_numpy_argselect_f64") {
    auto* made = reinterpret_cast<int64_t*>(operands[4]);
    for (const int64_t place : OrderOf(operands, by_element)) *made++ = place;
    return 0;
  }
  if (symbol == "pk_numpy_stable_sort_i64") {
    auto* integers = reinterpret_cast<int64_t*>(operands[0]);
    std::sort(integers, integers + operands[1]);
    return 0;
  }
  if (symbol != "pk_numpy_sort_f64" && symbol != "pk_numpy_stable_sort_f64")
    ir::FailBug("the tests have no " + symbol);
  std::stable_sort(numbers, numbers + operands[1], is_less);
  return 0;
}

Outcome RunOn(const ir::Program& program, const ir::Values& arguments) {
  Outcome outcome;
  const ir::Values own = CopyArguments(arguments);
  try {
    const ir::RunResult result =
        ir::Interpret(program, program.functions.front()->name, own, SortDoubles);
    if (result.error) outcome.error = Text(*result.error);
    for (const ir::RuntimeValue& value : result.values) {
      AddValue(value, outcome);
      outcome.owners.push_back(OwnerOf(value, {&own, &result.values}));
    }
    for (const ir::RuntimeValue& argument : own) AddValue(argument, outcome);
  } catch (const ir::Failure& failure) {
    outcome.bug = failure.what();
  }
  return outcome;
}

std::string Difference(const Outcome& expected, const Outcome& actual, double tolerance) {
  if (!actual.bug.empty()) return "it is not valid any more: " + actual.bug;
  if (expected.error != actual.error) {
    return "error `" + actual.error + "`; expected `" + expected.error + "`";
  }
  if (expected.shapes != actual.shapes) return "shapes differ";
  for (size_t i = 0; i < expected.values.size(); ++i) {
    for (size_t k = 0; k < expected.values[i].size(); ++k) {
      if (Same(expected.values[i][k], actual.values[i][k], tolerance)) continue;
      const bool is_result = i < expected.owners.size();
      return std::string(is_result ? "result " : "argument ") +
             std::to_string(is_result ? i : i - expected.owners.size()) + " element " +
             std::to_string(k) + " is " + ir::Text(actual.values[i][k]) + "; expected " +
             ir::Text(expected.values[i][k]);
    }
  }
  if (expected.strides != actual.strides) return "results lie in memory in another order";
  return expected.owners == actual.owners ? "" : "results share other memory than before";
}

}  // namespace parakeet
