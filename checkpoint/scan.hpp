#pragma once
// The numbers of a checkpoint's experts, looked at before anything is made of them: scales, factors and codes that are no numbers, or that no sound
// quantizer writes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/expert_tensors.hpp"

namespace mx::checkpoint {

/// What is wrong with a number.
enum class ValueFault : std::uint8_t {
  not_a_number,
  infinite,
  missing,          ///< a companion that the scheme needs is not in the checkpoint: the engine computes with what its buffer held
  unlike_inputs,    ///< gate and up of an expert have unlike scales of their one input
  inputs_to_zero,   ///< the largest scale of activations, which most classes take for all experts, makes 0 of what most of them were calibrated with
  factor_infinite,  ///< finite in the file, Inf in the engine's own arithmetic
  factor_zero,      ///< likewise 0
  zero_over_codes,  ///< a scale of 0 over codes that are not
  negative,         ///< a scale below 0
  unlike_halves,    ///< gate and up of an expert have unlike global scales, and the engine takes gate's for both
  subnormal,        ///< fp32, bf16 or fp16 scales that some hardware takes as 0; of block scales of 8 bits, when most of a tensor's are
};
std::string_view name_of(ValueFault fault);
std::optional<ValueFault> fault_named(std::string_view name);
/// What the fault makes of every result: nobody can trust what is computed from it. Else it is a warning.
bool spoils(ValueFault fault);
/// What a line about it begins with: "no numbers", "mistrusted", "warning".
std::string_view heading_of(ValueFault fault);

/// One fault of one tensor.
struct ScannedFault {
  ValueFault fault;
  Piece piece;         ///< of the tensor: a scale of activations is read by those alone that quantize them
  std::string tensor;  ///< the first that has it; of `missing`, the name that it would have
  std::int64_t count;  ///< numbers, or tensors where each holds one
  std::string first;   ///< place in the tensor: "[9, 0]"; empty where it holds one number
  /// "'..weight_scale': NaN at [9, 0], 1 in all"
  std::string text() const;
};

/// A fault of a layer's numbers, by the number in the tensors' names.
struct LayerValues {
  int layer;
  ScannedFault fault;
};

/// Every fault of a layer, in the order of experts and tensors, like faults of tensors with one number together. All threads. Throws Error(input)
/// when a file is no longer what was opened.
std::vector<ScannedFault> scan_layer(const FoundGroup& layer_group, const FoundLayer& layer);

}  // namespace mx::checkpoint
