#include "tests/proof/check.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace mx::tests {
namespace {

constexpr std::size_t kBlock = 4096;

void compare(std::span<const std::uint32_t> patterns, std::span<const std::uint32_t> expected, const Encoder& encode, ChunkResult& result) {
  std::array<std::uint32_t, kBlock> codes;
  encode(patterns, std::span(codes).first(patterns.size()));
  // Counting without a branch lets compilers vectorize; the first wrong one is looked for only where there is one.
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) wrong += codes[i] != expected[i] ? 1U : 0U;
  result.inputs += patterns.size();
  if (wrong == 0) return;
  if (result.wrong == 0) {
    const auto first = std::ranges::mismatch(expected, codes).in1;
    result.first_wrong = patterns[static_cast<std::size_t>(first - expected.begin())];
  }
  result.wrong += wrong;
}

/// The codes of consecutive patterns from `first` on; `next` is the first step behind `first`, and then behind the last pattern.
void fill_expected(std::uint32_t first, std::span<const Step> steps, std::size_t& next, std::span<std::uint32_t> expected) {
  for (std::size_t done = 0; done < expected.size();) {
    const std::uint64_t pattern = std::uint64_t{first} + done;
    while (next < steps.size() && steps[next].first <= pattern) ++next;
    const std::size_t left = expected.size() - done;
    const std::size_t run = next < steps.size() ? std::min<std::uint64_t>(left, steps[next].first - pattern) : left;
    std::ranges::fill(expected.subspan(done, run), steps[next - 1].code);
    done += run;
  }
}

}  // namespace

ChunkResult check_chunk(std::span<const Step> steps, std::uint32_t chunk, const Encoder& encode) {
  std::array<std::uint32_t, kBlock> patterns;
  std::array<std::uint32_t, kBlock> expected;
  ChunkResult result;
  std::size_t next = 1;
  for (std::uint32_t offset = 0; offset < kChunkInputs; offset += kBlock) {
    const std::uint32_t first = chunk * kChunkInputs + offset;
    std::iota(patterns.begin(), patterns.end(), first);
    fill_expected(first, steps, next, expected);
    compare(patterns, expected, encode, result);
  }
  return result;
}

ChunkResult check_around(std::span<const Step> steps, const Encoder& encode) {
  std::vector<std::uint32_t> patterns;
  for (const Step& step : steps) {
    for (const std::uint32_t pattern : {step.first - 1U, step.first, step.first + 1U}) patterns.push_back(pattern);
  }
  std::ranges::sort(patterns);
  ChunkResult result;
  for (std::size_t done = 0; done < patterns.size(); done += kBlock) {
    const std::span<const std::uint32_t> block = std::span(patterns).subspan(done, std::min(kBlock, patterns.size() - done));
    std::vector<std::uint32_t> expected;
    for (const std::uint32_t pattern : block) expected.push_back(code_at(steps, pattern));
    compare(block, expected, encode, result);
  }
  return result;
}

}  // namespace mx::tests
