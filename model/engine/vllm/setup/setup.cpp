#include "model/engine/vllm/setup/setup.hpp"

#include <string_view>
#include <vector>

#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/sizes.hpp"

namespace mx::engine {
namespace {

constexpr std::string_view kIntWna16 = "int_wna16";

/// Elements that share a scale of the checkpoint's weights, where its configuration states a block.
std::optional<GroupShape> block_of(deployment::QuantKey weights) {
  if (weights == deployment::QuantKey::fp8_static_128_block) return GroupShape{128, 128};
  if (weights == deployment::QuantKey::mxfp8_static) return GroupShape{1, 32};
  if (weights == deployment::QuantKey::int4_w4a8_group_128) return GroupShape{1, 128};
  if (weights == deployment::QuantKey::int4_w4a8_group_64) return GroupShape{1, 64};
  if (weights == deployment::QuantKey::int4_w4a8_group_32) return GroupShape{1, 32};
  if (weights == deployment::QuantKey::int8_static_channel) return GroupShape{-1, 1};
  return std::nullopt;
}

/// The key that the backend's classes were asked with.
deployment::QuantKey activation_key(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend) {
  const deployment::QuantKey own = backend_named(tables, backend).own_key;
  if (tables.keys == KeyPolicy::own) return own;
  const deployment::QuantKey asked = deployment::quant_key_named(deployment.activation_key);
  return tables.keys == KeyPolicy::requested_or_own && asked == deployment::QuantKey::none ? own : asked;
}

}  // namespace

QuantArguments quant_arguments(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend) {
  const deployment::LayerConfig& layer = deployment.layer;
  const deployment::QuantKey weights = tables.weight_key.value_or(deployment::quant_key_named(deployment.weight_key));
  const deployment::QuantKey activations = activation_key(tables, deployment, backend);
  const bool oai = layer.activation == "SWIGLUOAI";
  QuantArguments arguments;
  arguments.hardware = deployment.hardware;
  arguments.block_shape = tables.name == kIntWna16 ? GroupShape{0, deployment.weight_only.group_size} : block_of(weights);
  arguments.per_act_token_quant = activations == deployment::QuantKey::fp8_dynamic_token || activations == deployment::QuantKey::int8_dynamic_token;
  arguments.per_out_ch_quant = weights == deployment::QuantKey::fp8_static_channel;
  arguments.has_input_scales = activations == deployment::QuantKey::fp8_static_tensor;
  arguments.has_bias = layer.has_bias;
  arguments.sixteen_bit = activations == deployment::QuantKey::none || read_switch(deployment.env, EnvVariable::b12x_moe_fp4_force_a16) == Switch::on;
  arguments.weight_bits = weights == deployment::QuantKey::int8_static ? 8 : 4;
  arguments.has_zero_points = tables.name == kIntWna16 && deployment.weight_only.may_have_zp;
  if (layer.constants) {
    arguments.gemm1_alpha = layer.constants->swiglu_alpha;
    arguments.gemm1_beta = layer.constants->swiglu_beta;
    arguments.swiglu_limit = layer.constants->swiglu_limit;
    return arguments;
  }
  if (oai && !layer.has_swiglu_alpha) {
    arguments.gemm1_alpha = 1.702;
    arguments.gemm1_beta = 1.0;
  }
  if (oai && !layer.has_swiglu_limit) arguments.swiglu_limit = 7.0;
  return arguments;
}

Setup set_up(const OracleTables& tables, const deployment::Deployment& deployment, const Choice& choice) {
  const deployment::Parallel parallel = deployment::derive(deployment.parallel, tables.engine);
  Setup setup{.allocated = allocated_sizes(tables, choice.backend, deployment), .quant = {}, .assembly = {}};
  if (own_choice(tables, deployment).taken()) return setup;
  const QuantArguments arguments = quant_arguments(tables, deployment, choice.backend);
  const auto* sizes = std::get_if<RoundedSizes>(&setup.allocated);
  const std::vector<QuantConfigRow> rows = quant_config_rows(tables.engine, tables.name);
  if (find_quant_config_row(rows, choice.backend, arguments)) setup.quant = quant_config(rows, choice.backend, arguments);
  const auto* quant = setup.quant ? std::get_if<QuantConfig>(&*setup.quant) : nullptr;
  const bool known_exchange = !parallel.use_moonep_kernels() && !parallel.use_passthrough_all2all();  // their steps were not recorded
  if (sizes && quant && !choice.kernel_class.empty() && known_exchange) {
    setup.assembly = assemble({.oracle = tables.name,
                               .backend = choice.backend,
                               .kernel_class = choice.kernel_class,
                               .parallel = parallel,
                               .quant = *quant,
                               .hardware = deployment.hardware,
                               .hidden = sizes->hidden,
                               .max_num_tokens = 0,
                               .disable_inplace = true});
  }
  return setup;
}

}  // namespace mx::engine
