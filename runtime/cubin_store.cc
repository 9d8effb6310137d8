#include "runtime/cubin_store.h"

#include <atomic>

namespace parakeet::runtime {
namespace {

std::atomic<CubinStore*> the_store = nullptr;

}  // namespace

void SetCubinStore(CubinStore* store) { the_store.store(store, std::memory_order_release); }
CubinStore* TheCubinStore() { return the_store.load(std::memory_order_acquire); }

}  // namespace parakeet::runtime
