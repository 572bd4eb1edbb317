#pragma once
// What the rows of families/*/batch.cpp start from, and the table that each of them is.

#include <array>

#include "model/families/batch.hpp"

namespace mx::families {

extern const std::span<const BatchRow> kTritonKernelsBatches;
extern const std::span<const BatchRow> kMarlinBatches;
extern const std::span<const BatchRow> kHummingBatches;
extern const std::span<const BatchRow> kTritonMoeBatches;
extern const std::span<const BatchRow> kDeepgemmBatches;
extern const std::span<const BatchRow> kEmulationBatches;
extern const std::span<const BatchRow> kVllmCutlassBatches;

inline constexpr std::array kOfMxfp4{layout::WeightFormat::mxfp4}, kOfBlocks{layout::WeightFormat::fp8_block};
inline constexpr std::array kOfRowsAndTensors{layout::WeightFormat::fp8_channel, layout::WeightFormat::fp8_tensor};

inline bool in_hopper_batches(const Operation& operation) { return operation.arch == Arch::sm90; }
/// Of finer squares no launch was run.
inline bool in_hopper_blocks(const Operation& operation) { return in_hopper_batches(operation) && operation.block == layout::kBlockSide; }

inline constexpr auto kAnyVersion = deployment::since(deployment::kVllm2026_05);
inline constexpr std::string_view kTokens = "tokens", kSlots = "slots", kBeside = "with the tokens beside it";

/// One whose bits no batch changes.
constexpr BatchRow invariant_row(std::string_view backend, std::span<const layout::WeightFormat> formats, bool (*on)(const Operation&),
                                 deployment::Versions engines, std::string_view source, Grounds grounds = Grounds::run) {
  return {backend, formats, on, engines, Batch::invariant, 0, {}, Steady::by_nothing, 0, {}, grounds, source};
}
/// One that changes from `last` to one more of `of`.
constexpr BatchRow bounded_row(std::string_view backend, std::span<const layout::WeightFormat> formats, bool (*on)(const Operation&),
                               deployment::Versions engines, std::int64_t last, std::string_view of, Steady steady, Grounds grounds,
                               std::string_view source) {
  return {backend, formats, on, engines, Batch::changes, last, of, steady, 0, {}, grounds, source};
}

}  // namespace mx::families
