#pragma once
// Outputs of an MoE layer on a backend, with a planted fault where it belongs: what a test suite would be shown.

#include <span>
#include <string_view>
#include <vector>

#include "model/fault.hpp"

namespace mx::props {

/// Where the numbers come from. Weights, biases and tokens are normal with these deviations, weights in MXFP4 by the floor rule; a deviation of 0 for
/// weights: random codes with scale bytes 118 to 122.
struct DataRow {
  std::string_view name;
  double weights;
  double bias;
  std::string_view note;
};
std::span<const DataRow> data_rows();

/// A backend of the mxfp4 execution table.
struct BackendRow {
  std::string_view backend;
  bool blackwell;  ///< sm100, else sm90
};
std::span<const BackendRow> blind_backends();

/// Which half of the chain a fault is switched on for.
enum class FaultySide {
  conversion,  ///< of the weights; the kernel is right and reads what is wrong
  execution,   ///< routing, quantizers, products, activation
};

/// The layer's outputs [tokens * hidden]: one gated layer of 4 experts, hidden and intermediate size 256, 8 tokens with 2 experts each, SwiGLU with
/// alpha 1.25, beta 1, limit 5. Throws what conversion and execution throw.
std::vector<float> outputs(const BackendRow& backend, const DataRow& data, fault::Fault fault, FaultySide side);

}  // namespace mx::props
