#pragma once
// What every verb that converts asks.

#include <string>
#include <vector>

#include "checkpoint/convert.hpp"
#include "cli/verb.hpp"

namespace mx::cli {

/// A conversion as it was typed.
struct ConversionChoice {
  std::string checkpoint;
  std::vector<std::string> backends;  ///< "NAME", "GROUP=NAME", "FORMAT=NAME"
  std::vector<std::string> values;    ///< of the setting's keys, in their order
  std::vector<std::string> libraries;
  std::vector<std::string> variables;
  int dp = 1;
  bool expert_parallel = false;
  int rank = -1;        ///< not given
  int layer_group = 0;  ///< not given
  bool any_platform = false;
  bool reference = false;
};
/// What moves bytes: the fast twin, or the model where it is asked for.
kernels::relayout::MoveBy moved_by(bool reference);

/// The version as it was typed; empty: it was not.
std::string engine_of(const ConversionChoice& choice);

/// With `may_be_packed` CHECKPOINT may be what `mxact convert` wrote, which says its platform.
void add_conversion_options(Verb verb, ConversionChoice& choice, bool may_be_packed = false);
/// Of a checkpoint that is none of those. Throws Error(usage) where the platform is not given.
void require_platform(const ConversionChoice& choice);
/// Of what is packed. Throws Error(usage) where something was typed that packing asks.
void require_nothing_to_pack(const ConversionChoice& choice);
/// Without a backend, the one that the engine chooses by the model's configuration. Throws Error(usage) where there is none, or several are chosen.
void take_engines_choice(ConversionChoice& choice);
/// Throws Error(usage) naming the option.
checkpoint::ConvertOptions options_of(const ConversionChoice& choice);

/// How a checkpoint is read, where nothing is packed: its layer group and the engine. Throws Error(usage) where a backend's choice was typed.
checkpoint::ConvertOptions reading_options_of(const ConversionChoice& choice);

/// "mxact 0.1.0 (COMMIT)"
std::string program_text();

}  // namespace mx::cli
