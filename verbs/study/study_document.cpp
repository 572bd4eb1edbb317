#include "verbs/study/study_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/study/error_line.hpp"
#include "sim/study/scale_steps.hpp"

namespace mx::verbs {
namespace {

/// JSON has no Inf and no NaN.
Cell decibels(double value) {
  if (std::isnan(value)) return {Json(), "NaN"};
  return std::isinf(value) ? Cell(Json(), "exact") : Cell(value, fmt::format("{:.2f}", value));
}

Cell share(std::int64_t count, std::int64_t values) {
  return {count, fmt::format("{:.3f}", 100 * static_cast<double>(count) / static_cast<double>(values))};
}

}  // namespace

Document study_document(const sim::Study& study) {
  Document document{"study"};
  document.value("values", study.values);
  Table lines{{},
              {in_text("format"),
               in_text("profile"),
               in_text("rule"),
               {"distribution", "data"},
               {"sqnr_db", "SQNR dB"},
               {"max_error", "max error"},
               {"saturated", "saturated %"},
               {"flushed", "flushed %"}}};
  Json rows = Json::array();
  for (const sim::StudyRow& row : study.rows) {
    Table cells{{}, lines.columns};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const sim::StudyCell& cell = row.cells[i];
      const auto once = [&](const std::string& text) { return i == 0 ? text : std::string(); };
      cells.add({once(row.format),
                 once(row.profile),
                 once(row.rule),
                 study.distributions[i]->name,
                 decibels(cell.sqnr_db),
                 {cell.max_error, fmt::format("{:.5f}", cell.max_error)},
                 share(cell.saturated, study.values),
                 share(cell.flushed, study.values)});
    }
    rows.push_back({{"format", row.format}, {"profile", row.profile}, {"rule", row.rule}, {"cells", cells.json()}});
    lines.rows.insert(lines.rows.end(), cells.rows.begin(), cells.rows.end());
  }
  document.value("rows", std::move(rows));
  document.table(std::move(lines));
  return document;
}

Document scale_rules_document(const std::vector<std::string>& formats) {
  const auto power = [](std::uint32_t code) { return Cell(code, fmt::format("2^{}", static_cast<int>(code) - 127)); };
  Document document{"scale-rules"};
  document.value("amax", "1 to 2");
  Table lines{{}, {in_text("format"), {"rule", "rule"}, {"below", "at 1"}, {"above", "up to 2"}, {"first", "from amax"}, {"profiles", "profiles"}}};
  Json all = Json::array();
  for (const sim::ScaleSteps& steps : sim::scale_steps(formats)) {
    Table rows{{}, lines.columns};
    for (const sim::ScaleStep& step : steps.rows) {
      std::string profiles;
      for (const std::string& profile : step.profiles) profiles += (profiles.empty() ? "" : ",") + profile;
      const Cell first =
          step.first ? Cell(fmt::format("0x{:08x}", *step.first), fmt::format("{:.9g}", static_cast<double>(std::bit_cast<float>(*step.first))))
                     : Cell(Json(), "never");
      rows.add({steps.format, step.rule, power(step.below), power(step.above), first, {step.profiles, profiles}});
    }
    all.push_back({{"format", steps.format}, {"rows", rows.json()}});
    lines.rows.insert(lines.rows.end(), rows.rows.begin(), rows.rows.end());
  }
  document.value("formats", std::move(all));
  document.table(std::move(lines));
  return document;
}

Document error_line_document(const std::vector<std::string>& formats) {
  const std::vector<sim::ErrorLine> lines = sim::error_lines(formats);
  Document document{"error-line"};
  document.value("rounding", "nearest_even");
  document.value("overflow", "saturate");
  document.value("lowest", sim::kErrorLineLowest);
  document.value("highest", sim::kErrorLineHighest);
  document.value("bins", sim::kErrorLineBins);
  document.value("samples", sim::kErrorLineSamples);
  Table all{{}, {in_json("name"), in_json("worst")}};
  Table powers{{}, {in_text("x from")}};
  for (const sim::ErrorLine& line : lines) {
    all.add({line.format, line.worst});
    powers.columns.push_back(in_text(line.format));
  }
  for (int power = sim::kErrorLineLowest; power < sim::kErrorLineHighest; ++power) {
    std::vector<Cell> row{fmt::format("2^{}", power)};
    const std::ptrdiff_t first = (power - sim::kErrorLineLowest) * sim::kErrorLineBins;
    for (const sim::ErrorLine& line : lines) {
      const auto begin = line.worst.begin() + first;
      row.emplace_back(fmt::format("{:.3f} %", 100 * std::max(0.0, *std::max_element(begin, begin + sim::kErrorLineBins))));
    }
    powers.add(std::move(row));
  }
  document.value("formats", all.json());
  document.table(std::move(powers));
  return document;
}

}  // namespace mx::verbs
