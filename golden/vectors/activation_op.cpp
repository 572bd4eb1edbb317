// Activations between the two GEMMs of an expert.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/error.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "activation";
constexpr std::string_view kPrefix = "activation_";
constexpr std::array<std::string_view, 1> kTaken{"type"};

/// Inputs worth trying: special numbers, subnormals of fp32 and of bf16, both sides of a limit of 7, the ends of exp.
constexpr std::array<std::uint32_t, 26> kInputs{0x00000000, 0x80000000, 0x00000001, 0x00410000, 0x80410000, 0x00800000, 0x3DCC0000,
                                                0x3F000000, 0x3F800000, 0xBF800000, 0x3FC00000, 0xBFC00000, 0x40000000, 0xC0490000,
                                                0x40DF0000, 0x40E00000, 0x40E10000, 0xC0E00000, 0xC0E10000, 0x41200000, 0xC2AE0000,
                                                0x42B20000, 0x7F7F0000, 0x7F800000, 0xFF800000, 0x7FC00000};

class ActivationOp final : public VectorOp {
 public:
  ActivationOp(std::string name, const moe::Activation& row, const Format& type, Edition edition)
      : VectorOp(std::move(name), kFamily, edition), row_(row), type_(type) {
    operands_.push_back({"gate", 1, 32, &kF32});
    if (row_.pairing != moe::Pairing::single) operands_.push_back({"up", 1, 32, &kF32});
    results_ = {{"r", 1, 32, &kF32}};
    const moe::ActivationConstants& c = row_.constants;
    settings_ = {{"type", std::string(type.name)},
                 {"alpha", fmt::format("0x{:08x}", c.alpha)},
                 {"beta", fmt::format("0x{:08x}", c.beta)},
                 {"limit", fmt::format("0x{:08x}", c.limit)},
                 {"linear-beta", fmt::format("0x{:08x}", c.linear_beta)}};
    axes_ = {{"gate", number_classes()}, {"up", number_classes()}, {"result", number_classes()}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { results[0] = answer(row_, type_, operands); }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = number_class(operands[0], kF32);
    bins[1] = operands.size() > 1 ? number_class(operands[1], kF32) : std::uint8_t{0};
    bins[2] = number_class(results[0], kF32);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis == 1 && operands_.size() == 1) return fmt::format("{} takes no up", row_.name);
    if (axis < 2) return fmt::format("{} has no such number, or another bin says the same", type_.name);
    return fmt::format("{} gives '{}' for none of its inputs", row_.name, axes_[axis].bins[bin]);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    for (std::uint32_t gate : kInputs) {
      for (std::uint32_t up : kInputs) {
        std::array operands{in_type(gate), in_type(up)};
        sink(Lanes(operands).first(operands_.size()));
        if (operands_.size() == 1) break;
      }
    }
    if (operands_.size() == 1) return;
    sink(std::array{0xFFC00000U, in_type(0x3F800000)});
    sink(std::array{in_type(0x3F800000), 0xFFC00000U});
    sink(std::array{in_type(0x80000001), in_type(0x80000001)});
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    for (std::uint32_t& lane : operands) {
      const std::uint64_t word = random.next();
      // Three of four within the range in which gates and ups live: 2^-8 to 2^5.
      const std::uint32_t exponent =
          word >> 62U == 0 ? static_cast<std::uint32_t>(word >> 32U) % 255U : 119U + static_cast<std::uint32_t>(word >> 32U) % 14U;
      lane = in_type((static_cast<std::uint32_t>(word) & 0x807FFFFFU) | exponent << 23U);
    }
  }

  std::string_view kind(Lanes /*operands*/, Lanes right) const override {
    switch (decode(kF32, right[0]).cls) {
      case ValueClass::nan: return "NaN";
      case ValueClass::infinity: return "infinity";
      case ValueClass::zero: return "zero";
      case ValueClass::finite: break;
    }
    return "number";
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    rules.push_back({FaultClass::order, "gate and up exchanged", [row = row_, type = type_](Lanes operands, Lanes, MutableLanes out) {
                       std::array<std::uint32_t, 2> other{operands[0], operands[0]};
                       if (operands.size() > 1) other[0] = operands[1];
                       out[0] = answer(row, type, Lanes(other).first(operands.size()));
                     }});
    for (const moe::Activation& other : moe::all_activations()) {
      if (other.name == row_.name || (other.pairing == moe::Pairing::single) != (row_.pairing == moe::Pairing::single)) continue;
      rules.push_back({FaultClass::dialect, fmt::format("activation {}", other.name),
                       [row = other, type = type_](Lanes operands, Lanes, MutableLanes out) { out[0] = answer(row, type, operands); }});
    }
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  static std::uint32_t answer(const moe::Activation& row, const Format& type, Lanes operands) {
    return moe::activate(row, type, operands[0], operands.size() > 1 ? operands[1] : 0U, row.constants);
  }
  /// A value of the type of the activations, as fp32 bits.
  std::uint32_t in_type(std::uint32_t f32) const {
    if (type_ == kF32) return f32;
    return to_f32(convert(f32, kF32, type_, conversion(profile_named(kOcp), kF32, type_)), type_);
  }

  moe::Activation row_;
  Format type_;
};

}  // namespace

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const moe::Activation& row : moe::all_activations()) names.push_back(fmt::format("{}{}", kPrefix, row.name));
  return names;
}

std::unique_ptr<VectorOp> make_activation(std::string_view name, const OpOptions& options) {
  if (!name.starts_with(kPrefix)) return nullptr;
  require_taken(name, options, kTaken);
  const moe::Activation& row = moe::activation_named(name.substr(kPrefix.size()));
  auto op =
      std::make_unique<ActivationOp>(fmt::format("{}{}", kPrefix, row.name), row, format_named(options.get_or("type", kF32.name)), options.edition());
  // The activation says itself which types it takes.
  const std::vector<std::uint32_t> zeros(lane_count(op->operands()));
  std::array<std::uint32_t, 1> result{};
  op->evaluate(zeros, result);
  return op;
}

}  // namespace mx::golden
