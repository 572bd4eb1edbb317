#include "checkpoint/code_kind.hpp"

#include <algorithm>
#include <array>

#include "checkpoint/compare/matrix_values.hpp"

namespace mx::checkpoint {
namespace {

/// In the order of the enumerators.
constexpr std::array kRows{CodeKindRow{CodeKind::e2m1, 4, 0x77, &kE2m1},  CodeKindRow{CodeKind::e2m3, 6, 0xFF, &kE2m3},
                           CodeKindRow{CodeKind::e3m2, 6, 0xFF, &kE3m2},  CodeKindRow{CodeKind::e4m3, 8, 0x7F, &kE4m3fn},
                           CodeKindRow{CodeKind::int4, 4, 0xFF, nullptr}, CodeKindRow{CodeKind::int8, 8, 0xFF, nullptr},
                           CodeKindRow{CodeKind::plain, 0, 0xFF, nullptr}};

}  // namespace

const CodeKindRow& row_of(CodeKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

CodeKind code_kind_of(const SourceForm& form, const FoundTensor& weight) {
  const std::string_view dtype = weight.at->view->dtype->name;
  if (is_plain(dtype)) return CodeKind::plain;
  if (dtype == "F8_E4M3") return CodeKind::e4m3;
  const std::span<const Extent> extents = weight.row->shapes.front().extents;
  const auto has = [&](Extent extent) { return std::ranges::find(extents, extent) != extents.end(); };
  if (has(Extent::six_bit_columns)) return form.six_bits == SixBits::e3m2 ? CodeKind::e3m2 : CodeKind::e2m3;
  if (has(Extent::word_columns)) return CodeKind::int4;
  return has(Extent::columns) ? CodeKind::int8 : CodeKind::e2m1;
}

void unpack_six(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> codes) {
  for (std::size_t group = 0; group < bytes.size() / 3; ++group) {
    const std::uint32_t word = bytes[3 * group] | std::uint32_t{bytes[3 * group + 1]} << 8U | std::uint32_t{bytes[3 * group + 2]} << 16U;
    for (std::size_t i = 0; i < 4; ++i) codes[4 * group + i] = static_cast<std::uint8_t>(word >> 6 * i & 63U);
  }
}

}  // namespace mx::checkpoint
