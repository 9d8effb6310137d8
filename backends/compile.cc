#include "backends/compile.h"

#include <chrono>
#include <future>

#include "backends/emulated_gpu/emulated_runner.h"
#include "backends/llvm/cut_module.h"
#include "backends/llvm/emit_object.h"
#include "backends/llvm/emit_program.h"
#include "backends/llvm/link_image.h"
#include "backends/llvm/optimize.h"
#include "backends/llvm/target.h"
#include "backends/llvm/vector_math.h"
#include "backends/nvvm/cuda_runner.h"
#include "backends/openmp/emit_parallel.h"
#include "backends/prepare.h"
#include "ir/diagnostics.h"
#include "ir/library_routines.h"
#include "ir/uses.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace parakeet::backends {
namespace {

// Runs `work` and notes how long it took.
template <typename Work>
auto Timed(std::vector<Phase>& phases, const char* name, Work work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  struct Note {
    std::vector<Phase>& phases;
    const char* name;
    Clock::time_point start;
    ~Note() {
      const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
      phases.push_back({name, elapsed.count()});
    }
  } note{phases, name, start};
  return work();
}

// Functions are added as code is emitted, so all are marked at the end.
void SetTarget(llvm::Module& module, const Target& target) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    target.Mark(function);
    // Calls of libm and the runtime mean what they say.
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setUWTableKind(llvm::UWTableKind::None);
  }
}

#ifdef NDEBUG
constexpr bool kVerifies = false;
#else
constexpr bool kVerifies = true;
#endif

void Verify(llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream)) ir::FailBug("code is not valid LLVM: " + problems);
}

std::string TextOf(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

// Its routines run on threads of its own.
bool CallsLapack(const ir::Program& program) {
  bool calls = false;
  for (const ir::Function* function : program.functions) {
    ir::ForEachBinding(*function->body, [&](const ir::Binding& b) {
      calls |= b.op == ir::OpCode::kLibraryCall &&
               ir::RoutineOf(b).library == ir::RoutineLibrary::kLapack;
    });
  }
  return calls;
}

using Object = llvm::SmallVector<char, 0>;

// The emulated device is there to see what kernels do, and its threads take turns on one core: most
// of the time of its calls would go into code that is run a few times.
Effort EffortFor(const CompileOptions& options) {
  return options.kernels == KernelTarget::kEmulated ? Effort::kLeast : Effort::kWhole;
}

Object CompilePiece(const Piece& piece, const CompileOptions& options) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = ReadPiece(piece, context);
  Target target(options.cpu, options.features, EffortFor(options));
  Optimize(*module, target.machine());
  return target.WriteObject(*module);
}

// By a thread if there is one to be had, else when the result is asked for. Both are borrowed.
std::future<Object> CompileAside(const Piece& piece, const CompileOptions& options) {
  return std::async(std::launch::async | std::launch::deferred,
                    [&piece, &options] { return CompilePiece(piece, options); });
}

}  // namespace

ProcessorFacts FactsOf(const std::string& cpu) {
  const Processor processor = FindProcessor(cpu, "");
  return {processor.vector_bits / 8, processor.gathers_fast};
}

Compiled Compile(const ir::Program& program, const CompileOptions& options) {
  Compiled compiled;
  WaitForMachine();
  Target target(options.cpu, options.features, EffortFor(options));
  llvm::LLVMContext context;
  const bool reads_text = options.kernels == KernelTarget::kCuda;  // Device functions.
  context.setDiscardValueNames(!options.keep_ir && !reads_text);
  llvm::Module module("parakeet", context);
  module.setDataLayout(target.machine().createDataLayout());
  module.setTargetTriple(target.machine().getTargetTriple().str());
  CudaRunner cuda(options.gpu_architecture);
  const bool is_whole = options.keep_ir || options.keep_assembly;
  Timed(compiled.phases, "emit", [&] {
    const HostMath math(target.vector_bits(), options.has_vector_function);
    const OpenMpRunner runner(CallsLapack(program));
    EmulatedRunner emulated(&math);
    const bool has_team = options.parallel && options.kernels == KernelTarget::kNone;
    Emission emission(&module, options, &math, has_team ? &runner : nullptr);
    emission.has_gathers = target.vector_bits() == 512;
    emission.converts_lanes = target.vector_bits() == 512;
    if (options.kernels == KernelTarget::kEmulated) emission.kernels = &emulated;
    if (options.kernels == KernelTarget::kCuda) emission.kernels = &cuda;
    EmitProgram(emission, program);
    if (options.kernels == KernelTarget::kCuda) cuda.TakeKernels(emission, options);
    if (is_whole) compiled.ptx = cuda.DefineKernels(module);
    SetTarget(module, target);
    if (kVerifies || options.keep_ir) Verify(module);
  });
  const auto pieces = CutModule(module, is_whole ? 1 : options.threads);
  std::vector<std::future<Object>> others;
  for (const Piece& piece : pieces) others.push_back(CompileAside(piece, options));
  Timed(compiled.phases, "optimize", [&] { Optimize(module, target.machine()); });
  if (options.keep_ir) compiled.llvm_ir = TextOf(module);
  if (options.keep_assembly) {
    const auto text = EmitAssembly(*llvm::CloneModule(module), target.machine());
    compiled.assembly.assign(text.begin(), text.end());
  }
  const std::vector<Object> objects = Timed(compiled.phases, "generate", [&] {
    WaitUntilPrepared();
    std::vector<Object> all = {target.WriteObject(module)};
    for (auto& other : others) all.push_back(other.get());
    if (!is_whole && cuda.HasKernels()) {
      llvm::Module kernels("kernels", context);
      kernels.setDataLayout(module.getDataLayout());
      kernels.setTargetTriple(module.getTargetTriple());
      PrepareWriter();  // While others still make PTX.
      compiled.ptx = cuda.DefineKernels(kernels);
      all.push_back(target.WriteObject(kernels));
    }
    return all;
  });
  compiled.image = Timed(compiled.phases, "link", [&] {
    std::vector<llvm::StringRef> views;
    for (const Object& object : objects) views.emplace_back(object.data(), object.size());
    return LinkImage(views, kEntrySymbol);
  });
  return compiled;
}

}  // namespace parakeet::backends
