#include <algorithm>
#include <array>
#include <iterator>

#include "model/deployment/deployment.hpp"
#include "model/deployment/devices.hpp"
#include "model/deployment/packages.hpp"
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

// Which probes a package answers.
using Probe = bool Software::*;
constexpr std::array<Probe, 7> kOfFlashinfer{&Software::has_flashinfer,
                                             &Software::has_flashinfer_trtllm_fused_moe,
                                             &Software::has_flashinfer_cutlass_fused_moe,
                                             &Software::has_flashinfer_cutedsl_moe_nvfp4,
                                             &Software::has_flashinfer_cutedsl_grouped_gemm_nt_masked,
                                             &Software::has_flashinfer_b12x_moe,
                                             &Software::flashinfer_situ};
constexpr std::array<Probe, 1> kOfHumming{&Software::humming_installed}, kOfQuark{&Software::has_quark}, kOfTriton{&Software::has_triton_kernels},
    kOfDeepGemm{&Software::has_deep_gemm}, kOfRocmBuild{&Software::moe_gptq_gemm_rdna3_op}, kOfTorch{&Software::torch_dyn_quant_4bit_ops};
constexpr std::array<Probe, 2> kOfCudaBuild{&Software::cutlass_group_gemm_op, &Software::mxfp4_experts_quant_op};
constexpr std::array<Probe, 2> kOfCpuBuild{&Software::cpu_fused_moe_int8_op, &Software::cpu_has_amx_fp8_op};
constexpr std::array<Probe, 4> kOfAiter{&Software::aiter_found, &Software::aiter_mxfp8, &Software::aiter_gate_mode, &Software::aiter_quant_dtype_a};

constexpr std::string_view kCudaTxt = "requirements/cuda.txt", kRocmTxt = "requirements/rocm.txt";
constexpr PlatformKind kCuda = PlatformKind::cuda, kRocm = PlatformKind::rocm, kCpu = PlatformKind::cpu;
constexpr Versions kFirst = before(kVllm2026_08), kSecond = between(kVllm2026_08, kVllm2026_11), kLast = since(kVllm2026_11),
                   kAll = since(kVllm2026_05), kFromSecond = since(kVllm2026_08);

// xpu brings none of them; Zen's operations of the CPU need packages of their own, and so do has_hpc and b12x_supported.
// Releases: vllm at 7e1b45a09 and 7ca49fbe4, metadata of the wheels 0.29.0 and 0.33.0; amd-quark of the last as the file at 027281ae8 has it.
constexpr std::array kPackages{
    PackageRow{"flashinfer-python", "==0.6.11.post2", kCuda, kOfFlashinfer, kCudaTxt, kFirst},
    PackageRow{"flashinfer-python", "==0.6.18", kCuda, kOfFlashinfer, kCudaTxt, kSecond},
    PackageRow{"flashinfer-python", "==0.7.2.post1", kCuda, kOfFlashinfer, kCudaTxt, kLast},
    PackageRow{"humming-kernels", "==0.1.2", kCuda, kOfHumming, kCudaTxt, kFirst},
    PackageRow{"humming-kernels", "==0.1.12", kCuda, kOfHumming, kCudaTxt, kSecond},
    PackageRow{"humming-kernels", "==0.1.19", kCuda, kOfHumming, kCudaTxt, kLast},
    PackageRow{"triton_kernels", "", kCuda, kOfTriton, "cmake/external_projects/triton_kernels.cmake", kAll},
    PackageRow{"deep_gemm", "", kCuda, kOfDeepGemm, "cmake/external_projects/deepgemm.cmake", kAll},
    PackageRow{"the engine's own operations", "", kCuda, kOfCudaBuild, "CMakeLists.txt", kAll},
    PackageRow{"amd-quark", ">=0.8.99", kRocm, kOfQuark, kRocmTxt, kFirst},
    PackageRow{"amd-quark", "==0.12.post1", kRocm, kOfQuark, kRocmTxt, kFromSecond},
    PackageRow{"triton_kernels", "", kRocm, kOfTriton, "cmake/external_projects/triton_kernels.cmake", kAll},
    PackageRow{"aiter", "", kRocm, kOfAiter, "docker/Dockerfile.rocm_base", kAll},
    PackageRow{"the engine's own operations", "", kRocm, kOfRocmBuild, "CMakeLists.txt", kAll},
    PackageRow{"the engine's own operations", "", kCpu, kOfCpuBuild, "cmake/cpu_extension.cmake", kAll},
    PackageRow{"torch", "", kCpu, kOfTorch, "requirements/cpu.txt", kAll},
};

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

std::vector<PackageRow> packages_on(PlatformKind platform, Engine engine) {
  std::vector<PackageRow> rows;
  std::ranges::copy_if(kPackages, std::back_inserter(rows),
                       [&](const PackageRow& row) { return row.platform == platform && row.versions.has(engine); });
  return rows;
}

Software software_on(PlatformKind platform) {
  Software software;
  for (const PackageRow& row : kPackages) {
    if (row.platform != platform) continue;
    for (const Probe probe : row.answers) software.*probe = true;
  }
  return software;
}

Deployment deployment_on(const PlatformPreset& preset, const ParallelRequest& parallel, const LayerConfig& layer) {
  Deployment deployment;
  deployment.hardware = {preset.platform, preset.capability == 0 ? std::nullopt : std::optional(preset.capability), std::string(preset.gcn_arch)};
  deployment.software = software_on(preset.platform);
  deployment.parallel = parallel;
  deployment.layer = layer;
  return deployment;
}

}  // namespace mx::deployment
