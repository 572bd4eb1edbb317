// affine_quantize: integers with a scale and a zero point, by the rules that the entry states.

#include "model/numerics/affine.hpp"

#include <fmt/format.h>

#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/numbers.hpp"
#include "golden/witness/ops.hpp"

namespace mx::golden {

ModelOutputs evaluate_affine_quantize(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const AffineRules rules = affine_rules(params.text("rules"));
  params.finish();
  if (*rules.scale != kF32 || rules.block == 0) throw Unmodelled("integers with a scale in another format than f32, or with whole rows as blocks");
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, kF32.name, "x", where);
  const std::int64_t last = x->shape.back();
  if (last % rules.block != 0) broken(fmt::format("{} elements are no whole blocks of {}", last, rules.block), where);
  Tensor scales = zeros("f32", with_last(x->shape, last / rules.block)), points = zeros("i32", scales.shape);
  Tensor codes = zeros("u8", x->shape), values = zeros("f32", x->shape);
  for (std::int64_t b = 0; b * rules.block < x->size(); ++b) {
    std::vector<std::uint32_t> block;
    for (std::int64_t i = 0; i < rules.block; ++i) block.push_back(static_cast<std::uint32_t>(x->word(b * rules.block + i)));
    const AffineBlock made = quantize(block, rules);
    scales.set_word(b, made.scale);
    points.set_word(b, static_cast<std::uint32_t>(made.zero));
    for (std::int64_t i = 0; i < rules.block; ++i) {
      const std::int32_t code = made.codes[static_cast<std::size_t>(i)];
      codes.set_word(b * rules.block + i, static_cast<std::uint8_t>(code));
      values.set_word(b * rules.block + i, dequantize(code, made.zero, made.scale, rules, kF32));
    }
  }
  const auto origin = [x](std::int64_t i) { return element_text("x", *x, i); };
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), &kF32, false, {}});
  outputs.emplace("zeros", ModelOutput{std::move(points), nullptr, false, {}});
  outputs.emplace("codes", ModelOutput{std::move(codes), nullptr, false, origin});
  outputs.emplace("values", ModelOutput{std::move(values), &kF32, false, origin});
  return outputs;
}

}  // namespace mx::golden
