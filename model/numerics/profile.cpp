#include "model/numerics/profile.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/numerics/profile_tables.hpp"
#include "model/numerics/rows.hpp"
#include "model/numerics/rules.hpp"
#include "model/stand_in.hpp"

namespace mx {
namespace {

[[noreturn]] void undefined(const Profile& profile, const std::string& what, const std::vector<std::string_view>& those_that_do,
                            const std::string& rules) {
  std::string message = "profile '" + std::string(profile.name) + "' does not define " + what;
  if (those_that_do.empty()) throw Error(ErrorCode::usage, message + "; no profile does: rules do, as " + rules);
  message += "; these do:";
  for (std::string_view name : those_that_do) message += " " + std::string(name);
  throw Error(ErrorCode::usage, message);
}

/// The row that `find` gives for the profile, or the error that names the profiles for which it gives one.
template <typename Find>
const auto& required(const Profile& profile, const std::string& what, const Find& find, const std::string& rules = "round=rne,overflow=ieee") {
  if (const auto* row = find(profile)) return *row;
  std::vector<std::string_view> names;
  for (const Profile& other : all_profiles()) {
    if (find(other) != nullptr) names.push_back(other.name);
  }
  undefined(profile, what, names, rules);
}

/// Names without versions, each once.
std::vector<std::string_view> base_names() {
  std::vector<std::string_view> names;
  for (const Profile& profile : all_profiles()) {
    const std::string_view base = base_name(profile.name);
    if (std::ranges::find(names, base) == names.end()) names.push_back(base);
  }
  for (const NamedRules& rules : named_rules()) {
    if (names.back() != rules.name) names.push_back(rules.name);
  }
  return names;
}

}  // namespace

std::span<const Profile> all_profiles() {
  static const std::vector<Profile> kProfiles = [] {
    std::vector<Profile> profiles;
    for (const auto& table : {ocp_profiles(), conversion_profiles(), mx_profiles(), group_profiles(), mx_library_profiles(), nvfp4_profiles(),
                              fp8_profiles(), dequantize_profiles()}) {
      profiles.insert(profiles.end(), table.begin(), table.end());
    }
    return profiles;
  }();
  return fault::rows_of<Profile>(fault::Table::profiles, kProfiles);
}

const Profile& profile_named(std::string_view name) {
  if (is_rules(name)) return profile_of_text(name);
  const std::string_view base = base_name(name);
  const std::string_view version = version_in(name);
  const Profile* newest = nullptr;
  std::string known;
  for (const Profile& profile : all_profiles()) {
    if (same_name(profile.name, name)) return profile;
    if (!same_name(base_name(profile.name), base)) continue;
    if (!version.empty() && holds_for(profile.releases, version)) return profile;
    known += (known.empty() ? "" : "; ") + text_of(profile.releases);
    if (!profile.releases.of_release()) continue;
    if (newest == nullptr || compare_releases(newest->releases.since, profile.releases.since) < 0) newest = &profile;
  }
  if (base == name && newest != nullptr) return *newest;
  if (const Profile* rules = known.empty() ? find_named_rules(name) : nullptr) return *rules;
  if (known.empty()) throw Error(ErrorCode::usage, unknown_name("profile", name, base_names()));
  throw Error(ErrorCode::usage, "profile '" + std::string(base) + "' has no version '" + std::string(version) + "'; known: " + known);
}

const Conversion* find_conversion(const Profile& profile, const Format& from, const Format& to) {
  const Profile* within = rules_within(to);
  const bool by_rules = is_of_rules(profile) || (within != nullptr && profile.name == kOcp);
  if (by_rules) {
    try {
      return &conversion_by_rules(profile_for(profile, to), to);
    } catch (const Error&) {
      return nullptr;
    }
  }
  const Conversion* general = nullptr;
  for (const ConversionRow& row : profile.conversions) {
    if (*row.to != to) continue;
    if (row.from == nullptr) general = &row.how;
    if (row.from != nullptr && *row.from == from) return &row.how;
  }
  return general;
}

const Recipe* find_recipe(const Profile& profile, const BlockFormat& format) {
  const auto row = std::ranges::find_if(profile.recipes, [&](const Recipe& r) { return r.format->name == format.name; });
  return row == profile.recipes.end() ? nullptr : &*row;
}

const Dequantizer* find_dequantizer(const Profile& profile, const BlockFormat& format, const Format& target) {
  const auto row =
      std::ranges::find_if(profile.dequantizers, [&](const Dequantizer& r) { return r.format->name == format.name && *r.target == target; });
  return row == profile.dequantizers.end() ? nullptr : &*row;
}

const Conversion& conversion(const Profile& profile, const Format& from, const Format& to) {
  if (const Profile& by = profile_for(profile, to); is_of_rules(by)) return conversion_by_rules(by, to);
  const std::string what = "a conversion " + std::string(from.name) + " -> " + std::string(to.name);
  return required(profile, what, [&](const Profile& p) { return find_conversion(p, from, to); });
}

const Recipe& recipe(const Profile& profile, const BlockFormat& format) {
  const auto find = [&](const Profile& p) { return find_recipe(p, format); };
  return required(profile, "a recipe for " + std::string(format.name), find,
                  "block=...,element=(...,round=rne,overflow=saturate),scale=...,rule=...: mxact formats --rules");
}

const Recipe& recipe(const Profile& profile, const BlockFormat& format, const Format& source) {
  recipe(profile, format);
  const std::string what = "a recipe for " + std::string(format.name) + " that takes " + std::string(source.name) + " elements";
  return required(profile, what, [&](const Profile& p) {
    const Recipe* found = find_recipe(p, format);
    return found != nullptr && takes_source(*found, source) ? found : nullptr;
  });
}

const Dequantizer& dequantizer(const Profile& profile, const BlockFormat& format, const Format& target) {
  const std::string what = "how " + std::string(format.name) + " becomes " + std::string(target.name);
  return required(profile, what, [&](const Profile& p) { return find_dequantizer(p, format, target); });
}

}  // namespace mx
