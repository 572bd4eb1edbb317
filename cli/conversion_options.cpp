#include "cli/conversion_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "build_info.hpp"
#include "cli/env_option.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "model/error.hpp"
#include "model/families/libraries.hpp"

namespace mx::cli {
namespace {

/// Fields of a setting that the checkpoint decides, or that are not for whole conversions.
constexpr std::array<std::string_view, 5> kNotAsked{"source-order", "not-gated", "has-bias", "largest-scale-byte", "before-swizzle"};

std::vector<const layout::SettingKey*> asked_keys() {
  std::vector<const layout::SettingKey*> keys;
  for (const layout::SettingKey& key : layout::setting_keys()) {
    if (std::ranges::find(kNotAsked, key.key) == kNotAsked.end() && !layout::is_of_library(key.key)) keys.push_back(&key);
  }
  return keys;
}

}  // namespace

void add_conversion_options(Verb verb, ConversionChoice& choice) {
  verb.add_option("CHECKPOINT", choice.checkpoint, "a .safetensors file or a model directory").required();
  verb.add_option("--backend", choice.backend, "backend (mxact layout list)").required();
  const std::vector<const layout::SettingKey*> keys = asked_keys();
  choice.values.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_setting_option(verb, *keys[i], choice.values[i]).required(keys[i]->key == "platform");
  }
  add_library_option(verb, choice.libraries);
  add_env_option(verb, choice.variables);
  verb.add_option("--rank", choice.rank, "rank of the --tp that are converted one by one, from 0").check(whole_number_in(0, 1 << 16));
  verb.add_option("--family", choice.family,
                  "convert these of the checkpoint's families of layers, from 1 (default: the first that the backend converts)")
      .check(whole_number_in(1, 1 << 20));
  verb.add_flag("--any-platform", choice.any_platform, "also for a platform on which the engine has no kernel of the backend");
  verb.add_flag("--reference", choice.reference, "move by the model alone instead of the fast twin");
}

sim::MoveBy moved_by(bool reference) { return reference ? sim::MoveBy::model : sim::MoveBy::plans; }

sim::ConvertOptions options_of(const ConversionChoice& choice) {
  sim::ConvertOptions options{};
  options.backend = choice.backend;
  options.asks_activation = false;
  options.program = program_text();
  const std::vector<const layout::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (choice.values[i].empty()) continue;
    keys[i]->set(options.setting, choice.values[i]);
    options.asks_activation = options.asks_activation || keys[i]->key == "activation";
  }
  layout::choose_libraries(options.setting, choice.libraries);
  layout::set_by_variables(options.setting, variables_of(choice.variables));
  if (choice.rank < 0 && options.setting.tp_size > 1) {
    throw Error(ErrorCode::usage, fmt::format("which of the {} ranks is converted?", options.setting.tp_size), "--rank");
  }
  options.asks_for_kernel = !choice.any_platform;
  options.rank = std::max(choice.rank, 0);
  if (choice.family > 0) options.family = choice.family - 1;
  options.by = moved_by(choice.reference);
  return options;
}

std::string program_text() { return fmt::format("mxact {} ({})", MXACT_VERSION, MXACT_COMMIT); }

}  // namespace mx::cli
