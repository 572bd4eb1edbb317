#pragma once
// Changes of tables that alter an output and that no law, restated answer or recorded output notices, one by one, each with the reason.

#include <span>
#include <string_view>

namespace mx::tests {

struct KnownSurvivor {
  std::string_view id;  ///< TableMutant::id, whole
  std::string_view reason;
};
std::span<const KnownSurvivor> known_survivors();

}  // namespace mx::tests
