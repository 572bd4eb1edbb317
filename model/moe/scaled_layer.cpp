#include "model/moe/scaled_layer.hpp"

#include <optional>
#include <string>

#include "model/error.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"

namespace mx::moe {
namespace {

using layout::Role;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "layer"); }

/// A row of codes with the scales of its blocks.
struct ScaledRow {
  std::vector<Value> elements;
  std::vector<Value> scales;
  const Format* format;
  int block = 0;
};

/// The tensors of a layer in logical order: rows of gate, then of up.
class Matrices {
 public:
  explicit Matrices(const layout::CanonicalLayer& layer) : sizes_(layer.sizes) {
    if (layer.form.format != layout::WeightFormat::mxfp4 || !layer.form.gated) {
      throw Error(ErrorCode::unsupported, "experts are gated mxfp4 here, not " + std::string(layout::name_of(layer.form.format)), "layer");
    }
    for (Role role : layout::kRoles) {
      if (layer[role].empty() && !layout::is_bias(role)) throw Error(ErrorCode::usage, "missing from the layer", std::string(layout::name_of(role)));
      if (!layer[role].empty())
        units_[static_cast<std::size_t>(role)] = layout::to_row_major(layout::canonical(role, sizes_, layer.form), layer[role]);
    }
  }

  const layout::Sizes& sizes() const { return sizes_; }

  ScaledRow row(Role weights, Role scales, std::int64_t index, std::int64_t length) const {
    ScaledRow row{{}, {}, &kE2m1, static_cast<int>(sizes_.group)};
    for (std::int64_t k = 0; k < length; ++k) row.elements.push_back(decode(kE2m1, unit(weights, index * length + k, 4)));
    const std::int64_t groups = length / sizes_.group;
    for (std::int64_t group = 0; group < groups; ++group) row.scales.push_back(decode(kE8m0, unit(scales, index * groups + group, 8)));
    return row;
  }

  /// fp32 bits; none where the checkpoint has no biases.
  std::optional<std::uint32_t> bias(Role role, std::int64_t index) const {
    if (units_[static_cast<std::size_t>(role)].empty()) return std::nullopt;
    return unit(role, index, 16) << 16;
  }

 private:
  std::uint32_t unit(Role role, std::int64_t index, int bits) const {
    return static_cast<std::uint32_t>(layout::get_grain(units_[static_cast<std::size_t>(role)], index, bits));
  }

  layout::Sizes sizes_;
  std::array<std::vector<std::uint8_t>, layout::kRoleCount> units_;
};

/// fp32 numbers as they enter a product.
ScaledRow operand(const ScaledChoices& choices, const std::vector<std::uint32_t>& f32) {
  ScaledRow row{{}, {}, &kF32, 0};
  if (choices.recipe == nullptr) {
    for (const std::uint32_t bits : f32) row.elements.push_back(decode(kF32, bits));
    return row;
  }
  const BlockFormat& format = *choices.recipe->format;
  row.format = format.element;
  row.block = format.block;
  const auto length = static_cast<std::size_t>(format.block);
  if (length == 0 || f32.size() % length != 0) {
    refuse("a row of " + std::to_string(f32.size()) + " is not whole blocks of " + std::to_string(length) + ", those of " + std::string(format.name));
  }
  for (std::size_t first = 0; first < f32.size(); first += length) {
    const QuantizedBlock block = quantize_block(std::span(f32).subspan(first, length), kF32, *choices.recipe);
    for (const std::uint32_t code : block.codes) row.elements.push_back(decode(*format.element, code));
    row.scales.push_back(decode(*format.scale, block.scale));
  }
  return row;
}

class ScaledLayer {
 public:
  ScaledLayer(const layout::CanonicalLayer& layer, const ScaledChoices& choices)
      : matrices_(layer), choices_(choices), row_(row_of(choices.contract)) {}

  /// The output of one expert for one row of fp32 numbers, fp32 bits [hidden].
  std::vector<std::uint32_t> expert_output(std::int64_t expert, const std::vector<std::uint32_t>& x) const {
    const std::int64_t intermediate = matrices_.sizes().intermediate;
    const std::int64_t hidden = matrices_.sizes().hidden;
    const PreparedOperand a = prepared(Side::a, operand(choices_, x));
    std::vector<std::uint32_t> act;
    for (std::int64_t i = 0; i < intermediate; ++i) {
      const std::int64_t gate = expert * 2 * intermediate + i;
      act.push_back(activate(*choices_.activation, kF32, product(a, Role::w13_weight, Role::w13_weight_scale, Role::w13_bias, gate, hidden),
                             product(a, Role::w13_weight, Role::w13_weight_scale, Role::w13_bias, gate + intermediate, hidden), choices_.constants));
    }
    const PreparedOperand b = prepared(Side::a, operand(choices_, act));
    std::vector<std::uint32_t> out;
    for (std::int64_t n = 0; n < hidden; ++n) {
      out.push_back(product(b, Role::w2_weight, Role::w2_weight_scale, Role::w2_bias, expert * hidden + n, intermediate));
    }
    return out;
  }

  const layout::Sizes& sizes() const { return matrices_.sizes(); }

 private:
  PreparedOperand prepared(Side side, const ScaledRow& row) const {
    return prepare(row_, side, {.elements = row.elements, .format = row.format, .scales = row.scales, .block = row.block});
  }

  std::uint32_t product(const PreparedOperand& a, Role weights, Role scales, Role bias, std::int64_t index, std::int64_t length) const {
    const PreparedOperand b = prepared(Side::b, matrices_.row(weights, scales, index, length));
    const bool biased = bias != Role::w2_bias || choices_.add_w2_bias;
    return dot(row_, a, b, {.c = {}, .bias = biased ? matrices_.bias(bias, index) : std::nullopt});
  }

  Matrices matrices_;
  const ScaledChoices& choices_;
  const ContractRow& row_;
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

}  // namespace

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
