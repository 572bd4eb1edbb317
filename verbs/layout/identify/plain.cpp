#include "verbs/layout/identify/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace mx::verbs {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kLongestWord = 16;

/// The buffer with the bytes of its words in their order; empty where it has no whole number of words.
std::vector<std::uint8_t> unreversed(Bytes packed, std::size_t word, bool swapped) {
  if (packed.size() % word != 0) return {};
  std::vector<std::uint8_t> bytes(packed.begin(), packed.end());
  for (std::size_t first = 0; first < bytes.size(); first += word)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.begin() + static_cast<std::ptrdiff_t>(first + word));
  if (!swapped) return bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(byte << 4U | byte >> 4U);
  return bytes;
}

/// A tensor's rows in a buffer that has `stride` bytes from one to the next, and `rows` of them for each matrix of the batch.
struct Rows {
  std::size_t batch, count, bytes;
  std::size_t rows, stride;

  Bytes of(Bytes buffer, std::size_t matrix, std::size_t row) const { return buffer.subspan((matrix * rows + row) * stride, stride); }
};

bool holds(const Rows& at, Bytes canonical, Bytes buffer) {
  for (std::size_t matrix = 0; matrix < at.batch; ++matrix) {
    for (std::size_t row = 0; row < at.count; ++row) {
      if (!std::ranges::equal(at.of(buffer, matrix, row).first(at.bytes), canonical.subspan((matrix * at.count + row) * at.bytes, at.bytes)))
        return false;
    }
  }
  return true;
}

/// What stands behind rows and below them.
std::string padding_of(const Rows& at, Bytes buffer) {
  std::array<bool, 256> found{};
  for (std::size_t matrix = 0; matrix < at.batch; ++matrix) {
    for (std::size_t row = 0; row < at.rows; ++row) {
      for (const std::uint8_t byte : at.of(buffer, matrix, row).subspan(row < at.count ? at.bytes : 0)) found[byte] = true;
    }
  }
  const auto kinds = std::ranges::count(found, true);
  if (kinds == 0) return {};
  if (kinds > 1) return "no one byte";
  const auto byte = std::ranges::find(found, true) - found.begin();
  return byte == 0 ? "zero" : fmt::format("0x{:02x}", byte);
}

/// The least stride, since rows that are longer have other rows' bytes behind them.
std::optional<Rows> rows_in(const MatrixShape& matrix, Bytes canonical, Bytes buffer) {
  const std::int64_t bits = matrix.cols * matrix.unit_bits;
  if (bits % 8 != 0) return std::nullopt;
  Rows at{static_cast<std::size_t>(matrix.batch), static_cast<std::size_t>(matrix.rows), static_cast<std::size_t>(bits / 8), 0, 0};
  if (at.batch == 0 || buffer.size() % at.batch != 0) return std::nullopt;
  const std::size_t each = buffer.size() / at.batch;
  for (at.stride = at.bytes; at.stride <= each / at.count; ++at.stride) {
    if (each % at.stride != 0) continue;
    at.rows = each / at.stride;
    if (holds(at, canonical, buffer)) return at;
  }
  return std::nullopt;
}

}  // namespace

std::string PlainOrder::text() const {
  const std::int64_t bytes = matrix.cols * matrix.unit_bits / 8;
  std::string text = "row-major";
  if (row_bytes != bytes) text += fmt::format(", rows of {} bytes padded to {}", bytes, row_bytes);
  if (rows != matrix.rows)
    text += fmt::format(", {} rows of padding behind {}{}", rows - matrix.rows, matrix.rows, matrix.batch > 1 ? " of each expert" : "");
  if (!padding.empty()) text += ", padding " + padding;
  if (word > 1) text += fmt::format(", the bytes of every word of {} reversed", word);
  if (swapped) text += ", the two units of every byte exchanged";
  return text + ": nothing is swizzled";
}

std::optional<PlainOrder> plain_order(Bytes canonical, std::span<const MatrixShape> matrices, Bytes packed) {
  const bool is_same = std::ranges::equal(canonical, packed);
  const bool is_constant = std::ranges::all_of(canonical, [&](std::uint8_t byte) { return byte == canonical.front(); });
  if (is_same || is_constant || packed.size() < canonical.size() || packed.size() < kLongestWord) return std::nullopt;
  for (const MatrixShape& matrix : matrices) {
    for (const int word : {1, 2, 4, 8, int{kLongestWord}}) {
      for (const bool swapped : {false, true}) {
        if (swapped && matrix.unit_bits != 4) continue;
        // Most are none by their first byte, before anything is copied.
        const std::uint8_t first = packed[static_cast<std::size_t>(word) - 1];
        if ((swapped ? static_cast<std::uint8_t>(first << 4U | first >> 4U) : first) != canonical.front()) continue;
        const std::vector<std::uint8_t> buffer = unreversed(packed, static_cast<std::size_t>(word), swapped);
        if (buffer.empty()) continue;
        const std::optional<Rows> at = rows_in(matrix, canonical, buffer);
        if (at)
          return PlainOrder{
              matrix, static_cast<std::int64_t>(at->rows), static_cast<std::int64_t>(at->stride), word, swapped, padding_of(*at, buffer)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace mx::verbs
