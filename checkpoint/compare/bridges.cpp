#include "checkpoint/compare/bridges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "checkpoint/compare/matrix_pair.hpp"
#include "model/fault.hpp"

namespace mx::checkpoint {
namespace {

/// Numbers that are held at a time.
constexpr std::int64_t kHeld = std::int64_t{1} << 16;

bool has_blocks(const ScaledCodes& codes) { return codes.scales.size() > 1; }
bool is_cut_unevenly(const ScaledCodes& codes) {
  const bool even = codes.rows % codes.block_rows == 0 && codes.columns % codes.block_columns == 0;
  return has_blocks(codes) && !even && codes.rows % codes.down() == 0 && codes.columns % codes.across() == 0;
}
bool is_square(const ScaledCodes& codes) { return has_blocks(codes) && codes.down() == codes.across(); }
bool has_many_across(const ScaledCodes& codes) { return codes.across() > 1; }
bool has_many_down(const ScaledCodes& codes) { return codes.down() > 1; }
bool always(const ScaledCodes&) { return true; }
bool has_number(const ScaledCodes& codes) { return codes.number != 1 && has_blocks(codes); }

double own(const ScaledCodes& codes, std::int64_t row, std::int64_t column) {
  return codes.scale(row / codes.block_rows, column / codes.block_columns);
}

constexpr std::array kBridges{
    KnownBridge{"even-cut", "blocks cut at rows / ceil(rows / 128) and columns / ceil(columns / 128) instead of 128",
                "transformers 5.24 without a GPU (finegrained_fp8.py _dequantize_one)", is_cut_unevenly,
                [](const ScaledCodes& codes, std::int64_t row, std::int64_t column) {
                  return codes.scale(row / (codes.rows / codes.down()), column / (codes.columns / codes.across())) * codes.number;
                }},
    KnownBridge{"axes-exchanged", "scales of other blocks: rows and columns of the scales are exchanged", "", is_square,
                [](const ScaledCodes& codes, std::int64_t row, std::int64_t column) {
                  return codes.scale(column / codes.block_columns, row / codes.block_rows) * codes.number;
                }},
    KnownBridge{"next-across", "scales of other blocks: those of the next columns", "", has_many_across,
                [](const ScaledCodes& codes, std::int64_t row, std::int64_t column) {
                  return codes.scale(row / codes.block_rows, (column / codes.block_columns + 1) % codes.across()) * codes.number;
                }},
    KnownBridge{"next-down", "scales of other blocks: those of the next rows", "", has_many_down,
                [](const ScaledCodes& codes, std::int64_t row, std::int64_t column) {
                  return codes.scale((row / codes.block_rows + 1) % codes.down(), column / codes.block_columns) * codes.number;
                }},
    KnownBridge{"first-for-all", "the scale of the first block counts for all", "", has_blocks,
                [](const ScaledCodes& codes, std::int64_t, std::int64_t) { return codes.scale(0, 0) * codes.number; }},
    KnownBridge{"no-scale", "the codes without their scales", "", always, [](const ScaledCodes&, std::int64_t, std::int64_t) { return 1.0; }},
    KnownBridge{"reciprocal", "divided by each scale instead of multiplied", "", always,
                [](const ScaledCodes& codes, std::int64_t row, std::int64_t column) { return 1 / (own(codes, row, column) * codes.number); }},
    KnownBridge{"reciprocal-number", "the global scale's reciprocal in its place", "", has_number,
                [](const ScaledCodes& codes, std::int64_t row, std::int64_t column) { return own(codes, row, column) / codes.number; }},
};

/// Factors of all scales. Whoever adds a row names the tool with its version.
struct KnownRatio {
  double ratio;
  std::string_view text;
};
constexpr std::array kRatios{
    KnownRatio{448.0 * 448.0 / (127.0 * 127.0), "(448 / 127)^2, an int8 scale times 448 / 127: nvidia-modelopt 0.47.0 onnx (fp8.py)"},
    KnownRatio{448.0 / 127.0, "448 / 127: an int8 scale taken for one of FP8"}};

bool is_near(double ratio, double known) { return std::abs(ratio - known) <= 1e-6 * known; }

bool is_it(const KnownBridge& bridge, const ScaledCodes& codes, const PlainCopy& copy, const std::function<void()>& check) {
  const std::int64_t step = std::max<std::int64_t>(kHeld / codes.columns, 1);
  std::vector<double> ours, theirs;
  for (std::int64_t first = 0; first < codes.rows; first += step) {
    check();
    ours.resize(static_cast<std::size_t>(std::min(step, codes.rows - first) * codes.columns));
    theirs.resize(ours.size());
    codes.read_codes(first, ours);
    copy.read(first, theirs);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const std::int64_t at = first * codes.columns + static_cast<std::int64_t>(i);
      if (at >= codes.columns && fault::planted(fault::Fault::bridges_of_first_rows)) return true;
      if (!is_rounding_of(ours[i] * bridge.scale(codes, at / codes.columns, at % codes.columns), theirs[i], copy.bits)) return false;
    }
  }
  return true;
}

}  // namespace

std::span<const KnownBridge> known_bridges() { return kBridges; }

std::string known_ratio(double ratio) {
  for (const KnownRatio& row : kRatios) {
    if (is_near(ratio, row.ratio)) return std::string(row.text);
    if (is_near(1 / ratio, row.ratio)) return fmt::format("the reciprocal of {}", row.text);
  }
  return {};
}

std::string bridge_between(const ScaledCodes& codes, const PlainCopy& copy, const std::function<void()>& check) {
  for (const KnownBridge& bridge : kBridges) {
    if (!bridge.may(codes) || !is_it(bridge, codes, copy, check)) continue;
    return fmt::format("{}{}{}{}", bridge.text,
                       copy.bits == 8    ? ", rounded to bf16"
                       : copy.bits == 11 ? ", rounded to fp16"
                                         : "",
                       bridge.tool.empty() ? "" : ": ", bridge.tool);
  }
  return {};
}

}  // namespace mx::checkpoint
