// mxact quantize: blocks of values into a scale and codes.

#include <fmt/core.h>

#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/picture_file.hpp"
#include "cli/tensor_scales.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "verbs/quantize/quantize.hpp"

namespace mx::cli {
namespace {

struct QuantizeOptions {
  std::string format;
  std::vector<std::string> values;
  std::string source = "f32";
  std::string profile = std::string(kOcp);
  std::int64_t rows = 1;
  std::optional<std::int64_t> block;
  std::string global_scale;
  std::string scale;
  std::string amax_bound;
  std::string layout = "linear";
  std::string output;
  bool force = false;
  bool json = false;
};

/// Codes of `source` of every value, from the arguments or, when there are none, from standard input.
std::vector<std::uint32_t> read_values(const QuantizeOptions& options, const Format& source) {
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
  for (const std::string& word : words) values.push_back(parse_code(word, source));
  return values;
}

std::optional<std::uint32_t> scale_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_code(text, kF32);
}

/// What was asked, with what came of it.
struct Quantized {
  golden::QuantizeRequest request;
  const Recipe* recipe;
  std::vector<std::uint32_t> values;
  golden::QuantizedMatrix matrix;
  const golden::ScaleLayout* layout;
  std::vector<std::uint32_t> scales;  ///< in the layout

  std::uint32_t value(std::size_t block, std::size_t i) const { return values[matrix.index(block, i)]; }
  std::span<const std::uint32_t> dequantized_of(std::size_t block) const {
    const auto size = static_cast<std::size_t>(matrix.block);
    return std::span(matrix.dequantized).subspan(block * size, size);
  }
};

std::string dequantized_by(const Quantized& done) {
  return done.matrix.dequantizer == nullptr ? "exactly, code times scale" : fmt::format("as {} does", done.request.profile->name);
}

void print_text(const Quantized& done) {
  const BlockFormat& format = *done.request.format;
  fmt::print("{}: blocks of {}, scale rule {}, profile {}\n", format.name, done.matrix.block, scale_rule_name(*done.recipe),
             done.request.profile->name);
  if (gives_codes(*done.recipe)) fmt::print("dequantized {}\n", dequantized_by(done));
  for (std::size_t b = 0; b < done.matrix.blocks.size(); ++b) {
    const QuantizedBlock& block = done.matrix.blocks[b];
    fmt::print("block {}: scale {} = {}\n", b, hex(block.scale, *format.scale), decimal(decode(*format.scale, block.scale)));
    if (block.codes.empty()) continue;
    const bool tile = done.matrix.block_rows > 1;
    std::vector<std::vector<std::string>> rows{{"input", "code", "dequantized"}};
    if (tile) rows[0].insert(rows[0].begin(), {"row", "column"});
    for (std::size_t i = 0; i < block.codes.size(); ++i) {
      rows.push_back({decimal(decode(*done.request.source, done.value(b, i))), hex(block.codes[i], *format.element),
                      decimal(decode(kF32, done.dequantized_of(b)[i]))});
      const auto place = done.matrix.place(b, i);
      if (tile) rows.back().insert(rows.back().begin(), {std::to_string(place.row), std::to_string(place.column)});
    }
    print_table(rows);
  }
  if (done.layout->stage.empty()) return;
  fmt::print("scales in memory, {}: {} of {} bits\n", done.layout->name, done.scales.size(), format.scale->width);
  constexpr std::size_t kLine = 16;
  for (std::size_t i = 0; i < done.scales.size(); ++i) {
    fmt::print("{}{}", hex(done.scales[i], *format.scale), (i + 1) % kLine == 0 || i + 1 == done.scales.size() ? "\n" : " ");
  }
}

Json as_json(const Quantized& done) {
  const BlockFormat& format = *done.request.format;
  Json json = json_head("quantize");
  json["format"] = format.name;
  json["scale_rule"] = scale_rule_name(*done.recipe);
  json["profile"] = done.request.profile->name;
  json["source"] = done.request.source->name;
  json["rows"] = done.matrix.rows;
  json["block"] = done.matrix.block;
  json["block_rows"] = done.matrix.block_rows;
  json["dequantized_by"] = done.matrix.dequantizer == nullptr ? "exact" : "profile";
  for (std::size_t b = 0; b < done.matrix.blocks.size(); ++b) {
    const QuantizedBlock& block = done.matrix.blocks[b];
    Json elements = Json::array();
    for (std::size_t i = 0; i < block.codes.size(); ++i) {
      Json element{{"input", hex(done.value(b, i), *done.request.source)},
                   {"code", hex(block.codes[i], *format.element)},
                   {"dequantized", hex(done.dequantized_of(b)[i], kF32)}};
      if (done.matrix.block_rows > 1) element.update({{"row", done.matrix.place(b, i).row}, {"column", done.matrix.place(b, i).column}});
      elements.push_back(element);
    }
    json["blocks"].push_back({{"scale", hex(block.scale, *format.scale)}, {"elements", elements}});
  }
  Json memory = Json::array();
  for (std::uint32_t scale : done.scales) memory.push_back(hex(scale, *format.scale));
  json["scales"] = {{"layout", done.layout->name}, {"memory", memory}};
  return json;
}

int quantize_values(const QuantizeOptions& options) {
  if (!options.output.empty()) require_svg(options.output, options.force);
  Quantized done;
  done.request.format = &block_format_named(options.format);
  done.request.profile = &profile_named(options.profile);
  done.request.source = &format_named(options.source);
  done.recipe = &recipe(*done.request.profile, *done.request.format, *done.request.source);
  done.layout = &golden::scale_layout_named(options.layout);
  done.request.rows = options.rows;
  done.request.block = options.block;
  done.request.tensor.encode = scale_of(options.global_scale);
  done.request.tensor.decode = scale_of(options.scale);
  done.request.tensor.amax_bound = scale_of(options.amax_bound);
  require_tensor_scales(*done.request.profile, *done.recipe, done.request.tensor);
  done.values = read_values(options, *done.request.source);
  done.matrix = golden::quantize_matrix(done.values, done.request);
  done.scales = golden::scales_in(*done.layout, done.matrix, *done.request.format);
  if (!options.output.empty()) write_picture(options.output, as_json(done), options.force);
  if (options.json)
    print_json(as_json(done));
  else if (options.output.empty())
    print_text(done);
  return 0;
}

}  // namespace

void add_quantize(Verb app, Action& action) {
  const Verb verb = app.add_verb("quantize", "block quantization: whole blocks of values, as arguments or on standard input");
  const auto options = std::make_shared<QuantizeOptions>();
  verb.add_option("FORMAT", options->format, "block format (mxact formats lists them)").required();
  verb.add_option("VALUE", options->values, "decimal value, or bits as 0x..").transform(trimmed);
  verb.add_option("--from", options->source, "source format: f32 (default), bf16, fp16");
  verb.add_option("--profile", options->profile, "named scale rule, rounding, overflow and NaN rule (default ocp)");
  constexpr std::int64_t kMost = 1 << 20;
  verb.add_option("--rows", options->rows, "the values are this many rows of equal length (default 1); tiles of 128x128 take whole tiles of rows")
      .check(whole_number_in(1, kMost));
  verb.add_option("--block", options->block, "elements that share a scale, where the format leaves it open (default: a row)")
      .check(whole_number_in(1, kMost));
  verb.add_option("--global-scale", options->global_scale, "encode scale g of the tensor, for two-level recipes that take it");
  verb.add_option("--scale", options->scale, "decode scale 1/g of the tensor, or the scale of a static recipe");
  verb.add_option("--amax-bound", options->amax_bound, "upper bound on the largest magnitude, for recipes that take it");
  verb.add_option("--scale-layout", options->layout, "where the scales lie: linear (default), 128x4, 8x4");
  verb.add_option("-o,--output", options->output, "writes a picture, FILE.svg, instead: each element beside what its code stands for");
  verb.add_flag("--force", options->force, "overwrite the file");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return quantize_values(*options); }; });
}

}  // namespace mx::cli
