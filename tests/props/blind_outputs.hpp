#pragma once
// Outputs of an MoE layer on a backend, with a planted fault where it belongs: what a test suite would be shown.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/fault.hpp"

namespace mx::tests {

/// Where the numbers come from. Weights, biases and tokens are normal with these deviations, weights in MXFP4 by the floor rule; a deviation of 0 for
/// weights: random codes with scale bytes 118 to 122.
struct DataRow {
  std::string_view name;
  double weights;
  double bias;
  std::string_view note;
};
std::span<const DataRow> data_rows();

/// What a test suite would be shown: numbers of a backend or of a part, from some data.
struct Outputs {
  std::string backend;
  std::string data;
  std::vector<float> values;
};

/// Which half of the chain a fault is switched on for.
enum class FaultySide {
  conversion,  ///< of the weights; the kernel is right and reads what is wrong
  execution,   ///< routing, quantizers, products, activation
};

/// The outputs [tokens * hidden] of a layer on each of four backends and each kind of data: one gated layer of 4 experts, hidden and intermediate
/// size 256, 8 tokens with 2 experts each, SwiGLU with alpha 1.25, beta 1, limit 5. Those that throw are left out.
std::vector<Outputs> layer_outputs(fault::Fault fault, FaultySide side);

/// Outputs of recipes, casts, dequantizers, functions, contracts, routers and activations, each row of their tables apart, with the fault that is
/// switched on. Rows behind one that throws are left out.
std::vector<Outputs> part_outputs();

}  // namespace mx::tests
