#include "model/deployment/where.hpp"

#include <algorithm>
#include <string>

namespace mx::deployment {
namespace {

std::string range_text(const CapRange& range) {
  const auto [low, below] = range;
  if (is_any(range)) return {};
  if (below == low + 1) return " capability " + std::to_string(low);
  const std::string text = " capability >= " + std::to_string(low);
  return below == kAnyCapability.below ? text : text + " and < " + std::to_string(below);
}

std::string platforms_text(Mask platforms) {
  std::string text;
  const auto names = platform_kind_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (contains(platforms, static_cast<PlatformKind>(i))) text += (text.empty() ? "" : "|") + std::string(names[i]);
  }
  return text;
}

}  // namespace

bool holds(const Where& where, const Hardware& hardware) {
  if (!contains(where.platforms, hardware.platform) || !in_range(where.capability, hardware.capability)) return false;
  if (!where.gcn_lacks.empty() && hardware.gcn_arch.find(where.gcn_lacks) != std::string::npos) return false;
  if (!where.cpu_arch.empty() && hardware.cpu_arch != where.cpu_arch) return false;
  const auto words = where.gcn_contains_any;
  return words.empty() ||
         std::any_of(words.begin(), words.end(), [&](std::string_view word) { return hardware.gcn_arch.find(word) != std::string::npos; });
}

std::string text_of(const Where& where) {
  std::string text = where.platforms == kEverything ? "any platform" : platforms_text(where.platforms);
  text += range_text(where.capability);
  for (std::string_view word : where.gcn_contains_any) text += (word == where.gcn_contains_any.front() ? " " : "|") + std::string(word);
  if (!where.gcn_lacks.empty()) text += " but " + std::string(where.gcn_lacks);
  if (!where.cpu_arch.empty()) text += " " + std::string(where.cpu_arch);
  return text;
}

}  // namespace mx::deployment
