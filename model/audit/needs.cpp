#include "model/audit/needs.hpp"

#include "model/audit/around.hpp"
#include "model/families/facts.hpp"
#include "model/families/family.hpp"
#include "model/fault.hpp"

namespace mx::audit {
namespace {

using families::facts::is_one_of;
using families::facts::Names;

constexpr std::array<Names, 1> kGptOss = {"mxfp4"};
constexpr std::array<Names, 1> kDeepseek = {"mxfp4_deepseek_v4"};

}  // namespace

std::span<const families::NeedTable> need_tables() {
  static const std::vector<families::NeedTable> tables = [] {
    std::vector<families::NeedTable> joined{
        {{}, true, exchange_needs()}, {{}, true, method_needs()}, {kGptOss, true, gpt_oss_loader_needs()}, {{}, false, common_needs()}};
    const std::span<const families::NeedTable> of_formats = families::format_needs();
    joined.insert(joined.end(), of_formats.begin(), of_formats.end());
    const std::vector<families::NeedTable> of_families = families::joined(&families::Family::needs);
    joined.insert(joined.end(), of_families.begin(), of_families.end());
    joined.push_back({{}, false, constant_needs()});
    joined.push_back({kGptOss, false, gpt_oss_needs()});
    joined.push_back({kDeepseek, false, deepseek_v4_needs()});
    return joined;
  }();
  return tables;
}

bool is_around(const families::KernelNeed& need) {
  const auto holds = [&](const families::NeedTable& table) { return &need >= table.rows.data() && &need < table.rows.data() + table.rows.size(); };
  for (const families::NeedTable& table : need_tables()) {
    if (table.around && holds(table)) return true;
  }
  return false;
}

std::vector<std::string_view> classes_of(const families::KernelNeed& need) {
  if (need.of_classes == nullptr) return {need.classes.begin(), need.classes.end()};
  std::vector<std::string_view> names;
  for (const families::KernelClassFacts& facts : families::kernel_class_facts()) {
    if (need.of_classes(facts)) names.push_back(facts.name);
  }
  return names;
}

std::vector<const families::KernelNeed*> needs_of(deployment::Engine engine, std::string_view oracle, std::string_view backend,
                                                  std::string_view kernel_class) {
  const auto listed = [](std::span<const Names> names, Names name) { return names.empty() || is_one_of(name, names); };
  const families::KernelClassFacts* facts = families::find_class_facts(kernel_class);
  const auto about_class = [&](const families::KernelNeed& need) {
    return need.of_classes == nullptr ? listed(need.classes, kernel_class) : facts != nullptr && need.of_classes(*facts);
  };
  const auto of_choice = [&](const families::KernelNeed& need) {
    return need.of_choice == nullptr || need.of_choice(engine, oracle, backend, kernel_class);
  };
  const auto holds_at = [&](const deployment::Versions& versions) {
    if (fault::planted(fault::Fault::needs_of_may)) return versions.has(deployment::kVllm2026_05);
    return fault::planted(fault::Fault::needs_never_end) ? engine >= versions.since : versions.has(engine);
  };
  std::vector<const families::KernelNeed*> needs;
  for (const families::NeedTable& table : need_tables()) {
    if (!listed(table.oracles, oracle)) continue;
    for (const families::KernelNeed& need : table.rows) {
      if (holds_at(need.versions) && about_class(need) && listed(need.backends, backend) && of_choice(need)) needs.push_back(&need);
    }
  }
  return needs;
}

std::vector<const families::KernelNeed*> broken_needs(const families::Placement& placement) {
  std::vector<const families::KernelNeed*> broken = needs_of(placement.engine, placement.oracle, placement.backend, placement.kernel_class);
  std::erase_if(broken, [&](const families::KernelNeed* need) { return !families::is_broken(*need, placement); });
  return broken;
}

const families::KernelNeed* first_broken_need(const families::Placement& placement) {
  for (const families::KernelNeed* need : needs_of(placement.engine, placement.oracle, placement.backend, placement.kernel_class)) {
    if (families::is_broken(*need, placement)) return need;
  }
  return nullptr;
}

}  // namespace mx::audit
