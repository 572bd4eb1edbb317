// fp8_quantize: FP8 codes with fp32 scales of a tensor, its rows or groups of a row, or with a given scale.

#include <fmt/format.h>

#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/dialect.hpp"

namespace mx::golden {

namespace {

struct Granularity {
  std::string_view word;
  bool in_blocks;    ///< `block` elements share a scale; otherwise the whole tensor does
  bool whole_rows;   ///< a block is a row
  bool scale_given;  ///< no scales come out
};
constexpr Granularity kGranularities[] = {
    {"tensor", false, false, false},
    {"row", true, true, false},
    {"group", true, false, false},
    {"static", false, false, true},
};

/// Elements that share a scale: a `block` must be the row where it says the same, and is beside the point where one scale serves the whole tensor.
std::int64_t block_length(const Granularity& granularity, const BlockParams& shape, const Tensor& x, const std::string& where) {
  if (!granularity.in_blocks) return x.size();
  if (shape.block == 0) return x.shape.back();
  require_whole_blocks(x.shape.back(), shape.block, where);
  if (granularity.whole_rows && x.shape.back() != shape.block) broken(fmt::format("rows of {}, block {}", x.shape.back(), shape.block), where);
  return shape.block;
}

/// A rule whose words say all of it, where an entry has `nan_code`.
struct StatedRule {
  std::string_view word;
  bool given;
  bool inverted;       ///< elements are multiplied by the scale's reciprocal
  bool power_of_two;   ///< the scale is
  bool by_reciprocal;  ///< amax is multiplied by RN(1 / largest), elements are divided by div.full
};
constexpr StatedRule kStatedRules[] = {
    {"amax_div_max", false, false, false, false},     {"amax_div_max_inverted", false, true, false, false},
    {"amax_div_max_pow2", false, false, true, false}, {"group_amax", false, false, false, true},
    {"group_pow2_log2", false, false, true, true},    {"given", true, false, false, false},
    {"given_inverted", true, true, false, false},
};

std::uint32_t bits_or_zero(Fields& params, std::string_view key) { return params.has(key) ? static_cast<std::uint32_t>(params.hex(key, 8)) : 0U; }

/// The recipe that an entry states in full.
Recipe stated_recipe(Fields& params, const StatedRule& rule, const BlockFormat& format) {
  constexpr std::uint32_t kTenToMinus10 = 0x2EDBE6FFU;
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  const auto nan = static_cast<std::uint32_t>(params.hex("nan_code", 2));
  const Conversion element{rounding_word(params, *format.element), overflow_word(params, *format.element), NanRule::fixed, nan, nan, 0, false};
  const std::uint32_t least_amax = bits_or_zero(params, "amax_floor"), least_scale = bits_or_zero(params, "scale_floor");
  if (rule.power_of_two || rule.by_reciprocal) {
    const ElementStep step{.operation = rule.by_reciprocal ? ElementOperation::divide_full : ElementOperation::divide,
                           .nan_sign = NanSign::positive,
                           .zero_sign = ZeroSign::kept,
                           .flush_subnormals = false,
                           .half_is_added = false,
                           .unit_by_log2 = false,
                           .in_source_type = false,
                           .encode = element};
    const GroupRule group = rule.power_of_two ? GroupRule::group_pow2_log2 : GroupRule::group_amax;
    const std::uint32_t floor = rule.power_of_two && !rule.by_reciprocal && least_scale == 0 ? kTenToMinus10 : least_scale;
    return {&format, GroupRecipe{group, !rule.by_reciprocal, AmaxNan::ignored, least_amax, step, kAnySource, floor, false}, "the entry's words"};
  }
  return {&format,
          Fp8Recipe{.rule = rule.given ? Fp8Scale::given : Fp8Scale::amax_over_max,
                    .scaling = rule.inverted ? Fp8Scaling::reciprocal : Fp8Scaling::divide,
                    .element = element,
                    .amax_ignores_nan = true,
                    .takes_amax_bound = false,
                    .least_amax = least_amax,
                    .least_scale = least_scale,
                    .at_source_width = false,
                    .invalid_nan_is_negative = false,
                    .zero_scale_is_epsilon = false,
                    .drops_zero_sign = false,
                    .largest_factor = kInfinity,
                    .factor_is_power = false,
                    .returns_factor = false,
                    .sources = kAnySource},
          "the entry's words"};
}

/// The recipe of the profile that ran.
Recipe recorded_recipe(const OpContext& context, Fields& params, const std::string& rule, const BlockFormat& format, const Format& source) {
  Recipe row = recipe(profile_of(context.entry, "fp8 " + rule), format);
  // What these rules call a scale multiplies the elements.
  if (rule.starts_with("max_div_amax_f64")) std::get<Fp8Recipe>(row.how).returns_factor = true;
  require_element_words(row, params);
  require_dialect(row, source, params);
  return row;
}

/// One scale per block; a whole tensor's has the axes that the entry gives it.
Tensor scales_of(const Entry& entry, const Granularity& granularity, const Tensor& x, std::int64_t block) {
  if (granularity.in_blocks) return zeros("f32", with_last(x.shape, x.shape.back() / block));
  const auto recorded = entry.outputs.find("scales");
  const bool is_one = recorded != entry.outputs.end() && recorded->second.elements == 1;
  return zeros("f32", is_one ? recorded->second.shape : std::vector<std::int64_t>(x.shape.size(), 1));
}

}  // namespace

ModelOutputs evaluate_fp8_quantize(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  const auto recorded_x = context.entry.inputs.find("x");
  const std::int64_t last_axis = recorded_x == context.entry.inputs.end() ? -1 : static_cast<std::int64_t>(recorded_x->second.shape.size()) - 1;
  const BlockParams shape = read_block_params(params, BlockLength::optional, last_axis);
  const Granularity& granularity = row_named(kGranularities, "granularity", params.text("granularity"));
  if (granularity.in_blocks && !granularity.whole_rows && shape.block == 0)
    throw Unmodelled(fmt::format("granularity {} without a block", granularity.word));
  const std::string rule = params.text("scale_rule");
  if (rule.starts_with("given") != granularity.scale_given)
    throw Unmodelled(fmt::format("granularity {} with scale rule {}", granularity.word, rule));
  // A scale serves as many elements as are handed over.
  const BlockFormat& format = block_format_of({shape.element, shape.scale, 0, false});
  const bool is_stated = params.has("nan_code");
  const Recipe row =
      is_stated ? stated_recipe(params, row_named(kStatedRules, "scale rule", rule), format) : recorded_recipe(context, params, rule, format, source);
  TensorScale tensor;
  if (granularity.scale_given) tensor.decode = static_cast<std::uint32_t>(params.hex("scale", 8));
  params.finish();

  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", where);
  const std::int64_t block = block_length(granularity, shape, *x, where);
  Tensor scales = scales_of(context.entry, granularity, *x, block);
  Tensor codes = zeros("u8", x->shape);
  for (std::int64_t b = 0; b < scales.size(); ++b) {
    const QuantizedBlock quantized = quantize_block(patterns(*x, b * block, block), source, row, tensor);
    scales.set_word(b, quantized.scale);
    set_codes(codes, b * block, quantized.codes, false);
  }
  const auto scale_origin = [x, block](std::int64_t b) { return "elements from " + element_name("x", x->shape, b * block); };
  ModelOutputs outputs;
  if (!granularity.scale_given) outputs.emplace("scales", ModelOutput{std::move(scales), nullptr, false, scale_origin});
  outputs.emplace("codes", ModelOutput{std::move(codes), shape.element, false, code_origin(x, 1)});
  return outputs;
}

}  // namespace mx::golden
