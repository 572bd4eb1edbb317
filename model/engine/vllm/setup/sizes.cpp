#include "model/engine/vllm/setup/sizes.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "model/engine/vllm/setup/hidden_roundup.hpp"
#include "model/error.hpp"

namespace mx::oracle {
namespace {

using Names = std::string_view;

constexpr std::int64_t kScaleTileRows = 128;

/// Padding of one backend's weights; multiples are elements.
struct PreparationRow {
  std::string_view oracle;
  std::span<const std::string_view> backends;
  bool per_tensor_only;  ///< not for checkpoints with a block
  std::int64_t hidden;
  std::int64_t intermediate_gated;  ///< 0: a gated layer that needs padding is a NotImplementedError
  std::int64_t intermediate_not_gated;
};

constexpr std::array<Names, 1> kNvfp4Trtllm = {"FLASHINFER_TRTLLM"};
constexpr std::array<Names, 5> kNvfp4Swizzled = {"FLASHINFER_CUTLASS", "FLASHINFER_CUTEDSL", "FLASHINFER_CUTEDSL_BATCHED", "FLASHINFER_B12X",
                                                 "VLLM_CUTLASS"};
constexpr std::array<Names, 2> kFp8Flashinfer = {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"};
/// Source (read): vllm 7e1b45a09 quantization/utils/flashinfer_fp4_moe.py, flashinfer_utils.py.
constexpr std::array<PreparationRow, 3> kRows = {{
    {"nvfp4", kNvfp4Trtllm, false, 256, 16, 128},
    {"nvfp4", kNvfp4Swizzled, false, 1, 0, kScaleTileRows},
    {"fp8", kFp8Flashinfer, true, 1, 16, 128},
}};

std::int64_t up_to(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

void require(std::int64_t size, std::string_view what) {
  if (size >= 1 && size <= kLargestSize) return;
  throw Error(ErrorCode::usage, std::string(what) + " is " + std::to_string(size) + ", must be in [1, " + std::to_string(kLargestSize) + "]");
}

}  // namespace

Answer<RoundedSizes> allocated_sizes(const OracleTables& tables, std::string_view backend, const Deployment& deployment) {
  const LayerConfig& layer = deployment.layer;
  const auto exchanged = hidden_for_exchange(layer.hidden, layer.in_dtype, derive(deployment.parallel));
  if (const auto* refusal = std::get_if<Refusal>(&exchanged)) return *refusal;
  return round_up(tables, backend, deployment, {std::get<std::int64_t>(exchanged), layer.intermediate_per_partition});
}

Answer<RoundedSizes> prepared_sizes(std::string_view oracle, std::string_view backend, bool gated, bool has_block, const RoundedSizes& sizes) {
  require(sizes.hidden, "hidden size");
  require(sizes.intermediate, "intermediate size");
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const PreparationRow& r) {
    return r.oracle == oracle && std::find(r.backends.begin(), r.backends.end(), backend) != r.backends.end();
  });
  if (row == kRows.end() || (row->per_tensor_only && has_block)) return sizes;
  const std::int64_t multiple = gated ? row->intermediate_gated : row->intermediate_not_gated;
  if (multiple != 0) return RoundedSizes{up_to(sizes.hidden, row->hidden), up_to(sizes.intermediate, multiple)};
  if (2 * sizes.intermediate % kScaleTileRows == 0) return sizes;
  return Refusal{"NotImplementedError", "w13 has " + std::to_string(2 * sizes.intermediate) +
                                            " rows, gate and up cannot be padded to whole tiles of " + std::to_string(kScaleTileRows)};
}

}  // namespace mx::oracle
