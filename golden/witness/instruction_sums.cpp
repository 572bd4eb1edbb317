// The operations `mma_sync` and `dot_accumulate`: sums of single instructions, each output one dot product under a contract.

#include <fmt/format.h>

#include "golden/witness/product_words.hpp"
#include "model/numerics/tile.hpp"

namespace mx::golden {

namespace {

std::vector<PreparedOperand> prepared(const ContractRow& row, Side side, const Matrix& matrix) {
  std::vector<PreparedOperand> operands;
  std::vector<Value> values(static_cast<std::size_t>(matrix.k));
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    for (std::int64_t k = 0; k < matrix.k; ++k) values[static_cast<std::size_t>(k)] = decode(matrix.format, matrix.code(r, k));
    operands.push_back(prepare(row, side, {values, &matrix.format}));
  }
  return operands;
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

/// Where C enters, by a word of mxact-witness/2 and as a field of a record.
struct AccumulatorWord {
  std::string_view word;
  std::string_view field;
};
constexpr AccumulatorWord kAccumulators[] = {{"in_the_alignment", ""}, {"added_last_nearest_even", ":c=last"}};

/// The contract by its name or record; without one the record that the words of mxact-witness/2 stand for.
const ContractRow& contract_word(Fields& params) {
  if (params.has("contract")) return mx::row_of(contract_named(params.text("contract")));
  const std::int64_t group = params.integer("group", 1, kLargestExtent), align = params.integer("alignment_bits", 0, kLargestExtent),
                     keep = params.integer("result_bits", 0, kLargestExtent);
  for (const char* key : {"alignment_rounding", "result_rounding"}) {
    if (const std::string word = params.text(key); word != "toward_zero") throw Unmodelled(fmt::format("{} {}", key, word));
  }
  const AccumulatorWord& accumulator = row_named(kAccumulators, "accumulator", params.text("accumulator"));
  return mx::row_of(contract_named(fmt::format("step=aligned:a={}:b={}:group={}:align={}:keep={}{}:zero=plus:nan=0x7fffffff", params.text("a_format"),
                                               params.text("b_format"), group, align, keep, accumulator.field)));
}

/// Codes of tf32 as form 2 has them, right aligned, where a register has them on the left.
void align_left(const OperandFormat& of, Tensor& codes, const std::string& where) {
  if (of.format != &kTf32) return;
  constexpr unsigned kUnread = 13;
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    const std::uint64_t code = codes.word(i);
    if (code >> static_cast<unsigned>(kTf32.width) != 0) broken(fmt::format("0x{:X} is no code of tf32", code), where);
    codes.set_word(i, code << kUnread);
  }
}

}  // namespace

ModelOutputs evaluate_dot_accumulate(const OpContext& context) {
  Fields params = params_of(context.entry);
  const bool by_words = !params.has("contract");
  const ContractRow& row = contract_word(params);
  const OperandFormat a_format = operand_format(params, "a_format");
  const OperandFormat b_format = operand_format(params, "b_format");
  const Format& c_format = by_words ? kF32 : wide_format_word(params, "c_format");
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
  Tensor a = input_of(context, "a", a_format.dtype, {sums, k});
  Tensor b = input_of(context, "b", b_format.dtype, {sums, k});
  if (by_words) {
    align_left(a_format, a, context.entry.where);
    align_left(b_format, b, context.entry.where);
  }
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

ModelOutputs evaluate_mma_sync(const OpContext& context) {
  Fields params = params_of(context.entry);
  const Product product = read_product(params, "mma_sync");
  const std::int64_t tiles = params.integer("tiles", 1, kLargestExtent);
  params.finish();

  std::vector<std::int64_t> tiled_b = operand_shape(product, Side::b);
  tiled_b.insert(tiled_b.begin(), tiles);
  const Tensor a = input_of(context, "a", code_dtype_of(*product.a_format), {tiles, product.m, product.k});
  const Tensor b = input_of(context, "b", code_dtype_of(*product.b_format), tiled_b);
  const Tensor c = input_of(context, "c", "f32", {tiles, product.m, product.n});
  std::vector<std::uint32_t> results;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::vector<PreparedOperand> rows_b = prepared(product.row, Side::b, operand_matrix(product, b, Side::b, tile));
    for (const PreparedOperand& row_a : prepared(product.row, Side::a, operand_matrix(product, a, Side::a, tile))) {
      for (const PreparedOperand& row_b : rows_b) {
        const auto start = static_cast<std::uint32_t>(c.word(static_cast<std::int64_t>(results.size())));
        results.push_back(dot(product.row, row_a, row_b, {.c = start, .bias = {}}));
      }
    }
  }
  return outputs_of(product, {tiles, product.m, product.n}, results);
}

}  // namespace mx::golden
