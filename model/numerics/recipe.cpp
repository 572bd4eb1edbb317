#include "model/numerics/recipe.hpp"

#include <string>

#include "model/error.hpp"

namespace mx {

QuantizedBlock quantize_block(std::span<const std::uint32_t> x, const Format& source, const Recipe& recipe, const TensorScale& tensor) {
  const BlockFormat& format = *recipe.format;
  if (x.empty() || (format.block != 0 && x.size() != static_cast<std::size_t>(format.block))) {
    throw Error(ErrorCode::usage, "a block of " + std::to_string(x.size()) + " elements: " + std::string(format.name) + " has " +
                                      (format.block == 0 ? std::string("one or more") : std::to_string(format.block)));
  }
  return std::visit([&](const auto& how) { return quantize(x, source, format, how, tensor); }, recipe.how);
}

const Conversion& element_conversion(const Recipe& recipe) {
  return std::visit([](const auto& how) -> const Conversion& { return how.element; }, recipe.how);
}

std::string_view scale_rule_name(const Recipe& recipe) {
  if (const auto* how = std::get_if<MxRecipe>(&recipe.how)) return name_of(how->rule);
  if (const auto* how = std::get_if<Nvfp4Recipe>(&recipe.how)) return name_of(how->rule);
  if (const auto* how = std::get_if<Fp8Recipe>(&recipe.how)) return name_of(how->rule);
  return recipe.format->name;
}

}  // namespace mx
