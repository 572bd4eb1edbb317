#include "tests/engine/vllm/mutants/mutate.hpp"

#include <limits>

#include "model/engine/vllm/env.hpp"

namespace mx::tests {

using namespace deployment;
using namespace engine;

Changes<std::span<const std::string_view>> name_changes(Store& store, std::span<const std::string_view> names, const ListChanges& what) {
  return list_changes(
      store, names, what, [](std::string_view name) { return name; }, [](std::string_view) { return Changes<std::string_view>{}; });
}

Changes<Mask> bit_changes(Mask mask, std::span<const std::string_view> domain, Mask within) {
  Changes<Mask> all;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    const Mask one = Mask{1} << i;
    if ((within & one) == 0) continue;
    all.push_back({((mask & one) != 0 ? "without " : "with ") + std::string(domain[i]), mask ^ one});
  }
  return all;
}

Changes<CapRange> range_changes(const CapRange& range) {
  if (is_any(range)) return {};
  Changes<CapRange> all = {{"opened", kAnyCapability}};
  for (int step : {-1, 1}) {
    const std::string moved = step < 0 ? " - 1" : " + 1";
    all.push_back({"low" + moved, {range.low + step, range.below}});
    if (range.below != std::numeric_limits<int>::max()) all.push_back({"below" + moved, {range.low, range.below + step}});
  }
  return all;
}

/// Platforms that what else is asked leaves: xpu and cpu have no capability, only rocm has an architecture.
Mask platforms_left(const Where& where) {
  if (!where.gcn_contains_any.empty()) return bit(PlatformKind::rocm);
  return is_any(where.capability) ? kEverything : set_of(PlatformKind::cuda, PlatformKind::rocm);
}

Changes<Where> where_changes(Store& store, const Where& where) {
  Changes<Where> all;
  const bool says_platforms = where.platforms != kEverything;
  if (says_platforms)
    add_changes(all, where, &Where::platforms, "platforms", bit_changes(where.platforms, platform_kind_names(), platforms_left(where)));
  add_changes(all, where, &Where::capability, "capability", range_changes(where.capability));
  add_changes(all, where, &Where::gcn_contains_any, "gcn", name_changes(store, where.gcn_contains_any, {.swap = false}));
  return all;
}

Changes<std::span<const EnvVariable>> variable_changes(Store& store, std::span<const EnvVariable> variables) {
  return list_changes(
      store, variables, {}, [](EnvVariable variable) { return name_of(variable); }, [](EnvVariable) { return Changes<EnvVariable>{}; });
}

}  // namespace mx::tests
