#pragma once
// Holding a conversion against its table of thresholds.

#include <cstdint>
#include <functional>
#include <span>

#include "tests/proof/functions.hpp"
#include "tests/proof/thresholds.hpp"

namespace mx::tests {

/// Chunks are the unit of work: 2^24 consecutive fp32 patterns.
inline constexpr std::uint32_t kChunkInputs = 1U << 24;
inline constexpr std::uint32_t kChunks = 256;

/// The conversion under test: fp32 patterns in, codes out.
using Encoder = std::function<void(std::span<const std::uint32_t>, std::span<std::uint32_t>)>;

/// Every pattern of a chunk.
ChunkResult check_chunk(std::span<const Step> steps, std::uint32_t chunk, const Encoder& encode);

/// Each threshold and the patterns right below and right above it.
ChunkResult check_around(std::span<const Step> steps, const Encoder& encode);

}  // namespace mx::tests
