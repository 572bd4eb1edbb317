// The Triton family. Source: spec layouts 5 and, for what differs between the engine's versions, rows 12 to 14 of section 14.

#include <array>

#include "props/families/matrix_formula.hpp"
#include "props/families/triton_kernels/family.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Arch;
using families::Setting;
using families::TritonKernels;
using layout::Role;
using layout::WeightFormat;

bool is_rocm_device(Arch arch) { return arch == Arch::gfx942 || arch == Arch::gfx950 || arch == Arch::gfx1250; }

/// 3.5.1 on cuda; on ROCm 3.5.1, later a branch of 3.6.
std::string_view release_of(const Setting& setting) {
  if (setting.of<families::TritonParameters>().release == TritonKernels::v3_7) return "triton_kernels-3.7";
  if (setting.of<families::TritonParameters>().release == TritonKernels::v2026_08) return "triton_kernels-2026-08";
  if (setting.of<families::TritonParameters>().release == TritonKernels::v3_5) return "triton_kernels-3.5";
  return is_rocm_device(setting.arch) && setting.engine == deployment::kVllm2026_08 ? "triton_kernels-3.7" : "triton_kernels-3.5";
}

void draw(Setting& setting) {
  constexpr std::array<Arch, 7> kArchs{Arch::sm90, Arch::sm100, Arch::gfx950, Arch::gfx1250, Arch::sm80, Arch::gfx942, Arch::xpu};
  // The devices with layouts of their own more often than the others.
  setting.arch = kArchs[static_cast<std::size_t>(pick(0, 3) == 0 ? pick(0, 6) : pick(0, 2))];
  setting.of<families::TritonParameters>().torch_before_2_8_1 = pick(0, 3) == 0;
  setting.tp_size = static_cast<int>(pick_of({1, 2, 4}));
  setting.of<families::TritonParameters>().num_warps = static_cast<int>(pick_of({8, 4, 1}));
  if (pick(0, 1) == 0) {
    constexpr std::array<TritonKernels, 3> kReleases{TritonKernels::v3_5, TritonKernels::v3_7, TritonKernels::v2026_08};
    setting.of<families::TritonParameters>().release = kReleases[static_cast<std::size_t>(pick(0, 2))];
  }
  setting.of<families::TritonParameters>().before_swizzle = pick(0, 7) == 0;
}

bool swizzles_sm90(const Setting& setting) { return setting.arch == Arch::sm90 && !setting.of<families::TritonParameters>().torch_before_2_8_1; }
bool swizzles_gfx950(const Setting& setting) {
  return setting.arch == Arch::gfx950 && (setting.engine == deployment::kVllm2026_05 || setting.tp_size <= 2);
}

/// The later engine pads the groups of scales to 4 on sm90, whatever follows.
Matrix before_swizzle(Role role, const Setting& setting) {
  const Matrix loaded = loaded_with_f32_bias(role, setting);
  const bool pads = layout::is_scale(role) && setting.arch == Arch::sm90 && setting.engine == deployment::kVllm2026_08 &&
                    !setting.of<families::TritonParameters>().before_swizzle;
  return pads ? with_size(loaded, loaded.rows, round_up(loaded.cols, 4)) : loaded;
}

/// dst[.., c] <- src[.., (c%2)*(n/2) + c/2] on the last axis: packed bytes of weights, groups of scales, rows of biases.
Matrix last_axis_interleaved(Role role, const Setting& setting) {
  const Matrix loaded = loaded_with_f32_bias(role, setting);
  if (layout::is_bias(role)) return halves_alternating(loaded);
  const std::int64_t per_unit = layout::is_weight(role) ? 2 : 1;
  const std::int64_t n = loaded.cols / per_unit;
  const Matrix moved = with_columns(loaded, loaded.cols, [&](std::int64_t c) {
    const std::int64_t unit = c / per_unit;
    return (unit % 2 * (n / 2) + unit / 2) * per_unit + c % per_unit;
  });
  const bool pads = layout::is_scale(role) && setting.arch == Arch::sm90 && setting.engine == deployment::kVllm2026_08 &&
                    !setting.of<families::TritonParameters>().before_swizzle;
  return pads ? with_size(moved, moved.rows, round_up(moved.cols, 4)) : moved;
}

bool interleaves(const Setting& setting) { return is_standard(setting); }

Matrix triton_matrix(Role role, const Setting& setting) {
  return layout::is_w13(role) && interleaves(setting) ? last_axis_interleaved(role, setting) : before_swizzle(role, setting);
}

Memory place(Role role, const Setting& setting, const Matrix& sizes) {
  if (setting.of<families::TritonParameters>().before_swizzle || layout::is_bias(role)) return kept(sizes);
  const bool weight = layout::is_weight(role);
  const std::string_view release = release_of(setting);
  if (setting.arch == Arch::sm100) {
    return block_memory(weight ? "triton.BlackwellMXValueLayout" : "triton.BlackwellMXScaleLayout", sizes, 8, {}, release);
  }
  if (swizzles_sm90(setting)) {
    if (weight) return block_memory("triton.HopperMXValueLayout", sizes, 8, {{"mma_version", 3}}, release);
    return block_memory("triton.HopperMXScaleLayout", sizes, 8, {{"num_warps", setting.of<families::TritonParameters>().num_warps}}, release);
  }
  if (!weight && swizzles_gfx950(setting)) return block_memory("triton.CDNA4MXScaleLayout", sizes, 8, {}, release);
  return kept(sizes);
}

/// The kernels with a fused activation take pairs of rows.
RowPair gate_first_pairs(std::int64_t i, std::int64_t, const Setting&) { return {2 * i, 2 * i + 1}; }

bool unless_interleaved(const Setting& setting) { return !interleaves(setting); }

constexpr BackendFormula triton(deployment::Versions engines) {
  return {WeightFormat::mxfp4, "TRITON",           engines, 64, 128, draw, triton_matrix, place, gate_first_pairs,
          unless_interleaved,  unless_interleaved, f32_bias};
}
constexpr BackendFormula as_they_are(std::string_view backend, deployment::Versions engines) {
  return {WeightFormat::mxfp4, backend, engines, 64, 128, draw, before_swizzle, place, as_loaded, nullptr, nullptr, f32_bias};
}

constexpr std::array<BackendFormula, 13> kFormulas{
    triton(deployment::before(deployment::kVllm2026_08)),
    triton(deployment::since(deployment::kVllm2026_08)),
    as_they_are("TRITON_UNFUSED", deployment::before(deployment::kVllm2026_08)),
    as_they_are("TRITON_UNFUSED", deployment::since(deployment::kVllm2026_08)),
    as_they_are("AITER_MXFP4_FP8", deployment::before(deployment::kVllm2026_08)),
    as_they_are("AITER_MXFP4_FP8", deployment::since(deployment::kVllm2026_08)),
    // 8.2: the engine's own kernels.
    fp8_as_loaded(WeightFormat::fp8_tensor, "TRITON"),
    fp8_as_loaded(WeightFormat::fp8_channel, "TRITON"),
    fp8_as_loaded(WeightFormat::fp8_block, "TRITON"),
    fp8_as_loaded(WeightFormat::fp8_tensor, "BATCHED_TRITON"),
    fp8_as_loaded(WeightFormat::fp8_channel, "BATCHED_TRITON"),
    fp8_as_loaded(WeightFormat::fp8_block, "BATCHED_TRITON"),
    fp8_as_loaded(WeightFormat::mxfp8, "TRITON_MXFP8", deployment::since(deployment::kVllm2026_08)),
};

void draw_parameters(Setting& setting, std::mt19937& random) {
  families::TritonParameters& triton = setting.of<families::TritonParameters>();
  if (random() % 2 == 0) triton.release = static_cast<families::TritonKernels>(random() % 3);
  triton.torch_before_2_8_1 = random() % 4 == 0;
  triton.num_warps = one_of(random, {1, 2, 3, 4, 6, 8});
  triton.before_swizzle = random() % 4 == 0;
}

}  // namespace

constinit const FamilyFormulas kTritonKernelsFormulas{
    .name = "triton_kernels", .backends = kFormulas, .takes = &kTritonKernelsTakes, .blocks = &kTritonKernelsBlocks, .draw = draw_parameters};

}  // namespace mx::props
