#include "golden/witness/numbers.hpp"

#include <algorithm>

#include "model/numerics/convert.hpp"
#include "model/numerics/wide.hpp"

namespace mx::golden {

namespace {

// Into a recorded type: nearest even, overflow to Inf; payloads of NaNs are no one's promise.
Conversion into(const Format& format) {
  const std::uint32_t nan = max_finite_code(format) + 1U + (1U << static_cast<unsigned>(format.mantissa_bits - 1));
  return {Rounding::nearest_even, Overflow::ieee, NanRule::fixed, nan, nan, 0, false};
}

bool is_f64(const Dtype& dtype) { return dtype.word == "f64"; }

std::uint64_t word_of(const Value& value, const Dtype& dtype) {
  if (is_f64(dtype)) return wide::to_f64(value);
  Flags flags;
  return encode(value, *dtype.format, into(*dtype.format), flags);
}

Tensor present(const OpContext& context, const std::string& name) {
  if (!context.entry.inputs.contains(name)) broken("no input '" + name + "'", context.entry.where);
  return context.input(name);
}

void require_shape(const OpContext& context, const Tensor& tensor, const std::string& name, const std::vector<std::int64_t>& shape) {
  if (tensor.shape != shape) broken("'" + name + "' has another shape than the parameters give", context.entry.where);
}

}  // namespace

void require_inputs_among(const OpContext& context, std::initializer_list<std::string_view> names) {
  for (const auto& [name, spec] : context.entry.inputs) {
    if (std::find(names.begin(), names.end(), name) == names.end()) throw Unmodelled("unknown input '" + name + "'");
  }
}

Tensor input_of(const OpContext& context, const std::string& name, const std::vector<std::int64_t>& shape) {
  Tensor tensor = present(context, name);
  require_shape(context, tensor, name, shape);
  return tensor;
}

Tensor input_of(const OpContext& context, const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& shape) {
  Tensor tensor = present(context, name);
  require_dtype(tensor, dtype, name, context.entry.where);
  require_shape(context, tensor, name, shape);
  return tensor;
}

std::vector<Value> values_of(const Tensor& tensor, const std::string& name, const std::string& where) {
  if (tensor.dtype->format == nullptr && !is_f64(*tensor.dtype))
    broken("'" + name + "' is " + std::string(tensor.dtype->word) + ", not a floating type", where);
  std::vector<Value> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const std::uint64_t word = tensor.word(i);
    values.push_back(is_f64(*tensor.dtype) ? wide::from_f64(word) : decode(*tensor.dtype->format, static_cast<std::uint32_t>(word)));
  }
  return values;
}

std::vector<std::int64_t> integers_of(const Tensor& tensor, const std::string& name, const std::string& where) {
  require_dtype(tensor, "i32", name, where);
  std::vector<std::int64_t> integers;
  for (std::int64_t i = 0; i < tensor.size(); ++i) integers.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(tensor.word(i))));
  return integers;
}

Value real_parameter(Fields& params, std::string_view key) {
  constexpr std::size_t kF32Length = 10;
  constexpr int kF32Digits = 8;
  constexpr int kF64Digits = 16;
  if (params.text(key).size() == kF32Length) return decode(kF32, static_cast<std::uint32_t>(params.hex(key, kF32Digits)));
  return wide::from_f64(params.hex(key, kF64Digits));
}

ModelOutput real_output(const OpContext& context, const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<Value>& values,
                        std::function<std::string(std::int64_t)> origin) {
  const Dtype& recorded = *context.entry.outputs.at(name).dtype;
  if (recorded.format == nullptr && !is_f64(recorded)) {
    broken("'" + name + "' is " + std::string(recorded.word) + ", not a floating type", context.entry.where);
  }
  const bool unrounded = context.entry.relations.at(name).kind == RelationKind::rel;
  const Dtype& dtype = unrounded ? dtype_named("f64") : recorded;
  Tensor tensor{&dtype, shape, std::vector<std::uint8_t>(values.size() * static_cast<std::size_t>(dtype.bytes))};
  for (std::size_t i = 0; i < values.size(); ++i) tensor.set_word(static_cast<std::int64_t>(i), word_of(values[i], dtype));
  return {std::move(tensor), nullptr, false, std::move(origin)};
}

}  // namespace mx::golden
