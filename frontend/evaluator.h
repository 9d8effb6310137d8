#ifndef PARAKEET_FRONTEND_EVALUATOR_H_
#define PARAKEET_FRONTEND_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/bind_arguments.h"
#include "frontend/branches.h"
#include "frontend/context.h"
#include "frontend/frame.h"
#include "frontend/joins.h"
#include "frontend/loop_hints.h"
#include "frontend/nesting_guard.h"
#include "frontend/resolve.h"
#include "frontend/syntax.h"
#include "frontend/value.h"

namespace parakeet::frontend {

struct BuiltFunction;  // frontend/call_memo.h
struct Callee;
struct Inputs;
class CallMemo;
class LoopBuilder;

// What a `for`, a comprehension or an unpacking runs over: `length` elements, made on demand in the
// block that is open then. `fixed` holds them where their number and values are known (tuples).
struct Sequence {
  ir::Operand length;
  std::function<Value(const ir::Operand& index)> element;
  std::optional<Values> fixed;
  // A range, whose loop runs over its own values: start, stop and a constant step.
  struct Counted {
    ir::Operand start;
    ir::Operand stop;
    int64_t step;
  };
  std::optional<Counted> counted;
};

// Walks syntax and appends IR for what it means; one object builds a whole program. Everything
// throws ir::Failure for what is refused, NeedStatic and Leaves (context.h). Members are grouped by
// the file that defines them; each file's own steps are functions of its unnamed namespace or the
// private members below its heading.
class Evaluator {
 public:
  Evaluator(Context* context, Resolver* resolver);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  Context& context() { return *context_; }
  ir::Builder& builder() { return context_->builder(); }
  Resolver& resolver() { return *resolver_; }
  Frame& frame() { return *frame_; }

  // --- evaluate_expressions.cc ---
  Value Evaluate(const Expr& expr);
  Value ReadVariable(const Variable& variable);

  // --- branches.cc ---
  // The values of two blocks of an `if`, joined: `then` and `otherwise` append to the block that is
  // open when they run. A static condition runs only one. Bindings that they make are joined too.
  Value Choose(const ir::Operand& condition, int origin, const std::function<Value()>& then,
               const std::function<Value()>& otherwise);
  // Runs `fail`, which raises, where `ok` is false: a check where it only computes a message.
  void FailUnless(const ir::Operand& ok, const std::function<void()>& fail);
  // Runs `build`; false where control does not go on after it.
  bool Reaches(const std::function<void()>& build);

  // --- statements.cc, loops.cc ---
  // Binds a target: a name, a subscript, an attribute, or a pattern of them.
  void Assign(const Expr& target, const Value& value);
  // The elements of a tuple, list, array (its first axis) or other iterable, `count` of them, or
  // ValueError in Python's words. `count` < 0: as many as there are, which must be known.
  Values Unpack(const Value& value, int count);
  Sequence Iterate(const Value& iterable);

  // --- calls.cc ---
  // Calls anything callable; a call of a user's function becomes a `call` of a function of the
  // program.
  Value CallFunction(const Value& function, Arguments arguments);
  // As above, positional arguments only.
  Value Call(const Value& function, Values positional);
  // How many positional arguments a function declares without default (for imap's index argument).
  int CountParameters(const Value& function);

  // --- tabulate.cc ---
  // An imap over `extents` of what `element` gives for its indexes, appended to the body's block:
  // scalars make an array, arrays stack, tuples make tuples of arrays. Sizes of element arrays are
  // lifted out (design.md, Sizes). Where nothing is fallible in it, still an imap. Only elements
  // that store nothing outside may be given another `order` than C.
  Value Tabulate(const std::vector<ir::Operand>& extents,
                 const std::function<Value(const std::vector<ir::Operand>&)>& element,
                 Order order = Order::kC);

  // --- operators: elementwise.cc and its neighbours (the NumPy half) ---
  Value Binary(BinaryOperator op, const Value& left, const Value& right);
  // `left op= right`: an array is written in place, NumPy's casting rule applies; anything else
  // gives the new value to bind.
  Value BinaryInPlace(BinaryOperator op, const Value& left, const Value& right);
  // What an array gets by `left op= right`, `@=` aside.
  Value ResultInPlace(BinaryOperator op, const Value& left, const Value& right);
  Value Unary(UnaryOperator op, const Value& operand);
  // One link of a comparison, `is` and `in` included.
  Value Compare(CompareOperator op, const Value& left, const Value& right);
  // An element-wise function by its name, a primitive's or one that the library composes, on
  // scalars and arrays with broadcasting and promotion; with the keywords of NumPy's.
  Value CallPrimitive(const std::string& name, Arguments arguments);
  int CountOperands(const std::string& name);
  // Python's truth of a value, as a bool operand; an array of more than one element is a ValueError
  // at run time.
  ir::Operand Truth(const Value& value);
  // The value as an array: lists and tuples of scalars and arrays are stacked, a scalar has rank 0.
  Value AsArray(const Value& value);
  // The scalar (or array of rank 0) as an operand of `dtype`, converted as NumPy converts.
  ir::Operand AsScalar(const Value& value, ir::DType dtype);
  // An integer scalar as an i64 operand, for sizes and indexes. `what` names it in messages.
  ir::Operand AsIndex(const Value& value, const std::string& what);
  // The array seen in the given larger shape, or with sizes known equal ascribed.
  ir::Operand BroadcastTo(const ir::Operand& array, const std::vector<ir::Operand>& dims);
  // The elements of `array` as `dtype`: itself where they are that already. A new array is in the
  // array's order unless another is given.
  Value CastArray(const Value& array, ir::DType dtype, std::optional<Order> order = std::nullopt);

  // --- indexing.cc, views.cc (the NumPy half) ---
  Value Subscript(const Value& value, const Value& index);
  void StoreSubscript(const Value& target, const Value& index, const Value& value);
  // Element or slice `index` of the first axis, which is in range: no check.
  Value ElementAt(const Value& array, const ir::Operand& index);
  // A new array with the elements of `array`, in its order unless another is given.
  Value CopyArray(const Value& array, std::optional<Order> order = std::nullopt);
  // Writes `source`, broadcast, to all of `destination`, in NumPy's order where they overlap.
  void CopyInto(const Value& source, const Value& destination);

  // --- attributes.cc (the NumPy half) ---
  Value Attribute(const Value& value, const std::string& name);
  // `value.name = stored`: z.real, z.imag. `a.shape = ...` gives the new value of `a`, to bind.
  std::optional<Value> StoreAttribute(const Value& value, const std::string& name,
                                      const Value& stored);
  Value CallMethod(const Value& self, const std::string& name, Arguments arguments);
  // The parts of a complex array as they are now; any other value is itself.
  Value ReadPart(const Value& value);

  // --- builtins.cc, operators_parallel.cc (the NumPy half) ---
  Value CallIntrinsic(const std::string& name, Arguments arguments);
  Value CallOperator(const std::string& name, Arguments arguments);
  // `np.float32(x)`: a dtype called.
  Value CallDType(ir::DType dtype, Arguments arguments);

 private:
  // indexing.cc
  void StorePart(const ArrayValue& part, const Value& index, const Value& value);

  // evaluate_expressions.cc
  static Value KnownTruth(const Value& value, bool truth);
  Value EvaluateName(const NameExpr& expr);
  Value EvaluateSubscript(const SubscriptExpr& expr);
  Value EvaluateConstant(const ConstantExpr& expr);
  Value EvaluateCompareFrom(const CompareExpr& expr, size_t link, const Value& left);
  Value EvaluateBool(const BoolExpr& expr, size_t first);
  Value EvaluateIf(const IfExpr& expr);
  ir::Operand EvaluateTruth(const Expr& expr);
  ir::Operand EvaluateTruthOfBool(const BoolExpr& expr, size_t first);
  int OriginOf(const Expr& expr);
  Value EvaluateNamed(const NamedExpr& expr);
  Value EvaluateFormattedString(const FormattedStringExpr& expr);
  Values EvaluateElements(const std::vector<ExprPtr>& elements);

  // slice_bounds.cc
  Value EvaluateSlice(const SliceExpr& expr);
  Value EvaluateBound(const Expr& expr, const Value& open);
  Value EvaluateBoundOfBool(const BoolExpr& expr, size_t first, const Value& open);
  Value ChooseBound(const ir::Operand& condition, int origin, const Value& open,
                    const std::function<Value()>& then, const std::function<Value()>& otherwise);

  // closures.cc
  Value MakeClosure(const FunctionSyntaxPtr& syntax);
  // The value with its closures made independent of the frame being built; and, within the frame
  // that it comes to, with closures of one frame reading that frame.
  Value LeaveFrame(const Value& value);
  static Value EnterFrame(const Value& value, int frame);

  // branches.cc
  Branch RunBranch(const std::function<Values()>& body);
  // Goes on in a branch that has been left open.
  void Extend(Branch* branch, const std::function<Values()>& body);
  Values JoinBranches(const ir::Operand& condition, int origin, Branch* then, Branch* otherwise);
  Values PassOnly(const ir::Operand& condition, bool then_passes, Branch* passes, Branch* fails);

  // outside_names.cc
  Value ReadOutside(PyObject* home, const std::string& name);
  Value ReadDefault(PyObject* function, const std::string& parameter);
  Value ValueOfOutside(Capture place, PyObject* object);
  Value CapturedArray(int capture);

  // statements.cc. Each Run gives whether control may reach what follows.
  bool RunBlock(const Block& block, size_t first = 0);
  bool RunStatement(const Stmt& stmt);
  // An `if` and, where one side of it jumps, the statements of `block` from `next` on, which then
  // are the other side's.
  enum class Flow { kContinues, kStops, kRestIsDone };
  Flow RunIf(const IfStmt& stmt, const Block& block, size_t next);
  // The statements after those that may have jumped, where they have not.
  bool RunRest(const std::function<bool()>& rest);
  // Whether a jump has been taken on the way here.
  ir::Operand HasJumped();
  void RunAugAssign(const AugAssignStmt& stmt);
  void RunAssert(const AssertStmt& stmt);
  void RunRaise(const RaiseStmt& stmt);
  bool RunReturn(const ReturnStmt& stmt);
  bool RunJump(const Variable* control);
  void RunDelete(const DeleteStmt& stmt);
  void DeleteTarget(const Expr& target);

  // assign.cc
  void AssignPattern(const TupleExpr& pattern, const Value& value);
  void AssignStarred(const TupleExpr& pattern, size_t before, size_t after, const Value& array);
  void AssignSubscript(const SubscriptExpr& target, const Value& value);
  void AssignAttribute(const AttributeExpr& target, const Value& value);
  Value EvaluateStored(const Expr& target);
  void PrepareStore(const Variable* root);
  [[noreturn]] void FailStoredList() const;
  // The array that a list display stands for; its elements stay Python's.
  Value DisplayAsArray(const Value& list);

  // loops.cc
  bool RunFor(const ForStmt& stmt);
  Sequence IterateLoop(const Expr& iterable);
  bool RunUnrolled(const ForStmt& stmt, const Values& values);
  bool RunWhile(const WhileStmt& stmt);
  bool RunWhileBinding(const WhileStmt& stmt, LoopEffects effects);
  bool EndWhile(const Block& otherwise, bool is_endless);
  bool RunElse(const Block& otherwise);
  void ForgetJumps();
  void EndIteration();
  // The values of a loop that is unrolled because its index decides a type.
  Values UnrolledValues(const Sequence& sequence);
  const LiveVariables& Live();

  // calls.cc
  Value EvaluateCall(const CallExpr& expr);
  Value CallUser(const Value& function, Arguments arguments);
  Callee CalleeOf(const Value& function, Values* captured);
  Values BindParameters(const Callee& callee, const Value& function, Arguments arguments);
  BuiltFunction* BuildCallee(const Callee& callee, const Inputs& inputs);
  bool BuildRound(const Callee& callee, BuiltFunction* built);
  Value EmitCall(BuiltFunction* built, const Inputs& inputs);

  // function_bodies.cc
  // Runs the frame's function into `function`: its body, its results and the parameters of its
  // captures, of which those in `captures` come first. `finish`, where given, makes of what is
  // returned what the function of the program returns. Gives what that is; kFree where it never
  // returns.
  Pattern BuildBody(Frame* frame, const std::vector<int>& captures,
                    const std::function<Value(const Value&)>& finish, ir::Function* function);
  Pattern RunFunction(Value* returned);

  // comprehensions.cc, tabulate.cc
  Value EvaluateComprehension(const ComprehensionExpr& expr);
  Value RunGenerator(const ComprehensionExpr& expr, size_t depth, const Sequence& sequence);
  Value RunFixedGenerator(const ComprehensionExpr& expr, size_t depth, const Values& values);
  std::optional<bool> IsKept(const ComprehensionExpr::Generator& generator);
  Sequence IterateScalars(const Values& values);
  Value EvaluateFrom(const ComprehensionExpr& expr, size_t depth);
  Value TabulateGenerator(const ComprehensionExpr& expr, size_t depth, const Sequence& sequence);
  Value FlattenFirstAxes(const Value& nested);
  void RefuseRebinding(const Environment& before);

  // Counts levels of expressions and of functions being built; a RecursionError where there are
  // more than the stack of a thread holds.
  NestingGuard Deeper(int levels);

  friend class LoopBuilder;
  friend class SelectedComprehension;
  friend class SequentialComprehension;
  friend class ProgramBuilder;  // frontend/build_ir.cc

  Context* context_;
  Resolver* resolver_;
  Frame* frame_ = nullptr;
  int depth_ = 0;
  int last_frame_ = 0;
  std::unique_ptr<CallMemo> memo_;
  // The generator expression that is an argument of `consumer_`, which asks it for its elements one
  // by one, from the first on.
  const Expr* consumed_ = nullptr;
  std::string consumer_;
  std::map<std::pair<int, const void*>, LoopHint> loop_hints_;  // By frame.
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_EVALUATOR_H_
