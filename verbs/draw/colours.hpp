#pragma once
// The colour of an address.

#include <cstdint>
#include <string>

namespace mx::verbs {

/// Shades in all: neighbours in memory share one in large pictures.
inline constexpr int kShades = 256;

/// Which shade an address of `size` has, 0 .. kShades - 1.
int shade_of(std::int64_t address, std::int64_t size);
/// "#21918c"
std::string colour_of(int shade);
/// Whether black, not white, can be read on it.
bool is_light(int shade);

}  // namespace mx::verbs
