#include "props/checkpoint/list_cases.hpp"

#include <algorithm>
#include <array>

#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using enum EntryKind;

constexpr int kAugust = 202608, kNovember = 202611;

/// What a method's configuration says, and how its experts lie.
struct MethodRow {
  ListMethod method;
  const char* model;  ///< members of config.json before the quantization configuration
  const char* words;  ///< of the quantization configuration; its list follows
  const char* entry;  ///< what an entry of a table says; null: the list is one of names
  Coded form;
  Coded second;  ///< of the second scheme
  Telling telling = {};
  int first_month = 0;
};
constexpr const char* kQwen = R"("model_type": "qwen3_moe")";
constexpr const char* kV4 = R"("model_type": "deepseek_v4", "expert_dtype": "fp4")";
constexpr const char* kGroup =
    R"("weights": {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": true}, "input_activations": null)";
constexpr const char* kFp4 = R"({"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"})";

using enum ListMethod;
const std::array<MethodRow, kListMethods> kMethods{{
    {fp8, kQwen, R"("quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": )", nullptr, Coded::fp8_tensor, {}},
    {fp8_block,
     kQwen,
     R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "ignored_layers": )",
     nullptr,
     Coded::fp8_block,
     {}},
    {modelopt, kQwen, R"("quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": )", nullptr, Coded::nvfp4, {}},
    {modelopt_fp8, kQwen, R"("quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": )", nullptr, Coded::fp8_tensor, {}},
    {modelopt_mxfp8, kQwen, R"("quant_method": "modelopt", "quant_algo": "MXFP8", "ignore": )", nullptr, Coded::mxfp8, {}},
    {compressed_tensors, kQwen, "", nullptr, Coded::mxfp4_packed, {}},
    {groups, kQwen, R"("quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "config_groups": )", nullptr, Coded::mxfp4_packed, {}},
    {quark, kQwen, R"("quant_method": "quark", "layer_quant_config": {}, "exclude": )", nullptr, Coded::mxfp4_quark, {}},
    {quark_layers,
     kQwen,
     R"("quant_method": "quark", "exclude": [], "layer_quant_config": )",
     R"({"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}})",
     Coded::mxfp4_quark,
     Coded::fp8_tensor,
     {"dtype", "fp4", "fp8_e4m3"}},
    {mixed,
     kQwen,
     R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": )",
     R"({"quant_algo": "NVFP4", "group_size": 16})",
     Coded::nvfp4,
     {}},
    {kimi_k3, R"("model_type": "kimi_k3", "architectures": ["KimiK3ForConditionalGeneration"])", "", nullptr, Coded::mxfp4_packed, {}},
    {mxfp4, kQwen, R"("quant_method": "mxfp4", "modules_to_not_convert": )", nullptr, Coded::mxfp4_packed, {}},
    {ling,
     R"("model_type": "bailing_hybrid")",
     R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "routed_experts_quant_method": "mxfp4", "modules_to_not_convert": )",
     nullptr,
     Coded::mxfp4_ling,
     {},
     {},
     kAugust},
    {auto_round,
     kQwen,
     R"("quant_method": "auto-round", "data_type": "mx_fp", "bits": 4, "group_size": 32, "extra_config": )",
     R"({"bits": 16})",
     Coded::mxfp4_packed,
     {},
     {},
     kAugust},
    {auto_round_8,
     kQwen,
     R"("quant_method": "auto-round", "data_type": "mx_fp", "bits": 8, "group_size": 32, "extra_config": )",
     R"({"bits": 16})",
     Coded::mxfp8,
     {},
     {},
     kAugust},
    {auto_round_mixed,
     kQwen,
     R"("quant_method": "auto-round", "data_type": "mx_fp", "bits": 8, "group_size": 32, "extra_config": )",
     R"({"bits": 4})",
     Coded::mxfp8,
     Coded::mxfp4_packed,
     {"bits", "8", "4"},
     kAugust},
    {deepseek_v4,
     kV4,
     R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "modules_to_not_convert": )",
     nullptr,
     Coded::mxfp4_v4,
     {}},
    {deepseek_v4_fp8,
     R"("model_type": "deepseek_v4", "expert_dtype": "fp8")",
     R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "ignored_layers": )",
     nullptr,
     Coded::fp8_v4,
     {}},
    {deepseek_v4_nvfp4,
     kV4,
     R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "moe_quant_algo": "NVFP4", "ignore": )",
     nullptr,
     Coded::nvfp4,
     Coded::mxfp4_v4,
     {"moe_algo", "NVFP4", "none"}},
}};

const MethodRow& row_of(const ListCase& test) { return *std::ranges::find(kMethods, test.method, &MethodRow::method); }

bool is_v4(const ListCase& test) { return test.method >= deepseek_v4; }
bool is_compressed(const ListCase& test) { return test.method == compressed_tensors || (test.method == kimi_k3 && test.month < kAugust); }

/// An entry of which the last digit of the layer may stand any number of times, none too: "layers.L*" as an expression.
bool repeats_last_digit(const ListEntry& entry, int layer) {
  const std::string digits = std::to_string(entry.layer);
  return entry.kind == begins_so && std::to_string(layer).starts_with(digits.substr(0, digits.size() - 1));
}

/// Whether one entry names the experts of a layer, whatever the others do. Sources: vllm 0.22.1, 0.29.0 and 0.33.0: quant_utils.py is_layer_skipped,
/// modelopt.py is_layer_excluded and _resolve_quant_algo, quark/utils.py should_ignore_layer (its wildcards are Quark's own), quark/quark.py
/// get_layer_quant_config_from_name, inc/config_parser.py, models/deepseek_v4/quant_config.py _is_nvfp4_expert_layer.
bool names(const ListCase& test, const ListEntry& entry, int layer) {
  const bool same = entry.layer == layer;
  const bool begins = std::to_string(layer).starts_with(std::to_string(entry.layer));
  const bool is_late = test.month >= kAugust;
  const bool below = entry.kind == first_expert || entry.kind == first_projection || entry.kind == later_expert;
  switch (test.method) {
    case fp8:
    case fp8_block: return same && (entry.kind == experts || below);
    case deepseek_v4:
    case deepseek_v4_fp8: return same && (entry.kind == experts || below || entry.kind == has_it);  // its names begin with "layers."
    case modelopt:
    case modelopt_fp8:
    case modelopt_mxfp8:
      if (entry.kind == EntryKind::layer || entry.kind == begins_so) return begins;
      return same && (entry.kind == experts || below || entry.kind == parent || entry.kind == has_it);
    case quark:
      if (entry.kind == begins_so) return begins;
      return same && (entry.kind == experts || entry.kind == has_it || entry.kind == expression || (below && is_late));
    case quark_layers:
      if (entry.kind == begins_so) return begins;
      return same && (entry.kind == experts || below || entry.kind == has_it);
    case mixed: return same && (entry.kind == experts || below || (entry.kind == beside && is_late));
    case ling: return same && entry.kind == experts;
    case auto_round:
    case auto_round_8:
    case auto_round_mixed: return (same && entry.kind == experts) || repeats_last_digit(entry, layer);
    case deepseek_v4_nvfp4:
      if (test.month < kNovember) return false;
      if (entry.kind == begins_so) return begins;
      return same && (entry.kind == experts || entry.kind == has_it);
    default: return false;
  }
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

/// The names of an entry.
std::vector<std::string> entries_of(const ListCase& test, const ListEntry& entry) {
  const std::string of_experts = experts_of(test, entry.layer), mlp = of_experts.substr(0, of_experts.rfind('.'));
  const std::string layer = mlp.substr(0, mlp.rfind('.')), block = mlp.substr(mlp.rfind('.') + 1);
  const std::vector<std::string>& projections = projections_of(test);
  switch (entry.kind) {
    case experts: return {of_experts};
    case first_expert: {
      std::vector<std::string> all;
      for (const std::string& projection : projections) all.push_back(of_experts + ".0." + projection);
      return all;
    }
    case first_projection: return {of_experts + ".0." + projections[0]};
    case later_expert: return {of_experts + ".1." + projections[2]};
    case parent: return {mlp};
    case EntryKind::layer: return {layer};
    case begins_so: return {layer + "*"};
    case has_it: return {"*" + of_experts.substr(of_experts.find("layers.")) + "*"};
    case expression: return {R"(re:.*layers\\.)" + std::to_string(entry.layer) + R"(\\.)" + block + R"(\\..*)"};
    case other_module: return {layer + ".block_sparse_moe.experts"};
    case beside: break;
  }
  return {mlp + "." + projections[0]};
}

std::string list_of(const ListCase& test) {
  const MethodRow& row = row_of(test);
  std::string text;
  for (const ListEntry& entry : test.entries) {
    for (const std::string& name : entries_of(test, entry)) {
      if (text.find(quoted(name)) != std::string::npos) continue;
      text += (text.empty() ? "" : ", ") + quoted(name) + (row.entry == nullptr ? "" : std::string(": ") + row.entry);
    }
  }
  if (test.method == groups) return R"({"group_0": {"targets": ["re:.*self_attn.*")" + (text.empty() ? "" : ", " + text) + "], " + kGroup + "}}";
  if (test.method == mixed) return R"({"model.layers.0.self_attn.o_proj": {"quant_algo": "FP8"})" + (text.empty() ? "" : ", " + text) + "}";
  return row.entry == nullptr ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace

std::string experts_of(const ListCase& test, int layer) {
  const std::string number = std::to_string(layer);
  return is_v4(test) ? "layers." + number + ".ffn.experts" : "model.layers." + number + ".mlp.experts";
}

const std::vector<std::string>& projections_of(const ListCase& test) {
  static const std::vector<std::string> kNames{"gate_proj", "up_proj", "down_proj"}, kNumbers{"w1", "w3", "w2"};
  return is_v4(test) ? kNumbers : kNames;
}

Coded form_of(const ListCase& test, Given given) { return given == Given::otherwise ? row_of(test).second : row_of(test).form; }
Telling telling(const ListCase& test) { return row_of(test).telling; }

Given given(const ListCase& test, int layer) {
  if (test.method == mxfp4 || (test.method == kimi_k3 && !is_compressed(test))) return Given::quantized;
  if (is_compressed(test) || test.method == groups) {
    // Of expert 0 gate_proj, up_proj and down_proj: all of them, none, or the engine raises. An expression fits all.
    const auto has = [&](EntryKind kind) {
      return std::ranges::any_of(test.entries, [&](const ListEntry& entry) { return entry.kind == kind && entry.layer == layer; });
    };
    const Given named = test.method == groups ? Given::quantized : Given::left, other = test.method == groups ? Given::left : Given::quantized;
    if (has(first_expert) || has(expression)) return named;
    return has(first_projection) ? Given::raises : other;
  }
  const bool named = std::ranges::any_of(test.entries, [&](const ListEntry& entry) { return names(test, entry, layer); });
  if (test.method == auto_round_8 && test.only >= 0 && !std::to_string(layer).starts_with(std::to_string(test.only))) return Given::left;
  if (!row_of(test).telling.key.empty()) return named ? Given::otherwise : Given::quantized;
  return named == (test.method == mixed) ? Given::quantized : Given::left;
}

std::string config_of(const ListCase& test) {
  const MethodRow& row = row_of(test);
  std::string words = row.words;
  if (words.empty())
    words = R"("quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], )" +
            std::string(kGroup) + R"(}}, "ignore": )";
  if (test.method == quark || test.method == quark_layers) words = R"("global_quant_config": {"weight": )" + std::string(kFp4) + "}, " + words;
  if (test.only >= 0) words = R"("block_name_to_quantize": "model.layers.)" + std::to_string(test.only) + "\", " + words;
  return "{" + std::string(row.model) + R"(, "quantization_config": {)" + words + list_of(test) + "}}";
}

ListCase random_list_case(int most, int last) {
  ListCase test{static_cast<ListMethod>(pick(0, kListMethods - 1)), static_cast<int>(pick(0, 2)), {}};
  test.month = std::max(202605 + 3 * test.month, row_of(test).first_month);
  for (std::int64_t left = pick(0, most); left > 0; --left)
    test.entries.push_back({static_cast<EntryKind>(pick(0, kEntryKinds - 1)), static_cast<int>(pick(0, last))});
  if (test.method == auto_round_8 && pick(0, 1) == 1) test.only = static_cast<int>(pick(0, last));
  return test;
}

}  // namespace mx::props
