// NVFP4 quantization: the scale rules nvfp4, nvfp4_single and nvfp4_direct of block_quantize.

#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/dialect.hpp"

namespace mx::golden {

namespace {

/// A scale rule with its path is a profile's operation: "nvfp4", "nvfp4 fast".
std::string operation_of(Fields& params) {
  std::string operation = params.text("scale_rule");
  if (params.has("path")) operation += " " + params.text("path");
  return operation;
}

}  // namespace

const Profile& nvfp4_profile_of(const Entry& entry, Fields& params) { return profile_of(entry, operation_of(params)); }

ModelOutputs evaluate_nvfp4(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params);
  const Recipe& row = recipe(nvfp4_profile_of(context.entry, params), block_format_of(shape));
  const TensorScale tensor = tensor_scale_of(params);
  require_element_words(row, params);
  require_dialect(row, source, params);
  params.finish();

  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", where);
  require_whole_blocks(x->shape.back(), shape.block, where);
  Tensor scales = zeros("u8", with_last(x->shape, x->shape.back() / shape.block));
  Tensor codes = zeros("u8", with_last(x->shape, x->shape.back() / shape.per_byte()));
  for (std::int64_t b = 0; b < scales.size(); ++b) {
    const QuantizedBlock block = quantize_block(patterns(*x, b * shape.block, shape.block), source, row, tensor);
    scales.set_word(b, block.scale);
    set_codes(codes, b * shape.block, block.codes, shape.packed);
  }
  const auto scale_origin = [x, size = shape.block](std::int64_t b) { return "a block from " + element_name("x", x->shape, b * size); };
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), shape.scale, false, scale_origin});
  outputs.emplace("codes", ModelOutput{std::move(codes), shape.element, shape.packed, code_origin(x, shape.per_byte())});
  return outputs;
}

}  // namespace mx::golden
