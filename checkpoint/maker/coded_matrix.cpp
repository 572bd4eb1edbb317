#include "checkpoint/maker/coded_matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "model/numerics/profile.hpp"

namespace mx::checkpoint {
namespace {

double number_of(std::uint32_t code, const Format& format) { return static_cast<double>(std::bit_cast<float>(to_f32(code, format))); }

/// Squares of rows by columns out of rows of the matrix, each filled up with zeros.
template <class Word>
std::vector<Word> squares_of(std::span<const Word> rows, std::size_t count, std::size_t columns, std::size_t height, std::size_t width) {
  const std::size_t across = (columns + width - 1) / width, down = (count + height - 1) / height;
  std::vector<Word> out(across * down * height * width);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t square = 0; square < across; ++square) {
      const std::size_t begin = square * width, run = std::min(width, columns - begin);
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * columns + begin), run,
                  out.begin() + static_cast<std::ptrdiff_t>((((row / height) * across + square) * height + row % height) * width));
    }
  }
  return out;
}

template <class Word>
std::vector<std::byte> squares_of_words(std::span<const std::byte> bytes, std::size_t count, std::size_t columns, std::size_t height,
                                        std::size_t width) {
  std::vector<Word> words(bytes.size() / sizeof(Word));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::vector<Word> squares = squares_of<Word>(words, count, columns, height, width);
  std::vector<std::byte> out(squares.size() * sizeof(Word));
  std::memcpy(out.data(), squares.data(), out.size());
  return out;
}

/// Every code of 16 bits in another format.
const std::vector<std::uint32_t>& table_of(const Format& from, const Format& to) {
  static std::mutex mutex;
  static std::map<std::pair<const Format*, const Format*>, std::vector<std::uint32_t>> tables;
  const std::scoped_lock lock(mutex);
  std::vector<std::uint32_t>& table = tables[{&from, &to}];
  if (table.empty()) {
    const Conversion& how = conversion(profile_named(kOcp), from, to);
    table.resize(std::size_t{1} << 16U);
    for (std::uint32_t code = 0; code < table.size(); ++code) table[code] = convert(code, from, to, how);
  }
  return table;
}

}  // namespace

std::size_t bytes_of(const Format& format) { return static_cast<std::size_t>(format.width + 7) / 8; }

std::uint32_t word_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width) {
  std::uint32_t code = 0;
  for (std::size_t byte = width; byte-- > 0;) code = code << 8U | bytes[index * width + byte];
  return code;
}

CodedBlocks blocks_of(const CodedMatrix& matrix, CodedRows rows, std::int64_t count) {
  const auto columns = static_cast<std::size_t>(matrix.columns), height = static_cast<std::size_t>(matrix.block_rows),
             width = static_cast<std::size_t>(matrix.block_columns), number = static_cast<std::size_t>(count);
  if (matrix.is_one_block()) return {1, number * columns, std::move(rows.base), std::move(rows.codes), {}};
  if (height == 1) return {number * columns / width, width, std::move(rows.base), std::move(rows.codes), std::move(rows.scales)};
  CodedBlocks blocks{.count = (number + height - 1) / height * ((columns + width - 1) / width), .length = height * width};
  blocks.base = bytes_of(*matrix.source) == 2 ? squares_of_words<std::uint16_t>(rows.base, number, columns, height, width)
                                              : squares_of_words<std::uint32_t>(rows.base, number, columns, height, width);
  blocks.codes = squares_of<std::uint8_t>(rows.codes, number, columns, height, width);
  blocks.scales = std::move(rows.scales);
  return blocks;
}

std::pair<std::size_t, std::size_t> place_of(const CodedMatrix& matrix, std::size_t block, std::size_t index) {
  if (matrix.is_one_block()) return {block, index};
  const auto height = static_cast<std::size_t>(matrix.block_rows), width = static_cast<std::size_t>(matrix.block_columns),
             across = (static_cast<std::size_t>(matrix.columns) + width - 1) / width;
  return {block / across * height + index / width, block % across * width + index % width};
}

std::vector<std::byte> converted(std::span<const std::byte> words, const Format& from, const Format& to) {
  const std::size_t in = bytes_of(from), out = bytes_of(to), count = words.size() / in;
  std::vector<std::byte> made(count * out);
  const Conversion& how = conversion(profile_named(kOcp), from, to);
  const std::vector<std::uint32_t>* const table = in == 2 ? &table_of(from, to) : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, words.data() + i * in, in);
    word = table != nullptr ? (*table)[word] : convert(word, from, to, how);
    std::memcpy(made.data() + i * out, &word, out);
  }
  return made;
}

std::uint32_t amax_of(std::span<const std::byte> words, const Format& source) {
  const auto largest = [&]<class Word>(Word mask) {
    Word most = 0;
    for (std::size_t i = 0; i < words.size() / sizeof(Word); ++i) {
      Word word = 0;
      std::memcpy(&word, words.data() + i * sizeof(Word), sizeof(Word));
      most = std::max<Word>(most, word & mask);
    }
    return std::uint32_t{most};
  };
  return bytes_of(source) == 2 ? largest(std::uint16_t{0x7FFF}) : largest(std::uint32_t{0x7FFFFFFF});
}

CodedNumbers::CodedNumbers(const CodedMatrix& matrix) : matrix_(matrix) {
  for (std::uint32_t code = 0; code >> static_cast<unsigned>(matrix.element->width) == 0; ++code) codes_.push_back(number_of(code, *matrix.element));
  if (bytes_of(*matrix.scale) == 1) {
    for (std::uint32_t code = 0; code < 256; ++code) scales_.push_back(number_of(code, *matrix.scale));
  }
  if (!matrix.number) return;
  const float stored = std::bit_cast<float>(matrix.number->bits);
  // As engines compute it: in fp32.
  number_ = static_cast<double>(matrix.number->divides ? 1.0F / stored : stored);
}

double CodedNumbers::code_at(const CodedBlocks& blocks, std::size_t index) const {
  if (matrix_.element->width == 4) return codes_[std::uint32_t{blocks.codes[index / 2]} >> 4 * (index % 2) & 15U];
  return codes_[blocks.codes[index]];
}

double CodedNumbers::scale(const CodedBlocks& blocks, std::size_t block) const {
  if (matrix_.is_one_block()) return static_cast<double>(std::bit_cast<float>(matrix_.number->bits));
  if (!scales_.empty()) return scales_[blocks.scales[block]];
  return number_of(word_at(blocks.scales, block, bytes_of(*matrix_.scale)), *matrix_.scale);
}

double CodedNumbers::factor(const CodedBlocks& blocks, std::size_t block) const {
  return matrix_.is_one_block() ? number_ : scale(blocks, block) * number_;
}

double CodedNumbers::base_at(const CodedBlocks& blocks, std::size_t index) const {
  std::uint32_t word = 0;
  std::memcpy(&word, blocks.base.data() + index * bytes_of(*matrix_.source), bytes_of(*matrix_.source));
  if (matrix_.source == &kBf16) return static_cast<double>(std::bit_cast<float>(word << 16U));
  return number_of(word, *matrix_.source);
}

}  // namespace mx::checkpoint
