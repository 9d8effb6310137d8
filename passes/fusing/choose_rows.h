#ifndef PARAKEET_PASSES_FUSING_CHOOSE_ROWS_H_
#define PARAKEET_PASSES_FUSING_CHOOSE_ROWS_H_

#include <string>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {

// Bindings that stand together in a block: one, or maps that are to share their rows, in order.
using RowGroup = std::vector<const ir::Binding*>;

// True where the imap makes one element at its first `depth` indexes: by itself or in a row of one.
bool HasRowsOfOne(const ir::Binding& imap, size_t depth);

// The arrays of which the imap makes rows, or reads them in a loop over the row: what is left of an
// array at the imap's own first `depth` indexes.
ir::VarSet RowsOf(const ir::Binding& imap, size_t depth);

// Why what the imap reads of `made` is more than its own rows; empty where it is not.
std::string WhyOtherRows(const ir::Binding& imap, const ir::VarSet& made, size_t depth);

// Chooses the imaps of a block that go over the same rows, each row by itself: those whose first
// `depth` extents are the same, and of which one reads what another makes, or rows that another
// reads, at its own first `depth` indexes.
class RowChooser {
 public:
  RowChooser(const ir::Function& function, Context& context)
      : roots_(function), patterns_(function), context_(context) {}

  // The block's bindings, ordered so that each group stands together. Empty where there is none.
  std::vector<RowGroup> Choose(const ir::Block& block, size_t depth);

 private:
  // A binding or a group, with what it does and needs as it was first written.
  struct Member {
    RowGroup bindings;
    Effects effects;
    ir::VarSet needs;
    ir::VarSet makes;
    ir::VarSet rows;            // the arrays of which it reads or makes rows; of imaps only
    std::string why_by_itself;  // why an imap joins no other; empty where it may
    bool is_worth_it = false;   // of a group: some row is read while it is still in cache

    void Add(const Member& other);
    std::string WhyBefore(const Member& other) const;
  };

  Member MemberOf(const ir::Binding& b, size_t depth) const;
  std::string WhyByItself(const ir::Binding& imap, const Effects& effects, size_t depth) const;
  std::string WhyAcrossRows(const ir::Binding& imap, size_t depth) const;
  static bool SharesRows(const Member& a, const Member& b);
  static bool Reduces(const RowGroup& group, size_t depth);
  bool JoinEarlier(std::vector<Member>& members, size_t& later, size_t depth);
  static std::string WhyNot(const std::vector<Member>& members, size_t first, size_t later,
                            size_t depth);
  static std::vector<size_t> BehindFirst(const std::vector<Member>& members, size_t first,
                                         size_t later);
  static size_t Join(std::vector<Member>& members, size_t first, size_t later);

  Roots roots_;
  AccessPatterns patterns_;
  Context& context_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_CHOOSE_ROWS_H_
