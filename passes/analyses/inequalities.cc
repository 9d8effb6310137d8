#include "passes/analyses/inequalities.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace parakeet::passes {

namespace {

using Row = Inequalities::Row;
using Rows = std::vector<Row>;

constexpr size_t kMostRows = 192;
constexpr int64_t kLargestRowTimes = int64_t{1} << 24;
constexpr int64_t kLargestConstant = int64_t{1} << 37;
constexpr double kWrapsAt = 18446744073709551616.0;  // 2^64

int64_t TimesIn(const Row& row, size_t value) {
  return value < row.times.size() ? row.times[value] : 0;
}

bool IsSmallRow(const Row& row) {
  return std::abs(row.constant) <= kLargestConstant &&
         std::all_of(row.times.begin(), row.times.end(),
                     [](int64_t times) { return std::abs(times) <= kLargestRowTimes; });
}

bool HasNoValues(const Row& row) {
  return std::all_of(row.times.begin(), row.times.end(), [](int64_t times) { return times == 0; });
}

// a * x + b * y, where a is positive; nothing where numbers get too large to be told exactly.
std::optional<Row> SumOf(const Row& x, int64_t a, const Row& y, int64_t b) {
  Row sum;
  sum.times.resize(std::max(x.times.size(), y.times.size()));
  for (size_t value = 0; value < sum.times.size(); ++value) {
    sum.times[value] = a * TimesIn(x, value) + b * TimesIn(y, value);
  }
  sum.constant = a * x.constant + b * y.constant;
  if (!IsSmallRow(sum)) return std::nullopt;
  sum.most = double(a) * x.most + double(std::abs(b)) * y.most;
  return sum.most < kWrapsAt ? std::optional<Row>(sum) : std::nullopt;
}

bool IsContradiction(const Row& row) {
  return row.constant < 0 && HasNoValues(row) && row.most < kWrapsAt - 2.0 * kLargestConstant;
}

// The rows with a multiple of `zero` added to each, so that they do not have the value.
Rows Without(const Rows& rows, const Row& zero, size_t value) {
  const int64_t own = TimesIn(zero, value);
  Rows left;
  for (const Row& row : rows) {
    const int64_t times = TimesIn(row, value);
    if (times == 0) {
      left.push_back(row);
    } else if (auto sum = SumOf(row, std::abs(own), zero, own > 0 ? -times : times)) {
      left.push_back(*std::move(sum));
    }
  }
  return left;
}

// The number of the value that is in the zero by the least multiple; of no value that is the size.
size_t LeastTimesOf(const Row& zero) {
  size_t least = zero.times.size();
  for (size_t value = 0; value < zero.times.size(); ++value) {
    const int64_t times = std::abs(zero.times[value]);
    if (times != 0 && (least == zero.times.size() || times < std::abs(zero.times[least])))
      least = value;
  }
  return least;
}

// Sums of each row that has the value and each that has it negative, so that none has it.
std::optional<Rows> Without(const Rows& rows, size_t value) {
  Rows left;
  for (const Row& row : rows) {
    if (TimesIn(row, value) == 0) left.push_back(row);
  }
  for (const Row& up : rows) {
    for (const Row& down : rows) {
      const int64_t rises = TimesIn(up, value), falls = TimesIn(down, value);
      if (rises <= 0 || falls >= 0) continue;
      if (auto sum = SumOf(up, -falls, down, rises)) left.push_back(*std::move(sum));
      if (left.size() > kMostRows) return std::nullopt;
    }
  }
  return left;
}

// The value of which the fewest sums are made; `count` for none.
size_t FewestSums(const Rows& rows, size_t count) {
  size_t best = count, least = 0;
  for (size_t value = 0; value < count; ++value) {
    size_t up = 0, down = 0;
    for (const Row& row : rows) {
      up += TimesIn(row, value) > 0;
      down += TimesIn(row, value) < 0;
    }
    if (up + down != 0 && (best == count || up * down < least)) best = value, least = up * down;
  }
  return best;
}

}  // namespace

// What is left out says nothing, and so proves nothing.
void Inequalities::IsNotNegative(Row row) {
  if (IsSmallRow(row)) rows_.push_back(std::move(row));
}

void Inequalities::IsZero(Row row) {
  if (IsSmallRow(row)) zeros_.push_back(std::move(row));
}

bool Inequalities::Contradict() const {
  Rows rows = rows_, zeros = zeros_;
  size_t count = 0;
  for (const Rows* each : {&rows, &zeros}) {
    for (const Row& row : *each) count = std::max(count, row.times.size());
  }
  while (!zeros.empty()) {
    const Row zero = zeros.back();
    zeros.pop_back();
    const size_t value = LeastTimesOf(zero);
    if (value == zero.times.size()) {
      if (zero.constant != 0) return true;
      continue;
    }
    rows = Without(rows, zero, value);
    zeros = Without(zeros, zero, value);
  }
  while (true) {
    if (std::any_of(rows.begin(), rows.end(), IsContradiction)) return true;
    const size_t value = FewestSums(rows, count);
    if (value == count) return false;
    std::optional<Rows> left = Without(rows, value);
    if (!left) return false;
    rows = *std::move(left);
  }
}

}  // namespace parakeet::passes
