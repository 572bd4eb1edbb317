#pragma once
// O7: classes, keys, constants, needs and conversions of the later versions; later_laws.cpp has the list.

#include "model/deployment/deployment.hpp"
#include "model/deployment/version.hpp"
#include "props/engine/vllm/later_restated.hpp"
#include "props/law.hpp"

namespace mx::props {

LaterPlace place_of(const deployment::PlatformPreset& preset);
deployment::Engine engine_of(Later version);

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
