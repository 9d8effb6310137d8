#ifndef PARAKEET_FRONTEND_CONTEXT_H_
#define PARAKEET_FRONTEND_CONTEXT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontend/value.h"
#include "ir/builder.h"
#include "ir/diagnostics.h"
#include "ir/node.h"
#include "ir/uses.h"

// Where IR is being appended, and what numbering, spans and failures need to know about it.
namespace parakeet::frontend {

// Thrown where the value of a parameter decides a type: whoever called the function being built
// makes that parameter static and builds it again. A `parameter` below -1 is the index of a loop,
// which is unrolled then.
struct NeedStatic {
  int parameter;
};

// Thrown after an emitted `check false`: control does not reach what follows in this block. Caught
// where a block ends; code that opens a block catches it (Evaluator::Reaches).
struct Leaves {};

class Context {
 public:
  explicit Context(ir::Program* program, bool on_device = false)
      : on_device(on_device), program_(program), root_(program->arena.get()) {
    builder_ = &root_;
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const bool on_device;  // Kernels will run the program.

  ir::Program& program() const { return *program_; }
  ir::Arena* arena() const { return program_->arena.get(); }
  // The block that is appended to.
  ir::Builder& builder() const { return *builder_; }
  // A block to append to inside an Inside scope.
  ir::Builder NewBlock() const { return builder_->Nested(); }
  const ir::Span& span() const { return builder_->span(); }

  // Raises `exception` in its place, at the current span, when `ok` is false. `message` is a format
  // string in Python's sense (`{}` holes, literal braces doubled) for `scalars`. A check of the
  // constant true is dropped.
  void Check(const ir::Operand& ok, const std::string& exception, const std::string& message,
             std::vector<ir::Operand> scalars = {});
  // A check that always fails; what follows is not reached, and not built.
  [[noreturn]] void Raise(const std::string& exception, const std::string& message,
                          std::vector<ir::Operand> scalars = {});
  // The common size of two axes. Known equal, or one of them the constant 1: no code. In the entry
  // function two different sizes of parameters are checked to be equal, elsewhere a broadcast_size.
  // The message's two holes take the sizes.
  ir::Operand BroadcastSize(const ir::Operand& n, const ir::Operand& m, const std::string& message);

  // Places in program order (design.md, Failures): the numbers and indexes of the loops around,
  // then the number of the statement in its block. Each check, call and operator takes a number.
  int64_t NextNumber() { return next_number_++; }
  std::vector<ir::Operand> Place(int64_t number) const;
  // The row of the program's site table, made once for equal rows.
  int64_t Site(const std::string& exception, const std::string& message);

  // The sizes of the entry function's parameters that its types bind; none in other functions.
  void set_parameter_sizes(std::vector<const ir::Var*> sizes) { sizes_ = std::move(sizes); }
  void AddParameterSize(const ir::Operand& size) {
    if (size.IsVar()) sizes_.push_back(size.var());
  }
  bool IsParameterSize(const ir::Operand& size) const;
  // Sizes that cannot be more than 1: an axis of such a length has no stride to speak of.
  void AddNarrowSize(const ir::Operand& size) {
    if (size.IsVar()) narrow_.insert(size.var());
  }
  bool IsNarrow(const ir::Operand& size) const {
    return size.IsVar() ? narrow_.contains(size.var()) : size.IsInt(1);
  }

  // Failures at the current span.
  [[noreturn]] void FailUser(const std::string& exception, const std::string& message) const {
    ir::FailUser(exception, message, span());
  }
  [[noreturn]] void FailType(const std::string& message) const { FailUser("TypeError", message); }
  [[noreturn]] void FailLimitation(const std::string& message) const {
    ir::FailLimitation(message, span());
  }
  // Asks for what `origin` names to be made static; a Limitation, "... must be known at compile
  // time", where it names nothing.
  [[noreturn]] void FailNotStatic(int origin, const std::string& what) const;
  // Asks for what `origin` names to be made static, where it names a parameter or a loop that is
  // being built.
  void AskForStatic(int origin) const;
  // The constant that the value is. `what` names it in messages: "axis", "the rank".
  int64_t StaticInt(const Value& value, const std::string& what) const;
  bool StaticBool(const Value& value, const std::string& what) const;

 private:
  friend class Inside;
  friend class SpanScope;
  friend class LibraryScope;
  friend class LoopScope;
  friend class FunctionScope;
  friend class IndexScope;

  ir::Program* program_;
  ir::Builder root_;
  ir::Builder* builder_;
  std::vector<ir::Operand> place_;
  int64_t next_number_ = 0;
  std::vector<const ir::Var*> sizes_;
  ir::VarSet narrow_;
  std::vector<int> indexes_;  // Origins of the indexes of loops being built.
  int last_index_ = -1;       // They count down from here.
  bool in_library_ = false;
};

// While it lives, NeedStatic may ask for the index of a loop by `origin()`.
class IndexScope {
 public:
  explicit IndexScope(Context* context) : context_(context), origin_(--context->last_index_) {
    context->indexes_.push_back(origin_);
  }
  ~IndexScope() { context_->indexes_.pop_back(); }
  IndexScope(const IndexScope&) = delete;
  IndexScope& operator=(const IndexScope&) = delete;

  int origin() const { return origin_; }

 private:
  Context* context_;
  int origin_;
};

// While it lives, code is appended to `block`.
class Inside {
 public:
  Inside(Context* context, ir::Builder* block) : context_(context), outer_(context->builder_) {
    block->set_span(outer_->span());
    context->builder_ = block;
  }
  ~Inside() { context_->builder_ = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Context* context_;
  ir::Builder* outer_;
};

// While it lives, code belongs to `span`. A span that is not known leaves the one around, and so
// does every span of the library.
class SpanScope {
 public:
  SpanScope(Context* context, const ir::Span& span)
      : builder_(context->builder_), outer_(builder_->span()) {
    if (span.IsKnown() && !context->in_library_) builder_->set_span(span);
  }
  ~SpanScope() { builder_->set_span(outer_); }
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  ir::Builder* builder_;
  ir::Span outer_;
};

// While it lives, functions of the library are built, or, within them, again functions of the
// user's. What the library does belongs to the place in the user's source that called it.
class LibraryScope {
 public:
  LibraryScope(Context* context, bool in_library)
      : context_(context), outer_(std::exchange(context->in_library_, in_library)) {}
  ~LibraryScope() { context_->in_library_ = outer_; }
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  Context* context_;
  bool outer_;
};

// While it lives, places are inside the loop or operator numbered `number`, at `indexes` (none for
// a `while`, whose iterations cannot run out of order). `first` is the next number inside.
class LoopScope {
 public:
  LoopScope(Context* context, int64_t number, const std::vector<ir::Operand>& indexes,
            int64_t first = 0);
  ~LoopScope();
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  Context* context_;
  size_t outer_depth_;
  int64_t outer_number_;
};

// While it lives, code is appended to `body`, the outermost block of another function.
class FunctionScope {
 public:
  FunctionScope(Context* context, ir::Builder* body);
  ~FunctionScope();
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

 private:
  Context* context_;
  Inside inside_;
  std::vector<ir::Operand> outer_place_;
  int64_t outer_number_;
  std::vector<const ir::Var*> outer_sizes_;
};

// The text as a literal part of a format string: its braces doubled.
std::string EscapeBraces(const std::string& text);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_CONTEXT_H_
