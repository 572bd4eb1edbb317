#pragma once
// Any activation of the table on arrays, in fp32: the model's operations in the model's order, elementary functions by their fast twins.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "model/moe/activation.hpp"

namespace mx::kernels::moe {

/// Arrays that one thread works in.
struct CurveScratch {
  std::vector<std::uint32_t> bits;
  std::vector<float> gate, up, curve;
  std::vector<float> tile_gate, tile_up, tile_out;  ///< of who gathers a tile
  std::vector<std::uint32_t> unsure;                ///< columns of each of its rows
};

/// out[i] = mx::moe::activate(row, kF32, gate[i], up[i], constants), for constants that it takes; `up` is empty where the row has none.
void activate_all(const mx::moe::Activation& row, const mx::moe::ActivationConstants& constants, std::span<const float> gate,
                  std::span<const float> up, std::span<float> out, CurveScratch& scratch, const IsaTier& tier);

}  // namespace mx::kernels::moe
