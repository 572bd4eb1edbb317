#include "golden/vectors/affine_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "golden/vectors/block_subject.hpp"
#include "golden/vectors/number_bins.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/affine.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "group";
constexpr std::string_view kQuantize = "quantize_", kDequantize = "dequantize_", kTo = "_to_";
constexpr std::uint32_t kInfinity = 0x7F800000U;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint32_t magnitude(std::uint32_t bits) { return bits & ~f32::kSign; }
std::uint32_t low(std::int64_t number, int bits) { return static_cast<std::uint32_t>(number) & (bits >= 32 ? ~0U : (1U << bits) - 1U); }
std::int64_t number_of(std::uint32_t lane, const Integer& integer) {
  const bool negative = integer.has_sign && (lane >> (integer.width - 1) & 1U) != 0;
  return static_cast<std::int64_t>(lane) - (negative ? std::int64_t{1} << integer.width : 0);
}

/// The rules with their name: that of a table, or what they say.
struct AffineSubject {
  std::string name;
  AffineRules rules;
  std::size_t size;  ///< of a block: that of the rules, or kOpenBlock

  std::size_t first_element() const { return rules.zero ? 2 : 1; }
};

AffineSubject subject_of(std::string_view text) {
  const AffineRules rules = affine_rules(text);
  const auto named = std::ranges::find_if(named_affine_rules(), [&](const AffineRow& row) { return same_name(row.name, text); });
  const std::size_t size = rules.block == 0 ? kOpenBlock : static_cast<std::size_t>(rules.block);
  if (size > kLongestBlock)
    throw Error(ErrorCode::usage, fmt::format("{} has more than {} elements in a block: no vector holds them", text_of(rules), kLongestBlock));
  return {named == named_affine_rules().end() ? text_of(rules) : std::string(named->name), rules, size};
}

std::vector<Column> block_columns(const AffineSubject& subject) {
  std::vector<Column> columns{{"scale", 1, subject.rules.scale->width, subject.rules.scale}};
  if (subject.rules.zero) columns.push_back({"zero", 1, subject.rules.zero->width});
  columns.push_back({"elems", static_cast<int>(subject.size), subject.rules.element.width});
  return columns;
}

std::vector<OpSetting> settings_of(const AffineSubject& subject) {
  return {{"rules", text_of(subject.rules)}, {"block", std::to_string(subject.size)}};
}

void put(const AffineBlock& block, const AffineRules& rules, MutableLanes results) {
  std::size_t lane = 0;
  results[lane++] = block.scale;
  if (rules.zero) results[lane++] = low(block.zero, rules.zero->width);
  for (const std::int32_t code : block.codes) results[lane++] = low(code, rules.element.width);
}

/// Under other rules, whose columns are those under test.
void quantize_into(const AffineRules& rules, Lanes operands, MutableLanes results) { put(quantize(operands, rules), rules, results); }

/// A value of one choice, put into rules.
using Choice = std::function<void(AffineRules&)>;

template <typename Values, typename Put>
std::vector<Choice> axis_of(const Values& values, Put put) {
  std::vector<Choice> axis;
  for (const auto& value : values) axis.push_back([value, put](AffineRules& rules) { put(rules, value); });
  return axis;
}

/// Choices that leave the columns as they are.
std::vector<std::vector<Choice>> axes_of(const AffineRules& rules) {
  std::vector<std::vector<Choice>> axes{
      axis_of(std::array{AffineRange::symmetric, AffineRange::symmetric_if_negative, AffineRange::with_zero, AffineRange::as_is},
              [](AffineRules& r, AffineRange v) { r.range = v; }),
      axis_of(std::array{AffineScale::span, AffineScale::half_span, AffineScale::farther_side, AffineScale::largest},
              [](AffineRules& r, AffineScale v) { r.rule = v; }),
      axis_of(integer_roundings(), [](AffineRules& r, Rounding v) { r.round = v; }),
      axis_of(std::array{AffineOperation::divide, AffineOperation::multiply}, [](AffineRules& r, AffineOperation v) { r.operation = v; }),
      axis_of(std::array{0U, 0x3727C5ACU, 0x34000000U}, [](AffineRules& r, std::uint32_t v) { r.least_range = v; }),
      axis_of(std::array{0U, 0x3727C5ACU, 0x34000000U}, [](AffineRules& r, std::uint32_t v) { r.least_scale = v; }),
      axis_of(std::array{false, true}, [](AffineRules& r, bool v) { r.sums_in_f32 = v; }),
      axis_of(std::array{false, true}, [](AffineRules& r, bool v) { r.zeros_span_unit = v; }),
      axis_of(std::array{false, true}, [](AffineRules& r, bool v) { r.narrow = v; })};
  if (rules.zero) axes.push_back(axis_of(std::array{AffineZero::rounded, AffineZero::middle}, [](AffineRules& r, AffineZero v) { r.point = v; }));
  return axes;
}

struct Other {
  int choices;
  AffineRules rules;
};

/// Rules with one choice changed, then with two, which a text can say.
std::vector<Other> others_of(const AffineRules& rules) {
  std::vector<Other> found;
  const auto add = [&](int choices, const AffineRules& other) {
    if (other == rules || std::ranges::find(found, other, &Other::rules) != found.end()) return;
    try {
      affine_rules(text_of(other));
      found.push_back({choices, other});
    } catch (const Error&) {
      return;  // there are none such
    }
  };
  const auto axes = axes_of(rules);
  const auto with = [](AffineRules other, const Choice& choice) {
    choice(other);
    return other;
  };
  for (const auto& axis : axes) {
    for (const Choice& choice : axis) add(1, with(rules, choice));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = i + 1; j < axes.size(); ++j) {
      for (const Choice& first : axes[i]) {
        for (const Choice& second : axes[j]) add(2, with(with(rules, first), second));
      }
    }
  }
  return found;
}

class QuantizeAffineOp final : public VectorOp {
 public:
  QuantizeAffineOp(AffineSubject subject, Edition edition)
      : VectorOp(fmt::format("{}{}", kQuantize, subject.name), kFamily, edition), subject_(std::move(subject)) {
    operands_.push_back({"x", static_cast<int>(subject_.size), kF32.width, &kF32});
    results_ = block_columns(subject_);
    settings_ = settings_of(subject_);
    axes_ = {{"numbers", {"both signs", "positive", "negative", "zeros"}},
             {"zero point", {"the least", "between", "the largest"}},
             {"codes", {"neither end", "the least", "the largest", "both ends"}}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { quantize_into(subject_.rules, operands, results); }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    const bool positive = std::ranges::any_of(operands, [](std::uint32_t x) { return f32::less(0, x); });
    const bool negative = std::ranges::any_of(operands, [](std::uint32_t x) { return f32::less(x, 0); });
    bins[0] = positive && negative ? 1 : positive ? 2 : negative ? 3 : 4;
    const AffineRules& rules = subject_.rules;
    const std::int64_t zero = rules.zero ? number_of(results[1], *rules.zero) : middle_code(rules);
    bins[1] = zero == least_code(rules) ? 1 : zero == most_code(rules) ? 3 : 2;
    const Lanes codes = results.subspan(subject_.first_element());
    const bool least = std::ranges::find(codes, low(least_code(rules), rules.element.width)) != codes.end();
    const bool most = std::ranges::find(codes, low(most_code(rules), rules.element.width)) != codes.end();
    bins[2] = static_cast<std::uint8_t>(1 + (least ? 1 : 0) + (most ? 2 : 0));
  }

  std::string why_unreachable(std::size_t axis, std::size_t /*bin*/) const override {
    return fmt::format("{} give it to no block", axis == 0 ? "numbers" : "the rules " + text_of(subject_.rules));
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    for (const auto& [lo, hi] : ends()) {
      std::vector<std::uint32_t> block(subject_.size, lo);
      block.back() = hi;
      for (std::size_t i = 2; i < block.size(); ++i) block[i - 1] = i % 2 == 0 ? lo : hi;
      sink(block);
      const AffineBlock made = quantize(block, subject_.rules);
      add_decisions(block, made, lo, hi, sink);
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    const std::uint64_t word = random.next();
    const std::uint32_t top = 32 + static_cast<std::uint32_t>(word % 190U), sides = static_cast<std::uint32_t>(word >> 32U) % 4U;
    for (std::uint32_t& x : operands) {
      const std::uint64_t element = random.next();
      const std::uint32_t field = top - static_cast<std::uint32_t>((element >> 40U) % 6U);
      const bool negative = sides == 3 ? false : sides == 2 ? true : element >> 63U != 0;
      x = field << 23U | (static_cast<std::uint32_t>(element) & 0x7FFFFFU) | (negative ? f32::kSign : 0U);
    }
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    const bool zeros = std::ranges::all_of(operands, [](std::uint32_t x) { return magnitude(x) == 0; });
    return zeros ? "a block of zeros" : "a block";
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (const Other& other : others_of(subject_.rules)) {
      if (other.choices > 1) continue;
      const bool rounding = other.rules.round != subject_.rules.round;
      rules.push_back({rounding ? FaultClass::rounding : FaultClass::scale, fmt::format("rules {}", text_of(other.rules)),
                       [rules = other.rules](Lanes operands, Lanes, MutableLanes answer) { quantize_into(rules, operands, answer); }});
    }
    const std::size_t first = subject_.first_element();
    if (subject_.rules.zero) {
      rules.push_back({FaultClass::value, "the zero point is not added", [own = subject_.rules, first](Lanes, Lanes right, MutableLanes answer) {
                         std::ranges::copy(right, answer.begin());
                         const std::int64_t zero = number_of(right[1], *own.zero);
                         for (std::size_t i = first; i < answer.size(); ++i)
                           answer[i] = low(number_of(right[i], own.element) - zero, own.element.width);
                       }});
    }
    rules.push_back({FaultClass::order, "codes swapped two by two", [first](Lanes, Lanes right, MutableLanes answer) {
                       std::ranges::copy(right, answer.begin());
                       for (std::size_t i = first; i + 1 < answer.size(); i += 2) std::swap(answer[i], answer[i + 1]);
                     }});
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

  std::vector<Composition> compositions(std::span<const WrongAnswer> /*wrong*/) const override {
    std::vector<Composition> all;
    for (const Other& other : others_of(subject_.rules)) {
      all.push_back({fmt::format("{}{}", kQuantize, text_of(other.rules)), other.choices,
                     [rules = other.rules](Lanes operands, MutableLanes answer) { quantize_into(rules, operands, answer); }});
    }
    return all;
  }

 private:
  /// Pairs of a least and a largest number: of one sign and of both, zeros, subnormals, at the bounds of scales, ties of the zero point.
  static std::vector<std::array<std::uint32_t, 2>> ends() {
    std::vector<std::array<std::uint32_t, 2>> all{{0, 0},
                                                  {f32::kSign, f32::kSign},
                                                  {f32::kSign | 1U, 1},
                                                  {0, 1},
                                                  {0, 0x7F7FFFFFU},
                                                  {0xFF7FFFFFU, 0x7F7FFFFFU},
                                                  {0xFF7FFFFFU, 0},
                                                  {bits_of(-1e-6F), bits_of(1e-6F)},
                                                  {bits_of(-1e-5F), bits_of(2e-6F)},
                                                  {bits_of(3e-6F), bits_of(4e-6F)}};
    for (const float scale : {1.0F, 0.01F, 1e20F, 1e-30F}) {
      for (int k = 0; k <= 30; ++k) {
        // A span of 30 units of half a code: odd k is a tie of the zero point of 4 bits.
        const std::uint32_t lo = bits_of(-static_cast<float>(k) * scale), hi = bits_of(static_cast<float>(30 - k) * scale);
        all.push_back({lo, hi});
        if (scale == 1.0F && k % 2 == 1) {
          all.push_back({lo + 1U, hi});
          all.push_back({lo - 1U, hi});
        }
      }
      for (const float least : {1.0F, 3.0F, 7.0F}) {
        all.push_back({bits_of(least * scale), bits_of((least + 5.0F) * scale)});
        all.push_back({bits_of(-(least + 5.0F) * scale), bits_of(-least * scale)});
      }
    }
    return all;
  }

  /// Elements at the middle between two codes and beside it, between the ends.
  void add_decisions(std::vector<std::uint32_t> block, const AffineBlock& made, std::uint32_t lo, std::uint32_t hi,
                     const std::function<void(Lanes)>& sink) const {
    const std::uint32_t scale = to_f32(made.scale, *subject_.rules.scale);
    if (magnitude(scale) == 0 || magnitude(scale) >= kInfinity || block.size() < 3) return;
    std::size_t at = 1;
    const auto flush = [&] {
      if (at > 1) sink(block);
      at = 1;
    };
    const std::int64_t codes = std::int64_t{1} << subject_.rules.element.width;
    for (std::int64_t half = -2 * codes; half <= 2 * codes; ++half) {
      const std::uint32_t middle = f32::mul(bits_of(static_cast<float>(half) * 0.5F), scale);
      for (const std::uint32_t x : {middle, middle + 1U, middle - 1U}) {
        if (magnitude(middle) == 0 || magnitude(x) >= kInfinity || f32::less(x, lo) || f32::less(hi, x)) continue;
        block[at++] = x;
        if (at + 1 == block.size()) flush();
      }
    }
    flush();
  }

  AffineSubject subject_;
};

/// How codes are read back; all but the first are wrong.
enum class Reading { right, without_zero, zero_plus_one, other_sign, swapped };

void dequantize_into(Reading reading, const AffineSubject& subject, const Format& target, Lanes operands, MutableLanes results) {
  const AffineRules& rules = subject.rules;
  const std::size_t first = subject.first_element();
  const std::int64_t kept = rules.zero ? number_of(operands[1], *rules.zero) : middle_code(rules);
  const std::int64_t zero = reading == Reading::without_zero ? 0 : kept + (reading == Reading::zero_plus_one ? 1 : 0);
  Integer element = rules.element;
  if (reading == Reading::other_sign) element.has_sign = !element.has_sign;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t from = reading == Reading::swapped && (i ^ 1U) < results.size() ? i ^ 1U : i;
    results[i] = dequantize(number_of(operands[first + from], element), zero, operands[0], rules, target);
  }
}

class DequantizeAffineOp final : public VectorOp {
 public:
  DequantizeAffineOp(AffineSubject subject, const Format& target, Edition edition)
      : VectorOp(fmt::format("{}{}{}{}", kDequantize, subject.name, kTo, target.name), kFamily, edition),
        subject_(std::move(subject)),
        target_(target) {
    operands_ = block_columns(subject_);
    results_.push_back({"r", static_cast<int>(subject_.size), target.width, &target_});
    settings_ = settings_of(subject_);
    axes_ = {{"scale", scale_bins(*subject_.rules.scale)}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { dequantize_into(Reading::right, subject_, target_, operands, results); }

  void bins(Lanes operands, Lanes /*results*/, std::span<std::uint8_t> bins) const override {
    bins[0] = scale_bin(operands[0], *subject_.rules.scale);
  }
  std::string why_unreachable(std::size_t /*axis*/, std::size_t bin) const override { return why_no_class(bin, *subject_.rules.scale); }

  void directed(const std::function<void(Lanes)>& sink) const override {
    std::vector<std::uint32_t> operands(lane_count(operands_));
    const Format& scale = *subject_.rules.scale;
    const std::uint32_t codes = 1U << subject_.rules.element.width, inf = max_finite_code(scale) + 1U, sign = 1U << (scale.width - 1);
    const std::uint32_t one = exponent_mask(scale) >> 1U & exponent_mask(scale);
    for (const std::uint32_t magnitude : {0U, 1U, 1U << scale.mantissa_bits, one, one + 1U, one + (one >> 3U), inf - 1U, inf, inf + 1U}) {
      for (const std::uint32_t code : {magnitude, magnitude | sign}) {
        operands[0] = code;
        for (const std::int64_t zero : zeros()) {
          if (subject_.rules.zero) operands[1] = low(zero, subject_.rules.zero->width);
          for (std::uint32_t first = 0; first < codes; first += static_cast<std::uint32_t>(subject_.size)) {
            for (std::size_t i = 0; i < subject_.size; ++i) operands[subject_.first_element() + i] = (first + static_cast<std::uint32_t>(i)) % codes;
            sink(operands);
          }
        }
      }
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    std::size_t lane = 0;
    for (const Column& column : operands_) {
      for (int i = 0; i < column.lanes; ++i) operands[lane++] = static_cast<std::uint32_t>(random.next() >> (64 - column.bits));
    }
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    return is_nan_code(*subject_.rules.scale, operands[0]) ? "a NaN as scale" : "codes";
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    const auto add = [&](FaultClass cls, std::string_view name, Reading how) {
      rules.push_back({cls, std::string(name), [how, subject = subject_, target = target_](Lanes operands, Lanes, MutableLanes answer) {
                         dequantize_into(how, subject, target, operands, answer);
                       }});
    };
    if (subject_.rules.zero) add(FaultClass::value, "the zero point is not subtracted", Reading::without_zero);
    if (subject_.rules.zero) add(FaultClass::value, "the zero point is one more than is kept (AutoGPTQ's files)", Reading::zero_plus_one);
    if (!subject_.rules.zero && !subject_.rules.element.has_sign) add(FaultClass::value, "the middle is not subtracted", Reading::without_zero);
    add(FaultClass::sign, subject_.rules.element.has_sign ? "the top bit is no sign" : "the top bit is a sign", Reading::other_sign);
    add(FaultClass::order, "codes swapped two by two", Reading::swapped);
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

 private:
  std::vector<std::int64_t> zeros() const {
    if (!subject_.rules.zero) return {0};
    const AffineRules& rules = subject_.rules;
    return {least_code(rules), middle_code(rules), middle_code(rules) + 1, most_code(rules)};
  }

  AffineSubject subject_;
  Format target_;
};

}  // namespace

std::vector<std::string> affine_names() {
  std::vector<std::string> names;
  for (const AffineRow& row : named_affine_rules()) {
    names.push_back(fmt::format("{}{}", kQuantize, row.name));
    names.push_back(fmt::format("{}{}{}f32", kDequantize, row.name, kTo));
  }
  return names;
}

std::unique_ptr<VectorOp> make_affine(std::string_view name, const OpOptions& options) {
  const bool back = name.starts_with(kDequantize);
  if (!back && !name.starts_with(kQuantize)) return nullptr;
  const std::size_t end = back ? name.rfind(kTo) : name.size();
  if (end == std::string_view::npos || end < kDequantize.size()) return nullptr;
  const std::size_t begin = back ? kDequantize.size() : kQuantize.size();
  const std::string_view text = name.substr(begin, end - begin);
  if (!is_affine(text)) return nullptr;
  require_taken(name, options, {});
  AffineSubject subject = subject_of(text);
  if (!back) return std::make_unique<QuantizeAffineOp>(std::move(subject), options.edition());
  const Format& target = format_named(name.substr(end + kTo.size()));
  dequantize(0, 0, 0, subject.rules, target);  // says which targets there are
  return std::make_unique<DequantizeAffineOp>(std::move(subject), target, options.edition());
}

}  // namespace mx::golden
