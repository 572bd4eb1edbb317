// Platforms, derived parallelism, environment variables, names.

#include "model/deployment/deployment.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "model/deployment/packages.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/variables.hpp"
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

TEST_CASE("a preset has what the engine's own requirements, build and image bring, at every version") {
  // requirements/rocm.txt of vllm: amd-quark>=0.8.99 at 7e1b45a09, ==0.12.post1 at 7ca49fbe4; requirements/cuda.txt has none.
  const auto release_of = [](PlatformKind platform, std::string_view name, Engine engine) {
    for (const PackageRow& row : packages_on(platform, engine)) {
      if (row.name == name) return std::string(row.release);
    }
    return std::string("none");
  };
  CHECK(release_of(PlatformKind::rocm, "amd-quark", kVllm2026_05) == ">=0.8.99");
  CHECK(release_of(PlatformKind::rocm, "amd-quark", kVllm2026_08) == "==0.12.post1");
  CHECK(release_of(PlatformKind::rocm, "amd-quark", kVllm2026_11) == "==0.12.post1");
  CHECK(release_of(PlatformKind::cuda, "amd-quark", kVllm2026_11) == "none");
  // The wheels' metadata: 0.22.1, 0.29.0, 0.33.0.
  CHECK(release_of(PlatformKind::cuda, "humming-kernels", kVllm2026_05) == "==0.1.2");
  CHECK(release_of(PlatformKind::cuda, "humming-kernels", kVllm2026_08) == "==0.1.12");
  CHECK(release_of(PlatformKind::cuda, "humming-kernels", kVllm2026_11) == "==0.1.19");
  CHECK(packages_on(PlatformKind::xpu, kVllm2026_11).empty());
  for (const PlatformKind platform : {PlatformKind::cuda, PlatformKind::rocm, PlatformKind::xpu, PlatformKind::cpu}) {
    const Software assumed = software_on(platform);
    CHECK(assumed.has_quark == (platform == PlatformKind::rocm));
    CHECK_FALSE(assumed.b12x_supported);
    CHECK_FALSE(assumed.has_hpc);
    // Whichever version is asked, the packages of that version answer as the preset does, each probe once.
    for (const Engine engine : known_engines()) {
      for (const SoftwareRow& probe : software_rows(engine)) {
        const auto rows = packages_on(platform, engine);
        const auto found =
            std::ranges::count_if(rows, [&](const PackageRow& row) { return std::ranges::find(row.answers, probe.answer) != row.answers.end(); });
        INFO(name_of(platform) << " " << name_of(engine) << " " << probe.name);
        CHECK(found == (assumed.*probe.answer ? 1 : 0));
      }
    }
  }
}

TEST_CASE("variables that a version does not read are said, with the version that dropped them or began") {
  // vllm/envs.py of 0.22.1, 0.29.0 and 0.33.0 held against one another.
  const char* const gone[] = {
      "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS",
      "VLLM_USE_FLASHINFER_MOE_FP4",        "VLLM_USE_FLASHINFER_MOE_FP8",         "VLLM_MXFP4_USE_MARLIN",
      "VLLM_FLASHINFER_MOE_BACKEND",        "VLLM_TEST_FORCE_FP8_MARLIN"};
  std::size_t said = 0;
  for (const std::string_view name : env_names()) {
    INFO(name);
    const Environment env{{std::string(name), "1"}};
    const bool is_gone = std::ranges::find(gone, name) != std::end(gone);
    CHECK(unread_variables(env, kVllm2026_08).size() == (is_gone || name == "VLLM_CPU_INT4_W4A8" || name.ends_with("_DSV4") ? 1 : 0));
    CHECK(unread_variables(env, kVllm2026_11).size() == (is_gone ? 1 : 0));
    if (!is_gone) continue;
    ++said;
    CHECK(unread_variables(env, kVllm2026_05).empty());
    for (const Engine engine : {kVllm2026_08, kVllm2026_11})
      CHECK(unread_variables(env, engine) == std::vector<std::string>{std::string(name) + " changes nothing: vllm@2026-08 dropped it"});
  }
  CHECK(said == std::size(gone));
  CHECK(unread_variables({{"VLLM_B12X_MOE_FP4_FORCE_A16", "1"}}, kVllm2026_05) ==
        std::vector<std::string>{
            "VLLM_B12X_MOE_FP4_FORCE_A16 changes nothing: no choice of vllm@2026-05 reads it, vllm@2026-08 is the first that does"});
  CHECK(unread_variables({}, kVllm2026_11).empty());
  CHECK(says(unknown_variable("VLLM_MOE_SKIP_PADDING"), "is a variable of the engine, which gives tokens that pad a batch no expert"));
  CHECK(says(unknown_variable("VLLM_USE_DEEP_GEM"), "did you mean VLLM_USE_DEEP_GEMM?"));
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
