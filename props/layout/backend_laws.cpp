// Laws of the conversions, one law for each family of backends, over every row of its table and every version of the engine.

#include <algorithm>
#include <array>
#include <concepts>

#include "model/error.hpp"
#include "model/layout/address_map.hpp"
#include "props/layout/backend_case.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"
#include "props/layout/layers.hpp"

namespace mx::props {
namespace {

using layout::CanonicalLayer;
using layout::Layout;
using layout::PackedLayer;
using layout::PackedTensor;
using layout::Role;

// What is packed for one backend is neither a checkpoint nor anything that converts into one by itself: a second application does not compile.
static_assert(!std::convertible_to<PackedLayer, CanonicalLayer>);
static_assert(!std::constructible_from<CanonicalLayer, PackedLayer>);

layout::TensorPlan plan_of(const BackendCase& c, Role role) { return c.row.build(role, c.setting); }


/// Grain of the checkpoint's memory that holds a logical unit: rows of w13 alternate in gpt-oss order.
std::int64_t checkpoint_unit(const BackendCase& c, Role role, std::int64_t unit) {
  const layout::Setting& s = c.setting;
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
      const std::uint64_t unit = unit_at(layer[tensor.role], checkpoint_unit(c, tensor.role, source / parts), bits);
      const std::uint64_t made = c.formula.cast == nullptr ? unit : c.formula.cast(tensor.role, c.setting, unit);
      wanted = parts == 1 ? made : made >> (source % parts * expected.grain_bits) & ((std::uint64_t{1} << expected.grain_bits) - 1);
    }
    if (found != wanted) {
      RC_FAIL(std::string(layout::name_of(tensor.role)) + " grain " + std::to_string(g) + " is " + std::to_string(found) + ", expected " +
              std::to_string(wanted));
    }
  }
}

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
  KernelView view{c.formula.matrix(role, c.setting), plan_of(c, role).layout, {}, {}, 1};
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
std::int64_t scale_element(const BackendCase& c, const Matrix& weight, const Matrix& scale, std::int64_t element) {
  const std::int64_t col = element % weight.cols;
  const std::int64_t row = element / weight.cols % weight.rows;
  const std::int64_t expert = element / (weight.cols * weight.rows);
  std::int64_t scale_row = row;
  std::int64_t scale_col = col;
  switch (c.setting.form.format) {
    case layout::WeightFormat::mxfp4:
    case layout::WeightFormat::mxfp8: scale_col = col / 32; break;
    case layout::WeightFormat::nvfp4: scale_col = col / 16; break;
    case layout::WeightFormat::int4:
    case layout::WeightFormat::fp8_block: scale_col = col / 128; break;
    case layout::WeightFormat::fp8_tensor:
    case layout::WeightFormat::fp8_channel: scale_col = 0; break;
  }
  // Fewer rows of scales: one for the matrix, or blocks of 128 rows of each shard.
  if (scale.rows == 1)
    scale_row = 0;
  else if (scale.rows < weight.rows) {
    const std::int64_t shards = scale.rows % 2 == 0 && weight.rows % 2 == 0 ? c.setting.form.gated ? 2 : 1 : 1;
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

bool same_number(double a, double b) { return a == b || (a != a && b != b); }

struct WeightRoles {
  Role weight;
  Role scale;
  Role global;
  Role channel;
};
constexpr std::array<WeightRoles, 2> kWeights{{{Role::w13_weight, Role::w13_weight_scale, Role::w13_global_scale, Role::w13_channel_scale},
                                               {Role::w2_weight, Role::w2_weight_scale, Role::w2_global_scale, Role::w2_channel_scale}}};

/// The checkpoint's number of a weight with its scales.
double checkpoint_number(const BackendCase& c, const CanonicalLayer& layer, const WeightRoles& roles, std::int64_t unit) {
  const layout::Setting& s = c.setting;
  const std::int64_t cols = layout::is_w13(roles.weight) ? s.sizes.hidden : s.sizes.intermediate;
  const std::int64_t rows = layout::is_w13(roles.weight) ? s.sizes.intermediate : s.sizes.hidden;
  const std::int64_t shards = layout::is_w13(roles.weight) ? shard_count(s) : 1;
  const std::int64_t row = unit / cols;  // counted through experts and shards
  const std::int64_t expert = row / (rows * shards);
  std::int64_t scale = expert;
  switch (s.form.format) {
    case layout::WeightFormat::fp8_tensor: break;
    case layout::WeightFormat::fp8_channel: scale = row; break;
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

/// How many elements of a weight a kernel dequantizes to another number than the checkpoint's.
std::int64_t count_misread(const BackendCase& c, const CanonicalLayer& layer, const PackedLayer& packed, const WeightRoles& roles) {
  const KernelView weight = kernel_view(c, roles.weight);
  const KernelView scale = kernel_view(c, roles.scale);
  const PackedTensor& weight_tensor = *packed.find(roles.weight);
  const PackedTensor& scale_tensor = *packed.find(roles.scale);
  const Reading reading = c.formula.reading == nullptr ? checkpoint_reading(c.setting.form.format) : c.formula.reading(c.setting);
  const std::int64_t per_expert = weight.matrix.rows * weight.matrix.cols;
  const std::int64_t cols = layout::is_w13(roles.weight) ? c.setting.sizes.hidden : c.setting.sizes.intermediate;
  std::int64_t misread = 0;
  std::int64_t seen = 0;
  for (std::int64_t element = 0; element < static_cast<std::int64_t>(weight.matrix.units.size()); ++element) {
    const std::int64_t unit = unit_read(weight, element);
    if (unit < 0) continue;
    ++seen;
    const double second = second_scale(c, packed, roles.global, roles.channel, element / per_expert, unit / cols);
    const double number = reading.weight(c.setting, bits_read(weight, weight_tensor, element)) *
                          reading.scale(c.setting, bits_read(scale, scale_tensor, scale_element(c, weight.matrix, scale.matrix, element)), second);
    if (!same_number(number, checkpoint_number(c, layer, roles, unit))) ++misread;
  }
  RC_ASSERT(seen == weight.layout.size() / weight.parts);
  return misread;
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

/// How many pairs of rows of a tensor of w13 are not gate i and up i.
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

bool holds(bool (*predicate)(const layout::Setting&), const BackendCase& c) { return predicate == nullptr || predicate(c.setting); }

PackedLayer converted(const BackendCase& c, const CanonicalLayer& layer) { return layout::convert(layer, c.row, c.setting); }

/// The units that the model places, for compare.
layout::LayerUnits placed(const BackendCase& c, const CanonicalLayer& layer) {
  std::vector<layout::Loss> losses;
  return layout::placed_units(layer, c.row, c.setting, losses);
}

/// A prime number of bytes, so that they repeat out of step with rows and tiles.
constexpr std::int64_t kRandomContent = 509;

void fill_padding(PackedTensor& tensor, const Memory& expected, std::span<const std::uint8_t> content) {
  std::vector<std::uint8_t> all(tensor.bytes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = content[i % content.size()];
  for (std::size_t g = 0; g < expected.sources.size(); ++g) {
    if (expected.sources[g] >= 0) continue;
    const auto grain = static_cast<std::int64_t>(g);
    put_unit(tensor.bytes, grain, expected.grain_bits, unit_at(all, grain, expected.grain_bits));
  }
}

std::string content_text(std::span<const std::uint8_t> content) { return content.size() == 1 ? "bytes " + std::to_string(content[0]) : "random bytes"; }

std::int64_t lost_units(const std::vector<layout::Loss>& losses, Role role) {
  std::int64_t units = 0;
  for (const layout::Loss& loss : losses) units += loss.role == role ? loss.units : 0;
  return units;
}

std::int64_t differing_units(const BackendCase& c, Role role, const CanonicalLayer& a, const CanonicalLayer& b) {
  RC_ASSERT(a[role].size() == b[role].size());
  const int bits = layout::unit_bits(role, c.setting.form.format);
  std::int64_t differing = 0;
  for (std::int64_t u = 0; u < static_cast<std::int64_t>(a[role].size()) * 8 / bits; ++u) {
    differing += unit_at(a[role], u, bits) != unit_at(b[role], u, bits) ? 1 : 0;
  }
  return differing;
}

/// What any layer loses: no more than is reported, and nothing silently.
void check_losses(const BackendCase& c, const CanonicalLayer& layer) {
  const PackedLayer packed = converted(c, layer);
  if (!packed.losses.empty()) RC_ASSERT_THROWS_AS(layout::restore(packed), Error);
  if (c.row.values != nullptr && c.row.undo_values == nullptr) {
    RC_ASSERT_THROWS_AS(layout::restore(packed, layout::OnLoss::mark), Error);
    return;
  }
  const CanonicalLayer back = layout::restore(packed, layout::OnLoss::mark);
  for (Role role : layout::kAllRoles) {
    const std::int64_t differing = differing_units(c, role, back, layer);
    if (differing > lost_units(packed.losses, role)) {
      RC_FAIL(std::string(layout::name_of(role)) + ": " + std::to_string(differing) + " units are restored otherwise, " +
              std::to_string(lost_units(packed.losses, role)) + " are reported lost");
    }
  }
}

void check_restored(const BackendCase& c, const CanonicalLayer& layer) {
  const PackedLayer packed = converted(c, layer);
  RC_ASSERT(packed.losses.empty());
  const CanonicalLayer back = layout::restore(packed);
  RC_ASSERT(back.sizes == layer.sizes);
  RC_ASSERT(back.form == layer.form);
  for (Role role : layout::kAllRoles) {
    if (back[role] != layer[role]) RC_FAIL(std::string(layout::name_of(role)) + " is restored otherwise");
  }
}

void check_compare_agrees(const BackendCase& c, const CanonicalLayer& layer, const PackedLayer& packed) {
  const layout::LayerUnits units = placed(c, layer);
  for (const PackedTensor& tensor : packed.tensors) {
    const layout::Comparison same = layout::compare(tensor, units[static_cast<std::size_t>(tensor.role)]);
    RC_ASSERT(same.differing == 0);
    RC_ASSERT(same.compared + same.unwritten == tensor.layout.cosize());
  }
}

// Cases of an ordinary run; RC_PARAMS="max_success=..." asks for more.
constexpr int kCases = 1;

}  // namespace

Outcome law_backend_addresses(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        for (Role role : layout::kAllRoles) {
          if (!has_tensor(role, c.setting)) continue;
          const Layout layout = plan_of(c, role).layout;
          const Memory expected = expected_memory(c, role);
          RC_ASSERT(layout.bytes() * 8 == static_cast<std::int64_t>(expected.sources.size()) * expected.grain_bits);
          check_addresses(layout);
          check_digits(layout);
        }
      },
      kCases);
}

Outcome law_tags_arrive(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer layer = wild_layer(c.row, c.setting);
        const PackedLayer packed = converted(c, layer);
        for (Role role : layout::kAllRoles) {
          if (!has_tensor(role, c.setting)) continue;
          const Layout layout = plan_of(c, role).layout;
          const Memory expected = refined(expected_memory(c, role), layout.grain_bits());
          const std::vector<std::int64_t> found = layout.gather();
          RC_ASSERT(found.size() == expected.sources.size());
          const auto [at, wanted] = std::ranges::mismatch(found, expected.sources);
          if (at != found.end()) {
            RC_FAIL(std::string(layout::name_of(role)) + " address " + std::to_string(at - found.begin()) + " holds " + std::to_string(*at) + ", expected " +
                    std::to_string(*wanted) + " (below 0: padding)");
          }
          if (c.row.values == nullptr) check_bytes(c, layer, *packed.find(role), expected);
        }
      },
      kCases);
}

Outcome law_dequantize_commutes(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer layer = tame_layer(c.setting);
        const PackedLayer packed = converted(c, layer);
        for (const WeightRoles& roles : kWeights) {
          const std::int64_t misread = count_misread(c, layer, packed, roles);
          const bool follow = !layout::is_w13(roles.weight) || holds(c.formula.scales_follow, c);
          if (follow && misread > 0) {
            RC_FAIL(std::string(layout::name_of(roles.weight)) + ": " + std::to_string(misread) + " elements have another value");
          }
        }
      },
      kCases);
}

Outcome law_padding_is_ignored(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        if (c.row.values != nullptr && c.row.undo_values == nullptr) return;
        const CanonicalLayer layer = tame_layer(c.setting);
        PackedLayer packed = converted(c, layer);
        const std::array<std::vector<std::uint8_t>, 4> contents{{{0x00}, {0x7F}, {0xFF}, random_bytes(kRandomContent)}};
        std::vector<Memory> expected;
        for (const PackedTensor& tensor : packed.tensors) {
          // Tensors that the conversion adds have no padding.
          expected.push_back(has_tensor(tensor.role, c.setting) ? expected_memory(c, tensor.role) : Memory{8, {}});
        }
        for (const std::vector<std::uint8_t>& content : contents) {
          for (std::size_t t = 0; t < packed.tensors.size(); ++t) fill_padding(packed.tensors[t], expected[t], content);
          const CanonicalLayer back = layout::restore(packed);
          for (Role role : layout::kAllRoles) {
            if (back[role] != layer[role]) {
              RC_FAIL(std::string(layout::name_of(role)) + " is restored otherwise when its padding holds " + content_text(content));
            }
          }
        }
      },
      kCases);
}

Outcome law_experts_apart(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        for (Role role : layout::kAllRoles) {
          if (!has_tensor(role, c.setting) || (c.formula.stacks != nullptr && c.formula.stacks(role, c.setting))) continue;
          BackendCase alone = c;
          alone.setting.sizes.experts = alone.setting.padded.experts = 1;
          const Layout one = plan_of(alone, role).layout;
          const std::vector<std::int64_t> of_one = one.gather();
          const std::vector<std::int64_t> of_all = plan_of(c, role).layout.gather();
          RC_ASSERT(of_all.size() == of_one.size() * static_cast<std::size_t>(c.setting.sizes.experts));
          for (std::size_t a = 0; a < of_all.size(); ++a) {
            const std::int64_t expert = static_cast<std::int64_t>(a / of_one.size());
            const std::int64_t entry = of_one[a % of_one.size()];
            const bool same = entry < 0 ? of_all[a] < 0 : of_all[a] == entry + expert * one.size();
            if (!same) RC_FAIL(std::string(layout::name_of(role)) + " of one expert lies otherwise than among others, at " + std::to_string(a));
          }
        }
      },
      kCases);
}

Outcome law_restore_converts_back(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer wild = wild_layer(c.row, c.setting);
        check_losses(c, wild);
        const CanonicalLayer tame = tame_layer(c.setting);
        const PackedLayer packed = converted(c, tame);
        check_compare_agrees(c, tame, packed);
        if (c.row.values == nullptr || c.row.undo_values != nullptr) check_restored(c, tame);
        packed.require(c.row.backend);
        for (const layout::BackendLayout& other : layout::all_backend_layouts()) {
          if (other.backend != c.row.backend) RC_ASSERT_THROWS_AS(packed.require(other.backend), Error);
        }
      },
      kCases);
}

Outcome law_gate_meets_up(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        if (!c.setting.form.gated) return;
        for (Role role : {Role::w13_weight, Role::w13_bias}) {
          if (!has_tensor(role, c.setting)) continue;
          const std::int64_t mispaired = count_mispaired(c, role);
          if (layout::is_weight(role) && holds(c.formula.halves_meet, c) != (mispaired == 0)) {
            RC_FAIL(std::to_string(mispaired) + " gate rows do not meet their up rows");
          }
        }
      },
      kCases);
}

Outcome law_compare_sees_every_change(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer layer = wild_layer(c.row, c.setting);
        PackedLayer packed = converted(c, layer);
        const layout::LayerUnits units = placed(c, layer);
        for (PackedTensor& tensor : packed.tensors) {
          const std::int64_t bit = pick(0, static_cast<std::int64_t>(tensor.bytes.size()) * 8 - 1);
          tensor.bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::uint8_t>(1U << (bit % 8));
          const layout::Comparison result = layout::compare(tensor, units[static_cast<std::size_t>(tensor.role)]);
          const int grain = tensor.layout.grain_bits();
          const std::int64_t held =
              has_tensor(tensor.role, c.setting) ? refined(expected_memory(c, tensor.role), grain).sources[static_cast<std::size_t>(bit / grain)] : 0;
          RC_ASSERT(result.differing == (held == Layout::kPadUnwritten ? 0 : 1));
          if (held == Layout::kPadUnwritten) continue;
          RC_ASSERT(result.first.has_value());
          RC_ASSERT(result.first->byte_address * 8 + result.first->bit == bit / grain * grain);
          RC_ASSERT(result.first->coord.has_value() == (held >= 0));
        }
      },
      kCases);
}

}  // namespace mx::props
