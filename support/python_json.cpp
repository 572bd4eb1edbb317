#include "support/python_json.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mx::support {
namespace {

struct LiteralRow {
  std::string_view literal;
  std::string_view text;  ///< as long
};
constexpr std::array kLiterals{LiteralRow{"-Infinity", "\"-inf\"   "}, LiteralRow{"Infinity", "\"inf\"   "}};

}  // namespace

Json parse_python_json(std::vector<std::uint8_t> text, const JsonLimits& limits, const std::string& where) {
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_text = !in_text;
    if (in_text && text[at] == '\\') ++at;
    if (in_text || at >= text.size()) continue;
    for (const LiteralRow& row : kLiterals) {
      if (!view.substr(at).starts_with(row.literal)) continue;
      std::ranges::copy(row.text, text.begin() + static_cast<std::ptrdiff_t>(at));
      at += row.text.size() - 1;
      break;
    }
  }
  return parse_json(text, limits, where);
}

}  // namespace mx::support
