// Which build this is. The two shipped libraries each carry the same text when they were built
// together: a compiler library of another build is refused when it is opened, and entries of
// another build in a disk cache are not found.
#ifndef PARAKEET_PYLIB_BUILD_ID_H_
#define PARAKEET_PYLIB_BUILD_ID_H_

namespace parakeet::pylib {

// 64 hexadecimal digits: a hash of every source file that shapes compiled code or the interface
// between the libraries, the library written in Python included. Lives as long as the process.
const char* BuildId();

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_BUILD_ID_H_
