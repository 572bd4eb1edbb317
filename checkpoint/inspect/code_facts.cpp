#include "checkpoint/inspect/code_facts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/form_search.hpp"
#include "support/digest.hpp"

namespace mx::checkpoint {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// What one block's codes are.
struct BlockCodes {
  std::int64_t largest = 0;
  bool reaches_240 = false;  ///< a code of 240
  bool above_240 = false;
  bool nonzero = false;
};

constexpr std::uint64_t repeated(std::uint8_t byte) { return 0x0101010101010101U * byte; }

/// Eight bytes of codes.
void add_word(CodeKind kind, std::uint64_t word, BlockCodes& block) {
  constexpr std::uint64_t kMagnitude = repeated(0x7F), kHigh = repeated(0x80);
  if (kind == CodeKind::e2m1) {
    // The three bits of a magnitude all set.
    const std::uint64_t top = word & word >> 1 & word >> 2 & repeated(0x11);
    block.largest += std::popcount(top);
    block.nonzero = block.nonzero || (word & repeated(0x77)) != 0;
    return;
  }
  if (kind == CodeKind::int4) {
    block.nonzero = block.nonzero || word != repeated(0x88);
    return;
  }
  if (kind == CodeKind::plain || kind == CodeKind::int8) {
    block.nonzero = block.nonzero || word != 0;
    return;
  }
  const std::uint64_t magnitude = word & kMagnitude;
  block.nonzero = block.nonzero || magnitude != 0;
  // A byte that is 0 leaves its high bit clear.
  const auto equal = [&](std::uint8_t code) { return ~((magnitude ^ repeated(code)) + kMagnitude) & kHigh; };
  block.largest += std::popcount(equal(0x7E));
  block.reaches_240 = block.reaches_240 || equal(0x77) != 0;
  block.above_240 = block.above_240 || ((magnitude + repeated(0x08)) & kHigh) != 0;
}

/// Codes of 6 bits: five of a magnitude, all set in the largest.
void add_sixes(Bytes bytes, BlockCodes& block) {
  std::array<std::uint8_t, 4> codes{};
  for (std::size_t at = 0; at + 3 <= bytes.size(); at += 3) {
    unpack_six(bytes.subspan(at, 3), codes);
    for (const std::uint8_t code : codes) {
      block.largest += (code & 31U) == 31 ? 1 : 0;
      block.nonzero = block.nonzero || (code & 31U) != 0;
    }
  }
}

void add_bytes(CodeKind kind, Bytes bytes, BlockCodes& block) {
  if (row_of(kind).bits == 6) return add_sixes(bytes, block);
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    add_word(kind, word, block);
  }
  if (at == bytes.size()) return;
  std::uint64_t word = kind == CodeKind::int4 ? repeated(0x88) : 0;
  std::memcpy(&word, bytes.data() + at, bytes.size() - at);
  add_word(kind, word, block);
}

/// A number that quantizers put where a block's largest weight is 0, and that says nothing of the block. Source: NVIDIA/Model-Optimizer
/// modelopt/torch/quantization/qtensor/nvfp4_tensor.py get_weights_scaling_factor (1), and behind its division by the tensor's scale 448
/// (Model-Optimizer#1397); vllm-project/compressed-tensors src/compressed_tensors/quantization/utils/helpers.py _get_dtype_eps (1/8 of FP8, 1/4 of
/// FP4, the epsilon of BF16, FP16 and F32).
bool is_placeholder(double scale) {
  constexpr std::array kNumbers{1.0, 448.0, 0x1p-3, 0x1p-2, 0x1p-7, 0x1p-10, 0x1p-23};
  return std::ranges::find(kNumbers, scale) != kNumbers.end();
}

/// Scales of one part, as numbers.
class PartScales {
 public:
  explicit PartScales(const ExpertPart& part) {
    if (part.scale == nullptr) return;
    const support::TensorView& view = *part.scale->at->view;
    dtype_ = view.dtype->name;
    width_ = static_cast<std::size_t>(view.dtype->bits) / 8;
    const std::size_t size = view.bytes.size() / static_cast<std::size_t>(part.experts);
    first_ = size / width_ * static_cast<std::size_t>(part.expert);
    bytes_.resize(size);
    part.scale->at->file->read(view, size * static_cast<std::size_t>(part.expert), bytes_);
    for (std::size_t byte = 0; byte < 256; ++byte) all_[byte] = static_cast<std::uint8_t>(byte);
    if (width_ == 1) plain_numbers(all_, dtype_, numbers_);
  }
  std::size_t count() const { return width_ == 0 ? 0 : bytes_.size() / width_; }
  double at(std::size_t index) const { return width_ == 1 ? numbers_[bytes_[index]] : plain_number(bytes_, index, dtype_); }
  /// Another block that is not all 0 has this scale.
  void tally(std::size_t index) {
    if (width_ == 1) {
      ++of_byte_[bytes_[index]];
    } else {
      if (const double number = at(index); !std::isnan(number)) ++counts_[number];
    }
  }
  /// All that were tallied; NaN is left out.
  ScaleCounts counts() const {
    ScaleCounts all = counts_;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (of_byte_[byte] > 0 && !std::isnan(numbers_[byte])) all[numbers_[byte]] += of_byte_[byte];
    }
    return all;
  }
  /// The place in the whole tensor.
  std::int64_t place(std::size_t index) const { return static_cast<std::int64_t>(first_ + index); }
  /// From here on a scale has all its bits, and is none that a quantizer's floor made.
  double least() const {
    if (dtype_ == "F8_E4M3") return 0x1p-6;
    return width_ == 1 ? 0x1p-125 : dtype_ == "F16" ? 0x1p-14 : 0x1p-126;
  }

 private:
  std::string_view dtype_;
  std::size_t width_ = 0;
  std::size_t first_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::array<std::uint8_t, 256> all_{};
  std::array<double, 256> numbers_{};
  std::array<std::int64_t, 256> of_byte_{};
  ScaleCounts counts_;
};

/// How blocks lie in the rows of the file.
enum class Cover : std::uint8_t {
  none,     ///< no scale counts for less than the matrix
  runs,     ///< so many bytes, one behind the other
  squares,  ///< 128 x 128
  columns   ///< so many rows of one column: of what lies input-major
};

class CodePass {
 public:
  CodePass(const FoundGroup& layer_group, const FoundLayer& layer, const ExpertPart& part)
      : part_(part), kind_(code_kind_of(*layer_group.form, *part.weight)), scales_(part), turned_(layer_group.form->input_major) {
    const support::TensorView& view = *part.weight->at->view;
    size_ = view.bytes.size() / static_cast<std::uint64_t>(part.experts);
    const Projection& projection = *part.weight->projection;
    const std::int64_t outputs = projection.w13 ? projection.halves * layer.sizes.intermediate : layer.sizes.hidden;
    const std::int64_t inputs = projection.w13 ? layer.sizes.hidden : layer.sizes.intermediate;
    facts_.kind = kind_;
    const std::int64_t rows = turned_ ? inputs / (kind_ == CodeKind::e2m1 ? 2 : 1) : outputs;
    row_bytes_ = size_ / static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1));
    halves_ = projection.w13 && projection.halves == 2 && layer_group.gated;
    alternates_ = layer_group.form->form.order == layout::SourceOrder::gpt_oss && layer_group.form->converts();
    choose_cover();
  }

  CodeFacts run(const support::StopPoint& stop) {
    if (row_bytes_ == 0) return std::move(facts_);
    const std::uint64_t rows = size_ / row_bytes_, held = std::max<std::uint64_t>(TensorPieces::kPiece / row_bytes_, 1);
    const support::TensorView& view = *part_.weight->at->view;
    const std::uint64_t begin = size_ * static_cast<std::uint64_t>(part_.expert);
    std::vector<std::uint8_t> bytes;
    for (std::uint64_t row = 0; row < rows; row += held) {
      stop.check();
      bytes.resize(std::min(held, rows - row) * row_bytes_);
      part_.weight->at->file->read(view, begin + row * row_bytes_, bytes);
      whole_.add(bytes);
      for (std::uint64_t at = 0; at * row_bytes_ < bytes.size(); ++at) add_row(row + at, rows, Bytes(bytes).subspan(at * row_bytes_, row_bytes_));
    }
    return end();
  }

 private:
  std::int64_t codes_in(std::uint64_t bytes) const {
    const int bits = row_of(kind_).bits;
    return bits == 0 ? static_cast<std::int64_t>(bytes) : static_cast<std::int64_t>(bytes) * 8 / bits;
  }

  void choose_cover() {
    if (scales_.count() == 0 || kind_ == CodeKind::plain) return;
    if (in_squares(*part_.scale->row)) {
      cover_ = Cover::squares;
      facts_.block = 128 * 128;
      open_.resize((row_bytes_ + 127) / 128);
    } else if (turned_) {
      cover_ = Cover::columns;
      open_.resize(row_bytes_);
      run_ = std::max<std::uint64_t>(size_ / scales_.count(), 1);
      facts_.block = codes_in(run_);
    } else {
      cover_ = Cover::runs;
      run_ = std::max<std::uint64_t>(size_ / scales_.count(), 1);
      facts_.block = codes_in(run_);
    }
  }

  void add_row(std::uint64_t row, std::uint64_t rows, Bytes bytes) {
    look_for_likes(row, bytes);
    if (halves_) {
      const std::uint64_t half = row_bytes_ / 2;
      if (turned_) {
        for (std::size_t i = 0; i < 2; ++i) of_half_[i].add(bytes.subspan(half * i, half));
      } else {
        of_half_[alternates_ ? row % 2 : row * 2 / rows].add(bytes);
      }
    }
    switch (cover_) {
      case Cover::none: return add_uncovered(bytes);
      case Cover::runs: return add_runs(row, bytes);
      case Cover::squares: return add_squares(row, rows, bytes);
      case Cover::columns: break;
    }
    add_columns(row, bytes);
  }

  void look_for_likes(std::uint64_t row, Bytes bytes) {
    if (row == 0) {
      first_row_.assign(bytes.begin(), bytes.end());
      facts_.rows_alike = size_ > row_bytes_;
      facts_.groups_alike = cover_ == Cover::runs && run_ * 2 <= row_bytes_;
    }
    facts_.rows_alike = facts_.rows_alike && std::ranges::equal(bytes, first_row_);
    if (!facts_.groups_alike) return;
    // Rows that are like the first have its groups.
    for (std::uint64_t at = run_; row == 0 && at + run_ <= bytes.size(); at += run_) {
      if (!std::ranges::equal(bytes.subspan(at, run_), bytes.first(run_))) facts_.groups_alike = false;
    }
    facts_.groups_alike = facts_.groups_alike && facts_.rows_alike;
  }

  void add_uncovered(Bytes bytes) {
    BlockCodes block;
    add_bytes(kind_, bytes, block);
    count(block, codes_in(bytes.size()));
  }

  void count(const BlockCodes& block, std::int64_t codes) {
    facts_.codes += codes;
    facts_.largest += block.largest;
    facts_.zero = facts_.zero && !block.nonzero;
  }

  void add_runs(std::uint64_t row, Bytes bytes) {
    // A scale of a row, or of a part of it.
    const std::uint64_t in_row = row_bytes_ / run_;
    for (std::uint64_t i = 0; i < in_row; ++i) {
      BlockCodes block;
      add_bytes(kind_, bytes.subspan(i * run_, run_), block);
      close(row * in_row + i, block, facts_.block);
    }
  }

  void add_squares(std::uint64_t row, std::uint64_t rows, Bytes bytes) {
    constexpr std::uint64_t kSquare = 128;
    for (std::uint64_t i = 0; i < open_.size(); ++i)
      add_bytes(kind_, bytes.subspan(i * kSquare, std::min(kSquare, bytes.size() - i * kSquare)), open_[i]);
    if (row % kSquare != kSquare - 1 && row + 1 != rows) return;
    for (std::uint64_t i = 0; i < open_.size(); ++i) {
      const auto codes = static_cast<std::int64_t>(std::min(kSquare, bytes.size() - i * kSquare) * (row % kSquare + 1));
      close(row / kSquare * open_.size() + i, std::exchange(open_[i], {}), codes);
    }
  }

  void add_columns(std::uint64_t row, Bytes bytes) {
    for (std::uint64_t i = 0; i < bytes.size(); ++i) {
      std::uint64_t word = bytes[i];
      add_word(kind_, word, open_[i]);
    }
    if (row % run_ != run_ - 1) return;
    for (std::uint64_t i = 0; i < open_.size(); ++i) close(row / run_ * row_bytes_ + i, std::exchange(open_[i], {}), facts_.block);
  }

  /// A block whose codes have all come.
  void close(std::uint64_t scale, const BlockCodes& block, std::int64_t codes) {
    constexpr std::int64_t kMany = 16;
    count(block, codes);
    if (scale >= scales_.count()) return;
    const double number = scales_.at(scale);
    if (!block.nonzero) {
      zeros_.emplace_back(number, scales_.place(scale));
      return;
    }
    scales_.tally(scale);
    if (block.largest == codes && codes >= kMany) facts_.saturated.add(scales_.place(scale));
    if (!(number >= scales_.least())) return;
    ++facts_.blocks;
    facts_.reaching += block.largest > 0 ? 1 : 0;
    facts_.reaching_240 += block.reaches_240 && !block.above_240 ? 1 : 0;
  }

  /// Blocks of zeros: a quantizer has a number of its own for them, which is small or no other block's.
  void look_for_lost() {
    constexpr std::size_t kFew = 4;
    const bool constant = zeros_.size() >= kFew && std::ranges::all_of(zeros_, [&](const auto& one) { return one.first == zeros_.front().first; });
    for (const auto& [scale, place] : zeros_) {
      if (constant || !std::isfinite(scale) || scale < scales_.least() || is_placeholder(scale)) continue;
      if (scale > 1 || facts_.scales.contains(scale)) facts_.lost.add(place);
    }
  }

  CodeFacts end() {
    facts_.scales = scales_.counts();
    look_for_lost();
    facts_.digest = whole_.text();
    if (halves_) facts_.halves = {of_half_[0].text(), of_half_[1].text()};
    return std::move(facts_);
  }

  const ExpertPart& part_;
  CodeKind kind_;
  PartScales scales_;
  bool turned_;
  bool halves_ = false;
  bool alternates_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t row_bytes_ = 0;
  Cover cover_ = Cover::none;
  std::uint64_t run_ = 0;  ///< bytes of a block, or rows of one of a column
  std::vector<BlockCodes> open_;
  std::vector<std::uint8_t> first_row_;
  std::vector<std::pair<double, std::int64_t>> zeros_;
  support::DigestStream whole_;
  std::array<support::DigestStream, 2> of_half_;
  CodeFacts facts_;
};

}  // namespace

CodeFacts code_facts(const FoundGroup& layer_group, const FoundLayer& layer, const ExpertPart& part, const support::StopPoint& stop) {
  return CodePass(layer_group, layer, part).run(stop);
}

}  // namespace mx::checkpoint
