#ifndef PARAKEET_PASSES_ANALYSES_INEQUALITIES_H_
#define PARAKEET_PASSES_ANALYSES_INEQUALITIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parakeet::passes {

// Linear inequalities of numbers, of which one asks whether any numbers satisfy them all.
//
// Sums may wrap around: a row stands for its sum modulo 2^64, which is a number from 0 to `most`.
// Positive multiples of rows that cancel each other's terms, and leave a negative constant -c, are
// a contradiction only where they cannot come to 2^64 - c: of each row it is therefore kept how
// much it may be.
class Inequalities {
 public:
  struct Row {
    std::vector<int64_t> times;  // by number of the value; those behind the end are 0
    int64_t constant = 0;
    double most = 0.0;
  };

  // The sum is not negative, and at most `row.most`.
  void IsNotNegative(Row row);
  // The sum is a multiple of 2^64.
  void IsZero(Row row);

  // True where no numbers satisfy them, as Fourier's and Motzkin's elimination shows; false also
  // where that would take long, or numbers are large.
  bool Contradict() const;

 private:
  std::vector<Row> rows_, zeros_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_INEQUALITIES_H_
