#include "model/families/kernel_class.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"plain", "monolithic", "batched"};

}  // namespace

std::string_view name_of(ClassKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::span<const KernelClassFacts> kernel_class_facts() {
  static const std::vector<KernelClassFacts> joined = [] {
    std::vector<KernelClassFacts> rows;
    for (const auto of : {trtllm_classes, flashinfer_cutlass_classes, cutedsl_classes, b12x_classes, deepgemm_classes, marlin_classes,
                          triton_kernels_classes, triton_moe_classes, aiter_classes, xpu_classes, cpu_classes, emulation_classes, humming_classes,
                          vllm_cutlass_classes, cutlass_w4a8_classes, hpc_classes, moonep_classes}) {
      const std::span<const KernelClassFacts> family = of();
      rows.insert(rows.end(), family.begin(), family.end());
    }
    return rows;
  }();
  return joined;
}

const KernelClassFacts* find_class_facts(std::string_view name) {
  const std::span<const KernelClassFacts> all = kernel_class_facts();
  const auto found = std::ranges::find(all, name, &KernelClassFacts::name);
  return found != all.end() ? &*found : nullptr;
}

}  // namespace mx::families
