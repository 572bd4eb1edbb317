#pragma once
// HTML pages in one file: text is escaped here and nowhere else, nothing is fetched, nothing is executed.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mx::support {

/// A page, with the style sheet of every page, support/page.css: colours for light and dark, tables that scroll within themselves. `style` is CSS
/// beside it, `body` is HTML. Its policy forbids scripts and the network.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);

/// One cell; text is escaped.
struct HtmlCell {
  std::string text;
  std::string_view style = {};  ///< classes of the style sheet; must outlive the cell
  std::string hover = {};
};
using HtmlRow = std::vector<HtmlCell>;

/// A table in a box that scrolls; the first cell of a row is its name. `label` is what a screen reader calls it.
std::string html_table(std::string_view label, const std::vector<std::string>& heads, const std::vector<HtmlRow>& rows);
/// The same for a few rows of words: on a phone each row becomes a block instead of scrolling.
std::string html_stack(std::string_view label, const std::vector<std::string>& heads, const std::vector<HtmlRow>& rows);
/// A list of terms and what they mean.
std::string html_terms(const std::vector<std::pair<std::string, std::string>>& terms);
std::string html_paragraph(std::string_view text, std::string_view style = {});
/// A part that opens when it is clicked; `body` is HTML.
std::string html_details(std::string_view title, std::string_view note, std::string_view body, bool open);
/// Something wide, in a box that scrolls; `body` is HTML.
std::string html_wide(std::string_view label, std::string_view body);

}  // namespace mx::support
