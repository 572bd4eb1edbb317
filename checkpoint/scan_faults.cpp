// What each fault of a checkpoint's numbers is called.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "checkpoint/scan.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

struct FaultRow {
  ValueFault fault;
  std::string_view name;  ///< in JSON
  std::string_view text;  ///< for people
  bool spoils;
  std::string_view heading = spoils ? "no numbers" : "warning";
};
constexpr std::string_view kMistrusted = "mistrusted";  // what is a number, and none to compute with
constexpr std::array kFaults{
    FaultRow{ValueFault::not_a_number, "nan", "NaN", true},
    FaultRow{ValueFault::infinite, "inf", "Inf", true},
    FaultRow{ValueFault::missing, "missing", "is missing, and the scheme needs it", true},
    FaultRow{ValueFault::unlike_inputs, "unlike_inputs", "up has another input scale than gate, though both have one input", true, kMistrusted},
    FaultRow{ValueFault::inputs_to_zero, "inputs_to_zero",
             "so far above most experts' that activations become 0 where all experts share the largest input scale", true, kMistrusted},
    FaultRow{ValueFault::factor_infinite, "factor_inf", "becomes Inf in the engine's arithmetic", true},
    FaultRow{ValueFault::factor_zero, "factor_zero", "becomes 0 in the engine's arithmetic", false},
    FaultRow{ValueFault::zero_over_codes, "zero_over_codes", "a scale of 0 over codes that are not 0", false},
    FaultRow{ValueFault::negative, "negative", "a negative scale", false},
    FaultRow{ValueFault::unlike_halves, "unlike_halves", "up has another global scale than gate, which counts for both", false},
    FaultRow{ValueFault::subnormal, "subnormal", "a subnormal scale", false},
};
const FaultRow& row_of(ValueFault fault) { return *std::ranges::find(kFaults, fault, &FaultRow::fault); }

}  // namespace

std::string_view name_of(ValueFault fault) { return row_of(fault).name; }
std::optional<ValueFault> fault_named(std::string_view name) {
  const auto* const row = std::ranges::find(kFaults, name, &FaultRow::name);
  return row == kFaults.end() ? std::nullopt : std::optional(row->fault);
}
bool spoils(ValueFault fault) { return row_of(fault).spoils; }
std::string_view heading_of(ValueFault fault) { return row_of(fault).heading; }

std::string ScannedFault::text() const {
  std::string words(row_of(fault).text);
  if (!first.empty()) return fmt::format("{}: {}, {} in all, the first at {}", support::in_quotes(tensor), words, count, first);
  return count == 1 ? fmt::format("{}: {}", support::in_quotes(tensor), words)
                    : fmt::format("{}: {}; {} tensors in all", support::in_quotes(tensor), words, count);
}

}  // namespace mx::checkpoint
