#include "model/engine/vllm/setup/setup.hpp"

#include <algorithm>
#include <string_view>

#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/sizes.hpp"

namespace mx::oracle {
namespace {

/// Elements that share a scale of the checkpoint's weights, where its configuration states a block.
std::optional<GroupShape> block_of(QuantKey weights) {
  if (weights == QuantKey::fp8_static_128_block) return GroupShape{128, 128};
  if (weights == QuantKey::mxfp8_static) return GroupShape{1, 32};
  return std::nullopt;
}

/// The key that the backend's classes were asked with.
QuantKey activation_key(const OracleTables& tables, const Deployment& deployment, const Choice& choice) {
  const QuantKey own = backend_named(tables, choice.backend).own_key;
  if (tables.keys == KeyPolicy::own) return own;
  const QuantKey asked = quant_key_named(deployment.activation_key);
  return tables.keys == KeyPolicy::requested_or_own && asked == QuantKey::none ? own : asked;
}

QuantArguments arguments_of(const OracleTables& tables, const Deployment& deployment, const Choice& choice) {
  const LayerConfig& layer = deployment.layer;
  const QuantKey weights = tables.weight_key.value_or(quant_key_named(deployment.weight_key));
  const QuantKey activations = activation_key(tables, deployment, choice);
  const bool oai = layer.activation == "SWIGLUOAI";
  QuantArguments arguments;
  arguments.hardware = deployment.hardware;
  arguments.block_shape = block_of(weights);
  arguments.per_act_token_quant = activations == QuantKey::fp8_dynamic_token;
  arguments.per_out_ch_quant = weights == QuantKey::fp8_static_channel;
  arguments.has_input_scales = activations == QuantKey::fp8_static_tensor;
  arguments.has_bias = layer.has_bias;
  if (oai && !layer.has_swiglu_alpha) {
    arguments.gemm1_alpha = 1.702;
    arguments.gemm1_beta = 1.0;
  }
  if (oai && !layer.has_swiglu_limit) arguments.swiglu_limit = 7.0;
  return arguments;
}

bool has_config(const OracleTables& tables, std::string_view backend) {
  const auto rows = quant_config_rows(tables.name);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const QuantConfigRow& row) { return std::find(row.backends.begin(), row.backends.end(), backend) != row.backends.end(); });
}

}  // namespace

Setup set_up(const OracleTables& tables, const Deployment& deployment, const Choice& choice) {
  const Parallel parallel = derive(deployment.parallel, tables.engine);
  Setup setup{.allocated = allocated_sizes(tables, choice.backend, deployment), .quant = {}, .assembly = {}};
  if (choice.backend == kNotAsked) return setup;
  const QuantArguments arguments = arguments_of(tables, deployment, choice);
  const auto* sizes = std::get_if<RoundedSizes>(&setup.allocated);
  if (has_config(tables, choice.backend)) setup.quant = quant_config(tables.name, choice.backend, arguments);
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

}  // namespace mx::oracle
