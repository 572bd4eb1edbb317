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
constexpr std::string_view kEnd = "<!-- end of the table -->\n";

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

/// Two cells of a row.
std::string cells(const ProofRow& row, const Results& results, ProofTable& table) {
  const Sum sum = sum_of(row, results);
  count(sum, table);
  return " " + inputs_cell(sum) + " | " + grouped(sum.wrong) + " |";
}

/// The tier of the twin's rows for the table's head: its column counts what this tier did.
std::string tier_of_twin(const std::vector<ProofRow>& rows) {
  const auto twin = std::ranges::find_if(rows, [](const ProofRow& row) { return !row.tier.empty(); });
  return twin == rows.end() ? "" : " on " + twin->tier;
}

/// One line per conversion, the twin beside the model.
std::string conversion_lines(const std::vector<ProofRow>& rows, const Results& results, const Kinds& kinds, ProofTable& table) {
  const bool shows_model = shows(kinds, kConversions) || shows(kinds, kFurther);
  const bool shows_twin = shows(kinds, kTwin);
  if (!shows_model && !shows_twin) return {};
  std::string text = "| conversion from fp32 | thresholds |";
  if (shows_model) text += " inputs, model | wrong |";
  if (shows_twin) text += " inputs, fast twin" + tier_of_twin(rows) + " | wrong |";
  text += std::string("\n|---|--:|") + (shows_model ? "--:|--:|" : "") + (shows_twin ? "--:|--:|" : "") + "\n";
  for (const ProofRow& row : rows) {
    if (row.kind != kConversions && row.kind != kFurther) continue;
    const auto twin = std::ranges::find_if(rows, [&](const ProofRow& other) { return other.kind == kTwin && other.name == row.name; });
    if (shows_model ? !shows(kinds, row.kind) : twin == rows.end()) continue;
    text += "| " + row.name + " | " + grouped(row.thresholds()) + " |";
    if (shows_model) text += cells(row, results, table);
    if (shows_twin) text += twin == rows.end() ? " no fast way | |" : cells(*twin, results, table);
    text += "\n";
  }
  return text + "\n";
}

std::string function_lines(const std::vector<ProofRow>& rows, const Results& results, ProofTable& table) {
  std::string text = "| function in fp32 | inputs | wrong | nearest midpoint, relative |\n|---|--:|--:|--:|\n";
  for (const ProofRow& row : rows) {
    if (row.kind != kFunctions) continue;
    const Sum sum = sum_of(row, results);
    count(sum, table);
    std::array<char, 32> nearest{"not measured"};
    if (sum.nearest_log2 < 0) std::snprintf(nearest.data(), nearest.size(), "2^%.1f", sum.nearest_log2);
    text += "| " + row.name + " | " + inputs_cell(sum) + " | " + grouped(sum.wrong) + " | " + nearest.data() + " |\n";
  }
  return text;
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
  const std::string conversions = conversion_lines(rows, state.results, kinds, table);
  const std::string functions = shows(kinds, kFunctions) ? function_lines(rows, state.results, table) + "\n" : "";
  table.text = "Commit " + state.build.commit + ", program " + state.build.digest + ": " + std::to_string(table.proven) + " rows proven, " +
               std::to_string(table.incomplete) + " incomplete, " + std::to_string(table.wrong) + " with wrong answers. A complete row has " +
               grouped(kAllInputs) + " inputs.\n\n" + conversions + functions;
  table.text.pop_back();
  return table;
}

void write_into_document(const std::string& path, const std::string& text, const Kinds& kinds) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::resource, "cannot be read", path);
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  std::string mark = "<!-- mxact_proof table";
  for (const std::string& kind : kinds) mark += " " + kind;
  mark += " -->";
  const std::string first = mark + "\n";
  const std::size_t begin = document.find(first);
  const std::size_t end = document.find(kEnd, begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) {
    throw Error(ErrorCode::input, "has no lines '" + mark + "' and '<!-- end of the table -->' for the table", path);
  }
  const std::string temporary = path + ".new";
  std::ofstream out(temporary, std::ios::binary);
  out << document.substr(0, begin + first.size()) << "\n" << text << "\n" << document.substr(end);
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (!out || error) throw Error(ErrorCode::resource, "cannot be replaced", path);
}

}  // namespace mx::tests
