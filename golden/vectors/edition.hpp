#pragma once
// Editions of the vectors: which operands a set holds, and what its coverage asks. The sets of an edition never change.

#include <string_view>

namespace mx::golden {

enum class Edition {
  v1,    ///< both sides of every eighth of the target's unit
  v1_1,  ///< and the source's own neighbours of every decision, at every depth of the source
};
inline constexpr Edition kLatestEdition = Edition::v1_1;

/// "v1", "v1.1": the folder of its files.
std::string_view name_of(Edition edition);
/// "1.0", "1.1": of a header's first line.
std::string_view header_version(Edition edition);
/// Throws Error(usage) with the nearest name.
Edition edition_named(std::string_view name);

}  // namespace mx::golden
