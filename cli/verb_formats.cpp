// mxact formats: every number format, block format, profile and arithmetic contract that the model has; or one profile with all its rows.

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/conversion_text.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/picture_file.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/profile.hpp"

namespace mx::cli {
namespace {

std::uint32_t smallest_positive_code(const Format& format) {
  // E8M0 has no zero: code 0 is its smallest value.
  return format.encoding == Encoding::exponent_only ? 0 : 1;
}

std::string special_codes(const Format& format) {
  if (format.width > 8) return "IEEE 754";
  std::string inf;
  std::string nan;
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
    if (is_inf_code(format, code)) inf += " " + hex(code, format);
    if (is_nan_code(format, code)) nan += " " + hex(code, format);
  }
  return (inf.empty() ? "" : "Inf" + inf + (nan.empty() ? "" : ", ")) + (nan.empty() ? "" : "NaN" + nan) + (inf.empty() && nan.empty() ? "none" : "");
}

/// "32", "128x128", or "any" for a format that takes whatever is handed over.
std::string block_text(const BlockFormat& format) {
  if (format.block_rows > 1) return fmt::format("{}x{}", format.block_rows, format.block / format.block_rows);
  return format.block == 0 ? "any" : std::to_string(format.block);
}

void print_text() {
  std::vector<std::vector<std::string>> rows{{"format", "bits", "exp", "man", "bias", "largest", "smallest", "specials", "source"}};
  for (const Format& format : all_formats()) {
    const std::uint32_t top = max_finite_code(format);
    rows.push_back({std::string(format.name), std::to_string(format.width), std::to_string(format.exponent_bits),
                    std::to_string(format.mantissa_bits), std::to_string(format.bias),
                    fmt::format("{} ({})", decimal(decode(format, top)), hex(top, format)), decimal(decode(format, smallest_positive_code(format))),
                    special_codes(format), std::string(format.source)});
  }
  print_table(rows);
  fmt::print("\n");
  rows = {{"block format", "element", "scale", "block", "source"}};
  for (const BlockFormat& block : all_block_formats()) {
    rows.push_back(
        {std::string(block.name), std::string(block.element->name), std::string(block.scale->name), block_text(block), std::string(block.source)});
  }
  print_table(rows);
  fmt::print("\n");
  rows = {{"profile", "implementation", "operation", "device", "build"}};
  for (const Profile& profile : all_profiles()) {
    rows.push_back({std::string(profile.name), std::string(profile.implementation), std::string(profile.operation), std::string(profile.device),
                    std::string(profile.build)});
  }
  print_table(rows);
  fmt::print("\n");
  rows = {{"contract", "grounds", "operands", "accumulation", "bias"}};
  for (const ContractRow& contract : all_contracts()) {
    rows.push_back({std::string(contract.name), std::string(name_of(contract.grounds)), std::string(contract.operands),
                    std::string(contract.accumulation), std::string(contract.bias)});
  }
  print_table(rows);
}

Json profile_json(const Profile& profile) {
  return {{"name", profile.name},           {"implementation", profile.implementation},
          {"operation", profile.operation}, {"device", profile.device},
          {"build", profile.build},         {"source", profile.source}};
}

/// The source format of a conversion; a row without one is for every source that has no row of its own.
std::string from_text(const ConversionRow& row) { return row.from == nullptr ? "any other" : std::string(row.from->name); }

void print_profile(const Profile& profile) {
  bool first = true;
  // The first table follows the head, each other one a blank line; a table without rows is left out.
  const auto print_rows = [&](const std::vector<std::vector<std::string>>& table) {
    if (table.size() < 2) return;
    if (!first) fmt::print("\n");
    print_table(table);
    first = false;
  };
  fmt::print("{}: {}, {}, on {}, build {}\nsource: {}\n", profile.name, profile.implementation, profile.operation, profile.device, profile.build,
             profile.source);
  std::vector<std::vector<std::string>> rows{{"from", "to", "rounding", "overflow", "NaN +, -", "zero", "negative", "random bits", "flushes"}};
  for (const ConversionRow& row : profile.conversions) {
    const Conversion& how = row.how;
    rows.push_back({from_text(row), std::string(row.to->name), std::string(name_of(how.rounding)), std::string(name_of(how.overflow)),
                    nan_text(how, *row.to), row.to->has_sign ? "" : hex(how.zero_code, *row.to),
                    row.to->has_sign ? "" : (how.negative_is_nan ? "nan" : "abs"), how.random_bits == 0 ? "" : std::to_string(how.random_bits),
                    std::string(flush_word(how.flush))});
  }
  print_rows(rows);
  rows = {{"recipe", "scale rule", "elements", "source"}};
  for (const Recipe& recipe : profile.recipes) {
    rows.push_back({std::string(recipe.format->name), std::string(scale_rule_name(recipe)),
                    gives_codes(recipe) ? short_text(element_conversion(recipe)) : "scales alone", std::string(recipe.source)});
  }
  print_rows(rows);
  rows = {{"dequantizes", "to", "source"}};
  for (const Dequantizer& row : profile.dequantizers) {
    rows.push_back({std::string(row.format->name), std::string(row.target->name), std::string(row.source)});
  }
  print_rows(rows);
}

Json profile_as_json(const Profile& profile) {
  Json json = json_head("formats");
  Json one = profile_json(profile);
  one["conversions"] = Json::array();
  for (const ConversionRow& row : profile.conversions) {
    Json entry{{"from", from_text(row)}, {"to", row.to->name}};
    entry.update(conversion_json(row.how, *row.to));
    one["conversions"].push_back(entry);
  }
  one["recipes"] = Json::array();
  for (const Recipe& recipe : profile.recipes) {
    Json entry{{"format", recipe.format->name}, {"scale_rule", scale_rule_name(recipe)}};
    if (gives_codes(recipe)) entry["element"] = conversion_json(element_conversion(recipe), *recipe.format->element);
    entry["source"] = recipe.source;
    one["recipes"].push_back(entry);
  }
  one["dequantizers"] = Json::array();
  for (const Dequantizer& row : profile.dequantizers) {
    one["dequantizers"].push_back({{"format", row.format->name}, {"target", row.target->name}, {"source", row.source}});
  }
  json["profile"] = one;
  return json;
}

/// A format as a row of the list.
Json format_json(const Format& format) {
  return {{"name", format.name},
          {"bits", format.width},
          {"exponent_bits", format.exponent_bits},
          {"mantissa_bits", format.mantissa_bits},
          {"bias", format.bias},
          {"signed", format.has_sign},
          {"max_finite_code", hex(max_finite_code(format), format)},
          {"max_finite", decimal(decode(format, max_finite_code(format)))},
          {"smallest_positive", decimal(decode(format, smallest_positive_code(format)))},
          {"source", format.source}};
}

/// Codes are listed where there are few enough to be read.
const Format& narrow_format(const std::string& name) {
  constexpr int kWidest = 8;
  const Format& format = format_named(name);
  if (format.width <= kWidest) return format;
  throw Error(ErrorCode::usage, fmt::format("{} has {} bits: codes are listed for formats of up to {}", format.name, format.width, kWidest),
              "--format");
}

void print_codes(const Format& format) {
  fmt::print("{}: {} bits, bias {}; {}\n", format.name, format.width, format.bias, format.source);
  std::vector<std::vector<std::string>> rows{{"code", "value"}};
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) rows.push_back({hex(code, format), decimal(decode(format, code))});
  print_table(rows);
}

Json codes_as_json(const Format& format) {
  Json json = json_head("formats");
  json["format"] = format_json(format);
  json["codes"] = Json::array();
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
    json["codes"].push_back({{"code", hex(code, format)}, {"value", decimal(decode(format, code))}});
  }
  return json;
}

Json as_json() {
  Json json = json_head("formats");
  for (const Format& format : all_formats()) json["formats"].push_back(format_json(format));
  for (const BlockFormat& block : all_block_formats()) {
    json["block_formats"].push_back({{"name", block.name},
                                     {"element", block.element->name},
                                     {"scale", block.scale->name},
                                     {"block", block.block},
                                     {"block_rows", block.block_rows},
                                     {"source", block.source}});
  }
  for (const Profile& profile : all_profiles()) {
    json["profiles"].push_back(profile_json(profile));
  }
  for (const ContractRow& contract : all_contracts()) {
    json["contracts"].push_back({{"name", contract.name},
                                 {"grounds", name_of(contract.grounds)},
                                 {"operands", contract.operands},
                                 {"accumulation", contract.accumulation},
                                 {"bias", contract.bias},
                                 {"source", contract.source}});
  }
  return json;
}

struct Options {
  std::string profile;
  std::string format;
  std::string output;
  bool force = false;
  bool json = false;
};

/// One profile, one format, or all of everything.
Json json_of(const Options& options) {
  if (!options.profile.empty()) return profile_as_json(profile_named(options.profile));
  return options.format.empty() ? as_json() : codes_as_json(narrow_format(options.format));
}

void print(const Options& options) {
  if (!options.profile.empty())
    print_profile(profile_named(options.profile));
  else if (!options.format.empty())
    print_codes(narrow_format(options.format));
  else
    print_text();
}

int formats(const Options& options) {
  if (!options.output.empty()) {
    require_svg(options.output, options.force);
    write_picture(options.output, json_of(options), options.force);
  }
  if (options.json)
    print_json(json_of(options));
  else if (options.output.empty())
    print(options);
  return 0;
}

}  // namespace

void add_formats(Verb app, Action& action) {
  const Verb verb = app.add_verb("formats", "every number format, block format, profile and contract; or one profile, or one format's codes");
  const auto options = std::make_shared<Options>();
  const Option profile = verb.add_option("--profile", options->profile, "show the conversions, recipes and dequantizers of this profile");
  verb.add_option("--format", options->format, "show every code of this format, of up to 8 bits").excludes(profile);
  verb.add_option("-o,--output", options->output, "writes a picture, FILE.svg, instead: all narrow formats on a number line, or one format's codes")
      .excludes(profile);
  verb.add_flag("--force", options->force, "overwrite the file");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return formats(*options); }; });
}

}  // namespace mx::cli
