#include "passes/fusing/choose_producers.h"

#include <algorithm>
#include <unordered_set>

#include "ir/uses.h"
#include "passes/analyses/contraction_operands.h"
#include "passes/analyses/find_cost.h"
#include "passes/fusing/checks_apart.h"
#include "passes/fusing/chosen_places.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

// What costs no more than about a load from cache may be computed again wherever it is read.
constexpr int kCheapCost = 4;
// Arithmetic up to this cost, all places but the first together, is computed again at a few places:
// the other way is an array that is written and read.
constexpr int kRecomputedCost = 48;
constexpr int kDearInAnyCase = 2 * kRecomputedCost;
// What only chooses places costs code at most: nests are split at where it changes.
constexpr int kMostChoosing = 300;
// What a single operation costs that is never computed at several places.
constexpr int kFunctionCost = 4;
constexpr size_t kMostSites = 32;
constexpr int kLongestChain = 200;  // Fusing walks down a chain of producers by recursion.
// Reductions of so few elements are written out.
constexpr int64_t kLongestShort = 16;

bool IsShort(const Operand& extent) {
  return extent.IsConstant() && extent.constant().integer <= kLongestShort;
}

// An index in terms of the imap's, where that is at `at`.
std::vector<LinearForm> Composed(std::vector<LinearForm> index, const Binding& imap,
                                 const std::vector<LinearForm>& at) {
  const std::vector<const Var*>& params = imap.blocks[0]->params;
  for (LinearForm& form : index) {
    for (size_t k = 0; k < params.size(); ++k) form = form.With(params[k], at[k]);
  }
  return index;
}

std::string UseBy(const Binding& reader) {
  if (reader.op == OpCode::kStore) return "stored to";
  return "read as a whole by " + std::string(Name(reader.op));
}

bool HoldsReduction(const Binding& imap) {
  bool holds = false;
  ir::ForEachBinding(*imap.blocks[0], [&](const Binding& b) { holds |= b.op == OpCode::kIreduce; });
  return holds;
}

bool ReadsResultOf(const Binding& producer, const Binding& b) {
  const VarSet free = ir::FreeVars(b);
  return std::any_of(producer.results.begin(), producer.results.end(),
                     [&](const Var* result) { return free.contains(result); });
}

// True where every store stands in the foreach's own block.
bool HasPlainStores(const Binding& foreach) {
  bool plain = true;
  for (const Binding* b : foreach.blocks[0]->bindings) {
    for (const Block* block : b->blocks) {
      ir::ForEachBinding(*block, [&](const Binding& inner) {
        plain &= inner.op != OpCode::kStore && inner.op != OpCode::kForeach;
      });
    }
  }
  return plain;
}

}  // namespace

ProducerChooser::ProducerChooser(const ir::Function& function, bool elements_only, Context& context)
    : roots_(function),
      finder_(function),
      forms_(function),
      patterns_(function),
      may_overlap_(function.may_overlap),
      elements_only_(elements_only),
      context_(context) {}

void ProducerChooser::Choose(const Block& block, bool in_nest) {
  in_nest_ = in_nest;
  const auto is_imap = [](const Binding* b) { return b->op == OpCode::kImap; };
  if (std::none_of(block.bindings.begin(), block.bindings.end(), is_imap)) return;
  Seen seen{block, {}, {}, {}};
  for (const Binding* b : block.bindings) {
    seen.effects.push_back(EffectsOf(*b, roots_));
    seen.free.push_back(ir::FreeVars(*b));
    for (const Var* read : seen.free.back()) seen.last_reader[read] = seen.free.size() - 1;
  }
  const size_t count = block.bindings.size();
  std::vector<std::string> reasons(count);
  // What an element costs is known from the producers on; where it is computed, from the last
  // reader back.
  for (size_t at = 0; at < count; ++at) {
    const Binding* b = block.bindings[at];
    if (!is_imap(b)) continue;
    reasons[at] = WhyNever(*b, seen.effects[at]);
    if (!reasons[at].empty()) continue;
    candidates_.emplace(b, CandidateOf(*b));
    for (const Var* result : b->results) makers_[result] = b;
  }
  for (size_t at = count; at-- > 0;) {
    const auto candidate = candidates_.find(block.bindings[at]);
    if (candidate == candidates_.end()) continue;
    FindSites(candidate->second);
    reasons[at] = WhyNotWorthIt(candidate->second);
    if (!reasons[at].empty()) candidates_.erase(candidate);
  }
  for (size_t at = 0; at < count; ++at) {
    const Binding* b = block.bindings[at];
    if (!is_imap(b)) continue;
    if (reasons[at].empty()) {
      Chosen chosen = ChosenFrom(*b, seen.effects[at]);
      reasons[at] = WhyOverwritten(chosen, seen, at);
      if (reasons[at].empty()) chosen_.emplace(b, std::move(chosen));
    }
    if (reasons[at].empty()) {
      context_.Note(b->span, "fused into what reads it", Topic::kFusion, Verdict::kDone,
                    ReaderOf(*b));
    } else if (IsRead(*b)) {
      context_.Note(b->span, "not fused: " + reasons[at], Topic::kFusion,
                    IsMadeAnyway(*b) ? Verdict::kAside : Verdict::kRefused, ReaderOf(*b));
    }
  }
}

// The first reader of an imap; unknown where there is none.
ir::Span ProducerChooser::ReaderOf(const Binding& imap) const {
  for (const Var* result : imap.results) {
    const Reads& reads = finder_.Of(result);
    if (reads.loads.empty()) continue;
    const Read& first = reads.loads.front();
    return (first.reader != nullptr ? first.reader : first.load)->span;
  }
  return {};
}

// False for what is only given back: there is nothing to fuse it into, and nothing to say.
bool ProducerChooser::IsRead(const Binding& imap) const {
  return std::any_of(imap.results.begin(), imap.results.end(), [&](const Var* result) {
    const Reads& reads = finder_.Of(result);
    return !reads.loads.empty() || reads.other != nullptr;
  });
}

// Reductions stay by themselves until contractions have been looked for, but for those of which
// few are read. A nest that only copies what they make to an array that is made here is none of its
// own.
bool ProducerChooser::IsLeftForLater(const Binding& imap) const {
  if (!elements_only_ || !HoldsReduction(imap)) return false;
  return !std::all_of(imap.results.begin(), imap.results.end(),
                      [&](const Var* result) { return IsCopied(result) || IsReadInPart(result); });
}

// True for an array of which one nest reads a part of fewer axes, as a diagonal or a row: most of
// it need not be made.
bool ProducerChooser::IsReadInPart(const Var* array) const {
  const Reads& reads = finder_.Of(array);
  if (reads.loads.size() != 1 || reads.is_result || reads.other != nullptr || reads.recomputes)
    return false;
  const Read& read = reads.loads[0];
  if (read.reader == nullptr) return false;
  const Binding& nest = *read.reader;
  const bool is_nest = ir::InfoOf(nest.op).format == ir::OpFormat::kIndices;
  return is_nest && read.block == nest.blocks[0] &&
         static_cast<int>(read.block->params.size()) < array->type.rank();
}

// True for an array that one nest stores to an array that is made here, or copies for such a nest.
bool ProducerChooser::IsCopied(const Var* array) const {
  const Reads& reads = finder_.Of(array);
  if (reads.loads.size() != 1 || reads.loads[0].reader == nullptr || reads.is_result) return false;
  const Binding& nest = *reads.loads[0].reader;
  const Block& body = *nest.blocks[0];
  const Operand element(reads.loads[0].load->result());
  if (nest.op == OpCode::kImap)
    return body.bindings.size() == 1 && body.results == std::vector{element} &&
           IsCopied(nest.result());
  return nest.op == OpCode::kForeach && body.bindings.size() == 2 &&
         body.bindings[1]->op == OpCode::kStore && body.bindings[1]->operands.back() == element &&
         roots_.IsFresh(body.bindings[1]->operands[0].var());
}

// True for what another pass is to fuse, and for an array that there has to be: one that is given
// back or stored to.
bool ProducerChooser::IsMadeAnyway(const Binding& imap) const {
  if (IsLeftForLater(imap)) return true;
  return std::any_of(imap.results.begin(), imap.results.end(), [&](const Var* result) {
    const Reads& reads = finder_.Of(result);
    return reads.is_result || (reads.other != nullptr && reads.other->op == OpCode::kStore);
  });
}

// True for what a contraction reads that could not read what it is made of.
bool ProducerChooser::IsMadeForContraction(const Binding& imap) const {
  if (ReadsAsContractions(*imap.blocks[0])) return false;
  return std::any_of(imap.results.begin(), imap.results.end(), [&](const Var* result) {
    const std::vector<Read>& loads = finder_.Of(result).loads;
    return std::any_of(loads.begin(), loads.end(), [](const Read& read) {
      return read.reader != nullptr && read.reader->op == OpCode::kContract &&
             read.block == read.reader->blocks[0];
    });
  });
}

// True where the reductions of an element go down columns, and neighbours along the imap's last
// index read rows.
bool ProducerChooser::ReducesColumns(const Binding& imap) const {
  const Block& body = *imap.blocks[0];
  const Var* own = body.params.back();
  return std::any_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
    if (b->op != OpCode::kIreduce) return false;
    const Block& element = *b->blocks[0];
    if (IsShort(b->operands[element.params.size() - 1])) return false;
    const auto down = patterns_.AlongIndex(element, element.params, element.params.back());
    const auto across = patterns_.AlongIndex(element, element.params, own);
    return down.gathered > 0 && across.next >= down.gathered && across.gathered == 0;
  });
}

// True where only reductions read it, each along its last index: these would take the columns one
// by one.
bool ProducerChooser::IsReducedInTurn(const Binding& imap) const {
  const auto is_along = [&](const Read& read) {
    bool is_reduction = false;
    const auto look = [&](const Binding& b) {
      is_reduction |= b.op == OpCode::kIreduce && b.blocks[0] == read.block &&
                      read.load->operands.back() == Operand(read.block->params.back());
    };
    if (read.reader == nullptr) return false;
    look(*read.reader);
    for (const Block* block : read.reader->blocks) ir::ForEachBinding(*block, look);
    return is_reduction;
  };
  return std::all_of(imap.results.begin(), imap.results.end(), [&](const Var* result) {
    const std::vector<Read>& loads = finder_.Of(result).loads;
    return !loads.empty() && std::all_of(loads.begin(), loads.end(), is_along);
  });
}

std::string ProducerChooser::WhyNever(const Binding& imap, const Effects& effects) const {
  // In a kernel, threads go on behind a check that fails in another.
  const bool in_kernel = context_.options.kernels && in_nest_;
  if (effects.may_fail && (in_kernel || !HasChecksOnly(imap, roots_)))
    return "its elements may raise";
  if (!effects.writes.empty()) return "it stores";
  for (const Operand& result : imap.blocks[0]->results) {
    if (!ir::TypeOf(result).IsScalar()) return "its elements are arrays";
  }
  if (IsLeftForLater(imap)) return "it holds a reduction";
  if (IsMadeForContraction(imap)) return "a contraction reads it along its own indexes";
  if (!context_.options.kernels && IsReducedInTurn(imap) && ReducesColumns(imap))
    return "it reduces columns, which its own lanes read in the order of memory";
  for (const Var* result : imap.results) {
    const Reads& reads = finder_.Of(result);
    if (reads.is_result) return "it is a result of its block";
    if (reads.other != nullptr) return "it is " + UseBy(*reads.other);
  }
  return "";
}

// The candidate that the load reads; null when it reads another array.
const ProducerChooser::Candidate* ProducerChooser::CandidateFor(const Binding& load) const {
  if (load.op != OpCode::kLoad) return nullptr;
  const auto maker = makers_.find(load.operands[0].var());
  if (maker == makers_.end()) return nullptr;
  const auto candidate = candidates_.find(maker->second);
  return candidate == candidates_.end() ? nullptr : &candidate->second;
}

std::vector<LinearForm> ProducerChooser::IndexOf(const Binding& load) const {
  std::vector<LinearForm> index;
  for (size_t axis = 1; axis < load.operands.size(); ++axis) {
    index.push_back(forms_.Of(load.operands[axis]));
  }
  return index;
}

ProducerChooser::Candidate ProducerChooser::CandidateOf(const Binding& imap) const {
  Candidate candidate;
  candidate.imap = &imap;
  const Block body = WithoutChecks(*imap.blocks[0]);
  const std::unordered_set<const Binding*> own(body.bindings.begin(), body.bindings.end());
  const std::unordered_set<const Binding*> chosen = ChosenPlaces(body);
  VarSet places;  // conditions of indexes
  candidate.own_cost = CostOf(body, [&](const Binding& inner) -> int {
    if (forms_.IsKnown(inner)) return 0;  // Indexes are computed beside the lanes, if at all.
    if (IsConditionOfPlaces(inner, places)) return 0;  // Likewise, or nests are split there.
    if (chosen.contains(&inner)) {
      candidate.choosing += InfoOf(inner.op).cost;
      return 0;
    }
    const Candidate* read = CandidateFor(inner);
    candidate.holds_function |=
        read == nullptr ? InfoOf(inner.op).cost >= kFunctionCost : read->holds_function;
    if (read == nullptr) return InfoOf(inner.op).cost;
    candidate.choosing += read->choosing;
    return own.contains(&inner) ? 0 : read->cost;  // In a loop, as often as it runs.
  });
  candidate.cost = candidate.own_cost;
  for (const Binding* b : body.bindings) {
    const Candidate* read = CandidateFor(*b);
    if (read != nullptr) AddParts(candidate, *b, *read);
  }
  return candidate;
}

// What the load reads, and what that needs in turn, where it is not needed already.
void ProducerChooser::AddParts(Candidate& candidate, const Binding& load,
                               const Candidate& read) const {
  const std::vector<LinearForm> at = IndexOf(load);
  const auto add = [&](const Binding* imap, std::vector<LinearForm> index, int cost) {
    const bool known = std::any_of(
        candidate.parts.begin(), candidate.parts.end(),
        [&](const Part& other) { return other.imap == imap && SameForms(other.index, index); });
    if (known || candidate.cost > kDearInAnyCase) return;
    candidate.parts.push_back({imap, std::move(index)});
    candidate.cost += cost;
  };
  if (read.cost > kDearInAnyCase) candidate.cost = std::max(candidate.cost, read.cost);
  add(read.imap, at, read.own_cost);
  for (const Part& part : read.parts) {
    const auto inner = candidates_.find(part.imap);
    if (inner == candidates_.end()) continue;  // It has turned out to stay.
    add(part.imap, Composed(part.index, *read.imap, at), inner->second.own_cost);
  }
  if (candidate.cost > kDearInAnyCase) candidate.parts.clear();
}

void ProducerChooser::FindSites(Candidate& candidate) const {
  for (const Var* result : candidate.imap->results) {
    const Reads& reads = finder_.Of(result);
    candidate.recomputes |= reads.recomputes;
    for (const Read& read : reads.loads) AddSites(candidate, read);
  }
}

// A load in a producer that disappears too stands wherever that one's elements are computed.
void ProducerChooser::AddSites(Candidate& candidate, const Read& read) const {
  const auto add = [&](Site site) {
    const bool known =
        std::any_of(candidate.sites.begin(), candidate.sites.end(), [&](const Site& other) {
          return other.scope == site.scope && SameForms(other.index, site.index);
        });
    if (!known && candidate.sites.size() < kMostSites) candidate.sites.push_back(std::move(site));
  };
  Site own{read.block, IndexOf(*read.load)};
  const auto reader = candidates_.find(read.reader);
  if (reader == candidates_.end()) return add(std::move(own));
  const Block& body = *read.reader->blocks[0];
  if (HasChecks(body)) add(own);  // Its checks stay where it was.
  for (const Site& outer : reader->second.sites) {
    Site site{own.scope, Composed(own.index, *read.reader, outer.index)};
    // In a loop of the reader's there is one loop for each place of the reader.
    if (read.block == &body) {
      site.scope = outer.scope;
    } else {
      site.index.insert(site.index.end(), outer.index.begin(), outer.index.end());
    }
    add(std::move(site));
  }
}

// True where all that reads it goes through index spaces by itself, which may be split.
bool ProducerChooser::IsReadByNests(const Candidate& candidate) const {
  const auto is_nest = [](const Read& read) {
    if (read.reader == nullptr) return false;
    const OpCode op = read.reader->op;
    return (op == OpCode::kImap || op == OpCode::kForeach || op == OpCode::kIreduce) &&
           read.block == read.reader->blocks[0];
  };
  return std::all_of(candidate.imap->results.begin(), candidate.imap->results.end(),
                     [&](const Var* result) {
                       const Reads& reads = finder_.Of(result);
                       return std::all_of(reads.loads.begin(), reads.loads.end(), is_nest);
                     });
}

// How many elements of arrays that all indexes decide are loaded for each of the imap's own.
int ProducerChooser::CountLoads(const Binding& imap) const {
  const std::vector<const Var*>& params = imap.blocks[0]->params;
  const auto moves = [&](const Binding& load, const Var* param) {
    for (size_t axis = 1; axis < load.operands.size(); ++axis) {
      if (forms_.Of(load.operands[axis]).Coefficient(param) != 0) return true;
    }
    return false;
  };
  int count = 0;
  for (const Binding* b : imap.blocks[0]->bindings) {
    if (b->op != OpCode::kLoad || CandidateFor(*b) != nullptr) continue;
    count += std::all_of(params.begin(), params.end(), [&](const Var* p) { return moves(*b, p); });
  }
  return count;
}

int ProducerChooser::CountLoads(const Candidate& candidate) const {
  int count = CountLoads(*candidate.imap);
  for (const Part& part : candidate.parts) count += CountLoads(*part.imap);
  return count;
}

// True where steps of a loop, as those of time, read the elements again and again.
bool ProducerChooser::IsReadInSteps(const Candidate& candidate) const {
  return candidate.recomputes &&
         std::any_of(candidate.imap->results.begin(), candidate.imap->results.end(),
                     [&](const Var* result) {
                       const std::vector<Read>& loads = finder_.Of(result).loads;
                       return std::any_of(loads.begin(), loads.end(), [](const Read& read) {
                         return read.reader != nullptr && (read.reader->op == OpCode::kFor ||
                                                           read.reader->op == OpCode::kWhile);
                       });
                     });
}

std::string ProducerChooser::WhyNotWorthIt(const Candidate& candidate) const {
  if (candidate.cost + candidate.choosing <= kCheapCost) {
    if (CountLoads(candidate) < 2 || !IsReadInSteps(candidate)) return "";
    return "its elements, each made of several, are read again and again";
  }
  if (candidate.recomputes) return "it is dear and its elements are read again and again";
  const auto count = static_cast<int>(candidate.sites.size());
  if (count <= 1) return "";
  const bool is_split = candidate.choosing * count <= kMostChoosing && IsReadByNests(candidate);
  const int cost = candidate.cost + (is_split ? 0 : candidate.choosing);
  const bool is_arithmetic =
      !candidate.holds_function && (is_split || candidate.choosing < kFunctionCost);
  if (is_arithmetic && cost * (count - 1) <= kRecomputedCost) return "";
  return "it is dear and would be computed in " + std::to_string(count) + " places";
}

const ProducerChooser::Chosen* ProducerChooser::ChosenFor(const Var* array) const {
  const auto maker = makers_.find(array);
  if (maker == makers_.end()) return nullptr;
  const auto chosen = chosen_.find(maker->second);
  return chosen == chosen_.end() ? nullptr : &chosen->second;
}

ProducerChooser::Chosen ProducerChooser::ChosenFrom(const Binding& imap,
                                                    const Effects& effects) const {
  Chosen chosen;
  for (const Var* root : effects.reads) {
    const Chosen* fused = ChosenFor(root);
    if (fused == nullptr) {
      chosen.reads.insert(root);
    } else {
      chosen.reads.insert(fused->reads.begin(), fused->reads.end());
      chosen.depth = std::max(chosen.depth, fused->depth + 1);
    }
  }
  ir::ForEachBinding(*imap.blocks[0], [&](const Binding& b) {
    for (const Operand& operand : b.operands) {
      if (!operand.IsVar() || !operand.var()->type.IsArray()) continue;
      const Chosen* fused = ChosenFor(operand.var());
      if (fused == nullptr) chosen.arrays.insert(operand.var());
      if (fused != nullptr) chosen.arrays.insert(fused->arrays.begin(), fused->arrays.end());
    }
  });
  return chosen;
}

// True where a later binding of the block may write what the producer reads. An array that the
// block makes is none that a loop has carried into it.
bool ProducerChooser::Overwrites(const Binding& later, const Effects& effects,
                                 const Chosen& chosen) const {
  if (!Intersects(effects.writes, chosen.reads)) return false;
  bool may = false;
  const auto see = [&](const Binding& b) {
    may |= b.op == OpCode::kCall;
    for (const size_t stored : ir::StoredOperands(b)) {
      may |= std::any_of(chosen.arrays.begin(), chosen.arrays.end(), [&](const Var* array) {
        return roots_.MayShareNow(array, b.operands[stored].var());
      });
    }
  };
  see(later);
  for (const Block* block : later.blocks) ir::ForEachBinding(*block, see);
  return may;
}

// Why something may write what the producer reads before the last reader has read it; or why the
// chain that it ends is too long.
std::string ProducerChooser::WhyOverwritten(const Chosen& chosen, const Seen& seen,
                                            size_t at) const {
  constexpr std::string_view kOverwritten = "what it reads is written before it is read";
  if (chosen.depth > kLongestChain) return "the chain of producers behind it is long";
  const Binding& b = *seen.block.bindings[at];
  const VarSet results(b.results.begin(), b.results.end());
  size_t last = at;
  for (const Var* result : results) {
    const auto reader = seen.last_reader.find(result);
    if (reader != seen.last_reader.end()) last = std::max(last, reader->second);
  }
  bool written = false;
  for (size_t later = at + 1; later <= last; ++later) {
    const Binding& reader = *seen.block.bindings[later];
    const bool writes = Overwrites(reader, seen.effects[later], chosen);
    const bool reads = Intersects(seen.free[later], results);
    if (reads && written) return std::string(kOverwritten);
    // A binding that itself does both may write first.
    if (reads && writes && !StoresWhatItReads(b, reader, seen.effects[later].writes)) {
      return std::string(kOverwritten);
    }
    written |= writes;
  }
  return "";
}

// True for a foreach each of whose iterations reads, through the producer, only those elements of
// what it writes that no iteration writes, or that it writes itself, and before it writes them. Its
// iterations are independent, so no other one writes those.
bool ProducerChooser::StoresWhatItReads(const Binding& producer, const Binding& foreach,
                                        const VarSet& writes) const {
  if (foreach.op != OpCode::kForeach || may_overlap_) return false;
  std::vector<const Binding*> touching;  // what the producer loads of what is written
  bool through_others = false;
  ir::ForEachBinding(*producer.blocks[0], [&](const Binding& b) {
    if (b.op != OpCode::kLoad) return;
    const Chosen* fused = ChosenFor(b.operands[0].var());
    if (fused != nullptr) through_others |= Intersects(fused->reads, writes);
    if (Intersects(roots_.Of(b.operands[0].var()), writes)) touching.push_back(&b);
  });
  if (through_others) return false;
  bool stored = false;
  for (const Binding* b : foreach.blocks[0]->bindings) {
    if (b->op == OpCode::kStore) {
      stored = true;
      continue;
    }
    if (!ReadsResultOf(producer, *b)) continue;
    if (stored || b->op != OpCode::kLoad || !IsWhatIsStored(producer, touching, *b, foreach))
      return false;
  }
  return HasPlainStores(foreach);
}

// True where `touching`, at the producer's index that `load` reads, are the very elements that the
// foreach stores, or lie in another row or column than the one that it stores to.
bool ProducerChooser::IsWhatIsStored(const Binding& producer,
                                     const std::vector<const Binding*>& touching,
                                     const Binding& load, const Binding& foreach) const {
  VarSet varying = ir::DefinedVars(*foreach.blocks[0]);
  varying.insert(foreach.blocks[0]->params.begin(), foreach.blocks[0]->params.end());
  const auto is_for_all = [&](const LinearForm& form) {
    return std::none_of(form.terms.begin(), form.terms.end(),
                        [&](const auto& term) { return varying.contains(term.first); });
  };
  for (const Binding* touched : touching) {
    for (const Binding* store : foreach.blocks[0]->bindings) {
      if (store->op != OpCode::kStore) continue;
      if (!roots_.MayShare(store->operands[0].var(), touched->operands[0].var())) continue;
      if (store->operands[0] != touched->operands[0]) return false;
      bool is_same = true, is_beside = false;
      for (size_t axis = 1; axis < touched->operands.size(); ++axis) {
        LinearForm place = forms_.Of(touched->operands[axis]);
        for (size_t k = 0; k < producer.blocks[0]->params.size(); ++k) {
          place = place.With(producer.blocks[0]->params[k], forms_.Of(load.operands[1 + k]));
        }
        const LinearForm stored = forms_.Of(store->operands[axis]);
        const LinearForm apart = Difference(place, stored);
        const bool is_own = apart.IsConstant() && apart.constant == 0;
        // Where the two are one value, each iteration reads what it stores; else what none stores.
        is_same &= is_own || (is_for_all(place) && is_for_all(stored));
        is_beside |= apart.IsConstant() && apart.constant != 0 && is_for_all(stored);
      }
      if (!is_same && !is_beside) return false;
    }
  }
  return true;
}

}  // namespace parakeet::passes
