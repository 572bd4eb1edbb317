// Block quantization with E8M0 scales and of groups, and the 128x4 swizzle. Implementations of one rule differ in special blocks, so the recipe is
// that of the profile which ran.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/dialect.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"

namespace mx::golden {

namespace {

constexpr std::uint32_t kNanScale = 0xFF;

/// The recipe of an entry. Its format has the entry's block length: groups may have any.
struct EntryRecipe {
  BlockFormat format;
  Recipe recipe;
  const Profile* profile;
};

bool fits(const Recipe& row, const BlockParams& shape, std::string_view rule, std::optional<Rounding> rounding) {
  const bool any_length = std::holds_alternative<GroupRecipe>(row.how) || shape.block == 0;
  return *row.format->element == *shape.element && *row.format->scale == *shape.scale && (any_length || row.format->block == shape.block) &&
         scale_rule_name(row) == rule && (!rounding || element_conversion(row).rounding == *rounding);
}

/// The row of the profile that ran which has these elements, scales, rule and, where the entry has codes, this rounding. Throws Unmodelled.
std::unique_ptr<EntryRecipe> recipe_of(const Entry& entry, const BlockParams& shape, const std::string& rule, std::optional<Rounding> rounding) {
  const auto row_in = [&](const Profile& profile) {
    return std::ranges::find_if(profile.recipes, [&](const Recipe& row) { return fits(row, shape, rule, rounding); });
  };
  const std::string what = fmt::format("{} {} of {} in blocks of {}", entry.op, rule, shape.element->name, shape.block);
  const Profile& profile = profile_of(entry, what, [&](const Profile& one) { return row_in(one) != one.recipes.end(); });
  const Recipe& row = *row_in(profile);
  auto found = std::make_unique<EntryRecipe>(EntryRecipe{*row.format, row, &profile});
  if (shape.block != 0) found->format.block = static_cast<int>(shape.block);
  found->recipe.format = &found->format;
  return found;
}

/// Without emax no element is above 4, so that only an Inf overflows and the word of the entry, which speaks of numbers, says nothing.
bool never_overflows(const Recipe& recipe) {
  const auto* how = std::get_if<MxRecipe>(&recipe.how);
  return how != nullptr && how->scale.rule == ScaleRule::floor_log2_no_emax;
}

void require_overflow(const Recipe& recipe, Fields& params) {
  const Overflow overflow = overflow_word(params, *recipe.format->element);
  if (overflow == element_conversion(recipe).overflow || never_overflows(recipe)) return;
  throw Unmodelled(fmt::format("elements that {} on overflow", name_of(overflow)));
}

/// The parameters that change a recipe: the floor of amax, which is an argument of the implementations.
void apply_amax_floor(Recipe& recipe, Fields& params) {
  auto* group = std::get_if<GroupRecipe>(&recipe.how);
  if (group == nullptr) return;
  if (!params.has("amax_floor")) throw Unmodelled("the entry does not say the lower bound of amax");
  group->amax_floor = static_cast<std::uint32_t>(params.hex("amax_floor", 8));
}

/// The byte that the entry states for blocks with scale 0xFF; none when it states nothing.
std::optional<std::uint32_t> stated_nan_byte(const Recipe& recipe, const BlockParams& shape, Fields& params) {
  if (!params.has("nan_block_code")) return std::nullopt;
  const auto byte = static_cast<std::uint32_t>(params.hex("nan_block_code", 2));
  const auto* how = std::get_if<MxRecipe>(&recipe.how);
  if (!shape.packed && byte >> static_cast<unsigned>(shape.element->width) != 0) {
    throw Unmodelled(fmt::format("nan_block_code 0x{:02X} is no code of {}", byte, shape.element->name));
  }
  if (how == nullptr || !how->elements) throw Unmodelled("nan_block_code speaks of blocks with E8M0 scales and codes");
  if (const std::optional<std::uint32_t> code = how->elements->nan_block_code) {
    if (const std::uint32_t own = shape.packed ? *code | (*code << 4U) : *code; own != byte) {
      throw Unmodelled(fmt::format("NaN blocks with bytes 0x{:02X}: the model of this profile has 0x{:02X}", byte, own));
    }
  }
  return byte;
}

void put_nan_codes(std::vector<std::uint32_t>& codes, std::uint32_t byte, const BlockParams& shape) {
  constexpr std::uint32_t kLowNibble = 0xF;
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = !shape.packed ? byte : i % 2 == 0 ? byte & kLowNibble : byte >> 4U;
}

/// The recipe with its row's own format where the rule is one of NVFP4.
std::unique_ptr<EntryRecipe> nvfp4_recipe_of(const Entry& entry, const BlockParams& shape, Fields& params) {
  const Profile& profile = nvfp4_profile_of(entry, params);
  const Recipe& row = recipe(profile, block_format_of(shape));
  require_element_words(row, params);
  return std::make_unique<EntryRecipe>(EntryRecipe{*row.format, row, &profile});
}

/// The recipe of an entry that quantizes and comes back.
std::unique_ptr<EntryRecipe> round_trip_recipe_of(const Entry& entry, const BlockParams& shape, Fields& params) {
  const std::string rule = params.text("scale_rule");
  if (rule.starts_with("nvfp4")) return nvfp4_recipe_of(entry, shape, params);
  auto row = recipe_of(entry, shape, rule, rounding_word(params, *shape.element));
  require_overflow(row->recipe, params);
  apply_amax_floor(row->recipe, params);
  return row;
}

/// The way back of the profile that quantized, else of what the same implementation has for these blocks.
const Dequantizer& way_back(const Entry& entry, const Profile& profile, const BlockFormat& format, const Format& target, const TensorScale& tensor) {
  if (const Dequantizer* own = find_dequantizer(profile, format, target)) return *own;
  return dequantizer_of(entry, format, target, tensor);
}

std::function<std::string(std::int64_t)> scale_origin(std::shared_ptr<const Tensor> x, const Format& source, std::int64_t block) {
  return [x = std::move(x), &source, block](std::int64_t b) {
    std::vector<std::uint32_t> f32;
    for (const std::uint32_t bits : patterns(*x, b * block, block)) f32.push_back(to_f32(bits, source));
    const std::uint32_t amax = largest_magnitude(f32, AmaxNan::propagates);
    return fmt::format("a block from {} with amax {}", element_name("x", x->shape, b * block), value_text(amax, dtype_named("f32"), nullptr, false));
  };
}

std::string_view scale_dtype(const Format& scale) { return scale == kF32 ? "f32" : "u8"; }

/// What the operations on blocks of x begin with.
struct BlockInput {
  std::shared_ptr<const Tensor> x;
  const Format& source;
  const BlockParams& shape;

  std::int64_t blocks() const { return x->size() / shape.block; }
  std::vector<std::uint32_t> block(std::int64_t b) const { return patterns(*x, b * shape.block, shape.block); }
};

BlockInput input_of(const OpContext& context, const Format& source, const BlockParams& shape) {
  BlockInput input{std::make_shared<const Tensor>(context.input("x")), source, shape};
  require_dtype(*input.x, source.name, "x", context.entry.where);
  require_whole_blocks(input.x->shape.back(), shape.block, context.entry.where);
  return input;
}

}  // namespace

ModelOutputs evaluate_block_quantize(const OpContext& context) {
  if (is_composed_block(context.entry)) return evaluate_composed_blocks(context);
  require_names("x", context.entry.inputs, "input", context.entry.where);
  Fields params = params_of(context.entry);
  const std::string rule = params.text("scale_rule");
  if (rule.starts_with("nvfp4")) return evaluate_nvfp4(context);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params);
  const auto row = recipe_of(context.entry, shape, rule, rounding_word(params, *shape.element));
  require_overflow(row->recipe, params);
  apply_amax_floor(row->recipe, params);
  const std::optional<std::uint32_t> nan_byte = stated_nan_byte(row->recipe, shape, params);
  require_dialect(row->recipe, source, params);
  params.finish();

  const BlockInput input = input_of(context, source, shape);
  const std::int64_t last = input.x->shape.back();
  Tensor scales = zeros(scale_dtype(*shape.scale), with_last(input.x->shape, last / shape.block));
  Tensor codes = zeros("u8", with_last(input.x->shape, last / shape.per_byte()));
  for (std::int64_t b = 0; b < input.blocks(); ++b) {
    QuantizedBlock block = quantize_block(input.block(b), source, row->recipe);
    if (nan_byte && block.scale == kNanScale) put_nan_codes(block.codes, *nan_byte, shape);
    scales.set_word(b, block.scale);
    set_codes(codes, b * shape.block, block.codes, shape.packed);
  }
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), shape.scale, false, scale_origin(input.x, source, shape.block)});
  outputs.emplace("codes", ModelOutput{std::move(codes), shape.element, shape.packed, code_origin(input.x, shape.per_byte())});
  return outputs;
}

ModelOutputs evaluate_block_scale(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params);
  const auto row = recipe_of(context.entry, shape, params.text("scale_rule"), std::nullopt);
  params.finish();
  const auto* how = std::get_if<MxRecipe>(&row->recipe.how);
  if (how == nullptr) throw Unmodelled("scales alone of a recipe without E8M0 scales");

  const BlockInput input = input_of(context, source, shape);
  Tensor scales = zeros("u8", with_last(input.x->shape, input.x->shape.back() / shape.block));
  for (std::int64_t b = 0; b < input.blocks(); ++b) scales.set_word(b, block_scale(input.block(b), source, row->format, *how));
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), shape.scale, false, scale_origin(input.x, source, shape.block)});
  return outputs;
}

ModelOutputs evaluate_encode_scale(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params, BlockLength::optional);
  const auto row = recipe_of(context.entry, shape, params.text("scale_rule"), std::nullopt);
  require_dialect(row->recipe, source, params);
  params.finish();
  const auto* how = std::get_if<MxRecipe>(&row->recipe.how);
  if (how == nullptr) throw Unmodelled("a scale of an amax alone by a recipe without E8M0 scales");

  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", context.entry.where);
  Tensor scales = zeros("u8", x->shape);
  for (std::int64_t i = 0; i < x->size(); ++i) {
    const std::uint32_t amax = to_f32(static_cast<std::uint32_t>(x->word(i)), source);
    scales.set_word(i, scale_code(amax, *shape.element, how->scale, source));
  }
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), shape.scale, false, [x](std::int64_t i) { return element_text("x", *x, i); }});
  return outputs;
}

ModelOutputs evaluate_block_quantize_dequantize(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  const Format& target = wide_format_word(params, "target");
  const BlockParams shape = read_block_params(params);
  const auto row = round_trip_recipe_of(context.entry, shape, params);
  const TensorScale tensor = tensor_scale_of(params);
  const std::optional<std::uint32_t> nan_byte = stated_nan_byte(row->recipe, shape, params);
  require_dialect(row->recipe, source, params);
  params.finish();
  const Dequantizer& back = way_back(context.entry, *row->profile, *row->recipe.format, target, tensor);

  const BlockInput input = input_of(context, source, shape);
  Tensor values = zeros(target.name, input.x->shape);
  for (std::int64_t b = 0; b < input.blocks(); ++b) {
    QuantizedBlock block = quantize_block(input.block(b), source, row->recipe, tensor);
    if (nan_byte && block.scale == kNanScale) put_nan_codes(block.codes, *nan_byte, shape);
    for (std::size_t i = 0; i < block.codes.size(); ++i) {
      values.set_word(b * shape.block + static_cast<std::int64_t>(i), dequantize(block.codes[i], block.scale, back, tensor));
    }
  }
  ModelOutputs outputs;
  outputs.emplace("values", ModelOutput{std::move(values), nullptr, false, code_origin(input.x, 1)});
  return outputs;
}

ModelOutputs evaluate_swizzle(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
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
  const layout::Layout tiles = families::block_layout("sf_128x4", 1, rows, cols, 8 * matrix->dtype->bytes);
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
