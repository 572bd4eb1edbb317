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

namespace {

const Conversion& element_of(const MxRecipe& how) {
  if (how.elements) return how.elements->step.encode;
  throw Error(ErrorCode::usage, "a recipe of scales alone converts no elements");
}
const Conversion& element_of(const GroupRecipe& how) { return how.step.encode; }
const Conversion& element_of(const Nvfp4Recipe& how) { return how.element; }
const Conversion& element_of(const Fp8Recipe& how) { return how.element; }

}  // namespace

const Conversion& element_conversion(const Recipe& recipe) {
  return std::visit([](const auto& how) -> const Conversion& { return element_of(how); }, recipe.how);
}

std::string_view scale_rule_name(const Recipe& recipe) {
  if (const auto* how = std::get_if<MxRecipe>(&recipe.how)) return name_of(how->scale.rule);
  if (const auto* how = std::get_if<GroupRecipe>(&recipe.how)) return name_of(how->rule);
  if (const auto* how = std::get_if<Nvfp4Recipe>(&recipe.how)) return name_of(how->rule);
  if (const auto* how = std::get_if<Fp8Recipe>(&recipe.how)) return name_of(how->rule);
  return recipe.format->name;
}

}  // namespace mx
