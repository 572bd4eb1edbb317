#include "model/engine/vllm/rounding.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 1> kDeepGemm{"DEEPGEMM_MXFP4"};
constexpr std::array<Names, 2> kMarlin{"MARLIN", "BATCHED_MARLIN"};
constexpr std::array<Names, 2> kTrtllm{"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8"};
constexpr std::array<Names, 2> kCutlass{"FLASHINFER_CUTLASS_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8"};
constexpr std::array<Names, 1> kAiterBf16{"AITER_MXFP4_BF16"};
constexpr std::array<Names, 1> kCpu{"CPU"};
constexpr std::array<Names, 1> kEmulation{"EMULATION"};
constexpr std::array<Names, 2> kB12x{"B12X_MXFP4_MXFP8", "B12X_MXFP4_BF16"};
constexpr std::array<Names, 2> kMoeEp{"FLASHINFER_MOE_EP_CUTEDSL", "FLASHINFER_MOE_EP_DEEP_GEMM"};
constexpr std::array<Names, 1> kCutlassMxfp4{"CUTLASS_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kAiterMxfp4{"AITER_MXFP4_MXFP4"};
constexpr std::array<Names, 1> kTritonUnfused{"TRITON_UNFUSED"};

constexpr deployment::Versions kAll = deployment::since(deployment::kVllm2026_05);

/// Source: vllm 7e1b45a09 (2026-05) and 017e9f444 (2026-08) and 4ba787ec9 (2026-11), the if-chain in its order; B12X at 7ca49fbe4.
constexpr std::array<RoundingRow, 16> kRows{{
    {deployment::since(deployment::kVllm2026_08), kB12x, std::nullopt, false, 1, 1},
    {deployment::since(deployment::kVllm2026_11), kMoeEp, std::nullopt, false, 1, 1},
    {deployment::since(deployment::kVllm2026_08), kEmulation, std::nullopt, false, 32, 32},
    {kAll, kDeepGemm, std::nullopt, false, 128, 128},
    {kAll, kMarlin, deployment::PlatformKind::xpu, false, 128, 128},
    {kAll, kMarlin, std::nullopt, false, 256, 128},
    {deployment::before(deployment::kVllm2026_08), kTrtllm, std::nullopt, false, 256, 256},
    {deployment::since(deployment::kVllm2026_08), kTrtllm, std::nullopt, false, 256, 128},
    {kAll, kCutlass, std::nullopt, false, 128, 128},
    {deployment::since(deployment::kVllm2026_11), kCutlassMxfp4, std::nullopt, false, 128, 128},
    {deployment::since(deployment::kVllm2026_11), kAiterMxfp4, deployment::PlatformKind::rocm, false, 256, 128},
    {deployment::since(deployment::kVllm2026_08), kAiterBf16, deployment::PlatformKind::rocm, true, 128, 128},
    {deployment::since(deployment::kVllm2026_11), kTritonUnfused, deployment::PlatformKind::rocm, true, 128, 128, "gfx950"},
    {kAll, {}, deployment::PlatformKind::rocm, false, 256, 256},
    {kAll, kCpu, std::nullopt, false, 32, 32},
    {kAll, {}, std::nullopt, false, 1, 64},
}};

/// Of layers without quantization. Source: vllm 4ba787ec9 oracle/unquantized.py unquantized_round_up_hidden_size_and_intermediate_size.
constexpr std::array<Names, 1> kPlainTrtllm{"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 1> kPlainAiter{"AITER"};
constexpr std::array<RoundingRow, 4> kPlainRows{{
    {deployment::since(deployment::kVllm2026_11), kPlainTrtllm, std::nullopt, false, 1, 128},
    {deployment::since(deployment::kVllm2026_11), kPlainAiter, std::nullopt, false, 1, 64, {}, 192},
    {deployment::since(deployment::kVllm2026_11), kPlainAiter, std::nullopt, false, 1, 128},
    {deployment::since(deployment::kVllm2026_11), {}, std::nullopt, false, 1, 1},
}};

bool applies(const RoundingRow& row, const RoundingRequest& request) {
  if (fault::planted(fault::Fault::rounding_of_may) && row.versions.since != deployment::kVllm2026_05 && row.platform) return false;
  return row.versions.has(request.engine) && (row.backends.empty() || std::ranges::find(row.backends, request.backend) != row.backends.end()) &&
         (!row.platform || *row.platform == request.platform) && (!row.silu_or_situ || request.silu_or_situ) &&
         (row.gcn_other_than.empty() || row.gcn_other_than != request.gcn_arch) &&
         (row.largest_intermediate == 0 || request.sizes.intermediate <= row.largest_intermediate);
}

std::int64_t up_to(std::int64_t size, std::int64_t multiple) {
  if (fault::planted(fault::Fault::oracle_rounds_down) && size >= multiple) return size / multiple * multiple;
  return (size + multiple - 1) / multiple * multiple;
}

}  // namespace

std::span<const RoundingRow> rounding_rows() { return kRows; }

std::vector<RoundingRow> roundings_of(deployment::Engine engine, Rounded what) {
  std::vector<RoundingRow> rows;
  const std::span<const RoundingRow> all = what == Rounded::mxfp4 ? std::span<const RoundingRow>(kRows) : kPlainRows;
  std::ranges::copy_if(all, std::back_inserter(rows), [&](const RoundingRow& row) { return row.versions.has(engine); });
  return rows;
}

RoundedSizes rounded_up(std::span<const RoundingRow> rows, const RoundingRequest& request) {
  const auto [hidden, intermediate] = request.sizes;
  for (std::int64_t size : {hidden, intermediate}) {
    if (size < 1 || size > deployment::kLargestSize) {
      throw Error(ErrorCode::usage, "size " + std::to_string(size) + " must be in [1, " + std::to_string(deployment::kLargestSize) + "]");
    }
  }
  const auto row = std::ranges::find_if(rows, [&](const RoundingRow& r) { return applies(r, request); });
  if (row == rows.end()) throw Error(ErrorCode::usage, "no rounding rule for backend " + std::string(request.backend));
  if (fault::planted(fault::Fault::oracle_rounds_other_side)) return {up_to(hidden, row->intermediate), up_to(intermediate, row->hidden)};
  return {up_to(hidden, row->hidden), up_to(intermediate, row->intermediate)};
}

}  // namespace mx::engine
