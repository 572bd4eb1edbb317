// Checkpoint directories that must be refused, made from a good one by one change; and changes that must not matter.

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

struct Row {
  std::string id;
  std::function<void(Draft& draft)> change;
  std::vector<std::string> parts;  ///< of the message
};

const std::string kHf0 = "model.layers.0.mlp.";
const std::string kHf1 = "model.layers.1.mlp.";
const std::string kIndex = "model.safetensors.index.json";
const std::string kDown0 = kHf0 + "experts.down_proj_blocks";
const std::string kGate0 = kHf0 + "experts.gate_up_proj_blocks";

support::TensorData extra(const std::string& name) { return {name, "U8", {4}, {1, 2, 3, 4}}; }

std::function<void(Draft&)> reshape(const std::string& name, const std::vector<std::int64_t>& shape) {
  return [=](Draft& draft) { draft.reshape(name, shape); };
}

/// A directory with nothing but the raw files.
Draft bare(std::map<std::string, std::string> raw = {}) {
  Draft draft;
  draft.has_index = false;
  draft.raw = std::move(raw);
  return draft;
}

std::vector<Row> file_rows() {
  return {
      {"empty directory", [](Draft& d) { d = bare(); }, {"holds no weights", "model.safetensors", "consolidated"}},
      {"config alone",
       [](Draft& d) {
         d = bare({{"config.json", "{}"}});
       },
       {"holds no weights"}},
      {"expected outputs alone",
       [](Draft& d) {
         d = bare({{"expected.safetensors", container("{}")}});
       },
       {"holds no weights"}},
      {"pickled weights alone",
       [](Draft& d) {
         d = bare({{"pytorch_model.bin", "x"}});
       },
       {"holds no weights"}},
      {"no tensors",
       [](Draft& d) {
         d = bare({{"model.safetensors", container("{}")}});
       },
       {"holds no experts of a known form", "no tensor's name has"}},
      {"an empty weight file",
       [](Draft& d) {
         d = bare({{"model.safetensors", ""}});
       },
       {"model.safetensors: byte 0", "0 bytes"}},
      {"a shard cut short", [](Draft& d) { d.raw[kSecondShard] = "12345"; }, {kSecondShard + ": byte 0", "5 bytes"}},
      {"second shard missing, no index",
       [](Draft& d) { d.has_index = false, d.shards.erase(kSecondShard); },
       {"shard 2 of 2 is missing", kFirstShard}},
      {"first shard missing, no index",
       [](Draft& d) { d.has_index = false, d.shards.erase(kFirstShard); },
       {"shard 1 of 2 is missing", kSecondShard}},
      {"shard 3 of 2", [](Draft& d) { d.has_index = false, d.raw["model-00003-of-00002.safetensors"] = container("{}"); }, {"shard 3 of 2"}},
      {"shard 0 of 2", [](Draft& d) { d.has_index = false, d.raw["model-00000-of-00002.safetensors"] = container("{}"); }, {"shard 0 of 2"}},
      {"two counts", [](Draft& d) { d.has_index = false, d.raw["model-00003-of-00003.safetensors"] = container("{}"); }, {"one of 3", "one of 2"}},
      {"a number twice",
       [](Draft& d) { d.has_index = false, d.raw["model--00001-of-00002.safetensors"] = container("{}"); },
       {"is shard 1, and so is"}},
      {"name in two shards, no index",
       [](Draft& d) { d.has_index = false, d.shards[kSecondShard].push_back(d.tensor(kDown0)); },
       {kSecondShard, kDown0, "is in " + kFirstShard + " too"}},
  };
}

std::vector<Row> index_rows() {
  return {
      {"not JSON", [](Draft& d) { d.raw[kIndex] = "weights"; }, {kIndex + ": byte 0", "not valid JSON"}},
      {"empty", [](Draft& d) { d.raw[kIndex] = ""; }, {kIndex + ": byte 0", "not valid JSON"}},
      {"cut short", [](Draft& d) { d.raw[kIndex] = R"({"weight_map":{"a":"b)"; }, {kIndex + ": byte 21", "not valid JSON"}},
      {"an array", [](Draft& d) { d.raw[kIndex] = "[]"; }, {kIndex + ": byte 0", "must be an object"}},
      {"no weight_map", [](Draft& d) { d.raw[kIndex] = "{}"; }, {kIndex, "has no weight_map"}},
      {"weight_map an array", [](Draft& d) { d.raw[kIndex] = R"({"weight_map":[]})"; }, {kIndex, "not an object"}},
      {"weight_map empty", [](Draft& d) { d.raw[kIndex] = R"({"weight_map":{}})"; }, {kIndex, "empty"}},
      {"shard a number", [](Draft& d) { d.raw[kIndex] = R"({"weight_map":{"a":1}})"; }, {kIndex, "'a'", "'1'", "not a string"}},
      {"a name twice",
       [](Draft& d) { d.raw[kIndex] = R"({"weight_map":{"a":"x.safetensors","a":"x.safetensors"}})"; },
       {kIndex + ": byte 35", "'a'", "twice"}},
      {"two maps", [](Draft& d) { d.raw[kIndex] = R"({"weight_map":{},"weight_map":{}})"; }, {kIndex + ": byte 17", "'weight_map'", "twice"}},
      {"five levels", [](Draft& d) { d.raw[kIndex] = R"({"weight_map":{"a":{"b":{"c":{}}}}})"; }, {kIndex + ": byte 29", "deeper than 4"}},
      {"17 MiB", [](Draft& d) { d.raw[kIndex] = std::string(std::size_t{17} << 20, ' '); }, {kIndex, "17825792 bytes", "16777216"}},
      {"missing shard",
       [](Draft& d) { d.index_edits["lm_head.weight"] = "model-00003-of-00003.safetensors"; },
       {kIndex, "'lm_head.weight'", "'model-00003-of-00003.safetensors' does not exist"}},
      {"a shard was removed",
       [](Draft& d) { d.index_edits[kHf1 + "router.bias"] = kSecondShard, d.shards.erase(kSecondShard); },
       {kIndex, kSecondShard, "does not exist"}},
      {"shard in the directory above", [](Draft& d) { d.index_edits["a"] = "../x.safetensors"; }, {kIndex, "'a'", "'../x.safetensors'", "plain"}},
      {"absolute path", [](Draft& d) { d.index_edits["a"] = "/etc/x.safetensors"; }, {kIndex, "'a'", "'/etc/x.safetensors'", "plain"}},
      {"backslash", [](Draft& d) { d.index_edits["a"] = "..\\x.safetensors"; }, {kIndex, "'a'", "plain"}},
      {"shard of another kind", [](Draft& d) { d.index_edits["a"] = "config.json"; }, {kIndex, "'a'", "'config.json'", "*.safetensors"}},
      {"tensor in no shard", [](Draft& d) { d.index_edits["lm_head.weight"] = kFirstShard; }, {kIndex, "'lm_head.weight'", "not in '" + kFirstShard}},
      {"tensor in the other shard",
       [](Draft& d) { d.index_edits[kDown0] = kSecondShard; },
       {kIndex, kDown0, "not in '" + kSecondShard, "but in '" + kFirstShard}},
      {"expert tensor not listed", [](Draft& d) { d.index_edits[kDown0] = ""; }, {kFirstShard, kDown0, "the index does not list it"}},
      {"router not listed", [](Draft& d) { d.index_edits[kHf1 + "router.bias"] = ""; }, {kSecondShard, kHf1 + "router.bias", "does not list it"}},
      {"name in two shards, the index names that which is read first",
       [](Draft& d) { d.shards[kSecondShard].push_back(d.tensor(kDown0)), d.index_edits[kDown0] = kFirstShard; },
       {kSecondShard, kDown0, "is in " + kFirstShard + " too, which the index names"}},
      {"name in two shards, the index names neither",
       [](Draft& d) { d.shards[kSecondShard].push_back(d.tensor(kDown0)), d.index_edits[kDown0] = ""; },
       {kSecondShard, kDown0, "is in " + kFirstShard + " too"}},
  };
}

std::vector<Row> name_rows() {
  const auto missing = [](const std::string& name) { return std::vector<std::string>{"'" + name + "' is missing"}; };
  return {
      {"no experts",
       [](Draft& d) {
         d.shards.clear();
         d.shards[kFirstShard].push_back(extra("model.norm.weight"));
       },
       {"holds no experts of a known form"}},
      {"routers alone",
       [](Draft& d) {
         for (auto& [file, tensors] : d.shards)
           std::erase_if(tensors, [](const support::TensorData& t) { return t.name.find("experts") != std::string::npos; });
       },
       {"holds no experts of a known form"}},
      {"both forms",
       [](Draft& d) { d.shards[kFirstShard].push_back(extra("block.0.mlp.mlp1_weight.blocks")); },
       {"'block.0.mlp.mlp1_weight.scales' is missing"}},
      {"gate blocks missing", [](Draft& d) { d.remove(kGate0); }, missing(kGate0)},
      {"gate scales missing", [](Draft& d) { d.remove(kHf1 + "experts.gate_up_proj_scales"); }, missing(kHf1 + "experts.gate_up_proj_scales")},
      {"down blocks missing", [](Draft& d) { d.remove(kHf1 + "experts.down_proj_blocks"); }, missing(kHf1 + "experts.down_proj_blocks")},
      {"down scales missing", [](Draft& d) { d.remove(kHf0 + "experts.down_proj_scales"); }, missing(kHf0 + "experts.down_proj_scales")},
      {"one bias missing", [](Draft& d) { d.remove(kHf0 + "experts.down_proj_bias"); }, missing(kHf0 + "experts.down_proj_bias")},
      {"one kind of bias missing",
       [](Draft& d) { d.remove(kHf0 + "experts.gate_up_proj_bias"), d.remove(kHf1 + "experts.gate_up_proj_bias"); },
       {"'" + kHf0 + "experts.gate_up_proj_bias' is missing", "though there is", "down_proj_bias"}},
      {"biases of one layer missing", [](Draft& d) { d.remove(kHf1 + "experts.gate_up_proj_bias"), d.remove(kHf1 + "experts.down_proj_bias"); },
       missing(kHf1 + "experts.gate_up_proj_bias")},
      {"router bias missing", [](Draft& d) { d.remove(kHf0 + "router.bias"); }, missing(kHf0 + "router.bias")},
      {"router of one layer missing", [](Draft& d) { d.remove(kHf1 + "router.bias"), d.remove(kHf1 + "router.weight"); },
       missing(kHf1 + "router.weight")},
      {"unknown expert tensor",
       [](Draft& d) { d.shards[kFirstShard].push_back(extra(kHf0 + "experts.up_proj_blocks")); },
       {kFirstShard, kHf0 + "experts.up_proj_blocks", "is no expert tensor of the form gpt-oss"}},
      {"experts in 16 bits",
       [](Draft& d) { d.rename(kGate0, kHf0 + "experts.gate_up_proj"); },
       {kFirstShard, kHf0 + "experts.gate_up_proj'", "not mixed"}},
      {"layer 00", [](Draft& d) { d.rename(kDown0, "model.layers.00.mlp.experts.down_proj_blocks"); }, {"model.layers.00", "'00'", "leading zeros"}},
      {"layer 10000", [](Draft& d) { d.rename(kDown0, "model.layers.10000.mlp.experts.down_proj_blocks"); }, {"'10000'", "0 to 9999"}},
      {"layer beyond integers",
       [](Draft& d) { d.rename(kDown0, "model.layers.99999999999999999999.mlp.experts.down_proj_blocks"); },
       {"'99999999999999999999'"}},
      {"a hole between layers",
       [](Draft& d) {
         d = good_draft(Names::hugging_face, 3);
         for (auto& [file, tensors] : d.shards) std::erase_if(tensors, [](const support::TensorData& t) { return t.name.starts_with(kHf1); });
       },
       {"layer 1 is missing", "up to 2"}},
      {"the first layer missing",
       [](Draft& d) {
         d.config.reset();
         d.shards.erase(kFirstShard);
       },
       {"layer 0 is missing", "up to 1"}},
      {"a name with a line break",
       [](Draft& d) { d.shards[kFirstShard].push_back(extra(kHf0 + "experts.a\nb")); },
       {"experts.a\\x0ab'", "no expert tensor of the form"}},
  };
}

std::vector<Row> shape_rows() {
  const std::string scales = kHf0 + "experts.gate_up_proj_scales", bias = kHf0 + "experts.gate_up_proj_bias";
  return {
      {"blocks of signed bytes", [](Draft& d) { d.retype(kGate0, "I8"); }, {kFirstShard, kGate0, "dtype is I8", "U8"}},
      {"scales as e8m0", [](Draft& d) { d.retype(kHf0 + "experts.gate_up_proj_scales", "F8_E8M0"); }, {scales, "F8_E8M0", "expected U8"}},
      {"bias in fp32", [](Draft& d) { d.retype(kHf0 + "experts.gate_up_proj_bias", "F32"); }, {bias, "dtype is F32", "expected BF16"}},
      {"router in fp16", [](Draft& d) { d.retype(kHf1 + "router.weight", "F16"); }, {kSecondShard, kHf1 + "router.weight", "dtype is F16"}},
      {"blocks with three axes", reshape(kGate0, {2, 64, 32}), {kGate0, "[2, 64, 32]", "[E, 2I, H/32, 16]"}},
      {"blocks of 15 bytes", reshape(kGate0, {2, 64, 2, 15}), {kGate0, "[2, 64, 2, 15]", "16"}},
      {"no experts", reshape(kGate0, {0, 64, 2, 16}), {kGate0, "[0, 64, 2, 16]", "positive"}},
      {"no rows", reshape(kGate0, {2, 0, 2, 16}), {kGate0, "[2, 0, 2, 16]", "positive"}},
      {"no columns", reshape(kGate0, {2, 64, 0, 16}), {kGate0, "[2, 64, 0, 16]", "positive"}},
      {"huge beside zero", reshape(kGate0, {0, 64, std::int64_t{1} << 40, 16}), {kGate0, "1099511627776", "positive"}},
      {"odd number of rows", reshape(kGate0, {2, 65, 2, 16}), {kGate0, "2I = 65", "multiple of 64"}},
      {"intermediate size no multiple of 32", reshape(kGate0, {2, 96, 2, 16}), {kGate0, "2I = 96", "multiple of 64"}},
      {"fewer scales than blocks", reshape(kHf0 + "experts.gate_up_proj_scales", {2, 64, 1}), {scales, "[2, 64, 1]", "[2, 64, 2]", "H=64"}},
      {"scales with a fourth axis", reshape(kHf0 + "experts.gate_up_proj_scales", {2, 64, 2, 1}), {scales, "[2, 64, 2, 1]", "[2, 64, 2]"}},
      {"bias of half the rows", reshape(kHf0 + "experts.gate_up_proj_bias", {2, 32}), {bias, "[2, 32]", "[2, 64] = [E, 2I]"}},
      {"down of other experts", reshape(kDown0, {3, 64, 1, 16}), {kDown0, "[3, 64, 1, 16]", "E=2"}},
      {"down of another hidden size", reshape(kDown0, {2, 96, 1, 16}), {kDown0, "[2, 96, 1, 16]", "H=64"}},
      {"down of another intermediate size", reshape(kDown0, {2, 64, 2, 16}), {kDown0, "[2, 64, 2, 16]", "I=32"}},
      {"down transposed", reshape(kDown0, {2, 32, 2, 16}), {kDown0, "[2, 32, 2, 16]", "[2, 64, 1, 16]"}},
      {"down scales of another size", reshape(kHf0 + "experts.down_proj_scales", {2, 64, 2}), {"down_proj_scales", "[2, 64, 2]", "[2, 64, 1]"}},
      {"down bias of another size", reshape(kHf0 + "experts.down_proj_bias", {2, 32}), {"down_proj_bias", "[2, 32]", "[E, H]"}},
      {"router of other experts", reshape(kHf0 + "router.weight", {4, 64}), {"router.weight", "[4, 64]", "[2, 64]"}},
      {"router bias of other experts", reshape(kHf0 + "router.bias", {4}), {"router.bias", "[4]", "[2] = [E]"}},
      {"router bias as a column", reshape(kHf0 + "router.bias", {2, 1}), {"router.bias", "[2, 1]", "[2] = [E]"}},
      {"layers of different sizes", reshape(kHf1 + "experts.gate_up_proj_blocks", {2, 64, 3, 16}), {kSecondShard, "H=96", "layer 0 has", "H=64"}},
  };
}

std::vector<Row> config_rows() {
  return {
      {"not JSON", [](Draft& d) { d.config = "hidden_size: 64"; }, {"config.json: byte 0", "not valid JSON"}},
      {"an array", [](Draft& d) { d.config = "[]"; }, {"config.json: byte 0", "must be an object"}},
      {"a configuration of quantization that is none",
       [](Draft& d) { d.config = R"({"quantization_config": "mxfp4"})"; },
       {"config.json", "quantization_config is \"mxfp4\", must be an object"}},
      {"the same of the text model",
       [](Draft& d) { d.config = R"({"text_config": {"compression_config": 3}})"; },
       {"config.json", "compression_config is 3, must be an object"}},
      {"empty", [](Draft& d) { d.config = ""; }, {"config.json: byte 0", "not valid JSON"}},
      {"bytes behind", [](Draft& d) { d.config = "{} {}"; }, {"config.json: byte 3", "not valid JSON"}},
      {"a key twice", [](Draft& d) { d.config = R"({"hidden_size": 64, "hidden_size": 64})"; }, {"config.json: byte 20", "'hidden_size'", "twice"}},
      {"a hundred thousand levels", [](Draft& d) { d.config = "{\"a\":" + std::string(100'000, '['); }, {"config.json: byte 20", "deeper than 16"}},
      {"17 MiB", [](Draft& d) { d.config = std::string(std::size_t{17} << 20, ' '); }, {"config.json", "17825792 bytes", "16777216"}},
      {"another hidden size", [](Draft& d) { d.config = R"({"hidden_size": 128})"; }, {"config.json", "hidden_size is 128", "have 64"}},
      {"another intermediate size",
       [](Draft& d) { d.config = R"({"intermediate_size": 64})"; },
       {"config.json", "intermediate_size is 64", "have 32"}},
      {"other experts", [](Draft& d) { d.config = R"({"num_local_experts": 8})"; }, {"config.json", "num_local_experts is 8", "have 2"}},
      {"other experts, original key", [](Draft& d) { d.config = R"({"num_experts": 8})"; }, {"config.json: num_experts is 8", "have 2"}},
      {"two keys disagree",
       [](Draft& d) { d.config = R"({"num_local_experts": 2, "num_experts": 3})"; },
       {"config.json", "num_experts is 3", "num_local_experts is 2"}},
      {"more experts per token than experts",
       [](Draft& d) { d.config = R"({"num_experts_per_tok": 3})"; },
       {"config.json", "num_experts_per_tok is 3", "2 experts"}},
      {"no experts per token", [](Draft& d) { d.config = R"({"experts_per_token": 0})"; }, {"config.json", "experts_per_token is '0'", "from 1"}},
      {"negative size", [](Draft& d) { d.config = R"({"hidden_size": -64})"; }, {"config.json", "hidden_size is '-64'"}},
      {"fractional size", [](Draft& d) { d.config = R"({"hidden_size": 64.0})"; }, {"config.json", "hidden_size is '64.0'", "not an integer"}},
      {"size as text", [](Draft& d) { d.config = R"({"hidden_size": "64"})"; }, {"config.json", "not an integer"}},
      {"absurd size", [](Draft& d) { d.config = R"({"hidden_size": 9223372036854775807})"; }, {"config.json", "9223372036854775807", "2147483648"}},
      {"size beyond 64 bits", [](Draft& d) { d.config = R"({"hidden_size": 184467440737095516160})"; }, {"config.json: byte 16", "64 bits"}},
      {"too few layers promised", [](Draft& d) { d.config = R"({"num_hidden_layers": 1})"; }, {"config.json", "num_hidden_layers is 1", "2 layers"}},
      {"too many layers promised", [](Draft& d) { d.config = R"({"num_hidden_layers": 3})"; }, {"config.json", "num_hidden_layers is 3", "2 layers"}},
  };
}

void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.id);
    Draft draft = good_draft();
    {
      const TemporaryDirectory good;
      draft.write(good.path());
      CHECK_NOTHROW(checkpoint::Checkpoint{good.path()});
    }
    const TemporaryDirectory bad;
    row.change(draft);
    draft.write(bad.path());
    std::vector<std::string> parts = row.parts;
    parts.push_back(bad.path().string());
    CHECK(input_error_defect(error_of([&] { checkpoint::Checkpoint{bad.path()}; }), parts) == "");
  }
}

}  // namespace

TEST_CASE("checkpoints with wrong files are refused") { check_rows(file_rows()); }
TEST_CASE("checkpoints with a wrong index are refused") { check_rows(index_rows()); }
TEST_CASE("checkpoints with wrong names are refused") { check_rows(name_rows()); }
TEST_CASE("checkpoints with wrong shapes are refused") { check_rows(shape_rows()); }
TEST_CASE("checkpoints with a wrong config are refused") { check_rows(config_rows()); }

TEST_CASE("a checkpoint that is not there, a pipe and a directory in place of a file are refused") {
  const TemporaryDirectory directory;
  const std::filesystem::path absent = directory.path() / "absent";
  CHECK(input_error_defect(error_of([&] { checkpoint::Checkpoint{absent}; }), {absent.string(), "no such file"}) == "");
  std::filesystem::create_directory(directory.path() / "model.safetensors");
  CHECK(input_error_defect(error_of([&] { checkpoint::Checkpoint{directory.path()}; }), {"model.safetensors", "is a directory"}) == "");
  CHECK(input_error_defect(error_of([&] { checkpoint::Checkpoint{"/dev/null"}; }), {"/dev/null", "is a device"}) == "");
}

TEST_CASE("changes that do not concern the experts are accepted") {
  const std::vector<Row> rows{
      {"nothing", [](Draft&) {}, {}},
      {"no config", [](Draft& d) { d.config.reset(); }, {}},
      {"a config without sizes",
       [](Draft& d) {
         d.config = R"({"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}, "rope": {"factor": 32.0, "list": [1, [2]]}})";
       },
       {}},
      {"no index", [](Draft& d) { d.has_index = false; }, {}},
      {"no biases",
       [](Draft& d) {
         for (const std::string& p : {kHf0, kHf1}) d.remove(p + "experts.gate_up_proj_bias"), d.remove(p + "experts.down_proj_bias");
       },
       {}},
      {"no routers",
       [](Draft& d) {
         for (const std::string& p : {kHf0, kHf1}) d.remove(p + "router.weight"), d.remove(p + "router.bias");
       },
       {}},
      {"other tensors", [](Draft& d) { d.shards[kSecondShard].push_back(extra("model.layers.0.self_attn.sinks")); }, {}},
      {"other tensors that the index does not list",
       [](Draft& d) {
         d.shards[kSecondShard].push_back(extra("model.norm.weight"));
         d.index_edits["model.norm.weight"] = "";
       },
       {}},
      {"files beside it",
       [](Draft& d) { d.raw["expected.safetensors"] = "?", d.raw["adapter.safetensors"] = "?", d.raw["model-x-of-y.safetensors"] = "?"; },
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const TemporaryDirectory directory;
    Draft draft = good_draft();
    row.change(draft);
    draft.write(directory.path());
    CHECK_NOTHROW(checkpoint::Checkpoint{directory.path()});
  }
}

}  // namespace mx::tests
