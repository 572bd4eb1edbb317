#pragma once
// What every verb that converts asks, and how it says what it did.

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/verb.hpp"
#include "sim/checkpoint/convert.hpp"

namespace mx::cli {

/// A conversion as it was typed.
struct ConversionChoice {
  std::string checkpoint;
  std::string backend;
  std::vector<std::string> values;  ///< of the setting's keys, in their order
  int rank = -1;                    ///< not given
  bool any_platform = false;
  bool reference = false;
};
/// What moves bytes: the fast twin, or the model where it is asked for.
sim::MoveBy moved_by(bool reference);

void add_conversion_options(Verb verb, ConversionChoice& choice);
/// Throws Error(usage) naming the option.
sim::ConvertOptions options_of(const ConversionChoice& choice);

/// "mxact 0.1.0 (COMMIT)"
std::string program_text();

/// Experts, and sizes with what they were rounded up to.
void print_sizes(const layout::Setting& setting);
Json conversion_setting_json(const layout::Setting& setting);
void print_losses(const std::vector<sim::LayerLoss>& losses);
Json losses_json(const std::vector<sim::LayerLoss>& losses);

/// The report of a whole conversion, as lines and as members of a JSON object.
void print_conversion(const sim::ConvertReport& report, int rank);
void add_conversion(Json& json, const sim::ConvertReport& report, int rank);

}  // namespace mx::cli
