#pragma once
// What a run of a layer asks of what it is given, whoever computes it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/execute/stages.hpp"

namespace mx::sim {

/// "[9, 256]"
std::string shape_text(std::span<const std::int64_t> shape);
/// Elements of a shape.
std::size_t elements_of(std::span<const std::int64_t> shape);

/// The stage among those that a layer has. Throws Error(usage) naming `whose` and its stages.
const StageValues& form_of(std::span<const StageValues> forms, LayerStage stage, std::string_view whose, std::string_view where);

/// Throws Error(usage) unless the stages are those of one step, all of them, each with its form's type, shape and number of elements.
void check_start(std::span<const StageValues> forms, std::span<const StageValues> from, std::string_view whose);

/// Throws Error(usage) where a wanted stage is none of the forms or does not lie behind the start; gives the last one's step, -1 of none.
int last_step(std::span<const StageValues> forms, std::span<const StageValues> from, std::span<const LayerStage> wanted, std::string_view whose);

/// Throws Error(usage) where there is neither such an expert nor -1; `top_k` slots are a token's.
void check_experts(std::span<const std::int32_t> ids, std::int64_t top_k, std::int64_t experts);

}  // namespace mx::sim
