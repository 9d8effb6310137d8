#ifndef PARAKEET_PASSES_ANALYSES_INDEX_MAPS_H_
#define PARAKEET_PASSES_ANALYSES_INDEX_MAPS_H_

#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// What express_by_index knows of views: each is a function from its index to an index of another
// array. Indexes are i64 operands, one an axis.
class IndexMaps {
 public:
  using Index = std::vector<ir::Operand>;

  explicit IndexMaps(const ir::Function& function);

  // Records that `result` is what the view `binding` makes of its operand. A reshape whose copy
  // could be told from a view is made here, as an array of its own.
  void Define(ir::Builder& builder, const ir::Var* result, const ir::Binding& binding);
  // Records that `element`, of type `type`, is the slice of `array` at `leading` indexes of its
  // first axes.
  void DefineSlice(const ir::Var* element, const ir::Type& type, const ir::Operand& array,
                   const Index& leading);

  // The element of an array or view.
  ir::Operand Load(ir::Builder& builder, const ir::Operand& array, const Index& index,
                   std::string_view hint) const;
  void Store(ir::Builder& builder, const ir::Operand& array, const Index& index,
             const ir::Operand& value) const;

  // True where two elements of the array may be one place: an argument of a function that assumes
  // nothing of them.
  bool MayOverlapItself(const ir::Operand& array) const;

  bool IsView(const ir::Operand& operand) const;
  bool AnyView(const Index& operands) const;
  // The operand itself, or for a view a `view` of its root (a copy where the view is of a reshape
  // and no affine function of the root's elements).
  ir::Operand Materialise(ir::Builder& builder, const ir::Operand& operand) const;

 private:
  // Whether an array's elements lie one after the other in C order.
  enum class Contiguity { kYes, kNo, kUnknown };

  // `map` turns an index of the view into one of `source`; a reshape's is not affine.
  struct View {
    ir::Operand source;
    ir::Type type;
    bool is_reshape = false;
    Contiguity contiguity = Contiguity::kUnknown;
    std::function<Index(ir::Builder&, const Index&)> map;
  };

  void LearnJoins(const ir::Block& body);
  const View* Find(const ir::Operand& operand) const;
  // The array under all views of `operand`, and `index` as an index of it.
  ir::Operand Resolve(ir::Builder& builder, ir::Operand operand, Index& index) const;
  Contiguity ContiguityOf(const ir::Operand& operand) const;
  Contiguity ContiguityOfView(const ir::Binding& view) const;
  Contiguity ContiguityOfSlice(const ir::Binding& slice) const;
  bool IsNotOne(const ir::Operand& size) const;
  bool IsContiguous(const ir::Operand& operand) const {
    return ContiguityOf(operand) == Contiguity::kYes;
  }
  bool MustCopy(const ir::Binding& reshape) const;
  ir::Operand StartOf(ir::Builder& builder, const ir::Operand& operand) const;
  ir::Operand MakeView(ir::Builder& builder, const View& view, const ir::Operand& top,
                       bool flat) const;
  ir::Operand CopyOf(ir::Builder& builder, const ir::Operand& operand, const ir::Type& type) const;

  Roots roots_;
  bool may_overlap_;
  ir::VarSet not_one_;  // sizes of the arguments, which the key tells apart from 1
  ir::VarSet written_;
  ir::VarSet exposed_;  // reshapes that would show whether they are copies
  std::unordered_map<const ir::Var*, Contiguity> contiguity_;  // as written
  std::unordered_map<const ir::Var*, View> views_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_INDEX_MAPS_H_
