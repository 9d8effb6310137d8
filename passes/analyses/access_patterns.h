#ifndef PARAKEET_PASSES_ANALYSES_ACCESS_PATTERNS_H_
#define PARAKEET_PASSES_ANALYSES_ACCESS_PATTERNS_H_

#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// How many cheap accesses a loop over each index makes: accesses to memory next to that of the
// index before. Found from index structure and layout alone.
class AccessPatterns {
 public:
  explicit AccessPatterns(const ir::Function& function);

  // The accesses in `block` (and inside it) that move to the next element when `index` grows by
  // one.
  int UnitStrides(const ir::Block& block, const ir::Var* index) const;

  // The accesses of an operator's block (and inside it) that are made anew as its indices `own`
  // move, counted by what they do when `index` grows by one: those that move to the next element,
  // and those that move anywhere else. With `may_wrap`, what goes around the edge of its axis,
  // `x[(i + k) % n]`, moves to the next element but there.
  struct Along {
    int next = 0;
    int gathered = 0;
  };
  Along AlongIndex(const ir::Block& block, const std::vector<const ir::Var*>& own,
                   const ir::Var* index, bool may_wrap = false) const;

  // True where the access goes to places at no one distance as `index` grows: those that data say.
  bool IsScattered(const ir::Binding& access, const ir::Var* index) const;

  // True where the access goes down a column as `index` grows, one that a value names which is no
  // number: columns 0, 1 and 2 of a row may lie in one vector.
  bool IsInColumn(const ir::Binding& access, const ir::Var* index) const;

  // True where the access goes along a line by a step that is no number, nor said by data.
  bool IsFarApart(const ir::Binding& access, const ir::Var* index) const;

  // Which index of an imap or foreach lanes should take: the one with the most accesses to the next
  // element; of equal ones that of an imap's own result, else the last. -1 where there is none.
  int VectorAxis(const ir::Binding& nest) const;

  // True for an access to what surely lies next to that of the index before, when `index` grows by
  // one: not only as far as its axes tell.
  bool LiesNext(const ir::Binding& access, const ir::Var* index) const {
    const ir::Var* array = access.operands[0].var();
    return IsNext(access, index) && (contiguous_.contains(array) || stepping_.contains(array));
  }

  // True for an array whose elements surely lie in C order, one behind the other.
  bool LiesInC(const ir::Var* array) const {
    return contiguous_.contains(array) && !fortran_.contains(array);
  }

 private:
  void AddView(const ir::Binding& view);
  bool IsNext(const ir::Binding& access, const ir::Var* index, bool may_wrap = false) const;
  // What an index is before it is taken modulo the length of its axis.
  ir::Operand Unwrapped(const ir::Operand& at, const ir::Operand& length) const;
  // True for what is computed of elements of arrays.
  bool IsLoaded(const ir::Operand& value) const;
  // The axis along which elements are neighbours: of those that are not known to have one element
  // only. -1 where there is none.
  int FastestAxis(const ir::Var* array) const;
  // True unless the access stays where it is when `index` grows.
  bool Moves(const ir::Binding& access, const ir::Var* index) const;
  // The change of `operand` when `index` grows by one, where that is a known constant.
  int64_t Coefficient(const ir::Operand& operand, const ir::Var* index, bool& known) const;

  ir::DefinitionMap definitions_;
  // Arrays in Fortran order; of any other the last axis is taken for the fastest.
  ir::VarSet fortran_;
  ir::VarSet contiguous_;
  // Views whose fastest axis surely goes from element to element, though others leave gaps.
  ir::VarSet stepping_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_ACCESS_PATTERNS_H_
