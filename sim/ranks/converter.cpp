// What converters see of a deployment, and whose conversion it is.

#include "sim/ranks/converter.hpp"

#include "model/error.hpp"
#include "model/families/libraries.hpp"
#include "model/families/setting_keys.hpp"

namespace mx::sim {
namespace {

families::ConverterActivation converter_activation(std::string_view activation) {
  if (activation == "SITU") return families::ConverterActivation::situ;
  return activation.starts_with("SWIGLU") ? families::ConverterActivation::swigluoai : families::ConverterActivation::silu;
}

}  // namespace

layout::Form checkpoint_form(const deployment::LayerConfig& layer, layout::WeightFormat format) {
  const bool interleaved = format == layout::WeightFormat::mxfp4 && layer.activation == "SWIGLUOAI";
  return {format, interleaved ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard, !layer.activation.ends_with("_NO_MUL")};
}

families::Setting converter_setting(const deployment::Deployment& deployment, deployment::Engine engine, const layout::Form& form, const layout::Sizes& sizes,
                                  std::span<const std::string> libraries) {
  const deployment::LayerConfig& layer = deployment.layer;
  families::Setting setting{.sizes = sizes,
                          .padded = sizes,
                          .form = form,
                          .engine = engine,
                          .arch = arch_of(deployment.hardware),
                          .tp_size = deployment::derive(deployment.parallel, engine).tp_size,
                          .activation = converter_activation(layer.activation),
                          .has_bias = layer.has_bias};
  families::choose_libraries(setting, libraries);
  families::set_by_variables(setting, deployment.env);
  return setting;
}

families::Arch arch_of(const deployment::Hardware& hardware) {
  switch (hardware.platform) {
    case deployment::PlatformKind::cuda: return families::arch_named("sm" + std::to_string(hardware.capability.value_or(0)));
    case deployment::PlatformKind::rocm: return families::arch_named(hardware.gcn_arch);
    case deployment::PlatformKind::xpu: return families::Arch::xpu;
    case deployment::PlatformKind::cpu: break;
  }
  return families::Arch::cpu;
}

/// The conversion that a row's kernel reads from, of the version or carried over to it; no row: weights stay as they were loaded.
families::StandingConversion conversion_for(const families::ExecutionRow& row, deployment::Engine engine) {
  if (row.layout.empty()) return {nullptr, engine};
  const families::StandingConversion conversion = families::conversion_at(row.layout, row.format, engine);
  if (conversion.row == nullptr) static_cast<void>(families::backend_layout_named(row.layout, row.format, conversion.of));
  if (!conversion.stands()) throw Error(ErrorCode::unsupported, families::standing_text(conversion, engine), std::string(row.backend));
  return conversion;
}

families::Setting setting_for(const SimulationRequest& request, const ModelLayer& layer, const layout::Sizes& sizes,
                            const families::StandingConversion& conversion) {
  std::vector<std::string> libraries = families::carried_libraries(conversion, request.engine);
  libraries.insert(libraries.end(), request.libraries.begin(), request.libraries.end());
  families::Setting setting = converter_setting(request.deployment, conversion.of, layer.experts.form, sizes, libraries);
  setting.has_bias = layer.experts.has_bias();
  if (request.fixed) {
    setting.triton.num_warps = request.fixed->num_warps;
    setting.triton.torch_before_2_8_1 = request.fixed->torch_before_2_8_1;
  }
  return setting;
}

std::string changed_conversion(const SimulationRequest& request, const ModelLayer& layer) {
  const families::ExecutionRow* const row = families::find_execution(layer.experts.form.format, request.backend);
  if (row == nullptr || row->layout.empty()) return {};
  const families::StandingConversion conversion = families::conversion_at(row->layout, row->format, request.engine);
  return conversion.row == nullptr || conversion.stands() ? "" : "the conversion was " + families::standing_text(conversion, request.engine);
}

}  // namespace mx::sim
