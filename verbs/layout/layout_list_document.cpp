#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "model/error.hpp"
#include "model/families/libraries.hpp"
#include "model/names.hpp"
#include "verbs/layout/facts.hpp"
#include "verbs/layout/layout_document.hpp"
#include "verbs/layout/words.hpp"

namespace mx::verbs {
namespace {

using families::BackendLayout;

void check_backend(std::string_view name) {
  std::vector<std::string_view> known;
  for (const BackendLayout& row : families::all_backend_layouts()) {
    if (same_name(row.backend, name)) return;
    if (std::ranges::find(known, row.backend) == known.end()) known.push_back(row.backend);
  }
  const auto is_it = [&](const auto& block) { return same_name(block.name, name); };
  if (std::ranges::any_of(families::all_building_blocks(), is_it) || std::ranges::any_of(families::all_value_blocks(), is_it))
    throw Error(ErrorCode::usage, fmt::format("{} is a building block, not a backend", name), "--backend");
  throw Error(ErrorCode::usage, unknown_name("backend", name, known), "--backend");
}

std::vector<const BackendLayout*> backends(const LayoutFilters& filters) {
  if (!filters.backend.empty()) check_backend(filters.backend);
  const auto engine = filters.engine.empty() ? std::nullopt : std::optional(families::conversion_engine_named(filters.engine));
  std::vector<const BackendLayout*> rows;
  for (const BackendLayout& row : families::all_backend_layouts()) {
    if (!filters.backend.empty() && !same_name(filters.backend, row.backend)) continue;
    if (!filters.format.empty() && layout::weight_format_named(filters.format) != row.format) continue;
    if (engine && !row.engines.has(*engine)) continue;
    rows.push_back(&row);
  }
  // The table goes family by family; people look a format up.
  std::ranges::stable_sort(rows, {}, &BackendLayout::format);
  return rows;
}

std::string bits_text(const LayoutFacts& facts) {
  const std::string unit = facts.unit_bits == 0 ? "any" : std::to_string(facts.unit_bits);
  return facts.unit_bits == 0 || facts.unit_bits == facts.memory_bits ? unit : fmt::format("{} in {}", unit, facts.memory_bits);
}

Cell place_of(const layout::Source& source) { return {source_json(source), fmt::format("{} {}", source.path, source.symbol)}; }

/// Units, padding and the way back: these columns, and their cells behind others.
const std::vector<Column> kFacts{in_text("bits"), in_json("unit_bits"), in_json("address_bits"), {"padding", "padding"}, {"way_back", "way back"}};
void add_facts(std::vector<Cell>& row, const LayoutFacts& facts) {
  for (Cell cell : {Cell(bits_text(facts)), Cell(facts.unit_bits), Cell(facts.memory_bits), Cell(facts.padding), Cell(facts.way_back)})
    row.push_back(std::move(cell));
}

void add_columns(Table& table, const std::vector<Column>& columns) { table.columns.insert(table.columns.end(), columns.begin(), columns.end()); }

/// Versions of the engine whose conversions are known and that the row describes.
std::vector<deployment::Engine> engines_of(const BackendLayout& row) {
  std::vector<deployment::Engine> engines;
  for (const deployment::Engine engine : families::kConversionEngines) {
    if (row.engines.has(engine)) engines.push_back(engine);
  }
  return engines;
}

Json grounds_json(const BackendLayout& row) {
  Json grounds = Json::array();
  for (const deployment::Engine engine : engines_of(row)) {
    const Grounds of_engine = families::grounds_of(row, engine);
    Json one{{"engine", deployment::name_of(engine)}, {"grounds", name_of(of_engine)}};
    if (of_engine == Grounds::run_by_parts) one["stand_ins"] = row.ran.stand_ins;
    const std::string read = families::forms_read(row, engine);
    if (!read.empty()) one["read"] = read;
    grounds.push_back(std::move(one));
  }
  return grounds;
}

/// "run by parts", of both versions where they do not differ.
std::string grounds_text(const BackendLayout& row) {
  std::string text;
  std::string_view last;
  for (const deployment::Engine engine : engines_of(row)) {
    const std::string_view word = name_of(families::grounds_of(row, engine));
    if (word != last) text += (text.empty() ? "" : ", ") + std::string(word);
    last = word;
  }
  return text;
}

Json library_json(const BackendLayout& row) {
  if (row.calls_library.empty()) return nullptr;
  Json asked = Json::array();
  for (const deployment::Engine engine : engines_of(row))
    asked.push_back(
        {{"engine", deployment::name_of(engine)}, {"release", families::asked_release(families::library_named(row.calls_library), engine)}});
  return {{"name", row.calls_library}, {"asked", std::move(asked)}};
}

/// "flashinfer 0.6.11.post2, 0.6.17": by version of the engine, once where they ask for the same.
std::string library_text(const BackendLayout& row) {
  if (row.calls_library.empty()) return "-";
  std::string text;
  std::string_view last;
  for (const deployment::Engine engine : engines_of(row)) {
    const std::string_view release = families::asked_release(families::library_named(row.calls_library), engine);
    if (release != last) text += (text.empty() ? "" : ", ") + std::string(release);
    last = release;
  }
  return std::string(row.calls_library) + " " + text;
}

Json backend_json(const BackendLayout& row, const Table& tensors) {
  return {{"backend", row.backend},
          {"format", layout::name_of(row.format)},
          {"engines", engines_text(row.engines)},
          {"gpt_oss_order", engines_text(row.gpt_oss_order)},
          {"standard_order", engines_text(row.standard_order)},
          {"not_gated", row.takes_not_gated},
          {"family", row.family},
          {"grounds", grounds_json(row)},
          {"library", library_json(row)},
          {"summary", row.summary},
          {"source", source_json(row.source)},
          {"tensors", tensors.json()}};
}

void add_backends(Document& document, const std::vector<const BackendLayout*>& rows) {
  Table lines{{}, {in_text("backend"), in_text("format"), in_text("engines"), {"tensor", "tensor"}}};
  add_columns(lines, kFacts);
  lines.columns.push_back(in_text("grounds"));
  lines.columns.push_back(in_text("library"));
  lines.columns.push_back(in_text("source"));
  Json backends = Json::array();
  for (const BackendLayout* row : rows) {
    Table tensors{{}, lines.columns};
    for (layout::Role role : roles_of(*row)) {
      std::vector<Cell> cells{row->backend, layout::name_of(row->format), engines_text(row->engines), layout::name_of(role)};
      add_facts(cells, facts_of(*row, role));
      cells.emplace_back(grounds_text(*row));
      cells.emplace_back(library_text(*row));
      cells.push_back(place_of(row->source));
      tensors.add(std::move(cells));
    }
    backends.push_back(backend_json(*row, tensors));
    lines.rows.insert(lines.rows.end(), tensors.rows.begin(), tensors.rows.end());
  }
  constexpr int kNothing = 5;
  if (lines.rows.empty()) {
    document.line("no backend has this format with this engine");
    document.exit_code = kNothing;
  }
  document.value("backends", std::move(backends));
  document.table(std::move(lines));
}

void add_blocks(Document& document) {
  Table blocks{"building_blocks", {{"name", "building block"}, {"role", "of"}}};
  add_columns(blocks, kFacts);
  add_columns(blocks, {{"versions", "versions"}, {"source", "source"}, in_json("summary"), in_json("formula")});
  for (const families::BuildingBlock& block : families::all_building_blocks()) {
    std::vector<Cell> cells{block.name, block.role};
    add_facts(cells, facts_of(block));
    for (Cell cell : {Cell(block.versions), place_of(block.source), Cell(block.summary), Cell(block.formula)}) cells.push_back(std::move(cell));
    blocks.add(std::move(cells));
  }
  document.line();
  document.table(std::move(blocks));
  Table values{"value_blocks",
               {{"name", "changes values"},
                {"inputs", "from"},
                {"outputs", "to"},
                {"versions", "versions"},
                {"source", "source"},
                in_json("summary"),
                in_json("formula")}};
  for (const families::ValueBlock& block : families::all_value_blocks())
    values.add({block.name, block.inputs, block.outputs, block.versions, place_of(block.source), block.summary, block.formula});
  document.line();
  document.table(std::move(values));
}

}  // namespace

Document layout_list_document(const LayoutFilters& filters) {
  Document document{"layout-list"};
  add_backends(document, backends(filters));
  if (!filters.any()) add_blocks(document);
  return document;
}

}  // namespace mx::verbs
