#include "sim/execute/activations.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/dequantize.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/profile.hpp"

namespace mx::sim {
namespace {

constexpr std::int64_t kTileRows = 128;
constexpr std::int64_t kTileColumns = 4;

std::int64_t up_to(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

bool is_positive(std::uint32_t f32) { return f32 > 0 && f32 < 0x7F800000U; }

/// The number of the tensor as the quantizer takes it.
TensorScale tensor_scale(const families::Quantizer& quantizer, std::uint32_t scale) {
  TensorScale tensor;
  if (quantizer.tensor == families::TensorNumber::none) return tensor;
  if (!is_positive(scale))
    throw Error(ErrorCode::usage, "the scale of the activations is " + f32::text(scale) + ", must be a positive finite number",
                std::string(quantizer.name));
  if (quantizer.tensor == families::TensorNumber::decode) tensor.decode = scale;
  if (quantizer.tensor == families::TensorNumber::encode) tensor.encode = f32::div(f32::kOne, scale);
  return tensor;
}

/// The length of what shares a scale in a row of that many columns.
std::int64_t block_length(const families::Quantizer& quantizer, std::int64_t columns) {
  return quantizer.scope == families::ScaleScope::block ? quantizer.format->block : columns;
}

/// Codes and scales of one block into the result.
class Writer {
 public:
  Writer(Activations& out, const Recipe& recipe, const TensorScale& tensor) : out_(out), recipe_(recipe), tensor_(tensor) {
    if (out.quantizer->back_to_bf16) back_ = &dequantizer(profile_named(out.quantizer->profile), *out.quantizer->format, kBf16);
  }

  std::uint32_t block(std::span<const std::uint32_t> x) {
    const QuantizedBlock block = quantize_block(x, kBf16, recipe_, tensor_);
    for (const std::uint32_t code : block.codes) {
      out_.codes.push_back(back_ == nullptr ? code
                                            : dequantize(code, block.scale, *back_, back_->tensor == TensorUse::none ? TensorScale{} : tensor_));
    }
    return block.scale;
  }

 private:
  Activations& out_;
  const Recipe& recipe_;
  TensorScale tensor_;
  const Dequantizer* back_ = nullptr;
};

/// A row's scale as a number: that of its token or tensor, or the reciprocal of the encode scale beside its blocks.
std::uint32_t scale_beside_blocks(const families::Quantizer& quantizer, std::uint32_t scale) {
  return quantizer.tensor == families::TensorNumber::encode && !quantizer.back_to_bf16 ? scale : f32::kOne;
}

void quantize_blocks(Activations& out, Writer& writer, std::span<const std::uint32_t> x, std::int64_t columns) {
  const std::int64_t length = out.quantizer->format->block;
  std::vector<std::uint32_t> row;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(r * columns);
    row.assign(first, first + static_cast<std::ptrdiff_t>(columns));
    row.resize(static_cast<std::size_t>(out.columns));
    for (std::int64_t at = 0; at < out.columns; at += length) {
      const std::uint32_t scale = writer.block(std::span(row).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(length)));
      if (!out.quantizer->back_to_bf16) out.blocks.push_back(scale);
    }
  }
}

/// A number that E8M0 has, or a NaN.
bool is_power_of_two(const Value& value) {
  if (value.cls == ValueClass::nan) return true;
  return value.cls == ValueClass::finite && !value.negative && std::has_single_bit(value.significand) &&
         value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1 >= -127;
}

/// Block scales of a row as the kernel finds them.
std::vector<Value> scales_of_row(const Activations& activations, std::int64_t row, families::ScaleMemory read_as) {
  std::vector<Value> scales;
  for (std::int64_t group = 0; group < activations.groups(); ++group) {
    const auto at = static_cast<std::size_t>(scale_address(read_as, activations.groups(), row, group));
    const std::uint32_t code = at < activations.blocks.size() ? activations.blocks[at] : kUnwrittenScale;
    scales.push_back(decode(*activations.quantizer->format->scale, code));
  }
  return scales;
}

/// Codes and scales of a device whose FP8 is e4m3fnuz. The engine quantizes there to numbers within 224, half of e4m3fn's 448: the codes are the same
/// but for zero, which has one code, and NaN; the scales are twice as large.
/// Source: vllm 7e1b45a09 quantization/utils/quant_utils.py get_fp8_min_max; csrc/quantization/utils.cuh quant_type_max, min_scaling_factor.
void make_fnuz(Activations& activations) {
  const families::Quantizer& quantizer = *activations.quantizer;
  if (!makes_fp8(quantizer)) return;
  constexpr std::uint32_t kTwo = 0x40000000U, kNan = 0x80, kNegativeZero = 0x80;
  activations.fnuz = true;
  for (std::uint32_t& code : activations.codes) code = is_nan_code(kE4m3fn, code) ? kNan : code == kNegativeZero ? 0 : code;
  for (std::uint32_t& scale : quantizer.scope == families::ScaleScope::block ? activations.blocks : activations.row_scale)
    scale = f32::mul(scale, kTwo);
}

std::vector<Value> elements_of_row(const Activations& activations, std::int64_t row) {
  std::vector<Value> elements;
  const auto first = static_cast<std::size_t>(row * activations.columns);
  for (const std::uint32_t code : std::span(activations.codes).subspan(first, static_cast<std::size_t>(activations.columns)))
    elements.push_back(decode(element_format(activations), code));
  return elements;
}

}  // namespace

bool makes_fp8(const families::Quantizer& quantizer) {
  return quantizer.scope != families::ScaleScope::none && !quantizer.back_to_bf16 && *quantizer.format->element == kE4m3fn &&
         *quantizer.format->scale == kF32;
}

bool has_block_scales(const Activations& activations) {
  return activations.quantizer->scope == families::ScaleScope::block && !activations.quantizer->back_to_bf16;
}

const Format& element_format(const Activations& activations) {
  const families::Quantizer& quantizer = *activations.quantizer;
  if (quantizer.scope == families::ScaleScope::none || quantizer.back_to_bf16) return kBf16;
  return activations.fnuz ? kE4m3fnuz : *quantizer.format->element;
}

std::int64_t Activations::groups() const { return quantizer->scope == families::ScaleScope::block ? columns / quantizer->format->block : 0; }

std::int64_t scale_address(families::ScaleMemory memory, std::int64_t groups, std::int64_t row, std::int64_t group) {
  if (memory == families::ScaleMemory::row_major) return row * groups + group;
  // Source: spec layouts 1.2, the 128x4 tile.
  const std::int64_t tile = row / kTileRows * (up_to(groups, kTileColumns) / kTileColumns) + group / kTileColumns;
  return tile * kTileRows * kTileColumns + row % 32 * 16 + row % kTileRows / 32 * kTileColumns + group % kTileColumns;
}

Activations quantized(const families::Quantizer& quantizer, std::span<const std::uint32_t> x_bf16, std::int64_t columns, std::uint32_t scale,
                      bool fnuz) {
  if (columns < 1 || x_bf16.size() % static_cast<std::size_t>(columns) != 0) {
    throw Error(ErrorCode::usage, "activations have " + std::to_string(x_bf16.size()) + " values, not rows of " + std::to_string(columns));
  }
  Activations out{&quantizer, static_cast<std::int64_t>(x_bf16.size()) / columns, columns, {}, {}, families::ScaleMemory::row_major, {}};
  out.row_scale.assign(static_cast<std::size_t>(out.rows), f32::kOne);
  if (quantizer.scope == families::ScaleScope::none) {
    out.codes.assign(x_bf16.begin(), x_bf16.end());
    return out;
  }
  const TensorScale tensor = tensor_scale(quantizer, scale);
  const Recipe& how = families::recipe_of(quantizer);
  Writer writer(out, how, tensor);
  const bool shares = quantizer.scope == families::ScaleScope::token && fault::planted(fault::Fault::sim_shares_token_scale);
  switch (shares ? families::ScaleScope::tensor : quantizer.scope) {
    case families::ScaleScope::block:
      out.columns = up_to(columns, block_length(quantizer, columns));
      quantize_blocks(out, writer, x_bf16, columns);
      out.row_scale.assign(static_cast<std::size_t>(out.rows), scale_beside_blocks(quantizer, scale));
      break;
    case families::ScaleScope::token:
      for (std::size_t row = 0; row < out.row_scale.size(); ++row) {
        const auto width = static_cast<std::size_t>(columns);
        out.row_scale[row] = writer.block(x_bf16.subspan(row * width, width));
      }
      break;
    default:
      if (out.rows > 0) out.row_scale.assign(static_cast<std::size_t>(out.rows), writer.block(x_bf16));
      break;
  }
  if (fnuz) make_fnuz(out);
  return out;
}

Activations quantized_already(const families::Quantizer& quantizer, std::int64_t columns, std::vector<std::uint32_t> codes,
                              std::vector<std::uint32_t> scales, std::uint32_t scale, bool fnuz) {
  const std::size_t rows = codes.size() / static_cast<std::size_t>(columns);
  Activations out{&quantizer, static_cast<std::int64_t>(rows), columns, std::move(codes), {}, families::ScaleMemory::row_major, {}};
  out.fnuz = fnuz && makes_fp8(quantizer);
  out.row_scale.assign(rows, scale_beside_blocks(quantizer, scale));
  switch (quantizer.scope) {
    case families::ScaleScope::block: out.blocks = std::move(scales); break;
    case families::ScaleScope::token: out.row_scale = std::move(scales); break;
    case families::ScaleScope::tensor: out.row_scale.assign(rows, scales.front()); break;
    case families::ScaleScope::none: break;
  }
  return out;
}

Activations swizzled(Activations activations) {
  if (!has_block_scales(activations)) return activations;
  const std::int64_t groups = activations.groups();
  std::vector<std::uint32_t> tiles(static_cast<std::size_t>(up_to(activations.rows, kTileRows) * up_to(groups, kTileColumns)));
  for (std::int64_t row = 0; row < activations.rows; ++row) {
    for (std::int64_t group = 0; group < groups; ++group) {
      const auto to = static_cast<std::size_t>(scale_address(families::ScaleMemory::tile_128x4, groups, row, group));
      tiles[to] = activations.blocks[static_cast<std::size_t>(row * groups + group)];
    }
  }
  activations.blocks = std::move(tiles);
  activations.memory = families::ScaleMemory::tile_128x4;
  return activations;
}

PreparedOperand prepared_row(const ContractRow& contract, const Activations& activations, std::int64_t row, families::ScaleMemory read_as) {
  const std::vector<Value> elements = elements_of_row(activations, row);
  if (!has_block_scales(activations)) return prepare(contract, Side::a, {elements, &element_format(activations)});
  const BlockFormat& format = *activations.quantizer->format;
  std::vector<Value> scales = scales_of_row(activations, row, read_as);
  Operand operand{elements, &element_format(activations), scales, format.block, format.scale};
  if (contract.scales != ScaleEntry::term || format.block <= contract.scale_block) return prepare(contract, Side::a, operand);
  // A unit whose blocks are shorter is given the scale of a longer one several times; powers of two in fp32 as E8M0.
  std::vector<Value> repeated;
  for (const Value& scale : scales) repeated.insert(repeated.end(), static_cast<std::size_t>(format.block / contract.scale_block), scale);
  operand.scales = repeated;
  operand.block = contract.scale_block;
  if (*format.scale == kF32 && std::ranges::all_of(scales, [](const Value& scale) { return is_power_of_two(scale); })) operand.scale_format = &kE8m0;
  return prepare(contract, Side::a, operand);
}

CodedRows coded_rows(const Activations& activations, std::span<const std::size_t> rows, std::size_t length, std::size_t block,
                     families::ScaleMemory read_as) {
  const Format& scale = *activations.quantizer->format->scale;
  const auto one = static_cast<std::uint8_t>(scale == kE8m0 ? 127U : static_cast<std::uint32_t>(scale.bias) << scale.mantissa_bits);
  const auto columns = static_cast<std::size_t>(activations.columns);
  CodedRows coded;
  for (const std::size_t row : rows) {
    for (std::size_t k = 0; k < length; ++k) coded.codes.push_back(k < columns ? static_cast<std::uint8_t>(activations.codes[row * columns + k]) : 0);
    for (std::size_t group = 0; group < length / block; ++group) {
      const auto at =
          static_cast<std::size_t>(scale_address(read_as, activations.groups(), static_cast<std::int64_t>(row), static_cast<std::int64_t>(group)));
      const bool is_there = group * block < columns;
      coded.scales.push_back(!is_there ? one : static_cast<std::uint8_t>(at < activations.blocks.size() ? activations.blocks[at] : kUnwrittenScale));
    }
  }
  return coded;
}

std::vector<Value> values_of_row(const Activations& activations, std::int64_t row, families::ScaleMemory read_as) {
  std::vector<Value> values = elements_of_row(activations, row);
  if (has_block_scales(activations)) {
    const std::vector<Value> scales = scales_of_row(activations, row, read_as);
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = exact_product(values[k], scales[k / static_cast<std::size_t>(activations.quantizer->format->block)]);
  }
  return values;
}

}  // namespace mx::sim
