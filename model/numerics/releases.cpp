#include "model/numerics/releases.hpp"

#include <algorithm>
#include <cstdint>

namespace mx {
namespace {

constexpr std::size_t kShortestCommit = 7;
constexpr std::size_t kMostDigits = 9;

/// Takes the first number off a release; 0 where nothing is left.
std::uint32_t next_number(std::string_view& text) {
  std::uint32_t number = 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  for (const char digit : text.substr(0, end)) number = 10 * number + static_cast<std::uint32_t>(digit - '0');
  text.remove_prefix(std::min(end + 1, text.size()));
  return number;
}

}  // namespace

std::strong_ordering compare_releases(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::uint32_t left = next_number(a);
    const std::uint32_t right = next_number(b);
    if (left != right) return left <=> right;
  }
  return std::strong_ordering::equal;
}

bool is_release(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if ((!digit && c != '.') || (c == '.' && digits == 0)) return false;
    digits = digit ? digits + 1 : 0;
    if (digits > kMostDigits) return false;
  }
  return digits > 0;
}

bool holds_for(const Releases& releases, std::string_view version) {
  const std::string_view commit = releases.commit;
  const std::size_t digits = std::min(commit.size(), version.size());
  if (digits >= kShortestCommit && commit.substr(0, digits) == version.substr(0, digits)) return true;
  if (!releases.of_release() || !is_release(version)) return false;
  return compare_releases(releases.since, version) <= 0 && compare_releases(version, releases.until) <= 0;
}

std::string text_of(const Releases& releases) {
  std::string text(releases.since);
  if (releases.until != releases.since) text += " to " + std::string(releases.until);
  if (!releases.commit.empty()) text += (text.empty() ? "commit " : ", commit ") + std::string(releases.commit);
  if (!releases.after.empty()) text += " after " + std::string(releases.after);
  return text.empty() ? "not recorded" : text;
}

}  // namespace mx
