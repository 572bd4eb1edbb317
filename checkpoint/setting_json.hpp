#pragma once
// What a conversion was made with, and what was wrong with its numbers, as JSON: for tags of files and records of jobs.

#include <string>
#include <vector>

#include "checkpoint/requantize.hpp"
#include "checkpoint/scan.hpp"
#include "model/families/setting.hpp"
#include "support/json.hpp"

namespace mx::checkpoint {

/// Every field of a setting: sizes, and one word per row of setting_keys(). Reading throws Error(input) naming `where` and the key.
support::Json setting_json(const families::Setting& setting);
families::Setting read_setting(const support::Json& json, const std::string& where);

/// Faults of the numbers of layers, and one of them back.
support::Json values_json(const std::vector<LayerValues>& values);
LayerValues read_values(const support::Json& json, const std::string& where);

/// The scales of a layer's static activations, and back; throws as above.
support::Json inputs_json(const InputScales& scales);
InputScales read_inputs(const support::Json& json, const std::string& where);

}  // namespace mx::checkpoint
