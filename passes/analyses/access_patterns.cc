#include "passes/analyses/access_patterns.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool HasOne(const Binding& nest, int axis) { return nest.operands[axis].IsInt(1); }

// An imap stores its elements one after the other along its last index, in Fortran order along its
// first: of those that are not known to take one value only.
bool StoresNext(const Binding& nest, int axis) {
  if (nest.op != OpCode::kImap || HasOne(nest, axis)) return false;
  const bool is_fortran = nest.attrs.Int(ir::Attr::kFortran) != 0;
  const int rank = static_cast<int>(nest.blocks[0]->params.size());
  for (int faster = is_fortran ? 0 : axis + 1; faster < (is_fortran ? axis : rank); ++faster) {
    if (!HasOne(nest, faster)) return false;
  }
  return true;
}

}  // namespace

AccessPatterns::AccessPatterns(const ir::Function& function)
    : definitions_(ir::Definitions(*function.body)) {
  for (const ir::Param& param : function.params) {
    if (param.layout == ir::Layout::kFortran) fortran_.insert(param.var);
    if (param.layout != ir::Layout::kStrided) contiguous_.insert(param.var);
  }
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.attrs.Int(ir::Attr::kFortran) != 0) fortran_.insert(b.results.begin(), b.results.end());
    const bool makes = b.op == OpCode::kAlloc || InfoOf(b.op).format == ir::OpFormat::kIndices;
    if (makes) contiguous_.insert(b.results.begin(), b.results.end());
    if (b.op == OpCode::kView && b.attrs.Int(ir::Attr::kFlat) == 0) AddView(b);
  });
}

// A view of rows of an array in C order, or of columns of one in Fortran order, steps as that does.
void AccessPatterns::AddView(const Binding& view) {
  const Var *root = view.operands[0].var(), *seen = view.result();
  const int fastest = FastestAxis(root), axes = root->type.rank(), rank = seen->type.rank();
  if (fastest < 0 || rank == 0 || !(contiguous_.contains(root) || stepping_.contains(root))) return;
  const bool is_fortran = fortran_.contains(root);
  const int own = is_fortran ? 0 : rank - 1;
  if (seen->type.dims()[own].IsInt(1)) return;
  for (int axis = 0; axis < axes; ++axis) {
    if (!view.operands[1 + axes + axis * rank + own].IsInt(axis == fastest)) return;
  }
  stepping_.insert(seen);
  if (is_fortran) fortran_.insert(seen);
}

int AccessPatterns::UnitStrides(const ir::Block& block, const Var* index) const {
  int count = 0;
  ir::ForEachBinding(block, [&](const Binding& b) {
    if (b.op == OpCode::kLoad || b.op == OpCode::kStore) count += IsNext(b, index);
  });
  return count;
}

AccessPatterns::Along AccessPatterns::AlongIndex(const ir::Block& block,
                                                 const std::vector<const Var*>& own,
                                                 const Var* index, bool may_wrap) const {
  Along along;
  ir::ForEachBinding(block, [&](const Binding& b) {
    if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
    const bool moves =
        std::any_of(own.begin(), own.end(), [&](const Var* each) { return Moves(b, each); });
    if (!moves || !Moves(b, index)) return;
    ++(IsNext(b, index, may_wrap) ? along.next : along.gathered);
  });
  return along;
}

bool AccessPatterns::Moves(const Binding& access, const Var* index) const {
  const auto first = access.operands.begin() + 1;
  const int rank = access.operands[0].var()->type.rank();
  return std::any_of(first, first + rank, [&](const Operand& at) {
    bool known = true;
    return Coefficient(at, index, known) != 0 || !known;
  });
}

// What moves with fewer indexes than others is accessed less often: `step[k]` in a nest over k, i
// and j.
int AccessPatterns::VectorAxis(const Binding& nest) const {
  const std::vector<const Var*>& params = nest.blocks[0]->params;
  std::vector<std::pair<const Binding*, ptrdiff_t>> accesses;  // and with how many they move
  ptrdiff_t most_indexes = 0;
  ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
    if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
    const auto moves = [&](const Var* index) { return Moves(b, index); };
    accesses.emplace_back(&b, std::count_if(params.begin(), params.end(), moves));
    most_indexes = std::max(most_indexes, accesses.back().second);
  });
  int best = -1;
  int most = -1;
  for (int axis = static_cast<int>(params.size()); axis-- > 0;) {
    const int own = StoresNext(nest, axis);
    int count = own;
    for (const auto& [access, indexes] : accesses)
      count += !HasOne(nest, axis) && indexes == most_indexes && IsNext(*access, params[axis]);
    if (count > most || (count == most && own > 0)) {
      best = axis;
      most = count;
    }
  }
  return best;
}

bool AccessPatterns::IsScattered(const Binding& access, const Var* index) const {
  const auto first = access.operands.begin() + 1;
  const int rank = access.operands[0].var()->type.rank();
  return std::any_of(first, first + rank, [&](const Operand& at) {
    bool known = true;
    Coefficient(at, index, known);
    return !known && IsLoaded(at);
  });
}

bool AccessPatterns::IsInColumn(const Binding& access, const Var* index) const {
  const int fastest = FastestAxis(access.operands[0].var());
  if (fastest < 0 || !Moves(access, index) || IsScattered(access, index)) return false;
  const Operand& column = access.operands[1 + fastest];
  bool known = true;
  return column.IsVar() && Coefficient(column, index, known) == 0 && known;
}

bool AccessPatterns::IsFarApart(const Binding& access, const Var* index) const {
  if (access.operands[0].var()->type.rank() != 1 || IsScattered(access, index)) return false;
  bool known = true;
  Coefficient(access.operands[1], index, known);
  return !known;
}

bool AccessPatterns::IsLoaded(const Operand& value) const {
  const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
  if (found == definitions_.end()) return false;
  const Binding& b = *found->second;
  return b.op == OpCode::kLoad ||
         (ir::IsScalarOp(b.op) && std::any_of(b.operands.begin(), b.operands.end(),
                                              [&](const Operand& o) { return IsLoaded(o); }));
}

Operand AccessPatterns::Unwrapped(const Operand& at, const Operand& length) const {
  const auto found = at.IsVar() ? definitions_.find(at.var()) : definitions_.end();
  const bool wraps = found != definitions_.end() && found->second->op == OpCode::kMod &&
                     found->second->operands[1] == length;
  return wraps ? found->second->operands[0] : at;
}

bool AccessPatterns::IsNext(const Binding& access, const Var* index, bool may_wrap) const {
  const Var* array = access.operands[0].var();
  const int rank = array->type.rank();
  const int fastest = FastestAxis(array);
  for (int axis = 0; axis < rank; ++axis) {
    const Operand &length = array->type.dims()[axis], &at = access.operands[1 + axis];
    if (length.IsInt(1)) continue;
    bool known = true;
    const int64_t step = Coefficient(may_wrap ? Unwrapped(at, length) : at, index, known);
    if (!known || step != (axis == fastest ? 1 : 0)) return false;
  }
  return fastest >= 0;
}

int AccessPatterns::FastestAxis(const Var* array) const {
  const std::vector<Operand>& dims = array->type.dims();
  const auto is_long = [](const Operand& dim) { return !dim.IsInt(1); };
  if (fortran_.contains(array)) {
    const auto first = std::find_if(dims.begin(), dims.end(), is_long);
    return first == dims.end() ? -1 : static_cast<int>(first - dims.begin());
  }
  const auto last = std::find_if(dims.rbegin(), dims.rend(), is_long);
  return static_cast<int>(dims.rend() - last) - 1;
}

int64_t AccessPatterns::Coefficient(const Operand& operand, const Var* index, bool& known) const {
  if (operand.var() == index) return 1;
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  if (found == definitions_.end()) return 0;
  const Binding& b = *found->second;
  if (b.op != OpCode::kLoad && (!b.blocks.empty() || !ir::IsScalarOp(b.op))) {
    known &= !ir::FreeVars(b).contains(index);
    return 0;
  }
  std::vector<int64_t> parts;
  for (const Operand& inner : b.operands) parts.push_back(Coefficient(inner, index, known));
  if (b.op == OpCode::kAdd) return parts[0] + parts[1];
  if (b.op == OpCode::kSub) return parts[0] - parts[1];
  if (b.op == OpCode::kMul && b.operands[1].IsConstant())
    return parts[0] * b.operands[1].constant().integer;
  if (b.op == OpCode::kMul && b.operands[0].IsConstant())
    return parts[1] * b.operands[0].constant().integer;
  for (const int64_t part : parts) known &= part == 0;
  return 0;
}

}  // namespace parakeet::passes
