// mxact encode and mxact decode: single values, with everything about them.

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/conversion_text.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/profile.hpp"
#include "verbs/compare/demand.hpp"

namespace mx::cli {
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

struct EncodeOptions {
  std::string format;
  std::vector<std::string> values;
  std::string source = "f32";
  std::string profile = std::string(kOcp);
  std::string rounding;
  std::string overflow;
  std::vector<std::string> random;
  bool json = false;
};

golden::ConversionDemand demand_of(const EncodeOptions& options) {
  golden::ConversionDemand demand;
  if (!options.rounding.empty()) demand.rounding = rounding_named(options.rounding);
  if (!options.overflow.empty()) demand.overflow = overflow_named(options.overflow);
  return demand;
}

/// The random number of value i: one for all values, or one for each.
Random random_of(const EncodeOptions& options, const Conversion& how, std::size_t i) {
  if (options.random.empty()) return std::nullopt;
  if (how.random_bits == 0) {
    throw Error(ErrorCode::usage, fmt::format("rounding {} of profile '{}' takes no random bits", name_of(how.rounding), options.profile),
                "--random");
  }
  if (options.random.size() != 1 && options.random.size() != options.values.size()) {
    throw Error(ErrorCode::usage,
                fmt::format("{} random numbers for {} values: give one, or one for each", options.random.size(), options.values.size()), "--random");
  }
  return parse_bits(options.random[options.random.size() == 1 ? 0 : i], kF32);
}

int encode_values(const EncodeOptions& options) {
  const Format& to = format_named(options.format);
  const Format& from = format_named(options.source);
  const Profile& profile = profile_named(options.profile);
  const Conversion& how = golden::demanded_conversion(profile, from, to, demand_of(options));
  if (how.random_bits != 0 && options.random.empty()) {
    throw Error(ErrorCode::usage, fmt::format("rounding {} of profile '{}' takes {} random bits: give them as --random", name_of(how.rounding),
                                              profile.name, how.random_bits));
  }
  Json json = json_head("encode");
  json["source"] = from.name;
  json["format"] = to.name;
  json["profile"] = profile.name;
  json.update(conversion_json(how, to));
  std::vector<std::vector<std::string>> rows{{"input", "bits", "code", "fields", "value", "flags"}};
  for (std::size_t i = 0; i < options.values.size(); ++i) {
    const std::string& text = options.values[i];
    const std::uint32_t input = parse_code(text, from);
    const Random random = random_of(options, how, i);
    Flags flags;
    const std::uint32_t code = convert(input, from, to, how, flags, random);
    rows.push_back({text, hex(input, from), hex(code, to), fields(code, to), decimal(decode(to, code)), flag_words(flags)});
    Json result{
        {"input", text}, {"bits", hex(input, from)}, {"code", hex(code, to)}, {"value", decimal(decode(to, code))}, {"flags", flag_words(flags)}};
    if (random) result["random"] = hex(*random, kF32);
    json["results"].push_back(result);
  }
  if (options.json) {
    print_json(json);
  } else {
    fmt::print("{} -> {}, profile {}: {}\n", from.name, to.name, profile.name, short_text(how));
    print_table(rows);
  }
  return 0;
}

struct DecodeOptions {
  std::string format;
  std::vector<std::string> codes;
  std::string scale;
  std::string profile;
  std::string target = "f32";
  std::string global_scale;
  std::string tensor_scale;
  bool json = false;
};

/// A block format is no format of single codes; mxint8 is both.
void require_element_format(const std::string& name) {
  const auto named = [&](const auto& format) { return same_name(format.name, name); };
  if (std::ranges::any_of(all_formats(), named) || std::ranges::none_of(all_block_formats(), named)) return;
  throw Error(ErrorCode::usage, fmt::format("{} is a block format: its codes need the scale of their block, --scale", name));
}

int decode_elements(const DecodeOptions& options) {
  require_element_format(options.format);
  if (!options.profile.empty() || options.target != "f32" || !options.global_scale.empty() || !options.tensor_scale.empty()) {
    throw Error(ErrorCode::usage, "--profile, --to, --global-scale and --tensor-scale are for codes of a block: give --scale too");
  }
  const Format& format = format_named(options.format);
  Json json = json_head("decode");
  json["format"] = format.name;
  std::vector<std::vector<std::string>> rows{{"code", "fields", "value", "f32 bits"}};
  for (const std::string& text : options.codes) {
    const std::uint32_t code = parse_bits(text, format);
    const std::string value = decimal(decode(format, code));
    rows.push_back({hex(code, format), fields(code, format), value, hex(to_f32(code, format), kF32)});
    json["results"].push_back(
        {{"code", hex(code, format)}, {"fields", fields(code, format)}, {"value", value}, {"f32", hex(to_f32(code, format), kF32)}});
  }
  if (options.json)
    print_json(json);
  else
    print_table(rows);
  return 0;
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

/// Codes of a block under one scale, as the profile dequantizes them; without a profile the exact product, rounded once.
int decode_scaled(const DecodeOptions& options) {
  const BlockFormat& format = block_format_named(options.format);
  const Format& target = format_named(options.target);
  // fp32 scales are numbers, as in quantize; the others are codes.
  const std::uint32_t scale = *format.scale == kF32 ? parse_code(options.scale, kF32) : parse_bits(options.scale, *format.scale);
  const TensorScale tensor{f32_option(options.global_scale), f32_option(options.tensor_scale)};
  const Dequantizer* how = options.profile.empty() ? nullptr : &dequantizer(profile_named(options.profile), format, target);
  if (how != nullptr) require_tensor_scales(*how, tensor);
  if (how == nullptr && (target != kF32 || tensor.encode || tensor.decode)) {
    throw Error(ErrorCode::usage, "the exact product is fp32 and takes no tensor scale: give --profile");
  }
  const std::string by = how == nullptr ? "the exact product" : fmt::format("profile {}", profile_named(options.profile).name);
  Json json = json_head("decode");
  json["format"] = format.name;
  json["target"] = target.name;
  json["by"] = by;
  json["scale"] = {{"code", hex(scale, *format.scale)}, {"value", decimal(decode(*format.scale, scale))}};
  std::vector<std::vector<std::string>> rows{{"code", "element", "bits", "value"}};
  for (const std::string& text : options.codes) {
    const std::uint32_t code = parse_bits(text, *format.element);
    const std::uint32_t bits = how == nullptr ? dequantize(code, scale, format) : dequantize(code, scale, *how, tensor);
    const std::string element = decimal(decode(*format.element, code));
    rows.push_back({hex(code, *format.element), element, hex(bits, target), decimal(decode(target, bits))});
    json["results"].push_back(
        {{"code", hex(code, *format.element)}, {"element", element}, {"bits", hex(bits, target)}, {"value", decimal(decode(target, bits))}});
  }
  if (options.json) {
    print_json(json);
  } else {
    fmt::print("{} -> {}, scale {} = {}, by {}\n", format.name, target.name, hex(scale, *format.scale), decimal(decode(*format.scale, scale)), by);
    print_table(rows);
  }
  return 0;
}

}  // namespace

void add_encode(Verb app, Action& action) {
  const Verb verb = app.add_verb("encode", "codes of values: mxact encode e4m3fn 1.7 -0.01 0x7f800000");
  const auto options = std::make_shared<EncodeOptions>();
  verb.add_option("FORMAT", options->format, "target format (mxact formats lists them)").required();
  verb.add_option("VALUE", options->values, "decimal value, or bits as 0x..").required().transform(trimmed);
  verb.add_option("--from", options->source, "source format: f32 (default), bf16, fp16, or any other");
  verb.add_option("--profile", options->profile, "named rounding, overflow and NaN rule (default ocp)");
  verb.add_option("--rounding", options->rounding, "refuse a profile that rounds in another way");
  verb.add_option("--overflow", options->overflow, "refuse a profile that overflows in another way");
  verb.add_option("--random", options->random, "random bits of a stochastic rounding: one number, or one for each value, with commas").listed();
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return encode_values(*options); }; });
}

void add_decode(Verb app, Action& action) {
  const Verb verb = app.add_verb("decode", "values of codes: mxact decode e4m3fn 0x7e 0x01; mxact decode mxfp4 --scale 0x80 7");
  const auto options = std::make_shared<DecodeOptions>();
  verb.add_option("FORMAT", options->format, "format of the codes (mxact formats lists them); with --scale a block format").required();
  verb.add_option("CODE", options->codes, "code as 0x.. or a whole number").required().transform(trimmed);
  verb.add_option("--scale", options->scale,
                  "scale of the block that the codes stand in: a code, or for fp32 scales a decimal value or bits as 0x..");
  verb.add_option("--profile", options->profile, "whose dequantization of blocks (default: the exact product)");
  verb.add_option("--to", options->target, "what blocks are dequantized to: f32 (default), bf16, fp16");
  verb.add_option("--global-scale", options->global_scale, "encode scale g of the tensor, for profiles that take it");
  verb.add_option("--tensor-scale", options->tensor_scale, "decode scale 1/g of the tensor, for profiles that take it");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return options->scale.empty() ? decode_elements(*options) : decode_scaled(*options); }; });
}

}  // namespace mx::cli
