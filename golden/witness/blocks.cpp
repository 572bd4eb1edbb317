// Block quantization and the 128x4 swizzle. Implementations of one rule differ in special blocks, so a dialect is claimed by name.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/witness/ops.hpp"
#include "model/layout/backend.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::golden {

namespace {

/// A dialect that the model's rule reproduces, special blocks included. Empty device and build: any.
struct Dialect {
  std::string_view op;
  std::string_view implementation, device, build;
  std::string_view variant;  ///< scale rule of quantizers, target of dequantizers
  std::string_view source;
};
// `ocp` is what a user states who follows the document itself: amax with its sign dropped, NaN or Inf block -> scale 0xFF, scale byte 0 is 2^-127.
constexpr Dialect kDialects[] = {
    {"block_quantize", "torchao", "cpu", "eager", "floor", "torchao mx_tensor.py to_mx, ScaleCalculationMode.FLOOR"},
    {"block_quantize", "ocp", "", "", "floor", "MX 1.0 §6.3"},
    {"block_scale", "torchao", "cpu", "eager", "floor", "torchao mx_tensor.py to_mx, ScaleCalculationMode.FLOOR"},
    {"block_scale", "aiter", "cpu", "torch-reference", "floor", "aiter RoundMode.RoundDown: bit-identical scales, NaN and Inf 0xFF"},
    {"block_scale", "ocp", "", "", "floor", "MX 1.0 §6.3"},
    {"block_dequantize", "ocp", "", "", "f32", "MX 1.0 §5.2"},
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

/// What the three block operations share.
struct BlockParams {
  const Format* element;
  std::int64_t block;
  bool packed;
};

BlockParams read_block(Fields& params) {
  BlockParams read{&format_word(params, "format"), params.integer("block", 1), false};
  if (read.block != kBlock) throw Unmodelled(fmt::format("blocks of {}", read.block));
  if (params.integer("axis") != -1) throw Unmodelled("blocks along another axis than the last");
  if (const std::string scale = params.text("scale_format"); scale != "e8m0") throw Unmodelled("block scales in " + scale);
  if (params.has("packing")) {
    if (const std::string packing = params.text("packing"); packing != "low_first") throw Unmodelled("unknown packing '" + packing + "'");
    if (read.element->width != 4) throw Unmodelled(fmt::format("packing of {} codes", read.element->name));
    read.packed = true;
  }
  return read;
}

const BlockFormat& block_format_of(const Format& element) {
  for (const BlockFormat& format : all_block_formats()) {
    if (format.element == &element || format.element->name == element.name) return format;
  }
  throw Unmodelled(fmt::format("no block format with {} elements", element.name));
}

ScaleRule floor_rule(const OpContext& context, Fields& params) {
  const std::string rule = params.text("scale_rule");
  require_dialect(context.entry, rule);
  return ScaleRule::floor;
}

std::vector<std::int64_t> with_last(std::vector<std::int64_t> shape, std::int64_t last) {
  shape.back() = last;
  return shape;
}

Tensor zeros(std::string_view dtype, std::vector<std::int64_t> shape) {
  Tensor tensor{&dtype_named(dtype), std::move(shape), {}};
  std::size_t size = static_cast<std::size_t>(tensor.dtype->bytes);
  for (const std::int64_t extent : tensor.shape) size *= static_cast<std::size_t>(extent);
  tensor.bytes.resize(size);
  return tensor;
}

void require_whole_blocks(std::int64_t last, std::int64_t block, const std::string& where) {
  if (last % block != 0) broken(fmt::format("rows of {} elements are not whole blocks of {}", last, block), where);
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
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block(params);
  const ScaleRule rule = floor_rule(context, params);
  Conversion how{};
  how.rounding = rounding_word(params, *shape.element);
  how.overflow = overflow_word(params, *shape.element);
  const bool nan_stated = params.has("nan_block_code");
  const auto nan_byte = static_cast<std::uint32_t>(nan_stated ? params.hex("nan_block_code", 2) : 0);
  params.finish();

  const BlockFormat& format = block_format_of(*shape.element);
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", where);
  require_whole_blocks(x->shape.back(), shape.block, where);
  const std::int64_t per_byte = shape.packed ? 2 : 1;
  Tensor scales = zeros("u8", with_last(x->shape, x->shape.back() / shape.block));
  Tensor codes = zeros("u8", with_last(x->shape, x->shape.back() / per_byte));
  for (std::int64_t b = 0; b < scales.size(); ++b) {
    const QuantizedBlock block = quantize_block(block_of(*x, source, b), kF32, Recipe{&format, MxRecipe{rule, how}, {}});
    scales.set_word(b, block.scale);
    if (block.scale == kNanScale && !nan_stated) throw Unmodelled("the entry does not say which codes a block with scale 0xFF has");
    for (std::int64_t i = 0; i < shape.block / per_byte; ++i) {
      const auto k = static_cast<std::size_t>(i * per_byte);
      const std::uint32_t byte = shape.packed ? block.codes[k] | (block.codes[k + 1] << 4U) : block.codes[k];
      codes.set_word(b * (shape.block / per_byte) + i, block.scale == kNanScale ? nan_byte : byte);
    }
  }
  const auto code_origin = [x, per_byte](std::int64_t i) {
    std::string text = element_text("x", *x, i * per_byte);
    return per_byte == 1 ? text : text + " and " + element_text("x", *x, i * per_byte + 1);
  };
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), &kE8m0, false, scale_origin(x, source)});
  outputs.emplace("codes", ModelOutput{std::move(codes), shape.element, shape.packed, code_origin});
  return outputs;
}

ModelOutputs evaluate_block_scale(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params(context.entry.params, "params", where);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block(params);
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

ModelOutputs evaluate_block_dequantize(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params(context.entry.params, "params", where);
  const BlockParams shape = read_block(params);
  const Format& target = wide_format_word(params, "target");
  require_dialect(context.entry, target.name);
  params.finish();

  const BlockFormat& format = block_format_of(*shape.element);
  const auto codes = std::make_shared<const Tensor>(context.input("codes"));
  const auto scales = std::make_shared<const Tensor>(context.input("scales"));
  require_dtype(*codes, "u8", "codes", where);
  require_dtype(*scales, "u8", "scales", where);
  const std::int64_t per_byte = shape.packed ? 2 : 1;
  const std::int64_t last = codes->shape.back() * per_byte;
  require_whole_blocks(last, shape.block, where);
  if (scales->shape != with_last(codes->shape, last / shape.block)) broken("scales and codes have shapes that do not fit", where);

  Tensor values = zeros(target.name, with_last(codes->shape, last));
  const Conversion narrow{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FC0, 0xFFC0, 0, false};
  Flags flags;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto byte = static_cast<std::uint32_t>(codes->word(i / per_byte));
    const std::uint32_t code = shape.packed ? (i % 2 == 0 ? byte & 0xFU : byte >> 4U) : byte;
    if (code >> static_cast<unsigned>(shape.element->width) != 0)
      broken(fmt::format("code 0x{:X} is no code of {}", code, shape.element->name), where);
    const auto scale = static_cast<std::uint32_t>(scales->word(i / shape.block));
    values.set_word(i, &target == &kF32 ? dequantize(code, scale, format) : encode(scaled_value(code, scale, format), target, narrow, flags));
  }
  const auto origin = [codes, scales, per_byte, block = shape.block](std::int64_t i) {
    return fmt::format("{} and {}", element_text("codes", *codes, i / per_byte), element_text("scales", *scales, i / block));
  };
  ModelOutputs outputs;
  outputs.emplace("values", ModelOutput{std::move(values), nullptr, false, origin});
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
