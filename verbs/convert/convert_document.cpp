#include "verbs/convert/convert_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include "model/families/fnuz.hpp"
#include "model/families/libraries.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory.hpp"
#include "model/families/setting_keys.hpp"
#include "model/numerics/f32.hpp"

namespace mx::verbs {
namespace {

using checkpoint::LayerLoss;
using families::Setting;

/// What was lost of one tensor in one way, over all layers.
struct LossLine {
  layout::Role role;
  std::string what;
  int further;
  std::int64_t units;
  std::int64_t kept;
  std::vector<int> layers;
};

std::vector<LossLine> loss_lines(const std::vector<LayerLoss>& losses) {
  std::vector<LossLine> lines;
  for (const LayerLoss& entry : losses) {
    auto line = std::ranges::find_if(
        lines, [&](const LossLine& l) { return l.role == entry.loss.role && l.what == entry.loss.what && l.further == entry.further; });
    if (line == lines.end()) line = lines.insert(line, {entry.loss.role, entry.loss.what, entry.further, 0, 0, {}});
    line->units += entry.loss.units;
    line->kept += entry.loss.kept;
    if (line->layers.empty() || line->layers.back() != entry.layer) line->layers.push_back(entry.layer);
  }
  return lines;
}

/// Scales of static activations, which the engine joins to the largest of all experts: in the text those of the first layer.
void add_inputs(Document& document, const std::vector<checkpoint::LayerInputs>& inputs) {
  if (inputs.empty()) return;
  Table table{"input_scales", {in_json("layer"), in_json("family"), in_json("w13"), in_json("w2")}};
  for (const checkpoint::LayerInputs& one : inputs)
    table.add({one.layer, one.further == 0 ? Cell::none() : Cell(one.further), f32::text(one.scales.w13), f32::text(one.scales.w2)});
  document.field("inputs", {}, {},
                 fmt::format("scales of static activations, of all experts the largest: layer {} w13 {}, w2 {} as fp32 bits", inputs.front().layer,
                             f32::text(inputs.front().scales.w13), f32::text(inputs.front().scales.w2)));
  document.value(table.key, table.json());
}

void add_losses(Document& document, const std::vector<LayerLoss>& losses) {
  Table table{
      "losses",
      {{"tensor", "tensor"}, {"units", "not restorable"}, {"destroyed", "values lost"}, {"layers", "layers"}, in_json("family"), {"what", "what"}}};
  for (const LossLine& line : loss_lines(losses)) {
    const std::string layers = fmt::format("{}{}", line.layers.size(), line.further == 0 ? "" : fmt::format(" of layer group {}", line.further));
    table.add({layout::name_of(line.role),
               line.units,
               line.units - line.kept,
               {line.layers, layers},
               line.further == 0 ? Cell::none() : Cell(line.further),
               line.what});
  }
  if (!table.rows.empty()) document.line();
  document.table(std::move(table));
}

std::string sizes_text(std::int64_t from, std::int64_t to) { return from == to ? std::to_string(from) : fmt::format("{} -> {}", from, to); }

Document begun(std::string verb, const Setting& setting) { return {std::move(verb), std::string(deployment::name_of(setting.engine))}; }

/// ", flashinfer 0.6.18": releases of libraries that the engine's version does not ask for.
std::string libraries_text(const Setting& setting) {
  std::string text;
  for (const families::SettingKey& key : families::setting_keys()) {
    if (!families::is_of_library(key.key) || key.get(setting) == "engine") continue;
    text += fmt::format(", {} {}", key.key, key.get(setting));
  }
  return text;
}

void add_backend(Document& document, const std::string& backend, const Setting& setting, const std::string& rank = {}) {
  document.field("backend", "backend", backend,
                 fmt::format("{} on {}, engine {}{}{}", backend, families::name_of(setting.arch), document.engine, libraries_text(setting), rank));
}

std::string sizes_text(const Setting& setting) {
  return fmt::format("{} experts, hidden {}, intermediate {}", setting.sizes.experts, sizes_text(setting.sizes.hidden, setting.padded.hidden),
                     sizes_text(setting.sizes.intermediate, setting.padded.intermediate));
}

void add_setting(Document& document, const Setting& setting) { document.field("sizes", "setting", setting_json(setting), sizes_text(setting)); }

/// The backend computes with the weights as they were loaded: the conversion stacks the experts' tensors and moves nothing in them.
bool reads_as_stored(const std::string& backend, const Setting& setting) {
  const families::BackendLayout* const row = families::find_backend_layout(backend, setting.form.format, setting.engine);
  return row != nullptr && row->build == families::as_loaded && setting.sizes == setting.padded && !families::has_fnuz(setting);
}

/// A layer group beside the first.
Json further_json(int number, const std::string& backend, const Setting& setting) {
  return {{"family", number}, {"backend", backend}, {"setting", setting_json(setting)}};
}
std::string further_text(int number, const std::string& backend, const Setting& setting) {
  return fmt::format("layer group {} by {}: {}", number, backend, sizes_text(setting));
}

/// What stands beside the weights and was not copied.
void add_left(Document& document, const std::vector<checkpoint::LeftOut>& left) {
  Table table{"left", {in_json("name"), in_json("bytes")}};
  for (const checkpoint::LeftOut& one : left) {
    table.add({one.name, one.bytes});
    document.line(fmt::format("left {}: {} bytes, weights of another form or hidden; convert --copy-all takes it", one.name, one.bytes));
  }
  document.value(table.key, table.json());
}

/// All layer groups; in the text those that are left, each with the reason or with what would convert it.
void add_left_groups(Document& document, const checkpoint::ConvertReport& report) {
  std::vector<int> converted;
  for (const checkpoint::ConvertedGroup& group : report.converted) converted.push_back(group.layer_group);
  document.value("families", layer_groups_json(report.layer_groups, converted));
  for (std::size_t i = 0; i < report.layer_groups.size(); ++i) {
    if (std::ranges::find(converted, static_cast<int>(i)) != converted.end()) continue;
    std::string line = "left as they are: " + report.layer_groups[i].text();
    if (!report.refusals[i].empty()) {
      line += "; " + report.refusals[i];
    } else if (report.layer_groups[i].converts) {
      line += fmt::format("; --backend {}=NAME converts them", i + 1);
    }
    document.line(std::move(line));
  }
}

void add_conversion(Document& document, const checkpoint::ConvertReport& report, int rank) {
  const checkpoint::ConvertedGroup& first = report.converted.front();
  const Setting& setting = first.setting;
  add_values(document, report.values);
  add_backend(document, first.backend, setting, setting.tp_size == 1 ? "" : fmt::format(", rank {} of {}", rank, setting.tp_size));
  add_setting(document, setting);
  if (families::has_fnuz(setting))
    document.note(fmt::format("FP8 of {} is e4m3fnuz: the method makes codes of -0 zeros and doubles the scales, before any backend's conversion",
                              families::name_of(setting.arch)));
  if (reads_as_stored(first.backend, setting))
    document.note(fmt::format("nothing to convert: {} reads {} as it is stored, all experts in one tensor", first.backend,
                              layout::name_of(setting.form.format)));
  Json further = Json::array();
  for (const checkpoint::ConvertedGroup& group : std::span(report.converted).subspan(1)) {
    Json json = further_json(group.layer_group + 1, group.backend, group.setting);
    json.update({{"layers", group.layers}, {"bytes_in", group.bytes_in}, {"bytes_out", group.bytes_out}});
    further.push_back(std::move(json));
    document.field("further", {}, {},
                   fmt::format("{}; {} layer{}, experts {} -> {} bytes", further_text(group.layer_group + 1, group.backend, group.setting),
                               group.layers, group.layers == 1 ? "" : "s", group.bytes_in, group.bytes_out));
  }
  if (!further.empty()) document.value("further", std::move(further));
  document.field("layers", "layers", report.layers,
                 fmt::format("{}, experts {} -> {} bytes; {} other tensors as they were", report.layers, report.bytes_in, report.bytes_out,
                             report.other_tensors));
  if (report.up_scales_dropped > 0)
    document.field("scales", {}, {},
                   fmt::format("of {} experts, up has another global scale than gate, which counts for both", report.up_scales_dropped));
  add_inputs(document, report.inputs);
  const bool harmless = std::ranges::all_of(report.losses, [](const LayerLoss& entry) { return entry.loss.destroyed() == 0; });
  if (report.losses.empty()) document.field("losses", {}, {}, "none: restoring gives the same bytes");
  if (!report.losses.empty() && harmless)
    document.field("losses", {}, {}, "no value is lost; what the way back would need is not kept, so the bytes cannot be restored");
  document.value("rank", rank);
  document.value("bytes_in", report.bytes_in);
  document.value("bytes_out", report.bytes_out);
  document.value("other_tensors", report.other_tensors);
  document.value("up_scales_dropped", report.up_scales_dropped);
  document.value("digest", report.digest);
  add_losses(document, report.losses);
  add_left_groups(document, report);
  add_left(document, report.left);
}

}  // namespace

Json setting_json(const Setting& setting) {
  Json json{{"experts", setting.sizes.experts},
            {"hidden", setting.sizes.hidden},
            {"rounded_hidden", setting.padded.hidden},
            {"intermediate", setting.sizes.intermediate},
            {"rounded_intermediate", setting.padded.intermediate}};
  for (const families::SettingKey& key : families::setting_keys()) json[std::string(key.key)] = key.get(setting);
  return json;
}

Json layer_groups_json(const std::vector<checkpoint::LayerGroup>& layer_groups, std::span<const int> chosen) {
  Table table{"families",
              {in_json("form"), in_json("place"), in_json("layers"), in_json("experts"), in_json("bytes"), in_json("converts"), in_json("further"),
               in_json("named_in"), in_json("chosen")}};
  for (std::size_t i = 0; i < layer_groups.size(); ++i) {
    const checkpoint::LayerGroup& group = layer_groups[i];
    table.add({group.form, group.place, Cell(Json(group.layers)), group.experts, group.bytes, group.converts, group.further, group.left,
               std::ranges::find(chosen, static_cast<int>(i)) != chosen.end()});
  }
  return table.json();
}

void add_layer_groups(Document& document, const std::vector<checkpoint::LayerGroup>& layer_groups, int chosen, const std::string& left) {
  document.value("families", layer_groups_json(layer_groups, std::span(&chosen, 1)));
  for (std::size_t i = 0; i < layer_groups.size(); ++i) {
    if (static_cast<int>(i) == chosen) continue;
    document.line(fmt::format("{}: {}{}", left, layer_groups[i].text(), layer_groups[i].converts ? fmt::format("; --layer-group {}", i + 1) : ""));
  }
}

void add_values(Document& document, const std::vector<checkpoint::LayerValues>& values) {
  Table table{"values", {in_json("layer"), in_json("fault"), in_json("spoils"), in_json("tensor"), in_json("count"), in_json("first"), in_json("detail")}};
  for (const auto& [layer, fault] : values) {
    table.add({layer, checkpoint::name_of(fault.fault), checkpoint::spoils(fault.fault), fault.tensor, fault.count, fault.first, fault.detail});
    document.line(fmt::format("{}: {}", checkpoint::heading_of(fault.fault), fault.text()));
  }
  document.value(table.key, table.json());
  if (!values.empty()) document.line();
}

Document convert_document(const checkpoint::ConvertReport& report, const std::string& checkpoint, const std::string& output, int rank,
                          bool fail_on_warning) {
  Document document = begun("convert", report.converted.front().setting);
  document.value("checkpoint", checkpoint);
  document.value("output", output);
  add_conversion(document, report, rank);
  const bool destroys = std::ranges::any_of(report.losses, [](const LayerLoss& entry) { return entry.loss.destroyed() > 0; });
  if (fail_on_warning && (destroys || !report.values.empty())) document.exit_code = 1;
  return document;
}

Document restore_document(const checkpoint::RestoreReport& report, const std::vector<std::string>& directories, const std::string& output) {
  const checkpoint::RestoredGroup& first = report.layer_groups.front();
  Document document = begun("restore", first.setting);
  document.value("directories", directories);
  document.value("output", output);
  add_backend(document, first.backend, first.setting);
  add_setting(document, first.setting);
  int layers = first.layers;
  Json further = Json::array();
  for (const checkpoint::RestoredGroup& group : std::span(report.layer_groups).subspan(1)) {
    layers += group.layers;
    further.push_back(further_json(group.further, group.backend, group.setting));
    further.back()["layers"] = group.layers;
    document.field(
        "further", {}, {},
        fmt::format("{}; {} layer{}", further_text(group.further, group.backend, group.setting), group.layers, group.layers == 1 ? "" : "s"));
  }
  if (!further.empty()) document.value("further", std::move(further));
  document.field("layers", "layers", layers, fmt::format("{} restored into {} files, experts {} bytes", layers, report.shards, report.bytes));
  document.value("files", report.shards);
  document.value("bytes", report.bytes);
  add_losses(document, report.losses);
  add_left(document, report.left);
  return document;
}

Document plan_document(const checkpoint::JobPlan& plan) {
  const checkpoint::PlannedGroup& first = plan.layer_groups.front();
  Document document = begun("plan", first.setting);
  document.value("plan", plan.id);
  add_backend(document, first.backend, first.setting);
  add_setting(document, first.setting);
  Json further = Json::array();
  for (const checkpoint::PlannedGroup& group : std::span(plan.layer_groups).subspan(1)) {
    further.push_back(further_json(group.layer_group + 1, group.backend, group.setting));
    document.field("further", {}, {}, further_text(group.layer_group + 1, group.backend, group.setting));
  }
  if (!further.empty()) document.value("further", std::move(further));
  Table jobs{{}, {in_json("unit"), in_json("what"), in_json("file"), in_json("bytes")}};
  std::uint64_t bytes = 0;
  for (const checkpoint::PlannedJob& job : plan.jobs) {
    jobs.add({job.job, job.what, job.file, job.bytes});
    bytes += job.bytes;
  }
  document.field("jobs", "units", jobs.json(), fmt::format("{}, 0..{}, of {} bytes in all", plan.jobs.size(), plan.jobs.size() - 1, bytes));
  document.value("bytes", bytes);
  return document;
}

Document run_document(const checkpoint::JobPlan& plan, const std::vector<JobDone>& jobs) {
  Document document = begun("run", plan.layer_groups.front().setting);
  document.value("plan", plan.id);
  Table table{"units", {in_json("unit"), in_json("file"), in_json("size"), in_json("digest"), in_json("outcome")}};
  for (const JobDone& done : jobs) {
    const std::string_view word = done.outcome == checkpoint::JobOutcome::written ? "written"
                                  : done.outcome == checkpoint::JobOutcome::left  ? "left"
                                                                                  : "there already";
    table.add({done.job, done.result.file, done.result.size, done.result.digest, word});
    const std::string digest = done.result.digest.empty() ? "" : done.result.digest + "  ";
    document.line(fmt::format("job {}  {}  {}{}", done.job, done.result.file, digest, word));
  }
  document.value(table.key, table.json());
  std::error_code error;
  if (std::filesystem::is_directory(plan.output, error) && !std::filesystem::is_empty(plan.output, error))
    document.note(fmt::format("{} is there already: the jobs may be merged, and merge replaces it with --force alone", plan.output.string()));
  return document;
}

Document merge_document(const checkpoint::ConvertReport& report, const checkpoint::JobPlan& plan) {
  Document document = begun("merge", report.converted.front().setting);
  document.value("plan", plan.id);
  document.value("checkpoint", plan.checkpoint.string());
  document.value("output", plan.output.string());
  add_conversion(document, report, plan.rank);
  return document;
}

}  // namespace mx::verbs
