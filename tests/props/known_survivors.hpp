#pragma once
// Changes of tables that alter an output and that no law, restated answer or recorded output notices, each with the reason.

#include <span>
#include <string_view>

namespace mx::props {

struct KnownSurvivors {
  std::string_view ids;  ///< a regular expression for the whole id
  std::string_view reason;
};
std::span<const KnownSurvivors> known_survivors();

}  // namespace mx::props
