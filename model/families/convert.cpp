#include "model/families/convert.hpp"

#include <algorithm>
#include <utility>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/one_line.hpp"

namespace mx::layout {
namespace {

bool slices(const Layout& layout) {
  return std::ranges::any_of(layout.steps(), [](const Step& step) { return std::holds_alternative<Slice>(step); });
}

/// The tensor's units in logical order, before the cast.
Layout row_major(const Layout& layout, const Cast& cast) { return {layout.axes_before(0), cast.keeps() ? layout.unit_bits() : cast.from_bits}; }

/// Units that a cast cannot give back, in whatever order they stand.
std::int64_t lost_in_cast(const Cast& cast, std::span<const std::uint8_t> units) {
  if (cast.keeps()) return 0;
  const Uncast uncast(cast);
  if (uncast.is_lossless()) return 0;
  std::vector<bool> is_lost(std::size_t{1} << cast.from_bits);
  for (std::size_t unit = 0; unit < is_lost.size(); ++unit) is_lost[unit] = !uncast.is_recoverable(unit);
  std::int64_t lost = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(units.size()) * 8 / cast.from_bits; ++i) {
    if (is_lost[static_cast<std::size_t>(get_grain(units, i, cast.from_bits))]) ++lost;
  }
  return lost;
}

/// Units that have no place in memory.
std::int64_t cut_off(const Layout& layout) {
  if (!slices(layout)) return 0;
  const std::vector<std::uint8_t> nothing(static_cast<std::size_t>(layout.bytes()));
  return layout.size() - held_row_major(layout, nothing).count;
}

/// One tensor into its backend's memory; adds what it loses.
PackedTensor packed_tensor(Role role, TensorPlan plan, const Layout& memory, std::span<const std::uint8_t> source, std::vector<Loss>& losses,
                           const Mover& mover) {
  check_fit(role, memory, source);
  note_lost(role, plan, lost_units(plan, source), losses);
  std::vector<std::uint8_t> bytes = named(role, [&] { return mover.place(memory, source, plan); });
  return {role, std::move(plan.layout), plan.cast, std::move(bytes)};
}

/// A packed layer without its tensors. Throws where the backend takes no such layer.
PackedLayer begun(const CanonicalLayer& layer, const BackendLayout& backend, Setting setting) {
  LayerOutline outline{layer.sizes, layer.form, {}, 0};
  for (const Role role : kAllRoles) {
    outline.present[static_cast<std::size_t>(role)] = !layer[role].empty();
    outline.largest_scale_byte = std::max(outline.largest_scale_byte, largest_scale_byte(role, layer.form, layer[role]));
  }
  return {std::string(backend.backend), setting_for(outline, backend, std::move(setting)), {}, {}};
}

/// A tensor as the checkpoint has it, or the units that its values were coupled into, in the layer's packed form.
PackedTensor placed_tensor(Role role, std::span<const std::uint8_t> source, const BackendLayout& backend, PackedLayer& packed, const Mover& mover) {
  TensorPlan plan = backend.build(role, packed.setting);
  const bool coupled = backend.values != nullptr;
  const Layout memory = coupled ? row_major(plan.layout, *plan.cast) : canonical(role, packed.setting.sizes, packed.setting.form);
  return packed_tensor(role, std::move(plan), memory, source, packed.losses, mover);
}

/// A tensor of a large model is no longer held than it is needed.
void give_back(std::vector<std::uint8_t>& bytes) { std::vector<std::uint8_t>().swap(bytes); }

Error wrong_sizes(const PackedTensor& tensor) {
  return {ErrorCode::usage, "the layout is not one of these sizes: " + one_line(tensor.layout), std::string(name_of(tensor.role))};
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

int largest_scale_byte(Role role, const Form& form, std::span<const std::uint8_t> bytes) {
  if (!is_scale(role) || bytes.empty() || unit_bits(role, form.format) != 8) return 0;
  return *std::ranges::max_element(bytes);
}

Setting setting_for(const LayerOutline& layer, const BackendLayout& backend, Setting setting) {
  const auto is_there = [&](Role role) { return layer.present[static_cast<std::size_t>(role)]; };
  setting.sizes = layer.sizes;
  setting.form = layer.form;
  setting.has_bias = is_there(Role::w13_bias) && is_there(Role::w2_bias);
  setting.marlin.largest_scale_byte = layer.largest_scale_byte;
  if (!backend.converts(layer.form, setting.engine)) {
    throw Error(ErrorCode::usage,
                "checkpoints of " + std::string(name_of(layer.form.format)) + " in " + std::string(name_of(layer.form.order)) + " order" +
                    (layer.form.gated ? "" : ", not gated,") + " are not converted by engine " + std::string(name_of(setting.engine)),
                std::string(backend.backend));
  }
  check_needs(backend, setting);
  for (Role role : kAllRoles) {
    if (!is_there(role) && !is_bias(role) && has_role(layer.form.format, role)) {
      throw Error(ErrorCode::input, "missing from the layer", std::string(name_of(role)));
    }
  }
  return setting;
}

LostUnits lost_units(const TensorPlan& plan, std::span<const std::uint8_t> source) {
  return {lost_in_cast(*plan.cast, source), cut_off(plan.layout)};
}

bool may_lose(const TensorPlan& plan) { return slices(plan.layout) || !(plan.cast->keeps() || Uncast(*plan.cast).is_lossless()); }

void note_lost(Role role, const TensorPlan& plan, const LostUnits& lost, std::vector<Loss>& losses) {
  if (lost.cast > 0) losses.push_back({role, std::string(plan.cast->summary), lost.cast});
  if (lost.cut > 0) losses.push_back({role, "elements beyond the last whole tile are cut off", lost.cut});
}

LayerUnits placed_units(CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<Loss>& losses, const Mover& mover) {
  LayerUnits units;
  for (Role role : kAllRoles) {
    if (layer[role].empty()) continue;
    const Layout memory = canonical(role, layer.sizes, layer.form);
    check_fit(role, memory, layer[role]);
    const TensorPlan logical{row_major(memory, kKeep), &kKeep};
    units[static_cast<std::size_t>(role)] = {memory.unit_bits(), named(role, [&] { return mover.place(memory, layer[role], logical); })};
    give_back(layer[role]);
  }
  if (backend.values != nullptr) backend.values(units, setting, losses);
  return units;
}

PackedLayer convert(const CanonicalLayer& layer, const BackendLayout& backend, Setting setting, const Mover& mover) {
  if (backend.values != nullptr) return convert(CanonicalLayer(layer), backend, std::move(setting), mover);
  PackedLayer packed = begun(layer, backend, std::move(setting));
  for (Role role : kAllRoles) {
    if (!layer[role].empty()) packed.tensors.push_back(placed_tensor(role, layer[role], backend, packed, mover));
  }
  return packed;
}

PackedLayer convert(CanonicalLayer&& layer, const BackendLayout& backend, Setting setting, const Mover& mover) {
  PackedLayer packed = begun(layer, backend, std::move(setting));
  LayerUnits units;
  const bool coupled = backend.values != nullptr;
  if (coupled) units = placed_units(std::move(layer), backend, packed.setting, packed.losses, mover);
  for (Role role : kAllRoles) {
    // NOLINTNEXTLINE(bugprone-use-after-move): it is moved from where they are coupled, and not looked at there.
    std::vector<std::uint8_t>& held = coupled ? units[static_cast<std::size_t>(role)].bytes : layer[role];
    if (held.empty()) continue;
    const std::vector<std::uint8_t> source = std::move(held);
    packed.tensors.push_back(placed_tensor(role, source, backend, packed, mover));
  }
  return packed;
}

PackedLayer convert(const CanonicalLayer& layer, const BackendLayout& backend, const Sizes& padded) {
  return convert(layer, backend,
                 {.sizes = layer.sizes, .padded = padded, .form = layer.form, .engine = engine_for(backend, layer.form).value_or(kDefaultEngine)});
}

void check_restorable(const PackedLayer& packed, OnLoss on_loss) {
  const Setting& setting = packed.setting;
  const BackendLayout& backend = backend_layout_named(packed.backend, setting.form.format, setting.engine);
  if (on_loss == OnLoss::refuse && !packed.losses.empty()) {
    const Loss& loss = packed.losses.front();
    throw Error(ErrorCode::usage, loss.what + " (" + std::to_string(loss.units) + " units)", std::string(name_of(loss.role)));
  }
  if (backend.values != nullptr && backend.undo_values == nullptr) {
    throw Error(ErrorCode::usage, "what is packed does not determine the checkpoint's values", packed.backend);
  }
  if (backend.values != nullptr) return;
  for (const PackedTensor& tensor : packed.tensors) {
    if (canonical(tensor.role, setting.sizes, setting.form).logical() != tensor.layout.axes_before(0)) throw wrong_sizes(tensor);
  }
  for (Role role : kAllRoles) {
    if (is_bias(role) || !has_role(setting.form.format, role) || packed.find(role) != nullptr) continue;
    throw Error(ErrorCode::input, "missing from the packed layer", std::string(name_of(role)));
  }
}

CanonicalLayer restore(PackedLayer packed, OnLoss on_loss, const Mover& mover) {
  check_restorable(packed, on_loss);
  const Setting& setting = packed.setting;
  const BackendLayout& backend = backend_layout_named(packed.backend, setting.form.format, setting.engine);
  const bool coupled = backend.undo_values != nullptr;
  LayerUnits units;
  CanonicalLayer layer{setting.sizes, setting.form, {}};
  for (PackedTensor& tensor : packed.tensors) {
    const Role role = tensor.role;
    check_fit(role, tensor.layout, tensor.bytes);
    const Layout memory = coupled ? row_major(tensor.layout, *tensor.cast) : canonical(role, setting.sizes, setting.form);
    std::vector<std::uint8_t> taken = named(role, [&] { return mover.take({tensor.layout, tensor.cast}, tensor.bytes, memory); });
    give_back(tensor.bytes);
    if (coupled) {
      units[static_cast<std::size_t>(role)] = {memory.unit_bits(), std::move(taken)};
    } else {
      layer[role] = std::move(taken);
    }
  }
  if (!coupled) return layer;
  backend.undo_values(units, setting);
  for (Role role : kAllRoles) {
    Units& of_role = units[static_cast<std::size_t>(role)];
    if (of_role.absent()) {
      if (is_bias(role) || !has_role(setting.form.format, role)) continue;
      throw Error(ErrorCode::input, "missing from the packed layer", std::string(name_of(role)));
    }
    const Layout memory = canonical(role, setting.sizes, setting.form);
    if (static_cast<std::int64_t>(of_role.bytes.size()) != memory.bytes()) throw wrong_sizes(*packed.find(role));
    const Layout logical = row_major(memory, kKeep);
    layer[role] = named(role, [&] { return mover.place(logical, of_role.bytes, {memory, &kKeep}); });
    give_back(of_role.bytes);
  }
  return layer;
}

}  // namespace mx::layout
