#pragma once
// Large buffers in large pages: the system hands out a page at its first touch, and for hundreds of megabytes that takes longer than filling them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mx::kernels {

/// Asks for huge pages for those that lie whole within `bytes` from `begin`, before their first touch: pages that are there stay as they are. For
/// fewer than a few huge pages it does nothing. What fails costs time, nothing else.
void ask_for_huge_pages(const void* begin, std::size_t bytes);

/// So many zeros. Where the system has huge pages for the asking, a buffer of megabytes lies in them.
std::vector<std::uint8_t> zeros(std::size_t bytes);

}  // namespace mx::kernels
