// Someone else's encoder, converter and oracle, held to the laws. `mxact_laws_example right` passes; `wrong` has a mistake in each of them.

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "props/subject.hpp"

namespace {

using namespace mx::props;
using mx::deployment::Deployment;
using mx::layout::Role;

/// fp32 into E4M3 through the C library, ties to even, saturating. The mistake: ties away from zero.
std::uint32_t to_e4m3(std::uint32_t bits, bool wrong) {
  const float value = std::bit_cast<float>(bits);
  const std::uint32_t sign = std::signbit(value) ? 0x80U : 0U;
  if (std::isnan(value)) return sign | 0x7FU;
  const double magnitude = std::fabs(static_cast<double>(value));
  const int exponent = magnitude < 0x1p-6 ? -6 : std::ilogb(magnitude);
  if (magnitude >= 448) return sign | 0x7EU;
  const double scaled = std::ldexp(magnitude, 3 - exponent);
  const auto steps = static_cast<std::uint32_t>(wrong ? std::round(scaled) : std::nearbyint(scaled));
  const std::uint32_t code = magnitude < 0x1p-6 ? steps : static_cast<std::uint32_t>(exponent + 6) * 8 + steps;
  return sign | (code > 0x7EU ? 0x7EU : code);
}

std::uint32_t from_e4m3(std::uint32_t code) {
  const int field = static_cast<int>(code >> 3U & 15U);
  const int fraction = static_cast<int>(code & 7U);
  if ((code & 0x7FU) == 0x7FU) return 0x7FC00000U;
  const double magnitude = field == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, field - 10);
  return std::bit_cast<std::uint32_t>(static_cast<float>((code & 0x80U) != 0 ? -magnitude : magnitude));
}

/// Each expert's [rows, columns] bytes become [columns, rows].
std::vector<std::uint8_t> transposed(const std::vector<std::uint8_t>& bytes, std::int64_t experts, std::int64_t rows) {
  std::vector<std::uint8_t> out(bytes.size());
  const std::int64_t columns = static_cast<std::int64_t>(bytes.size()) / (experts * rows);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(bytes.size()); ++at) {
    const std::int64_t expert = at / (rows * columns);
    const std::int64_t row = at / columns % rows;
    out[static_cast<std::size_t>((expert * columns + at % columns) * rows + row)] = bytes[static_cast<std::size_t>(at)];
  }
  return out;
}

/// Rows of w13 and of w2.
std::int64_t rows_of(Role role, const mx::families::Setting& setting) {
  return role == Role::w2_weight ? setting.sizes.hidden : (setting.form.gated ? 2 : 1) * setting.sizes.intermediate;
}

/// FP8 with a scale per expert for XPU: weights transposed, all else as it is. The mistake: w2 is not transposed.
LayerBytes for_xpu(LayerBytes layer, const mx::families::Setting& setting, bool wrong) {
  for (const Role role : {Role::w13_weight, Role::w2_weight}) {
    std::vector<std::uint8_t>& bytes = layer[static_cast<std::size_t>(role)];
    if (!wrong || role == Role::w13_weight) bytes = transposed(bytes, setting.sizes.experts, rows_of(role, setting));
  }
  return layer;
}

LayerBytes from_xpu(LayerBytes packed, const mx::families::Setting& setting) {
  for (const Role role : {Role::w13_weight, Role::w2_weight}) {
    std::vector<std::uint8_t>& bytes = packed[static_cast<std::size_t>(role)];
    const std::int64_t columns = static_cast<std::int64_t>(bytes.size()) / (setting.sizes.experts * rows_of(role, setting));
    bytes = transposed(bytes, setting.sizes.experts, columns);
  }
  return packed;
}

bool is_integer_zero(const std::string& text) { return text.find_first_not_of("0") == std::string::npos; }

/// The w4a8 oracle: one backend, on Hopper and the first Blackwells. The mistake: LoRA is not asked about.
OracleAnswer choose_w4a8(const Deployment& d, bool wrong) {
  const int capability = d.hardware.capability.value_or(0);
  const bool cuda = d.hardware.platform == mx::deployment::PlatformKind::cuda;
  const bool device = cuda && capability >= 90 && capability < 110 && d.software.cutlass_group_gemm_op;
  const bool activation = d.layer.activation == "SILU" || d.layer.activation == "GELU" || d.layer.activation == "SWIGLUOAI";
  const bool keys = d.weight_key == "kInt4Static" && d.activation_key == "kFp8DynamicTokenSym";
  const auto invariant = d.env.find("VLLM_BATCH_INVARIANT");
  const bool may_vary = invariant == d.env.end() || is_integer_zero(invariant->second);
  const bool batched = mx::deployment::derive(d.parallel, mx::deployment::kVllm2026_05).use_batched_activation_format();
  const bool lora = d.layer.is_lora_enabled && !wrong;
  if (device && d.layer.in_dtype == "bfloat16" && d.layer.is_act_and_mul && activation && keys && may_vary && !batched && !lora)
    return {"CUTLASS", ""};
  return {"", "CUTLASS does not take the layer"};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view which = argc > 1 ? argv[1] : "right";
  const bool wrong = which == "wrong";
  const mx::Conversion rule{.rounding = mx::Rounding::nearest_even,
                            .overflow = mx::Overflow::saturate,
                            .nan_rule = mx::NanRule::fixed,
                            .nan_positive = 0x7F,
                            .nan_negative = 0xFF,
                            .zero_code = 0,
                            .negative_is_nan = false};
  const ConversionSubject encoder{.name = "libm-e4m3",
                                  .format = &mx::kE4m3fn,
                                  .rule = rule,
                                  .encode = [wrong](std::uint32_t f32) { return to_e4m3(f32, wrong); },
                                  .decode = from_e4m3};
  const ConverterSubject converter{.name = "my-xpu",
                                   .backend = "XPU",
                                   .format = mx::layout::WeightFormat::fp8_tensor,
                                   .engine = mx::deployment::kVllm2026_08,
                                   .convert = [wrong](const LayerBytes& layer, const mx::families::Setting& s) { return for_xpu(layer, s, wrong); },
                                   .restore = from_xpu};
  const OracleSubject oracle{.name = "my-w4a8", .oracle = "w4a8", .choose = [wrong](const Deployment& d) { return choose_w4a8(d, wrong); }};

  std::vector<HeldLaw> laws = laws_of(encoder);
  for (const std::vector<HeldLaw>& more : {laws_of(converter), laws_of(oracle)}) laws.insert(laws.end(), more.begin(), more.end());
  const int first = argc > 1 ? 2 : 1;
  return run_laws(wrong ? "mxact_laws_example wrong" : "mxact_laws_example right", laws, {argv + first, static_cast<std::size_t>(argc - first)});
}
