#include "model/families/needs.hpp"

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using facts::is_one_of;
using facts::Names;

constexpr std::array<Names, 4> kGrounds = {"read", "run", "reported", "unknown"};
constexpr std::array<Names, 3> kEffects = {"error", "silent corruption", "slow path"};

constexpr std::array<Names, 2> kMxfp4 = {"mxfp4", "mxfp4_deepseek_v4"};
constexpr std::array<Names, 1> kGptOss = {"mxfp4"};
constexpr std::array<Names, 1> kDeepseek = {"mxfp4_deepseek_v4"};
constexpr std::array<Names, 1> kNvfp4 = {"nvfp4"};
constexpr std::array<Names, 2> kFp8 = {"fp8", "mxfp8"};
constexpr std::array<Names, 1> kW4a8 = {"w4a8"};

}  // namespace

std::string_view name_of(Grounds grounds) { return kGrounds[static_cast<std::size_t>(grounds)]; }
std::string_view name_of(Effect effect) { return kEffects[static_cast<std::size_t>(effect)]; }

std::span<const NeedTable> need_tables() {
  static const std::array kTables = {
      NeedTable{{}, true, exchange_needs()},      NeedTable{kGptOss, true, gpt_oss_loader_needs()},
      NeedTable{{}, false, common_needs()},       NeedTable{kMxfp4, false, mxfp4_needs()},
      NeedTable{kGptOss, false, gpt_oss_needs()}, NeedTable{kDeepseek, false, deepseek_v4_needs()},
      NeedTable{kNvfp4, false, nvfp4_needs()},    NeedTable{kFp8, false, fp8_needs()},
      NeedTable{kW4a8, false, w4a8_needs()},
  };
  return kTables;
}

bool is_around(const KernelNeed& need) {
  const auto holds = [&](const NeedTable& table) { return &need >= table.rows.data() && &need < table.rows.data() + table.rows.size(); };
  for (const NeedTable& table : need_tables()) {
    if (table.around && holds(table)) return true;
  }
  return false;
}

std::vector<const KernelNeed*> needs_of(std::string_view oracle, std::string_view backend, std::string_view kernel_class) {
  const auto concerns = [](std::span<const Names> names, Names name) { return names.empty() || is_one_of(name, names); };
  std::vector<const KernelNeed*> needs;
  for (const NeedTable& table : need_tables()) {
    if (!concerns(table.oracles, oracle)) continue;
    for (const KernelNeed& need : table.rows) {
      if (concerns(need.classes, kernel_class) && concerns(need.backends, backend)) needs.push_back(&need);
    }
  }
  return needs;
}

const KernelNeed* first_broken_need(const Placement& placement) {
  for (const KernelNeed* need : needs_of(placement.oracle, placement.backend, placement.kernel_class)) {
    if (is_broken(*need, placement)) return need;
  }
  return nullptr;
}

}  // namespace mx::oracle
