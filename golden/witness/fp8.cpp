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
  const BlockParams shape = read_block_params(params, BlockLength::optional);
  const Granularity& granularity = row_named(kGranularities, "granularity", params.text("granularity"));
  if (granularity.in_blocks && !granularity.whole_rows && shape.block == 0)
    throw Unmodelled(fmt::format("granularity {} without a block", granularity.word));
  const std::string rule = params.text("scale_rule");
  if ((rule == "given") != granularity.scale_given) throw Unmodelled(fmt::format("granularity {} with scale rule {}", granularity.word, rule));
  // A scale serves as many elements as are handed over.
  const BlockFormat& format = block_format_of({shape.element, shape.scale, 0, false});
  Recipe row = recipe(profile_of(context.entry, "fp8 " + rule), format);
  // What these rules call a scale multiplies the elements.
  if (rule.starts_with("max_div_amax_f64")) std::get<Fp8Recipe>(row.how).returns_factor = true;
  TensorScale tensor;
  if (granularity.scale_given) tensor.decode = static_cast<std::uint32_t>(params.hex("scale", 8));
  require_element_words(row, params);
  require_dialect(row, source, params);
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
