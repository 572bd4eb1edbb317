// Block quantization: elements of a block into a scale and codes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "golden/vectors/block_decisions.hpp"
#include "golden/vectors/block_patterns.hpp"
#include "golden/vectors/block_rules.hpp"
#include "golden/vectors/block_subject.hpp"
#include "golden/vectors/depth.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/error.hpp"
#include "model/numerics/affine.hpp"
#include "model/numerics/block_rules.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "block";
constexpr std::string_view kPrefix = "quantize_";
constexpr std::size_t kDepthAxis = 4;  // of two
constexpr std::array<std::string_view, 3> kTaken{"profile", "from", "nan"};

void quantize_into(const Recipe& recipe, const BlockSubject& subject, Lanes operands, MutableLanes results) {
  const auto size = static_cast<std::size_t>(subject.block);
  const QuantizedBlock block = quantize_block(operands.first(size), *subject.source, recipe, tensor_of(subject.needs, operands, size));
  results[0] = block.scale;
  std::ranges::copy(block.codes, results.begin() + 1);
}

class QuantizeOp final : public VectorOp {
 public:
  QuantizeOp(std::string name, BlockSubject subject)
      : VectorOp(std::move(name), kFamily, subject.edition), subject_(std::move(subject)), size_(static_cast<std::size_t>(subject_.block)) {
    operands_.push_back({"x", subject_.block, subject_.source->width, subject_.source});
    for (Column& column : tensor_columns(subject_.needs)) operands_.push_back(std::move(column));
    results_ = {{"scale", 1, subject_.format->scale->width, subject_.format->scale},
                {"elems", subject_.block, subject_.format->element->width, subject_.format->element}};
    settings_ = block_settings(subject_);
    axes_ = {{"block", block_kinds()}, {"largest", largest_places(size_)}, {"filled", fills(size_)}, {"scale", scale_bins(*subject_.format->scale)}};
    if (edition() == Edition::v1) return;
    for (std::string_view question : kDepthQuestions) axes_.push_back({std::string(question), depth_bins(*subject_.source)});
  }

  void evaluate(Lanes operands, MutableLanes results) const override { quantize_into(subject_.recipe, subject_, operands, results); }

  void mask(Lanes operands, Lanes results, MutableLanes masks) const override {
    VectorOp::mask(operands, results, masks);
    if (subject_.nan_is_free && is_nan_code(*subject_.format->scale, results[0])) std::ranges::fill(masks.subspan(1), 0U);
  }

  /// Elements under a scale that is a power of two: in units of it.
  std::optional<Value> exact(Lanes operands, Lanes right, std::size_t lane) const override {
    const Value scale = decode(*subject_.format->scale, right[0]);
    if (lane == 0 || subject_.format->scale->encoding != Encoding::exponent_only || scale.cls != ValueClass::finite) return std::nullopt;
    Value x = decode(*subject_.source, operands[lane - 1]);
    if (x.cls == ValueClass::finite) x.exponent -= canonical(scale).exponent;
    return x;
  }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    const Lanes block = operands.first(size_);
    bins[0] = block_kind(block, *subject_.source);
    bins[1] = largest_place(block, *subject_.source);
    bins[2] = fill(block, *subject_.source);
    bins[3] = scale_bin(results[0], *subject_.format->scale);
    if (axes_.size() <= kDepthAxis) return;
    for (std::size_t side = 0; side < kDepthQuestions.size(); ++side) bins[kDepthAxis + side] = element_depth(operands, results, side == 1);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    const Format& scale = *subject_.format->scale;
    if (axis >= kDepthAxis) {
      return fmt::format("the elements of profile {} are the same {}", subject_.profile,
                         axis == kDepthAxis ? "without this bit" : "with another one of this bit");
    }
    const std::string why = axis == 3 && scale.encoding != Encoding::exponent_only ? why_no_class(bin, scale) : std::string();
    return why.empty() ? fmt::format("rule {} of profile {} gives it to no block of {}", scale_rule_name(subject_.recipe), subject_.profile,
                                     subject_.source->name)
                       : why;
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    std::vector<std::uint32_t> operands(lane_count(operands_));
    for (const std::vector<std::uint32_t>& tensor : tensor_choices(subject_.needs)) {
      std::ranges::copy(tensor, operands.begin() + static_cast<std::ptrdiff_t>(size_));
      directed_blocks(*subject_.format, *subject_.source, size_, [&](Lanes block) {
        std::ranges::copy(block, operands.begin());
        sink(operands);
      });
      if (edition() == Edition::v1) continue;
      const TensorScale scales = tensor_of(subject_.needs, operands, size_);
      deciding_blocks(
          *subject_.format, *subject_.source, size_, [&](Lanes block) { return quantize_block(block, *subject_.source, subject_.recipe, scales); },
          [&](Lanes block) {
            std::ranges::copy(block, operands.begin());
            sink(operands);
          });
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const Format& source = *subject_.source;
    const std::uint64_t word = random.next();
    // Elements of one block lie within sixteen binades, as in real tensors; where those lie is random.
    const int exponents = 1 << source.exponent_bits;
    const int top = 1 + static_cast<int>(word % static_cast<std::uint64_t>(exponents - 2));
    for (std::size_t i = 0; i < size_; ++i) {
      const std::uint64_t element = random.next();
      const int field = std::max(0, top - static_cast<int>((element >> 40U) % 16U));
      const auto mantissa = static_cast<std::uint32_t>(element) & ((1U << source.mantissa_bits) - 1U);
      operands[i] = (static_cast<std::uint32_t>(field) << source.mantissa_bits) | mantissa | (element >> 63U != 0 ? 1U << (source.width - 1) : 0U);
    }
    const auto choices = tensor_choices(subject_.needs);
    std::ranges::copy(choices[(word >> 32U) % choices.size()], operands.begin() + static_cast<std::ptrdiff_t>(size_));
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    static const std::vector<std::string> kKinds = block_kinds();
    return kKinds[block_kind(operands.first(size_), *subject_.source) - 1U];
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (OtherRecipe& other : other_recipes(subject_)) {
      if (!gives_codes(other.recipe)) continue;
      rules.push_back({other.cls, std::move(other.name), [recipe = other.recipe, subject = subject_](Lanes operands, Lanes, MutableLanes answer) {
                         quantize_into(recipe, subject, operands, answer);
                       }});
    }
    for (WrongRule& rule : block_step_rules(subject_)) rules.push_back(std::move(rule));
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

  std::vector<Composition> compositions(std::span<const WrongAnswer> /*wrong*/) const override {
    std::call_once(once_, [this] { others_ = other_blocks(subject_); });
    std::vector<Composition> all;
    for (const OtherBlock& other : others_) {
      all.push_back(
          {fmt::format("{}{}", kPrefix, other.text), other.choices,
           [&recipe = other.recipe, &subject = subject_](Lanes operands, MutableLanes answer) { quantize_into(recipe, subject, operands, answer); }});
    }
    return all;
  }

 private:
  /// The lowest bit, as a bin, that decided an element other than the largest: the elements with that bit taken away, or with as much added, are
  /// others.
  std::uint8_t element_depth(Lanes operands, Lanes results, bool up) const {
    const Format& source = *subject_.source;
    const std::uint32_t magnitude_mask = (1U << (source.width - 1)) - 1U;
    std::uint32_t largest = 0;
    for (std::uint32_t code : operands.first(size_)) largest = std::max(largest, code & magnitude_mask);
    if (largest > max_finite_code(source)) return 0;
    std::vector<std::uint32_t> other(operands.begin(), operands.end());
    for (std::size_t i = 0; i < size_; ++i) {
      const std::optional<std::uint32_t> step = stepped(operands[i], source, up);
      if (step && (operands[i] & magnitude_mask) < largest && (*step & magnitude_mask) <= largest) other[i] = *step;
    }
    std::vector<std::uint32_t> answer(results.size());
    evaluate(other, answer);
    std::uint8_t lowest = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const std::uint8_t bin = other[i] == operands[i] || answer[1 + i] == results[1 + i] ? std::uint8_t{0} : depth_bin(operands[i], source);
      if (bin != 0 && (lowest == 0 || bin < lowest)) lowest = bin;
    }
    return lowest;
  }

  BlockSubject subject_;
  std::size_t size_;
  mutable std::once_flag once_;  // many streams may be checked against one operation
  mutable std::vector<OtherBlock> others_;
};

}  // namespace

std::vector<std::string> quantize_names() {
  std::vector<std::string> names;
  for (const BlockFormat& format : all_block_formats()) {
    if (block_size(format) <= kLongestBlock) names.push_back(fmt::format("{}{}", kPrefix, format.name));
  }
  return names;
}

std::unique_ptr<VectorOp> make_quantize(std::string_view name, const OpOptions& options) {
  const std::vector<std::string> names = quantize_names();
  const std::string_view text = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
  const bool is_own = is_block_rules(text) && !is_affine(text);
  if (!is_own && std::ranges::find(names, name) == names.end()) return nullptr;
  require_taken(name, options, kTaken);
  BlockSubject subject = block_subject(text, options);
  const std::string canonical = fmt::format("{}{}", kPrefix, name_of(subject));
  if (subject.block > kLongestBlock)
    throw Error(ErrorCode::usage, fmt::format("{} has more than {} elements in a block: no vector holds them", subject.format->name, kLongestBlock));
  if (!gives_codes(subject.recipe))
    throw Error(ErrorCode::usage, fmt::format("profile '{}' gives scales alone: ask for scale_{}", subject.profile, subject.format->name));
  return std::make_unique<QuantizeOp>(canonical, std::move(subject));
}

}  // namespace mx::golden
