#include "pylib/compiler/load_numbers.h"

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "pylib/key.h"

namespace parakeet::pylib {
namespace {

bool IsNumber(uint64_t leaf) {
  const ArgumentWord word(leaf);
  return word.IsArray() && word.is_number();
}

}  // namespace

void LoadNumbers(const std::vector<uint64_t>& leaves, ir::Program* program) {
  if (std::none_of(leaves.begin(), leaves.end(), IsNumber)) return;
  ir::Function entry = *program->functions.front();
  ir::Block body = *entry.body;
  std::vector<const ir::Binding*> loads;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!IsNumber(leaves[i])) continue;
    ir::Param& param = entry.params.at(i);
    const ir::Var* number = param.var;
    const ir::Var* array =
        program->arena->New(ir::Var{ir::Type::Array(number->type.dtype(), {}), number->hint});
    loads.push_back(program->arena->New(
        ir::Binding{ir::OpCode::kLoad, {number}, {ir::Operand(array)}, {}, {}, entry.span}));
    param = {array, ir::Layout::kC, /*writable=*/false, /*aligned=*/true};
  }
  body.bindings.insert(body.bindings.begin(), loads.begin(), loads.end());
  entry.body = program->arena->New(std::move(body));
  program->functions.front() = program->arena->New(std::move(entry));
}

}  // namespace parakeet::pylib
