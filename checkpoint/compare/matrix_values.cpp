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

/// Numbers of codes with so many bits, low to high: signed numbers of a format of exponents and mantissas.
template <std::size_t kCount>
std::array<double, kCount> table_of(const Format& format) {
  std::array<double, kCount> table{};
  for (std::uint32_t code = 0; code < kCount; ++code)
    table[code] = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(to_f32(code, format))));
  return table;
}
const std::array<double, 16>& e2m1() {
  static const auto table = table_of<16>(kE2m1);
  return table;
}
const std::array<double, 256>& e4m3() {
  static const auto table = table_of<256>(kE4m3fn);
  return table;
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
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = e4m3()[bytes[i]];
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

void MatrixValues::read_codes(std::int64_t first, std::span<double> out) {
  const FoundTensor& weight = *weight_.tensor;
  const auto columns = static_cast<std::size_t>(columns_), rows = out.size() / columns;
  const std::string_view dtype = weight.at->view->dtype->name;
  const bool plain = is_plain(dtype), four = !plain && dtype != "F8_E4M3";
  const std::uint64_t row_bytes = plain ? columns * width_of(weight) : four ? columns / 2 : columns;
  const bool is_int4 = layer_group_.form->form.format == layout::WeightFormat::int4 && !plain;
  const auto number_of_code = [&](std::uint32_t code) { return is_int4 ? static_cast<double>(code) - 8 : e2m1()[code]; };
  const std::vector<std::uint8_t> bytes = rows_of(weight_, first, static_cast<std::int64_t>(rows), row_bytes);
  if (!four) return plain_numbers(bytes, dtype, out);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number_of_code(std::uint32_t{bytes[i / 2]} >> 4 * (i % 2) & 15U);
}

void MatrixValues::read_input_major(std::int64_t first, std::span<double> out) {
  const auto columns = static_cast<std::size_t>(columns_), rows = out.size() / columns;
  const std::string_view dtype = weight_.tensor->at->view->dtype->name;
  const bool four = !is_plain(dtype) && dtype != "F8_E4M3";
  hold(weight_, first + row_before(), static_cast<std::int64_t>(rows), rows_in_file_);
  const auto begin = static_cast<std::size_t>(first + row_before() - weight_.held_first), held = static_cast<std::size_t>(weight_.held_count),
             unit = width_of(*weight_.tensor);
  std::vector<double> of_input(rows);
  for (std::size_t k = 0; k < columns; ++k) {
    const std::span<const std::uint8_t> units = std::span(weight_.held).subspan(((four ? k / 2 : k) * held + begin) * unit, rows * unit);
    if (!four) plain_numbers(units, dtype, of_input);
    for (std::size_t r = 0; r < rows; ++r) out[r * columns + k] = four ? e2m1()[std::uint32_t{units[r]} >> 4 * (k % 2) & 15U] : of_input[r];
  }
}

void MatrixValues::scale(std::int64_t first, std::span<double> out) {
  const auto columns = static_cast<std::size_t>(columns_), rows = out.size() / columns;
  const FoundTensor& scales = *scale_.tensor;
  const std::string_view dtype = scales.at->view->dtype->name;
  constexpr std::size_t kBlock = 128;
  const std::span<const Extent> extents = scales.row->shapes.front().extents;
  const bool blocks = std::ranges::find(extents, Extent::blocks_of_rows) != extents.end();
  const bool groups = std::ranges::find(extents, Extent::groups) != extents.end();
  const std::size_t run = blocks ? kBlock : groups ? static_cast<std::size_t>(group_) : columns;
  const std::size_t in_row = (columns + run - 1) / run;
  const auto in_blocks = [](std::int64_t count) { return (static_cast<std::size_t>(count) + kBlock - 1) / kBlock; };
  const std::size_t begin = blocks ? static_cast<std::size_t>(first) / kBlock : static_cast<std::size_t>(first);
  const std::size_t end = blocks ? (static_cast<std::size_t>(first) + rows - 1) / kBlock + 1 : begin + rows;
  std::vector<std::uint8_t> bytes;
  if (blocks && !layer_group_.form->input_major) {
    const std::size_t row_bytes = in_row * width_of(scales);
    bytes.resize((end - begin) * row_bytes);
    // Where all experts, or gate and up, share a tensor, squares of others lie before.
    const std::size_t experts = layer_group_.naming->numbered ? 0 : static_cast<std::size_t>(expert_) * in_blocks(rows_in_file_);
    const std::size_t before = experts + (kind_ == MatrixKind::up && rows_in_file_ != rows_ ? in_blocks(rows_) : 0);
    scales.at->file->read(*scales.at->view, (before + begin) * row_bytes, bytes);
  } else if (!layer_group_.form->input_major) {
    bytes = rows_of(scale_, first, static_cast<std::int64_t>(rows), in_row * width_of(scales));
  }
  // On the axis of outputs, which all rows of gate and up share.
  const bool turned = layer_group_.form->input_major;
  const auto place_of = [&](std::size_t r) {
    const std::int64_t row = first + static_cast<std::int64_t>(r) + row_before();
    return blocks ? row / static_cast<std::int64_t>(kBlock) : row;
  };
  if (turned) {
    const std::int64_t across = blocks ? static_cast<std::int64_t>(in_blocks(rows_in_file_)) : rows_in_file_;
    hold(scale_, place_of(0), place_of(rows - 1) - place_of(0) + 1, across);
  }
  const auto held = static_cast<std::size_t>(scale_.held_count);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t row = blocks ? (static_cast<std::size_t>(first) + r) / kBlock - begin : r;
    const std::size_t place = turned ? static_cast<std::size_t>(place_of(r) - scale_.held_first) : 0;
    for (std::size_t g = 0; g < in_row; ++g) {
      const double factor = turned ? plain_number(scale_.held, g * held + place, dtype) : plain_number(bytes, row * in_row + g, dtype);
      for (std::size_t k = g * run; k < std::min(columns, (g + 1) * run); ++k) out[r * columns + k] *= factor;
    }
  }
}

void MatrixValues::read(std::int64_t first, std::span<double> out) {
  if (layer_group_.form->input_major) {
    read_input_major(first, out);
  } else {
    read_codes(first, out);
  }
  if (scale_.tensor != nullptr) scale(first, out);
  for (double& value : out) value *= global_;
}

}  // namespace mx::checkpoint
