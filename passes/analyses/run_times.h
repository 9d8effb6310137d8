#ifndef PARAKEET_PASSES_ANALYSES_RUN_TIMES_H_
#define PARAKEET_PASSES_ANALYSES_RUN_TIMES_H_

#include <functional>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/uses.h"

namespace parakeet::passes {

// How long code is expected to take, in nanoseconds: f64 values, of what is known where they are
// written.
struct RunTimes {
  ir::Operand host;    // on one core, of arrays in its memory
  ir::Operand device;  // by kernels, which one thread of a device or many run
};

// Values that come from arrays, which the host would have to ask the device for.
ir::VarSet ValuesFromArrays(const ir::Function& function);

// How a device goes through a loop: a kernel for each of its steps, or all of it by the threads of
// one block, which wait for one another (keep_loops_in_block.cc).
enum class Kernels { kMany, kOneBlock };

inline ir::Operand Ns(double nanoseconds) { return ir::Operand(ir::Constant::Float(nanoseconds)); }

// Writes what a loop between kernels takes, in front of it, by the lengths of its loops. Those
// that depend on the index of a loop around them are taken from its middle; a length that is not
// known there counts as kUnknownTrips (find_cost.h), that of a `while` around all else as what the
// caller says.
//
// Assumes: loops over buffers, as extract-kernels takes them.
class TimeWriter {
 public:
  // `is_known` says of a value of outside whether the host has it without a look at the device.
  TimeWriter(ir::Builder& builder, std::function<bool(const ir::Var*)> is_known,
             Kernels kernels = Kernels::kMany)
      : builder_(builder), is_known_(std::move(is_known)), kernels_(kernels) {}

  RunTimes Of(const ir::Binding& loop, const ir::Operand& turns_of_while);

 private:
  RunTimes OfCode(const ir::Binding& b, bool in_thread);
  RunTimes OfBlock(const ir::Block& block, bool in_thread);
  RunTimes OfLoop(const ir::Binding& loop, bool in_thread);
  RunTimes OfKernel(const RunTimes& iteration, const ir::Operand& trips, double at_once);
  RunTimes OfScalar(const ir::Binding& b, bool in_thread);
  ir::Operand OnDevice(const ir::Binding& b, double half_cycles, bool in_thread) const;
  ir::Operand PartOf(const ir::Binding& branch, size_t side);
  ir::Operand Trips(const ir::Binding& loop);
  std::optional<ir::Operand> Known(const ir::Operand& value);
  std::optional<ir::Operand> Write(const ir::Var* value);
  std::optional<ir::Operand> Middle(const ir::Binding& loop);

  ir::Operand Sum(const ir::Operand& a, const ir::Operand& b);
  ir::Operand Product(const ir::Operand& a, const ir::Operand& b);

  ir::Builder& builder_;
  std::function<bool(const ir::Var*)> is_known_;
  Kernels kernels_;
  ir::Operand turns_;                                             // of the outermost `while`
  ir::DefinitionMap definitions_;                                 // of the loop's values,
  ir::VarSet inside_;                                             // and indexes,
  std::unordered_map<const ir::Var*, const ir::Binding*> loops_;  // of these loops,
  std::unordered_map<const ir::Var*, std::optional<ir::Operand>> values_;  // and what is in front
  ir::VarSet varying_;  // What follows from indexes.
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_RUN_TIMES_H_
