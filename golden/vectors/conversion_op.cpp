#include "golden/vectors/conversion_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "golden/vectors/compositions.hpp"
#include "golden/vectors/depth.hpp"
#include "golden/vectors/words.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/integer.hpp"
#include "model/numerics/rule_words.hpp"
#include "model/numerics/rules.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "cast";
constexpr std::size_t kDepthAxis = 3;  // of two
constexpr std::array<std::string_view, 6> kTaken{"profile", "rounding", "overflow", "flush", "nan", "flags"};
constexpr std::array<std::string_view, kInputKinds> kInputNames{
    "zero", "infinity", "quiet NaN", "signalling NaN", "beyond the largest", "below the smallest", "in range"};

constexpr std::array<std::string_view, 3> kFlagWords{"no", "yes", "ieee"};  // by FlagSet
constexpr std::uint32_t kIeeeFlags = 0x1F;

std::uint32_t lane_mask(int bits) { return bits == 32 ? 0xFFFFFFFFU : (1U << bits) - 1U; }
std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }

bool is_subnormal_code(std::uint32_t code, const Format& format) {
  return format.encoding == Encoding::floating && ((code & ~sign_bit(format)) >> format.mantissa_bits) == 0;
}

/// A NaN with its top mantissa bit clear, in formats where that has a meaning.
bool is_signalling(std::uint32_t code, const Format& format) {
  return format.specials == Specials::ieee && is_nan_code(format, code) && ((code >> (format.mantissa_bits - 1)) & 1U) == 0;
}

int top_exponent(const Value& value) { return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1; }

class ConversionOp final : public VectorOp {
 public:
  ConversionOp(std::string name, ConversionSubject subject);

  void evaluate(Lanes operands, MutableLanes results) const override;
  void mask(Lanes operands, Lanes results, MutableLanes masks) const override;
  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override;
  std::string why_unreachable(std::size_t axis, std::size_t bin) const override;
  void directed(const std::function<void(Lanes)>& sink) const override;
  void random(support::SplitMix64& random, MutableLanes operands) const override;
  std::string_view kind(Lanes operands, Lanes right) const override;
  std::optional<Value> exact(Lanes operands, Lanes right, std::size_t lane) const override;
  std::vector<WrongRule> wrong_rules() const override;
  std::vector<Composition> compositions(std::span<const WrongAnswer> wrong) const override;

 private:
  Random draw_of(Lanes operands) const { return subject_.how.random_bits > 0 ? Random(operands[1]) : std::nullopt; }
  InputKind kind_of(std::uint32_t code, const Value& value) const;
  std::optional<RoundingCell> cell_of(const Value& value, std::uint32_t result, bool overflows) const;

  ConversionSubject subject_;
  std::vector<Point> points_;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> point_bins_;  // code and bin, sorted
  Value largest_;
};

ConversionOp::ConversionOp(std::string name, ConversionSubject subject)
    : VectorOp(std::move(name), kFamily, subject.edition),
      subject_(std::move(subject)),
      points_(points_of(*subject_.from, *subject_.to)),
      largest_(decode(*subject_.to, max_finite_code(*subject_.to))) {
  const Conversion& how = subject_.how;
  operands_.push_back({"a", 1, subject_.from->width, subject_.from});
  if (how.random_bits > 0) operands_.push_back({"random", 1, how.random_bits});
  results_.push_back({"r", 1, subject_.to->width, subject_.to});
  if (subject_.flags != FlagSet::none) results_.push_back({"flags", 1, 8, nullptr, true});
  settings_ = {{"profile", subject_.profile},
               {"rounding", std::string(mx::name_of(how.rounding))},
               {"overflow", std::string(mx::name_of(how.overflow))},
               {"nan", nan_words(how, *subject_.to)},
               {"nan-compare", subject_.nan_is_free ? "free" : "exact"},
               {"flush", std::string(flush_word(how.flush))},
               {"flags", std::string(kFlagWords[static_cast<std::size_t>(subject_.flags)])}};
  CoverageAxis rounding{"rounding", {}};
  for (std::size_t i = 0; i < RoundingCell::kCount; ++i) rounding.bins.push_back(RoundingCell::at(i).name());
  CoverageAxis input{"input", {}};
  for (std::size_t i = 0; i < 2 * kInputKinds; ++i)
    input.bins.push_back(fmt::format("{} {}", i < kInputKinds ? '+' : '-', kInputNames[i % kInputKinds]));
  CoverageAxis point{"point", {}};
  for (std::size_t i = 0; i < points_.size(); ++i) {
    point.bins.push_back(points_[i].name);
    if (points_[i].code) point_bins_.emplace_back(*points_[i].code, static_cast<std::uint8_t>(i + 1));
  }
  // Two points of a narrow format may be one value: the first one has it.
  std::ranges::stable_sort(point_bins_, {}, &std::pair<std::uint32_t, std::uint8_t>::first);
  axes_ = {std::move(rounding), std::move(input), std::move(point)};
  if (edition() != Edition::v1 && has_depth(*subject_.from)) {
    for (std::string_view question : kDepthQuestions) axes_.push_back({std::string(question), depth_bins(*subject_.from)});
  }
}

void ConversionOp::evaluate(Lanes operands, MutableLanes results) const {
  const Answered answer = converted(operands[0], *subject_.from, *subject_.to, subject_.how, subject_.flags, draw_of(operands));
  results[0] = answer.code;
  if (subject_.flags != FlagSet::none) results[1] = answer.flags;
}

void ConversionOp::mask(Lanes operands, Lanes results, MutableLanes masks) const {
  VectorOp::mask(operands, results, masks);
  const Format& to = *subject_.to;
  if (subject_.flags == FlagSet::ieee) masks[1] &= kIeeeFlags;
  if (!subject_.nan_is_free || !is_nan_code(to, results[0])) return;
  masks[0] &= ~sign_bit(to) | (nan_is_negative_zero(to) ? sign_bit(to) : 0U);
  // Below the quiet bit lies the payload.
  if (to.specials == Specials::ieee) masks[0] &= ~((1U << (to.mantissa_bits - 1)) - 1U);
}

InputKind ConversionOp::kind_of(std::uint32_t code, const Value& value) const {
  switch (value.cls) {
    case ValueClass::zero: return InputKind::zero;
    case ValueClass::infinity: return InputKind::infinity;
    case ValueClass::nan: return is_signalling(code, *subject_.from) ? InputKind::signalling_nan : InputKind::quiet_nan;
    case ValueClass::finite: break;
  }
  const GridPlace place = place_on_grid(value, *subject_.to);
  const GridPlace last = place_on_grid(largest_, *subject_.to);
  const bool beyond = place.unit > last.unit || (place.unit == last.unit && place.floor > last.floor);
  if (beyond) return InputKind::beyond;
  // E8M0 has neither zero nor subnormals: whatever lies below its smallest power becomes it.
  const bool below = subject_.to->encoding == Encoding::exponent_only && top_exponent(value) < -subject_.to->bias;
  return below ? InputKind::below : InputKind::in_range;
}

std::optional<RoundingCell> ConversionOp::cell_of(const Value& value, std::uint32_t result, bool overflows) const {
  const Format& to = *subject_.to;
  if (value.negative && !to.has_sign && (subject_.how.negative_is_nan || subject_.how.fine.negative != NegativeRule::as_said)) return std::nullopt;
  const GridPlace place = place_on_grid(value, to);
  // E8M0 has no mantissa: what is odd or even is the code.
  const bool odd = to.encoding == Encoding::exponent_only ? ((top_exponent(value) + to.bias) & 1) != 0 : (place.floor & 1U) != 0;
  RoundingCell cell{value.negative, place.below, odd, Outcome::normal};
  if (overflows) {
    cell.outcome = Outcome::overflow;
  } else if (const Value rounded = decode(to, result); rounded.cls == ValueClass::zero || is_subnormal_code(result, to)) {
    cell.outcome = to.encoding == Encoding::floating ? Outcome::subnormal : Outcome::normal;
  } else if (to.encoding != Encoding::fixed_point && rounded.cls == ValueClass::finite && top_exponent(rounded) > top_exponent(value)) {
    cell.outcome = Outcome::carry;
  }
  return cell;
}

void ConversionOp::bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const {
  std::ranges::fill(bins, std::uint8_t{0});
  const Value value = decode(*subject_.from, operands[0]);
  Flags flags;
  if (value.cls == ValueClass::finite) convert(operands[0], *subject_.from, *subject_.to, subject_.how, flags, draw_of(operands));
  const InputKind kind = kind_of(operands[0], value);
  bins[1] = static_cast<std::uint8_t>(static_cast<std::size_t>(kind) + (value.negative ? kInputKinds : 0U) + 1U);
  if (kind == InputKind::in_range) {
    if (const auto cell = cell_of(value, results[0], flags.overflow)) bins[0] = static_cast<std::uint8_t>(cell->index() + 1U);
  }
  const auto point = std::ranges::lower_bound(point_bins_, operands[0], {}, &std::pair<std::uint32_t, std::uint8_t>::first);
  if (point != point_bins_.end() && point->first == operands[0]) bins[2] = point->second;
  if (axes_.size() <= kDepthAxis) return;
  for (std::size_t side = 0; side < kDepthQuestions.size(); ++side) {
    const std::optional<std::uint32_t> other = stepped(operands[0], *subject_.from, side == 1);
    if (other && convert(*other, *subject_.from, *subject_.to, subject_.how, flags, draw_of(operands)) != results[0])
      bins[kDepthAxis + side] = depth_bin(operands[0], *subject_.from);
  }
}

std::string ConversionOp::why_unreachable(std::size_t axis, std::size_t bin) const {
  const Format& from = *subject_.from;
  if (axis == 0) {
    const std::string why = why_no_cell(RoundingCell::at(bin), subject_);
    return why.empty() ? fmt::format("no value of {} lies there", from.name) : why;
  }
  if (axis == 2) {
    if (!points_[bin].code) return fmt::format("{} has no such value", from.name);
    return "the same value as another point";
  }
  if (axis >= kDepthAxis) {
    return fmt::format("{} gives every {} whose last set bit this is the same {} with {}", mx::name_of(subject_.how.rounding), from.name,
                       subject_.to->name, axis == kDepthAxis ? "and without it" : "another one of it");
  }
  if (bin >= kInputKinds && !from.has_sign) return fmt::format("{} has no sign", from.name);
  switch (static_cast<InputKind>(bin % kInputKinds)) {
    case InputKind::zero: return fmt::format("{} has no such zero", from.name);
    case InputKind::infinity: return fmt::format("{} has no infinity", from.name);
    case InputKind::signalling_nan: return fmt::format("{} does not tell signalling NaNs from quiet ones", from.name);
    case InputKind::quiet_nan: return fmt::format("{} has no such NaN", from.name);
    case InputKind::beyond: return fmt::format("{} ends below the largest value of {}", from.name, subject_.to->name);
    case InputKind::below:
      return subject_.to->encoding == Encoding::exponent_only ? fmt::format("{} has no value below the smallest of {}", from.name, subject_.to->name)
                                                              : fmt::format("{} reaches down to zero", subject_.to->name);
    case InputKind::in_range: break;
  }
  return fmt::format("every value of {} lies beyond {}", from.name, subject_.to->name);
}

void ConversionOp::directed(const std::function<void(Lanes)>& sink) const {
  std::vector<std::uint32_t> codes = directed_codes(*subject_.from, *subject_.to);
  if (edition() != Edition::v1) {
    std::set<std::uint32_t> seen(codes.begin(), codes.end());
    for (std::uint32_t code : deciding_codes(*subject_.from, *subject_.to, subject_.how.rounding)) {
      if (seen.insert(code).second) codes.push_back(code);
    }
  }
  if (subject_.how.random_bits == 0) {
    for (std::uint32_t code : codes) sink(std::array{code});
    return;
  }
  const std::uint32_t last = lane_mask(subject_.how.random_bits);
  for (std::uint32_t code : codes) {
    for (std::uint32_t draw : {0U, 1U, last / 2U, last / 2U + 1U, last}) sink(std::array{code, draw});
  }
}

void ConversionOp::random(support::SplitMix64& random, MutableLanes operands) const {
  const Format& from = *subject_.from;
  const std::uint64_t word = random.next();
  auto code = static_cast<std::uint32_t>(word) & lane_mask(from.width);
  // Three of four: an exponent at which the target still rounds, from two binades below its subnormals to two above its largest value.
  if (from.encoding == Encoding::floating && from.width > 8 && (word >> 62U) != 0) {
    const int high = top_exponent(largest_) + 2;
    const int low = (subject_.to->encoding == Encoding::floating ? 1 - subject_.to->bias - subject_.to->mantissa_bits : -subject_.to->bias - 6) - 2;
    const int exponent = low + static_cast<int>((word >> 32U) % static_cast<std::uint64_t>(high - low + 1));
    const int field = std::clamp(exponent + from.bias, 0, (1 << from.exponent_bits) - 1);
    const std::uint32_t exponent_mask = lane_mask(from.exponent_bits) << from.mantissa_bits;
    code = (code & ~exponent_mask) | (static_cast<std::uint32_t>(field) << from.mantissa_bits);
  }
  operands[0] = code;
  if (subject_.how.random_bits > 0) operands[1] = static_cast<std::uint32_t>(random.next()) & lane_mask(subject_.how.random_bits);
}

std::string_view ConversionOp::kind(Lanes operands, Lanes right) const {
  const Value value = decode(*subject_.from, operands[0]);
  if (value.cls == ValueClass::nan) return "NaN input";
  if (value.cls == ValueClass::infinity) return "infinite input";
  if (value.cls == ValueClass::zero) return "zero input";
  if (value.negative && !subject_.to->has_sign) return "negative input";
  Flags flags;
  convert(operands[0], *subject_.from, *subject_.to, subject_.how, flags, draw_of(operands));
  if (flags.overflow) return "overflow";
  const GridPlace place = place_on_grid(value, *subject_.to);
  if (is_subnormal_code(right[0], *subject_.to)) return place.below == 0 ? "subnormal result, exact" : "subnormal result, rounded";
  if (place.below == 4) return "tie";
  return place.below == 0 ? "exact" : "rounded";
}

std::vector<WrongRule> ConversionOp::wrong_rules() const { return conversion_wrong_rules(subject_, results_); }

std::optional<Value> ConversionOp::exact(Lanes operands, Lanes /*right*/, std::size_t lane) const {
  return lane == 0 ? std::optional(decode(*subject_.from, operands[0])) : std::nullopt;
}

std::vector<Composition> ConversionOp::compositions(std::span<const WrongAnswer> wrong) const {
  const auto under = [from = subject_.from, to = subject_.to, set = subject_.flags](const Conversion& how, Lanes operands, MutableLanes answer) {
    const Answered given = converted(operands[0], *from, *to, how, set, how.random_bits > 0 ? Random(operands[1]) : std::nullopt);
    answer[0] = given.code;
    if (answer.size() > 1) answer[1] = given.flags;
  };
  return compositions_of({std::string(subject_.from->name), subject_.from, subject_.to, subject_.how, subject_.flags == FlagSet::ieee}, wrong, under);
}

FlagSet flag_set_named(std::string_view word) {
  const auto found = std::ranges::find(kFlagWords, word);
  if (found != kFlagWords.end()) return static_cast<FlagSet>(found - kFlagWords.begin());
  throw Error(ErrorCode::usage, unknown_name("flags", word, kFlagWords));
}

/// Whether vectors can hold it: no NaN is refused, no value changed before, no bits of the source moved.
bool is_a_rounding(const Conversion& how) {
  return how.nan_rule != NanRule::refused && how.before == Preparation{} && !reads_source_bits(how.rounding);
}

/// The profile that was asked for, by name or by its rules.
const Profile& chosen_profile(const Format& from, const Format& to, const OpOptions& options) {
  // Canonical words; empty: not asked for.
  const std::string_view rounding = options.get("rounding") ? mx::name_of(rounding_named(*options.get("rounding"))) : "";
  const std::string_view overflow = options.get("overflow") ? mx::name_of(overflow_named(*options.get("overflow"))) : "";
  const auto fits = [&](const Profile& profile) {
    const Conversion* how = find_conversion(profile, from, to);
    return how != nullptr && (rounding.empty() || mx::name_of(how->rounding) == rounding) &&
           (overflow.empty() || mx::name_of(how->overflow) == overflow);
  };
  if (const auto name = options.get("profile")) {
    const Profile& profile = profile_for(profile_named(*name), to);
    const Conversion& how = conversion(profile, from, to);
    if (fits(profile)) return profile;
    throw Error(ErrorCode::usage, fmt::format("profile '{}' converts {} -> {} with {}, {}: not as asked", profile.name, from.name, to.name,
                                              mx::name_of(how.rounding), mx::name_of(how.overflow)));
  }
  const Profile& own = profile_for(profile_named(kOcp), to);
  if ((rounding.empty() && overflow.empty()) || is_of_rules(own)) {
    const Conversion& how = conversion(own, from, to);
    if (fits(own)) return own;
    throw Error(ErrorCode::usage,
                fmt::format("'{}' converts with {}, {}: not as asked", to.name, mx::name_of(how.rounding), mx::name_of(how.overflow)));
  }
  const auto profiles = all_profiles();
  const auto found =
      std::ranges::find_if(profiles, [&](const Profile& profile) { return fits(profile) && is_a_rounding(conversion(profile, from, to)); });
  if (found != profiles.end()) return *found;
  // No named profile has both: the words that were given, and for the other one that of the format's own conversion.
  const Conversion* usual = find_conversion(own, from, to);
  const Rounding round = !rounding.empty() ? rounding_named(rounding) : usual != nullptr ? usual->rounding : Rounding::nearest_even;
  const std::string_view end = !overflow.empty() ? overflow : mx::name_of(usual != nullptr ? usual->overflow : Overflow::ieee);
  return profile_for(profile_named(fmt::format("round={},overflow={}", rules::word_of(round), end)), to);
}

}  // namespace

std::uint32_t flag_bits(const Flags& flags) {
  const std::array set{flags.inexact, flags.underflow, flags.overflow, false, flags.invalid, flags.saturated, flags.nan, flags.flushed};
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < set.size(); ++i) bits |= set[i] ? 1U << i : 0U;
  return bits;
}

Answered converted(std::uint32_t code, const Format& from, const Format& to, const Conversion& how, FlagSet set, Random draw) {
  if (set == FlagSet::ieee) {
    IeeeFlags raised;
    const std::uint32_t result = convert_ieee(code, from, to, how, raised, draw);
    return {result, flag_bits(raised)};
  }
  Flags flags;
  const std::uint32_t result = convert(code, from, to, how, flags, draw);
  return {result, set == FlagSet::own ? flag_bits(flags) : 0U};
}

Answered encoded(const Value& value, const Format& to, const Conversion& how, FlagSet set, Random draw) {
  if (set == FlagSet::ieee) {
    IeeeFlags raised;
    const std::uint32_t result = encode_ieee(value, to, how, raised, draw);
    return {result, flag_bits(raised)};
  }
  Flags flags;
  const std::uint32_t result = encode(value, to, how, flags, draw);
  return {result, set == FlagSet::own ? flag_bits(flags) : 0U};
}

std::vector<std::string> conversion_names() {
  std::vector<std::string> names;
  for (const Format& from : all_formats()) {
    for (const Format& to : all_formats()) {
      if (from != to) names.push_back(fmt::format("{}_to_{}", from.name, to.name));
    }
  }
  return names;
}

std::unique_ptr<VectorOp> make_conversion(std::string_view name, const OpOptions& options) {
  const std::size_t middle = name.find("_to_");
  if (middle == std::string_view::npos || name.substr(0, middle).find('_') != std::string_view::npos) return nullptr;
  if (is_integer(name.substr(0, middle)) || is_integer(name.substr(middle + 4))) return nullptr;
  const Format& from = format_named(name.substr(0, middle));
  const Format& to = format_named(name.substr(middle + 4));
  const std::string canonical = fmt::format("{}_to_{}", from.name, to.name);
  require_taken(canonical, options, kTaken);
  const Profile& profile = chosen_profile(from, to, options);
  Conversion how = conversion(profile, from, to);
  if (how.nan_rule == NanRule::refused) {
    if (profile.name == to.name) throw Error(ErrorCode::usage, fmt::format("{} does not say which code a NaN gives: add nan=CODE", to.name));
    throw Error(ErrorCode::usage, fmt::format("profile '{}' refuses NaNs into {}: no vectors can hold its answer", profile.name, to.name));
  }
  if (how.before != Preparation{}) {
    throw Error(ErrorCode::usage,
                fmt::format("profile '{}' changes values before it rounds them into {}: vectors hold roundings alone", profile.name, to.name));
  }
  if (const auto flush = options.get("flush")) how.flush = flush_named(*flush);
  if (reads_source_bits(how.rounding)) {
    throw Error(ErrorCode::usage,
                fmt::format("profile '{}' moves the bits of {} into {}: vectors hold roundings alone", profile.name, from.name, to.name));
  }
  return std::make_unique<ConversionOp>(
      canonical, ConversionSubject{&from, &to, how, std::string(profile.name), yes_or_no("nan", options.get_or("nan", "exact"), "free", "exact"),
                                   flag_set_named(options.get_or("flags", "no")), options.edition()});
}

}  // namespace mx::golden
