#include "checkpoint/setting_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "model/numerics/f32.hpp"
#include "support/json_fields.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using families::Setting;
using layout::Sizes;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// A word as the model reads it; that it is unknown is the file's fault.
template <class Read>
auto word(support::JsonFields& fields, const std::string& key, Read read) {
  const std::string text = fields.text(key);
  try {
    return read(text);
  } catch (const Error& error) {
    fail(fields.where() + ": " + key, error.what());
  }
}

support::Json sizes_json(const Sizes& sizes) {
  return {{"experts", sizes.experts}, {"intermediate", sizes.intermediate}, {"hidden", sizes.hidden}, {"group", sizes.group}};
}

Sizes read_sizes(const support::Json& json, const std::string& where) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  support::JsonFields fields(json, where);
  const Sizes sizes{fields.integer("experts", 1, kLargest), fields.integer("intermediate", 1, kLargest), fields.integer("hidden", 1, kLargest),
                    fields.integer("group", 1, kLargest)};
  fields.finish();
  try {
    layout::check(sizes);
  } catch (const Error& error) {
    fail(where, error.what());
  }
  return sizes;
}

/// Does not compile when a setting gets another field, which must then become a row of setting_keys() or a member of setting_json(). The row "engine"
/// has served_by.
[[maybe_unused]] void check_fields(const Setting& setting) {
  [[maybe_unused]] const auto& [sizes, padded, form, engine, arch, tp_size, params_dtype, input_dtype, activation, has_bias, has_input_scale,
                                leaves_e4m3fn, served_by, parameters] = setting;
}

}  // namespace

support::Json setting_json(const Setting& setting) {
  support::Json json{
      {"sizes", sizes_json(setting.sizes)}, {"padded", sizes_json(setting.padded)}, {"weight-format", layout::name_of(setting.form.format)}};
  for (const families::SettingKey& row : families::setting_keys()) json[std::string(row.key)] = row.get(setting);
  return json;
}

Setting read_setting(const support::Json& json, const std::string& where) {
  Setting setting{};
  support::JsonFields fields(json, where);
  setting.sizes = read_sizes(fields.at("sizes"), where + ": sizes");
  setting.padded = read_sizes(fields.at("padded"), where + ": padded");
  setting.form.format = word(fields, "weight-format", layout::weight_format_named);
  for (const families::SettingKey& row : families::setting_keys()) {
    word(fields, std::string(row.key), [&](const std::string& text) { row.set(setting, text); });
  }
  fields.finish();
  try {
    layout::check_padded(setting.sizes, setting.padded);
  } catch (const Error& error) {
    fail(where, error.what());
  }
  return setting;
}

support::Json values_json(const std::vector<LayerValues>& values) {
  support::Json json = support::Json::array();
  for (const auto& [layer, fault] : values) {
    json.push_back({{"layer", layer},
                    {"fault", name_of(fault.fault)},
                    {"piece", static_cast<int>(fault.piece)},
                    {"tensor", fault.tensor},
                    {"count", fault.count},
                    {"first", fault.first},
                    {"detail", fault.detail}});
  }
  return json;
}

LayerValues read_values(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where + ": values");
  LayerValues value{static_cast<int>(fields.integer("layer", 0, INT32_MAX)), {}};
  const std::string fault = fields.text("fault");
  const std::optional<ValueFault> known = fault_named(fault);
  if (!known) fail(where, fmt::format("values: {} is no fault of a number", support::in_quotes(fault)));
  value.fault = {*known, static_cast<Piece>(fields.integer("piece", 0, static_cast<int>(Piece::aside))), fields.text("tensor"),
                 fields.integer("count", 1, std::numeric_limits<std::int64_t>::max()), fields.text("first"), fields.text("detail")};
  fields.finish();
  return value;
}

support::Json inputs_json(const InputScales& scales) { return {{"w13", f32::text(scales.w13)}, {"w2", f32::text(scales.w2)}}; }

InputScales read_inputs(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where);
  const auto bits = [&](const char* key) {
    const std::string text = fields.text(key);
    std::uint32_t value = 0;
    const char* const end = text.data() + text.size();
    if (text.size() != 10 || !text.starts_with("0x") || std::from_chars(text.data() + 2, end, value, 16).ptr != end)
      fail(where, fmt::format("{} is {}, expected 0x and eight hexadecimal digits", key, support::in_quotes(text)));
    return value;
  };
  const InputScales scales{bits("w13"), bits("w2")};
  fields.finish();
  return scales;
}

}  // namespace mx::checkpoint
