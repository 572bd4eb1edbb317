#pragma once
// Laws about the checker of devices' streams.

#include "props/law.hpp"

namespace mx::props {

std::span<const Law> checker_laws();

}  // namespace mx::props
