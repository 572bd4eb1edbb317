#pragma once
// What `mxact doctor` says: what this machine and a build are, and whether floating point behaves as the model needs.

#include <string>

#include "model/ordinary_mode.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// What only the program knows of itself.
struct Build {
  std::string version;
  std::string commit;
  std::string compiler;
  std::string flags;
};

/// The tiers of instruction sets that this processor runs: "portable avx2 avx512, in use: avx512". Throws Error as kernels::isa_tier() does.
std::string tiers_text();

/// The floating-point mode that the process was started in, which doctor judges; without it the ordinary one.
void remember_host_mode(const FloatMode& mode);

/// Throws as tiers_text does.
Document doctor_document(const Build& build);

}  // namespace mx::verbs
