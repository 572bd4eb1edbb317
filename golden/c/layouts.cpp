// The C API of opened layouts.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "golden/c/calls.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/families/setting_keys.hpp"
#include "model/layout/element_map.hpp"
#include "model/layout/packed.hpp"
#include "model/names.hpp"

/// Everything that questions need, worked out once; never changed.
struct mxact_layout {
  mx::layout::Layout before;  ///< the tensor's own memory
  mx::layout::TensorPlan plan;
  mx::layout::ElementMap elements;
};

namespace {

using namespace mx::golden::c_api;
using mx::layout::Layout;
using Field = std::pair<std::string_view, std::string_view>;

constexpr std::uint32_t kMost = 1U << 20U;

/// "key=value,key=value".
std::vector<Field> fields_of(const char* parameters) {
  std::vector<Field> fields;
  std::string_view rest = parameters == nullptr ? "" : parameters;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) throw mx::Error(mx::ErrorCode::usage, "'" + std::string(part) + "' is not key=value", "parameters");
    fields.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return fields;
}

[[noreturn]] void refuse_key(std::string_view key, const std::vector<std::string_view>& known) {
  throw mx::Error(mx::ErrorCode::usage, mx::unknown_name("choice", key, known), "parameters");
}

mxact_layout opened(Layout before, mx::layout::TensorPlan plan) {
  mx::layout::ElementMap elements(plan.layout);
  return {std::move(before), std::move(plan), std::move(elements)};
}

mxact_layout opened_block(const mx::families::BuildingBlock& block, const std::uint32_t* shape, const std::vector<Field>& fields) {
  constexpr int kByte = 8;
  mx::families::BlockRequest request{block.versions.front(), shape[0], shape[1], shape[2], block.unit_bits == 0 ? kByte : block.unit_bits, {}};
  for (const auto& [key, value] : fields) {
    const auto* const param = std::ranges::find_if(block.params, [&key](const auto& row) { return mx::same_name(row.key, key); }).base();
    if (mx::same_name(key, "unit-bits")) {
      request.unit_bits = static_cast<int>(mx::families::whole_number(key, value, 1, 64));
    } else if (mx::same_name(key, "version")) {
      const auto found = std::ranges::find_if(block.versions, [&value](std::string_view version) { return mx::same_name(version, value); });
      if (found == block.versions.end()) throw mx::Error(mx::ErrorCode::usage, mx::unknown_name("version", value, block.versions), "parameters");
      request.version = *found;
    } else if (param != block.params.data() + block.params.size()) {
      request.params[std::string(param->key)] = mx::families::whole_number(key, value, param->low, param->high);
    } else {
      std::vector<std::string_view> known{"unit-bits", "version"};
      for (const auto& row : block.params) known.push_back(row.key);
      refuse_key(key, known);
    }
  }
  Layout layout = mx::families::block_layout(block, request);
  Layout before(layout.axes_before(0), layout.unit_bits());
  return opened(std::move(before), {std::move(layout), &mx::layout::kKeep});
}

/// "256x512".
std::array<std::int64_t, 2> padded_of(std::string_view text) {
  const std::size_t times = text.find('x');
  if (times == std::string_view::npos) throw mx::Error(mx::ErrorCode::usage, "padded is '" + std::string(text) + "', must be IxH", "parameters");
  return {mx::families::whole_number("padded", text.substr(0, times), 1, kMost),
          mx::families::whole_number("padded", text.substr(times + 1), 1, kMost)};
}

mxact_layout opened_backend(std::string_view name, const std::uint32_t* shape, const std::vector<Field>& fields, const char* engine) {
  std::optional<mx::layout::Role> role;
  std::optional<std::array<std::int64_t, 2>> padded;
  mx::families::Setting setting{.sizes = {}, .padded = {}, .form = {}};
  bool has_order = false;
  if (engine != nullptr) setting.engine = mx::families::conversion_engine_named(engine);
  for (const auto& [key, value] : fields) {
    const mx::families::SettingKey* const known = mx::families::find_setting_key(key);
    if (mx::same_name(key, "tensor")) {
      role = mx::layout::role_named(value);
    } else if (mx::same_name(key, "format")) {
      setting.form.format = mx::layout::weight_format_named(value);
    } else if (mx::same_name(key, "padded")) {
      padded = padded_of(value);
    } else if (known != nullptr) {
      known->set(setting, value);
      has_order |= mx::same_name(key, "source-order");
    } else {
      std::vector<std::string_view> all{"tensor", "format", "padded"};
      for (const mx::families::SettingKey& row : mx::families::setting_keys()) all.push_back(row.key);
      refuse_key(key, all);
    }
  }
  require(role.has_value(), "tensor is missing, for example tensor=w13_weight");
  setting.sizes = {shape[0], shape[1], shape[2], std::max<std::int64_t>(mx::layout::group_of(setting.form.format), 1)};
  mx::layout::check(setting.sizes);
  setting.padded = setting.sizes;
  if (padded) setting.padded.intermediate = (*padded)[0], setting.padded.hidden = (*padded)[1];
  const mx::families::BackendLayout& row = mx::families::backend_layout_named(name, setting.form.format, setting.engine);
  if (!has_order) setting.form.order = row.gpt_oss_order.has(setting.engine) ? mx::layout::SourceOrder::gpt_oss : mx::layout::SourceOrder::standard;
  require(row.converts(setting.form, setting.engine), "checkpoints of this form are not converted by this engine");
  require(mx::layout::has_role(row.format, *role) || row.values != nullptr, "the format has no such tensor");
  mx::layout::check_padded(setting.sizes, setting.padded);
  mx::families::check_needs(row, setting);
  Layout before(mx::layout::logical_axes(*role, setting.sizes, setting.form), mx::layout::unit_bits(*role, setting.form.format));
  return opened(std::move(before), row.build(*role, setting));
}

mxact_layout opened(std::string_view name, const std::uint32_t* shape, const std::vector<Field>& fields, const char* engine) {
  const auto is_it = [name](std::string_view other) { return mx::same_name(other, name); };
  for (const mx::families::BuildingBlock& block : mx::families::all_building_blocks()) {
    if (!is_it(block.name)) continue;
    require(engine == nullptr, "a building block asks no engine");
    return opened_block(block, shape, fields);
  }
  const auto rows = mx::families::all_backend_layouts();
  const auto row = std::ranges::find_if(rows, is_it, &mx::families::BackendLayout::backend);
  if (row != rows.end()) return opened_backend(row->backend, shape, fields, engine);
  std::vector<std::string_view> known;
  for (const mx::families::BuildingBlock& block : mx::families::all_building_blocks()) known.push_back(block.name);
  for (const mx::families::BackendLayout& backend : rows) known.push_back(backend.backend);
  throw mx::Error(mx::ErrorCode::usage, mx::unknown_name("layout", name, known));
}

/// The number that stands in the place of every index.
std::int64_t padding_of(mx::layout::PadContent content) {
  switch (content) {
    case mx::layout::PadContent::unwritten: return Layout::kPadUnwritten;
    case mx::layout::PadContent::neutral: return Layout::kPadNeutral;
    case mx::layout::PadContent::zero: break;
  }
  return Layout::kPadZero;
}

/// Moves into memory of the caller's once all went well.
template <class Move>
void move(const std::uint8_t* from, std::size_t from_bytes, std::int64_t from_need, std::uint8_t* to, std::size_t to_bytes, std::int64_t to_need,
          const Move& make) {
  require(from != nullptr && to != nullptr, "a null pointer");
  const auto check = [](const char* what, std::size_t bytes, std::int64_t need) {
    if (std::cmp_equal(bytes, need)) return;
    throw mx::Error(mx::ErrorCode::usage, std::string(what) + " has " + std::to_string(bytes) + " bytes, the layout needs " + std::to_string(need));
  };
  check("what is moved", from_bytes, from_need);
  check("where it goes", to_bytes, to_need);
  const std::vector<std::uint8_t> made = make(std::span(from, from_bytes));
  std::ranges::copy(made, to);
}

}  // namespace

extern "C" {

std::int32_t mxact_layout_open(const char* name, const std::uint32_t* shape, const char* parameters, const char* engine, mxact_layout** layout) {
  return guarded([&] {
    require(name != nullptr && shape != nullptr && layout != nullptr, "a null pointer");
    for (int i = 0; i < 3; ++i) require(shape[i] > 0 && shape[i] <= kMost, "a size out of range: 1 to 1048576");
    auto made = std::make_unique<mxact_layout>(opened(name, shape, fields_of(parameters), engine));
    require(made->elements.layout().logical().size() <= MXACT_MOST_AXES, "a layout of too many axes");
    static_cast<void>(made->plan.layout.bytes());
    *layout = made.release();
  });
}

std::int32_t mxact_layout_facts_of(const mxact_layout* layout, mxact_layout_facts* facts) {
  return guarded([&] {
    require(layout != nullptr && facts != nullptr, "a null pointer");
    const std::vector<mx::layout::Axis>& axes = layout->elements.layout().logical();
    mxact_layout_facts made{};
    made.axes = static_cast<std::uint32_t>(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) made.extents[i] = axes[i].extent;
    made.size = layout->plan.layout.cosize();
    made.address_bits = static_cast<std::uint32_t>(layout->plan.layout.grain_bits());
    made.tensor_bytes = static_cast<std::uint64_t>(layout->before.bytes());
    made.memory_bytes = static_cast<std::uint64_t>(layout->plan.layout.bytes());
    *facts = made;
  });
}

std::int32_t mxact_layout_map(const mxact_layout* layout, std::int32_t direction, const std::int64_t* from, std::size_t count, std::int64_t* to) {
  return guarded([&] {
    require(layout != nullptr && from != nullptr && to != nullptr, "a null pointer");
    require(count > 0 && count <= MXACT_MOST_CODES, "a number of elements out of range");
    require(direction == MXACT_TO_ADDRESSES || direction == MXACT_TO_ELEMENTS, "no such direction");
    const std::vector<mx::layout::Axis>& axes = layout->elements.layout().logical();
    if (direction == MXACT_TO_ADDRESSES) {
      for (std::size_t i = 0; i < count; ++i) to[i] = layout->elements.at({from + i * axes.size(), axes.size()});
      return;
    }
    for (std::size_t i = 0; i < count; ++i, to += axes.size()) {
      const mx::layout::Place place = layout->elements.layout().inverse(from[i]);
      place.coord ? static_cast<void>(std::ranges::copy(*place.coord, to))
                  : static_cast<void>(std::fill_n(to, axes.size(), padding_of(place.content)));
    }
  });
}

std::int32_t mxact_layout_apply(const mxact_layout* layout, const std::uint8_t* tensor, std::size_t tensor_bytes, std::uint8_t* memory,
                                std::size_t memory_bytes) {
  return guarded([&] {
    require(layout != nullptr, "a null pointer");
    move(tensor, tensor_bytes, layout->before.bytes(), memory, memory_bytes, layout->plan.layout.bytes(),
         [&](std::span<const std::uint8_t> bytes) { return mx::layout::kMoveByUnits.place(layout->before, bytes, layout->plan); });
  });
}

std::int32_t mxact_layout_restore(const mxact_layout* layout, const std::uint8_t* memory, std::size_t memory_bytes, std::uint8_t* tensor,
                                  std::size_t tensor_bytes) {
  return guarded([&] {
    require(layout != nullptr, "a null pointer");
    move(memory, memory_bytes, layout->plan.layout.bytes(), tensor, tensor_bytes, layout->before.bytes(),
         [&](std::span<const std::uint8_t> bytes) { return mx::layout::kMoveByUnits.take(layout->plan, bytes, layout->before); });
  });
}

void mxact_layout_close(mxact_layout* layout) { delete layout; }

}  // extern "C"
