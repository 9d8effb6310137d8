// What kernels call on a GPU for failures and for memory of a thread, as LLVM assembly.
#ifndef PARAKEET_BACKENDS_NVVM_DEVICE_FUNCTIONS_H_
#define PARAKEET_BACKENDS_NVVM_DEVICE_FUNCTIONS_H_

namespace parakeet::backends {

// pk_fail, pk_alloc and pk_free of runtime/abi.h, with a PkErrorRecord for the call.
inline constexpr const char* kFailFunction = "parakeet_fail";
inline constexpr const char* kAllocateFunction = "parakeet_alloc";
inline constexpr const char* kFreeFunction = "parakeet_free";

// A module that defines them.
const char* DeviceFunctions();

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_DEVICE_FUNCTIONS_H_
