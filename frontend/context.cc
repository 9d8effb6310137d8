#include "frontend/context.h"

#include <algorithm>
#include <utility>

namespace parakeet::frontend {

std::vector<ir::Operand> Context::Place(int64_t number) const {
  std::vector<ir::Operand> place = place_;
  place.push_back(ir::Operand::Int(number));
  return place;
}

int64_t Context::Site(const std::string& exception, const std::string& message) {
  const ir::Site site{exception, message, span()};
  auto& sites = program_->sites;
  const auto found = std::find(sites.begin(), sites.end(), site);
  if (found != sites.end()) return found - sites.begin();
  sites.push_back(site);
  return static_cast<int64_t>(sites.size()) - 1;
}

void Context::Check(const ir::Operand& ok, const std::string& exception, const std::string& message,
                    std::vector<ir::Operand> scalars) {
  if (ok.IsInt(1)) return;
  const std::vector<ir::Operand> place = Place(NextNumber());
  std::vector<ir::Operand> operands = {ok};
  operands.insert(operands.end(), place.begin(), place.end());
  operands.insert(operands.end(), scalars.begin(), scalars.end());
  builder_->Emit(ir::OpCode::kCheck, {}, std::move(operands),
                 {{ir::Attr::kSite, Site(exception, message)},
                  {ir::Attr::kAt, static_cast<int64_t>(place.size())}});
}

void Context::Raise(const std::string& exception, const std::string& message,
                    std::vector<ir::Operand> scalars) {
  Check(ir::Operand::Bool(false), exception, message, std::move(scalars));
  throw Leaves{};
}

ir::Operand Context::BroadcastSize(const ir::Operand& n, const ir::Operand& m,
                                   const std::string& message) {
  if (n == m || m.IsInt(1)) return n;
  if (n.IsInt(1)) return m;
  if (n.IsConstant() && m.IsConstant()) Raise("ValueError", message, {n, m});
  // A size of the entry's parameters is not 1 unless it is the constant.
  const bool n_is_wide = n.IsConstant() || IsParameterSize(n);
  const bool m_is_wide = m.IsConstant() || IsParameterSize(m);
  if (n_is_wide && m_is_wide) {
    Check(builder_->Scalar(ir::OpCode::kEq, {n, m}), "ValueError", message, {n, m});
    return m.IsConstant() ? m : n;
  }
  std::vector<ir::Operand> operands = {n, m};
  const std::vector<ir::Operand> place = Place(NextNumber());
  operands.insert(operands.end(), place.begin(), place.end());
  return builder_->EmitOne(ir::OpCode::kBroadcastSize, ir::DType::kI64, std::move(operands),
                           {{ir::Attr::kSite, Site("ValueError", message)}}, {}, "s");
}

bool Context::IsParameterSize(const ir::Operand& size) const {
  return size.IsVar() && std::find(sizes_.begin(), sizes_.end(), size.var()) != sizes_.end();
}

void Context::AskForStatic(int origin) const {
  const bool is_index = std::find(indexes_.begin(), indexes_.end(), origin) != indexes_.end();
  if (origin >= 0 || is_index) throw NeedStatic{origin};
}

void Context::FailNotStatic(int origin, const std::string& what) const {
  AskForStatic(origin);
  FailLimitation(what +
                 " must be known at compile time: write it as a constant, or pass it unchanged "
                 "from a parameter");
}

int64_t Context::StaticInt(const Value& value, const std::string& what) const {
  const auto* scalar = value.TryAs<ScalarValue>();
  const bool fits = scalar != nullptr &&
                    (ir::IsInteger(ir::DTypeOf(scalar->op)) || ir::IsBool(ir::DTypeOf(scalar->op)));
  if (!fits) FailType(what + " must be an integer, not " + Describe(value));
  if (!scalar->op.IsConstant()) FailNotStatic(scalar->origin, what);
  return scalar->op.constant().integer;
}

bool Context::StaticBool(const Value& value, const std::string& what) const {
  return StaticInt(value, what) != 0;
}

LoopScope::LoopScope(Context* context, int64_t number, const std::vector<ir::Operand>& indexes,
                     int64_t first)
    : context_(context),
      outer_depth_(context->place_.size()),
      outer_number_(context->next_number_) {
  context->place_.push_back(ir::Operand::Int(number));
  context->place_.insert(context->place_.end(), indexes.begin(), indexes.end());
  context->next_number_ = first;
}

LoopScope::~LoopScope() {
  context_->place_.resize(outer_depth_);
  context_->next_number_ = outer_number_;
}

FunctionScope::FunctionScope(Context* context, ir::Builder* body)
    : context_(context),
      inside_(context, body),
      outer_place_(std::exchange(context->place_, {})),
      outer_number_(std::exchange(context->next_number_, 0)),
      outer_sizes_(std::exchange(context->sizes_, {})) {}

FunctionScope::~FunctionScope() {
  context_->place_ = std::move(outer_place_);
  context_->next_number_ = outer_number_;
  context_->sizes_ = std::move(outer_sizes_);
}

std::string EscapeBraces(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c;
    if (c == '{' || c == '}') escaped += c;
  }
  return escaped;
}

}  // namespace parakeet::frontend
