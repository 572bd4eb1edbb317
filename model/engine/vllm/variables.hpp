#pragma once
// What is said of a variable that is set: that a version does not read it, or that no version's choices do.

#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"
#include "model/engine/vllm/env.hpp"

namespace mx::engine {

/// Why a name is none of env_names(): what the engine does with it where it is one of its own, or the nearest known names.
std::string unknown_variable(std::string_view name);

/// A line for each variable that is set and that the version does not read: "VLLM_MXFP4_USE_MARLIN changes nothing: vllm@2026-08 dropped it".
std::vector<std::string> unread_variables(const Environment& environment, deployment::Engine engine);

}  // namespace mx::engine
