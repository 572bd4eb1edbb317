// Formats on a number line, codes as a map, and a quantized block beside its input.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/error.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/format.hpp"
#include "model/numerics/value.hpp"
#include "support/html.hpp"
#include "verbs/draw/colours.hpp"
#include "verbs/report/parts.hpp"

namespace mx::verbs {
namespace {

constexpr int kMargin = 24;
constexpr int kWidestCode = 8;  // bits: 256 values are what a line or a map can show

double value_of(const Value& value) {
  const double magnitude = std::ldexp(static_cast<double>(value.significand), value.exponent);
  return value.negative ? -magnitude : magnitude;
}

const Format& format_of(const Node& name) {
  std::vector<std::string_view> known;
  for (const Format& format : factor_formats()) known.push_back(format.name);
  return factor_formats()[name.word_of("format", known)];
}

/// "0x7e" as wide as the format.
std::string hex_of(std::uint32_t code, const Format& format) { return fmt::format("0x{:0{}x}", code, (format.width + 3) / 4); }

/// Positive finite values, ascending: code and value.
std::vector<std::pair<std::uint32_t, double>> positive_values(const Format& format) {
  std::vector<std::pair<std::uint32_t, double>> values;
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
    const Value value = decode(format, code);
    if (value.cls == ValueClass::finite && !value.negative) values.emplace_back(code, value_of(value));
  }
  std::ranges::sort(values, {}, &std::pair<std::uint32_t, double>::second);
  return values;
}

bool is_subnormal(const Format& format, std::uint32_t code) {
  if (format.encoding != Encoding::floating) return false;
  const std::uint32_t exponents = (1U << format.exponent_bits) - 1U;
  return ((code >> format.mantissa_bits) & exponents) == 0;
}

/// A stage for values from 2^kLowest to 2^kHighest, and what lies beyond as arrows.
class NumberLine {
 public:
  static constexpr int kLowest = -17;
  static constexpr int kHighest = 16;
  static constexpr int kStep = 18;  // pixels of a power of two
  static constexpr int kLeft = kMargin + 96;
  static constexpr int kRight = kLeft + (kHighest - kLowest) * kStep;
  static constexpr int kLine = 44;

  NumberLine(support::Svg& svg, int y) : svg_(svg), y_(y) {}

  void scale(int bottom) {
    for (int power = kLowest; power <= kHighest; ++power) {
      const int x = x_of(power);
      svg_.line(x, y_, x, bottom, power == 0 ? "axis" : "grid");
      if (power % 4 == 0) svg_.text(x, y_ - 6, "soft middle", power == 0 ? "1" : fmt::format("2^{}", power));
    }
  }

  void row(const Format& format) {
    const auto values = positive_values(format);
    const int middle = y_ + kLine / 2;
    svg_.text(kMargin, middle + 4, "code", format.name);
    svg_.line(kLeft, middle, kRight, middle, "axis");
    for (const auto& [code, value] : values) {
      const double power = std::log2(value);
      if (power < kLowest || power > kHighest) continue;
      const int x = x_of(power);
      svg_.line(x, middle - 9, x, middle + 9, is_subnormal(format, code) ? "second" : "first");
    }
    if (std::log2(values.front().second) < kLowest) svg_.text(kLeft - 4, middle + 4, "code end", "\u25c2");
    if (std::log2(values.back().second) > kHighest) svg_.text(kRight + 2, middle + 4, "code", "\u25b8");
    svg_.text(kRight + 18, middle - 3, "text", fmt::format("{} to {}", short_text(values.front().second), short_text(values.back().second)));
    svg_.text(kRight + 18, middle + 11, "soft", note_of(format));
    y_ += kLine;
  }

  static std::string short_text(double value) {
    const double power = std::log2(value);
    return std::abs(power) > 3 && power == std::floor(power) ? fmt::format("2^{:.0f}", power) : fmt::format("{:.6g}", value);
  }

 private:
  static int x_of(double power) { return kLeft + static_cast<int>(std::lround((power - kLowest) * kStep)); }

  static std::string note_of(const Format& format) {
    int nans = 0;
    int infinities = 0;
    int zeros = 0;
    for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
      const ValueClass cls = decode(format, code).cls;
      nans += cls == ValueClass::nan ? 1 : 0;
      infinities += cls == ValueClass::infinity ? 1 : 0;
      zeros += cls == ValueClass::zero ? 1 : 0;
    }
    const auto part = [](int count, const char* one, const char* more) {
      return count == 0 ? fmt::format("no {}", one) : fmt::format("{} {}", count, count == 1 ? one : more);
    };
    return fmt::format("{}, {}, {}", part(zeros, "zero", "zeros"), part(infinities, "Inf", "Inf"), part(nans, "NaN", "NaN"));
  }

  support::Svg& svg_;
  int y_;
};

/// What fits into a cell of a code map.
std::string cell_text(const Value& value) {
  switch (value.cls) {
    case ValueClass::nan: return "NaN";
    case ValueClass::infinity: return value.negative ? "-Inf" : "Inf";
    case ValueClass::zero: return value.negative ? "-0" : "0";
    case ValueClass::finite: break;
  }
  const double power = std::log2(std::abs(value_of(value)));
  if (std::abs(power) > 19 && power == std::floor(power)) return fmt::format("{}2^{:.0f}", value.negative ? "-" : "", power);
  return fmt::format("{:.3g}", value_of(value));
}

Figure code_map(const Format& format) {
  constexpr int kCell = 54;
  constexpr int kLine = 24;
  constexpr int kNames = 52;
  const int columns = format.width >= 7 ? 16 : 8;
  const int rows = (1 << format.width) / columns;
  const auto values = positive_values(format);
  const double low = std::log2(values.front().second);
  const double high = std::log2(values.back().second);
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", fmt::format("{}: every code", format.name));
  svg.text(kMargin, y += 20, "soft", fmt::format("{} bits; colour is magnitude; underlined: subnormal. {}", format.width, format.source));
  y += 28;
  for (int column = 0; column < columns; ++column) {
    svg.text(kMargin + kNames + column * kCell + kCell / 2, y, "soft middle", fmt::format("+{:x}", column));
  }
  y += 8;
  for (int row = 0; row < rows; ++row) {
    svg.text(kMargin, y + 16, "code", hex_of(static_cast<std::uint32_t>(row * columns), format));
    for (int column = 0; column < columns; ++column) {
      const auto code = static_cast<std::uint32_t>(row * columns + column);
      const Value value = decode(format, code);
      const int x = kMargin + kNames + column * kCell;
      const std::string hover = fmt::format("{} = {:.17g}", hex_of(code, format), value_of(value));
      if (value.cls != ValueClass::finite) {
        svg.rect({x, y, kCell - 2, kLine - 2}, value.cls == ValueClass::zero ? "blank" : "refused", {}, hex_of(code, format));
        svg.text(x + kCell / 2 - 1, y + 16, "middle", cell_text(value));
        continue;
      }
      const double part = high > low ? (std::log2(std::abs(value_of(value))) - low) / (high - low) : 1;
      const int shade = static_cast<int>(std::lround(part * (kShades - 1)));
      svg.rect({x, y, kCell - 2, kLine - 2}, "cell", colour_of(std::min(shade, kShades - 1)), hover);
      if (is_subnormal(format, code)) svg.rect({x, y + kLine - 5, kCell - 2, 3}, "second-fill");
      svg.text(x + kCell / 2 - 1, y + 16, is_light(std::min(shade, kShades - 1)) ? "on-light" : "on-dark", cell_text(value));
    }
    y += kLine;
  }
  const int width = std::max(620, kMargin + kNames + columns * kCell + kMargin);
  return {std::move(svg), width, y + kMargin, fmt::format("mxact {}", format.name), "the value of every code", &kChartLook};
}

Figure number_lines(const std::vector<const Format*>& formats) {
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(kMargin, y, "title", "The positive values of each format");
  svg.text(kMargin, y += 20, "soft", "one line for each value, on a logarithmic scale; the negative ones mirror them");
  y += 18;
  svg.line(kMargin, y - 4, kMargin + 18, y - 4, "first");
  svg.text(kMargin + 24, y, "text", "normal");
  svg.line(kMargin + 90, y - 4, kMargin + 108, y - 4, "second");
  svg.text(kMargin + 114, y, "text", "subnormal");
  y += 34;
  NumberLine line(svg, y);
  const int bottom = y + static_cast<int>(formats.size()) * NumberLine::kLine;
  line.scale(bottom);
  for (const Format* format : formats) line.row(*format);
  return {std::move(svg), NumberLine::kRight + 250, bottom + kMargin, "mxact formats", "the values of every narrow format", &kChartLook};
}

/// Elements of a block as the file has them.
struct Element {
  double input;
  double dequantized;
  std::string code;
};

struct Block {
  std::string scale;
  double step;  ///< value of the scale
  std::vector<Element> elements;
};

std::uint32_t bits_of(const Node& node, const Format& format) {
  const std::string& text = node.text();
  std::size_t used = 0;
  unsigned long bits = 0;
  try {
    bits = std::stoul(text, &used, 16);
  } catch (const std::exception&) {
    used = 0;
  }
  if (!text.starts_with("0x") || used != text.size() || (format.width < 32 && bits >> format.width != 0) || bits > UINT32_MAX) {
    node.fail(fmt::format("must be bits of {} as 0x.., not '{}'", format.name, text));
  }
  return static_cast<std::uint32_t>(bits);
}

const BlockFormat& block_format_of(const Node& name) {
  std::vector<std::string_view> known;
  for (const BlockFormat& format : all_block_formats()) known.push_back(format.name);
  return all_block_formats()[name.word_of("block format", known)];
}

/// NaN and infinities are drawn at 0 and said in words.
double plotted(const Value& value) { return value.cls == ValueClass::finite ? value_of(value) : 0; }

std::vector<Block> blocks_of(const Run& run) {
  const Node root = run.root();
  const BlockFormat& format = block_format_of(root["format"]);
  const Format& source = format_of(root["source"]);
  std::vector<Block> blocks;
  for (const Node& one : root["blocks"].items()) {
    Block block{one["scale"].text(), plotted(decode(*format.scale, bits_of(one["scale"], *format.scale))), {}};
    for (const Node& element : one["elements"].items()) {
      block.elements.push_back({plotted(decode(source, bits_of(element["input"], source))),
                                plotted(decode(kF32, bits_of(element["dequantized"], kF32))), element["code"].text()});
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

constexpr std::size_t kMostElements = 128;

/// Blocks with codes that a line of bars can show.
bool is_drawable(const std::vector<Block>& blocks) {
  return !blocks.empty() &&
         std::ranges::all_of(blocks, [](const Block& block) { return !block.elements.empty() && block.elements.size() <= kMostElements; });
}

class BlockChart {
 public:
  static constexpr int kColumn = 24;
  static constexpr int kHeight = 180;
  static constexpr int kLeft = kMargin + 76;

  BlockChart(support::Svg& svg, const Block& block, int y) : svg_(svg), block_(block), y_(y) {
    for (const Element& one : block.elements) top_ = std::max({top_, std::abs(one.input), std::abs(one.dequantized)});
    if (top_ == 0) top_ = 1;
  }

  int draw(std::size_t index) {
    svg_.text(kMargin, y_ += 14, "head", fmt::format("block {}: scale {} = {:.6g}", index, block_.scale, block_.step));
    y_ += 12;
    const int right = kLeft + static_cast<int>(block_.elements.size()) * kColumn;
    for (const double part : {1.0, 0.5, 0.0, -0.5, -1.0}) {
      svg_.line(kLeft, y_of(part * top_), right, y_of(part * top_), part == 0 ? "axis" : "grid");
      svg_.text(kLeft - 6, y_of(part * top_) + 4, "soft end", fmt::format("{:.4g}", part * top_));
    }
    for (std::size_t i = 0; i < block_.elements.size(); ++i) element(i);
    y_ += kHeight + 40;
    return y_;
  }

 private:
  int y_of(double value) const { return y_ + kHeight / 2 - static_cast<int>(std::lround(value / top_ * kHeight / 2)); }

  void element(std::size_t i) {
    const Element& one = block_.elements[i];
    const int x = kLeft + static_cast<int>(i) * kColumn;
    const int zero = y_of(0);
    const int end = y_of(one.dequantized);
    const std::string hover =
        fmt::format("element {}: {:.9g} becomes {} = {:.9g}, error {:.3g}", i, one.input, one.code, one.dequantized, one.dequantized - one.input);
    svg_.rect({x + 5, std::min(zero, end), kColumn - 10, std::max(std::abs(end - zero), 1)}, "first-fill", {}, hover);
    svg_.circle(x + kColumn / 2, y_of(one.input), 4, "second-fill", hover);
    svg_.text(x + kColumn / 2, y_ + kHeight + 18, "soft middle", support::shortened(one.code.starts_with("0x") ? one.code.substr(2) : one.code, 3));
  }

  support::Svg& svg_;
  const Block& block_;
  int y_;
  double top_ = 0;
};

}  // namespace

Figure formats_figure(const Run& run) {
  if (const std::optional<Node> one = run.root().find("format")) {
    const Format& format = format_of((*one)["name"]);
    if (format.width > kWidestCode) (*one)["name"].fail(fmt::format("has {} bits: a map shows formats of up to {}", format.width, kWidestCode));
    return code_map(format);
  }
  const std::optional<Node> list = run.root().find("formats");
  if (!list) run.root().fail("is one profile, which has no picture");
  std::vector<const Format*> formats;
  for (const Node& one : list->items()) {
    const Format& format = format_of(one["name"]);
    if (format.width <= kWidestCode) formats.push_back(&format);
  }
  return number_lines(formats);
}

std::string formats_html(const Run& run) {
  // One profile has rows, no picture.
  return run.root().find("profile") ? any_html(run) : support::html_wide("number formats", as_part(formats_figure(run)));
}

Figure quantize_figure(const Run& run) {
  constexpr std::size_t kMostBlocks = 8;
  const Node root = run.root();
  const std::vector<Block> blocks = blocks_of(run);
  if (!is_drawable(blocks)) root["blocks"].fail(fmt::format("a picture shows blocks with codes, of up to {} elements", kMostElements));
  support::Svg svg;
  int y = kMargin + 8;
  svg.text(
      kMargin, y, "title",
      support::shortened(fmt::format("{}: scale rule {}, profile {}", root["format"].text(), root["scale_rule"].text(), root["profile"].text()), 60));
  svg.text(kMargin, y += 20, "soft",
           fmt::format("dots: input; bars: what its code stands for; below: the code{}",
                       blocks.size() > kMostBlocks ? fmt::format("; the first {} of {} blocks", kMostBlocks, blocks.size()) : ""));
  y += 20;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < std::min(blocks.size(), kMostBlocks); ++i) {
    widest = std::max(widest, blocks[i].elements.size());
    y = BlockChart(svg, blocks[i], y).draw(i);
  }
  const int width = std::max(620, BlockChart::kLeft + static_cast<int>(widest) * BlockChart::kColumn + kMargin);
  return {std::move(svg), width, y + kMargin, "mxact quantize", "each element of a block beside what its code stands for", &kChartLook};
}

std::string quantize_html(const Run& run) {
  return is_drawable(blocks_of(run)) ? support::html_wide("quantized blocks", as_part(quantize_figure(run))) : any_html(run);
}

}  // namespace mx::verbs
