#pragma once
// A base and what was made of it, rows of both at a time: codes, the scales of their blocks, the one number of the whole.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/numerics/format.hpp"

namespace mx::checkpoint {

/// Some rows as the files have them.
struct CodedRows {
  std::vector<std::byte> base;       ///< words of the source
  std::vector<std::uint8_t> codes;   ///< two of 4 bits a byte, the even column's low; else a byte each
  std::vector<std::uint8_t> scales;  ///< little endian, a row of them for each row or for each block of rows; none where a number counts for all
};

/// The one number of a matrix.
struct StoredNumber {
  std::uint32_t bits;  ///< fp32
  bool divides;        ///< values are divided by it
};

/// A matrix of `rows` outputs and `columns` inputs.
struct CodedMatrix {
  std::int64_t rows;
  std::int64_t columns;
  const Format* source;                ///< of the base: f32, bf16 or fp16
  const Format* element;               ///< of the codes
  const Format* scale;                 ///< of a block's scale as it is stored; of the number where there are no others
  std::int64_t block_rows;             ///< that a scale counts for; 0: all
  std::int64_t block_columns;          ///< likewise
  std::optional<StoredNumber> number;  ///< a global scale, or the one scale
  /// Rows from a multiple of block_rows on, a whole number of blocks or all that are left.
  std::function<CodedRows(std::int64_t first, std::int64_t count)> read;

  bool is_one_block() const { return block_rows == 0; }
};

/// Rows as blocks lie behind each other: of squares, each on its own, what the matrix lacks of it filled with zeros.
struct CodedBlocks {
  std::size_t count = 0;
  std::size_t length = 0;  ///< elements of a block
  std::vector<std::byte> base = {};
  std::vector<std::uint8_t> codes = {};
  std::vector<std::uint8_t> scales = {};  ///< one for each block; none where a number counts for all
};
/// `rows` of the matrix that were read.
CodedBlocks blocks_of(const CodedMatrix& matrix, CodedRows rows, std::int64_t count);

/// Row, counted from the first that was read, and column of element `index` of a block; of a matrix that is one block its rows are the blocks.
std::pair<std::size_t, std::size_t> place_of(const CodedMatrix& matrix, std::size_t block, std::size_t index);

/// Bytes of a word of the source or of a scale.
std::size_t bytes_of(const Format& format);
/// A little-endian code of so many bytes.
std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width);

/// The words of a base in another format, each rounded to nearest even.
std::vector<std::byte> converted(std::span<const std::byte> words, const Format& from, const Format& to);

/// The bits of the largest magnitude among words of the source; a NaN is above all.
std::uint32_t amax_of(std::span<const std::byte> words, const Format& source);

/// The numbers of a block's codes as doubles: the code times its scale times the number of the whole, exactly.
class CodedNumbers {
 public:
  explicit CodedNumbers(const CodedMatrix& matrix);
  double code(std::uint32_t code) const { return codes_[code]; }
  double code_at(const CodedBlocks& blocks, std::size_t index) const;
  /// The scale of a block as it is stored.
  double scale(const CodedBlocks& blocks, std::size_t block) const;
  /// What the codes of a block are multiplied by.
  double factor(const CodedBlocks& blocks, std::size_t block) const;
  double base_at(const CodedBlocks& blocks, std::size_t index) const;
  std::span<const double> codes() const& { return codes_; }
  std::span<const double> codes() const&& = delete;  ///< of a temporary they would be gone

 private:
  const CodedMatrix& matrix_;
  std::vector<double> codes_;
  std::vector<double> scales_;  ///< of bytes
  double number_ = 1;
};

}  // namespace mx::checkpoint
