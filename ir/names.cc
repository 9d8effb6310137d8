#include "ir/names.h"

#include "ir/constant_text.h"
#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

// The hint in characters that the text form allows: no digit first, and no word that reads as a
// constant.
std::string Cleaned(std::string_view hint) {
  std::string name(hint);
  for (char& c : name) {
    if (!IsWordCharacter(c)) c = '_';
  }
  Constant ignored;
  if (IsDigit(name[0])) name.insert(0, "_");
  if (ReadConstant(name, &ignored) > 0) name += '_';
  return name;
}

}  // namespace

Names::Names(const Function& function) {
  DefineParams(function);
  Define(*function.body);
}

void Names::DefineParams(const Function& function) {
  for (const Param& param : function.params) {
    Define(param.var);
    for (const Operand& dim : param.var->type.dims()) {
      if (dim.IsVar()) Define(dim.var());
    }
  }
}

void Names::Define(const Block& block) {
  for (const Var* param : block.params) Define(param);
  for (const Binding* binding : block.bindings) Define(*binding);
}

void Names::Define(const Binding& binding) {
  for (const Var* result : binding.results) Define(result);
  const bool combine_is_a_word = FitsFormat(binding) && !CombineWords(binding).empty();
  for (size_t i = 0; i < binding.blocks.size(); ++i) {
    if (i != 1 || !combine_is_a_word) Define(*binding.blocks[i]);
  }
}

void Names::Define(const Var* var) {
  if (names_.contains(var)) return;
  names_.emplace(var, var->hint.empty() ? std::to_string(unnamed_++) : Unique(Cleaned(var->hint)));
}

const std::string& Names::Of(const Var* var) {
  Define(var);
  return names_.at(var);
}

std::string Names::Unique(std::string_view hint) {
  const int earlier = taken_[std::string(hint)]++;
  return earlier == 0 ? std::string(hint) : std::string(hint) + "." + std::to_string(earlier);
}

}  // namespace parakeet::ir
