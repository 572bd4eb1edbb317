#include "model/families/deepgemm/values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/group_recipe.hpp"

namespace mx::families::deepgemm {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::int64_t kBlock = 128;
constexpr int kMantissaBits = 23;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kTenToMinus4 = 0x38D1B717U;

/// s' = 2^ceil(log2(max(amax, 1e-4) / 448)), the logarithm rounded to fp32; codes from w * RN(1 / s').
constexpr GroupRecipe kRecipe{GroupRule::group_pow2_log2,
                              true,
                              AmaxNan::propagates,
                              kTenToMinus4,
                              {.operation = ElementOperation::multiply,
                               .nan_sign = NanSign::element_first,
                               .zero_sign = ZeroSign::kept,
                               .flush_subnormals = false,
                               .half_is_added = false,
                               .unit_by_log2 = false,
                               .in_source_type = false,
                               .encode = {Rounding::nearest_even, Overflow::nan, NanRule::fixed, 0x7F, 0xFF, 0, false}},
                              kAnySource,
                              0,
                              false};

struct Pair {
  layout::Role weight;
  layout::Role scale;
};
constexpr std::array<Pair, 2> kPairs{
    {{layout::Role::w13_weight, layout::Role::w13_weight_scale}, {layout::Role::w2_weight, layout::Role::w2_weight_scale}}};

layout::Units& of(layout::LayerUnits& units, layout::Role role) { return units[static_cast<std::size_t>(role)]; }

/// A block's new scale, and what becomes of each of the 256 codes.
struct Requantized {
  std::uint32_t scale;
  std::array<std::uint8_t, 256> code;
};

/// Of the codes that a block holds and its scale; codes that it does not hold are left as they are.
Requantized requantized(const std::array<bool, 256>& held, std::uint32_t scale) {
  Requantized made{};
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t code = 0; code < 256; ++code) {
    if (held[code]) numbers.push_back(f32::mul(to_f32(code, kE4m3fn), scale));
  }
  made.scale = group_scale(largest_magnitude(numbers, kRecipe.amax_nan), kE4m3fn, kRecipe);
  const std::uint32_t inverse = f32::div(f32::kOne, made.scale);
  for (std::uint32_t code = 0; code < 256; ++code) {
    if (held[code])
      made.code[code] = static_cast<std::uint8_t>(encode_element(f32::mul(to_f32(code, kE4m3fn), scale), inverse, kE4m3fn, kRecipe.step));
  }
  return made;
}

}  // namespace

std::uint32_t requantize_block(std::span<std::uint8_t> codes, std::uint32_t scale) {
  std::array<bool, 256> held{};
  for (const std::uint8_t code : codes) held[code] = true;
  const Requantized made = requantized(held, scale);
  for (std::uint8_t& code : codes) code = made.code[code];
  return made.scale;
}

namespace {

/// Rows and columns of a tensor, all experts and shards one below the other, and how many rows a shard has.
struct Matrix {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t shard_rows;
};
Matrix matrix_of(layout::Role role, const Setting& setting) {
  const std::vector<layout::Axis> axes = layout::logical_axes(role, setting.sizes, setting.form);
  Matrix matrix{1, axes.back().extent, axes[axes.size() - 2].extent};
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) matrix.rows *= axes[i].extent;
  return matrix;
}

/// Calls `visit(first row, rows, first column, columns)` for the blocks of a matrix, in the order of their scales.
template <class Visit>
void for_each_block(const Matrix& matrix, Visit visit) {
  for (std::int64_t shard = 0; shard < matrix.rows; shard += matrix.shard_rows) {
    for (std::int64_t r = 0; r < matrix.shard_rows; r += kBlock) {
      for (std::int64_t c = 0; c < matrix.cols; c += kBlock)
        visit(shard + r, std::min(kBlock, matrix.shard_rows - r), c, std::min(kBlock, matrix.cols - c));
    }
  }
}

void requantize_pair(layout::LayerUnits& units, const Pair& pair, const Setting& setting, std::vector<layout::Loss>& losses) {
  std::vector<std::uint8_t>& codes = of(units, pair.weight).bytes;
  std::vector<std::uint8_t>& scales = of(units, pair.scale).bytes;
  const Matrix matrix = matrix_of(pair.weight, setting);
  std::int64_t block = 0;
  std::int64_t changed_codes = 0;
  std::int64_t changed_scales = 0;
  for_each_block(matrix, [&](std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
    const auto line = [&](std::int64_t r) { return codes.begin() + (row + r) * matrix.cols + col; };
    std::array<bool, 256> held{};
    for (std::int64_t r = 0; r < rows; ++r) {
      for (auto code = line(r); code != line(r) + cols; ++code) held[*code] = true;
    }
    const auto scale = static_cast<std::uint32_t>(layout::get_grain(scales, block, 32));
    const Requantized made = requantized(held, scale);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (auto code = line(r); code != line(r) + cols; ++code) {
        changed_codes += made.code[*code] == *code ? 0 : 1;
        *code = made.code[*code];
      }
    }
    changed_scales += made.scale == scale ? 0 : 1;
    layout::set_grain(scales, block++, 32, made.scale);
  });
  if (changed_codes > 0) losses.push_back({pair.weight, "codes quantized anew for a scale that is a power of two", changed_codes});
  if (changed_scales > 0) losses.push_back({pair.scale, "scales of blocks become powers of two", changed_scales});
}

/// fp32 powers of two as e8m0 bytes.
layout::Units exponents_of(const layout::Units& scales, layout::Role role) {
  layout::Units exponents{8, std::vector<std::uint8_t>(scales.bytes.size() / 4)};
  for (std::size_t i = 0; i < exponents.bytes.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(layout::get_grain(scales.bytes, static_cast<std::int64_t>(i), 32));
    if (bits >= kInfinity && !planted(Fault::ue8m0_cuts_mantissa)) {
      throw Error(ErrorCode::unsupported,
                  "block " + std::to_string(i) + " has a NaN or an infinity: its scale is " + f32::text(bits) + ", no power of two",
                  std::string(layout::name_of(role)));
    }
    exponents.bytes[i] = static_cast<std::uint8_t>(bits >> kMantissaBits);
  }
  return exponents;
}

}  // namespace

bool packs(const Setting& setting) { return setting.arch == Arch::sm100 && setting.of<families::DeepgemmParameters>().e8m0; }

void requantize(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses) {
  if (!setting.of<families::DeepgemmParameters>().e8m0) return;
  for (const Pair& pair : kPairs) {
    if (!planted(Fault::ue8m0_cuts_mantissa)) requantize_pair(units, pair, setting, losses);
    if (packs(setting)) of(units, pair.scale) = exponents_of(of(units, pair.scale), pair.scale);
  }
}

void exponents_back(layout::LayerUnits& units, const Setting& setting) {
  if (!packs(setting)) return;
  for (const Pair& pair : kPairs) {
    const layout::Units exponents = std::move(of(units, pair.scale));
    layout::Units scales{32, std::vector<std::uint8_t>(exponents.bytes.size() * 4)};
    for (std::size_t i = 0; i < exponents.bytes.size(); ++i)
      layout::set_grain(scales.bytes, static_cast<std::int64_t>(i), 32, std::uint64_t{exponents.bytes[i]} << kMantissaBits);
    of(units, pair.scale) = std::move(scales);
  }
}

}  // namespace mx::families::deepgemm
