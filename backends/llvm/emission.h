// What the emission of one module shares: the module, the place of writing, the options.
#ifndef PARAKEET_BACKENDS_LLVM_EMISSION_H_
#define PARAKEET_BACKENDS_LLVM_EMISSION_H_

#include <map>
#include <string>
#include <string_view>

#include "backends/compile.h"
#include "backends/llvm/merge_functions.h"
#include "ir/span.h"
#include "ir/type.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace parakeet::backends {

// A scalar, or the lanes of a vector. A bool is i1 here and i8 in memory. `imag` is null unless the
// number is complex.
struct Number {
  llvm::Value* value = nullptr;
  llvm::Value* imag = nullptr;
};

struct Emission;
class KernelRunner;  // kernel_runner.h

// The functions of mathematics that a target has.
class MathLibrary {
 public:
  virtual ~MathLibrary() = default;
  // `name` is C's for double ("exp", "atan2"); the operands are floats or doubles, or vectors of
  // them, all of one type, which is the result's.
  virtual llvm::Value* Call(Emission& emission, std::string_view name,
                            llvm::ArrayRef<llvm::Value*> operands) const = 0;
  // The minimum or maximum, nan where one of them is, as an instruction; null where it has none.
  virtual llvm::Value* Extreme(Emission&, bool /*is_least*/, llvm::Value*, llvm::Value*) const {
    return nullptr;
  }
  // `a` where it is less than `b`, or greater, else `b`, as an instruction; null where it has none.
  virtual llvm::Value* FirstIfBeyond(Emission&, bool /*is_least*/, llvm::Value*,
                                     llvm::Value*) const {
    return nullptr;
  }
  // Of a table of 16 numbers, floats or doubles, those at the last four bits of each index; null
  // where no instruction finds them.
  virtual llvm::Value* LookUp(Emission&, llvm::Constant* /*table*/,
                              llvm::Value* /*indexes*/) const {
    return nullptr;
  }
  // C's functions of complex numbers, by the name for double ("cexp", "cpow").
  virtual Number CallComplex(Emission& emission, std::string_view name,
                             llvm::ArrayRef<Number> operands) const = 0;
};

// How a target runs the pieces of a parallel loop.
class ParallelRunner {
 public:
  virtual ~ParallelRunner() = default;
  // A function (call, captures, begin, end) of no result, and what it takes for captures.
  struct Body {
    llvm::Function* function;
    llvm::Value* captures;
  };
  // Writes code that runs a body on disjoint ranges that cover 0 .. trips. `cost` is the estimate
  // in cycles of one trip, 0 when it is unknown and large; `is_even` says that all cost much the
  // same. `outline` writes the body, where the code stands then; `direct`, unless it is null, what
  // one thread does instead of calling it.
  virtual void Run(Emission& emission, llvm::Value* call, llvm::Value* trips, int64_t cost,
                   bool is_even, llvm::function_ref<Body()> outline,
                   llvm::function_ref<void()> direct) const = 0;
  // An i64: how many threads take part, at most.
  virtual llvm::Value* Team(Emission& emission, llvm::Value* call) const = 0;
};

struct Emission {
  Emission(llvm::Module* module, const CompileOptions& options, const MathLibrary* math,
           const ParallelRunner* parallel);

  llvm::LLVMContext& context() { return module.getContext(); }

  // A function outside the module, declared once.
  llvm::Function* Declare(llvm::StringRef name, llvm::Type* result,
                          llvm::ArrayRef<llvm::Type*> params);
  // The same for one that has no effect and reads only its operands.
  llvm::Function* DeclarePure(llvm::StringRef name, llvm::Type* result,
                              llvm::ArrayRef<llvm::Type*> params);

  // The name of a function of the module that code calls for a part of an operation: kernels have
  // their own.
  std::string HelperName(const std::string& what) const;

  // True for what the innermost loop that is written may make anew in every iteration, as far as it
  // is easily seen; false outside of loops.
  bool Varies(llvm::Value* value) const;

  // A constant string, equal ones once: what reads equal ones is equal.
  llvm::Value* Text(const std::string& text);
  // Memory that holds a number of any dtype: zero.
  llvm::Value* Zeros();

  llvm::Module& module;
  llvm::IRBuilder<> builder;
  // Of bodies and parts, which repeat one another.
  FunctionMerger merger;
  // Of the code that is written: a kernel has its device's.
  const MathLibrary* math;
  // Null where parallel loops become plain ones.
  const ParallelRunner* parallel;
  // Null where all code is the host's.
  KernelRunner* kernels = nullptr;
  int launch_groups = 0;  // so far: of KernelTraits::group
  // Whether what is written has x86's instructions.
  bool is_x86 = true;
  // Whether it is a kernel's, whose helpers are others than the host's: mathematics differ.
  bool is_of_kernel = false;
  ir::Span span;  // of the operation that is written
  // Where the innermost loop begins that is written; null outside of loops.
  llvm::BasicBlock* loop = nullptr;
  // Whether the processor loads and stores lanes that lie apart under a mask.
  bool has_gathers = true;
  // Whether it turns lanes of i64 into doubles and back.
  bool converts_lanes = true;
  int apart_above;  // CompileOptions'
  int cold_above;   // CompileOptions'
  // Whether parts may take constants as values. Fast arithmetic makes more of constants.
  bool may_share;
  std::map<std::string, llvm::Value*> texts;
  llvm::GlobalVariable* zeros = nullptr;
};

// What the names of helpers of kernels begin with.
inline constexpr const char* kDeviceHelper = "parakeet_device_";

// The type of a number's value (or part) in registers, and of an element (or part) in memory.
llvm::Type* RegisterType(Emission& emission, ir::DType dtype, int lanes = 1);
llvm::Type* MemoryType(Emission& emission, ir::DType dtype, int lanes = 1);

// Says that the i64 that is loaded is not negative; and whether that is said of a value, or it is a
// maximum with such a constant. No more is looked at: phis may lack what they take.
void SayNotNegative(llvm::LoadInst& load);
bool IsSaidNotNegative(llvm::Value& value);

// LLVM does no more for the function than it must: what it would gain is less than what that takes.
void LeaveAsWritten(llvm::Function& function);

// `like`'s type with another element type.
llvm::Type* WithElement(llvm::Type* like, llvm::Type* element);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EMISSION_H_
