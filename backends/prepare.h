// What the first compilation needs, made by a thread of its own.
#ifndef PARAKEET_BACKENDS_PREPARE_H_
#define PARAKEET_BACKENDS_PREPARE_H_

namespace parakeet::backends {

// Each returns at once if Prepare() (compile.h) was never called: when it has made a machine that
// code can be emitted and optimised for, and when all is done that it has begun.
void WaitForMachine();
void WaitUntilPrepared();

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_PREPARE_H_
