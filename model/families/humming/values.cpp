#include "model/families/humming/values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "model/error.hpp"
#include "model/families/value_stage.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::layout {
namespace humming {
namespace {

constexpr std::uint8_t kSign = 8;
constexpr std::int64_t kGroup = 32;

// e2m1 magnitudes in halves: what the codes 0..7 stand for.
constexpr std::array<int, 8> kHalves{0, 1, 2, 3, 4, 6, 8, 12};

/// The tensors that belong together.
struct Matrix {
  Role weight;
  Role scale;
  Role global;
};
constexpr std::array<Matrix, 2> kMatrices{
    {{Role::w13_weight, Role::w13_weight_scale, Role::w13_global_scale}, {Role::w2_weight, Role::w2_weight_scale, Role::w2_global_scale}}};

Units& of(LayerUnits& units, Role role) { return units[static_cast<std::size_t>(role)]; }

/// fp32 bits of 2^exponent; below 2^-126 a subnormal.
std::uint32_t power_of_two(int exponent) {
  return exponent < -126 ? std::uint32_t{1} << (149 + exponent) : static_cast<std::uint32_t>(exponent + 127) << 23U;
}

/// Exponent of an fp32 power of two, subnormal or not. Throws Error(input) on any other number.
int exponent_of(std::uint32_t f32) {
  const std::uint32_t exponent = f32 >> 23U;
  const std::uint32_t mantissa = f32 & 0x7FFFFFU;
  if (exponent != 0 && exponent < 255 && mantissa == 0) return static_cast<int>(exponent) - 127;
  if (exponent == 0 && std::has_single_bit(mantissa)) return std::countr_zero(mantissa) - 149;
  throw Error(ErrorCode::input, "global scale " + f32::text(f32) + " is not a power of two", "HUMMING");
}

/// What the exponent of the global scale is beside that of an expert's lowest scale byte.
int global_exponent(int lowest, InputDtype activations) { return lowest - 127 - (activations == InputDtype::int8 ? 1 : 0); }

struct Changed {
  std::int64_t codes = 0;
  std::int64_t scales = 0;
};

/// One expert: re-quantizes its codes, lowers its scales and returns the byte that they now count from.
int fuse(std::span<std::uint8_t> weight, std::span<std::uint8_t> scales, InputDtype activations, Changed& changed) {
  const auto [least, largest] = std::ranges::minmax(scales);
  const int lowest = largest - std::min(largest - least, scale_range(activations));
  for (std::size_t g = 0; g < scales.size(); ++g) {
    const int delta = std::max(int{scales[g]}, lowest) - scales[g];
    for (std::int64_t k = 0; k < kGroup; ++k) {
      const std::int64_t element = static_cast<std::int64_t>(g) * kGroup + k;
      const auto code = static_cast<std::uint8_t>(get_grain(weight, element, 4));
      const std::uint8_t made = requantized(code, delta);
      changed.codes += made == code ? 0 : 1;
      set_grain(weight, element, 4, made);
    }
    changed.scales += delta == 0 ? 0 : 1;
    scales[g] = static_cast<std::uint8_t>(scales[g] + delta - lowest);
  }
  return lowest;
}

}  // namespace

std::uint8_t requantized(std::uint8_t code, int delta) {
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

int scale_range(InputDtype activations) { return activations == InputDtype::int8 ? 3 : 12; }

void fused_values(LayerUnits& units, const Setting& setting, std::vector<Loss>& losses) {
  if (setting.input_dtype == InputDtype::none) return;
  for (const Matrix& matrix : kMatrices) {
    Units& weight = of(units, matrix.weight);
    Units& scale = of(units, matrix.scale);
    const auto experts = static_cast<std::size_t>(setting.sizes.experts);
    const std::size_t codes = weight.bytes.size() / experts;
    const std::size_t scales = scale.bytes.size() / experts;
    Units& global = of(units, matrix.global);
    global = {32, std::vector<std::uint8_t>(4 * experts)};
    Changed changed;
    for (std::size_t e = 0; e < experts; ++e) {
      const int lowest =
          fuse(std::span(weight.bytes).subspan(e * codes, codes), std::span(scale.bytes).subspan(e * scales, scales), setting.input_dtype, changed);
      set_grain(global.bytes, static_cast<std::int64_t>(e), 32, power_of_two(global_exponent(lowest, setting.input_dtype)));
    }
    if (changed.codes > 0) losses.push_back({matrix.weight, "codes made anew for a larger scale, and -0 made +0", changed.codes});
    if (changed.scales > 0) {
      const std::string range = std::to_string(scale_range(setting.input_dtype));
      losses.push_back({matrix.scale, "scales more than 2^" + range + " below the expert's largest are raised", changed.scales});
    }
  }
}

void fused_values_back(LayerUnits& units, const Setting& setting) {
  if (setting.input_dtype == InputDtype::none) return;
  for (const Matrix& matrix : kMatrices) {
    Units& scale = of(units, matrix.scale);
    Units& global = of(units, matrix.global);
    const std::size_t scales = scale.bytes.size() / static_cast<std::size_t>(setting.sizes.experts);
    for (std::size_t i = 0; i < scale.bytes.size(); ++i) {
      const auto expert = static_cast<std::int64_t>(i / scales);
      const int exponent = exponent_of(static_cast<std::uint32_t>(get_grain(global.bytes, expert, 32)));
      const int byte = scale.bytes[i] + exponent - global_exponent(0, setting.input_dtype);
      if (byte < 0 || byte > 255) {
        throw Error(ErrorCode::input, "scale " + std::to_string(scale.bytes[i]) + " times 2^" + std::to_string(exponent) + " is none of e8m0",
                    "HUMMING");
      }
      scale.bytes[i] = static_cast<std::uint8_t>(byte);
    }
    global = {};
  }
}

}  // namespace humming

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "humming.mxfp4_w4a8"); }

StageTensors requantize(const StageTensors& inputs, const StageParams&) {
  constexpr std::size_t kBytesPerGroup = 16;
  StageTensor weight = inputs.find("w")->second;
  const StageTensor& delta = inputs.find("delta")->second;
  if (delta.bits != 8 || weight.bytes.size() != kBytesPerGroup * delta.bytes.size()) {
    refuse("w has " + std::to_string(weight.bytes.size()) + " bytes and delta " + std::to_string(delta.bytes.size()) + ": one byte for each 16 of w");
  }
  for (std::size_t i = 0; i < 2 * weight.bytes.size(); ++i) {
    const int shift = delta.bytes[i / (2 * kBytesPerGroup)];
    if (shift > humming::kLargestDelta) refuse("delta = " + std::to_string(shift) + ": at most 127 is a power of two of the kernel");
    const auto element = static_cast<std::int64_t>(i);
    set_grain(weight.bytes, element, 4, humming::requantized(static_cast<std::uint8_t>(get_grain(weight.bytes, element, 4)), shift));
  }
  return {{"w", std::move(weight)}};
}

constexpr std::array<std::string_view, 2> kInputs{"w", "delta"};
constexpr std::array<std::string_view, 1> kOutputs{"w"};
constexpr std::array<std::string_view, 1> kVersions{"humming-2026-05"};

constexpr std::array<ValueStage, 1> kStages{{
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

std::span<const ValueStage> humming_value_stages() { return kStages; }

}  // namespace mx::layout
