// Products of expert weights at gpt-oss sizes, each as a rate and as a share of what the machine allows as many threads at the same moment: the
// smaller of the instruction's peak and of the rate at which they read the weights from memory.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/moe_shapes.hpp"
#include "kernels/moe/gemm.hpp"

namespace {

using namespace mx::kernels::moe;
using namespace mx::bench;

/// As many experts as kColdBytes takes, all alike: no kernel's time depends on codes.
const PanelMatrix& weights(const PanelFormat& format, std::size_t columns, std::size_t k) {
  static std::map<std::pair<const PanelFormat*, std::size_t>, std::unique_ptr<PanelMatrix>> made;
  std::unique_ptr<PanelMatrix>& matrix = made[{&format, columns}];
  if (matrix) return *matrix;
  Draws draws;
  const PanelShape one{.experts = 1, .halves = 1, .columns = columns, .k = k};
  const bool f32 = format.scale == PanelScale::f32;
  // fp32 scales: of each row, or of squares of 128.
  const std::size_t rows = f32 && format.scale_block != 0 ? (columns + 127) / 128 : columns;
  std::vector<std::uint8_t> codes(columns * k * static_cast<std::size_t>(format.code_bits) / 8);
  std::vector<std::uint8_t> scales(rows * format.scales_of(k) * format.scale_bytes());
  for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(draws());
  // Bytes of e8m0 around 1, of e4m3 as well; fp32 from 0.5 to below 2, of which no two are alike.
  for (std::uint8_t& byte : scales) byte = static_cast<std::uint8_t>(f32 ? draws() : (format.scale == PanelScale::e8m0 ? 118 : 40) + draws() % 12);
  for (std::size_t last = 3; f32 && last < scales.size(); last += 4) scales[last] = 0x3F;
  const std::vector<float> experts(format.scale == PanelScale::e4m3 ? 1 : 0, 0.5F);
  matrix = std::make_unique<PanelMatrix>(pack(one, format, mx::layout::SourceOrder::standard, {codes, scales, experts, {}}));
  const std::size_t copies = kColdBytes / matrix->codes.size() + 1;
  const PanelMatrix first = *matrix;
  matrix->shape.experts = copies;
  for (std::size_t i = 1; i < copies; ++i) {
    matrix->codes.insert(matrix->codes.end(), first.codes.begin(), first.codes.end());
    matrix->scales.insert(matrix->scales.end(), first.scales.begin(), first.scales.end());
    matrix->ranges.insert(matrix->ranges.end(), first.ranges.begin(), first.ranges.end());
    matrix->expert_scales.insert(matrix->expert_scales.end(), first.expert_scales.begin(), first.expert_scales.end());
  }
  return *matrix;
}

/// Of the instruction that the kernel multiplies with. Under int8-block each sum of a block takes two more; NVFP4's blocks of 16 are held against
/// that. AMX leaves few rows to vectors.
double instruction_peak(const GemmKernel& kernel, std::size_t rows, int threads) {
  const bool wide = (kernel.needs & mx::kernels::kAvx512) != 0;
  const bool amx = (kernel.needs & mx::kernels::kAmx) != 0;
  const bool tiles = amx && rows > kernel.tiling.few;
  if (kernel.contract == mx::Contract::int8_block && tiles) return int8_tile_peak(threads);
  if (kernel.contract == mx::Contract::int8_block && !wide) return int8_pair_peak(threads);
  if (kernel.contract == mx::Contract::int8_block) return kernel.kind == PanelKind::nvfp4 ? int8_block_peak(threads) : int8_dot_peak(threads);
  if (tiles) return bf16_tile_peak(threads);
  if (amx) return f32_wide_fma_peak(threads);
  if ((kernel.needs & mx::kernels::kAvx512Bf16) != 0) return bf16_dot_peak(threads);
  return wide ? f32_wide_fma_peak(threads) : f32_fma_peak(threads);
}

double limit(const GemmKernel& kernel, const PanelMatrix& matrix, std::size_t rows, int threads) {
  const double bytes = static_cast<double>(matrix.panel_code_bytes() + matrix.panel_scale_bytes());
  return product_limit(instruction_peak(kernel, rows, threads), rows, bytes / static_cast<double>(kPanelColumns * matrix.shape.k), threads);
}

/// `block`: a scale of the activations for so many of K, 0 for activations without.
void product(benchmark::State& state, const GemmKernel& kernel, const PanelFormat& format, std::size_t block, std::size_t columns, std::size_t rows,
             int threads) {
  constexpr std::size_t kK = kProductK;
  if ((kernel.needs & ~mx::kernels::isa_of_processor()) != 0) return state.SkipWithError("this processor cannot run it");
  pin(threads);
  const PanelMatrix& matrix = weights(format, columns, kK);
  Draws draws;
  std::vector<std::uint16_t> bf16(rows * kK);
  std::vector<std::int8_t> int8(rows * kK);
  const std::vector<std::uint8_t> scales(rows * kK / 32, 120);
  for (std::uint16_t& code : bf16) code = static_cast<std::uint16_t>((draws() & 0x807FU) | (120 + draws() % 8) << 7);
  for (std::int8_t& code : int8) code = static_cast<std::int8_t>(draws());
  const std::vector<float> x_scales(block == 0 ? 0 : rows * ((kK + block - 1) / block), 0.25F);
  Lines<float> out(rows * columns);
  const std::size_t copies = rows < kColdRows ? matrix.shape.experts : 1;
  const double allowed = limit(kernel, matrix, rows, threads);
  std::size_t expert = 0;
  for (auto _ : state) {
    if (kernel.contract == mx::Contract::int8_block) {
      gemm(kernel, matrix, expert, Int8Rows{int8, scales}, out, threads);
    } else if (block != 0) {
      gemm(kernel, matrix, expert, ScaledRows{bf16, x_scales, block}, out, threads);
    } else {
      gemm(kernel, matrix, expert, Bf16Rows{bf16}, out, threads);
    }
    benchmark::DoNotOptimize(out.data());
    expert = (expert + 1) % copies;
  }
  count_product(state, rows, columns, (allowed + limit(kernel, matrix, rows, threads)) / 2);
}

/// Activations with scales are measured on one format: they cost the same on all.
struct Rows {
  const char* name;
  std::size_t block;
};
constexpr Rows kPlain{"", 0};
constexpr Rows kScaled[] = {{"/x:mxfp8", 32}, {"/x:fp8-g128", 128}};

void register_product(const GemmKernel& kernel, const PanelFormat& format, const Rows& x) {
  const std::string what = std::string(kernel.name) + "/w:" + std::string(mx::layout::name_of(format.format)) + x.name;
  register_products(what, [&kernel, &format, &x](benchmark::State& state, std::size_t columns, std::size_t rows, int threads) {
    product(state, kernel, format, x.block, columns, rows, threads);
  });
}

/// Every kernel of the build but the portable ones, which have no limit to be held against.
const bool kRegistered = [] {
  for (const GemmKernel& kernel : gemm_kernels()) {
    if (kernel.needs == 0) continue;
    for (const PanelFormat& format : panel_formats()) {
      // A scale for an expert costs what those of squares do.
      if (format.kind != kernel.kind || format.format == mx::layout::WeightFormat::fp8_tensor) continue;
      register_product(kernel, format, kPlain);
      if (kernel.contract != mx::Contract::bf16_block || kernel.kind != PanelKind::mxfp4) continue;
      for (const Rows& x : kScaled) register_product(kernel, format, x);
    }
  }
  return true;
}();

}  // namespace
