#pragma once
// A domain of input patterns in pieces that threads take one by one. For .cpp files of this folder.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "model/ordinary_mode.hpp"
#include "verbs/compare/compare.hpp"

namespace mx::verbs {

/// Number of codes of a format.
inline std::uint64_t pattern_count(const Format& format) { return std::uint64_t{1} << static_cast<unsigned>(format.width); }

/// run(first, count) for consecutive pieces of 0 .. total - 1; the results in order of the pieces, whatever thread made them, or none when `progress`
/// said stop. What a piece throws is thrown again when all threads have stopped.
template <typename Run>
auto in_pieces(std::uint64_t total, const Progress& progress, const Run& run) {
  using Result = decltype(run(std::uint64_t{}, std::uint64_t{}));
  // About a second of the slowest recipe: what is said to stop has to stop soon.
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  const auto pieces = static_cast<std::int64_t>((total + kPiece - 1) / kPiece);
  std::vector<Result> results(static_cast<std::size_t>(pieces));
  std::int64_t done = 0;
  bool stopped = false;
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    // No exception may leave a parallel or critical block: it waits until all threads are done.
    std::exception_ptr thrown;
    bool go = false;
#pragma omp critical(mxact_compare)
    go = !stopped && !failure;
    if (!go) continue;
    const OrdinaryMode mode;
    try {
      const std::uint64_t first = static_cast<std::uint64_t>(piece) * kPiece;
      results[static_cast<std::size_t>(piece)] = run(first, std::min(kPiece, total - first));
    } catch (...) {
      thrown = std::current_exception();
    }
#pragma omp critical(mxact_compare)
    {
      if (thrown) failure = thrown;
      ++done;
      if (progress && !failure && !progress(static_cast<double>(done) / static_cast<double>(pieces))) stopped = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return done == pieces ? std::optional(std::move(results)) : std::nullopt;
}

}  // namespace mx::verbs
