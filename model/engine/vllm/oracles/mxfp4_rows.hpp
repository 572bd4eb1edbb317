#pragma once
// What the two searches of the mxfp4 oracle share.

#include <array>

#include "model/engine/vllm/oracles/shared.hpp"

namespace mx::engine {

inline constexpr std::array<Names, 2> kB12xBoth = {"B12X_MXFP4_MXFP8", "B12X_MXFP4_BF16"};
inline constexpr std::array<Names, 1> kB12xBf16 = {"B12X_MXFP4_BF16"};
inline constexpr std::array kForceA16 = {EnvVariable::b12x_moe_fp4_force_a16};

/// Backends, names and roundings; the DeepSeek-V4 path has its own order and steps.
OracleSource mxfp4_source();

}  // namespace mx::engine
