#include "verbs/convert/convert_document.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/families/setting_keys.hpp"

namespace mx::verbs {
namespace {

using layout::Setting;
using sim::LayerLoss;

/// What was lost of one tensor in one way, over all layers.
struct LossLine {
  layout::Role role;
  std::string what;
  std::int64_t units;
  std::int64_t kept;
  std::vector<int> layers;
};

std::vector<LossLine> loss_lines(const std::vector<LayerLoss>& losses) {
  std::vector<LossLine> lines;
  for (const LayerLoss& entry : losses) {
    auto line = std::ranges::find_if(lines, [&](const LossLine& l) { return l.role == entry.loss.role && l.what == entry.loss.what; });
    if (line == lines.end()) line = lines.insert(line, {entry.loss.role, entry.loss.what, 0, 0, {}});
    line->units += entry.loss.units;
    line->kept += entry.loss.kept;
    if (line->layers.empty() || line->layers.back() != entry.layer) line->layers.push_back(entry.layer);
  }
  return lines;
}

void add_losses(Document& document, const std::vector<LayerLoss>& losses) {
  Table table{"losses", {{"tensor", "tensor"}, {"units", "not restorable"}, {"destroyed", "values lost"}, {"layers", "layers"}, {"what", "what"}}};
  for (const LossLine& line : loss_lines(losses))
    table.add({layout::name_of(line.role), line.units, line.units - line.kept, {line.layers, std::to_string(line.layers.size())}, line.what});
  if (!table.rows.empty()) document.line();
  document.table(std::move(table));
}

std::string sizes_text(std::int64_t from, std::int64_t to) { return from == to ? std::to_string(from) : fmt::format("{} -> {}", from, to); }

Document begun(std::string verb, const Setting& setting) { return {std::move(verb), std::string(name_of(setting.engine))}; }

void add_backend(Document& document, const std::string& backend, const Setting& setting, const std::string& rank = {}) {
  document.field("backend", "backend", backend, fmt::format("{} on {}, engine {}{}", backend, layout::name_of(setting.arch), document.engine, rank));
}

/// Experts, and sizes with what they were rounded up to.
void add_setting(Document& document, const Setting& setting) {
  Json json{{"experts", setting.sizes.experts},
            {"hidden", setting.sizes.hidden},
            {"rounded_hidden", setting.padded.hidden},
            {"intermediate", setting.sizes.intermediate},
            {"rounded_intermediate", setting.padded.intermediate}};
  for (const layout::SettingKey& key : layout::setting_keys()) json[std::string(key.key)] = key.get(setting);
  document.field("sizes", "setting", std::move(json),
                 fmt::format("{} experts, hidden {}, intermediate {}", setting.sizes.experts, sizes_text(setting.sizes.hidden, setting.padded.hidden),
                             sizes_text(setting.sizes.intermediate, setting.padded.intermediate)));
}

/// What stands beside the weights and was not copied.
void add_left(Document& document, const std::vector<sim::LeftOut>& left) {
  Table table{"left", {in_json("name"), in_json("bytes")}};
  for (const sim::LeftOut& one : left) {
    table.add({one.name, one.bytes});
    document.line(fmt::format("left {}: {} bytes, weights of another form or hidden; convert --copy-all takes it", one.name, one.bytes));
  }
  document.value(table.key, table.json());
}

void add_conversion(Document& document, const sim::ConvertReport& report, int rank) {
  const Setting& setting = report.setting;
  add_backend(document, report.backend, setting, setting.tp_size == 1 ? "" : fmt::format(", rank {} of {}", rank, setting.tp_size));
  add_setting(document, setting);
  document.field("layers", "layers", report.layers,
                 fmt::format("{}, experts {} -> {} bytes; {} other tensors as they were", report.layers, report.bytes_in, report.bytes_out,
                             report.other_tensors));
  if (report.up_scales_dropped > 0)
    document.field("scales", {}, {},
                   fmt::format("of {} experts, up has another global scale than gate, which counts for both", report.up_scales_dropped));
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
  add_families(document, report.families, report.family, "left as they are");
  add_values(document, report.values);
  add_left(document, report.left);
}

}  // namespace

void add_families(Document& document, const std::vector<sim::Family>& families, int chosen, const std::string& left) {
  Table table{"families",
              {in_json("form"), in_json("place"), in_json("layers"), in_json("experts"), in_json("bytes"), in_json("converts"), in_json("further"),
               in_json("named_in"), in_json("chosen")}};
  for (std::size_t i = 0; i < families.size(); ++i) {
    const sim::Family& family = families[i];
    const bool is_it = static_cast<int>(i) == chosen;
    table.add(
        {family.form, family.place, Cell(Json(family.layers)), family.experts, family.bytes, family.converts, family.further, family.left, is_it});
    if (is_it) continue;
    document.line(fmt::format("{}: {}{}", left, family.text(), family.converts ? fmt::format("; --family {}", i + 1) : ""));
  }
  document.value(table.key, table.json());
}

void add_values(Document& document, const std::vector<sim::LayerValues>& values) {
  Table table{"values", {in_json("layer"), in_json("fault"), in_json("spoils"), in_json("tensor"), in_json("count"), in_json("first")}};
  for (const auto& [layer, fault] : values) {
    table.add({layer, sim::name_of(fault.fault), sim::spoils(fault.fault), fault.tensor, fault.count, fault.first});
    document.line(fmt::format("{}: {}", sim::spoils(fault.fault) ? "no numbers" : "warning", fault.text()));
  }
  document.value(table.key, table.json());
}

Document convert_document(const sim::ConvertReport& report, const std::string& checkpoint, const std::string& output, int rank,
                          bool fail_on_warning) {
  Document document = begun("convert", report.setting);
  document.value("checkpoint", checkpoint);
  document.value("output", output);
  add_conversion(document, report, rank);
  if (fail_on_warning && !report.values.empty()) document.exit_code = 1;
  return document;
}

Document restore_document(const sim::RestoreReport& report, const std::vector<std::string>& directories, const std::string& output) {
  Document document = begun("restore", report.setting);
  document.value("directories", directories);
  document.value("output", output);
  add_backend(document, report.backend, report.setting);
  add_setting(document, report.setting);
  document.field("layers", "layers", report.layers,
                 fmt::format("{} restored into {} files, experts {} bytes", report.layers, report.shards, report.bytes));
  document.value("files", report.shards);
  document.value("bytes", report.bytes);
  add_losses(document, report.losses);
  add_left(document, report.left);
  return document;
}

Document plan_document(const sim::UnitPlan& plan) {
  Document document = begun("plan", plan.setting);
  document.value("plan", plan.id);
  add_backend(document, plan.backend, plan.setting);
  add_setting(document, plan.setting);
  Table units{{}, {in_json("unit"), in_json("what"), in_json("file"), in_json("bytes")}};
  std::uint64_t bytes = 0;
  for (const sim::PlannedUnit& unit : plan.units) {
    units.add({unit.unit, unit.what, unit.file, unit.bytes});
    bytes += unit.bytes;
  }
  document.field("units", "units", units.json(), fmt::format("{}, 0..{}, of {} bytes in all", plan.units.size(), plan.units.size() - 1, bytes));
  document.value("bytes", bytes);
  return document;
}

Document run_document(const sim::UnitPlan& plan, const std::vector<UnitDone>& units) {
  Document document = begun("run", plan.setting);
  document.value("plan", plan.id);
  Table table{"units", {in_json("unit"), in_json("file"), in_json("size"), in_json("digest"), in_json("outcome")}};
  for (const UnitDone& done : units) {
    const std::string_view word = done.outcome == sim::UnitOutcome::written ? "written"
                                  : done.outcome == sim::UnitOutcome::left  ? "left"
                                                                            : "there already";
    table.add({done.unit, done.result.file, done.result.size, done.result.digest, word});
    document.line(fmt::format("unit {}  {}  {}  {}", done.unit, done.result.file, done.result.digest, word));
  }
  document.value(table.key, table.json());
  return document;
}

Document merge_document(const sim::ConvertReport& report, const sim::UnitPlan& plan) {
  Document document = begun("merge", report.setting);
  document.value("plan", plan.id);
  document.value("checkpoint", plan.checkpoint.string());
  document.value("output", plan.output.string());
  add_conversion(document, report, plan.rank);
  return document;
}

}  // namespace mx::verbs
