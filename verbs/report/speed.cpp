// Speed over the number of rows or tokens: for each kernel a bar for each number, and how far its repetitions lie apart.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "verbs/report/bench_runs.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

struct Bar {
  double rate;
  double spread;
};
using Row = std::map<std::int64_t, Bar>;  ///< by the number of rows

/// Kernels that do the same work: engines, formats of weights and activations beside each other.
struct Panel {
  std::set<std::int64_t> numbers;
  std::map<std::string, Row> rows;
  double fastest = 0;
};

/// A benchmark's name in words, of which one is a number of rows: "moe_gemm/ENGINE/N:2880/M:16", "moe_layer/CONTRACT/tokens:8".
struct Named {
  std::string panel;
  std::string row;
  std::int64_t number;
};

std::optional<Named> named(const std::string& name) {
  Named result{{}, {}, -1};
  std::size_t begin = 0;
  for (std::size_t word = 0; begin <= name.size(); ++word) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view text = std::string_view(name).substr(begin, end - begin);
    const std::size_t colon = text.find(':');
    if (text.starts_with("M:") || text.starts_with("tokens:")) {
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), result.number);
    } else if (word == 1 || text.starts_with("w:") || text.starts_with("x:")) {
      result.row += (result.row.empty() ? "" : " ") + std::string(text);
    } else {
      result.panel += (result.panel.empty() ? "" : " ") + std::string(text);
    }
    begin = end + 1;
  }
  return result.number < 0 || result.row.empty() ? std::nullopt : std::optional(result);
}

std::map<std::string, Panel> panels_of(const Run& run) {
  std::map<std::string, Panel> panels;
  for (const Kernel& kernel : kernels_of(run)) {
    const std::optional<Named> where = named(short_name(kernel.name));
    if (!where || !kernel.rate) continue;
    Panel& panel = panels[where->panel];
    panel.numbers.insert(where->number);
    panel.rows[where->row][where->number] = {*kernel.rate, kernel.spread.value_or(0)};
    panel.fastest = std::max(panel.fastest, *kernel.rate);
  }
  // One number is no course.
  std::erase_if(panels, [](const auto& entry) { return entry.second.numbers.size() < 2; });
  return panels;
}

class Sheet {
 public:
  static constexpr int kMargin = 24;
  static constexpr int kNames = 250;
  static constexpr int kColumn = 112;
  static constexpr int kLine = 46;
  static constexpr int kHighest = 30;  // pixels of the panel's fastest kernel
  static constexpr int kNarrowest = 640;

  void draw(const std::string& title, const Panel& panel) {
    svg_.text(kMargin, y_ += 30, "text", title);
    int x = kMargin + kNames;
    std::map<std::int64_t, int> columns;
    for (const std::int64_t number : panel.numbers) {
      svg_.text(x, y_, "soft", std::to_string(number));
      columns[number] = x;
      x += kColumn;
    }
    width_ = std::max(width_, x + kMargin);
    for (const auto& [name, row] : panel.rows) {
      const int base = y_ += kLine;
      svg_.text(kMargin, base, "code", support::shortened(name, 34));
      svg_.line(kMargin + kNames, base, x - kColumn / 4, base, "grid");
      for (const auto& [number, bar] : row) draw_bar(columns.at(number), base, fmt::format("{}, {}", name, number), bar, panel.fastest);
    }
    y_ += 14;
  }

  Figure finish() && {
    return {std::move(svg_), width_, y_ + kMargin, "mxact bench", "rate of each kernel for each number of rows or tokens", &kChartLook};
  }

  void head() {
    svg_.text(kMargin, y_, "title", "Speed over the number of rows or tokens");
    svg_.text(kMargin, y_ += 20, "soft",
              "FLOP/s; a bar of full height is the fastest of its group; the line beside it: one standard deviation of the repetitions");
  }

 private:
  void draw_bar(int x, int base, const std::string& what, const Bar& bar, double fastest) {
    const auto height = [&](double rate) { return std::max(1, static_cast<int>(std::lround(kHighest * std::min(rate / fastest, 1.2)))); };
    const int top = base - height(bar.rate);
    svg_.rect({x, top, 16, base - top}, "first-fill", {}, fmt::format("{}: {}, spread {:.0f} %", what, per_second(bar.rate), 100 * bar.spread));
    svg_.line(x + 19, base - height(bar.rate * (1 + bar.spread)), x + 19, base - height(std::max(bar.rate * (1 - bar.spread), 0.0)), "roof");
    svg_.text(x + 24, base - 4, "soft", per_second(bar.rate));
  }

  support::Svg svg_;
  int y_ = kMargin + 8;
  int width_ = kNarrowest;
};

}  // namespace

bool has_speed(const Run& run) { return !panels_of(run).empty(); }

Figure speed_figure(const Run& run) {
  const std::map<std::string, Panel> panels = panels_of(run);
  if (panels.empty())
    run.root()["benchmarks"].fail("has no benchmark with a rate for several numbers of rows (M:) or tokens (tokens:): there is nothing to draw");
  Sheet sheet;
  sheet.head();
  for (const auto& [title, panel] : panels) sheet.draw(title, panel);
  return std::move(sheet).finish();
}

}  // namespace mx::verbs
