// mxact compare: where two profiles part, over a whole domain.

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/conversion_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/tensor_scales.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/profile.hpp"
#include "verbs/compare/compare.hpp"

namespace mx::cli {
namespace {

struct Options {
  std::string first;
  std::string second;
  std::string format;
  std::string source = "f32";
  std::string rest = "0";
  std::vector<std::string> global_scale;
  std::vector<std::string> scale;
  bool blocks = false;
  bool json = false;
};

/// An element format means a conversion, a block format a recipe; mxint8 is both.
bool means_blocks(const Options& options) {
  if (options.blocks) return true;
  std::vector<std::string_view> known;
  for (const Format& format : all_formats()) known.push_back(format.name);
  for (const BlockFormat& format : all_block_formats()) known.push_back(format.name);
  const auto row = std::ranges::find_if(known, [&](std::string_view name) { return same_name(name, options.format); });
  if (row != known.end()) return row - known.begin() >= std::ssize(all_formats());
  try {
    format_named(options.format);  // knows aliases too
  } catch (const Error&) {
    throw Error(ErrorCode::usage, unknown_name("format", options.format, known));
  }
  return false;
}

/// Shows how far the comparison is, until it is interrupted.
golden::Progress shown_by(ProgressLine& line, const InterruptWatch& watch, const Options& options) {
  return [&line, &watch, &options](double fraction) {
    line.show(fmt::format("{}, {}: {}", options.first, options.second, options.format), fraction);
    return !watch.interrupted();
  };
}

int say_interrupted() {
  fmt::print(stderr, "mxact: interrupted: what was compared so far is no result and is not shown\n");
  return interrupted_status();
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.4g} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string with_value(std::uint32_t code, const Format& format) { return fmt::format("{} = {}", hex(code, format), decimal(decode(format, code))); }

std::string outcome_text(const golden::Outcome& outcome, const Format& format) { return outcome ? with_value(*outcome, format) : "refused"; }

Json code_json(std::uint32_t code, const Format& format) { return {{"code", hex(code, format)}, {"value", decimal(decode(format, code))}}; }

Json outcome_json(const golden::Outcome& outcome, const Format& format) { return outcome ? code_json(*outcome, format) : Json("refused"); }

Json head_json(const Options& options, const char* kind, std::string_view format, const Format& from) {
  Json json = json_head("compare");
  json["kind"] = kind;
  json["format"] = format;
  json["from"] = from.name;
  json["first"] = {{"profile", profile_named(options.first).name}};
  json["second"] = {{"profile", profile_named(options.second).name}};
  return json;
}

/// 0 identical; 1 they differ; 5 where nothing differs because both are the same.
int status_of(std::uint64_t differing, bool same) { return differing > 0 ? 1 : same ? 5 : 0; }

void print_identical(std::uint64_t count, std::string_view what, std::string_view by, int status) {
  fmt::print("identical: {} {}, 0 differ, by {}\n", count, what, by);
  if (status != 0) fmt::print("MISTRUSTED: a profile was compared with itself; nothing could have differed\n");
}

int compare_formats(const Options& options) {
  const Format& from = format_named(options.source);
  const Format& to = format_named(options.format);
  if (options.rest != "0" || !options.global_scale.empty() || !options.scale.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{} is an element format: --rest, --global-scale and --scale are for block formats", to.name));
  }
  const Profile& first = profile_named(options.first);
  const Profile& second = profile_named(options.second);
  const Conversion& how = conversion(first, from, to);
  const Conversion& other = conversion(second, from, to);
  golden::ConversionComparison result;
  {
    ProgressLine line;
    const InterruptWatch watch(EndBy::a_moment);
    result = golden::compare_conversions(how, other, from, to, shown_by(line, watch, options));
  }
  if (result.interrupted) return say_interrupted();
  const int status = status_of(result.differing, first.name == second.name);
  const char* by = result.twin ? "the fast twin" : "the model";
  if (options.json) {
    Json json = head_json(options, "conversion", to.name, from);
    json["first"]["conversion"] = conversion_json(how, to);
    json["second"]["conversion"] = conversion_json(other, to);
    json["computed_by"] = result.twin ? "twin" : "model";
    json["inputs"] = result.inputs;
    json["differing"] = result.differing;
    json["classes"] = Json::array();
    for (const golden::ConversionClassCount& row : result.classes) {
      Json entry{{"class", row.difference.name}, {"meaning", row.difference.meaning}, {"inputs", row.count}};
      if (row.example) {
        entry["example"] = {{"input", code_json(row.example->input, from)},
                            {"first", outcome_json(row.example->first, to)},
                            {"second", outcome_json(row.example->second, to)}};
      }
      json["classes"].push_back(entry);
    }
    json["exit_code"] = status;
    print_json(json);
    return status;
  }
  fmt::print("{} -> {}: {} ({}) and {} ({})\n", from.name, to.name, first.name, short_text(how), second.name, short_text(other));
  if (result.differing == 0) {
    print_identical(result.inputs, "inputs", by, status);
    return status;
  }
  fmt::print("{} of {} inputs differ ({}), by {}\n", result.differing, result.inputs, share(result.differing, result.inputs), by);
  std::vector<std::vector<std::string>> rows{{"class", "inputs", "first input", std::string(first.name), std::string(second.name), "meaning"}};
  for (const golden::ConversionClassCount& row : result.classes) {
    if (!row.example) continue;
    rows.push_back({std::string(row.difference.name), std::to_string(row.count), with_value(row.example->input, from),
                    outcome_text(row.example->first, to), outcome_text(row.example->second, to), std::string(row.difference.meaning)});
  }
  print_table(rows);
  return status;
}

/// One word for both sides, or one for each: "336", "336,none".
std::optional<std::uint32_t> side_scale(const std::vector<std::string>& words, std::size_t side, const char* option) {
  if (words.empty()) return std::nullopt;
  if (words.size() > 2) throw Error(ErrorCode::usage, fmt::format("{} takes one value, or one for each profile, not {}", option, words.size()));
  const std::string& word = words[std::min(side, words.size() - 1)];
  if (word == "none") return std::nullopt;
  return parse_code(word, kF32);
}

golden::RecipeSide side_of(const Options& options, std::size_t side, const BlockFormat& format, const Format& from) {
  const Profile& profile = profile_named(side == 0 ? options.first : options.second);
  TensorScale tensor;
  tensor.encode = side_scale(options.global_scale, side, "--global-scale");
  tensor.decode = side_scale(options.scale, side, "--scale");
  const golden::RecipeSide made{&recipe(profile, format, from), tensor};
  require_tensor_scales(profile, *made.recipe, tensor);
  return made;
}

std::string block_text(const golden::BlockExample::Side& side, const BlockFormat& format, bool scales_alone) {
  if (scales_alone) return fmt::format("scale {}", hex(side.scale, *format.scale));
  return fmt::format("scale {}, codes {} {}..", hex(side.scale, *format.scale), hex(side.code, *format.element),
                     hex(side.rest_code, *format.element));
}

Json block_json(const golden::BlockExample::Side& side, const BlockFormat& format) {
  return {{"scale", code_json(side.scale, *format.scale)},
          {"code", code_json(side.code, *format.element)},
          {"rest_code", code_json(side.rest_code, *format.element)}};
}

int compare_blocks(const Options& options) {
  const Format& from = format_named(options.source);
  const BlockFormat& format = block_format_named(options.format);
  const golden::RecipeSide first = side_of(options, 0, format, from);
  const golden::RecipeSide second = side_of(options, 1, format, from);
  const golden::BlockPattern pattern{parse_code(options.rest, from)};
  golden::RecipeComparison result;
  {
    ProgressLine line;
    const InterruptWatch watch(EndBy::a_moment);
    result = golden::compare_recipes(first, second, from, pattern, shown_by(line, watch, options));
  }
  if (result.interrupted) return say_interrupted();
  const bool same_tensor = first.tensor.encode == second.tensor.encode && first.tensor.decode == second.tensor.decode;
  const int status = status_of(result.differing, same_tensor && profile_named(options.first).name == profile_named(options.second).name);
  if (options.json) {
    Json json = head_json(options, "recipe", format.name, from);
    json["first"]["scale_rule"] = scale_rule_name(*first.recipe);
    json["second"]["scale_rule"] = scale_rule_name(*second.recipe);
    json["computed_by"] = "model";
    json["rest"] = code_json(pattern.rest, from);
    json["blocks"] = result.blocks;
    json["differing"] = result.differing;
    json["scales_differing"] = result.scales;
    json["codes_compared"] = !result.scales_alone;
    json["codes_differing"] = result.codes;
    json["classes"] = Json::array();
    for (const golden::BlockClassCount& row : result.classes) {
      Json entry{{"class", row.difference.name},
                 {"meaning", row.difference.meaning},
                 {"blocks", row.blocks},
                 {"scales_differing", row.scales},
                 {"codes_differing", row.codes}};
      if (row.example) {
        entry["example"] = {{"input", code_json(row.example->input, from)},
                            {"first", block_json(row.example->first, format)},
                            {"second", block_json(row.example->second, format)}};
      }
      json["classes"].push_back(entry);
    }
    json["exit_code"] = status;
    print_json(json);
    return status;
  }
  const std::string_view first_name = profile_named(options.first).name;
  const std::string_view second_name = profile_named(options.second).name;
  fmt::print("{} -> {}: {} ({}) and {} ({})\n", from.name, format.name, first_name, scale_rule_name(*first.recipe), second_name,
             scale_rule_name(*second.recipe));
  fmt::print("one block for each input x: x first, every other element {}{}\n", decimal(decode(from, pattern.rest)),
             result.scales_alone ? "; scales alone, one side gives no codes" : "");
  if (result.differing == 0) {
    print_identical(result.blocks, "blocks", "the model", status);
    return status;
  }
  fmt::print("{} of {} blocks differ ({}): the scale of {}, codes of {}; by the model\n", result.differing, result.blocks,
             share(result.differing, result.blocks), result.scales, result.codes);
  std::vector<std::vector<std::string>> rows{
      {"class", "blocks", "scales", "codes", "first x", std::string(first_name), std::string(second_name), "meaning"}};
  for (const golden::BlockClassCount& row : result.classes) {
    if (!row.example) continue;
    rows.push_back({std::string(row.difference.name), std::to_string(row.blocks), std::to_string(row.scales), std::to_string(row.codes),
                    with_value(row.example->input, from), block_text(row.example->first, format, result.scales_alone),
                    block_text(row.example->second, format, result.scales_alone), std::string(row.difference.meaning)});
  }
  print_table(rows);
  return status;
}

}  // namespace

void add_compare(Verb app, Action& action) {
  const Verb verb = app.add_verb("compare", "where two profiles part, over every input: mxact compare ml_dtypes torch-cpu e5m2");
  const auto options = std::make_shared<Options>();
  verb.add_option("PROFILE_A", options->first, "profile (mxact formats lists them)").required();
  verb.add_option("PROFILE_B", options->second, "profile").required();
  verb.add_option("FORMAT", options->format, "an element format compares conversions, a block format recipes").required();
  verb.add_option("--from", options->source, "source format, all of whose codes are tried: f32 (default), bf16, fp16");
  verb.add_flag("--blocks", options->blocks, "mxint8 is both: compare recipes");
  verb.add_option("--rest", options->rest, "block formats: what every element but the first holds (default 0)").transform(trimmed);
  const auto scales = [verb](const std::string& name, std::vector<std::string>& words, const std::string& help) {
    verb.add_option(name, words, help).listed();
  };
  scales("--global-scale", options->global_scale, "tensor's encode scale of two-level recipes, for both profiles or A,B ('none' for a side)");
  scales("--scale", options->scale, "tensor's decode scale or static scale, for both profiles or A,B ('none' for a side)");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.footer("exit status: 0 identical; 1 they differ; 2 usage; 5 a profile with itself; 130 interrupted");
  verb.callback([&action, options] { action = [options] { return means_blocks(*options) ? compare_blocks(*options) : compare_formats(*options); }; });
}

}  // namespace mx::cli
