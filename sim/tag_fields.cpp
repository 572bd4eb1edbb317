#include "sim/tag_fields.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "model/error.hpp"
#include "sim/io/quote.hpp"

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

/// One field of a setting.
struct SettingRow {
  std::string_view key;
  Json (*write)(const Setting& setting);
  void (*read)(Setting& setting, TagFields& fields, const std::string& key);
};

template <auto Member>
constexpr SettingRow flag(std::string_view key) {
  return {key, [](const Setting& setting) { return Json(setting.*Member); },
          [](Setting& setting, TagFields& fields, const std::string& name) { setting.*Member = fields.flag(name); }};
}

template <auto Member, int Low, int High>
constexpr SettingRow number(std::string_view key) {
  return {key, [](const Setting& setting) { return Json(setting.*Member); },
          [](Setting& setting, TagFields& fields, const std::string& name) {
            setting.*Member = static_cast<int>(fields.integer(name, Low, High));
          }};
}

template <auto Member, auto Named>
constexpr SettingRow named(std::string_view key) {
  return {key, [](const Setting& setting) { return Json(layout::name_of(setting.*Member)); },
          [](Setting& setting, TagFields& fields, const std::string& name) { setting.*Member = word(fields, name, Named); }};
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

template <auto Member>
constexpr SettingRow size_row(std::string_view key) {
  return {key, [](const Setting& setting) { return sizes_json(setting.*Member); },
          [](Setting& setting, TagFields& fields, const std::string& name) {
            setting.*Member = read_sizes(fields.at(name), fields.where() + ": " + name);
          }};
}

Json form_json(const Setting& setting) {
  return {{"weight_format", layout::name_of(setting.form.format)},
          {"source_order", layout::name_of(setting.form.order)},
          {"gated", setting.form.gated}};
}

void read_form(Setting& setting, TagFields& fields, const std::string& key) {
  TagFields form(fields.at(key), fields.where() + ": " + key);
  setting.form.format = word(form, "weight_format", layout::weight_format_named);
  setting.form.order = word(form, "source_order", layout::source_order_named);
  setting.form.gated = form.flag("gated");
  form.finish();
}

Json triton_json(const Setting& setting) {
  return setting.triton_kernels ? Json(layout::name_of(*setting.triton_kernels)) : Json("engine's own");
}

void read_triton(Setting& setting, TagFields& fields, const std::string& key) {
  if (fields.text(key) != "engine's own") setting.triton_kernels = word(fields, key, layout::triton_kernels_named);
}

constexpr int kMostRanks = 1 << 16;

constexpr std::array<SettingRow, 17> kRows{{
    size_row<&Setting::sizes>("sizes"),
    size_row<&Setting::padded>("padded"),
    {"form", form_json, read_form},
    named<&Setting::engine, layout::engine_named>("engine"),
    named<&Setting::arch, layout::arch_named>("arch"),
    {"triton_kernels", triton_json, read_triton},
    flag<&Setting::torch_before_2_8_1>("torch_before_2_8_1"),
    number<&Setting::tp_size, 1, kMostRanks>("tp_size"),
    number<&Setting::num_warps, 1, 32>("num_warps"),
    named<&Setting::params_dtype, layout::params_dtype_named>("params_dtype"),
    named<&Setting::input_dtype, layout::input_dtype_named>("input_dtype"),
    named<&Setting::activation, layout::converter_activation_named>("activation"),
    flag<&Setting::a8w4>("a8w4"),
    flag<&Setting::has_bias>("has_bias"),
    flag<&Setting::has_input_scale>("has_input_scale"),
    number<&Setting::largest_scale_byte, 0, 255>("largest_scale_byte"),
    flag<&Setting::before_swizzle>("before_swizzle"),
}};

/// Does not compile when a setting has another number of fields than the table has rows: no field may be left out of the tags.
[[maybe_unused]] void check_rows(const Setting& setting) {
  [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17] = setting;
  static_assert(kRows.size() == 17);
}

}  // namespace

TagFields::TagFields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
  if (!json_.is_object()) fail(where_, fmt::format("{} is not an object", in_quotes(json_.dump())));
}

const Json& TagFields::at(const std::string& key) {
  const auto found = json_.find(key);
  if (found == json_.end()) fail(where_, fmt::format("'{}' is missing", key));
  taken_.insert(key);
  return *found;
}

std::string TagFields::text(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_string()) fail(where_, fmt::format("'{}' is {}, not a string", key, in_quotes(value.dump())));
  return value.get<std::string>();
}

bool TagFields::flag(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_boolean()) fail(where_, fmt::format("'{}' is {}, not true or false", key, in_quotes(value.dump())));
  return value.get<bool>();
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
  Json json = Json::object();
  for (const SettingRow& row : kRows) json[std::string(row.key)] = row.write(setting);
  return json;
}

Setting read_setting(const Json& json, const std::string& where) {
  Setting setting{};
  TagFields fields(json, where);
  for (const SettingRow& row : kRows) row.read(setting, fields, std::string(row.key));
  fields.finish();
  if (setting.padded.experts != setting.sizes.experts || setting.padded.group != setting.sizes.group ||
      setting.padded.hidden < setting.sizes.hidden || setting.padded.intermediate < setting.sizes.intermediate) {
    fail(where, "the padded sizes do not hold the sizes");
  }
  return setting;
}

}  // namespace mx::sim
