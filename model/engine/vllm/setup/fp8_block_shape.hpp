#pragma once
// What becomes of an FP8 checkpoint's blocks that do not fit the share of a tensor parallel rank.

#include <cstdint>
#include <optional>
#include <string>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/setup/quant_config.hpp"

namespace mx::engine {

/// A checkpoint whose weights have one scale a block.
struct BlockRequest {
  deployment::Engine engine;
  deployment::Hardware hardware;
  deployment::ParallelRequest parallel;
  GroupShape block;  ///< of the checkpoint: rows, columns
  std::int64_t hidden;
  std::int64_t intermediate;  ///< of the whole layer
  std::string moe_backend = "auto";
  bool checkpoint_is_fp8;  ///< not quantized on loading
  bool has_bias;
  bool is_lora_enabled;
};

struct BlockShape {
  std::optional<GroupShape> refined;  ///< the finer block that would fit
  GroupShape block;                   ///< that is used
  std::optional<GroupShape> factor;   ///< scales of it for one of the checkpoint's, rows and columns; none: the checkpoint's own
  std::int64_t intermediate_per_partition;
  bool shard_with_padding;
};

/// The least side of a block that is made finer.
inline constexpr std::int64_t kSmallestBlock = 32;

/// Rows and columns of the finer square that a version makes of squares of `side` of which a rank of `tp` has `share` rows of gate; none where they
/// fit, where there is none, and in a version that makes none. Source: as fp8_block_shape, of which 2026-08 (0.29.0) has this.
std::optional<std::int64_t> finer_square(deployment::Engine engine, std::int64_t side, std::int64_t share, std::int64_t hidden, int tp);

/// Blocks that fit are kept; else scales are repeated for finer blocks of at least 32; where the wished backend does not take these, or there are
/// none, the share is padded to whole blocks. ValueError where it may not be. Throws Error(usage) for sizes that are not positive and as derive does.
/// Source: vllm 4ba787ec9 fused_moe/oracle/fp8.py resolve_fp8_moe_weight_block_shape. 2026-08 (0.29.0) refines likewise, and never pads.
Answer<BlockShape> fp8_block_shape(const BlockRequest& request);

/// True where the engine turns DeepGEMM off by itself for a type of text model. Source: vllm 4ba787ec9 utils/deep_gemm.py.
bool deep_gemm_auto_disabled(deployment::Engine engine, const deployment::Hardware& hardware, std::string_view text_model);

}  // namespace mx::engine
