#pragma once
// Which conversion stands for a version of the engine whose own were not run: that of the last version that was, with what is known to have changed.

#include <string>
#include <string_view>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::families {

/// A conversion as a version of the engine has it.
struct StandingConversion {
  const BackendLayout* row = nullptr;  ///< null: no layout
  deployment::Engine of;               ///< the version whose conversion the row describes
  std::string_view changed = {};       ///< what the version that was asked for does otherwise; empty: its sources read the same
  std::string_view source = {};        ///< where that was read

  bool is_own(deployment::Engine engine) const { return row != nullptr && of == engine; }
  /// Whether the row's bytes are those of the version that was asked for.
  bool stands() const { return row != nullptr && changed.empty(); }
};

/// The version itself where its conversions are known, else the newest version before it whose are.
deployment::Engine standing_engine(deployment::Engine engine);

/// The version's own conversion where conversions of it are known (has_conversions), else that of the newest version before it that has them.
StandingConversion conversion_at(std::string_view backend, layout::WeightFormat format, deployment::Engine engine);

/// For choose_libraries: the release of the row's library that the version asks for, where the conversion is not its own and the setting takes
/// releases.
std::vector<std::string> carried_libraries(const StandingConversion& conversion, deployment::Engine engine);

/// "run at vllm@2026-08, changed since: ..", "run at vllm@2026-08, reads the same, with flashinfer=0.7.2.post1", "no layout"; empty for a version's
/// own conversion.
std::string standing_text(const StandingConversion& conversion, deployment::Engine engine);

}  // namespace mx::families
