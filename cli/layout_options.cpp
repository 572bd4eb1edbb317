#include "cli/layout_options.hpp"

#include <fmt/core.h>

#include <array>

#include "model/error.hpp"

namespace mx::cli {
namespace {

struct Choice {
  std::string_view key;
  std::string_view meaning;
};

/// Beside the fields of the setting.
constexpr std::array<Choice, 6> kChoices{{
    {"shape", "of a layer IxH or ExIxH (experts, intermediate, hidden), of a building block RxC or BxRxC (batch, rows, columns); or E=..,I=..,H=.."},
    {"tensor", "of a layer: w13_weight, w13_weight_scale, w13_bias, w2_weight, w2_weight_scale, w2_bias, ..."},
    {"padded", "IxH that the layer is rounded up to before it is loaded (default: as the engine rounds MXFP4, else as the shape)"},
    {"format", "of the checkpoint: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4"},
    {"unit-bits", "of a building block: bits of what it moves (default: its own, else 8)"},
    {"version", "of a building block's converter (default: the engine's)"},
}};

bool is_flag(const layout::SettingKey& key) { return key.trials.size() == 2 && key.trials.front() == "no"; }

}  // namespace

std::vector<golden::Field> LayoutOptions::fields() const {
  std::vector<golden::Field> fields;
  std::size_t i = 0;
  const auto add = [&](std::string_view key) {
    if (!values[i].empty()) fields.push_back({std::string(key), values[i]});
    ++i;
  };
  for (const Choice& choice : kChoices) add(choice.key);
  for (const layout::SettingKey& key : layout::setting_keys()) add(key.key);
  for (const std::string& word : sets) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::usage, fmt::format("'{}' is not KEY=VALUE", word), "--set");
    fields.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return fields;
}

Option add_setting_option(Verb verb, const layout::SettingKey& key, std::string& value) {
  const std::string meaning = fmt::format("{}: {}", key.meaning, key.takes);
  if (is_flag(key)) return verb.add_flag(fmt::format("--{}{{yes}}", key.key), value, meaning);
  return verb.add_option("--" + std::string(key.key), value, meaning);
}

void add_layout_options(Verb verb, LayoutOptions& options) {
  options.values.resize(kChoices.size() + layout::setting_keys().size());
  std::size_t i = 0;
  for (const Choice& choice : kChoices) verb.add_option("--" + std::string(choice.key), options.values[i++], std::string(choice.meaning));
  for (const layout::SettingKey& key : layout::setting_keys()) add_setting_option(verb, key, options.values[i++]);
  verb.add_option("--set", options.sets, "KEY=VALUE: a parameter of a building block (mxact layout show NAME lists them), or any choice above");
  add_json_option(verb, options.out);
}

}  // namespace mx::cli
