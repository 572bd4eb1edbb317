// Sets of routers and of whole layers: what contradicts itself, what the model does not claim, and parameters that must matter.

#include "tests/golden/witness/changes.hpp"

namespace mx::tests::witness {
namespace {

TEST_CASE("a router's entry that contradicts itself, or that no router is", "[witness]") {
  check("routing", "deepseek_v3",
        {{"as written", [](Json&) {}, 0, "288 values"},
         {"another model", [](Json& e) { e["params"]["model"] = "deepseek_v2_grouplimited"; }, 5, "state another router than model"},
         {"an unknown model", [](Json& e) { e["params"]["model"] = "deepseek_v9"; }, 5, "unknown router model 'deepseek_v9'"},
         {"an unknown score", [](Json& e) { e["params"]["score"] = "relu"; }, 5, "unknown score 'relu'"},
         {"no eps", [](Json& e) { e["params"].erase("eps"); }, 5, "sum_plus_eps without eps"},
         // 1e-20 beside a sum of scores is nothing.
         {"an eps that no sum takes", [](Json& e) { e["params"]["renormalise"] = "sum"; }, 0, "288 values"},
         {"an eps that is no fp32 number", [](Json& e) { e["params"]["eps"] = "0x00"; }, 5, "'eps' must be 0x and 8"},
         {"no renormalisation",
          [](Json& e) {
            e["params"]["renormalise"] = "none";
            e["params"].erase("eps");
          },
          1, "weights[0][0]: recorded"},
         {"another factor", [](Json& e) { e["params"]["factor"] = "0x3F800000"; }, 1, "weights[0][0]: recorded"},
         {"a factor in fp64", [](Json& e) { e["params"]["factor"] = "0x4004000000000000"; }, 0, "288 values"},
         {"a factor in no type", [](Json& e) { e["params"]["factor"] = "0x4004"; }, 5, "'factor' must be 0x and 16"},
         {"all groups", [](Json& e) { e["params"]["topk_groups"] = 8; }, 1, "ids"},
         {"groups that do not divide", [](Json& e) { e["params"]["groups"] = 5; }, 5, "5 groups do not divide 32 experts"},
         {"more groups than there are", [](Json& e) { e["params"]["topk_groups"] = 9; }, 5, "topk_groups 9 is not in 1..8"},
         {"no bias", [](Json& e) { e["inputs"].erase("bias"); }, 5, "bias has 0 values, the choice adds 32"},
         {"another order", [](Json& e) { e["params"]["order"] = "descending"; }, 1, "weights"},
         {"dense scores that are not recorded", [](Json& e) { e["params"]["order"] = "dense"; }, 3, "no output 'scores'"},
         {"in fp64", [](Json& e) { e["params"]["compute"] = "f64"; }, 0, "288 values"},
         {"in an unknown arithmetic", [](Json& e) { e["params"]["compute"] = "f16"; }, 5, "unknown compute 'f16'"},
         {"no hidden size", [](Json& e) { e["params"].erase("H"); }, 5, "params has no 'H'"},
         {"another hidden size", [](Json& e) { e["params"]["H"] = 32; }, 3, "'x' has another shape"},
         {"an unknown input", [](Json& e) { e["inputs"]["ids"] = e["outputs"]["ids"]; }, 5, "unknown input 'ids'"}});
  check("routing", "deepseek_v2_greedy",
        {{"as written", [](Json&) {}, 0, "288 values"},
         {"groups without a score", [](Json& e) { e["params"]["groups"] = 8; }, 0, "288 values"},
         {"best groups without a score", [](Json& e) { e["params"]["topk_groups"] = 4; }, 0, "288 values"},
         {"no group", [](Json& e) { e["params"]["groups"] = 0; }, 5, "'groups' is 0, outside 1..1048576"},
         {"an eps that nothing adds", [](Json& e) { e["params"]["eps"] = "0x3F800000"; }, 0, "288 values"},
         {"too many experts", [](Json& e) { e["params"]["top_k"] = 33; }, 5, "top_k 33 is not in 1..32"}});
  check("routing", "logits_f64",
        {{"as written", [](Json&) {}, 0, "768 values"},
         {"another type", [](Json& e) { e["params"]["out_format"] = "f32"; }, 3, "'logits' is not f32"},
         {"in fp32", [](Json& e) { e["params"]["compute"] = "f32"; }, 1, "logits"}});
  check("moe_0", "own.route",
        {{"as written", [](Json&) {}, 0, "56 values"},
         {"by softmax over all", [](Json& e) { e["params"]["score"] = "softmax"; }, 5, "state another router than model"}});
}

TEST_CASE("a layer's entry: every parameter matters, contradictions are errors", "[witness]") {
  check("moe_0", "own.f64",
        {{"as written", [](Json&) {}, 0, "30464 values"},
         {"alpha", [](Json& e) { e["params"]["alpha"] = "0x3FF0000000000000"; }, 1, "act[0][0][0]: recorded"},
         {"beta", [](Json& e) { e["params"]["beta"] = "0x0000000000000000"; }, 1, "act[0][0][0]: recorded"},
         {"no beta", [](Json& e) { e["params"].erase("beta"); }, 5, "params has no 'beta'"},
         {"limit", [](Json& e) { e["params"]["limit"] = "0x3F50000000000000"; }, 1, "act[0][0]"},
         {"input scale", [](Json& e) { e["params"]["input_scale"] = "0x3FE0000000000000"; }, 1, "act[0][0][0]: recorded"},
         {"row order", [](Json& e) { e["params"]["w13_layout"] = "halves"; }, 1, "act[0][0][0]: recorded"},
         {"activation",
          [](Json& e) {
            e["params"]["activation"] = "silu_and_mul";
            for (const char* key : {"alpha", "beta", "limit"}) e["params"].erase(key);
          },
          1, "act[0][0][0]: recorded"},
         {"constants of another activation", [](Json& e) { e["params"]["activation"] = "silu_and_mul"; }, 5, "unknown key 'alpha'"},
         {"biases", [](Json& e) { e["params"]["bias"] = false; }, 1, "act[0][0][0]: recorded"},
         {"quantized x", [](Json& e) { e["params"]["quant_x"] = "mxfp8_rceil"; }, 1, "act"},
         {"rounded products", [](Json& e) { e["params"]["round_h13"] = "bf16"; }, 1, "act"},
         {"rounded activations", [](Json& e) { e["params"]["round_act"] = "bf16"; }, 1, "act"},
         {"quantized activations", [](Json& e) { e["params"]["quant_act"] = "mxfp8_rceil"; }, 1, "act"},
         {"rounded outputs", [](Json& e) { e["params"]["round_expert_out"] = "bf16"; }, 1, "expert_out"},
         {"rounded weights", [](Json& e) { e["params"]["round_weight"] = "f32"; }, 1, "out[0]"},
         {"weights on the input", [](Json& e) { e["params"]["weight_on"] = "input"; }, 1, "act"},
         {"one of two ranks", [](Json& e) { e["params"]["ep_size"] = 2; }, 1, "out[0]"},
         {"ranks that do not divide", [](Json& e) { e["params"]["ep_size"] = 3; }, 5, "rank 0 of 3 holds no equal part of 8 experts"},
         {"a rank beyond the last", [](Json& e) { e["params"]["ep_rank"] = 1; }, 5, "rank 1 of 1"},
         {"in fp32", [](Json& e) { e["params"]["compute"] = "f32"; }, 1, "out[0]"},
         {"an unknown word", [](Json& e) { e["params"]["quant_act"] = "mxfp8_floor"; }, 5, "unknown quant_act 'mxfp8_floor'"},
         {"sizes that are no blocks", [](Json& e) { e["params"]["I"] = 48; }, 5, "H 256 and I 48 are not whole blocks of 32"},
         {"ids of no expert",
          [](Json& e) {
            e["inputs"]["ids"] = {{"generate", "iota_plus_1"}, {"dtype", "i32"}, {"shape", Json::array({7, 4})}};
          },
          3, "'ids' has 8, there are 8 experts"},
         {"ids in another type", [](Json& e) { e["inputs"]["ids"] = e["inputs"]["weights"]; }, 3, "'ids' is f64"},
         {"weights that are no numbers", [](Json& e) { e["inputs"]["weights"] = e["inputs"]["ids"]; }, 3, "'weights' is i32"},
         {"no weights", [](Json& e) { e["inputs"].erase("weights"); }, 3, "no input 'weights'"}});
  check("moe_0", "own.f64_weight_on_input",
        {{"as written", [](Json&) {}, 0, "1792 values"},
         {"weights on the output", [](Json& e) { e["params"]["weight_on"] = "output"; }, 1, "out[0]"},
         {"two experts", [](Json& e) { e["params"]["top_k"] = 2; }, 5, "top1_sigmoid with a top_k that is not 1"}});
  check("moe_0", "own.f64_unrounded_logits",
        {{"as written", [](Json&) {}, 0, "1792 values"},
         {"two experts", [](Json& e) { e["params"]["top_k"] = 2; }, 1, "out[0]"},
         {"no router bias", [](Json& e) { e["inputs"].erase("router_b"); }, 1, "out[0]"},
         {"no router", [](Json& e) { e["inputs"].erase("router_w"); }, 3, "no input 'router_w'"}});
}

}  // namespace
}  // namespace mx::tests::witness
