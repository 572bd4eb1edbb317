#include "kernels/moe/panel.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "kernels/moe/tile.hpp"
#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"

namespace mx::kernels::moe {
namespace {

using layout::Role;

std::int64_t extent(std::size_t count) { return static_cast<std::int64_t>(count); }

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::usage, text, "panels"); }

void check_size(std::string_view what, std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  refuse(std::string(what) + " has " + std::to_string(found) + " units, its shape needs " + std::to_string(wanted));
}

/// Nibbles of even places below, those of odd places above: 0x76543210 becomes 0x75316420.
std::uint32_t paired(std::uint32_t codes) {
  if (fault::planted(fault::Fault::moe_kernel_unpaired)) return codes;
  const auto gathered = [](std::uint32_t nibbles) {
    const std::uint32_t bytes = (nibbles | nibbles >> 4) & 0x00FF00FFU;
    return (bytes | bytes >> 8) & 0xFFFFU;
  };
  return gathered(codes & 0x0F0F0F0FU) | gathered(codes >> 4 & 0x0F0F0F0FU) << 16;
}

/// One panel of one expert being written.
struct Destination {
  std::uint8_t* codes;
  std::uint8_t* scales;
  ScaleRange* range;
};

void pack_column(const PanelShape& shape, std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales, std::size_t lane,
                 const Destination& to) {
  static_assert(std::endian::native == std::endian::little);
  for (std::size_t octet = 0; octet < shape.k / 8; ++octet) {
    std::uint32_t eight = 0;
    std::memcpy(&eight, codes.data() + octet * 4, sizeof eight);
    eight = paired(eight);
    std::memcpy(to.codes + (octet * kPanelColumns + lane) * 4, &eight, sizeof eight);
  }
  for (std::size_t block = 0; block < shape.blocks(); ++block) {
    const std::uint8_t scale = scales[block];
    to.scales[block * kPanelColumns + lane] = scale;
    to.range->least = std::min(to.range->least, scale);
    to.range->most = std::max(to.range->most, scale);
  }
}

PanelMatrix empty_matrix(const PanelShape& shape) {
  PanelMatrix matrix{.shape = shape, .codes = {}, .scales = {}, .ranges = {}, .bias = {}};
  const std::size_t panels = shape.experts * shape.panels();
  matrix.codes.assign(panels * shape.blocks() * kPanelBlockDwords * 4, 0);
  matrix.scales.assign(panels * shape.blocks() * kPanelColumns, 0);
  matrix.ranges.assign(panels, {255, 0});
  return matrix;
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

void find_ranges(PanelMatrix& matrix) {
  const std::size_t blocks = matrix.shape.blocks();
  each_column(matrix.shape, [&](std::size_t, std::size_t, std::size_t, std::size_t panel, std::size_t lane) {
    ScaleRange& range = matrix.ranges[panel];
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::uint8_t scale = matrix.scales[(panel * blocks + block) * kPanelColumns + lane];
      range = {std::min(range.least, scale), std::max(range.most, scale)};
    }
  });
}

PanelShape shape_of(Role weight, const layout::Sizes& sizes) {
  const auto experts = static_cast<std::size_t>(sizes.experts);
  const auto intermediate = static_cast<std::size_t>(sizes.intermediate);
  const auto hidden = static_cast<std::size_t>(sizes.hidden);
  return layout::is_w13(weight) ? PanelShape{experts, 2, intermediate, hidden} : PanelShape{experts, 1, hidden, intermediate};
}

void require_mxfp4(const layout::Form& form) {
  if (form.format == layout::WeightFormat::mxfp4 && form.gated) return;
  throw Error(ErrorCode::unsupported, "panels hold gated mxfp4 experts, not " + std::string(layout::name_of(form.format)), "panels");
}

/// fp32 of a bias tensor's units, bf16 or fp32.
std::vector<float> bias_values(std::span<const std::uint8_t> bytes, int bits) {
  std::vector<float> values(bytes.size() * 8 / static_cast<std::size_t>(bits));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t unit = 0;
    const std::size_t width = static_cast<std::size_t>(bits) / 8;
    std::memcpy(&unit, bytes.data() + i * width, width);
    values[i] = std::bit_cast<float>(bits == 16 ? unit << 16 : unit);
  }
  return values;
}

void place_bias(PanelMatrix& matrix, const RowOrder& order, std::span<const float> bias) {
  const PanelShape& shape = matrix.shape;
  check_size("bias", bias.size(), shape.experts * shape.halves * shape.columns);
  matrix.bias.assign(shape.experts * shape.panels() * kPanelColumns, 0);
  each_column(shape, [&](std::size_t expert, std::size_t half, std::size_t i, std::size_t panel, std::size_t lane) {
    const std::size_t row = expert * shape.halves * shape.columns + order.first[half] + i * order.step;
    matrix.bias[panel * kPanelColumns + lane] = bias[row];
  });
}

PanelMatrix packed_matrix(const layout::PackedLayer& layer, const layout::BackendLayout& backend, Role weight, Role scale, Role bias) {
  layout::Setting kernel_view = layer.setting;
  kernel_view.sizes = layer.setting.padded;
  const PanelShape shape = shape_of(weight, kernel_view.sizes);
  check(shape);
  PanelMatrix matrix = empty_matrix(shape);
  const auto tensor_of = [&](Role role) -> const layout::PackedTensor& {
    if (const layout::PackedTensor* tensor = layer.find(role)) return *tensor;
    throw Error(ErrorCode::usage, "missing from the layer", std::string(layout::name_of(role)));
  };
  const auto gathered = [&](Role role, const layout::Layout& panels, Lines<std::uint8_t>& to) {
    const auto [memory, cast] = backend.build(role, kernel_view);
    if (!cast->keeps()) {
      throw Error(ErrorCode::unsupported, "is held as " + std::string(cast->name) + ": restore the layer first", std::string(layout::name_of(role)));
    }
    const std::vector<std::uint8_t> bytes = layout::apply(memory, tensor_of(role).bytes, panels);
    std::copy(bytes.begin(), bytes.end(), to.begin());
  };
  gathered(weight, panel_codes(shape), matrix.codes);
  gathered(scale, panel_scales(shape), matrix.scales);
  find_ranges(matrix);
  if (const layout::PackedTensor* tensor = layer.find(bias)) {
    const auto [memory, cast] = backend.build(bias, kernel_view);
    const std::vector<std::uint8_t> row_major = layout::to_row_major(memory, tensor->bytes);
    place_bias(matrix, row_order(shape, layout::SourceOrder::standard), bias_values(row_major, memory.unit_bits()));
  }
  return matrix;
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
  if (shape.k % kScaleBlock != 0)
    refuse("K " + std::to_string(shape.k) + " is not a multiple of " + std::to_string(kScaleBlock) + ", a scale's block");
}

layout::Layout panel_codes(const PanelShape& shape) {
  layout::Layout panels({{"E", extent(shape.experts)}, {"half", extent(shape.halves)}, {"N", extent(shape.columns)}, {"K", extent(shape.k)}}, 4);
  panels.pad("N", extent(shape.panels() * shape.lanes()), layout::PadContent::zero);
  panels.split("N", extent(shape.lanes()), "panel", "lane").split("K", 8, "octet", "place").split("place", 2, "pair", "parity");
  panels.permute({"E", "panel", "octet", "half", "lane", "parity", "pair"});
  return panels;
}

layout::Layout panel_scales(const PanelShape& shape) {
  layout::Layout panels({{"E", extent(shape.experts)}, {"half", extent(shape.halves)}, {"N", extent(shape.columns)}, {"G", extent(shape.blocks())}},
                        8);
  panels.pad("N", extent(shape.panels() * shape.lanes()), layout::PadContent::zero);
  panels.split("N", extent(shape.lanes()), "panel", "lane").permute({"E", "panel", "G", "half", "lane"});
  return panels;
}

RowOrder row_order(const PanelShape& shape, layout::SourceOrder order) {
  if (shape.halves == 2 && order == layout::SourceOrder::gpt_oss) return {{0, 1}, 2};
  return {{0, shape.columns}, 1};
}

PanelMatrix pack(const PanelShape& shape, const RowOrder& order, std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                 std::span<const float> bias) {
  check(shape);
  const std::size_t rows = shape.halves * shape.columns;
  check_size("codes", codes.size(), shape.experts * rows * shape.k / 2);
  check_size("scales", scales.size(), shape.experts * rows * shape.blocks());
  PanelMatrix matrix = empty_matrix(shape);
  const std::size_t panel_bytes = shape.blocks() * kPanelBlockDwords * 4;
  each_column(shape, [&](std::size_t expert, std::size_t half, std::size_t i, std::size_t panel, std::size_t lane) {
    const std::size_t row = expert * rows + order.first[half] + i * order.step;
    const Destination to{matrix.codes.data() + panel * panel_bytes, matrix.scales.data() + panel * shape.blocks() * kPanelColumns,
                         &matrix.ranges[panel]};
    pack_column(shape, codes.subspan(row * shape.k / 2, shape.k / 2), scales.subspan(row * shape.blocks(), shape.blocks()), lane, to);
  });
  if (!bias.empty()) place_bias(matrix, order, bias);
  return matrix;
}

PanelLayer pack(const layout::CanonicalLayer& layer) {
  require_mxfp4(layer.form);
  const auto matrix = [&](Role weight, Role scale, Role bias) {
    const PanelShape shape = shape_of(weight, layer.sizes);
    return pack(shape, row_order(shape, layer.form.order), layer[weight], layer[scale], bias_values(layer[bias], 16));
  };
  return {matrix(Role::w13_weight, Role::w13_weight_scale, Role::w13_bias), matrix(Role::w2_weight, Role::w2_weight_scale, Role::w2_bias)};
}

PanelLayer pack(const layout::PackedLayer& layer) {
  require_mxfp4(layer.setting.form);
  const layout::BackendLayout& backend = layout::backend_layout_named(layer.backend, layer.setting.form.format, layer.setting.engine);
  return {packed_matrix(layer, backend, Role::w13_weight, Role::w13_weight_scale, Role::w13_bias),
          packed_matrix(layer, backend, Role::w2_weight, Role::w2_weight_scale, Role::w2_bias)};
}

}  // namespace mx::kernels::moe
