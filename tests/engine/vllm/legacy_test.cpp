// The mxfp4 method before there were oracles.

#include "model/engine/vllm/oracles/legacy.hpp"

#include <variant>

#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

LegacyMachine machine(PlatformKind platform, std::optional<int> capability, const Environment& environment = {}) {
  return {{platform, capability, ""}, true, true, torch_version_of("2.8.0"), environment};
}

LegacyChoice chosen(const LegacyMachine& on) { return std::get<LegacyChoice>(legacy_choice(on)); }

constexpr LegacyChoice kMarlin{true, false, false};
constexpr LegacyChoice kBf16{false, true, false};
constexpr LegacyChoice kTriton{false, false, false};

}  // namespace

TEST_CASE("torch versions compare as versions, with pre-releases below their release") {
  struct Row {
    const char* text;
    bool from_2_8_0;
    bool from_2_8_1;
  };
  const Row rows[] = {
      {"2.7.1", false, false},
      {"2.8.0", true, false},
      {"2.8.1", true, true},
      {"2.10.0", true, true},
      {"3.0", true, true},
      {"2.8", true, false},
      {"2.8.0.dev20250801", false, false},
      {"2.8.0rc1", false, false},
      {"2.8.0a0", false, false},
      {"2.8.0b2", false, false},
      {"2.8.1.dev1", true, false},
      {"2.8.0+cu128", true, false},
      {"2.8.0.post1", true, false},
      {"2.8.0a0+git123", false, false},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(at_least(torch_version_of(row.text), {2, 8, 0}) == row.from_2_8_0);
    CHECK(at_least(torch_version_of(row.text), {2, 8, 1}) == row.from_2_8_1);
  }
  for (const char* text : {"", "two", "2.8.x", "2.8.0.1", "-2.8", "2.8.0 ", "2..8", "99999999999.0", "2.8.0.cpu"}) {
    INFO(text);
    CHECK(says(message_of(mx::ErrorCode::usage, [&] { torch_version_of(text); }), "torch version"));
  }
}

TEST_CASE("Marlin: the variable, else old devices or missing kernels, but never capability 100 exactly") {
  CHECK(chosen(machine(PlatformKind::cuda, 80)).use_marlin);
  CHECK(chosen(machine(PlatformKind::cuda, std::nullopt)).use_marlin);
  CHECK_FALSE(chosen(machine(PlatformKind::cuda, 90)).use_marlin);
  CHECK_FALSE(chosen(machine(PlatformKind::cuda, 103)).use_marlin);
  CHECK_FALSE(chosen(machine(PlatformKind::rocm, 80)).use_marlin);
  CHECK_FALSE(chosen(machine(PlatformKind::cpu, std::nullopt)).use_marlin);
  for (int capability : {90, 103, 120}) {
    LegacyMachine on = machine(PlatformKind::cuda, capability);
    on.has_triton_kernels = false;
    CHECK(chosen(on).use_marlin);
    on.has_triton_kernels = true;
    on.torch = torch_version_of("2.8.0.dev20250801");
    CHECK(chosen(on).use_marlin);
  }
  LegacyMachine blackwell = machine(PlatformKind::cuda, 100);
  blackwell.has_triton_kernels = false;
  CHECK_FALSE(chosen(blackwell).use_marlin);
  CHECK(chosen(machine(PlatformKind::cpu, std::nullopt, {{"VLLM_MXFP4_USE_MARLIN", "1"}})).use_marlin);
  CHECK_FALSE(chosen(machine(PlatformKind::cuda, 80, {{"VLLM_MXFP4_USE_MARLIN", "0"}})).use_marlin);
}

TEST_CASE("FlashInfer: BF16 by itself on capability 100, unless MXFP8 is set to anything") {
  const std::string bf16 = "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16";
  const std::string mxfp8 = "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8";
  CHECK(chosen(machine(PlatformKind::cuda, 100)).flashinfer_bf16);
  CHECK_FALSE(chosen(machine(PlatformKind::cuda, 103)).flashinfer_bf16);
  CHECK_FALSE(chosen(machine(PlatformKind::cuda, 100, {{mxfp8, "0"}})).use_flashinfer());
  CHECK_FALSE(chosen(machine(PlatformKind::cuda, 100, {{bf16, "0"}})).use_flashinfer());
  CHECK(chosen(machine(PlatformKind::cpu, std::nullopt, {{bf16, "1"}})).flashinfer_bf16);
  CHECK(chosen(machine(PlatformKind::rocm, 94, {{mxfp8, "1"}})).flashinfer_mxfp8);
  CHECK(chosen(machine(PlatformKind::cuda, 100, {{bf16, "1"}, {mxfp8, "1"}})).flashinfer_bf16);
  LegacyMachine without = machine(PlatformKind::cuda, 100);
  without.has_flashinfer = false;
  CHECK_FALSE(chosen(without).use_flashinfer());
  for (const std::string& variable : {bf16, mxfp8, std::string("VLLM_MXFP4_USE_MARLIN")}) {
    const auto answer = legacy_choice(machine(PlatformKind::cuda, 100, {{variable, "yes"}}));
    REQUIRE(std::holds_alternative<Refusal>(answer));
    CHECK(std::get<Refusal>(answer).error_type == "ValueError");
    CHECK(says(std::get<Refusal>(answer).text, variable));
  }
}

TEST_CASE("padding: the first of Marlin, FlashInfer, rocm, everything else") {
  struct Row {
    LegacyChoice choice;
    PlatformKind platform;
    std::int64_t hidden;
    std::int64_t intermediate;
  };
  const Row rows[] = {
      {kMarlin, PlatformKind::cuda, 3072, 384}, {{true, true, true}, PlatformKind::cuda, 3072, 384},
      {kBf16, PlatformKind::rocm, 3072, 512},   {{false, false, true}, PlatformKind::cuda, 3072, 512},
      {kTriton, PlatformKind::rocm, 2881, 384}, {kTriton, PlatformKind::cuda, 2881, 320},
  };
  for (const Row& row : rows) {
    const LegacySizes padded = legacy_padding(row.choice, row.platform, {2881, 300});
    CHECK(padded.hidden == row.hidden);
    CHECK(padded.intermediate == row.intermediate);
  }
  CHECK(says(message_of(mx::ErrorCode::usage, [] { legacy_padding(kTriton, PlatformKind::cuda, {0, 1}); }), "hidden size is 0"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { legacy_padding(kTriton, PlatformKind::cuda, {1, -5}); }), "intermediate size is -5"));
}

TEST_CASE("shapes of the parameters, scales of an odd hidden size are cut off") {
  const LegacyShapes shapes = legacy_shapes(8, {6350, 384});
  CHECK(shapes.w13_weight == std::array<std::int64_t, 3>{8, 768, 3175});
  CHECK(shapes.w13_weight_scale == std::array<std::int64_t, 3>{8, 768, 198});
  CHECK(shapes.w13_bias == std::array<std::int64_t, 2>{8, 768});
  CHECK(shapes.w2_weight == std::array<std::int64_t, 3>{8, 6350, 192});
  CHECK(shapes.w2_weight_scale == std::array<std::int64_t, 3>{8, 6350, 12});
  CHECK(shapes.w2_bias == std::array<std::int64_t, 2>{8, 6350});
}

TEST_CASE("the layer's features: any one of them is refused, a group count of 0 is none") {
  CHECK(legacy_can_support({}));
  CHECK(legacy_can_support({.topk_group = 0, .num_expert_group = 0}));
  const LegacyLayer refused[] = {
      {.use_grouped_topk = true},
      {.topk_group = 4},
      {.num_expert_group = 8},
      {.expert_map = true},
      {.custom_routing_function = true},
      {.e_score_correction_bias = true},
      {.apply_router_weight_on_input = true},
      {.scoring_func = "sigmoid"},
      {.activation = "silu"},
      {.expert_load_view = true},
      {.logical_to_physical_map = true},
      {.logical_replica_count = true},
  };
  for (const LegacyLayer& layer : refused) CHECK_FALSE(legacy_can_support(layer));
}

TEST_CASE("apply: EPLB, then Marlin, then the layer, then expert parallelism") {
  const auto path = [](const LegacyChoice& choice, bool eplb, bool ep, const LegacyLayer& layer) {
    const auto answer = legacy_path(choice, eplb, ep, layer);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal->error_type;
    return std::string(name_of(std::get<LegacyPath>(answer)));
  };
  const LegacyLayer silu{.activation = "silu"};
  CHECK(path(kMarlin, true, false, {}) == "NotImplementedError");
  CHECK(path(kTriton, true, false, silu) == "NotImplementedError");
  CHECK(path(kMarlin, false, true, silu) == "marlin");
  CHECK(path({true, true, false}, false, false, {}) == "marlin");
  CHECK(path(kBf16, false, false, silu) == "AssertionError");
  CHECK(path(kTriton, false, false, silu) == "AssertionError");
  CHECK(path(kBf16, false, true, {}) == "AssertionError");
  CHECK(path(kBf16, false, false, {}) == "flashinfer");
  CHECK(path(kTriton, false, true, {}) == "triton");
  CHECK(legacy_flashinfer_routing(true) == Routing::renormalize);
  CHECK(legacy_flashinfer_routing(false) == Routing::standard);
}

TEST_CASE("tokens per tile: an even split, 30 % more, a power of two within 8 and 64") {
  CHECK(legacy_tile_tokens_dim(1, 4, 128) == 8);
  CHECK(legacy_tile_tokens_dim(256, 4, 128) == 16);
  CHECK(legacy_tile_tokens_dim(1024, 4, 128) == 64);
  CHECK(legacy_tile_tokens_dim(0, 4, 128) == 8);
  CHECK(legacy_tile_tokens_dim(7, 1, 1) == 16);   // 9.1 -> 9
  CHECK(legacy_tile_tokens_dim(6, 1, 1) == 8);    // 7.8 -> 7
  CHECK(legacy_tile_tokens_dim(10, 1, 1) == 16);  // 13
  CHECK(legacy_tile_tokens_dim(13, 1, 1) == 16);  // 16.9 -> 16
  CHECK(legacy_tile_tokens_dim(14, 1, 1) == 32);  // 18.2
  CHECK(legacy_tile_tokens_dim(kLargestSize, kLargestTopK, 1) == 64);
  CHECK(says(message_of(mx::ErrorCode::usage, [] { legacy_tile_tokens_dim(-1, 1, 1); }), "number of tokens is -1"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { legacy_tile_tokens_dim(1, -1, 1); }), "top_k is -1"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { legacy_tile_tokens_dim(1, 1, 0); }), "number of experts is 0"));
}

TEST_CASE("warps and layouts of the Triton path") {
  CHECK(legacy_num_warps(false) == 8);
  CHECK(legacy_num_warps(false, 1) == 8);
  CHECK(legacy_num_warps(true) == 4);
  CHECK(legacy_num_warps(true, 512) == 4);
  CHECK(legacy_num_warps(true, 513) == 8);
  CHECK(legacy_swizzle(90, torch_version_of("2.8.0")).strided);
  CHECK_FALSE(legacy_swizzle(90, torch_version_of("2.8.1")).strided);
  CHECK_FALSE(legacy_swizzle(94, torch_version_of("2.8.0")).strided);
  CHECK_FALSE(legacy_swizzle(std::nullopt, torch_version_of("2.7.0")).strided);
  CHECK(legacy_swizzle(100, torch_version_of("2.8.0")).persistent_kernel);
  CHECK_FALSE(legacy_swizzle(103, torch_version_of("2.8.0")).persistent_kernel);
}
