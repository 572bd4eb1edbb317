// mxact compare: where two profiles part, over a whole domain; whether two checkpoints are the same numbers, or who made one of the other.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/tensor_scales.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "verbs/compare/checkpoints_document.hpp"
#include "verbs/compare/compare_document.hpp"
#include "verbs/compare/makers_document.hpp"
#include "verbs/numbers/numbers.hpp"

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
  bool proves_lossless = false;
  std::vector<std::string> layers;  ///< as typed: "3", "0-3"
  std::vector<std::string> tensors;
  std::string progress;
  DocumentOptions out;
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
verbs::Progress shown_by(ProgressLine& line, const InterruptWatch& watch, const Options& options) {
  return [&line, &watch, &options](double fraction) {
    line.show(fmt::format("{}, {}: {}", options.first, options.second, options.format), fraction);
    return !watch.interrupted();
  };
}

int say_interrupted() {
  fmt::print(stderr, "mxact: interrupted: what was compared so far is no result and is not shown\n");
  return interrupted_status();
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
  verbs::ConversionComparison result;
  {
    ProgressLine line;
    const InterruptWatch watch;
    result = verbs::compare_conversions(how, other, from, to, shown_by(line, watch, options));
  }
  if (result.interrupted) return say_interrupted();
  return show(verbs::conversions_document({&first, &second, &from}, to, result), options.out);
}

/// One word for both sides, or one for each: "336", "336,none".
std::optional<std::uint32_t> side_scale(const std::vector<std::string>& words, std::size_t side, const char* option) {
  if (words.empty()) return std::nullopt;
  if (words.size() > 2) throw Error(ErrorCode::usage, fmt::format("{} takes one value, or one for each profile, not {}", option, words.size()));
  const std::string& word = words[std::min(side, words.size() - 1)];
  if (word == "none") return std::nullopt;
  return verbs::parse_code(word, kF32);
}

verbs::RecipeSide side_of(const Options& options, std::size_t side, const BlockFormat& format, const Format& from) {
  const Profile& profile = profile_named(side == 0 ? options.first : options.second);
  TensorScale tensor;
  tensor.encode = side_scale(options.global_scale, side, "--global-scale");
  tensor.decode = side_scale(options.scale, side, "--scale");
  const verbs::RecipeSide made{&recipe(profile, format, from), tensor};
  require_tensor_scales(profile, *made.recipe, tensor);
  return made;
}

int compare_blocks(const Options& options) {
  const Format& from = format_named(options.source);
  const BlockFormat& format = block_format_named(options.format);
  const verbs::RecipeSide first = side_of(options, 0, format, from);
  const verbs::RecipeSide second = side_of(options, 1, format, from);
  const verbs::BlockPattern pattern{verbs::parse_code(options.rest, from)};
  verbs::RecipeComparison result;
  {
    ProgressLine line;
    const InterruptWatch watch;
    result = verbs::compare_recipes(first, second, from, pattern, shown_by(line, watch, options));
  }
  if (result.interrupted) return say_interrupted();
  return show(verbs::recipes_document({&profile_named(options.first), &profile_named(options.second), &from}, first, second, pattern, result),
              options.out);
}

/// No checkpoint has so many layers.
constexpr int kLastLayer = 9999;

/// Two arguments are checkpoints.
int compare_checkpoints(const Options& options) {
  require_outputs(options.out);
  if (options.source != "f32" || options.rest != "0" || options.blocks || !options.scale.empty() || !options.global_scale.empty())
    throw Error(ErrorCode::usage, "--from, --blocks, --rest, --scale and --global-scale are for two profiles, with a FORMAT behind them");
  for (const std::string& path : {options.first, options.second}) {
    if (std::filesystem::exists(path)) continue;
    throw Error(ErrorCode::usage,
                fmt::format("'{}' is no file or directory: two arguments are checkpoints, two profiles want a FORMAT behind them", path));
  }
  const std::vector<int> layers = numbers_and_ranges(options.layers, "layer", kLastLayer, "--layer");
  const bool is_base = !options.proves_lossless && checkpoint::are_base_and_quantized(options.first, options.second);
  checkpoint::CheckpointComparison result;
  checkpoint::Makers makers;
  {
    const InterruptWatch watch;
    ProgressLine line(options.progress);
    checkpoint::CompareOptions how{.layers = layers, .tensors = options.tensors};
    how.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    how.stop = [&watch] { return watch.interrupted(); };
    if (is_base) {
      makers = checkpoint::find_makers(options.first, options.second, how);
    } else {
      result = checkpoint::compare_checkpoints(options.first, options.second, how);
    }
  }
  if (!(is_base ? makers.finished : result.finished)) return say_interrupted();
  return show(is_base ? verbs::makers_document(makers, options.first, options.second)
                      : verbs::checkpoints_document(result, options.first, options.second, options.proves_lossless),
              options.out);
}

int compare(const Options& options) {
  if (options.format.empty()) return compare_checkpoints(options);
  if (!options.layers.empty() || !options.tensors.empty() || options.proves_lossless)
    throw Error(ErrorCode::usage, "--layer, --tensor and --proves-lossless are for two checkpoints");
  return means_blocks(options) ? compare_blocks(options) : compare_formats(options);
}

}  // namespace

void add_compare(Verb app, Action& action) {
  const Verb verb =
      app.add_verb("compare",
                   "where two profiles part, over every input; whether two checkpoints are the same numbers, in whatever forms; of a base "
                   "in 16 or 32 bits and a quantized one: whose rule made it");
  const auto options = std::make_shared<Options>();
  verb.add_option("PROFILE_A", options->first, "profile (mxact formats lists them), or a checkpoint").required();
  verb.add_option("PROFILE_B", options->second, "profile, or a checkpoint").required();
  verb.add_option("FORMAT", options->format, "of profiles: an element format compares conversions, a block format recipes");
  verb.add_option("--from", options->source, "source format, all of whose codes are tried: f32 (default), bf16, fp16");
  verb.add_flag("--blocks", options->blocks, "mxint8 is both: compare recipes");
  verb.add_option("--rest", options->rest, "block formats: what every element but the first holds (default 0)").transform(trimmed);
  const auto scales = [verb](const std::string& name, std::vector<std::string>& words, const std::string& help) {
    verb.add_option(name, words, help).listed();
  };
  scales("--global-scale", options->global_scale, "tensor's encode scale of two-level recipes, for both profiles or A,B ('none' for a side)");
  scales("--scale", options->scale, "tensor's decode scale or static scale, for both profiles or A,B ('none' for a side)");
  verb.add_flag("--proves-lossless", options->proves_lossless,
                "a base and a quantized checkpoint: whether the numbers are the same, and nothing else");
  verb.add_option("--layer", options->layers, "checkpoints: the experts of this layer alone, or of a range 0-3; several with commas").listed();
  verb.add_option("--tensor", options->tensors, "checkpoints: only tensors with this in their names; repeat for several").repeated();
  add_progress_option(verb, options->progress);
  add_check_options(verb, options->out);
  verb.footer(
      "exit status: 0 identical, or a rule gives every tensor; 1 they differ, or none does; 2 usage; 3 a checkpoint cannot be read; 5 a profile with "
      "itself, or nothing compared; 130 "
      "interrupted");
  verb.callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace mx::cli
