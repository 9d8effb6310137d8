#include "pylib/core/specialization.h"

#include <algorithm>

#include "pylib/core/compiler_library.h"
#include "pylib/core/content.h"
#include "pylib/core/profile.h"

namespace parakeet::pylib {

uint64_t HashKey(const uint64_t* words, size_t count) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ words[i]) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash;
}

Specialization::Specialization()
    : number([] {
        static int64_t made = 0;
        return made++;
      }()) {}

Specialization::~Specialization() {
  if (program != nullptr) FreeProgram(program);
}

bool Specialization::Matches(const Arguments& call) const {
  if (call.key.size() != key.size()) return false;
  // A few words: no call of memcmp.
  for (size_t i = 0; i < key.size(); ++i) {
    if (call.key[i] != key[i]) return false;
  }
  for (size_t i = 0; i < statics.size(); ++i) {
    PyObject *mine = statics[i].get(), *theirs = call.statics[i];
    if (mine != theirs && !HasSameContent(mine, theirs)) return false;
  }
  return true;
}

int32_t Specialization::RunProgram(PkCall* call, const uint64_t* args, uint64_t* results) const {
  return Interpret(program, call, args, results);
}

// Open addressing, at most half full.
struct SpecializationTable::Slots {
  explicit Slots(size_t capacity) : mask(capacity - 1), entries(capacity, nullptr) {}
  size_t mask;
  std::vector<Specialization*> entries;
};

SpecializationTable::SpecializationTable() : slots_(new Slots(4)) {}

SpecializationTable::~SpecializationTable() { delete slots_.load(); }

Specialization* SpecializationTable::Find(const Arguments& call) const {
  Specialization* last = recent_[last_];
  if (last != nullptr && last->Matches(call)) return last;
  const uint64_t hash = HashKey(call.key.data(), call.key.size());
  const Slots* slots = slots_.load(std::memory_order_acquire);
  for (size_t at = hash;; ++at) {
    Specialization* entry = slots->entries[at & slots->mask];
    if (entry == nullptr) return nullptr;
    if (entry->hash != hash || !entry->Matches(call)) continue;
    Remember(entry);
    return entry;
  }
}

void SpecializationTable::Remember(Specialization* found) const {
  const auto known = std::find(recent_.begin(), recent_.end(), found);
  if (known != recent_.end()) {
    Took(size_t(known - recent_.begin()));
    return;
  }
  const size_t at = remembered_++ % kRecent;
  recent_[at] = found;
  follower_[at] = uint8_t(at);
  Took(at);
}

void SpecializationTable::ForgetRecent() {
  recent_ = {};
  follower_ = {};
  last_ = expected_ = 0;
  remembered_ = 0;
}

// Takes out what has the same key and statics.
void SpecializationTable::Retire(const Specialization& like) {
  std::erase_if(retired_, [](const auto& old) { return old->running == 0; });
  for (auto it = all_.begin(); it != all_.end(); ++it) {
    if ((*it)->key != like.key) continue;
    bool is_same = true;
    for (size_t i = 0; i < like.statics.size() && is_same; ++i) {
      is_same = HasSameContent((*it)->statics[i].get(), like.statics[i].get());
    }
    if (!is_same) continue;
    retired_.push_back(std::move(*it));
    all_.erase(it);
    return;
  }
}

void SpecializationTable::Publish() {
  size_t capacity = 4;
  while (capacity < 2 * all_.size()) capacity *= 2;
  auto slots = std::make_unique<Slots>(capacity);
  for (const auto& entry : all_) {
    size_t at = entry->hash;
    while (slots->entries[at & slots->mask] != nullptr) ++at;
    slots->entries[at & slots->mask] = entry.get();
  }
  // Readers hold the GIL from reading the table to having read it.
  delete slots_.exchange(slots.release(), std::memory_order_acq_rel);
}

void SpecializationTable::Insert(std::unique_ptr<Specialization> specialization) {
  Retire(*specialization);
  ForgetRecent();
  Remember(specialization.get());
  all_.push_back(std::move(specialization));
  Publish();
}

void SpecializationTable::Drop(const Specialization* specialization) {
  const auto is_it = [&](const auto& entry) { return entry.get() == specialization; };
  const auto it = std::find_if(all_.begin(), all_.end(), is_it);
  if (it == all_.end()) return;
  ForgetRecent();
  retired_.push_back(std::move(*it));
  all_.erase(it);
  Publish();
}

void SpecializationTable::Clear() {
  ForgetRecent();
  for (auto& entry : all_) retired_.push_back(std::move(entry));
  all_.clear();
  Publish();
  std::erase_if(retired_, [](const auto& old) { return old->running == 0; });
}

}  // namespace parakeet::pylib
