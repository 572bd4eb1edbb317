// How a kernel is put together from the chosen experts.

#include "model/engine/vllm/setup/assembly.hpp"

#include <string>
#include <variant>

#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

const Hardware kCuda{PlatformKind::cuda, 100, ""};

AssemblyRequest request(const ParallelRequest& parallel, std::string_view backend = "MARLIN", std::string_view kernel_class = "MarlinExperts") {
  return {.oracle = "mxfp4",
          .backend = backend,
          .kernel_class = kernel_class,
          .parallel = derive(parallel, mx::deployment::kVllm2026_05),
          .quant = std::get<QuantConfig>(quant_config(mx::deployment::kVllm2026_05, "mxfp4", backend, {.hardware = kCuda})),
          .hardware = kCuda,
          .hidden = 2880,
          .max_num_tokens = 256,
          .disable_inplace = true};
}

ParallelRequest exchange(const char* backend) { return {.tp = 2, .dp = 4, .enable_expert_parallel = true, .all2all_backend = backend}; }

Assembly assembled(const AssemblyRequest& of) { return std::get<Assembly>(assemble(of)); }

std::string error_type(const AssemblyRequest& of) {
  const auto answer = assemble(of);
  return std::holds_alternative<Refusal>(answer) ? std::get<Refusal>(answer).error_type : "none";
}

}  // namespace

TEST_CASE("the prepare step follows the parallelism, not the backend") {
  CHECK(assembled(request({})).prepare_class == "MoEPrepareAndFinalizeNoDPEPModular");
  CHECK(assembled(request({.tp = 8, .enable_expert_parallel = true})).prepare_class == "MoEPrepareAndFinalizeNoDPEPModular");
  CHECK(assembled(request({.dp = 2})).prepare_class == "MoEPrepareAndFinalizeNaiveDPEPModular");
  CHECK(assembled(request(exchange("allgather_reducescatter"))).prepare_class == "MoEPrepareAndFinalizeNaiveDPEPModular");
  CHECK(assembled(request(exchange("deepep_high_throughput"))).prepare_class == "DeepEPHTPrepareAndFinalize");
  CHECK(assembled(request(exchange("mori"))).prepare_class == "MoriPrepareAndFinalize");
  CHECK(assembled(request(exchange("flashinfer_all2allv"))).prepare_class == "FlashInferNVLinkTwoSidedPrepareAndFinalize");
  CHECK(assembled(request(exchange("flashinfer_nvlink_two_sided"))).prepare_class == "FlashInferNVLinkTwoSidedPrepareAndFinalize");
  CHECK(assembled(request(exchange("flashinfer_nvlink_one_sided"))).prepare_class == "FlashInferNVLinkOneSidedPrepareAndFinalize");
  CHECK(error_type(request(exchange("pplx"))) == "AssertionError");
  CHECK(error_type(request(exchange("naive"))) == "AssertionError");
  // Without expert parallelism the exchange's name plays no part.
  CHECK(assembled(request({.dp = 2, .all2all_backend = "pplx"})).prepare_class == "MoEPrepareAndFinalizeNaiveDPEPModular");
}

TEST_CASE("batched experts, and they alone, get the token limit and the number of dispatchers") {
  for (const char* backend : {"deepep_low_latency", "nixl_ep"}) {
    const Assembly batched = assembled(request(exchange(backend), "BATCHED_MARLIN", "BatchedMarlinExperts"));
    CHECK(batched.format == ActivationFormat::batched_experts);
    CHECK(batched.max_num_tokens == 256);
    CHECK(batched.num_dispatchers == 8);
    CHECK(error_type(request(exchange(backend))) == "AssertionError");
  }
  const Assembly plain = assembled(request(exchange("mori")));
  CHECK(plain.format == ActivationFormat::standard);
  CHECK_FALSE(plain.max_num_tokens);
  CHECK_FALSE(plain.num_dispatchers);
  CHECK(error_type(request({}, "BATCHED_MARLIN", "BatchedMarlinExperts")) == "AssertionError");
}

TEST_CASE("monolithic experts need the monolithic variant, and never work in place") {
  const auto monolithic = [](const ParallelRequest& parallel) { return request(parallel, "TRITON", "OAITritonMxfp4ExpertsMonolithic"); };
  CHECK(assembled(monolithic({})).prepare_class == "MoEPrepareAndFinalizeNoDPEPMonolithic");
  CHECK(assembled(monolithic({.dp = 2})).prepare_class == "MoEPrepareAndFinalizeNaiveDPEPMonolithic");
  CHECK(assembled(monolithic(exchange("allgather_reducescatter"))).prepare_class == "MoEPrepareAndFinalizeNaiveDPEPMonolithic");
  CHECK(error_type(monolithic(exchange("deepep_high_throughput"))) == "ValueError");
  AssemblyRequest inplace = monolithic({});
  inplace.disable_inplace = false;
  CHECK(error_type(inplace) == "AssertionError");
}

TEST_CASE("in place: unless switched off, and by oracle and backend") {
  const auto inplace = [](std::string_view oracle, std::string_view backend, bool disabled) {
    AssemblyRequest of = request({});
    of.oracle = oracle;
    of.backend = backend;
    of.disable_inplace = disabled;
    return assembled(of).inplace;
  };
  CHECK(inplace("mxfp4", "MARLIN", false));
  CHECK_FALSE(inplace("mxfp4", "MARLIN", true));
  CHECK_FALSE(inplace("mxfp4", "FLASHINFER_TRTLLM_MXFP4_BF16", false));
  CHECK_FALSE(inplace("mxfp4_deepseek_v4", "FLASHINFER_TRTLLM_MXFP4_MXFP8", false));
  CHECK(inplace("mxfp4", "FLASHINFER_CUTLASS_MXFP4_BF16", false));
  CHECK_FALSE(inplace("nvfp4", "MARLIN", false));
  CHECK_FALSE(inplace("fp8", "FLASHINFER_CUTLASS", false));
  CHECK(inplace("fp8", "TRITON", false));
  CHECK(inplace("mxfp8", "MARLIN", false));
  CHECK(inplace("w4a8", "CUTLASS", false));
}

TEST_CASE("what an exchange moves quantized") {
  const auto fp8 = [](const char* backend, const QuantArguments& arguments, const Hardware& hardware) {
    AssemblyRequest of = request(exchange(backend), "BATCHED_MARLIN", "BatchedMarlinExperts");
    of.quant = std::get<QuantConfig>(quant_config(mx::deployment::kVllm2026_05, "fp8", "BATCHED_TRITON", arguments));
    of.hardware = hardware;
    return assembled(of).fp8_dispatch;
  };
  const Hardware mi300{PlatformKind::rocm, 94, "gfx942"};
  CHECK(fp8("deepep_low_latency", {.hardware = kCuda, .block_shape = GroupShape{128, 128}}, kCuda));
  CHECK_FALSE(fp8("deepep_low_latency", {.hardware = kCuda, .block_shape = GroupShape{128, 128}}, mi300));
  CHECK_FALSE(fp8("deepep_low_latency", {.hardware = kCuda, .block_shape = GroupShape{64, 128}}, kCuda));
  CHECK_FALSE(fp8("deepep_low_latency", {.hardware = kCuda, .per_act_token_quant = true}, kCuda));

  const auto mori = [](const QuantArguments& arguments) {
    AssemblyRequest of = request(exchange("mori"));
    of.quant = std::get<QuantConfig>(quant_config(mx::deployment::kVllm2026_05, "fp8", "AITER", arguments));
    return assembled(of).fp8_dispatch;
  };
  CHECK(mori({.hardware = kCuda, .per_act_token_quant = true}));
  CHECK(mori({.hardware = kCuda, .block_shape = GroupShape{128, 128}}));
  CHECK_FALSE(mori({.hardware = kCuda}));
}

TEST_CASE("the one-sided exchange moves 16-bit, NVFP4 and MXFP8 activations, the last over padded columns") {
  const auto one_sided = [](std::string_view oracle, std::string_view backend) {
    AssemblyRequest of = request(exchange("flashinfer_nvlink_one_sided"));
    of.quant = std::get<QuantConfig>(quant_config(mx::deployment::kVllm2026_05, oracle, backend, {.hardware = kCuda}));
    return of;
  };
  CHECK(assembled(one_sided("mxfp4", "MARLIN")).exchanged_hidden == 2880);
  CHECK(assembled(one_sided("nvfp4", "FLASHINFER_TRTLLM")).exchanged_hidden == 2880);
  CHECK(assembled(one_sided("mxfp4", "FLASHINFER_CUTLASS_MXFP4_MXFP8")).exchanged_hidden == 2880);
  CHECK(assembled(one_sided("mxfp4", "FLASHINFER_TRTLLM_MXFP4_MXFP8")).exchanged_hidden == 3072);
  CHECK(error_type(one_sided("fp8", "TRITON")) == "NotImplementedError");
  CHECK(error_type(one_sided("mxfp4", "EMULATION")) == "NotImplementedError");
}

TEST_CASE("Humming's experts are given the layer, unknown names are refused") {
  AssemblyRequest of = request({});
  CHECK_FALSE(assembled(of).takes_layer);
  of.backend = "HUMMING";
  of.kernel_class = "HummingIndexedExperts";
  CHECK(assembled(of).takes_layer);
  of.kernel_class = "MarlinExpert";
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { assemble(of); }), "did you mean MarlinExperts"));
  AssemblyRequest other = request({});
  other.oracle = "mxfp5";
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { assemble(other); }), "mxfp5"));
}
