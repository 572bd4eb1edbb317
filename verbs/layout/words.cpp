#include "verbs/layout/words.hpp"

#include <fmt/core.h>

namespace mx::verbs {
namespace {

const layout::Axis& axis_of(const layout::Layout& layout, const layout::Digit& digit) {
  return layout.logical()[static_cast<std::size_t>(digit.axis)];
}

}  // namespace

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

std::string axes_text(const std::vector<layout::Axis>& axes) {
  std::string text;
  for (const layout::Axis& axis : axes) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, axis.extent);
  return text;
}

std::string source_text(const layout::Source& source) {
  return fmt::format("{} {} {} at {}", source.repository, source.path, source.symbol, source.commit);
}

Json source_json(const layout::Source& source) {
  return {{"repository", source.repository}, {"path", source.path}, {"symbol", source.symbol}, {"commit", source.commit}};
}

Json digits_json(const layout::Layout& layout, const std::vector<layout::Digit>& digits) {
  Table table{{}, {in_json("axis"), in_json("weight"), in_json("radix"), in_json("stride"), in_json("flipped")}};
  for (const layout::Digit& digit : digits) table.add({axis_of(layout, digit).name, digit.weight, digit.radix, digit.stride, digit.flipped});
  return table.json();
}

void add_digits(Document& document, const layout::Layout& layout, const std::vector<layout::Digit>& digits) {
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    document.line(fmt::format("  {:<6} / {:<6} % {:<6} stride {}{}", axis_of(layout, *digit).name, digit->weight, digit->radix, digit->stride,
                              digit->flipped ? "  (counted down)" : ""));
  }
}

}  // namespace mx::verbs
