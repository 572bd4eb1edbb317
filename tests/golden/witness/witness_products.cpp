// Sets of matrix products and of stages of a layer: what contradicts itself, and what the model does not claim.

#include "tests/golden/witness/changes.hpp"

namespace mx::tests::witness {
namespace {

TEST_CASE("a matrix product that contradicts itself, or that no contract describes", "[witness]") {
  check("gemm_hopper", "gemm.blk1x128_1x128.promoted.f32",
        {{"as written", [](Json&) {}, 0, "8192 values"},
         // 4 scales for each of 64 rows would be 256 of them, one for each row and 128 of K; the file has exactly those.
         {"another place of the scales", [](Json& e) { e["params"]["scaling"] = "block_1x128_128x128"; }, 3, "'scale_b' has another shape"},
         {"scales that nobody reads", [](Json& e) { e["params"]["scaling"] = "none"; }, 5, "unknown input 'scale_a'"},
         // One chain over all of K has no place where a block's scale could enter.
         {"fast accumulation", [](Json& e) { e["params"]["accum"] = "fast"; }, 5, "scales of 128 along K with accum fast"},
         {"another format", [](Json& e) { e["params"]["a_format"] = "e5m2"; }, 1, "d[0][0]: recorded"},
         {"a transposed b", [](Json& e) { e["params"]["b_layout"] = "KN"; }, 3, "'b' has another shape"},
         {"an unknown layout", [](Json& e) { e["params"]["b_layout"] = "NKN"; }, 5, "unknown b_layout 'NKN'"},
         {"an unknown accumulation", [](Json& e) { e["params"]["accum"] = "slow"; }, 5, "no model of gemm with accum slow of e4m3fn by e4m3fn"},
         {"an accumulation of another operation", [](Json& e) { e["params"]["accum"] = "mma16"; }, 5, "no model of gemm with accum mma16"},
         {"a format that the contract does not take", [](Json& e) { e["params"]["b_format"] = "e4m3fnuz"; }, 5, "operand b is e4m3fnuz"},
         {"no K", [](Json& e) { e["params"].erase("K"); }, 5, "params has no 'K'"},
         {"a K of 0", [](Json& e) { e["params"]["K"] = 0; }, 5, "outside 1..1048576"},
         {"an unknown parameter", [](Json& e) { e["params"]["split_k"] = 2; }, 5, "unknown key 'split_k' in params"}});
  check("gemm_hopper", "gemm.e4e4_scaled_k256.fast.bf16",
        {{"as written", [](Json&) {}, 0, "256 values"},
         {"another scale", [](Json& e) { e["params"]["scale_a"] = "0x3EBE0000"; }, 1, "recorded"},
         {"no scale", [](Json& e) { e["params"].erase("scale_b"); }, 5, "params has no 'scale_b'"},
         {"scales that do not apply", [](Json& e) { e["params"]["scaling"] = "none"; }, 5, "unknown key 'scale_a' in params"},
         {"promoted sums", [](Json& e) { e["params"]["accum"] = "promoted"; }, 1, "recorded"}});
  check("gemm_hopper", "gemm.e4e4_bias_k256.promoted.bf16",
        {{"as written", [](Json&) {}, 0, "256 values"}, {"no bias", [](Json& e) { e["inputs"].erase("bias"); }, 1, "recorded"}});
  check("gemm_hopper", "mma_sync.bf16",
        {{"as written", [](Json&) {}, 0, "3072 values"},
         {"read as fp16", [](Json& e) { e["params"]["a_format"] = "fp16"; }, 5, "no model of mma_sync with accum mma16 of fp16 by bf16"},
         {"another K", [](Json& e) { e["params"]["K"] = 32; }, 5, "no model of accum mma16 with K 32"},
         {"no C", [](Json& e) { e["inputs"].erase("c"); }, 3, "no input 'c'"}});
}

TEST_CASE("a stage of a layer that contradicts itself, or that the model does not claim", "[witness]") {
  check("moe_0", "triton.sort",
        {{"as written", [](Json&) {}, 0, "64 values"},
         {"fewer experts a token", [](Json& e) { e["params"]["top_k"] = 3; }, 3, "another shape"},
         {"an unknown stage", [](Json& e) { e["params"]["stage"] = "gemm3"; }, 5, "unknown stage 'gemm3'"}});
  check("moe_0", "triton.gemm1_swiglu",
        {{"as written", [](Json&) {}, 0, "7168 values"},
         {"another accumulation", [](Json& e) { e["params"]["accum"] = "fast"; }, 5, "no model of moe_stage with accum fast"},
         {"another activation", [](Json& e) { e["params"]["activation"] = "silu_and_mul"; }, 5, "no model of moe_stage with activation silu_and_mul"},
         {"another beta", [](Json& e) { e["params"]["beta"] = "0x00000000"; }, 5, "beta other than 1"},
         // 1.702, 7 and 1 of the entry, as the nearest fp64 numbers; 1.702 is no fp32 number.
         {"constants in fp64",
          [](Json& e) {
            e["params"]["alpha"] = "0x3FFB3B645A1CAC08";
            e["params"]["limit"] = "0x401C000000000000";
            e["params"]["beta"] = "0x3FF0000000000000";
          },
          0, "7168 values"},
         {"no limit", [](Json& e) { e["params"].erase("limit"); }, 5, "params has no 'limit'"},
         {"another alpha", [](Json& e) { e["params"]["alpha"] = "0x3F800000"; }, 1, "recorded"},
         {"a lower limit", [](Json& e) { e["params"]["limit"] = "0x3F800000"; }, 1, "recorded"}});
  check("moe_0", "triton.gemm2_combine",
        {{"as written", [](Json&) {}, 0, "1792 values"},
         {"gates that are no gates", [](Json& e) { e["inputs"]["gate_scal"] = e["inputs"]["gather_src"]; }, 3, "'gate_scal' is i32"},
         {"a histogram of too many slots",
          [](Json& e) {
            e["inputs"]["expert_hist"] = {{"generate", "iota_plus_1"}, {"dtype", "i32"}, {"shape", Json::array({8})}};
          },
          3, "expert_hist does not add up"},
         {"slots from outside",
          [](Json& e) {
            e["inputs"]["gather_src"] = {{"generate", "iota_plus_1"}, {"dtype", "i32"}, {"shape", Json::array({28})}};
          },
          3, "gather_src[27] is 28, of 28 slots"}});
}

TEST_CASE("sums of one instruction: every word matters, and what no row has is not claimed", "[witness]") {
  const auto with = [](const char* key, const Json& word) { return [key, word](Json& entry) { entry["params"][key] = word; }; };
  const auto as_it_is = [](Json&) {};
  check("numerics-tensor-cores/tc_h100", "mma.m16n8k16.f32.bf16.bf16",
        {{"as written", as_it_is, 0, "205 values"},
         {"a record", with("contract", "hopper-bf16:group=16"), 0, "205 values"},
         {"another group", with("contract", "hopper-bf16:group=8"), 1, "recorded"},
         {"another alignment", with("contract", "hopper-bf16:align=24"), 1, "recorded"},
         {"no lower bound", with("contract", "hopper-bf16@v1"), 1, "recorded"},
         {"an unknown contract", with("contract", "hoper-bf16"), 5, "unknown contract 'hoper-bf16' (did you mean hopper-bf16?)"},
         {"a record that is none", with("contract", "hopper-bf16:align=99"), 5, "align=99"},
         {"results in another format", with("out_format", "fp16"), 5, "contract hopper-bf16 with C in f32 and results in fp16"},
         {"another K", with("K", 8), 3, "another shape"},
         {"another operand format", with("a_format", "fp16"), 3, "'a' is bf16"},
         {"an unknown format", with("a_format", "posit"), 5, "posit"},
         {"a scale format alone", with("scale_format", "e8m0"), 5, "params has no 'block'"},
         {"an unknown word", with("mood", "good"), 5, "unknown key 'mood'"}});
  check("numerics-tensor-cores/tc_h100", "mma.m16n8k8.f32.tf32.tf32",
        {{"as written", as_it_is, 0, "values"},
         {"registers that are read whole", with("a_format", "f32"), 3, "'a' is u32"},
         {"rounded operands", with("contract", "hopper-tf32:cast-rounding=nearest"), 0, "values"}});
  check("numerics-tensor-cores/tc_mmasim", "blackwell-nvf4.e2m1.e2m1.k64",
        {{"as written", as_it_is, 0, "values"},
         {"another block", with("block", 32), 3, "another shape"},
         {"another scale format", with("scale_format", "e8m0"), 5, "it takes ue4m3, one for each 16"},
         {"aligned by the products", with("contract", "blackwell-nvf4:reference=product"), 1, "recorded"},
         {"one term a product", with("contract", "blackwell-nvf4:presum=1"), 1, "recorded"},
         {"another bound", with("contract", "blackwell-nvf4:least=-100"), 0, "values"}});
  check("numerics-tensor-cores/tc_scaled_mm", "scaled_mm.tensor.minus0.0.f32",
        {{"as written, zeros of one sign", as_it_is, 0, "512 values"},
         {"nothing added, -0 where the factor is negative", with("scaling", "tensor_product"), 1, "recorded"},
         {"no scales", with("scaling", "none"), 5, "unknown key 'scale_a'"},
         {"another factor", with("scale_b", "0x3F800000"), 1, "recorded"}});
  check("numerics-tensor-cores/tc_scaled_mm", "scaled_mm.rows.0.f32",
        {{"as written", as_it_is, 0, "512 values"}, {"the row's scale first", with("scaling", "row_col"), 1, "recorded"}});
}

TEST_CASE("products of libraries: pieces, joins, steps and order say what was recorded, of any card", "[witness]") {
  const auto with = [](const char* key, const Json& word) { return [key, word](Json& entry) { entry["params"][key] = word; }; };
  const auto without = [](const char* key) { return [key](Json& entry) { entry["params"].erase(key); }; };
  const auto as_it_is = [](Json&) {};
  const std::string set = "hardware/gpu_peers_h100";
  check(set, "mm.bf16.split.f32",
        {{"as written", as_it_is, 0, "32 values"},
         {"of a card that nobody knows", [](Json& e) { e["profile"]["device"] = "rtx9999"; }, 0, "32 values"},
         {"one chain", [](Json& e) { e["params"].erase("pieces"), e["params"].erase("piece_k"); }, 1, "recorded"},
         {"longer pieces", [](Json& e) { e["params"]["piece_k"] = 2048, e["params"]["pieces"] = 2; }, 1, "recorded"},
         {"pieces that K has not", with("pieces", 4), 5, "4 pieces of 1408 for K 4096, which are 3"},
         {"a tree of three", with("join", "halves"), 5, "join halves of 3 pieces"},
         {"sums in fp16", with("join", "ascending_fp16"), 5, "another format than accum adds in"},
         {"rounded pieces", [](Json& e) { e["params"]["piece_rounded"] = 1; }, 0, "32 values"},
         {"another word", with("join", "random"), 5, "unknown join 'random'"},
         {"a record", [](Json& e) { e["params"]["accum"] = "contract", e["params"]["contract"] = "hopper-bf16"; }, 0, "32 values"},
         {"a record that cuts k itself",
          [](Json& e) {
            e["params"]["accum"] = "contract", e["params"]["contract"] = "hopper-bf16:split=3:split-tile=1408";
            e["params"].erase("pieces"), e["params"].erase("piece_k");
          },
          0, "32 values"},
         {"another record", [](Json& e) { e["params"]["accum"] = "contract", e["params"]["contract"] = "ampere-bf16"; }, 1, "recorded"}});
  // A row of zeros under a negative factor: -0.
  check("hardware/hwcheck_h200", "torch._scaled_mm.tensor.fast.m16n128k8192",
        {{"as written", as_it_is, 0, "192 values"},
         {"scales of a tensor", with("scaling", "tensor"), 0, "192 values"},
         {"one chain", [](Json& e) { e["params"].erase("piece_k"), e["params"].erase("join"); }, 1, "recorded"},
         {"other pieces", with("piece_k", 4096), 1, "recorded"}});
  check(set, "jax.dot.k4096", {{"as written", as_it_is, 0, "32 values"}, {"in order", with("join", "ascending"), 1, "recorded"}});
  check(set, "jax.dot.m1.bf16",
        {{"as written", as_it_is, 0, "48 values"},
         {"exact products", with("product", "exact"), 1, "recorded"},
         {"three lanes", with("lanes", 3), 5, "halves over 3 lanes"},
         {"no run", without("vector"), 5, "params has no 'vector'"}});
  check(set, "jax.dot.m1", {{"as written", as_it_is, 0, "48 values"}, {"runs of 2", with("vector", 2), 1, "recorded"}});
  check(set, "triton.dot.imprecise96",
        {{"as written", as_it_is, 0, "288 values"},
         {"not begun anew", without("step_k"), 1, "recorded"},
         {"other chains", with("chain", 64), 1, "recorded"},
         {"without chains", with("chain", 0), 5, "which has no chains"}});
  check(set, "triton.dot.added.imprecise32",
        {{"as written", as_it_is, 0, "72 values"},
         {"each into the total", with("accum", "promoted"), 1, "recorded"},
         {"no steps", without("step_k"), 5, "promoted_steps without step_k"}});
  check(set, "mm.fp16.k1001.f32",
        {{"as written", as_it_is, 0, "32 values"},
         {"what is left over last", without("rest_first"), 1, "recorded"},
         {"another tile", with("rest_first", 32), 1, "recorded"}});
  check(set, "mm.bf16.n50257", {{"as written", as_it_is, 0, "72 values"}, {"pieces that stay fp32", with("piece_rounded", 0), 1, "recorded"}});
  check(set, "mm.bf16.n1001.f32", {{"as written", as_it_is, 0, "72 values"}, {"groups of 16", with("accum", "chain16"), 1, "recorded"}});
  check(set, "mm.fp16.fp16_accumulators.pieces",
        {{"as written", as_it_is, 0, "48 values"}, {"sums in fp32", with("accum", "chain16"), 5, "another format than accum adds in"}});
  check(set, "scaled_mm.block.1x128.k5632",
        {{"as written", as_it_is, 0, "32 values"},
         {"pieces inside a block", [](Json& e) { e["params"]["piece_k"] = 2880; }, 5, "pieces of 2880 with scales of 128"}});
  check(set, "scaled_mm.block.128x1.k512",
        {{"as written", as_it_is, 0, "288 values"}, {"one by one", with("scaling", "block_1x128_1x128"), 3, "another shape"}});
  check(set, "scaled_mm.out_e4m3",
        {{"as written", as_it_is, 0, "384 values"},
         {"overflow to NaN", with("overflow", "nan"), 1, "recorded"},
         {"no word", without("overflow"), 5, "overflow"}});
  check(set, "addmm.bf16",
        {{"as written", as_it_is, 0, "288 values"},
         {"another beta", with("beta", "0x3F800000"), 1, "recorded"},
         {"no alpha", without("alpha"), 5, "alpha"}});
  check(set, "triton.dot_scaled.e2m1.bf16.quads",
        {{"as written", as_it_is, 0, "288 values"},
         {"in order", with("order", "ascending"), 1, "recorded"},
         {"one a byte", without("packing"), 3, "another shape"},
         {"another order", with("order", "triples"), 5, "unknown order 'triples'"},
         {"scales of the total", with("scaling", "tensor"), 5, "scale_a"}});
  check("hardware/engines_h200", "vllm.marlin.mxfp4.m8",
        {{"as written", as_it_is, 0, "128 values"},
         {"warps from the first", with("turn_join", "ascending"), 1, "recorded"},
         {"two warps", with("turns", 2), 1, "recorded"},
         {"one warp", without("turns"), 1, "recorded"},
         {"slices from the first", with("join", "ascending"), 1, "recorded"},
         {"one slice", without("piece_k"), 1, "recorded"},
         {"longer turns", with("turn_k", 64), 5, "4 parts by turns of 64 in a piece of 128"},
         {"three warps", with("turns", 3), 5, "turn_join warps of 3 parts"},
         {"no turn", without("turn_k"), 5, "turns 4 without turn_k"},
         {"another word", with("turn_join", "random"), 5, "unknown turn_join 'random'"}});
  check("hardware/engines_h200", "triton_kernels.matmul_ogs",
        {{"as written", as_it_is, 0, "192 values"},
         {"tiles of 32", with("turn_k", 32), 1, "recorded"},
         {"one chain", without("turns"), 1, "recorded"},
         {"chains inside", with("accum", "hopper-fp8-promoted"), 5, "accum"}});
  check(set, "triton.dot_scaled.e4m3.bf16.ascending.bytes.fast_math",
        {{"as written", as_it_is, 0, "256 values"}, {"byte 255 as NaN", with("fast_math", 0), 1, "recorded"}});
}

TEST_CASE("casts in a row, codes as numbers and additions in memory", "[witness]") {
  const auto with = [](const char* key, const Json& word) { return [key, word](Json& entry) { entry["params"][key] = word; }; };
  const auto as_it_is = [](Json&) {};
  const std::string set = "hardware/gpu_peers_h100";
  check(set, "pair.inductor.e4m3",
        {{"as written", as_it_is, 0, "762 values"},
         {"removed", with("removed", 1), 1, "recorded"},
         {"overflow to NaN", with("overflow", "nan"), 1, "recorded"},
         {"unsaid", [](Json& e) { e["params"].erase("overflow"); }, 5, "no 'overflow'"},
         {"through e8m0", with("mid", "e8m0"), 5, "e8m0"}});
  check(set, "pair.jax.bf16",
        {{"as written", as_it_is, 0, "762 values"},
         {"kept", [](Json& e) { e["params"]["removed"] = 0, e["params"]["overflow"] = "ieee"; }, 1, "recorded"}});
  check(set, "atomic.f32.global",
        {{"as written", as_it_is, 0, "2048 values"},
         {"subnormals kept", with("flush_subnormals", 0), 1, "recorded"},
         {"elsewhere", with("space", "moon"), 5, "unknown space 'moon'"}});
  check(set, "atomic.bf16x2",
        {{"as written", as_it_is, 0, "4096 values"},
         {"flushed", with("flush_subnormals", 1), 5, "flushed additions in bf16"},
         {"read as fp16", with("format", "fp16"), 3, "'old' is bf16"}});
  check(set, "upcast.triton.e5m2.bf16",
        {{"as written", as_it_is, 0, "256 values"},
         {"Inf and NaN", [](Json& e) { e["params"].erase("inf_nan"); }, 1, "recorded"},
         {"another word", with("inf_nan", "as_letters"), 5, "unknown inf_nan"},
         {"of a format without Inf", with("format", "e4m3fn"), 5, "inf_nan as_numbers of e4m3fn"}});
  check(set, "cast.triton.f32.e5m2.rtz",
        {{"as written", as_it_is, 0, "3806 values"}, {"to nearest", with("rounding", "nearest_even"), 1, "recorded"}});
}

}  // namespace
}  // namespace mx::tests::witness
