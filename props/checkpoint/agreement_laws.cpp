// Configurations and tensors held against each other: what is read is what both say, what is refused names the layer.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "model/error.hpp"
#include "props/checkpoint/directory.hpp"
#include "props/checkpoint/laws.hpp"
#include "props/checkpoint/list_cases.hpp"
#include "props/layout/generators.hpp"
#include "support/safetensors.hpp"

namespace mx::props {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr int kListCases = 600;
constexpr int kFileCases = 300;  // a case is a file
constexpr int kLast = 12;        // layers 1 and 10 to 12 begin alike
constexpr std::int64_t kRows = 32, kColumns = 64;

deployment::Engine engine_of(const ListCase& test) { return {deployment::Project::vllm, test.month}; }
support::Json json_of(const std::string& text) {
  constexpr support::JsonLimits kLimits{.bytes = 1 << 20, .depth = 16, .memory = 1 << 24};
  return support::parse_json(text, kLimits, "config.json");
}

/// How the tensors of a layer are: as they should be if it is quantized, in another form, in 16 bits, or of both kinds.
enum class Tensors { coded, foreign, plain, half };

support::TensorData tensor_of(const std::string& name, const std::string& dtype, const Shape& shape) {
  std::size_t bytes = dtype == "F32" ? 4 : dtype == "BF16" ? 2 : 1;
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  return {name, dtype, shape, std::vector<std::uint8_t>(bytes, 0x3C)};
}

/// A form that no method takes for this one: of eight bits for one of four, and the other way.
Coded foreign_to(Coded form) {
  const bool is_wide = form == Coded::fp8_tensor || form == Coded::fp8_block || form == Coded::mxfp8 || form == Coded::fp8_v4;
  return is_wide ? Coded::nvfp4 : Coded::fp8_tensor;
}

/// The tensor of a matrix's codes, and those beside it.
struct CodedRow {
  Coded form;
  const char* suffix;
  const char* dtype;
  bool packed;
  const char* scale;
  const char* scale_dtype;
  std::int64_t group;  ///< 0: one number; 128: a square
};
constexpr std::array kCoded{
    CodedRow{Coded::fp8_tensor, ".weight", "F8_E4M3", false, ".weight_scale", "F32", 0},
    CodedRow{Coded::fp8_block, ".weight", "F8_E4M3", false, ".weight_scale_inv", "F32", 128},
    CodedRow{Coded::nvfp4, ".weight", "U8", true, ".weight_scale", "F8_E4M3", 16},
    CodedRow{Coded::mxfp8, ".weight", "F8_E4M3", false, ".weight_scale", "U8", 32},
    CodedRow{Coded::mxfp4_packed, ".weight_packed", "U8", true, ".weight_scale", "U8", 32},
    CodedRow{Coded::mxfp4_quark, ".weight", "U8", true, ".weight_scale", "U8", 32},
    CodedRow{Coded::mxfp4_ling, ".weight", "U8", true, ".weight_scale_inv", "U8", 32},
    CodedRow{Coded::mxfp4_v4, ".weight", "I8", true, ".scale", "F8_E8M0", 32},
    CodedRow{Coded::fp8_v4, ".weight", "F8_E4M3", false, ".scale", "F32", 128},
};

void add_coded(const std::string& name, Coded form, std::int64_t rows, std::int64_t columns, std::vector<support::TensorData>& tensors) {
  const CodedRow& row = *std::ranges::find(kCoded, form, &CodedRow::form);
  constexpr std::int64_t kSquare = 128;
  tensors.push_back(tensor_of(name + row.suffix, row.dtype, {rows, row.packed ? columns / 2 : columns}));
  Shape scales;
  if (row.group == kSquare) scales = {(rows + kSquare - 1) / kSquare, (columns + kSquare - 1) / kSquare};
  if (row.group > 0 && row.group < kSquare) scales = {rows, columns / row.group};
  tensors.push_back(tensor_of(name + row.scale, row.scale_dtype, scales));
  if (form != Coded::nvfp4) return;
  for (const char* const suffix : {".weight_scale_2", ".input_scale"}) tensors.push_back(tensor_of(name + suffix, "F32", {}));
}

void add_layer(const ListCase& test, int layer, Coded form, Tensors how, std::vector<support::TensorData>& tensors) {
  const std::vector<std::string>& projections = projections_of(test);
  for (const int expert : {0, 1}) {
    const bool plain = how == Tensors::plain || (how == Tensors::half && expert == 1);
    for (std::size_t p = 0; p < projections.size(); ++p) {
      const std::string name = experts_of(test, layer) + "." + std::to_string(expert) + "." + projections[p];
      const bool down = p + 1 == projections.size();
      const std::int64_t rows = down ? kColumns : kRows, columns = down ? kRows : kColumns;
      if (plain) {
        tensors.push_back(tensor_of(name + ".weight", "BF16", {rows, columns}));
      } else {
        add_coded(name, how == Tensors::foreign ? foreign_to(form) : form, rows, columns, tensors);
      }
    }
  }
}

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
        const Telling tells = telling(test);
        for (int layer = 0; layer <= kLast; ++layer) {
          Given got = Given::raises;
          try {
            const checkpoint::ModuleMethod method = configuration.method_of({.name = experts_of(test, layer), .projections = projections_of(test)});
            const auto fact = std::ranges::find(method.facts, tells.key, &checkpoint::DeclaredFact::key);
            got = !method.quantized ? Given::left : fact != method.facts.end() && fact->value == tells.second ? Given::otherwise : Given::quantized;
          } catch (const Error&) {
            got = Given::raises;
          }
          RC_LOG() << config_of(test) << " of " << test.month << ", layer " << layer << ": " << static_cast<int>(got) << ", not "
                   << static_cast<int>(given(test, layer)) << "\n";
          RC_ASSERT(got == given(test, layer));
        }
      },
      kListCases);
}

Outcome law_agreement(const Law& law) {
  return check_property(
      law,
      [] {
        const ListCase test = random_list_case(2, 2);
        std::vector<support::TensorData> tensors;
        std::vector<std::string> wrong;
        bool raises = false;
        for (int layer = 0; layer < 3; ++layer) {
          const Given by = given(test, layer);
          raises = raises || by == Given::raises;
          const Tensors fit = by == Given::left ? Tensors::plain : Tensors::coded;
          const Tensors how = pick(0, 1) == 0 ? static_cast<Tensors>(pick(0, 3)) : fit;
          add_layer(test, layer, form_of(test, by), how, tensors);
          if (how == fit) continue;
          wrong.push_back("'" + experts_of(test, layer) + "'");
          if (how == Tensors::foreign) wrong.push_back(experts_of(test, layer) + ".");
        }
        const std::optional<std::string> refusal = refusal_of(config_of(test), tensors, engine_of(test));
        RC_LOG() << config_of(test) << " of " << test.month << ": " << refusal.value_or("read") << "\n";
        RC_ASSERT(refusal.has_value() == (raises || !wrong.empty()));
        if (raises || wrong.empty()) return;
        RC_ASSERT(std::any_of(wrong.begin(), wrong.end(), [&](const std::string& name) { return refusal->find(name) != std::string::npos; }));
      },
      kFileCases);
}

}  // namespace mx::props
