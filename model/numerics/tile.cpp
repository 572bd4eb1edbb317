#include "model/numerics/tile.hpp"

#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/convert.hpp"

namespace mx {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, "a tile: " + message); }

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t width, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < width; ++i) word |= std::uint32_t{bytes[index * width + i]} << (8 * i);
  return word;
}

/// The code in a word: some bits of two formats are not read.
std::uint32_t code_in(const Format& format, std::uint32_t word) {
  constexpr int kRegister = 32;
  if (format == kTf32) return word >> (kRegister - kTf32.width);
  return format == kUe4m3 ? word & magnitude_mask(kUe4m3) : word;
}

void check_words(const Format& format, std::span<const std::uint8_t> bytes, const std::string& what) {
  if (format.width % 8 == 0 || format == kTf32 || format == kUe4m3) return;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] >> format.width != 0)
      refuse(what + " " + std::to_string(i) + " is " + std::to_string(bytes[i]) + ", no code of " + std::string(format.name));
  }
}

void check_operand(const TileOperand& operand, std::size_t rows, std::size_t k, const std::string& name) {
  if (operand.format == nullptr) refuse(name + " has no format");
  const auto sized = [&](std::span<const std::uint8_t> bytes, std::size_t words, const Format& format, const std::string& what) {
    if (bytes.size() != words * tile_word_bytes(format))
      refuse(what + " of " + name + ": " + std::to_string(bytes.size()) + " bytes for " + std::to_string(words) + " of " + std::string(format.name));
    check_words(format, bytes, what + " of " + name);
  };
  sized(operand.codes, rows * k, *operand.format, "codes");
  if (operand.scale_format == nullptr) return;
  if (operand.block == 0) refuse(name + " has scales of no block");
  sized(operand.scales, rows * ((k + operand.block - 1) / operand.block), *operand.scale_format, "scales");
}

}  // namespace

std::size_t tile_word_bytes(const Format& format) { return format.width <= 8 ? 1 : format.width <= 16 ? 2 : 4; }

void check_tile(const ContractRow& row, const Tile& tile, std::size_t outputs) {
  if (tile.m == 0 || tile.n == 0 || tile.k == 0) refuse("no rows, columns or k");
  check_operand(tile.a, tile.m, tile.k, "a");
  check_operand(tile.b, tile.n, tile.k, "b");
  if (outputs != tile.m * tile.n) refuse("room for " + std::to_string(outputs) + " results, not " + std::to_string(tile.m * tile.n));
  if (!tile.c.empty() && tile.c.size() != tile.m * tile.n)
    refuse("C has " + std::to_string(tile.c.size()) + " numbers, not " + std::to_string(tile.m * tile.n));
  if (!tile.bias.empty() && tile.bias.size() != tile.n)
    refuse("the bias has " + std::to_string(tile.bias.size()) + " numbers, not " + std::to_string(tile.n));
  if (tile.output == nullptr || (*tile.output != kF32 && *tile.output != kBf16 && *tile.output != kFp16)) refuse("the output is f32, bf16 or fp16");
  if (*row.addend == kF32) return;
  for (std::size_t i = 0; i < tile.c.size(); ++i) {
    constexpr Conversion kCut{Rounding::toward_zero, Overflow::saturate, NanRule::fixed, 0, 0, 0, false};
    const Value value = decode(kF32, tile.c[i]);
    Flags flags;
    if (value.cls == ValueClass::finite) encode(value, *row.addend, kCut, flags);
    if (flags.inexact)
      refuse("C " + std::to_string(i) + " is no number of " + std::string(row.addend->name) + ", which contract " + std::string(row.name) + " takes");
  }
}

PreparedOperand prepared_row(const ContractRow& row, Side side, const TileOperand& operand, std::size_t row_index, std::size_t k) {
  std::vector<Value> elements;
  // A unit for tf32 reads a register of 32 bits: a NaN whose payload lies in what is not read is Inf.
  const bool is_register = row.cast != nullptr && *row.cast == kTf32 && row.cast_cuts && *operand.format == kF32;
  const Format& format = is_register ? kTf32 : *operand.format;
  const std::size_t width = tile_word_bytes(format);
  for (std::size_t i = 0; i < k; ++i) elements.push_back(decode(format, code_in(format, word_at(operand.codes, width, row_index * k + i))));
  std::vector<Value> scales;
  if (operand.scale_format != nullptr) {
    const std::size_t blocks = (k + operand.block - 1) / operand.block;
    const std::size_t scale_width = tile_word_bytes(*operand.scale_format);
    for (std::size_t i = 0; i < blocks; ++i)
      scales.push_back(decode(*operand.scale_format, code_in(*operand.scale_format, word_at(operand.scales, scale_width, row_index * blocks + i))));
  }
  return prepare(row, side, {elements, operand.format, scales, static_cast<int>(operand.block), operand.scale_format});
}

void multiply(const ContractRow& row, const Tile& tile, std::span<std::uint32_t> out) {
  check_tile(row, tile, out.size());
  std::vector<PreparedOperand> columns;
  for (std::size_t j = 0; j < tile.n; ++j) columns.push_back(prepared_row(row, Side::b, tile.b, j, tile.k));
  for (std::size_t i = 0; i < tile.m; ++i) {
    const PreparedOperand a = prepared_row(row, Side::a, tile.a, i, tile.k);
    for (std::size_t j = 0; j < tile.n; ++j) {
      Addends addends;
      if (!tile.c.empty()) addends.c = tile.c[i * tile.n + j];
      if (!tile.bias.empty()) addends.bias = tile.bias[j];
      out[i * tile.n + j] = narrowed(row, dot(row, a, columns[j], addends), *tile.output);
    }
  }
}

}  // namespace mx
