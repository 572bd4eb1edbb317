#include "sim/checkpoint/tag_fields.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

using layout::Setting;
using layout::Sizes;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// A word as the model reads it; that it is unknown is the file's fault.
template <class Read>
auto word(TagFields& fields, const std::string& key, Read read) {
  const std::string text = fields.text(key);
  try {
    return read(text);
  } catch (const Error& error) {
    fail(fields.where() + ": " + key, error.what());
  }
}

Json sizes_json(const Sizes& sizes) {
  return {{"experts", sizes.experts}, {"intermediate", sizes.intermediate}, {"hidden", sizes.hidden}, {"group", sizes.group}};
}

Sizes read_sizes(const Json& json, const std::string& where) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  TagFields fields(json, where);
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

/// Does not compile when a setting gets another field, which must then become a row of setting_keys() or a member of setting_json().
[[maybe_unused]] void check_fields(const Setting& setting) {
  [[maybe_unused]] const auto& [sizes, padded, form, engine, arch, tp_size, params_dtype, input_dtype, activation, has_bias, has_input_scale, triton,
                                aiter, marlin, deepgemm, flashinfer, b12x, humming] = setting;
  [[maybe_unused]] const auto& [release, torch_before_2_8_1, num_warps, before_swizzle] = triton;
  [[maybe_unused]] const auto& [a8w4] = aiter;
  [[maybe_unused]] const auto& [largest_scale_byte] = marlin;
  [[maybe_unused]] const auto& [e8m0] = deepgemm;
  [[maybe_unused]] const auto& [flashinfer_release] = flashinfer;
  [[maybe_unused]] const auto& [a16] = b12x;
  [[maybe_unused]] const auto& [humming_release, group_128] = humming;
}

}  // namespace

TagFields::TagFields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
  if (!json_.is_object()) fail(where_, fmt::format("{} is not an object", in_quotes(json_.dump())));
}

const Json& TagFields::at(const std::string& key) {
  const auto found = json_.find(key);
  if (found == nullptr) fail(where_, fmt::format("'{}' is missing", key));
  taken_.insert(key);
  return *found;
}

std::string TagFields::text(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_string()) fail(where_, fmt::format("'{}' is {}, not a string", key, in_quotes(value.dump())));
  return value.get<std::string>();
}

std::int64_t TagFields::integer(const std::string& key, std::int64_t low, std::int64_t high) {
  const Json& value = at(key);
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high);
  if (!fits || value.get<std::int64_t>() < low) {
    fail(where_, fmt::format("'{}' is {}, not an integer from {} to {}", key, in_quotes(value.dump()), low, high));
  }
  return value.get<std::int64_t>();
}

const Json& TagFields::array(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_array()) fail(where_, fmt::format("'{}' is {}, not an array", key, in_quotes(value.dump())));
  return value;
}

std::vector<std::string> TagFields::texts(const std::string& key) {
  std::vector<std::string> texts;
  for (const Json& value : array(key)) {
    if (!value.is_string()) fail(where_, fmt::format("'{}' holds {}, not a string", key, in_quotes(value.dump())));
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::vector<std::int64_t> TagFields::integers(const std::string& key) {
  std::vector<std::int64_t> integers;
  for (const Json& value : array(key)) {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 62;
    if (!fits) fail(where_, fmt::format("'{}' holds {}, not an integer from 0 to 2^62", key, in_quotes(value.dump())));
    integers.push_back(value.get<std::int64_t>());
  }
  return integers;
}

void TagFields::finish() const {
  for (const auto& [key, value] : json_.items()) {
    if (!taken_.contains(key)) fail(where_, fmt::format("unknown key {}", in_quotes(key)));
  }
}

Json setting_json(const Setting& setting) {
  Json json{{"sizes", sizes_json(setting.sizes)}, {"padded", sizes_json(setting.padded)}, {"weight-format", layout::name_of(setting.form.format)}};
  for (const layout::SettingKey& row : layout::setting_keys()) json[std::string(row.key)] = row.get(setting);
  return json;
}

Setting read_setting(const Json& json, const std::string& where) {
  Setting setting{};
  TagFields fields(json, where);
  setting.sizes = read_sizes(fields.at("sizes"), where + ": sizes");
  setting.padded = read_sizes(fields.at("padded"), where + ": padded");
  setting.form.format = word(fields, "weight-format", layout::weight_format_named);
  for (const layout::SettingKey& row : layout::setting_keys()) {
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

Json values_json(const std::vector<LayerValues>& values) {
  Json json = Json::array();
  for (const auto& [layer, fault] : values) {
    json.push_back({{"layer", layer},
                    {"fault", name_of(fault.fault)},
                    {"piece", static_cast<int>(fault.piece)},
                    {"tensor", fault.tensor},
                    {"count", fault.count},
                    {"first", fault.first}});
  }
  return json;
}

LayerValues read_values(const Json& json, const std::string& where) {
  TagFields fields(json, where + ": values");
  LayerValues value{static_cast<int>(fields.integer("layer", 0, INT32_MAX)), {}};
  const std::string fault = fields.text("fault");
  const std::optional<ValueFault> known = fault_named(fault);
  if (!known) fail(where, fmt::format("values: {} is no fault of a number", in_quotes(fault)));
  value.fault = {*known, static_cast<Piece>(fields.integer("piece", 0, static_cast<int>(Piece::aside))), fields.text("tensor"),
                 fields.integer("count", 1, std::numeric_limits<std::int64_t>::max()), fields.text("first")};
  fields.finish();
  return value;
}

}  // namespace mx::sim
