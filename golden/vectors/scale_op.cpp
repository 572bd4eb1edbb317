// Scale selection: the scale of a block, given its largest magnitude.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "golden/vectors/block_decisions.hpp"
#include "golden/vectors/block_rules.hpp"
#include "golden/vectors/block_subject.hpp"
#include "golden/vectors/depth.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/numerics/affine.hpp"
#include "model/numerics/block_rules.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "scale";
constexpr std::string_view kPrefix = "scale_";
constexpr std::size_t kDepthAxis = 3;  // of two
constexpr std::array<std::string_view, 3> kTaken{"profile", "from", "nan"};

std::uint32_t scale_of(const Recipe& recipe, const BlockSubject& subject, Lanes operands) {
  std::vector<std::uint32_t> block(static_cast<std::size_t>(subject.block));
  block[0] = operands[0];
  return block_scale(block, *subject.source, recipe, tensor_of(subject.needs, operands, 1));
}

class ScaleOp final : public VectorOp {
 public:
  ScaleOp(std::string name, BlockSubject subject) : VectorOp(std::move(name), kFamily, subject.edition), subject_(std::move(subject)) {
    operands_.push_back({"amax", 1, subject_.source->width, subject_.source});
    for (Column& column : tensor_columns(subject_.needs)) operands_.push_back(std::move(column));
    results_.push_back({"scale", 1, subject_.format->scale->width, subject_.format->scale});
    settings_ = block_settings(subject_);
    axes_ = {{"amax", number_classes()}, {"mantissa", mantissa_bins(*subject_.format->element)}, {"scale", scale_bins(*subject_.format->scale)}};
    if (edition() == Edition::v1) return;
    for (std::string_view question : kDepthQuestions) axes_.push_back({std::string(question), depth_bins(*subject_.source)});
  }

  void evaluate(Lanes operands, MutableLanes results) const override { results[0] = scale_of(subject_.recipe, subject_, operands); }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = number_class(operands[0], *subject_.source);
    bins[1] = mantissa_bin(operands[0], *subject_.source, *subject_.format->element);
    bins[2] = scale_bin(results[0], *subject_.format->scale);
    if (axes_.size() <= kDepthAxis) return;
    std::vector<std::uint32_t> other(operands.begin(), operands.end());
    for (std::size_t side = 0; side < kDepthQuestions.size(); ++side) {
      const std::optional<std::uint32_t> step = stepped(operands[0], *subject_.source, side == 1);
      other[0] = step.value_or(operands[0]);
      const bool decided = step && scale_of(subject_.recipe, subject_, other) != results[0];
      bins[kDepthAxis + side] = decided ? depth_bin(operands[0], *subject_.source) : std::uint8_t{0};
    }
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis >= kDepthAxis) {
      return fmt::format("rule {} gives the same scale {}", scale_rule_name(subject_.recipe),
                         axis == kDepthAxis ? "without this bit" : "with another one of this bit");
    }
    if (axis == 1) return "the same mantissa as another bin";
    if (axis == 0) return why_no_class(bin, *subject_.source);
    const Format& scale = *subject_.format->scale;
    const std::string why = scale.encoding == Encoding::exponent_only ? std::string() : why_no_class(bin, scale);
    return why.empty() ? fmt::format("rule {} of profile {} gives it to no largest value in {}", scale_rule_name(subject_.recipe), subject_.profile,
                                     subject_.source->name)
                       : why;
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    std::vector<std::uint32_t> operands(lane_count(operands_));
    for (const std::vector<std::uint32_t>& tensor : tensor_choices(subject_.needs)) {
      std::ranges::copy(tensor, operands.begin() + 1);
      const std::vector<std::uint32_t> codes = amax_codes(*subject_.source, *subject_.format->element);
      std::set<std::uint32_t> directed(codes.begin(), codes.end());
      for (std::uint32_t amax : codes) {
        operands[0] = amax;
        sink(operands);
      }
      if (edition() == Edition::v1) continue;
      std::vector<std::uint32_t> other = operands;
      const auto amaxes = deciding_amaxes(*subject_.source, [&](std::uint32_t amax) {
        other[0] = amax;
        return scale_of(subject_.recipe, subject_, other);
      });
      for (std::uint32_t amax : amaxes) {
        if (!directed.insert(amax).second) continue;
        operands[0] = amax;
        sink(operands);
      }
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const std::uint64_t word = random.next();
    operands[0] = static_cast<std::uint32_t>(word >> (64 - subject_.source->width));
    const auto choices = tensor_choices(subject_.needs);
    std::ranges::copy(choices[(word & 0xFFU) % choices.size()], operands.begin() + 1);
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    const Value value = decode(*subject_.source, operands[0]);
    if (value.cls == ValueClass::nan) return "NaN";
    if (value.cls == ValueClass::infinity) return "infinity";
    if (value.cls == ValueClass::zero) return "zero";
    const std::uint8_t bin = mantissa_bin(operands[0], *subject_.source, *subject_.format->element);
    return bin == 0 ? "ordinary largest value" : "largest value at a decision of the rule";
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (OtherRecipe& other : other_recipes(subject_)) {
      rules.push_back({other.cls, std::move(other.name), [recipe = other.recipe, subject = subject_](Lanes operands, Lanes, MutableLanes answer) {
                         answer[0] = scale_of(recipe, subject, operands);
                       }});
    }
    for (WrongRule& rule : scale_step_rules(subject_)) rules.push_back(std::move(rule));
    for (WrongRule& rule : common_wrong_rules(results_)) {
      if (rule.cls == FaultClass::value) rule.cls = FaultClass::scale;
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  std::vector<Composition> compositions(std::span<const WrongAnswer> /*wrong*/) const override {
    std::vector<Composition> all;
    for (OtherBlock& other : other_blocks(subject_)) {
      all.push_back({fmt::format("{}{}", kPrefix, other.text), other.choices,
                     [recipe = std::move(other.recipe), &subject = subject_](Lanes operands, MutableLanes answer) {
                       answer[0] = scale_of(recipe, subject, operands);
                     }});
    }
    return all;
  }

 private:
  BlockSubject subject_;
};

}  // namespace

std::vector<std::string> scale_names() {
  std::vector<std::string> names;
  for (const BlockFormat& format : all_block_formats()) {
    if (block_size(format) <= kLongestBlock) names.push_back(fmt::format("{}{}", kPrefix, format.name));
  }
  return names;
}

std::unique_ptr<VectorOp> make_scale(std::string_view name, const OpOptions& options) {
  const std::vector<std::string> names = scale_names();
  const std::string_view text = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
  const bool is_own = is_block_rules(text) && !is_affine(text);
  if (!is_own && std::ranges::find(names, name) == names.end()) return nullptr;
  require_taken(name, options, kTaken);
  BlockSubject subject = block_subject(text, options);
  const std::string canonical = fmt::format("{}{}", kPrefix, name_of(subject));
  return std::make_unique<ScaleOp>(canonical, std::move(subject));
}

}  // namespace mx::golden
