#pragma once
// Releases of the libraries that profiles follow, as ordered values, and the names by which a profile of one release is asked for.

#include <compare>
#include <string>
#include <string_view>

namespace mx {

/// Which releases of an implementation do what a profile's rows say. Releases are numbers between dots; trailing zeros do not count.
struct Releases {
  std::string_view since;        ///< the first one that was run; empty: no release does it
  std::string_view until;        ///< the last one that was run
  std::string_view commit;       ///< a commit that does it, by its first digits
  std::string_view after = {};   ///< of rows that no release has: the release that the commit follows
  std::string_view change = {};  ///< what changed against the one before it, in a sentence; empty: the first one that is known

  constexpr bool of_release() const { return !since.empty(); }
};

/// The order of releases: 2.9 is before 2.11, and 2.13 is 2.13.0. Both must be is_release.
std::strong_ordering compare_releases(std::string_view a, std::string_view b);
/// Whether a text is numbers between dots.
bool is_release(std::string_view text);

/// A profile's name without its version: "torch-cpu" of "torch-cpu@2.11".
constexpr std::string_view base_name(std::string_view name) { return name.substr(0, name.find('@')); }
/// What stands behind the '@'; empty where there is none.
constexpr std::string_view version_in(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == std::string_view::npos ? std::string_view() : name.substr(at + 1);
}

/// True when a version, a release or the beginning of a commit of at least 7 digits, is one that the rows hold for.
bool holds_for(const Releases& releases, std::string_view version);

/// "2.11", "2.11 to 2.13", "commit 36027d8 after 0.18", "0.18, commit 36027d8"; "not recorded" where nothing is said.
std::string text_of(const Releases& releases);

}  // namespace mx
