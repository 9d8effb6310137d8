#include "ir/constant_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

constexpr uint64_t kPlainNan = 0x7ff8000000000000;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

// --- Writing ---

std::string NanText(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  if (bits == kPlainNan) return "nan";
  if (bits == (kPlainNan | kSignBit)) return "-nan";
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, bits, 16).ptr;
  return "nan:0x" + std::string(buffer, end);
}

// Shortest digits, with an exponent only for the very large and the very small, as Python writes
// floats.
template <typename Float>
std::string FiniteText(Float value) {
  const double magnitude = std::fabs(static_cast<double>(value));
  const bool fixed = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  char buffer[64];
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr);
  return fixed && text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string FloatText(double value, DType dtype) {
  if (std::isnan(value)) return NanText(value);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (dtype == DType::kF32 || dtype == DType::kC64) return FiniteText(static_cast<float>(value));
  return FiniteText(value);
}

std::string ValueText(const Constant& c) {
  if (IsFloat(c.dtype)) return FloatText(c.real, c.dtype);
  if (IsComplex(c.dtype))
    return "(" + FloatText(c.real, c.dtype) + "," + FloatText(c.imag, c.dtype) + ")";
  if (c.dtype == DType::kU64) return std::to_string(static_cast<uint64_t>(c.integer));
  return std::to_string(c.integer);
}

// --- Reading ---

bool IsWord(char c) { return IsWordCharacter(c) || c == '.'; }

// Reads the parts of one constant from left to right.
class ConstantReader {
 public:
  explicit ConstantReader(std::string_view text) : text_(text) {}

  std::optional<Constant> Read() {
    if (Take("true")) return AtWordEnd(Constant::Bool(true));
    if (Take("false")) return AtWordEnd(Constant::Bool(false));
    if (Take("(")) return Complex();
    return Number();
  }
  size_t place() const { return place_; }

 private:
  bool Take(std::string_view expected) {
    if (!text_.substr(place_).starts_with(expected)) return false;
    place_ += expected.size();
    return true;
  }

  std::optional<Constant> AtWordEnd(std::optional<Constant> constant) const {
    const bool ends = place_ == text_.size() || !IsWord(text_[place_]);
    return ends ? constant : std::nullopt;
  }

  std::optional<Constant> Complex() {
    const std::string_view real = Digits();
    if (!Take(",")) return std::nullopt;
    const std::string_view imag = Digits();
    if (!Take(")")) return std::nullopt;
    const std::optional<DType> dtype = Suffix();
    if (!dtype || !IsComplex(*dtype)) return std::nullopt;
    const std::optional<double> re = Value(real, *dtype), im = Value(imag, *dtype);
    if (!re || !im) return std::nullopt;
    return AtWordEnd(Constant::Complex(*re, *im, *dtype));
  }

  std::optional<Constant> Number() {
    const std::string_view digits = Digits();
    if (digits.empty()) return std::nullopt;
    const bool fractional = digits.find_first_of(".en") != std::string_view::npos;
    const DType dtype = Suffix().value_or(fractional ? DType::kF64 : DType::kI64);
    if (!IsFloat(dtype)) return AtWordEnd(Integer(digits, dtype));
    const std::optional<double> value = Value(digits, dtype);
    if (!value) return std::nullopt;
    return AtWordEnd(Constant::Float(*value, dtype));
  }

  // The characters of a number: a sign, then `inf`, `nan`, `nan:0x...`, or digits with a point and
  // an exponent.
  std::string_view Digits() {
    const size_t start = place_;
    Take("-");
    if (Take("nan")) {
      if (Take(":0x")) SkipHex();
    } else if (!Take("inf")) {
      SkipDigits();
      if (Take(".")) SkipDigits();
      SkipExponent();
    }
    const std::string_view digits = text_.substr(start, place_ - start);
    return digits == "-" ? std::string_view() : digits;
  }

  void SkipDigits() {
    while (place_ < text_.size() && IsDigit(text_[place_])) ++place_;
  }
  void SkipHex() {
    while (place_ < text_.size() &&
           std::string_view("0123456789abcdef").find(text_[place_]) != std::string_view::npos) {
      ++place_;
    }
  }
  void SkipExponent() {
    if (!Take("e")) return;
    if (!Take("+")) Take("-");
    SkipDigits();
  }

  // `:i8` and its like. Where what follows the colon is no dtype, the colon is not the constant's.
  std::optional<DType> Suffix() {
    const size_t start = place_;
    if (!Take(":")) return std::nullopt;
    const size_t name = place_;
    while (place_ < text_.size() && IsWord(text_[place_])) ++place_;
    const std::optional<DType> dtype = DTypeFromName(text_.substr(name, place_ - name));
    if (!dtype) place_ = start;
    return dtype;
  }

  static std::optional<double> Value(std::string_view digits, DType dtype) {
    if (digits.starts_with("nan:0x")) return NanOfBits(digits.substr(6));
    if (digits == "nan") return std::bit_cast<double>(kPlainNan);
    if (digits == "-nan") return std::bit_cast<double>(kPlainNan | kSignBit);
    if (dtype == DType::kF32 || dtype == DType::kC64) return Parsed<float>(digits);
    return Parsed<double>(digits);
  }

  static std::optional<double> NanOfBits(std::string_view hex) {
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    const double value = std::bit_cast<double>(bits);
    if (error != std::errc() || end != hex.data() + hex.size() || !std::isnan(value))
      return std::nullopt;
    return value;
  }

  template <typename T>
  static std::optional<T> Parsed(std::string_view digits) {
    T value{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }

  static std::optional<Constant> Integer(std::string_view digits, DType dtype) {
    if (!IsInteger(dtype)) return std::nullopt;
    if (dtype == DType::kU64) {
      const std::optional<uint64_t> value = Parsed<uint64_t>(digits);
      if (!value) return std::nullopt;
      return Constant::Int(static_cast<int64_t>(*value), dtype);
    }
    const std::optional<int64_t> value = Parsed<int64_t>(digits);
    if (!value || !(ConstantOf(dtype, *value) == Constant::Int(*value, dtype))) return std::nullopt;
    return Constant::Int(*value, dtype);
  }

  std::string_view text_;
  size_t place_ = 0;
};

}  // namespace

std::string Text(const Constant& constant) {
  if (IsBool(constant.dtype)) return constant.integer ? "true" : "false";
  const bool plain = constant.dtype == DType::kI64 || constant.dtype == DType::kF64;
  return plain ? ValueText(constant)
               : ValueText(constant) + ":" + std::string(Name(constant.dtype));
}

size_t ReadConstant(std::string_view text, Constant* constant) {
  ConstantReader reader(text);
  const std::optional<Constant> read = reader.Read();
  if (!read) return 0;
  *constant = *read;
  return reader.place();
}

}  // namespace parakeet::ir
