#pragma once
// O7: classes, keys, constants, needs and conversions of each version; version_laws.cpp has the list.

#include <span>

#include "model/deployment/version.hpp"
#include "props/law.hpp"

namespace mx::props {

/// Versions that came with routing methods, names and activations of their own.
std::span<const deployment::Engine> since_august();

Outcome classes_are_as_written(const Law& law);
Outcome requested_keys_fall_back(const Law& law);
Outcome lora_is_as_written(const Law& law);
Outcome calls_are_as_written(const Law& law);
Outcome methods_are_as_written(const Law& law);
Outcome limits_are_as_written(const Law& law);
Outcome activations_are_as_written(const Law& law);
Outcome needs_hold_when_written(const Law& law);
Outcome carried_as_written(const Law& law);
Outcome releases_are_as_written(const Law& law);

}  // namespace mx::props
