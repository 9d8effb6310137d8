#include "passes/analyses/find_reuse.h"

#include <algorithm>

#include "passes/analyses/carried_values.h"
#include "passes/pass.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

// What one traversal may have copied before it.
constexpr size_t kMostSlices = 4;

bool Holds(const std::vector<Operand>& operands, const Var* value) {
  return std::find(operands.begin(), operands.end(), Operand(value)) != operands.end();
}

// The arrays that the binding's blocks load from, in order, each once.
std::vector<const Var*> ArraysRead(const Binding& b) {
  std::vector<const Var*> arrays;
  ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
    if (inner.op != OpCode::kLoad) return;
    const Var* array = inner.operands[0].var();
    if (std::find(arrays.begin(), arrays.end(), array) == arrays.end()) arrays.push_back(array);
  });
  return arrays;
}

}  // namespace

ReuseFinder::ReuseFinder(const ir::Function& function, bool copies_slices)
    : copies_slices_(copies_slices),
      roots_(function),
      definitions_(ir::Definitions(*function.body)) {
  for (const ir::Param& param : function.params) params_.insert(param.var);
  Define(*function.body);
  Visit(*function.body, nullptr);
}

const Var* ReuseFinder::ReusedBy(const Var* result) const {
  const auto found = reused_.find(result);
  return found == reused_.end() ? nullptr : found->second;
}

const Var* ReuseFinder::ScannedOver(const Var* result) const {
  const auto found = scanned_over_.find(result);
  return found == scanned_over_.end() ? nullptr : found->second;
}

const std::vector<const Binding*>& ReuseFinder::SlicesOf(const Binding& imap) const {
  static const auto* const kNone = new Slices;
  const auto found = slices_.find(&imap);
  return found == slices_.end() ? *kNone : found->second;
}

void ReuseFinder::Define(const Block& block) {
  for (const Var* param : block.params) places_[param] = {&block, -1};
  for (size_t at = 0; at < block.bindings.size(); ++at) {
    const Binding& b = *block.bindings[at];
    for (const Var* result : b.results) places_[result] = {&block, static_cast<int>(at)};
    if (IsLoop(b.op)) DefineCarried(b);
    for (const Block* inner : b.blocks) Define(*inner);
  }
}

void ReuseFinder::DefineCarried(const Binding& loop) {
  for (size_t k = 0; k < loop.results.size(); ++k) {
    carried_[loop.results[k]] = {&loop, k};
    for (const Block* block : loop.blocks)
      carried_[block->params[FirstCarried(loop) + k]] = {&loop, k};
  }
}

void ReuseFinder::Visit(const Block& block, const Binding* parent) {
  frames_.push_back({&block, parent});
  for (size_t at = 0; at < block.bindings.size(); ++at) {
    frames_.back().at = at;
    const Binding& b = *block.bindings[at];
    for (const Block* inner : b.blocks) Visit(*inner, &b);
    if (b.op == OpCode::kImap) Choose(b);
    if (b.op == OpCode::kIscan && copies_slices_) ChooseOfScan(b);
  }
  frames_.pop_back();
}

void ReuseFinder::Choose(const Binding& imap) {
  for (const Operand& value : imap.blocks[0]->results) {
    if (!ir::TypeOf(value).IsScalar()) return;
  }
  const size_t refusals = refusals_.size();
  bool reuses = false;
  for (const Var* result : imap.results)
    reuses |= TryReads(imap, result) || TryCarried(imap, result);
  refusals_.resize(std::min(refusals_.size(), reuses ? refusals : refusals + 1));
}

// A scan reads an element for the last time where it writes the prefix that ends there.
void ReuseFinder::ChooseOfScan(const Binding& scan) {
  for (const Var* result : scan.results) {
    if (result->type.rank() != 1) return;
  }
  for (const Var* result : scan.results) {
    for (const Var* array : ArraysRead(scan)) {
      Slices slices;
      if (params_.contains(array) || !WhyNot(scan, result, array, &slices).empty()) continue;
      scanned_over_[result] = array;
      const VarSet& roots = roots_.Of(array);
      taken_.insert(roots.begin(), roots.end());
      break;
    }
  }
}

// Of what the imap reads, the first that will do. Nobody expects an argument to be written over.
bool ReuseFinder::TryReads(const Binding& imap, const Var* result) {
  for (const Var* array : ArraysRead(imap)) {
    if (params_.contains(array)) continue;
    Slices slices;
    const std::string reason = WhyNot(imap, result, array, &slices);
    if (reason.empty()) {
      Take(imap, result, array, slices);
      return true;
    }
    refusals_.emplace_back(&imap, reason);
  }
  return false;
}

// What a loop carries to here and needs no more, though the imap does not read it.
bool ReuseFinder::TryCarried(const Binding& imap, const Var* result) {
  for (const Var* param : frames_.back().block->params) {
    if (!param->type.IsArray() || Intersects(roots_.Of(param), taken_)) continue;
    Slices slices;
    if (!WhyNot(imap, result, param, &slices).empty()) continue;
    Take(imap, result, param, slices);
    return true;
  }
  return false;
}

void ReuseFinder::Take(const Binding& imap, const Var* result, const Var* array,
                       const Slices& slices) {
  reused_[result] = array;
  const VarSet& roots = roots_.Of(array);
  taken_.insert(roots.begin(), roots.end());
  if (slices.empty()) return;
  // A load may be of two arrays that are one for all that is known.
  Slices& all = slices_[&imap];
  for (const Binding* load : slices) {
    if (std::find(all.begin(), all.end(), load) == all.end()) all.push_back(load);
  }
}

std::string ReuseFinder::WhyNot(const Binding& imap, const Var* result, const Var* array,
                                Slices* slices) const {
  const std::string name = NameOf(array);
  if (array->type.dtype() != result->type.dtype()) return name + " is of another dtype";
  if (!(array->type == result->type)) return name + " is of other sizes";
  for (const Var* other : imap.results) {
    const Var* taken = imap.op == OpCode::kIscan ? ScannedOver(other) : ReusedBy(other);
    if (taken != nullptr && MayBeOne(taken, array)) return name + " holds another result";
  }
  std::string reason = WhyNotOwned(array);
  VarSet seen;
  if (reason.empty() && !LiesAs(imap, array, seen))
    reason = name + " lies in memory in another order";
  if (reason.empty()) reason = WhyNotElementwise(imap, array, slices);
  return reason.empty() ? WhyAlive(array) : reason;
}

// --- Whose memory it is. ---

std::string ReuseFinder::WhyNotOwned(const Var* array) const {
  const std::string name = NameOf(array);
  for (const Var* root : roots_.Of(array)) {
    if (params_.contains(root)) return name + " may be an argument's memory";
  }
  for (const Var* root : roots_.Of(array)) {
    const auto made = definitions_.find(root);
    if (made != definitions_.end() && made->second->op == OpCode::kCall)
      return name + " may be what a call returned";
    if (!Makes(root)) return name + " is not made by an imap, filter or alloc";
  }
  return IsWithinReach(array) ? "" : name + " is read by other iterations";
}

// True for an array that its binding makes.
bool ReuseFinder::Makes(const Var* value) const {
  const auto made = definitions_.find(value);
  if (made == definitions_.end()) return false;
  const Binding& b = *made->second;
  return b.op == OpCode::kImap || b.op == OpCode::kIfilter || b.op == OpCode::kAlloc;
}

// True where the array is whole and in the order of the imap's result, whichever of the arrays it
// is that are joined in it. Those in `seen` are asked already.
bool ReuseFinder::LiesAs(const Binding& imap, const Var* array, VarSet& seen) const {
  if (!seen.insert(array).second) return true;
  const auto carried = carried_.find(array);
  if (carried != carried_.end()) {
    const auto& [loop, k] = carried->second;
    return LiesAs(imap, loop->operands[FirstInit(*loop) + k].var(), seen) &&
           LiesAs(imap, loop->blocks.back()->results[k].var(), seen);
  }
  if (Makes(array)) {
    const Binding& made = *definitions_.at(array);
    return made.attrs.Int(Attr::kFortran) == imap.attrs.Int(Attr::kFortran);
  }
  const auto found = definitions_.find(array);
  if (found == definitions_.end() || found->second->op != OpCode::kIf) return false;
  const Binding& chosen = *found->second;
  const size_t k =
      std::find(chosen.results.begin(), chosen.results.end(), array) - chosen.results.begin();
  return std::all_of(chosen.blocks.begin(), chosen.blocks.end(), [&](const Block* block) {
    return LiesAs(imap, block->results[k].var(), seen);
  });
}

int ReuseFinder::FrameOf(const Var* value) const {
  const auto place = places_.find(value);
  for (size_t k = 0; place != places_.end() && k < frames_.size(); ++k) {
    const bool is_defined = place->second.binding < static_cast<int>(frames_[k].at);
    if (frames_[k].block == place->second.block && is_defined) return static_cast<int>(k);
  }
  return -1;
}

// True where the array is defined as often as the walk comes to where it is: nothing but `if`
// stands between. What a loop's condition takes is taken again by its body.
bool ReuseFinder::IsWithinReach(const Var* array) const {
  const int frame = FrameOf(array);
  if (frame < 0) return false;
  for (size_t k = frame + 1; k < frames_.size(); ++k) {
    if (frames_[k].parent->op != OpCode::kIf) return false;
  }
  const bool is_param = places_.at(array).binding < 0;
  const Binding* parent = frames_[frame].parent;
  return !is_param || (IsLoop(parent->op) && frames_[frame].block == parent->blocks.back());
}

// --- What the imap itself reads. ---

std::string ReuseFinder::WhyNotElementwise(const Binding& imap, const Var* array,
                                           Slices* slices) const {
  const Block& body = *imap.blocks[0];
  const std::vector<Operand> index(body.params.begin(), body.params.end());
  std::string reason;
  const auto is_it = [&](const Operand& operand) {
    const Var* read = operand.var();
    return read != nullptr && read->type.IsArray() && FrameOf(read) >= 0 && MayBeOne(read, array);
  };
  const auto refuse = [&](const Var* read) {
    const std::string name = NameOf(array);
    reason = (read == array ? name : name + " may be " + NameOf(read) + ", which") +
             " is read at other indexes too";
  };
  ir::ForEachBinding(body, [&](const Binding& b) {
    const bool is_own_element =
        b.op == OpCode::kLoad &&
        std::equal(b.operands.begin() + 1, b.operands.end(), index.begin(), index.end());
    for (const Operand& operand : b.operands) {
      if (is_own_element || !is_it(operand)) continue;
      if (IsSlice(imap, b)) {
        slices->push_back(&b);
      } else {
        refuse(operand.var());
      }
    }
    for (const Block* block : b.blocks) {
      for (const Operand& result : block->results) {
        if (is_it(result)) refuse(result.var());
      }
    }
  });
  if (slices->size() > kMostSlices) reason = NameOf(array) + " is read at many other indexes too";
  return reason;
}

// True for a load that every trip does, whose indexes are known before the imap but for some of its
// parameters, not all: those it depends on say what is to be copied. Where something is checked,
// they may be right behind the check alone.
bool ReuseFinder::IsSlice(const Binding& imap, const Binding& load) const {
  const Block& body = *imap.blocks[0];
  const auto& bindings = body.bindings;
  if (!copies_slices_ || imap.op != OpCode::kImap || load.op != OpCode::kLoad) return false;
  if (std::find(bindings.begin(), bindings.end(), &load) == bindings.end()) return false;
  for (const Binding* b : bindings) {
    if (b->op == OpCode::kCheck || !b->blocks.empty()) return false;
  }
  VarSet params;
  for (size_t k = 1; k < load.operands.size(); ++k) {
    const Var* index = load.operands[k].var();
    if (index == nullptr || params_.contains(index) || FrameOf(index) >= 0) continue;
    const bool is_param =
        std::find(body.params.begin(), body.params.end(), index) != body.params.end();
    if (!is_param || !params.insert(index).second) return false;
  }
  return params.size() < body.params.size();
}

// --- What may look at it afterwards. ---

std::string ReuseFinder::WhyAlive(const Var* array) const {
  const std::string name = NameOf(array);
  if (IsUsedAfter(array, FrameOf(array))) return name + " is read afterwards";
  for (size_t k = 0; k < frames_.size(); ++k) {
    const Frame& frame = frames_[k];
    std::vector<const Var*> arrays;
    const auto add_arrays = [&](const std::vector<const Var*>& values) {
      std::copy_if(values.begin(), values.end(), std::back_inserter(arrays),
                   [](const Var* value) { return value->type.IsArray(); });
    };
    add_arrays(frame.block->params);
    for (size_t at = 0; at < frame.at; ++at) add_arrays(frame.block->bindings[at]->results);
    for (const Var* other : arrays) {
      if (!MayBeOne(other, array)) continue;
      if (IsUsedAfter(other, static_cast<int>(k)))
        return name + " may be " + NameOf(other) + ", which is read afterwards";
    }
  }
  return "";
}

// True when the value, defined in that frame, may be used again after the binding that the walk is
// at. All of a loop around comes again.
bool ReuseFinder::IsUsedAfter(const Var* value, int frame) const {
  for (size_t k = frame; k < frames_.size(); ++k) {
    const Frame& f = frames_[k];
    if (Holds(f.block->results, value)) return true;
    const LastUses& uses = LastUsesIn(*f.block);
    const auto last = uses.find(value);
    if (last != uses.end() && last->second > f.at) return true;
    if (static_cast<int>(k) == frame || f.parent->op == OpCode::kIf) continue;
    for (const Block* block : f.parent->blocks) {
      if (FreeOf(*block).contains(value)) return true;
    }
  }
  // What the condition of a `while` takes, the body takes too.
  const Frame& own = frames_[frame];
  const bool is_param = places_.contains(value) && places_.at(value).binding < 0;
  return is_param && own.parent != nullptr && own.parent->op == OpCode::kWhile &&
         own.block == own.parent->blocks[0];
}

// True unless the two, both of which are seen where the walk is, are surely two arrays.
bool ReuseFinder::MayBeOne(const Var* a, const Var* b) const {
  if (a == b) return true;
  if (!roots_.MayShareNow(a, b)) return false;
  const auto order = [&](const Var* value) {
    const int frame = FrameOf(value);
    return std::pair(frame, frame < 0 ? -1 : places_.at(value).binding);
  };
  // What is made later is new.
  return !Makes(order(a) < order(b) ? b : a);
}

const ReuseFinder::LastUses& ReuseFinder::LastUsesIn(const Block& block) const {
  const auto [place, is_new] = last_uses_.try_emplace(&block);
  for (size_t at = 0; is_new && at < block.bindings.size(); ++at) {
    for (const Var* used : ir::FreeVars(*block.bindings[at])) place->second[used] = at;
  }
  return place->second;
}

const VarSet& ReuseFinder::FreeOf(const Block& block) const {
  const auto [place, is_new] = free_.try_emplace(&block);
  if (is_new) place->second = ir::FreeVars(block);
  return place->second;
}

}  // namespace parakeet::passes
