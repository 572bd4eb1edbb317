// The operations `gemm`, `mma_sync` and `dot_accumulate`: products of tensor and matrix cores, each output one dot product under a contract.

#include <fmt/format.h>

#include <memory>

#include "golden/witness/numbers.hpp"
#include "model/families/vllm_cutlass_product.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/tile.hpp"

namespace mx::golden {

namespace {

/// How products are accumulated.
struct AccumWord {
  std::string_view word;
  std::string_view op;
  const Format* operands;  ///< the format of both; null: those that the contract takes
  std::string_view contract;
  std::int64_t k;  ///< the only K; 0: any
};
constexpr AccumWord kAccums[] = {
    {"fast", "gemm", nullptr, "hopper-fp8", 0},
    {"promoted", "gemm", nullptr, "hopper-fp8-promoted", 0},
    {"fp16_pairs", "gemm", nullptr, "hopper-fp8-as-fp16", 0},
    {"chain16", "gemm", &kBf16, "hopper-bf16", 0},
    {"chain16", "gemm", &kFp16, "hopper-fp16", 0},
    {"mma16", "mma_sync", &kBf16, "hopper-bf16", 16},
    {"mma16", "mma_sync", &kFp16, "hopper-fp16", 16},
    {"mma_fp8_emulated", "mma_sync", nullptr, "hopper-mma-fp8", 32},
};

/// Where scales lie and enter. A scale of zero rows or columns of a block covers them all.
struct ScalingWord {
  std::string_view word;
  bool from_params;  ///< two numbers among the parameters; else inputs, unless there are none
  bool from_inputs;
  ScaleEntry entry;
  std::int64_t k;       ///< k that share a scale; 0: all
  std::int64_t b_rows;  ///< rows of b that share a scale
};
constexpr ScalingWord kScalings[] = {
    {"none", false, false, ScaleEntry::total_product, 0, 1},
    // cuBLASLt adds +0: outputs of an H100 with scales of either sign.
    {"tensor", true, false, ScaleEntry::total_product_plus_zero, 0, 1},
    {"row_col", false, true, ScaleEntry::total_one_by_one, 0, 1},
    {"col_row", false, true, ScaleEntry::total_b_first, 0, 1},
    {"block_1x128_1x128", false, true, ScaleEntry::chain_one_by_one, 128, 1},
    {"block_1x128_1x128_b_first", false, true, ScaleEntry::chain_b_first, 128, 1},
    {"block_1x128_128x128", false, true, ScaleEntry::chain_product, 128, 128},
};

/// What the parameters of one product say.
struct Product {
  ContractRow row;
  const Format* a_format;
  const Format* b_format;
  const Format* out_format;
  std::int64_t m, n, k;
  bool b_is_nk;
};

const AccumWord& accum_named(const std::string& word, std::string_view op, const Format& a, const Format& b) {
  for (const AccumWord& accum : kAccums) {
    const bool formats = accum.operands == nullptr || (*accum.operands == a && *accum.operands == b);
    if (accum.word == word && accum.op == op && formats) return accum;
  }
  throw Unmodelled(fmt::format("no model of {} with accum {} of {} by {}", op, word, a.name, b.name));
}

Product read_product(Fields& params, std::string_view op) {
  const Format& a = format_word(params, "a_format");
  const Format& b = format_word(params, "b_format");
  const AccumWord& accum = accum_named(params.text("accum"), op, a, b);
  const std::string layout = params.text("b_layout");
  if (layout != "NK" && layout != "KN") throw Unmodelled("unknown b_layout '" + layout + "'");
  const Product product{row_of(contract_named(accum.contract)),
                        &a,
                        &b,
                        &wide_format_word(params, "out_format"),
                        params.integer("M", 1, kLargestExtent),
                        params.integer("N", 1, kLargestExtent),
                        params.integer("K", 1, kLargestExtent),
                        layout == "NK"};
  if (accum.k != 0 && product.k != accum.k) throw Unmodelled(fmt::format("no model of accum {} with K {}", accum.word, product.k));
  return product;
}

std::string_view dtype_of(const Format& format) { return format.width == 8 ? "u8" : format.name; }

/// Scales of one operand: `along` for each of its scaled rows, each for `block` elements.
struct Scales {
  std::vector<Value> values;
  std::size_t along = 0;
  std::int64_t block = 0;
  std::int64_t rows = 1;  ///< rows of the operand that share theirs; 0: all

  std::span<const Value> of_row(std::int64_t row) const {
    return std::span(values).subspan(rows == 0 ? 0 : static_cast<std::size_t>(row / rows) * along, along);
  }
};

Scales read_scales(const OpContext& context, Fields& params, const ScalingWord& scaling, const std::string& name, std::int64_t rows,
                   std::int64_t shared_rows, std::int64_t k) {
  constexpr int kF32Digits = 8;
  if (scaling.from_params) return {{decode(kF32, static_cast<std::uint32_t>(params.hex(name, kF32Digits)))}, 1, k, 0};
  if (!scaling.from_inputs) return {};
  const std::int64_t block = scaling.k == 0 ? k : scaling.k;
  const std::int64_t along = (k + block - 1) / block;
  std::vector<std::int64_t> shape{(rows + shared_rows - 1) / shared_rows};
  if (scaling.k != 0) shape.push_back(along);
  const Tensor tensor = input_of(context, name, "f32", shape);
  Scales scales{{}, static_cast<std::size_t>(along), block, shared_rows};
  for (std::int64_t i = 0; i < tensor.size(); ++i) scales.values.push_back(decode(kF32, static_cast<std::uint32_t>(tensor.word(i))));
  return scales;
}

/// Chains meet the scales of their first block: they are parts of one, or several whole ones.
bool ends_at_scales(int chain, std::int64_t block) { return chain > 0 && (block % chain == 0 || chain % block == 0); }

/// The scales that chains of that length meet.
Scales of_chains(Scales scales, int chain) {
  if (scales.along <= 1 || chain <= scales.block) return scales;
  const auto step = static_cast<std::size_t>(chain / scales.block);
  Scales met{{}, (scales.along + step - 1) / step, chain, scales.rows};
  for (std::size_t i = 0; i < scales.values.size(); ++i) {
    if (i % scales.along % step == 0) met.values.push_back(scales.values[i]);
  }
  return met;
}

/// With the rows of a whole launch, the order of the scales must be the one that the kernel takes for it.
void require_order_of_launch(const OpContext& context, Fields& params, ScaleEntry entry) {
  if (!params.has("slots")) return;
  const std::int64_t slots = params.integer("slots", 1, kLargestExtent);
  const families::EpilogueScale order = families::vllm_cutlass::scale_order(slots);
  const bool first = order == families::EpilogueScale::activation_first;
  if (context.entry.profile.build != "cutlass-moe-mm" || entry == (first ? ScaleEntry::total_one_by_one : ScaleEntry::total_b_first)) return;
  throw Unmodelled(fmt::format("scales of {} slots in another order than the kernel's", slots));
}

/// A matrix inside a tensor, to be read along k.
struct Matrix {
  const Tensor& tensor;
  const Format& format;
  std::int64_t first;
  std::int64_t rows, k;
  std::int64_t row_step, k_step;
};

std::vector<PreparedOperand> prepared(const ContractRow& row, Side side, const Matrix& matrix, const Scales& scales) {
  std::vector<PreparedOperand> operands;
  std::vector<Value> values(static_cast<std::size_t>(matrix.k));
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int64_t k = 0; k < matrix.k; ++k) {
      const auto code = static_cast<std::uint32_t>(matrix.tensor.word(matrix.first + r * matrix.row_step + k * matrix.k_step));
      values[static_cast<std::size_t>(k)] = decode(matrix.format, code);
    }
    operands.push_back(prepare(row, side, {values, &matrix.format, scales.of_row(r), static_cast<int>(scales.block)}));
  }
  return operands;
}

Matrix matrix_a(const Product& product, const Tensor& tensor, std::int64_t tile) {
  return {tensor, *product.a_format, tile * product.m * product.k, product.m, product.k, product.k, 1};
}

Matrix matrix_b(const Product& product, const Tensor& tensor, std::int64_t tile) {
  const std::int64_t first = tile * product.n * product.k;
  if (product.b_is_nk) return {tensor, *product.b_format, first, product.n, product.k, product.k, 1};
  return {tensor, *product.b_format, first, product.n, product.k, 1, product.n};
}

std::vector<std::int64_t> shape_b(const Product& product) {
  return product.b_is_nk ? std::vector{product.n, product.k} : std::vector{product.k, product.n};
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

/// A format of `dot_accumulate`, and the type of the arrays that hold its codes.
struct OperandFormat {
  const Format* format;
  std::string_view dtype;
};

OperandFormat operand_format(Fields& params, std::string_view key) {
  const std::string word = params.text(key);
  if (word == kTf32.name) return {&kTf32, "u32"};
  if (word == kF32.name) return {&kF32, kF32.name};
  const Format& format = format_word(params, key);
  return {&format, format.width <= 8 ? "u8" : format.name};
}

/// One operand of all sums: a row each.
TileOperand rows_of(const OperandFormat& of, const Tensor& codes) { return {.format = of.format, .codes = codes.bytes}; }

}  // namespace

ModelOutputs evaluate_dot_accumulate(const OpContext& context) {
  Fields params = params_of(context.entry);
  const ContractRow& row = mx::row_of(contract_named(params.text("contract")));
  const OperandFormat a_format = operand_format(params, "a_format");
  const OperandFormat b_format = operand_format(params, "b_format");
  const Format& c_format = wide_format_word(params, "c_format");
  const Format& out_format = wide_format_word(params, "out_format");
  const std::int64_t k = params.integer("K", 1, kLargestExtent);
  const bool scaled = params.has("scale_format");
  const OperandFormat scale_format = scaled ? operand_format(params, "scale_format") : OperandFormat{};
  const std::int64_t block = scaled ? params.integer("block", 1, kLargestExtent) : 0;
  params.finish();
  require_names(scaled ? "a b c scale_a scale_b" : "a b c", context.entry.inputs, "input", context.entry.where);
  if (c_format != *row.addend || out_format != *row.result)
    throw Unmodelled(fmt::format("contract {} with C in {} and results in {}", row.name, c_format.name, out_format.name));

  const Tensor c = context.input("c");
  const std::int64_t sums = c.size();
  require_dtype(c, c_format.name, "c", context.entry.where);
  const Tensor a = input_of(context, "a", a_format.dtype, {sums, k});
  const Tensor b = input_of(context, "b", b_format.dtype, {sums, k});
  TileOperand rows_a = rows_of(a_format, a);
  TileOperand rows_b = rows_of(b_format, b);
  std::optional<Tensor> scale_a, scale_b;
  if (scaled) {
    const std::int64_t blocks = (k + block - 1) / block;
    scale_a = input_of(context, "scale_a", scale_format.dtype, {sums, blocks});
    scale_b = input_of(context, "scale_b", scale_format.dtype, {sums, blocks});
    rows_a.scale_format = rows_b.scale_format = scale_format.format;
    rows_a.block = rows_b.block = static_cast<std::size_t>(block);
    rows_a.scales = scale_a->bytes;
    rows_b.scales = scale_b->bytes;
  }
  // Words that are no codes are refused: as of a tile that would have all pairs of rows.
  const auto rows = static_cast<std::size_t>(sums);
  check_tile(row, {.m = rows, .n = rows, .k = static_cast<std::size_t>(k), .a = rows_a, .b = rows_b}, rows * rows);
  const Dtype& dtype = dtype_named(out_format.name);
  Tensor values{&dtype, {sums}, std::vector<std::uint8_t>(static_cast<std::size_t>(sums * dtype.bytes))};
  for (std::int64_t i = 0; i < sums; ++i) {
    const auto place = static_cast<std::size_t>(i);
    const PreparedOperand left = prepared_row(row, Side::a, rows_a, place, static_cast<std::size_t>(k));
    const PreparedOperand right = prepared_row(row, Side::b, rows_b, place, static_cast<std::size_t>(k));
    const std::uint32_t start = to_f32(static_cast<std::uint32_t>(c.word(i)), c_format);
    values.set_word(i, narrowed(row, dot(row, left, right, {.c = start, .bias = {}}), out_format));
  }
  ModelOutputs outputs;
  outputs.emplace("d", ModelOutput{std::move(values), nullptr, false, {}});
  return outputs;
}

ModelOutputs evaluate_gemm(const OpContext& context) {
  Fields params = params_of(context.entry);
  Product product = read_product(params, "gemm");
  const ScalingWord& scaling = row_named(kScalings, "scaling", params.text("scaling"));
  product.row.scales = scaling.entry;
  if (params.has("chain")) product.row.restart = static_cast<int>(params.integer("chain", 0, kLargestExtent));
  if (scaling.k != 0 && !ends_at_scales(product.row.restart, scaling.k)) {
    throw Unmodelled(fmt::format("scales of {} along K with accum {}, whose chains do not end there", scaling.k, params.text("accum")));
  }
  require_order_of_launch(context, params, scaling.entry);
  const Scales scales_a = of_chains(read_scales(context, params, scaling, "scale_a", product.m, 1, product.k), product.row.restart);
  const Scales scales_b = of_chains(read_scales(context, params, scaling, "scale_b", product.n, scaling.b_rows, product.k), product.row.restart);
  params.finish();
  const bool has_bias = context.entry.inputs.contains("bias");
  const bool weighs_rows = context.entry.inputs.contains("row_weight");
  require_names(std::string("a b") + (scaling.from_inputs ? " scale_a scale_b" : "") + (has_bias ? " bias" : "") + (weighs_rows ? " row_weight" : ""),
                context.entry.inputs, "input", context.entry.where);

  const Tensor a = input_of(context, "a", dtype_of(*product.a_format), {product.m, product.k});
  const Tensor b = input_of(context, "b", dtype_of(*product.b_format), shape_b(product));
  std::optional<Tensor> bias;
  if (has_bias) bias = input_of(context, "bias", "bf16", {product.n});
  std::optional<Tensor> row_weight;
  if (weighs_rows) row_weight = input_of(context, "row_weight", "f32", {product.m});
  const std::vector<PreparedOperand> rows_a = prepared(product.row, Side::a, matrix_a(product, a, 0), scales_a);
  const std::vector<PreparedOperand> rows_b = prepared(product.row, Side::b, matrix_b(product, b, 0), scales_b);
  // Where scales lie is what these recordings show: scales of a tensor are held against a product to which nothing is added.
  Product other = product;
  if (scaling.entry == ScaleEntry::total_product_plus_zero) other.row.scales = ScaleEntry::total_product;
  std::vector<std::uint32_t> results;
  std::vector<std::uint64_t> rival;
  for (std::size_t m = 0; m < rows_a.size(); ++m) {
    const PreparedOperand& row_a = rows_a[m];
    for (std::size_t n = 0; n < rows_b.size(); ++n) {
      Addends addends;
      if (bias) addends.bias = to_f32(static_cast<std::uint32_t>(bias->word(static_cast<std::int64_t>(n))), kBf16);
      results.push_back(dot(product.row, row_a, rows_b[n], addends));
      if (row_weight) results.back() = f32::mul(results.back(), static_cast<std::uint32_t>(row_weight->word(static_cast<std::int64_t>(m))));
      if (other.row.scales != product.row.scales)
        rival.push_back(narrowed(other.row, dot(other.row, row_a, rows_b[n], addends), *product.out_format));
    }
  }
  ModelOutputs outputs = outputs_of(product, {product.m, product.n}, results);
  outputs.at("d").rival = std::move(rival);
  return outputs;
}

ModelOutputs evaluate_mma_sync(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Product product = read_product(params, "mma_sync");
  const std::int64_t tiles = params.integer("tiles", 1, kLargestExtent);
  params.finish();

  std::vector<std::int64_t> tiled_b = shape_b(product);
  tiled_b.insert(tiled_b.begin(), tiles);
  const Tensor a = input_of(context, "a", dtype_of(*product.a_format), {tiles, product.m, product.k});
  const Tensor b = input_of(context, "b", dtype_of(*product.b_format), tiled_b);
  const Tensor c = input_of(context, "c", "f32", {tiles, product.m, product.n});
  std::vector<std::uint32_t> results;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::vector<PreparedOperand> rows_b = prepared(product.row, Side::b, matrix_b(product, b, tile), {});
    for (const PreparedOperand& row_a : prepared(product.row, Side::a, matrix_a(product, a, tile), {})) {
      for (const PreparedOperand& row_b : rows_b) {
        const auto start = static_cast<std::uint32_t>(c.word(static_cast<std::int64_t>(results.size())));
        results.push_back(dot(product.row, row_a, row_b, {.c = start, .bias = {}}));
      }
    }
  }
  return outputs_of(product, {tiles, product.m, product.n}, results);
}

}  // namespace mx::golden
