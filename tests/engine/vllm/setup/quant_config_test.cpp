// The quantization that kernels are told of.

#include "model/engine/vllm/setup/quant_config.hpp"

#include <set>
#include <string>
#include <variant>

#include "model/engine/vllm/select.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

const Hardware kCuda{PlatformKind::cuda, 100, ""};
const Hardware kMi300{PlatformKind::rocm, 94, "gfx942"};
constexpr GroupShape kBlock128{128, 128};
constexpr GroupShape kBlockMx{1, 32};

QuantConfig config(std::string_view oracle, std::string_view backend, const QuantArguments& arguments = {}) {
  return std::get<QuantConfig>(quant_config(mx::deployment::kVllm2026_05, oracle, backend, arguments));
}

std::string error_type(std::string_view oracle, std::string_view backend, const QuantArguments& arguments) {
  const auto answer = quant_config(mx::deployment::kVllm2026_05, oracle, backend, arguments);
  return std::holds_alternative<Refusal>(answer) ? std::get<Refusal>(answer).error_type : "none";
}

/// Everything that a caller of the mxfp4 oracle can give.
const QuantArguments kGptOss{
    .hardware = kCuda, .has_input_scales = true, .has_bias = true, .gemm1_alpha = 1.702, .gemm1_beta = 1.0, .swiglu_limit = 7.0};

}  // namespace

TEST_CASE("the platform's fp8 is fnuz on gfx94x only") {
  CHECK(platform_fp8_dtype(kMi300) == "float8_e4m3fnuz");
  CHECK(platform_fp8_dtype({PlatformKind::rocm, 95, "gfx950"}) == "float8_e4m3fn");
  CHECK(platform_fp8_dtype(kCuda) == "float8_e4m3fn");
  CHECK(platform_fp8_dtype({PlatformKind::cpu, std::nullopt, ""}) == "float8_e4m3fn");
}

TEST_CASE("mxfp4: activations, shape and flags of every backend") {
  struct Row {
    const char* backend;
    const char* dtype;
    std::optional<GroupShape> shape;
    bool swizzled;
    int alignment;
    bool alpha;
    const char* scale;
  };
  const Row rows[] = {
      {"DEEPGEMM_MXFP4", "float8_e4m3fn", kBlock128, true, 0, true, ""},
      {"FLASHINFER_TRTLLM_MXFP4_MXFP8", "mxfp8", std::nullopt, false, 256, true, ""},
      {"FLASHINFER_CUTLASS_MXFP4_MXFP8", "mxfp8", std::nullopt, true, 0, true, ""},
      {"AITER_MXFP4_FP8", "fp8", std::nullopt, true, 0, false, "a1_scale"},
      {"AITER_MXFP4_MXFP4", "mxfp4", kPerTensor, true, 0, true, ""},
      {"MARLIN", "", std::nullopt, true, 0, true, ""},
      {"BATCHED_MARLIN", "", std::nullopt, true, 0, true, ""},
      {"TRITON", "", std::nullopt, true, 0, true, ""},
      {"TRITON_UNFUSED", "", std::nullopt, true, 0, true, ""},
      {"FLASHINFER_TRTLLM_MXFP4_BF16", "", std::nullopt, true, 0, true, ""},
      {"FLASHINFER_CUTLASS_MXFP4_BF16", "", std::nullopt, true, 0, true, ""},
      {"AITER_MXFP4_BF16", "", std::nullopt, true, 0, true, ""},
      {"CPU", "", std::nullopt, true, 0, true, ""},
      {"EMULATION", "mxfp4", kPerTensor, true, 0, true, ""},
      {"XPU", "mxfp4", kPerTensor, true, 0, true, ""},
      {"NONE", "mxfp4", kPerTensor, true, 0, true, ""},
  };
  for (const Row& row : rows) {
    INFO(row.backend);
    const QuantConfig got = config("mxfp4", row.backend, kGptOss);
    CHECK(got.quant_dtype() == row.dtype);
    CHECK(got.a2.dtype == row.dtype);
    CHECK(got.a1.shape == row.shape);
    CHECK(got.a2.shape == row.shape);
    CHECK(got.a1.scale == row.scale);
    CHECK(got.is_scale_swizzled == row.swizzled);
    CHECK(got.mx_alignment == row.alignment);
    CHECK(got.gemm1_alpha.has_value() == row.alpha);
    CHECK(got.gemm1_beta.has_value() == row.alpha);
    CHECK(got.gemm1_clamp_limit == 7.0);
    CHECK(got.w1.dtype == "mxfp4");
    CHECK_FALSE(got.w1.shape);
    CHECK(got.w1.scale == "w1_scale");
    CHECK(got.w2.bias == "w2_bias");
    CHECK(config("mxfp4_deepseek_v4", row.backend, kGptOss).quant_dtype() == row.dtype);
  }
  CHECK(config("mxfp4", "AITER_MXFP4_FP8", kGptOss).a2.scale == "a2_scale");
  const QuantConfig bare = config("mxfp4", "AITER_MXFP4_FP8");
  CHECK(bare.a1.scale.empty());
  CHECK(bare.w1.bias.empty());
  CHECK_FALSE(bare.gemm1_clamp_limit);
  CHECK(config("mxfp4", "DEEPGEMM_MXFP4", {.hardware = kMi300}).a1.dtype == "float8_e4m3fnuz");
  CHECK(config("mxfp4", "DEEPGEMM_MXFP4").block_shape() == kBlock128);
}

TEST_CASE("mxfp4: Humming has no row, its config comes from the layer") {
  CHECK(says(message_of(mx::ErrorCode::usage, [] { quant_config(mx::deployment::kVllm2026_05, "mxfp4", "HUMMING", {}); }), "HUMMING"));
}

TEST_CASE("fp8: weight-only backends drop the flags, the input scales and the limit") {
  for (const char* backend : {"MARLIN", "CPU"}) {
    const QuantConfig got = config("fp8", backend,
                                   {.hardware = kMi300,
                                    .block_shape = kBlock128,
                                    .per_act_token_quant = true,
                                    .per_out_ch_quant = true,
                                    .has_input_scales = true,
                                    .swiglu_limit = 7.0});
    CHECK(got.a1.dtype.empty());
    CHECK_FALSE(got.a1.shape);
    CHECK(got.a1.scale.empty());
    CHECK(got.w1.dtype == "float8_e4m3fnuz");
    CHECK(got.w1.shape == kBlock128);
    CHECK_FALSE(got.gemm1_clamp_limit);
    CHECK_FALSE(got.block_shape());
    CHECK_FALSE(config("fp8", backend).w1.shape);
  }
}

TEST_CASE("fp8: FlashInfer CUTLASS without a block needs input scales and folds them into the weights'") {
  CHECK(error_type("fp8", "FLASHINFER_CUTLASS", {.hardware = kCuda}) == "AssertionError");
  const QuantConfig got = config("fp8", "FLASHINFER_CUTLASS", {.hardware = kCuda, .has_input_scales = true, .swiglu_limit = 7.0});
  CHECK(got.a1.shape == kPerTensor);
  CHECK(got.a1.scale == "a1_scale");
  CHECK(got.a1.alpha_or_gscale == "(1.0/a1_scale)");
  CHECK(got.a2.alpha_or_gscale == "(1.0/a2_scale)");
  CHECK(got.w1.alpha_or_gscale == "(w1_scale*a1_scale).squeeze()");
  CHECK(got.w2.alpha_or_gscale == "(w2_scale*a2_scale).squeeze()");
  CHECK(got.gemm1_clamp_limit == 7.0);
  // With a block it is like the others, and asks for nothing.
  CHECK(config("fp8", "FLASHINFER_CUTLASS", {.hardware = kCuda, .block_shape = kBlock128}).a1.alpha_or_gscale.empty());
}

TEST_CASE("fp8: a block of 1 x 32 is MXFP8, with linear scales") {
  for (const char* backend : {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS", "XPU", "NONE"}) {
    const QuantConfig got = config("fp8", backend, {.hardware = kMi300, .block_shape = kBlockMx, .has_input_scales = true});
    CHECK(got.a1.dtype == "mxfp8");
    CHECK(got.w2.dtype == "mxfp8");
    CHECK(got.a1.shape == kBlockMx);
    CHECK(got.w1.shape == kBlockMx);
    CHECK(got.a1.scale == "a1_scale");
    CHECK_FALSE(got.is_scale_swizzled);
  }
  CHECK(config("fp8", "MARLIN", {.hardware = kCuda, .block_shape = kBlockMx}).w1.dtype == "float8_e4m3fn");
}

TEST_CASE("fp8: shapes of the others come from the block, or from the flags") {
  const QuantConfig block = config("fp8", "TRITON", {.hardware = kCuda, .block_shape = kBlock128});
  CHECK(block.a1.shape == kBlock128);
  CHECK(block.w1.shape == kBlock128);
  CHECK(block.block_shape() == kBlock128);
  CHECK(block.a1.scale.empty());
  CHECK(block.is_scale_swizzled);

  const QuantConfig tensor = config("fp8", "TRITON", {.hardware = kCuda, .has_input_scales = true});
  CHECK(tensor.a1.shape == kPerTensor);
  CHECK_FALSE(tensor.w1.shape);
  CHECK(tensor.a2.scale == "a2_scale");
  CHECK_FALSE(tensor.per_act_token_quant());

  const QuantConfig token = config("fp8", "TRITON", {.hardware = kCuda, .per_act_token_quant = true, .per_out_ch_quant = true});
  CHECK(token.per_act_token_quant());
  CHECK(token.per_out_ch_quant());
  CHECK_FALSE(token.block_shape());

  CHECK(error_type("fp8", "TRITON", {.hardware = kCuda, .block_shape = kBlock128, .per_act_token_quant = true}) == "AssertionError");
  CHECK(error_type("fp8", "DEEPGEMM", {.hardware = kCuda, .block_shape = kBlock128, .per_out_ch_quant = true}) == "AssertionError");
}

TEST_CASE("nvfp4: global scales and who swizzles") {
  struct Row {
    const char* backend;
    const char* gscale;
    bool swizzled;
  };
  const Row rows[] = {
      {"FLASHINFER_TRTLLM", "(1.0/a13_scale)", false},
      {"FLASHINFER_CUTEDSL", "(1.0/a13_scale)", false},
      {"FLASHINFER_CUTLASS", "(1.0/a13_scale)", true},
      {"FLASHINFER_CUTEDSL_BATCHED", "(1.0/a13_scale)", true},
      {"FLASHINFER_B12X", "(1.0/a13_scale)", true},
      {"VLLM_CUTLASS", "(1.0/a13_scale)", true},
      {"EMULATION", "a13_scale", true},
      {"MARLIN", "", true},
  };
  for (const Row& row : rows) {
    INFO(row.backend);
    const QuantConfig got = config("nvfp4", row.backend);
    CHECK(got.a1.alpha_or_gscale == row.gscale);
    CHECK(got.a1.dtype == (*row.gscale == '\0' ? "" : "nvfp4"));
    CHECK(got.a1.shape.has_value() == !got.a1.dtype.empty());
    CHECK(got.w1.scale == "w13_scale");
    CHECK(got.w1.alpha_or_gscale == "w13_scale_2");
    CHECK(got.w2.alpha_or_gscale == "w2_scale_2");
    CHECK(got.is_scale_swizzled == row.swizzled);
  }
}

TEST_CASE("w4a8: fp8 per token against int4 with a scale per channel") {
  const QuantConfig got = config("w4a8", "CUTLASS", {.hardware = kMi300});
  CHECK(got.a1.dtype == "float8_e4m3fn");
  CHECK(got.per_act_token_quant());
  CHECK(got.per_out_ch_quant());
  CHECK(got.w1.dtype == "int4");
  CHECK(got.w1.alpha_or_gscale == "g1_alphas");
  CHECK(got.w2.alpha_or_gscale == "g2_alphas");
}

TEST_CASE("unknown oracles and backends are named with the nearest known one") {
  CHECK(says(message_of(mx::ErrorCode::usage, [] { quant_config(mx::deployment::kVllm2026_05, "nvfp", "MARLIN", {}); }), "did you mean nvfp4"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { quant_config(mx::deployment::kVllm2026_05, "nvfp4", "MARLINE", {}); }), "did you mean MARLIN"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { quant_config(mx::deployment::kVllm2026_05, "fp8", "EMULATION", {}); }), "EMULATION"));
}
