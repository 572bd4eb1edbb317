// What mxact_bench measured, in Google Benchmark's own JSON: each kernel's rate beside the limit measured in the same process.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "support/html.hpp"
#include "verbs/report/bench_runs.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::vector<Kernel> with_limits(const Run& run) {
  std::vector<Kernel> kernels = kernels_of(run);
  std::erase_if(kernels, [](const Kernel& kernel) { return !kernel.share; });
  return kernels;
}

}  // namespace

Outcome bench_outcome(const Run& run) {
  const std::vector<Kernel> kernels = kernels_of(run);
  const auto failed = std::ranges::count_if(kernels, [](const Kernel& kernel) { return !kernel.error.empty(); });
  const std::string counted = fmt::format("{} benchmarks, {} beside a limit; times prove nothing{}", kernels.size(), with_limits(run).size(),
                                          failed > 0 ? fmt::format("; {} ended with an error", failed) : "");
  if (kernels.empty()) return {Standing::nothing, counted};
  return {failed > 0 ? Standing::failed : Standing::shown, counted};
}

std::string bench_html(const Run& run) {
  std::string html;
  if (!with_limits(run).empty()) html += support::html_wide("kernels under their limits", as_part(bench_figure(run)));
  if (has_speed(run)) html += support::html_wide("speed over the number of rows", as_part(speed_figure(run)));
  std::vector<support::HtmlRow> rows;
  for (const Kernel& kernel : kernels_of(run)) {
    const auto cell = [](const std::optional<double>& value, auto text) { return support::HtmlCell{value ? text(*value) : "", "number", {}}; };
    rows.push_back({{kernel.name},
                    cell(kernel.rate, per_second),
                    cell(kernel.limit, per_second),
                    cell(kernel.share, percent),
                    cell(kernel.spread, percent),
                    {std::to_string(kernel.repetitions), "number"},
                    {kernel.error, kernel.error.empty() ? "empty" : "failed"}});
  }
  return html + support::html_details("Every benchmark", std::to_string(rows.size()),
                                      support::html_table("benchmarks", {"benchmark", "rate", "limit", "share", "spread", "repetitions", ""}, rows),
                                      rows.size() <= 24);
}

std::string bench_environment(const Run& run) {
  const Node context = run.root()["context"];
  std::vector<std::pair<std::string, std::string>> terms;
  // The host's name and the program's path say nothing about the figures.
  for (const auto& [key, value] : context.members()) {
    if (key == "host_name" || key == "executable" || value.json().is_structured()) continue;
    terms.emplace_back(key, value.json().is_string() ? value.text() : value.json().dump());
  }
  return support::html_terms(terms);
}

Figure bench_figure(const Run& run) {
  constexpr int kMargin = 24;
  constexpr int kNames = 330;
  constexpr int kFull = 360;  // pixels of 100 %
  constexpr int kLine = 24;
  constexpr int kWidth = 940;
  constexpr double kMostShare = 1;
  const std::vector<Kernel> kernels = with_limits(run);
  if (kernels.empty()) run.root()["benchmarks"].fail("has no benchmark with the counters rate and limit, or share: there is nothing to draw");
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "Kernels under their limits");
  svg.text(kMargin, y += 20, "soft", "rate as a share of what this machine allows, measured in the same process; a longer bar is nearer to the roof");
  y += 30;
  const int top = y;
  const int bottom = top + static_cast<int>(kernels.size()) * kLine;
  const int left = kMargin + kNames;
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const int x = left + kFull * tenth / 10;
    svg.line(x, top - 4, x, bottom, tenth == 10 ? "roof" : "grid");
    svg.text(x, top - 8, "soft middle", fmt::format("{} %", 10 * tenth));
  }
  for (const Kernel& kernel : kernels) {
    const int length = static_cast<int>(std::lround(kFull * std::min(*kernel.share, kMostShare)));
    svg.text(left - 8, y + 16, "code end", support::shortened(short_name(kernel.name), 46));
    svg.rect({left, y + 4, std::max(length, 1), kLine - 8}, "first-fill", {}, fmt::format("{}: {}", kernel.name, percent(*kernel.share)));
    const std::string rate = kernel.rate && kernel.limit ? fmt::format(", {} of {}", per_second(*kernel.rate), per_second(*kernel.limit)) : "";
    svg.text(left + kFull + 14, y + 16, "text", percent(*kernel.share) + rate);
    y += kLine;
  }
  return {std::move(svg), kWidth, bottom + kMargin, "mxact bench", "share of the machine's limit that each kernel reaches", &kChartLook};
}

}  // namespace mx::verbs
