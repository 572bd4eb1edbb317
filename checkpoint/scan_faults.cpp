// What each fault of a checkpoint's numbers is called, where it can be seen, and what it usually is.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "checkpoint/scan.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::string_view kNoNumbers = "no numbers", kMistrusted = "mistrusted", kWarning = "warning", kCertain = "certain", kVery = "very likely",
                           kLikely = "likely";
// One row a line.
// clang-format off
constexpr std::array kFaults{
    ValueFaultRow{ValueFault::not_a_number, "nan", "NaN", true, kNoNumbers, Seen::scales, "an amax of nothing, 0 / 0 in a quantizer, or memory that nobody wrote", kCertain},
    ValueFaultRow{ValueFault::infinite, "inf", "Inf", true, kNoNumbers, Seen::scales, "a division by 0 in a quantizer, or an amax that overflowed", kCertain},
    ValueFaultRow{ValueFault::missing, "missing", "is missing, and the scheme needs it", true, kNoNumbers, Seen::headers, "an expert that calibration never met, or an export that lost a tensor", kCertain},
    ValueFaultRow{ValueFault::unlike_inputs, "unlike_inputs", "up has another input scale than gate, though both have one input", true, kMistrusted, Seen::scales, "an export that did not join the scales of what the engine joins", kCertain},
    ValueFaultRow{ValueFault::inputs_to_zero, "inputs_to_zero", "so far above most experts' that activations become 0 where all experts share the largest input scale", true, kMistrusted, Seen::scales, "calibration met an outlier, or a placeholder was left in an expert that it never met", kCertain},
    ValueFaultRow{ValueFault::factor_infinite, "factor_inf", "becomes Inf in the engine's arithmetic", true, kNoNumbers, Seen::scales, "a scale of 0 of an expert that calibration never met", kCertain},
    ValueFaultRow{ValueFault::factor_zero, "factor_zero", "becomes 0 in the engine's arithmetic", false, kWarning, Seen::scales, "a reciprocal in the place of a factor, or an amax that overflowed", kCertain},
    ValueFaultRow{ValueFault::zero_over_codes, "zero_over_codes", "a scale of 0 over codes that are not 0", false, kWarning, Seen::weights, "a scale that was rounded to 0 after the codes were made: the block is lost", kCertain},
    ValueFaultRow{ValueFault::negative, "negative", "a negative scale", false, kWarning, Seen::scales, "no quantizer writes one: other bytes in the tensor's place, or a sign that was moved into the scale", kCertain},
    ValueFaultRow{ValueFault::unlike_halves, "unlike_halves", "up has another global scale than gate, which counts for both", false, kWarning, Seen::scales, "an export that did not join the scales of what the engine joins", kCertain},
    ValueFaultRow{ValueFault::subnormal, "subnormal", "a subnormal scale", false, kWarning, Seen::scales, "a reciprocal for a global scale, or one of another tensor, which leaves block scales no room", kVery},
    ValueFaultRow{ValueFault::saturated, "saturated", "a scale that is the largest of its dtype", false, kWarning, Seen::scales, "a scale that was too large for its dtype: the global scale is not this tensor's, or a placeholder was left", kVery},
    ValueFaultRow{ValueFault::exponent_spelled, "exponent_spelled", "scales that hold the exponent as a number", false, kWarning, Seen::scales, "the byte of an E8M0 scale was taken for a number, or written without its bias of 127", kVery},
    ValueFaultRow{ValueFault::reciprocal, "reciprocal", "a factor where its reciprocal is meant", false, kWarning, Seen::scales, "a divisor under a multiplier's name, or the other way: one library's global scale in another one's form", kLikely},
    ValueFaultRow{ValueFault::scales_alike, "scales_alike", "all scales are one number", false, kWarning, Seen::weights, "a placeholder that nobody overwrote, or one scale written for all blocks", kVery},
    ValueFaultRow{ValueFault::saturated_codes, "saturated_codes", "every code is the largest of the format", false, kWarning, Seen::weights, "codes made with a scale that is far too small", kVery, "blocks"},
    ValueFaultRow{ValueFault::zero_codes, "zero_codes", "all codes are 0 under the scale of a block that is not", false, kWarning, Seen::weights, "weights that were lost behind the making of scales, or pruned after it", kVery},
    ValueFaultRow{ValueFault::never_largest, "never_largest", "no block has the format's largest code", false, kWarning, Seen::weights, "scales that are too large for the codes: those of another amax, or merged over tensors whose codes were kept", kVery, "blocks"},
    ValueFaultRow{ValueFault::always_largest, "always_largest", "every block has the format's largest code, though scales are powers of two", false, kWarning, Seen::weights, "codes made with the scale before it was rounded to the one that is stored", kVery, "blocks"},
    ValueFaultRow{ValueFault::rows_alike, "rows_alike", "all rows have the same codes", false, kWarning, Seen::weights, "one row written over all, or a view whose stride was lost", kVery},
    ValueFaultRow{ValueFault::groups_alike, "groups_alike", "all groups have the same codes", false, kWarning, Seen::weights, "one block written over all, or memory that was filled and never written", kVery},
    ValueFaultRow{ValueFault::equal_experts, "equal_experts", "an expert that is another one's copy", false, kWarning, Seen::weights, "an export that wrote each expert over the one before, or slices that share one buffer", kVery, "experts"},
    ValueFaultRow{ValueFault::gate_is_up, "gate_is_up", "up has gate's codes", false, kWarning, Seen::weights, "one half of a fused tensor written twice", kVery, "experts"},
    ValueFaultRow{ValueFault::router_of_zeros, "router_of_zeros", "an expert's row of the router is 0", false, kWarning, Seen::weights, "an export that lost a rank's rows of the router, or an expert that was added and not trained", kLikely},
    ValueFaultRow{ValueFault::known_producer, "known_producer", "its quantizer's version is known to have written it wrongly", false, kWarning, Seen::headers, "see the source that is named", kLikely},
};
// clang-format on

}  // namespace

std::span<const ValueFaultRow> value_fault_rows() { return kFaults; }
const ValueFaultRow& row_of(ValueFault fault) { return *std::ranges::find(kFaults, fault, &ValueFaultRow::fault); }

std::string_view name_of(Seen seen) {
  constexpr std::array<std::string_view, 3> kNames{"headers", "scales", "weights"};
  return kNames[static_cast<std::size_t>(seen)];
}

std::string_view name_of(ValueFault fault) { return row_of(fault).name; }
std::optional<ValueFault> fault_named(std::string_view name) {
  const auto* const row = std::ranges::find(kFaults, name, &ValueFaultRow::name);
  return row == kFaults.end() ? std::nullopt : std::optional(row->fault);
}
bool spoils(ValueFault fault) { return row_of(fault).spoils; }
std::string_view heading_of(ValueFault fault) { return row_of(fault).heading; }

std::string ScannedFault::text() const {
  std::string words = fmt::format("{}: {}", support::in_quotes(tensor), row_of(fault).text);
  if (!first.empty()) {
    words += fmt::format(", {} in all, the first at {}", count, first);
  } else if (count != 1) {
    words += fmt::format("; {} {} in all", count, row_of(fault).counted);
  }
  return detail.empty() ? words : fmt::format("{}; {}", words, detail);
}

}  // namespace mx::checkpoint
