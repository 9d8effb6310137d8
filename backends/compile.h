// Machine code from scheduled IR. No LLVM type shows here.
#ifndef PARAKEET_BACKENDS_COMPILE_H_
#define PARAKEET_BACKENDS_COMPILE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/node.h"

namespace parakeet::backends {

// What kernels are compiled for.
enum class KernelTarget : uint8_t { kNone, kEmulated, kCuda };

struct CompileOptions {
  // Whether loops of kind "parallel" become OpenMP regions; otherwise the same body runs in plain
  // loops, and the image needs no OpenMP library. The results are the same bits.
  bool parallel = true;
  // Where the program holds kernels (extract_kernels), the device that runs them, and of a GPU its
  // architecture: 90 for compute capability 9.0.
  KernelTarget kernels = KernelTarget::kNone;
  int gpu_architecture = 0;
  // Where libNVVM is to make a GPU's code, files to try for it, in order. Empty: LLVM makes it.
  std::vector<std::string> libnvvm_files;
  // LLVM's names of fast-math flags, each allowed on every float operation: "nnan", "ninf", "nsz",
  // "arcp", "contract", "afn", "reassoc"; "fast" is all of them. Empty: NumPy's arithmetic.
  std::set<std::string> fastmath;
  // LLVM's names of a processor and of features ("+avx2,-avx512f"); empty: the host's.
  std::string cpu;
  std::string features;
  // Whether the process that will run the code has a function of libmvec ("_ZGVeN8v_tanh"); what it
  // lacks is called lane by lane. Empty: it has all of glibc 2.35's.
  std::function<bool(const char*)> has_vector_function;
  // A function of more bindings than this, nested ones counted, is written in parts: its loop nests
  // become functions of their own. LLVM takes more than twice the time for twice the length.
  int apart_above = 400;
  // Where more than this is left of the entry function, which runs once a call, it is not optimised
  // apart from its loops: that takes longer than a thousand calls could gain.
  int cold_above = 1000;
  // How many threads may compile long code side by side, if no text of it is kept.
  int threads = 1;
  // Whether to keep texts for people to read; the assembly costs as much time as the code.
  bool keep_ir = false;
  bool keep_assembly = false;
};

// What passes choose by of a processor that code is compiled for, by LLVM's name.
struct ProcessorFacts {
  int vector_bytes = 0;       // of its widest vector register: 64, 32 or 16
  bool gathers_fast = false;  // a vector of places is read faster than as many places one by one
};

// Of the host, where there is no name. Throws a Bug for a processor that LLVM does not know.
ProcessorFacts FactsOf(const std::string& cpu);

// Has a thread make what the first compilation for the host would have to make, and returns. A
// process that forks or ends waits for that thread. Any thread may call it, any number of times.
void Prepare();

// One phase of a compilation and its wall time in milliseconds.
struct Phase {
  std::string name;
  double ms = 0.0;
};

struct Compiled {
  std::string image;     // the bytes that runtime::LoadImage takes (runtime/abi.h)
  std::string llvm_ir;   // after optimisation; empty unless asked for
  std::string assembly;  // empty unless asked for
  std::string ptx;       // of kernels for a GPU
  // Emit, optimize, generate, link, in this order; of code that threads share, this one's part,
  // and what it waits for the others.
  std::vector<Phase> phases;
};

// Compiles a program at stage scheduled, without `vector for` and `lanes`: the entry function comes
// first, and others only where recursion calls them. Throws ir::Failure of kind kBug when the
// program is none of that. Any thread may call it, several at once.
Compiled Compile(const ir::Program& program, const CompileOptions& options);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_COMPILE_H_
