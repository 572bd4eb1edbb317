// Models by their configurations: the deployments and answers of golden/words, which are the engine's own.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "model/audit/deployment_text.hpp"
#include "model/deployment/deployment.hpp"
#include "model/error.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/json_text.hpp"
#include "tests/sim/verify/scratch.hpp"
#include "verbs/select/answer.hpp"
#include "verbs/select/asked.hpp"

namespace {

using mx::support::Json;
using mx::verbs::Asked;
using mx::verbs::AskedFor;

const std::filesystem::path kGolden = std::filesystem::path(MXACT_SOURCE_DIR) / "golden", kWords = kGolden / "words";

std::vector<std::vector<std::string>> rows_of(const std::string& file) {
  std::ifstream table(kGolden / file);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    rows.emplace_back(1);
    for (const char c : line) {
      if (c == '\t')
        rows.back().emplace_back();
      else
        rows.back().back() += c;
    }
  }
  return rows;
}

AskedFor placement_of(const Json& placement, const std::string& engine) {
  const Json& parallel = placement["parallel"];
  AskedFor asked{.engine = engine, .platform = placement["device"].text()};
  asked.tp = parallel["tp"].get<int>();
  asked.dp = parallel["dp"].get<int>();
  asked.expert_parallel = parallel["expert_parallel"].flag();
  for (const mx::support::JsonMember& one : placement["env"].items()) asked.env[one.key] = one.value.text();
  return asked;
}

/// Every member of the expected object, and none that it does not have but those of `besides`.
void check_members(const Json& found, const Json& expected, const std::vector<std::string>& besides) {
  for (const mx::support::JsonMember& one : expected.items()) {
    INFO(one.key);
    REQUIRE(found.contains(one.key));
    if (one.key != "layer") CHECK(found[one.key] == one.value);
  }
  for (const mx::support::JsonMember& one : found.items()) {
    INFO(one.key << " is " << one.value.dump());
    CHECK((expected.contains(one.key) || std::ranges::find(besides, one.key) != besides.end()));
  }
}

/// One kind of layers: its deployment field for field, and the answer.
void check_kind(const Json& found, const Json& expected) {
  INFO("layers " << expected["layers"].text() << ": " << found.dump());
  CHECK(found["layers"] == expected["layers"]);
  const Json& deployment = expected["deployment"];
  check_members(found["deployment"], deployment, {"parallel", "activation_key"});
  if (!deployment.contains("activation_key") && found["deployment"].contains("activation_key"))
    CHECK(found["deployment"]["activation_key"] == "None");
  check_members(found["deployment"]["layer"], deployment["layer"], {});
  for (const mx::support::JsonMember& one : deployment["layer"].items()) {
    INFO(one.key);
    CHECK(found["deployment"]["layer"][one.key] == one.value);
  }
  const Json& choice = found["choice"];
  CHECK(choice["backend"] == expected["backend"]);
  CHECK(choice["kernel_class"] == expected["kernel_class"]);
  if (!expected.contains("rounded_hidden")) return;
  CHECK(choice["rounded_hidden"] == expected["rounded_hidden"]);
  CHECK(choice["rounded_intermediate"] == expected["rounded_intermediate"]);
}

/// The exit code and everything that is said.
struct Said {
  int exit_code;
  std::string text;
};
Said said_of(const std::filesystem::path& path, const AskedFor& asked) {
  try {
    const mx::verbs::Document document = mx::verbs::select_document(mx::verbs::asked_about(path.string(), asked), false, true);
    return {document.exit_code, mx::verbs::to_text(document) + mx::verbs::body_json(document).dump()};
  } catch (const mx::Error& error) {
    return {static_cast<int>(error.code()), std::string(error.where()) + ": " + error.what()};
  }
}

/// A Qwen3-MoE of two layers with that quantization configuration.
Json small_model(const Json& quantization) {
  Json config = {{"architectures", Json::array({"Qwen3MoeForCausalLM"})},
                 {"model_type", "qwen3_moe"},
                 {"hidden_size", 2048},
                 {"intermediate_size", 6144},
                 {"moe_intermediate_size", 768},
                 {"num_hidden_layers", 2},
                 {"num_experts", 128},
                 {"num_experts_per_tok", 8},
                 {"norm_topk_prob", true},
                 {"num_attention_heads", 32},
                 {"torch_dtype", "bfloat16"}};
  if (!quantization.is_null()) config["quantization_config"] = quantization;
  return config;
}

/// The word behind a mark, "w=kNvfp4Static"; empty where there is none.
std::string behind(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? "" : text.substr(at + mark.size(), text.find(' ', at + mark.size()) - at - mark.size());
}

/// "fp8 w=kFp8StaticTensorSym a=kFp8StaticTensorSym cutlass -> TRITON TritonExperts", as the table has it of one kind of layers.
void check_scheme(const mx::verbs::AskedKind& kind, const std::string& expected) {
  // Another name of the engine's for one key.
  const auto same_key = [](const std::string& key) { return key == "kInt4W4A8StaticChannelSym" ? std::string("kInt8StaticChannelSym") : key; };
  const mx::deployment::Deployment& deployment = kind.file.deployment;
  const std::size_t arrow = expected.find("-> ");
  REQUIRE(arrow != std::string::npos);
  const std::string asked = expected.substr(0, arrow), answer = expected.substr(arrow + 3);
  const mx::verbs::SelectAnswer found = mx::verbs::ask(kind.file, false);
  const auto& decision = found.resolution.decision;
  if (answer.starts_with("no oracle: ")) {
    REQUIRE(decision.choice);
    CHECK(decision.choice->kernel_class == answer.substr(11));
    return;
  }
  CHECK(kind.file.oracle == asked.substr(0, asked.find(' ')));
  if (const std::string key = behind(asked, " w="); !key.empty()) CHECK(deployment.weight_key == same_key(key));
  if (const std::string key = behind(asked, " a="); !key.empty()) CHECK(deployment.activation_key == key);
  CHECK(deployment.allow_vllm_cutlass == (asked.find(" cutlass") != std::string::npos));
  REQUIRE(decision.choice);
  CHECK(decision.choice->backend == answer.substr(0, answer.find(' ')));
  CHECK(decision.choice->kernel_class == answer.substr(answer.find(' ') + 1));
}

}  // namespace

TEST_CASE("models: every case's deployment, backend, class and sizes are the engine's, at two versions") {
  int answers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kWords)) {
    if (!entry.is_directory() || entry.path().filename() == "bad") continue;
    const Json expected = mx::tests::parsed_file((entry.path() / "expected.json").string());
    for (const Json& placement : expected["placements"]) {
      for (const mx::support::JsonMember& version : placement["answers"].items()) {
        INFO(entry.path().filename() << " on " << placement["device"].text() << " by " << version.key);
        const AskedFor asked = placement_of(placement, version.key);
        if (expected.contains("answer")) {
          const Said said = said_of(entry.path(), asked);
          CHECK(said.exit_code == 4);
          CHECK(said.text.find(expected["answer"] == "refused" ? "not known" : "no experts") != std::string::npos);
          ++answers;
          continue;
        }
        const Json document = mx::verbs::body_json(mx::verbs::select_document(mx::verbs::asked_about(entry.path().string(), asked), false, false));
        CHECK(document["num_hidden_layers"] == expected["num_hidden_layers"]);
        REQUIRE(document["kinds"].size() == version.value.size());
        for (std::size_t i = 0; i < version.value.size(); ++i) {
          check_kind(document["kinds"][i], version.value[i]);
          CHECK(document["shared_experts"].flag() == version.value[i].contains("shared_experts"));
          ++answers;
        }
      }
    }
  }
  CHECK(answers >= 50);
}

TEST_CASE("models: the INFO text of each kind, read again, gives the same answer") {
  for (const auto& entry : std::filesystem::directory_iterator(kWords)) {
    if (!entry.is_directory() || entry.path().filename() == "bad") continue;
    const Json expected = mx::tests::parsed_file((entry.path() / "expected.json").string());
    if (expected.contains("answer")) continue;
    for (const Json& placement : expected["placements"]) {
      for (const mx::support::JsonMember& version : placement["answers"].items()) {
        const Asked asked = mx::verbs::asked_about(entry.path().string(), placement_of(placement, version.key));
        for (const mx::verbs::AskedKind& kind : asked.kinds) {
          const std::string info = mx::audit::info_text(kind.file.engine, kind.file.oracle, kind.file.deployment);
          INFO(info);
          mx::support::DeploymentFile again = mx::support::parse_deployment_file(info, "written", {}, kind.file.engine);
          CHECK(again.oracle == kind.file.oracle);
          CHECK(again.deployment == kind.file.deployment);
          again.release = kind.file.release;
          CHECK(mx::verbs::answer_json(again, mx::verbs::ask(again, false), false) ==
                mx::verbs::answer_json(kind.file, mx::verbs::ask(kind.file, false), false));
        }
      }
    }
  }
}

TEST_CASE("models: a file that is wrong ends with its exit code and names what is wrong") {
  int rows = 0;
  for (const std::vector<std::string>& row : rows_of("words/bad.tsv")) {
    const Said said = said_of(kWords / "bad" / row.at(0), {.engine = "vllm@2026-11", .platform = "SM90"});
    INFO(row[0] << ": " << said.text);
    CHECK(std::to_string(said.exit_code) == row.at(1));
    std::string word;
    for (const char c : row.at(2) + "|") {
      if (c != '|') {
        word += c;
        continue;
      }
      INFO(word);
      CHECK(said.text.find(word) != std::string::npos);
      word.clear();
    }
    ++rows;
  }
  CHECK(rows == 52);
  // DeepSeek's step is one of the lists that decide, and is said once.
  const Said dense = said_of(kWords / "bad" / "first-dense-all", {.engine = "vllm@2026-11", .platform = "SM90"});
  CHECK(dense.text.find("none of its 61 layers has any, first_k_dense_replace is 61, moe_layer_freq is 1") != std::string::npos);
  CHECK(dense.text.find("moe_layer_freq is 1, moe_layer_freq") == std::string::npos);
}

TEST_CASE("models: sizes that ranks cannot share end as the engine's do, and sequence parallelism is that of the class") {
  const auto said = [](const char* model, int tp, int dp, bool ep) {
    AskedFor asked{.engine = "vllm@2026-11", .platform = "H100"};
    asked.tp = tp;
    asked.dp = dp;
    asked.expert_parallel = ep;
    return said_of(kWords / model, asked);
  };
  struct Row {
    const char* model;
    int tp, dp;
    bool ep;
    int exit_code;
    const char* words;
  };
  const Row rows[] = {{"qwen3-30b-a3b-fp8", 5, 1, false, 3, "768"},    {"glm-4.5-air-fp8", 3, 1, false, 3, "1408"},
                      {"gpt-oss-120b", 1, 7, false, 3, "2880"},        {"mixtral-fp8-omits", 16, 1, true, 0, ""},
                      {"qwen3-8b-dense", 2, 1, true, 4, "no experts"}, {"minimax-m2.5", 512, 1, true, 3, "num_attention_heads"},
                      {"deepseek-r1", 2, 4, true, 0, "\"sp\":2"},      {"gpt-oss-120b", 2, 4, true, 0, "\"sp\":2"},
                      {"minimax-m2.5", 2, 4, true, 0, "\"sp\":1"},     {"mixtral-fp8-omits", 2, 4, true, 0, "\"sp\":1"}};
  for (const Row& row : rows) {
    const Said found = said(row.model, row.tp, row.dp, row.ep);
    INFO(row.model << " " << found.text.substr(0, 400));
    CHECK(found.exit_code == row.exit_code);
    CHECK(found.text.find(row.words) != std::string::npos);
  }
}

TEST_CASE("models: quantization configurations ask the oracle and the keys that the engine's methods do") {
  const mx::tests::ScratchDirectory scratch;
  int rows = 0;
  for (const std::vector<std::string>& row : rows_of("witness/checkpoints/schemes.tsv")) {
    const std::size_t plus = row.at(1).find(" + hf_quant_config.json ");
    const std::string quantization = row[1].substr(0, plus);
    const std::filesystem::path model = scratch.path() / row[0];
    std::filesystem::create_directories(model);
    std::ofstream(model / "config.json") << small_model(quantization == "none" ? Json() : mx::tests::parsed(quantization)).dump();
    if (plus != std::string::npos) std::ofstream(model / "hf_quant_config.json") << row[1].substr(row[1].find('{', plus));
    for (const char* const version : {"vllm@2026-11", "vllm@2026-08"}) {
      const bool is_later = std::string(version) == "vllm@2026-11";
      const std::string& expected = is_later || row.size() < 5 || row.at(4).empty() ? row.at(3) : row.at(4);
      INFO(row[0] << " by " << version << ": " << row[1] << "\n" << expected);
      const AskedFor asked{.engine = version, .platform = "SM100"};
      if (expected.starts_with("refused")) {
        CHECK(said_of(model, asked).exit_code != 0);
        continue;
      }
      if (expected.find("-> raises ") != std::string::npos) {
        CHECK(said_of(model, asked).exit_code == 4);
        continue;
      }
      const Asked found = mx::verbs::asked_about(model.string(), asked);
      const std::size_t then = expected.find(" | then: ");
      REQUIRE(found.kinds.size() == (then == std::string::npos ? 1 : 2));
      check_scheme(found.kinds.front(), expected.substr(0, then));
      if (then != std::string::npos) check_scheme(found.kinds.back(), expected.substr(then + 9));
      ++rows;
    }
  }
  CHECK(rows >= 80);
}

TEST_CASE("models: the INFO files of docs/examples that stand for a public model have the layer that its configuration gives") {
  struct Row {
    const char* example;
    const char* model;
    bool is_other_size = false;  ///< a smaller or larger one of the same class: the sizes are its own
  };
  const Row rows[] = {{"gpt-oss-b200", "gpt-oss-120b"},
                      {"gpt-oss-b200-deepep", "gpt-oss-120b"},
                      {"gpt-oss-cpu", "gpt-oss-120b", true},
                      {"gpt-oss-h100", "gpt-oss-120b"},
                      {"gpt-oss-mi300x", "gpt-oss-120b"},
                      {"gpt-oss-mi355x", "gpt-oss-120b"},
                      {"gpt-oss-rtx5090", "gpt-oss-120b", true},
                      {"gpt-oss-xpu", "gpt-oss-120b", true},
                      {"deepseek-v3-b200-nvfp4", "deepseek-r1"},
                      {"deepseek-v3-h200", "deepseek-r1"},
                      {"deepseek-v3-mi300x", "deepseek-r1"},
                      {"deepseek-v4-b200", "deepseek-v4-flash"},
                      {"deepseek-v4-h100", "deepseek-v4-flash", true},
                      {"deepseek-v4-mi355x", "deepseek-v4-flash", true},
                      {"llama4-maverick-h200-fp8", "llama4-maverick-fp8"},
                      {"llama4-scout-b200-nvfp4", "llama4-maverick-fp8", true},
                      {"mixtral-h100-w4a8", "mixtral-fp8-omits"},
                      {"mixtral-l40s-fp8", "mixtral-fp8-omits"},
                      {"nemotron-nano-b200-nvfp4", "nemotron-3-nano-nvfp4"},
                      {"qwen3-b200-mxfp8", "qwen3-30b-a3b-fp8"},
                      {"qwen3-h100-fp8", "qwen3-235b-nvfp4-sidecar"},
                      {"qwen3-mxfp4-b200", "qwen3-30b-a3b-fp8"},
                      {"qwen3-rtx-pro-nvfp4", "qwen3-30b-a3b-fp8"}};
  const std::filesystem::path examples = std::filesystem::path(MXACT_SOURCE_DIR) / "docs/examples";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(examples)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".info") && !name.starts_with("sim-")) ++files;
  }
  CHECK(files == std::size(rows));
  for (const Row& row : rows) {
    INFO(row.example);
    const std::string path = (examples / (std::string(row.example) + ".info")).string();
    mx::deployment::LayerConfig shown = mx::verbs::asked_about(path, {.engine = "vllm@2026-11"}).kinds.at(0).file.deployment.layer;
    mx::deployment::LayerConfig model =
        mx::verbs::asked_about((kWords / row.model).string(), {.engine = "vllm@2026-11", .platform = "SM100"}).kinds.back().file.deployment.layer;
    CHECK(mx::deployment::constants_of(shown) == mx::deployment::constants_of(model));
    for (mx::deployment::LayerConfig* layer : {&shown, &model}) {
      layer->constants.reset();
      layer->intermediate_per_partition = 0;
      if (row.is_other_size) layer->num_experts = layer->hidden = layer->intermediate = layer->experts_per_token = 0;
    }
    CHECK(shown == model);
  }
}
