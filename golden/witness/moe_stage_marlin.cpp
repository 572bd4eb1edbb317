// Stages of `moe_stage` by Marlin: products of sorted slots whose k is split as the launch says.

#include <fmt/format.h>

#include "golden/witness/numbers.hpp"
#include "golden/witness/stage_tensors.hpp"
#include "model/families/marlin_product.hpp"
#include "model/families/shifted_scale.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

namespace marlin = families::marlin;

/// Where a form's scales lie: one for so many rows and k; 0: all of them.
struct FormRow {
  std::string_view word;
  std::int64_t rows, k;
};
constexpr FormRow kForms[] = {{"fp8_block", 128, 128}, {"fp8_channel", 1, 0}, {"fp8_tensor", 0, 0}};

constexpr std::int64_t kMxGroup = 32;
constexpr std::int64_t kNvGroup = 16;

/// One matrix of every expert, [experts][rows][k], as the kernel multiplies it.
class Matrix {
 public:
  Matrix(const OpContext& context, const FormRow* form, const std::string& name, std::int64_t experts, std::int64_t rows, std::int64_t k,
         std::int64_t padded)
      : form_(form), rows_(rows), k_(k), padded_(padded) {
    if (form != nullptr) {
      std::vector<std::int64_t> scales{experts};
      if (form->rows != 0) scales.push_back(families::ceil_div(rows, form->rows));
      if (form->k != 0) scales.push_back(families::ceil_div(k, form->k));
      codes_ = input_of(context, name + "_codes", "u8", {experts, rows, k});
      scales_ = input_of(context, name + "_scales", "f32", scales);
      return;
    }
    nvfp4_ = context.entry.inputs.contains(name + "_global");
    const std::int64_t group = nvfp4_ ? kNvGroup : kMxGroup;
    if (k % group != 0) broken(fmt::format("rows of {} in {} are not in blocks of {}", k, name, group), context.entry.where);
    codes_ = nvfp4_ ? input_of(context, name + "_codes", "u8", {experts, rows, k / 2})
                    : input_of(context, name + "_codes", "u8", {experts, rows, k / group, group / 2});
    scales_ = input_of(context, name + "_scales", "u8", {experts, rows, k / group});
    if (nvfp4_) global_ = input_of(context, name + "_global", "f32", {experts});
  }

  /// What no slice of k parts.
  std::int64_t group() const { return scales_in_weights() ? form_->k : 1; }

  PreparedOperand row(const ContractRow& contract, std::int64_t expert, std::int64_t n) const {
    std::vector<Value> values(static_cast<std::size_t>(padded_));
    for (std::int64_t i = 0; i < k_; ++i) values[static_cast<std::size_t>(i)] = weight(expert, n, i);
    return prepare(contract, Side::b, {.elements = values});
  }

  /// What multiplies a slice's sum, fp32 bits.
  std::optional<std::uint32_t> slice_scale(std::int64_t expert, std::int64_t n) const {
    if (form_ == nullptr || scales_in_weights()) return std::nullopt;
    return marlin::bf16_scale(scale_at(expert, n, 0)) << 16U;
  }

  /// The expert's scale of the tensor.
  std::optional<std::uint32_t> global(std::int64_t expert) const {
    if (!global_) return std::nullopt;
    return word_at(*global_, expert);
  }

 private:
  /// Of FP8: scales of blocks are multiplied into the weights, unless one block is all of k.
  bool scales_in_weights() const { return form_ != nullptr && form_->k != 0 && k_ > form_->k; }

  std::uint32_t scale_at(std::int64_t expert, std::int64_t n, std::int64_t i) const {
    const std::int64_t down = form_->rows == 0 ? 1 : families::ceil_div(rows_, form_->rows);
    const std::int64_t across = form_->k == 0 ? 1 : families::ceil_div(k_, form_->k);
    const std::int64_t row = form_->rows == 0 ? 0 : n / form_->rows;
    return word_at(scales_, (expert * down + row) * across + (form_->k == 0 ? 0 : i / form_->k));
  }

  Value weight(std::int64_t expert, std::int64_t n, std::int64_t i) const {
    const std::int64_t index = expert * rows_ + n;
    if (form_ != nullptr) {
      const Value value = marlin::fp8_weight(word_at(codes_, index * k_ + i));
      return scales_in_weights() ? exact_product(value, decode(kBf16, marlin::bf16_scale(scale_at(expert, n, i)))) : value;
    }
    const std::uint32_t byte = word_at(codes_, (index * k_ + i) / 2);
    const Value value = decode(kE2m1, i % 2 == 0 ? byte & 0xFU : byte >> 4U);
    const std::int64_t group = nvfp4_ ? kNvGroup : kMxGroup;
    const std::uint32_t scale = word_at(scales_, index * (k_ / group) + i / group);
    return exact_product(value, nvfp4_ ? decode(kE4m3fn, scale) : families::shifted_scale(scale));
  }

  const FormRow* form_;
  bool nvfp4_ = false;
  std::int64_t rows_, k_, padded_;
  Tensor codes_, scales_;
  std::optional<Tensor> global_;
};

struct Product {
  LayerShape shape;
  const FormRow* form;
  marlin::Launch launch;
  std::int64_t padded_k;
};

Product read_product(Fields& params, bool is_first) {
  Product read{read_layer_shape(params), nullptr, {}, 0};
  if (params.has("form")) read.form = &row_named(kForms, "form", params.text("form"));
  if (const std::string word = params.text("accum"); word != "marlin_split") throw Unmodelled("no model of Marlin with accum " + word);
  const auto number = [&](std::string_view key) { return params.integer(key, 1, kLargestExtent); };
  read.launch = {number("moe_block"), number("tile_k"), number("tile_n"), number("threads"), number("blocks")};
  const std::int64_t k = is_first ? read.shape.hidden : read.shape.intermediate;
  read.padded_k = params.has("padded_k") ? number("padded_k") : k;
  if (read.padded_k < k) throw Unmodelled(fmt::format("k {} padded to {}", k, read.padded_k));
  return read;
}

/// Calls `visit(slot, column, sum)` with the fp32 sum of every slot and row of the matrix, bias not added.
template <class Visit>
void multiply(const OpContext& context, const Product& product, const Matrix& matrix, const Tensor& x, std::int64_t n, std::int64_t k,
              std::int64_t slots_of_row, const Visit& visit) {
  const ContractRow& contract = row_of(Contract::hopper_bf16);
  const std::int64_t slots = product.shape.slots();
  const std::int64_t blocks = context.entry.inputs.at("expert_ids").elements;
  const Tensor sorted = input_of(context, "sorted_ids", "i32", {blocks * product.launch.moe_block});
  const Tensor experts = input_of(context, "expert_ids", "i32", {blocks});
  const families::KCut cut = marlin::cut_of(product.launch, blocks, n, product.padded_k, matrix.group());
  const std::int64_t tiles = n / product.launch.tile_n;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto expert = static_cast<std::int32_t>(word_at(experts, block));
    if (expert < 0) continue;
    if (expert >= product.shape.experts) broken(fmt::format("expert_ids[{}] is {}", block, expert), context.entry.where);
    std::vector<std::pair<std::int64_t, PreparedOperand>> rows;
    for (std::int64_t at = block * product.launch.moe_block; at < (block + 1) * product.launch.moe_block; ++at) {
      const std::int64_t slot = word_at(sorted, at);
      if (slot >= slots) continue;
      const std::vector<Value> values = row_values(x, kBf16, slot / slots_of_row, k, product.padded_k);
      rows.emplace_back(slot, marlin::by_warps(product.launch, prepare(contract, Side::a, {.elements = values})));
    }
    for (std::int64_t column = 0; column < n && !rows.empty(); ++column) {
      const PreparedOperand weights = marlin::by_warps(product.launch, matrix.row(contract, expert, column));
      const std::vector<families::KSlice> slices = cut.slices(block * tiles + column / product.launch.tile_n);
      const std::optional<std::uint32_t> scale = matrix.slice_scale(expert, column);
      for (const auto& [slot, row] : rows)
        visit(slot, static_cast<std::int64_t>(expert), column, marlin::sum_of(product.launch, contract, row, weights, slices, scale));
    }
  }
}

ModelOutputs result(std::string_view name, std::int64_t rows, std::int64_t columns, const std::vector<std::uint32_t>& f32) {
  ModelOutputs outputs;
  outputs.emplace(name, output_of("bf16", {rows, columns}, narrowed_all(f32)));
  return outputs;
}

std::string tensors_of(const OpContext& context, const std::string& name, std::string_view others) {
  std::string names = std::string(others) + " sorted_ids expert_ids " + name + "_codes " + name + "_scales";
  for (const char* optional : {"_global", "_bias"}) {
    if (context.entry.inputs.contains(name + optional)) names += " " + name + optional;
  }
  return names;
}

}  // namespace

ModelOutputs marlin_first(const OpContext& context, Fields& params) {
  const Product product = read_product(params, true);
  params.finish();
  require_names(tensors_of(context, "w13", "x"), context.entry.inputs, "input", context.entry.where);
  const LayerShape& shape = product.shape;
  const std::int64_t n = 2 * shape.intermediate;
  const Tensor x = input_of(context, "x", "bf16", {shape.tokens, shape.hidden});
  const Matrix matrix(context, product.form, "w13", shape.experts, n, shape.hidden, product.padded_k);
  std::optional<Tensor> bias;
  if (context.entry.inputs.contains("w13_bias")) bias = input_of(context, "w13_bias", "bf16", {shape.experts, n});
  std::vector<std::uint32_t> h13(static_cast<std::size_t>(shape.slots() * n));
  multiply(context, product, matrix, x, n, shape.hidden, shape.top_k,
           [&](std::int64_t slot, std::int64_t expert, std::int64_t column, std::uint32_t sum) {
             const std::uint32_t value = marlin::slot_value(sum, std::nullopt, matrix.global(expert));
             h13[static_cast<std::size_t>(slot * n + column)] = bias ? f32::add(value, f32_at(*bias, expert * n + column)) : value;
           });
  return result("h13", shape.slots(), n, h13);
}

ModelOutputs marlin_second(const OpContext& context, Fields& params) {
  const Product product = read_product(params, false);
  const bool weighted = params.integer("weighted", 0, 1) == 1;
  params.finish();
  require_names(tensors_of(context, "w2", "act ids weights"), context.entry.inputs, "input", context.entry.where);
  const LayerShape& shape = product.shape;
  const Tensor act = input_of(context, "act", "bf16", {shape.slots(), shape.intermediate});
  const Tensor weights = input_of(context, "weights", "f32", {shape.tokens, shape.top_k});
  const Matrix matrix(context, product.form, "w2", shape.experts, shape.hidden, shape.intermediate, product.padded_k);
  std::optional<Tensor> bias;
  if (context.entry.inputs.contains("w2_bias")) throw Unmodelled("gemm2_marlin with a bias");
  std::vector<std::uint32_t> y(static_cast<std::size_t>(shape.slots() * shape.hidden));
  multiply(context, product, matrix, act, shape.hidden, shape.intermediate, 1,
           [&](std::int64_t slot, std::int64_t expert, std::int64_t column, std::uint32_t sum) {
             const std::optional<std::uint32_t> weight = weighted ? std::optional(word_at(weights, slot)) : std::nullopt;
             y[static_cast<std::size_t>(slot * shape.hidden + column)] = marlin::slot_value(sum, weight, matrix.global(expert));
           });
  return result("y", shape.slots(), shape.hidden, y);
}

}  // namespace mx::golden
