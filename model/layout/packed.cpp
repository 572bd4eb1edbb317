#include "model/layout/packed.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"

namespace mx::layout {
namespace {

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(value));
  return text;
}

bool slices(const Layout& layout) {
  return std::ranges::any_of(layout.steps(), [](const Step& step) { return std::holds_alternative<Slice>(step); });
}

/// Row-major units of a tensor, those that its layout dropped being 0, with the tensor's name on errors.
std::vector<std::uint8_t> named_row_major(Role role, const Layout& layout, std::span<const std::uint8_t> bytes) {
  try {
    return slices(layout) ? held_row_major(layout, bytes).bytes : to_row_major(layout, bytes);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), std::string(name_of(role)));
  }
}

/// Whether a tensor only moves, so that a Mover does it.
bool only_moves(const Layout& layout, const Cast& cast) { return cast.keeps() && !slices(layout); }

/// The same with the tensor's name on errors. Throws Error(input) when the bytes do not fit their layout.
std::vector<std::uint8_t> named_move(Role role, const Layout& from, std::span<const std::uint8_t> bytes, const Layout& to, Mover& mover) {
  if (static_cast<std::int64_t>(bytes.size()) != from.bytes()) {
    throw Error(ErrorCode::input, std::to_string(bytes.size()) + " bytes where the layout has " + std::to_string(from.bytes()),
                std::string(name_of(role)));
  }
  try {
    return mover(from, bytes, to);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), std::string(name_of(role)));
  }
}

/// Bits of the units that a plan places, before its cast.
int source_bits(const Layout& layout, const Cast& cast) { return cast.keeps() ? layout.grain_bits() : cast.from_bits; }

/// Memory units in row-major order -> units before the cast; every one must be what the cast makes of its result.
Units undo_cast(const PackedTensor& tensor, std::vector<std::uint8_t> memory) {
  const int bits = source_bits(tensor.layout, *tensor.cast);
  if (tensor.cast->keeps()) return {bits, std::move(memory)};
  const Uncast uncast(*tensor.cast);
  Units units{bits, std::vector<std::uint8_t>(static_cast<std::size_t>((tensor.layout.size() * bits + 7) / 8))};
  for (std::int64_t i = 0; i < tensor.layout.size(); ++i) {
    const std::uint64_t found = get_grain(memory, i, tensor.layout.grain_bits());
    const std::optional<std::uint64_t> unit = uncast(found);
    if (!unit) {
      throw Error(ErrorCode::input,
                  "element " + std::to_string(i) + " is " + hex(found) + ", which " + std::string(tensor.cast->name) + " never makes",
                  std::string(name_of(tensor.role)));
    }
    set_grain(units.bytes, i, bits, *unit);
  }
  return units;
}

/// A layout of other sizes would be read out of bounds.
void check_fit(const PackedTensor& tensor) {
  const std::int64_t bytes = tensor.layout.bytes();
  if (static_cast<std::int64_t>(tensor.bytes.size()) == bytes) return;
  throw Error(ErrorCode::input, std::to_string(tensor.bytes.size()) + " bytes where the layout has " + std::to_string(bytes),
              std::string(name_of(tensor.role)));
}

/// Counts the units that a cast cannot give back.
void note_cast_loss(Role role, const Cast& cast, const Units& units, std::vector<Loss>& losses) {
  if (cast.keeps()) return;
  const Uncast uncast(cast);
  if (uncast.is_lossless()) return;
  std::int64_t lost = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(units.bytes.size()) * 8 / units.bits; ++i) {
    if (!uncast.is_recoverable(get_grain(units.bytes, i, units.bits))) ++lost;
  }
  if (lost > 0) losses.push_back({role, std::string(cast.summary), lost});
}

/// Counts the units that have no place in memory.
void note_cut(Role role, const Layout& layout, std::vector<Loss>& losses) {
  const std::vector<std::uint8_t> nothing(static_cast<std::size_t>(layout.bytes()));
  const std::int64_t held = held_row_major(layout, nothing).count;
  if (held < layout.size()) losses.push_back({role, "elements beyond the last whole tile are cut off", layout.size() - held});
}

/// A tensor of a large model is no longer held than it is needed.
void give_back(std::vector<std::uint8_t>& bytes) { std::vector<std::uint8_t>().swap(bytes); }

/// Of scales that are bytes; 0 for others.
int largest_scale_byte(const CanonicalLayer& layer) {
  int largest = 0;
  for (const Role role : {Role::w13_weight_scale, Role::w2_weight_scale}) {
    if (unit_bits(role, layer.form.format) != 8) continue;
    for (const std::uint8_t byte : layer[role]) largest = std::max(largest, int{byte});
  }
  return largest;
}

/// The first version of the engine that converts the form, or the first there is.
Engine first_engine(const BackendLayout& backend, const Form& form) {
  const auto found = std::ranges::find_if(kEngines, [&](Engine engine) { return backend.converts(form, engine); });
  return found != kEngines.end() ? *found : kEngines.front();
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
  if (backend != wanted && !fault::planted(fault::Fault::any_backend_takes_any)) {
    throw Error(ErrorCode::usage, "the layer is packed for " + backend + ", not for " + std::string(wanted), backend);
  }
}

LayerUnits placed_units(CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<Loss>& losses) {
  LayerUnits units;
  for (Role role : kAllRoles) {
    if (layer[role].empty()) continue;
    const Layout memory = canonical(role, layer.sizes, layer.form);
    units[static_cast<std::size_t>(role)] = {memory.grain_bits(), named_row_major(role, memory, layer[role])};
    give_back(layer[role]);
  }
  if (backend.values != nullptr) backend.values(units, setting, losses);
  return units;
}

std::vector<std::uint8_t> move_by_elements(const Layout& from, std::span<const std::uint8_t> source, const Layout& to) {
  return from_row_major(to, to_row_major(from, source), 0);
}

PackedLayer convert(CanonicalLayer layer, const BackendLayout& backend, Setting setting, Mover& mover) {
  setting.sizes = layer.sizes;
  setting.form = layer.form;
  setting.has_bias = layer.has_bias();
  setting.largest_scale_byte = largest_scale_byte(layer);
  if (!backend.converts(layer.form, setting.engine)) {
    throw Error(ErrorCode::usage,
                "checkpoints of " + std::string(name_of(layer.form.format)) + " in " + std::string(name_of(layer.form.order)) + " order" +
                    (layer.form.gated ? "" : ", not gated,") + " are not converted by engine " + std::string(name_of(setting.engine)),
                std::string(backend.backend));
  }
  check_needs(backend, setting);
  for (Role role : kAllRoles) {
    if (layer[role].empty() && !is_bias(role) && has_role(layer.form.format, role)) {
      throw Error(ErrorCode::input, "missing from the layer", std::string(name_of(role)));
    }
  }
  PackedLayer packed{std::string(backend.backend), setting, {}, {}};
  LayerUnits units;
  const bool coupled = backend.values != nullptr;
  if (coupled) units = placed_units(std::move(layer), backend, setting, packed.losses);
  for (Role role : kAllRoles) {
    Units& of_role = units[static_cast<std::size_t>(role)];
    if (coupled ? of_role.absent() : layer[role].empty()) continue;
    TensorPlan plan = backend.build(role, setting);
    if (!coupled) {
      const Layout memory = canonical(role, layer.sizes, layer.form);
      const std::vector<std::uint8_t> source = std::move(layer[role]);
      if (only_moves(plan.layout, *plan.cast)) {
        std::vector<std::uint8_t> bytes = named_move(role, memory, source, plan.layout, mover);
        packed.tensors.push_back({role, std::move(plan.layout), plan.cast, std::move(bytes)});
        continue;
      }
      of_role = {memory.grain_bits(), named_row_major(role, memory, source)};
    }
    note_cast_loss(role, *plan.cast, of_role, packed.losses);
    if (slices(plan.layout)) note_cut(role, plan.layout, packed.losses);
    std::vector<std::uint8_t> bytes = from_row_major(plan.layout, of_role.bytes, *plan.cast, 0);
    give_back(of_role.bytes);
    packed.tensors.push_back({role, std::move(plan.layout), plan.cast, std::move(bytes)});
  }
  return packed;
}

PackedLayer convert(CanonicalLayer layer, const BackendLayout& backend, const Sizes& padded) {
  const Setting setting{.sizes = layer.sizes, .padded = padded, .form = layer.form, .engine = first_engine(backend, layer.form)};
  return convert(std::move(layer), backend, setting);
}

CanonicalLayer restore(PackedLayer packed, OnLoss on_loss, Mover& mover) {
  const Setting& setting = packed.setting;
  const BackendLayout& backend = backend_layout_named(packed.backend, setting.form.format, setting.engine);
  if (on_loss == OnLoss::refuse && !packed.losses.empty()) {
    const Loss& loss = packed.losses.front();
    throw Error(ErrorCode::usage, loss.what + " (" + std::to_string(loss.units) + " units)", std::string(name_of(loss.role)));
  }
  if (backend.values != nullptr && backend.undo_values == nullptr) {
    throw Error(ErrorCode::usage, "what is packed does not determine the checkpoint's values", packed.backend);
  }
  LayerUnits units;
  CanonicalLayer layer{setting.sizes, setting.form, {}};
  for (PackedTensor& tensor : packed.tensors) {
    check_fit(tensor);
    const Layout memory = canonical(tensor.role, setting.sizes, setting.form);
    const bool fits = tensor.layout.size() * tensor.layout.grain_bits() == memory.size() * memory.grain_bits();
    if (backend.undo_values == nullptr && only_moves(tensor.layout, *tensor.cast) && fits) {
      layer[tensor.role] = named_move(tensor.role, tensor.layout, tensor.bytes, memory, mover);
      give_back(tensor.bytes);
      continue;
    }
    units[static_cast<std::size_t>(tensor.role)] = undo_cast(tensor, named_row_major(tensor.role, tensor.layout, tensor.bytes));
    give_back(tensor.bytes);
  }
  if (backend.undo_values != nullptr) backend.undo_values(units, setting);
  for (Role role : kAllRoles) {
    if (!layer[role].empty()) continue;
    Units& of_role = units[static_cast<std::size_t>(role)];
    if (of_role.absent()) {
      if (!is_bias(role) && has_role(setting.form.format, role)) {
        throw Error(ErrorCode::input, "missing from the packed layer", std::string(name_of(role)));
      }
      continue;
    }
    const Layout memory = canonical(role, setting.sizes, setting.form);
    if (static_cast<std::int64_t>(of_role.bytes.size()) != memory.bytes()) {
      throw Error(ErrorCode::usage, "the layout is not one of these sizes:\n" + packed.find(role)->layout.describe(), std::string(name_of(role)));
    }
    layer[role] = from_row_major(memory, of_role.bytes, 0);
    give_back(of_role.bytes);
  }
  return layer;
}

std::string Mismatch::text() const {
  const std::string place = coord.has_value() ? coord_text(axes, *coord) : "padding";
  return std::string(name_of(role)) + " [" + place + "] at byte " + std::to_string(byte_address) + " bit " + std::to_string(bit) + ": expected " +
         hex(expected) + ", found " + hex(found);
}

Comparison compare(const PackedTensor& packed, const CanonicalLayer& layer) {
  const Layout memory = canonical(packed.role, layer.sizes, layer.form);
  return compare(packed, Units{memory.grain_bits(), named_row_major(packed.role, memory, layer[packed.role])});
}

Comparison compare(const PackedTensor& packed, const Units& expected) {
  check_fit(packed);
  const Layout& layout = packed.layout;
  const int from_bits = source_bits(layout, *packed.cast);
  const int bits = layout.grain_bits();
  if (static_cast<std::int64_t>(expected.bytes.size()) != (layout.size() * from_bits + 7) / 8) {
    throw Error(ErrorCode::usage, "the layout is not one of these sizes:\n" + layout.describe(), std::string(name_of(packed.role)));
  }
  Comparison result;
  for_each_address(layout, [&](std::int64_t address, std::int64_t entry) {
    if (entry == Layout::kPadUnwritten) {
      ++result.unwritten;
      return;
    }
    if (entry < 0 && fault::planted(fault::Fault::compare_skips_padding)) return;
    ++result.compared;
    const std::uint64_t wanted = entry < 0 ? pad_grain(entry, address, bits, 0) : packed.cast->make(get_grain(expected.bytes, entry, from_bits));
    const std::uint64_t found = get_grain(packed.bytes, address, bits);
    if (wanted == found) return;
    if (++result.differing > 1) return;
    const std::optional<Coord> coord = entry < 0 ? std::nullopt : std::optional(coord_of(entry, layout.logical()));
    if (fault::planted(fault::Fault::compare_names_next_place)) ++address;
    result.first = Mismatch{packed.role, layout.logical(), coord, address * bits / 8, static_cast<int>(address * bits % 8), wanted, found};
  });
  return result;
}

}  // namespace mx::layout
