#include "model/layout/packed.hpp"

#include <cstdio>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"

namespace mx::layout {
namespace {

/// How a cast moves a unit's bits, both ways; `undo` is meaningful for what `make` makes.
struct CastRow {
  std::uint64_t (*make)(std::uint64_t);
  std::uint64_t (*undo)(std::uint64_t);
};

constexpr std::array<CastRow, 2> kCasts{{
    {[](std::uint64_t bits) { return bits; }, [](std::uint64_t bits) { return bits; }},
    {[](std::uint64_t bits) { return fault::planted(fault::Fault::bias_cast_to_low_half) ? bits : bits << 16; },
     [](std::uint64_t bits) { return fault::planted(fault::Fault::bias_cast_to_low_half) ? bits & 0xFFFF : bits >> 16; }},
}};

const CastRow& row_of(Cast cast) { return kCasts.at(static_cast<std::size_t>(cast)); }

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(value));
  return text;
}

/// to_row_major with the tensor's name on its errors.
std::vector<std::uint8_t> named_row_major(Role role, const Layout& layout, std::span<const std::uint8_t> bytes) {
  try {
    return to_row_major(layout, bytes);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), std::string(name_of(role)));
  }
}

/// Memory units in row-major order -> checkpoint units; every one must be what the cast makes of its result.
std::vector<std::uint8_t> undo_cast(const PackedTensor& tensor, std::vector<std::uint8_t> units) {
  if (tensor.cast == Cast::none) return units;
  const CastRow& cast = row_of(tensor.cast);
  const int bits = unit_bits(tensor.role);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(tensor.layout.size() * bits / 8));
  for (std::int64_t i = 0; i < tensor.layout.size(); ++i) {
    const std::uint64_t found = get_grain(units, i, tensor.layout.grain_bits());
    if (cast.make(cast.undo(found)) != found) {
      throw Error(ErrorCode::input, "element " + std::to_string(i) + " is " + hex(found) + ", which no bf16 value widens to",
                  std::string(name_of(tensor.role)));
    }
    set_grain(out, i, bits, cast.undo(found));
  }
  return out;
}

/// A layout of other sizes would be read out of bounds.
void check_sizes_of(const PackedTensor& tensor, const Sizes& sizes) {
  if (tensor.layout.logical() != logical_axes(tensor.role, sizes)) {
    throw Error(ErrorCode::usage, "the layout is not one of these sizes:\n" + tensor.layout.describe(), std::string(name_of(tensor.role)));
  }
}

Coord coord_of(std::int64_t index, const std::vector<Axis>& axes) {
  Coord coord(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    coord[i] = index % axes[i].extent;
    index /= axes[i].extent;
  }
  return coord;
}

}  // namespace

const PackedTensor* PackedLayer::find(Role role) const {
  for (const PackedTensor& tensor : tensors) {
    if (tensor.role == role) return &tensor;
  }
  return nullptr;
}

void PackedLayer::require(std::string_view wanted) const {
  if (backend != wanted) {
    throw Error(ErrorCode::usage, "the layer is packed for " + backend + ", not for " + std::string(wanted), backend);
  }
}

PackedLayer convert(const CanonicalLayer& layer, const BackendLayout& backend, const Sizes& padded) {
  if (layer.order == SourceOrder::standard && !backend.accepts_standard) {
    throw Error(ErrorCode::usage, "checkpoints in standard order are not converted", std::string(backend.backend));
  }
  check_padded(layer.sizes, padded);
  check_needs(backend, padded, layer.has_bias(), layer.order);
  PackedLayer packed{std::string(backend.backend), layer.sizes, padded, layer.order, {}};
  for (Role role : kRoles) {
    if (is_bias(role) && layer[role].empty()) continue;
    const Cast cast = is_bias(role) ? backend.bias_cast : Cast::none;
    Layout layout = backend.build(role, layer.sizes, padded, layer.order);
    const std::vector<std::uint8_t> units = named_row_major(role, canonical(role, layer.sizes, layer.order), layer[role]);
    std::vector<std::uint8_t> bytes = from_row_major(layout, units, unit_bits(role), row_of(cast).make, 0);
    packed.tensors.push_back({role, std::move(layout), cast, std::move(bytes)});
  }
  return packed;
}

CanonicalLayer restore(const PackedLayer& packed) {
  CanonicalLayer layer{packed.sizes, packed.order, {}};
  for (const PackedTensor& tensor : packed.tensors) {
    check_sizes_of(tensor, packed.sizes);
    const std::vector<std::uint8_t> units = undo_cast(tensor, named_row_major(tensor.role, tensor.layout, tensor.bytes));
    layer[tensor.role] =
        from_row_major(canonical(tensor.role, packed.sizes, packed.order), units, unit_bits(tensor.role), row_of(Cast::none).make, 0);
  }
  for (Role role : kRoles) {
    if (!is_bias(role) && packed.find(role) == nullptr) throw Error(ErrorCode::input, "missing from the packed layer", std::string(name_of(role)));
  }
  return layer;
}

std::string Mismatch::text() const {
  // Only the names of the axes matter here, so any sizes do.
  const std::string place = coord.has_value() ? coord_text(logical_axes(role, Sizes{1, 1, 1, 1}), *coord) : "padding";
  return std::string(name_of(role)) + " [" + place + "] at byte " + std::to_string(byte_address) + " bit " + std::to_string(bit) + ": expected " +
         hex(expected) + ", found " + hex(found);
}

Comparison compare(const PackedTensor& packed, const CanonicalLayer& layer) {
  check_sizes_of(packed, layer.sizes);
  const Layout& layout = packed.layout;
  if (static_cast<std::int64_t>(packed.bytes.size()) != layout.bytes()) {
    throw Error(ErrorCode::input, std::to_string(packed.bytes.size()) + " bytes where the layout has " + std::to_string(layout.bytes()),
                std::string(name_of(packed.role)));
  }
  const std::vector<std::uint8_t> units = named_row_major(packed.role, canonical(packed.role, layer.sizes, layer.order), layer[packed.role]);
  const int source_bits = unit_bits(packed.role);
  const int bits = layout.grain_bits();
  const CastRow& cast = row_of(packed.cast);
  Comparison result;
  for_each_address(layout, [&](std::int64_t address, std::int64_t entry) {
    if (entry == Layout::kPadUnwritten) {
      ++result.unwritten;
      return;
    }
    if (entry < 0 && fault::planted(fault::Fault::compare_skips_padding)) return;
    ++result.compared;
    const std::uint64_t expected = entry < 0 ? pad_grain(entry, address, bits, 0) : cast.make(get_grain(units, entry, source_bits));
    const std::uint64_t found = get_grain(packed.bytes, address, bits);
    if (expected == found) return;
    if (++result.differing > 1) return;
    const std::optional<Coord> coord = entry < 0 ? std::nullopt : std::optional(coord_of(entry, layout.logical()));
    result.first = Mismatch{packed.role, coord, address * bits / 8, static_cast<int>(address * bits % 8), expected, found};
  });
  return result;
}

}  // namespace mx::layout
