#include "cli/study_curves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/study/error_line.hpp"
#include "sim/study/scale_steps.hpp"

namespace mx::cli {

Json scale_rules_json(const std::vector<std::string>& formats) {
  Json json = json_head("scale-rules");
  json["amax"] = "1 to 2";
  json["formats"] = Json::array();
  for (const sim::ScaleSteps& steps : sim::scale_steps(formats)) {
    Json rows = Json::array();
    for (const sim::ScaleStep& step : steps.rows) {
      rows.push_back({{"rule", step.rule},
                      {"profiles", step.profiles},
                      {"below", step.below},
                      {"above", step.above},
                      {"first", step.first ? Json(fmt::format("0x{:08x}", *step.first)) : Json()}});
    }
    json["formats"].push_back({{"format", steps.format}, {"rows", std::move(rows)}});
  }
  return json;
}

void print_scale_rules(const Json& json) {
  const auto power = [](const Json& code) { return fmt::format("2^{}", code.get<int>() - 127); };
  std::vector<std::vector<std::string>> rows{{"format", "rule", "at 1", "up to 2", "from amax", "profiles"}};
  for (const Json& format : json["formats"]) {
    for (const Json& row : format["rows"]) {
      std::string profiles;
      for (const Json& profile : row["profiles"]) profiles += (profiles.empty() ? "" : ",") + profile.get<std::string>();
      const auto first = row["first"].is_null() ? 0U : static_cast<std::uint32_t>(std::stoul(row["first"].get<std::string>(), nullptr, 16));
      rows.push_back({format["format"].text(), row["rule"].text(), power(row["below"]), power(row["above"]),
                      first == 0 ? "never" : fmt::format("{:.9g}", static_cast<double>(std::bit_cast<float>(first))), profiles});
    }
  }
  print_table(rows);
}

Json error_line_json(const std::vector<std::string>& formats) {
  Json json = json_head("error-line");
  json["rounding"] = "nearest_even";
  json["overflow"] = "saturate";
  json["lowest"] = sim::kErrorLineLowest;
  json["highest"] = sim::kErrorLineHighest;
  json["bins"] = sim::kErrorLineBins;
  json["samples"] = sim::kErrorLineSamples;
  json["formats"] = Json::array();
  for (const sim::ErrorLine& line : sim::error_lines(formats)) json["formats"].push_back({{"name", line.format}, {"worst", line.worst}});
  return json;
}

void print_error_line(const Json& json) {
  std::vector<std::vector<std::string>> rows{{"x from"}};
  for (const Json& format : json["formats"]) rows[0].push_back(format["name"].text());
  for (int power = sim::kErrorLineLowest; power < sim::kErrorLineHighest; ++power) {
    rows.push_back({fmt::format("2^{}", power)});
    const int first = (power - sim::kErrorLineLowest) * sim::kErrorLineBins;
    for (const Json& format : json["formats"]) {
      double worst = 0;
      for (int bin = first; bin < first + sim::kErrorLineBins; ++bin)
        worst = std::max(worst, format["worst"][static_cast<std::size_t>(bin)].get<double>());
      rows.back().push_back(fmt::format("{:.3f} %", 100 * worst));
    }
  }
  print_table(rows);
}

}  // namespace mx::cli
