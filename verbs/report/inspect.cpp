// What a checkpoint is: its layers, the ranges of its scales as histograms, and what is wrong with it.

#include <fmt/core.h>

#include <algorithm>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kBar = 14;     // of a binade
constexpr int kHeight = 60;  // of the highest bar
constexpr int kLine = 18;
constexpr int kNarrowest = 760;
/// Binades of one histogram; those far away from the others are left out of a picture, and stand in the run.
constexpr std::size_t kMostBars = 64;

/// "model.layers.N.mlp gate_proj.weight_scale".
std::string name_of(const Node& group, const Node& scales) { return fmt::format("{} {}", group["place"].text(), scales["name"].text()); }

/// A histogram of powers of two, the next one below it.
class Histograms {
 public:
  void add(const std::string& name, const Node& scales) {
    std::vector<Node> bars = scales["binades"].items();
    if (bars.empty()) return;
    if (bars.size() > kMostBars) bars.erase(bars.begin(), bars.end() - static_cast<std::ptrdiff_t>(kMostBars));
    std::int64_t most = 1;
    for (const Node& bar : bars) most = std::max(most, bar["count"].count());
    check_order(bars);
    const std::int64_t first = bars.front()["exponent"].integer();
    svg_.text(kMargin, y_ += kLine, "head", support::shortened(name, 90));
    svg_.text(kMargin, y_ += kLine, "soft",
              fmt::format("{} numbers, {:.4g} to {:.4g}, {} zeros", scales["count"].count(), scales["least"].number(), scales["most"].number(),
                          scales["zeros"].count()));
    y_ += kHeight + 8;
    int x = kMargin;
    for (const Node& bar : bars) {
      const std::int64_t exponent = bar["exponent"].integer(), count = bar["count"].count();
      // Empty binades between two are a gap of one bar at most.
      x = std::min(kMargin + static_cast<int>(exponent - first) * kBar, x + 2 * kBar);
      const int height = std::max(1, static_cast<int>(static_cast<double>(count) / static_cast<double>(most) * kHeight));
      svg_.rect({x, y_ - height, kBar - 2, height}, "first-fill", {}, fmt::format("2^{}: {} numbers", exponent, count));
    }
    width_ = std::max(width_, x + kBar + kMargin);
    svg_.text(kMargin, y_ += kLine, "soft", fmt::format("2^{}", first));
    svg_.text(std::max(x, kMargin + 60), y_, "soft", fmt::format("2^{}", bars.back()["exponent"].integer()));
    ++count_;
  }
  /// Powers of two that a double has, each above the one before.
  static void check_order(const std::vector<Node>& bars) {
    constexpr std::int64_t kLowest = -1074, kHighest = 1023;
    std::int64_t before = kLowest - 1;
    for (const Node& bar : bars) {
      const Node exponent = bar["exponent"];
      if (exponent.integer() <= before || exponent.integer() > kHighest)
        exponent.fail(fmt::format("is {}, must be above {} and at most {}", exponent.integer(), before, kHighest));
      before = exponent.integer();
    }
  }
  bool empty() const { return count_ == 0; }
  Figure figure() && {
    return {std::move(svg_), width_, y_ + kMargin, "mxact inspect", "scales of a checkpoint by their powers of two", &kChartLook};
  }

 private:
  support::Svg svg_;
  int y_ = kMargin;
  int width_ = kNarrowest;
  int count_ = 0;
};

Histograms histograms_of(const Run& run) {
  Histograms all;
  for (const Node& group : run.root()["groups"].items()) {
    for (const Node& scales : group["scales"].items()) all.add(name_of(group, scales), scales);
  }
  return all;
}

std::string layers_text(const Node& layers) {
  const std::vector<Node> all = layers.items();
  if (all.empty()) return "none";
  return all.size() == 1 ? std::to_string(all.front().integer())
                         : fmt::format("{}, {} to {}", all.size(), all.front().integer(), all.back().integer());
}

}  // namespace

Outcome inspect_outcome(const Run& run) {
  const std::size_t faults = run.root()["faults"].items().size() + run.root()["disagreements"].items().size();
  const bool deep = run.root()["deep"].flag();
  const Node code = run.root()["exit_code"];
  if ((code.integer() == 0) != (faults == 0)) code.fail(fmt::format("is {}, but there are {} findings", code.integer(), faults));
  const std::string counted = fmt::format("{} layer groups, {} bytes read, weights {}, {} findings", run.root()["groups"].items().size(),
                                          run.root()["bytes_read"].count(), deep ? "among them" : "not read", faults);
  return {faults > 0 ? Standing::failed : Standing::passed, counted};
}

std::string inspect_html(const Run& run) {
  const Node root = run.root();
  std::vector<std::pair<std::string, std::string>> terms{
      {"checkpoint", root["checkpoint"]["path"].text()},
      {"producer", fmt::format("{} {}", root["producer"]["name"].text(), root["producer"]["version"].text())},
      {"method", root["method"].text()},
      {"dense layers", layers_text(root["dense"])}};
  std::string html = support::html_terms(terms);
  std::vector<support::HtmlRow> groups, scales;
  for (const Node& group : root["groups"].items()) {
    groups.push_back({{group["place"].text()},
                      {group["form"].text(), "text"},
                      {layers_text(group["layers"]), "text"},
                      {std::to_string(group["experts"].count()), "number"},
                      {std::to_string(group["hidden"].count()), "number"},
                      {std::to_string(group["intermediate"].count()), "number"},
                      {std::to_string(group["bytes"].count()), "number"}});
    for (const Node& one : group["scales"].items()) {
      scales.push_back({{name_of(group, one)},
                        {one["dtype"].text()},
                        {std::to_string(one["count"].count()), "number"},
                        {fmt::format("{:.6g}", one["least"].number()), "number"},
                        {fmt::format("{:.6g}", one["most"].number()), "number"},
                        {std::to_string(one["zeros"].count()), "number"}});
    }
  }
  html += support::html_table("layers with experts", {"place", "form", "layers", "experts", "hidden", "intermediate", "bytes"}, groups);
  if (!scales.empty()) html += support::html_table("scales", {"scales", "dtype", "number", "least", "largest", "zeros"}, scales);
  Histograms pictures = histograms_of(run);
  if (!pictures.empty()) html += support::html_wide("histograms of the scales", as_part(std::move(pictures).figure()));
  return html;
}

std::string inspect_findings(const Run& run) {
  std::vector<support::HtmlRow> rows;
  for (const Node& fault : run.root()["faults"].items()) {
    rows.push_back({{fault["tensor"].text()},
                    {fault["fault"].text(), fault["spoils"].flag() ? "failed" : "mistrusted"},
                    {std::to_string(fault["count"].count()), "number"},
                    {fault["first"].text()},
                    {fault["detail"].text(), "text"},
                    {fmt::format("{}: {}", fault["sure"].text(), fault["means"].text()), "text"}});
  }
  for (const Node& one : run.root()["disagreements"].items())
    rows.push_back({{one["place"].text()}, {"configuration", "mistrusted"}, {}, {}, {one["text"].text(), "text"}, {}});
  return rows.empty() ? std::string() : support::html_table("findings", {"tensor", "what", "count", "first at", "more", "what it usually is"}, rows);
}

Figure inspect_figure(const Run& run) {
  Histograms pictures = histograms_of(run);
  if (pictures.empty()) run.root()["groups"].fail("has no scales: there is nothing to draw");
  return std::move(pictures).figure();
}

}  // namespace mx::verbs
