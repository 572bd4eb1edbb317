// Platforms, derived parallelism, environment variables, names.

#include "model/deployment/deployment.hpp"

#include <set>
#include <string>

#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/env.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;

using mx::tests::message_of;
using mx::tests::says;

TEST_CASE("platforms: names are unique, found in any case, and carry the right hardware") {
  std::set<std::string_view> names;
  for (const PlatformPreset& preset : all_platforms()) {
    INFO(preset.name);
    CHECK(names.insert(preset.name).second);
    CHECK_FALSE(preset.title.empty());
    const Deployment deployment = deployment_on(preset, {}, {});
    CHECK(deployment.hardware.capability.has_value() == (preset.capability != 0));
    CHECK(deployment.env.empty());
    // A Compute Capability is its name; the engine reads an architecture's digits.
    if (preset.platform == PlatformKind::cuda) CHECK("SM" + std::to_string(preset.capability) == preset.name);
    CHECK((preset.platform == PlatformKind::rocm) == preset.gcn_arch.starts_with("gfx"));
    CHECK(deployment.software.has_flashinfer == (preset.platform == PlatformKind::cuda));
    CHECK(deployment.software.aiter_found == (preset.platform == PlatformKind::rocm));
  }
  CHECK(names.size() == 18);
  CHECK(platform_named("sm100").name == "SM100");
  CHECK(platform_named("GFX942").name == "gfx942");
  CHECK(says(message_of(mx::ErrorCode::usage, [] { platform_named("SM101"); }), "did you mean SM1"));
}

TEST_CASE("parallelism that cannot exist is refused") {
  const auto message = [](ParallelRequest request) {
    return message_of(mx::ErrorCode::usage, [&] { derive(request, mx::deployment::kVllm2026_05); });
  };
  CHECK(says(message({.tp = 0}), "tp size is 0"));
  CHECK(says(message({.pcp = -1}), "pcp size is -1"));
  CHECK(says(message({.dp = 0}), "dp size is 0"));
  CHECK(says(message({.sp = 0}), "sp size is 0"));
  CHECK(says(message({.tp = 1 << 20, .pcp = 1 << 20, .dp = 1 << 20}), "above"));
  CHECK(says(message({.pcp = 1 << 11, .dp = 1 << 10}), "dp * pcp * tp is above 1048576 processes"));
  CHECK(says(message({.tp = 2, .pcp = 1 << 10, .dp = 1 << 10}), "dp * pcp * tp is above 1048576 processes"));
  CHECK(says(message({.all2all_backend = "deepep_lowlatency"}), "did you mean deepep_low_latency"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { derive_ranks({.tp = 2}, {.tp = 2}); }), "tp rank is 2"));
}

TEST_CASE("ranks follow dp, pcp, tp, slowest first") {
  const ParallelRequest request{.tp = 4, .pcp = 2, .dp = 3};
  CHECK(derive_ranks(request, {.tp = 3, .pcp = 1, .dp = 2}).tp == 23);
  ParallelRequest with_experts = request;
  with_experts.enable_expert_parallel = true;
  const Ranks ranks = derive_ranks(with_experts, {.tp = 3, .pcp = 1, .dp = 2});
  CHECK(ranks.tp == 0);
  CHECK(ranks.ep == 23);
  CHECK(derive_ranks({.tp = 1}, {.tp = 7}).tp == 0);
}

TEST_CASE("variables are read as Python reads them") {
  struct Row {
    const char* text;
    Switch integer;
    Switch word;
  };
  const Row rows[] = {
      {"1", Switch::on, Switch::on},
      {"0", Switch::off, Switch::off},
      {"2", Switch::on, Switch::off},
      {"-1", Switch::on, Switch::off},
      {"+0", Switch::off, Switch::off},
      {" 1 ", Switch::on, Switch::off},
      {"1_000", Switch::on, Switch::off},
      {"0_0", Switch::off, Switch::off},
      {"00", Switch::off, Switch::off},
      {"", Switch::unreadable, Switch::off},
      {"1_", Switch::unreadable, Switch::off},
      {"_1", Switch::unreadable, Switch::off},
      {"1__0", Switch::unreadable, Switch::off},
      {"-", Switch::unreadable, Switch::off},
      {"0x1", Switch::unreadable, Switch::off},
      {"1.0", Switch::unreadable, Switch::off},
      {"true", Switch::unreadable, Switch::on},
      {"TRUE", Switch::unreadable, Switch::on},
      {"yes", Switch::unreadable, Switch::off},
      {"99999999999999999999999", Switch::on, Switch::off},
  };
  for (const Row& row : rows) {
    INFO("'" << row.text << "'");
    CHECK(read_switch({{"VLLM_MXFP4_USE_MARLIN", row.text}}, EnvVariable::mxfp4_use_marlin) == row.integer);
    CHECK(read_switch({{"VLLM_ROCM_USE_AITER", row.text}}, EnvVariable::rocm_use_aiter) == row.word);
  }
  CHECK(read_switch({}, EnvVariable::use_deep_gemm) == Switch::on);
  CHECK(read_switch({}, EnvVariable::moe_use_deep_gemm) == Switch::on);
  CHECK(read_switch({}, EnvVariable::rocm_use_aiter_moe) == Switch::on);
  CHECK(read_switch({}, EnvVariable::flashinfer_fp4) == Switch::off);
  CHECK(read_switch({}, EnvVariable::flashinfer_fp8) == Switch::off);
  CHECK(read_switch({{"VLLM_TEST_FORCE_FP8_MARLIN", "TRUE"}}, EnvVariable::test_force_fp8_marlin) == Switch::on);
  CHECK(read_switch({}, EnvVariable::rocm_use_aiter) == Switch::off);
  CHECK(read_text({{"VLLM_HUMMING_MOE_GEMM_TYPE", "GroupeD"}}, EnvVariable::humming_moe_gemm_type) == "grouped");
}

TEST_CASE("every name leads to a word and back") {
  for (std::string_view name : activation_names()) CHECK(name_of(activation_named(name)) == name);
  for (std::string_view name : routing_names()) CHECK(name_of(routing_named(name)) == name);
  for (std::string_view name : quant_key_names()) CHECK(name_of(quant_key_named(name)) == name);
  CHECK_FALSE(override_key_named("unset"));
  CHECK(override_key_named("mxfp8") == QuantKey::mxfp8_dynamic);
  CHECK(says(message_of(mx::ErrorCode::usage, [] { activation_named("SWIGLUOAY"); }), "did you mean SWIGLUOAI"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { quant_key_named("kMxfp8Dynamik"); }), "did you mean kMxfp8Dynamic"));
}
