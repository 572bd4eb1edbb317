#include "verbs/report/bench_runs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>

namespace mx::verbs {
namespace {

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

}  // namespace

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

std::string per_second(double rate) {
  constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (rate >= 1000 && prefix + 1 < kPrefixes.size()) rate /= 1000, ++prefix;
  return fmt::format("{:.3g} {}/s", rate, kPrefixes.at(prefix));
}

std::string short_name(std::string name) {
  for (const std::string_view part : {"/real_time", "/min_time:"}) {
    const std::size_t at = name.find(part);
    if (at != std::string::npos) name.erase(at, std::max(name.find('/', at + 1), at + part.size()) - at);
  }
  return name;
}

}  // namespace mx::verbs
