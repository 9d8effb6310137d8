#ifndef PARAKEET_PASSES_ANALYSES_TILE_READS_H_
#define PARAKEET_PASSES_ANALYSES_TILE_READS_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What neighbouring elements of a nest read together: some along one index, in some rows along
// another.
class TileReads {
 public:
  TileReads(const WrappingForms& forms, const ir::Var* along, const ir::Var* across = nullptr)
      : forms_(forms), along_(along), across_(across) {}

  // A load of the nest's block.
  void Add(const ir::Binding& load) { loads_.push_back(&load); }

  // How many places so many elements read, each once.
  size_t Places(int64_t elements) const { return Count(elements, 1, false); }
  // How many places of one element are others for its neighbour.
  size_t MovingPlaces() const {
    TileReads moving(forms_, along_);
    for (const ir::Binding* load : loads_) {
      const auto moves = [&](const ir::Operand& at) {
        return forms_.Of(at).Coefficient(along_) != 0;
      };
      if (std::any_of(load->operands.begin() + 1, load->operands.end(), moves)) moving.Add(*load);
    }
    return moving.Places(1);
  }
  // Whether elements of several rows share so much of the lines along arrays' last axes, which come
  // from caches that all threads have, that a thread had better make those than `alone` of one row.
  bool SharesLines(int64_t elements, int64_t rows, int64_t alone) const {
    const int64_t together = Count(elements, rows, true) * alone;
    return 4 * together <= 3 * elements * rows * int64_t(Count(alone, 1, true));
  }

 private:
  // The array, and for each axis the constant and the terms of its index.
  using Place = std::vector<std::pair<const void*, int64_t>>;

  size_t Count(int64_t elements, int64_t rows, bool by_line) const {
    std::set<Place> places;
    for (const ir::Binding* load : loads_) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t k = 0; k < elements; ++k) places.insert(PlaceOf(*load, k, row, by_line));
      }
    }
    return places.size();
  }

  Place PlaceOf(const ir::Binding& load, int64_t ahead, int64_t row, bool by_line) const {
    Place place = {{load.operands[0].var(), 0}};
    for (size_t k = 1; k < load.operands.size(); ++k) {
      const LinearForm form = forms_.Of(load.operands[k]);
      const bool is_within = by_line && k + 1 == load.operands.size();
      int64_t constant = (is_within ? 0 : form.constant) + ahead * form.Coefficient(along_);
      if (across_ != nullptr) constant += row * form.Coefficient(across_);
      place.emplace_back(nullptr, constant);
      place.insert(place.end(), form.terms.begin(), form.terms.end());
    }
    return place;
  }

  const WrappingForms& forms_;
  const ir::Var* along_;
  const ir::Var* across_;
  std::vector<const ir::Binding*> loads_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_TILE_READS_H_
