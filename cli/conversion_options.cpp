#include "cli/conversion_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "build_info.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "model/error.hpp"

namespace mx::cli {
namespace {

using layout::Setting;
using sim::LayerLoss;

/// Fields of a setting that the checkpoint decides, or that are not for whole conversions.
constexpr std::array<std::string_view, 5> kNotAsked{"source-order", "not-gated", "has-bias", "largest-scale-byte", "before-swizzle"};

std::vector<const layout::SettingKey*> asked_keys() {
  std::vector<const layout::SettingKey*> keys;
  for (const layout::SettingKey& key : layout::setting_keys()) {
    if (std::ranges::find(kNotAsked, key.key) == kNotAsked.end()) keys.push_back(&key);
  }
  return keys;
}

/// What was lost of one tensor in one way, over all layers.
struct LossLine {
  layout::Role role;
  std::string what;
  std::int64_t units;
  std::vector<int> layers;
};

std::vector<LossLine> loss_lines(const std::vector<LayerLoss>& losses) {
  std::vector<LossLine> lines;
  for (const LayerLoss& entry : losses) {
    auto line = std::ranges::find_if(lines, [&](const LossLine& l) { return l.role == entry.loss.role && l.what == entry.loss.what; });
    if (line == lines.end()) line = lines.insert(line, {entry.loss.role, entry.loss.what, 0, {}});
    line->units += entry.loss.units;
    if (line->layers.empty() || line->layers.back() != entry.layer) line->layers.push_back(entry.layer);
  }
  return lines;
}

std::string sizes_text(std::int64_t from, std::int64_t to) { return from == to ? std::to_string(from) : fmt::format("{} -> {}", from, to); }

std::string rank_text(const Setting& setting, int rank) { return setting.tp_size == 1 ? "" : fmt::format(", rank {} of {}", rank, setting.tp_size); }

}  // namespace

void add_conversion_options(Verb verb, ConversionChoice& choice) {
  verb.add_option("CHECKPOINT", choice.checkpoint, "a .safetensors file or a model directory").required();
  verb.add_option("--backend", choice.backend, "backend (mxact layout list)").required();
  const std::vector<const layout::SettingKey*> keys = asked_keys();
  choice.values.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_setting_option(verb, *keys[i], choice.values[i]).required(keys[i]->key == "platform");
  }
  verb.add_option("--rank", choice.rank, "rank of the --tp that are converted one by one, from 0").check(whole_number_in(0, 1 << 16));
  verb.add_flag("--any-platform", choice.any_platform, "also for a platform on which the engine has no kernel of the backend");
  verb.add_flag("--reference", choice.reference, "move by the model alone instead of the fast twin");
}

sim::MoveBy moved_by(bool reference) { return reference ? sim::MoveBy::model : sim::MoveBy::plans; }

sim::ConvertOptions options_of(const ConversionChoice& choice) {
  sim::ConvertOptions options{};
  options.backend = choice.backend;
  options.program = program_text();
  const std::vector<const layout::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!choice.values[i].empty()) keys[i]->set(options.setting, choice.values[i]);
  }
  if (choice.rank < 0 && options.setting.tp_size > 1) {
    throw Error(ErrorCode::usage, fmt::format("which of the {} ranks is converted?", options.setting.tp_size), "--rank");
  }
  options.asks_for_kernel = !choice.any_platform;
  options.rank = std::max(choice.rank, 0);
  options.by = moved_by(choice.reference);
  return options;
}

std::string program_text() { return fmt::format("mxact {} ({})", MXACT_VERSION, MXACT_COMMIT); }

void print_losses(const std::vector<LayerLoss>& losses) {
  std::vector<std::vector<std::string>> rows{{"tensor", "units", "layers", "what is lost"}};
  for (const LossLine& line : loss_lines(losses)) {
    rows.push_back({std::string(layout::name_of(line.role)), std::to_string(line.units), std::to_string(line.layers.size()), line.what});
  }
  fmt::print("\n");
  print_table(rows);
}

Json losses_json(const std::vector<LayerLoss>& losses) {
  Json json = Json::array();
  for (const LossLine& line : loss_lines(losses)) {
    json.push_back({{"tensor", layout::name_of(line.role)}, {"what", line.what}, {"units", line.units}, {"layers", line.layers}});
  }
  return json;
}

Json conversion_setting_json(const Setting& setting) {
  Json json{{"experts", setting.sizes.experts},
            {"hidden", setting.sizes.hidden},
            {"rounded_hidden", setting.padded.hidden},
            {"intermediate", setting.sizes.intermediate},
            {"rounded_intermediate", setting.padded.intermediate}};
  for (const layout::SettingKey& key : layout::setting_keys()) json[std::string(key.key)] = key.get(setting);
  return json;
}

void print_sizes(const Setting& setting) {
  fmt::print("sizes    {} experts, hidden {}, intermediate {}\n", setting.sizes.experts, sizes_text(setting.sizes.hidden, setting.padded.hidden),
             sizes_text(setting.sizes.intermediate, setting.padded.intermediate));
}

void print_conversion(const sim::ConvertReport& report, int rank) {
  fmt::print("backend  {} on {}, engine {}{}\n", report.backend, layout::name_of(report.setting.arch), name_of(report.setting.engine),
             rank_text(report.setting, rank));
  print_sizes(report.setting);
  fmt::print("layers   {}, experts {} -> {} bytes; {} other tensors as they were\n", report.layers, report.bytes_in, report.bytes_out,
             report.other_tensors);
  if (report.up_scales_dropped > 0) {
    fmt::print("scales   of {} experts, up has another global scale than gate, which counts for both\n", report.up_scales_dropped);
  }
  if (report.losses.empty())
    fmt::print("losses   none: restoring gives the same bytes\n");
  else
    print_losses(report.losses);
}

void add_conversion(Json& json, const sim::ConvertReport& report, int rank) {
  json["backend"] = report.backend;
  json["rank"] = rank;
  json["setting"] = conversion_setting_json(report.setting);
  json["layers"] = report.layers;
  json["bytes_in"] = report.bytes_in;
  json["bytes_out"] = report.bytes_out;
  json["other_tensors"] = report.other_tensors;
  json["up_scales_dropped"] = report.up_scales_dropped;
  json["digest"] = report.digest;
  json["losses"] = losses_json(report.losses);
}

}  // namespace mx::cli
