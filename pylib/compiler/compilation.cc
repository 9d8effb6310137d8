#include "pylib/compiler/compilation.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "backends/host_caches.h"
#include "ir/builder.h"
#include "ir/diagnostics.h"
#include "ir/printer.h"
#include "ir/uses.h"
#include "ir/verifier.h"
#include "passes/other_shapes.h"
#include "passes/pipelines.h"
#include "pylib/compiler/decode_key.h"
#include "pylib/compiler/estimate_cost.h"
#include "pylib/compiler/find_contents.h"
#include "pylib/compiler/load_numbers.h"
#include "pylib/compiler/type_sites.h"
#include "pylib/library_syntax/library_syntax.h"

namespace parakeet::pylib {
namespace {

using Clock = std::chrono::steady_clock;

static_assert(kOtherShapes == passes::kOtherShapes && kShortAxes == passes::kShortAxes &&
                  kShortSides == passes::kShortSides && kFewLongRows == passes::kFewLongRows,
              "dispatch knows the sites by their exceptions");
static_assert(std::ranges::equal(kMostKnownLengths, passes::kMostKnownLengths),
              "a key says every length that a pass asks for");
static_assert(kShortestAxis == passes::kShortestAxis &&
                  kLongestShortAxis == passes::kLongestShortAxis,
              "a key says every length that code is made for");

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void DumpProgram(std::string_view pass, const ir::Program& program) {
  std::fprintf(stderr, "// after %.*s\n%s\n", int(pass.size()), pass.data(),
               ir::Print(program).c_str());
}

std::set<std::string> FlagsOf(PyObject* tuple) {
  std::set<std::string> flags;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    const char* flag = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), nullptr);
    if (flag != nullptr) flags.insert(flag);
  }
  return flags;
}

// Used with the GIL held.
frontend::SyntaxArchive& LibraryTrees() {
  static auto* const kArchive = new frontend::SyntaxArchive(LibrarySyntax());
  return *kArchive;
}

// Where parakeet.libnvvm looks for the library.
std::vector<std::string> LibNvvmFiles() {
  const auto module = frontend::PyRef::Steal(PyImport_ImportModule("parakeet.libnvvm"));
  const auto files = frontend::PyRef::Steal(
      module ? PyObject_CallMethod(module.get(), "files", nullptr) : nullptr);
  std::vector<std::string> found;
  for (Py_ssize_t i = 0; files && i < PyList_Size(files.get()); ++i) {
    const char* file = PyUnicode_AsUTF8AndSize(PyList_GetItem(files.get(), i), nullptr);
    if (file != nullptr) found.push_back(file);
  }
  PyErr_Clear();
  if (found.empty()) found.push_back("libnvvm.so");  // None would be LLVM.
  return found;
}

size_t CountLeaves(const frontend::Argument& argument) {
  using Kind = frontend::Argument::Kind;
  if (argument.kind == Kind::kStatic) return 0;
  if (argument.kind != Kind::kTuple && argument.kind != Kind::kSlice) return 1;
  size_t count = 0;
  for (const frontend::Argument& child : argument.children) count += CountLeaves(child);
  return count;
}

backends::KernelTarget KernelsOf(Target target) {
  if (!HasDevice(target)) return backends::KernelTarget::kNone;
  return target == Target::kGpu ? backends::KernelTarget::kCuda : backends::KernelTarget::kEmulated;
}

// LLVM's name of the plainest processor with vector registers of so many bytes; 0: the host.
std::string ProcessorWith(int registers) {
  if (registers == 0) return "";
  if (const int own = backends::FactsOf("").vector_bytes; registers > own) {
    ir::FailUser(
        "ValueError",
        "PARAKEET_DEBUG: this processor's vector registers have " + std::to_string(own) + " bytes",
        {});
  }
  return registers == 16 ? "x86-64-v2" : "x86-64-v3";
}

}  // namespace

const std::vector<std::string_view>& PipelineOf(uint64_t header) {
  if (HasDevice(TargetOf(header))) return passes::GpuPipeline();
  return IsProfiled(header) ? passes::ProfiledPipeline() : passes::CpuPipeline();
}

Compilation::Compilation(const PkCompileRequest& request)
    : request_(request),
      target_(TargetOf(request.key[0])),
      gpu_architecture_(ArchitectureOf(request.key[0])),
      debug_(ReadDebugOptions()),
      processor_(ProcessorWith(debug_.registers)),
      sources_(std::make_shared<ir::SourceMap>()) {
  fastmath_ = FlagsOf(request.fastmath);
  if (UsesLibNvvm(request.key[0])) libnvvm_files_ = LibNvvmFiles();
}

void Compilation::AddPhase(const std::string& name, double ms) {
  description_.manifest.phases.push_back({name, ms});
}

void Compilation::BuildProgram() {
  const Clock::time_point start = Clock::now();
  DecodedKey key = DecodeKey(request_);
  ReadLengths(key);
  frontend::Request request;
  request.function = request_.function;
  request.arguments = std::move(key.arguments);
  request.library = &LibraryTrees();
  request.on_device = HasDevice(target_);
  frontend::Built built = frontend::BuildIr(request, sources_);
  LoadNumbers(key.leaves, &built.program);
  if (MayOverlap(request_.key[0])) {
    ir::Function entry = *built.program.functions.front();
    entry.may_overlap = true;
    built.program.functions.front() = built.program.arena->New(std::move(entry));
  }
  description_ = DescribeBuilt(built, key);
  TypedSites typed = TypeSites(built.program);
  program_ = std::move(typed.program);
  if (!program_.sites.empty()) {
    description_.manifest.sites = DescribeSites(program_, typed.scalars, FindFunctions());
  }
  if (!request_.boundscheck) program_ = DropIndexChecks(program_);
  description_.manifest.written = FindWritten(program_);
  description_.manifest.contents.assign(description_.manifest.written.size(), 1);
  last_program_ = program_;
  if (debug_.verify) ir::VerifyOrFail(program_, ir::Stage::kParallel, "frontend");
  if (Dumps("frontend")) DumpProgram("frontend", program_);
  AddPhase("frontend", MillisecondsSince(start));
}

// Every function whose source the program may be made from, the library's excepted.
FunctionFinder Compilation::FindFunctions() const {
  FunctionFinder finder;
  finder.Add(request_.function);
  for (Py_ssize_t i = 0; i < PyTuple_Size(request_.statics); ++i) {
    finder.Add(PyTuple_GetItem(request_.statics, i));
  }
  for (const frontend::PyRef& object : description_.objects) finder.Add(object.get());
  return finder;
}

bool Compilation::Dumps(std::string_view pass) const {
  return !debug_.dumps.empty() && debug_.Dumps(pass, program_.functions.front()->name);
}

void Compilation::RunPasses(
    const std::function<void(std::string_view, const ir::Program&)>& after_pass) {
  passes::Context context;
  context.options.fastmath = !fastmath_.empty();
  context.options.assume_shapes = !TakesAnyShapes(request_.key[0]);
  context.options.one_thread = target_ == Target::kSerial;
  context.options.short_sides = HasShortSides(request_.key[0]);
  context.options.few_rows = HasFewRows(request_.key[0]);
  const backends::ProcessorFacts processor = backends::FactsOf(processor_);
  context.options.vector_bytes = processor.vector_bytes;
  const backends::StreamedBytes streamed = backends::HostStreamedBytes();
  context.options.streamed = {streamed.least, streamed.of_thread};
  context.options.tiled.of_band = backends::HostBandBytes();
  context.options.fast_gathers = processor.gathers_fast;
  context.options.kernels = HasDevice(target_);
  context.options.left_out = debug_.disabled;
  context.options.lengths = lengths_;
  if (HasDevice(target_)) context.options.kept_results = KeptResults(description_);
  passes::RunOptions options;
  options.verify = debug_.verify;
  options.disabled = debug_.disabled;
  // The cost is read off the last program whose extents are still whole.
  ir::Program indexed = program_;
  options.after_pass = [&](std::string_view pass, const ir::Program& program) {
    if (debug_.failing.contains(pass)) ir::FailBug("PARAKEET_DEBUG asks for it");
    last_program_ = program;
    if (passes::FindPass(pass)->after == ir::Stage::kIndexed) indexed = program;
    if (Dumps(pass)) DumpProgram(pass, program);
    if (after_pass) after_pass(pass, program);
    AskForLengths(context.better_with_lengths);
    if (pass == "unroll-short-rows" || pass == "unroll-short-axes") AskForShortAxes();
    if (pass == "expect-long-sides") AskForSides();
  };
  passes::PipelineResult result;
  try {
    result = passes::RunPipeline(program_, ir::Stage::kParallel, pipeline(), context, options);
  } catch (...) {
    running_ = context.running;
    throw;
  }
  program_ = std::move(result.program);
  for (const passes::PassTiming& timing : result.timings) AddPhase(timing.name, timing.ms);
  remarks_ = std::move(context.remarks);
  KeepRegions();
  PlaceResults(program_, &description_);
  CostEstimate estimate = EstimateCost(*indexed.functions.front());
  description_.manifest.cost = std::move(estimate.terms);
  description_.manifest.is_bounded = estimate.is_bounded;
  description_.manifest.written = FindWritten(program_);
  description_.manifest.contents = FindContents(indexed, program_);
  std::vector<ErrorSite>& sites = description_.manifest.sites;
  while (sites.size() < program_.sites.size()) {
    ErrorSite guard;
    guard.exception = program_.sites[sites.size()].exception;
    sites.push_back(std::move(guard));
  }
}

void Compilation::ReadLengths(const DecodedKey& key) {
  for (const uint64_t leaf : key.leaves) {
    const ArgumentWord word(leaf);
    std::vector<int64_t>& lengths = lengths_.emplace_back();
    for (int axis = 0; word.IsArray() && axis < word.rank(); ++axis)
      lengths.push_back(word.LengthOf(axis));
  }
  for (size_t k = 0; k < key.arguments.size(); ++k)
    parameters_.insert(parameters_.end(), CountLeaves(key.arguments[k]), k);
}

// What is read outside the function has no parameter that could be asked for.
void Compilation::AskForLengths(const std::set<size_t>& better_with_lengths) const {
  if (request_.in_key == nullptr) return;
  for (const size_t leaf : better_with_lengths) {
    if (leaf >= parameters_.size()) continue;
    const size_t parameter = parameters_[leaf];
    if ((request_.in_key[parameter] & kLengthsInKey) == 0) throw NeedLengths{int32_t(parameter)};
  }
}

void Compilation::AskForShortAxes() const {
  if (request_.has_short_axes == 0) return;
  for (const ir::Binding* b : last_program_.functions.front()->body->bindings) {
    if (b->op != ir::OpCode::kCheck) continue;
    const ir::Site& site = last_program_.sites[size_t(b->attrs.Int(ir::Attr::kSite))];
    if (site.exception == kShortAxes) throw NeedShortAxes();
  }
}

// Looks at the checks with what is known of this call.
void Compilation::AskForSides() const {
  if (request_.slots == nullptr) return;
  const ir::Function& entry = *last_program_.functions.front();
  ir::Arena arena;
  ir::Builder builder(&arena);
  std::unordered_map<const ir::Var*, ir::Operand> known;
  for (const auto& [size, slot] : SlotsOf(entry)) {
    // Of array types there is no size.
    const auto length = slot < request_.slot_count ? int64_t(request_.slots[slot]) : 0;
    if (length > 0 && size->type == ir::DType::kI64) known.emplace(size, ir::Operand::Int(length));
  }
  for (const ir::Binding* b : entry.body->bindings) {
    std::vector<ir::Operand> operands;
    for (const ir::Operand& operand : b->operands) {
      const auto found = operand.IsVar() ? known.find(operand.var()) : known.end();
      operands.push_back(found == known.end() ? operand : found->second);
    }
    if (b->op == ir::OpCode::kCheck) {
      const ir::Site& site = last_program_.sites[size_t(b->attrs.Int(ir::Attr::kSite))];
      const bool fails = operands[0].IsConstant() && operands[0].constant().integer == 0;
      if (fails && site.exception == kShortSides) throw NeedShortSides();
      if (fails && site.exception == kFewLongRows) throw NeedFewRows();
    } else if (ir::IsScalarOp(b->op) && b->op != ir::OpCode::kCast &&
               b->op != ir::OpCode::kBitcast &&
               std::none_of(operands.begin(), operands.end(), std::mem_fn(&ir::Operand::IsVar))) {
      const ir::Operand value = builder.Scalar(b->op, operands);
      if (value.IsConstant()) known.insert_or_assign(b->result(), value);
    }
  }
}

void Compilation::KeepRegions() {
  std::vector<RegionPlace>& regions = description_.manifest.regions;
  ir::ForEachBinding(*program_.functions.front()->body, [&](const ir::Binding& b) {
    if (b.op != ir::OpCode::kMark) return;
    const auto region = size_t(b.attrs.Int(ir::Attr::kRegion));
    if (regions.size() <= region) regions.resize(region + 1);
    if (!b.span.IsKnown() || b.span.file >= sources_->size()) return;
    regions[region] = {sources_->At(b.span.file).name, b.span.line, b.span.column, b.span.end_line,
                       b.span.end_column};
  });
}

// More gain little: one function of a program is often half of it. Of kernels there are more.
constexpr unsigned kMostThreads = 4;
constexpr unsigned kMostThreadsForKernels = 8;

backends::Compiled Compilation::Generate(bool keep_ir, bool keep_assembly) {
  running_ = "backend";
  backends::CompileOptions options;
  options.parallel = target_ == Target::kParallel;
  options.kernels = KernelsOf(target_);
  options.gpu_architecture = gpu_architecture_;
  options.libnvvm_files = libnvvm_files_;
  options.fastmath = fastmath_;
  options.cpu = processor_;
  const unsigned most =
      options.kernels == backends::KernelTarget::kCuda ? kMostThreadsForKernels : kMostThreads;
  options.threads = static_cast<int>(std::min(most, std::thread::hardware_concurrency()));
  if (debug_.disabled.contains("vector-math")) {
    options.has_vector_function = [](const char*) { return false; };
  }
  options.keep_ir = keep_ir;
  options.keep_assembly = keep_assembly;
  backends::Compiled compiled = backends::Compile(program_, options);
  for (const backends::Phase& phase : compiled.phases) AddPhase(phase.name, phase.ms);
  return compiled;
}

}  // namespace parakeet::pylib
