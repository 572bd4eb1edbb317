// What mxact_bench measured, in Google Benchmark's own JSON: each kernel's rate beside the limit measured in the same process.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "golden/html/html.hpp"
#include "golden/report/parts.hpp"

namespace mx::golden {
namespace {

/// One kernel: the median of its repetitions where there is one, else the mean of its runs.
struct Kernel {
  std::string name;
  std::int64_t repetitions = 0;
  std::optional<double> rate;    ///< units a second
  std::optional<double> limit;   ///< the machine's, of the same units
  std::optional<double> share;   ///< rate / limit
  std::optional<double> spread;  ///< coefficient of variation of the rate, or of the time where the rate has none
  std::string error;
};

std::optional<double> counter(const Node& node, std::string_view key) {
  const std::optional<Node> value = node.find(key);
  if (!value) return std::nullopt;
  const double number = value->number();
  if (number < 0) value->fail(fmt::format("must not be negative, but is {:g}", number));
  return number;
}

/// A counter, and what its unit is in units a second.
struct CounterRow {
  std::string_view key;
  double factor;
};
constexpr std::array kRates{CounterRow{"rate", 1}, CounterRow{"GB/s", 1e9}, CounterRow{"bytes_per_second", 1}, CounterRow{"items_per_second", 1}};
constexpr std::array kLimits{CounterRow{"limit", 1}, CounterRow{"copy GB/s", 1e9}};
/// What the spread of a benchmark without a rate is that of.
constexpr std::array kTimes{CounterRow{"real_time", 1}};

std::optional<double> first_of(const Node& node, std::span<const CounterRow> rows) {
  for (const CounterRow& row : rows) {
    if (const std::optional<double> value = counter(node, row.key)) return *value * row.factor;
  }
  return std::nullopt;
}

/// A coefficient of variation has no unit.
std::optional<double> spread_of(const Node& node, std::span<const CounterRow> rows) {
  for (const CounterRow& row : rows) {
    if (const std::optional<double> value = counter(node, row.key)) return value;
  }
  return std::nullopt;
}

void fill(Kernel& kernel, const Node& node) {
  kernel.rate = first_of(node, kRates);
  kernel.limit = first_of(node, kLimits);
  kernel.share = counter(node, "share");
}

/// The limit of CODEC/TIER/THREADS may be a benchmark of its own, CODEC/limit/THREADS, with the same unit.
void find_limits(std::vector<Kernel>& kernels) {
  constexpr std::string_view kLimit = "/limit/";
  for (const Kernel& limit : kernels) {
    const std::size_t at = limit.name.find(kLimit);
    if (at == std::string::npos) continue;
    const std::string prefix = limit.name.substr(0, at + 1);
    const std::string suffix = limit.name.substr(at + kLimit.size() - 1);
    for (Kernel& kernel : kernels) {
      const bool belongs = kernel.name != limit.name && kernel.name.starts_with(prefix) && kernel.name.ends_with(suffix) &&
                           kernel.name.size() > prefix.size() + suffix.size() &&
                           kernel.name.substr(prefix.size(), kernel.name.size() - prefix.size() - suffix.size()).find('/') == std::string::npos;
      if (belongs && !kernel.limit) kernel.limit = limit.rate;
    }
  }
}

void find_shares(std::vector<Kernel>& kernels) {
  for (Kernel& kernel : kernels) {
    if (!kernel.share && kernel.rate && kernel.limit && *kernel.limit > 0) kernel.share = *kernel.rate / *kernel.limit;
  }
}

std::vector<Kernel> kernels_of(const Run& run) {
  std::vector<Kernel> kernels;
  std::map<std::string, std::size_t> places;
  std::map<std::string, bool> has_median;
  for (const Node& node : run.root()["benchmarks"].items()) {
    const std::optional<Node> run_name = node.find("run_name");
    const std::string name = (run_name ? *run_name : node["name"]).text();
    const auto [place, is_new] = places.emplace(name, kernels.size());
    if (is_new) kernels.push_back({name, 0, {}, {}, {}, {}, {}});
    Kernel& kernel = kernels[place->second];
    if (const std::optional<Node> failed = node.find("error_occurred"); failed && failed->flag()) kernel.error = node["error_message"].text();
    const std::optional<Node> aggregate = node.find("aggregate_name");
    if (!aggregate) {
      ++kernel.repetitions;
      if (!has_median[name]) fill(kernel, node);
    } else if (aggregate->text() == "median") {
      has_median[name] = true;
      fill(kernel, node);
    } else if (aggregate->text() == "cv") {
      const std::optional<double> of_rate = spread_of(node, kRates);
      kernel.spread = of_rate ? of_rate : spread_of(node, kTimes);
    }
    if (const std::optional<Node> repetitions = node.find("repetitions")) kernel.repetitions = std::max(kernel.repetitions, repetitions->count());
  }
  find_limits(kernels);
  find_shares(kernels);
  return kernels;
}

/// "12.3 G/s"
std::string per_second(double rate) {
  constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (rate >= 1000 && prefix + 1 < kPrefixes.size()) rate /= 1000, ++prefix;
  return fmt::format("{:.3g} {}/s", rate, kPrefixes.at(prefix));
}

/// The name without how it was timed.
std::string short_name(std::string name) {
  for (const std::string_view part : {"/real_time", "/min_time:"}) {
    const std::size_t at = name.find(part);
    if (at != std::string::npos) name.erase(at, std::max(name.find('/', at + 1), at + part.size()) - at);
  }
  return name;
}

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
  if (!with_limits(run).empty()) html += html_wide("kernels under their limits", as_part(bench_figure(run)));
  std::vector<HtmlRow> rows;
  for (const Kernel& kernel : kernels_of(run)) {
    const auto cell = [](const std::optional<double>& value, auto text) { return HtmlCell{value ? text(*value) : "", "number", {}}; };
    rows.push_back({{kernel.name},
                    cell(kernel.rate, per_second),
                    cell(kernel.limit, per_second),
                    cell(kernel.share, percent),
                    cell(kernel.spread, percent),
                    {std::to_string(kernel.repetitions), "number"},
                    {kernel.error, kernel.error.empty() ? "empty" : "failed"}});
  }
  return html + html_details("Every benchmark", std::to_string(rows.size()),
                             html_table("benchmarks", {"benchmark", "rate", "limit", "share", "spread", "repetitions", ""}, rows), rows.size() <= 24);
}

std::string bench_environment(const Run& run) {
  const Node context = run.root()["context"];
  std::vector<std::pair<std::string, std::string>> terms;
  // The host's name and the program's path say nothing about the figures.
  for (const auto& [key, value] : context.members()) {
    if (key == "host_name" || key == "executable" || value.json().is_structured()) continue;
    terms.emplace_back(key, value.json().is_string() ? value.text() : value.json().dump());
  }
  return html_terms(terms);
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
  Svg svg;
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
    svg.text(left - 8, y + 16, "code end", shortened(short_name(kernel.name), 46));
    svg.rect({left, y + 4, std::max(length, 1), kLine - 8}, "first-fill", {}, fmt::format("{}: {}", kernel.name, percent(*kernel.share)));
    const std::string rate = kernel.rate && kernel.limit ? fmt::format(", {} of {}", per_second(*kernel.rate), per_second(*kernel.limit)) : "";
    svg.text(left + kFull + 14, y + 16, "text", percent(*kernel.share) + rate);
    y += kLine;
  }
  return {std::move(svg), kWidth, bottom + kMargin, "mxact bench", "share of the machine's limit that each kernel reaches", &kChartLook};
}

}  // namespace mx::golden
