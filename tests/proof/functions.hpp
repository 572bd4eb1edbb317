#pragma once
// One chunk of the proof that an elementary function is correctly rounded in fp32.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace mx::tests {

/// What 2^24 inputs gave.
struct ChunkResult {
  std::uint64_t inputs = 0;
  std::uint64_t wrong = 0;
  std::uint32_t first_wrong = 0;  ///< smallest wrong input pattern; meaningful when wrong > 0
  /// Functions: log2 of the smallest distance of a result from a midpoint of fp32, relative to the result; 0 when none was measured.
  double nearest_log2 = 0;
};

/// The function's model on the fp32 patterns chunk * 2^24 and on, against MPFR. Throws Error(usage) for an unknown function or chunk > 255.
ChunkResult check_function_chunk(std::string_view function, std::uint32_t chunk);

/// fp32 patterns to those of a function's results.
using ManyResults = std::function<void(std::span<const std::uint32_t>, std::span<std::uint32_t>)>;

/// The same for several implementations of the function at once: an input is wrong when any of them is.
ChunkResult check_function_chunk(std::string_view function, std::uint32_t chunk, std::span<const ManyResults> implementations);

}  // namespace mx::tests
