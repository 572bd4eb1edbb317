#include "sim/execute/yardstick.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "model/error.hpp"
#include "model/moe/arithmetic.hpp"
#include "model/numerics/f32.hpp"
#include "support/rescue.hpp"

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

/// Pairs of token and expert, tokens in order, their slots by position.
struct Pairs {
  std::vector<std::size_t> token;
  std::map<std::int64_t, std::vector<std::size_t>> of_expert;

  explicit Pairs(const SampleTokens& tokens) {
    for (std::size_t at = 0; at < tokens.slots.size(); ++at) {
      for (const moe::Slot& slot : tokens.slots[at]) {
        of_expert[slot.expert].push_back(token.size());
        token.push_back(at);
      }
    }
  }
};

/// The layer's sums, each row of weights read once for all pairs of its expert.
class Yardstick {
 public:
  Yardstick(const Weights& weights, const SampleTokens& tokens, SumsBy by)
      : weights_(weights), pairs_(tokens), sums_(row_of(Contract::exact), weights, by, true) {}

  /// Each expert's, of factors of each pair.
  std::map<std::int64_t, Inputs> inputs(std::span<const Factors* const> of_pairs) const {
    std::map<std::int64_t, Inputs> inputs;
    for (const auto& [expert, pairs] : pairs_.of_expert) {
      std::vector<const Factors*> own;
      for (const std::size_t pair : pairs) own.push_back(of_pairs[pair]);
      inputs.emplace(expert, sums_.inputs(std::move(own)));
    }
    return inputs;
  }

  /// Sums of a row of an expert for each of its pairs.
  std::vector<std::uint32_t> row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n,
                                 const std::map<std::int64_t, Inputs>& inputs) const {
    const Inputs& own = inputs.at(expert);
    std::vector<std::uint32_t> out(own.size());
    sums_.row(matrix, expert, half, n, own, weights_.bias(matrix, expert, half, n), out);
    return out;
  }

  /// Calls visit(expert, pairs of it, index of `wanted`) for each, on all threads.
  template <class Visit>
  void each(std::span<const std::int64_t> wanted, const Visit& visit) const {
    std::vector<std::pair<std::int64_t, std::size_t>> jobs;
    for (const auto& [expert, own] : pairs_.of_expert) {
      for (std::size_t i = 0; i < wanted.size(); ++i) jobs.emplace_back(expert, i);
    }
    // Small layers are not worth a thread.
    constexpr std::int64_t kWorthThreads = std::int64_t{1} << 20;
    const std::int64_t weights_read = static_cast<std::int64_t>(jobs.size()) * weights_.sizes().hidden;
    support::Rescue rescue;
#pragma omp parallel for schedule(dynamic, 8) if (weights_read > kWorthThreads)
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      rescue.run([&] { visit(jobs[job].first, pairs_.of_expert.at(jobs[job].first), jobs[job].second); });
    }
    rescue.rethrow();
  }

  const Pairs& pairs() const { return pairs_; }
  Factors factors(std::span<const Value> values) const { return sums_.factors(prepare(row_of(Contract::exact), Side::a, {values})); }

 private:
  const Weights& weights_;
  Pairs pairs_;
  RowSums sums_;
};

std::vector<Factors> token_factors(const Yardstick& yardstick, const SampleTokens& tokens, std::int64_t hidden, std::int64_t padded) {
  std::vector<Factors> factors;
  for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
    std::vector<Value> x;
    for (const std::uint32_t code : std::span(tokens.x).subspan(token * static_cast<std::size_t>(hidden), static_cast<std::size_t>(hidden)))
      x.push_back(decode(kBf16, code));
    x.resize(static_cast<std::size_t>(padded));
    factors.push_back(yardstick.factors(x));
  }
  return factors;
}

/// The activations of each pair, [pairs].
std::vector<Factors> activations(const Yardstick& yardstick, const ModelActivation& activation, std::span<const Factors* const> x,
                                 std::int64_t intermediate, std::span<const std::int64_t> rows) {
  const std::map<std::int64_t, Inputs> inputs = yardstick.inputs(x);
  std::vector<std::vector<Value>> values(x.size(), std::vector<Value>(static_cast<std::size_t>(intermediate)));
  yardstick.each(rows, [&](std::int64_t expert, std::span<const std::size_t> own, std::size_t r) {
    const std::vector<std::uint32_t> gate = yardstick.row(Matrix::w13, expert, 0, rows[r], inputs);
    const std::vector<std::uint32_t> up = yardstick.row(Matrix::w13, expert, 1, rows[r], inputs);
    for (std::size_t i = 0; i < own.size(); ++i)
      values[own[i]][static_cast<std::size_t>(rows[r])] = decode(kF32, model_activation(activation, gate[i], up[i]));
  });
  std::vector<Factors> factors;
  for (const std::vector<Value>& row : values) factors.push_back(yardstick.factors(row));
  return factors;
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
                                        const Outputs& outputs, SumsBy by) {
  const std::vector<std::int64_t> rows = or_all(outputs.rows, weights.sizes().intermediate);
  const std::vector<std::int64_t> columns = or_all(outputs.columns, hidden);
  const Yardstick yardstick(weights, tokens, by);
  const std::vector<std::size_t>& token_of = yardstick.pairs().token;
  const std::vector<Factors> x = token_factors(yardstick, tokens, hidden, weights.sizes().hidden);
  std::vector<const Factors*> of_pairs;
  for (const std::size_t token : token_of) of_pairs.push_back(&x[token]);
  const std::vector<Factors> acts = activations(yardstick, activation, of_pairs, weights.sizes().intermediate, rows);
  std::ranges::transform(acts, of_pairs.begin(), [](const Factors& factors) { return &factors; });
  const std::map<std::int64_t, Inputs> inputs = yardstick.inputs(of_pairs);
  std::vector<std::uint32_t> down(token_of.size() * columns.size());
  yardstick.each(columns, [&](std::int64_t expert, std::span<const std::size_t> own, std::size_t c) {
    const std::vector<std::uint32_t> sums = yardstick.row(Matrix::w2, expert, 0, columns[c], inputs);
    for (std::size_t i = 0; i < own.size(); ++i) down[own[i] * columns.size() + c] = sums[i];
  });
  const moe::F32Arithmetic arithmetic(Contract::exact);
  std::vector<std::uint32_t> out;
  std::size_t first = 0;
  for (const auto& slots : tokens.slots) {
    std::vector<std::uint32_t> shares;
    for (const moe::Slot& slot : slots) shares.push_back(slot.weight);
    std::vector<std::uint32_t> of_slots(slots.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t s = 0; s < slots.size(); ++s) of_slots[s] = down[(first + s) * columns.size() + c];
      out.push_back(arithmetic.weighted_sum(shares, of_slots));
    }
    first += slots.size();
  }
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
