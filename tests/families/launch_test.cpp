// Launches as a user gives them, and as the engine chooses them: chosen ones were seen on an H100 (golden/witness/hardware).

#include "model/families/launch.hpp"

#include "model/error.hpp"
#include "model/families/batch.hpp"
#include "model/families/between.hpp"
#include "model/families/marlin_product.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::families;
using deployment::kVllm2026_05, deployment::kVllm2026_08, deployment::kVllm2026_11;
using layout::WeightFormat;

namespace {

Launched launched_with(WeightFormat format, const char* backend, std::int64_t tokens, deployment::Engine engine, const char* given = "",
                       Arch arch = Arch::sm90, bool limited = false, layout::Sizes sizes = {8, 256, 512, 1}) {
  const LaunchChoice choice = read_launch(given);
  return launched(execution_of(format, backend), {{arch}, engine, sizes, tokens, 8, "SILU", limited, true, false, false, choice});
}

std::string message(const char* text) {
  try {
    read_launch(text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a launch is read, for both products or for the second alone", "[families][launch]") {
  const LaunchChoice choice = read_launch("block_m=16,tile_k=64,w2.tile_k=128");
  CHECK(choice.find(LaunchKey::block_m, kFirstProduct) == 16);
  CHECK(choice.find(LaunchKey::block_m, kSecondProduct) == 16);
  CHECK(choice.find(LaunchKey::tile_k, kFirstProduct) == 64);
  CHECK(choice.find(LaunchKey::tile_k, kSecondProduct) == 128);
  CHECK_FALSE(choice.find(LaunchKey::tokens).has_value());
  CHECK(choice.has_tile());
  CHECK_FALSE(read_launch("e8m0=0,tokens=65").has_tile());
  CHECK(read_launch("") == LaunchChoice{});
  CHECK(message("block_m=4").find("is '4', must be a number from 8 to 1024") != std::string::npos);
  CHECK(message("block_m=16x").find("launch: block_m") != std::string::npos);
  CHECK(message("blok_m=16").find("did you mean block_m?") != std::string::npos);
  CHECK(message("block_m").find("no KEY=NUMBER") != std::string::npos);
  CHECK(message("w2.e8m0=1").find("one for both products") != std::string::npos);
}

TEST_CASE("FP8 by the engine's Triton kernel: tokens, version and modes decide on the contract", "[families][launch]") {
  const auto contract = [](std::int64_t tokens, deployment::Engine engine, const char* given = "") {
    return launched_with(WeightFormat::fp8_block, "TRITON", tokens, engine, given).contract;
  };
  CHECK(contract(64, kVllm2026_05) == "hopper-fp8-as-fp16-block");
  CHECK(contract(65, kVllm2026_05) == "hopper-fp8-block-1x128");
  CHECK(contract(64, kVllm2026_08) == "hopper-fp8-block-exchanged");
  CHECK(contract(65, kVllm2026_08) == "hopper-fp8-block-1x128");
  CHECK(contract(4, kVllm2026_08, "block_n=32") == "hopper-fp8-as-fp16-block");
  CHECK(contract(4, kVllm2026_05, "batch_invariant=1") == "hopper-fp8-block-1x128:restart=32");
  CHECK(contract(65, kVllm2026_05, "step_k=64") == "hopper-fp8-block-1x128:restart=64");
  // The launcher caps the step; the batched one does not, and takes every second block's scales for two.
  CHECK(contract(65, kVllm2026_05, "step_k=256") == "hopper-fp8-block-1x128");
  const Launched batched = launched_with(WeightFormat::fp8_block, "BATCHED_TRITON", 65, kVllm2026_05, "step_k=256");
  CHECK(batched.contract == "hopper-fp8-block-1x128:restart=256");
  CHECK(batched.reading.scales_every == 2);
  const auto of_channels = [](std::int64_t tokens, deployment::Engine engine) {
    return launched_with(WeightFormat::fp8_channel, "TRITON", tokens, engine).contract;
  };
  CHECK(of_channels(96, kVllm2026_05) == "hopper-fp8-as-fp16");
  CHECK(of_channels(97, kVllm2026_05) == "hopper-fp8");
  CHECK(of_channels(96, kVllm2026_08) == "hopper-fp8");
  CHECK(launched_with(WeightFormat::fp8_block, "TRITON", 4, kVllm2026_05, "", Arch::sm100).contract.empty());
}

// Their sums are golden/witness/hardware/fp8_squares_h200.
TEST_CASE("finer squares by the engine's Triton kernel: steps and columns of a tile are the square's", "[families][launch]") {
  const auto contract = [](std::int64_t side, std::int64_t tokens, deployment::Engine engine, const char* given = "") {
    const LaunchChoice choice = read_launch(given);
    const Operation operation{.arch = Arch::sm90, .block = side};
    return launched(execution_of(WeightFormat::fp8_block, "TRITON"),
                    {operation, engine, {8, 256, 512, side}, tokens, 8, "SILU", false, true, false, false, choice})
        .contract;
  };
  CHECK(contract(64, 64, kVllm2026_05) == "hopper-fp8-as-fp16-block:restart=64");
  CHECK(contract(64, 4, kVllm2026_08) == "hopper-fp8-block-exchanged:restart=64");
  CHECK(contract(64, 64, kVllm2026_08) == "hopper-fp8-block-exchanged:restart=64");
  CHECK(contract(64, 65, kVllm2026_08) == "hopper-fp8-block-1x128:restart=64");
  CHECK(contract(64, 65, kVllm2026_08, "batch_invariant=1") == "hopper-fp8-block-1x128:restart=32");
  // Tiles of 32 columns keep their operands.
  CHECK(contract(32, 4, kVllm2026_08) == "hopper-fp8-as-fp16-block:restart=32");
  CHECK(contract(32, 65, kVllm2026_08) == "hopper-fp8-block-1x128:restart=32");
  CHECK(contract(32, 4, kVllm2026_08, "block_n=64") == "hopper-fp8-block-exchanged:restart=32");
  CHECK(contract(32, 65, kVllm2026_08, "step_k=128") == "hopper-fp8-block-1x128:restart=32");
}

TEST_CASE("FP8 by the engine's Triton kernel: a tuned file has the tile in the place of the engine's own", "[families][launch]") {
  const auto made = [](std::int64_t tokens, const char* given, const char* backend = "TRITON") {
    LaunchChoice choice = read_launch(given);
    choice.tuned = TunedTiles{"H100.json", {{1, 16, 64, 128}, {4, 64, 128, 64}, {64, 64, 128, 256}}};
    return launched(execution_of(WeightFormat::fp8_block, backend),
                    {{Arch::sm90}, kVllm2026_05, {8, 256, 512, 1}, tokens, 8, "SILU", false, true, false, false, choice});
  };
  CHECK(made(2, "").contract == "hopper-fp8-as-fp16-block");
  CHECK(made(3, "").contract == "hopper-fp8-block-1x128:restart=64");
  CHECK(made(200, "").contract == "hopper-fp8-block-1x128");
  CHECK(made(200, "", "BATCHED_TRITON").contract == "hopper-fp8-block-1x128:restart=256");
  CHECK(made(200, "", "BATCHED_TRITON").reading.scales_every == 2);
  CHECK(made(2, "block_m=64").contract == "hopper-fp8-block-1x128");
  CHECK(made(2, "batch_invariant=1").contract == "hopper-fp8-block-1x128:restart=32");
  CHECK(made(2, "").text.find("H100.json for 2 tokens") != std::string::npos);
  const auto batch = [](std::vector<TunedTile> tiles, const char* given) {
    LaunchChoice choice = read_launch(given);
    choice.tuned = TunedTiles{"H100.json", std::move(tiles)};
    return text_of(batch_of({WeightFormat::fp8_block, "TRITON", {Arch::sm90}, kVllm2026_05, nullptr, nullptr, &choice, {}}));
  };
  const TunedTile small{1, 16, 64, 128}, large{64, 64, 128, 256};
  CHECK(batch({small, large}, "") == "changes: where the tiles of H100.json compute otherwise");
  CHECK(batch({small, {64, 16, 64, 128}}, "") == "invariant");
  CHECK(batch({small, large}, "block_m=64,step_k=32") == "invariant");
  CHECK(batch({small, large}, "batch_invariant=1") == "invariant");
}

TEST_CASE("between products of FP8 in blocks: the mode of scales, a limit and the version decide", "[families][launch]") {
  const auto made = [](const char* given, bool limited = false, deployment::Engine engine = kVllm2026_08) {
    return launched_with(WeightFormat::fp8_block, "TRITON", 4, engine, given, Arch::sm90, limited);
  };
  CHECK(made("").between == nullptr);
  CHECK(made("").quantizer == "fp8-group128-ue8m0");
  CHECK(made("e8m0=0").between != nullptr);
  CHECK(made("e8m0=0").quantizer.empty());
  // The one kernel reads no limit; 0.33.0 takes it without a limit alone.
  CHECK(made("e8m0=0", true).between != nullptr);
  CHECK(made("e8m0=0", true, kVllm2026_11).between == nullptr);
  CHECK(activates(made(""))->name == "silu_and_mul");
  CHECK(activates(made("e8m0=0"))->name == "silu_and_mul_per_block_quant");
}

TEST_CASE("scales of groups are powers of two where the engine takes DeepGEMM to run", "[families][launch]") {
  const auto made = [](const char* backend, Arch arch, deployment::Engine engine, const char* given = "") {
    return launched_with(WeightFormat::fp8_block, backend, 4, engine, given, arch);
  };
  for (const char* backend : {"TRITON", "DEEPGEMM"}) {
    CHECK(made(backend, Arch::sm90, kVllm2026_05).quantizer == "fp8-group128-ue8m0");
    CHECK(made(backend, Arch::sm100, kVllm2026_05).quantizer == "fp8-group128-ue8m0");
    CHECK(made(backend, Arch::sm100, kVllm2026_05, "e8m0=0").quantizer.empty());
    CHECK(made(backend, Arch::sm120, kVllm2026_05).quantizer.empty());
    CHECK(made(backend, Arch::sm120, kVllm2026_08).quantizer == "fp8-group128-ue8m0");
    CHECK(made(backend, Arch::sm89, kVllm2026_08).quantizer.empty());
  }
  // Without DeepGEMM the activation and its quantizer are one kernel.
  CHECK(made("TRITON", Arch::sm89, kVllm2026_08).between->name == "silu_and_mul_per_block_quant");
  CHECK(made("TRITON", Arch::sm100, kVllm2026_08).between == nullptr);
  CHECK(made("TRITON", Arch::gfx942, kVllm2026_08).between == nullptr);
  CHECK(made("DEEPGEMM", Arch::sm90, kVllm2026_08).between->name == "silu_mul_per_token_group_quant_fp8_colmajor");
  CHECK(made("DEEPGEMM", Arch::sm90, kVllm2026_08).between_powers);
  CHECK_FALSE(made("DEEPGEMM", Arch::sm90, kVllm2026_08, "e8m0=0").between_powers);
  CHECK(made("DEEPGEMM", Arch::sm100, kVllm2026_08).between->name == "silu_mul_quant_fp8_packed");
  CHECK(made("BATCHED_DEEPGEMM", Arch::sm90, kVllm2026_05).between->name == "persistent_masked_m_silu_mul_quant");
  CHECK(made("BATCHED_DEEPGEMM", Arch::sm90, kVllm2026_05).between_powers);
  CHECK(made("DEEPGEMM", Arch::sm100, kVllm2026_08, "e8m0=0").between->name == "silu_mul_per_token_group_quant_fp8_colmajor");
}

// Each kernel's outputs are golden/witness/hardware/activations_h200.
TEST_CASE("the engine's activations: version, limit and a map of experts decide on the kernel", "[families][launch]") {
  const auto made = [](WeightFormat format, const char* backend, const char* activation, bool limited, deployment::Engine engine, bool mapped = false,
                       Arch arch = Arch::sm90) -> std::string_view {
    const LaunchChoice none;
    const Between* const kernel = activates(
        launched(execution_of(format, backend), {{arch}, engine, {8, 256, 512, 32}, 4, 2, activation, limited, true, mapped, mapped, none}));
    return kernel == nullptr ? "the row's" : kernel->name;
  };
  for (const deployment::Engine engine : {kVllm2026_05, kVllm2026_08, kVllm2026_11}) {
    CHECK(made(WeightFormat::mxfp4, "MARLIN", "SILU", false, engine) == "silu_and_mul");
    CHECK(made(WeightFormat::mxfp4, "MARLIN", "GELU", false, engine) == "gelu_and_mul");
    CHECK(made(WeightFormat::mxfp4, "MARLIN", "GELU", true, engine, true) == "gelu_and_mul");
    CHECK(made(WeightFormat::mxfp4, "MARLIN", "GELU_TANH", false, engine) == "gelu_tanh_and_mul");
    CHECK(made(WeightFormat::mxfp4, "MARLIN", "SWIGLUOAI", true, engine) == "the row's");
    CHECK(made(WeightFormat::mxfp4, "MARLIN", "SILU", false, engine, false, Arch::gfx942) == "the row's");
  }
  for (const char* backend : {"MARLIN", "TRITON"}) {
    CHECK(made(WeightFormat::fp8_channel, backend, "SILU", true, kVllm2026_05) == "the row's");
    CHECK(made(WeightFormat::fp8_channel, backend, "SILU", true, kVllm2026_08) == "silu_and_mul_with_clamp");
  }
  // Marlin alone skips the slots of other ranks.
  CHECK(made(WeightFormat::mxfp4, "MARLIN", "SILU", true, kVllm2026_08, true) == "swiglu_limit_pad_aware");
  CHECK(made(WeightFormat::nvfp4, "MARLIN", "SILU", true, kVllm2026_11, true) == "swiglu_limit_pad_aware");
  CHECK(made(WeightFormat::fp8_block, "MARLIN", "SILU", true, kVllm2026_11, true) == "swiglu_limit_pad_aware");
  CHECK(made(WeightFormat::mxfp4, "MARLIN", "SILU", true, kVllm2026_05, true) == "the row's");
  CHECK(made(WeightFormat::mxfp4, "MARLIN", "SILU", false, kVllm2026_11, true) == "silu_and_mul");
  CHECK(made(WeightFormat::mxfp4, "BATCHED_MARLIN", "SILU", true, kVllm2026_11, true) == "silu_and_mul_with_clamp");
  CHECK(made(WeightFormat::fp8_channel, "TRITON", "SILU", true, kVllm2026_11, true) == "silu_and_mul_with_clamp");
}

TEST_CASE("what kernels between the products add to up, and of which model with a limit", "[families][launch]") {
  constexpr std::uint32_t kSeven = 0x40E00000U;
  for (const char* name : {"silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul", "silu_and_mul_with_clamp",
                           "silu_mul_per_token_group_quant_fp8_colmajor", "silu_mul_quant_fp8_packed"}) {
    CHECK_FALSE(between_named(name).adds_zero.has(kVllm2026_05));
    CHECK(between_named(name).adds_zero.has(kVllm2026_08));
    CHECK(between_named(name).adds_zero.has(kVllm2026_11));
  }
  for (const char* name : {"silu_and_mul_per_block_quant", "persistent_masked_m_silu_mul_quant", "swiglu_limit_pad_aware", "humming_process_input"})
    CHECK_FALSE(between_named(name).adds_zero.has(kVllm2026_11));
  CHECK(activation_of(between_named("silu_and_mul_with_clamp"), kSeven).name == "silu_and_mul_clamp_cuda");
  CHECK(activation_of(between_named("silu_and_mul_with_clamp"), 0).name == "silu_and_mul");
  CHECK(constants_of(between_named("silu_and_mul_with_clamp"), kSeven).limit == kSeven);
  // This one reads no limit.
  CHECK(activation_of(between_named("silu_and_mul_per_block_quant"), kSeven).name == "silu_and_mul_block_quant");
  CHECK(constants_of(between_named("silu_and_mul_per_block_quant"), kSeven).limit == 0);
}

TEST_CASE("a launch of CUTLASS has the order of its slots", "[families][launch]") {
  CHECK(launched_with(WeightFormat::fp8_channel, "VLLM_CUTLASS", 8, kVllm2026_05).epilogue == EpilogueScale::activation_first);
  CHECK(launched_with(WeightFormat::fp8_channel, "VLLM_CUTLASS", 9, kVllm2026_05).epilogue == EpilogueScale::weight_first);
}

TEST_CASE("MXFP4 by triton_kernels 3.5 leaves the end of odd rows, where 32 of k are over", "[families][launch]") {
  const auto end = [](std::int64_t hidden, bool newer) {
    const LaunchChoice none;
    return launched(execution_of(WeightFormat::mxfp4, "TRITON"), {{.arch = Arch::sm90, .triton_kernels_3_6 = newer},
                                                                  kVllm2026_05,
                                                                  {8, 160, hidden, 32},
                                                                  4,
                                                                  4,
                                                                  "SWIGLUOAI",
                                                                  true,
                                                                  true,
                                                                  false,
                                                                  false,
                                                                  none})
        .reading.odd_rows_end;
  };
  CHECK(end(224, false) == 192);
  CHECK(end(224, true) == 0);
  CHECK(end(256, false) == 0);
}

// The launches of golden/witness/hardware that the kernel chose itself.
TEST_CASE("Marlin's launch is the one that the engine was seen to choose", "[families][launch]") {
  const auto same = [](const marlin::Launch& a, const marlin::Launch& b) {
    return a.moe_block == b.moe_block && a.tile_k == b.tile_k && a.tile_n == b.tile_n && a.threads == b.threads && a.blocks == b.blocks;
  };
  CHECK(same(marlin::default_launch(8, 2, 256, 256), {8, 128, 128, 256, 132}));
  CHECK(same(marlin::default_launch(8, 2, 256, 128), {8, 128, 128, 256, 132}));
  CHECK(same(marlin::default_launch(12, 4, 384, 256), {8, 128, 64, 128, 264}));
  // 10 slots an expert are more than nine tenths of 8; 15 and more of 16.
  CHECK(marlin::default_launch(40, 4, 256, 256).moe_block == 16);
  CHECK(marlin::default_launch(60, 4, 256, 256).moe_block == 32);
  CHECK(marlin::default_launch(100000, 4, 256, 256).moe_block == 64);
  CHECK_THROWS_AS(marlin::default_launch(8, 2, 96, 256), Error);
}

TEST_CASE("Marlin's batched class takes blocks of 64 whatever the tokens", "[families][launch]") {
  const LaunchChoice none;
  const LaunchFacts facts{{Arch::sm90}, kVllm2026_08, {4, 256, 256, 32}, 8, 2, "SWIGLUOAI", true, true, false, false, none};
  const Launched made = launched(execution_of(WeightFormat::mxfp4, "BATCHED_MARLIN"), facts);
  REQUIRE(made.products.front().has_value());
  CHECK(made.products.front()->block_m == 64);
  CHECK(made.text.find("blocks 264") != std::string::npos);
}

TEST_CASE("an expert's scale of NVFP4 meets the routing weight wherever Marlin runs", "[families][launch]") {
  for (const Arch arch : {Arch::sm90, Arch::sm100})
    CHECK(launched_with(WeightFormat::nvfp4, "MARLIN", 4, kVllm2026_08, "", arch).global_meets_weight);
  CHECK_FALSE(launched_with(WeightFormat::mxfp4, "MARLIN", 4, kVllm2026_08).global_meets_weight);
}

TEST_CASE("ranks that share a layer have Marlin's tiles whole", "[families][launch]") {
  const LaunchChoice none;
  const LaunchFacts facts{{Arch::sm90}, kVllm2026_08, {4, 256, 256, 32}, 8, 2, "SWIGLUOAI", true, true, true, false, none};
  CHECK_FALSE(launched(execution_of(WeightFormat::mxfp4, "MARLIN"), facts).products.front().has_value());
}
