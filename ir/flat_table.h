#ifndef PARAKEET_IR_FLAT_TABLE_H_
#define PARAKEET_IR_FLAT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

// Sets and maps of nodes by their addresses. Passes make them by the thousand and most hold a few
// nodes, so entries stand side by side, few of them are searched, and only more are hashed.
namespace parakeet::ir {

// Entries in order of insertion, until one is erased: the last one takes its place. `Entry` gives a
// pointer as its key. An insertion moves entries: it ends iterators and references.
template <typename Entry, typename KeyOf>
class FlatTable {
 public:
  using value_type = Entry;
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  FlatTable() = default;
  FlatTable(std::initializer_list<Entry> entries) { insert(entries.begin(), entries.end()); }
  template <typename Iterator>
  FlatTable(Iterator first, Iterator last) {
    insert(first, last);
  }

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  iterator find(const void* key) { return begin() + Find(key); }
  const_iterator find(const void* key) const { return begin() + Find(key); }
  bool contains(const void* key) const { return Find(key) != size(); }

  std::pair<iterator, bool> insert(Entry entry) {
    const size_t place = Find(KeyOf()(entry));
    const bool is_new = place == size();
    if (is_new) Append(std::move(entry));
    return {begin() + place, is_new};
  }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }
  void merge(const FlatTable& other) { insert(other.begin(), other.end()); }

  size_t erase(const void* key) {
    const size_t place = Find(key);
    if (place == size()) return 0;
    if (!slots_.empty()) Unhash(place);
    if (place + 1 != size()) entries_[place] = std::move(entries_.back());
    entries_.pop_back();
    return 1;
  }
  void clear() {
    entries_.clear();
    slots_.clear();
  }

 protected:
  // Where the entry of that key is; size() where there is none.
  size_t Find(const void* key) const {
    if (!slots_.empty()) {
      const size_t slot = SlotOf(key);
      return slots_[slot] == 0 ? size() : slots_[slot] - 1;
    }
    size_t place = 0;
    while (place < entries_.size() && KeyOf()(entries_[place]) != key) ++place;
    return place;
  }

  void Append(Entry entry) {
    if (entries_.empty()) entries_.reserve(kReserved);
    entries_.push_back(std::move(entry));
    const size_t places = 2 * entries_.size();
    if (entries_.size() > kSearched && places > slots_.size()) return Rehash(2 * places);
    if (!slots_.empty()) slots_[SlotOf(KeyOf()(entries_.back()))] = Numbered(size() - 1);
  }

 private:
  static constexpr size_t kReserved = 4;
  static constexpr size_t kSearched = 8;

  static uint32_t Numbered(size_t place) { return static_cast<uint32_t>(place + 1); }

  size_t Home(const void* key) const {
    const uint64_t mixed = reinterpret_cast<uintptr_t>(key) * 0x9E3779B97F4A7C15u;
    return (mixed >> 32) & (slots_.size() - 1);
  }
  size_t After(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  const void* KeyIn(size_t slot) const { return KeyOf()(entries_[slots_[slot] - 1]); }

  // The slot of the key, or the empty one where it would be.
  size_t SlotOf(const void* key) const {
    size_t slot = Home(key);
    while (slots_[slot] != 0 && KeyIn(slot) != key) slot = After(slot);
    return slot;
  }

  void Rehash(size_t at_least) {
    size_t count = 1;
    while (count < at_least) count *= 2;
    slots_.assign(count, 0);
    for (size_t place = 0; place < size(); ++place)
      slots_[SlotOf(KeyOf()(entries_[place]))] = Numbered(place);
  }

  // Takes an entry's number out, and gives its place to the last one.
  void Unhash(size_t place) {
    const size_t last = SlotOf(KeyOf()(entries_.back()));
    size_t hole = SlotOf(KeyOf()(entries_[place]));
    slots_[last] = Numbered(place);
    // Those behind that began to search at the hole or before it move up.
    for (size_t slot = After(hole); slots_[slot] != 0; slot = After(slot)) {
      const size_t mask = slots_.size() - 1;
      // `last` may stand for two entries until the erased one is gone: its own key is asked.
      const void* key = slot == last ? KeyOf()(entries_.back()) : KeyIn(slot);
      if (((slot - Home(key)) & mask) < ((slot - hole) & mask)) continue;
      slots_[hole] = slots_[slot];
      hole = slot;
    }
    slots_[hole] = 0;
  }

  std::vector<Entry> entries_;
  // Places counted from 1, by hash; a power of two of them, half empty. None while few are held.
  std::vector<uint32_t> slots_;
};

struct KeyIsEntry {
  const void* operator()(const void* entry) const { return entry; }
};

struct KeyIsFirst {
  template <typename Entry>
  const void* operator()(const Entry& entry) const {
    return entry.first;
  }
};

template <typename Key>
class FlatSet : public FlatTable<Key, KeyIsEntry> {
 public:
  using FlatTable<Key, KeyIsEntry>::FlatTable;

  friend bool operator==(const FlatSet& a, const FlatSet& b) {
    if (a.size() != b.size()) return false;
    for (const Key key : a) {
      if (!b.contains(key)) return false;
    }
    return true;
  }
};

template <typename Key, typename Value>
class FlatMap : public FlatTable<std::pair<Key, Value>, KeyIsFirst> {
 public:
  using Base = FlatTable<std::pair<Key, Value>, KeyIsFirst>;
  using Base::Base;

  Value& operator[](Key key) { return emplace(key, Value()).first->second; }
  Value& at(Key key) { return this->begin()[CheckedPlace(key)].second; }
  const Value& at(Key key) const { return this->begin()[CheckedPlace(key)].second; }

  template <typename... Parts>
  std::pair<typename Base::iterator, bool> emplace(Key key, Parts&&... parts) {
    const size_t place = this->Find(key);
    const bool is_new = place == this->size();
    if (is_new) this->Append({key, Value(std::forward<Parts>(parts)...)});
    return {this->begin() + place, is_new};
  }
  template <typename... Parts>
  std::pair<typename Base::iterator, bool> try_emplace(Key key, Parts&&... parts) {
    return emplace(key, std::forward<Parts>(parts)...);
  }

 private:
  size_t CheckedPlace(Key key) const {
    const size_t place = this->Find(key);
    if (place == this->size()) throw std::out_of_range("a map without that key");
    return place;
  }
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_FLAT_TABLE_H_
