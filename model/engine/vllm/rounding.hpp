#pragma once
// What the engine rounds the sizes of its buffers up to before a checkpoint is loaded: one table for all versions. Converters then take the sizes
// that they get.
// Source: vllm-project/vllm, vllm/model_executor/layers/fused_moe/oracle/mxfp4.py, mxfp4_round_up_hidden_size_and_intermediate_size.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"

namespace mx::engine {

/// Sizes go up to these multiples, in elements; the first row that applies decides.
struct RoundingRow {
  deployment::Versions versions;
  std::span<const std::string_view> backends;        ///< empty: every one
  std::optional<deployment::PlatformKind> platform;  ///< none: every one
  bool silu_or_situ;                                 ///< for layers with these activations alone
  std::int64_t hidden;
  std::int64_t intermediate;
  std::string_view gcn_other_than = {};   ///< on other architectures than this one; empty: on every one
  std::int64_t largest_intermediate = 0;  ///< for sizes up to this one; 0: for every one
};

/// Layers whose sizes are rounded before loading: MXFP4 ones, and since 2026-11 those without quantization.
enum class Rounded : std::uint8_t { nothing, mxfp4, plain };

/// Of MXFP4; all versions' rows.
std::span<const RoundingRow> rounding_rows();
/// Those of one version; not for `nothing`. Empty: that version rounds none.
std::vector<RoundingRow> roundings_of(deployment::Engine engine, Rounded what);

/// A layer's sizes in elements.
struct RoundedSizes {
  std::int64_t hidden;
  std::int64_t intermediate;
};

/// What is rounded for.
struct RoundingRequest {
  deployment::Engine engine;
  std::string_view backend;
  deployment::PlatformKind platform;
  bool silu_or_situ;  ///< the layer's activation is one of these
  RoundedSizes sizes;
  std::string_view gcn_arch = {};  ///< rocm: "gfx950"
};

/// Sizes after the first row that applies. Throws Error(usage) where none does, and for a size outside [1, kLargestSize].
RoundedSizes rounded_up(std::span<const RoundingRow> rows, const RoundingRequest& request);

}  // namespace mx::engine
