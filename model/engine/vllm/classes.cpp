// The expert classes of each version: rows of classes/, one file for each of the engine's.

#include <map>
#include <vector>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

constexpr std::array kFiles = {b12x_classes,
                               cpu_moe_classes,
                               cutlass_moe_classes,
                               deep_gemm_moe_classes,
                               emulation_moe_classes,
                               flashinfer_b12x_moe_classes,
                               flashinfer_cutedsl_moe_classes,
                               flashinfer_cutlass_moe_classes,
                               flashinfer_moe_ep_classes,
                               fused_humming_moe_classes,
                               gpt_oss_triton_kernels_moe_classes,
                               hpc_moe_classes,
                               marlin_moe_classes,
                               moonep_classes,
                               rdna3_wna16_moe_classes,
                               rocm_aiter_moe_classes,
                               triton_moe_classes,
                               trtllm_bf16_moe_classes,
                               trtllm_fp8_moe_classes,
                               trtllm_lora_moe_classes,
                               trtllm_mxfp4_moe_classes,
                               trtllm_mxint4_moe_classes,
                               trtllm_nvfp4_moe_classes,
                               xpu_moe_classes};

/// The newest row of each name that the version has come to, unless it has dropped the class.
std::vector<KernelClass> classes_of(deployment::Engine engine) {
  std::vector<KernelClass> classes;
  for (const auto rows : kFiles) {
    for (const KernelClass& row : rows()) {
      if (engine < row.first) continue;
      std::erase_if(classes, [&](const KernelClass& older) { return older.name == row.name; });
      if (!row.end || engine < *row.end) classes.push_back(row);
    }
  }
  return classes;
}

}  // namespace

std::span<const KernelClass> kernel_classes(deployment::Engine engine) {
  static const std::map<deployment::Engine, std::vector<KernelClass>> all = [] {
    std::map<deployment::Engine, std::vector<KernelClass>> by_engine;
    for (deployment::Engine known : deployment::known_engines()) by_engine[known] = classes_of(known);
    return by_engine;
  }();
  return all.at(engine);
}

}  // namespace mx::engine
