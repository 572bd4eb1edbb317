// mxact layout list: every backend's tensors and every building block.

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/layout_options.hpp"
#include "cli/verb_layout.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "verbs/layout/facts.hpp"

namespace mx::cli {
namespace {

using layout::BackendLayout;

struct Filters {
  std::string backend;
  std::string format;
  std::string engine;
  bool json = false;
  bool any() const { return !backend.empty() || !format.empty() || !engine.empty(); }
};

void check_backend(std::string_view name) {
  std::vector<std::string_view> known;
  for (const BackendLayout& row : layout::all_backend_layouts()) {
    if (same_name(row.backend, name)) return;
    if (std::ranges::find(known, row.backend) == known.end()) known.push_back(row.backend);
  }
  const auto is_it = [&](const auto& block) { return same_name(block.name, name); };
  if (std::ranges::any_of(layout::all_stage_layouts(), is_it) || std::ranges::any_of(layout::all_value_stages(), is_it))
    throw Error(ErrorCode::usage, fmt::format("{} is a building block, not a backend", name), "--backend");
  throw Error(ErrorCode::usage, unknown_name("backend", name, known), "--backend");
}

std::vector<const BackendLayout*> backends(const Filters& filters) {
  if (!filters.backend.empty()) check_backend(filters.backend);
  const auto engine = filters.engine.empty() ? std::nullopt : std::optional(layout::conversion_engine_named(filters.engine));
  std::vector<const BackendLayout*> rows;
  for (const BackendLayout& row : layout::all_backend_layouts()) {
    if (!filters.backend.empty() && !same_name(filters.backend, row.backend)) continue;
    if (!filters.format.empty() && layout::weight_format_named(filters.format) != row.format) continue;
    if (engine && !row.engines.has(*engine)) continue;
    rows.push_back(&row);
  }
  // The table goes family by family; people look a format up.
  std::ranges::stable_sort(rows, {}, &BackendLayout::format);
  return rows;
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

std::string bits_text(const golden::LayoutFacts& facts) {
  const std::string unit = facts.unit_bits == 0 ? "any" : std::to_string(facts.unit_bits);
  return facts.unit_bits == 0 || facts.unit_bits == facts.memory_bits ? unit : fmt::format("{} in {}", unit, facts.memory_bits);
}

Json facts_json(const golden::LayoutFacts& facts) {
  return {{"unit_bits", facts.unit_bits}, {"address_bits", facts.memory_bits}, {"padding", facts.padding}, {"way_back", facts.way_back}};
}

Json backend_json(const BackendLayout& row) {
  Json out{{"backend", row.backend},
           {"format", layout::name_of(row.format)},
           {"engines", golden::engines_text(row.engines)},
           {"gpt_oss_order", golden::engines_text(row.gpt_oss_order)},
           {"standard_order", golden::engines_text(row.standard_order)},
           {"not_gated", row.takes_not_gated},
           {"family", row.family},
           {"summary", row.summary},
           {"source", source_json(row.source)}};
  for (layout::Role role : golden::roles_of(row)) {
    Json tensor{{"tensor", layout::name_of(role)}};
    tensor.update(facts_json(golden::facts_of(row, role)));
    out["tensors"].push_back(tensor);
  }
  return out;
}

template <class Row>
Json block_json(const Row& row) {
  return {{"name", row.name},
          {"summary", row.summary},
          {"formula", row.formula},
          {"versions", std::vector<std::string_view>(row.versions.begin(), row.versions.end())},
          {"source", source_json(row.source)}};
}

int print_as_json(const Filters& filters) {
  Json out = json_head("layout-list");
  out["backends"] = Json::array();
  for (const BackendLayout* row : backends(filters)) out["backends"].push_back(backend_json(*row));
  if (!filters.any()) {
    for (const layout::StageLayout& stage : layout::all_stage_layouts()) {
      Json block = block_json(stage);
      block["role"] = stage.role;
      block.update(facts_json(golden::facts_of(stage)));
      out["building_blocks"].push_back(block);
    }
    out["value_blocks"] = Json::array();
    for (const layout::ValueStage& stage : layout::all_value_stages()) out["value_blocks"].push_back(block_json(stage));
  }
  print_json(out);
  return 0;
}

std::string place(const layout::Source& source) { return fmt::format("{} {}", source.path, source.symbol); }

int list(const Filters& filters) {
  if (filters.json) return print_as_json(filters);
  std::vector<std::vector<std::string>> rows{{"backend", "format", "engines", "tensor", "bits", "padding", "way back", "source"}};
  for (const BackendLayout* row : backends(filters)) {
    for (layout::Role role : golden::roles_of(*row)) {
      const golden::LayoutFacts facts = golden::facts_of(*row, role);
      rows.push_back({std::string(row->backend), std::string(layout::name_of(row->format)), golden::engines_text(row->engines),
                      std::string(layout::name_of(role)), bits_text(facts), facts.padding, facts.way_back, place(row->source)});
    }
  }
  if (rows.size() == 1) fmt::print("no backend has this format with this engine\n");
  if (rows.size() > 1) print_table(rows);
  if (filters.any()) return rows.size() > 1 ? 0 : 5;
  rows = {{"building block", "of", "bits", "padding", "way back", "versions", "source"}};
  for (const layout::StageLayout& stage : layout::all_stage_layouts()) {
    const golden::LayoutFacts facts = golden::facts_of(stage);
    rows.push_back({std::string(stage.name), std::string(stage.role), bits_text(facts), facts.padding, facts.way_back, joined(stage.versions),
                    place(stage.source)});
  }
  fmt::print("\n");
  print_table(rows);
  rows = {{"changes values", "from", "to", "versions", "source"}};
  for (const layout::ValueStage& stage : layout::all_value_stages()) {
    rows.push_back({std::string(stage.name), joined(stage.inputs), joined(stage.outputs), joined(stage.versions), place(stage.source)});
  }
  if (rows.size() == 1) return 0;
  fmt::print("\n");
  print_table(rows);
  return 0;
}

}  // namespace

void add_layout_list(Verb layout, Action& action) {
  const Verb verb = layout.add_verb("list", "every backend's tensors and every building block");
  const auto filters = std::make_shared<Filters>();
  verb.add_option("--backend", filters->backend, "this backend only");
  verb.add_option("--format", filters->format, "this weight format only: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4");
  verb.add_option("--engine", filters->engine, "this version of the engine only: vllm@2026-05, vllm@2026-08");
  verb.add_flag("--json", filters->json, "machine-readable output");
  verb.callback([&action, filters] { action = [filters] { return list(*filters); }; });
}

}  // namespace mx::cli
