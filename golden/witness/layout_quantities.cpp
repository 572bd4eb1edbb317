#include "golden/witness/layout_quantities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/families/block_input.hpp"

namespace mx::golden {

namespace {

using layout::Role;
using Values = std::vector<Json>;

/// The size that changes when a quantity computed from it goes from `value` to `met`.
std::int64_t scaled(std::int64_t size, const Json& value, const Json& met) {
  const auto from = value.get<std::int64_t>();
  return (size * met.get<std::int64_t>() + from - 1) / from;
}

/// "x = 64 is not .." without its numbers: the same for every value that breaks a rule. Of the error that is being handled.
Reason text_only(const Error& error) {
  if (error.code() != ErrorCode::usage && error.code() != ErrorCode::input) throw;
  std::string text = error.what();
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return {"", text};
}

void add(std::vector<Reason>& reasons, std::span<const families::BlockNeed> broken) {
  for (const families::BlockNeed& need : broken)
    reasons.push_back({std::string(need.quantity), fmt::format("{} {} {}", need.quantity, need.multiple, need.why)});
}

// ---------------------------------------------------------------- building blocks

std::int64_t columns_of(const BlockCall& call) { return call.request.cols * call.request.unit_bits / call.element_bits; }

void scale_columns(BlockCall& call, const Json& value, const Json& met) {
  call.request.cols = scaled(call.request.cols, value, met);
  call.elements = scaled(call.elements, value, met);
}

/// The fewest columns that make the product with the rows one of the wanted multiples.
void set_elements(BlockCall& call, const Json&, const Json& met) {
  const auto wanted = met.get<std::int64_t>();
  while (call.request.rows * columns_of(call) % wanted != 0) ++call.request.cols;
}

Values param_of(const BlockCall& call, std::string_view key) {
  const auto found = call.request.params.find(key);
  return found == call.request.params.end() ? Values{} : Values{Json(found->second)};
}

constexpr Quantity<BlockCall> kBlockQuantities[] = {
    {"rows", "rows", [](const BlockCall& c) { return Values{Json(c.request.rows)}; },
     [](BlockCall& c, const Json&, const Json& met) { c.request.rows = met.get<std::int64_t>(); }},
    {"columns", "cols",
     [](const BlockCall& c) {
       return Values{Json(columns_of(c)), Json(c.elements)};
     },
     scale_columns},
    {"groups", "cols", [](const BlockCall& c) { return Values{Json(columns_of(c))}; }, scale_columns},
    {"K", "cols",
     [](const BlockCall& c) {
       return Values{Json(c.elements), Json(columns_of(c))};
     },
     scale_columns},
    {"row_bytes", "cols", [](const BlockCall& c) { return Values{Json(c.request.cols * c.request.unit_bits / 8)}; }, scale_columns},
    {"elements", "cols",
     [](const BlockCall& c) {
       return Values{Json(c.request.rows * columns_of(c)), Json(c.request.batch * c.request.rows * columns_of(c))};
     },
     set_elements},
    {"rank", "rank", [](const BlockCall& c) { return Values{Json(c.rank)}; },
     [](BlockCall& c, const Json&, const Json& met) { c.rank = met.get<std::int64_t>(); }},
    {"dtype", "dtype", [](const BlockCall& c) { return Values{Json(c.dtype)}; },
     [](BlockCall& c, const Json&, const Json& met) { c.dtype = met.get<std::string>(); }},
    {"num_warps", "num_warps", [](const BlockCall& c) { return param_of(c, "num_warps"); },
     [](BlockCall& c, const Json&, const Json& met) { c.request.params["num_warps"] = met.get<std::int64_t>(); }},
    {"experts_given", "experts_given",
     [](const BlockCall& c) {
       const Values number = param_of(c, "experts_given");
       return number.empty() ? number : Values{Json(number.front() != 0)};
     },
     [](BlockCall& c, const Json&, const Json& met) { c.request.params["experts_given"] = met.get<bool>() ? 1 : 0; }},
};

// ---------------------------------------------------------------- blocks that change values

std::int64_t axis_of(const ValueCall& call, std::size_t from_last) {
  const auto& extents = call.input.extents;
  return extents.size() > from_last ? extents[extents.size() - 1 - from_last] : 1;
}

void set_axis(ValueCall& call, std::size_t from_last, std::int64_t extent) {
  auto& extents = call.input.extents;
  if (extents.size() <= from_last) throw Unmodelled("the input has too few axes for the quantity");
  std::int64_t& old = extents[extents.size() - 1 - from_last];
  call.input.elements = call.input.elements / old * extent;
  old = extent;
}

constexpr std::string_view kInputDtypes[] = {"none", "float8_e4m3fn", "int8"};  // by number

constexpr Quantity<ValueCall> kValueQuantities[] = {
    {"scale_byte", "scale_byte", [](const ValueCall& c) { return c.byte ? Values{Json(*c.byte)} : Values{}; },
     [](ValueCall& c, const Json&, const Json& met) { c.byte = met.get<std::uint8_t>(); }},
    {"activation_dtype", "activation_dtype",
     [](const ValueCall& c) {
       const auto found = c.params.find("input_dtype");
       return found == c.params.end() ? Values{} : Values{Json(std::string(kInputDtypes[found->second]))};
     },
     [](ValueCall& c, const Json&, const Json& met) {
       c.params["input_dtype"] = std::ranges::find(kInputDtypes, met.get<std::string>()) - std::begin(kInputDtypes);
     }},
    {"rows", "rows", [](const ValueCall& c) { return Values{Json(axis_of(c, 1))}; },
     [](ValueCall& c, const Json&, const Json& met) { set_axis(c, 1, met.get<std::int64_t>()); }},
    {"K", "cols",
     [](const ValueCall& c) {
       return Values{Json(2 * axis_of(c, 0)), Json(8 * axis_of(c, 0)), Json(axis_of(c, 0))};
     },
     [](ValueCall& c, const Json& value, const Json& met) { set_axis(c, 0, scaled(axis_of(c, 0), value, met)); }},
    {"columns", "cols", [](const ValueCall& c) { return Values{Json(axis_of(c, 0))}; },
     [](ValueCall& c, const Json&, const Json& met) { set_axis(c, 0, met.get<std::int64_t>()); }},
    {"elements", "elements", [](const ValueCall& c) { return Values{Json(c.input.elements)}; },
     [](ValueCall& c, const Json&, const Json& met) { set_axis(c, 0, axis_of(c, 0) * met.get<std::int64_t>()); }},
    {"rank", "rank", [](const ValueCall& c) { return Values{Json(c.rank)}; },
     [](ValueCall& c, const Json&, const Json& met) { c.rank = met.get<std::int64_t>(); }},
    {"dtype", "dtype", [](const ValueCall& c) { return Values{Json(c.dtype)}; },
     [](ValueCall& c, const Json&, const Json& met) { c.dtype = met.get<std::string>(); }},
};

// ---------------------------------------------------------------- whole backends

std::int64_t shards(const BackendCall& call) { return call.setting.form.gated ? 2 : 1; }

void set_hidden(BackendCall& call, const Json& value, const Json& met) {
  call.setting.sizes.hidden = scaled(call.setting.sizes.hidden, value, met);
  call.setting.padded = call.setting.sizes;
}
void set_intermediate(BackendCall& call, const Json& value, const Json& met) {
  call.setting.sizes.intermediate = scaled(call.setting.sizes.intermediate, value, met);
  call.setting.padded = call.setting.sizes;
}

/// Groups of 32 elements as the word says, and of as many as share a scale.
Values groups_in(const BackendCall& call, std::int64_t size) { return {Json(size / 32), Json(size / call.setting.sizes.group)}; }

bool of_w13(const BackendCall& call) { return call.role && layout::is_w13(*call.role); }
void set_rows(BackendCall& call, const Json& value, const Json& met) { (of_w13(call) ? set_intermediate : set_hidden)(call, value, met); }
void set_columns(BackendCall& call, const Json& value, const Json& met) { (of_w13(call) ? set_hidden : set_intermediate)(call, value, met); }
std::int64_t columns_of(const BackendCall& call) { return of_w13(call) ? call.setting.sizes.hidden : call.setting.sizes.intermediate; }

constexpr EnumWord<families::InputDtype> kActivationDtypes[] = {
    {"none", families::InputDtype::none}, {"float8_e4m3fn", families::InputDtype::float8_e4m3fn}, {"int8", families::InputDtype::int8}};

constexpr Quantity<BackendCall> kBackendQuantities[] = {
    {"hidden", "hidden", [](const BackendCall& c) { return Values{Json(c.setting.sizes.hidden)}; }, set_hidden},
    {"w2_rows", "hidden", [](const BackendCall& c) { return Values{Json(c.setting.sizes.hidden)}; }, set_hidden},
    {"w13_groups", "hidden", [](const BackendCall& c) { return groups_in(c, c.setting.sizes.hidden); }, set_hidden},
    {"w13_rows", "intermediate", [](const BackendCall& c) { return Values{Json(shards(c) * c.setting.sizes.intermediate)}; }, set_intermediate},
    {"w2_groups", "intermediate", [](const BackendCall& c) { return groups_in(c, c.setting.sizes.intermediate); }, set_intermediate},
    {"intermediate", "intermediate", [](const BackendCall& c) { return Values{Json(c.setting.sizes.intermediate)}; }, set_intermediate},
    // These speak of the tensor in `role`.
    {"rows", "rows", [](const BackendCall& c) { return Values{Json(of_w13(c) ? shards(c) * c.setting.sizes.intermediate : c.setting.sizes.hidden)}; },
     set_rows},
    {"columns", "columns", [](const BackendCall& c) { return Values{Json(columns_of(c))}; }, set_columns},
    {"K", "columns", [](const BackendCall& c) { return Values{Json(columns_of(c))}; }, set_columns},
    {"groups", "columns", [](const BackendCall& c) { return groups_in(c, columns_of(c)); }, set_columns},
    {"row_bytes", "columns",
     [](const BackendCall& c) { return Values{Json(columns_of(c) * layout::unit_bits(Role::w13_weight, c.setting.form.format) / 8)}; }, set_columns},
    {"num_warps", "num_warps", [](const BackendCall& c) { return Values{Json(c.setting.of<families::TritonParameters>().num_warps)}; },
     [](BackendCall& c, const Json&, const Json& met) { c.setting.of<families::TritonParameters>().num_warps = met.get<int>(); }},
    {"scale_byte", "scale_byte", [](const BackendCall& c) { return c.byte ? Values{Json(*c.byte)} : Values{}; },
     [](BackendCall& c, const Json&, const Json& met) { c.byte = met.get<std::uint8_t>(); }},
    {"activation_dtype", "activation_dtype", [](const BackendCall& c) { return Values{Json(std::string(families::name_of(c.setting.input_dtype)))}; },
     [](BackendCall& c, const Json&, const Json& met) {
       c.setting.input_dtype = row_named(kActivationDtypes, "dtype", met.get<std::string>()).value;
     }},
    {"backend", "backend", [](const BackendCall& c) { return Values{Json(c.backend)}; },
     [](BackendCall& c, const Json&, const Json& met) { c.backend = met.get<std::string>(); }},
    {"has_bias", "has_bias", [](const BackendCall& c) { return Values{Json(c.setting.has_bias)}; },
     [](BackendCall& c, const Json&, const Json& met) { c.setting.has_bias = met.get<bool>(); }},
    {"input_scale_given", "input_scale_given", [](const BackendCall& c) { return Values{Json(c.setting.has_input_scale)}; },
     [](BackendCall& c, const Json&, const Json& met) { c.setting.has_input_scale = met.get<bool>(); }},
};

}  // namespace

std::span<const Quantity<BlockCall>> quantities_of(const BlockCall&) { return kBlockQuantities; }
std::span<const Quantity<ValueCall>> quantities_of(const ValueCall&) { return kValueQuantities; }
std::span<const Quantity<BackendCall>> quantities_of(const BackendCall&) { return kBackendQuantities; }

std::string_view subject_behind(const BlockCall&, std::string_view subject) { return subject; }
std::string_view subject_behind(const ValueCall&, std::string_view subject) { return subject; }
std::string_view subject_behind(const BackendCall& call, std::string_view subject) {
  if (subject == "rows") return of_w13(call) ? "intermediate" : "hidden";
  if (subject == "columns") return of_w13(call) ? "hidden" : "intermediate";
  return subject;
}

std::vector<Reason> reasons_against(const BlockCall& call) {
  std::vector<Reason> reasons;
  add(reasons, families::broken_inputs(call.block->name, call.request.version, call.rank, call.dtype));
  try {
    add(reasons, families::broken_needs(*call.block, call.request));
    if (reasons.empty()) families::block_layout(*call.block, call.request);
  } catch (const Error& error) {
    reasons.push_back(text_only(error));
  }
  return reasons;
}

std::vector<Reason> reasons_against(const ValueCall& call) {
  std::vector<Reason> reasons;
  add(reasons, families::broken_inputs(call.block->name, call.version, call.rank, call.dtype));
  families::BlockTensors inputs;
  for (const std::string_view name : call.block->inputs) inputs[std::string(name)] = {32, {1}, std::vector<std::uint8_t>(4, 0)};
  inputs[std::string(call.block->inputs.front())] = {8 * call.input.dtype->bytes, call.input.extents,
                                                     std::vector<std::uint8_t>(static_cast<std::size_t>(call.input.bytes()), call.byte.value_or(0))};
  try {
    families::run_block(*call.block, inputs, call.params);
  } catch (const Error& error) {
    reasons.push_back(text_only(error));
  }
  return reasons;
}

std::vector<Reason> reasons_against(const BackendCall& call) {
  const families::BackendLayout* row = call.row();
  if (row == nullptr) return {{"backend", "backend"}};
  std::vector<Reason> reasons;
  families::Setting setting = call.setting;
  if (call.byte && call.role && layout::is_scale(*call.role)) setting.of<families::MarlinParameters>().largest_scale_byte = *call.byte;
  try {
    for (const families::BrokenNeed& broken : families::broken_needs(*row, setting)) {
      const families::Need& need = broken.need;
      const std::string_view word = families::name_of(need.quantity);
      reasons.push_back({std::string(word), fmt::format("{} {} {} {}", word, static_cast<int>(need.rule), need.operand, need.why)});
    }
  } catch (const Error& error) {
    reasons.push_back(text_only(error));
  }
  return reasons;
}

}  // namespace mx::golden
