#include "support/html.hpp"

#include <fmt/core.h>

#include <span>

#include "model/embedded.hpp"
#include "support/svg.hpp"

namespace mx::embedded {
// The style: text on its ground has a contrast of at least 4.5 in both lights; what a colour says, a word or a mark says too. The script.
extern const std::span<const EmbeddedFile> page_style;
}  // namespace mx::embedded

namespace mx::support {
namespace {

/// SHA-256 of support/page.js, which a page's policy lets run and nothing else; tests/house_rules.sh holds it.
constexpr std::string_view kScriptHash = "TrLUyaHNlveXepMGAIwO1vgQKOaEXONkzXRQRdOQH5c=";

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", name, escaped(value));
}

/// The name of a row; one that would push the table off the screen wraps.
std::string name_cell(const HtmlCell& one) {
  constexpr std::size_t kLongest = 40;
  const std::string_view style = one.text.size() > kLongest ? "long" : "";
  return fmt::format("<th scope=\"row\"{}{}>{}</th>", attribute("class", style), attribute("title", one.hover), escaped(one.text));
}

std::string cell(const HtmlCell& one) {
  return fmt::format("<td{}{}>{}</td>", attribute("class", one.style), attribute("title", one.hover), escaped(one.text));
}

}  // namespace

std::string html_page(std::string_view title, std::string_view style, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n<style>\n{}{}</style>\n"
      "<noscript><style>td[data-r]::after{{content:\" \" attr(data-r);font-size:.6rem}}</style></noscript>\n</head>\n"
      "<body>\n{}<script>{}</script>\n</body>\n</html>\n",
      kScriptHash, escaped(title), embedded::page_style[0].bytes, style, body, embedded::page_style[1].bytes);
}

std::string html_table(std::string_view label, const std::vector<std::string>& heads, const std::vector<HtmlRow>& rows) {
  std::string html = "<table>\n<thead><tr>";
  for (const std::string& head : heads) html += fmt::format("<th scope=\"col\">{}</th>", escaped(head));
  html += "</tr></thead>\n<tbody>\n";
  for (const HtmlRow& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) html += i == 0 ? name_cell(row[i]) : cell(row[i]);
    html += "</tr>\n";
  }
  return html_wide(label, html + "</tbody></table>\n");
}

std::string html_stack(std::string_view label, const std::vector<std::string>& heads, const std::vector<HtmlRow>& rows) {
  return "<div class=\"stack\">" + html_table(label, heads, rows) + "</div>\n";
}

std::string html_terms(const std::vector<std::pair<std::string, std::string>>& terms) {
  std::string html = "<dl>\n";
  for (const auto& [term, meaning] : terms) html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(term), escaped(meaning));
  return html + "</dl>\n";
}

std::string html_paragraph(std::string_view text, std::string_view style) {
  return fmt::format("<p{}>{}</p>\n", attribute("class", style), escaped(text));
}

std::string html_details(std::string_view title, std::string_view note, std::string_view body, bool open) {
  const std::string soft = note.empty() ? std::string() : fmt::format(" <span class=\"soft\">{}</span>", escaped(note));
  return fmt::format("<details{}><summary>{}{}</summary>\n{}</details>\n", open ? " open" : "", escaped(title), soft, body);
}

std::size_t HtmlReasons::number_of(const std::string& text) {
  const auto [known, is_new] = numbers_.try_emplace(text, texts_.size() + 1);
  if (is_new) texts_.push_back(text);
  return known->second;
}

std::string html_reasoned(std::string_view body, const HtmlReasons& reasons) {
  std::string list;
  for (const std::string& text : reasons.texts()) list += fmt::format("<li>{}</li>\n", escaped(text));
  return fmt::format("<div class=\"reasoned\">\n{}{}</div>\n", body,
                     html_details("What cells say", fmt::format("{} reasons, by number", reasons.texts().size()),
                                  "<ol class=\"reasons\">\n" + list + "</ol>\n", false));
}

std::string html_wide(std::string_view label, std::string_view body) {
  // What scrolls can be reached by keyboard.
  return fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>\n", escaped(label), body);
}

}  // namespace mx::support
