#pragma once
// Work that moves a tensor, timed beside a plain non-temporal copy of as many bytes.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <span>

namespace mx::bench {

/// Iterations of each figure; a repetition makes its buffers anew.
inline constexpr int kTurns = 15;

/// `work`, which reads `source` and writes `target`, and the copy take turns; the counter `share` is the ratio of the medians of their rates. Fills
/// the source. One thread is timed by its processor time, several by the clock on the wall.
void beside_copy(benchmark::State& state, std::span<std::uint8_t> source, std::span<std::uint8_t> target, int threads,
                 const std::function<void()>& work);

}  // namespace mx::bench
