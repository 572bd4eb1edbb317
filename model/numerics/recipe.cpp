#include "model/numerics/recipe.hpp"

#include <string>

#include "model/error.hpp"

namespace mx {

namespace {

void check_length(std::size_t length, const BlockFormat& format) {
  if (length != 0 && (format.block == 0 || length == static_cast<std::size_t>(format.block))) return;
  throw Error(ErrorCode::usage, "a block of " + std::to_string(length) + " elements: " + std::string(format.name) + " has " +
                                    (format.block == 0 ? std::string("one or more") : std::to_string(format.block)));
}

/// The recipe when it gives scales alone, else null.
const MxRecipe* scales_alone(const Recipe& recipe) {
  const auto* how = std::get_if<MxRecipe>(&recipe.how);
  return how != nullptr && !how->elements ? how : nullptr;
}

const Conversion& element_of(const MxRecipe& how) {
  if (how.elements) return how.elements->step.encode;
  throw Error(ErrorCode::usage, "a recipe of scales alone converts no elements");
}
const Conversion& element_of(const GroupRecipe& how) { return how.step.encode; }
const Conversion& element_of(const Nvfp4Recipe& how) { return how.element; }
const Conversion& element_of(const Fp8Recipe& how) { return how.element; }
const Conversion& element_of(const BlockComposition& how) { return how.encode; }

bool takes(const MxRecipe& how, const Format& source) { return holds(how.sources, source); }
bool takes(const GroupRecipe& how, const Format& source) { return holds(how.sources, source); }
bool takes(const Nvfp4Recipe& how, const Format& source) { return holds(how.sources, source); }
bool takes(const Fp8Recipe& how, const Format& source) { return holds(how.sources, source); }
bool takes(const BlockComposition& how, const Format& source) { return holds(how.sources, source); }

std::string_view rule_of(const MxRecipe& how) { return name_of(how.scale.rule); }
std::string_view rule_of(const GroupRecipe& how) { return name_of(how.rule); }
std::string_view rule_of(const Nvfp4Recipe& how) { return name_of(how.rule); }
std::string_view rule_of(const Fp8Recipe& how) { return name_of(how.rule); }
std::string_view rule_of(const BlockComposition& how) { return name_of(how.scale_step); }

/// Families whose blocks stand alone take no numbers of the tensor.
template <class Alone>
BlockScaling scaling_of(std::uint32_t amax, const Format& source, const BlockFormat& format, const Alone& how, const TensorScale& tensor) {
  require_no_tensor_scale(tensor, format.name);
  return block_scaling(amax, source, format, how);
}
BlockScaling scaling_of(std::uint32_t amax, const Format& source, const BlockFormat& format, const Nvfp4Recipe& how, const TensorScale& tensor) {
  return block_scaling(amax, source, format, how, tensor);
}
BlockScaling scaling_of(std::uint32_t amax, const Format& source, const BlockFormat& format, const Fp8Recipe& how, const TensorScale& tensor) {
  return block_scaling(amax, source, format, how, tensor);
}
BlockScaling scaling_of(std::uint32_t amax, const Format& source, const BlockFormat& format, const BlockComposition& how, const TensorScale& tensor) {
  return block_scaling(amax, source, format, how, tensor);
}

TensorNeeds needs_of(const MxRecipe&) { return {}; }
TensorNeeds needs_of(const GroupRecipe&) { return {}; }
TensorNeeds needs_of(const Nvfp4Recipe& how) { return tensor_needs(how); }
TensorNeeds needs_of(const Fp8Recipe& how) { return tensor_needs(how); }
TensorNeeds needs_of(const BlockComposition& how) { return tensor_needs(how); }

}  // namespace

QuantizedBlock quantize_block(std::span<const std::uint32_t> x, const Format& source, const Recipe& recipe, const TensorScale& tensor) {
  check_length(x.size(), *recipe.format);
  return std::visit([&](const auto& how) { return quantize(x, source, *recipe.format, how, tensor); }, recipe.how);
}

bool takes_source(const Recipe& recipe, const Format& source) {
  return std::visit([&](const auto& how) { return takes(how, source); }, recipe.how);
}

TensorNeeds tensor_needs(const Recipe& recipe) {
  return std::visit([](const auto& how) { return needs_of(how); }, recipe.how);
}

bool gives_codes(const Recipe& recipe) { return scales_alone(recipe) == nullptr; }

std::uint32_t block_scale(std::span<const std::uint32_t> x, const Format& source, const Recipe& recipe, const TensorScale& tensor) {
  const MxRecipe* how = scales_alone(recipe);
  if (how == nullptr) return quantize_block(x, source, recipe, tensor).scale;
  check_length(x.size(), *recipe.format);
  require_no_tensor_scale(tensor, recipe.format->name);
  return block_scale(x, source, *recipe.format, *how);
}

BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const Recipe& recipe, const TensorScale& tensor) {
  element_conversion(recipe);  // throws for scales alone
  return std::visit([&](const auto& how) { return scaling_of(amax_f32, source, *recipe.format, how, tensor); }, recipe.how);
}

const Conversion& element_conversion(const Recipe& recipe) {
  return std::visit([](const auto& how) -> const Conversion& { return element_of(how); }, recipe.how);
}

std::string_view scale_rule_name(const Recipe& recipe) {
  return std::visit([](const auto& how) { return rule_of(how); }, recipe.how);
}

}  // namespace mx
