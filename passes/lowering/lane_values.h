#ifndef PARAKEET_PASSES_LOWERING_LANE_VALUES_H_
#define PARAKEET_PASSES_LOWERING_LANE_VALUES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// What a scalar value of a loop's body is once its iterations run side by side.
struct LaneValue {
  enum Kind {
    kUniform,  // `value` is a scalar, the same in every lane
    kLinear,   // an i64: `value` in lane 0, `step` more in each next lane
    kVarying,  // `value` is a vector
  };
  Kind kind = kUniform;
  ir::Operand value;
  int64_t step = 0;
};

// The values of a body written for `lanes` lanes.
class LaneValues {
 public:
  explicit LaneValues(int lanes) : lanes_(lanes) {}

  int lanes() const { return lanes_; }
  void Set(const ir::Var* var, const LaneValue& value) { values_[var] = value; }
  // The value of an operand; one never set is uniform and stands for itself.
  LaneValue Of(const ir::Operand& operand) const;
  // The operand as a vector.
  ir::Operand Vector(ir::Builder& builder, const LaneValue& value) const;
  // 0, 1, 2 ... in the lanes.
  ir::Operand Iota(ir::Builder& builder) const;
  ir::Operand Splat(ir::Builder& builder, const ir::Operand& scalar) const;

  // The value of a scalar operation where it stays uniform or linear, or is one of vectors.
  LaneValue Apply(ir::Builder& builder, const ir::Binding& scalar_op) const;
  // The operands with 1 in the lanes that the mask leaves out. These hold anything, as the
  // logarithm of 0: a library would leave its vectors for such a lane and call its scalar function.
  std::vector<ir::Operand> Harmless(ir::Builder& builder, const std::vector<ir::Operand>& operands,
                                    const ir::Operand& mask);

 private:
  int lanes_;
  std::unordered_map<const ir::Var*, LaneValue> values_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LANE_VALUES_H_
