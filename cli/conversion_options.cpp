#include "cli/conversion_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "build_info.hpp"
#include "cli/env_option.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "model/error.hpp"
#include "model/families/libraries.hpp"
#include "support/file.hpp"
#include "verbs/select/asked.hpp"

namespace mx::cli {
namespace {

/// Fields of a setting that the checkpoint decides, or that are not for whole conversions.
constexpr std::array<std::string_view, 5> kNotAsked{"source-order", "not-gated", "has-bias", "largest-scale-byte", "before-swizzle"};

std::vector<const families::SettingKey*> asked_keys() {
  std::vector<const families::SettingKey*> keys;
  for (const families::SettingKey& key : families::setting_keys()) {
    if (std::ranges::find(kNotAsked, key.key) == kNotAsked.end() && !families::is_of_library(key.key)) keys.push_back(&key);
  }
  return keys;
}

/// "NAME" for all layer groups, "2=NAME" or "fp8_block=NAME" for some.
void add_backend(checkpoint::ConvertOptions& options, const std::string& word) {
  const auto refuse = [&](const std::string& rule) { throw Error(ErrorCode::usage, fmt::format("'{}' {}", word, rule), "--backend"); };
  const std::size_t equals = word.find('=');
  const std::string which = word.substr(0, equals);
  if (equals == std::string::npos) {
    if (!options.backend.empty()) refuse(fmt::format("is the second one for all layer groups, after {}: WHICH=NAME is for some", options.backend));
    options.backend = word;
    return;
  }
  checkpoint::NamedBackend named{.backend = word.substr(equals + 1)};
  if (which.empty() || named.backend.empty()) refuse("is not WHICH=NAME: WHICH is a layer group's number, from 1, or a weight format");
  if (std::ranges::all_of(which, [](char c) { return c >= '0' && c <= '9'; })) {
    int number = 0;
    const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), number);
    if (error != std::errc{} || number < 1) refuse("names no layer group: they are counted from 1");
    named.layer_group = number - 1;
  } else {
    named.format = layout::weight_format_named(which);
  }
  const bool is_known = std::ranges::any_of(
      options.named, [&](const checkpoint::NamedBackend& other) { return other.layer_group == named.layer_group && other.format == named.format; });
  if (is_known) refuse(fmt::format("is the second backend for {}", which));
  options.named.push_back(std::move(named));
}

}  // namespace

void add_conversion_options(Verb verb, ConversionChoice& choice, bool may_be_packed) {
  verb.add_option("CHECKPOINT", choice.checkpoint,
                  may_be_packed ? "a .safetensors file or a model directory, or what mxact convert wrote: its directory or a layer's file"
                                : "a .safetensors file or a model directory")
      .required();
  verb.add_option(
          "--backend", choice.backends,
          "backend (mxact layout list), for every layer group that it converts; WHICH=NAME for some, WHICH a layer group's number, from 1, or a "
          "weight format such as fp8_block; several with commas (default: what the engine chooses for the model's configuration)")
      .listed();
  const std::vector<const families::SettingKey*> keys = asked_keys();
  choice.values.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_setting_option(verb, *keys[i], choice.values[i]).required(!may_be_packed && keys[i]->key == "platform");
  }
  verb.add_option("--dp", choice.dp, "data parallel size: without --ep tp times dp ranks cut the experts (default 1)")
      .check(whole_number_in(1, 4096));
  verb.add_flag("--ep", choice.expert_parallel, "ranks share the experts whole: all of them are converted, those of each rank beside each other");
  add_library_option(verb, choice.libraries);
  add_env_option(verb, choice.variables);
  verb.add_option("--rank", choice.rank, "rank of those that cut the experts, which are converted one by one, from 0")
      .check(whole_number_in(0, 1 << 16));
  const Option group = verb.add_option("--layer-group", choice.layer_group,
                                       "convert this one alone of the checkpoint's layer groups, from 1 (default: all that the backend converts)")
                           .check(whole_number_in(1, 1 << 20));
  verb.add_option("--family", choice.layer_group, "as --layer-group").check(whole_number_in(1, 1 << 20)).excludes(group).old_word();
  verb.add_flag("--any-platform", choice.any_platform, "also for a platform on which the engine has no kernel of the backend");
  verb.add_flag("--reference", choice.reference, "move by the model alone instead of the fast twin");
}

void require_platform(const ConversionChoice& choice) {
  const std::vector<const families::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i]->key == "platform" && choice.values[i].empty())
      throw Error(ErrorCode::usage, "is missing: the device whose kernels compute the layer", "--platform");
  }
}

void require_nothing_to_pack(const ConversionChoice& choice) {
  std::string typed;
  if (!choice.backends.empty()) typed = "--backend";
  const std::vector<const families::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (typed.empty() && !choice.values[i].empty()) typed = fmt::format("--{}", keys[i]->key);
  }
  if (typed.empty() && !choice.libraries.empty()) typed = "--library";
  if (typed.empty() && !choice.variables.empty()) typed = "--env";
  if (typed.empty() && choice.dp != 1) typed = "--dp";
  if (typed.empty() && choice.expert_parallel) typed = "--ep";
  if (typed.empty() && choice.rank >= 0) typed = "--rank";
  if (typed.empty() && choice.layer_group > 0) typed = "--layer-group";
  if (typed.empty() && choice.any_platform) typed = "--any-platform";
  if (!typed.empty()) throw Error(ErrorCode::usage, fmt::format("{} is packed already: its files say how", choice.checkpoint), typed);
}

std::string engine_of(const ConversionChoice& choice) {
  const std::vector<const families::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i]->key == "engine") return choice.values[i];
  }
  return {};
}

kernels::relayout::MoveBy moved_by(bool reference) { return reference ? kernels::relayout::MoveBy::model : kernels::relayout::MoveBy::plans; }

void take_engines_choice(ConversionChoice& choice) {
  if (!choice.backends.empty()) return;
  if (!support::is_there(choice.checkpoint)) throw Error(ErrorCode::input, "there is no such file or directory", choice.checkpoint);
  if (choice.checkpoint.empty() || !checkpoint::is_model(choice.checkpoint))
    throw Error(ErrorCode::usage, "is missing, and there is no config.json by which the engine would choose one", "--backend");
  verbs::AskedFor asked{
      .engine = engine_of(choice), .env = variables_of(choice.variables), .dp = choice.dp, .expert_parallel = choice.expert_parallel};
  if (asked.engine.empty()) asked.engine = deployment::name_of(deployment::kDefaultEngine);
  const std::vector<const families::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i]->key == "platform") asked.platform = choice.values[i];
    if (keys[i]->key == "tp" && !choice.values[i].empty()) asked.tp = static_cast<int>(families::whole_number("tp", choice.values[i], 1, 4096));
  }
  choice.backends = {verbs::chosen_backend(verbs::asked_about(choice.checkpoint, asked))};
}

checkpoint::ConvertOptions reading_options_of(const ConversionChoice& choice) {
  std::string typed;
  if (!choice.backends.empty()) typed = "--backend";
  const std::vector<const families::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (typed.empty() && keys[i]->key != "engine" && !choice.values[i].empty()) typed = fmt::format("--{}", keys[i]->key);
  }
  if (typed.empty() && !choice.libraries.empty()) typed = "--library";
  if (typed.empty() && !choice.variables.empty()) typed = "--env";
  if (typed.empty() && choice.dp != 1) typed = "--dp";
  if (typed.empty() && choice.expert_parallel) typed = "--ep";
  if (typed.empty() && choice.rank >= 0) typed = "--rank";
  if (typed.empty() && choice.any_platform) typed = "--any-platform";
  if (!typed.empty()) throw Error(ErrorCode::usage, "is of a backend's kernels, and --contract is of none", typed);
  checkpoint::ConvertOptions options{};
  if (const std::string engine = engine_of(choice); !engine.empty()) options.setting.engine = families::conversion_engine_named(engine);
  if (choice.layer_group > 0) options.layer_group = choice.layer_group - 1;
  return options;
}

checkpoint::ConvertOptions options_of(const ConversionChoice& choice) {
  checkpoint::ConvertOptions options{};
  for (const std::string& word : choice.backends) add_backend(options, word);
  if (choice.layer_group > 0 && !options.named.empty())
    throw Error(ErrorCode::usage, fmt::format("is one layer group alone, by one backend, and '{}' names one for others", choice.backends.front()),
                "--layer-group");
  options.program = program_text();
  const std::vector<const families::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (choice.values[i].empty()) continue;
    keys[i]->set(options.setting, choice.values[i]);
    if (keys[i]->key == "activation") options.activation = options.setting.activation;
  }
  families::choose_libraries(options.setting, choice.libraries);
  families::set_by_variables(options.setting, variables_of(choice.variables));
  options.setting.tp_size =
      deployment::tensor_ranks({.tp = options.setting.tp_size, .dp = choice.dp, .enable_expert_parallel = choice.expert_parallel});
  if (choice.rank >= 0 && choice.expert_parallel)
    throw Error(ErrorCode::usage, "no rank has a part of an expert with --ep: all experts are converted, those of each rank beside each other",
                "--rank");
  if (choice.rank < 0 && options.setting.tp_size > 1) {
    throw Error(ErrorCode::usage, fmt::format("which of the {} ranks is converted?", options.setting.tp_size), "--rank");
  }
  options.asks_for_kernel = !choice.any_platform;
  options.rank = std::max(choice.rank, 0);
  if (choice.layer_group > 0) options.layer_group = choice.layer_group - 1;
  options.by = moved_by(choice.reference);
  return options;
}

std::string program_text() { return fmt::format("mxact {} ({})", MXACT_VERSION, MXACT_COMMIT); }

}  // namespace mx::cli
