// mxact formats: every number format, block format and profile that the model has.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
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
    rows.push_back({std::string(block.name), std::string(block.element->name), std::string(block.scale->name), std::to_string(block.block),
                    std::string(block.source)});
  }
  print_table(rows);
  fmt::print("\n");
  rows = {{"profile", "implementation", "operation", "device", "build"}};
  for (const Profile& profile : all_profiles()) {
    rows.push_back({std::string(profile.name), std::string(profile.implementation), std::string(profile.operation), std::string(profile.device),
                    std::string(profile.build)});
  }
  print_table(rows);
}

void print_as_json() {
  Json json = json_head("formats");
  for (const Format& format : all_formats()) {
    json["formats"].push_back({{"name", format.name},
                               {"bits", format.width},
                               {"exponent_bits", format.exponent_bits},
                               {"mantissa_bits", format.mantissa_bits},
                               {"bias", format.bias},
                               {"signed", format.has_sign},
                               {"max_finite_code", hex(max_finite_code(format), format)},
                               {"max_finite", decimal(decode(format, max_finite_code(format)))},
                               {"smallest_positive", decimal(decode(format, smallest_positive_code(format)))},
                               {"source", format.source}});
  }
  for (const BlockFormat& block : all_block_formats()) {
    json["block_formats"].push_back({{"name", block.name}, {"element", block.element->name}, {"scale", block.scale->name}, {"block", block.block}});
  }
  for (const Profile& profile : all_profiles()) {
    json["profiles"].push_back({{"name", profile.name},
                                {"implementation", profile.implementation},
                                {"operation", profile.operation},
                                {"device", profile.device},
                                {"build", profile.build},
                                {"source", profile.source}});
  }
  print_json(json);
}

}  // namespace

void add_formats(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("formats", "every number format, block format and profile");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "machine-readable output");
  verb->callback([&action, json] {
    action = [json] {
      if (*json)
        print_as_json();
      else
        print_text();
      return 0;
    };
  });
}

}  // namespace mx::cli
