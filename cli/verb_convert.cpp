// mxact convert and mxact restore: a checkpoint into a backend's layouts and back.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "sim/convert.hpp"
#include "sim/kernel_platforms.hpp"

namespace mx::cli {
namespace {

using layout::Setting;
using sim::LayerLoss;

/// Fields of a setting that the checkpoint decides, or that are not for whole conversions.
constexpr std::array<std::string_view, 5> kNotAsked{"source-order", "not-gated", "has-bias", "largest-scale-byte", "before-swizzle"};

std::vector<const sim::SettingKey*> asked_keys() {
  std::vector<const sim::SettingKey*> keys;
  for (const sim::SettingKey& key : sim::setting_keys()) {
    if (std::ranges::find(kNotAsked, key.key) == kNotAsked.end()) keys.push_back(&key);
  }
  return keys;
}

struct ConvertCommand {
  std::string checkpoint;
  std::string output;
  std::string backend;
  std::vector<std::string> values;  ///< by asked_keys()
  int rank = -1;                    ///< not given
  bool any_platform = false;
  bool reference = false;
  bool force = false;
  bool json = false;
};

struct RestoreCommand {
  std::vector<std::string> directories;
  std::string output;
  bool accept_losses = false;
  bool reference = false;
  bool force = false;
  bool json = false;
};

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

std::string sizes_text(std::int64_t from, std::int64_t to) { return from == to ? std::to_string(from) : fmt::format("{} -> {}", from, to); }

std::string rank_text(const Setting& setting, int rank) { return setting.tp_size == 1 ? "" : fmt::format(", rank {} of {}", rank, setting.tp_size); }

Json setting_json(const Setting& setting) {
  Json json{{"experts", setting.sizes.experts},
            {"hidden", setting.sizes.hidden},
            {"rounded_hidden", setting.padded.hidden},
            {"intermediate", setting.sizes.intermediate},
            {"rounded_intermediate", setting.padded.intermediate}};
  for (const sim::SettingKey& key : sim::setting_keys()) json[std::string(key.key)] = key.get(setting);
  return json;
}

void print_sizes(const Setting& setting) {
  fmt::print("sizes    {} experts, hidden {}, intermediate {}\n", setting.sizes.experts, sizes_text(setting.sizes.hidden, setting.padded.hidden),
             sizes_text(setting.sizes.intermediate, setting.padded.intermediate));
}

int interrupted() {
  fmt::print(stderr, "mxact: interrupted; nothing was written\n");
  return kInterrupted;
}

int print_converted(const sim::ConvertReport& report, const ConvertCommand& command, int rank) {
  if (command.json) {
    Json json = json_head("convert");
    json["checkpoint"] = command.checkpoint;
    json["output"] = command.output;
    json["backend"] = report.backend;
    json["rank"] = rank;
    json["setting"] = setting_json(report.setting);
    json["layers"] = report.layers;
    json["bytes_in"] = report.bytes_in;
    json["bytes_out"] = report.bytes_out;
    json["other_tensors"] = report.other_tensors;
    json["losses"] = losses_json(report.losses);
    print_json(json);
    return 0;
  }
  fmt::print("backend  {} on {}, engine {}{}\n", report.backend, layout::name_of(report.setting.arch), layout::name_of(report.setting.engine),
             rank_text(report.setting, rank));
  print_sizes(report.setting);
  fmt::print("layers   {}, experts {} -> {} bytes; {} other tensors as they were\n", report.layers, report.bytes_in, report.bytes_out,
             report.other_tensors);
  if (report.losses.empty())
    fmt::print("losses   none: restoring gives the same bytes\n");
  else
    print_losses(report.losses);
  return 0;
}

sim::MoveBy moved_by(bool reference) { return reference ? sim::MoveBy::model : sim::MoveBy::plans; }

int convert(const ConvertCommand& command) {
  sim::ConvertOptions options;
  options.backend = command.backend;
  const std::vector<const sim::SettingKey*> keys = asked_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!command.values[i].empty()) keys[i]->set(options.setting, command.values[i]);
  }
  if (command.rank < 0 && options.setting.tp_size > 1) {
    throw Error(ErrorCode::usage, fmt::format("which of the {} ranks is converted?", options.setting.tp_size), "--rank");
  }
  if (!command.any_platform) sim::check_has_kernel(command.backend, options.setting);
  options.rank = std::max(command.rank, 0);
  options.by = moved_by(command.reference);
  options.force = command.force;
  sim::ConvertReport report;
  {
    const InterruptWatch watch;
    ProgressLine line;
    options.progress = [&line](const std::string& text, double fraction) { line.show(text, fraction); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = sim::convert_checkpoint(command.checkpoint, command.output, options);
  }
  return report.finished ? print_converted(report, command, options.rank) : interrupted();
}

int restore(const RestoreCommand& command) {
  sim::RestoreOptions options{.accept_losses = command.accept_losses, .by = moved_by(command.reference), .force = command.force};
  sim::RestoreReport report;
  {
    const InterruptWatch watch;
    ProgressLine line;
    options.progress = [&line](const std::string& text, double fraction) { line.show(text, fraction); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = sim::restore_checkpoint({command.directories.begin(), command.directories.end()}, command.output, options);
  }
  if (!report.finished) return interrupted();
  if (command.json) {
    Json json = json_head("restore");
    json["directories"] = command.directories;
    json["output"] = command.output;
    json["backend"] = report.backend;
    json["setting"] = setting_json(report.setting);
    json["layers"] = report.layers;
    json["files"] = report.shards;
    json["bytes"] = report.bytes;
    json["losses"] = losses_json(report.losses);
    print_json(json);
    return 0;
  }
  fmt::print("backend  {} on {}, engine {}\n", report.backend, layout::name_of(report.setting.arch), layout::name_of(report.setting.engine));
  print_sizes(report.setting);
  fmt::print("layers   {} restored into {} files, experts {} bytes\n", report.layers, report.shards, report.bytes);
  if (!report.losses.empty()) print_losses(report.losses);
  return 0;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("convert", "a safetensors checkpoint into a backend's layouts, with what the way back needs");
  const auto command = std::make_shared<ConvertCommand>();
  verb->add_option("CHECKPOINT", command->checkpoint, "a .safetensors file or a model directory")->required();
  verb->add_option("-o,--output", command->output, "directory to write, new or empty")->required();
  verb->add_option("--backend", command->backend, "backend (mxact layout list)")->required();
  const std::vector<const sim::SettingKey*> keys = asked_keys();
  command->values.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_setting_option(*verb, *keys[i], command->values[i])->required(keys[i]->key == "platform");
  }
  verb->add_option("--rank", command->rank, "rank of the --tp that are converted one by one, from 0")->check(whole_number_in(0, 1 << 16));
  verb->add_flag("--any-platform", command->any_platform, "also for a platform on which the engine has no kernel of the backend");
  verb->add_flag("--reference", command->reference, "move by the model alone instead of the fast twin");
  verb->add_flag("--force", command->force, "replace files of the same names in the output directory");
  verb->add_flag("--json", command->json, "machine-readable output");
  verb->callback([&action, command] { action = [command] { return convert(*command); }; });
}

void add_restore(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("restore", "the checkpoint again, from what convert wrote");
  const auto command = std::make_shared<RestoreCommand>();
  verb->add_option("DIRECTORY", command->directories, "what convert wrote; of every rank, where there are several")->required();
  verb->add_option("-o,--output", command->output, "directory to write, new or empty")->required();
  verb->add_flag("--accept-losses", command->accept_losses, "where the conversion lost something, restore what is left and say so");
  verb->add_flag("--reference", command->reference, "move by the model alone instead of the fast twin");
  verb->add_flag("--force", command->force, "replace files of the same names in the output directory");
  verb->add_flag("--json", command->json, "machine-readable output");
  verb->callback([&action, command] { action = [command] { return restore(*command); }; });
}

}  // namespace mx::cli
