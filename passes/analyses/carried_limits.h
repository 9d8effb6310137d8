#ifndef PARAKEET_PASSES_ANALYSES_CARRIED_LIMITS_H_
#define PARAKEET_PASSES_ANALYSES_CARRIED_LIMITS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/ranges.h"

namespace parakeet::passes {

// Limits of the i64s that a loop carries, in all of its iterations. They are guessed: that a value
// never falls below, or never rises above, what it is at first, moved in every iteration by so
// much; that it is not negative; and what the loop's condition says, and its checks. What the body,
// walked with all of them supposed, does not keep is taken out, until nothing is: what is left
// holds by induction.
//
// Assumes, as Ranges does, that steps of at most 1024 get no loop past 2^48, nor do loops whose
// iterations are so few that all of them together move a value by no more than 2^32; be it from
// where it begins, or from within 2^31 of 0, where an iteration lets it begin anew.
class CarriedLimits {
 public:
  CarriedLimits() = default;
  // Of a loop with its operands as they are written, before its walk.
  CarriedLimits(const ir::Binding& loop, std::vector<ir::Operand> operands, const Ranges& ranges);

  // True where nothing is supposed of anything.
  bool IsEmpty() const;
  void Clear() { values_.clear(); }
  // Tells what is supposed of the values in the blocks of the loop, or of a copy of it.
  void Suppose(const ir::Binding& loop, Ranges& ranges) const;
  // Guesses more where the body of the loop begins, by what its condition has said.
  void GuessAtStart(const ir::Binding& loop, const Ranges& ranges);
  // Takes out what these results of the body do not keep, and guesses how they move. False where
  // something was taken out, so that the rest must be walked again.
  bool KeepAtEnd(const ir::Binding& loop, const std::vector<ir::Operand>& results,
                 const Ranges& ranges);
  // Supposes from here on those of the guesses that hold at first: true where there are any. To be
  // asked where the loop begins, not inside, where more is known than if it does not run.
  bool Admit(const Ranges& ranges);
  // Tells of the loop's results what holds behind it.
  void Conclude(const ir::Binding& loop, Ranges& ranges) const;

 private:
  // base, and in every iteration one `slope` more; `inside` where it holds at first because there
  // is an iteration, so that nothing follows of a loop that may not run.
  struct Limit {
    bool high;
    LinearForm base;
    int64_t slope = 0;
    bool inside = false;
  };
  struct Value {
    size_t place;  // among what is carried
    LinearForm init;
    bool is_near;  // within 2^48 of 0
    std::vector<Limit> limits;
    std::vector<Limit> guesses;
  };

  void Guess(Value& value, const Limit& limit);
  void GuessByInit(Value& value, const ir::Operand& init, const Ranges& ranges);
  void GuessChecked(const ir::Binding& loop, const Ranges& ranges);
  void GuessMoves(Value& value, const ir::Var* param, const LinearForm& next, const Ranges& ranges);
  bool IsSteady(const LinearForm& next, const ir::Var* param, bool high,
                const Ranges& ranges) const;
  bool IsKept(const Limit& limit, const LinearForm& next, const ir::Var* index,
              const Ranges& ranges) const;
  // How many iterations have run where the index is so much.
  LinearForm Iterations(const LinearForm& index) const;

  std::vector<Value> values_;
  // Of a `for` by 1 or -1, whose iterations are counted; 0 for others.
  int64_t step_ = 0;
  LinearForm lo_;
  LinearForm hi_;
  int64_t largest_move_ = 0;  // in an iteration
  int walks_ = 0;             // that have ended
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_CARRIED_LIMITS_H_
