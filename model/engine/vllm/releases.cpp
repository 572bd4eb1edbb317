#include "model/engine/vllm/releases.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/setup/constants.hpp"
#include "model/fault.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

struct DifferenceRow {
  std::span<const Names> releases;
  std::span<const Names> oracles;
  Names where;  ///< the deployments that it touches, in words
  bool (*touches)(const deployment::Deployment& deployment);
  Names text;
};

constexpr std::array<Names, 2> kMayReleases = {"0.22.0", "0.22.1"};
constexpr std::array<Names, 1> kSeptember = {"0.29.0"};
constexpr std::array<Names, 1> kNvfp4 = {"nvfp4"};
constexpr std::array<Names, 1> kDeepseek = {"mxfp4_deepseek_v4"};
constexpr std::array<Names, 2> kFp8 = {"fp8", "mxfp8"};
constexpr std::array<Names, 1> kInt8 = {"int8"};

bool is_gated_layer(const deployment::Deployment& d) { return !d.layer.activation.ends_with("_NO_MUL"); }
bool has_number(const deployment::Deployment& d) {
  return gives(d.layer, Constant::limit) || gives(d.layer, Constant::alpha) || gives(d.layer, Constant::beta);
}

/// Choices were counted over recorded deployments run on each release; conversions read.
/// Source: vllm 0.22.0 (0b3ba88f1), 0.22.1 (0decac0d9), 0.29.0 (98dff2a81), their wheels' sources.
constexpr std::array kDifferences = {
    DifferenceRow{kMayReleases, kNvfp4, "VLLM_USE_FLASHINFER_MOE_FP4 set",
                  [](const deployment::Deployment& d) { return is_set(d.env, EnvVariable::flashinfer_fp4); },
                  "VLLM_USE_FLASHINFER_MOE_FP4=0 raises no ValueError: the FlashInfer backends that the list has are left out"},
    DifferenceRow{kMayReleases, kNvfp4, "a swiglu_limit", [](const deployment::Deployment& d) { return gives(d.layer, Constant::limit); },
                  "with a swiglu_limit FLASHINFER_TRTLLM alone is left, and clamps"},
    DifferenceRow{kMayReleases, kDeepseek, "xpu",
                  [](const deployment::Deployment& d) { return d.hardware.platform == deployment::PlatformKind::xpu; }, "xpu chooses XPU"},
    DifferenceRow{kSeptember, kFp8, "swiglu alpha, beta or limit", has_number,
                  "the TRTLLM classes refuse a layer with swiglu alpha, beta or limit, but for MXFP8 and SILU"},
    DifferenceRow{kSeptember, kNvfp4, "I of a rank no multiple of 64, gated",
                  [](const deployment::Deployment& d) { return is_gated_layer(d) && d.layer.intermediate_per_partition % 64 != 0; },
                  "FLASHINFER_TRTLLM pads gate and up each: its weights are right (read)"},
    DifferenceRow{kSeptember, kInt8, "an AMD Zen CPU",
                  [](const deployment::Deployment& d) { return d.hardware.platform == deployment::PlatformKind::cpu && d.hardware.zen_cpu; },
                  "CPU has a class of its own for Zen, ZenCPUExpertsInt8"},
};

struct LibraryRow {
  Names release;
  Names libraries;
};
/// Source: requirements in the wheels' metadata.
constexpr std::array kLibraries = {
    LibraryRow{"0.22.0", "flashinfer-python 0.6.11.post2, humming-kernels 0.1.2, torch 2.11"},
    LibraryRow{"0.22.1", "flashinfer-python 0.6.11.post2, humming-kernels 0.1.2, torch 2.11"},
    LibraryRow{"0.29.0", "flashinfer-python 0.6.18, humming-kernels 0.1.12, torch 2.13"},
    LibraryRow{"0.33.0", "flashinfer-python 0.7.2.post1, humming-kernels 0.1.19, torch 2.14"},
};

bool is_about(const DifferenceRow& row, Names release, Names oracle) {
  return std::ranges::find(row.releases, release) != row.releases.end() && std::ranges::find(row.oracles, oracle) != row.oracles.end();
}

}  // namespace

std::vector<std::string> release_differences(std::string_view release, std::string_view oracle, const deployment::Deployment& deployment) {
  std::vector<std::string> notes;
  for (const DifferenceRow& row : kDifferences) {
    const bool touches = row.touches(deployment) || fault::planted(fault::Fault::release_differs_everywhere);
    if (is_about(row, release, oracle) && touches) notes.push_back(std::string(release) + " differs here: " + std::string(row.text));
  }
  return notes;
}

std::vector<std::string> release_differences(std::string_view release, std::string_view oracle) {
  std::vector<std::string> notes;
  for (const DifferenceRow& row : kDifferences) {
    if (!is_about(row, release, oracle)) continue;
    notes.push_back(std::string(release) + " differs in " + std::string(oracle) + " with " + std::string(row.where) + ": " + std::string(row.text));
  }
  return notes;
}

std::string release_libraries(std::string_view release) {
  const auto* const row = std::ranges::find(kLibraries, release, &LibraryRow::release);
  return row == kLibraries.end() ? "" : std::string(release) + " comes with " + std::string(row->libraries);
}

}  // namespace mx::engine
