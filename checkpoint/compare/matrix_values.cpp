#include "checkpoint/compare/matrix_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "checkpoint/source_memory.hpp"
#include "model/numerics/convert.hpp"

namespace mx::checkpoint {
namespace {

/// Bytes of an input-major tensor that are held at a time.
constexpr std::uint64_t kSlab = std::uint64_t{2} << 20;

/// Rows and columns of a square of FP8.
constexpr std::int64_t kSquare = 128;

/// The number of each code: of a format of exponents and mantissas, of int4 with its offset, of int8.
using Numbers = std::array<double, 256>;
Numbers numbers_of(const CodeKindRow& row) {
  Numbers numbers{};
  for (std::uint32_t code = 0; row.bits > 0 && code >> static_cast<unsigned>(row.bits) == 0; ++code) {
    numbers[code] = row.element != nullptr       ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(to_f32(code, *row.element))))
                    : row.kind == CodeKind::int4 ? static_cast<double>(code) - 8
                                                 : static_cast<double>(static_cast<std::int8_t>(code));
  }
  return numbers;
}
const Numbers& numbers_of(CodeKind kind) {
  static const auto kAll = [] {
    std::array<Numbers, static_cast<std::size_t>(CodeKind::plain) + 1> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = numbers_of(row_of(static_cast<CodeKind>(i)));
    return all;
  }();
  return kAll[static_cast<std::size_t>(kind)];
}

std::uint32_t code_at(std::span<const std::uint8_t> bytes, std::size_t index, std::size_t width) {
  std::uint32_t code = 0;
  for (std::size_t byte = width; byte-- > 0;) code = code << 8U | bytes[index * width + byte];
  return code;
}

std::size_t width_of(const FoundTensor& tensor) { return static_cast<std::size_t>(tensor.at->view->dtype->bits) / 8; }

}  // namespace

bool is_plain(std::string_view dtype) { return dtype == "BF16" || dtype == "F16" || dtype == "F32"; }

void plain_numbers(std::span<const std::uint8_t> bytes, std::string_view dtype, std::span<double> out) {
  if (dtype == "F8_E4M3") {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = numbers_of(CodeKind::e4m3)[bytes[i]];
    return;
  }
  const Widening* const widening = widening_of(dtype, 32);
  const std::size_t width = widening == nullptr ? 4 : static_cast<std::size_t>(widening->bits) / 8;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t code = code_at(bytes, i, width);
    out[i] = static_cast<double>(std::bit_cast<float>(widening == nullptr ? code : widening->widen(code)));
  }
}

double plain_number(std::span<const std::uint8_t> bytes, std::size_t index, std::string_view dtype) {
  const Widening* const widening = widening_of(dtype, 32);
  const std::size_t width = dtype == "F8_E4M3" ? 1 : widening == nullptr ? 4 : static_cast<std::size_t>(widening->bits) / 8;
  double number = 0;
  plain_numbers(bytes.subspan(index * width), dtype, std::span(&number, 1));
  return number;
}

int plain_bits(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, int>, 2> kBits{{{"BF16", 8}, {"F16", 11}}};
  const auto* const row = std::ranges::find(kBits, dtype, &std::pair<std::string_view, int>::first);
  return row == kBits.end() ? 0 : row->second;
}

std::string_view name_of(MatrixKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"gate", "up", "down"};
  return kNames[static_cast<std::size_t>(kind)];
}

MatrixValues::MatrixValues(const FoundGroup& layer_group, const FoundLayer& layer, int expert, MatrixKind kind)
    : layer_group_(layer_group), expert_(expert), kind_(kind), group_(layer.sizes.group) {
  const bool w13 = kind != MatrixKind::down;
  rows_ = w13 ? layer.sizes.intermediate : layer.sizes.hidden;
  columns_ = w13 ? layer.sizes.hidden : layer.sizes.intermediate;
  const int half = kind == MatrixKind::up ? 1 : 0;
  for (const FoundTensor& tensor : layer.experts) {
    const Projection& projection = *tensor.projection;
    const bool is_of = projection.w13 == w13 && (!w13 || projection.halves == 2 || !layer_group.gated || projection.half == half) &&
                       (!layer_group.naming->numbered || tensor.expert == expert);
    if (!is_of) continue;
    rows_in_file_ = projection.halves * rows_;
    if (tensor.row->piece == Piece::weight) weight_.tensor = &tensor;
    if (tensor.row->piece == Piece::scale && !tensor.row->shapes.empty()) scale_.tensor = &tensor;
    if (!tensor.row->shapes.empty() || tensor.row->piece == Piece::bias) continue;
    const std::vector<std::uint8_t> bytes = tensor.at->file->read(*tensor.at->view);
    const std::size_t count = bytes.size() / width_of(tensor);
    const double number = plain_number(bytes, count == 1 ? 0 : static_cast<std::size_t>(expert), tensor.at->view->dtype->name);
    number_ = {number, tensor.row->meaning};
    // As the engine computes it: in fp32.
    global_ *= tensor.row->meaning == Meaning::reciprocal ? static_cast<double>(1.0F / static_cast<float>(number)) : number;
  }
}

std::string MatrixValues::name() const {
  if (layer_group_.naming->numbered) return std::string(weight_.tensor->name);
  return fmt::format("{}, expert {}, {}", weight_.tensor->name, expert_, name_of(kind_));
}

/// Counted from the first row of the tensor.
std::uint64_t MatrixValues::row_in_file(std::int64_t row) const {
  const std::int64_t before = layer_group_.naming->numbered ? 0 : expert_ * rows_in_file_;
  const std::int64_t half = kind_ == MatrixKind::up ? 1 : 0;
  if (rows_in_file_ == rows_) return static_cast<std::uint64_t>(before + row);
  const bool alternates = layer_group_.form->form.order == layout::SourceOrder::gpt_oss && layer_group_.form->converts();
  return static_cast<std::uint64_t>(before + (alternates ? 2 * row + half : half * rows_ + row));
}

/// Rows of the matrix that lie at equal distances in the file, one behind the other.
std::vector<std::uint8_t> MatrixValues::rows_of(const Part& part, std::int64_t first, std::int64_t count, std::uint64_t row_bytes) const {
  const std::uint64_t begin = row_in_file(first), step = count > 1 ? row_in_file(first + 1) - begin : 1;
  std::vector<std::uint8_t> bytes(((static_cast<std::uint64_t>(count) - 1) * step + 1) * row_bytes);
  part.tensor->at->file->read(*part.tensor->at->view, begin * row_bytes, bytes);
  for (std::uint64_t row = 1; step > 1 && row < static_cast<std::uint64_t>(count); ++row)
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(row * step * row_bytes), row_bytes,
                bytes.begin() + static_cast<std::ptrdiff_t>(row * row_bytes));
  bytes.resize(static_cast<std::size_t>(count) * row_bytes);
  return bytes;
}

/// Rows of the other half that lie before this matrix's on the axis of outputs.
std::int64_t MatrixValues::row_before() const { return kind_ == MatrixKind::up ? rows_ : 0; }

void MatrixValues::hold(Part& part, std::int64_t first, std::int64_t count, std::int64_t across) const {
  if (first >= part.held_first && first + count <= part.held_first + part.held_count) return;
  const support::TensorView& view = *part.tensor->at->view;
  const std::uint64_t unit = width_of(*part.tensor);
  // One of each output is [E, 2I, 1] or [E, 1, 2I]: the same bytes.
  const std::uint64_t inputs = view.bytes.size() / (static_cast<std::uint64_t>(view.shape[0]) * static_cast<std::uint64_t>(across) * unit);
  part.held_first = first;
  part.held_count = std::min(std::max(count, static_cast<std::int64_t>(kSlab / (inputs * unit))), across - first);
  const std::uint64_t run = static_cast<std::uint64_t>(part.held_count) * unit;
  part.held.resize(inputs * run);
  for (std::uint64_t input = 0; input < inputs; ++input) {
    const std::uint64_t at =
        (static_cast<std::uint64_t>(expert_) * inputs + input) * static_cast<std::uint64_t>(across) + static_cast<std::uint64_t>(first);
    part.tensor->at->file->read(view, at * unit, std::span(part.held).subspan(input * run, run));
  }
}

const CodeKindRow& MatrixValues::codes() const { return codes_of(*layer_group_.form, *weight_.tensor); }

std::uint64_t MatrixValues::row_bytes() const {
  const int bits = codes().bits == 0 ? weight_.tensor->at->view->dtype->bits : codes().bits;
  return static_cast<std::uint64_t>(columns_) * static_cast<std::uint64_t>(bits) / 8;
}

std::vector<std::uint8_t> MatrixValues::turned(Part& part, std::int64_t first, std::int64_t count, std::int64_t across) const {
  hold(part, first, count, across);
  const std::size_t unit = width_of(*part.tensor), run = static_cast<std::size_t>(part.held_count) * unit, inputs = part.held.size() / run,
                    begin = static_cast<std::size_t>(first - part.held_first);
  std::vector<std::uint8_t> bytes(inputs * static_cast<std::size_t>(count) * unit);
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    for (std::size_t input = 0; input < inputs; ++input)
      std::copy_n(part.held.data() + input * run + (begin + r) * unit, unit, bytes.data() + (r * inputs + input) * unit);
  }
  return bytes;
}

std::vector<std::uint8_t> MatrixValues::code_rows(std::int64_t first, std::int64_t count) {
  if (layer_group_.form->input_major) return turned(weight_, first + row_before(), count, rows_in_file_);
  std::vector<std::uint8_t> bytes = rows_of(weight_, first, count, row_bytes());
  if (codes().bits != 6) return bytes;
  std::vector<std::uint8_t> each(bytes.size() / 3 * 4);
  unpack_six(bytes, each);
  return each;
}

MatrixValues::Cover MatrixValues::cover() const {
  if (scale_.tensor == nullptr) return {0, 0};
  const std::span<const Extent> extents = scale_.tensor->row->shapes.front().extents;
  if (std::ranges::find(extents, Extent::blocks_of_rows) != extents.end()) return {kSquare, kSquare};
  return {1, std::ranges::find(extents, Extent::groups) != extents.end() ? group_ : columns_};
}

std::vector<std::uint8_t> MatrixValues::scale_rows(std::int64_t first, std::int64_t count) {
  const auto [height, width] = cover();
  if (height == 0) return {};
  const auto in_blocks = [height = height](std::int64_t rows) { return (rows + height - 1) / height; };
  if (layer_group_.form->input_major) {
    // On the axis of outputs, which all rows of gate and up share.
    const std::int64_t begin = (first + row_before()) / height, end = in_blocks(first + row_before() + count);
    return turned(scale_, begin, end - begin, in_blocks(rows_in_file_));
  }
  const std::uint64_t row_bytes = static_cast<std::uint64_t>((columns_ + width - 1) / width) * width_of(*scale_.tensor);
  if (height == 1) return rows_of(scale_, first, count, row_bytes);
  // Where all experts, or gate and up, share a tensor, squares of others lie before.
  const std::int64_t experts = layer_group_.naming->numbered ? 0 : expert_ * in_blocks(rows_in_file_),
                     before = experts + (kind_ == MatrixKind::up && rows_in_file_ != rows_ ? in_blocks(rows_) : 0), begin = first / height;
  std::vector<std::uint8_t> bytes(static_cast<std::uint64_t>(in_blocks(first + count) - begin) * row_bytes);
  scale_.tensor->at->file->read(*scale_.tensor->at->view, static_cast<std::uint64_t>(before + begin) * row_bytes, bytes);
  return bytes;
}

void MatrixValues::read_codes(std::int64_t first, std::span<double> out) {
  const std::vector<std::uint8_t> bytes = code_rows(first, static_cast<std::int64_t>(out.size()) / columns_);
  if (codes().kind == CodeKind::plain) return plain_numbers(bytes, dtype(), out);
  const Numbers& numbers = numbers_of(codes().kind);
  if (codes().bits == 4) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = numbers[std::uint32_t{bytes[i / 2]} >> 4 * (i % 2) & 15U];
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = numbers[bytes[i]];
  }
}

void MatrixValues::scale(std::int64_t first, std::span<double> out) {
  const auto columns = static_cast<std::size_t>(columns_), rows = out.size() / columns;
  const auto [height, width] = cover();
  const std::vector<std::uint8_t> bytes = scale_rows(first, static_cast<std::int64_t>(rows));
  const auto run = static_cast<std::size_t>(width), in_row = (columns + run - 1) / run;
  // Squares of input-major halves are counted from the first row of both.
  const std::int64_t begin = first + (layer_group_.form->input_major ? row_before() : 0);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = static_cast<std::size_t>((begin + static_cast<std::int64_t>(r)) / height - begin / height);
    for (std::size_t g = 0; g < in_row; ++g) {
      const double factor = plain_number(bytes, row * in_row + g, scale_dtype());
      for (std::size_t k = g * run; k < std::min(columns, (g + 1) * run); ++k) out[r * columns + k] *= factor;
    }
  }
}

std::optional<ScaledCodes> MatrixValues::scaled_codes() {
  if (layer_group_.form->input_major || codes().kind == CodeKind::plain) return std::nullopt;
  const auto read = [this](std::int64_t first, std::span<double> out) { read_codes(first, out); };
  const auto [height, width] = cover();
  if (height == 0) return ScaledCodes{rows_, columns_, rows_, columns_, {static_cast<float>(global_)}, 1, read};
  ScaledCodes made{rows_, columns_, height, width, {}, global_, read};
  const std::vector<std::uint8_t> bytes = scale_rows(0, rows_);
  for (std::int64_t i = 0; i < made.down() * made.across(); ++i)
    made.scales.push_back(static_cast<float>(plain_number(bytes, static_cast<std::size_t>(i), scale_dtype())));
  return made;
}

void MatrixValues::read(std::int64_t first, std::span<double> out) {
  read_codes(first, out);
  if (scale_.tensor != nullptr) scale(first, out);
  for (double& value : out) value *= global_;
}

}  // namespace mx::checkpoint
