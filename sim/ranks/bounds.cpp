// How far apart rounding alone can move the outputs of a deployment and of one rank.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "sim/ranks/links.hpp"
#include "support/rescue.hpp"

namespace mx::sim {
namespace {

/// Fewer columns are not worth a thread.
constexpr std::size_t kWorthThreads = 256;

double number(std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); }
double magnitude(const Value& value) {
  return value.cls == ValueClass::finite ? std::ldexp(static_cast<double>(value.significand), value.exponent) : 0;
}

// A number below its format's normal range counts as the smallest there.
constexpr double kSmallestNormal = 0x1p-6;

/// Magnitudes of a slot's activations as they may enter the second product: a number that is quantized at most doubles.
std::vector<double> activation_magnitudes(const LinkInputs& inputs, std::size_t slot) {
  constexpr double kGrowth = 2;
  constexpr double kSmallestShare = 0x1p-14;
  const std::vector<std::uint32_t>& row = inputs.reference.stages[slot].activation;
  double largest = 0;
  for (const std::uint32_t bits : row) largest = std::max(largest, std::abs(number(bits)));
  const double least =
      std::max(largest * kSmallestShare,
               inputs.execution.second->tensor == families::TensorNumber::decode ? number(inputs.execution.scales.second) * kSmallestNormal : 0);
  std::vector<double> magnitudes;
  for (const std::uint32_t bits : row) magnitudes.push_back(std::max(kGrowth * std::abs(number(bits)), least));
  return magnitudes;
}

/// Magnitudes of the elements of a row of w2 with their scales.
class WeightMagnitudes {
 public:
  explicit WeightMagnitudes(const Weights& weights) : weights_(weights) {
    if (!weights.is_coded()) return;
    elements_ = of_codes(weights.element_format());
    for (double& element : elements_) element = std::max(element, kSmallestNormal);
    if (weights.scale_format() != nullptr) scales_ = of_codes(*weights.scale_format());
  }

  std::vector<double> row(std::int64_t expert, std::int64_t n) const {
    return elements_.empty() ? of_values(weights_.row(Matrix::w2, expert, 0, n)) : of_coded(expert, n);
  }

 private:
  static std::vector<double> of_codes(const Format& format) {
    std::vector<double> magnitudes;
    for (std::uint32_t code = 0; code < 1U << format.width; ++code) magnitudes.push_back(magnitude(decode(format, code)));
    return magnitudes;
  }

  std::vector<double> of_coded(std::int64_t expert, std::int64_t n) const {
    thread_local CodedRow coded;
    weights_.read_coded(Matrix::w2, expert, 0, n, coded);
    const double total = std::abs(number(coded.total));
    const auto group = static_cast<std::size_t>(weights_.sizes().group);
    std::vector<double> magnitudes(coded.codes.size());
    for (std::size_t k = 0; k < magnitudes.size(); ++k)
      magnitudes[k] = elements_[coded.codes[k]] * (scales_.empty() ? 1 : scales_[coded.scales[k / group]]) * total;
    return magnitudes;
  }

  static std::vector<double> of_values(const WeightRow& weight) {
    const double total = std::abs(number(weight.total));
    std::vector<double> magnitudes;
    for (std::size_t k = 0; k < weight.elements.size(); ++k) {
      const double scale = weight.scales.empty() ? 1 : magnitude(weight.scales[k / static_cast<std::size_t>(weight.block)]);
      magnitudes.push_back(std::max(magnitude(weight.elements[k]), kSmallestNormal) * scale * total);
    }
    return magnitudes;
  }

  const Weights& weights_;
  std::vector<double> elements_;  ///< of each code; empty: rows are no codes
  std::vector<double> scales_;    ///< likewise; empty: elements have none
};

/// Slots of one expert, and their activations side by side: [k][slot].
struct SlotGroup {
  std::vector<std::size_t> slots;
  std::vector<double> activations;
};

std::map<std::int64_t, SlotGroup> slot_groups(const LinkInputs& inputs) {
  std::map<std::int64_t, SlotGroup> groups;
  std::size_t count = 0;
  for (const auto& slots : inputs.tokens.slots) {
    for (const moe::Slot& slot : slots) groups[slot.expert].slots.push_back(count++);
  }
  for (auto& [expert, group] : groups) {
    for (std::size_t at = 0; at < group.slots.size(); ++at) {
      const std::vector<double> magnitudes = activation_magnitudes(inputs, group.slots[at]);
      group.activations.resize(magnitudes.size() * group.slots.size());
      for (std::size_t k = 0; k < magnitudes.size(); ++k) group.activations[k * group.slots.size() + at] = magnitudes[k];
    }
  }
  return groups;
}

/// Sums of the magnitudes of the products of every slot's second product, [slot][column].
std::vector<double> product_magnitudes(const LinkInputs& inputs) {
  const Weights weights = Weights::of_checkpoint(inputs.layer.experts, *inputs.execution.row);
  const WeightMagnitudes magnitudes(weights);
  const std::map<std::int64_t, SlotGroup> groups = slot_groups(inputs);
  const std::size_t columns = inputs.columns.size();
  std::vector<double> sums(inputs.reference.stages.size() * columns);
  for (const auto& entry : groups) {
    const std::int64_t expert = entry.first;
    const SlotGroup& group = entry.second;
    support::Rescue rescue;
#pragma omp parallel for schedule(dynamic, 8) if (columns > kWorthThreads)
    for (std::size_t c = 0; c < columns; ++c) {
      rescue.run([&] {
        const std::vector<double> weight = magnitudes.row(expert, inputs.columns[c]);
        std::vector<double> of_slots(group.slots.size(), std::abs(number(weights.bias(Matrix::w2, expert, 0, inputs.columns[c]))));
        for (std::size_t k = 0; k < weight.size(); ++k) {
          const double* const activations = group.activations.data() + k * of_slots.size();
          for (std::size_t at = 0; at < of_slots.size(); ++at) of_slots[at] += weight[k] * activations[at];
        }
        for (std::size_t at = 0; at < of_slots.size(); ++at) sums[group.slots[at] * columns + c] = of_slots[at];
      });
    }
    rescue.rethrow();
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
    case Step::exact: return contract.restart == 0 && contract.group == 0 ? kF32 : terms * kF32;
    case Step::fused:
    case Step::pairwise: return 2 * terms * kF32;  // a product and an addition each
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
  const ContractRow& contract = row_of(inputs.execution.contract);
  const double product_error = inputs.plan.parallel.tp_size > 1 ? 2 * contract_error(contract, inputs.reference.sizes.intermediate) : 0;
  const std::vector<double> sums = product_error > 0 ? product_magnitudes(inputs) : std::vector<double>(inputs.reference.stages.size() * columns, 0);
  for (std::size_t token = 0; token < inputs.tokens.slots.size(); ++token) {
    const auto& slots = inputs.tokens.slots[token];
    const double roundings = 4 + static_cast<double>(slots.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
      const SlotStages& stages = inputs.reference.stages[first[token] + s];
      const double weight = std::abs(number(stages.weight(slots[s].weight))) * kSlack;
      const std::vector<std::uint32_t>& down = stages.down;
      for (std::size_t n = 0; n < columns; ++n)
        bounds[token * columns + n] +=
            weight * (kBf16 * roundings * std::abs(number(down[n])) + product_error * sums[(first[token] + s) * columns + n]);
    }
  }
  for (std::size_t rank = 0; rank < inputs.received.size(); ++rank) {
    for (std::size_t i = 0; i < inputs.received[rank].work.size(); ++i) {
      const auto [token, position] = inputs.received[rank].slot_of[i];
      const auto& slots = inputs.tokens.slots[static_cast<std::size_t>(token)];
      const double roundings = 4 + static_cast<double>(slots.size() + inputs.plan.ranks.size());
      const double weight = std::abs(number(inputs.stages[rank][i].weight(slots[position].weight))) * kSlack;
      for (std::size_t n = 0; n < columns; ++n) {
        bounds[static_cast<std::size_t>(token) * columns + n] += weight * kBf16 * roundings * std::abs(number(inputs.stages[rank][i].down[n]));
      }
    }
  }
  return bounds;
}

}  // namespace mx::sim
