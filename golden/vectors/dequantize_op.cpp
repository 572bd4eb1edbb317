// Blocks back into numbers.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golden/vectors/block_subject.hpp"
#include "golden/vectors/conversion_rules.hpp"
#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/words.hpp"
#include "model/error.hpp"
#include "model/numerics/affine.hpp"
#include "model/numerics/block_rules.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "decode";
constexpr std::string_view kPrefix = "dequantize_";
constexpr std::array<std::string_view, 2> kTaken{"profile", "nan"};
constexpr std::array kTargets{&kF32, &kBf16, &kFp16};

/// A block format as one profile turns it into numbers.
struct DequantizeSubject {
  const BlockFormat* format;
  std::string profile;
  Dequantizer how;
  TensorNeeds needs;
  bool nan_is_free;
};

TensorNeeds needs_of(const Dequantizer& how) {
  return {.encode = how.tensor == TensorUse::divides_scale, .decode = how.tensor == TensorUse::multiplies_scale};
}

void dequantize_into(const Dequantizer& how, const DequantizeSubject& subject, Lanes operands, MutableLanes results) {
  const TensorScale tensor = tensor_of(subject.needs, operands, 1 + results.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = dequantize(operands[1 + i], operands[0], how, tensor);
}

/// Products of elements and a scale of which one is read otherwise; where it is read rightly the right answer stays. A scale of the tensor
/// multiplies before the rounding.
void read_otherwise(const DequantizeSubject& subject, bool of_scale, const ValueChange& change, Lanes operands, Lanes right, MutableLanes answer) {
  const Value scale = decode(*subject.format->scale, operands[0]);
  const TensorScale tensor = tensor_of(subject.needs, operands, 1 + right.size());
  const Conversion how = conversion(profile_named(kOcp), kF32, *subject.how.target);
  for (std::size_t i = 0; i < right.size(); ++i) {
    answer[i] = right[i];
    const Value element = decode(*subject.format->element, operands[1 + i]);
    const std::optional<Value> other = of_scale ? change(operands[0], scale) : change(operands[1 + i], element);
    if (!other || (!of_scale && scale.cls == ValueClass::nan)) continue;
    Value product = of_scale ? exact_product(element, *other) : exact_product(*other, scale);
    if (tensor.decode) product = exact_product(product, decode(kF32, *tensor.decode));
    Flags flags;
    answer[i] = *subject.how.target == kF32 ? to_f32(product) : encode(product, *subject.how.target, how, flags);
  }
}

/// The class that stands for a vector of many numbers: the rarest one in it.
std::uint8_t rarest_class(Lanes lanes, const Format& format) {
  // NaN before infinity before subnormal before zero; an ordinary number last.
  constexpr std::array<std::uint8_t, 5> kRank{1, 2, 0, 3, 4};
  std::uint8_t best = 0;
  int rank = -1;
  for (std::uint32_t lane : lanes) {
    const std::uint8_t cls = number_class(lane, format);
    const int of = kRank[(cls - 1U) % kRank.size()];
    if (of > rank) {
      rank = of;
      best = cls;
    }
  }
  return best;
}

class DequantizeOp final : public VectorOp {
 public:
  DequantizeOp(std::string name, DequantizeSubject subject, Edition edition)
      : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)), size_(static_cast<std::size_t>(block_size(*subject_.format))) {
    const BlockFormat& format = *subject_.format;
    operands_ = {{"scale", 1, format.scale->width, format.scale}, {"elems", block_size(format), format.element->width, format.element}};
    for (Column& column : tensor_columns(subject_.needs)) operands_.push_back(std::move(column));
    results_.push_back({"r", block_size(format), subject_.how.target->width, subject_.how.target});
    settings_ = {{"profile", subject_.profile}, {"block", std::to_string(size_)}, {"nan-compare", subject_.nan_is_free ? "free" : "exact"}};
    axes_ = {{"scale", scale_bins(*format.scale)}, {"result", number_classes()}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { dequantize_into(subject_.how, subject_, operands, results); }

  void mask(Lanes operands, Lanes results, MutableLanes masks) const override {
    VectorOp::mask(operands, results, masks);
    if (!subject_.nan_is_free) return;
    const Format& target = *subject_.how.target;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (is_nan_code(target, results[i])) masks[i] = ((1U << target.exponent_bits) * 2U - 1U) << (target.mantissa_bits - 1);
    }
  }

  std::optional<Value> exact(Lanes operands, Lanes /*right*/, std::size_t lane) const override {
    if (subject_.needs.encode || subject_.needs.decode) return std::nullopt;
    return scaled_value(operands[1 + lane], operands[0], *subject_.format);
  }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = scale_bin(operands[0], *subject_.format->scale);
    bins[1] = rarest_class(results, *subject_.how.target);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    if (axis == 0) return why_no_class(bin, *subject_.format->scale);
    return fmt::format("profile {} gives no such number into {}, or never as the rarest of a block", subject_.profile, subject_.how.target->name);
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    const Format& element = *subject_.format->element;
    const std::uint32_t codes = 1U << element.width;
    std::vector<std::uint32_t> operands(lane_count(operands_));
    for (const std::vector<std::uint32_t>& tensor : tensor_choices(subject_.needs)) {
      std::ranges::copy(tensor, operands.begin() + static_cast<std::ptrdiff_t>(1 + size_));
      for (std::uint32_t scale : scales()) {
        operands[0] = scale;
        for (std::uint32_t first = 0; first < codes; first += static_cast<std::uint32_t>(size_)) {
          for (std::size_t i = 0; i < size_; ++i) operands[1 + i] = (first + static_cast<std::uint32_t>(i)) % codes;
          sink(operands);
        }
        // Blocks of one code each let an infinity, a subnormal or a zero stand alone.
        const std::uint32_t sign = 1U << (element.width - 1);
        for (std::uint32_t code : {0U, 1U, max_finite_code(element), sign, sign | 1U, sign | max_finite_code(element)}) {
          std::fill_n(operands.begin() + 1, size_, code);
          sink(operands);
        }
      }
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const Format& scale = *subject_.format->scale;
    const std::uint64_t word = random.next();
    operands[0] = static_cast<std::uint32_t>(word >> (64 - scale.width));
    for (std::size_t i = 0; i < size_; ++i) operands[1 + i] = static_cast<std::uint32_t>(random.next() >> (64 - subject_.format->element->width));
    const auto choices = tensor_choices(subject_.needs);
    std::ranges::copy(choices[(word & 0xFFU) % choices.size()], operands.begin() + static_cast<std::ptrdiff_t>(1 + size_));
  }

  std::string_view kind(Lanes operands, Lanes right) const override {
    if (is_nan_code(*subject_.format->scale, operands[0])) return "NaN scale";
    switch ((rarest_class(right, *subject_.how.target) - 1U) % 5U) {
      case 0: return "zero results";
      case 1: return "subnormal results";
      case 3: return "infinite results";
      case 4: return "NaN results";
      default: return "ordinary results";
    }
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    const auto add = [&](FaultClass cls, std::string name, const Dequantizer& how) {
      rules.push_back({cls, std::move(name),
                       [how, subject = subject_](Lanes operands, Lanes, MutableLanes answer) { dequantize_into(how, subject, operands, answer); }});
    };
    for (const auto& [reading, name] :
         {std::pair{ScaleReading::power, "scale byte 255 is a power of two"}, std::pair{ScaleReading::field, "scale byte 0 is zero, 255 infinity"},
          std::pair{ScaleReading::value, "scale bytes 0 and 255 as the format says"}}) {
      Dequantizer how = subject_.how;
      if (how.reading == reading || subject_.format->scale->encoding != Encoding::exponent_only) continue;
      how.reading = reading;
      add(FaultClass::scale, name, how);
    }
    Dequantizer clamped = subject_.how;
    clamped.range = clamped.range == ProductRange::infinite ? ProductRange::clamped : ProductRange::infinite;
    add(FaultClass::saturation,
        clamped.range == ProductRange::clamped ? "products out of range become the largest number" : "products out of range become infinite",
        clamped);
    for (const Profile& profile : all_profiles()) {
      const Dequantizer* other = find_dequantizer(profile, *subject_.format, *subject_.how.target);
      if (other != nullptr && profile.name != subject_.profile && other->tensor == subject_.how.tensor)
        add(FaultClass::dialect, fmt::format("profile {}", profile.name), *other);
    }
    rules.push_back({FaultClass::order, "nibbles swapped: the even element in the high half of a byte",
                     [subject = subject_](Lanes operands, Lanes, MutableLanes answer) {
                       std::vector<std::uint32_t> swapped(operands.begin(), operands.end());
                       for (std::size_t i = 0; i + 1 < answer.size(); i += 2) std::swap(swapped[1 + i], swapped[2 + i]);
                       dequantize_into(subject.how, subject, swapped, answer);
                     }});
    for (const auto& [step, name] : {std::pair{1U, "the scale one too high"}, std::pair{~0U, "the scale one too low"}}) {
      rules.push_back({FaultClass::scale, name, [step, subject = subject_](Lanes operands, Lanes, MutableLanes answer) {
                         std::vector<std::uint32_t> other(operands.begin(), operands.end());
                         other[0] = (other[0] + step) & (subject.format->scale->width == 32 ? ~0U : (1U << subject.format->scale->width) - 1U);
                         dequantize_into(subject.how, subject, other, answer);
                       }});
    }
    rules.push_back(
        {FaultClass::subnormal, "subnormal results become zero", [target = *subject_.how.target](Lanes, Lanes right, MutableLanes answer) {
           const std::uint32_t sign = 1U << (target.width - 1);
           for (std::size_t i = 0; i < right.size(); ++i) answer[i] = (right[i] & ~sign) >> target.mantissa_bits == 0 ? right[i] & sign : right[i];
         }});
    for (const bool of_scale : {true, false}) {
      const Format& format = of_scale ? *subject_.format->scale : *subject_.format->element;
      if (format.width > 8) continue;
      for (OtherReading& reading : other_readings(format)) {
        rules.push_back({reading.cls, fmt::format("{}: {}", of_scale ? "scale" : "elements", reading.name),
                         [of_scale, change = std::move(reading.change), subject = subject_](Lanes operands, Lanes right, MutableLanes answer) {
                           read_otherwise(subject, of_scale, change, operands, right, answer);
                         }});
      }
    }
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  /// Every scale code, or those of fp32 that decide.
  std::vector<std::uint32_t> scales() const {
    const Format& scale = *subject_.format->scale;
    if (scale.width == 32) {
      return {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00400000, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3F800000, 0xBF800000,
              0x3F800001, 0x40490FDB, 0x7E800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000};
    }
    std::vector<std::uint32_t> codes;
    for (std::uint32_t code = 0; code >> scale.width == 0; ++code) codes.push_back(code);
    return codes;
  }

  DequantizeSubject subject_;
  std::size_t size_;
};

/// A shape of no table: code times scale exactly, rounded once.
std::unique_ptr<VectorOp> make_exact(std::string_view text, std::string_view target_name, const OpOptions& options) {
  constexpr std::array<std::string_view, 1> kNanAlone{"nan"};
  const BlockFormat& format = block_format_named(text);
  const Format& target = format_named(target_name);
  const std::string name = fmt::format("{}{}_to_{}", kPrefix, format.name, target.name);
  require_taken(name, options, kNanAlone);
  if (std::ranges::find(kTargets, target, [](const Format* one) -> const Format& { return *one; }) == kTargets.end())
    throw Error(ErrorCode::usage, fmt::format("blocks become numbers of f32, bf16 or fp16, not {}", target.name));
  if (block_size(format) > kLongestBlock)
    throw Error(ErrorCode::usage, fmt::format("{} has more than {} elements in a block: no vector holds them", format.name, kLongestBlock));
  const Dequantizer how{&format, &target, ScaleReading::value, nullptr, ProductRange::infinite, false, TensorUse::none, format.source};
  const bool nan_is_free = yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact");
  return std::make_unique<DequantizeOp>(name, DequantizeSubject{&format, "exact", how, {}, nan_is_free}, options.edition());
}

}  // namespace

std::vector<std::string> dequantize_names() {
  std::vector<std::string> names;
  for (const BlockFormat& format : all_block_formats()) {
    for (const Format* target : kTargets) {
      const bool known =
          std::ranges::any_of(all_profiles(), [&](const Profile& profile) { return find_dequantizer(profile, format, *target) != nullptr; });
      if (known && block_size(format) <= kLongestBlock) names.push_back(fmt::format("{}{}_to_{}", kPrefix, format.name, target->name));
    }
  }
  return names;
}

std::unique_ptr<VectorOp> make_dequantize(std::string_view name, const OpOptions& options) {
  const std::vector<std::string> names = dequantize_names();
  const std::size_t middle = name.rfind("_to_");
  if (name.starts_with(kPrefix) && middle != std::string_view::npos && middle > kPrefix.size()) {
    const std::string_view text = name.substr(kPrefix.size(), middle - kPrefix.size());
    if (is_block_rules(text) && !is_affine(text)) return make_exact(text, name.substr(middle + 4), options);
  }
  if (std::ranges::find(names, name) == names.end()) return nullptr;
  require_taken(name, options, kTaken);
  const BlockFormat& format = block_format_named(name.substr(kPrefix.size(), middle - kPrefix.size()));
  const Profile& profile = profile_named(options.get_or("profile", kOcp));
  const Dequantizer& how = dequantizer(profile, format, format_named(name.substr(middle + 4)));
  return std::make_unique<DequantizeOp>(
      std::string(name),
      DequantizeSubject{&format, std::string(profile.name), how, needs_of(how), yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact")},
      options.edition());
}

}  // namespace mx::golden
