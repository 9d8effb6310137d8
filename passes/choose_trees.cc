// Fixes the order in which every reduction and scan combines: its blocks and lanes.
//
// Before:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 { ... }
// After:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 tree(block 8192, lanes 32) { ... }
//
// Where a reduction goes through an array by its axes in another order than memory, as one of a
// transposed array does, its indexes change places first.
//
// Assumes: index form. ir/reduction_tree.h says what a tree means. Threads and the width of
// registers take no part: one core and many give the same bits. What is in order along rows that
// pass by, as a sum of columns, is in order a run of rows at a time. At a step of a loop in order,
// what is short is in order, and what goes down a column has few lanes.
// Refuses: lanes where a combine depends on the order of its sides, where an array is accumulated,
// where the extents are small constants or those of a window around an index, where memory follows
// the index around the reduction, where numbers of no array are reduced to the same in all lanes
// around, or where rows are as long as elements say, and what they are made of lies anywhere, or a
// loop in it follows elements as far as these go on.
#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/reduction_lanes.h"
#include "passes/analyses/row_scans.h"
#include "passes/analyses/short_extents.h"
#include "passes/lowering/loop_writer.h"
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
// So many that what is made at the end of each costs little.
constexpr int64_t kRunOfRows = 256;
// On a GPU: what a block of threads takes, each a lane; and one thread, where order matters.
// What is made at the end of a block costs the less the more it takes, beside what it reads.
constexpr int64_t kDeviceBlock = 4096;
// Where an element takes so many cycles, as one that a loop makes, threads are to be many first.
constexpr int kDearElement = 100;
constexpr int64_t kDeviceBlockOfDear = 512;
constexpr int64_t kMostDeviceBlock = 8192;
constexpr int64_t kMostDeviceBlockOfMore = 16384;
constexpr int64_t kMostDeviceBlockOfMuch = 131072;
constexpr int64_t kDeviceLanes = 256;
// What a block takes of a long row where rows are few.
constexpr int64_t kRunOfLanes = 16384;
constexpr int64_t kBlockOfThread = 64;
constexpr size_t kSumsOfOneLane = 4;
// No power of two: blocks run side by side, and their elements are not all to lie in one set of a
// cache.
constexpr int64_t kScanBlock = 264;
// What a block of a GPU's threads takes of a scan, in bytes and in elements, and how many are
// combined at a time: each thread takes that many of them.
constexpr int64_t kDeviceScanBytes = 16384;
constexpr int64_t kLeastDeviceScanBlock = 1024;
constexpr int64_t kMostDeviceScanBlock = 8192;
constexpr int64_t kDeviceScanLanes = 16;
// The same of one of many, and what an element may take, so that as many fit shared memory beside
// what is combined of them. So short a row is one thread's.
constexpr int64_t kLeastRowScanBlock = 256;
constexpr int64_t kMostRowScanBytes = 80;
constexpr int64_t kShortScan = 64;
constexpr int64_t kLaneBytes =
    256;  // What the lanes of all accumulators together may fill: four wide registers.
// What they fill where there are more of them than that, one such register each.
constexpr int64_t kMostLaneBytes = 512;
constexpr int64_t kRegisterBytes = 64;
constexpr int64_t kMostLanes = 64;
// What is checked is gathered mostly, in rows that may well be short: one register.
constexpr int64_t kMostLanesOfCheckedRows = 8;
// Rows of fewer elements, of which some lie anywhere, are soon over in order: processors make
// several of them side by side, and need not combine lanes. Where all lie side by side, and have
// for a while, lanes are sooner done.
constexpr int64_t kShortRow = 32;
constexpr int64_t kShortRowOfNeighbours = 16;
// Of elements one below the other, that a vector would be put together of: so many sums of scalars
// do not wait for one another.
constexpr int64_t kLanesOfColumns = 4;
// Of a few elements around an index, as `range(max(i - 1, 0), min(i + 2, n))` has.
constexpr int64_t kWidestWindow = 16;
// Bools are made by comparing wider numbers, of which more lanes would not fit the registers.
constexpr int64_t kMostLanesOfBools = 32;

class TreeChooser : public LoopWriter {
 public:
  TreeChooser(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        patterns_(function),
        roots_(function),
        function_(function),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kIreduce && !context_.options.kernels) b = InOrderOfMemory(b);
    switch (b->op) {
      case OpCode::kIreduce: {
        const int64_t block = TreeBlockOf(*b);
        if (context_.options.kernels && OnDevice(*b)) return SetFlat(*b);
        if (context_.options.kernels && IsOrdered(*b)) {
          const Binding& flat = Flat(*b);
          return Set(flat, IsOneBlock(flat, block) ? 0 : block, 1);
        }
        if (const Binding* flat = Flattened(*b))
          return Set(*flat, IsOneBlock(*flat, block) ? 0 : block, LanesOf(*flat));
        if (HasLongColumns(*b)) return Set(*b, 0, LanesOf(*b), 1, kRunOfRows);
        const int64_t lanes = LanesOf(*b);
        const bool is_of_row = context_.options.kernels && lanes > 1;
        return Set(*b, IsOneBlock(*b, block) ? 0 : block, lanes, NeighboursOf(*b),
                   is_of_row ? kRunOfLanes : 0);
      }
      case OpCode::kIscan: return SetScan(*b);
      case OpCode::kImap:
      case OpCode::kForeach:
      case OpCode::kIfilter: return VisitNest(*b);
      case OpCode::kFor:
      case OpCode::kWhile: {
        const Binding* outer = std::exchange(loop_, b);
        Mutator::Visit(b);
        loop_ = outer;
        return;
      }
      default: return Mutator::Visit(b);
    }
  }

 private:
  // What stands inside a nest runs on one thread; lanes may take an index of the nest.
  void VisitNest(const Binding& b) {
    const bool scans = context_.options.kernels && depth_ == 0;
    const auto row = scans ? FindRowScan(b, roots_) : std::nullopt;
    row_scan_ = row && row->has_known_length ? row->scan : nullptr;
    ++depth_;
    const Binding* outer = std::exchange(nest_, &b);
    const Binding* outer_around = std::exchange(around_, &b);
    Mutator::Visit(&b);
    around_ = outer_around;
    nest_ = outer;
    --depth_;
  }

  // What accumulates arrays makes one at each step, and nothing is gained by making more at once.
  static bool HoldsArrays(const Binding& b) {
    return std::any_of(b.blocks[1]->results.begin(), b.blocks[1]->results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsArray(); });
  }

  // The reduction with its indexes in the order of the axes that all of its elements' arrays are
  // read along, where it has another and any will do.
  const Binding* InOrderOfMemory(const Binding* b) {
    const Block& element = *b->blocks[0];
    const std::vector<const Var*>& params = element.params;
    if (params.size() < 2 || HoldsArrays(*b) || !WhyNoLanesToCombine(*b).empty()) return b;
    std::vector<const Var*> order;
    for (const Binding* load : element.bindings) {
      if (load->op != OpCode::kLoad && !ir::IsScalarOp(load->op)) return b;
      if (load->op != OpCode::kLoad) continue;
      const std::vector<const Var*> along = IndexesAlong(*load, params);
      if (along.empty()) continue;
      if (!order.empty() && order != along) return b;
      if (along.size() != params.size() || !patterns_.LiesNext(*load, along.back())) return b;
      order = along;
    }
    if (order.empty() || order == params) return b;
    Binding turned = *b;
    for (size_t k = 0; k < order.size(); ++k) {
      const size_t at = std::find(params.begin(), params.end(), order[k]) - params.begin();
      turned.operands[k] = b->operands[at];
    }
    Block in_order = element;
    in_order.params = order;
    turned.blocks[0] = arena()->New(std::move(in_order));
    return arena()->New(std::move(turned));
  }

  // Which of the indexes are places of the load as they are, axis by axis.
  static std::vector<const Var*> IndexesAlong(const Binding& load,
                                              const std::vector<const Var*>& indexes) {
    std::vector<const Var*> along;
    for (size_t k = 1; k < load.operands.size(); ++k) {
      const Operand& at = load.operands[k];
      const bool is_one =
          at.IsVar() && std::find(indexes.begin(), indexes.end(), at.var()) != indexes.end();
      if (is_one) along.push_back(at.var());
    }
    return along;
  }

  // Fewer elements where each is made by a loop of its own, unless that is soon over.
  int64_t TreeBlockOf(const Binding& b) const {
    if (context_.options.kernels) return OnDevice(b) ? kDeviceBlock : kBlockOfThread;
    bool loops = false;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
      loops |= inner.op == OpCode::kFor || inner.op == OpCode::kWhile ||
               InfoOf(inner.op).format == ir::OpFormat::kIndices;
    });
    const bool is_short = FollowsElements(*b.blocks[0], b.blocks[0]->params.back());
    return loops && !is_short ? kBlockOfLoops : kReductionBlock;
  }

  // True where the whole index space is known to fit in one block, or blocks are of no use.
  bool IsOneBlock(const Binding& b, int64_t block) const {
    if (depth_ > 0 || HoldsArrays(b)) return true;
    if (!context_.options.kernels && (IsWindow(b) || IsWithin(b, block))) return true;
    int64_t size = 1;
    for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
      const Operand& extent = b.operands[axis];
      if (!extent.IsConstant() || extent.constant().integer > block) return false;
      size *= std::max<int64_t>(extent.constant().integer, 1);
      if (size > block) return false;
    }
    return true;
  }

  // Of a few elements around an index, that lanes would be added up for.
  bool IsWindow(const Binding& b) const { return IsWithin(b, kWidestWindow); }

  bool IsWithin(const Binding& b, int64_t most) const {
    const size_t rank = b.blocks[0]->params.size();
    if (!short_) short_.emplace(function_);
    return short_->AreWithin({b.operands.begin(), b.operands.begin() + rank}, most);
  }

  // Of elements in order that memory does not follow, whose nest lanes take: rows that pass by. In
  // runs, threads may share a few columns of many rows.
  bool HasLongColumns(const Binding& b) const {
    const bool is_one_axis = b.blocks[0]->params.size() == 1;
    if (context_.options.kernels || nest_ == nullptr || !is_one_axis || HoldsArrays(b))
      return false;
    const Operand& size = b.operands[0];
    const bool is_long = !size.IsConstant() || size.constant().integer > kRunOfRows;
    return is_long && !ir::TraitsOf(*b.blocks[1]).identities.empty() &&
           WhyNoLanesToCombine(b).empty() && SuitsIndexAround(b, *nest_, patterns_);
  }

  // Whether threads of a GPU's blocks are the lanes.
  bool OnDevice(const Binding& b) const {
    return depth_ == 0 && WhyNoLanesToCombine(b).empty() && !NeedsHost(*b.blocks[0]);
  }

  void SetScan(const Binding& b) {
    if (&b == row_scan_) return SetRowScan(b);
    if (depth_ > 0 || HoldsArrays(b)) return Set(b, 0, 1);
    if (!context_.options.kernels || !ScansOnDevice(b)) return Set(b, kScanBlock, 1);
    Set(b, DeviceScanBlock(b), kDeviceScanLanes);
  }

  // A scan that threads share with those of other rows: what a block takes of it stands in shared
  // memory. Elements for which that is too small are combined in order.
  void SetRowScan(const Binding& b) {
    if (BytesOf(b) > kMostRowScanBytes) return Set(b, 0, 1);
    int64_t block = DeviceScanBlock(b);
    while (block > kLeastRowScanBlock && block * BytesOf(b) > kDeviceScanBytes) block /= 2;
    Binding rows = b;
    rows.attrs = b.attrs.With(Attr::kShort, kShortScan);
    Set(*arena()->New(std::move(rows)), block, kDeviceScanLanes);
  }

  static int64_t BytesOf(const Binding& b) {
    int64_t bytes = 0;
    for (const Var* result : b.results) bytes += ir::SizeInBytes(result->type.dtype());
    return bytes;
  }

  // A bool beside numbers is a bit of a mask.
  static int64_t BytesInLanes(const Binding& b) {
    int64_t bytes = 0;
    for (const Var* result : b.results) {
      if (!ir::IsBool(result->type.dtype())) bytes += ir::SizeInBytes(result->type.dtype());
    }
    return std::max<int64_t>(bytes, 1);
  }

  // How many lanes of its widest numbers fill a register: fewer would wait for each addition as
  // long, for less.
  static int64_t LanesOfRegister(const Binding& b) {
    int64_t widest = 1;
    for (const Var* result : b.results)
      widest = std::max<int64_t>(widest, ir::SizeInBytes(result->type.dtype()));
    return kRegisterBytes / widest;
  }

  static int64_t DeviceScanBlock(const Binding& b) {
    int64_t block = kMostDeviceScanBlock;
    while (block > kLeastDeviceScanBlock && block * BytesOf(b) > kDeviceScanBytes) block /= 2;
    return block;
  }

  // Whether threads of a GPU's blocks take its elements in order.
  bool IsOrdered(const Binding& b) const {
    return depth_ == 0 && !HoldsArrays(b) && !NeedsHost(*b.blocks[0]) && !NeedsHost(*b.blocks[1]);
  }

  // With one index for all, so that no thread is idle where rows are short. Arrays in C order that
  // are read at the very index are read along one axis too.
  void SetFlat(const Binding& b) {
    Binding flat = Flat(b);
    flat.attrs = flat.attrs.With(Attr::kMostBlock, MostDeviceBlock(flat));
    const bool is_dear = CostOf(*b.blocks[0]) >= kDearElement;
    Set(*arena()->New(std::move(flat)), is_dear ? kDeviceBlockOfDear : kDeviceBlock, kDeviceLanes);
  }

  const Binding& Flat(const Binding& b) {
    Binding flat = b;
    const size_t rank = b.blocks[0]->params.size();
    if (rank > 1) {
      const Operands all = Apply(b.operands);
      const Operands extents(all.begin(), all.begin() + rank);
      const auto views = FlatViews(b, Product(extents));
      const Var* place = builder().NewVar(ir::DType::kI64, "k");
      flat.blocks[0] = BlockOf({place}, [&] {
        ir::Substitution values;
        const Operands index = Delinear(place, extents);
        for (size_t k = 0; k < rank; ++k) values.emplace(b.blocks[0]->params[k], index[k]);
        Block element = *b.blocks[0];
        for (const auto& [load, view] : views) {
          std::erase(element.bindings, load);
          values.emplace(load->result(), builder().Load(view, {place}, load->result()->hint));
        }
        return ir::InlineBlock(builder(), element, values);
      });
      flat.operands = {Product(extents)};
      flat.operands.insert(flat.operands.end(), all.begin() + rank, all.end());
    }
    return *arena()->New(std::move(flat));
  }

  // What is combined of all elements of arrays in C order goes along one index, since rows of a few
  // elements fill no lanes; null where anything else depends on the indexes, or in a nest.
  const Binding* Flattened(const Binding& b) {
    const Block& element = *b.blocks[0];
    const size_t rank = element.params.size();
    if (depth_ > 0 || rank < 2 || HoldsArrays(b) || !FollowsOnly(element, WholeLoads(b)))
      return nullptr;
    const Operands all = Apply(b.operands);
    const Operand count = Product({all.begin(), all.begin() + rank});
    const auto views = FlatViews(b, count);
    const Var* place = builder().NewVar(ir::DType::kI64, "k");
    Binding flat = b;
    flat.blocks[0] = BlockOf({place}, [&] {
      ir::Substitution values;
      for (const Var* param : element.params) values.emplace(param, Int(0));
      Block rest = element;
      for (const auto& [load, view] : views) {
        std::erase(rest.bindings, load);
        values.emplace(load->result(), builder().Load(view, {place}, load->result()->hint));
      }
      return ir::InlineBlock(builder(), rest, values);
    });
    flat.operands = {count};
    flat.operands.insert(flat.operands.end(), all.begin() + rank, all.end());
    return arena()->New(std::move(flat));
  }

  // True where the loads alone depend on the block's indexes.
  static bool FollowsOnly(const Block& element, const std::vector<const Binding*>& loads) {
    const ir::VarSet indexes(element.params.begin(), element.params.end());
    bool follows = false;
    const auto see = [&](const Var* used) { follows |= indexes.contains(used); };
    for (const Binding* b : element.bindings) {
      if (std::find(loads.begin(), loads.end(), b) == loads.end()) ir::ForEachUse(*b, see);
    }
    for (const Operand& result : element.results) follows |= indexes.contains(result.var());
    return !follows && !loads.empty();
  }

  // Blocks of elements that loops make are as small as they can be, since some take longer.
  static int64_t MostDeviceBlock(const Binding& b) {
    int64_t read = 0;
    for (const Binding* inner : b.blocks[0]->bindings) {
      if (!inner->blocks.empty() && inner->op != OpCode::kIf) return kDeviceBlock;
      if (inner->op == OpCode::kLoad) read += ir::SizeInBytes(inner->result()->type.dtype());
    }
    const int64_t combined = int64_t(b.results.size()) * 8;
    if (combined > 2 * read) return kMostDeviceBlockOfMuch;
    return combined > read ? kMostDeviceBlockOfMore : kMostDeviceBlock;
  }

  // The loads of the element that are of a whole array in C order at the element's index.
  std::vector<const Binding*> WholeLoads(const Binding& b) const {
    const Block& element = *b.blocks[0];
    std::vector<const Binding*> loads;
    for (const Binding* load : element.bindings) {
      if (load->op != OpCode::kLoad || !patterns_.LiesNext(*load, element.params.back())) continue;
      const Var* array = load->operands[0].var();
      const std::vector<Operand>& dims = array->type.dims();
      const bool is_whole =
          dims.size() == element.params.size() &&
          std::equal(dims.begin(), dims.end(), b.operands.begin()) &&
          std::equal(element.params.begin(), element.params.end(), load->operands.begin() + 1,
                     [](const Var* param, const Operand& at) { return at == Operand(param); });
      if (is_whole && !ir::DefinedVars(element).contains(array)) loads.push_back(load);
    }
    return loads;
  }

  // The same, with the array as one of a single axis.
  std::vector<std::pair<const Binding*, const Var*>> FlatViews(const Binding& b,
                                                               const Operand& size) {
    std::vector<std::pair<const Binding*, const Var*>> views;
    for (const Binding* load : WholeLoads(b)) {
      const Var* array = load->operands[0].var();
      const ir::Type type = ir::Type::Array(array->type.dtype(), {size});
      views.emplace_back(load, builder().EmitOne(OpCode::kView, type, {array, Int(0), Int(1)},
                                                 {{Attr::kFlat, int64_t{1}}}, {}, array->hint));
    }
    return views;
  }

  void Set(const Binding& b, int64_t block, int64_t lanes, int64_t neighbours = 1,
           int64_t run = 0) {
    ++depth_;
    const Binding* outer = std::exchange(around_, &b);
    Binding copy = *Rewrite(&b);
    around_ = outer;
    --depth_;
    copy.attrs = copy.attrs.With(Attr::kBlock, block).With(Attr::kLanes, lanes);
    copy.attrs = run > 0 ? copy.attrs.With(Attr::kRun, run) : copy.attrs.Without(Attr::kRun);
    if (neighbours > 1) copy.attrs = copy.attrs.With(Attr::kStep, neighbours);
    if (const int64_t least = ShortRowOf(b, lanes))
      copy.attrs = copy.attrs.With(Attr::kShort, least);
    builder().Append(arena()->New(std::move(copy)));
  }

  // True for what a loop that goes in order reduces along one index at each of its steps.
  bool IsStep(const Binding& b) const {
    return depth_ == 0 && loop_ != nullptr && b.blocks[0]->params.size() == 1;
  }

  bool IsScattered(const Binding& b) const {
    bool is_scattered = false;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
      is_scattered |=
          inner.op == OpCode::kLoad && patterns_.IsScattered(inner, b.blocks[0]->params.back());
    });
    return is_scattered;
  }

  // True for what goes along an array that the loop around stores to.
  bool GoesAlongStored(const Binding& b) const {
    const ir::VarSet stored = EffectsOf(*loop_->blocks.back(), roots_).writes;
    bool is_stored = false;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
      is_stored |= inner.op == OpCode::kLoad &&
                   patterns_.LiesNext(inner, b.blocks[0]->params.back()) &&
                   Intersects(roots_.Of(inner.operands[0].var()), stored);
    });
    return is_stored;
  }

  // Below how many elements they are taken in order; 0 where lanes always take them. Rows may well
  // be short where they are as long as those of sparse matrices, and so may be what a loop goes
  // through at each step, as a triangle's row or a filter's weights: it has often stored them one
  // by one just before, which is not in memory yet when lanes load several at once.
  int64_t ShortRowOf(const Binding& b, int64_t lanes) const {
    if (context_.options.kernels || b.op != OpCode::kIreduce || lanes <= kLanesOfColumns) return 0;
    if (!IsStep(b)) return depth_ > 0 && IsScattered(b) ? kShortRow : 0;
    return IsScattered(b) || GoesAlongStored(b) ? kShortRow : kShortRowOfNeighbours;
  }

  // True for what a loop reduces at a step that goes down a column.
  bool GoesDown(const Binding& b) const {
    if (!IsStep(b) || b.results.size() != 1) return false;
    const Var* index = b.blocks[0]->params.back();
    bool is_plain = true, goes_down = false;
    ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
      const bool is_load = inner.op == OpCode::kLoad;
      is_plain &= ir::IsScalarOp(inner.op) || (is_load && !patterns_.IsScattered(inner, index));
      goes_down |= is_load && patterns_.IsInColumn(inner, index);
    });
    return is_plain && goes_down && !ir::TraitsOf(*b.blocks[1]).identities.empty();
  }

  // True of several sums of a row that says itself how long it is, which is taken for a long one: a
  // thread has too few registers for several lanes of each.
  bool IsOneToThread(const Binding& b) const {
    const bool are_several = b.results.size() >= kSumsOfOneLane && b.blocks[0]->params.size() == 1;
    return nest_ != nullptr && are_several && b.operands[0].IsVar() &&
           ir::DefinedVars(*nest_->blocks[0]).contains(b.operands[0].var());
  }

  // Of the lanes of a GPU's threads.
  int64_t NeighboursOf(const Binding& b) {
    return context_.options.kernels && LanesOf(b) > 1 && !IsOneToThread(b)
               ? RowNeighbours(RowNest())
               : 1;
  }

  // What has a row for each of its elements: of what goes through them, make-rows-first makes a
  // nest of the same elements.
  const Binding* RowNest() const { return nest_ != nullptr ? nest_ : around_; }

  int64_t LanesOf(const Binding& b) {
    std::string reason = WhyNoLanes(b, nest_, patterns_, !context_.options.kernels);
    if (!context_.options.kernels && reason.empty() && around_ != nullptr && IsRagged(b, *around_))
      reason = "elements say how long its rows are";
    const bool follows = FollowsElements(*b.blocks[0], b.blocks[0]->params.back());
    if (!context_.options.kernels && reason.empty() && follows)
      reason = "elements say how long a loop in it goes on";
    if (!context_.options.kernels && reason.empty() &&
        SearchesAlone(*b.blocks[0], b.blocks[0]->params.back(), patterns_))
      reason = "a loop in it searches, and some are long done before others";
    if (!context_.options.kernels && reason.empty() && IsWindow(b))
      reason = "it has a few elements around an index";
    if (context_.options.kernels && (depth_ == 0 || !reason.empty())) return 1;
    if (context_.options.kernels && IsOneToThread(b)) return kRowThreads;
    if (context_.options.kernels) return kRowThreads * kRowPlaces / RowNeighbours(RowNest());
    if (!reason.empty()) {
      context_.Note(b.span, "no lanes: " + reason, Topic::kLanes, Verdict::kRefused);
      return 1;
    }
    if (GoesDown(b)) return kLanesOfColumns;
    const bool has_bools = std::any_of(b.results.begin(), b.results.end(), [](const Var* result) {
      return result->type.dtype() == ir::DType::kBool;
    });
    int64_t lanes = has_bools ? kMostLanesOfBools : kMostLanes;
    const int64_t bytes = BytesInLanes(b), fewest = LanesOfRegister(b);
    while (lanes > fewest && lanes * bytes > kLaneBytes) lanes /= 2;
    while (lanes > 1 && lanes * bytes > kMostLaneBytes) lanes /= 2;
    bool checks = false;
    ir::ForEachBinding(*b.blocks[0],
                       [&](const Binding& inner) { checks |= inner.op == OpCode::kCheck; });
    return checks && depth_ > 0 ? std::min(lanes, kMostLanesOfCheckedRows) : lanes;
  }

  AccessPatterns patterns_;
  Roots roots_;
  const ir::Function& function_;
  mutable std::optional<ShortExtents> short_;  // where there is a reduction
  Context& context_;
  int depth_ = 0;
  const Binding* loop_ = nullptr;      // The innermost around that goes in order.
  const Binding* row_scan_ = nullptr;  // Of the nest that is visited.
  const Binding* nest_ = nullptr;      // The innermost around,
  const Binding* around_ = nullptr;    // a reduction or a scan included.
};

}  // namespace

ir::Program ChooseTrees(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return TreeChooser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
