// Errors of right and of wrong kernels before somebody's comparison: `laws power`.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNames = 250;
constexpr int kLeft = kMargin + kNames;
constexpr int kAxis = 460;   // pixels from the least error to the largest
constexpr int kBeyond = 44;  // where no number is
constexpr int kLine = 17;
constexpr int kDrop = 12;
constexpr int kDot = 5;
constexpr double kWidestOctaves = 120;

/// A kernel as the run has it. error: NaN where it is no number or beyond all.
struct Dot {
  std::string name;
  std::string what;
  double error = 0;
  bool passes = false;  ///< on all data if it is right, on some if it is wrong
};

std::vector<Dot> dots_of(const Node& rows, bool right) {
  std::vector<Dot> dots;
  for (const Node& row : rows.items()) {
    const std::optional<Node> error = row.find("error");
    Dot dot{row["name"].text(), row["what"].text(), error ? error->number() : std::numeric_limits<double>::quiet_NaN(), right};
    if (error && dot.error < 0) error->fail("must be an error of 0 or more");
    for (const auto& [data, passes] : row["passes"].members()) {
      if (passes.flag() != right) dot.passes = !right;
    }
    dots.push_back(std::move(dot));
  }
  std::ranges::stable_sort(dots, [](const Dot& a, const Dot& b) { return std::isnan(b.error) ? !std::isnan(a.error) : a.error < b.error; });
  return dots;
}

/// Powers of two from the least error to the largest, on both sides of what passes.
class Errors {
 public:
  explicit Errors(std::initializer_list<const std::vector<Dot>*> of) {
    for (const std::vector<Dot>* dots : of) {
      for (const Dot& dot : *dots) {
        if (std::isnan(dot.error) || dot.error == 0) continue;
        const double octave = std::log2(dot.error);
        lowest_ = std::clamp(std::floor(octave), -kWidestOctaves / 2, lowest_);
        highest_ = std::clamp(std::ceil(octave), highest_, kWidestOctaves / 2);
      }
    }
  }

  int x_of(double error) const {
    if (std::isnan(error)) return kLeft + kAxis + kBeyond;
    if (error == 0) return kLeft - kBeyond;
    const double octave = std::clamp(std::log2(error), lowest_, highest_);
    return kLeft + static_cast<int>(std::lround((octave - lowest_) / (highest_ - lowest_) * kAxis));
  }

  void scale(support::Svg& svg, int y, int bottom) const {
    const int step = std::max(1, static_cast<int>((highest_ - lowest_) / 8));
    for (int octave = static_cast<int>(lowest_); octave <= static_cast<int>(highest_); octave += step) {
      const int x = x_of(std::exp2(octave));
      svg.line(x, y, x, bottom, "grid");
      svg.text(x, y - 6, "soft middle", fmt::format("2^{}", octave));
    }
    svg.text(x_of(0), y - 6, "soft middle", "0");
    svg.text(x_of(std::numeric_limits<double>::quiet_NaN()), y - 6, "soft middle", "no number");
  }

 private:
  double lowest_ = -1;
  double highest_ = 1;
};

/// A line for each kernel, its error as a dot. Returns where the next lines begin.
int lane(support::Svg& svg, const Errors& errors, const std::vector<Dot>& dots, bool right, int y) {
  for (const Dot& dot : dots) {
    const std::string error = std::isnan(dot.error) ? "no number" : fmt::format("{:.3g}", dot.error);
    const char* const end = dot.passes ? "passes" : "fails";
    svg.text(kMargin, y + kDrop, "code", support::shortened(dot.name, 28));
    svg.circle(errors.x_of(dot.error), y + kLine / 2, kDot, right == dot.passes ? "passed" : "failed",
               fmt::format("{}: {}, {}", dot.what, error, end));
    svg.text(kLeft + kAxis + kBeyond + 44, y + kDrop, "soft", end);
    y += kLine;
  }
  return y;
}

}  // namespace

Figure power_figure(const Run& run) {
  const std::optional<Node> power = run.root().find("power");
  if (!power) run.root().fail("no comparison was held: there is nothing to draw");
  const std::vector<Dot> right = dots_of((*power)["right"], true), wrong = dots_of((*power)["wrong"], false);
  if (right.empty() && wrong.empty()) (*power)["wrong"].fail("no kernel was judged: there is nothing to draw");
  const bool counted = (*power)["unit"].text() == "times what passes";
  const Errors errors{&right, &wrong};
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "What a comparison tells apart");
  svg.text(kMargin, y += 20, "soft", support::shortened((*power)["layer"].text(), 120));
  svg.text(kMargin, y += 16, "soft",
           counted ? "the largest error of each right kernel, the smallest of each wrong one, in what passes: the line is the comparison's tolerance"
                   : "the largest error of each right kernel, the smallest of each wrong one, by the comparison's own measure");
  y += 40;
  const int lines = static_cast<int>(right.size() + wrong.size());
  const int bottom = y + lines * kLine + 2 * 24 + 8;
  errors.scale(svg, y, bottom);
  if (counted) svg.line(errors.x_of(1), y, errors.x_of(1), bottom, "axis");
  svg.text(kMargin, y + kDrop, "head", fmt::format("right ({})", right.size()));
  y = lane(svg, errors, right, true, y + 24) + 8;
  svg.text(kMargin, y + kDrop, "head", fmt::format("wrong ({})", wrong.size()));
  y = lane(svg, errors, wrong, false, y + 24);
  return {std::move(svg), kLeft + kAxis + kBeyond + 100, y + kMargin, "mxact laws power", "errors of right and wrong kernels on one axis",
          &kChartLook};
}

std::string laws_errors(const Run& run) {
  return run.root().find("power") ? support::html_wide("errors of right and wrong kernels", as_part(power_figure(run))) : std::string();
}

}  // namespace mx::verbs
