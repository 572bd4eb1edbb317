#pragma once
// HTML pages in one file: text is escaped here and nowhere else, nothing is fetched, and no script runs but their own.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mx::support {

/// A page, with the style sheet of every page, support/page.css: colours for light and dark, tables that scroll within themselves. `style` is CSS
/// beside it, `body` is HTML. Its script, support/page.js, searches, filters and sorts the rows of tables and says a cell's reason; without it the
/// page says the same. Its policy forbids the network and every other script.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);

/// What cells say beyond their word, each text once: `<td data-r="3">` says the third. The part of a page that it is for is `html_reasoned` of it.
class HtmlReasons {
 public:
  /// From 1.
  std::size_t number_of(const std::string& text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::map<std::string, std::size_t> numbers_;
};
/// A part whose cells have reasons, with the list of them below it; `body` is HTML.
std::string html_reasoned(std::string_view body, const HtmlReasons& reasons);

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
