#include "model/families/needs.hpp"

#include <array>

#include "model/families/facts.hpp"

namespace mx::families {
namespace {

using facts::Names;

constexpr std::array<Names, 3> kEffects = {"error", "silent corruption", "slow path"};
constexpr std::array<Names, 4> kOwners = {"kernel", "converter", "class", "engine"};

}  // namespace

std::string_view name_of(Effect effect) { return kEffects[static_cast<std::size_t>(effect)]; }
std::string_view name_of(NeedOf of) { return kOwners[static_cast<std::size_t>(of)]; }

std::string source_text(const KernelNeed& need) {
  std::string text(need.source);
  if (!need.reference.empty()) text.append("; ").append(need.reference);
  if (need.versions.until) text.append("; until ").append(mx::deployment::name_of(*need.versions.until));
  return text;
}

}  // namespace mx::families
