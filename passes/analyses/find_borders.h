#ifndef PARAKEET_PASSES_ANALYSES_FIND_BORDERS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_BORDERS_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What lies between the borders of a loop: the indexes from each of `lower` on, and below each of
// `upper`. One of the two may be empty.
struct Borders {
  std::vector<LinearForm> lower;
  std::vector<LinearForm> upper;
  bool is_one_before = false;  // The first index is all that is before them,
  bool is_one_behind = false;  // and the last all that is behind.
  // Elements of arrays say where the loop begins or ends, as in rows of sparse matrices: such loops
  // are short, and likely all between the borders. Checks count too.
  bool is_likely_all = false;
};

// Finds where conditions of loops' indexes change that say whether memory is read, or where: what
// guards neighbours at the edges of an array, or clips, mirrors or wraps their places. Between the
// borders they all have one value. Forms are taken modulo 2^64, so that is likely, not sure.
class BorderFinder {
 public:
  explicit BorderFinder(const ir::Function& function);

  // The borders of a `for` by 1; none where it has none, or too many. Conditions that it answers
  // are none of a loop inside that is asked for behind it.
  std::optional<Borders> Of(const ir::Binding& loop);
  // The same of an axis of an imap or foreach.
  std::optional<Borders> Of(const ir::Binding& nest, size_t axis);

  // Between which indexes a loop runs.
  struct Ends {
    LinearForm first;
    LinearForm last;  // of a loop inside; else behind the last
  };
  // The borders of a part of a nest along one of its indexes, each index of which runs between its
  // ends; places that depend on other indexes are none. Nothing is kept of what it answers.
  std::optional<Borders> OfPart(const ir::Binding& nest, const std::vector<Ends>& part,
                                size_t axis);

 private:
  std::optional<Borders> Find(const ir::Block& body);
  void FindDear(const ir::Block& block);
  void AddMakers(const ir::Operand& value, ir::VarSet& set);

  bool IsLoaded(const LinearForm& end) const;
  void Walk(const ir::Block& block);
  void BoundIndexes(const ir::Binding& b);
  void AskOf(const ir::Binding& condition);
  void AskOfEqual(const ir::Binding& condition, const LinearForm& gap);
  void Combine(const ir::Binding& b);
  void Choose(const ir::Var* result, const ir::Operand& chosen);
  std::optional<bool> AnswerOf(const ir::Operand& condition) const;
  // The form between the borders.
  LinearForm FormOf(const ir::Operand& operand) const;
  // The least value, or the largest, whatever the indexes of loops inside are.
  std::optional<LinearForm> ExtremeOf(const LinearForm& form, bool largest) const;
  bool IsNearFirst(const LinearForm& place) const;
  void Add(std::vector<LinearForm>& places, const LinearForm& place, bool is_lower);

  const WrappingForms forms_;
  const ir::DefinitionMap definitions_;
  ir::VarSet dear_;                                 // what says whether or where memory is read
  ir::VarSet checked_;                              // what checks ask, and what that is made of
  std::unordered_map<const ir::Var*, bool> known_;  // conditions, between the borders of loops
  std::unordered_map<const ir::Var*, LinearForm> chosen_;

  // Of the loop that is asked about.
  const ir::Var* index_ = nullptr;
  Ends ends_;  // `last` is behind the last
  ir::VarSet inside_;
  std::unordered_map<const ir::Var*, Ends> inner_;
  Borders borders_;
  bool fails_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_BORDERS_H_
