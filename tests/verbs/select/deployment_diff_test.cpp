// What differs between two deployment files, and where their searches part.

#include "verbs/select/deployment_diff.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace mx::support;
using namespace mx::verbs;

namespace {

const std::string kLayer = "layer { experts 128 top_k 4 hidden 2880 intermediate 2880 }\n";

DeploymentFile file(const std::string& text) { return parse_deployment_file(text + kLayer, "f.info"); }

std::vector<std::string> keys(const DeploymentFile& a, const DeploymentFile& b) {
  std::vector<std::string> names;
  for (const InputDifference& one : input_differences(a, b)) names.push_back(one.key + " " + one.a + " " + one.b);
  return names;
}

}  // namespace

TEST_CASE("every input that a file can give is compared") {
  const DeploymentFile a = file("platform SM100\n");
  CHECK(keys(a, a).empty());
  struct Row {
    const char* text;
    std::vector<std::string> differences;
  };
  const Row rows[] = {
      {"platform SM103\n", {"hardware.capability 100 103"}},
      {"platform SM100\nparallel { tp 2 }\n", {"parallel.tp 1 2", "layer.intermediate of a rank 2880 1440"}},
      {"platform SM100\nparallel { dp 2 expert_parallel true all2all mori eplb true round_robin true }\n",
       {"parallel.dp 1 2", "parallel.expert_parallel false true", "parallel.all2all allgather_reducescatter mori", "parallel.eplb false true",
        "parallel.round_robin false true"}},
      {"platform SM100\nparallel { sp 2 }\n", {"parallel.sp 1 2"}},
      {"platform SM100\nparallel { pcp 2 dp 1 expert_parallel true }\n", {"parallel.pcp 1 2", "parallel.expert_parallel false true"}},
      {"platform SM100\nbackend marlin\nquant_method quark\n", {"backend auto marlin", "quant_method own quark"}},
      {"platform SM100\nactivation_key kMxfp8Dynamic\nquantization_override mxfp8\n",
       {"activation_key None kMxfp8Dynamic", "quantization_override unset mxfp8"}},
      {"platform SM100\noracle fp8\nallow_vllm_cutlass true\n",
       {"oracle mxfp4 fp8", "weight_key kMxfp4Static kFp8Static128BlockSym", "activation_key None kFp8Dynamic128Sym",
        "allow_vllm_cutlass false true"}},
      {"platform SM100\nenv { VLLM_MXFP4_USE_MARLIN 1 }\nsoftware { has_flashinfer false }\n",
       {"env.VLLM_MXFP4_USE_MARLIN not set '1'", "software.has_flashinfer true false"}},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(keys(a, file(row.text)) == row.differences);
  }
  const auto other = parse_deployment_file(
      "platform SM100\nlayer { experts 64 top_k 2 hidden 64 intermediate 32 activation SILU routing Llama4 dtype float16 bias false act_and_mul "
      "false "
      "lora true router_weight_on_input true expert_groups 8 topk_group 4 correction_bias true routed_scaling true swiglu_alpha true swiglu_limit "
      "true }\n",
      "f.info");
  // Every key of a layer.
  CHECK(keys(a, other).size() == 17);
  CHECK(keys(file("hardware { platform cpu }\n"), file("hardware { platform cpu amx false }\n")) ==
        std::vector<std::string>{"hardware.amx true false"});
  CHECK(keys(file("platform gfx942\n"), file("platform gfx950\n")) ==
        std::vector<std::string>{"hardware.capability 94 95", "hardware.gcn_arch gfx942 gfx950"});
}

TEST_CASE("the step at which two searches part") {
  const auto decision = [](const std::string& text) { return mx::engine::select(mx::deployment::kVllm2026_05, "mxfp4", file(text).deployment); };
  const auto blackwell = decision("platform SM100\n");
  CHECK_FALSE(first_parting(blackwell, blackwell));
  // Four backends fall to the filter on keys, the fifth is looked at: FLASHINFER_TRTLLM_MXFP4_BF16.
  CHECK(first_parting(blackwell, decision("platform SM90\n")) == 4);
  // Both refuse the first backend's two classes and AITER for the device; TRITON parts them.
  CHECK(first_parting(decision("platform SM90\n"), decision("platform SM120\n")) == 7);
  // A named backend is another list from the start.
  CHECK(first_parting(blackwell, decision("platform SM100\nbackend marlin\n")) == 0);
}
