#include "model/audit/needs.hpp"

#include "model/audit/around.hpp"
#include "model/families/facts.hpp"
#include "model/fault.hpp"

namespace mx::oracle {
namespace {

using facts::is_one_of;
using facts::Names;

constexpr std::array<Names, 1> kGptOss = {"mxfp4"};
constexpr std::array<Names, 1> kDeepseek = {"mxfp4_deepseek_v4"};

}  // namespace

std::span<const NeedTable> need_tables() {
  static const std::vector<NeedTable> tables = [] {
    std::vector<NeedTable> joined{
        {{}, true, exchange_needs()}, {{}, true, method_needs()}, {kGptOss, true, gpt_oss_loader_needs()}, {{}, false, common_needs()}};
    for (const auto of : {format_needs, trtllm_needs, flashinfer_cutlass_needs, cutedsl_needs, b12x_needs, deepgemm_needs, marlin_needs,
                          triton_kernels_needs, triton_moe_needs, aiter_needs, xpu_needs, cpu_needs, emulation_needs, humming_needs,
                          vllm_cutlass_needs, cutlass_w4a8_needs, hpc_needs, moonep_needs}) {
      const std::span<const NeedTable> family = of();
      joined.insert(joined.end(), family.begin(), family.end());
    }
    joined.push_back({{}, false, constant_needs()});
    joined.push_back({kGptOss, false, gpt_oss_needs()});
    joined.push_back({kDeepseek, false, deepseek_v4_needs()});
    return joined;
  }();
  return tables;
}

bool is_around(const KernelNeed& need) {
  const auto holds = [&](const NeedTable& table) { return &need >= table.rows.data() && &need < table.rows.data() + table.rows.size(); };
  for (const NeedTable& table : need_tables()) {
    if (table.around && holds(table)) return true;
  }
  return false;
}

std::vector<std::string_view> classes_of(const KernelNeed& need) {
  if (need.of_classes == nullptr) return {need.classes.begin(), need.classes.end()};
  std::vector<std::string_view> names;
  for (const KernelClassFacts& facts : kernel_class_facts()) {
    if (need.of_classes(facts)) names.push_back(facts.name);
  }
  return names;
}

std::vector<const KernelNeed*> needs_of(Engine engine, std::string_view oracle, std::string_view backend, std::string_view kernel_class) {
  const auto listed = [](std::span<const Names> names, Names name) { return names.empty() || is_one_of(name, names); };
  const KernelClassFacts* facts = find_class_facts(kernel_class);
  const auto about_class = [&](const KernelNeed& need) {
    return need.of_classes == nullptr ? listed(need.classes, kernel_class) : facts != nullptr && need.of_classes(*facts);
  };
  const auto of_choice = [&](const KernelNeed& need) { return need.of_choice == nullptr || need.of_choice(engine, oracle, backend, kernel_class); };
  const auto holds_at = [&](const Versions& versions) {
    if (fault::planted(fault::Fault::needs_of_may)) return versions.has(kVllm2026_05);
    return fault::planted(fault::Fault::needs_never_end) ? engine >= versions.since : versions.has(engine);
  };
  std::vector<const KernelNeed*> needs;
  for (const NeedTable& table : need_tables()) {
    if (!listed(table.oracles, oracle)) continue;
    for (const KernelNeed& need : table.rows) {
      if (holds_at(need.versions) && about_class(need) && listed(need.backends, backend) && of_choice(need)) needs.push_back(&need);
    }
  }
  return needs;
}

std::vector<const KernelNeed*> broken_needs(const Placement& placement) {
  std::vector<const KernelNeed*> broken = needs_of(placement.engine, placement.oracle, placement.backend, placement.kernel_class);
  std::erase_if(broken, [&](const KernelNeed* need) { return !is_broken(*need, placement); });
  return broken;
}

const KernelNeed* first_broken_need(const Placement& placement) {
  for (const KernelNeed* need : needs_of(placement.engine, placement.oracle, placement.backend, placement.kernel_class)) {
    if (is_broken(*need, placement)) return need;
  }
  return nullptr;
}

}  // namespace mx::oracle
