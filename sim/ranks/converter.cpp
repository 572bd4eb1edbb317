// What converters see of a deployment, and whose conversion it is.

#include "sim/ranks/converter.hpp"

#include "model/error.hpp"
#include "model/families/libraries.hpp"
#include "model/families/setting_keys.hpp"

namespace mx::sim {
namespace {

layout::ConverterActivation converter_activation(std::string_view activation) {
  if (activation == "SITU") return layout::ConverterActivation::situ;
  return activation.starts_with("SWIGLU") ? layout::ConverterActivation::swigluoai : layout::ConverterActivation::silu;
}

}  // namespace

layout::Form checkpoint_form(const oracle::LayerConfig& layer, layout::WeightFormat format) {
  const bool interleaved = format == layout::WeightFormat::mxfp4 && layer.activation == "SWIGLUOAI";
  return {format, interleaved ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard, !layer.activation.ends_with("_NO_MUL")};
}

layout::Setting converter_setting(const oracle::Deployment& deployment, Engine engine, const layout::Form& form, const layout::Sizes& sizes,
                                  std::span<const std::string> libraries) {
  const oracle::LayerConfig& layer = deployment.layer;
  layout::Setting setting{.sizes = sizes,
                          .padded = sizes,
                          .form = form,
                          .engine = engine,
                          .arch = arch_of(deployment.hardware),
                          .tp_size = oracle::derive(deployment.parallel, engine).tp_size,
                          .activation = converter_activation(layer.activation),
                          .has_bias = layer.has_bias};
  layout::choose_libraries(setting, libraries);
  layout::set_by_variables(setting, deployment.env);
  return setting;
}

layout::Arch arch_of(const oracle::Hardware& hardware) {
  switch (hardware.platform) {
    case oracle::PlatformKind::cuda: return layout::arch_named("sm" + std::to_string(hardware.capability.value_or(0)));
    case oracle::PlatformKind::rocm: return layout::arch_named(hardware.gcn_arch);
    case oracle::PlatformKind::xpu: return layout::Arch::xpu;
    case oracle::PlatformKind::cpu: break;
  }
  return layout::Arch::cpu;
}

/// The conversion that a row's kernel reads from, of the version or carried over to it; no row: weights stay as they were loaded.
layout::StandingConversion conversion_for(const ExecutionRow& row, Engine engine) {
  if (row.layout.empty()) return {nullptr, engine};
  const layout::StandingConversion conversion = layout::conversion_at(row.layout, row.format, engine);
  if (conversion.row == nullptr) static_cast<void>(layout::backend_layout_named(row.layout, row.format, conversion.of));
  if (!conversion.stands()) throw Error(ErrorCode::unsupported, layout::standing_text(conversion, engine), std::string(row.backend));
  return conversion;
}

layout::Setting setting_for(const SimulationRequest& request, const ModelLayer& layer, const layout::Sizes& sizes,
                            const layout::StandingConversion& conversion) {
  std::vector<std::string> libraries = layout::carried_libraries(conversion, request.engine);
  libraries.insert(libraries.end(), request.libraries.begin(), request.libraries.end());
  layout::Setting setting = converter_setting(request.deployment, conversion.of, layer.experts.form, sizes, libraries);
  setting.has_bias = layer.experts.has_bias();
  if (request.fixed) {
    setting.triton.num_warps = request.fixed->num_warps;
    setting.triton.torch_before_2_8_1 = request.fixed->torch_before_2_8_1;
  }
  return setting;
}

std::string changed_conversion(const SimulationRequest& request, const ModelLayer& layer) {
  const ExecutionRow* const row = find_execution(layer.experts.form.format, request.backend);
  if (row == nullptr || row->layout.empty()) return {};
  const layout::StandingConversion conversion = layout::conversion_at(row->layout, row->format, request.engine);
  return conversion.row == nullptr || conversion.stands() ? "" : "the conversion was " + layout::standing_text(conversion, request.engine);
}

}  // namespace mx::sim
