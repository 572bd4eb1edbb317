#pragma once
// O7: what each version answers is what its documents say.

#include <span>

#include "props/law.hpp"

namespace mx::props {

std::span<const Law> version_laws();

}  // namespace mx::props
