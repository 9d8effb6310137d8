#include "ir/interpreter.h"

#include <new>
#include <utility>

#include "ir/diagnostics.h"
#include "ir/interpreter_machine.h"

namespace parakeet::ir {
namespace {

std::string Show(const std::vector<int64_t>& sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + ")";
}

// The native stack that a run may use, of the 8 MiB that threads have.
constexpr std::ptrdiff_t kStackBytes = 4 << 20;

const std::byte* StackPointer() {
  return static_cast<const std::byte*>(__builtin_frame_address(0));
}

bool Fits(const RuntimeValue& value, const Type& type) {
  if (const auto* array = std::get_if<ArrayValue>(&value)) {
    return type.IsArray() && array->dtype == type.dtype() && array->rank() == type.rank();
  }
  if (const auto* vector = std::get_if<VectorValue>(&value)) {
    return type.dtype() == vector->dtype && type.lanes() == static_cast<int>(vector->lanes.size());
  }
  return type.IsScalar() && std::get<Constant>(value).dtype == type.dtype();
}

}  // namespace

RunResult Interpret(const Program& program, std::string_view function, Values arguments,
                    const CallLibrary& library) {
  RunResult result;
  try {
    result.values = Machine(program, library).Call(function, std::move(arguments));
  } catch (RunError& error) {
    result.error = std::move(error);
  }
  return result;
}

Machine::Machine(const Program& program, const CallLibrary& library)
    : program_(program), library_(library), stack_start_(StackPointer()) {}

const FunctionCode& Machine::CodeOf(std::string_view function) {
  std::unique_ptr<FunctionCode>& code = codes_[function];
  if (code == nullptr) {
    const Function* found = program_.Find(function);
    if (found == nullptr) FailBug("the program has no function @" + std::string(function));
    code = std::make_unique<FunctionCode>(NumberSlots(*found));
  }
  return *code;
}

Values Machine::Call(std::string_view function, Values arguments) {
  if (depth_ == 0) Lend(arguments);
  const FunctionCode& code = CodeOf(function);
  const bool stack_is_used_up = stack_start_ - StackPointer() > kStackBytes;
  if (++depth_ > kRecursionLimit || stack_is_used_up) {
    throw RunError{kRecursionSite, {}, {Constant::Int(depth_)}};
  }
  Values caller = std::exchange(frame_, code.frame);
  BindArguments(code, std::move(arguments));
  Run(code.body);
  Values results = ResultsOf(code.body);
  CheckResults(code, results);
  frame_ = std::move(caller);
  --depth_;
  return results;
}

void Machine::Lend(const Values& arguments) {
  for (const RuntimeValue& argument : arguments) {
    const auto* array = std::get_if<ArrayValue>(&argument);
    if (array != nullptr) lent_.insert(array->storage.get());
  }
}

void Machine::BindArguments(const FunctionCode& code, Values arguments) {
  const std::vector<Param>& params = code.function->params;
  if (arguments.size() != params.size()) {
    FailBug("@" + code.function->name + " takes " + std::to_string(params.size()) +
            " arguments, not " + std::to_string(arguments.size()));
  }
  for (size_t i = 0; i < params.size(); ++i) frame_[code.params[i]] = std::move(arguments[i]);
  std::vector<char> unbound = code.is_size;
  for (size_t i = 0; i < params.size(); ++i) {
    const RuntimeValue& argument = At(code.params[i]);
    const std::string what = "argument " + std::to_string(i) + " of @" + code.function->name;
    if (!Fits(argument, params[i].var->type)) FailBug(what + " is not of its type");
    for (size_t axis = 0; axis < code.param_sizes[i].size(); ++axis) {
      const int slot = code.param_sizes[i][axis];
      if (std::exchange(unbound[slot], 0)) {
        frame_[slot] = Constant::Int(std::get<ArrayValue>(argument).sizes[axis]);
      }
    }
    CheckType(argument, params[i].var->type, code.param_sizes[i], what);
  }
}

void Machine::Run(const BlockCode& block) {
  for (const Step& step : block.steps) Execute(step);
}

void Machine::SetParams(const BlockCode& block, Values values, size_t first) {
  for (size_t i = 0; i < values.size(); ++i) frame_[block.params[first + i]] = std::move(values[i]);
}

Values Machine::ResultsOf(const BlockCode& block) const {
  Values results;
  results.reserve(block.results.size());
  for (int slot : block.results) results.push_back(frame_[slot]);
  return results;
}

void Machine::Execute(const Step& step) {
  if (IsScalarOp(step.op)) return Scalar(step);
  switch (step.op) {
    case OpCode::kCheck: return Check(step);
    case OpCode::kBroadcastSize: return BroadcastSize(step);
    case OpCode::kLoad: return Load(step);
    case OpCode::kStore: return Store(step);
    case OpCode::kAtomic: return Atomic(step);
    case OpCode::kMatch: return Match(step);
    case OpCode::kShuffle: return Shuffle(step);
    case OpCode::kPrefetch:
    case OpCode::kDrain: return;
    case OpCode::kTeam: return Team(step);
    case OpCode::kAligned: return Set(step, 0, ConstantOf(DType::kBool, 1));
    case OpCode::kFor: return For(step);
    case OpCode::kWhile: return While(step);
    case OpCode::kForeach: return Foreach(step);
    case OpCode::kLanes: return Lanes(step);
    case OpCode::kFree: return Free(step);
    case OpCode::kLibraryCall: return LibraryCall(step);
    case OpCode::kMark: return;  // Nobody profiles the interpreter.
    case OpCode::kCopy: return CopyElements(ArrayAt(step.operands[0]), ArrayAt(step.operands[1]));
    case OpCode::kSplat:
    case OpCode::kIota:
    case OpCode::kLoadLanes:
    case OpCode::kStoreLanes:
    case OpCode::kGatherLanes:
    case OpCode::kScatterLanes:
    case OpCode::kLowHalf:
    case OpCode::kHighHalf:
    case OpCode::kInterleave:
    case OpCode::kSlide:
    case OpCode::kExtract:
    case OpCode::kAny:
    case OpCode::kAllLanes:
    case OpCode::kFirstLane: return ExecuteLanes(step);
    default: break;
  }
  ExecuteArrays(step);
  CheckSizes(step);
}

void Machine::ExecuteArrays(const Step& step) {
  switch (step.op) {
    case OpCode::kSlice: return Slice(step);
    case OpCode::kTranspose: return Transpose(step);
    case OpCode::kBroadcast: return Broadcast(step);
    case OpCode::kReshape: return Reshape(step);
    case OpCode::kAscribe: return Set(step, 0, At(step.operands[0]));
    case OpCode::kView: return View(step);
    case OpCode::kMap:
    case OpCode::kImap: return Map(step);
    case OpCode::kReduce:
    case OpCode::kIreduce: return Reduce(step);
    case OpCode::kScan:
    case OpCode::kIscan: return Scan(step);
    case OpCode::kFilter:
    case OpCode::kIfilter: return Filter(step);
    case OpCode::kContract: return Contract(step);
    case OpCode::kCall: return CallFunction(step);
    case OpCode::kAlloc: return Alloc(step);
    case OpCode::kIf: return If(step);
    default:
      FailBug("the interpreter cannot run " + std::string(Name(step.op)), step.binding->span);
  }
}

// A size in a type is a promise that passes build on; the meaning of a program that breaks it is
// undefined.
void Machine::CheckSizes(const Step& step) const {
  for (size_t i = 0; i < step.results.size(); ++i) {
    const Type& type = step.binding->results[i]->type;
    if (!type.IsArray()) continue;
    CheckType(At(step.results[i]), type, step.result_sizes[i],
              "result " + std::to_string(i) + " of " + std::string(Name(step.op)));
  }
}

void Machine::CheckType(const RuntimeValue& value, const Type& type, const std::vector<int>& sizes,
                        const std::string& what) const {
  if (!Fits(value, type)) FailBug(what + " is not of its type");
  const auto* array = std::get_if<ArrayValue>(&value);
  if (array == nullptr) return;
  const std::vector<int64_t> declared = IntsAt(sizes, 0, sizes.size());
  if (array->sizes != declared) {
    FailBug(what + " has sizes " + Show(array->sizes) + ", but its type says " + Show(declared));
  }
}

void Machine::CheckResults(const FunctionCode& code, const Values& results) {
  const std::vector<const Var*>& templates = code.function->results;
  const std::string what = " of @" + code.function->name;
  if (results.size() != templates.size()) {
    FailBug("the number of results" + what + " is not what it declares");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    CheckType(results[i], templates[i]->type, code.result_sizes[i],
              "result " + std::to_string(i) + what);
    frame_[code.results[i]] = results[i];
  }
}

const Constant& Machine::ScalarAt(int slot) const {
  const auto* scalar = std::get_if<Constant>(&frame_[slot]);
  if (scalar == nullptr) FailBug("an operand is not a scalar");
  return *scalar;
}

const ArrayValue& Machine::ArrayAt(int slot) const {
  const auto* array = std::get_if<ArrayValue>(&frame_[slot]);
  if (array == nullptr) FailBug("an operand is not an array");
  return *array;
}

const Constant& Machine::LaneAt(int slot, int lane) const {
  const auto* vector = std::get_if<VectorValue>(&frame_[slot]);
  if (vector == nullptr) return ScalarAt(slot);
  if (lane >= static_cast<int>(vector->lanes.size())) {
    FailBug("a vector has fewer lanes than its operation");
  }
  return vector->lanes[lane];
}

std::vector<int64_t> Machine::IntsAt(const std::vector<int>& slots, size_t first,
                                     size_t count) const {
  std::vector<int64_t> values;
  values.reserve(count);
  for (size_t i = first; i < first + count; ++i) values.push_back(IntAt(slots[i]));
  return values;
}

void Machine::SetAll(const Step& step, Values values) {
  for (size_t i = 0; i < values.size(); ++i) Set(step, i, std::move(values[i]));
}

void Machine::SetLanes(const Step& step, std::vector<Constant> lanes) {
  const Type& type = step.binding->result()->type;
  if (type.IsVector()) {
    Set(step, 0, VectorValue{type.dtype(), std::move(lanes)});
  } else {
    Set(step, 0, lanes.front());
  }
}

ArrayValue Machine::New(DType dtype, std::vector<int64_t> sizes, bool fortran) const {
  const int64_t count = CountOf(sizes);
  try {
    return NewArray(dtype, std::move(sizes), fortran);
  } catch (const std::bad_alloc&) {
    const int64_t bytes = count < 0 ? -1 : count * SizeInBytes(dtype);
    throw RunError{kMemorySite, {}, {Constant::Int(bytes)}};
  }
}

ArrayValue Machine::NewResult(const Step& step, size_t result, std::vector<int64_t> leading) const {
  const std::vector<int>& sizes = step.result_sizes[result];
  for (size_t axis = leading.size(); axis < sizes.size(); ++axis) {
    leading.push_back(IntAt(sizes[axis]));
  }
  const bool fortran = step.binding->attrs.Int(Attr::kFortran) != 0;
  return New(step.binding->results[result]->type.dtype(), std::move(leading), fortran);
}

}  // namespace parakeet::ir
