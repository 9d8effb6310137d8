// What the first compilation needs, made by a thread of its own.
#ifndef PARAKEET_BACKENDS_PREPARE_H_
#define PARAKEET_BACKENDS_PREPARE_H_

namespace parakeet::backends {

// Returns when what Prepare() (compile.h) has begun is done; at once if it never was.
void WaitUntilPrepared();

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_PREPARE_H_
