#pragma once
// What an engine's own requirements, its build and its image bring to a platform, and which probes find it.

#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"

namespace mx::deployment {

/// A package. No version brings one that another lacks, so that software_on() of a platform is that of all versions; what they ask for differs.
struct PackageRow {
  std::string_view name;
  std::string_view release;  ///< as it is asked for, "==0.12.post1"; empty: whatever the build or the image pins
  PlatformKind platform;
  std::span<bool Software::*const> answers;  ///< probes that find it
  std::string_view source;                   ///< the file of vllm that brings it
  Versions versions;
};
/// Those of a platform at a version.
std::vector<PackageRow> packages_on(PlatformKind platform, Engine engine);

}  // namespace mx::deployment
