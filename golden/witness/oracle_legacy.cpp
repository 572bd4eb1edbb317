#include "golden/witness/oracle_legacy.hpp"

#include <array>
#include <variant>

#include "golden/witness/oracle_inputs.hpp"
#include "model/engine/vllm/oracles/legacy.hpp"

namespace mx::golden {
namespace {

/// `torch_at_least_2_8_0` is the answer of the engine's own comparison of the version; a line whose two statements disagree is broken.
constexpr std::array<int, 3> kRecordedTorchTest = {2, 8, 0};

engine::LegacyMachine read_machine(Values& values, const std::string& where) {
  engine::LegacyMachine machine;
  machine.hardware = read_hardware(values.at("hardware"), where);
  Values software(values.at("software"), "software", where);
  machine.has_flashinfer = software.boolean("has_flashinfer");
  machine.has_triton_kernels = software.boolean("has_triton_kernels");
  const std::string torch = software.text("torch_version");
  machine.torch = engine::torch_version_of(torch);
  if (software.boolean("torch_at_least_2_8_0") != engine::at_least(machine.torch, kRecordedTorchTest)) {
    software.wrong("torch_at_least_2_8_0", "what follows from torch_version " + torch, software.at("torch_at_least_2_8_0"));
  }
  software.finish();
  machine.environment = read_environment(values, where);
  return machine;
}

Json shapes_json(const engine::LegacyShapes& shapes) {
  return {{"w13_weight", shapes.w13_weight}, {"w13_weight_scale", shapes.w13_weight_scale}, {"w13_bias", shapes.w13_bias},
          {"w2_weight", shapes.w2_weight},   {"w2_weight_scale", shapes.w2_weight_scale},   {"w2_bias", shapes.w2_bias}};
}

}  // namespace

Json evaluate_legacy_mxfp4(deployment::Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const engine::LegacyMachine machine = read_machine(values, where);
  const std::int64_t experts = values.size("num_experts");
  const engine::LegacySizes sizes{values.size("hidden_size"), values.size("intermediate_size_per_partition")};
  values.finish();
  const auto answer = engine::legacy_choice(machine);
  if (const auto* refusal = std::get_if<engine::Refusal>(&answer)) return {{"error_type", refusal->error_type}};
  const auto& choice = std::get<engine::LegacyChoice>(answer);
  const engine::LegacySizes padded = engine::legacy_padding(choice, machine.hardware.platform, sizes);
  return {{"use_marlin", choice.use_marlin},
          {"should_use_flashinfer_mxfp4", choice.use_flashinfer()},
          {"use_flashinfer_bf16", choice.flashinfer_bf16},
          {"use_flashinfer_mxfp8", choice.flashinfer_mxfp8},
          {"padded_hidden", padded.hidden},
          {"padded_intermediate", padded.intermediate},
          {"shapes", shapes_json(engine::legacy_shapes(experts, padded))}};
}

Json evaluate_legacy_tile_tokens_dim(deployment::Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const std::int64_t tokens = values.integer("num_tokens", 0, deployment::kLargestSize);
  const std::int64_t top_k = values.integer("top_k", 0, engine::kLargestTopK);
  const std::int64_t experts = values.size("num_experts");
  values.finish();
  return {{"tile_tokens_dim", engine::legacy_tile_tokens_dim(tokens, top_k, experts)}};
}

Json evaluate_legacy_can_support(deployment::Engine /*engine*/, const Json& inputs, const std::string& where) {
  Values values(inputs, "inputs", where);
  const engine::LegacyLayer layer{
      .use_grouped_topk = values.boolean("use_grouped_topk"),
      .topk_group = values.integer_or_null("topk_group", 0, deployment::kLargestSize),
      .num_expert_group = values.integer_or_null("num_expert_group", 0, deployment::kLargestSize),
      .expert_map = values.presence("expert_map"),
      .custom_routing_function = values.presence("custom_routing_function"),
      .e_score_correction_bias = values.presence("e_score_correction_bias"),
      .apply_router_weight_on_input = values.boolean("apply_router_weight_on_input"),
      .scoring_func = values.text("scoring_func"),
      .activation = values.text("activation"),
      .expert_load_view = values.presence("expert_load_view"),
      .logical_to_physical_map = values.presence("logical_to_physical_map"),
      .logical_replica_count = values.presence("logical_replica_count"),
  };
  values.finish();
  return {{"supported", engine::legacy_can_support(layer)}};
}

}  // namespace mx::golden
