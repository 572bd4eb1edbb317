// Which method the experts of each layer have: the engine's own answers for whole configurations, and the rules of each method's lists and tables.

#include "checkpoint/configuration.hpp"

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

using deployment::kVllm2026_05;
using deployment::kVllm2026_08;
using deployment::kVllm2026_11;

support::Json json_of(const std::string& text) {
  constexpr support::JsonLimits kLimits{.bytes = 1 << 20, .depth = 16, .memory = 1 << 24};
  return text.empty() ? support::Json() : support::parse_json(text, kLimits, "test");
}

checkpoint::Configuration configuration_of(const std::string& config, deployment::Engine engine, const std::string& sidecar = {}) {
  return {json_of(config), json_of(sidecar), engine, "config.json"};
}

std::string experts_of(int layer) { return "model.layers." + std::to_string(layer) + ".mlp.experts"; }

/// "name, configuration, method of 0.33.0, what its experts get, .. of 0.29.0"
std::vector<std::vector<std::string>> recorded() {
  std::ifstream file(WITNESS_DIRECTORY "/checkpoints/schemes.tsv");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

std::string model_with(const std::string& name, const std::string& quantization) {
  const std::string begin = R"({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"])";
  if (quantization.empty()) return begin + "}";
  return begin + ", \"" + (name == "compression-config" ? "compression_config" : "quantization_config") + "\": " + quantization + "}";
}

/// A question to one method's lists or tables.
struct Question {
  std::string quantization;  ///< members of quantization_config
  std::string module;
  bool quantized;
  std::string decides;  ///< a part of the entry
  deployment::Engine engine = kVllm2026_08;
  std::string model = R"("model_type": "qwen3_moe")";
};

void check(const Question& question) {
  INFO(question.quantization << " " << question.module << " " << deployment::name_of(question.engine));
  const checkpoint::ModuleMethod method =
      configuration_of("{" + question.model + R"(, "quantization_config": {)" + question.quantization + "}}", question.engine)
          .method_of({.name = question.module});
  CHECK(method.quantized == question.quantized);
  INFO(method.entry);
  CHECK(method.entry.find(question.decides) != std::string::npos);
}

std::string ct(const std::string& targets, const std::string& more = {}) {
  return R"("quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": )" + targets +
         R"(, "weights": {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}}})" + more;
}
const std::string kFp8 = R"("quant_method": "fp8", "activation_scheme": "dynamic", )";
const std::string kModelOpt = R"("quant_method": "modelopt", "quant_algo": "NVFP4", )";
const std::string kMixed = R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": )";
const std::string kQuark =
    R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}}, )";

}  // namespace

TEST_CASE("whole configurations have the method that the engine's own code gives them") {
  const std::vector<std::vector<std::string>> rows = recorded();
  REQUIRE(rows.size() == 63);
  int methods = 0, refused = 0, left = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i];
    INFO(row[0]);
    const std::string kBeside = " + hf_quant_config.json ";
    const std::size_t beside = row[1].find(kBeside);
    const std::string quantization = row[1].substr(0, beside) == "none" ? "" : row[1].substr(0, beside);
    const std::string sidecar = beside == std::string::npos ? "" : row[1].substr(beside + kBeside.size());
    std::optional<checkpoint::Configuration> configuration;
    const std::optional<Error> error =
        error_of([&] { configuration.emplace(configuration_of(model_with(row[0], quantization), kVllm2026_11, sidecar)); });
    const bool raises = row[3].starts_with("refused: Unknown ModelOpt quant algo") || row[3].starts_with("refused: NVFP4 quantization requires");
    CHECK(error.has_value() == raises);
    refused += raises ? 1 : 0;
    if (error) continue;
    if (row[2] != "None") {
      CHECK(configuration->method() == row[2]);
      ++methods;
    }
    if (row[3].starts_with("refused")) continue;
    CHECK(configuration->method_of({.name = experts_of(0)}).quantized == !row[3].starts_with("unquantized"));
    const bool one_left = row[3].find("then: unquantized") != std::string::npos;
    CHECK(configuration->method_of({.name = experts_of(1)}).quantized == (!row[3].starts_with("unquantized") && !one_left));
    left += one_left ? 1 : 0;
  }
  CHECK(methods == 47);
  CHECK(refused == 2);
  CHECK(left == 5);
}

// Sources: vllm 0.22.1, 0.29.0 and 0.33.0 quantization/utils/quant_utils.py is_layer_skipped, modelopt.py is_layer_excluded, _resolve_quant_algo,
// quark/utils.py should_ignore_layer, quark/quark.py get_layer_quant_config_from_name, compressed_tensors_moe.py get_moe_method.
TEST_CASE("lists leave out what each method's own code matches") {
  const std::string one = experts_of(1);
  const std::vector<Question> questions{
      // fp8: an entry that names experts and has the module's name in it.
      {kFp8 + R"("modules_to_not_convert": ["lm_head", "model.layers.1.mlp.experts"])", one, false,
       "modules_to_not_convert: 'model.layers.1.mlp.experts'"},
      {kFp8 + R"("ignored_layers": ["model.layers.1.mlp.experts.5.gate_proj"])", one, false,
       "ignored_layers: 'model.layers.1.mlp.experts.5.gate_proj'"},
      {kFp8 + R"("ignored_layers": ["model.layers.1.mlp", "model.layers.1"])", one, true, "quant_method is 'fp8'"},
      {kFp8 + R"("ignored_layers": ["model.layers.1*", "*experts*"])", one, true, ""},
      {kFp8 + R"("ignored_layers": ["model.layers.11.mlp.experts"])", one, true, ""},
      {kFp8 + R"("ignored_layers": ["lm_head"], "modules_to_not_convert": ["model.layers.1.mlp.experts"])", one, true, ""},
      {kFp8 + R"("ignored_layers": [], "modules_to_not_convert": ["model.layers.1.mlp.experts"])", one, false, "modules_to_not_convert"},
      // modelopt: equal, a part of the module's name, a wildcard; or as fp8.
      {kModelOpt + R"("ignore": ["model.layers.1"])", experts_of(17), false, "ignore: 'model.layers.1'"},
      {kModelOpt + R"("ignore": ["model.layers.1*"])", experts_of(17), false, "ignore: 'model.layers.1*'"},
      {kModelOpt + R"("ignore": ["model.layers.1.*"])", experts_of(17), true, ""},
      {kModelOpt + R"("ignore": ["model.layers.1.mlp.experts.3.down_proj"])", one, false, "experts.3.down_proj"},
      {kModelOpt + R"("ignore": ["mlp*"])", "model.layers.1.experts", true, ""},
      {kModelOpt + R"("ignore": ["*mlp*"])", one, false, "'*mlp*'"},
      {kModelOpt + R"("ignore": ["language_model.model.layers.1.mlp.experts"])", "model.language_model.layers.1.mlp.experts", false, "ignore"},
      // compressed-tensors: names of projections of expert 0, or expressions that fit them all.
      {ct(R"(["Linear"])", R"(, "ignore": ["model.layers.1.mlp.experts", "model.layers.1"])"), one, true, "config_groups.group_0"},
      {ct(R"(["Linear"])", R"(, "ignore": ["re:.*layers.1\\.mlp.*"])"), one, false, "ignore: 're:.*layers.1"},
      {ct(R"(["Linear"])", R"(, "ignore": ["*layers.1.mlp.experts*"])"), one, true, ""},
      {ct(R"(["Linear"])",
          R"(, "ignore": ["model.layers.1.mlp.experts.1.gate_proj", "model.layers.1.mlp.experts.1.up_proj", "model.layers.1.mlp.experts.1.down_proj"])"),
       one, true, ""},
      {ct(R"(["re:.*self_attn.*"])"), one, false, "config_groups names nothing of 'model.layers.1.mlp.experts.0.gate_proj'"},
      {ct(R"(["RoutedExperts"])"), one, true, "group_0"},
      // quark: equal, below the module since 2026-08, an expression; a wildcard is Quark's own.
      {kQuark + R"("exclude": ["model.layers.1.mlp.experts"])", one, false, "exclude", kVllm2026_05},
      {kQuark + R"("exclude": ["model.layers.1.mlp.experts.3.down_proj"])", one, false, "exclude", kVllm2026_08},
      {kQuark + R"("exclude": ["model.layers.1.mlp.experts.3.down_proj"])", one, true, "global_quant_config", kVllm2026_05},
      {kQuark + R"("exclude": ["model.layers.1.mlp"])", one, true, ""},
      {kQuark + R"("exclude": ["re:model.layers.1.mlp"])", one, false, "re:model.layers.1.mlp"},
      {kQuark + R"("exclude": ["*layers.1.mlp.experts*"])", one, false, "a wildcard that the engine's method does not read"},
      // mxfp4: its list is of linear layers.
      {R"("quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.1.mlp.experts"])", one, true, "", kVllm2026_08,
       R"("model_type": "gpt_oss")"},
      // Ling: whole names and ends of them.
      {kFp8 + R"("weight_block_size": [128, 128], "ignored_layers": ["mlp.experts"])", one, false, "mlp.experts", kVllm2026_08,
       R"("model_type": "bailing_hybrid")"},
      {kFp8 + R"("weight_block_size": [128, 128], "ignored_layers": ["mlp.experts"])", one, true, "", kVllm2026_05,
       R"("model_type": "bailing_hybrid")"},
  };
  for (const Question& question : questions) check(question);
}

TEST_CASE("tables of schemes are looked up as each method's own code does") {
  const std::string one = experts_of(1), q = R"({"model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"})";
  check({kMixed + q + "}", one, false, "quantized_layers names nothing of 'model.layers.1.mlp.experts'"});
  check({kMixed + q + R"(, "model.layers.1.mlp.experts": {"quant_algo": "NVFP4"}})", one, true, "quantized_layers.model.layers.1.mlp.experts"});
  check({kMixed + q + R"(, "model.layers.1.mlp.experts.4.up_proj": {"quant_algo": "NVFP4"}})", one, true, "experts.4.up_proj"});
  check({kMixed + q + R"(, "model.layers.1.block_sparse_moe.experts.4.up_proj": {"quant_algo": "NVFP4"}})", one, false, "names nothing"});
  check({kMixed + q + R"(, "model.layers.1.mlp.gate_proj": {"quant_algo": "NVFP4"}})", one, true, "mlp.gate_proj", kVllm2026_08});
  check({kMixed + q + R"(, "model.layers.1.mlp.gate_proj": {"quant_algo": "NVFP4"}})", one, false, "names nothing", kVllm2026_05});
  const auto dtype_of = [&](const std::string& layers, const std::string& module) {
    const std::string config = R"({"model_type": "x", "quantization_config": {)" + kQuark + R"("layer_quant_config": {)" + layers + "}}}";
    const checkpoint::ModuleMethod method = configuration_of(config, kVllm2026_08).method_of({.name = module});
    for (const checkpoint::DeclaredFact& fact : method.facts) {
      if (fact.key == "dtype") return fact.value;
    }
    return std::string();
  };
  const std::string fp8 = R"({"weight": {"dtype": "fp8_e4m3"}})";
  CHECK(dtype_of("\"*experts\": " + fp8, one) == "fp8_e4m3");
  CHECK(dtype_of("\"model.layers.1.mlp.experts.0.gate_proj\": " + fp8, one) == "fp8_e4m3");
  CHECK(dtype_of("\"*self_attn*\": " + fp8, one) == "fp4");
  CHECK(dtype_of("\"*experts.*\": " + fp8, one) == "fp4");
}

TEST_CASE("projections of experts with unlike schemes are refused, as the engine refuses them") {
  const auto refusal = [](const std::string& quantization, deployment::Engine engine) {
    const checkpoint::Configuration configuration = configuration_of(R"({"model_type": "x", "quantization_config": {)" + quantization + "}}", engine);
    const std::optional<Error> error = error_of([&] {
      static_cast<void>(configuration.method_of({.name = experts_of(1), .projections = {"w1", "w3", "w2"}}));
    });
    return error ? std::string(error->what()) : "";
  };
  const std::string ignored = ct(R"(["Linear"])", R"(, "ignore": ["model.layers.1.mlp.experts.0.gate_proj"])");
  CHECK(refusal(ignored, kVllm2026_08)
            .find("ignore: 'model.layers.1.mlp.experts.0.gate_proj' names 'model.layers.1.mlp.experts.0.gate_proj' but not "
                  "'model.layers.1.mlp.experts.0.up_proj': the engine raises ValueError") != std::string::npos);
  // Since 2026-11 the names are those in the file.
  CHECK(refusal(ignored, kVllm2026_11) == "");
  CHECK(refusal(ct(R"x(["re:.*(w1|gate_proj)"])x"), kVllm2026_11).find("has no scheme") != std::string::npos);
}

// Sources: vllm 0.29.0 and 0.33.0 models/config.py, models/deepseek_v4/quant_config.py, models/bailing_moe_v3.py.
TEST_CASE("hooks take another method before it is looked up, by version") {
  struct Row {
    std::string config;
    std::string may, august, november;
  };
  const std::string kimi = R"({"architectures": ["KimiK3ForConditionalGeneration"], "quantization_config": {"format": "mxfp4-pack-quantized", )" +
                           ct(R"(["Linear"])") + "}}";
  const std::string quark = R"({"model_type": "deepseek_v4", "quantization_config": {)" + kQuark + R"("exclude": []}})";
  const std::string ling = R"({"model_type": "bailing_hybrid", "quantization_config": {)" + kFp8 +
                           R"("weight_block_size": [128, 128], "routed_experts_quant_method": "mxfp4"}})";
  const std::string other = R"({"model_type": "qwen3_moe", "quantization_config": {)" + kFp8 +
                            R"("weight_block_size": [128, 128], "routed_experts_quant_method": "mxfp4"}})";
  const std::string stored = R"({"model_type": "qwen3_moe", "quantization_config": {)" + kFp8 + R"("store_dtype": "mxfp4"}})";
  const std::string v41 = R"({"model_type": "deepseek_v41", "quantization_config": {)" + kFp8 + R"("weight_block_size": [128, 128]}})";
  const std::vector<Row> rows{
      {kimi, "compressed-tensors", "mxfp4", "mxfp4"},
      {quark, "quark", "deepseek_v4_fp8", "quark"},
      {ling, "fp8", "mxfp4_under_fp8", "mxfp4_under_fp8"},
      {other, "fp8", "fp8", "fp8"},
      {stored, "fp8", "mxfp4_under_fp8", "mxfp4_under_fp8"},
      {v41, "fp8", "fp8", "deepseek_v4_fp8"},
      {R"({"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}})", "gpt_oss_mxfp4", "gpt_oss_mxfp4", "gpt_oss_mxfp4"},
      {R"({"model_type": "deepseek_v4", "quantization_config": {"quant_method": "fp8"}})", "deepseek_v4_fp8", "deepseek_v4_fp8", "deepseek_v4_fp8"},
  };
  for (const Row& row : rows) {
    INFO(row.config);
    CHECK(configuration_of(row.config, kVllm2026_05).method() == row.may);
    CHECK(configuration_of(row.config, kVllm2026_08).method() == row.august);
    CHECK(configuration_of(row.config, kVllm2026_11).method() == row.november);
  }
}

TEST_CASE("AutoRound's MXFP4 has a method of its own since 2026-08, and extra_config leaves out what it names with 16 bits") {
  // inc/config_parser.py: a key that is the experts' name, or an expression that fits somewhere in it; one that is none is passed over.
  const std::string begin =
      R"("quant_method": "auto-round", "bits": 4, "group_size": 32, "data_type": "mx_fp", "packing_format": "auto_round:llm_compressor", "extra_config": )";
  const std::string name = experts_of(1), other = experts_of(2);
  const Question questions[] = {
      {begin + "{}", name, true, "quant_method"},
      {begin + "{\"" + name + R"(": {"bits": 16, "data_type": "float"}})", name, false, "extra_config: '" + name + "'"},
      {begin + "{\"" + name + R"(": {"bits": 16}})", other, true, "quant_method"},
      {begin + "{\"" + name + R"(": {"bits": 4, "group_size": 32}})", name, true, "extra_config.model.layers.1.mlp.experts"},
      {begin + R"({"model.layers.1": {"bits": 16}})", name, true, "quant_method"},
      {begin + R"({"layers\\.1\\.mlp": {"bits": 16}})", name, false, "extra_config: "},
      {begin + R"({"layers\\.1\\.mlp": {"bits": 16}})", other, true, "quant_method"},
      {begin + R"({"*experts*": {"bits": 16}})", name, true, "quant_method"},
  };
  for (const Question& question : questions) check(question);
  const auto method = [&](deployment::Engine engine, const std::string& bits) {
    return configuration_of(
               R"({"model_type": "qwen3_moe", "quantization_config": {"quant_method": "auto-round", "data_type": "mx_fp", "bits": )" + bits + "}}",
               engine)
        .method();
  };
  CHECK_THROWS_AS(method(kVllm2026_05, "4"), Error);
  CHECK(method(kVllm2026_08, "4") == "inc_mxfp4");
  CHECK(method(kVllm2026_11, "4") == "inc_mxfp4");
  CHECK(method(kVllm2026_11, "8") == "inc_mxfp8");
  CHECK_THROWS_AS(method(kVllm2026_11, "2"), Error);
}

TEST_CASE("the first of the places counts: config.json's, then hf_quant_config.json, then the text part's") {
  const std::string sidecar =
      R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": null, "exclude_modules": ["model.layers.1*"]}})";
  const std::string nested = R"({"model_type": "kimi_k25", "text_config": {"quantization_config": {)" + ct(R"(["Linear"])") + "}}}";
  CHECK(configuration_of(R"({"quantization_config": {"quant_method": "fp8"}})", kVllm2026_08, sidecar).method() == "fp8");
  CHECK(configuration_of(R"({"quantization_config": null})", kVllm2026_08, sidecar).method() == "modelopt_fp4");
  CHECK(configuration_of(nested, kVllm2026_08, sidecar).method() == "modelopt_fp4");
  CHECK(configuration_of(nested, kVllm2026_08).method() == "compressed-tensors");
  CHECK(configuration_of("{}", kVllm2026_08, sidecar).method_of({.name = experts_of(12)}).entry ==
        "hf_quant_config.quantization.exclude_modules: 'model.layers.1*'");
  // Without a producer the file says nothing, and experts are not quantized.
  const checkpoint::Configuration silent = configuration_of("{}", kVllm2026_08, R"({"quantization": {"quant_algo": "NVFP4"}})");
  CHECK(silent.says());
  CHECK(!silent.method_of({.name = experts_of(0)}).quantized);
  CHECK(!configuration_of("", kVllm2026_08).says());
  CHECK(!configuration_of(R"({"num_hidden_layers": 2})", kVllm2026_08).says());
  CHECK(configuration_of(R"({"model_type": "qwen3_moe"})", kVllm2026_08).says());
}

}  // namespace mx::tests
