#include "tests/proof/check.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace mx::test {
namespace {

constexpr std::size_t kBlock = 4096;

void compare(std::span<const std::uint32_t> patterns, std::span<const std::uint32_t> expected, const Encoder& encode, ChunkResult& result) {
  std::array<std::uint32_t, kBlock> codes;
  encode(patterns, std::span(codes).first(patterns.size()));
  result.inputs += patterns.size();
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (codes[i] == expected[i]) continue;
    if (result.wrong++ == 0) result.first_wrong = patterns[i];
  }
}

}  // namespace

ChunkResult check_chunk(std::span<const Step> steps, std::uint32_t chunk, const Encoder& encode) {
  std::array<std::uint32_t, kBlock> patterns;
  std::array<std::uint32_t, kBlock> expected;
  ChunkResult result;
  const std::uint32_t first = chunk * kChunkInputs;
  auto next = std::ranges::upper_bound(steps, first, {}, &Step::first);
  for (std::uint32_t offset = 0; offset < kChunkInputs; offset += kBlock) {
    for (std::uint32_t i = 0; i < kBlock; ++i) {
      const std::uint32_t pattern = first + offset + i;
      while (next != steps.end() && next->first <= pattern) ++next;
      patterns[i] = pattern;
      expected[i] = (next - 1)->code;
    }
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

}  // namespace mx::test
