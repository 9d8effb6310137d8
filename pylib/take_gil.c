// In C, where pthread_cleanup_push is a jump back into this frame. In C++ it would be a destructor,
// which only the unwinder reaches.
#include "pylib/take_gil.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void SleepForever(void* nothing) {
  (void)nothing;
  for (;;) pause();
}

void PkTakeGil(PyThreadState* state) {
  pthread_cleanup_push(SleepForever, NULL);
  PyEval_RestoreThread(state);
  pthread_cleanup_pop(0);
}
