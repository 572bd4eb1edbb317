// Small choices around a backend: the exchange's hidden size, FlashInfer's variant, the fp8 oracle's order.

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "model/engine/vllm/oracles/priority.hpp"
#include "model/engine/vllm/setup/flashinfer_variant.hpp"
#include "model/engine/vllm/setup/hidden_roundup.hpp"
#include "model/engine/vllm/tables.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

Parallel exchange(const char* backend) {
  return derive({.dp = 2, .enable_expert_parallel = true, .all2all_backend = backend}, mx::deployment::kVllm2026_05);
}

std::int64_t rounded(std::int64_t hidden, const char* dtype, const Parallel& parallel) {
  return std::get<std::int64_t>(hidden_for_exchange(hidden, dtype, parallel));
}

std::string variant(std::optional<int> capability, const Environment& environment) {
  const auto answer = flashinfer_variant(capability, environment);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal->error_type;
  return std::string(name_of(std::get<FlashinferVariant>(answer)));
}

std::vector<std::string_view> order(PlatformKind platform, std::optional<int> capability, int ep_size, QuantKey weight, QuantKey activation) {
  const OracleTables& tables = fp8_tables(mx::deployment::kVllm2026_05);
  const Parallel parallel = derive({.tp = ep_size, .enable_expert_parallel = true}, mx::deployment::kVllm2026_05);
  return priority_order({tables.priority, tables.to_front}, {{platform, capability, ""}, parallel, weight, activation, Activation::silu});
}

}  // namespace

TEST_CASE("DeepEP HT moves whole units of 512 bytes") {
  const Parallel parallel = exchange("deepep_high_throughput");
  CHECK(rounded(2880, "bfloat16", parallel) == 3072);
  CHECK(rounded(2880, "float32", parallel) == 2944);
  CHECK(rounded(2880, "float8_e4m3fn", parallel) == 3072);
  CHECK(rounded(1, "float16", parallel) == 256);
  CHECK(rounded(256, "float16", parallel) == 256);
  CHECK(rounded(257, "float16", parallel) == 512);
}

TEST_CASE("the batched exchanges know eight hidden sizes") {
  for (const char* backend : {"deepep_low_latency", "nixl_ep"}) {
    const Parallel parallel = exchange(backend);
    CHECK(rounded(1, "bfloat16", parallel) == 2048);
    CHECK(rounded(2048, "bfloat16", parallel) == 2048);
    CHECK(rounded(2049, "bfloat16", parallel) == 2560);
    CHECK(rounded(2880, "float32", parallel) == 3072);
    CHECK(rounded(3073, "bfloat16", parallel) == 4096);
    CHECK(rounded(8192, "bfloat16", parallel) == 8192);
    const auto answer = hidden_for_exchange(8193, "bfloat16", parallel);
    REQUIRE(std::holds_alternative<Refusal>(answer));
    CHECK(std::get<Refusal>(answer).error_type == "ValueError");
    CHECK(says(std::get<Refusal>(answer).text, "8193"));
  }
}

TEST_CASE("no other exchange changes the hidden size, and none does without all2all kernels") {
  for (std::string_view backend : all2all_names(mx::deployment::kVllm2026_05)) {
    CHECK(rounded(2881, "bfloat16",
                  derive({.tp = 2, .enable_expert_parallel = true, .all2all_backend = std::string(backend)}, mx::deployment::kVllm2026_05)) == 2881);
    CHECK(rounded(9001, "bfloat16", derive({.dp = 2, .all2all_backend = std::string(backend)}, mx::deployment::kVllm2026_05)) == 9001);
  }
  for (const char* backend : {"allgather_reducescatter", "naive", "pplx", "mori", "flashinfer_nvlink_one_sided"}) {
    CHECK(rounded(2881, "bfloat16", exchange(backend)) == 2881);
  }
}

TEST_CASE("sizes and dtypes that no layer has are refused") {
  const Parallel parallel = derive({}, mx::deployment::kVllm2026_05);
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { hidden_for_exchange(0, "bfloat16", parallel); }), "hidden size is 0"));
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { hidden_for_exchange(kLargestSize + 1, "bfloat16", parallel); }), "hidden size"));
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { hidden_for_exchange(1, "bfloat61", parallel); }), "did you mean bfloat16"));
}

TEST_CASE("FlashInfer's variant follows the variable and the capability") {
  const auto with = [](const char* word) { return Environment{{"VLLM_FLASHINFER_MOE_BACKEND", word}}; };
  CHECK(variant(100, {}) == "TENSORRT_LLM");
  CHECK(variant(103, {}) == "TENSORRT_LLM");
  CHECK(variant(90, {}) == "CUTLASS");
  CHECK(variant(110, {}) == "CUTLASS");
  CHECK(variant(std::nullopt, {}) == "CUTLASS");
  CHECK(variant(100, with("latency")) == "TENSORRT_LLM");
  CHECK(variant(120, with("latency")) == "CUTLASS");
  CHECK(variant(100, with("throughput")) == "CUTLASS");
  CHECK(variant(75, with("masked_gemm")) == "CUTEDSL");
  CHECK(variant(100, with("Latency")) == "ValueError");
  CHECK(variant(100, with("")) == "ValueError");
}

TEST_CASE("the fp8 order moves one backend to the front, and loses none") {
  const auto block = QuantKey::fp8_static_128_block;
  const auto groups = QuantKey::fp8_dynamic_128;
  const auto base = order(PlatformKind::cuda, 100, 1, block, groups);
  const std::vector<std::string_view> expected = {"AITER",  "FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS",   "DEEPGEMM",       "VLLM_CUTLASS", "TRITON",
                                                  "MARLIN", "BATCHED_DEEPGEMM",  "BATCHED_VLLM_CUTLASS", "BATCHED_TRITON", "XPU",          "CPU"};
  CHECK(base == expected);

  struct Row {
    PlatformKind platform;
    std::optional<int> capability;
    int ep_size;
    QuantKey weight;
    QuantKey activation;
    std::string_view first;
  };
  const Row rows[] = {
      {PlatformKind::cuda, 90, 1, block, groups, "TRITON"},
      {PlatformKind::cuda, 90, 2, block, groups, "FLASHINFER_CUTLASS"},
      {PlatformKind::cuda, 89, 2, block, groups, "AITER"},
      {PlatformKind::rocm, 90, 2, block, groups, "AITER"},
      {PlatformKind::cuda, 90, 2, QuantKey::fp8_static_tensor, groups, "AITER"},
      {PlatformKind::cuda, 90, 2, block, QuantKey::fp8_dynamic_64, "AITER"},
      {PlatformKind::xpu, std::nullopt, 1, block, groups, "XPU"},
      {PlatformKind::cpu, std::nullopt, 8, QuantKey::none, QuantKey::none, "CPU"},
  };
  for (const Row& row : rows) {
    auto got = order(row.platform, row.capability, row.ep_size, row.weight, row.activation);
    INFO(name_of(row.platform) << " ep " << row.ep_size << " " << row.first);
    CHECK(got.front() == row.first);
    // Behind it the base order is kept.
    std::erase(got, row.first);
    auto rest = expected;
    std::erase(rest, row.first);
    CHECK(got == rest);
  }
}
