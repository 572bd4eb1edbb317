#include "model/families/convert.hpp"

#include <algorithm>
#include <utility>

#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/one_line.hpp"

namespace mx::families {
namespace {

bool slices(const layout::Layout& layout) {
  return std::ranges::any_of(layout.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Slice>(step); });
}

/// The tensor's units in logical order, before the cast.
layout::Layout row_major(const layout::Layout& layout, const layout::Cast& cast) {
  return {layout.axes_before(0), cast.keeps() ? layout.unit_bits() : cast.from_bits};
}

/// Units that a cast cannot give back, in whatever order they stand.
std::int64_t lost_in_cast(const layout::Cast& cast, std::span<const std::uint8_t> units) {
  if (cast.keeps()) return 0;
  const layout::Uncast uncast(cast);
  if (uncast.is_lossless()) return 0;
  std::vector<bool> is_lost(std::size_t{1} << cast.from_bits);
  for (std::size_t unit = 0; unit < is_lost.size(); ++unit) is_lost[unit] = !uncast.is_recoverable(unit);
  std::int64_t lost = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(units.size()) * 8 / cast.from_bits; ++i) {
    if (is_lost[static_cast<std::size_t>(layout::get_grain(units, i, cast.from_bits))]) ++lost;
  }
  return lost;
}

/// Units that have no place in memory.
std::int64_t cut_off(const layout::Layout& layout) {
  if (!slices(layout)) return 0;
  const std::vector<std::uint8_t> nothing(static_cast<std::size_t>(layout.bytes()));
  return layout.size() - layout::held_row_major(layout, nothing).count;
}

/// One tensor into its backend's memory; adds what it loses.
layout::PackedTensor packed_tensor(layout::Role role, layout::TensorPlan plan, const layout::Layout& memory, std::span<const std::uint8_t> source,
                                   std::vector<layout::Loss>& losses, const layout::Mover& mover) {
  layout::check_fit(role, memory, source);
  note_lost(role, plan, lost_units(plan, source), losses);
  std::vector<std::uint8_t> bytes = layout::named(role, [&] { return mover.place(memory, source, plan); });
  return {role, std::move(plan.layout), plan.cast, std::move(bytes)};
}

/// A packed layer without its tensors. Throws where the backend takes no such layer.
PackedLayer begun(const layout::CanonicalLayer& layer, const BackendLayout& backend, Setting setting) {
  LayerOutline outline{layer.sizes, layer.form, {}, 0};
  for (const layout::Role role : layout::kAllRoles) {
    outline.present[static_cast<std::size_t>(role)] = !layer[role].empty();
    outline.largest_scale_byte = std::max(outline.largest_scale_byte, largest_scale_byte(role, layer.form, layer[role]));
  }
  return {std::string(backend.backend), setting_for(outline, backend, std::move(setting)), {}, {}};
}

/// A tensor as the checkpoint has it, or the units that its values were coupled into, in the layer's packed form.
layout::PackedTensor placed_tensor(layout::Role role, std::span<const std::uint8_t> source, const BackendLayout& backend, PackedLayer& packed,
                                   const layout::Mover& mover) {
  layout::TensorPlan plan = backend.build(role, packed.setting);
  const bool coupled = backend.values != nullptr;
  const layout::Layout memory = coupled ? row_major(plan.layout, *plan.cast) : layout::canonical(role, packed.setting.sizes, packed.setting.form);
  return packed_tensor(role, std::move(plan), memory, source, packed.losses, mover);
}

/// A tensor of a large model is no longer held than it is needed.
void give_back(std::vector<std::uint8_t>& bytes) { std::vector<std::uint8_t>().swap(bytes); }

/// Units in logical order, of a layer as the engine's method leaves it.
layout::LayerUnits units_of(layout::CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<layout::Loss>& losses,
                            const layout::Mover& mover) {
  layout::LayerUnits units;
  for (layout::Role role : layout::kAllRoles) {
    if (layer[role].empty()) continue;
    const layout::Layout memory = layout::canonical(role, layer.sizes, layer.form);
    layout::check_fit(role, memory, layer[role]);
    const layout::TensorPlan logical{row_major(memory, layout::kKeep), &layout::kKeep};
    units[static_cast<std::size_t>(role)] = {memory.unit_bits(), layout::named(role, [&] { return mover.place(memory, layer[role], logical); })};
    give_back(layer[role]);
  }
  if (backend.values != nullptr) backend.values(units, setting, losses);
  return units;
}

Error wrong_sizes(const layout::PackedTensor& tensor) {
  return {ErrorCode::usage, "the layout is not one of these sizes: " + layout::one_line(tensor.layout), std::string(layout::name_of(tensor.role))};
}

/// What `undo_values` makes of the units, back into the layer's own memory. Throws where a tensor is missing or of other sizes.
void undo(layout::LayerUnits& units, const BackendLayout& backend, const PackedLayer& packed, layout::CanonicalLayer& layer,
          const layout::Mover& mover) {
  const Setting& setting = packed.setting;
  backend.undo_values(units, setting);
  for (layout::Role role : layout::kAllRoles) {
    layout::Units& of_role = units[static_cast<std::size_t>(role)];
    if (of_role.absent()) {
      if (layout::is_bias(role) || !layout::has_role(setting.form.format, role)) continue;
      throw Error(ErrorCode::input, "missing from the packed layer", std::string(layout::name_of(role)));
    }
    const layout::Layout memory = layout::canonical(role, setting.sizes, setting.form);
    if (static_cast<std::int64_t>(of_role.bytes.size()) != memory.bytes()) throw wrong_sizes(*packed.find(role));
    const layout::Layout logical = row_major(memory, layout::kKeep);
    layer[role] = layout::named(role, [&] { return mover.place(logical, of_role.bytes, {memory, &layout::kKeep}); });
    give_back(of_role.bytes);
  }
}

}  // namespace

const layout::PackedTensor* PackedLayer::find(layout::Role role) const {
  for (const layout::PackedTensor& tensor : tensors) {
    if (tensor.role == role) return &tensor;
  }
  return nullptr;
}

void PackedLayer::require(std::string_view wanted) const {
  if (backend != wanted && !fault::planted(fault::Fault::any_backend_takes_any)) {
    throw Error(ErrorCode::usage, "the layer is packed for " + backend + ", not for " + std::string(wanted), backend);
  }
}

int largest_scale_byte(layout::Role role, const layout::Form& form, std::span<const std::uint8_t> bytes) {
  if (!layout::is_scale(role) || bytes.empty() || layout::unit_bits(role, form.format) != 8) return 0;
  return *std::ranges::max_element(bytes);
}

Setting setting_for(const LayerOutline& layer, const BackendLayout& backend, Setting setting) {
  const auto is_there = [&](layout::Role role) { return layer.present[static_cast<std::size_t>(role)]; };
  setting.sizes = layer.sizes;
  setting.form = layer.form;
  setting.has_bias = is_there(layout::Role::w13_bias) && is_there(layout::Role::w2_bias);
  set_largest_scale_byte(setting, layer.largest_scale_byte);
  if (!backend.converts(layer.form, setting.engine)) {
    throw Error(ErrorCode::usage,
                "checkpoints of " + std::string(layout::name_of(layer.form.format)) + " in " + std::string(layout::name_of(layer.form.order)) +
                    " order" + (layer.form.gated ? "" : ", not gated,") + " are not converted by engine " +
                    std::string(deployment::name_of(setting.engine)),
                std::string(backend.backend));
  }
  check_needs(backend, setting);
  for (layout::Role role : layout::kAllRoles) {
    if (!is_there(role) && !layout::is_bias(role) && layout::has_role(layer.form.format, role)) {
      throw Error(ErrorCode::input, "missing from the layer", std::string(layout::name_of(role)));
    }
  }
  return setting;
}

LostUnits lost_units(const layout::TensorPlan& plan, std::span<const std::uint8_t> source) {
  return {lost_in_cast(*plan.cast, source), cut_off(plan.layout)};
}

bool may_lose(const layout::TensorPlan& plan) { return slices(plan.layout) || !(plan.cast->keeps() || layout::Uncast(*plan.cast).is_lossless()); }

void note_lost(layout::Role role, const layout::TensorPlan& plan, const LostUnits& lost, std::vector<layout::Loss>& losses) {
  if (lost.cast > 0) losses.push_back({role, std::string(plan.cast->summary), lost.cast});
  if (lost.cut > 0) losses.push_back({role, "elements beyond the last whole tile are cut off", lost.cut});
}

layout::LayerUnits placed_units(layout::CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<layout::Loss>& losses,
                                const layout::Mover& mover) {
  if (makes_fnuz(backend, setting)) to_fnuz(layer, losses);
  return units_of(std::move(layer), backend, setting, losses, mover);
}

PackedLayer convert(const layout::CanonicalLayer& layer, const BackendLayout& backend, Setting setting, const layout::Mover& mover) {
  PackedLayer packed = begun(layer, backend, setting);
  if (backend.values != nullptr || makes_fnuz(backend, packed.setting))
    return convert(layout::CanonicalLayer(layer), backend, std::move(setting), mover);
  for (layout::Role role : layout::kAllRoles) {
    if (!layer[role].empty()) packed.tensors.push_back(placed_tensor(role, layer[role], backend, packed, mover));
  }
  return packed;
}

PackedLayer convert(layout::CanonicalLayer&& layer, const BackendLayout& backend, Setting setting, const layout::Mover& mover) {
  PackedLayer packed = begun(layer, backend, std::move(setting));
  layout::LayerUnits units;
  const bool coupled = backend.values != nullptr;
  if (makes_fnuz(backend, packed.setting)) to_fnuz(layer, packed.losses);
  if (coupled) units = units_of(std::move(layer), backend, packed.setting, packed.losses, mover);
  for (layout::Role role : layout::kAllRoles) {
    // NOLINTNEXTLINE(bugprone-use-after-move): it is moved from where they are coupled, and not looked at there.
    std::vector<std::uint8_t>& held = coupled ? units[static_cast<std::size_t>(role)].bytes : layer[role];
    if (held.empty()) continue;
    const std::vector<std::uint8_t> source = std::move(held);
    packed.tensors.push_back(placed_tensor(role, source, backend, packed, mover));
  }
  return packed;
}

PackedLayer convert(const layout::CanonicalLayer& layer, const BackendLayout& backend, const layout::Sizes& padded) {
  return convert(
      layer, backend,
      {.sizes = layer.sizes, .padded = padded, .form = layer.form, .engine = engine_for(backend, layer.form).value_or(deployment::kDefaultEngine)});
}

void check_restorable(const PackedLayer& packed, OnLoss on_loss) {
  const Setting& setting = packed.setting;
  const BackendLayout& backend = backend_layout_named(packed.backend, setting.form.format, setting.engine);
  if (on_loss == OnLoss::refuse && !packed.losses.empty()) {
    const layout::Loss& loss = packed.losses.front();
    throw Error(ErrorCode::usage, loss.what + " (" + std::to_string(loss.units) + " units)", std::string(layout::name_of(loss.role)));
  }
  if (backend.values != nullptr && backend.undo_values == nullptr) {
    throw Error(ErrorCode::usage, "what is packed does not determine the checkpoint's values", packed.backend);
  }
  if (backend.values != nullptr) return;
  for (const layout::PackedTensor& tensor : packed.tensors) {
    if (layout::canonical(tensor.role, setting.sizes, setting.form).logical() != tensor.layout.axes_before(0)) throw wrong_sizes(tensor);
  }
  for (layout::Role role : layout::kAllRoles) {
    if (layout::is_bias(role) || !layout::has_role(setting.form.format, role) || packed.find(role) != nullptr) continue;
    throw Error(ErrorCode::input, "missing from the packed layer", std::string(layout::name_of(role)));
  }
}

layout::CanonicalLayer restore(PackedLayer packed, OnLoss on_loss, const layout::Mover& mover) {
  check_restorable(packed, on_loss);
  const Setting& setting = packed.setting;
  const BackendLayout& backend = backend_layout_named(packed.backend, setting.form.format, setting.engine);
  const bool coupled = backend.undo_values != nullptr;
  layout::LayerUnits units;
  layout::CanonicalLayer layer{setting.sizes, setting.form, {}};
  for (layout::PackedTensor& tensor : packed.tensors) {
    const layout::Role role = tensor.role;
    layout::check_fit(role, tensor.layout, tensor.bytes);
    const layout::Layout memory = coupled ? row_major(tensor.layout, *tensor.cast) : layout::canonical(role, setting.sizes, setting.form);
    std::vector<std::uint8_t> taken = layout::named(role, [&] { return mover.take({tensor.layout, tensor.cast}, tensor.bytes, memory); });
    give_back(tensor.bytes);
    if (coupled) {
      units[static_cast<std::size_t>(role)] = {memory.unit_bits(), std::move(taken)};
    } else {
      layer[role] = std::move(taken);
    }
  }
  if (coupled) undo(units, backend, packed, layer, mover);
  if (makes_fnuz(backend, setting)) from_fnuz(layer);
  return layer;
}

}  // namespace mx::families
