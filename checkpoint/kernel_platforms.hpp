#pragma once
// On which devices the engine has a kernel of a backend: asked of the oracles before a checkpoint is laid out for one that nothing there reads.

#include <string_view>
#include <vector>

#include "model/deployment/models.hpp"
#include "model/families/setting.hpp"

namespace mx::checkpoint {

/// Names of deployment::all_platforms() on which some class of an MXFP4 backend takes the device and the backend's own types; packages and variables
/// that a user can add are taken to be there. Throws Error(usage) on a backend that no conversion of MXFP4 is known for, Error(unsupported) for a
/// version without conversions.
std::vector<std::string_view> kernel_platforms(std::string_view backend, deployment::Engine engine);

/// Throws Error(unsupported), naming the platforms that have one, when none of them is the setting's device.
void check_has_kernel(std::string_view backend, const families::Setting& setting);
/// The same of another format, by devices alone: of a backend that the scheme's oracle has, whatever its classes ask of layers and types.
void check_takes_device(std::string_view backend, const families::Setting& setting, const deployment::Scheme& scheme);

}  // namespace mx::checkpoint
