#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <vector>

#include "model/error.hpp"
#include "model/families/family.hpp"
#include "model/families/libraries.hpp"
#include "model/families/setting_key_rows.hpp"
#include "model/names.hpp"

namespace mx::families {
namespace {

using Text = std::string_view;

constexpr int kMostRanks = 1 << 16;

constexpr std::array<Text, 2> kOrders{"gpt_oss", "standard"};
constexpr std::array<Text, 2> kEngineTrials{"vllm@2026-05", "vllm@2026-08"};
constexpr std::array<Text, 15> kPlatforms{"sm75",   "sm80",   "sm89",  "sm90",  "sm100",   "sm110", "sm120", "gfx90a",
                                          "gfx942", "gfx950", "gfx11", "gfx12", "gfx1250", "xpu",   "cpu"};
constexpr std::array<Text, 3> kRanks{"1", "2", "8"};
constexpr std::array<Text, 2> kParams{"bf16", "fp16"};
constexpr std::array<Text, 3> kInputs{"none", "float8_e4m3fn", "int8"};
constexpr std::array<Text, 3> kActivations{"SILU", "SWIGLUOAI", "SITU"};

/// With the releases of libraries that the version or the release asks for, where another version's conversions are not called with them.
void set_engine(Setting& setting, Text name) {
  const deployment::Engine asked = deployment::engine_named(name);
  setting.engine = conversion_engine_named(name);
  setting.served_by = asked == setting.engine ? std::nullopt : std::optional(asked);
  for (const Library& library : libraries()) {
    const Text release = asked_release(library, asked);
    if (asked == setting.engine || library.key.empty() || release.empty()) continue;
    choose_library(setting, std::string(library.name) + "=" + std::string(release));
  }
  choose_libraries(setting, libraries_asked_by(deployment::release_named(name)));
}

constexpr std::array<SettingKey, 11> kEveryConverter{{
    {"source-order", "gpt_oss or standard", "row order of w13 in the checkpoint", kOrders,
     [](Setting& s, Text v) { s.form.order = layout::source_order_named(v); },
     [](const Setting& s) { return std::string(layout::name_of(s.form.order)); }},
    {"not-gated", kYesNo, "w13 is one matrix, without gate and up", kBools, [](Setting& s, Text v) { s.form.gated = !yes_or_no("not-gated", v); },
     [](const Setting& s) { return word_of(!s.form.gated); }},
    {"engine", "vllm@2026-05, vllm@2026-08 or a later one, by month, release or commit", "version of the engine", kEngineTrials, set_engine,
     [](const Setting& s) { return std::string(mx::deployment::name_of(s.computes())); }},
    {"platform", "sm75 .. sm121, gfx90a .. gfx1250, xpu, cpu; or a card, as B200", "device", kPlatforms,
     [](Setting& s, Text v) { s.arch = arch_named(v); }, [](const Setting& s) { return std::string(name_of(s.arch)); }},
    {"tp", "1 or more", "tensor parallel size", kRanks,
     [](Setting& s, Text v) { s.tp_size = static_cast<int>(whole_number("tp", v, 1, kMostRanks)); },
     [](const Setting& s) { return std::to_string(s.tp_size); }},
    {"params-dtype", "bf16 or fp16", "dtype of the layer's parameters", kParams, [](Setting& s, Text v) { s.params_dtype = params_dtype_named(v); },
     [](const Setting& s) { return std::string(name_of(s.params_dtype)); }},
    {"input-dtype", "none (16 bits), float8_e4m3fn or int8", "activation dtype asked of Marlin and Humming", kInputs,
     [](Setting& s, Text v) { s.input_dtype = input_dtype_named(v); }, [](const Setting& s) { return std::string(name_of(s.input_dtype)); }},
    {"activation", "SILU (and every other), SWIGLUOAI or SITU", "activation", kActivations,
     [](Setting& s, Text v) { s.activation = converter_activation_named(v); }, [](const Setting& s) { return std::string(name_of(s.activation)); }},
    {"has-bias", kYesNo, "both biases are given", kBools, [](Setting& s, Text v) { s.has_bias = yes_or_no("has-bias", v); },
     [](const Setting& s) { return word_of(s.has_bias); }},
    {"has-input-scale", kYesNo, "static input scales are given", kBools,
     [](Setting& s, Text v) { s.has_input_scale = yes_or_no("has-input-scale", v); }, [](const Setting& s) { return word_of(s.has_input_scale); }},
    {"leaves-e4m3fn", kYesNo, "the method hands e4m3fn codes on where the device reads e4m3fnuz, as ModelOpt's does", kBools,
     [](Setting& s, Text v) { s.leaves_e4m3fn = yes_or_no("leaves-e4m3fn", v); }, [](const Setting& s) { return word_of(s.leaves_e4m3fn); }},
}};

std::vector<SettingKey> every_key() {
  std::vector<SettingKey> rows(kEveryConverter.begin(), kEveryConverter.end());
  const std::vector<SettingKey> of_families = joined(&Family::setting_keys);
  rows.insert(rows.end(), of_families.begin(), of_families.end());
  return rows;
}

}  // namespace

bool yes_or_no(Text key, Text value) {
  if (same_name(value, "yes") || same_name(value, "true") || value == "1") return true;
  if (same_name(value, "no") || same_name(value, "false") || value == "0") return false;
  throw Error(ErrorCode::usage, "'" + std::string(value) + "' is neither yes nor no", std::string(key));
}

std::span<const SettingKey> setting_keys() {
  static const std::vector<SettingKey> rows = every_key();
  return rows;
}

std::span<const SettingVariable> setting_variables() {
  static const std::vector<SettingVariable> rows = joined(&Family::setting_variables);
  return rows;
}

bool set_by_variable(Setting& setting, Text name, Text text) {
  for (const SettingVariable& variable : setting_variables()) {
    if (variable.name != name) continue;
    find_setting_key(variable.key)->set(setting, variable.word(text));
    return true;
  }
  return false;
}

void set_by_variables(Setting& setting, const std::map<std::string, std::string>& variables) {
  for (const auto& [name, text] : variables) set_by_variable(setting, name, text);
}

const SettingKey* find_setting_key(Text key) {
  for (const SettingKey& row : setting_keys()) {
    if (same_name(row.key, key)) return &row;
  }
  return nullptr;
}

std::string setting_text(const Setting& setting, const Setting& base) {
  std::string text;
  for (const SettingKey& row : setting_keys()) {
    const std::string value = row.get(setting);
    if (value != row.get(base)) text += "," + std::string(row.key) + "=" + value;
  }
  return text;
}

std::int64_t whole_number(Text what, Text text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) return value;
  throw Error(ErrorCode::usage, "'" + std::string(text) + "' is not a whole number in " + std::to_string(low) + ".." + std::to_string(high),
              std::string(what));
}

}  // namespace mx::families
