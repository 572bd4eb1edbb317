#pragma once
// The machine's own limit for moving bytes: a plain copy with non-temporal stores.

#include <cstddef>
#include <cstdint>

namespace mx::bench {

/// Copies `bytes`, a multiple of 256, between buffers aligned to 64, with the widest non-temporal stores that the processor has.
void stream_copy(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes);

}  // namespace mx::bench
