#include "support/svg.hpp"

#include <fmt/core.h>

namespace mx::support {
namespace {

std::string fill_attribute(std::string_view fill) { return fill.empty() ? std::string() : fmt::format(" fill=\"{}\"", fill); }

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? std::string("\xEF\xBF\xBD") : std::string(1, c);
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t letters) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins(text[at]) && ++seen > letters) return std::string(text.substr(0, at)) + "\u2026";
  }
  return std::string(text);
}

void Svg::rect(const Box& box, std::string_view style_class, std::string_view fill, std::string_view hover) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", style_class, box.x, box.y, box.width, box.height,
                       fill_attribute(fill));
  body_ += hover.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(hover));
}

void Svg::circle(int x, int y, int radius, std::string_view style_class, std::string_view hover) {
  body_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", style_class, x, y, radius);
  body_ += hover.empty() ? "/>\n" : fmt::format("><title>{}</title></circle>\n", escaped(hover));
}

void Svg::line(int x1, int y1, int x2, int y2, std::string_view style_class) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", style_class, x1, y1, x2, y2);
}

void Svg::text(int x, int y, std::string_view style_class, std::string_view text) {
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", style_class, x, y, escaped(text));
}

void Svg::slanted(int x, int y, std::string_view style_class, std::string_view text) {
  body_ += fmt::format("<text class=\"{0}\" x=\"{1}\" y=\"{2}\" transform=\"rotate(-45 {1} {2})\">{3}</text>\n", style_class, x, y, escaped(text));
}

void Svg::Boxes::add(const Box& box) { path_ += fmt::format("M{} {}h{}v{}h-{}z", box.x, box.y, box.width, box.height, box.width); }

void Svg::boxes(const Boxes& boxes, std::string_view style_class, std::string_view fill) {
  if (!boxes.empty()) body_ += fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", style_class, fill_attribute(fill), boxes.path_);
}

}  // namespace mx::support
