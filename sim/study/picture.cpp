// The heat map of a study.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/study/study.hpp"

namespace mx::sim {
namespace {

constexpr int kLabel = 400;
constexpr int kColumn = 92;
constexpr int kLine = 20;
constexpr int kHead = 40;

/// Red at kWorst decibels and below, over yellow, to green at kBest and above.
constexpr double kWorst = 0;
constexpr double kBest = 45;

std::string colour(double decibels) {
  if (std::isnan(decibels)) return "#999999";
  const double share = std::clamp((decibels - kWorst) / (kBest - kWorst), 0.0, 1.0);
  const int red = static_cast<int>(std::lround(225 * std::min(1.0, 2 * (1 - share)) + 20));
  const int green = static_cast<int>(std::lround(190 * std::min(1.0, 2 * share) + 40));
  return fmt::format("#{:02x}{:02x}50", red, green);
}

std::string text(int x, int y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

}  // namespace

std::string study_svg(const Study& study) {
  const int width = kLabel + kColumn * static_cast<int>(study.distributions.size()) + 10;
  const int height = kHead + kLine * static_cast<int>(study.rows.size()) + 10;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  svg += text(8, 16, "start", fmt::format("SQNR in dB, {} values each", study.values));
  for (std::size_t column = 0; column < study.distributions.size(); ++column)
    svg += text(kLabel + kColumn * static_cast<int>(column) + kColumn / 2, kHead - 8, "middle", study.distributions[column]->name);
  for (std::size_t line = 0; line < study.rows.size(); ++line) {
    const StudyRow& row = study.rows[line];
    const int y = kHead + kLine * static_cast<int>(line);
    svg += text(8, y + 14, "start", fmt::format("{} {} ({})", row.format, row.profile, row.rule));
    for (std::size_t column = 0; column < row.cells.size(); ++column) {
      const int x = kLabel + kColumn * static_cast<int>(column);
      const double decibels = row.cells[column].sqnr_db;
      svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x, y, kColumn - 2, kLine - 2, colour(decibels));
      svg += text(x + kColumn / 2, y + 14, "middle",
                  std::isfinite(decibels) ? fmt::format("{:.1f}", decibels)
                  : std::isnan(decibels)  ? "NaN"
                                          : "exact");
    }
  }
  return svg + "</svg>\n";
}

}  // namespace mx::sim
