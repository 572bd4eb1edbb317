#pragma once
// The numbers of a checkpoint's experts, looked at before anything is made of them: scales, factors and codes that are no numbers, or that no sound
// quantizer writes.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/expert_tensors.hpp"

namespace mx::checkpoint {

/// What is wrong with numbers: of one, of what the engine makes of it, or of many that no sound file has together.
enum class ValueFault : std::uint8_t {
  not_a_number,
  infinite,
  missing,           ///< a companion that the scheme needs is not in the checkpoint: the engine computes with what its buffer held
  unlike_inputs,     ///< gate and up of an expert have unlike scales of their one input
  inputs_to_zero,    ///< the largest scale of activations, which most classes take for all experts, makes 0 of what most of them were calibrated with
  factor_infinite,   ///< finite in the file, Inf in the engine's own arithmetic
  factor_zero,       ///< likewise 0
  zero_over_codes,   ///< a scale of 0 over codes that are not
  negative,          ///< a scale below 0
  unlike_halves,     ///< gate and up of an expert have unlike global scales, and the engine takes gate's for both
  subnormal,         ///< fp32, bf16 or fp16 scales that some hardware takes as 0; of block scales of 8 bits, when most of a tensor's are
  saturated,         ///< the largest number of its dtype; of block scales of e4m3, when most of a tensor's are
  exponent_spelled,  ///< scales hold the exponent as a number: bytes without their bias, or a float that is the byte's number
  reciprocal,       ///< a factor and its reciprocal seem to be exchanged: weights or activations are far too large, and by the other one they are not
  scales_alike,     ///< all scales of a matrix are one number
  saturated_codes,  ///< every code of a block is the largest, or most codes of a matrix are
  zero_codes,       ///< all codes are 0 under a scale that is no quantizer's number for a block of zeros
  never_largest,    ///< no block has the largest code of the format
  always_largest,   ///< every block has it, where scales are powers of two
  rows_alike,       ///< all rows of a matrix have the same codes
  groups_alike,     ///< all groups of a matrix do
  equal_experts,
  gate_is_up,
  router_of_zeros,  ///< an expert's row
  known_producer    ///< the quantizer's version is known to have written it wrongly
};
/// What has to be read for a fault to be seen.
enum class Seen : std::uint8_t { headers, scales, weights };
std::string_view name_of(Seen seen);

/// A row of the table of faults.
struct ValueFaultRow {
  ValueFault fault;
  std::string_view name;  ///< in JSON
  std::string_view text;  ///< for people
  bool spoils;            ///< every result is what nobody can trust; else it is a warning
  std::string_view heading;
  Seen seen;
  std::string_view means;                ///< what it usually is
  std::string_view sure;                 ///< "certain"; "very likely": no sound quantizer is known to write it; "likely"
  std::string_view counted = "tensors";  ///< where no place is given
};
std::span<const ValueFaultRow> value_fault_rows();
const ValueFaultRow& row_of(ValueFault fault);

/// What it is called in JSON; the fault of that name, or none.
std::string_view name_of(ValueFault fault);
/// The fault of a name; none where no fault has it.
std::optional<ValueFault> fault_named(std::string_view name);
/// What the fault makes of every result: nobody can trust what is computed from it. Else it is a warning.
bool spoils(ValueFault fault);
/// What a line about it begins with: "no numbers", "mistrusted", "warning".
std::string_view heading_of(ValueFault fault);

/// How much of a checkpoint is read: its scales and whatever else is small, or all of it.
enum class Depth : std::uint8_t { scales, weights };

/// One fault of one tensor.
struct ScannedFault {
  ValueFault fault;
  Piece piece;              ///< of the tensor: a scale of activations is read by those alone that quantize them
  std::string tensor;       ///< the first that has it; of `missing`, the name that it would have
  std::int64_t count;       ///< numbers, or tensors where each holds one
  std::string first;        ///< place in the tensor: "[9, 0]"; empty where it holds one number
  std::string detail = {};  ///< what else is known of it: the numbers, the chance
  /// "'..weight_scale': NaN, 1 in all, the first at [9, 0]"
  std::string text() const;
};

/// A fault of a layer's numbers, by the number in the tensors' names.
struct LayerValues {
  int layer;
  ScannedFault fault;
};

/// Every fault of single numbers of a layer and of what is computed from them, in the order of experts and tensors, like faults of tensors with one
/// number together. All threads. Without the weights scales of 0 are no faults yet. Throws Error(input) when a file is no longer what was opened.
std::vector<ScannedFault> scan_layer(const FoundGroup& layer_group, const FoundLayer& layer, Depth depth);

}  // namespace mx::checkpoint
