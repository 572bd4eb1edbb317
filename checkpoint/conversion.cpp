#include "checkpoint/conversion.hpp"

#include <utility>

#include "checkpoint/rounding.hpp"
#include "checkpoint/shard.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/setup/fp8_block_shape.hpp"
#include "model/families/libraries.hpp"
#include "model/families/setting_keys.hpp"

namespace mx::checkpoint {

families::ConverterActivation converter_activation(std::string_view activation) {
  if (activation == "SITU") return families::ConverterActivation::situ;
  return activation == "SWIGLUOAI" ? families::ConverterActivation::swigluoai : families::ConverterActivation::silu;
}

families::Setting surroundings(deployment::Engine engine, families::Arch arch, int tp_size, std::span<const std::string> libraries,
                               const std::map<std::string, std::string>& variables) {
  families::Setting setting{.sizes = {}, .padded = {}, .form = {}, .engine = engine, .arch = arch, .tp_size = tp_size};
  families::choose_libraries(setting, libraries);
  families::set_by_variables(setting, variables);
  return setting;
}

families::Setting Conversion::setting(const layout::Sizes& padded) const {
  families::Setting setting = around;
  setting.sizes = whole ? rank_sizes(*whole, form, around.tp_size, padded.intermediate, sizes.group) : sizes;
  setting.padded = padded;
  setting.form = form;
  setting.activation = converter_activation(activation);
  setting.has_bias = has_bias;
  setting.leaves_e4m3fn = around.leaves_e4m3fn || !engine::makes_fnuz(method);
  return setting;
}

layout::Sizes Conversion::rounded(std::string_view backend, deployment::Engine engine) const {
  const layout::Sizes padded = rounded_up(backend, form, sizes, around.arch, engine, activation == "SILU" || activation == "SITU");
  if (whole) require_room(backend, rank_sizes(*whole, form, around.tp_size, padded.intermediate, sizes.group), padded);
  return padded;
}

std::int64_t loaded_group(const layout::Form& form, const layout::Sizes& whole, int tp, deployment::Engine engine) {
  const std::int64_t side = layout::block_side(whole.group);
  if (!layout::has_squares(form.format) || whole.intermediate % tp != 0) return whole.group;
  const std::optional<std::int64_t> finer = engine::finer_square(engine, side, whole.intermediate / tp, whole.hidden, tp);
  return finer.value_or(whole.group);
}

Conversion conversion_of(const Checkpoint& checkpoint, families::Setting around) {
  const layout::Sizes whole = checkpoint.sizes(0);
  layout::Sizes share = whole;
  share.intermediate /= around.tp_size;
  share.group = loaded_group(checkpoint.layout_form(), whole, around.tp_size, around.engine);
  return {checkpoint.layout_form(),
          share,
          std::string(checkpoint.converted_activation()),
          checkpoint.has_bias(),
          std::move(around),
          std::string(checkpoint.source_form().use.quant_method),
          whole};
}

families::Setting setting_for(const Checkpoint& checkpoint, const Conversion& conversion, std::string_view backend) {
  if (!checkpoint.source_form().use.rounds) return conversion.setting();
  deployment::require_tables(conversion.around.engine, families::kConversionEngines, "conversions");
  return conversion.setting(conversion.rounded(backend, conversion.around.engine));
}

}  // namespace mx::checkpoint
