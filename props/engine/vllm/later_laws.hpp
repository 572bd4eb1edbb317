#pragma once
// O7: what later versions answer is what their documents say.

#include <span>

#include "props/law.hpp"

namespace mx::props {

std::span<const Law> later_laws();

}  // namespace mx::props
