#pragma once
// The laws of configurations; each is described where it is listed, in laws.cpp.

#include "props/law.hpp"

namespace mx::props {

Outcome law_lists(const Law& law);
Outcome law_agreement(const Law& law);
Outcome law_sound(const Law& law);
Outcome law_defects(const Law& law);
Outcome law_makers(const Law& law);
Outcome law_bridges(const Law& law);

}  // namespace mx::props
