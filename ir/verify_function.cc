#include "ir/verify_function.h"

#include <bit>
#include <cmath>
#include <string>

#include "ir/constant_text.h"
#include "ir/evaluate.h"
#include "ir/printer.h"

namespace parakeet::ir {
namespace {

bool IsRounded(double value, DType dtype) {
  const double rounded = EvaluateCast(Constant::Float(value), dtype).real;
  return std::isnan(value) || std::bit_cast<uint64_t>(rounded) == std::bit_cast<uint64_t>(value);
}

bool IsValid(const Constant& constant) {
  const DType dtype = constant.dtype;
  if (IsFloat(dtype)) return IsRounded(constant.real, dtype);
  if (IsComplex(dtype))
    return IsRounded(constant.real, PartOf(dtype)) && IsRounded(constant.imag, PartOf(dtype));
  return ConstantOf(dtype, constant.integer).integer == constant.integer;
}

}  // namespace

void FunctionVerifier::Verify(const Function& function) {
  breaches_.Enter(&function);
  VerifyParams(function);
  VerifyResults(function);
  Walk(*function.body, 0, nullptr);
  roots_.Report(breaches_);
}

void FunctionVerifier::VerifyParams(const Function& function) {
  for (const Param& param : function.params) {
    Define(param.var);
    roots_.AddParam(param.var);
  }
  for (const Var* size : function.Sizes()) Define(size);
  for (const Param& param : function.params) VerifyType(param.var->type);
  breaches_.Require(function.body->params.empty(), Invariant::kBlocksMatch,
                    "a function's body takes values");
}

void FunctionVerifier::VerifyResults(const Function& function) {
  const std::vector<Operand>& returned = function.body->results;
  if (!breaches_.Require(returned.size() == function.results.size(), Invariant::kResultsMatch,
                         std::to_string(returned.size()) + " values are returned; expected " +
                             std::to_string(function.results.size()))) {
    return;
  }
  std::unordered_set<const Var*> known(defined_.begin(), defined_.end());
  for (size_t i = 0; i < returned.size(); ++i) {
    const Type& type = function.results[i]->type;
    const std::string what = "result " + std::to_string(i);
    for (const Operand& dim : type.dims()) {
      const bool is_known = dim.IsConstant() || known.contains(dim.var());
      breaches_.Require(is_known, Invariant::kResultsMatch, what + " has an unknown size");
    }
    known.insert(function.results[i]);
    const Type actual = TypeOf(returned[i]);
    const bool fits = IsCompatible(actual, type) && !actual.IsVector();
    breaches_.Require(fits, Invariant::kResultsMatch,
                      what + " is " + (fits ? "" : Print(actual) + "; expected " + Print(type)));
  }
}

void FunctionVerifier::Define(const Var* var) {
  const auto [entry, is_new] = nesting_.emplace(var, depth_);
  if (is_new) {
    defined_.push_back(var);
  } else {
    breaches_.Add(Invariant::kDefinedOnce, breaches_.Text(var) + " is defined again");
  }
}

void FunctionVerifier::Read(const Operand& operand) {
  if (operand.IsConstant()) {
    if (!IsValid(operand.constant()))
      breaches_.Add(Invariant::kConstantsFit, Text(operand.constant()));
    return;
  }
  const auto found = nesting_.find(operand.var());
  if (found != nesting_.end() && found->second >= 0) return;
  const char* why =
      found == nesting_.end() ? " is not defined before" : " is defined in a block that has ended";
  breaches_.Add(Invariant::kDefinedBeforeUse, breaches_.Text(operand) + why);
}

void FunctionVerifier::VerifyType(const Type& type) {
  const bool may_have_lanes = around_.stage == Stage::kScheduled;
  if (type.IsVector() && !may_have_lanes) breaches_.Add(Invariant::kTypesAreSound, Print(type));
  for (const Operand& dim : type.dims()) {
    Read(dim);
    const bool is_size =
        TypeOf(dim) == Type(DType::kI64) && (dim.IsVar() || dim.constant().integer >= 0);
    if (!is_size) breaches_.Add(Invariant::kTypesAreSound, "size " + breaches_.Text(dim));
  }
}

void FunctionVerifier::Walk(const Block& block, int operators, const Binding* owner) {
  if (!walked_.insert(&block).second) {
    const bool defines = !block.params.empty() || !block.bindings.empty();
    if (defines) breaches_.Add(Invariant::kDefinedOnce, "a block is used again");
    return;
  }
  ++depth_;
  const size_t scope = defined_.size();
  for (const Var* param : block.params) {
    VerifyType(param->type);
    Define(param);
  }
  for (const Binding* binding : block.bindings) Walk(*binding, operators);
  breaches_.Enter(owner);
  for (const Operand& result : block.results) Read(result);
  if (owner && IsDataParallel(owner->op)) VerifyYieldedSizes(block);
  for (size_t i = scope; i < defined_.size(); ++i) nesting_[defined_[i]] = -1;
  defined_.resize(scope);
  --depth_;
}

void FunctionVerifier::VerifyYieldedSizes(const Block& block) {
  for (const Operand& result : block.results) {
    const Type type = TypeOf(result);
    for (const Operand& dim : type.dims()) {
      const auto found = dim.IsVar() ? nesting_.find(dim.var()) : nesting_.end();
      if (found == nesting_.end() || found->second < depth_) continue;
      breaches_.Add(Invariant::kSizesOutlive, breaches_.Text(dim) + " is defined inside");
    }
  }
}

void FunctionVerifier::Walk(const Binding& binding, int operators) {
  breaches_.Enter(&binding);
  for (const Operand& operand : binding.operands) Read(operand);
  roots_.Add(binding, operators);
  for (size_t k = 0; k < binding.blocks.size(); ++k) {
    // What follows the sums of a contraction stores as a foreach does.
    const bool stores = binding.op == OpCode::kContract && k == 2;
    const int inside = operators + (IsDataParallel(binding.op) && !stores ? 1 : 0);
    Walk(*binding.blocks[k], inside, &binding);
  }
  breaches_.Enter(&binding);
  for (const Var* result : binding.results) {
    VerifyType(result->type);
    Define(result);
  }
  BindingVerifier(around_, &breaches_, binding).Verify();
}

}  // namespace parakeet::ir
