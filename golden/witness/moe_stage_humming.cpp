// Stages of `moe_stage` by Humming: rows of one expert against columns of a launch, and its activations.

#include <fmt/format.h>

#include <map>
#include <utility>

#include "golden/witness/numbers.hpp"
#include "golden/witness/stage_tensors.hpp"
#include "model/families/device_rows.hpp"
#include "model/families/humming_product.hpp"
#include "model/families/shifted_scale.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

namespace humming = families::humming;

enum class Form { mxfp4, mxfp8, nvfp4, nvfp4_rows, int4, fp8_block, fp8_channel, fp8_tensor };
constexpr EnumWord<Form> kForms[] = {{"mxfp4", Form::mxfp4},
                                     {"mxfp8", Form::mxfp8},
                                     {"nvfp4", Form::nvfp4},
                                     {"nvfp4_rows", Form::nvfp4_rows},
                                     {"int4", Form::int4},
                                     {"fp8_block", Form::fp8_block},
                                     {"fp8_channel", Form::fp8_channel},
                                     {"fp8_tensor", Form::fp8_tensor}};
enum class Inputs { bf16, token, group128 };
constexpr EnumWord<Inputs> kInputs[] = {{"bf16", Inputs::bf16}, {"e4m3fn_token", Inputs::token}, {"e4m3fn_group128", Inputs::group128}};

constexpr std::int64_t kGroup128 = 128;
constexpr std::uint32_t kFour = 0x40800000U;

humming::Launch read_launch(Fields& params) {
  const auto number = [&](std::string_view key) { return params.integer(key, 1, kLargestExtent); };
  return {number("launch_n"),
          number("launch_k"),
          number("token_blocks"),
          number("block_m"),
          number("block_n"),
          number("block_k"),
          number("warp_k"),
          number("blocks"),
          number("stages"),
          number("group"),
          params.integer("stream_k", 0, 1) == 1};
}

/// One product: rows x against columns w.
class Rows {
 public:
  Rows(const OpContext& context, Fields& params)
      : form_(row_named(kForms, "form", params.text("form")).value),
        inputs_(row_named(kInputs, "activations", params.text("activations")).value),
        launch_(read_launch(params)) {
    // Of the whole launch, for people.
    for (const char* key : {"T", "top_k", "E"}) params.integer(key, 1, kLargestExtent);
    if (form_ == Form::mxfp4 && inputs_ != Inputs::bf16) {
      const auto hi = static_cast<int>(params.integer("scale_max", 0, 255));
      powers_ = humming::PowersOfExpert::of(hi, static_cast<int>(params.integer("scale_min", 0, hi)));
    } else if (form_ != Form::fp8_block && inputs_ != Inputs::bf16) {
      throw Unmodelled("8-bit activations with weights of that form");
    }
    if (form_ == Form::fp8_block && inputs_ == Inputs::token) throw Unmodelled("scales of tokens with weights in blocks");
    params.finish();
    read_tensors(context);
  }

  ModelOutputs outputs() const {
    const ContractRow& contract = row_of(inputs_ == Inputs::bf16 ? Contract::hopper_bf16 : Contract::hopper_fp8);
    const families::KCut cut = humming::cut_of(launch_);
    const std::int64_t tiles = launch_.n / launch_.block_n;
    std::vector<PreparedOperand> rows, columns;
    const bool is_bf16 = inputs_ == Inputs::bf16;
    for (std::int64_t r = 0; r < rows_; ++r) rows.push_back(prepared(contract, Side::a, row_values(x_, is_bf16 ? kBf16 : kE4m3fn, r, k_, launch_.k)));
    for (std::int64_t c = 0; c < columns_; ++c) columns.push_back(prepared(contract, Side::b, weights(c)));
    std::vector<std::uint32_t> h;
    std::map<std::int64_t, std::vector<std::uint64_t>> possible;
    for (std::int64_t r = 0; r < rows_; ++r) {
      for (std::int64_t c = 0; c < columns_; ++c) {
        const std::int64_t tile = word_at(token_block_, r) * tiles + word_at(ids_, c) / launch_.block_n;
        if (tile >= cut.tiles) broken(fmt::format("tile {} of a launch of {}", tile, cut.tiles), where_);
        std::vector<std::uint32_t> made;
        for (const families::KSlice slice : cut.slices(tile)) made.push_back(scaled(r, c, slice_sum(contract, rows, columns, r, c, slice)));
        if (made.size() > humming::kMostOrdered) {
          for (const std::uint32_t bits : humming::possible(made)) possible[r * columns_ + c].push_back(narrowed_bf16(bits));
        }
        h.push_back(humming::joined(made));
      }
    }
    ModelOutputs outputs;
    outputs.emplace("h", output_of("bf16", {rows_, columns_}, narrowed_all(h))).first->second.possible = std::move(possible);
    return outputs;
  }

 private:
  void read_tensors(const OpContext& context) {
    const auto& inputs = context.entry.inputs;
    where_ = context.entry.where;
    std::string names = "x columns token_block w_codes w_scales";
    if (inputs_ != Inputs::bf16) names += " x_scales";
    const bool has_global = form_ == Form::nvfp4 || form_ == Form::nvfp4_rows;
    if (has_global) names += " w_global";
    require_names(names, inputs, "input", where_);
    rows_ = inputs.at("token_block").elements;
    columns_ = inputs.at("columns").elements;
    k_ = inputs.at("x").elements / rows_;
    if (k_ > launch_.k) broken(fmt::format("rows of {} in a launch with k {}", k_, launch_.k), where_);
    x_ = input_of(context, "x", inputs_ == Inputs::bf16 ? "bf16" : "u8", {rows_, k_});
    token_block_ = input_of(context, "token_block", "i32", {rows_});
    ids_ = input_of(context, "columns", "i32", {columns_});
    if (inputs_ == Inputs::token) x_scales_ = input_of(context, "x_scales", "f32", {rows_});
    if (inputs_ == Inputs::group128) x_scales_ = input_of(context, "x_scales", "f32", {rows_, families::ceil_div(k_, kGroup128)});
    const bool four_bits = form_ == Form::mxfp4 || form_ == Form::nvfp4 || form_ == Form::nvfp4_rows || form_ == Form::int4;
    w_codes_ = input_of(context, "w_codes", "u8", {columns_, four_bits ? k_ / 2 : k_});
    const TensorSpec& scales = inputs.at("w_scales");
    if (form_ == Form::fp8_tensor) {
      w_scales_ = input_of(context, "w_scales", "f32", {1});
      across_ = 1;
      return;
    }
    if (scales.shape.size() != 2 || scales.shape[0] != columns_) broken("'w_scales' has no row for each column", where_);
    across_ = scales.shape[1];
    const std::string_view dtype = form_ == Form::int4 ? "bf16" : form_ == Form::fp8_block || form_ == Form::fp8_channel ? "f32" : "u8";
    w_scales_ = input_of(context, "w_scales", dtype, {columns_, across_});
    if (has_global) w_global_ = input_of(context, "w_global", "f32", {form_ == Form::nvfp4 ? 1 : columns_});
  }

  PreparedOperand prepared(const ContractRow& contract, Side side, const std::vector<Value>& values) const {
    return prepare(contract, side, {.elements = values, .format = inputs_ == Inputs::bf16 ? nullptr : &kE4m3fn});
  }

  std::uint32_t code(std::int64_t c, std::int64_t i) const {
    const std::uint32_t byte = word_at(w_codes_, (c * k_ + i) / 2);
    return i % 2 == 0 ? byte & 0xFU : byte >> 4U;
  }
  std::uint32_t scale_word(std::int64_t c, std::int64_t i) const { return word_at(w_scales_, c * across_ + i / families::ceil_div(k_, across_)); }
  static Value quarter(std::uint32_t code) {
    Value value = decode(kE2m1, code);
    if (value.cls == ValueClass::finite) value.exponent -= 2;
    return value;
  }

  Value weight(std::int64_t c, std::int64_t i) const {
    constexpr std::int64_t kOffset = 8;
    switch (form_) {
      case Form::mxfp4:
        if (powers_) return powers_->weight(code(c, i), static_cast<int>(scale_word(c, i)));
        return exact_product(quarter(code(c, i)), families::shifted_scale(scale_word(c, i)));
      case Form::nvfp4:
      case Form::nvfp4_rows: return exact_product(quarter(code(c, i)), decode(kE4m3fn, scale_word(c, i)));
      case Form::mxfp8: return exact_product(families::moved_weight(word_at(w_codes_, c * k_ + i)), families::shifted_scale(scale_word(c, i)));
      case Form::int4: {
        const auto number = static_cast<std::int64_t>(code(c, i)) - kOffset;
        const Value value{.significand = static_cast<std::uint64_t>(number < 0 ? -number : number),
                          .exponent = 0,
                          .cls = number == 0 ? ValueClass::zero : ValueClass::finite,
                          .negative = number < 0};
        return exact_product(value, decode(kBf16, scale_word(c, i)));
      }
      case Form::fp8_block:
        if (inputs_ != Inputs::bf16) return decode(kE4m3fn, word_at(w_codes_, c * k_ + i));
        return exact_product(families::moved_weight(word_at(w_codes_, c * k_ + i)), decode(kBf16, narrowed_bf16(scale_word(c, i))));
      case Form::fp8_channel:
      case Form::fp8_tensor: break;
    }
    return families::moved_weight(word_at(w_codes_, c * k_ + i));
  }

  std::vector<Value> weights(std::int64_t c) const {
    std::vector<Value> values(static_cast<std::size_t>(launch_.k));
    for (std::int64_t i = 0; i < k_; ++i) values[static_cast<std::size_t>(i)] = weight(c, i);
    return values;
  }

  std::uint32_t slice_sum(const ContractRow& contract, const std::vector<PreparedOperand>& rows, const std::vector<PreparedOperand>& columns,
                          std::int64_t r, std::int64_t c, families::KSlice slice) const {
    const PreparedOperand &a = rows[static_cast<std::size_t>(r)], &b = columns[static_cast<std::size_t>(c)];
    if (inputs_ != Inputs::group128) return humming::slice_sum(launch_, contract, a, b, slice, nullptr);
    const std::int64_t groups = families::ceil_div(k_, kGroup128);
    const humming::ChainScales scales{kGroup128, [&](std::int64_t group) {
                                        if (group >= groups) return 0U;
                                        const std::uint32_t of_x = word_at(*x_scales_, r * groups + group);
                                        return form_ == Form::mxfp4 ? of_x : f32::mul(of_x, in_bf16(scale_word(c, group * kGroup128)));
                                      }};
    return humming::slice_sum(launch_, contract, a, b, slice, &scales);
  }

  /// A slice's sum as it is joined, bf16 as fp32 bits.
  std::uint32_t scaled(std::int64_t r, std::int64_t c, std::uint32_t sum) const {
    switch (form_) {
      case Form::mxfp4:
        if (inputs_ == Inputs::bf16) return in_bf16(f32::mul(in_bf16(sum), kFour));
        if (inputs_ == Inputs::group128) return in_bf16(f32::mul(sum, powers_->global()));
        return in_bf16(f32::mul(sum, f32::mul(word_at(*x_scales_, r), powers_->global())));
      case Form::nvfp4: return in_bf16(f32::mul(sum, f32::mul(word_at(*w_global_, 0), kFour)));
      case Form::nvfp4_rows: return in_bf16(f32::mul(in_bf16(f32::mul(in_bf16(sum), kFour)), in_bf16(word_at(*w_global_, c))));
      case Form::fp8_channel: return in_bf16(f32::mul(in_bf16(sum), in_bf16(scale_word(c, 0))));
      case Form::fp8_tensor: return in_bf16(f32::mul(sum, word_at(w_scales_, 0)));
      case Form::mxfp8:
      case Form::int4:
      case Form::fp8_block: break;
    }
    return in_bf16(sum);
  }

  Form form_;
  Inputs inputs_;
  humming::Launch launch_;
  std::optional<humming::PowersOfExpert> powers_;
  std::string where_;
  std::int64_t rows_ = 0, columns_ = 0, k_ = 0, across_ = 0;
  Tensor x_, token_block_, ids_, w_codes_, w_scales_;
  std::optional<Tensor> x_scales_, w_global_;
};

}  // namespace

ModelOutputs humming_product(const OpContext& context, Fields& params) { return Rows(context, params).outputs(); }

ModelOutputs humming_activation(const OpContext& context, Fields& params) {
  const std::string activation = params.text("activation");
  if (params.has("round") && params.text("round") != "bf16") throw Unmodelled("humming_activation that rounds to another type than bf16");
  const auto number = [&](std::string_view key) { return params.has(key) ? to_f32(real_parameter(params, key)) : 0U; };
  moe::ActivationConstants constants{number("alpha"), number("beta"), number("limit"), 0};
  params.finish();
  if (activation != "silu_and_mul" && activation != "swiglu_oai") throw Unmodelled("no model of humming_activation with activation " + activation);
  const bool is_plain = activation == "silu_and_mul" && constants.limit == 0;
  if (activation == "silu_and_mul" && !is_plain && constants.alpha == 0) constants.alpha = f32::kOne;
  const moe::Activation& row = families::activation_row(is_plain ? "silu_and_mul_humming" : "swiglu_oai_humming");
  const std::int64_t count = context.entry.inputs.at("gate").elements;
  const Tensor gate = input_of(context, "gate", "bf16", {count});
  const Tensor up = input_of(context, "up", "bf16", {count});
  std::vector<std::uint32_t> act;
  for (std::int64_t i = 0; i < count; ++i) act.push_back(moe::activate(row, kF32, f32_at(gate, i), f32_at(up, i), constants));
  ModelOutputs outputs;
  outputs.emplace("act", output_of("bf16", {count}, narrowed_all(act)));
  return outputs;
}

}  // namespace mx::golden
