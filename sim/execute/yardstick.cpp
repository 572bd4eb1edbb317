#include "sim/execute/yardstick.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "model/error.hpp"
#include "model/moe/arithmetic.hpp"
#include "model/numerics/f32.hpp"
#include "sim/rescue.hpp"

namespace mx::sim {
namespace {

/// The function behind a name of the engine, in fp32.
std::uint32_t model_activation(const ModelActivation& activation, std::uint32_t gate, std::uint32_t up) {
  const moe::ActivationConstants& constants = activation.constants;
  const bool oai = activation.name.starts_with("SWIGLU");
  if (oai) return moe::activate(moe::activation_named("swiglu_oai"), kF32, gate, up, constants);
  const bool limited = constants.limit != 0;
  return moe::activate(moe::activation_named(limited ? "silu_and_mul_clamp_torch" : "silu_and_mul"), kF32, gate, up, constants);
}

std::uint32_t exact_product_of(const PreparedOperand& a, const WeightRow& weight, std::uint32_t bias) {
  const ContractRow& exact = row_of(Contract::exact);
  const Value total = decode(kF32, weight.total);
  WeightRow scaled = weight;
  if (scaled.scales.empty()) {
    scaled.scales = {total};
    scaled.block = static_cast<int>(scaled.elements.size());
  } else if (weight.total != f32::kOne) {
    for (Value& scale : scaled.scales) scale = exact_product(scale, total);
  }
  return dot(exact, a, prepare(exact, Side::b, scaled.operand()), {.c = {}, .bias = bias});
}

/// The activations of one slot as an operand.
PreparedOperand activations(const Weights& weights, const ModelActivation& activation, const PreparedOperand& x, std::int64_t expert,
                            std::span<const std::int64_t> rows) {
  std::vector<Value> values(static_cast<std::size_t>(weights.sizes().intermediate));
  for (const std::int64_t i : rows) {
    const std::uint32_t gate = exact_product_of(x, weights.row(Matrix::w13, expert, 0, i), weights.bias(Matrix::w13, expert, 0, i));
    const std::uint32_t up = exact_product_of(x, weights.row(Matrix::w13, expert, 1, i), weights.bias(Matrix::w13, expert, 1, i));
    values[static_cast<std::size_t>(i)] = decode(kF32, model_activation(activation, gate, up));
  }
  return prepare(row_of(Contract::exact), Side::a, {values});
}

void one_token(const Weights& weights, const ModelActivation& activation, const SampleTokens& tokens, std::int64_t hidden, std::size_t token,
               std::span<const std::int64_t> rows, std::span<const std::int64_t> columns, std::span<std::uint32_t> out) {
  std::vector<Value> x;
  for (const std::uint32_t code : std::span(tokens.x).subspan(token * static_cast<std::size_t>(hidden), static_cast<std::size_t>(hidden)))
    x.push_back(decode(kBf16, code));
  x.resize(static_cast<std::size_t>(weights.sizes().hidden));
  const PreparedOperand operand = prepare(row_of(Contract::exact), Side::a, {x});
  std::vector<PreparedOperand> acts;
  std::vector<std::uint32_t> shares;
  for (const moe::Slot& slot : tokens.slots[token]) {
    acts.push_back(activations(weights, activation, operand, slot.expert, rows));
    shares.push_back(slot.weight);
  }
  const moe::F32Arithmetic arithmetic(Contract::exact);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::uint32_t> down;
    for (std::size_t s = 0; s < acts.size(); ++s) {
      const std::int64_t expert = tokens.slots[token][s].expert;
      down.push_back(exact_product_of(acts[s], weights.row(Matrix::w2, expert, 0, columns[c]), weights.bias(Matrix::w2, expert, 0, columns[c])));
    }
    out[c] = arithmetic.weighted_sum(shares, down);
  }
}

bool is_finite(std::uint32_t f32) { return (f32 & 0x7F800000U) != 0x7F800000U; }
double number(std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); }

/// A bf16 ulp of a positive number.
double bf16_ulp(double largest) {
  constexpr int kMantissaBits = 7;
  constexpr double kSmallest = 0x1p-133;
  return largest > 0 ? std::max(std::ldexp(1.0, std::ilogb(largest) - kMantissaBits), kSmallest) : kSmallest;
}

}  // namespace

std::vector<std::uint32_t> exact_output(const Weights& weights, const ModelActivation& activation, const SampleTokens& tokens, std::int64_t hidden,
                                        const Outputs& outputs) {
  const std::vector<std::int64_t> rows = or_all(outputs.rows, weights.sizes().intermediate);
  const std::vector<std::int64_t> columns = or_all(outputs.columns, hidden);
  std::vector<std::uint32_t> out(tokens.slots.size() * columns.size());
  // Small layers are not worth a thread.
  constexpr std::int64_t kWorthThreads = std::int64_t{1} << 20;
  const std::int64_t weights_read = 2 * static_cast<std::int64_t>(rows.size()) * hidden * static_cast<std::int64_t>(tokens.slots.size());
  Rescue rescue;
#pragma omp parallel for schedule(dynamic) if (weights_read > kWorthThreads)
  for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
    rescue.run([&] {
      one_token(weights, activation, tokens, hidden, token, rows, columns, std::span(out).subspan(token * columns.size(), columns.size()));
    });
  }
  rescue.rethrow();
  return out;
}

Quality quality(std::span<const std::uint32_t> exact, std::span<const std::uint32_t> got, std::size_t columns) {
  if (exact.size() != got.size() || columns == 0 || exact.size() % columns != 0)
    throw Error(ErrorCode::usage,
                std::to_string(got.size()) + " results are held against " + std::to_string(exact.size()) + " in rows of " + std::to_string(columns));
  Quality result;
  double signal = 0;
  double noise = 0;
  for (std::size_t row = 0; row < exact.size(); row += columns) {
    double largest = 0;
    for (std::size_t n = 0; n < columns; ++n) largest = std::max(largest, std::abs(number(exact[row + n])));
    for (std::size_t n = 0; n < columns; ++n) {
      if (!is_finite(got[row + n])) {
        ++result.not_finite;
        continue;
      }
      const double difference = number(got[row + n]) - number(exact[row + n]);
      signal += number(exact[row + n]) * number(exact[row + n]);
      noise += difference * difference;
      result.max_ulps = std::max(result.max_ulps, std::abs(difference) / bf16_ulp(largest));
    }
  }
  result.sqnr_db = noise > 0 ? 10 * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
  if (result.not_finite > 0) result.sqnr_db = std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace mx::sim
