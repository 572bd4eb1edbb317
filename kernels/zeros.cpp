#include "kernels/zeros.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mx::kernels {

void ask_for_huge_pages(const void* begin, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  if (bytes < 2 * kHugePage) return;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (address + bytes) / kHugePage * kHugePage;
  if (first < last) ::madvise(static_cast<char*>(const_cast<void*>(begin)) + (first - address), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(begin);
  static_cast<void>(bytes);
#endif
}

namespace {

/// Lets every thread have pages made, which one thread alone would wait for as it fills them.
void make_pages(const void* begin, std::size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  constexpr std::size_t kPiece = std::size_t{8} << 20;  // whole huge pages
  if (bytes < 2 * kPiece) return;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kPiece - 1) / kPiece * kPiece;
  const std::size_t pieces = (address + bytes - first) / kPiece;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < pieces; ++i) {
    // What the system cannot do now it does at the first touch.
    ::madvise(static_cast<char*>(const_cast<void*>(begin)) + (first - address) + i * kPiece, kPiece, MADV_POPULATE_WRITE);
  }
#else
  static_cast<void>(begin);
  static_cast<void>(bytes);
#endif
}

}  // namespace

std::vector<std::uint8_t> zeros(std::size_t bytes) {
  std::vector<std::uint8_t> buffer;
  buffer.reserve(bytes);
  ask_for_huge_pages(buffer.data(), buffer.capacity());
  make_pages(buffer.data(), buffer.capacity());
  buffer.resize(bytes);
  return buffer;
}

}  // namespace mx::kernels
