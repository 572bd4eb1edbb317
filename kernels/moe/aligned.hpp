#pragma once
// Memory that vector loads of a whole cache line may read.

#include <cstddef>
#include <new>
#include <vector>

namespace mx::kernels::moe {

inline constexpr std::size_t kLine = 64;

template <class T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(google-explicit-constructor): containers rebind allocators

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kLine})); }
  void deallocate(T* memory, std::size_t) { ::operator delete (memory, std::align_val_t{kLine}); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

/// A vector that begins at a cache line.
template <class T>
using Lines = std::vector<T, LineAllocator<T>>;

}  // namespace mx::kernels::moe
