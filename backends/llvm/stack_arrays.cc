#include "backends/llvm/stack_arrays.h"

#include "ir/dtype.h"

namespace parakeet::backends {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Var;

constexpr int64_t kMostBytes = 1024;        // Of one array,
constexpr int64_t kMostTogether = 1 << 14;  // and of all of a function.

// The size of an array in bytes, or -1 where it is not fixed or not small.
int64_t BytesOf(const ir::Type& type) {
  int64_t bytes = ir::SizeInBytes(type.dtype());
  for (const ir::Operand& size : type.dims()) {
    if (!size.IsConstant()) return -1;
    const int64_t count = size.constant().integer;
    if (count < 0 || count > kMostBytes) return -1;
    bytes *= count;
    if (bytes > kMostBytes) return -1;
  }
  return bytes;
}

class Finder {
 public:
  void See(const Block& block, bool repeats) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kAlloc && repeats) Add(b->result());
      const bool is_access = ir::InfoOf(b->op).format == ir::OpFormat::kAccess;
      for (size_t k = 0; k < b->operands.size(); ++k) {
        // Routines keep nothing of what they are given.
        if (b->op == OpCode::kLibraryCall || (is_access && k == 0)) continue;
        if (b->op == OpCode::kFree && k == 0 && b->operands.size() == 1) continue;
        found_.erase(b->operands[k].var());
      }
      const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
      for (const Block* inner : b->blocks) See(*inner, repeats || is_loop);
    }
    for (const ir::Operand& result : block.results) found_.erase(result.var());
  }

  ir::VarSet TakeFound() { return std::move(found_); }

 private:
  void Add(const Var* array) {
    const int64_t bytes = BytesOf(array->type);
    const int64_t room = (bytes / kStackAlignment + 1) * kStackAlignment;
    if (bytes < 0 || together_ + room > kMostTogether) return;
    together_ += room;
    found_.insert(array);
  }

  ir::VarSet found_;
  int64_t together_ = 0;
};

}  // namespace

ir::VarSet FindStackArrays(const ir::Function& function) {
  Finder finder;
  finder.See(*function.body, false);
  return finder.TakeFound();
}

}  // namespace parakeet::backends
