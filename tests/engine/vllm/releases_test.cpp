// What releases answer otherwise than their version.

#include "model/engine/vllm/releases.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace mx::deployment;
using namespace mx::engine;

namespace {

Deployment layer_on(std::string_view platform, std::int64_t intermediate) {
  LayerConfig layer{.num_experts = 4, .experts_per_token = 2, .hidden = 256, .intermediate_per_partition = intermediate};
  layer.activation = "SILU";
  return deployment_on(platform_named(platform), {}, layer);
}

bool says(const std::vector<std::string>& notes, std::string_view part) {
  return std::ranges::any_of(notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a release says its known differences where they touch the deployment, and its libraries") {
  // Differences: the table of releases, run over recorded deployments; libraries: the wheels' metadata.
  CHECK(says(release_differences("0.29.0", "nvfp4", layer_on("SM100", 96)), "0.29.0 differs here: FLASHINFER_TRTLLM pads gate and up each"));
  CHECK(release_differences("0.29.0", "nvfp4", layer_on("SM100", 128)).empty());
  Deployment limited = layer_on("SM100", 128);
  limited.layer.has_swiglu_limit = true;
  CHECK(says(release_differences("0.29.0", "fp8", limited), "refuse a layer with swiglu"));
  CHECK(says(release_differences("0.22.1", "nvfp4", limited), "FLASHINFER_TRTLLM alone"));
  CHECK(says(release_differences("0.22.0", "mxfp4_deepseek_v4", layer_on("XPU", 128)), "xpu chooses XPU"));
  CHECK(release_differences("0.33.0", "nvfp4", limited).empty());
  CHECK(release_differences("", "nvfp4", limited).empty());
  CHECK(says(release_differences("0.29.0", "nvfp4"), "0.29.0 differs in nvfp4 with I of a rank no multiple of 64, gated"));
  CHECK(release_differences("0.29.0", "mxfp4").empty());
  CHECK(release_libraries("0.33.0").starts_with("0.33.0 comes with flashinfer-python 0.7.2.post1, humming-kernels 0.1.19"));
  CHECK(release_libraries("0.29.0").starts_with("0.29.0 comes with flashinfer-python 0.6.18"));
  CHECK(release_libraries("").empty());
}
