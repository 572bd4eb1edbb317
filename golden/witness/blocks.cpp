// Block quantization and the 128x4 swizzle. Implementations of one rule differ in special blocks, so a dialect is claimed by name.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "model/layout/backend.hpp"

namespace mx::golden {

namespace {

/// A dialect that the model's rule reproduces, special blocks included. Empty device and build: any.
struct Dialect {
  std::string_view op;
  std::string_view implementation, device, build;
  std::string_view variant;  ///< scale rule
  std::string_view source;
};
// `ocp` is what a user states who follows the document itself: amax with its sign dropped, NaN or Inf block -> scale 0xFF, scale byte 0 is 2^-127.
constexpr Dialect kDialects[] = {
    {"block_quantize", "torchao", "cpu", "eager", "floor", "torchao mx_tensor.py to_mx, ScaleCalculationMode.FLOOR"},
    {"block_quantize", "ocp", "", "", "floor", "MX 1.0 §6.3"},
    {"block_scale", "torchao", "cpu", "eager", "floor", "torchao mx_tensor.py to_mx, ScaleCalculationMode.FLOOR"},
    {"block_scale", "aiter", "cpu", "torch-reference", "floor", "aiter RoundMode.RoundDown: bit-identical scales, NaN and Inf 0xFF"},
    {"block_scale", "ocp", "", "", "floor", "MX 1.0 §6.3"},
};

bool either(std::string_view wanted, std::string_view found) { return wanted.empty() || wanted == found; }

void require_dialect(const Entry& entry, std::string_view variant) {
  const auto matches = [&](const Dialect& row) {
    return row.op == entry.op && row.implementation == entry.profile.implementation && either(row.device, entry.profile.device) &&
           either(row.build, entry.profile.build) && row.variant == variant;
  };
  if (std::any_of(std::begin(kDialects), std::end(kDialects), matches)) return;
  throw Unmodelled(fmt::format("no model of {} {} as {}/{}/{} does it", entry.op, variant, entry.profile.implementation, entry.profile.device,
                               entry.profile.build));
}

constexpr int kBlock = 32;

ScaleRule floor_rule(const OpContext& context, Fields& params) {
  const std::string rule = params.text("scale_rule");
  require_dialect(context.entry, rule);
  return ScaleRule::floor;
}

/// fp32 bits of block b.
std::vector<std::uint32_t> block_of(const Tensor& x, const Format& source, std::int64_t b) {
  std::vector<std::uint32_t> values;
  for (std::int64_t i = b * kBlock; i < (b + 1) * kBlock; ++i) values.push_back(to_f32(static_cast<std::uint32_t>(x.word(i)), source));
  return values;
}

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;

// The largest magnitude; as unsigned integers NaN is above Inf, so a NaN in the block wins.
std::uint32_t amax_of(const std::vector<std::uint32_t>& block) {
  std::uint32_t largest = 0;
  for (const std::uint32_t bits : block) largest = std::max(largest, bits & kMagnitude);
  return largest;
}

std::function<std::string(std::int64_t)> scale_origin(std::shared_ptr<const Tensor> x, const Format& source) {
  return [x = std::move(x), &source](std::int64_t b) {
    const std::uint32_t amax = amax_of(block_of(*x, source, b));
    return fmt::format("a block from {} with amax {}", element_name("x", x->shape, b * kBlock), value_text(amax, dtype_named("f32"), nullptr, false));
  };
}

constexpr std::uint32_t kNanScale = 0xFF;

}  // namespace

ModelOutputs evaluate_block_quantize(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params(context.entry.params, "params", where);
  if (params.text("scale_rule").starts_with("nvfp4")) return evaluate_nvfp4(context);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params);
  const ScaleRule rule = floor_rule(context, params);
  Conversion how{};
  how.rounding = rounding_word(params, *shape.element);
  how.overflow = overflow_word(params, *shape.element);
  const bool nan_stated = params.has("nan_block_code");
  const auto nan_byte = static_cast<std::uint32_t>(nan_stated ? params.hex("nan_block_code", 2) : 0);
  params.finish();

  const BlockFormat& format = block_format_of(shape);
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", where);
  require_whole_blocks(x->shape.back(), shape.block, where);
  const std::int64_t per_byte = shape.per_byte();
  Tensor scales = zeros("u8", with_last(x->shape, x->shape.back() / shape.block));
  Tensor codes = zeros("u8", with_last(x->shape, x->shape.back() / per_byte));
  for (std::int64_t b = 0; b < scales.size(); ++b) {
    const QuantizedBlock block = quantize_block(block_of(*x, source, b), kF32, Recipe{&format, MxRecipe{rule, how}, {}});
    scales.set_word(b, block.scale);
    if (block.scale == kNanScale && !nan_stated) throw Unmodelled("the entry does not say which codes a block with scale 0xFF has");
    set_codes(codes, b * shape.block, block.codes, shape.packed);
    for (std::int64_t i = 0; i < shape.block / per_byte && block.scale == kNanScale; ++i) codes.set_word(b * (shape.block / per_byte) + i, nan_byte);
  }
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), &kE8m0, false, scale_origin(x, source)});
  outputs.emplace("codes", ModelOutput{std::move(codes), shape.element, shape.packed, code_origin(x, per_byte)});
  return outputs;
}

ModelOutputs evaluate_block_scale(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params(context.entry.params, "params", where);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params);
  const ScaleRule rule = floor_rule(context, params);
  params.finish();
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", where);
  require_whole_blocks(x->shape.back(), shape.block, where);
  Tensor scales = zeros("u8", with_last(x->shape, x->shape.back() / shape.block));
  for (std::int64_t b = 0; b < scales.size(); ++b) scales.set_word(b, scale_code(amax_of(block_of(*x, source, b)), *shape.element, rule));
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), &kE8m0, false, scale_origin(x, source)});
  return outputs;
}

ModelOutputs evaluate_swizzle(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params(context.entry.params, "params", where);
  if (const std::string name = params.text("layout"); name != "swizzle_128x4") throw Unmodelled("unknown layout '" + name + "'");
  const std::int64_t rows = params.integer("rows", 1);
  const std::int64_t cols = params.integer("cols", 1);
  const std::int64_t padded_rows = params.integer("padded_rows", 1);
  const std::int64_t padded_cols = params.integer("padded_cols", 1);
  params.finish();
  const auto matrix = std::make_shared<const Tensor>(context.input("matrix"));
  if (matrix->shape != std::vector<std::int64_t>{rows, cols}) broken("'matrix' has not the shape that rows and cols say", where);
  constexpr std::int64_t kTileRows = 128;
  constexpr std::int64_t kTileCols = 4;
  if (padded_rows != (rows + kTileRows - 1) / kTileRows * kTileRows || padded_cols != (cols + kTileCols - 1) / kTileCols * kTileCols) {
    throw Unmodelled("a swizzle padded to other sizes than whole tiles of 128x4");
  }
  const layout::Layout tiles = layout::stage_layout("sf_128x4", 1, rows, cols, 8 * matrix->dtype->bytes);
  const std::vector<std::int64_t> source = tiles.gather();
  Tensor swizzled = zeros(matrix->dtype->word, {static_cast<std::int64_t>(source.size())});
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] >= 0) swizzled.set_word(static_cast<std::int64_t>(i), matrix->word(source[i]));
  }
  const auto origin = [matrix, source](std::int64_t i) {
    const std::int64_t from = source[static_cast<std::size_t>(i)];
    return from < 0 ? std::string("padding") : element_text("matrix", *matrix, from);
  };
  ModelOutputs outputs;
  outputs.emplace("swizzled", ModelOutput{std::move(swizzled), nullptr, false, origin});
  return outputs;
}

}  // namespace mx::golden
