#include "model/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace mx {
namespace {

std::string folded(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// Letters that look like digits, as the digits.
std::string looks_of(std::string letters) {
  for (char& c : letters) c = c == 'o' ? '0' : c == 'i' || c == 'l' ? '1' : c;
  return letters;
}

/// Letters that are wrong, missing or too many; two neighbours that changed places count once. Three rows at a time.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

/// Words that people have for a name: by meaning, where letters would mislead.
struct Synonym {
  std::string_view what;
  std::string_view typed;
  std::string_view meant;
};
// clang-format off
constexpr std::array kSynonyms{
    Synonym{"rounding", "nearest", "nearest_even"},
    Synonym{"rounding", "rne", "nearest_even"},
    Synonym{"rounding", "stochastic", "stochastic_floor"},
    Synonym{"rounding", "truncate", "toward_zero"},
    Synonym{"option", "--param", "--set"},
};
// clang-format on

/// The known name that people mean by another word, or an empty view.
std::string_view meant_by(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  for (const Synonym& row : kSynonyms) {
    // Whoever reads a file of keys calls everything a name.
    if ((row.what != what && what != "name") || !same_name(row.typed, name)) continue;
    const auto as_known = std::ranges::find_if(known, [&](std::string_view one) { return same_name(one, row.meant); });
    if (as_known != known.end()) return *as_known;
  }
  return {};
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) { return folded(a) == folded(b); }

std::string printable(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char c : name.substr(0, 200)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F)
      out += c;
    else
      out += std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 0xFU];
  }
  return out;
}

std::vector<std::string_view> nearest_names(std::string_view name, std::span<const std::string_view> known) {
  const std::string wanted = looks_of(folded(name).substr(0, 200));
  std::vector<std::string_view> best;
  // More than two letters wrong, or than a third of them, is another word, not a typo.
  std::size_t best_distance = 2;
  for (std::string_view candidate : known) {
    const std::string letters = looks_of(folded(candidate));
    const std::size_t distance = edit_distance(wanted, letters);
    if (distance > best_distance || 3 * distance > std::max(wanted.size(), letters.size())) continue;
    if (distance < best_distance) best.clear();
    best_distance = distance;
    best.push_back(candidate);
  }
  return best;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  const std::vector<std::string_view> nearest = nearest_names(name, known);
  return nearest.empty() ? std::string_view() : nearest.front();
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  std::string text = "unknown " + std::string(what) + " '" + printable(name) + "'";
  if (const std::string_view meant = meant_by(what, name, known); !meant.empty()) return text + " (did you mean " + std::string(meant) + "?)";
  if (const std::string_view near = nearest_name(name, known); !near.empty()) {
    return text + " (did you mean " + std::string(near) + "?)";
  }
  text += " (known:";
  for (std::string_view candidate : known) text += " " + std::string(candidate);
  return text + ")";
}

}  // namespace mx
