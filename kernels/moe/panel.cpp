#include "kernels/moe/panel.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "kernels/little_endian.hpp"
#include "kernels/moe/buffers.hpp"
#include "kernels/moe/tile.hpp"
#include "kernels/relayout/plan.hpp"
#include "kernels/relayout/tensor.hpp"
#include "kernels/threads.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"

namespace mx::kernels::moe {
namespace {

using layout::Axis;
using layout::Layout;
using layout::Role;

constexpr std::int64_t kSquare = 128;

std::int64_t extent(std::size_t count) { return static_cast<std::int64_t>(count); }

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "panels"); }

void check_size(std::string_view what, std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  refuse(std::string(what) + " has " + std::to_string(found) + ", its shape needs " + std::to_string(wanted));
}

/// Columns of each half, padded to whole panels, and cut into those.
Layout in_panels(const std::vector<Axis>& axes, int bits) {
  const bool halves = axes.size() == 4;
  const std::string& rows = axes[axes.size() - 2].name;
  const std::int64_t lanes = extent(kPanelColumns) / (halves ? axes[1].extent : 1);
  Layout panels(axes, bits);
  panels.pad(rows, (axes[axes.size() - 2].extent + lanes - 1) / lanes * lanes, layout::PadContent::zero);
  panels.split(rows, lanes, "panel", "lane");
  return panels;
}

/// `between` lie between panel and column, `within` after it.
void order(Layout& panels, const std::vector<Axis>& axes, std::string_view between, std::initializer_list<std::string_view> within) {
  std::vector<std::string_view> order{axes.front().name, "panel", between};
  if (axes.size() == 4) order.emplace_back(axes[1].name);
  order.emplace_back("lane");
  order.insert(order.end(), within);
  panels.permute(order);
}

/// A tensor where a checkpoint or a backend has it.
struct Source {
  Layout memory;
  std::span<const std::uint8_t> bytes;
};

void move(const Source& from, const Layout& to, Lines<std::uint8_t>& bytes) {
  // Less does not repay waking the other threads.
  constexpr std::int64_t kWorthThreads = std::int64_t{1} << 20;
  bytes.resize(static_cast<std::size_t>(to.bytes()));
  relayout::apply(relayout::plan(from.memory, to), from.bytes, bytes, to.bytes() < kWorthThreads ? 1 : std::min(omp_get_max_threads(), kMostThreads));
}

/// Of each row its fp32 scales, [E, half, N, G], from those of squares, rows or experts.
std::vector<std::uint8_t> scales_of_rows(const PanelShape& shape, const PanelFormat& format, std::span<const std::uint8_t> scales) {
  const std::size_t along_k = format.scales_of(shape.k);
  const std::size_t rows = shape.columns;
  // How many of a half's rows share a scale; those of an expert share it in both halves.
  const bool of_expert = format.format == layout::WeightFormat::fp8_tensor;
  const std::size_t shared = format.scale_block != 0 ? kSquare : 1;
  const std::size_t groups = (rows + shared - 1) / shared;
  check_size("bytes of scales", scales.size(), 4 * shape.experts * (of_expert ? 1 : shape.halves * groups * along_k));
  std::vector<std::uint8_t> out;
  for (std::size_t half = 0; half < shape.experts * shape.halves; ++half) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t first = of_expert ? half / shape.halves : (half * groups + row / shared) * along_k;
      const auto from = scales.begin() + static_cast<std::ptrdiff_t>(4 * first);
      out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(4 * along_k));
    }
  }
  return out;
}

/// Calls with (expert, half, column of the half, panel of all experts, column of the panel).
template <class Visit>
void each_column(const PanelShape& shape, Visit visit) {
  const std::size_t lanes = shape.lanes();
  for (std::size_t expert = 0; expert < shape.experts; ++expert) {
    for (std::size_t half = 0; half < shape.halves; ++half) {
      for (std::size_t i = 0; i < shape.columns; ++i) visit(expert, half, i, expert * shape.panels() + i / lanes, half * lanes + i % lanes);
    }
  }
}

/// The byte of an E8M0 scale or the exponent field of an fp32 one; `at`: which scale of all. Of -0 and 0 there is no field.
std::optional<std::uint8_t> exponent_at(const PanelMatrix& matrix, std::size_t at) {
  if (matrix.format->scale == PanelScale::e8m0) return matrix.scales[at];
  const std::uint32_t bits = load_little_endian<std::uint32_t>(&matrix.scales[at * 4]);
  if (bits << 1 == 0) return std::nullopt;
  return static_cast<std::uint8_t>(bits >> 23);
}

/// Of the columns that are there: those of the padding have scales of 0.
void find_ranges(PanelMatrix& matrix) {
  matrix.ranges.assign(matrix.shape.experts * matrix.shape.panels(), {255, 0});
  const std::size_t blocks = matrix.format->scales_of(matrix.shape.k);
  each_column(matrix.shape, [&](std::size_t, std::size_t, std::size_t, std::size_t panel, std::size_t lane) {
    ScaleRange& range = matrix.ranges[panel];
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::optional<std::uint8_t> scale = exponent_at(matrix, (panel * blocks + block) * kPanelColumns + lane);
      if (scale) range = {std::min(range.least, *scale), std::max(range.most, *scale)};
    }
  });
}

/// One matrix's tensors, in logical axes.
struct Tensors {
  Source codes;
  std::vector<Axis> code_axes;
  Source scales;
  std::vector<Axis> scale_axes;  ///< [E, half, N, G] or [E, N, G]
  std::vector<float> expert_scales;
};

PanelMatrix packed(const PanelShape& shape, const PanelFormat& format, const Tensors& from) {
  PanelMatrix matrix{.shape = shape, .format = &format, .codes = {}, .scales = {}, .ranges = {}, .expert_scales = from.expert_scales, .bias = {}};
  check_size("experts' scales", from.expert_scales.size(), format.scale == PanelScale::e4m3 ? shape.experts : 0);
  move(from.codes, panel_codes(from.code_axes, format), matrix.codes);
  move(from.scales, panel_scales(from.scale_axes, format), matrix.scales);
  if (format.scale != PanelScale::e4m3) find_ranges(matrix);
  return matrix;
}

/// Axes [E, half, N, last].
std::vector<Axis> axes_of(const PanelShape& shape, const std::string& last, std::size_t count) {
  return {{"E", extent(shape.experts)}, {"half", extent(shape.halves)}, {"N", extent(shape.columns)}, {last, extent(count)}};
}

/// The row-major memory of such a tensor with its rows in a checkpoint's order.
Layout rows_in_order(const std::vector<Axis>& axes, int bits, layout::SourceOrder order) {
  Layout memory(axes, bits);
  if (order == layout::SourceOrder::gpt_oss) memory.permute({axes[0].name, axes[2].name, axes[1].name, axes[3].name});
  return memory;
}

PanelShape shape_of(Role weight, const layout::Sizes& sizes, const layout::Form& form) {
  const auto experts = static_cast<std::size_t>(sizes.experts);
  const auto intermediate = static_cast<std::size_t>(sizes.intermediate);
  const auto hidden = static_cast<std::size_t>(sizes.hidden);
  if (layout::is_w13(weight)) return {experts, form.gated ? std::size_t{2} : std::size_t{1}, intermediate, hidden};
  return {experts, 1, hidden, intermediate};
}

/// fp32 of units of 16 bits (bf16) or 32.
std::vector<float> fp32_values(std::span<const std::uint8_t> bytes, int bits) {
  std::vector<float> values(bytes.size() * 8 / static_cast<std::size_t>(bits));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint8_t* const from = bytes.data() + i * static_cast<std::size_t>(bits) / 8;
    values[i] =
        std::bit_cast<float>(bits == 16 ? std::uint32_t{load_little_endian<std::uint16_t>(from)} << 16 : load_little_endian<std::uint32_t>(from));
  }
  return values;
}

/// `bias` in logical order: [E, half, N].
void place_bias(PanelMatrix& matrix, std::span<const float> bias) {
  const PanelShape& shape = matrix.shape;
  check_size("bias", bias.size(), shape.experts * shape.halves * shape.columns);
  matrix.bias.assign(shape.experts * shape.panels() * kPanelColumns, 0);
  each_column(shape, [&](std::size_t expert, std::size_t half, std::size_t i, std::size_t panel, std::size_t lane) {
    matrix.bias[panel * kPanelColumns + lane] = bias[(expert * shape.halves + half) * shape.columns + i];
  });
}

/// The roles of one matrix.
struct Roles {
  Role weight, scale, global, bias;
};
constexpr Roles kW13{Role::w13_weight, Role::w13_weight_scale, Role::w13_global_scale, Role::w13_bias};
constexpr Roles kW2{Role::w2_weight, Role::w2_weight_scale, Role::w2_global_scale, Role::w2_bias};

/// A layer's matrix wherever its tensors lie; `find` gives the memory and the bytes of a role, or none.
template <class FindSource>
PanelMatrix matrix_of(const Roles& roles, const layout::Sizes& sizes, const layout::Form& form, FindSource find) {
  const PanelFormat& format = panel_format_of(form.format);
  if (layout::has_squares(form.format) && layout::block_side(sizes.group) != kSquare)
    throw Error(ErrorCode::unsupported, "no kernel multiplies squares of " + std::to_string(sizes.group), "panels");
  const PanelShape shape = shape_of(roles.weight, sizes, form);
  check(shape);
  const auto found = [&](Role role) -> Source {
    if (std::optional<Source> source = find(role)) return *source;
    throw Error(ErrorCode::usage, "missing from the layer", std::string(layout::name_of(role)));
  };
  const auto logical = [&](Role role) { return layout::to_row_major(found(role).memory, found(role).bytes); };
  Tensors tensors{
      found(roles.weight), layout::logical_axes(roles.weight, sizes, form), found(roles.scale), layout::logical_axes(roles.scale, sizes, form), {}};
  check_size("bytes of codes", tensors.codes.bytes.size(), static_cast<std::size_t>(tensors.codes.memory.bytes()));
  std::vector<std::uint8_t> repeated;
  if (format.scale == PanelScale::f32) {
    repeated = scales_of_rows(shape, format, logical(roles.scale));
    tensors.scale_axes = axes_of(shape, "G", format.scales_of(shape.k));
    tensors.scales = {Layout(tensors.scale_axes, 32), repeated};
  }
  if (format.scale == PanelScale::e4m3) tensors.expert_scales = fp32_values(logical(roles.global), 32);
  PanelMatrix matrix = packed(shape, format, tensors);
  if (const std::optional<Source> bias = find(roles.bias)) {
    place_bias(matrix, fp32_values(layout::to_row_major(bias->memory, bias->bytes), bias->memory.unit_bits()));
  }
  return matrix;
}

/// True when the backend only moves a tensor's values.
bool keeps_values(const families::BackendLayout& backend, const families::PackedLayer& layer) {
  return backend.values == nullptr &&
         std::ranges::all_of(layer.tensors, [](const layout::PackedTensor& tensor) { return tensor.cast->keeps() || layout::is_bias(tensor.role); });
}

}  // namespace

std::size_t PanelShape::lanes() const { return kPanelColumns / halves; }
std::size_t PanelShape::panels() const { return (columns + lanes() - 1) / lanes(); }

void check(const PanelShape& shape) {
  const auto positive = [](std::string_view name, std::size_t value) {
    if (value == 0) refuse(std::string(name) + " " + "0: there is nothing to hold");
  };
  positive("experts", shape.experts);
  positive("columns", shape.columns);
  positive("K", shape.k);
  if (shape.halves != 1 && shape.halves != 2) refuse(std::to_string(shape.halves) + " halves: a matrix has one, or gate and up");
  if (shape.k % kScaleBlock != 0) {
    refuse("K " + std::to_string(shape.k) + " is not a multiple of " + std::to_string(kScaleBlock) + ", the least that kernels take");
  }
}

Layout panel_codes(const std::vector<Axis>& axes, const PanelFormat& format) {
  Layout panels = in_panels(axes, format.code_bits);
  // The codes of a lane's dword, those of even places in its lower half.
  panels.split(axes.back().name, 32 / format.code_bits, "dword", "place").split("place", 2, "pair", "parity");
  if (fault::planted(fault::Fault::moe_kernel_unpaired)) {
    order(panels, axes, "dword", {"pair", "parity"});
  } else {
    order(panels, axes, "dword", {"parity", "pair"});
  }
  return panels;
}

Layout panel_scales(const std::vector<Axis>& axes, const PanelFormat& format) {
  Layout panels = in_panels(axes, static_cast<int>(8 * format.scale_bytes()));
  order(panels, axes, axes.back().name, {});
  return panels;
}

void require_apart(std::string_view place, std::span<const float> out, const PanelMatrix& matrix) {
  check_apart(place, input("out", out),
              {input("the weights' codes", std::span<const std::uint8_t>(matrix.codes)),
               input("the weights' scales", std::span<const std::uint8_t>(matrix.scales)),
               input("the experts' scales", std::span<const float>(matrix.expert_scales)), input("the bias", std::span<const float>(matrix.bias))});
}

PanelMatrix pack(const PanelShape& shape, const PanelFormat& format, layout::SourceOrder order, const RowMajor& from) {
  check(shape);
  // First of all: once there are so many codes, no product of sizes below is beyond 64 bits.
  check_size("bytes of codes", from.codes.size(),
             product_of({shape.experts, shape.halves, shape.columns, shape.k / 8, static_cast<std::size_t>(format.code_bits)}));
  const std::size_t rows = shape.experts * shape.halves * shape.columns;
  const layout::SourceOrder rows_are = shape.halves == 2 ? order : layout::SourceOrder::standard;
  const std::vector<Axis> code_axes = axes_of(shape, "K", shape.k);
  const std::vector<Axis> scale_axes = axes_of(shape, "G", format.scales_of(shape.k));
  const int scale_bits = static_cast<int>(8 * format.scale_bytes());
  std::vector<std::uint8_t> repeated;
  Source scales{rows_in_order(scale_axes, scale_bits, rows_are), from.scales};
  if (format.scale == PanelScale::f32) {
    if (rows_are == layout::SourceOrder::gpt_oss) refuse("fp32 scales come with rows in halves");
    repeated = scales_of_rows(shape, format, from.scales);
    scales = {Layout(scale_axes, 32), repeated};
  } else {
    check_size("bytes of scales", from.scales.size(), rows * format.scales_of(shape.k));
  }
  PanelMatrix matrix = packed(shape, format,
                              {{rows_in_order(code_axes, format.code_bits, rows_are), from.codes},
                               code_axes,
                               scales,
                               scale_axes,
                               {from.expert_scales.begin(), from.expert_scales.end()}});
  if (!from.bias.empty()) {
    check_size("bias", from.bias.size(), rows);
    const std::vector<Axis> axes = axes_of(shape, "one", 1);
    std::vector<std::uint8_t> bytes(from.bias.size_bytes());
    for (std::size_t i = 0; i < from.bias.size(); ++i) store_little_endian(bytes.data() + 4 * i, std::bit_cast<std::uint32_t>(from.bias[i]));
    place_bias(matrix, fp32_values(layout::to_row_major(rows_in_order(axes, 32, rows_are), bytes), 32));
  }
  return matrix;
}

PanelLayer pack(const layout::CanonicalLayer& layer) {
  const auto find = [&](Role role) -> std::optional<Source> {
    if (layer[role].empty()) return std::nullopt;
    return Source{layout::canonical(role, layer.sizes, layer.form), layer[role]};
  };
  return {matrix_of(kW13, layer.sizes, layer.form, find), matrix_of(kW2, layer.sizes, layer.form, find)};
}

PanelLayer pack(const families::PackedLayer& layer) {
  const families::BackendLayout& backend = families::backend_layout_named(layer.backend, layer.setting.form.format, layer.setting.engine);
  if (!keeps_values(backend, layer)) return pack(families::restore(layer, families::OnLoss::refuse, relayout::kMoveByPlans));
  families::Setting kernel_view = layer.setting;
  kernel_view.sizes = layer.setting.padded;
  const auto find = [&](Role role) -> std::optional<Source> {
    const layout::PackedTensor* const tensor = layer.find(role);
    if (tensor == nullptr) return std::nullopt;
    return Source{backend.build(role, kernel_view).layout, tensor->bytes};
  };
  return {matrix_of(kW13, kernel_view.sizes, kernel_view.form, find), matrix_of(kW2, kernel_view.sizes, kernel_view.form, find)};
}

}  // namespace mx::kernels::moe
