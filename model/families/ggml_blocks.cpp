#include "model/families/ggml_blocks.hpp"

#include <string>

#include "model/error.hpp"

namespace mx::families::ggml {

std::vector<std::uint8_t> stored(const StoredBlock& block, std::span<const std::uint8_t> scales, std::span<const std::uint8_t> codes) {
  if (scales.size() != static_cast<std::size_t>(block.scales) || codes.size() != static_cast<std::size_t>(block.elements)) {
    throw Error(ErrorCode::usage,
                std::to_string(scales.size()) + " scales and " + std::to_string(codes.size()) + " codes are no block of " + std::string(block.name));
  }
  std::vector<std::uint8_t> bytes(scales.begin(), scales.end());
  const auto group = static_cast<std::size_t>(block.group), half = group / 2;
  for (std::size_t first = 0; first < codes.size(); first += group) {
    for (std::size_t i = first; i < first + half; ++i) {
      constexpr unsigned kNibble = 4;
      if ((codes[i] | codes[i + half]) >> kNibble != 0) throw Error(ErrorCode::usage, "a code of more than 4 bits", std::string(block.name));
      bytes.push_back(static_cast<std::uint8_t>(codes[i] | codes[i + half] << kNibble));
    }
  }
  return bytes;
}

std::vector<std::uint32_t> repacked_source(const Repack& repack, std::int64_t cols, std::int64_t rows, std::int64_t batch) {
  const std::int64_t together = repack.rows, bytes = kMxfp4.bytes(), codes = bytes - kMxfp4.scales;
  if (cols < 1 || rows < 1 || batch < 1 || cols % kMxfp4.elements != 0 || rows % together != 0) {
    throw Error(ErrorCode::usage, std::to_string(rows) + " rows of " + std::to_string(cols) + " are no whole blocks of " + std::string(repack.name));
  }
  const std::int64_t blocks = cols / kMxfp4.elements;
  std::vector<std::uint32_t> source;
  source.reserve(static_cast<std::size_t>(batch * rows * blocks * bytes));
  const auto add = [&](std::int64_t row, std::int64_t block, std::int64_t byte) {
    source.push_back(static_cast<std::uint32_t>((row * blocks + block) * bytes + byte));
  };
  for (std::int64_t first = 0; first < batch * rows; first += together) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      for (std::int64_t row = 0; row < together; ++row) add(first + row, block, 0);
      for (std::int64_t chunk = 0; chunk < codes; ++chunk) {
        for (std::int64_t byte = 0; byte < together; ++byte) add(first + chunk % together, block, kMxfp4.scales + chunk / together * together + byte);
      }
    }
  }
  return source;
}

const Repack& repack_of(const Features& features, std::int64_t cols, std::int64_t rows) {
  const auto fits = [&](const Repack& repack) { return rows % repack.rows == 0 && cols % repack.column_multiple == 0; };
  if (features.avx2 && fits(kEightRows)) return kEightRows;
  if (features.neon && features.dot_products && fits(kFourRows)) return kFourRows;
  return kNone;
}

}  // namespace mx::families::ggml
