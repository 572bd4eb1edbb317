#include "golden/draw/svg.hpp"

#include <fmt/core.h>

namespace mx::golden {
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

void Svg::rect(const Box& box, std::string_view style_class, std::string_view fill, std::string_view hover) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", style_class, box.x, box.y, box.width, box.height,
                       fill_attribute(fill));
  body_ += hover.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(hover));
}

void Svg::line(int x1, int y1, int x2, int y2, std::string_view style_class) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", style_class, x1, y1, x2, y2);
}

void Svg::text(int x, int y, std::string_view style_class, std::string_view text) {
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", style_class, x, y, escaped(text));
}

void Svg::Boxes::add(const Box& box) { path_ += fmt::format("M{} {}h{}v{}h-{}z", box.x, box.y, box.width, box.height, box.width); }

void Svg::boxes(const Boxes& boxes, std::string_view style_class, std::string_view fill) {
  if (!boxes.empty()) body_ += fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", style_class, fill_attribute(fill), boxes.path_);
}

void Svg::define(std::string_view definition) { definitions_ += definition; }

std::string Svg::document(int width, int height, std::string_view title, std::string_view description, std::string_view style) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n"
      "<desc>{3}</desc>\n<style>{4}</style>\n<defs>{5}</defs>\n"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{6}</svg>\n",
      width, height, escaped(title), escaped(description), style, definitions_, body_);
}

}  // namespace mx::golden
