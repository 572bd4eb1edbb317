#include "verbs/vectors/coverage_document.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/error.hpp"
#include "support/quote.hpp"
#include "verbs/report/run.hpp"

namespace mx::verbs {
namespace {

using golden::Node;
using sim::CheckEnd;

MetAxis axis_of(const Node& node) {
  MetAxis axis{node["axis"].text(), {}, {}};
  for (const Node& one : node["bins"].items()) {
    const MetAxis::Bin bin{one["bin"].text(), one["checked"].count(), one["wrong"].count()};
    if (bin.wrong > bin.checked) one.fail(fmt::format("has {} wrong of {} vectors", bin.wrong, bin.checked));
    axis.bins.push_back(bin);
  }
  for (const Node& one : node["unreachable"].items()) axis.unreachable.emplace_back(one["bin"].text(), one["reason"].text());
  return axis;
}

bool same_bins(const MetAxis& a, const MetAxis& b) {
  return a.name == b.name && a.unreachable == b.unreachable && std::ranges::equal(a.bins, b.bins, {}, &MetAxis::Bin::name, &MetAxis::Bin::name);
}

/// "e2m1_to_bf16 of edition v1.1, profile ocp, rounding nearest_even"
std::string subject_of(const MetBins& met) {
  std::string text = fmt::format("{} of edition {}", met.op, met.edition);
  for (const auto& [key, value] : met.settings.items()) text += fmt::format(", {} {}", key, value.text());
  return text;
}

void require_same(const MetBins& first, const MetBins& other, const std::string& path, const std::string& first_path) {
  if (subject_of(first) != subject_of(other))
    throw Error(ErrorCode::input, fmt::format("covers {}, and {} covers {}", subject_of(other), first_path, subject_of(first)), path);
  if (!std::ranges::equal(first.axes, other.axes, same_bins))
    throw Error(ErrorCode::input, fmt::format("asks for other bins than {}: it was written by another version of mxact", first_path), path);
}

sim::JunitCase case_of(const std::string& suite, const MetAxis::Bin& bin) {
  const CheckEnd end = bin.wrong > 0 ? CheckEnd::failed : bin.checked > 0 ? CheckEnd::passed : CheckEnd::skipped;
  return {suite, bin.name, end, bin.checked == 0 ? "no vector of this bin came" : fmt::format("{} of {} vectors wrong", bin.wrong, bin.checked)};
}

}  // namespace

MetBins met_bins(const golden::VectorOp& op, const golden::CheckReport& report) {
  MetBins met{op.name(), std::string(name_of(op.edition())), Json::object(), 1, {}};
  for (const golden::OpSetting& setting : op.settings()) met.settings[setting.key] = setting.value;
  for (const golden::AxisCoverage& axis : report.coverage) met.axes.push_back({axis.name, {}, axis.unreachable});
  for (const golden::BinCheck& bin : report.bins) {
    const auto axis = std::ranges::find(met.axes, bin.axis, &MetAxis::name);
    axis->bins.push_back({bin.bin, static_cast<std::int64_t>(bin.checked), static_cast<std::int64_t>(bin.wrong)});
  }
  return met;
}

MetBins read_met_bins(const std::filesystem::path& path) {
  const golden::Run run = golden::read_run(path);
  const Node root = run.root();
  if (run.kind->schema != "mxact-coverage")
    root["schema"].fail(fmt::format("is {}, not what ver --coverage-out writes", sim::in_quotes(root["schema"].text())));
  MetBins met{root["op"].text(), root["edition"].text(), Json::object(), root["runs"].count(), {}};
  for (const auto& [key, value] : root["settings"].members()) met.settings[key] = value.text();
  for (const Node& axis : root["axes"].items()) met.axes.push_back(axis_of(axis));
  return met;
}

MetBins merged(std::span<const std::filesystem::path> paths) {
  MetBins all = read_met_bins(paths.front());
  for (const std::filesystem::path& path : paths.subspan(1)) {
    const MetBins other = read_met_bins(path);
    require_same(all, other, path.string(), paths.front().string());
    all.runs += other.runs;
    for (std::size_t axis = 0; axis < all.axes.size(); ++axis) {
      for (std::size_t bin = 0; bin < all.axes[axis].bins.size(); ++bin) {
        all.axes[axis].bins[bin].checked += other.axes[axis].bins[bin].checked;
        all.axes[axis].bins[bin].wrong += other.axes[axis].bins[bin].wrong;
      }
    }
  }
  return all;
}

Document coverage_document(const MetBins& met) {
  Document document{"coverage"};
  document.value("op", met.op);
  document.value("edition", met.edition);
  document.value("settings", met.settings);
  document.value("runs", met.runs);
  document.line(fmt::format("{}: {} run{}", subject_of(met), met.runs, met.runs == 1 ? "" : "s"));
  Table table{"axes", {in_json("axis"), in_json("hit"), in_json("reachable"), in_json("bins"), in_json("unreachable")}};
  bool wrong = false;
  for (const MetAxis& axis : met.axes) {
    Table bins{{}, {in_json("bin"), in_json("checked"), in_json("wrong")}};
    for (const MetAxis::Bin& bin : axis.bins) bins.add({bin.name, bin.checked, bin.wrong});
    Table unreachable{{}, {in_json("bin"), in_json("reason")}};
    for (const auto& [bin, reason] : axis.unreachable) unreachable.add({bin, reason});
    const auto hit = std::ranges::count_if(axis.bins, [](const MetAxis::Bin& bin) { return bin.checked > 0; });
    table.add({axis.name, hit, axis.bins.size(), bins.json(), unreachable.json()});
    document.line(fmt::format("coverage {}: {} of {} reachable bins ({} in all)", axis.name, hit, axis.bins.size(),
                              axis.bins.size() + axis.unreachable.size()));
    for (const MetAxis::Bin& bin : axis.bins) {
      if (bin.checked == 0) document.line("  missed: " + bin.name);
      if (bin.wrong > 0) document.line(fmt::format("  wrong: {}: {} of {} vectors", bin.name, bin.wrong, bin.checked));
      wrong = wrong || bin.wrong > 0;
      document.cases.push_back(case_of("mxact.coverage." + met.op + "." + axis.name, bin));
    }
  }
  document.value(table.key, table.json());
  if (wrong) document.ended(1);
  return document;
}

}  // namespace mx::verbs
