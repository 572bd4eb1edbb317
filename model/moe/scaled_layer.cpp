#include "model/moe/scaled_layer.hpp"

#include <optional>
#include <string>

#include "model/error.hpp"
#include "model/moe/expert_rows.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "layer"); }

/// fp32 numbers as they enter a product.
ScaledRow operand(const ScaledChoices& choices, const std::vector<std::uint32_t>& f32) {
  return choices.recipe == nullptr ? entering(f32) : entering(*choices.recipe, quantized_row(*choices.recipe, f32));
}

class ScaledLayer {
 public:
  ScaledLayer(const layout::CanonicalLayer& layer, const ScaledChoices& choices)
      : rows_(layer), choices_(choices), contract_(row_of(choices.contract)), gated_(choices.activation->pairing != Pairing::single) {
    if (rows_.gated() == gated_) return;
    refuse("experts are " + std::string(gated_ ? "not gated" : "gated") + ", " + std::string(choices.activation->name) + " is an activation of " +
           (gated_ ? "gate and up" : "one row"));
  }

  /// The output of one expert for one row of fp32 numbers, fp32 bits [hidden].
  std::vector<std::uint32_t> expert_output(std::int64_t expert, const std::vector<std::uint32_t>& x) const {
    const PreparedOperand a = prepared(Side::a, operand(choices_, x));
    std::vector<std::uint32_t> act;
    for (std::int64_t i = 0; i < sizes().intermediate; ++i) {
      const std::uint32_t up = gated_ ? first_product(a, expert, 1, i) : 0;
      act.push_back(activate(*choices_.activation, kF32, first_product(a, expert, 0, i), up, choices_.constants));
    }
    const PreparedOperand b = prepared(Side::a, operand(choices_, act));
    std::vector<std::uint32_t> out;
    for (std::int64_t n = 0; n < sizes().hidden; ++n) {
      out.push_back(product(b, rows_.w2(expert, n), choices_.add_w2_bias ? rows_.w2_bias(expert, n) : std::nullopt));
    }
    return out;
  }

  const layout::Sizes& sizes() const { return rows_.sizes(); }

 private:
  PreparedOperand prepared(Side side, const ScaledRow& row) const { return prepare(contract_, side, row.operand()); }

  std::uint32_t first_product(const PreparedOperand& a, std::int64_t expert, std::int64_t half, std::int64_t i) const {
    return product(a, rows_.w13(expert, half, i), rows_.w13_bias(expert, half, i));
  }

  std::uint32_t product(const PreparedOperand& a, const ScaledRow& weights, std::optional<std::uint32_t> bias) const {
    return dot(contract_, a, prepared(Side::b, weights), {.c = {}, .bias = bias});
  }

  ExpertRows rows_;
  const ScaledChoices& choices_;
  const ContractRow& contract_;
  bool gated_;
};

/// The rank's expert of a slot, or -1.
std::int64_t local_expert(std::int64_t expert, std::int64_t experts, ExpertMap map) {
  const std::int64_t known = map.empty() ? experts : static_cast<std::int64_t>(map.size());
  if (expert < 0 || expert >= known) refuse("expert " + std::to_string(expert) + " is not in 0.." + std::to_string(known - 1));
  const std::int64_t local = map.empty() ? expert : map[at(expert)];
  if (local < -1 || local >= experts) {
    refuse("the map sends expert " + std::to_string(expert) + " to " + std::to_string(local) + ", the layer holds " + std::to_string(experts));
  }
  return local;
}

/// Elements of a row that share a scale. Formats without a block length take the row as one.
std::size_t block_of(const BlockFormat& format, std::size_t row) { return format.block == 0 ? row : static_cast<std::size_t>(format.block); }

}  // namespace

QuantizedRow quantized_row(const Recipe& recipe, std::span<const std::uint32_t> f32) {
  const std::size_t length = block_of(*recipe.format, f32.size());
  if (f32.size() % length != 0) {
    refuse("a row of " + std::to_string(f32.size()) + " is not whole blocks of " + std::to_string(length) + ", those of " +
           std::string(recipe.format->name));
  }
  QuantizedRow row;
  for (std::size_t first = 0; first < f32.size(); first += length) {
    const QuantizedBlock block = quantize_block(f32.subspan(first, length), kF32, recipe);
    row.codes.insert(row.codes.end(), block.codes.begin(), block.codes.end());
    row.scales.push_back(block.scale);
  }
  return row;
}

ScaledRow entering(const Recipe& recipe, const QuantizedRow& from) {
  const BlockFormat& format = *recipe.format;
  ScaledRow row{{}, {}, format.element, static_cast<int>(block_of(format, from.codes.size()))};
  for (const std::uint32_t code : from.codes) row.elements.push_back(decode(*format.element, code));
  for (const std::uint32_t code : from.scales) row.scales.push_back(decode(*format.scale, code));
  return row;
}

ScaledRow entering(std::span<const std::uint32_t> f32) {
  ScaledRow row{{}, {}, &kF32, 0};
  for (const std::uint32_t bits : f32) row.elements.push_back(decode(kF32, bits));
  return row;
}

std::vector<std::uint32_t> run_scaled_layer(const layout::CanonicalLayer& layer, const ScaledChoices& choices, std::span<const std::uint32_t> x_bf16,
                                            std::span<const std::vector<Slot>> slots, ExpertMap map) {
  const ScaledLayer experts(layer, choices);
  const std::size_t hidden = at(experts.sizes().hidden);
  if (x_bf16.size() != slots.size() * hidden) {
    refuse("x has " + std::to_string(x_bf16.size()) + " values for " + std::to_string(slots.size()) + " tokens of " + std::to_string(hidden));
  }
  const bool weighs_input = choices.weight_on == WeightPlace::input;
  std::vector<std::uint32_t> out(x_bf16.size(), 0);
  for (std::size_t token = 0; token < slots.size(); ++token) {
    for (const Slot& slot : slots[token]) {
      const std::int64_t expert = local_expert(slot.expert, experts.sizes().experts, map);
      if (expert < 0) continue;
      std::vector<std::uint32_t> x;
      for (std::size_t k = 0; k < hidden; ++k) {
        const std::uint32_t value = x_bf16[token * hidden + k] << 16;
        x.push_back(weighs_input ? f32::mul(value, slot.weight) : value);
      }
      const std::vector<std::uint32_t> result = experts.expert_output(expert, x);
      for (std::size_t n = 0; n < hidden; ++n) {
        std::uint32_t& sum = out[token * hidden + n];
        sum = f32::fma(weighs_input ? f32::kOne : slot.weight, result[n], sum);
      }
    }
  }
  return out;
}

}  // namespace mx::moe
