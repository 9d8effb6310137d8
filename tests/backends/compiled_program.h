// Compiles a program, loads its image and runs it on the interpreter's values, so that both can be
// compared.
#ifndef PARAKEET_TESTS_BACKENDS_COMPILED_PROGRAM_H_
#define PARAKEET_TESTS_BACKENDS_COMPILED_PROGRAM_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/compile.h"
#include "ir/interpreter.h"
#include "runtime/image.h"

namespace parakeet::backends {

class CompiledProgram {
 public:
  explicit CompiledProgram(const ir::Program& program, const CompileOptions& options = {});
  explicit CompiledProgram(std::string_view text, const CompileOptions& options = {});

  // As Interpret of the entry function. Fresh arrays come back as copies; the buffers of several
  // results that share one share their copy. An error's scalars are i64 constants that hold slots.
  ir::RunResult Run(const ir::Values& arguments, int team = 1) const;

  const Compiled& compiled() const { return compiled_; }
  const ir::Program& program() const { return program_; }

 private:
  ir::Program program_;
  Compiled compiled_;
  std::unique_ptr<runtime::Image> image_;
};

// An independent copy of arguments, with the strides of the originals.
ir::Values DeepCopy(const ir::Values& values);

// Runs the program on the interpreter, compiled for one thread, and compiled for a team with 1 and
// 3 threads, each on fresh copies of the arguments, and expects the same results, errors and
// contents of arguments afterwards. Floats may differ by `tolerance` relative to the larger.
void ExpectAgreement(std::string_view text, const ir::Values& arguments, double tolerance = 0.0);
// The same for several calls of one compiled program.
void ExpectAgreements(std::string_view text, const std::vector<ir::Values>& calls,
                      double tolerance = 0.0);

// "3", "[[1 2] [3 4]]" with all digits of floats; "error 0 at (1) with (2)".
std::string Describe(const ir::RunResult& result);

}  // namespace parakeet::backends

#endif  // PARAKEET_TESTS_BACKENDS_COMPILED_PROGRAM_H_
