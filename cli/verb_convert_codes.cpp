// mxact encode and mxact decode: single values, with everything about them.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/numerics/profile.hpp"

namespace mx::cli {
namespace {

std::string flag_words(const Flags& flags) {
  std::string words;
  const auto add = [&](bool set, const char* word) {
    if (set) words += (words.empty() ? "" : " ") + std::string(word);
  };
  add(flags.inexact, "inexact");
  add(flags.underflow, "underflow");
  add(flags.overflow, "overflow");
  add(flags.invalid, "invalid");
  add(flags.saturated, "saturated");
  return words;
}

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
  bool json = false;
};

int encode_values(const EncodeOptions& options) {
  const Format& to = format_named(options.format);
  const Format& from = format_named(options.source);
  const Profile& profile = profile_named(options.profile);
  const Conversion how = conversion(profile, from, to);
  Json json = json_head("encode");
  json["source"] = from.name;
  json["format"] = to.name;
  json["profile"] = profile.name;
  json["rounding"] = name_of(how.rounding);
  json["overflow"] = name_of(how.overflow);
  std::vector<std::vector<std::string>> rows{{"input", "bits", "code", "fields", "value", "flags"}};
  for (const std::string& text : options.values) {
    const std::uint32_t input = parse_code(text, from);
    Flags flags;
    const std::uint32_t code = convert(input, from, to, how, flags);
    rows.push_back({text, hex(input, from), hex(code, to), fields(code, to), decimal(decode(to, code)), flag_words(flags)});
    json["results"].push_back(
        {{"input", text}, {"bits", hex(input, from)}, {"code", hex(code, to)}, {"value", decimal(decode(to, code))}, {"flags", flag_words(flags)}});
  }
  if (options.json) {
    print_json(json);
  } else {
    fmt::print("{} -> {}, profile {}: {}, {}\n", from.name, to.name, profile.name, name_of(how.rounding), name_of(how.overflow));
    print_table(rows);
  }
  return 0;
}

struct DecodeOptions {
  std::string format;
  std::vector<std::string> codes;
  bool json = false;
};

int decode_codes(const DecodeOptions& options) {
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

}  // namespace

void add_encode(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("encode", "codes of values: mxact encode e4m3fn 1.7 -0.01 0x7f800000");
  const auto options = std::make_shared<EncodeOptions>();
  verb->add_option("FORMAT", options->format, "target format (mxact formats lists them)")->required();
  verb->add_option("VALUE", options->values, "decimal value, or bits as 0x..")->required()->transform(trimmed);
  verb->add_option("--from", options->source, "source format: f32 (default), bf16, fp16, or any other");
  verb->add_option("--profile", options->profile, "named rounding, overflow and NaN rule (default ocp)");
  verb->add_flag("--json", options->json, "machine-readable output");
  verb->callback([&action, options] { action = [options] { return encode_values(*options); }; });
}

void add_decode(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("decode", "values of codes: mxact decode e4m3fn 0x7e 0x01");
  const auto options = std::make_shared<DecodeOptions>();
  verb->add_option("FORMAT", options->format, "format of the codes (mxact formats lists them)")->required();
  verb->add_option("CODE", options->codes, "code as 0x.. or a whole number")->required()->transform(trimmed);
  verb->add_flag("--json", options->json, "machine-readable output");
  verb->callback([&action, options] { action = [options] { return decode_codes(*options); }; });
}

}  // namespace mx::cli
