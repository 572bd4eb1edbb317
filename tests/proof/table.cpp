#include "tests/proof/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "kernels/isa.hpp"
#include "model/error.hpp"
#include "tests/proof/check.hpp"

namespace mx::tests {
namespace {

constexpr std::uint64_t kAllInputs = std::uint64_t{kChunks} * kChunkInputs;

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) digits.insert(static_cast<std::size_t>(place), ",");
  return digits;
}

/// The chunks of a row, added up.
struct Sum {
  std::uint64_t inputs = 0;
  std::uint64_t wrong = 0;
  double nearest_log2 = 0;
};

Sum sum_of(const ProofRow& row, const Results& results) {
  Sum sum;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    const auto result = results.find(key_of(row, chunk));
    if (result == results.end()) continue;
    sum.inputs += result->second.inputs;
    sum.wrong += result->second.wrong;
    sum.nearest_log2 = std::min(sum.nearest_log2, result->second.nearest_log2);
  }
  return sum;
}

std::string inputs_cell(const Sum& sum) {
  if (sum.inputs == kAllInputs) return grouped(sum.inputs);
  return "incomplete: " + grouped(sum.inputs);
}

void count(const Sum& sum, ProofTable& table) {
  const bool complete = sum.inputs == kAllInputs;
  if (!complete) ++table.incomplete;
  if (sum.wrong > 0) ++table.wrong;
  if (complete && sum.wrong == 0) ++table.proven;
}

bool shows(const Kinds& kinds, std::string_view kind) { return kinds.empty() || std::ranges::find(kinds, kind) != kinds.end(); }

/// A table: its kinds of rows, and its cells.
struct Cells {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows{};
};

/// Two cells of a row.
void add_cells(const ProofRow& row, const Results& results, ProofTable& table, std::vector<std::string>& cells) {
  const Sum sum = sum_of(row, results);
  count(sum, table);
  cells.push_back(inputs_cell(sum));
  cells.push_back(grouped(sum.wrong));
}

/// The tier of the twin's rows for the table's head: its column counts what this tier did.
std::string tier_of_twin(const std::vector<ProofRow>& rows) {
  const auto twin = std::ranges::find_if(rows, [](const ProofRow& row) { return !row.tier.empty(); });
  return twin == rows.end() ? "" : " on " + twin->tier;
}

/// The kinds of these that are shown, with blanks between them.
std::string names_of(std::initializer_list<std::string_view> kinds, const Kinds& shown) {
  std::string names;
  for (const std::string_view kind : kinds) {
    if (shows(shown, kind)) names += (names.empty() ? "" : " ") + std::string(kind);
  }
  return names;
}

/// One row per conversion, the twin beside the model.
Cells conversion_cells(const std::vector<ProofRow>& rows, const Results& results, const Kinds& kinds, ProofTable& table) {
  const bool shows_model = shows(kinds, kConversions) || shows(kinds, kFurther);
  const bool shows_twin = shows(kinds, kTwin);
  Cells cells{names_of({kConversions, kFurther, kTwin}, kinds), {"conversion from fp32", "thresholds"}};
  if (shows_model) cells.columns.insert(cells.columns.end(), {"inputs, model", "wrong"});
  if (shows_twin) cells.columns.insert(cells.columns.end(), {"inputs, fast twin" + tier_of_twin(rows), "wrong"});
  for (const ProofRow& row : rows) {
    if (row.kind != kConversions && row.kind != kFurther) continue;
    const auto twin = std::ranges::find_if(rows, [&](const ProofRow& other) { return other.kind == kTwin && other.name == row.name; });
    if (shows_model ? !shows(kinds, row.kind) : twin == rows.end()) continue;
    std::vector<std::string>& line = cells.rows.emplace_back(std::vector<std::string>{row.name, grouped(row.thresholds())});
    if (shows_model) add_cells(row, results, table, line);
    if (!shows_twin) continue;
    if (twin == rows.end())
      line.insert(line.end(), {"no fast way", ""});
    else
      add_cells(*twin, results, table, line);
  }
  return cells;
}

Cells function_cells(const std::vector<ProofRow>& rows, const Results& results, ProofTable& table) {
  Cells cells{std::string(kFunctions), {"function in fp32", "inputs", "wrong", "nearest midpoint, relative"}};
  for (const ProofRow& row : rows) {
    if (row.kind != kFunctions) continue;
    const Sum sum = sum_of(row, results);
    count(sum, table);
    std::array<char, 32> nearest{"not measured"};
    if (sum.nearest_log2 < 0) std::snprintf(nearest.data(), nearest.size(), "2^%.1f", sum.nearest_log2);
    cells.rows.push_back({row.name, inputs_cell(sum), grouped(sum.wrong), nearest.data()});
  }
  return cells;
}

std::string markdown_of(const Cells& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += (cell.empty() ? "" : " ") + cell + " |";
    return text + "\n";
  };
  std::string text = line(table.columns) + "|---|";
  for (std::size_t i = 1; i < table.columns.size(); ++i) text += "--:|";
  text += "\n";
  for (const std::vector<std::string>& row : table.rows) text += line(row);
  return text;
}

/// An array as documents of docs/measured/ have it. No cell has a character that JSON writes otherwise.
std::string array_of(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += (text.empty() ? "[\"" : ",\"") + cell + "\"";
  return text + "]";
}

std::string json_of(const Cells& table, const std::string& commit, const std::string& said) {
  std::string text = "{\"name\":\"" + table.name + "\",\"commit\":\"" + commit + "\",\"said\":\"" + said +
                     "\",\"columns\":" + array_of(table.columns) + ",\"rows\":[";
  for (const std::vector<std::string>& row : table.rows) text += (&row == &table.rows.front() ? "\n" : ",\n") + array_of(row);
  return text + "]}";
}

void check_rows_exist(const std::vector<ProofRow>& rows, const Results& results) {
  std::set<std::pair<std::string, std::string>> known;
  for (ProofRow row : rows) {
    known.emplace(row.kind, key_of(row, 0).row);
    if (row.tier.empty()) continue;
    // States of other tiers may be merged; their results are not shown.
    for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
      row.tier = tier.name;
      known.emplace(row.kind, key_of(row, 0).row);
    }
  }
  for (const auto& [key, result] : results) {
    if (!known.contains({key.kind, key.row}))
      throw Error(ErrorCode::input, "the state has results of '" + key.kind + " " + key.row + "', which this program does not have");
  }
}

}  // namespace

ProofTable proof_table(const std::vector<ProofRow>& rows, const State& state, const Kinds& kinds) {
  check_rows_exist(rows, state.results);
  ProofTable table;
  std::vector<Cells> shown;
  if (shows(kinds, kConversions) || shows(kinds, kFurther) || shows(kinds, kTwin))
    shown.push_back(conversion_cells(rows, state.results, kinds, table));
  if (shows(kinds, kFunctions)) shown.push_back(function_cells(rows, state.results, table));
  const std::string said = std::to_string(table.proven) + " rows proven, " + std::to_string(table.incomplete) + " incomplete, " +
                           std::to_string(table.wrong) + " with wrong answers. A complete row has " + grouped(kAllInputs) + " inputs.";
  table.text = "Commit " + state.build.commit + ", program " + state.build.digest + ": " + said + "\n";
  for (const Cells& cells : shown) {
    table.text += "\n" + markdown_of(cells);
    table.documents.emplace_back(cells.name, json_of(cells, state.build.commit, "Program " + state.build.digest + ": " + said));
  }
  return table;
}

void write_into_document(const std::string& path, const ProofTable& table) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::resource, "cannot be read", path);
  std::string document{std::istreambuf_iterator<char>(in), {}};
  for (const auto& [name, text] : table.documents) {
    const std::string last = "]]}";
    const std::size_t begin = document.find("\n{\"name\":\"" + name + "\",");
    const std::size_t end = document.find(last, begin == std::string::npos ? 0 : begin);
    if (begin == std::string::npos || end == std::string::npos) throw Error(ErrorCode::input, "has no table '" + name + "'", path);
    document = document.substr(0, begin + 1) + text + document.substr(end + last.size());
  }
  const std::string temporary = path + ".new";
  std::ofstream out(temporary, std::ios::binary);
  out << document;
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (!out || error) throw Error(ErrorCode::resource, "cannot be replaced", path);
}

}  // namespace mx::tests
