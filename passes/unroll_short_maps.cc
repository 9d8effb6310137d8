// Writes out maps of a few elements that are read at places that are constants, so that no array is
// made of them.
//
// Before:
//   %w: [3][3]u8 = imap (%a, %b) in (3, 3) {
//     %k = add %i, %a  %l = add %j, %b  %v = load %x[%k, %l]  yield %v }
//   %p = load %w[0, 1]  %q = load %w[2, 2]  %r = max %p, %q
// After:
//   %l = add %j, 1  %p = load %x[%i, %l]
//   %k = add %i, 2  %m = add %j, 2  %q = load %x[%k, %m]  %r = max %p, %q
//
// Assumes: index form; behind what reads back and leaves out stores (read_stored.cc), as of windows
// that are copied and sorted.
// Refuses: maps of lengths that are not constants, or that are read at other places, stored to or
// passed on; elements that hold more than scalar code, loads and choices of these; more than a few
// places.
#include <algorithm>
#include <map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Operands = std::vector<Operand>;
using Place = std::vector<int64_t>;

constexpr size_t kMostPlaces = 16;

bool IsPlain(const Block& block) {
  return std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
    if (b->op != OpCode::kIf) return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
    return std::all_of(b->blocks.begin(), b->blocks.end(),
                       [](const Block* inner) { return IsPlain(*inner); });
  });
}

// How arrays of a function are read.
class Reads {
 public:
  explicit Reads(const Block& body) {
    ir::ForEachUse(body, [&](const Var* used) {
      if (used->type.IsArray()) ++uses_[used];
    });
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op == OpCode::kLoad) See(b);
    });
  }

  // The places where the array is read; none where it is used otherwise too.
  std::vector<Place> PlacesOf(const Var* array) const {
    const auto found = places_.find(array);
    if (found == places_.end() || found->second.loads != uses_.at(array)) return {};
    return found->second.places;
  }

 private:
  struct Constants {
    int loads = 0;
    std::vector<Place> places;
  };

  void See(const Binding& load) {
    Place place;
    for (size_t axis = 1; axis < load.operands.size(); ++axis) {
      if (!load.operands[axis].IsConstant()) return;
      place.push_back(load.operands[axis].constant().integer);
    }
    Constants& constants = places_[load.operands[0].var()];
    ++constants.loads;
    if (std::count(constants.places.begin(), constants.places.end(), place) == 0)
      constants.places.push_back(place);
  }

  std::map<const Var*, int> uses_;
  std::map<const Var*, Constants> places_;
};

class MapUnroller : public ir::Mutator {
 public:
  MapUnroller(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), reads_(*function.body) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kImap && Unroll(*b)) return;
    const auto made = b->op == OpCode::kLoad ? made_.find(b->operands[0].var()) : made_.end();
    if (made == made_.end()) return Mutator::Visit(b);
    Place place;
    for (size_t axis = 1; axis < b->operands.size(); ++axis)
      place.push_back(b->operands[axis].constant().integer);
    Replace(b->result(), made->second.at(place));
  }

 private:
  bool Unroll(const Binding& map) {
    const Block& element = *map.blocks[0];
    // Of none, the elements may not be there that one is made of.
    const bool is_known = std::all_of(map.operands.begin(), map.operands.end(), [](auto& extent) {
      return extent.IsConstant() && extent.constant().integer > 0;
    });
    if (!is_known) return false;
    std::vector<Place> places;
    for (const Var* result : map.results) {
      if (result->type.rank() != int(element.params.size())) return false;
      const std::vector<Place> of_result = reads_.PlacesOf(result);
      if (of_result.empty()) return false;
      for (const Place& place : of_result) {
        if (std::count(places.begin(), places.end(), place) == 0) places.push_back(place);
      }
    }
    if (map.results.empty() || places.size() > kMostPlaces || !IsPlain(element)) return false;
    for (const Place& place : places) {
      const Block& copy = *ir::CloneBlock(arena(), element);
      for (size_t axis = 0; axis < place.size(); ++axis)
        Replace(copy.params[axis], Operand::Int(place[axis]));
      for (const Binding* b : copy.bindings) Visit(b);
      const Operands elements = Apply(copy.results);
      for (size_t k = 0; k < map.results.size(); ++k) made_[map.results[k]][place] = elements[k];
    }
    return true;
  }

  const Reads reads_;
  std::map<const Var*, std::map<Place, Operand>> made_;
};

}  // namespace

ir::Program UnrollShortMaps(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapUnroller(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
