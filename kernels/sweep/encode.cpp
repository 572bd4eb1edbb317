#include "kernels/sweep/encode.hpp"

#include <array>
#include <bit>
#include <string>
#include <variant>

#include "kernels/sweep/encode_plan.hpp"
#include "kernels/word_by_word.hpp"
#include "model/error.hpp"

namespace mx::kernels {
namespace {

using namespace sweep;

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kF32Infinity = 0x7F800000U;

// The loops below have no branches and compare as signed integers (magnitudes are below 2^31), so that compilers vectorize them for plain x86-64.

/// All bits set where a > b.
inline std::uint32_t mask_above(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? 0xFFFFFFFFU : 0U;
}

/// `yes` where the mask is set, else `no`.
inline std::uint32_t select(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) { return no ^ ((yes ^ no) & mask); }

inline std::uint32_t select(std::uint32_t negative, const BySign& by_sign) { return select(negative, by_sign[1], by_sign[0]); }

/// All bits set where the sign is.
inline std::uint32_t mask_negative(std::uint32_t f32) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(f32) >> 31); }

/// The code, or another one where the source overflows or is no number.
inline std::uint32_t with_specials(std::uint32_t code, std::uint32_t source, std::uint32_t magnitude, const SpecialCodes& special) {
  const std::uint32_t negative = mask_negative(source);
  const std::uint32_t infinite = mask_above(magnitude, kF32Infinity - 1U);
  const std::uint32_t overflow = select(infinite, select(negative, special.infinity), select(negative, special.overflow));
  const std::uint32_t payload = (source >> special.payload_shift) & special.payload_mask;
  const std::uint32_t nan = select(negative, special.nan) | payload | (mask_above(1U, payload) & special.empty_payload);
  code = select(mask_above(magnitude, select(negative, special.last_in_range)), overflow, code);
  return select(mask_above(magnitude, kF32Infinity), nan, code);
}

/// A magnitude below `min_normal` in units of 2^-kFinePlaces of the subnormal grid; the last place is set where anything was lost.
/// Flushing of subnormals cannot disturb it: what would be flushed is raised to the smallest normal number, as far below the grid.
inline std::uint32_t in_fine_units(std::uint32_t magnitude, std::uint32_t min_normal, float scale) {
  const std::uint32_t low = select(mask_above(magnitude, min_normal), min_normal, magnitude);
  const std::uint32_t tiny = mask_above(kF32MinNormal, low) & mask_above(low, 0U);
  const float scaled = std::bit_cast<float>(select(tiny, kF32MinNormal, low)) * scale;
  const auto whole = static_cast<std::int32_t>(scaled);
  const std::uint32_t lost = std::bit_cast<std::uint32_t>(static_cast<float>(whole)) ^ std::bit_cast<std::uint32_t>(scaled);
  return static_cast<std::uint32_t>(whole) | (mask_above(lost, 0U) & 1U);
}

template <bool kTwosComplement>
void run_floating(std::span<const std::uint32_t> f32, const FloatingPlan plan, std::span<std::uint32_t> codes) {
  const float scale = std::bit_cast<float>(plan.scale);
  // A zero code loses its sign in formats with one zero.
  const std::uint32_t signed_above = plan.one_zero ? 0U : 0xFFFFFFFFU;
  const std::uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t source = f32[i];
    const std::uint32_t negative = mask_negative(source);
    std::uint32_t magnitude = source & ~kSign;
    magnitude &= ~mask_above(plan.special.source_from, magnitude);
    const std::uint32_t odd = (magnitude >> plan.shift) & plan.even;
    const std::uint32_t normal = ((magnitude + select(negative, plan.addend) + odd) >> plan.shift) - plan.rebias;
    const std::uint32_t fine = in_fine_units(magnitude, plan.min_normal, scale);
    const std::uint32_t fine_odd = (fine >> kFinePlaces) & plan.even;
    const std::uint32_t subnormal = (fine + select(negative, plan.fine_addend) + fine_odd) >> kFinePlaces;
    std::uint32_t code = select(mask_above(plan.min_normal, magnitude), subnormal, normal);
    code &= ~mask_above(plan.result_from, code);
    if constexpr (kTwosComplement) {
      code = ((code ^ negative) - negative) & plan.code_mask;
    } else {
      code |= plan.sign_bit & negative & mask_above(code, signed_above);
    }
    code = select(negative & refuses_sign & mask_above(magnitude, 0U), plan.negative_code, code);
    codes[i] = with_specials(code, source, magnitude, plan.special);
  }
}

void run_powers(std::span<const std::uint32_t> f32, const PowerPlan plan, std::span<std::uint32_t> codes) {
  const std::uint32_t refuses_sign = plan.negative_is_nan ? 0xFFFFFFFFU : 0U;
  for (std::size_t i = 0; i < f32.size(); ++i) {
    const std::uint32_t source = f32[i];
    const std::uint32_t negative = mask_negative(source);
    std::uint32_t magnitude = source & ~kSign;
    magnitude &= ~mask_above(plan.special.source_from, magnitude);
    const std::uint32_t normal = (magnitude + select(negative, plan.addend)) >> kF32MantissaBits;
    const std::uint32_t subnormal = mask_above(magnitude, select(negative, plan.subnormal_from) - 1U) & 1U;
    std::uint32_t code = select(mask_above(kF32MinNormal, magnitude), subnormal, normal);
    code = with_specials(code, source, magnitude, plan.special);
    const std::uint32_t number = mask_above(kF32Infinity + 1U, magnitude);
    code = select(negative & refuses_sign & number, plan.negative_code, code);
    codes[i] = select(mask_above(1U, magnitude), plan.zero_code, code);
  }
}

void run(std::span<const std::uint32_t> f32, const Plan& plan, std::span<std::uint32_t> codes) {
  if (const auto* powers = std::get_if<PowerPlan>(&plan)) return run_powers(f32, *powers, codes);
  const auto& floating = std::get<FloatingPlan>(plan);
  if (floating.twos_complement) return run_floating<true>(f32, floating, codes);
  run_floating<false>(f32, floating, codes);
}

Plan required_plan(const Format& to, const Conversion& how) {
  const Plan plan = plan_for(to, how);
  if (!std::holds_alternative<std::monostate>(plan)) return plan;
  throw Error(ErrorCode::unsupported, "no fast conversion f32 -> " + std::string(to.name) + " with rounding " + std::string(name_of(how.rounding)) +
                                          ", overflow " + std::string(name_of(how.overflow)));
}

constexpr std::uint64_t mix64(std::uint64_t i) {
  std::uint64_t z = i + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint32_t kChunkInputs = 1U << 24;

std::uint64_t chunk_digest(std::uint32_t chunk, const Plan& plan) {
  constexpr std::uint32_t kStep = 4096;
  std::array<std::uint32_t, kStep> inputs;
  std::array<std::uint32_t, kStep> codes;
  std::uint64_t digest = 0;
  for (std::uint32_t offset = 0; offset < kChunkInputs; offset += kStep) {
    const std::uint32_t first = chunk * kChunkInputs + offset;
    for (std::uint32_t i = 0; i < kStep; ++i) inputs[i] = first + i;
    run(inputs, plan, codes);
    for (std::uint32_t i = 0; i < kStep; ++i) digest += (std::uint64_t{codes[i]} + 1U) * mix64(inputs[i]);
  }
  return digest;
}

}  // namespace

bool has_encode(const Format& to, const Conversion& how) { return !std::holds_alternative<std::monostate>(plan_for(to, how)); }

void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint32_t> codes) {
  require_word_by_word({"inputs", f32}, {"codes", codes});
  run(f32, required_plan(to, how), codes);
}

std::uint64_t sweep_digest(std::uint32_t chunk, const Format& to, const Conversion& how) {
  if (chunk >= kSweepChunks) throw Error(ErrorCode::usage, "chunk " + std::to_string(chunk) + " of " + std::to_string(kSweepChunks));
  return chunk_digest(chunk, required_plan(to, how));
}

std::vector<std::uint64_t> sweep_digests(const Format& to, const Conversion& how) {
  const Plan plan = required_plan(to, how);
  std::vector<std::uint64_t> digests(kSweepChunks);
#pragma omp parallel for schedule(static, 1)
  for (std::uint32_t chunk = 0; chunk < kSweepChunks; ++chunk) digests[chunk] = chunk_digest(chunk, plan);
  return digests;
}

}  // namespace mx::kernels
