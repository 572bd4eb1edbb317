// mxact quantize: blocks of values into a scale and codes.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"

namespace mx::cli {
namespace {

struct QuantizeOptions {
  std::string format;
  std::vector<std::string> values;
  std::string source = "f32";
  std::string profile = std::string(kOcp);
  bool json = false;
};

/// fp32 bits of every value, from the arguments or, when there are none, from standard input.
std::vector<std::uint32_t> read_values(const QuantizeOptions& options) {
  const Format& source = format_named(options.source);
  constexpr std::size_t kMostValues = std::size_t{1} << 20;
  constexpr int kLongestWord = 100;
  std::vector<std::string> words = options.values;
  if (words.empty()) {
    for (std::string word; std::cin >> std::setw(kLongestWord) >> word;) {
      if (words.size() == kMostValues) throw Error(ErrorCode::usage, fmt::format("more than {} values", kMostValues), "standard input");
      words.push_back(word);
    }
    if (std::cin.bad()) throw Error(ErrorCode::resource, "cannot be read", "standard input");
  }
  if (words.empty()) throw Error(ErrorCode::usage, "no values: give them as arguments or on standard input");
  std::vector<std::uint32_t> values;
  for (const std::string& word : words) values.push_back(to_f32(parse_code(word, source), source));
  return values;
}

int quantize_values(const QuantizeOptions& options) {
  const BlockFormat& format = block_format_named(options.format);
  const Profile& profile = profile_named(options.profile);
  const Recipe& how = recipe(profile, format);
  const std::vector<std::uint32_t> values = read_values(options);
  const auto block = static_cast<std::size_t>(format.block);
  if (values.size() % block != 0) {
    throw Error(ErrorCode::usage, fmt::format("{} values are no whole blocks: {} has blocks of {}", values.size(), format.name, block));
  }

  Json json = json_head("quantize");
  json["format"] = format.name;
  json["scale_rule"] = scale_rule_name(how);
  json["profile"] = profile.name;
  if (!options.json) fmt::print("{}: blocks of {}, scale rule {}, profile {}\n", format.name, format.block, scale_rule_name(how), profile.name);
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    const auto part = std::span(values).subspan(begin, std::min(block, values.size() - begin));
    const QuantizedBlock quantized = quantize_block(part, kF32, how);
    const std::string scale = hex(quantized.scale, *format.scale);
    std::vector<std::vector<std::string>> rows{{"input", "code", "dequantized"}};
    Json elements = Json::array();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::string code = hex(quantized.codes[i], *format.element);
      const std::uint32_t back = dequantize(quantized.codes[i], quantized.scale, format);
      rows.push_back({decimal(decode(kF32, part[i])), code, decimal(decode(kF32, back))});
      elements.push_back({{"input", hex(part[i], kF32)}, {"code", code}, {"dequantized", hex(back, kF32)}});
    }
    json["blocks"].push_back({{"scale", scale}, {"elements", elements}});
    if (options.json) continue;
    fmt::print("block {}: scale {} = {}\n", begin / block, scale, decimal(decode(*format.scale, quantized.scale)));
    print_table(rows);
  }
  if (options.json) print_json(json);
  return 0;
}

}  // namespace

void add_quantize(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("quantize", "block quantization: whole blocks of values, as arguments or on standard input");
  const auto options = std::make_shared<QuantizeOptions>();
  verb->add_option("FORMAT", options->format, "block format (mxact formats lists them)")->required();
  verb->add_option("VALUE", options->values, "decimal value, or bits as 0x..")->transform(trimmed);
  verb->add_option("--from", options->source, "source format: f32 (default), bf16, fp16");
  verb->add_option("--profile", options->profile, "named rounding, overflow and NaN rule of the elements (default ocp)");
  verb->add_flag("--json", options->json, "machine-readable output");
  verb->callback([&action, options] { action = [options] { return quantize_values(*options); }; });
}

}  // namespace mx::cli
