#pragma once
// Activations on their way into a product: rows of bf16 numbers, or codes with scales in a memory of their own. A kernel reads block scales where it
// expects them, whoever wrote them.

#include <cstdint>
#include <span>
#include <vector>

#include "model/families/arithmetic.hpp"
#include "model/numerics/dot.hpp"

namespace mx::sim {

/// Rows that enter a product.
struct Activations {
  const families::Quantizer* quantizer;
  std::int64_t rows;
  std::int64_t columns;
  std::vector<std::uint32_t> codes;      ///< [rows, columns], bf16 codes where nothing is quantized or it is dequantized again
  std::vector<std::uint32_t> blocks;     ///< memory of the block scales, codes of the format's scale; may be larger than rows * groups
  families::ScaleMemory memory;          ///< how that memory was written
  std::vector<std::uint32_t> row_scale;  ///< fp32 bits [rows]: of the token or tensor, 1 where there is none
  bool fnuz = false;                     ///< FP8 codes are e4m3fnuz

  std::int64_t groups() const;
};

/// What lies behind the end of a scale memory, and in rows that nobody wrote: as E8M0 a NaN, as E4M3 one too.
inline constexpr std::uint32_t kUnwrittenScale = 0xFF;

/// Whether a quantizer makes codes of the device's FP8.
bool makes_fp8(const families::Quantizer& quantizer);

/// Quantizes rows of bf16 codes [rows, columns], scales row-major. `scale` is the calibrated fp32 scale of the tensor, read where the quantizer needs
/// one. `fnuz`: the device's FP8 is e4m3fnuz, and a calibrated scale is the checkpoint's. A row is padded with zeros to whole blocks first. Throws
/// Error(usage) when the codes are not rows of that width, and for a scale that is no positive finite number.
Activations quantized(const families::Quantizer& quantizer, std::span<const std::uint32_t> x_bf16, std::int64_t columns, std::uint32_t scale,
                      bool fnuz = false);

/// Rows that somebody else quantized: what quantized() gives for these codes and their scales, of blocks, of each row, or the one of the tensor.
Activations quantized_already(const families::Quantizer& quantizer, std::int64_t columns, std::vector<std::uint32_t> codes,
                              std::vector<std::uint32_t> scales, std::uint32_t scale, bool fnuz);

/// The block scales moved into the 128x4 tile, padding zero. Without block scales nothing happens.
Activations swizzled(Activations activations);

/// Whether codes have block scales beside them: not where they were dequantized again.
bool has_block_scales(const Activations& activations);
/// Of the codes.
const Format& element_format(const Activations& activations);

/// One row ready for dot products under a contract, its block scales read as the kernel reads them.
PreparedOperand prepared_row(const ContractRow& contract, const Activations& activations, std::int64_t row, families::ScaleMemory read_as);

/// Rows of codes with their block scales, one byte each, as a tile reads them.
struct CodedRows {
  std::vector<std::uint8_t> codes;   ///< [rows][length]
  std::vector<std::uint8_t> scales;  ///< [rows][length / block]
};
/// Some rows, zeros with a scale of 1 behind those that are shorter than `length`, which is a multiple of `block`; codes and scales of up to 8 bits.
CodedRows coded_rows(const Activations& activations, std::span<const std::size_t> rows, std::size_t length, std::size_t block,
                     families::ScaleMemory read_as);

/// The exact values of a row as the kernel reads it, without the row's own scale.
std::vector<Value> values_of_row(const Activations& activations, std::int64_t row, families::ScaleMemory read_as);

/// Address of a row's block scale.
std::int64_t scale_address(families::ScaleMemory memory, std::int64_t groups, std::int64_t row, std::int64_t group);

}  // namespace mx::sim
