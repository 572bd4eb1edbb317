// Laws of the packed layouts, one backend at a time.

#include <algorithm>
#include <array>

#include "model/error.hpp"
#include "props/layout/formulas.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::BackendLayout;
using layout::CanonicalLayer;
using layout::Layout;
using layout::PackedLayer;
using layout::PackedTensor;
using layout::Role;
using layout::Sizes;
using layout::SourceOrder;

/// The backend that a law's id names after its last '/'.
const BackendLayout& backend_of(const Law& law) {
  const std::string_view name = law.id.substr(law.id.rfind('/') + 1);
  const BackendLayout* row = layout::find_backend_layout(name);
  if (row == nullptr) throw Error(ErrorCode::usage, "no backend layout " + std::string(name), std::string(law.id));
  return *row;
}

bool needs_bias(const BackendLayout& backend) {
  return std::ranges::any_of(backend.needs, [](const layout::Need& need) { return need.quantity == layout::Quantity::has_bias; });
}

/// A random case of a backend.
struct Case {
  Sizes sizes;
  Sizes padded;
  SourceOrder order;
};

Case random_case(const BackendLayout& backend) {
  const LayerSizes sizes = random_sizes(backend);
  const Case out{sizes.sizes, sizes.padded, random_order()};
  RC_LOG() << backend.backend << " " << layout::name_of(out.order) << " E " << out.sizes.experts << " I " << out.sizes.intermediate << " of "
           << out.padded.intermediate << " H " << out.sizes.hidden << " of " << out.padded.hidden << "\n";
  return out;
}

/// The packed bytes of one unit, read without the layout's help.
std::uint64_t unit_at(std::span<const std::uint8_t> bytes, std::int64_t unit, int bits) {
  const auto u = static_cast<std::size_t>(unit);
  if (bits == 4) return u % 2 == 0 ? bytes[u / 2] & 0xFU : bytes[u / 2] >> 4;
  std::uint64_t value = 0;
  for (std::size_t b = static_cast<std::size_t>(bits) / 8; b-- > 0;) value = value << 8 | bytes[u * static_cast<std::size_t>(bits) / 8 + b];
  return value;
}

void put_unit(std::span<std::uint8_t> bytes, std::int64_t unit, int bits, std::uint64_t value) {
  const auto u = static_cast<std::size_t>(unit);
  if (bits == 4) {
    bytes[u / 2] = static_cast<std::uint8_t>(u % 2 == 0 ? (bytes[u / 2] & 0xF0U) | (value & 0xFU) : (bytes[u / 2] & 0x0FU) | (value & 0xFU) << 4);
    return;
  }
  for (std::size_t b = 0; b < static_cast<std::size_t>(bits) / 8; ++b) {
    bytes[u * static_cast<std::size_t>(bits) / 8 + b] = static_cast<std::uint8_t>(value >> (8 * b));
  }
}

/// Passes over unique tags: 2 * 512 * 256 nibbles and one make 19 bits, five digits of a nibble. Wider units need no more than three.
constexpr int kPasses = 5;

/// Lowest bit of a pass's digit; beyond the widest tag there is nothing.
int digit_begin(int bits, int pass) { return std::min(bits * pass, 62); }

/// A layer whose units hold digit `pass` of their own number plus one: padding's zero is nobody's tag.
CanonicalLayer tagged_layer(const Case& c, int pass) {
  CanonicalLayer layer{c.sizes, c.order, {}};
  for (Role role : layout::kRoles) {
    const std::int64_t count = unit_count(role, c.sizes);
    const int bits = layout::unit_bits(role);
    layer[role].resize(static_cast<std::size_t>(count * bits / 8));
    for (std::int64_t u = 0; u < count; ++u) put_unit(layer[role], u, bits, static_cast<std::uint64_t>(u + 1) >> digit_begin(bits, pass));
  }
  return layer;
}

/// Biases widen to fp32 where the backend casts them: 16 zero bits below.
int cast_shift(const PackedTensor& tensor) { return tensor.layout.grain_bits() - layout::unit_bits(tensor.role); }

/// Adds digit `pass` of the tags that a packed tensor holds.
void collect_tags(const PackedTensor& tensor, int pass, std::vector<std::int64_t>& tags) {
  const int shift = cast_shift(tensor);
  const int bits = layout::unit_bits(tensor.role);
  tags.resize(tensor.bytes.size() * 8 / static_cast<std::size_t>(bits + shift), 0);
  for (std::size_t u = 0; u < tags.size(); ++u) {
    tags[u] += static_cast<std::int64_t>(unit_at(tensor.bytes, static_cast<std::int64_t>(u), bits + shift) >> shift) << digit_begin(bits, pass);
  }
}

// E2M1 codes in halves; 2^-127 is the unit of the scales.
constexpr std::array<std::int64_t, 8> kHalves{0, 1, 2, 3, 4, 6, 8, 12};

/// An exact dequantized element: its significand in halves and its power of two, as a pair that compares.
struct Dequantized {
  std::int64_t halves;
  std::uint64_t scale;
  friend bool operator==(const Dequantized&, const Dequantized&) = default;
};

Dequantized dequantize(std::uint64_t nibble, std::uint64_t scale) {
  const std::int64_t magnitude = kHalves[nibble & 7U];
  return {(nibble & 8U) != 0 ? -magnitude : magnitude, scale};
}

/// Every element of w13 or w2, from the packed tensors as their layouts say and as a kernel that tiles scales by rows reads them, against the
/// checkpoint's own bytes.
void check_dequantized(const PackedLayer& packed, const CanonicalLayer& layer, Role weight, Role scale, bool tiled) {
  const PackedTensor& w = *packed.find(weight);
  const PackedTensor& s = *packed.find(scale);
  const std::int64_t columns = w.layout.logical().back().extent;
  const bool gated = weight == Role::w13_weight;
  const std::int64_t padded_columns = gated ? packed.setting.padded.hidden : packed.setting.padded.intermediate;
  const std::int64_t padded_rows = gated ? 2 * packed.setting.padded.intermediate : packed.setting.padded.hidden;
  const std::int64_t groups = padded_columns / 32;
  const std::int64_t rows = unit_count(weight, layer.sizes) / columns / layer.sizes.experts;
  for (std::int64_t row = 0; row < rows * layer.sizes.experts; ++row) {
    const std::int64_t expert = row / rows;
    const std::int64_t r = row % rows;
    layout::Coord coord{expert};
    if (gated) {
      const bool interleaved = layer.form.order == SourceOrder::gpt_oss;
      coord.push_back(interleaved ? r % 2 : r / layer.sizes.intermediate);
      coord.push_back(interleaved ? r / 2 : r % layer.sizes.intermediate);
    } else {
      coord.push_back(r);
    }
    coord.push_back(0);
    for (std::int64_t k = 0; k < columns; ++k) {
      coord.back() = k;
      const std::int64_t weight_address = w.layout.at(coord).value();
      coord.back() = k / 32;
      const std::int64_t scale_address = s.layout.at(coord).value();
      const std::int64_t kernel_row = weight_address / padded_columns % padded_rows;
      const std::int64_t in_expert = tiled ? scale_tile_offset(kernel_row, k / 32, groups) : kernel_row * groups + k / 32;
      if (scale_address != expert * padded_rows * groups + in_expert || weight_address % padded_columns != k) {
        RC_FAIL("the scale of row " + std::to_string(row) + " element " + std::to_string(k) + " is not where its weight's row has it");
      }
      const Dequantized from_packed = dequantize(unit_at(w.bytes, weight_address, 4), unit_at(s.bytes, scale_address, 8));
      const Dequantized expected = dequantize(unit_at(layer[weight], row * columns + k, 4), unit_at(layer[scale], row * (columns / 32) + k / 32, 8));
      if (from_packed != expected) RC_FAIL("row " + std::to_string(row) + " element " + std::to_string(k) + " has another value");
    }
  }
}

/// The units of each packed tensor that the closed formulas call padding.
std::vector<std::vector<std::int64_t>> padding_units(const PackedLayer& packed, const BackendLayout& backend, const Case& c) {
  std::vector<std::vector<std::int64_t>> padding;
  for (const PackedTensor& tensor : packed.tensors) {
    std::vector<std::int64_t>& units = padding.emplace_back();
    for (std::int64_t u = 0; u < unit_count(tensor.role, c.padded); ++u) {
      if (checkpoint_unit(backend.backend, tensor.role, c.order, c.sizes, c.padded, u) < 0) units.push_back(u);
    }
  }
  return padding;
}

/// A prime number of bytes, so that they repeat out of step with rows and tiles.
constexpr std::int64_t kRandomContent = 509;

/// Overwrites units by the bytes, repeated over the whole tensor.
void fill_units(PackedTensor& tensor, std::span<const std::int64_t> units, std::span<const std::uint8_t> content) {
  std::vector<std::uint8_t> all(tensor.bytes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = content[i % content.size()];
  const int bits = tensor.layout.grain_bits();
  for (std::int64_t unit : units) put_unit(tensor.bytes, unit, bits, unit_at(all, unit, bits));
}

std::string text_of(std::span<const std::uint8_t> content) { return content.size() == 1 ? "bytes " + std::to_string(content[0]) : "random bytes"; }

/// Changes one random bit of a packed tensor and gives back the unit that holds it.
std::int64_t flip_random_bit(PackedTensor& tensor) {
  const std::int64_t bit = pick(0, static_cast<std::int64_t>(tensor.bytes.size()) * 8 - 1);
  tensor.bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  return bit / tensor.layout.grain_bits();
}

}  // namespace

Outcome law_backend_addresses(const Law& law) {
  const BackendLayout& backend = backend_of(law);
  return check_property(law, [&] {
    const Case c = random_case(backend);
    for (Role role : layout::kRoles) {
      const layout::TensorPlan plan = backend.build(role, {.sizes = c.sizes, .padded = c.padded, .form = c.order});
      const Layout& layout = plan.layout;
      RC_ASSERT(layout.size() == unit_count(role, c.sizes));
      RC_ASSERT(layout.cosize() == unit_count(role, c.padded));
      RC_ASSERT(layout.grain_bits() == (plan.cast->keeps() ? layout::unit_bits(role) : plan.cast->to_bits));
      RC_ASSERT(layout.bytes() * 8 == unit_count(role, c.padded) * layout.grain_bits());
      std::vector<bool> seen(static_cast<std::size_t>(layout.size()), false);
      for (std::int64_t entry : layout.gather()) {
        if (entry == Layout::kPadZero) continue;
        if (entry < 0 || seen[static_cast<std::size_t>(entry)]) RC_FAIL("an element lies twice in memory, or padding is not zero");
        seen[static_cast<std::size_t>(entry)] = true;
      }
      RC_ASSERT(std::find(seen.begin(), seen.end(), false) == seen.end());
      if (c.sizes == c.padded) {
        RC_ASSERT(layout.digits().has_value());
        RC_ASSERT(layout::is_bijection(*layout.digits()));
      }
    }
  });
}

Outcome law_tags_arrive(const Law& law) {
  const BackendLayout& backend = backend_of(law);
  return check_property(law, [&] {
    const Case c = random_case(backend);
    std::array<std::vector<std::int64_t>, 6> tags;
    for (int pass = 0; pass < kPasses; ++pass) {
      const PackedLayer packed = layout::convert(tagged_layer(c, pass), backend, c.padded);
      RC_ASSERT(packed.tensors.size() == 6U);
      for (const PackedTensor& tensor : packed.tensors) collect_tags(tensor, pass, tags[static_cast<std::size_t>(tensor.role)]);
    }
    for (Role role : layout::kRoles) {
      const std::vector<std::int64_t>& found = tags[static_cast<std::size_t>(role)];
      RC_ASSERT(static_cast<std::int64_t>(found.size()) == unit_count(role, c.padded));
      for (std::size_t u = 0; u < found.size(); ++u) {
        const std::int64_t expected = checkpoint_unit(backend.backend, role, c.order, c.sizes, c.padded, static_cast<std::int64_t>(u));
        if (found[u] != expected + 1) {
          RC_FAIL(std::string(layout::name_of(role)) + " unit " + std::to_string(u) + " holds unit " + std::to_string(found[u] - 1) + ", expected " +
                  std::to_string(expected) + " (-1: padding)");
        }
      }
    }
  });
}

Outcome law_dequantize_commutes(const Law& law) {
  const BackendLayout& backend = backend_of(law);
  return check_property(law, [&] {
    const Case c = random_case(backend);
    const CanonicalLayer layer = random_layer(c.sizes, c.order);
    const PackedLayer packed = layout::convert(layer, backend, c.padded);
    const bool tiled = has_tiled_scales(backend.backend);
    check_dequantized(packed, layer, Role::w13_weight, Role::w13_weight_scale, tiled);
    check_dequantized(packed, layer, Role::w2_weight, Role::w2_weight_scale, tiled);
  });
}

Outcome law_padding_is_ignored(const Law& law) {
  const BackendLayout& backend = backend_of(law);
  return check_property(law, [&] {
    const Case c = random_case(backend);
    const CanonicalLayer layer = random_layer(c.sizes, c.order);
    PackedLayer packed = layout::convert(layer, backend, c.padded);
    const std::vector<std::vector<std::int64_t>> padding = padding_units(packed, backend, c);
    const std::vector<std::uint8_t> random = random_bytes(kRandomContent);
    const std::array<std::vector<std::uint8_t>, 4> contents{{{0x00}, {0x7F}, {0xFF}, random}};
    for (const std::vector<std::uint8_t>& content : contents) {
      for (std::size_t t = 0; t < packed.tensors.size(); ++t) fill_units(packed.tensors[t], padding[t], content);
      const CanonicalLayer back = layout::restore(packed);
      for (Role role : layout::kRoles) {
        if (back[role] != layer[role]) {
          RC_FAIL(std::string(layout::name_of(role)) + " is restored otherwise when its padding holds " + text_of(content));
        }
      }
    }
  });
}

Outcome law_restore_converts_back(const Law& law) {
  const BackendLayout& backend = backend_of(law);
  return check_property(law, [&] {
    const Case c = random_case(backend);
    CanonicalLayer layer = random_layer(c.sizes, c.order);
    const bool without_bias = pick(0, 1) == 1 && (c.order == SourceOrder::standard || !needs_bias(backend));
    if (without_bias) layer[Role::w13_bias] = layer[Role::w2_bias] = {};
    const PackedLayer packed = layout::convert(layer, backend, c.padded);
    const CanonicalLayer back = layout::restore(packed);
    RC_ASSERT(back.tensors == layer.tensors);
    RC_ASSERT(back.sizes == layer.sizes);
    RC_ASSERT(back.form.order == layer.form.order);
    for (const PackedTensor& tensor : packed.tensors) {
      const layout::Comparison same = layout::compare(tensor, layer);
      RC_ASSERT(same.differing == 0);
      RC_ASSERT(same.compared == tensor.layout.cosize());
    }
    packed.require(backend.backend);
    RC_ASSERT_THROWS_AS(packed.require("another backend"), Error);
  });
}

Outcome law_compare_sees_every_change(const Law& law) {
  const BackendLayout& backend = backend_of(law);
  return check_property(law, [&] {
    const Case c = random_case(backend);
    const CanonicalLayer layer = random_layer(c.sizes, c.order);
    PackedLayer packed = layout::convert(layer, backend, c.padded);
    for (PackedTensor& tensor : packed.tensors) {
      const std::int64_t unit = flip_random_bit(tensor);
      const layout::Comparison result = layout::compare(tensor, layer);
      RC_ASSERT(result.differing == 1);
      RC_ASSERT(result.first.has_value());
      RC_ASSERT(result.first->byte_address * 8 + result.first->bit == unit * tensor.layout.grain_bits());
      const bool padding = checkpoint_unit(backend.backend, tensor.role, c.order, c.sizes, c.padded, unit) < 0;
      RC_ASSERT(result.first->coord.has_value() == !padding);
    }
  });
}

}  // namespace mx::props
