// How far apart rounding alone can move the outputs of a deployment and of one rank.

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "sim/ranks/links.hpp"

namespace mx::sim {
namespace {

double number(std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); }
double magnitude(const Value& value) {
  return value.cls == ValueClass::finite ? std::ldexp(static_cast<double>(value.significand), value.exponent) : 0;
}

/// Sums of the magnitudes of the products of a slot's second product, one per column.
std::vector<double> product_magnitudes(const LinkInputs& inputs, const Weights& weights, std::size_t slot, std::int64_t expert) {
  // A number that is quantized at most doubles; one below its format's normal range counts as the smallest there.
  constexpr double kGrowth = 2;
  constexpr double kSmallestShare = 0x1p-14;
  constexpr double kSmallestNormal = 0x1p-6;
  const std::vector<std::uint32_t>& row = inputs.reference.stages[slot].activation;
  double largest = 0;
  for (const std::uint32_t bits : row) largest = std::max(largest, std::abs(number(bits)));
  const double least =
      std::max(largest * kSmallestShare,
               inputs.execution.second->tensor == TensorNumber::decode ? number(inputs.execution.scales.second) * kSmallestNormal : 0);
  std::vector<double> sums;
  for (const std::int64_t n : inputs.columns) {
    const WeightRow weight = weights.row(Matrix::w2, expert, 0, n);
    double sum = 0;
    for (std::size_t k = 0; k < weight.elements.size(); ++k) {
      const double scale = weight.scales.empty() ? 1 : magnitude(weight.scales[k / static_cast<std::size_t>(weight.block)]);
      sum += std::max(kGrowth * std::abs(number(row[k])), least) * std::max(magnitude(weight.elements[k]), kSmallestNormal) * scale;
    }
    sums.push_back(sum * std::abs(number(weight.total)) + std::abs(number(weights.bias(Matrix::w2, expert, 0, n))));
  }
  return sums;
}

}  // namespace

std::vector<std::size_t> first_slots(const SampleTokens& tokens) {
  std::vector<std::size_t> first{0};
  for (const auto& slots : tokens.slots) first.push_back(first.back() + slots.size());
  return first;
}

double contract_error(const ContractRow& contract, std::int64_t length) {
  constexpr double kF32 = 0x1p-24;
  const auto terms = static_cast<double>(length);
  switch (contract.step) {
    case Step::exact: return contract.restart == 0 ? kF32 : terms * kF32;
    case Step::fused: return 2 * terms * kF32;
    case Step::aligned: break;
  }
  // A product lies below four times two to its nominal exponent, so a unit is at most 2^-alignment of the largest term; truncation loses a unit of
  // each term and one of the sum.
  const double unit = std::ldexp(4.0, -contract.alignment_bits);
  const double kept = std::ldexp(1.0, 1 - contract.kept_bits);
  const double groups = std::ceil(terms / contract.group);
  return groups * ((contract.group + 1) * unit + kept) + terms * kF32;
}

std::vector<double> output_bounds(const LinkInputs& inputs) {
  constexpr double kBf16 = 0x1p-8;
  constexpr double kSlack = 1.05;  // products of roundings
  const std::size_t columns = inputs.columns.size();
  std::vector<double> bounds(inputs.tokens.slots.size() * columns, 0);
  const std::vector<std::size_t> first = first_slots(inputs.tokens);
  const ContractRow& contract = row_of(inputs.execution.unit->contract);
  const double product_error = inputs.plan.parallel.tp_size > 1 ? 2 * contract_error(contract, inputs.reference.sizes.intermediate) : 0;
  std::optional<Weights> weights;
  if (product_error > 0) weights = Weights::of_checkpoint(inputs.layer.experts, *inputs.execution.row);
  for (std::size_t token = 0; token < inputs.tokens.slots.size(); ++token) {
    const auto& slots = inputs.tokens.slots[token];
    const double roundings = 4 + static_cast<double>(slots.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
      const double weight = std::abs(number(slots[s].weight)) * kSlack;
      const std::vector<std::uint32_t>& down = inputs.reference.stages[first[token] + s].down;
      const std::vector<double> sums =
          weights ? product_magnitudes(inputs, *weights, first[token] + s, slots[s].expert) : std::vector<double>(columns, 0);
      for (std::size_t n = 0; n < columns; ++n)
        bounds[token * columns + n] += weight * (kBf16 * roundings * std::abs(number(down[n])) + product_error * sums[n]);
    }
  }
  for (std::size_t rank = 0; rank < inputs.received.size(); ++rank) {
    for (std::size_t i = 0; i < inputs.received[rank].work.size(); ++i) {
      const auto [token, position] = inputs.received[rank].slot_of[i];
      const auto& slots = inputs.tokens.slots[static_cast<std::size_t>(token)];
      const double roundings = 4 + static_cast<double>(slots.size() + inputs.ranks.size());
      const double weight = std::abs(number(slots[position].weight)) * kSlack;
      for (std::size_t n = 0; n < columns; ++n) {
        bounds[static_cast<std::size_t>(token) * columns + n] += weight * kBf16 * roundings * std::abs(number(inputs.stages[rank][i].down[n]));
      }
    }
  }
  return bounds;
}

}  // namespace mx::sim
