#pragma once
// Large buffers in large pages: the system hands out a page at its first touch, and for hundreds of megabytes that takes longer than filling them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mx::kernels {

/// So many zeros. Where the system has huge pages for the asking, a buffer of megabytes lies in them.
std::vector<std::uint8_t> zeros(std::size_t bytes);

}  // namespace mx::kernels
