#pragma once
// Layouts in words and as values: what every layout verb says of axes, digits and sources.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/document/document.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {

/// "2.8, 3.7"
std::string joined(std::span<const std::string_view> words);
/// "E 1, half 2, I 128, K 256"
std::string axes_text(const std::vector<layout::Axis>& axes);
/// "org/repository path symbol at commit"
std::string source_text(const layout::Source& source);
Json source_json(const layout::Source& source);
Json digits_json(const layout::Layout& layout, const std::vector<layout::Digit>& digits);
/// One line per digit, slowest first.
void add_digits(Document& document, const layout::Layout& layout, const std::vector<layout::Digit>& digits);

}  // namespace mx::verbs
