#include "sim/execute/weights.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "kernels/relayout/mover.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/moe/weight_facts.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/f32.hpp"

namespace mx::sim {
namespace {

using layout::Layout;
using layout::Role;
using layout::Sizes;
using layout::Units;
using layout::WeightFormat;

struct MatrixRoles {
  Role weight, scale, bias, global, channel;
};
constexpr MatrixRoles kRolesOf[] = {
    {Role::w13_weight, Role::w13_weight_scale, Role::w13_bias, Role::w13_global_scale, Role::w13_channel_scale},
    {Role::w2_weight, Role::w2_weight_scale, Role::w2_bias, Role::w2_global_scale, Role::w2_channel_scale},
};
const MatrixRoles& roles_of(Matrix matrix) { return kRolesOf[static_cast<std::size_t>(matrix)]; }

/// Memory in logical order. A layout that keeps every element in one place is read by the fast twin.
std::vector<std::uint8_t> row_major(const Layout& memory, std::span<const std::uint8_t> bytes) {
  const bool slices = std::ranges::any_of(memory.steps(), [](const layout::Step& step) { return std::holds_alternative<layout::Slice>(step); });
  if (slices || memory.repeats()) return layout::held_row_major(memory, bytes).bytes;
  return kernels::relayout::mover_of(kernels::relayout::MoveBy::plans)
      .place(memory, bytes, {Layout(memory.logical(), memory.grain_bits()), &layout::kKeep});
}

/// Memory read in logical order; a cast that can be undone is undone, a bias is read in the type that it was widened to.
Units read_units(const layout::TensorPlan& plan, const layout::PackedTensor& tensor) {
  const std::string name(layout::name_of(tensor.role));
  if (plan.layout.bytes() != static_cast<std::int64_t>(tensor.bytes.size())) {
    throw Error(ErrorCode::usage,
                "holds " + std::to_string(tensor.bytes.size()) + " bytes, the kernel's layout has " + std::to_string(plan.layout.bytes()), name);
  }
  const bool linear = fault::planted(fault::Fault::sim_reads_linear);
  Units read{plan.layout.unit_bits(), linear ? tensor.bytes : row_major(plan.layout, tensor.bytes)};
  if (plan.cast->keeps() || layout::is_bias(tensor.role)) return read;
  const layout::Uncast uncast(*plan.cast);
  Units before{plan.cast->from_bits, std::vector<std::uint8_t>(static_cast<std::size_t>((plan.layout.size() * plan.cast->from_bits + 7) / 8))};
  for (std::int64_t i = 0; i < plan.layout.size(); ++i) {
    const std::optional<std::uint64_t> found = uncast(layout::get_grain(read.bytes, i, read.bits));
    if (!found) throw Error(ErrorCode::usage, "element " + std::to_string(i) + " is nothing that " + std::string(plan.cast->name) + " makes", name);
    layout::set_grain(before.bytes, i, before.bits, *found);
  }
  return before;
}

/// The e4m3 number that an int4 code chooses from its group's eight multiples.
Value chosen_multiple(std::uint64_t multiples, std::uint32_t uint4b8) {
  const int value = static_cast<int>(uint4b8) - 8;
  if (value == 0) return {};
  const int index = value < 0 ? value + 8 : 8 - value;
  Value number = decode(kE4m3fn, static_cast<std::uint32_t>(multiples >> (8 * index)) & 0xFFU);
  if (value > 0) number.negative = !number.negative;
  return number;
}

/// Units of 4 or 8 bits, one to a byte.
void unpack(const Units& units, std::int64_t first, std::int64_t count, std::vector<std::uint8_t>& into) {
  into.resize(static_cast<std::size_t>(count));
  const auto at = static_cast<std::size_t>(first);
  if (units.bits == 8) {
    std::copy_n(units.bytes.begin() + first, count, into.begin());
    return;
  }
  const auto nibble = [&](std::size_t i) { return static_cast<std::uint8_t>(std::uint32_t{units.bytes[(at + i) / 2]} >> ((at + i) % 2 * 4) & 0xFU); };
  // Two to a byte from the first whole byte on; the loop is plain enough for compilers to make vectors of it.
  const std::size_t head = std::min(at % 2, into.size());
  const std::size_t pairs = (into.size() - head) / 2;
  const std::uint8_t* const bytes = units.bytes.data() + (at + head) / 2;
  std::uint8_t* const out = into.data() + head;
  for (std::size_t i = 0; i < pairs; ++i) {
    out[2 * i] = bytes[i] & 0xFU;
    out[2 * i + 1] = static_cast<std::uint8_t>(bytes[i] >> 4U);
  }
  if (head != 0) into.front() = nibble(0);
  if ((into.size() - head) % 2 != 0) into.back() = nibble(into.size() - 1);
}

/// The code of the exact product of a scale code and a scale, nearest even, saturating.
Value refolded(const Value& scale, const Value& global) {
  constexpr Conversion kSaturating{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7F, 0xFF, 0, false};
  Flags flags;
  return decode(kE4m3fn, encode(exact_product(scale, global), kE4m3fn, kSaturating, flags));
}

}  // namespace

SharedUnits logical_units(const layout::CanonicalLayer& layer) {
  layout::LayerUnits units;
  for (Role role : layout::kAllRoles) {
    if (layer[role].empty()) continue;
    const Layout memory = layout::canonical(role, layer.sizes, layer.form);
    layout::check_fit(role, memory, layer[role]);
    units[static_cast<std::size_t>(role)] = {memory.unit_bits(), row_major(memory, layer[role])};
  }
  return std::make_shared<const layout::LayerUnits>(std::move(units));
}

Weights Weights::of_checkpoint(const layout::CanonicalLayer& layer, const families::ExecutionRow& row, bool fnuz) {
  return of_checkpoint(layer.sizes, layer.form, logical_units(layer), row, fnuz);
}

Weights Weights::of_checkpoint(const Sizes& sizes, const layout::Form& form, SharedUnits units, const families::ExecutionRow& row, bool fnuz) {
  Weights weights(sizes, form, row, fnuz);
  weights.units_ = std::move(units);
  weights.require_weights();
  if (fnuz) {
    auto made = std::make_shared<layout::LayerUnits>(*weights.units_);
    families::to_fnuz(*made);
    weights.units_ = std::move(made);
  }
  if (row.prepare_scales == nullptr) return weights;
  layout::LayerUnits prepared = *weights.units_;
  row.prepare_scales(prepared, sizes);
  weights.units_ = std::make_shared<const layout::LayerUnits>(std::move(prepared));
  return weights;
}

Weights Weights::of_packed(const families::PackedLayer& packed, const families::ExecutionRow& row, layout::SourceOrder order) {
  const families::BackendLayout& backend = families::backend_layout_named(packed.backend, packed.setting.form.format, packed.setting.engine);
  // A kernel does not know where the checkpoint ended: it reads the padded sizes. Where the conversion changes values tensor by tensor, its inverse
  // speaks of the checkpoint's sizes.
  families::Setting view = packed.setting;
  const bool changes_values = backend.undo_values != nullptr && packed.setting.form.format != WeightFormat::mxfp4;
  if (!changes_values) view.sizes = view.padded = families::padded_by(backend, packed.setting);
  view.form.order =
      fault::planted(fault::Fault::sim_swaps_gate_and_up) && order == layout::SourceOrder::gpt_oss ? layout::SourceOrder::standard : order;
  Weights weights(view.sizes, view.form, row, families::has_fnuz(view));
  layout::LayerUnits units;
  for (const layout::PackedTensor& tensor : packed.tensors) {
    units[static_cast<std::size_t>(tensor.role)] = read_units(backend.build(tensor.role, view), tensor);
  }
  if (backend.undo_values != nullptr) backend.undo_values(units, view);
  weights.units_ = std::make_shared<const layout::LayerUnits>(std::move(units));
  weights.require_weights();
  return weights;
}

std::pair<Weights, std::shared_ptr<layout::LayerUnits>> Weights::alone(std::int64_t expert) const {
  auto own = std::make_shared<layout::LayerUnits>();
  for (Role role : layout::kAllRoles) {
    const Units& all = units_of(role);
    if (all.absent()) continue;
    // Experts are the outermost axis of every tensor.
    const std::int64_t count = static_cast<std::int64_t>(all.bytes.size()) * 8 / all.bits / sizes_.experts;
    Units& one = (*own)[static_cast<std::size_t>(role)];
    one = {all.bits, std::vector<std::uint8_t>(static_cast<std::size_t>((count * all.bits + 7) / 8))};
    layout::copy_grains(all.bytes, expert * count, one.bytes, 0, count, all.bits);
  }
  Weights weights(sizes_, form_, *row_, fnuz_);
  weights.sizes_.experts = 1;
  weights.units_ = own;
  return {std::move(weights), std::move(own)};
}

void Weights::require_weights() const {
  for (Role role : layout::kAllRoles) {
    if (layout::is_bias(role) || !layout::has_role(form_.format, role) || !units_of(role).absent()) continue;
    throw Error(ErrorCode::usage, "missing from the layer", std::string(layout::name_of(role)));
  }
}

std::uint64_t Weights::unit(Role role, std::int64_t index) const {
  const Units& units = units_of(role);
  return layout::get_grain(units.bytes, index, units.bits);
}

WeightRow Weights::row(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const {
  const MatrixRoles& roles = roles_of(matrix);
  const moe::WeightFacts& facts = moe::weight_facts(form_.format);
  const moe::RowPlace place{.expert = expert, .halves = halves(matrix), .half = half, .rows = rows(matrix), .row = n, .length = length(matrix)};
  const moe::RowScales scales = moe::scales_of_row(facts, place, sizes_.group);
  const Format& element = element_format();
  WeightRow result{{}, &element, {}, 0, f32::kOne};
  result.elements.reserve(static_cast<std::size_t>(place.length));
  for (std::int64_t k = 0; k < place.length; ++k) {
    const auto code = static_cast<std::uint32_t>(unit(roles.weight, place.index() * place.length + k));
    result.elements.push_back(facts.chosen ? chosen_multiple(unit(roles.scale, scales.first + k / scales.block), code) : decode(element, code));
  }
  if (facts.chosen) {
    result.total = static_cast<std::uint32_t>(unit(roles.channel, place.index()));
    return result;
  }
  const auto scale_at = [&](std::int64_t at) { return static_cast<std::uint32_t>(unit(roles.scale, at)); };
  if (facts.coverage == moe::Coverage::expert || facts.coverage == moe::Coverage::row) {
    result.total = scale_at(scales.first);
  } else {
    result.block = static_cast<int>(scales.block);
    result.scale_format = facts.scale;
    for (std::int64_t i = scales.first; i < scales.first + scales.count; ++i) result.scales.push_back(decode(*facts.scale, scale_at(i)));
  }
  if (layout::has_role(form_.format, roles.global)) fold_global_scales(matrix, expert, result);
  return result;
}

const Format& Weights::element_format() const { return fnuz_ ? kE4m3fnuz : *moe::weight_facts(form_.format).element; }

const Format* Weights::scale_format() const {
  const moe::WeightFacts& facts = moe::weight_facts(form_.format);
  return facts.coverage == moe::Coverage::group ? facts.scale : nullptr;
}

bool Weights::is_coded() const {
  const moe::WeightFacts& facts = moe::weight_facts(form_.format);
  if (facts.chosen || facts.coverage == moe::Coverage::square) return false;
  return !layout::has_role(form_.format, Role::w13_global_scale) || row_->global == families::GlobalScale::epilogue;
}

bool Weights::is_coded_in_squares() const {
  const moe::WeightFacts& facts = moe::weight_facts(form_.format);
  return !facts.chosen && facts.coverage == moe::Coverage::square && *facts.scale == kF32 && !layout::has_role(form_.format, Role::w13_global_scale);
}

void Weights::read_coded(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n, CodedRow& into) const {
  const bool in_squares = is_coded_in_squares();
  if (!is_coded() && !in_squares)
    throw Error(ErrorCode::usage, "rows of " + std::string(layout::name_of(form_.format)) + " are not codes with their own scales");
  const MatrixRoles& roles = roles_of(matrix);
  const moe::WeightFacts& facts = moe::weight_facts(form_.format);
  const std::int64_t index = index_of(matrix, expert, half, n);
  unpack(units_of(roles.weight), index * length(matrix), length(matrix), into.codes);
  const std::int64_t groups = facts.coverage == moe::Coverage::group ? length(matrix) / sizes_.group : 0;
  unpack(units_of(roles.scale), index * groups, groups, into.scales);
  into.total = f32::kOne;
  into.square_scales.clear();
  if (in_squares) {
    const moe::RowScales shared = moe::scales_of_row(
        facts, {.expert = expert, .halves = halves(matrix), .half = half, .rows = rows(matrix), .row = n, .length = length(matrix)}, sizes_.group);
    into.square = shared.block;
    for (std::int64_t i = 0; i < shared.count; ++i) into.square_scales.push_back(static_cast<std::uint32_t>(unit(roles.scale, shared.first + i)));
  }
  if (facts.coverage == moe::Coverage::expert) into.total = static_cast<std::uint32_t>(unit(roles.scale, expert));
  if (facts.coverage == moe::Coverage::row) into.total = static_cast<std::uint32_t>(unit(roles.scale, index));
  if (layout::has_role(form_.format, roles.global)) into.total = static_cast<std::uint32_t>(unit(roles.global, expert));
}

const Units& Weights::codes_of(Matrix matrix) const { return units_of(roles_of(matrix).weight); }
const Units& Weights::scales_of(Matrix matrix) const { return units_of(roles_of(matrix).scale); }

std::uint32_t Weights::global_scale(Matrix matrix, std::int64_t expert) const {
  const Role role = roles_of(matrix).global;
  const bool is_behind = layout::has_role(form_.format, role) && row_->global == families::GlobalScale::epilogue;
  return is_behind ? static_cast<std::uint32_t>(unit(role, expert)) : f32::kOne;
}

void Weights::fold_global_scales(Matrix matrix, std::int64_t expert, WeightRow& into) const {
  if (row_->global == families::GlobalScale::epilogue) {
    into.total = global_scale(matrix, expert);
    return;
  }
  const auto global = static_cast<std::uint32_t>(unit(roles_of(matrix).global, expert));
  const Value factor = decode(kF32, global);
  for (Value& scale : into.scales) scale = row_->global == families::GlobalScale::operand ? exact_product(scale, factor) : refolded(scale, factor);
}

std::uint32_t Weights::bias(Matrix matrix, std::int64_t expert, std::int64_t half, std::int64_t n) const {
  const Role role = roles_of(matrix).bias;
  const Units& units = units_of(role);
  if (units.absent()) return 0;
  const auto code = static_cast<std::uint32_t>(unit(role, index_of(matrix, expert, half, n)));
  return units.bits == kBf16.width ? to_f32(code, kBf16) : code;
}

}  // namespace mx::sim
