// Deployment files: the example, every key, and what is said about mistakes.

#include "support/deployment_file.hpp"

#include <string>

#include "model/engine/vllm/select.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;

using mx::support::parse_deployment;
using mx::tests::message_of;
using mx::tests::says;

namespace {

const std::string kLayer = "layer { experts 128 top_k 4 hidden 2880 intermediate 2880 }\n";

std::string with_layer_key(const std::string& key) {
  return "platform SM100\nlayer {\nexperts 128 top_k 4\nhidden 2880\nintermediate 2880\n" + key + "\n}\n";
}

}  // namespace

TEST_CASE("the example works and chooses what it says") {
  const Deployment deployment = mx::support::load_deployment(std::string(MXACT_SOURCE_DIR) + "/docs/examples/gpt-oss-b200.info");
  CHECK(deployment.layer.intermediate_per_partition == 1440);
  CHECK(deployment.hardware.capability == 100);
  const Decision decision = select(mx::deployment::kVllm2026_05, "mxfp4", deployment);
  REQUIRE(decision.choice);
  CHECK(decision.choice->backend == "FLASHINFER_TRTLLM_MXFP4_BF16");
  CHECK(decision.choice->rounded_intermediate == 1536);
}

TEST_CASE("every key reaches its field") {
  const Deployment d = parse_deployment(
      "hardware { platform rocm gcn_arch gfx1100 capability 110 }\n"
      "parallel { tp 2 pcp 1 dp 3 sp 2 expert_parallel true all2all deepep-low-latency eplb true }\n"
      "layer { experts 12 top_k 2 hidden 256 intermediate 96 activation silu routing renormalize_naive dtype float16 bias false act_and_mul false "
      "lora true }\n"
      "backend Flashinfer-Trtllm\nactivation_key kMxfp8Dynamic\nquantization_override mxfp8\n"
      "env { VLLM_MXFP4_USE_MARLIN 1 VLLM_BATCH_INVARIANT \"\" }\nsoftware { has_flashinfer true aiter_found false }\n",
      "f.info");
  CHECK(d.hardware.platform == PlatformKind::rocm);
  CHECK(d.hardware.capability == 110);
  CHECK(d.hardware.gcn_arch == "gfx1100");
  CHECK(d.parallel.tp == 2);
  CHECK(d.parallel.dp == 3);
  CHECK(d.parallel.sp == 2);
  CHECK(d.parallel.enable_expert_parallel);
  CHECK(d.parallel.enable_eplb);
  CHECK(d.parallel.all2all_backend == "deepep_low_latency");
  CHECK(d.layer.num_experts == 12);
  CHECK(d.layer.experts_per_token == 2);
  CHECK(d.layer.hidden == 256);
  // Expert parallelism keeps each expert whole.
  CHECK(d.layer.intermediate_per_partition == 96);
  CHECK(d.layer.activation == "SILU");
  CHECK(d.layer.routing_method == "RenormalizeNaive");
  CHECK(d.layer.in_dtype == "float16");
  CHECK_FALSE(d.layer.has_bias);
  CHECK_FALSE(d.layer.is_act_and_mul);
  CHECK(d.layer.is_lora_enabled);
  CHECK(d.layer.moe_backend == "flashinfer_trtllm");
  CHECK(d.activation_key == "kMxfp8Dynamic");
  CHECK(d.quantization_override == "mxfp8");
  CHECK(d.env == Environment{{"VLLM_MXFP4_USE_MARLIN", "1"}, {"VLLM_BATCH_INVARIANT", ""}});
  CHECK(d.software.has_flashinfer);
  CHECK_FALSE(d.software.aiter_found);
  CHECK(d.software.has_triton_kernels);
}

TEST_CASE("a file says which oracle it asks, and the caller may say another") {
  const auto file =
      mx::support::parse_deployment_file("platform SM90\noracle fp8\nallow_vllm_cutlass true\nweight_key kFp8StaticTensorSym\n" + kLayer, "f.info");
  CHECK(file.oracle == "fp8");
  CHECK(file.deployment.allow_vllm_cutlass);
  CHECK(file.deployment.weight_key == "kFp8StaticTensorSym");
  CHECK(file.deployment.activation_key == "kFp8Dynamic128Sym");
  CHECK(mx::support::parse_deployment_file("platform SM90\n" + kLayer, "f.info").oracle == "mxfp4");
  struct Row {
    const char* oracle;
    const char* weights;
    const char* activations;
  };
  const Row rows[] = {{"mxfp4", "kMxfp4Static", "None"},          {"mxfp4_deepseek_v4", "kMxfp4Static", "None"},
                      {"nvfp4", "kNvfp4Static", "kNvfp4Dynamic"}, {"fp8", "kFp8Static128BlockSym", "kFp8Dynamic128Sym"},
                      {"mxfp8", "kMxfp8Static", "None"},          {"w4a8", "kInt4Static", "kFp8DynamicTokenSym"}};
  for (const Row& row : rows) {
    const auto asked = mx::support::parse_deployment_file("platform SM90\noracle nvfp4\n" + kLayer, "f.info", row.oracle);
    INFO(row.oracle);
    CHECK(asked.oracle == row.oracle);
    CHECK(asked.deployment.weight_key == row.weights);
    CHECK(asked.deployment.activation_key == row.activations);
  }
  CHECK(says(message_of(mx::ErrorCode::usage, [] { mx::support::parse_deployment_file("platform SM90\n" + kLayer, "f.info", "fp9"); }),
             "did you mean fp8?"));
}

TEST_CASE("a file gives numbers of a launch, of both products or of the second") {
  const auto launch = [](const std::string& block) {
    return mx::support::parse_deployment_file("platform SM90\n" + kLayer + block, "f.info").launch;
  };
  CHECK(launch("").empty());
  CHECK(launch("launch { }").empty());
  CHECK(launch("launch { block_m 16  w2.step_k 64 }") == "block_m=16,w2.step_k=64");
  CHECK(launch("launch { tuned tiles.json  tokens 3 }") == "tuned=tiles.json,tokens=3");
  struct Row {
    const char* block;
    const char* says;
  };
  for (const Row& row : {Row{"\nlaunch { block 3 }", "did you mean block_m?"}, Row{"\nlaunch { stages 0 }", "must be a number from 1 to 16"},
                         Row{"\nlaunch { w2.tokens 3 }", "is one for both products"}, Row{"\nlaunch { tuned \"\" }", "must name a file"},
                         Row{"\nlaunch { tuned \"a,b\" }", "must name a file, without a comma"}}) {
    INFO(row.block);
    const std::string message = message_of(mx::ErrorCode::input, [&] { launch(row.block); });
    CHECK(says(message, row.says));
    CHECK(says(message, "f.info"));
  }
}

TEST_CASE("ranks without expert parallelism share the intermediate size over tp, pcp and dp") {
  const Deployment d = parse_deployment("platform CPU\nparallel { tp 2 dp 3 }\n" + kLayer, "f.info");
  CHECK(d.layer.intermediate_per_partition == 480);
  CHECK_FALSE(d.hardware.capability);
}

TEST_CASE("architectures give their capability") {
  const auto capability = [](const std::string& arch) {
    return parse_deployment("hardware { platform rocm gcn_arch " + arch + " }\n" + kLayer, "f.info").hardware.capability;
  };
  CHECK(capability("gfx90a") == 90);
  CHECK(capability("gfx942") == 94);
  CHECK(capability("gfx1201") == 120);
  CHECK(capability("gfx1250") == 125);
}

TEST_CASE("mistakes in a deployment file") {
  struct Row {
    std::string text;
    const char* part;
  };
  const Row rows[] = {
      {kLayer, "platform is missing"},
      {"platform SM100\n", "layer is missing"},
      {"platform SM100\nlayers { }\n", "f.info:2: unknown key 'layers' (did you mean layer?)"},
      {"platfrom SM100\n" + kLayer, "f.info:1: unknown key 'platfrom' (did you mean platform?)"},
      {"platform SM101\n" + kLayer, "f.info:1: platform: unknown platform 'SM101' (did you mean SM1"},
      {"platform SM100\nhardware { platform cuda capability 100 }\n" + kLayer, "f.info:2: platform and hardware are both given"},
      {"hardware { platform cuda }\n" + kLayer, "hardware.capability is missing"},
      {"hardware { platform cuda capability 10.0 }\n" + kLayer, "hardware.capability is '10.0', must be a whole number in [50, 199]"},
      {"hardware { platform cuda capability 100 gcn_arch gfx950 }\n" + kLayer, "hardware.gcn_arch is for platform rocm, not cuda"},
      {"hardware { platform rocm }\n" + kLayer, "hardware.gcn_arch is missing"},
      {"hardware { platform rocm gcn_arch mi300 }\n" + kLayer, "hardware.gcn_arch is 'mi300', must be gfx"},
      {"hardware { platform rocm gcn_arch gfx12345 }\n" + kLayer, "must be gfx and two to four digits"},
      {"hardware { platform rocm gcn_arch gfx942 capability 95 }\n" + kLayer, "hardware.capability is 95, but that of gfx942 is 94"},
      {"hardware { platform cpu capability 90 }\n" + kLayer, "platform cpu has none"},
      {"hardware { platform rocket }\n" + kLayer, "hardware.platform: unknown name 'rocket'"},
      {"platform SM100\nparallel { tp 0 }\n" + kLayer, "f.info:2: parallel.tp is '0', must be a whole number in [1, 4096]"},
      {"platform SM100\nparallel { tp -2 }\n" + kLayer, "parallel.tp is '-2'"},
      {"platform SM100\nparallel { tp 1e3 }\n" + kLayer, "parallel.tp is '1e3'"},
      {"platform SM100\nparallel { tp 4096 dp 4096 }\n" + kLayer, "f.info:2: parallel: tp * pcp * dp is above 4096 ranks"},
      {"platform SM100\nparallel { tp 7 }\n" + kLayer, "f.info:3: layer.intermediate is 2880, which 7 tensor parallel ranks cannot share equally"},
      {"platform SM100\nparallel { ep true }\n" + kLayer, "f.info:2: unknown key of parallel 'ep'"},
      {"platform SM100\nparallel { all2all deepep_ll }\n" + kLayer, "parallel.all2all: unknown name 'deepep_ll'"},
      {"platform SM100\nparallel { eplb perhaps }\n" + kLayer, "parallel.eplb is 'perhaps', must be true or false"},
      {"platform SM100\nparallel {\nexpert_parallel true }\n" + kLayer, "f.info:3: parallel.expert_parallel is true, but tp * pcp * dp is 1"},
      {"platform SM100\noracle nvpf4\n" + kLayer, "f.info:2: oracle: unknown name 'nvpf4' (did you mean nvfp4?)"},
      {"platform SM100\nweight_key kNvfp4Static\n" + kLayer, "f.info:2: weight_key is kNvfp4Static, but oracle mxfp4 always takes kMxfp4Static"},
      {"platform SM100\noracle nvfp4\nweight_key kNvfp4Statik\n" + kLayer, "f.info:3: weight_key: unknown name 'kNvfp4Statik'"},
      {"platform SM100\noracle mxfp8\nactivation_key kMxfp8Dynamic\n" + kLayer, "f.info:3: activation_key: oracle mxfp8 does not read it"},
      {"platform SM100\noracle fp8\nquantization_override mxfp8\n" + kLayer, "f.info:3: quantization_override: oracle fp8 does not read it"},
      {"platform SM100\nallow_vllm_cutlass true\n" + kLayer, "f.info:2: allow_vllm_cutlass: oracle mxfp4 does not read it"},
      {"platform SM100\noracle fp8\nallow_vllm_cutlass 1\n" + kLayer, "f.info:3: allow_vllm_cutlass is '1', must be true or false"},
      {"platform SM100\nparallel 2\n" + kLayer, "f.info:2: parallel takes a block in braces"},
      {"platform SM100\nlayer { experts 128 top_k 4 hiden 2880 intermediate 2880 }\n", "f.info:2: unknown key 'layer.hiden' (did you mean hidden?)"},
      {"platform SM100\nlayer { experts 8 top_k 9 hidden 2880 intermediate 2880 }\n", "layer.top_k is '9', must be a whole number in [1, 8]"},
      {"platform SM100\nlayer { experts 8 top_k 1 hidden 99999999 intermediate 2880 }\n", "layer.hidden is '99999999'"},
      {"platform SM100\nlayer { experts 8 top_k 1 hidden \"2880 \" intermediate 2880 }\n", "layer.hidden is '2880 '"},
      {with_layer_key("activation SWIGLU_OIA"), "f.info:6: layer.activation: unknown name 'SWIGLU_OIA' (did you mean SWIGLUOAI?)"},
      {with_layer_key("routing Renorm"), "layer.routing: unknown name 'Renorm'"},
      {with_layer_key("dtype bf16"), "layer.dtype: unknown name 'bf16'"},
      {with_layer_key("expert_groups 3"), "f.info:6: layer.expert_groups is 3, which 128 experts cannot be dealt out to equally"},
      {with_layer_key("expert_groups 4"), "f.info:6: layer.expert_groups is 4, but layer.topk_group is 0"},
      {with_layer_key("expert_groups 64 topk_group 1"), "f.info:3: layer.top_k is 4, but the 1 of 64 groups that a token may use have 2 experts"},
      {with_layer_key("topk_group 2"), "layer.topk_group is '2', must be a whole number in [0, 0]"},
      {with_layer_key("bais true"), "f.info:6: unknown key of layer 'bais' (did you mean bias?)"},
      {with_layer_key("bias"), "f.info:6: layer.bias has no value"},
      {"platform SM100\nbackend marlyn\n" + kLayer, "f.info:2: backend: unknown name 'marlyn' (did you mean marlin?)"},
      {"platform SM100\nactivation_key mxfp8\n" + kLayer, "activation_key: unknown name 'mxfp8'"},
      {"platform SM100\nquantization_override mxfp7\n" + kLayer, "quantization_override: unknown name 'mxfp7'"},
      {"platform SM100\nenv { VLLM_MXFP4_USE_MARLN 1 }\n" + kLayer,
       "f.info:2: unknown variable 'VLLM_MXFP4_USE_MARLN' (did you mean VLLM_MXFP4_USE_MARLIN?)"},
      {"platform SM100\nenv { vllm_mxfp4_use_marlin 1 }\n" + kLayer, "unknown variable 'vllm_mxfp4_use_marlin'"},
      {"platform SM100\nenv { VLLM_MXFP4_USE_MARLIN }\n" + kLayer, "env.VLLM_MXFP4_USE_MARLIN has no value"},
      {"platform SM100\nsoftware { has_flashinfr true }\n" + kLayer, "unknown key of software 'has_flashinfr' (did you mean has_flashinfer?)"},
      {"platform SM100\nsoftware { has_flashinfer 3 }\n" + kLayer, "software.has_flashinfer is '3', must be true or false"},
      {"platform SM100\nplatform SM90\n" + kLayer, "f.info:2: 'platform' is already given in line 1"},
  };
  for (const Row& row : rows) {
    const std::string message = message_of(mx::ErrorCode::input, [&] { parse_deployment(row.text, "f.info"); });
    INFO(row.text);
    INFO(message);
    CHECK(says(message, row.part));
    CHECK(message.starts_with("f.info"));
  }
}

TEST_CASE("a nested object is a deployment as a file is") {
  using mx::support::Json;
  const Json object{{"platform", "SM100"},
                    {"oracle", "nvfp4"},
                    {"layer", {{"experts", 128}, {"top_k", 4}, {"hidden", 2880}, {"intermediate", 2880}, {"bias", false}}},
                    {"parallel", {{"tp", 2}}}};
  const mx::support::DeploymentFile file = mx::support::deployment_file_of(object, "deployment");
  CHECK(file.oracle == "nvfp4");
  CHECK(file.deployment.layer.intermediate_per_partition == 1440);
  CHECK_FALSE(file.deployment.layer.has_bias);
  CHECK(mx::support::deployment_file_of(object, "deployment", "mxfp4").oracle == "mxfp4");
  Json wrong = object;
  wrong["layer"]["hidn"] = 1;
  CHECK(message_of(mx::ErrorCode::input, [&] { mx::support::deployment_file_of(wrong, "deployment"); }) ==
        "deployment: unknown key of layer 'hidn' (did you mean hidden?)");
}
