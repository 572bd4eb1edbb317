#include <algorithm>
#include <array>

#include "model/deployment/deployment.hpp"
#include "model/deployment/devices.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::deployment {
namespace {

// Capabilities: NVIDIA "CUDA GPU Compute Capability"; rocm: the digits after "gfx", as the engine's rocm.py reads them.
constexpr std::array kPlatforms = {
    PlatformPreset{"SM75", PlatformKind::cuda, 75, "", "Turing T4"},
    PlatformPreset{"SM80", PlatformKind::cuda, 80, "", "Ampere A100"},
    PlatformPreset{"SM86", PlatformKind::cuda, 86, "", "Ampere A10, RTX 3090"},
    PlatformPreset{"SM89", PlatformKind::cuda, 89, "", "Ada L40S, RTX 4090"},
    PlatformPreset{"SM90", PlatformKind::cuda, 90, "", "Hopper H100, H200"},
    PlatformPreset{"SM100", PlatformKind::cuda, 100, "", "Blackwell B200"},
    PlatformPreset{"SM103", PlatformKind::cuda, 103, "", "Blackwell B300"},
    PlatformPreset{"SM110", PlatformKind::cuda, 110, "", "Jetson Thor"},
    PlatformPreset{"SM120", PlatformKind::cuda, 120, "", "Blackwell RTX 5090, RTX PRO 6000"},
    PlatformPreset{"SM121", PlatformKind::cuda, 121, "", "DGX Spark GB10"},
    PlatformPreset{"gfx90a", PlatformKind::rocm, 90, "gfx90a", "Instinct MI210, MI250"},
    PlatformPreset{"gfx942", PlatformKind::rocm, 94, "gfx942", "Instinct MI300X, MI325X"},
    PlatformPreset{"gfx950", PlatformKind::rocm, 95, "gfx950", "Instinct MI350X, MI355X"},
    PlatformPreset{"gfx1100", PlatformKind::rocm, 110, "gfx1100", "Radeon RX 7900"},
    PlatformPreset{"gfx1201", PlatformKind::rocm, 120, "gfx1201", "Radeon RX 9070"},
    PlatformPreset{"gfx1250", PlatformKind::rocm, 125, "gfx1250", "Instinct, CDNA of the gfx12 line"},
    PlatformPreset{"XPU", PlatformKind::xpu, 0, "", "Intel GPU"},
    PlatformPreset{"CPU", PlatformKind::cpu, 0, "", "any CPU"},
};

constexpr std::array kSoftware = {
    SoftwareRow{"has_flashinfer", &Software::has_flashinfer},
    SoftwareRow{"has_flashinfer_trtllm_fused_moe", &Software::has_flashinfer_trtllm_fused_moe},
    SoftwareRow{"has_flashinfer_cutlass_fused_moe", &Software::has_flashinfer_cutlass_fused_moe},
    SoftwareRow{"has_flashinfer_cutedsl_moe_nvfp4", &Software::has_flashinfer_cutedsl_moe_nvfp4},
    SoftwareRow{"has_flashinfer_cutedsl_grouped_gemm_nt_masked", &Software::has_flashinfer_cutedsl_grouped_gemm_nt_masked},
    SoftwareRow{"has_flashinfer_b12x_moe", &Software::has_flashinfer_b12x_moe},
    SoftwareRow{"has_triton_kernels", &Software::has_triton_kernels},
    SoftwareRow{"has_deep_gemm", &Software::has_deep_gemm},
    SoftwareRow{"aiter_found", &Software::aiter_found},
    SoftwareRow{"humming_installed", &Software::humming_installed},
    SoftwareRow{"cutlass_group_gemm_op", &Software::cutlass_group_gemm_op},
    SoftwareRow{"flashinfer_situ", &Software::flashinfer_situ, kVllm2026_08},
    SoftwareRow{"has_quark", &Software::has_quark, kVllm2026_08},
    SoftwareRow{"has_hpc", &Software::has_hpc, kVllm2026_08},
    SoftwareRow{"b12x_supported", &Software::b12x_supported, kVllm2026_08},
    SoftwareRow{"aiter_mxfp8", &Software::aiter_mxfp8, kVllm2026_08},
    SoftwareRow{"cpu_fused_moe_int8_op", &Software::cpu_fused_moe_int8_op, kVllm2026_08},
    SoftwareRow{"zentorch_fused_moe_op", &Software::zentorch_fused_moe_op, kVllm2026_08},
    SoftwareRow{"torch_dyn_quant_4bit_ops", &Software::torch_dyn_quant_4bit_ops, kVllm2026_08},
    SoftwareRow{"aiter_gate_mode", &Software::aiter_gate_mode, kVllm2026_11},
    SoftwareRow{"aiter_quant_dtype_a", &Software::aiter_quant_dtype_a, kVllm2026_11},
    SoftwareRow{"mxfp4_experts_quant_op", &Software::mxfp4_experts_quant_op, kVllm2026_11},
    SoftwareRow{"moe_gptq_gemm_rdna3_op", &Software::moe_gptq_gemm_rdna3_op, kVllm2026_11},
    SoftwareRow{"cpu_has_amx_fp8_op", &Software::cpu_has_amx_fp8_op, kVllm2026_11},
    SoftwareRow{"zentorch_woq_repack_weight_op", &Software::zentorch_woq_repack_weight_op, kVllm2026_11},
};

// flashinfer and humming are requirements of the engine on cuda; triton_kernels and deep_gemm come bundled with its cuda build, triton_kernels
// also with its rocm build; aiter is part of its rocm image. xpu and cpu builds bring none of them.
// Source: vllm requirements/cuda.txt, docker/Dockerfile.rocm_base, cmake/external_projects/triton_kernels.cmake and deepgemm.cmake.
constexpr Software kOnCuda = {
    .has_flashinfer = true,
    .has_flashinfer_trtllm_fused_moe = true,
    .has_flashinfer_cutlass_fused_moe = true,
    .has_flashinfer_cutedsl_moe_nvfp4 = true,
    .has_flashinfer_cutedsl_grouped_gemm_nt_masked = true,
    .has_flashinfer_b12x_moe = true,
    .has_triton_kernels = true,
    .has_deep_gemm = true,
    .aiter_found = false,
    .humming_installed = true,
    .cutlass_group_gemm_op = true,
    .flashinfer_situ = true,
    .mxfp4_experts_quant_op = true,
};
constexpr Software kOnRocm = [] {
  Software software;
  software.has_triton_kernels = true;
  software.aiter_found = true;
  software.aiter_mxfp8 = true;
  software.aiter_gate_mode = true;
  software.aiter_quant_dtype_a = true;
  software.moe_gptq_gemm_rdna3_op = true;
  return software;
}();

// Compiled operations of the CPU build and of torch. Zen's need packages of their own.
constexpr Software kOnCpu = [] {
  Software software;
  software.cpu_fused_moe_int8_op = true;
  software.torch_dyn_quant_4bit_ops = true;
  software.cpu_has_amx_fp8_op = true;
  return software;
}();

/// In the order of PlatformKind.
constexpr std::array<Software, 4> kInstalled = {kOnCuda, kOnRocm, Software{}, kOnCpu};

}  // namespace

std::span<const PlatformPreset> all_platforms() { return kPlatforms; }
std::span<const SoftwareRow> software_rows() { return kSoftware; }
std::span<const SoftwareRow> software_rows(Engine engine) {
  return std::span(kSoftware).first(
      static_cast<std::size_t>(std::ranges::count_if(kSoftware, [&](const SoftwareRow& row) { return row.since <= engine; })));
}

const PlatformPreset& platform_named(std::string_view name) {
  const auto preset_of = [](std::string_view wanted) {
    return std::ranges::find_if(kPlatforms, [&](const PlatformPreset& preset) { return same_name(preset.name, wanted); });
  };
  if (const auto preset = preset_of(name); preset != kPlatforms.end()) return *preset;
  const Device* const device = find_device(name);
  if (device == nullptr) throw Error(ErrorCode::usage, unknown_platform(name));
  if (device->platform.empty()) throw Error(ErrorCode::unsupported, "platform " + std::string(device->name) + ": " + std::string(device->why));
  return *preset_of(device->platform);
}

Software software_on(PlatformKind platform) { return kInstalled[static_cast<std::size_t>(platform)]; }

Deployment deployment_on(const PlatformPreset& preset, const ParallelRequest& parallel, const LayerConfig& layer) {
  Deployment deployment;
  deployment.hardware = {preset.platform, preset.capability == 0 ? std::nullopt : std::optional(preset.capability), std::string(preset.gcn_arch)};
  deployment.software = software_on(preset.platform);
  deployment.parallel = parallel;
  deployment.layer = layer;
  return deployment;
}

}  // namespace mx::deployment
