// NumPy's sort kernels, found in its descriptors.
#ifndef PARAKEET_PYLIB_CORE_SORT_KERNELS_H_
#define PARAKEET_PYLIB_CORE_SORT_KERNELS_H_

namespace parakeet::pylib {

// Reads where the kernels are and tells the runtime (runtime/sort_kernels.h). `table` is NumPy's
// function table; NumPy's descriptors are loaded. Needs the GIL.
void LoadSortKernels(void** table);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_SORT_KERNELS_H_
