// Checkpoints that must be read: both naming forms, one file or several, the recorded one and the synthetic one.

#include "checkpoint/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/json_text.hpp"

namespace mx::tests {
namespace {

const std::filesystem::path kTiny = std::filesystem::path(WITNESS_DIRECTORY) / "checkpoints" / "tiny-gpt-oss";

std::vector<std::uint32_t> codes_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < bytes.size(); i += 2) codes.push_back(bytes[i] | static_cast<std::uint32_t>(bytes[i + 1]) << 8);
  return codes;
}

/// Every tensor of every layer equals the draft's.
void check_layers(const checkpoint::Checkpoint& checkpoint, Draft draft, Names names, int first = 0) {
  for (int i = 0; i < checkpoint.layer_count(); ++i) {
    const int layer = first + i;
    const checkpoint::MoeLayer found = checkpoint.layer(i);
    CHECK(found.index == layer);
    CHECK(checkpoint.layer_index(i) == layer);
    CHECK(found.prefix == (names == Names::original ? "block." : "model.layers.") + std::to_string(layer) + ".mlp");
    CHECK(found.experts.sizes == layout::Sizes{2, 32, 64, 32});
    CHECK(found.experts.sizes == checkpoint.sizes(i));
    CHECK(found.experts.form == layout::SourceOrder::gpt_oss);
    for (std::size_t part = 0; part < 6; ++part) CHECK(found.experts.tensors[part] == draft.tensor(tensor_name(names, layer, part)).bytes);
    CHECK(found.router.weight == codes_of(draft.tensor(tensor_name(names, layer, 6)).bytes));
    CHECK(found.router.bias == codes_of(draft.tensor(tensor_name(names, layer, 7)).bytes));
  }
}

/// As the definition has it: an implementation of its own, held to the published sequence below.
std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

TEST_CASE("both naming forms give the same layers") {
  for (const Names names : {Names::hugging_face, Names::original}) {
    const TemporaryDirectory directory;
    const Draft draft = good_draft(names);
    draft.write(directory.path());
    const checkpoint::Checkpoint checkpoint(directory.path());
    CHECK(checkpoint.form() == (names == Names::original ? "gpt-oss (original names)" : "gpt-oss (Hugging Face names)"));
    CHECK(checkpoint.path() == directory.path());
    CHECK(checkpoint.layer_count() == 2);
    CHECK(checkpoint.top_k() == 1);
    // U8 [2,64,2,16] + [2,64,2] + [2,64,1,16] + [2,64,1], BF16 [2,64] + [2,64], twice
    CHECK(checkpoint.bytes() == 2 * (4096 + 256 + 256 + 2048 + 128 + 256));
    check_layers(checkpoint, draft, names);
  }
}

TEST_CASE("shards with an index, shards without, one file and a file by its path are the same checkpoint") {
  const TemporaryDirectory indexed, numbered, dashed, single;
  const Draft draft = good_draft();
  draft.write(indexed.path());
  Draft other = draft;
  other.has_index = false;
  other.write(numbered.path());
  other.shards.clear();
  for (const std::string& file : {kFirstShard, kSecondShard}) other.shards["model-" + file.substr(5)] = draft.shards.at(file);
  other.write(dashed.path());
  other.shards.clear();
  for (const auto& [file, tensors] : draft.shards) {
    for (const support::TensorData& tensor : tensors) other.shards["model.safetensors"].push_back(tensor);
  }
  other.write(single.path());
  for (const auto& path : {indexed.path(), numbered.path(), dashed.path(), single.path(), single.path() / "model.safetensors"}) {
    INFO(path.string());
    const checkpoint::Checkpoint checkpoint(path);
    CHECK(checkpoint.layer_count() == 2);
    check_layers(checkpoint, draft, Names::hugging_face);
  }
  CHECK(checkpoint::Checkpoint(indexed.path()).files() == std::vector{indexed.path() / kFirstShard, indexed.path() / kSecondShard});
  CHECK(checkpoint::Checkpoint(single.path()).files() == std::vector{single.path() / "model.safetensors"});
}

TEST_CASE("one shard alone is a checkpoint of its layers") {
  const TemporaryDirectory directory;
  const Draft draft = good_draft();
  draft.write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path() / kSecondShard);
  CHECK(checkpoint.layer_count() == 1);
  CHECK(checkpoint.top_k() == 1);
  check_layers(checkpoint, draft, Names::hugging_face, 1);
}

TEST_CASE("the index decides which of several files are the weights") {
  const TemporaryDirectory directory;
  Draft draft = good_draft();
  draft.raw["model.safetensors"] = "not weights";
  draft.raw["model-00001-of-00009.safetensors"] = "not weights";
  draft.write(directory.path());
  check_layers(checkpoint::Checkpoint(directory.path()), draft, Names::hugging_face);
}

TEST_CASE("biases and routers may be absent") {
  const TemporaryDirectory directory;
  Draft draft = good_draft();
  draft.config.reset();
  for (const int layer : {0, 1}) {
    for (const std::size_t part : {2U, 5U, 6U, 7U}) draft.remove(tensor_name(Names::hugging_face, layer, part));
  }
  draft.write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  CHECK_FALSE(checkpoint.layer(1).experts.has_bias());
  CHECK_FALSE(checkpoint.layer(1).router.present());
  CHECK(checkpoint.layer(1).experts.tensors[3] == draft.tensor(tensor_name(Names::hugging_face, 1, 3)).bytes);
  CHECK(checkpoint.top_k() == 2);  // gpt-oss's 4, but there are 2 experts
}

TEST_CASE("a layer that does not exist is the caller's mistake") {
  const TemporaryDirectory directory;
  good_draft().write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  for (const int layer : {-1, 2}) {
    const std::optional<Error> error = error_of([&] { static_cast<void>(checkpoint.layer(layer)); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::usage);
  }
}

TEST_CASE("a checkpoint can be moved") {
  const TemporaryDirectory directory;
  const Draft draft = good_draft();
  draft.write(directory.path());
  checkpoint::Checkpoint first(directory.path());
  const checkpoint::Checkpoint second(std::move(first));
  check_layers(second, draft, Names::hugging_face);
}

TEST_CASE("the recorded checkpoint has the sizes that its README states") {
  const checkpoint::Checkpoint checkpoint(kTiny);
  CHECK(checkpoint.form() == "gpt-oss (Hugging Face names)");
  CHECK(checkpoint.files().size() == 2);
  CHECK(checkpoint.top_k() == 4);
  REQUIRE(checkpoint.layer_count() == 2);
  for (const int index : {0, 1}) {
    const checkpoint::MoeLayer layer = checkpoint.layer(index);
    CHECK(layer.experts.sizes == layout::Sizes{8, 256, 256, 32});
    CHECK(layer.experts.has_bias());
    CHECK(layer.router.weight.size() == 8 * 256);
    CHECK(layer.router.bias.size() == 8);
    for (const layout::Role role : {layout::Role::w13_weight_scale, layout::Role::w2_weight_scale}) {
      const auto [low, high] = std::minmax_element(layer.experts[role].begin(), layer.experts[role].end());
      CHECK(static_cast<int>(*low) == 117);
      CHECK(static_cast<int>(*high) == 123);
    }
    const std::optional<checkpoint::Expected> expected = checkpoint::load_expected(checkpoint, index);
    REQUIRE(expected);
    CHECK(expected->tokens == 9);
    CHECK(expected->x.size() == 9 * 256);
    CHECK(expected->out_f64.size() == 9 * 256);
  }
  // Bytes at the offsets that the headers give, read with od: layer 0 x at 8+800+59904, out.f64 at 8+800.
  const std::optional<checkpoint::Expected> first = checkpoint::load_expected(checkpoint, 0);
  CHECK(first->x.front() == 0x3F21);
  CHECK(first->out_f64.front() == 0x3FF15C8CB35E5B00U);
}

TEST_CASE("the writer repeats the recorded shards byte for byte") {
  for (const std::string& shard : {kFirstShard, kSecondShard}) {
    const support::SafetensorsFile file(kTiny / shard);
    std::vector<support::TensorData> tensors;
    for (const auto& [name, view] : file.tensors()) {
      tensors.push_back({name, std::string(view.dtype->name), view.shape, {view.bytes.begin(), view.bytes.end()}});
    }
    std::sort(tensors.begin(), tensors.end(),
              [&](const auto& a, const auto& b) { return file.find(a.name)->file_offset < file.find(b.name)->file_offset; });
    const std::vector<std::uint8_t> written = support::safetensors_bytes(tensors, file.metadata());
    CHECK((std::string(written.begin(), written.end()) == read_bytes(kTiny / shard)));
  }
}

TEST_CASE("expected outputs that do not fit are refused") {
  const auto f64 = [](const std::string& name, std::vector<std::int64_t> shape) {
    return support::TensorData{name, "F64", shape, std::vector<std::uint8_t>(static_cast<std::size_t>(8 * shape[0] * (shape.size() > 1 ? shape[1] : 1)))};
  };
  const auto bf16 = [](const std::string& name, std::vector<std::int64_t> shape) {
    return support::TensorData{name, "BF16", shape,
                           std::vector<std::uint8_t>(static_cast<std::size_t>(2 * shape[0] * (shape.size() > 1 ? shape[1] : 1)))};
  };
  const std::string x = "layers.1.mlp.x", out = "layers.1.mlp.out.f64";
  struct Row {
    std::vector<support::TensorData> tensors;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {{}, {"'" + x + "' is missing"}},
      {{bf16(x, {3, 64})}, {"'" + out + "' is missing"}},
      {{bf16("layers.0.mlp.x", {3, 64}), f64("layers.0.mlp.out.f64", {3, 64})}, {"'" + x + "' is missing"}},
      {{f64(x, {3, 64}), f64(out, {3, 64})}, {x, "dtype is F64", "expected BF16"}},
      {{bf16(x, {3, 64}), bf16(out, {3, 64})}, {out, "dtype is BF16", "expected F64"}},
      {{bf16(x, {3, 32}), f64(out, {3, 32})}, {x, "[3, 32]", "[tokens, 64]"}},
      {{bf16(x, {0, 64}), f64(out, {0, 64})}, {x, "[0, 64]", "[tokens, 64]"}},
      {{bf16(x, {64}), f64(out, {64})}, {x, "[64]", "[tokens, 64]"}},
      {{bf16(x, {3, 64}), f64(out, {2, 64})}, {out, "[2, 64]", "[3, 64]"}},
  };
  const TemporaryDirectory directory;
  good_draft().write(directory.path());
  const checkpoint::Checkpoint checkpoint(directory.path());
  CHECK_FALSE(checkpoint::load_expected(checkpoint, 1));
  const std::filesystem::path file = directory.path() / "expected.safetensors";
  const auto write = [&](const std::vector<support::TensorData>& tensors) {
    const std::vector<std::uint8_t> bytes = support::safetensors_bytes(tensors, {});
    write_bytes(file, std::string(bytes.begin(), bytes.end()));
  };
  for (const Row& row : rows) {
    write(row.tensors);
    std::vector<std::string> parts = row.parts;
    parts.push_back(file.string());
    CHECK(input_error_defect(error_of([&] { checkpoint::load_expected(checkpoint, 1); }), parts) == "");
  }
  write({bf16(x, {3, 64}), f64(out, {3, 64})});
  CHECK(checkpoint::load_expected(checkpoint, 1)->tokens == 3);
  CHECK(checkpoint::load_expected(checkpoint::Checkpoint(directory.path() / kSecondShard), 0)->tokens == 3);
  write_bytes(file, "cut");
  CHECK(input_error_defect(error_of([&] { checkpoint::load_expected(checkpoint, 1); }), {file.string(), "3 bytes"}) == "");
}

TEST_CASE("the synthetic checkpoint has the shape, names and files of the recorded one") {
  const TemporaryDirectory directory;
  checkpoint::write_synthetic_checkpoint(directory.path() / "new", {});
  const checkpoint::Checkpoint synthetic(directory.path() / "new"), recorded(kTiny);
  REQUIRE(synthetic.files().size() == recorded.files().size());
  for (std::size_t i = 0; i < synthetic.files().size(); ++i) {
    CHECK(synthetic.files()[i].filename() == recorded.files()[i].filename());
    const support::SafetensorsFile ours(synthetic.files()[i]), theirs(recorded.files()[i]);
    CHECK(ours.metadata() == theirs.metadata());
    REQUIRE(ours.tensors().size() == theirs.tensors().size());
    for (const auto& [name, view] : theirs.tensors()) {
      INFO(name);
      REQUIRE(ours.find(name) != nullptr);
      CHECK(ours.find(name)->dtype->name == view.dtype->name);
      CHECK(ours.find(name)->shape == view.shape);
      CHECK(ours.find(name)->file_offset == view.file_offset);
    }
  }
  const auto read_json = [](const std::filesystem::path& file) { return parsed(read_bytes(file)); };
  const std::string index = "model.safetensors.index.json";
  CHECK(read_json(directory.path() / "new" / index) == read_json(kTiny / index));
  const support::Json ours = read_json(directory.path() / "new" / "config.json"), theirs = read_json(kTiny / "config.json");
  for (const char* const key :
       {"architectures", "model_type", "head_dim", "hidden_size", "intermediate_size", "num_attention_heads", "num_experts_per_tok",
        "num_hidden_layers", "num_key_value_heads", "num_local_experts", "quantization_config", "vocab_size"}) {
    INFO(key);
    CHECK(ours.at(key) == theirs.at(key));
  }
}

TEST_CASE("the synthetic checkpoint follows from its seed alone") {
  std::uint64_t state = 1234567;
  const std::array<std::uint64_t, 3> published{6457827717110365317U, 3203168211198807973U, 9817491932198370423U};
  for (const std::uint64_t value : published) REQUIRE(splitmix64(state) == value);

  const TemporaryDirectory directory;
  checkpoint::SyntheticShape shape{.layers = 3, .experts = 3, .hidden = 96, .intermediate = 64, .top_k = 2, .seed = 42};
  const auto write = [&](const std::string& name) {
    checkpoint::write_synthetic_checkpoint(directory.path() / name, shape);
    return read_bytes(directory.path() / name / kFirstShard) + read_bytes(directory.path() / name / kSecondShard);
  };
  const std::string first = write("a"), same = write("b");
  CHECK((first == same));
  shape.seed = 43;
  const std::string other = write("c");
  CHECK((first != other));

  const checkpoint::Checkpoint checkpoint(directory.path() / "a");
  CHECK(checkpoint.layer_count() == 3);
  CHECK(checkpoint.top_k() == 2);
  CHECK(checkpoint.sizes(2) == layout::Sizes{3, 64, 96, 32});
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : std::string("model.layers.2.mlp.experts.gate_up_proj_scales")) hash = (hash ^ static_cast<std::uint64_t>(c)) * 0x100000001B3U;
  state = 42 ^ hash;
  const checkpoint::MoeLayer layer = checkpoint.layer(2);
  for (const std::uint8_t scale : layer.experts[layout::Role::w13_weight_scale])
    REQUIRE(static_cast<unsigned>(scale) == 117 + (splitmix64(state) >> 32) % 7);
  // Modest values: bf16 exponents 118 to 123, both signs.
  unsigned signs = 0;
  for (const std::uint32_t code : layer.router.weight) {
    REQUIRE((code >> 7 & 0xFF) >= 118);
    REQUIRE((code >> 7 & 0xFF) <= 123);
    signs |= 1U << (code >> 15);
  }
  CHECK(signs == 3);
  std::array<bool, 256> seen{};
  for (const std::uint8_t codes : layer.experts[layout::Role::w13_weight]) seen[codes] = true;
  CHECK(std::count(seen.begin(), seen.end(), true) == 256);
}

TEST_CASE("the synthetic checkpoint refuses impossible shapes and directories in use") {
  const TemporaryDirectory directory;
  const auto code_of = [&](const checkpoint::SyntheticShape& shape) {
    const std::optional<Error> error = error_of([&] { checkpoint::write_synthetic_checkpoint(directory.path() / "new", shape); });
    return error ? static_cast<int>(error->code()) : 0;
  };
  CHECK(code_of({.layers = 0}) == 2);
  CHECK(code_of({.experts = -1}) == 2);
  CHECK(code_of({.hidden = 48}) == 2);
  CHECK(code_of({.intermediate = 0}) == 2);
  CHECK(code_of({.experts = 2, .top_k = 3}) == 2);
  CHECK(code_of({.layers = 1024, .experts = 4096, .hidden = 1 << 16, .intermediate = 1 << 16}) == 2);
  CHECK_FALSE(std::filesystem::exists(directory.path() / "new"));
  CHECK(code_of({.layers = 1, .experts = 1, .hidden = 32, .intermediate = 32, .top_k = 1}) == 0);
  CHECK(checkpoint::Checkpoint(directory.path() / "new").layer_count() == 1);
  CHECK(code_of({}) == 3);
}

}  // namespace mx::tests
