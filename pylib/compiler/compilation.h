// One compilation, from a request to what dispatch is given: frontend, passes, backend.
#ifndef PARAKEET_PYLIB_COMPILER_COMPILATION_H_
#define PARAKEET_PYLIB_COMPILER_COMPILATION_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/compile.h"
#include "passes/pass_manager.h"
#include "pylib/compiler/debug_options.h"
#include "pylib/compiler/write_manifest.h"
#include "pylib/compiler_interface.h"

namespace parakeet::pylib {

// The passes for code with such a header (key.h).
const std::vector<std::string_view>& PipelineOf(uint64_t header);

// Thrown where the lengths of a parameter's short axes are to be said by the key: there is better
// code with them.
struct NeedLengths {
  int32_t parameter;
};

// Thrown where the code would give up the call that asks for it: its last axes are short, and it is
// better made with their lengths known.
struct NeedShortAxes {};

// Thrown where it would give that call up since a side of a product is short.
struct NeedShortSides {};

// Thrown where it would give that call up since rows are few and long.
struct NeedFewRows {};

// The steps are called in order; each throws ir::Failure, BuildProgram frontend::NeedStatic, and
// RunPasses NeedLengths where the request allows that, and NeedShortAxes, NeedShortSides or
// NeedFewRows where it has such axes.
class Compilation {
 public:
  explicit Compilation(const PkCompileRequest& request);

  // Python source to the IR of the parallel stage. With the GIL held.
  void BuildProgram();
  // To the scheduled stage. Without the GIL; `after_pass` may be empty.
  void RunPasses(const std::function<void(std::string_view, const ir::Program&)>& after_pass = {});
  // To machine code. Without the GIL.
  backends::Compiled Generate(bool keep_ir, bool keep_assembly);

  Target target() const { return target_; }
  // Of the kernels of a GPU; at first that of the key.
  void set_gpu_architecture(int architecture) { gpu_architecture_ = architecture; }
  const std::vector<std::string_view>& pipeline() const { return PipelineOf(request_.key[0]); }
  const ir::Program& program() const { return program_; }
  const ir::SourceMap& sources() const { return *sources_; }
  // What the passes said, after RunPasses.
  const std::vector<passes::Remark>& remarks() const { return remarks_; }
  // What travels with the code, complete after Generate (for the interpreter: BuildProgram).
  Description& description() { return description_; }
  // What a bug report needs: the program as the failing step was given it, and that step's name.
  const ir::Program& last_program() const { return last_program_; }
  const std::string& running() const { return running_; }

 private:
  FunctionFinder FindFunctions() const;
  bool Dumps(std::string_view pass) const;
  void AskForShortAxes() const;
  void AskForSides() const;
  void KeepRegions();
  void ReadLengths(const DecodedKey& key);
  void AskForLengths(const std::set<size_t>& better_with_lengths) const;
  void AddPhase(const std::string& name, double ms);

  const PkCompileRequest& request_;
  const Target target_;
  int gpu_architecture_;
  const DebugOptions debug_;
  const std::string processor_;  // LLVM's name; empty for the host
  std::set<std::string> fastmath_;
  std::vector<std::string> libnvvm_files_;
  std::shared_ptr<ir::SourceMap> sources_;
  ir::Program program_;
  ir::Program last_program_;
  std::string running_ = "frontend";
  Description description_;
  std::vector<passes::Remark> remarks_;
  // By leaf: the lengths that the key says, and the parameter that it is of.
  std::vector<std::vector<int64_t>> lengths_;
  std::vector<size_t> parameters_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_COMPILATION_H_
