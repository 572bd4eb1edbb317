// Configurations and tensors held against each other: what is read is what both say, what is refused names the layer.

#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "model/error.hpp"
#include "props/checkpoint/laws.hpp"
#include "props/checkpoint/list_cases.hpp"
#include "props/layout/generators.hpp"
#include "support/file.hpp"
#include "support/safetensors.hpp"

namespace mx::props {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr int kListCases = 300;
constexpr int kFileCases = 150;  // a case is a file
constexpr int kLast = 12;        // layers 1 and 10 to 12 begin alike
constexpr std::int64_t kRows = 32, kColumns = 64;

deployment::Engine engine_of(const ListCase& test) { return {deployment::Project::vllm, test.month}; }
std::string experts_of(int layer) { return "model.layers." + std::to_string(layer) + ".mlp.experts"; }

support::Json json_of(const std::string& text) {
  constexpr support::JsonLimits kLimits{.bytes = 1 << 20, .depth = 16, .memory = 1 << 24};
  return support::parse_json(text, kLimits, "config.json");
}

/// How the tensors of a layer are.
enum class Tensors { coded, plain, half };

support::TensorData tensor_of(const std::string& name, const std::string& dtype, const Shape& shape) {
  std::size_t bytes = dtype == "F32" ? 4 : dtype == "BF16" ? 2 : 1;
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  return {name, dtype, shape, std::vector<std::uint8_t>(bytes, 0x3C)};
}

/// A matrix of an expert in the method's own form.
void add_coded(const std::string& name, ListMethod method, std::int64_t rows, std::int64_t columns, std::vector<support::TensorData>& tensors) {
  switch (method) {
    case ListMethod::fp8:
      tensors.push_back(tensor_of(name + ".weight", "F8_E4M3", {rows, columns}));
      tensors.push_back(tensor_of(name + ".weight_scale", "F32", {}));
      return;
    case ListMethod::modelopt:
    case ListMethod::mixed:
      tensors.push_back(tensor_of(name + ".weight", "U8", {rows, columns / 2}));
      tensors.push_back(tensor_of(name + ".weight_scale", "F8_E4M3", {rows, columns / 16}));
      for (const char* const suffix : {".weight_scale_2", ".input_scale"}) tensors.push_back(tensor_of(name + suffix, "F32", {}));
      return;
    case ListMethod::ling:
      tensors.push_back(tensor_of(name + ".weight", "U8", {rows, columns / 2}));
      tensors.push_back(tensor_of(name + ".weight_scale_inv", "U8", {rows, columns / 32}));
      return;
    case ListMethod::quark: tensors.push_back(tensor_of(name + ".weight", "U8", {rows, columns / 2})); break;
    default: tensors.push_back(tensor_of(name + ".weight_packed", "U8", {rows, columns / 2})); break;
  }
  tensors.push_back(tensor_of(name + ".weight_scale", "U8", {rows, columns / 32}));
}

void add_layer(int layer, ListMethod method, Tensors how, std::vector<support::TensorData>& tensors) {
  for (const int expert : {0, 1}) {
    const bool plain = how == Tensors::plain || (how == Tensors::half && expert == 1);
    for (const std::string projection : {"gate_proj", "up_proj", "down_proj"}) {
      const std::string name = experts_of(layer) + "." + std::to_string(expert) + "." + projection;
      const bool down = projection == "down_proj";
      const std::int64_t rows = down ? kColumns : kRows, columns = down ? kRows : kColumns;
      if (plain) {
        tensors.push_back(tensor_of(name + ".weight", "BF16", {rows, columns}));
      } else {
        add_coded(name, method, rows, columns, tensors);
      }
    }
  }
}

/// A directory of its own, gone with everything in it.
class Directory {
 public:
  Directory() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() / ("mxact-law-" + std::to_string(getpid()) + "-" + std::to_string(++made));
    std::filesystem::create_directories(path_);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  void write(const std::string& name, std::span<const std::uint8_t> bytes) const { support::write_file(path_ / name, bytes, true); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What the checkpoint is refused with; none where it is read.
std::optional<std::string> refusal_of(const std::string& config, std::span<const support::TensorData> tensors, deployment::Engine engine) {
  const Directory directory;
  directory.write("config.json", {reinterpret_cast<const std::uint8_t*>(config.data()), config.size()});
  directory.write("model.safetensors", support::safetensors_bytes(tensors, {}));
  try {
    const checkpoint::Checkpoint opened(directory.path(), 0, engine);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

Outcome law_lists(const Law& law) {
  return check_property(
      law,
      [] {
        const ListCase test = random_list_case(4, kLast);
        const checkpoint::Configuration configuration(json_of(config_of(test)), support::Json(), engine_of(test), "config.json");
        for (int layer = 0; layer <= kLast; ++layer) {
          Given got = Given::raises;
          try {
            got = configuration.method_of({.name = experts_of(layer)}).quantized ? Given::quantized : Given::left;
          } catch (const Error&) {
            got = Given::raises;
          }
          RC_ASSERT(got == given(test, layer));
        }
      },
      kListCases);
}

Outcome law_agreement(const Law& law) {
  return check_property(
      law,
      [] {
        ListCase test = random_list_case(2, 2);
        // Of gpt-oss and of Kimi-K3 no list speaks: each other method has tensors of both kinds.
        RC_PRE(test.method != ListMethod::mxfp4 && test.method != ListMethod::kimi_k3);
        std::vector<support::TensorData> tensors;
        std::vector<std::string> wrong;
        bool raises = false;
        for (int layer = 0; layer < 3; ++layer) {
          const Given by = given(test, layer);
          raises = raises || by == Given::raises;
          const Tensors fit = by == Given::left ? Tensors::plain : Tensors::coded;
          const Tensors how = pick(0, 1) == 0 ? static_cast<Tensors>(pick(0, 2)) : fit;
          add_layer(layer, test.method, how, tensors);
          if (how != fit) wrong.push_back("'" + experts_of(layer) + "'");
        }
        const std::optional<std::string> refusal = refusal_of(config_of(test), tensors, engine_of(test));
        RC_ASSERT(refusal.has_value() == (raises || !wrong.empty()));
        if (raises || wrong.empty()) return;
        RC_ASSERT(std::any_of(wrong.begin(), wrong.end(), [&](const std::string& name) { return refusal->find(name) != std::string::npos; }));
      },
      kFileCases);
}

}  // namespace mx::props
