// Which OpenMP library this process runs parallel regions with.
//
// One that the process already holds is shared (Numba's, torch's or MKL's LLVM or Intel runtime),
// because each would bring its own threads. Only where there is none do we open the package's own,
// at the first parallel need, and then set three things in the environment:
//   KMP_DUPLICATE_LIB_OK=TRUE   unless set already, and for good: a second LLVM OpenMP runtime that
//                               some other package loads later would otherwise abort the process.
//   KMP_BLOCKTIME               only while our library reads it, and only where neither it nor
//                               OMP_WAIT_POLICY is set: workers that spin for the default 200 ms
//                               take a core from the compiler on a small machine.
//                               A forked child reads the environment anew and has the default.
//                               Compiled code that calls LAPACK sets the same to 0 for each region
//                               (kmp_set_blocktime) and back.
//   KMP_INIT_AT_FORK=TRUE       only while our library reads it: a child of fork starts its threads
//                               anew. scikit-learn sets FALSE, with which a child waits for ever
//                               for threads that only its parent has.
// An environment that another thread reads at the same moment without a lock is the caller's risk,
// as with any setenv.
#ifndef PARAKEET_RUNTIME_OPENMP_LIBRARY_H_
#define PARAKEET_RUNTIME_OPENMP_LIBRARY_H_

#include <string>

namespace parakeet::runtime {

// The package's own library, to be opened if no other is there. No effect once one is bound.
void SetOpenMpPath(const std::string& path);

// Binds a library, the first time. Returns an empty string, or why no parallel region can run; a
// later call tries again. Any thread may call it, several at once.
std::string BindOpenMp();

bool IsOpenMpBound();

// The address of a symbol of the bound library; null when none is bound or it has no such symbol.
void* OpenMpSymbol(const char* name);

// The file of the bound library; empty when none is bound.
std::string OpenMpLibraryFile();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_OPENMP_LIBRARY_H_
