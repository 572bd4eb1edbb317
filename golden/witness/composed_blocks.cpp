// block_quantize and block_memory with the words of mxact-witness/2: each entry states the whole quantizer, so that who ran does not matter.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/numbers.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/recipe.hpp"

namespace mx::golden {

namespace {

constexpr std::uint32_t kLargestFloat = 0x7F7FFFFF;

/// A rule with the factor that goes with it.
struct RuleWord {
  std::string_view word;
  ScaleStep step;
  FactorStep factor;
  bool takes_amax;
};
constexpr RuleWord kRules[] = {
    {"floor_log2_ggml", ScaleStep::floor_log2_wrapping, FactorStep::none, false},
    {"nvfp4_ggml", ScaleStep::ggml_ue4m3, FactorStep::none, false},
    {"round_log2", ScaleStep::nearest_log2, FactorStep::reciprocal, false},
    {"nvfp4_direct", ScaleStep::quotient, FactorStep::quotient, false},
    {"nvfp4_mlx", ScaleStep::quotient, FactorStep::quotient, true},
    {"nvfp4_te", ScaleStep::product, FactorStep::reciprocal_of_product, true},
    {"nvfp4_te_4over6", ScaleStep::two_candidates, FactorStep::reciprocal_of_product, true},
};
constexpr EnumWord<FactorStep> kFactors[] = {{"reciprocal_of_product", FactorStep::reciprocal_of_product}, {"quotient", FactorStep::quotient}};
constexpr EnumWord<std::uint32_t> kZeroFactors[] = {{"zero", 0}, {"float_max", kLargestFloat}};
constexpr EnumWord<bool> kErrors[] = {{"mae", false}, {"mse", true}};
constexpr EnumWord<bool> kErrorDomains[] = {{"input", false}, {"scaled_fp16", true}};
constexpr EnumWord<std::uint32_t> kScaleTops[] = {{"448", 0x43E00000}, {"256", 0x43800000}};

/// Rows that share a scale, and where the tensor's largest magnitude comes from.
struct Read {
  BlockFormat format;
  BlockComposition composition;
  bool amax_of_rows = false;
};

void read_factor(Fields& params, const RuleWord& rule, BlockComposition& made) {
  made.factor = rule.factor;
  if (rule.factor == FactorStep::reciprocal_of_product) made.largest_factor = kLargestFloat;
  if (params.has("factor_rule")) made.factor = row_named(kFactors, "factor_rule", params.text("factor_rule")).value;
  if (params.has("factor_format")) {
    if (const std::string word = params.text("factor_format"); word != "bf16") throw Unmodelled("unknown factor_format '" + word + "'");
    made.factor_in_bf16 = true;
  }
  if (params.has("zero_scale_factor")) made.factor_of_zero = row_named(kZeroFactors, "zero_scale_factor", params.text("zero_scale_factor")).value;
}

void read_tensor(Fields& params, const RuleWord& rule, Read& read) {
  if (!rule.takes_amax) return;
  BlockComposition& made = read.composition;
  if (params.has("tensor_scale_of")) {
    if (const std::string word = params.text("tensor_scale_of"); word != "row") throw Unmodelled("unknown tensor_scale_of '" + word + "'");
    read.amax_of_rows = true;
  } else {
    made.tensor_amax = static_cast<std::uint32_t>(params.hex("tensor_amax", 8));
  }
  if (params.has("tensor_scale_max")) {
    made.largest_scale = row_named(kScaleTops, "tensor_scale_max", std::to_string(params.integer("tensor_scale_max"))).value;
  }
}

Read read_blocks(Fields& params, const BlockParams& shape) {
  const RuleWord& rule = row_named(kRules, "scale_rule", params.text("scale_rule"));
  Read read{
      .format = {"blocks of the entry", shape.element, shape.scale, static_cast<int>(shape.block), {}},
      .composition = {.scale_step = rule.step,
                      .factor = rule.factor,
                      .encode = {rounding_word(params, *shape.element), overflow_word(params, *shape.element), NanRule::fixed, 0, 0, 0, false}}};
  read_factor(params, rule, read.composition);
  read_tensor(params, rule, read);
  if (params.has("zero_sign")) read.composition.encode.fine.zero_sign = zero_sign_word(params);
  for (const char* key : {"nan_pos", "nan_neg"}) {
    if (params.has(key) && params.hex(key, 2) != 0) throw Unmodelled(fmt::format("{} of elements that is not 0", key));
  }
  if (rule.factor == FactorStep::none &&
      (read.composition.encode.rounding != Rounding::nearest_toward_zero || read.composition.encode.fine.zero_sign != SignOfZero::positive))
    throw Unmodelled(fmt::format("{} with elements that are not rounded toward zero in ties, or keep the sign of a zero", rule.word));
  if (rule.step == ScaleStep::two_candidates) {
    read.composition.error.squared = row_named(kErrors, "four_over_six_error", params.text("four_over_six_error")).value;
    read.composition.error.scaled_fp16 = row_named(kErrorDomains, "four_over_six_error_domain", params.text("four_over_six_error_domain")).value;
  }
  if (params.has("block_rows")) read.format.block_rows = static_cast<int>(params.integer("block_rows", 1, 1024));
  read.format.block *= read.format.block_rows;
  params.finish();
  return read;
}

std::vector<std::uint32_t> as_f32(const Tensor& x, const Format& source, std::int64_t first, std::int64_t count) {
  std::vector<std::uint32_t> bits;
  for (std::int64_t i = 0; i < count; ++i) bits.push_back(to_f32(static_cast<std::uint32_t>(x.word(first + i)), source));
  return bits;
}

/// What the byte that would be a NaN scale stands for.
enum class NanScale { finite, zero };
constexpr EnumWord<NanScale> kNanScales[] = {{"finite", NanScale::finite}, {"zero", NanScale::zero}};

/// fp32 bits of the number that a scale byte stands for where no byte is a NaN; 2^128 of an E8M0 byte as a Value.
Value scale_of(std::uint32_t byte, const Format& format, NanScale nan) {
  const std::uint32_t magnitude = byte & magnitude_mask(format);
  if (nan == NanScale::zero && byte == max_finite_code(format) + 1U) return {};
  if (format.encoding == Encoding::exponent_only) {
    return {.significand = 1, .exponent = static_cast<int>(byte) - format.bias, .cls = ValueClass::finite, .negative = false};
  }
  Format numbers = format;
  numbers.specials = Specials::none;
  return decode(numbers, magnitude);
}

}  // namespace

bool is_composed_block(const Entry& entry) {
  const auto word = [&](std::string_view key) {
    const Json* const value = entry.params.find(key);
    return value != nullptr && value->is_string() ? value->text() : std::string();
  };
  const std::string rule = word("scale_rule");
  const bool named = std::ranges::find(kRules, std::string_view(rule), &RuleWord::word) != std::end(kRules);
  if (!named) return false;
  constexpr std::string_view kRead[] = {
      "source",          "format",           "block",      "axis",          "packing",     "scale_format",        "scale_rule",
      "rounding",        "overflow",         "zero_sign",  "nan_pos",       "nan_neg",     "zero_scale_factor",   "tensor_amax",
      "tensor_scale_of", "tensor_scale_max", "block_rows", "factor_format", "factor_rule", "four_over_six_error", "four_over_six_error_domain"};
  for (const support::JsonMember& member : entry.params.items()) {
    if (std::ranges::find(kRead, std::string_view(member.key)) == std::end(kRead)) return false;
  }
  // A rule that form 1 has too is the entry's own where it states the factor of a scale of 0, or ggml's sign of zeros.
  if (rule == "nvfp4_direct") return entry.params.find("zero_scale_factor") != nullptr;
  if (rule == "floor_log2_ggml") return word("zero_sign") == "positive" && word("rounding") == "nearest_toward_zero";
  return rule != "nvfp4_mlx" || entry.params.find("zero_scale_factor") != nullptr;
}

ModelOutputs evaluate_composed_blocks(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  const BlockParams shape = read_block_params(params);
  Read read = read_blocks(params, shape);
  require_names(read.amax_of_rows ? "x row_amax" : "x", context.entry.inputs, "input", where);
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", where);
  const std::int64_t last = x->shape.back(), all_rows = x->size() / last, blocks = last / shape.block;
  require_whole_blocks(last, shape.block, where);
  if (all_rows % read.format.block_rows != 0)
    broken(fmt::format("{} rows are no whole number of tiles of {} rows", all_rows, read.format.block_rows), where);
  std::optional<Tensor> row_amax;
  if (read.amax_of_rows) row_amax = input_of(context, "row_amax", "f32", {all_rows});
  Tensor scales = zeros("u8", with_last(x->shape, blocks));
  Tensor codes = zeros("u8", with_last(x->shape, last / shape.per_byte()));
  for (std::int64_t row = 0; row < all_rows; row += read.format.block_rows) {
    if (row_amax) read.composition.tensor_amax = static_cast<std::uint32_t>(row_amax->word(row));
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::vector<std::uint32_t> tile;
      for (std::int64_t r = 0; r < read.format.block_rows; ++r)
        std::ranges::copy(as_f32(*x, source, (row + r) * last + b * shape.block, shape.block), std::back_inserter(tile));
      const QuantizedBlock made = quantize_block(tile, kF32, {&read.format, read.composition, {}});
      for (std::int64_t r = 0; r < read.format.block_rows; ++r) {
        scales.set_word((row + r) * blocks + b, made.scale);
        const auto first = made.codes.begin() + r * shape.block;
        set_codes(codes, (row + r) * last + b * shape.block, std::vector<std::uint32_t>(first, first + shape.block), shape.packed);
      }
    }
  }
  const auto origin = [x](std::int64_t i) { return element_text("x", *x, i); };
  ModelOutputs outputs;
  outputs.emplace("scales", ModelOutput{std::move(scales), shape.scale, false, {}});
  outputs.emplace(
      "codes", ModelOutput{std::move(codes), shape.element, shape.packed, shape.packed ? nullptr : std::function<std::string(std::int64_t)>(origin)});
  return outputs;
}

bool is_composed_way_back(const Entry& entry) {
  return entry.params.find("negative_zero") != nullptr && entry.params.find("scale_nan") != nullptr && entry.params.find("target") != nullptr &&
         *entry.params.find("target") == "f32";
}

ModelOutputs evaluate_composed_way_back(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const BlockParams shape = read_block_params(params);
  if (const std::string target = params.text("target"); target != "f32") throw Unmodelled("blocks into " + target);
  if (const std::string word = params.text("negative_zero"); word != "positive") throw Unmodelled("unknown negative_zero '" + word + "'");
  const NanScale nan = row_named(kNanScales, "scale_nan", params.text("scale_nan")).value;
  params.finish();
  const auto codes = std::make_shared<const Tensor>(context.input("codes"));
  const Tensor scales = context.input("scales");
  require_dtype(*codes, "u8", "codes", where);
  require_dtype(scales, "u8", "scales", where);
  const std::int64_t last = codes->shape.back() * shape.per_byte();
  require_whole_blocks(last, shape.block, where);
  if (scales.shape != with_last(codes->shape, last / shape.block)) broken("scales and codes have shapes that do not fit", where);
  Tensor values = zeros("f32", with_last(codes->shape, last));
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const Value scale = scale_of(static_cast<std::uint32_t>(scales.word(i / shape.block)), *shape.scale, nan);
    const Value element = decode(*shape.element, code_at(*codes, i, shape, where));
    values.set_word(i, element.cls == ValueClass::zero ? 0U : to_f32(exact_product(element, scale)));
  }
  ModelOutputs outputs;
  outputs.emplace("values", ModelOutput{std::move(values), nullptr, false, {}});
  return outputs;
}

ModelOutputs evaluate_hadamard(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Format& source = wide_format_word(params, "source");
  if (params.text("target") != "f32" || params.integer("axis") != -1) throw Unmodelled("a Hadamard product into another type, or along another axis");
  const std::int64_t block = params.integer("block", 1, 1024), power = params.integer("factor_pow2", -126, 127);
  const Json& signs = params.at("signs");
  params.finish();
  if (!std::has_single_bit(static_cast<std::uint64_t>(block)) || !signs.is_array() || std::cmp_not_equal(signs.size(), block)) {
    throw Unmodelled("a Hadamard matrix whose size is no power of two, or has not as many signs");
  }
  const auto x = std::make_shared<const Tensor>(context.input("x"));
  require_dtype(*x, source.name, "x", context.entry.where);
  require_whole_blocks(x->shape.back(), block, context.entry.where);
  const std::uint32_t factor = to_f32({.significand = 1, .exponent = static_cast<int>(power), .cls = ValueClass::finite, .negative = false});
  Tensor values = zeros("f32", x->shape);
  for (std::int64_t i = 0; i < x->size(); ++i) {
    const std::int64_t first = i / block * block, column = i % block;
    std::uint32_t sum = 0;
    for (std::int64_t k = 0; k < block; ++k) {
      // Sylvester's matrix: the sign is the parity of the bits that both indices have.
      const bool negative = (std::popcount(static_cast<std::uint64_t>(k & column)) % 2 != 0) != (signs[k].integer() < 0);
      const std::uint32_t term = to_f32(static_cast<std::uint32_t>(x->word(first + k)), source);
      sum = negative ? f32::sub(sum, term) : f32::add(sum, term);
    }
    values.set_word(i, f32::mul(sum, factor));
  }
  ModelOutputs outputs;
  outputs.emplace("values", ModelOutput{std::move(values), nullptr, false, [x](std::int64_t i) { return element_text("x", *x, i); }});
  return outputs;
}

}  // namespace mx::golden
