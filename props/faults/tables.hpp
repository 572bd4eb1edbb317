#pragma once
// The tables that all_faults() joins, one for each area.

#include "props/faults.hpp"

namespace mx::props {

std::span<const FaultRow> numerics_faults();
std::span<const FaultRow> kernels_faults();
std::span<const FaultRow> layouts_faults();
std::span<const FaultRow> moe_faults();
std::span<const FaultRow> oracle_faults();
std::span<const FaultRow> version_faults();
std::span<const FaultRow> simulator_faults();
std::span<const FaultRow> configuration_faults();
std::span<const FaultRow> checker_faults();

}  // namespace mx::props
