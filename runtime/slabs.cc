#include "runtime/slabs.h"

#include <pthread.h>

#include <mutex>
#include <new>

namespace parakeet::runtime {
namespace {

constexpr uint64_t kAlignment = 64;

// What stands in a place that nobody has.
struct FreePlace {
  FreePlace* next;
};

// At the start of its own memory; the places follow.
struct alignas(kAlignment) Slab {
  Slab* previous;  // neighbours among the slabs of the kind that have places
  Slab* next;
  FreePlace* free;     // places that were given back
  uint64_t untouched;  // where those begin that nobody had yet, from the slab's start
  uint64_t stride;     // from one place to the next
  uint32_t taken;
  uint32_t kind;

  bool HasPlace() const { return free != nullptr || untouched + stride <= kSlabBytes; }
};

// The slabs that have places, by kind. One mutex, held across fork, so that a child finds them
// whole. Never destroyed: buffers outlive static destructors.
struct Slabs {
  std::mutex mutex;
  Slab* with_places[kPlaceKinds] = {};
};

Slabs& TheSlabs();

void BeforeFork() { TheSlabs().mutex.lock(); }
void BehindFork() { TheSlabs().mutex.unlock(); }

Slabs* MakeSlabs() {
  auto* slabs = new Slabs;
  pthread_atfork(BeforeFork, BehindFork, BehindFork);
  return slabs;
}

Slabs& TheSlabs() {
  static Slabs* const slabs = MakeSlabs();
  return *slabs;
}

void Link(Slab*& first, Slab* slab) {
  slab->previous = nullptr;
  slab->next = first;
  if (first != nullptr) first->previous = slab;
  first = slab;
}

void Unlink(Slab*& first, Slab* slab) {
  (slab->previous != nullptr ? slab->previous->next : first) = slab->next;
  if (slab->next != nullptr) slab->next->previous = slab->previous;
}

Slab* NewSlab(uint32_t kind, uint64_t bytes) {
  char* memory = MapHuge(kSlabBytes, kSlabBytes, 0);
  if (memory == nullptr) return nullptr;
  auto* slab = new (memory) Slab{};
  slab->untouched = sizeof(Slab);
  slab->stride = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  slab->kind = kind;
  return slab;
}

char* PlaceIn(Slab* slab) {
  ++slab->taken;
  if (FreePlace* place = slab->free; place != nullptr) {
    slab->free = place->next;
    return reinterpret_cast<char*>(place);
  }
  char* place = reinterpret_cast<char*>(slab) + slab->untouched;
  slab->untouched += slab->stride;
  return place;
}

Slab* SlabOf(void* place) {
  return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(place) & ~(kSlabBytes - 1));
}

}  // namespace

char* TakePlace(uint32_t kind, uint64_t bytes) {
  Slabs& slabs = TheSlabs();
  const std::lock_guard lock(slabs.mutex);
  Slab*& first = slabs.with_places[kind];
  if (first == nullptr) {
    Slab* slab = NewSlab(kind, bytes);
    if (slab == nullptr) return nullptr;
    Link(first, slab);
  }
  Slab* slab = first;
  char* place = PlaceIn(slab);
  if (!slab->HasPlace()) Unlink(first, slab);
  return place;
}

void GivePlace(void* place) {
  Slab* slab = SlabOf(place);
  Slabs& slabs = TheSlabs();
  {
    const std::lock_guard lock(slabs.mutex);
    Slab*& first = slabs.with_places[slab->kind];
    if (!slab->HasPlace()) Link(first, slab);
    slab->free = new (place) FreePlace{slab->free};
    if (--slab->taken > 0) return;
    Unlink(first, slab);
  }
  UnmapHuge(slab, kSlabBytes);
}

}  // namespace parakeet::runtime
