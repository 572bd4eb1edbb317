#include "tests/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};

void* counted_allocation(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = live += ::malloc_usable_size(memory);
  std::size_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

void* counted_or_null(std::size_t bytes) noexcept {
  try {
    return counted_allocation(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void counted_release(void* memory) noexcept {
  if (memory == nullptr) return;
  live -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_allocation(bytes); }
void* operator new[](std::size_t bytes) { return counted_allocation(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted_or_null(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted_or_null(bytes); }
void operator delete(void* memory) noexcept { counted_release(memory); }
void operator delete[](void* memory) noexcept { counted_release(memory); }
void operator delete(void* memory, std::size_t) noexcept { counted_release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { counted_release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { counted_release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { counted_release(memory); }

std::size_t mx::tests::peak_of(const std::function<void()>& call) {
  const std::size_t before = live;
  peak = before;
  call();
  return peak - before;
}
