#include "model/families/humming/values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/families/humming/family.hpp"
#include "model/families/row_blocks.hpp"
#include "model/families/value_block.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"

namespace mx::families {
namespace humming {
namespace {

constexpr std::uint8_t kSign = 8;
constexpr std::int64_t kGroup = 32;

// Where a code's magnitude bits stand in the kernel's fp32 numbers.
constexpr int kCodeShift = 22;

// e2m1 magnitudes in halves: what the codes 0..7 stand for.
constexpr std::array<int, 8> kHalves{0, 1, 2, 3, 4, 6, 8, 12};

/// The tensors that belong together.
struct Matrix {
  layout::Role weight;
  layout::Role scale;
  layout::Role global;
};
constexpr std::array<Matrix, 2> kMatrices{{{layout::Role::w13_weight, layout::Role::w13_weight_scale, layout::Role::w13_global_scale},
                                           {layout::Role::w2_weight, layout::Role::w2_weight_scale, layout::Role::w2_global_scale}}};

layout::Units& of(layout::LayerUnits& units, layout::Role role) { return units[static_cast<std::size_t>(role)]; }

/// What one scale's power of two is called in a dtype: a number's sign, exponent and fraction bits.
struct FloatBits {
  int bias;
  int fraction;
  std::uint32_t infinity;
};
constexpr FloatBits kFp32Bits{127, 23, 0x7F800000U};
constexpr FloatBits kBf16Bits{127, 7, 0x7F80U};
constexpr FloatBits kFp16Bits{15, 10, 0x7C00U};

/// Bits of 2^exponent, to nearest even: subnormal, 0 or infinite where the dtype ends.
std::uint32_t power_of_two(int exponent, const FloatBits& to) {
  if (exponent > to.bias) return to.infinity;
  if (exponent > -to.bias) return static_cast<std::uint32_t>(exponent + to.bias) << to.fraction;
  const int bit = exponent + to.bias - 1 + to.fraction;
  return bit < 0 ? 0 : std::uint32_t{1} << bit;
}

/// Exponent of a power of two, subnormal or not. Throws Error(input) on any other number.
int exponent_of(std::uint32_t bits, const FloatBits& of) {
  const std::uint32_t exponent = bits >> of.fraction;
  const std::uint32_t fraction = bits & ((std::uint32_t{1} << of.fraction) - 1);
  if (exponent != 0 && bits < of.infinity && fraction == 0) return static_cast<int>(exponent) - of.bias;
  if (exponent == 0 && std::has_single_bit(fraction)) return std::countr_zero(fraction) - of.bias + 1 - of.fraction;
  throw Error(ErrorCode::input, "global scale with bits " + f32::text(bits) + " is not a power of two", "HUMMING");
}

std::int64_t up_to(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

/// Whether each row has its own largest scale.
bool by_rows(const Setting& setting) { return setting.input_dtype == InputDtype::int8 && is_0_1_12(setting); }
/// What the stored scale of the lowest byte is.
int lowest_stored(const Setting& setting) { return splits_signs(setting) ? 1 : 0; }
/// What the exponent of the global scale is beside the lowest byte.
int global_offset(const Setting& setting) { return 127 + (is_0_1_12(setting) || setting.input_dtype == InputDtype::int8 ? 1 : 0); }

const FloatBits& global_bits(const Setting& setting) {
  if (!by_rows(setting)) return kFp32Bits;
  return setting.params_dtype == ParamsDtype::bf16 ? kBf16Bits : kFp16Bits;
}

/// One tensor pair in the order of its loaded buffer.
struct Buffers {
  layout::Layout weight;
  layout::Layout scale;
  std::int64_t experts;
  std::int64_t rows;
  std::int64_t groups;
  std::int64_t padded_rows;
  std::int64_t padded_groups;
};
Buffers buffers_of(const Matrix& matrix, const Setting& setting) {
  const auto of_role = [&](layout::Role role) { return layout::loaded(role, setting.sizes, setting.padded, setting.form); };
  const layout::Layout merged = loaded_rows(matrix.scale, setting, 8);
  const std::int64_t rows = merged.view()[1].extent;
  const std::int64_t groups = merged.view()[2].extent;
  return {of_role(matrix.weight),
          of_role(matrix.scale),
          setting.sizes.experts,
          rows,
          groups,
          up_to(rows, kPaddedRows),
          up_to(groups, kPaddedColumns / setting.padded.group)};
}

/// The scales of the padded matrix: a byte 127 behind the rows and, up to release 0.1.0, behind the groups, where later the row's largest stands.
std::vector<std::uint8_t> padded_scales(const Buffers& b, std::span<const std::uint8_t> scales, bool repeats_largest) {
  constexpr std::uint8_t kScaleOfOne = 127;
  std::vector<std::uint8_t> padded(static_cast<std::size_t>(b.experts * b.padded_rows * b.padded_groups), kScaleOfOne);
  for (std::int64_t row = 0; row < b.experts * b.rows; ++row) {
    const auto from = scales.begin() + row * b.groups;
    const auto to = padded.begin() + (row / b.rows * b.padded_rows + row % b.rows) * b.padded_groups;
    if (repeats_largest) std::fill_n(to, b.padded_groups, *std::max_element(from, from + b.groups));
    std::copy(from, from + b.groups, to);
  }
  return padded;
}

struct Changed {
  std::int64_t vanished = 0;  ///< codes of numbers that become zero
  std::int64_t appeared = 0;  ///< zeros that become numbers
  std::int64_t codes = 0;     ///< others that change
  std::int64_t scales = 0;
};

/// Re-quantizes the codes of one group.
void requantize_group(std::span<std::uint8_t> weight, std::int64_t group, int delta) {
  for (std::int64_t element = group * kGroup; element < (group + 1) * kGroup; ++element) {
    layout::set_grain(weight, element, 4, requantized(static_cast<std::uint8_t>(layout::get_grain(weight, element, 4)), delta));
  }
}

void count_code(unsigned before, unsigned after, Changed& changed) {
  constexpr unsigned kMagnitude = 7;
  if (before == after) return;
  const bool was_zero = (before & kMagnitude) == 0;
  const bool is_zero = (after & kMagnitude) == 0;
  ++(was_zero == is_zero ? changed.codes : is_zero ? changed.vanished : changed.appeared);
}

void count_codes(std::span<const std::uint8_t> before, std::span<const std::uint8_t> after, Changed& changed) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    count_code(before[i] & 0xFU, after[i] & 0xFU, changed);
    count_code(before[i] >> 4U, after[i] >> 4U, changed);
  }
}

void add_loss(std::vector<layout::Loss>& losses, layout::Role role, std::string what, std::int64_t units) {
  if (units > 0) losses.push_back({role, std::move(what), units});
}

void fuse(layout::LayerUnits& units, const Matrix& matrix, const Setting& setting, Changed& changed) {
  const Buffers b = buffers_of(matrix, setting);
  std::vector<std::uint8_t> weight = layout::from_row_major(b.weight, of(units, matrix.weight).bytes, 0);
  std::vector<std::uint8_t> scales = padded_scales(b, layout::from_row_major(b.scale, of(units, matrix.scale).bytes, 0), is_0_1_12(setting));
  std::vector<std::uint8_t> raised(static_cast<std::size_t>(b.experts * b.rows * b.groups));
  const std::int64_t scope_rows = by_rows(setting) ? 1 : b.padded_rows;
  layout::Units global{by_rows(setting) ? 16 : 32, {}};
  global.bytes.resize(static_cast<std::size_t>(b.experts * b.padded_rows / scope_rows * global.bits / 8));
  for (std::int64_t scope = 0; scope < b.experts * b.padded_rows / scope_rows; ++scope) {
    const auto of_scope = std::span(scales).subspan(static_cast<std::size_t>(scope * scope_rows * b.padded_groups),
                                                    static_cast<std::size_t>(scope_rows * b.padded_groups));
    const auto [least, largest] = std::ranges::minmax(of_scope);
    const int lowest = largest - std::min(largest - least, scale_range(setting));
    for (std::int64_t row = scope * scope_rows; row < (scope + 1) * scope_rows; ++row) {
      const std::int64_t in_expert = row % b.padded_rows;
      for (std::int64_t g = 0; g < b.padded_groups; ++g) {
        std::uint8_t& scale = scales[static_cast<std::size_t>(row * b.padded_groups + g)];
        const int delta = std::max(int{scale}, lowest) - scale;
        if (in_expert < b.rows && g < b.groups) {
          const std::int64_t group = (row / b.padded_rows * b.rows + in_expert) * b.groups + g;
          requantize_group(weight, group, delta);
          raised[static_cast<std::size_t>(group)] = delta == 0 ? 0 : 1;
        }
        scale = static_cast<std::uint8_t>(scale + delta - lowest + lowest_stored(setting));
      }
    }
    const bool of_padding = by_rows(setting) && scope % b.padded_rows >= b.rows;
    layout::set_grain(global.bytes, scope, global.bits, of_padding ? 0 : power_of_two(lowest - global_offset(setting), global_bits(setting)));
  }
  // What the engine rounded sizes up by is no part of the checkpoint.
  changed.scales = std::ranges::count(layout::to_row_major(b.scale, raised), 1);
  std::vector<std::uint8_t> codes = layout::to_row_major(b.weight, weight);
  count_codes(of(units, matrix.weight).bytes, codes, changed);
  of(units, matrix.weight).bytes = std::move(codes);
  of(units, matrix.scale).bytes = std::move(scales);
  of(units, matrix.global) = std::move(global);
}

}  // namespace

bool is_a_8bit(const Setting& setting) { return setting.input_dtype != InputDtype::none; }
bool is_0_1_12(const Setting& setting) { return humming_of(setting) >= Humming::v0_1_12; }
bool is_mxmma(const Setting& setting) {
  return is_0_1_12(setting) && setting.arch == Arch::sm120 && setting.input_dtype == InputDtype::float8_e4m3fn;
}
bool fuses(const Setting& setting) { return is_a_8bit(setting) && !is_mxmma(setting); }
bool splits_signs(const Setting& setting) { return is_0_1_12(setting) && fuses(setting) && setting.input_dtype == InputDtype::float8_e4m3fn; }

std::uint8_t spoilt(std::uint8_t code, int delta) {
  const std::uint8_t sign = code == kSign ? 0 : code & kSign;
  const std::uint8_t magnitude = code & 7U;
  if (delta == kFirstSpoilt) return magnitude == 0 ? 7 : static_cast<std::uint8_t>((sign ^ kSign) | 6);
  // The code's bits are those of a small fp32 number, which the kernel multiplies by what it takes for 2^-delta: -2^(256 - delta).
  const std::uint32_t small = std::uint32_t{magnitude} << kCodeShift;
  const std::uint32_t made = f32::mul(small, static_cast<std::uint32_t>(256 - delta + 127) << 23);
  return static_cast<std::uint8_t>((sign ^ kSign) | (made >> kCodeShift & 7U));
}

std::uint8_t requantized(std::uint8_t code, int delta) {
  if (delta >= kFirstSpoilt) return spoilt(code, delta);
  if (code == kSign) return 0;
  if (delta == 0) return code;
  // In units of half of 2^delta: the nearest of kHalves[c] << delta, of two at the same distance the larger.
  const int magnitude = kHalves[code & 7U];
  std::uint8_t nearest = 0;
  constexpr int kVanishes = 5;  // 12 / 2^5 is below half of the smallest magnitude
  for (std::uint8_t c = 1; c < 8 && delta < kVanishes; ++c) {
    const auto distance = [&](std::uint8_t to) { return std::max(magnitude - (kHalves[to] << delta), (kHalves[to] << delta) - magnitude); };
    if (distance(c) <= distance(nearest)) nearest = c;
  }
  return static_cast<std::uint8_t>((code & kSign) | nearest);
}

int scale_range(const Setting& setting) {
  if (setting.input_dtype == InputDtype::int8) return 3;
  return is_0_1_12(setting) ? 11 : 12;
}

layout::Layout fused_scales(layout::Role role, const Setting& setting) {
  const Buffers b = buffers_of(layout::is_w13(role) ? kMatrices[0] : kMatrices[1], setting);
  return layout::Layout({{"E", b.experts}, {"rows", b.padded_rows}, {"G", b.padded_groups}}, 8);
}

layout::Layout global_scales(layout::Role role, const Setting& setting) {
  const Buffers b = buffers_of(role == layout::Role::w13_global_scale ? kMatrices[0] : kMatrices[1], setting);
  if (by_rows(setting)) return layout::Layout({{"E", b.experts}, {"rows", b.padded_rows}}, 16);
  return layout::Layout({{"E", b.experts}}, 32);
}

void fused_values(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses) {
  if (!fuses(setting)) return;
  for (const Matrix& matrix : kMatrices) {
    Changed changed;
    fuse(units, matrix, setting, changed);
    const std::string below =
        "2^" + std::to_string(scale_range(setting)) + " below " + (by_rows(setting) ? "the row's" : "the expert's") + " largest, padding included";
    add_loss(losses, matrix.weight, "codes made anew for a larger scale, and -0 made +0", changed.codes);
    add_loss(losses, matrix.weight, "weights become zero under a larger scale", changed.vanished);
    add_loss(losses, matrix.weight, "zeros become numbers under a scale 2^128 and more larger", changed.appeared);
    add_loss(losses, matrix.scale, "scales more than " + below + ", are raised", changed.scales);
  }
}

void fused_values_back(layout::LayerUnits& units, const Setting& setting) {
  if (!fuses(setting)) return;
  for (const Matrix& matrix : kMatrices) {
    const Buffers b = buffers_of(matrix, setting);
    layout::Units& scale = of(units, matrix.scale);
    layout::Units& global = of(units, matrix.global);
    if (static_cast<std::int64_t>(scale.bytes.size()) != b.experts * b.padded_rows * b.padded_groups)
      throw Error(ErrorCode::usage, "the layout is not one of these sizes", std::string(layout::name_of(matrix.scale)));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(b.experts * b.rows * b.groups));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes.size()); ++i) {
      const std::int64_t row = i / b.groups / b.rows * b.padded_rows + i / b.groups % b.rows;
      const std::int64_t scope = by_rows(setting) ? row : row / b.padded_rows;
      const int stored = scale.bytes[static_cast<std::size_t>(row * b.padded_groups + i % b.groups)];
      const int exponent = exponent_of(static_cast<std::uint32_t>(layout::get_grain(global.bytes, scope, global.bits)), global_bits(setting));
      const int byte = stored - lowest_stored(setting) + exponent + global_offset(setting);
      if (byte < 0 || byte > 255) {
        throw Error(ErrorCode::input, "scale " + std::to_string(stored) + " times 2^" + std::to_string(exponent) + " is none of e8m0", "HUMMING");
      }
      bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(byte);
    }
    scale.bytes = layout::to_row_major(b.scale, bytes);
    global = {};
  }
}

void scales_to_bf16(layout::LayerUnits& units, const Setting&, std::vector<layout::Loss>& losses) {
  static const Conversion& how = conversion(profile_named("torch-cuda"), kF32, kBf16);
  for (const Matrix& matrix : kMatrices) {
    layout::Units& scale = of(units, matrix.scale);
    layout::Units rounded{16, std::vector<std::uint8_t>(scale.bytes.size() / 2)};
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(scale.bytes.size()) / 4; ++i) {
      const auto f32 = static_cast<std::uint32_t>(layout::get_grain(scale.bytes, i, 32));
      const auto bf16 = static_cast<std::uint32_t>(convert(f32, kF32, kBf16, how));
      changed += bf16 << 16U == f32 ? 0 : 1;
      layout::set_grain(rounded.bytes, i, 16, bf16);
    }
    if (changed > 0) losses.push_back({matrix.scale, "fp32 scales are rounded to bf16", changed});
    scale = std::move(rounded);
  }
}

void scales_from_bf16(layout::LayerUnits& units, const Setting&) {
  for (const Matrix& matrix : kMatrices) {
    layout::Units& scale = of(units, matrix.scale);
    layout::Units wide{32, std::vector<std::uint8_t>(scale.bytes.size() * 2)};
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(scale.bytes.size()) / 2; ++i)
      layout::set_grain(wide.bytes, i, 32, layout::get_grain(scale.bytes, i, 16) << 16U);
    scale = std::move(wide);
  }
}

}  // namespace humming

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "humming.mxfp4_w4a8"); }

BlockTensors requantize(const BlockTensors& inputs, const BlockParams&) {
  constexpr std::size_t kBytesPerGroup = 16;
  BlockTensor weight = inputs.find("w")->second;
  const BlockTensor& delta = inputs.find("delta")->second;
  if (delta.bits != 8 || weight.bytes.size() != kBytesPerGroup * delta.bytes.size()) {
    refuse("w has " + std::to_string(weight.bytes.size()) + " bytes and delta " + std::to_string(delta.bytes.size()) + ": one byte for each 16 of w");
  }
  for (std::size_t i = 0; i < 2 * weight.bytes.size(); ++i) {
    const int shift = delta.bytes[i / (2 * kBytesPerGroup)];
    if (shift > humming::kLargestDelta) refuse("delta = " + std::to_string(shift) + ": at most 127 is a power of two of the kernel");
    const auto element = static_cast<std::int64_t>(i);
    layout::set_grain(weight.bytes, element, 4, humming::requantized(static_cast<std::uint8_t>(layout::get_grain(weight.bytes, element, 4)), shift));
  }
  return {{"w", std::move(weight)}};
}

constexpr std::array<std::string_view, 2> kInputs{"w", "delta"};
constexpr std::array<std::string_view, 1> kOutputs{"w"};
constexpr std::array<std::string_view, 1> kVersions{"humming-2026-05"};

constexpr std::array<ValueBlock, 1> kBuildingBlocks{{
    {"humming.mxfp4_w4a8",
     "e2m1 codes in groups of 32, each divided by its group's 2^delta",
     "w <- round(w / 2^delta[group]), nearest, ties away from zero; -0 is read as +0",
     kInputs,
     kOutputs,
     kVersions,
     {},
     requantize,
     {"mgoin/humming", "humming/include/humming/kernel/process_mxfp4.cuh", "process_mxfp4_w4a8", "a6455de3edd09d8ee0f1fb657475606fd2f02532"}},
}};

}  // namespace

constinit const std::span<const ValueBlock> kHummingValueBlocks{kBuildingBlocks};

}  // namespace mx::families
