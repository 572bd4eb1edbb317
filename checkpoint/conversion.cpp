#include "checkpoint/conversion.hpp"

#include <algorithm>
#include <utility>

#include "checkpoint/rounding.hpp"
#include "checkpoint/shard.hpp"
#include "model/engine/vllm/method.hpp"
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
  setting.sizes = sizes;
  setting.padded = padded;
  setting.form = form;
  setting.activation = converter_activation(activation);
  setting.has_bias = has_bias;
  setting.leaves_e4m3fn = around.leaves_e4m3fn || !engine::makes_fnuz(method);
  return setting;
}

layout::Sizes Conversion::rounded(std::string_view backend, deployment::Engine engine) const {
  return rounded_up(backend, setting(), engine, activation == "SILU" || activation == "SITU");
}

std::string_view method_of(const SourceForm& form) {
  const auto fact = std::ranges::find(form.facts, "method", &ConfigFact::key);
  return fact == form.facts.end() ? std::string_view() : fact->values.front();
}

Conversion conversion_of(const Checkpoint& checkpoint, families::Setting around) {
  layout::Sizes sizes = checkpoint.sizes(0);
  const layout::Form form = checkpoint.layout_form();
  check_cut(sizes, form.format, around.tp_size);
  sizes.intermediate /= around.tp_size;
  return {form,
          sizes,
          std::string(checkpoint.converted_activation()),
          checkpoint.has_bias(),
          std::move(around),
          std::string(method_of(checkpoint.source_form()))};
}

families::Setting setting_for(const Checkpoint& checkpoint, const Conversion& conversion, std::string_view backend) {
  if (!checkpoint.source_form().use.rounds) return conversion.setting();
  deployment::require_tables(conversion.around.engine, families::kConversionEngines, "conversions");
  return conversion.setting(conversion.rounded(backend, conversion.around.engine));
}

}  // namespace mx::checkpoint
