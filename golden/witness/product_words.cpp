#include "golden/witness/product_words.hpp"

#include <fmt/format.h>

namespace mx::golden {

namespace {

/// Formats that an accumulation is said of.
enum class Operands { any, bf16, fp16, fp8 };

/// How products are accumulated.
struct AccumWord {
  std::string_view word;
  std::string_view op;
  Operands operands;
  std::string_view contract;  ///< a name, or a record; empty: the entry's word `contract`
  std::int64_t k;             ///< the only K; 0: any
};
constexpr AccumWord kAccums[] = {
    {"fast", "gemm", Operands::any, "hopper-fp8", 0},
    {"promoted", "gemm", Operands::any, "hopper-fp8-promoted", 0},
    {"promoted_steps", "gemm", Operands::fp8, "hopper-fp8", 0},
    {"fp16_pairs", "gemm", Operands::any, "hopper-fp8-as-fp16", 0},
    {"fp16_pairs_promoted", "gemm", Operands::fp8, "hopper-fp8-as-fp16", 0},
    {"chain16", "gemm", Operands::bf16, "hopper-bf16", 0},
    {"chain16", "gemm", Operands::fp16, "hopper-fp16", 0},
    {"chain16_upcast", "gemm", Operands::fp8, "hopper-fp16", 0},
    // CUTLASS 2.x on m16n8k8: outputs of an H100.
    {"chain8", "gemm", Operands::bf16, "hopper-bf16:group=8", 0},
    {"chain8", "gemm", Operands::fp16, "hopper-fp16:group=8", 0},
    {"fp16_accumulators", "gemm", Operands::fp16, "hopper-f16-f16", 0},
    {"upcast16", "gemm", Operands::any, "hopper-bf16", 0},
    {"f32_products", "gemm", Operands::any, "f32-sequential", 0},
    {"contract", "gemm", Operands::any, "", 0},
    {"mma16", "mma_sync", Operands::bf16, "hopper-bf16", 16},
    {"mma16", "mma_sync", Operands::fp16, "hopper-fp16", 16},
    {"mma_fp8_emulated", "mma_sync", Operands::any, "hopper-mma-fp8", 32},
};

constexpr ScalingWord kScalings[] = {
    {"none", false, false, ScaleEntry::total_product, 0, 1, 1, false},
    // cuBLASLt adds +0: outputs of an H100 with scales of either sign.
    {"tensor", true, false, ScaleEntry::total_product_plus_zero, 0, 1, 1, false},
    // Where k is cut into pieces it adds nothing: outputs of an H200.
    {"tensor_product", true, false, ScaleEntry::total_product, 0, 1, 1, false},
    {"row_col", false, true, ScaleEntry::total_one_by_one, 0, 1, 1, false},
    {"col_row", false, true, ScaleEntry::total_b_first, 0, 1, 1, false},
    {"block_1x128_1x128", false, true, ScaleEntry::chain_one_by_one, 128, 1, 1, false},
    {"block_1x128_1x128_b_first", false, true, ScaleEntry::chain_b_first, 128, 1, 1, false},
    {"block_1x64_1x64", false, true, ScaleEntry::chain_one_by_one, 64, 1, 1, false},
    {"block_1x64_1x64_b_first", false, true, ScaleEntry::chain_b_first, 64, 1, 1, false},
    {"block_1x32_1x32", false, true, ScaleEntry::chain_one_by_one, 32, 1, 1, false},
    {"block_1x128_128x128", false, true, ScaleEntry::chain_product, 128, 1, 128, false},
    {"block_128x128_1x128", false, true, ScaleEntry::chain_product, 128, 128, 1, false},
    {"e8m0_shift", false, true, ScaleEntry::operand, 32, 1, 1, true},
};

bool is_fp8(const Format& format) { return format == kE4m3fn || format == kE5m2; }

bool takes(Operands operands, const Format& a, const Format& b) {
  switch (operands) {
    case Operands::any: return true;
    case Operands::bf16: return a == kBf16 && b == kBf16;
    case Operands::fp16: return a == kFp16 && b == kFp16;
    case Operands::fp8: return is_fp8(a) && is_fp8(b);
  }
  return false;
}

const AccumWord& accum_named(const std::string& word, std::string_view op, const Format& a, const Format& b) {
  for (const AccumWord& accum : kAccums) {
    if (accum.word == word && accum.op == op && takes(accum.operands, a, b)) return accum;
  }
  throw Unmodelled(fmt::format("no model of {} with accum {} of {} by {}", op, word, a.name, b.name));
}

bool reads_packing(Fields& params, const Format& a, const Format& b) {
  if (!params.has("packing")) return false;
  if (params.text("packing") != "low_first") throw Unmodelled("unknown packing '" + params.text("packing") + "'");
  return a == kE2m1 || b == kE2m1;
}

/// f32, bf16, fp16, or codes of 8 bits, which `overflow` makes of the result.
const Format& output_word(Fields& params) { return params.text("out_format") == kE4m3fn.name ? kE4m3fn : wide_format_word(params, "out_format"); }

/// What was passed for the result's scale has no effect. Source: outputs of an H100 (torch 2.11.0+cu130).
Launch read_launch(Fields& params) {
  Launch launch;
  if (params.has("launch_m")) launch.m = params.integer("launch_m", 1, kLargestExtent);
  if (params.has("launch_n")) launch.n = params.integer("launch_n", 1, kLargestExtent);
  if (params.has("scale_result")) params.hex("scale_result", 8);
  return launch;
}

}  // namespace

const ScalingWord& scaling_word(Fields& params) { return row_named(kScalings, "scaling", params.text("scaling")); }

Product read_product(Fields& params, std::string_view op) {
  const Format& a = format_word(params, "a_format");
  const Format& b = format_word(params, "b_format");
  const AccumWord& accum = accum_named(params.text("accum"), op, a, b);
  const std::string layout = params.text("b_layout");
  if (layout != "NK" && layout != "KN") throw Unmodelled("unknown b_layout '" + layout + "'");
  const std::string contract = accum.contract.empty() ? params.text("contract") : std::string(accum.contract);
  Product product{row_of(contract_named(contract)),
                  std::string(accum.word),
                  &a,
                  &b,
                  op == "gemm" ? &output_word(params) : &wide_format_word(params, "out_format"),
                  params.integer("M", 1, kLargestExtent),
                  params.integer("N", 1, kLargestExtent),
                  params.integer("K", 1, kLargestExtent),
                  layout == "NK"};
  if (accum.k != 0 && product.k != accum.k) throw Unmodelled(fmt::format("no model of accum {} with K {}", accum.word, product.k));
  if (op == "gemm") {
    product.packed = reads_packing(params, a, b);
    product.launch = read_launch(params);
  }
  return product;
}

Scales read_scales(const OpContext& context, Fields& params, const ScalingWord& scaling, const Product& product, Side side) {
  constexpr int kF32Digits = 8;
  const std::string name = side == Side::a ? "scale_a" : "scale_b";
  if (scaling.from_params) return {{decode(kF32, static_cast<std::uint32_t>(params.hex(name, kF32Digits)))}, 1, product.k, 0};
  if (!scaling.from_inputs || scaling.in_elements) return {};
  const std::int64_t shared_rows = side == Side::a ? scaling.a_rows : scaling.b_rows;
  const std::int64_t block = scaling.k == 0 ? product.k : scaling.k;
  const std::int64_t along = (product.k + block - 1) / block;
  const auto shape_for = [&](std::int64_t rows) {
    std::vector<std::int64_t> shape{(rows + shared_rows - 1) / shared_rows};
    if (scaling.k != 0) shape.push_back(along);
    return shape;
  };
  std::vector<std::int64_t> shape = shape_for(side == Side::a ? product.m : product.n);
  // Of scales that rows share all of the launch may be recorded.
  const std::int64_t launched = side == Side::a ? product.launch.m : product.launch.n;
  const auto spec = context.entry.inputs.find(name);
  if (shared_rows > 1 && launched > 0 && spec != context.entry.inputs.end() && spec->second.shape == shape_for(launched)) shape = shape_for(launched);
  const Tensor tensor = input_of(context, name, "f32", shape);
  Scales scales{{}, static_cast<std::size_t>(along), block, shared_rows};
  for (std::int64_t i = 0; i < tensor.size(); ++i) scales.values.push_back(decode(kF32, static_cast<std::uint32_t>(tensor.word(i))));
  return scales;
}

bool ends_at_scales(int chain, std::int64_t block) { return chain > 0 && (block % chain == 0 || chain % block == 0); }

Scales of_chains(Scales scales, int chain) {
  if (scales.along <= 1 || chain <= scales.block) return scales;
  const auto step = static_cast<std::size_t>(chain / scales.block);
  Scales met{{}, (scales.along + step - 1) / step, chain, scales.rows};
  for (std::size_t i = 0; i < scales.values.size(); ++i) {
    if (i % scales.along % step == 0) met.values.push_back(scales.values[i]);
  }
  return met;
}

std::uint32_t Matrix::code(std::int64_t row, std::int64_t k_index) const {
  constexpr std::int64_t kCodesInByte = 2;
  if (!packed) return static_cast<std::uint32_t>(tensor.word(first + row * row_step + k_index * k_step));
  const auto byte = static_cast<std::uint32_t>(tensor.word(first + row * (row_step / kCodesInByte) + k_index / kCodesInByte));
  return k_index % kCodesInByte == 0 ? byte & 0xFU : byte >> 4U;
}

std::string_view code_dtype_of(const Format& format) { return format.width <= 8 ? "u8" : format.name; }

std::vector<std::int64_t> operand_shape(const Product& product, Side side) {
  const Format& format = side == Side::a ? *product.a_format : *product.b_format;
  const std::int64_t along = product.packed && format == kE2m1 ? (product.k + 1) / 2 : product.k;
  if (side == Side::a) return {product.m, along};
  return product.b_is_nk ? std::vector{product.n, along} : std::vector{product.k, product.n};
}

Matrix operand_matrix(const Product& product, const Tensor& tensor, Side side, std::int64_t tile) {
  const std::int64_t rows = side == Side::a ? product.m : product.n;
  const std::int64_t first = tile * rows * product.k;
  const Format& format = side == Side::a ? *product.a_format : *product.b_format;
  if (side == Side::b && !product.b_is_nk) return {tensor, format, first, rows, product.k, 1, rows};
  const bool packed = product.packed && format == kE2m1;
  if (packed && product.k % 2 != 0) throw Unmodelled(fmt::format("e2m1 codes two to a byte with K {}", product.k));
  return {tensor, format, first, rows, product.k, product.k, 1, packed};
}

ModelOutputs outputs_of(const Product& product, std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& results) {
  const Dtype& dtype = dtype_named(product.out_format->name);
  Tensor values{&dtype, std::move(shape), std::vector<std::uint8_t>(results.size() * static_cast<std::size_t>(dtype.bytes))};
  for (std::size_t i = 0; i < results.size(); ++i)
    values.set_word(static_cast<std::int64_t>(i), narrowed(product.row, results[i], *product.out_format));
  ModelOutputs outputs;
  outputs.emplace("d", ModelOutput{std::move(values), nullptr, false, {}});
  return outputs;
}

}  // namespace mx::golden
