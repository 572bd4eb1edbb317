#pragma once
// Tiles, as mx::multiply has them: sixteen columns at once where the contract aligns and truncates, the model for what the kernels leave.

#include <cstdint>
#include <span>

#include "kernels/codec/codec.hpp"
#include "model/numerics/tile.hpp"

namespace mx::kernels::dot {

/// True where kernels do the work for operands of these formats; else every sum is the model's, on all threads.
bool is_quick(const ContractRow& contract, const Tile& tile);

/// out = what mx::multiply gives, bit for bit, with any number of threads and on every tier. Errors as there, before anything is written;
/// Error(usage) for threads not in 1 to kMostThreads, Error(unsupported) for a tier that this processor cannot run.
void multiply(const ContractRow& contract, const Tile& tile, std::span<std::uint32_t> out, const Workers& workers);

}  // namespace mx::kernels::dot
