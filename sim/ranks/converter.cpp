// What converters see of a deployment, and whose conversion it is.

#include "sim/ranks/converter.hpp"

#include "model/engine/vllm/method.hpp"
#include "model/error.hpp"
#include "model/families/setting_keys.hpp"

namespace mx::sim {
layout::Form checkpoint_form(const deployment::LayerConfig& layer, layout::WeightFormat format) {
  const bool interleaved = format == layout::WeightFormat::mxfp4 && layer.activation == "SWIGLUOAI";
  return {format, interleaved ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard, !layer.activation.ends_with("_NO_MUL")};
}

checkpoint::Conversion conversion_of(const deployment::Deployment& deployment, deployment::Engine engine, const layout::Form& form,
                                     const layout::Sizes& sizes, std::span<const std::string> libraries) {
  const deployment::LayerConfig& layer = deployment.layer;
  const int tp_size = deployment::derive(deployment.parallel, engine).tp_size;
  return {form,
          sizes,
          layer.activation,
          layer.has_bias,
          checkpoint::surroundings(engine, arch_of(deployment.hardware), tp_size, libraries, deployment.env),
          deployment.quant_method};
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

checkpoint::Conversion conversion_of(const SimulationRequest& request, const ModelLayer& layer, const layout::Sizes& sizes,
                                     const families::StandingConversion& standing) {
  std::vector<std::string> libraries = families::carried_libraries(standing, request.engine);
  libraries.insert(libraries.end(), request.libraries.begin(), request.libraries.end());
  checkpoint::Conversion conversion = conversion_of(request.deployment, standing.of, layer.experts.form, sizes, libraries);
  conversion.has_bias = layer.experts.has_bias();
  if (request.fixed) {
    families::find_setting_key("num-warps")->set(conversion.around, std::to_string(request.fixed->num_warps));
    families::find_setting_key("torch-before-2-8-1")->set(conversion.around, request.fixed->torch_before_2_8_1 ? "yes" : "no");
  }
  return conversion;
}

std::int64_t loaded_group(const SimulationRequest& request, const ModelLayer& layer) {
  if (request.fixed || !layout::has_squares(layer.experts.form.format)) return layer.experts.sizes.group;
  return families::group_of_key(engine::as_asked(engine::tables_of(request.engine, request.oracle), request.deployment).weight_key);
}

std::string changed_conversion(const SimulationRequest& request, const ModelLayer& layer) {
  const families::ExecutionRow* const row = families::find_execution(layer.experts.form.format, request.backend);
  if (row == nullptr || row->layout.empty()) return {};
  const families::StandingConversion conversion = families::conversion_at(row->layout, row->format, request.engine);
  return conversion.row == nullptr || conversion.stands() ? "" : "the conversion was " + families::standing_text(conversion, request.engine);
}

}  // namespace mx::sim
