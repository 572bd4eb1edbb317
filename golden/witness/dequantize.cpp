// Blocks back into numbers.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/dialect.hpp"

namespace mx::golden {

const Dequantizer& dequantizer_of(const Entry& entry, const BlockFormat& format, const Format& target, const TensorScale& tensor) {
  const TensorUse use = tensor.encode ? TensorUse::divides_scale : tensor.decode ? TensorUse::multiplies_scale : TensorUse::none;
  const auto defines = [&](const Profile& profile) {
    return std::any_of(profile.dequantizers.begin(), profile.dequantizers.end(),
                       [&](const Dequantizer& row) { return row.format->name == format.name && *row.target == target && row.tensor == use; });
  };
  return dequantizer(profile_of(entry, fmt::format("{} to {}", format.name, target.name), defines), format, target);
}

ModelOutputs evaluate_block_dequantize(const OpContext& context) {
  if (is_composed_way_back(context.entry)) return evaluate_composed_way_back(context);
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const BlockParams shape = read_block_params(params);
  const Format& target = wide_format_word(params, "target");
  const TensorScale tensor = tensor_scale_of(params);
  const Dequantizer& row = dequantizer_of(context.entry, block_format_of(shape), target, tensor);
  require_dialect(row, params);
  params.finish();

  const auto codes = std::make_shared<const Tensor>(context.input("codes"));
  const auto scales = std::make_shared<const Tensor>(context.input("scales"));
  require_dtype(*codes, "u8", "codes", where);
  require_dtype(*scales, "u8", "scales", where);
  const std::int64_t last = codes->shape.back() * shape.per_byte();
  require_whole_blocks(last, shape.block, where);
  if (scales->shape != with_last(codes->shape, last / shape.block)) broken("scales and codes have shapes that do not fit", where);

  Tensor values = zeros(target.name, with_last(codes->shape, last));
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto scale = static_cast<std::uint32_t>(scales->word(i / shape.block));
    values.set_word(i, dequantize(code_at(*codes, i, shape, where), scale, row, tensor));
  }
  const auto origin = [codes, scales, per_byte = shape.per_byte(), block = shape.block](std::int64_t i) {
    return fmt::format("{} and {}", element_text("codes", *codes, i / per_byte), element_text("scales", *scales, i / block));
  };
  ModelOutputs outputs;
  outputs.emplace("values", ModelOutput{std::move(values), nullptr, false, origin});
  return outputs;
}

}  // namespace mx::golden
