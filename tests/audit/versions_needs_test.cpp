// Needs of the classes that came after vllm@2026-05, each from the class's own text.

#include <string>
#include <string_view>

#include "model/audit/needs.hpp"
#include "model/audit/placement.hpp"
#include "model/engine/vllm/select.hpp"
#include "tests/catch.hpp"

using namespace mx::audit;
using namespace mx::deployment;
using namespace mx::families;

namespace {

Deployment on(std::string_view platform, std::string_view activation) {
  LayerConfig layer{.num_experts = 128, .experts_per_token = 4, .hidden = 3072, .intermediate_per_partition = 3072};
  layer.has_bias = false;
  layer.activation = activation;
  return deployment_on(platform_named(platform), {}, layer);
}

struct Of {
  std::string_view oracle, backend, kernel_class, key;
};

/// Ids of the broken needs, in order, with a blank between.
std::string broken(const Deployment& deployment, mx::deployment::Engine engine, const Of& of) {
  const Placement placement{
      deployment, engine, of.oracle, of.backend, of.kernel_class, deployment.layer.hidden, deployment.layer.intermediate_per_partition, of.key};
  std::string ids;
  for (const KernelNeed* need : needs_of(engine, of.oracle, of.backend, of.kernel_class)) {
    if (is_broken(*need, placement)) ids += (ids.empty() ? "" : " ") + std::string(need->id);
  }
  return ids;
}

}  // namespace

TEST_CASE("AITER's W4A16 clamps SILU without a limit and drops the map at 2026-08, and not at 2026-11") {
  const Of of{"mxfp4", "AITER_MXFP4_BF16", "AiterW4A16ExpertsMonolithic", "kMxfp4Static"};
  Deployment deployment = on("gfx950", "SILU");
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, of) == "silu_without_limit");
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, of).empty());
  deployment.layer.constants.emplace();
  deployment.layer.constants->swiglu_limit = 7.0;
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, of).empty());
  deployment.parallel = {.tp = 8, .enable_expert_parallel = true};
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, of) == "expert_map");
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, of).empty());
  CHECK(broken(on("gfx942", "SWIGLUOAI"), mx::deployment::kVllm2026_08, of) == "device");
  CHECK(broken(on("gfx942", "SWIGLUOAI"), mx::deployment::kVllm2026_11, of).empty());
}

TEST_CASE("AITER's W4A4 of 2026-11 clamps SILU without a limit, and has the beta of SWIGLUOAI built in") {
  const Of of{"mxfp4", "AITER_MXFP4_MXFP4", "AiterW4A4ExpertsMonolithic", "kMxfp4Static"};
  CHECK(broken(on("gfx1250", "SILU"), mx::deployment::kVllm2026_11, of) == "silu_without_limit");
  CHECK(broken(on("gfx950", "SWIGLUOAI"), mx::deployment::kVllm2026_11, of) == "device");
  Deployment deployment = on("gfx1250", "SWIGLUOAI");
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, of).empty());
  deployment.layer.constants.emplace();
  deployment.layer.constants->swiglu_beta = 2.0;
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, of) == "oai_beta oai_alpha");  // the assertion comes before what the kernel would take
}

TEST_CASE("MXFP8 without kernels of its own computes SwiGLU whatever is asked") {
  const Of native{"mxfp8", "TRITON_MXFP8", "Mxfp8NativeTritonExperts", "kMxfp8Static"};
  CHECK(broken(on("gfx950", "SILU"), mx::deployment::kVllm2026_08, native).empty());
  CHECK(broken(on("gfx950", "GELU"), mx::deployment::kVllm2026_11, native) == "activation");
  Deployment deployment = on("gfx950", "SILU");
  deployment.layer.hidden = 2880;
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, native) == "sizes");
  const Of emulated{"mxfp8", "EMULATION", "Mxfp8EmulationTritonExperts", "kMxfp8Static"};
  deployment = on("SM90", "SWIGLUOAI_UNINTERLEAVE");
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, emulated).empty());
  deployment.layer.constants.emplace();
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, emulated) == "uninterleaved_limit");
  CHECK(broken(on("SM90", "SILU"), mx::deployment::kVllm2026_08, emulated).empty());
  // AITER's class of 2026-08 reads no activation; that of 2026-11 refuses what it does not know.
  const Of aiter{"mxfp8", "AITER_MXFP8", "AiterMxfp8Experts", "kMxfp8Static"};
  CHECK(broken(on("gfx950", "SILU"), mx::deployment::kVllm2026_08, aiter) == "activation");
  CHECK(broken(on("gfx950", "SILU"), mx::deployment::kVllm2026_11, aiter).empty());
  CHECK(broken(on("gfx950", "GELU"), mx::deployment::kVllm2026_11, aiter) == "activation");
}

TEST_CASE("package b12x takes no weight on the input but with activations as they are") {
  Deployment deployment = on("SM120", "SILU");
  deployment.layer.router_weight_on_input = true;
  deployment.layer.experts_per_token = 1;
  deployment.software.b12x_supported = true;
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, {"mxfp4", "B12X_MXFP4_BF16", "B12xExperts", "kMxfp4Static"}).empty());
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, {"mxfp4", "B12X_MXFP4_MXFP8", "B12xExperts", "kMxfp4Static"}) == "weight_on_input");
}

TEST_CASE("HPC, MoonEP and the processor's integer experts have needs of their own") {
  const Of hpc{"fp8", "HPC", "HPCExperts", "kFp8Static128BlockSym"};
  Deployment deployment = on("SM90", "GELU");
  deployment.software.has_hpc = true;
  deployment.layer.hidden = 2880;
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, hpc) == "activation hidden");
  deployment = on("SM100", "SILU");
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, hpc) == "device");

  const Of moonep{"unquantized", "MOONEP", "MoonEPExperts", ""};
  deployment = on("SM90", "SILU");
  deployment.parallel = {.dp = 2, .enable_expert_parallel = true, .all2all_backend = "moonep"};
  deployment.layer.in_dtype = "float16";
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, moonep) == "dtype");

  const Of processor{"int_wna16", "CPU", "CPUExpertsInt4", "kInt4Static"};
  deployment = on("CPU", "SILU");
  deployment.hardware.amx = false;
  deployment.parallel = {.tp = 8, .enable_expert_parallel = true};
  CHECK(broken(deployment, mx::deployment::kVllm2026_08, processor) == "amx expert_map");
  CHECK(broken(deployment, mx::deployment::kVllm2026_11, processor) == "amx");
}
