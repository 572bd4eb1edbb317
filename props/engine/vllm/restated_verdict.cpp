// In which order a class is asked.

#include <stdexcept>

#include "props/engine/vllm/restated.hpp"
#include "props/engine/vllm/restated_class.hpp"

namespace mx::props {
namespace {

using Text = std::string_view;
using deployment::Engine;
using deployment::kVllm2026_08;
using deployment::kVllm2026_11;

constexpr Text kHummingClasses = "BatchedHummingGroupedExperts HummingGroupedExperts HummingIndexedExperts";

/// These replace the whole check: the format and the preferred GEMM alone count.
std::string humming_failure(Text name, const Facts& f) {
  const bool batched_class = name == "BatchedHummingGroupedExperts";
  if (f.batched() != batched_class) return "humming_activation_format";
  if (batched_class) return "";
  const auto found = f.deployment.env.find("VLLM_HUMMING_MOE_GEMM_TYPE");
  std::string type = found == f.deployment.env.end() ? "" : found->second;
  for (char& c : type) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const bool wants_grouped = type == "grouped" || type == "grouped_contiguous";
  return wants_grouped == (name == "HummingGroupedExperts") ? "" : "humming_gemm_type";
}

/// The message of a refusal needs the text of both keys, and these have none in 2026-05.
bool keys_raise(const Facts& f) {
  constexpr Text kWithoutText = "kInt4Static kInt8Static";
  return f.engine < kVllm2026_08 && (has_word(kWithoutText, f.weight) || has_word(kWithoutText, f.activation));
}

/// Since 2026-08 the activation says whether there is a gate.
bool has_gate(const Facts& f) {
  const deployment::LayerConfig& layer = f.deployment.layer;
  return f.engine < kVllm2026_08 ? layer.is_act_and_mul : !layer.activation.ends_with("_NO_MUL");
}

std::string first_failure(const RestatedClass& row, const Facts& f) {
  const deployment::LayerConfig& layer = f.deployment.layer;
  if (row.first != nullptr && !row.first(f).empty()) return std::string(row.first(f));
  if (!row.device(f)) return row.name == "AiterExperts" ? "device+aiter_hint" : "device";
  if (!has_gate(f) && !row.ungated) return "no_act_and_mul";
  if (!has_word(row.activations, layer.activation)) return "activation";
  if (!row.keys(f)) return keys_raise(f) ? throw EngineError{"KeyError"} : "quant_scheme";
  if (row.refused_exchange(f)) return "parallel_config";
  const bool routes_itself = row.monolithic && f.engine >= kVllm2026_11;
  if (routes_itself && layer.has_hash_routing) return "hash_routing";
  if (routes_itself && layer.require_decomposed_backend) return "decomposed_routing";
  const bool llama4_too = row.name == "TrtLlmFp8ExpertsMonolithic" && f.weight == "kFp8StaticTensorSym" && layer.routing_method == "Llama4";
  if (!row.routings.empty() && !llama4_too && !has_word(row.routings, layer.routing_method)) return "routing_method";
  if (layer.hidden % row.hidden != 0) return "shape";
  if (f.batched() != row.batched) return "activation_format";
  if (f.integer("VLLM_BATCH_INVARIANT") && !row.invariant) return "batch_invariance";
  if (layer.is_lora_enabled && !row.lora) return "lora";
  return row.last == nullptr ? "" : std::string(row.last(f));
}

bool speaks_of(const RestatedClass& row, Engine engine) { return engine >= row.since && engine < row.until; }

}  // namespace

std::vector<Text> restated_classes(Engine engine) {
  std::vector<Text> names;
  if (engine < kVllm2026_08) names = texts_of(kHummingClasses);
  for (const RestatedClass& row : restated_class_rows()) {
    if (speaks_of(row, engine)) names.push_back(row.name);
  }
  return names;
}

std::string restated_verdict(Text kernel_class, const Facts& facts) {
  try {
    if (facts.engine < kVllm2026_08 && has_word(kHummingClasses, kernel_class)) return humming_failure(kernel_class, facts);
    for (const RestatedClass& row : restated_class_rows()) {
      if (row.name == kernel_class && speaks_of(row, facts.engine)) return first_failure(row, facts);
    }
  } catch (const EngineError& error) {
    return "exc:" + error.type;
  }
  throw std::out_of_range("no restatement of class " + std::string(kernel_class));
}

}  // namespace mx::props
