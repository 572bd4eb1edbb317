#include "props/families/kernel_view.hpp"

#include <rapidcheck.h>

#include "props/families/layers.hpp"

namespace mx::props {
namespace {

using families::PackedLayer;
using layout::CanonicalLayer;
using layout::Layout;
using layout::PackedTensor;
using layout::Role;

/// Address, in grains of the unit, of each element of the matrix that a kernel reads. Sources of smaller grains are not addresses of units, so only
/// the first grain of each is kept.
struct KernelView {
  Matrix matrix;  ///< as the documents have it
  Layout layout;
  std::vector<std::int64_t> held;     ///< the model's gather
  std::vector<std::int64_t> address;  ///< of each element's grains, in order
  std::int64_t parts;                 ///< grains of an element
};

KernelView kernel_view(const BackendCase& c, Role role) {
  KernelView view{c.formula.matrix(role, c.setting), c.row.build(role, c.setting).layout, {}, {}, 1};
  view.held = view.layout.gather();
  const int grain = view.layout.grain_bits();
  const Memory place = refined(c.formula.place(role, c.setting, view.matrix), grain);
  view.parts = view.matrix.bits / grain;
  RC_ASSERT(place.sources.size() == view.held.size());
  view.address.assign(view.matrix.units.size() * static_cast<std::size_t>(view.parts), -1);
  for (std::size_t a = 0; a < place.sources.size(); ++a) {
    if (place.sources[a] >= 0) view.address[static_cast<std::size_t>(place.sources[a])] = static_cast<std::int64_t>(a);
  }
  return view;
}

/// The logical unit that the model holds where a kernel looks for an element, or a pad code.
std::int64_t unit_read(const KernelView& view, std::int64_t element) {
  const std::int64_t entry = view.held[static_cast<std::size_t>(view.address[static_cast<std::size_t>(element * view.parts)])];
  return entry < 0 ? entry : entry / view.parts;
}

/// The bits that a kernel puts together for an element.
std::uint64_t bits_read(const KernelView& view, const PackedTensor& tensor, std::int64_t element) {
  const int grain = view.layout.grain_bits();
  std::uint64_t bits = 0;
  for (std::int64_t part = 0; part < view.parts; ++part) {
    const std::int64_t address = view.address[static_cast<std::size_t>(element * view.parts + part)];
    bits |= unit_at(tensor.bytes, address, grain) << (part * grain);
  }
  return bits;
}

/// The element of the scales' matrix that belongs to an element of the weight's, by how many rows and columns there are.
std::int64_t scale_element(const BackendCase& c, Role role, const Matrix& weight, const Matrix& scale, std::int64_t element) {
  const std::int64_t col = element % weight.cols;
  const std::int64_t row = element / weight.cols % weight.rows;
  const std::int64_t expert = element / (weight.cols * weight.rows);
  std::int64_t scale_row = row;
  std::int64_t scale_col = 0;
  switch (c.setting.form.format) {
    case layout::WeightFormat::mxfp4:
    case layout::WeightFormat::mxfp8: scale_col = col / 32; break;
    case layout::WeightFormat::nvfp4: scale_col = col / 16; break;
    case layout::WeightFormat::int4:
    case layout::WeightFormat::fp8_block_e8m0:
    case layout::WeightFormat::fp8_block: scale_col = col / 128; break;
    case layout::WeightFormat::fp8_pair:
    case layout::WeightFormat::fp8_tensor:
    case layout::WeightFormat::fp8_channel: break;
  }
  // Fewer rows of scales: one for the matrix, or one for each block of 128 rows of a shard.
  if (scale.rows == 1) {
    scale_row = 0;
  } else if (scale.rows < weight.rows) {
    const std::int64_t shards = layout::is_w13(role) ? shard_count(c.setting) : 1;
    const std::int64_t shard_rows = weight.rows / shards;
    scale_row = row / shard_rows * (scale.rows / shards) + row % shard_rows / 128;
  }
  return (expert * scale.rows + scale_row) * scale.cols + scale_col;
}

/// The second scale of an element: of its expert, or of its logical row.
double second_scale(const BackendCase& c, const PackedLayer& packed, Role global, Role channel, std::int64_t expert, std::int64_t logical_row) {
  if (const PackedTensor* of_rows = packed.find(channel)) {
    // W4A8 takes the standard order alone: rows lie as they are counted.
    return f32_number(unit_at(of_rows->bytes, logical_row, 32));
  }
  const PackedTensor* of_experts = packed.find(global);
  return of_experts == nullptr || c.setting.form.format == layout::WeightFormat::fp8_tensor ? 1 : f32_number(unit_at(of_experts->bytes, expert, 32));
}

/// Second scales of 16 bits, one for each row that a kernel reads; empty where there are none.
std::vector<double> scales_of_rows(const BackendCase& c, const PackedLayer& packed, Role global, const Matrix& weight) {
  const PackedTensor* of_rows = packed.find(global);
  if (of_rows == nullptr || of_rows->layout.grain_bits() != 16) return {};
  const Memory place = c.formula.place(global, c.setting, {weight.experts, weight.rows, 1, 16, {}});
  std::vector<double> scales(place.sources.size());
  for (std::size_t a = 0; a < scales.size(); ++a)
    scales[static_cast<std::size_t>(place.sources[a])] = f32_number(unit_at(of_rows->bytes, static_cast<std::int64_t>(a), 16) << 16);
  return scales;
}

bool same_number(double a, double b) { return a == b || (a != a && b != b); }

/// The checkpoint's number of a weight with its scales.
double checkpoint_number(const BackendCase& c, const CanonicalLayer& layer, const WeightRoles& roles, std::int64_t unit) {
  const families::Setting& s = c.setting;
  const std::int64_t cols = layout::is_w13(roles.weight) ? s.sizes.hidden : s.sizes.intermediate;
  const std::int64_t rows = layout::is_w13(roles.weight) ? s.sizes.intermediate : s.sizes.hidden;
  const std::int64_t shards = layout::is_w13(roles.weight) ? shard_count(s) : 1;
  const std::int64_t row = unit / cols;  // counted through experts and shards
  const std::int64_t expert = row / (rows * shards);
  std::int64_t scale = expert;
  switch (s.form.format) {
    case layout::WeightFormat::fp8_tensor: break;
    case layout::WeightFormat::fp8_channel: scale = row; break;
    case layout::WeightFormat::fp8_pair: scale = row / rows; break;
    case layout::WeightFormat::fp8_block_e8m0:
    case layout::WeightFormat::fp8_block:
      scale = (row / rows * ((rows + 127) / 128) + row % rows / 128) * ((cols + 127) / 128) + unit % cols / 128;
      break;
    default: scale = row * (cols / s.sizes.group) + unit % cols / s.sizes.group; break;
  }
  const Reading reading = checkpoint_reading(s.form.format);
  const double second = layer[roles.global].empty() ? 1 : f32_number(unit_at(layer[roles.global], expert, 32));
  const std::uint64_t weight_bits =
      unit_at(layer[roles.weight], checkpoint_unit(c, roles.weight, unit), layout::unit_bits(roles.weight, s.form.format));
  const std::uint64_t scale_bits = unit_at(layer[roles.scale], checkpoint_unit(c, roles.scale, scale), layout::unit_bits(roles.scale, s.form.format));
  return reading.weight(s, weight_bits) * reading.scale(s, scale_bits, second);
}

/// Logical row of w13 that a kernel finds at a row of its matrix, or a pad code; -9 when the elements of the row are of several.
std::int64_t row_read(const KernelView& view, std::int64_t expert, std::int64_t row, std::int64_t logical_cols) {
  std::int64_t found = Layout::kPadZero;
  for (std::int64_t col = 0; col < view.matrix.cols; ++col) {
    const std::int64_t unit = unit_read(view, (expert * view.matrix.rows + row) * view.matrix.cols + col);
    if (unit < 0) continue;
    if (found >= 0 && unit / logical_cols != found) return -9;
    found = unit / logical_cols;
  }
  return found;
}

}  // namespace

/// Grain of the checkpoint's memory that holds a logical unit: rows of w13 alternate in gpt-oss order.
std::int64_t checkpoint_unit(const BackendCase& c, Role role, std::int64_t unit) {
  const families::Setting& s = c.setting;
  const bool has_rows = layout::is_weight(role) || layout::is_bias(role) || layout::is_scale(role);
  if (!layout::is_w13(role) || !has_rows || is_standard(s) || !s.form.gated) return unit;
  const std::vector<layout::Axis> axes = layout::logical_axes(role, s.sizes, s.form);
  if (axes.size() < 3) return unit;
  const std::int64_t rows = axes[2].extent;
  const std::int64_t cols = axes.size() > 3 ? axes[3].extent : 1;
  const std::int64_t row = unit / cols;
  const std::int64_t shard = row / rows % 2;
  return ((row / (2 * rows) * rows + row % rows) * 2 + shard) * cols + unit % cols;
}

std::int64_t count_misread(const BackendCase& c, const CanonicalLayer& layer, const PackedLayer& packed, const WeightRoles& roles) {
  const KernelView weight = kernel_view(c, roles.weight);
  const KernelView scale = kernel_view(c, roles.scale);
  const PackedTensor& weight_tensor = *packed.find(roles.weight);
  const PackedTensor& scale_tensor = *packed.find(roles.scale);
  const Reading reading = c.formula.reading == nullptr ? reading_of(c.setting) : c.formula.reading(c.setting);
  const std::int64_t per_expert = weight.matrix.rows * weight.matrix.cols;
  const std::vector<double> of_rows = scales_of_rows(c, packed, roles.global, weight.matrix);
  const std::int64_t cols = layout::is_w13(roles.weight) ? c.setting.sizes.hidden : c.setting.sizes.intermediate;
  std::int64_t misread = 0;
  std::int64_t seen = 0;
  for (std::int64_t element = 0; element < static_cast<std::int64_t>(weight.matrix.units.size()); ++element) {
    const std::int64_t unit = unit_read(weight, element);
    if (unit < 0) continue;
    ++seen;
    const double second = of_rows.empty() ? second_scale(c, packed, roles.global, roles.channel, element / per_expert, unit / cols)
                                          : of_rows[static_cast<std::size_t>(element / weight.matrix.cols)];
    const double number =
        reading.weight(c.setting, bits_read(weight, weight_tensor, element)) *
        reading.scale(c.setting, bits_read(scale, scale_tensor, scale_element(c, roles.weight, weight.matrix, scale.matrix, element)), second);
    if (!same_number(number, checkpoint_number(c, layer, roles, unit))) ++misread;
  }
  RC_ASSERT(seen == weight.layout.size() / weight.parts);
  return misread;
}

std::int64_t count_mispaired(const BackendCase& c, Role role) {
  const KernelView view = kernel_view(c, role);
  const std::int64_t cols = layout::is_bias(role) ? 1 : c.setting.sizes.hidden;
  const std::int64_t rows = c.setting.sizes.intermediate;
  std::int64_t mispaired = 0;
  for (std::int64_t e = 0; e < c.setting.sizes.experts; ++e) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const RowPair pair = c.formula.rows(i, view.matrix.rows, c.setting);
      const bool meet = row_read(view, e, pair.gate, cols) == 2 * e * rows + i && row_read(view, e, pair.up, cols) == (2 * e + 1) * rows + i;
      mispaired += meet ? 0 : 1;
    }
  }
  return mispaired;
}

void check_bytes(const BackendCase& c, const CanonicalLayer& layer, const PackedTensor& tensor, const Memory& expected) {
  const int bits = layout::unit_bits(tensor.role, c.setting.form.format);
  const int memory_bits = c.formula.matrix(tensor.role, c.setting).bits;
  const std::int64_t parts = memory_bits / expected.grain_bits;
  for (std::size_t g = 0; g < expected.sources.size(); ++g) {
    const std::int64_t source = expected.sources[g];
    const std::uint64_t found = unit_at(tensor.bytes, static_cast<std::int64_t>(g), expected.grain_bits);
    std::uint64_t wanted = source == Layout::kPadNeutral ? 0x7F : 0;
    if (source == Layout::kPadUnwritten) continue;
    if (source >= 0) {
      const std::uint64_t unit =
          handed_on(tensor.role, c.setting, unit_at(layer[tensor.role], checkpoint_unit(c, tensor.role, source / parts), bits));
      const std::uint64_t made = c.formula.cast == nullptr ? unit : c.formula.cast(tensor.role, c.setting, unit);
      wanted = parts == 1 ? made : made >> (source % parts * expected.grain_bits) & ((std::uint64_t{1} << expected.grain_bits) - 1);
    }
    if (found != wanted) {
      RC_FAIL(std::string(layout::name_of(tensor.role)) + " grain " + std::to_string(g) + " is " + std::to_string(found) + ", expected " +
              std::to_string(wanted));
    }
  }
}

}  // namespace mx::props
