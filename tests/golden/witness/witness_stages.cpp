// Entries of the sets of an H100, changed: every word about a rule is told apart from its neighbours by the recorded values, and what the model does
// not claim is refused.

#include "tests/golden/witness/changes.hpp"

namespace mx::tests::witness {
namespace {

std::function<void(Json&)> with(const std::string& key, const Json& word) {
  return [key, word](Json& e) { e["params"][key] = word; };
}
std::function<void(Json&)> without(const std::string& key) {
  return [key](Json& e) { e["params"].erase(key); };
}
void as_written(Json&) {}

}  // namespace

TEST_CASE("quantizers of an H100 that are stated otherwise differ", "[witness]") {
  check("hardware/fp8_quant_h100", "group128.cuda.amax_div_max",
        {{"as written", as_written, 0, "10062 values"},
         {"another NaN", with("nan_code", "0x7E"), 1, "recorded"},
         {"Triton's rule", with("scale_rule", "group_amax"), 1, "recorded"},
         {"the inverse", with("scale_rule", "amax_div_max_inverted"), 1, "recorded"},
         {"another floor", with("amax_floor", "0x3F800000"), 1, "recorded"},
         {"a floor of the scale", with("scale_floor", "0x3F800000"), 1, "recorded"},
         {"a rule without a name", with("scale_rule", "amax_div_448"), 5, "unknown scale rule"},
         {"no NaN", without("nan_code"), 5, "no model of"}});
  check("hardware/fp8_quant_h100", "group128.cuda.amax_div_max_pow2",
        {{"as written", as_written, 0, "10062 values"}, {"no power of two", with("scale_rule", "amax_div_max"), 1, "recorded"}});
  check("hardware/fp8_quant_h100", "group128.triton.group_pow2_log2",
        {{"as written", as_written, 0, "10062 values"}, {"no power of two", with("scale_rule", "group_amax"), 1, "recorded"}});
  check("hardware/fp8_quant_h100", "static.cuda",
        {{"as written", as_written, 0, "9984 values"},
         {"another scale", with("scale", "0x3D000000"), 1, "recorded"},
         {"a scale of its own", with("scale_rule", "amax_div_max"), 5, "granularity static"}});
  check("hardware/humming_stages_h100", "quantize.token",
        {{"as written", as_written, 0, "10260 values"},
         {"divided", with("scale_rule", "amax_div_max"), 1, "recorded"},
         {"along another axis", with("axis", 0), 5, "another axis than the last"}});
}

TEST_CASE("kernels between the products that are others differ", "[witness]") {
  check("hardware/fp8_quant_h100", "silu_block.cuda",
        {{"as written", as_written, 0, "7095 values"},
         {"Humming's", with("kernel", "humming_process_input"), 1, "recorded"},
         {"Triton's", with("kernel", "silu_mul_per_token_group_quant_fp8_colmajor"), 1, "recorded"},
         {"the one without scales", with("kernel", "silu_and_mul"), 5, "no model of output"},
         {"no kernel's name", with("kernel", "silu"), 5, "unknown kernel between the products"},
         {"powers of two", with("ue8m0", 1), 5, "with scales that are powers of two"}});
  check("hardware/fp8_quant_h100", "silu_group.triton.ue8m0",
        {{"as written", as_written, 0, "7095 values"}, {"no powers of two", with("ue8m0", 0), 1, "recorded"}});
  check("hardware/fp8_quant_h100", "silu_block.cuda.gates",
        {{"as written", as_written, 0, "9363 values"}, {"Humming's", with("kernel", "humming_process_input"), 1, "recorded"}});
  check("hardware/humming_stages_h100", "act.clamp",
        {{"as written", as_written, 0, "4096 values"}, {"another limit", with("limit", "0x41000000"), 1, "recorded"}});
  check("hardware/fp8_requant_h100", "blocks",
        {{"as written", as_written, 0, "16385 values"}, {"another floor", with("amax_floor", "0x2EDBE6FF"), 5, "another rule"}});
}

TEST_CASE("sums of slots in another order differ", "[witness]") {
  check("hardware/slot_sum_h100", "top_k3",
        {{"as written", as_written, 0, "768 values"},
         {"in fp32", with("rule", "moe_sum_in_order"), 1, "recorded"},
         {"another number of slots", with("top_k", 4), 3, "is not [tokens][4][columns]"},
         {"with weights", with("rule", "fma_in_order"), 3, "no input 'weights'"}});
  check("hardware/fp8_swap_h100", "sum.top_k4",
        {{"as written", as_written, 0, "1536 values"}, {"as before", with("rule", "moe_sum"), 1, "recorded"}});
  check("hardware/humming_stages_h100", "sum.top_k8",
        {{"as written", as_written, 0, "1152 values"}, {"an unknown rule", with("rule", "sum"), 5, "unknown rule 'sum'"}});
}

TEST_CASE("products of an H100 under another launch differ", "[witness]") {
  check("hardware/fp8_products_h100", "pa.triton.block.16x128x128w4",
        {{"as written", as_written, 0, "912 values"},
         {"on wgmma", with("accum", "fast"), 1, "recorded"},
         {"a shorter step", with("chain", 64), 1, "recorded"},
         {"a step of two blocks", with("chain", 256), 1, "recorded"},
         {"a step that ends inside a block", with("chain", 96), 5, "whose chains do not end there"},
         {"the weight's scale first", with("scaling", "block_1x128_1x128_b_first"), 1, "recorded"}});
  check("hardware/fp8_products_h100", "pa.cutlass.channel.60slots",
        {{"as written", as_written, 0, "192 values"},
         {"scales of more slots", with("scaling", "col_row"), 5, "another order than the kernel's"},
         {"more slots", with("slots", 65), 5, "another order than the kernel's"}});
  check("hardware/fp8_swap_h100", "ps.block.second",
        {{"as written", as_written, 0, "800 values"},
         {"not exchanged", with("scaling", "block_1x128_1x128"), 1, "recorded"},
         {"no routing weight", [](Json& e) { e["inputs"].erase("row_weight"); }, 1, "recorded"}});
}

TEST_CASE("products in finer squares, and kernels of another version, differ", "[witness]") {
  check("hardware/fp8_squares_h200", "side64.cancelling.16x64x64.exchanged",
        {{"as written", as_written, 0, "480 values"},
         {"not exchanged", with("scaling", "block_1x64_1x64"), 1, "recorded"},
         {"a shorter step", with("chain", 32), 1, "recorded"},
         {"scales of 32", with("scaling", "block_1x32_1x32"), 3, "another shape"}});
  check("hardware/fp8_groups_h200", "group64.times_reciprocal",
        {{"as written", as_written, 0, "10400 values"}, {"divided", with("scale_rule", "amax_div_max"), 1, "recorded"}});
  check("hardware/fp8_groups_h200", "group32.divided",
        {{"as written", as_written, 0, "10560 values"}, {"times a reciprocal", with("scale_rule", "amax_div_max_inverted"), 1, "recorded"}});
  check("hardware/activations_h200", "silu_and_mul.0.29.0",
        {{"as written", as_written, 0, "16384 values"},
         {"before 0 was added", with("engine", "2026-05"), 1, "recorded"},
         {"an engine without a model", with("engine", "2025-01"), 5, "no model of engine 2025-01"},
         {"with a limit", with("limit", "0x40E00000"), 5, "kernel silu_and_mul with a limit"}});
  check("hardware/activations_h200", "pad_aware.ordinary.0.33.0",
        {{"as written", as_written, 0, "8192 values"},
         {"without its limit", [](Json& e) { e["params"].erase("limit"); }, 1, "recorded"},
         {"rounded twice", with("kernel", "silu_and_mul_with_clamp"), 1, "recorded"}});
  check("hardware/activations_h200", "masked.0.33.0.power",
        {{"as written", as_written, 0, "24768 values"},
         {"scales as they are", with("ue8m0", 0), 1, "recorded"},
         {"the contiguous class's", with("kernel", "silu_mul_per_token_group_quant_fp8_colmajor"), 1, "recorded"}});
  check("hardware/activations_h200", "packed.ordinary.0.33.0",
        {{"as written", as_written, 0, "8256 values"}, {"Hopper's", with("kernel", "silu_mul_per_token_group_quant_fp8_colmajor"), 1, "recorded"}});
}

TEST_CASE("Marlin's and Humming's products under another launch differ", "[witness]") {
  check("hardware/marlin_split_h100", "marlin.b32.k64.n256",
        {{"as written", as_written, 0, "6144 values"},
         {"fewer blocks", with("blocks", 4), 1, "recorded"},
         {"a tile that the threads do not fit", with("tile_k", 128), 5, "warps, each takes 32"},
         {"another sum", with("accum", "chain16"), 5, "no model of Marlin with accum chain16"},
         {"k padded to less", with("padded_k", 256), 5, "padded to 256"}});
  check("hardware/marlin_nvfp4_h100", "marlin.nvfp4.w2",
        {{"as written", as_written, 0, "1152 values"}, {"without weights", with("weighted", 0), 1, "recorded"}});
  check("hardware/marlin_fp8_h100", "marlin.fp8_channel.h13",
        {{"as written", as_written, 0, "512 values"},
         {"scales of blocks", with("form", "fp8_block"), 3, "another shape"},
         {"an unknown form", with("form", "int4"), 5, "unknown form 'int4'"}});
  check("hardware/humming_product_h100", "mxa16.R.plain.first.m7.e5",
        {{"as written", as_written, 0, "values"},
         {"whole tiles", with("stream_k", 0), 1, "recorded"},
         {"more slices than have an order", with("blocks", 100000), 1, "recorded"},
         {"a part of a warp", with("warp_k", 48), 5, "1, 2, 4 or 8 of them"}});
  check("hardware/humming_product_h100", "mxa8b.A.extreme.first.m48.e1",
        {{"as written", as_written, 0, "values"},
         {"another largest byte", with("scale_max", 200), 1, "recorded"},
         {"activations of tokens", with("activations", "e4m3fn_token"), 3, "another shape"}});
}

TEST_CASE("layers under another launch differ", "[witness]") {
  check("hardware/fp8_layer_h100", "triton.plain.m7",
        {{"as written", as_written, 0, "values"},
         {"on wgmma", with("block_m", 64), 1, "recorded"},
         {"in e8m0 mode", with("e8m0", 1), 1, "recorded"},
         {"another engine", with("engine", "2026-08"), 1, "recorded"},
         {"an engine without a model", with("engine", "2025-01"), 5, "no model of engine 2025-01"},
         {"another backend", with("backend", "MARLIN"), 5, "no model of a layer of fp8_block by MARLIN"}});
  check("hardware/mxfp4_layer_h100", "triton_unfused.m7",
        {{"as written", as_written, 0, "values"},
         {"fused", with("backend", "TRITON"), 1, "recorded"},
         {"another alpha", with("alpha", "0x3F800000"), 1, "recorded"}});
  check("hardware/moe_drop_h100", "triton.gemm1",
        {{"as written", as_written, 0, "3840 values"},
         {"a release that reads all", [](Json& e) { e["profile"]["version"] = "triton_kernels 6294db5a1"; }, 1, "recorded"}});
}

}  // namespace mx::tests::witness
