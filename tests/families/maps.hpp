#pragma once
// Address maps for tests: what a layout holds, as numbers that plain loops over a converter's formula give too.

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::test {

using Map = std::vector<std::int64_t>;

inline constexpr std::int64_t kZero = layout::Layout::kPadZero;
inline constexpr std::int64_t kUnwritten = layout::Layout::kPadUnwritten;
inline constexpr std::int64_t kNeutral = layout::Layout::kPadNeutral;

/// For every packed address the address in the checkpoint's own memory, or the kind of padding.
inline Map checkpoint_addresses(const layout::BackendLayout& row, layout::Role role, const layout::Setting& setting) {
  Map packed = row.build(role, setting).layout.gather();
  const Map source = layout::canonical(role, setting.sizes, setting.form).gather();
  Map address_of(source.size());
  for (std::size_t address = 0; address < source.size(); ++address) {
    address_of[static_cast<std::size_t>(source[address])] = static_cast<std::int64_t>(address);
  }
  for (std::int64_t& entry : packed) entry = entry < 0 ? entry : address_of[static_cast<std::size_t>(entry)];
  return packed;
}

/// An MXFP4 backend's layout of a tensor whose sizes nothing rounds up.
inline layout::Layout built(std::string_view backend, layout::Role role, const layout::Sizes& sizes,
                            layout::SourceOrder order = layout::SourceOrder::gpt_oss) {
  return layout::find_backend_layout(backend)->build(role, {.sizes = sizes, .padded = sizes, .form = order}).layout;
}

inline std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// dst row r of the epilogue shuffles.
inline std::int64_t shuffled_128(std::int64_t r) { return 32 * (r / 32) + 4 * (r % 8) + (r % 32) / 8; }
inline std::int64_t shuffled_64(std::int64_t r) { return 16 * (r / 16) + 2 * (r % 8) + (r % 16) / 8; }

/// Row r of a matrix whose top and bottom halves alternate.
inline std::int64_t alternating(std::int64_t r, std::int64_t rows) { return r / 2 + r % 2 * (rows / 2); }

/// The 128x4 tile: address in it of row r and column c of a matrix [rows, columns], and its bytes.
inline std::int64_t sf128x4(std::int64_t r, std::int64_t c, std::int64_t columns) {
  return (r / 128 * (rounded_up(columns, 4) / 4) + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
}
inline std::int64_t sf128x4_bytes(std::int64_t rows, std::int64_t columns) { return rounded_up(rows, 128) * rounded_up(columns, 4); }

}  // namespace mx::test
