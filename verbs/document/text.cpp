#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "verbs/document/document.hpp"

namespace mx::verbs {
namespace {

constexpr std::size_t kGap = 2;
/// A column that would be narrower is not wrapped: the terminal does it as well.
constexpr std::size_t kNarrowest = 20;

/// Control characters as \xNN: names of files and tensors are anybody's, and must neither colour a terminal nor begin a line of their own. `kept` may
/// stay.
std::string plain(std::string_view text, std::string_view kept = {}) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = (byte < 0x20 || byte == 0x7F) && kept.find(c) == std::string_view::npos;
    made += control ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return made;
}

/// Columns of a terminal: bytes that begin a character.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// The text in lines of at most `width` columns, broken between words where that can be.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > width) lines.emplace_back();
    lines.back() += (lines.back().empty() || at == 0 ? "" : " ") + std::string(word);
    at = end + 1;
  }
  return lines;
}

void append_fields(std::string& text, std::span<const Entry* const> fields) {
  std::size_t widest = 0;
  for (const Entry* entry : fields) widest = std::max(widest, width_of(std::get<Field>(*entry).label));
  for (const Entry* entry : fields) {
    const auto& field = std::get<Field>(*entry);
    text += field.label + std::string(widest + kGap - width_of(field.label), ' ') + plain(field.text) + "\n";
  }
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& cells, std::size_t width) {
  std::vector<std::vector<std::string>> rows = cells;
  for (std::vector<std::string>& row : rows) std::ranges::transform(row, row.begin(), [](const std::string& cell) { return plain(cell); });
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + kGap;
  const bool wraps = width > 0 && !widths.empty() && before_last + widths.back() > width && before_last + kNarrowest <= width;
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i];
      if (wraps && i + 1 == widths.size()) {
        rest = wrapped(cell, width - before_last);
        cell = rest.front();
      }
      line += cell + std::string(widths[i] + kGap - std::min(widths[i] + kGap, width_of(cell)), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    for (std::size_t i = 1; i < rest.size(); ++i) text += std::string(before_last, ' ') + rest[i] + "\n";
  }
  return text;
}

std::string to_text(const Document& document, std::size_t width) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : document.entries) {
    if (!std::holds_alternative<Member>(entry)) entries.push_back(&entry);
  }
  std::string text;
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (const auto* line = std::get_if<Line>(*entry)) text += plain(line->text, "\n") + "\n";
    if (const auto* note = std::get_if<Note>(*entry)) text += plain(note->text, "\n") + "\n";
    if (const auto* table = std::get_if<Table>(*entry); table != nullptr && !table->rows.empty()) text += table_text(table->text(), width);
    if (!std::holds_alternative<Field>(**entry)) continue;
    const auto end = std::find_if_not(entry, entries.end(), [](const Entry* one) { return std::holds_alternative<Field>(*one); });
    append_fields(text, {entry, end});
    entry = std::prev(end);
  }
  return text;
}

}  // namespace mx::verbs
