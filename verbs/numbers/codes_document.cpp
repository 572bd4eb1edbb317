#include "verbs/numbers/codes_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/rules.hpp"
#include "model/numerics/shared_random.hpp"
#include "model/numerics/wide_source.hpp"
#include "verbs/compare/demand.hpp"
#include "verbs/numbers/conversion_text.hpp"
#include "verbs/numbers/numbers.hpp"

namespace mx::verbs {
namespace {

/// "1 1111 110": sign, exponent and mantissa fields as bits.
std::string fields(std::uint32_t code, const Format& format) {
  std::string bits;
  for (int bit = format.width - 1; bit >= 0; --bit) {
    bits += (code >> bit & 1U) != 0 ? '1' : '0';
    const bool after_sign = format.has_sign && bit == format.width - 1;
    const bool after_exponent = format.exponent_bits > 0 && bit == format.mantissa_bits;
    if (bit > 0 && (after_sign || after_exponent)) bits += ' ';
  }
  return bits;
}

ConversionDemand demand_of(const EncodeRequest& request) {
  ConversionDemand demand;
  if (!request.rounding.empty()) demand.rounding = rounding_named(request.rounding);
  if (!request.overflow.empty()) demand.overflow = overflow_named(request.overflow);
  return demand;
}

/// The random number of value i of a word that it shares with its neighbours.
Random random_of_words(const EncodeRequest& request, const Format& to, std::size_t i) {
  const auto together = static_cast<std::size_t>(numbers_of_word(to)), wanted = (request.values.size() + together - 1) / together;
  if (!request.random.empty()) throw Error(ErrorCode::usage, "stands beside --random: give one of them", "--random-words");
  if (request.random_words.size() != wanted) {
    throw Error(ErrorCode::usage,
                fmt::format("{} words for {} values of which {} share one", request.random_words.size(), request.values.size(), together),
                "--random-words");
  }
  return random_of_word(parse_bits(request.random_words[i / together], kF32), static_cast<int>(i % together), to);
}

/// The random number of value i: one for all values, or one for each.
Random random_of(const EncodeRequest& request, const Conversion& how, const Format& to, std::size_t i) {
  if (!request.random_words.empty()) return random_of_words(request, to, i);
  if (request.random.empty()) return std::nullopt;
  if (how.random_bits == 0) {
    throw Error(ErrorCode::usage, fmt::format("rounding {} of profile '{}' takes no random bits", name_of(how.rounding), request.profile),
                "--random");
  }
  if (request.random.size() != 1 && request.random.size() != request.values.size()) {
    throw Error(ErrorCode::usage,
                fmt::format("{} random numbers for {} values: give one, or one for each", request.random.size(), request.values.size()), "--random");
  }
  return parse_bits(request.random[request.random.size() == 1 ? 0 : i], kF32);
}

/// A block format is no format of single codes; mxint8 is both.
void require_element_format(const std::string& name) {
  const auto named = [&](const auto& format) { return same_name(format.name, name); };
  if (std::ranges::any_of(all_formats(), named) || std::ranges::none_of(all_block_formats(), named)) return;
  throw Error(ErrorCode::usage, fmt::format("{} is a block format: its codes need the scale of their block, --scale", name));
}

std::optional<std::uint32_t> f32_option(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_code(text, kF32);
}

/// Throws Error(usage) naming the option when the profile takes a scale of the tensor that is not given.
void require_tensor_scales(const Dequantizer& how, const TensorScale& tensor) {
  const auto require = [&](TensorUse use, bool given, const char* option) {
    if (how.tensor != use || given) return;
    throw Error(ErrorCode::usage, fmt::format("{} is dequantized with the scale of the tensor: give it as {}", how.format->name, option));
  };
  require(TensorUse::divides_scale, tensor.encode.has_value(), "--global-scale");
  require(TensorUse::multiplies_scale, tensor.decode.has_value(), "--tensor-scale");
}

Document decode_elements(const DecodeRequest& request) {
  require_element_format(request.format);
  if (!request.profile.empty() || request.target != "f32" || !request.global_scale.empty() || !request.tensor_scale.empty()) {
    throw Error(ErrorCode::usage, "--profile, --to, --global-scale and --tensor-scale are for codes of a block: give --scale too");
  }
  const Format& format = is_rules(request.format) ? any_format_named(request.format) : factor_format_named(request.format);
  Document document{"decode"};
  document.value("format", format.name);
  std::vector<Column> columns{{"code", "code"}, {"fields", "fields"}, {"value", "value"}};
  const bool fits = fits_f32(format);
  if (fits) columns.emplace_back("f32", "f32 bits");
  Table results{"results", std::move(columns)};
  for (const std::string& text : request.codes) {
    const std::uint32_t code = parse_bits(text, format);
    std::vector<Cell> row{hex(code, format), fields(code, format), decimal(decode(format, code))};
    if (fits) row.emplace_back(hex(to_f32(code, format), kF32));
    results.add(std::move(row));
  }
  document.table(std::move(results));
  return document;
}

/// Codes of a block under one scale, as the profile dequantizes them; without a profile the exact product, rounded once.
Document decode_scaled(const DecodeRequest& request) {
  const BlockFormat& format = block_format_named(request.format);
  const Format& target = format_named(request.target);
  // fp32 scales are numbers, as in quantize; the others are codes.
  const std::uint32_t scale = *format.scale == kF32 ? parse_code(request.scale, kF32) : parse_bits(request.scale, *format.scale);
  const TensorScale tensor{f32_option(request.global_scale), f32_option(request.tensor_scale)};
  const Dequantizer* how = request.profile.empty() ? nullptr : &dequantizer(profile_named(request.profile), format, target);
  if (how != nullptr) require_tensor_scales(*how, tensor);
  if (how == nullptr && (target != kF32 || tensor.encode || tensor.decode)) {
    throw Error(ErrorCode::usage, "the exact product is fp32 and takes no tensor scale: give --profile");
  }
  constexpr std::uint32_t kTop = 0x80;
  const bool signed_scale = *format.scale == kE4m3fn && (scale & kTop) != 0;
  const std::string by = how == nullptr ? "the exact product" : fmt::format("profile {}", profile_named(request.profile).name);
  const std::string code = hex(scale, *format.scale);
  const std::string value = decimal(decode(*format.scale, scale));
  Document document{"decode"};
  document.value("format", format.name);
  document.value("target", target.name);
  document.value("by", by);
  document.value("scale", {{"code", code}, {"value", value}});
  document.line(fmt::format("{} -> {}, scale {} = {}, by {}", format.name, target.name, code, value, by));
  if (signed_scale)
    document.note(fmt::format("the scale has its top bit set: as ue4m3, which tensor cores read, it has seven bits and is {} = {}",
                              hex(scale & ~kTop, *format.scale), decimal(decode(*format.scale, scale & ~kTop))));
  Table results{"results", {{"code", "code"}, {"element", "element"}, {"bits", "bits"}, {"value", "value"}}};
  for (const std::string& text : request.codes) {
    const std::uint32_t element = parse_bits(text, *format.element);
    const std::uint32_t bits = how == nullptr ? dequantize(element, scale, format) : dequantize(element, scale, *how, tensor);
    results.add({hex(element, *format.element), decimal(decode(*format.element, element)), hex(bits, target), decimal(decode(target, bits))});
  }
  document.table(std::move(results));
  return document;
}

/// Whether the conversion can be asked about a number that its source format does not hold: not where it looks at the source's own bits.
bool rounds_numbers(const Conversion& how) {
  return how.flush == Flush::none && how.rounding != Rounding::stochastic_add && !reads_source_bits(how.rounding);
}

}  // namespace

Document encode_document(const EncodeRequest& request) {
  const Format& to = any_format_named(request.format);
  const Format& from = source_named(request.source);
  const Profile& profile = profile_for(profile_named(request.profile), to);
  const Conversion& how = demanded_conversion(profile, from, to, demand_of(request));
  if (how.random_bits != 0 && request.random.empty() && request.random_words.empty()) {
    throw Error(ErrorCode::usage, fmt::format("rounding {} of profile '{}' takes {} random bits: give them as --random", name_of(how.rounding),
                                              profile.name, how.random_bits));
  }
  Document document{"encode"};
  document.value("source", from.name);
  document.value("format", to.name);
  document.value("profile", profile.name);
  const Json how_json = conversion_json(how, to);
  for (const support::JsonMember& member : how_json.items()) document.value(member.key, member.value);
  // A format that says its own rules is its profile.
  const std::string by = profile.name == to.name ? "" : fmt::format(", profile {}", profile.name);
  document.line(fmt::format("{} -> {}{}: {}", from.name, to.name, by, short_text(how)));
  if (how.rounding == Rounding::nearest_up) document.line("nearest_up: a tie goes up, and a number above 2^-127 has no code below 1");
  Table results{
      "results",
      {{"input", "input"}, {"bits", "bits"}, {"code", "code"}, in_text("fields"), {"value", "value"}, {"flags", "flags"}, in_json("random")}};
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    const std::string& text = request.values[i];
    const Typed input = parse_typed(text, from);
    const Random random = random_of(request, how, to, i);
    Flags flags;
    const bool once = input.exact && rounds_numbers(how);
    const std::uint32_t code = once ? encode(*input.exact, to, how, flags, random) : convert_source(input.code, from, to, how, flags, random);
    results.add({text, hex(input.code, from), hex(code, to), fields(code, to), decimal(decode(to, code)), flag_words(flags),
                 random ? Cell(hex(*random, kF32)) : Cell::none()});
  }
  document.table(std::move(results));
  return document;
}

Document decode_document(const DecodeRequest& request) { return request.scale.empty() ? decode_elements(request) : decode_scaled(request); }

}  // namespace mx::verbs
