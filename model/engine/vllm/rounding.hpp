#pragma once
// What the engine rounds the sizes of its buffers up to before a checkpoint is loaded: one table for both versions. Converters then take the sizes
// that they get.
// Source: vllm-project/vllm, vllm/model_executor/layers/fused_moe/oracle/mxfp4.py, mxfp4_round_up_hidden_size_and_intermediate_size.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/families/setting.hpp"

namespace mx::layout {

/// Sizes go up to these multiples, in elements; the first row that applies decides.
struct RoundingRow {
  Engines engines;
  std::span<const std::string_view> backends;  ///< empty: every one
  bool (*applies)(const Setting& setting);     ///< null: always
  std::int64_t hidden;
  std::int64_t intermediate;
};

std::span<const RoundingRow> rounding_rows();

/// `setting.sizes` rounded up for a backend, by its engine, device and activation. Only MXFP4 is rounded before loading: other formats keep their
/// sizes. Throws Error(usage) as check(sizes) does.
Sizes rounded_up(std::string_view backend, const Setting& setting);

}  // namespace mx::layout
