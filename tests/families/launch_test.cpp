// Launches as a user gives them, and as the engine chooses them: chosen ones were seen on an H100 (golden/witness/hardware).

#include "model/families/launch.hpp"

#include "model/error.hpp"
#include "model/families/batch.hpp"
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
  return launched(execution_of(format, backend), {{arch}, engine, sizes, tokens, 8, "SILU", limited, true, false, choice});
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

TEST_CASE("FP8 by the engine's Triton kernel: a tuned file has the tile in the place of the engine's own", "[families][launch]") {
  const auto made = [](std::int64_t tokens, const char* given, const char* backend = "TRITON") {
    LaunchChoice choice = read_launch(given);
    choice.tuned = TunedTiles{"H100.json", {{1, 16, 64, 128}, {4, 64, 128, 64}, {64, 64, 128, 256}}};
    return launched(execution_of(WeightFormat::fp8_block, backend),
                    {{Arch::sm90}, kVllm2026_05, {8, 256, 512, 1}, tokens, 8, "SILU", false, true, false, choice});
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
  CHECK(made("").adds_zero_to_up);
  CHECK_FALSE(made("", false, kVllm2026_05).adds_zero_to_up);
  CHECK(launched_with(WeightFormat::fp8_block, "DEEPGEMM", 4, kVllm2026_08).between_powers);
  CHECK_FALSE(launched_with(WeightFormat::fp8_block, "DEEPGEMM", 4, kVllm2026_08, "e8m0=0").between_powers);
}

TEST_CASE("a launch of CUTLASS has the order of its slots", "[families][launch]") {
  CHECK(launched_with(WeightFormat::fp8_channel, "VLLM_CUTLASS", 8, kVllm2026_05).epilogue == EpilogueScale::activation_first);
  CHECK(launched_with(WeightFormat::fp8_channel, "VLLM_CUTLASS", 9, kVllm2026_05).epilogue == EpilogueScale::weight_first);
}

TEST_CASE("MXFP4 by triton_kernels 3.5 leaves the end of odd rows, where 32 of k are over", "[families][launch]") {
  const auto end = [](std::int64_t hidden, bool newer) {
    const LaunchChoice none;
    return launched(
               execution_of(WeightFormat::mxfp4, "TRITON"),
               {{.arch = Arch::sm90, .triton_kernels_3_6 = newer}, kVllm2026_05, {8, 160, hidden, 32}, 4, 4, "SWIGLUOAI", true, true, false, none})
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
  const LaunchFacts facts{{Arch::sm90}, kVllm2026_08, {4, 256, 256, 32}, 8, 2, "SWIGLUOAI", true, true, false, none};
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
  const LaunchFacts facts{{Arch::sm90}, kVllm2026_08, {4, 256, 256, 32}, 8, 2, "SWIGLUOAI", true, true, true, none};
  CHECK_FALSE(launched(execution_of(WeightFormat::mxfp4, "MARLIN"), facts).products.front().has_value());
}
