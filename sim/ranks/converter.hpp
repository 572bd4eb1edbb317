#pragma once
// What the converter of a deployment's backend sees, and whose conversion it is.

#include <span>
#include <string>

#include "checkpoint/conversion.hpp"
#include "model/families/carried.hpp"
#include "sim/ranks/deployment.hpp"

namespace mx::sim {

/// The form that a checkpoint of such a layer has: rows of gate and up alternate in MXFP4 with SWIGLUOAI.
layout::Form checkpoint_form(const deployment::LayerConfig& layer, layout::WeightFormat format);

/// The conversion of a layer of the deployment: sizes of one rank's experts as the engine allocates them. Throws as arch_of and
/// checkpoint::surroundings do.
checkpoint::Conversion conversion_of(const deployment::Deployment& deployment, deployment::Engine engine, const layout::Form& form,
                                     const layout::Sizes& sizes, std::span<const std::string> libraries);

/// A name of the layout table for the deployment's hardware. Throws Error(unsupported) for hardware that it has no row for.
families::Arch arch_of(const deployment::Hardware& hardware);

/// The conversion that a row's kernel reads from, of the version or carried over to it; without a row weights stay as they were loaded. Throws
/// Error(usage) where no such conversion is known, Error(unsupported) where the version changed it.
families::StandingConversion conversion_for(const families::ExecutionRow& row, deployment::Engine engine);

/// Of the request's layer, as that conversion sees it.
checkpoint::Conversion conversion_of(const SimulationRequest& request, const ModelLayer& layer, const layout::Sizes& sizes,
                                     const families::StandingConversion& standing);

/// Sizes::group of what a rank of the request loads: the side of the finer squares of FP8 that the engine makes; else the layer's.
std::int64_t loaded_group(const SimulationRequest& request, const ModelLayer& layer);

/// Why the conversion of an earlier version does not stand for the request's: "the conversion was run at vllm@2026-08, changed since: .."; empty
/// where one does, or none is known at all.
std::string changed_conversion(const SimulationRequest& request, const ModelLayer& layer);

}  // namespace mx::sim
