#pragma once
// Memory that vector loads of a whole cache line may read, also one that begins at its last byte, large buffers in large pages: a product of few rows
// is as fast as it reads its weights, and the processor's prefetchers end at a page.

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "kernels/zeros.hpp"

namespace mx::kernels::moe {

inline constexpr std::size_t kLine = 64;

template <class T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(google-explicit-constructor): containers rebind allocators

  T* allocate(std::size_t count) {
    void* const memory = ::operator new (count * sizeof(T) + kLine, std::align_val_t{kLine});
    ask_for_huge_pages(memory, count * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { ::operator delete (memory, std::align_val_t{kLine}); }
  /// Elements without a value of their own stay as the memory is: all of them are written before they are read.
  template <class U>
  void construct(U*) {}
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

/// A vector that begins at a cache line.
template <class T>
using Lines = std::vector<T, LineAllocator<T>>;

}  // namespace mx::kernels::moe
