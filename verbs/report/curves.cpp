// Curves of the numerics: where scale rules part, and the error of formats along the real line.

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/html.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kNarrowest = 720;

/// fp32 bits of a magnitude from 1 to 2.
double magnitude_of(const Node& node) {
  constexpr std::uint32_t kOne = 0x3F800000, kTwo = 0x40000000;
  const std::string& text = node.text();
  std::size_t used = 0;
  unsigned long bits = 0;
  if (text.starts_with("0x") && text.size() <= 10 && text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos && text.size() > 2) {
    bits = std::stoul(text, &used, 16);
  }
  if (bits < kOne || bits >= kTwo) node.fail(fmt::format("must be fp32 bits of a magnitude from 1 to 2 as 0x.., not '{}'", text));
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

/// The power of two that an E8M0 code stands for.
int power_of(const Node& code) {
  const std::int64_t byte = code.count();
  if (byte > 254) code.fail(fmt::format("must be an E8M0 code of a number, 0 to 254, not {}", byte));
  return static_cast<int>(byte) - 127;
}

std::string profiles_text(const Node& row) {
  std::string text;
  for (const Node& profile : row["profiles"].items()) text += (text.empty() ? "" : ", ") + profile.text();
  return text;
}

/// The scales of one rule as a strip over the magnitudes from 1 to 2.
class RuleStrip {
 public:
  static constexpr int kNames = 150;
  static constexpr int kFull = 480;  // pixels from 1 to 2
  static constexpr int kLine = 42;
  static constexpr int kBar = 20;
  static constexpr int kLeft = kMargin + kNames;

  static int x_of(double magnitude) { return kLeft + static_cast<int>(std::lround((magnitude - 1) * kFull)); }

  static void scale(support::Svg& svg, int y, int bottom) {
    for (int eighth = 0; eighth <= 8; ++eighth) {
      const double at = 1 + eighth / 8.0;
      svg.line(x_of(at), y, x_of(at), bottom, "grid");
      svg.text(x_of(at), y - 6, "soft middle", fmt::format("{:g}", at));
    }
  }

  static void draw(support::Svg& svg, const Node& row, int y) {
    const int below = power_of(row["below"]), above = power_of(row["above"]);
    const std::optional<Node> first = row.find("first");
    const double at = first ? magnitude_of(*first) : 2;
    const std::string hover = fmt::format("{}: {}", row["rule"].text(), profiles_text(row));
    svg.text(kMargin, y + 15, "code", support::shortened(row["rule"].text(), 21));
    piece(svg, y, 1, at, below, "first-fill", hover);
    if (first) piece(svg, y, at, 2, above, "second-fill", hover);
    svg.text(kLeft + kFull + 12, y + 15, "text", first ? fmt::format("from {:.9g}", at) : "all the way");
    svg.text(kLeft, y + kBar + 12, "soft", support::shortened(profiles_text(row), 92));
  }

 private:
  static void piece(support::Svg& svg, int y, double from, double to, int power, std::string_view style, const std::string& hover) {
    const int begin = x_of(from), width = std::max(x_of(to) - begin, 2);
    svg.rect({begin, y, width, kBar}, style, {}, hover);
    if (width > 40) svg.text(begin + width / 2, y + 14, "on-fill", fmt::format("2^{}", power));
  }
};

/// A format's error over the logarithm of x.
class ErrorCurve {
 public:
  static constexpr int kNames = 84;
  static constexpr int kStep = 22;  // pixels of a power of two
  static constexpr int kHeight = 74;
  static constexpr int kGap = 18;
  static constexpr int kLeft = kMargin + kNames;
  static constexpr int kDecades = 9;  // powers of two below an error of 1

  ErrorCurve(support::Svg& svg, int lowest, int highest, int bins) : svg_(svg), lowest_(lowest), highest_(highest), bins_(bins) {}

  int right() const { return kLeft + (highest_ - lowest_) * kStep; }

  void scale(int y, int bottom) const {
    for (int power = lowest_; power <= highest_; ++power) {
      const int x = kLeft + (power - lowest_) * kStep;
      svg_.line(x, y, x, bottom, power == 0 ? "axis" : "grid");
      if (power % 4 == 0) svg_.text(x, y - 6, "soft middle", power == 0 ? "1" : fmt::format("2^{}", power));
    }
  }

  void draw(const Node& format, int y) const {
    svg_.text(kMargin, y + kHeight / 2 + 4, "code", support::shortened(format["name"].text(), 12));
    for (const auto& [error, text] : {std::pair{0, "100 %"}, {-3, "12.5 %"}, {-6, "1.6 %"}, {-9, "0.2 %"}}) {
      svg_.line(kLeft, y_of(error, y), right(), y_of(error, y), "grid");
      svg_.text(right() + 6, y_of(error, y) + 4, "soft", text);
    }
    const std::vector<Node> worst = format["worst"].items();
    if (worst.size() != static_cast<std::size_t>(highest_ - lowest_) * static_cast<std::size_t>(bins_)) {
      format["worst"].fail(fmt::format("has {} bins, not {} for each of {} powers of two", worst.size(), bins_, highest_ - lowest_));
    }
    std::size_t begin = 0;
    // Neighbours of one height as one box; bins that lie closer than a pixel keep the larger.
    while (begin < worst.size()) {
      const int top = top_of(worst[begin], y);
      std::size_t end = begin + 1;
      while (end < worst.size() && top_of(worst[end], y) == top) ++end;
      const int left = x_of(begin), width = x_of(end) - left;
      const std::string hover = fmt::format("{}: up to {:.3g} % from {:.4g} on", format["name"].text(), 100 * worst[begin].number(), value_of(begin));
      svg_.rect({left, top, std::max(width, 1), y + kHeight - top}, worst[begin].number() >= 1 ? "third-fill" : "first-fill", {}, hover);
      begin = end;
    }
  }

 private:
  int x_of(std::size_t bin) const {
    const auto powers = static_cast<int>(bin) / bins_;
    const double part = std::log2(1 + static_cast<double>(static_cast<int>(bin) % bins_) / bins_);
    return kLeft + powers * kStep + static_cast<int>(std::lround(part * kStep));
  }
  double value_of(std::size_t bin) const {
    const auto powers = static_cast<int>(bin) / bins_;
    return std::ldexp(1 + static_cast<double>(static_cast<int>(bin) % bins_) / bins_, lowest_ + powers);
  }
  static int y_of(double log_error, int y) { return y + static_cast<int>(std::lround(-log_error * kHeight / kDecades)); }
  static int top_of(const Node& error, int y) {
    const double share = error.number();
    if (share < 0 || share > 1e6) error.fail(fmt::format("must be a relative error, not {:g}", share));
    return y_of(std::clamp(share > 0 ? std::log2(share) : -kDecades, double{-kDecades}, 0.0), y);
  }

  support::Svg& svg_;
  int lowest_;
  int highest_;
  int bins_;
};

}  // namespace

Outcome rules_outcome(const Run& run) {
  std::size_t rows = 0;
  const std::vector<Node> formats = run.root()["formats"].items();
  for (const Node& format : formats) rows += format["rows"].items().size();
  return {rows == 0 ? Standing::nothing : Standing::shown, fmt::format("{} ways to a scale for {} block formats", rows, formats.size())};
}

Figure rules_figure(const Run& run) {
  if (rules_outcome(run).standing == Standing::nothing) run.root()["formats"].fail("has no rule: there is nothing to draw");
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "Where scale rules part");
  svg.text(kMargin, y += 20, "soft",
           "the scale that each rule takes for a block whose largest magnitude lies between 1 and 2; every other power of two repeats it");
  for (const Node& format : run.root()["formats"].items()) {
    const std::vector<Node> rows = format["rows"].items();
    svg.text(kMargin, y += 34, "head", format["format"].text());
    const int top = y + 6;
    y = top;
    RuleStrip::scale(svg, top, top + static_cast<int>(rows.size()) * RuleStrip::kLine);
    for (const Node& row : rows) {
      RuleStrip::draw(svg, row, y + 6);
      y += RuleStrip::kLine;
    }
  }
  return {std::move(svg),
          RuleStrip::kLeft + RuleStrip::kFull + 170,
          y + kMargin,
          "mxact study --rules",
          "which scale each rule takes for which largest magnitude",
          &kChartLook};
}

std::string rules_html(const Run& run) { return support::html_wide("scale rules", as_part(rules_figure(run))); }

Outcome line_outcome(const Run& run) {
  const std::size_t formats = run.root()["formats"].items().size();
  return {formats == 0 ? Standing::nothing : Standing::shown, fmt::format("{} formats along the real line", formats)};
}

Figure line_figure(const Run& run) {
  const Node root = run.root();
  const std::vector<Node> formats = root["formats"].items();
  if (formats.empty()) root["formats"].fail("is empty: there is nothing to draw");
  const std::int64_t lowest = root["lowest"].integer(), highest = root["highest"].integer(), bins = root["bins"].count();
  if (lowest < -200 || highest > 200 || highest <= lowest || bins < 1 || bins > 64) {
    root["lowest"].fail(fmt::format("is {}, to {} in {} bins a power of two, which no picture can show", lowest, highest, bins));
  }
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "The relative error of each format along the real line");
  svg.text(kMargin, y += 20, "soft",
           "the largest error of each sixteenth of a power of two, rounded to nearest even, saturating; gray: the value becomes zero");
  y += 40;
  const ErrorCurve curve(svg, static_cast<int>(lowest), static_cast<int>(highest), static_cast<int>(bins));
  curve.scale(y, y + static_cast<int>(formats.size()) * (ErrorCurve::kHeight + ErrorCurve::kGap) - ErrorCurve::kGap);
  for (const Node& format : formats) {
    curve.draw(format, y);
    y += ErrorCurve::kHeight + ErrorCurve::kGap;
  }
  return {std::move(svg),
          std::max(kNarrowest, curve.right() + 80),
          y + kMargin,
          "mxact study --line",
          "relative error over x, both logarithmic, format by format",
          &kChartLook};
}

std::string line_html(const Run& run) { return support::html_wide("error along the real line", as_part(line_figure(run))); }

}  // namespace mx::verbs
