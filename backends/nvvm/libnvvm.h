// NVIDIA's libNVVM, which makes PTX of NVVM IR: opened at run time, never linked.
#ifndef PARAKEET_BACKENDS_NVVM_LIBNVVM_H_
#define PARAKEET_BACKENDS_NVVM_LIBNVVM_H_

#include <string>
#include <string_view>
#include <vector>

namespace parakeet::backends {

struct NvvmProgram {
  std::string ir;              // write_nvvm_ir.h
  std::string_view libdevice;  // bitcode, of which the library takes what is called
  int architecture = 0;        // 90 for compute capability 9.0
  // Whether a product and a sum may be one instruction, which rounds once.
  bool may_contract = false;
};

// The PTX of a program, by the first of `files` that opens, each a path or a name for the loader;
// the one that opened first serves the process from then on. An architecture that the library does
// not know yet runs code for the newest before it that it knows. Any thread may call it.
//
// Throws a DeviceError where no file opens or the library has no code for so old an architecture,
// and a bug where it does not take the program.
std::string AssembleByLibNvvm(const NvvmProgram& program, const std::vector<std::string>& files);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_LIBNVVM_H_
