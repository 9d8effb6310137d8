// Fixes the order in which every reduction and scan combines: its blocks and lanes.
//
// Before:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 { ... }
// After:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 tree(block 8192, lanes 32) { ... }
//
// Assumes: index form. ir/reduction_tree.h says what a tree means. Threads and the width of
// registers take no part: one core and many give the same bits.
// Refuses: lanes where a combine depends on the order of its sides, where an array is accumulated,
// where the extents are small constants, or where memory follows the index around the reduction.
#include <algorithm>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/combines.h"
#include "passes/analyses/vector_legality.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kReductionBlock = 8192;
constexpr int64_t kBlockOfLoops = 64;
// No power of two: blocks run side by side, and their elements are not all to lie in one set of a
// cache.
constexpr int64_t kScanBlock = 264;
constexpr int64_t kLaneBytes =
    256;  // What the lanes of all accumulators together may fill: four wide registers.
constexpr int64_t kMostLanes = 64;
constexpr int64_t kSmallExtent = 32;

class TreeChooser : public ir::Mutator {
 public:
  TreeChooser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), patterns_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    switch (b->op) {
      case OpCode::kIreduce: {
        const int64_t block = BlockOf(*b);
        return Set(*b, IsOneBlock(*b, block) ? 0 : block, LanesOf(*b));
      }
      case OpCode::kIscan: return Set(*b, depth_ > 0 || HoldsArrays(*b) ? 0 : kScanBlock, 1);
      case OpCode::kImap:
      case OpCode::kForeach:
      case OpCode::kIfilter: return VisitNest(*b);
      default: return Mutator::Visit(b);
    }
  }

 private:
  // What stands inside a nest runs on one thread; lanes may take an index of the nest.
  void VisitNest(const Binding& b) {
    ++depth_;
    const Binding* outer = std::exchange(nest_, &b);
    Mutator::Visit(&b);
    nest_ = outer;
    --depth_;
  }

  // What accumulates arrays makes one at each step, and nothing is gained by making more at once.
  static bool HoldsArrays(const Binding& b) {
    return std::any_of(b.blocks[1]->results.begin(), b.blocks[1]->results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsArray(); });
  }

  // Fewer elements where each is made by a loop of its own.
  static int64_t BlockOf(const Binding& b) {
    bool loops = false;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
      loops |= inner.op == OpCode::kFor || inner.op == OpCode::kWhile ||
               InfoOf(inner.op).format == ir::OpFormat::kIndices;
    });
    return loops ? kBlockOfLoops : kReductionBlock;
  }

  // True where the whole index space is known to fit in one block, or blocks are of no use.
  bool IsOneBlock(const Binding& b, int64_t block) const {
    if (depth_ > 0 || HoldsArrays(b)) return true;
    int64_t size = 1;
    for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
      const Operand& extent = b.operands[axis];
      if (!extent.IsConstant() || extent.constant().integer > block) return false;
      size *= std::max<int64_t>(extent.constant().integer, 1);
      if (size > block) return false;
    }
    return true;
  }

  void Set(const Binding& b, int64_t block, int64_t lanes) {
    ++depth_;
    Binding copy = *Rewrite(&b);
    --depth_;
    copy.attrs = copy.attrs.With(Attr::kBlock, block).With(Attr::kLanes, lanes);
    builder().Append(arena()->New(std::move(copy)));
  }

  int64_t LanesOf(const Binding& b) {
    const std::string reason = WhyNoLanes(b);
    if (!reason.empty()) {
      context_.Note(b.span, "no lanes: " + reason, Topic::kLanes, Verdict::kRefused);
      return 1;
    }
    int64_t bytes = 0;
    for (const Var* result : b.results) bytes += ir::SizeInBytes(result->type.dtype());
    int64_t lanes = kMostLanes;
    while (lanes > 1 && lanes * bytes > kLaneBytes) lanes /= 2;
    return lanes;
  }

  static std::string WhyNoLanesToCombine(const Binding& b) {
    bool has_identity = true;
    bool idempotent = true;
    const bool is_extreme = IsExtremeByIndex(*b.blocks[1]);
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!b.results[k]->type.IsScalar()) return "it accumulates an array";
      if (ir::IsComplex(b.results[k]->type.dtype())) return "it accumulates complex numbers";
      if (is_extreme) continue;
      const auto op = ir::CombineOp(*b.blocks[1], static_cast<int>(k));
      if (!op || !ir::IsCommutative(*op)) return "its combine is not a commutative operation";
      has_identity &= ir::IdentityOf(*op, b.results[k]->type.dtype()).has_value();
      idempotent &= ir::IsIdempotent(*op);
    }
    return has_identity || idempotent ? "" : "its combine has no value to start lanes from";
  }

  std::string WhyNoLanes(const Binding& b) const {
    const std::string combine_reason = WhyNoLanesToCombine(b);
    if (!combine_reason.empty()) return combine_reason;
    const Block& body = *b.blocks[0];
    const Operand& inner = b.operands[body.params.size() - 1];
    if (inner.IsConstant() && inner.constant().integer <= kSmallExtent)
      return "its extent is small";
    bool is_plain = true;
    ir::ForEachBinding(body, [&](const Binding& inner) {
      is_plain &= ir::IsScalarOp(inner.op) || inner.op == OpCode::kLoad ||
                  inner.op == OpCode::kIf || inner.op == OpCode::kWhile;
    });
    if (!is_plain) return "its element holds more than scalar code";
    const std::string reason = WhyNotVector(body, body.params.back());
    if (!reason.empty()) return reason;
    return nest_ != nullptr && SuitsIndexAround(b) ? "memory follows the index around it" : "";
  }

  // True where the nest around does better to give its own index to lanes: of what is read anew for
  // each element of the reduction, less would be gathered; or as much, and some lies one after the
  // other along that index, so that no lanes have to be added up.
  bool SuitsIndexAround(const Binding& b) const {
    const std::vector<const Var*>& indices = b.blocks[0]->params;
    const int axis = patterns_.VectorAxis(*nest_);
    if (axis < 0 || !WhyNotVector(*nest_->blocks[0], nest_->blocks[0]->params[axis]).empty())
      return false;
    const AccessPatterns::Along around =
        patterns_.AlongIndex(*b.blocks[0], indices, nest_->blocks[0]->params[axis]);
    const AccessPatterns::Along own = patterns_.AlongIndex(*b.blocks[0], indices, indices.back());
    if (around.gathered != own.gathered) return around.gathered < own.gathered;
    return around.next > 0;
  }

  AccessPatterns patterns_;
  Context& context_;
  int depth_ = 0;
  const Binding* nest_ = nullptr;  // The innermost around.
};

}  // namespace

ir::Program ChooseTrees(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return TreeChooser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
