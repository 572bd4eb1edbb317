#include "golden/witness/layout_model.hpp"

#include <algorithm>

#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"

namespace mx::golden {

namespace {

using layout::Layout;
using layout::Role;

/// Cuts the grains of `source` as those of `packed` were cut.
Layout with_grains_of(const Layout& packed, Layout source) {
  while (source.logical().size() < packed.logical().size()) {
    const layout::Axis& cut = packed.logical()[source.logical().size()];
    source.explode(static_cast<int>(source.grain_bits() / cut.extent), cut.name);
  }
  return source;
}

LayoutModel block_model(const BlockCall& call) {
  Layout packed = families::block_layout(*call.block, call.request);
  const families::BlockRequest& matrix = call.request;
  Layout source({{"batch", matrix.batch}, {"rows", matrix.rows}, {"cols", matrix.cols}}, matrix.unit_bits);
  return {with_grains_of(packed, std::move(source)), packed, &layout::kKeep};
}

LayoutModel backend_model(const BackendCall& call, const LayoutEntry& entry) {
  const families::BackendLayout* row = call.row();
  if (row == nullptr) no_model(entry);
  if (!call.role) no_model(entry, " of all tensors at once");
  families::check_needs(*row, call.setting);
  layout::TensorPlan plan = row->build(*call.role, call.setting);
  Layout source = layout::canonical(*call.role, call.setting.sizes, call.setting.form);
  return {with_grains_of(plan.layout, std::move(source)), std::move(plan.layout), plan.cast, row->values == nullptr ? nullptr : row};
}

/// Row-major grains that a layout holds; those that it does not hold are marked.
std::vector<std::uint8_t> held_grains(const Layout& from, std::span<const std::uint8_t> bytes, std::vector<bool>& lost) {
  const int bits = from.grain_bits();
  std::vector<std::uint8_t> out(static_cast<std::size_t>((from.size() * bits + 7) / 8));
  lost.assign(static_cast<std::size_t>(from.size()), true);
  layout::for_each_run(from, [&](std::int64_t address, std::int64_t entry, std::int64_t count) {
    if (entry < 0) return;
    layout::copy_grains(bytes, address, out, entry, count, bits);
    std::fill_n(lost.begin() + entry, count, false);
  });
  return out;
}

/// Grains before the cast; one that no grain becomes, or several do, is lost.
std::vector<std::uint8_t> undo_cast(const layout::Cast& cast, std::span<const std::uint8_t> grains, int bits, std::vector<bool>& lost) {
  const layout::Uncast uncast(cast);
  std::vector<std::uint8_t> out(lost.size() * static_cast<std::size_t>(cast.from_bits) / 8);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const auto grain = uncast(layout::get_grain(grains, static_cast<std::int64_t>(i), bits));
    lost[i] = lost[i] || !grain || !uncast.is_recoverable(*grain);
    if (grain) layout::set_grain(out, static_cast<std::int64_t>(i), cast.from_bits, *grain);
  }
  return out;
}

/// Marks in the order of the source's memory.
std::vector<bool> in_memory_order(const Layout& source, const std::vector<bool>& row_major) {
  std::vector<bool> out(row_major.size());
  layout::for_each_address(
      source, [&](std::int64_t address, std::int64_t entry) { out[static_cast<std::size_t>(address)] = row_major[static_cast<std::size_t>(entry)]; });
  return out;
}

}  // namespace

LayoutModel model_of(const LayoutCall& call, const LayoutEntry& entry) {
  if (const auto* block = std::get_if<BlockCall>(&call)) return block_model(*block);
  if (const auto* backend = std::get_if<BackendCall>(&call)) return backend_model(*backend, entry);
  no_model(entry, " as a rearrangement");
}

std::vector<std::int64_t> source_grains(const LayoutModel& model) {
  const std::vector<std::int64_t> logical_at = model.source.gather();
  std::vector<std::int64_t> address_of(logical_at.size());
  for (std::size_t address = 0; address < logical_at.size(); ++address)
    address_of[static_cast<std::size_t>(logical_at[address])] = static_cast<std::int64_t>(address);
  std::vector<std::int64_t> grains = model.packed.gather();
  for (std::int64_t& grain : grains) {
    if (grain >= 0) grain = address_of[static_cast<std::size_t>(grain)];
  }
  return grains;
}

layout::CanonicalLayer layer_with(const BackendCall& call, std::span<const std::uint8_t> tensor) {
  const families::Setting& setting = call.setting;
  layout::CanonicalLayer layer{setting.sizes, setting.form, {}};
  for (const Role role : layout::kAllRoles) {
    if (!layout::has_role(setting.form.format, role) || (layout::is_bias(role) && !setting.has_bias)) continue;
    layer[role].assign(static_cast<std::size_t>(layout::canonical(role, setting.sizes, setting.form).bytes()), 0);
  }
  if (call.role) layer[*call.role].assign(tensor.begin(), tensor.end());
  return layer;
}

PackedBytes packed_bytes(const LayoutCall& call, const LayoutModel& model, std::span<const std::uint8_t> input) {
  if (model.coupled != nullptr) {
    const auto& backend = std::get<BackendCall>(call);
    families::PackedLayer layer = families::convert(layer_with(backend, input), *model.coupled, backend.setting);
    std::vector<std::uint8_t> bytes = layer.find(*backend.role)->bytes;
    return {std::move(bytes), std::move(layer)};
  }
  return {layout::from_row_major(model.packed, layout::to_row_major(model.source, input), *model.cast, 0), std::nullopt};
}

RestoredBytes restored_bytes(const LayoutCall& call, const LayoutModel& model, const PackedBytes& output) {
  RestoredBytes restored;
  if (output.layer) {
    const Role role = *std::get<BackendCall>(call).role;
    const bool whole = model.coupled->undo_values != nullptr &&
                       std::ranges::none_of(output.layer->losses, [role](const layout::Loss& loss) { return loss.role == role; });
    if (whole) restored.bytes = families::restore(*output.layer, families::OnLoss::mark)[role];
    restored.lost.assign(static_cast<std::size_t>(model.source.size()), !whole);
    return restored;
  }
  std::vector<std::uint8_t> grains = held_grains(model.packed, output.bytes, restored.lost);
  if (!model.cast->keeps()) grains = undo_cast(*model.cast, grains, model.packed.grain_bits(), restored.lost);
  restored.bytes = layout::from_row_major(model.source, grains, 0);
  restored.lost = in_memory_order(model.source, restored.lost);
  return restored;
}

}  // namespace mx::golden
