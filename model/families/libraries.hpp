#pragma once
// Libraries whose converters an engine calls: which release each of its versions asks for, and how a user names another.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/setting.hpp"

namespace mx::families {

/// The release that a version of the engine asks for.
struct AskedRelease {
  deployment::Engine engine;
  std::string_view release;
  std::string_view source;
};

struct Library {
  std::string_view name;  ///< "flashinfer"
  std::string_view key;   ///< of the setting that takes other releases; empty: none but those that are asked for were run
  std::span<const AskedRelease> asked;
};
std::span<const Library> libraries();
/// Throws Error(usage) with the nearest known name, or all of them.
const Library& library_named(std::string_view name);

/// The release that the engine's version asks for, empty where that is not known.
std::string_view asked_release(const Library& library, deployment::Engine engine);

/// For choose_libraries: what a release of the engine asks for where that is not what its version does. Empty for no release.
std::vector<std::string> libraries_asked_by(std::string_view engine_release);

/// "flashinfer=0.6.18": the setting with that release. The engine must be set before. Throws Error(usage) for what is no NAME=RELEASE and for an
/// unknown library, Error(unsupported) for a release that is not known, naming those that are.
void choose_library(Setting& setting, std::string_view name_and_release);
/// The same for each of several.
void choose_libraries(Setting& setting, std::span<const std::string> names_and_releases);
/// Whether a key of the setting says a library's release, and nothing else.
bool is_of_library(std::string_view key);

}  // namespace mx::families
