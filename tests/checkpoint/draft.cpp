#include "tests/checkpoint/draft.hpp"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/json.hpp"

namespace mx::tests {
namespace {

struct Part {
  std::string_view hugging_face;
  std::string_view original;
  std::string_view dtype;
  std::vector<std::int64_t> shape;
};
const std::array<Part, 8>& parts() {
  static const std::array<Part, 8> rows{{
      {"experts.gate_up_proj_blocks", "mlp1_weight.blocks", "U8", {2, 64, 2, 16}},
      {"experts.gate_up_proj_scales", "mlp1_weight.scales", "U8", {2, 64, 2}},
      {"experts.gate_up_proj_bias", "mlp1_bias", "BF16", {2, 64}},
      {"experts.down_proj_blocks", "mlp2_weight.blocks", "U8", {2, 64, 1, 16}},
      {"experts.down_proj_scales", "mlp2_weight.scales", "U8", {2, 64, 1}},
      {"experts.down_proj_bias", "mlp2_bias", "BF16", {2, 64}},
      {"router.weight", "gate.weight", "BF16", {2, 64}},
      {"router.bias", "gate.bias", "BF16", {2}},
  }};
  return rows;
}

std::size_t bytes_of(const std::string& dtype, const std::vector<std::int64_t>& shape) {
  std::size_t bytes = dtype == "F64" ? 8 : dtype == "F32" ? 4 : dtype == "BF16" || dtype == "F16" ? 2 : 1;
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "mxact-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary directory");
  path_ = pattern;
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string container_claiming(std::uint64_t length, std::string_view header, std::size_t data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> 8 * i & 0xFF);
  return bytes + std::string(header) + std::string(data, '\0');
}
std::string container(std::string_view header, std::size_t data) { return container_claiming(header.size(), header, data); }

std::string tensor_name(Names names, int layer, std::size_t part) {
  const bool hugging_face = names == Names::hugging_face;
  return (hugging_face ? "model.layers." : "block.") + std::to_string(layer) + ".mlp." +
         std::string(hugging_face ? parts()[part].hugging_face : parts()[part].original);
}

support::TensorData& Draft::tensor(const std::string& name) {
  for (auto& [file, tensors] : shards) {
    for (support::TensorData& tensor : tensors) {
      if (tensor.name == name) return tensor;
    }
  }
  throw std::logic_error("the draft has no tensor " + name);
}

void Draft::remove(const std::string& name) {
  for (auto& [file, tensors] : shards) {
    if (std::erase_if(tensors, [&](const support::TensorData& tensor) { return tensor.name == name; }) > 0) return;
  }
  throw std::logic_error("the draft has no tensor " + name);
}

void Draft::reshape(const std::string& name, std::vector<std::int64_t> shape) {
  support::TensorData& changed = tensor(name);
  changed.shape = std::move(shape);
  changed.bytes.resize(bytes_of(changed.dtype, changed.shape));
}

void Draft::retype(const std::string& name, const std::string& dtype) {
  support::TensorData& changed = tensor(name);
  changed.dtype = dtype;
  changed.bytes.resize(bytes_of(dtype, changed.shape));
}

void Draft::rename(const std::string& from, const std::string& to) { tensor(from).name = to; }

void Draft::write(const std::filesystem::path& directory) const {
  std::map<std::string, std::string> weight_map;
  for (const auto& [file, tensors] : shards) {
    const std::vector<std::uint8_t> bytes = support::safetensors_bytes(tensors, {});
    write_bytes(directory / file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    for (const support::TensorData& tensor : tensors) weight_map[tensor.name] = file;
  }
  for (const auto& [name, shard] : index_edits) {
    if (shard.empty()) {
      weight_map.erase(name);
    } else {
      weight_map[name] = shard;
    }
  }
  if (config) write_bytes(directory / "config.json", *config);
  if (has_index) write_bytes(directory / "model.safetensors.index.json", support::Json{{"metadata", {}}, {"weight_map", weight_map}}.dump());
  for (const auto& [file, bytes] : raw) write_bytes(directory / file, bytes);
}

Draft good_draft(Names names, int layers) {
  Draft draft;
  for (int layer = 0; layer < layers; ++layer) {
    std::vector<support::TensorData>& shard = draft.shards[layer < (layers + 1) / 2 ? kFirstShard : kSecondShard];
    for (std::size_t part = 0; part < parts().size(); ++part) {
      support::TensorData tensor{tensor_name(names, layer, part), std::string(parts()[part].dtype), parts()[part].shape, {}};
      tensor.bytes.resize(bytes_of(tensor.dtype, tensor.shape));
      for (std::size_t i = 0; i < tensor.bytes.size(); ++i) {
        tensor.bytes[i] = static_cast<std::uint8_t>(37 * part + 11 * static_cast<std::size_t>(layer) + 7 * i + i / 256);
      }
      shard.push_back(std::move(tensor));
    }
  }
  draft.config = R"({"hidden_size": 64, "intermediate_size": 32, "num_local_experts": 2, "num_experts_per_tok": 1, "num_hidden_layers": )" +
                 std::to_string(layers) + "}";
  return draft;
}

std::optional<Error> error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

std::string input_error_defect(const std::optional<Error>& error, const std::vector<std::string>& parts) {
  if (!error) return "was accepted";
  const std::string message = error->what();
  if (static_cast<int>(error->code()) != 3) return "has code " + std::to_string(static_cast<int>(error->code())) + ": " + message;
  const bool printable = std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  if (!printable || message.size() > 900) return "is not one short printable line: " + message;
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) return "lacks \"" + part + "\": " + message;
  }
  return {};
}

}  // namespace mx::tests
