#ifndef PARAKEET_PASSES_FUSING_CHOOSE_PRODUCERS_H_
#define PARAKEET_PASSES_FUSING_CHOOSE_PRODUCERS_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_reads.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {

// Chooses the imaps of a function that disappear into what reads them, a block at a time, outer
// blocks first.
class ProducerChooser {
 public:
  // With `elements_only` an imap that holds a reduction stays.
  ProducerChooser(const ir::Function& function, bool elements_only, Context& context);

  // Chooses among the imaps of the block, and notes what was chosen and why not. `in_nest` says
  // that the block is of an element of a nest.
  void Choose(const ir::Block& block, bool in_nest);

  // True where the imap disappears.
  bool IsChosen(const ir::Binding* imap) const { return chosen_.contains(imap); }

 private:
  // A place where a producer's elements are computed once it has disappeared: in which block, at
  // which index. Two places that are equal compute one value.
  struct Site {
    const ir::Block* scope = nullptr;
    std::vector<LinearForm> index;
  };

  // A producer's elements that another needs, at an index in terms of the other's.
  struct Part {
    const ir::Binding* imap = nullptr;
    std::vector<LinearForm> index;
  };

  // An imap that may disappear, as far as its own block tells.
  struct Candidate {
    const ir::Binding* imap = nullptr;
    int own_cost = 0;             // of one element, by itself
    int cost = 0;                 // with all that may be fused into it
    std::vector<Part> parts;      // what may be, each once; none where it is dear in any case
    int choosing = 0;             // what of it only chooses places, with that of what it reads
    bool holds_function = false;  // a division or dearer, in it or in what may be fused into it
    bool recomputes = false;      // an element is computed again in a loop that does not follow it
    std::vector<Site> sites;
  };

  // What stays behind of one that has disappeared.
  struct Chosen {
    ir::VarSet reads;   // of what is fused into it too
    ir::VarSet arrays;  // the values it loads from, likewise
    int depth = 0;      // of the chain of producers that ends in it
  };

  // What the bindings of one block read and do.
  struct Seen {
    const ir::Block& block;
    std::vector<Effects> effects;
    std::vector<ir::VarSet> free;
    std::unordered_map<const ir::Var*, size_t> last_reader;
  };

  bool IsLeftForLater(const ir::Binding& imap) const;
  bool IsMadeForContraction(const ir::Binding& imap) const;
  bool ReducesColumns(const ir::Binding& imap) const;
  bool IsReducedInTurn(const ir::Binding& imap) const;
  bool IsCopied(const ir::Var* array) const;
  bool IsReadInPart(const ir::Var* array) const;
  std::string WhyNever(const ir::Binding& imap, const Effects& effects) const;
  Candidate CandidateOf(const ir::Binding& imap) const;
  void AddParts(Candidate& candidate, const ir::Binding& load, const Candidate& read) const;
  void FindSites(Candidate& candidate) const;
  void AddSites(Candidate& candidate, const Read& read) const;
  bool IsReadByNests(const Candidate& candidate) const;
  bool IsReadInSteps(const Candidate& candidate) const;
  int CountLoads(const ir::Binding& imap) const;
  int CountLoads(const Candidate& candidate) const;
  std::string WhyNotWorthIt(const Candidate& candidate) const;
  ir::Span ReaderOf(const ir::Binding& imap) const;
  bool IsRead(const ir::Binding& imap) const;
  bool IsMadeAnyway(const ir::Binding& imap) const;
  Chosen ChosenFrom(const ir::Binding& imap, const Effects& effects) const;
  bool Overwrites(const ir::Binding& later, const Effects& effects, const Chosen& chosen) const;
  std::string WhyOverwritten(const Chosen& chosen, const Seen& seen, size_t at) const;
  bool StoresWhatItReads(const ir::Binding& producer, const ir::Binding& foreach,
                         const ir::VarSet& writes) const;
  bool IsWhatIsStored(const ir::Binding& producer, const std::vector<const ir::Binding*>& touching,
                      const ir::Binding& load, const ir::Binding& foreach) const;
  const Candidate* CandidateFor(const ir::Binding& load) const;
  std::vector<LinearForm> IndexOf(const ir::Binding& load) const;
  const Chosen* ChosenFor(const ir::Var* array) const;

  Roots roots_;
  ReadFinder finder_;
  WrappingForms forms_;
  AccessPatterns patterns_;
  bool may_overlap_;  // Two elements of one argument may be one place.
  bool elements_only_;
  bool in_nest_ = false;
  Context& context_;
  ir::DefinitionMap makers_;  // of results of candidates
  std::unordered_map<const ir::Binding*, Candidate> candidates_;
  std::unordered_map<const ir::Binding*, Chosen> chosen_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_CHOOSE_PRODUCERS_H_
