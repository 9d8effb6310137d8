// A sequence that needs no memory of its own while it is short: a call's key and slots.
#ifndef PARAKEET_PYLIB_CORE_INLINE_VECTOR_H_
#define PARAKEET_PYLIB_CORE_INLINE_VECTOR_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace parakeet::pylib {

// Of plain values. Holds up to N in place; beyond that it moves to the heap. Neither copied nor
// moved, so that addresses of elements last until the next Append.
template <typename T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  InlineVector() = default;
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;

  void Append(const T& value) { *Extend(1) = value; }
  // Room for `count` more, whose contents are unspecified.
  T* Extend(size_t count) {
    if (size_ + count > capacity_) Grow(size_ + count);
    T* place = data_ + size_;
    size_ += count;
    return place;
  }
  void Shrink(size_t size) { size_ = size; }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  void Grow(size_t needed) {
    size_t capacity = capacity_ * 2;
    while (capacity < needed) capacity *= 2;
    std::unique_ptr<T[]> larger(new T[capacity]);
    std::memcpy(larger.get(), data_, size_ * sizeof(T));
    heap_ = std::move(larger);
    data_ = heap_.get();
    capacity_ = capacity;
  }

  T place_[N];
  T* data_ = place_;
  size_t size_ = 0;
  size_t capacity_ = N;
  std::unique_ptr<T[]> heap_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_INLINE_VECTOR_H_
