#include "model/engine/vllm/setup/fp8_block_shape.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "model/engine/vllm/check.hpp"
#include "model/error.hpp"

namespace mx::engine {
namespace {

std::int64_t whole(std::int64_t size, std::int64_t unit) { return (size + unit - 1) / unit * unit; }

/// A class of the wished backends takes weights with a scale for each square block of that side on the device.
bool wish_takes(const BlockRequest& request, std::int64_t side) {
  const std::string edge = std::to_string(side);
  const deployment::QuantKey key = deployment::quant_key_named("FP8:float32:" + edge + "," + edge);
  const OracleTables& tables = tables_of(request.engine, "fp8");
  const auto name = std::ranges::find(tables.user_names, request.moe_backend, &UserNameRow::name);
  if (name == tables.user_names.end()) return false;
  return std::ranges::any_of(name->backends, [&](std::string_view backend) {
    return std::ranges::any_of(backend_named(tables, backend).classes, [&](std::string_view kernel_class) {
      return takes_keys(tables.classes, kernel_class, request.hardware, {key, deployment::QuantKey::fp8_dynamic_128});
    });
  });
}

/// The finer square of a block that a share cuts; none where it fits, or where there is none.
std::optional<std::int64_t> finer(const GroupShape& block, std::int64_t share, std::int64_t hidden, int ranks) {
  if (share % block.row == 0 && (ranks == 1 || share % block.col == 0)) return std::nullopt;
  const std::int64_t side = std::gcd(std::gcd(block.row, block.col), std::gcd(share, hidden));
  return side >= kSmallestBlock ? std::optional(side) : std::nullopt;
}

bool may_pad(const BlockRequest& request) {
  return request.intermediate % request.block.row == 0 && request.hidden % request.block.row == 0 && !request.has_bias && !request.is_lora_enabled;
}

}  // namespace

std::optional<std::int64_t> finer_square(deployment::Engine engine, std::int64_t side, std::int64_t share, std::int64_t hidden, int tp) {
  if (!kSinceAugust.has(engine)) return std::nullopt;
  return finer({side, side}, share, hidden, tp);
}

Answer<BlockShape> fp8_block_shape(const BlockRequest& request) {
  const auto [rows, columns] = request.block;
  if (rows < 1 || columns < 1 || request.hidden < 1 || request.intermediate < 1) throw Error(ErrorCode::usage, "sizes and blocks must be positive");
  const deployment::Parallel parallel = deployment::derive(request.parallel, request.engine);
  const std::int64_t share = request.intermediate / parallel.tp_size;
  const BlockShape kept{std::nullopt, request.block, std::nullopt, share, false};
  if (share % rows == 0 && (parallel.tp_size == 1 || share % columns == 0)) return kept;
  const std::optional<std::int64_t> square = finer(request.block, share, request.hidden, parallel.tp_size);
  const std::int64_t side = square.value_or(0);
  const std::optional<GroupShape> refined = square ? std::optional(GroupShape{side, side}) : std::nullopt;
  const bool refused = request.checkpoint_is_fp8 && request.moe_backend != "auto" && (!refined || !wish_takes(request, side));
  if (refused && rows == columns && parallel.tp_size > 1 && share % rows != 0) {
    if (!may_pad(request))
      return Refusal{"ValueError", "a share of " + std::to_string(share) + " cannot be padded to blocks of " + std::to_string(rows)};
    return BlockShape{refined, request.block, std::nullopt, whole(share, rows), true};
  }
  if (!refined) return kept;
  return BlockShape{refined, *refined, GroupShape{rows / side, columns / side}, share, false};
}

bool deep_gemm_auto_disabled(deployment::Engine engine, const deployment::Hardware& hardware, std::string_view text_model) {
  return std::ranges::any_of(tables_of(engine, "fp8").steps, [&](const Step& step) {
    return !step.when.models.empty() && deployment::holds(step.when.where, hardware) &&
           std::ranges::find(step.when.models, text_model) != step.when.models.end();
  });
}

}  // namespace mx::engine
