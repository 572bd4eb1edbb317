#include "props/checkpoint/list_cases.hpp"

#include <algorithm>

#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using enum EntryKind;

constexpr int kAugust = 202608;

bool is_compressed(const ListCase& test) {
  return test.method == ListMethod::compressed_tensors || (test.method == ListMethod::kimi_k3 && test.month < kAugust);
}

/// Whether one entry names the experts of a layer, whatever the others do. Sources: vllm 0.22.1, 0.29.0 and 0.33.0: quant_utils.py is_layer_skipped,
/// modelopt.py is_layer_excluded and _resolve_quant_algo, quark/utils.py should_ignore_layer (its wildcards are Quark's own).
bool names(const ListCase& test, const ListEntry& entry, int layer) {
  const bool same = entry.layer == layer;
  const bool begins = std::to_string(layer).starts_with(std::to_string(entry.layer));
  const bool is_late = test.month >= kAugust;
  switch (test.method) {
    case ListMethod::fp8:
      return same && (entry.kind == experts || entry.kind == first_expert || entry.kind == first_projection || entry.kind == later_expert);
    case ListMethod::modelopt:
      switch (entry.kind) {
        case experts:
        case first_expert:
        case first_projection:
        case later_expert:
        case parent:
        case has_it: return same;
        case EntryKind::layer:
        case begins_so: return begins;
        default: return false;
      }
    case ListMethod::quark:
      switch (entry.kind) {
        case experts:
        case has_it:
        case expression: return same;
        case begins_so: return begins;
        case first_expert:
        case first_projection:
        case later_expert: return same && is_late;
        default: return false;
      }
    case ListMethod::mixed:
      switch (entry.kind) {
        case experts:
        case first_expert:
        case first_projection:
        case later_expert: return same;
        case beside: return same && is_late;
        default: return false;
      }
    // The whole name, or its last components: bailing_moe_v3.py.
    case ListMethod::ling: return same && entry.kind == experts;
    // The name, or an expression somewhere in it: "layers.L*" is one, in which the last digit may stand any number of times, none too. What begins
    // with
    // '*' is none.
    case ListMethod::auto_round: {
      const std::string digits = std::to_string(entry.layer);
      return (same && entry.kind == experts) || (entry.kind == begins_so && std::to_string(layer).starts_with(digits.substr(0, digits.size() - 1)));
    }
    default: return false;
  }
}

std::string list_of(const ListCase& test) {
  const bool is_table = test.method == ListMethod::mixed || test.method == ListMethod::auto_round;
  const std::string words = test.method == ListMethod::mixed ? R"(: {"quant_algo": "NVFP4", "group_size": 16})" : R"(: {"bits": 16})";
  std::string text;
  const auto add = [&](const std::string& entry) {
    const std::string quoted = "\"" + entry + "\"";
    if (text.find(quoted) != std::string::npos) return;
    text += (text.empty() ? "" : ", ") + quoted + (is_table ? words : "");
  };
  for (const ListEntry& entry : test.entries) {
    const std::string layer = "model.layers." + std::to_string(entry.layer), of_experts = layer + ".mlp.experts";
    switch (entry.kind) {
      case experts: add(of_experts); break;
      case first_expert:
        for (const char* const projection : {"gate_proj", "up_proj", "down_proj"}) add(of_experts + ".0." + projection);
        break;
      case first_projection: add(of_experts + ".0.gate_proj"); break;
      case later_expert: add(of_experts + ".1.down_proj"); break;
      case parent: add(layer + ".mlp"); break;
      case EntryKind::layer: add(layer); break;
      case begins_so: add(layer + "*"); break;
      case has_it: add("*layers." + std::to_string(entry.layer) + ".mlp.experts*"); break;
      case expression: add(R"(re:.*layers\\.)" + std::to_string(entry.layer) + R"(\\.mlp\\..*)"); break;
      case other_module: add(layer + ".block_sparse_moe.experts"); break;
      case beside: add(layer + ".mlp.gate_proj"); break;
    }
  }
  if (test.method == ListMethod::auto_round) return "{" + text + "}";
  return is_table ? "{\"model.layers.0.self_attn.o_proj\": {\"quant_algo\": \"FP8\"}" + (text.empty() ? text : ", " + text) + "}" : "[" + text + "]";
}

}  // namespace

Given given(const ListCase& test, int layer) {
  if (test.method == ListMethod::mxfp4) return Given::quantized;
  if (test.method == ListMethod::kimi_k3 && !is_compressed(test)) return Given::quantized;
  if (is_compressed(test)) {
    // Of expert 0 gate_proj, up_proj and down_proj: all of them, none, or the engine raises. An expression fits all.
    const auto has = [&](EntryKind kind) {
      return std::ranges::any_of(test.entries, [&](const ListEntry& entry) { return entry.kind == kind && entry.layer == layer; });
    };
    if (has(first_expert) || has(expression)) return Given::left;
    return has(first_projection) ? Given::raises : Given::quantized;
  }
  const bool named = std::ranges::any_of(test.entries, [&](const ListEntry& entry) { return names(test, entry, layer); });
  return named == (test.method == ListMethod::mixed) ? Given::quantized : Given::left;
}

std::string config_of(const ListCase& test) {
  const std::string list = list_of(test);
  const std::string ct =
      R"("quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights":
    {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": true}, "input_activations": null}}, "ignore": )";
  std::string model = R"("model_type": "qwen3_moe")", words;
  switch (test.method) {
    case ListMethod::fp8: words = R"("quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": )" + list; break;
    case ListMethod::modelopt: words = R"("quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": )" + list; break;
    case ListMethod::quark:
      words =
          R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}},
        "layer_quant_config": {}, "exclude": )" +
          list;
      break;
    case ListMethod::mixed: words = R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": )" + list; break;
    case ListMethod::ling:
      model = R"("model_type": "bailing_hybrid")";
      words = R"("quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128], "routed_experts_quant_method": "mxfp4",
        "modules_to_not_convert": )" +
              list;
      break;
    case ListMethod::auto_round:
      words = R"("quant_method": "auto-round", "data_type": "mx_fp", "bits": 4, "group_size": 32, "extra_config": )" + list;
      break;
    case ListMethod::mxfp4: words = R"("quant_method": "mxfp4", "modules_to_not_convert": )" + list; break;
    case ListMethod::kimi_k3: model = R"("model_type": "kimi_k3", "architectures": ["KimiK3ForConditionalGeneration"])"; [[fallthrough]];
    case ListMethod::compressed_tensors: words = ct + list; break;
  }
  return "{" + model + R"(, "quantization_config": {)" + words + "}}";
}

ListCase random_list_case(int most, int last) {
  ListCase test{static_cast<ListMethod>(pick(0, kListMethods - 1)), static_cast<int>(pick(0, 2)), {}};
  test.month = 202605 + 3 * test.month;
  if (test.method == ListMethod::ling || test.method == ListMethod::auto_round) test.month = std::max(test.month, kAugust);
  for (std::int64_t left = pick(0, most); left > 0; --left)
    test.entries.push_back({static_cast<EntryKind>(pick(0, kEntryKinds - 1)), static_cast<int>(pick(0, last))});
  return test;
}

}  // namespace mx::props
