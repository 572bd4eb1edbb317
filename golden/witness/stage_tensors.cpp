#include "golden/witness/stage_tensors.hpp"

#include <fmt/format.h>

#include "golden/witness/numbers.hpp"
#include "model/families/shifted_scale.hpp"
#include "model/numerics/f32.hpp"

namespace mx::golden {

namespace {

constexpr std::int64_t kGroup = 32;

}  // namespace

LayerShape read_layer_shape(Fields& params) {
  return {params.integer("T", 1, kLargestExtent), params.integer("E", 1, kLargestExtent), params.integer("H", 1, kLargestExtent),
          params.integer("I", 1, kLargestExtent), params.integer("top_k", 1, kLargestExtent)};
}

std::uint32_t word_at(const Tensor& tensor, std::int64_t i) { return static_cast<std::uint32_t>(tensor.word(i)); }

std::uint32_t f32_at(const Tensor& tensor, std::int64_t i) { return to_f32(word_at(tensor, i), *tensor.dtype->format); }

ModelOutput output_of(std::string_view dtype, std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& words) {
  const Dtype& type = dtype_named(dtype);
  Tensor values{&type, std::move(shape), std::vector<std::uint8_t>(words.size() * static_cast<std::size_t>(type.bytes))};
  for (std::size_t i = 0; i < words.size(); ++i) values.set_word(static_cast<std::int64_t>(i), words[i]);
  return {std::move(values), nullptr, false, {}};
}

std::uint32_t narrowed_bf16(std::uint32_t f32) { return narrowed(row_of(Contract::hopper_bf16), f32, kBf16); }

std::vector<std::uint32_t> narrowed_all(const std::vector<std::uint32_t>& f32) {
  std::vector<std::uint32_t> words;
  for (const std::uint32_t bits : f32) words.push_back(narrowed_bf16(bits));
  return words;
}

std::uint32_t in_bf16(std::uint32_t f32) { return to_f32(narrowed_bf16(f32), kBf16); }

std::vector<Value> row_values(const Tensor& tensor, const Format& format, std::int64_t row, std::int64_t k, std::int64_t padded) {
  std::vector<Value> values(static_cast<std::size_t>(padded));
  for (std::int64_t i = 0; i < k; ++i) values[static_cast<std::size_t>(i)] = decode(format, word_at(tensor, row * k + i));
  return values;
}

PreparedOperand MxWeights::row(const ContractRow& contract, std::int64_t index) const {
  std::vector<Value> values;
  const std::int64_t read = k_read(index % rows);
  for (std::int64_t i = 0; i < k; ++i) {
    if (i >= read) {
      values.emplace_back();
      continue;
    }
    const std::uint32_t byte = word_at(codes, (index * k + i) / 2);
    values.push_back(decode(kE2m1, i % 2 == 0 ? byte & 0xFU : byte >> 4));
  }
  std::vector<Value> factors;
  for (std::int64_t i = 0; i < k / kGroup; ++i) factors.push_back(families::shifted_scale(word_at(scales, index * (k / kGroup) + i)));
  return prepare(contract, Side::b, {values, &kE2m1, factors, static_cast<int>(kGroup)});
}

deployment::Engine engine_of(Fields& params) {
  const std::string word = params.text("engine");
  for (const deployment::Engine engine : deployment::known_engines()) {
    if (deployment::name_of(engine).ends_with("@" + word)) return engine;
  }
  throw Unmodelled("no model of engine " + word);
}

families::triton::Release release_of(const OpContext& context) {
  constexpr std::string_view k36 = "triton_kernels 6294db5a1";
  return context.entry.profile.version.find(k36) == std::string::npos ? families::triton::Release::v3_5 : families::triton::Release::v3_6;
}

namespace {

MxWeights read_mx_weights(const OpContext& context, const LayerShape& shape, const std::string& name, std::int64_t rows, std::int64_t k) {
  if (k % kGroup != 0) broken(fmt::format("rows of {} in {} are not in blocks of {}", k, name, kGroup), context.entry.where);
  return {input_of(context, name + "_codes", "u8", {shape.experts, rows, k / kGroup, kGroup / 2}),
          input_of(context, name + "_scales", "u8", {shape.experts, rows, k / kGroup}),
          input_of(context, name + "_bias", "bf16", {shape.experts, rows}),
          rows,
          k,
          [k](std::int64_t) { return k; }};
}

}  // namespace

MxWeights read_w13(const OpContext& context, const LayerShape& shape) {
  MxWeights weights = read_mx_weights(context, shape, "w13", 2 * shape.intermediate, shape.hidden);
  weights.k_read = [release = release_of(context), k = shape.hidden](std::int64_t row) { return families::triton::k_read(release, k, row); };
  return weights;
}

MxWeights read_w2(const OpContext& context, const LayerShape& shape) {
  return read_mx_weights(context, shape, "w2", shape.hidden, shape.intermediate);
}

PreparedOperand prepared_row(const ContractRow& contract, const Tensor& x, std::int64_t row, std::int64_t k) {
  std::vector<Value> values;
  for (std::int64_t i = 0; i < k; ++i) values.push_back(decode(*x.dtype->format, word_at(x, row * k + i)));
  return prepare(contract, Side::a, {.elements = values});
}

Swiglu read_swiglu(const OpContext& context, Fields& params) {
  const auto f32_parameter = [&](std::string_view key) { return to_f32(real_parameter(params, key)); };
  if (const std::string word = params.text("activation"); word != "swiglu_oai") throw Unmodelled("no model of moe_stage with activation " + word);
  if (f32_parameter("beta") != f32::kOne) throw Unmodelled("no model of moe_stage with a beta other than 1: the kernel adds s itself");
  return {&families::triton::fused_activation(release_of(context)), {f32_parameter("alpha"), f32::kOne, f32_parameter("limit"), 0}};
}

}  // namespace mx::golden
