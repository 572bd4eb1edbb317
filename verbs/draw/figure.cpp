#include "verbs/draw/figure.hpp"

#include <fmt/core.h>

namespace mx::verbs {

std::string as_file(const Figure& figure) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n"
      "<desc>{3}</desc>\n<style>{4}</style>\n<defs>{5}</defs>\n"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{6}</svg>\n",
      figure.width, figure.height, support::escaped(figure.title), support::escaped(figure.description), css(figure.look->rules, {}),
      figure.look->patterns, figure.svg.body());
}

std::string as_part(const Figure& figure) {
  // A label rather than a <title>, which would pop up wherever the picture is pointed at.
  return fmt::format("<svg class=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{3}\">\n{4}</svg>\n",
                     figure.look->name, figure.width, figure.height, support::escaped(figure.title + ": " + figure.description), figure.svg.body());
}

}  // namespace mx::verbs
