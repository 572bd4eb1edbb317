// From names and choices as typed to rows of the tables.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/conversion.hpp"
#include "checkpoint/rounding.hpp"
#include "checkpoint/shard.hpp"
#include "model/engine/vllm/setup/fp8_block_shape.hpp"
#include "model/error.hpp"
#include "model/families/libraries.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"
#include "verbs/layout/model_query.hpp"
#include "verbs/layout/shape.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {
namespace {

using families::BackendLayout;
using families::Setting;
using layout::Sizes;
using layout::WeightFormat;

constexpr std::array<std::string_view, 8> kBackendKeys{"shape", "rank-shape", "padded", "tensor", "format", "block", "library", "env"};
constexpr std::array<std::string_view, 3> kBlockKeys{"shape", "unit-bits", "version"};

std::string needed(const LayoutQuery& query, std::string_view key, std::string_view example) {
  std::string value = value_of(query, key);
  if (value.empty()) throw Error(ErrorCode::usage, fmt::format("--{} is missing, for example --{} {}", key, key, example), query.name);
  return value;
}

/// Throws unless every key of the query is one of `known`.
void check_keys(const LayoutQuery& query, const std::vector<std::string_view>& known) {
  for (const KeyValue& field : query.fields) {
    const auto same = [&](std::string_view key) { return same_name(key, field.key); };
    if (std::ranges::none_of(known, same)) throw Error(ErrorCode::usage, unknown_name("choice", field.key, known), query.name);
  }
}

BlockChoice block_choice(const families::BuildingBlock& block, const LayoutQuery& query) {
  std::vector<std::string_view> known(kBlockKeys.begin(), kBlockKeys.end());
  for (const families::BlockParam& param : block.params) known.push_back(param.key);
  check_keys(query, known);
  const auto [batch, rows, cols] = shape_from(needed(query, "shape", "128x64"), kMatrixShape);
  const std::string bits = value_of(query, "unit-bits");
  constexpr int kByte = 8;
  const int standard_bits = block.unit_bits != 0 ? block.unit_bits : kByte;
  const std::string version = value_of(query, "version");
  BlockChoice choice{&block,
                     {.version = block.versions.front(),
                      .batch = batch,
                      .rows = rows,
                      .cols = cols,
                      .unit_bits = bits.empty() ? standard_bits : static_cast<int>(families::whole_number("unit-bits", bits, 1, 64)),
                      .params = {}}};
  if (!version.empty()) {
    const auto found = std::ranges::find_if(block.versions, [&](std::string_view label) { return same_name(label, version); });
    if (found == block.versions.end()) throw Error(ErrorCode::usage, unknown_name("version", version, block.versions), query.name);
    choice.request.version = *found;
  }
  for (const families::BlockParam& param : block.params) {
    const std::string value = value_of(query, param.key);
    choice.request.params[std::string(param.key)] = value.empty() ? param.standard : families::whole_number(param.key, value, param.low, param.high);
  }
  return choice;
}

/// The one format that the backend converts, or the one asked for.
WeightFormat format_of(const Named& named, const LayoutQuery& query) {
  const std::string asked = value_of(query, "format");
  if (!asked.empty()) return layout::weight_format_named(asked);
  std::string formats;
  for (const BackendLayout* row : named.backends) {
    const std::string word(layout::name_of(row->format));
    if (formats.find(word) == std::string::npos) formats += (formats.empty() ? "" : ", ") + word;
  }
  if (formats.find(',') == std::string::npos) return named.backends.front()->format;
  throw Error(ErrorCode::usage, "--format is missing: it converts " + formats, query.name);
}

/// Row order of the checkpoint: the one asked for, else gpt_oss unless the engine converts nothing but standard order for this backend.
layout::SourceOrder order_of(const BackendLayout& row, const Setting& setting, const LayoutQuery& query) {
  const std::string asked = value_of(query, "source-order");
  if (!asked.empty()) return layout::source_order_named(asked);
  return row.gpt_oss_order.has(setting.engine) ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard;
}

void check_form(const BackendLayout& row, const Setting& setting) {
  if (row.converts(setting.form, setting.engine)) return;
  const std::string order = fmt::format("{} order{}", layout::name_of(setting.form.order), setting.form.gated ? "" : ", not gated,");
  throw Error(ErrorCode::usage, fmt::format("checkpoints in {} are not converted by engine {}", order, deployment::name_of(setting.engine)),
              std::string(row.backend));
}

/// Throws unless the form has the tensor or the conversion may make it.
void check_role(const BackendLayout& row, layout::Role role) {
  if (layout::has_role(row.format, role) || row.values != nullptr) return;
  throw Error(ErrorCode::usage, fmt::format("{} has no {}", layout::name_of(row.format), layout::name_of(role)), std::string(row.backend));
}

/// The model's check, with the next sizes that hold whole groups.
void check_groups(const Sizes& sizes) {
  try {
    layout::check(sizes);
  } catch (const Error& error) {
    const auto whole = [&](std::int64_t size) { return (size + sizes.group - 1) / sizes.group * sizes.group; };
    throw Error(error.code(), fmt::format("{}; the next sizes that are: --shape {}x{}x{}", error.what(), sizes.experts, whole(sizes.intermediate),
                                          whole(sizes.hidden)));
  }
}

/// Sizes::group of a format, whose squares may have another side than the usual one.
std::int64_t group_from(const LayoutQuery& query, WeightFormat format) {
  const std::string asked = value_of(query, "block");
  if (asked.empty()) return std::max<std::int64_t>(layout::group_of(format), 1);
  if (!layout::has_squares(format))
    throw Error(ErrorCode::usage, fmt::format("{} has no blocks of several rows, whose side that is", layout::name_of(format)), "block");
  const std::int64_t side = families::whole_number("block", asked, 1, layout::kBlockSide);
  if (layout::kBlockSide % side != 0 || side < engine::kSmallestBlock)
    throw Error(ErrorCode::usage, fmt::format("{} is no side of a block: 128, or 64 or 32 where the engine makes finer ones", side), "block");
  return side == layout::kBlockSide ? 1 : side;
}

BackendChoice backend_choice(const Named& named, const LayoutQuery& query) {
  std::vector<std::string_view> known(kBackendKeys.begin(), kBackendKeys.end());
  for (const families::SettingKey& key : families::setting_keys()) known.push_back(key.key);
  check_keys(query, known);
  const layout::Role role = layout::role_named(needed(query, "tensor", "w13_weight"));
  const WeightFormat format = format_of(named, query);
  const std::string of_rank = value_of(query, "rank-shape");
  if (!of_rank.empty() && !value_of(query, "shape").empty())
    throw Error(ErrorCode::usage, "--shape is the whole layer's and --rank-shape one rank's: say one of them", query.name);
  const auto [experts, intermediate, hidden] =
      shape_from(of_rank.empty() ? needed(query, "shape", "128x256, intermediate x hidden") : of_rank, kLayerShape);
  Sizes sizes{experts, intermediate, hidden, group_from(query, format)};
  check_groups(sizes);
  Setting setting{.sizes = sizes, .padded = sizes, .form = {format, layout::SourceOrder::gpt_oss}};
  for (const KeyValue& field : query.fields) {
    if (const families::SettingKey* key = families::find_setting_key(field.key)) key->set(setting, field.value);
  }
  for (const KeyValue& field : query.fields) {
    if (same_name(field.key, "library")) families::choose_library(setting, field.value);
    const std::size_t equals = field.value.find('=');
    if (!same_name(field.key, "env")) continue;
    if (equals == std::string::npos) throw Error(ErrorCode::usage, fmt::format("'{}' is not NAME=VALUE", field.value), "env");
    families::set_by_variable(setting, std::string_view(field.value).substr(0, equals), std::string_view(field.value).substr(equals + 1));
  }
  const BackendLayout& row = families::backend_layout_named(query.name, format, setting.engine);
  check_role(row, role);
  setting.form.order = order_of(row, setting, query);
  check_form(row, setting);
  const Sizes whole = of_rank.empty() && setting.tp_size > 1 ? sizes : Sizes{};
  const std::string padded = value_of(query, "padded");
  const bool silu_or_situ = setting.activation != families::ConverterActivation::swigluoai;
  layout::Sizes share = sizes;
  if (whole.experts > 0) {
    share.intermediate /= setting.tp_size;
    share.group = checkpoint::loaded_group(setting.form, whole, setting.tp_size, setting.engine);
  }
  setting.padded = checkpoint::rounded_up(row.backend, setting.form, share, setting.arch, setting.engine, silu_or_situ);
  if (!padded.empty()) {
    const auto [one, padded_intermediate, padded_hidden] = shape_from(padded, kLayerShape);
    setting.padded = {one == 1 ? experts : one, padded_intermediate, padded_hidden, share.group};
  }
  if (whole.experts > 0) {
    sizes = setting.sizes = checkpoint::rank_sizes(whole, setting.form, setting.tp_size, setting.padded.intermediate, share.group);
    checkpoint::require_room(row.backend, sizes, setting.padded);
  }
  layout::check_padded(sizes, setting.padded);
  return {&row, role, setting, whole};
}

}  // namespace

LayoutQuery query_from(std::string_view text, const std::vector<KeyValue>& common) {
  LayoutQuery query{{}, common};
  const std::string_view whole = text;
  for (bool first = true;; first = false) {
    const std::size_t end = text.find(',');
    const std::string_view part = text.substr(0, end);
    const std::size_t equals = part.find('=');
    if (first) {
      query.name = part;
    } else if (equals == std::string_view::npos) {
      throw Error(ErrorCode::usage, fmt::format("'{}' is not key=value", part), std::string(whole));
    } else {
      query.fields.push_back({std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))});
    }
    if (end == std::string_view::npos) return of_model(std::move(query));
    text.remove_prefix(end + 1);
  }
}

std::string value_of(const LayoutQuery& query, std::string_view key) {
  std::string value;
  for (const KeyValue& field : query.fields) {
    if (same_name(field.key, key)) value = field.value;
  }
  return value;
}

Named layout_named(std::string_view name) {
  Named named;
  std::vector<std::string_view> known;
  const auto is_it = [&](std::string_view other) {
    if (std::ranges::find(known, other) == known.end()) known.push_back(other);
    return same_name(other, name);
  };
  for (const families::BuildingBlock& block : families::all_building_blocks()) {
    if (is_it(block.name)) named.block = &block;
  }
  for (const families::ValueBlock& block : families::all_value_blocks()) {
    if (is_it(block.name)) named.value_block = &block;
  }
  for (const BackendLayout& row : families::all_backend_layouts()) {
    if (is_it(row.backend)) named.backends.push_back(&row);
  }
  if (named.block == nullptr && named.value_block == nullptr && named.backends.empty()) {
    throw Error(ErrorCode::usage, unknown_name("layout", name, known));
  }
  return named;
}

Choice choice_of(const LayoutQuery& query) {
  const Named named = layout_named(query.name);
  if (named.block != nullptr) return block_choice(*named.block, query);
  if (!named.backends.empty()) return backend_choice(named, query);
  throw Error(ErrorCode::usage, "it changes values, so no address holds an element of its input; mxact layout show says what it does",
              std::string(named.value_block->name));
}

}  // namespace mx::verbs
