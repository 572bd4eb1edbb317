#pragma once
// Sizes of the buffers that the engine loads a layer into, for what converters see of it.

#include <string_view>

#include "model/families/setting.hpp"

namespace mx::checkpoint {

/// `setting.sizes` rounded up for a backend as its engine rounds them before loading: MXFP4 by the engine's table, other formats not at all. Throws
/// Error(usage) as layout::check(sizes) does, Error(unsupported) for a version whose rounding is not known.
layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting);
/// The same as another version rounds them, whose conversion the setting's version stands for.
layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting, deployment::Engine engine);
/// The same, of a layer whose activation is known: whether it is SILU or SITU, which the setting's word for every other one does not say.
layout::Sizes rounded_up(std::string_view backend, const families::Setting& setting, deployment::Engine engine, bool silu_or_situ);
/// The same of a rank's share, which may be no whole groups.
layout::Sizes rounded_up(std::string_view backend, const layout::Form& form, const layout::Sizes& share, families::Arch arch,
                         deployment::Engine engine, bool silu_or_situ);
/// Throws Error(usage) where what the loader copies for a rank is larger than the engine's buffer for it.
void require_room(std::string_view backend, const layout::Sizes& loaded, const layout::Sizes& allocated);

}  // namespace mx::checkpoint
