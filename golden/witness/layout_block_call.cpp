// Calls of building blocks: params of layout-vectors/2 as matrices and parameters of the model's blocks.

#include <fmt/format.h>

#include <algorithm>

#include "golden/witness/layout_call.hpp"

namespace mx::golden {

namespace {

using families::BlockParam;

/// What a size in params counts.
enum class Counts {
  batch,
  rows,
  columns,       ///< elements of the input's dtype in a row
  elements,      ///< of K in a row; their width follows from the input
  row_bytes,     ///< bytes of a row
  blocks,        ///< elements of K, of which `sf_vec` share a column
  aligned_rows,  ///< rows rounded up to 4
  element_bytes  ///< of the input's dtype
};
struct SizeWord {
  std::string_view layouts;  ///< prefix of the layouts that use the key so; empty: all
  std::string_view key;
  Counts counts;
};
// The first row that fits applies.
constexpr SizeWord kSizeWords[] = {
    {"marlin.permute_", "size_n", Counts::columns},
    {"humming.bias", "N", Counts::columns},
    {"", "E", Counts::batch},
    {"", "batch", Counts::batch},
    {"", "N", Counts::rows},
    {"", "rows", Counts::rows},
    {"", "mn", Counts::rows},
    {"", "size_n", Counts::rows},
    {"marlin.permute_scales", "groups", Counts::rows},
    {"", "groups", Counts::columns},
    {"", "cols", Counts::columns},
    {"", "G", Counts::columns},
    {"", "sf_k", Counts::columns},
    {"marlin.repack", "size_k", Counts::elements},
    {"", "K", Counts::elements},
    {"", "k", Counts::blocks},
    {"", "row_bytes", Counts::row_bytes},
    {"", "tma_aligned_mn", Counts::aligned_rows},
    {"", "element_bytes", Counts::element_bytes},
};

/// Keys whose value the layout's name already says, as "w4a16" and what stands behind the last dot.
struct NamedWord {
  std::string_view key;
  Json (*said)(std::string_view layout);
};
std::string_view last_word(std::string_view layout) { return layout.substr(layout.rfind('.') + 1); }
/// Bits of weights and activations in "w4a16"; 0 where the last word of the name is none of that kind.
std::pair<int, int> widths(std::string_view layout) {
  constexpr struct {
    std::string_view word;
    int weight, activation;
  } kWidths[] = {{"w4a4", 4, 4}, {"w4a8", 4, 8}, {"w4a16", 4, 16}, {"w8a8", 8, 8}, {"w8a16", 8, 16}};
  for (const auto& row : kWidths) {
    if (row.word == last_word(layout)) return {row.weight, row.activation};
  }
  return {0, 0};
}
/// What bounds a parameter that changes no storage.
struct IdleWord {
  std::string_view key;
  std::string_view word;
};
// An operand handed over transposed has the same storage as one that is not.
constexpr IdleWord kIdleWords[] = {{"mx_axis", "K"}, {"mx_axis", "last"}};

const NamedWord kNamedWords[] = {
    {"num_bits", [](std::string_view layout) { return Json(widths(layout).first); }},
    {"weight_bits", [](std::string_view layout) { return Json(widths(layout).first); }},
    {"activation_bits", [](std::string_view layout) { return Json(widths(layout).second); }},
    {"is_a_8bit", [](std::string_view layout) { return Json(widths(layout).second == 8); }},
    {"quant_type", [](std::string_view layout) { return Json(std::string(last_word(layout))); }},
    {"tile",
     [](std::string_view) {
       return Json::array({16, 16});
     }},
    {"n_lane", [](std::string_view) { return Json(16); }},
    {"is_guinterleave", [](std::string_view layout) { return Json(layout.ends_with("a16w4")); }},
    {"group_rows", [](std::string_view) { return Json(64); }},
};

/// Words that parameters of blocks give numbers to.
struct ValueWord {
  std::string_view key;
  std::string_view word;
  std::int64_t value;
};
constexpr ValueWord kValueWords[] = {
    {"params_dtype", "bf16", 0},         {"params_dtype", "fp16", 1}, {"orig_dtype", "bf16", 0},   {"input_dtype", "none", 0},
    {"input_dtype", "float8_e4m3fn", 1}, {"input_dtype", "int8", 2},  {"scale_mode", "tensor", 0}, {"scale_mode", "channel", 1},
    {"scale_mode", "block", 2},          {"scale_mode", "mxfp8", 3},
};

/// The number of a parameter: integers as they are, true and false 1 and 0, words by the table.
std::int64_t number_of(const std::string& key, const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_int64()) return value.get<std::int64_t>();
  for (const ValueWord& row : kValueWords) {
    if (row.key == key && value == Json(std::string(row.word))) return row.value;
  }
  throw Unmodelled("unknown " + key + " " + shown(value));
}

const BlockParam* declared(std::span<const BlockParam> params, std::string_view key) {
  const auto found = std::ranges::find(params, key, &BlockParam::key);
  return found == params.end() ? nullptr : &*found;
}

const SizeWord* size_word(std::string_view layout, std::string_view key) {
  for (const SizeWord& row : kSizeWords) {
    if (row.key == key && layout.starts_with(row.layouts)) return &row;
  }
  return nullptr;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Bits of an element of K: what the layout's name says, else fp4 where the input is bytes, else the dtype's.
int element_bits(const LayoutEntry& entry) {
  if (const int weight = widths(entry.layout).first; weight != 0) return weight;
  return entry.input.dtype->word == "uint8" ? 4 : 8 * entry.input.dtype->bytes;
}

/// Bits of a row that a size word gives, or none when it does not speak of that.
std::optional<std::int64_t> row_bits(const LayoutEntry& entry, Counts counts, std::int64_t value, Fields& params) {
  const std::int64_t dtype_bits = std::int64_t{8} * entry.input.dtype->bytes;
  switch (counts) {
    case Counts::columns: return value * dtype_bits;
    case Counts::elements: return value * element_bits(entry);
    case Counts::row_bytes: return 8 * value;
    case Counts::blocks: return rounded_up(value, params.integer("sf_vec", 1, kLargestSize)) / params.integer("sf_vec") * dtype_bits;
    default: return std::nullopt;
  }
}

/// Whether the entry is about an input that is no matrix of the converter's: its sizes say nothing.
bool has_foreign_input(const LayoutEntry& entry) {
  if (entry.kind != "error" || !entry.json->contains("precondition")) return false;
  const Json* const quantity = entry.json->at("precondition").find("quantity");
  return quantity != nullptr && (*quantity == "rank" || *quantity == "dtype");
}

/// Sizes that params state, checked against the input: rows of all experts, and what a row holds.
void read_sizes(const LayoutEntry& entry, Fields& params, BlockCall& call) {
  families::BlockRequest& request = call.request;
  const std::int64_t dtype_bits = call.element_bits;
  const auto bad_size = [&](std::string_view key) {
    broken(fmt::format("params '{}' does not fit an input of {} bytes", key, entry.input.bytes()), entry.where);
  };
  const auto each = [&](auto visit) {
    for (const auto& [key, json] : entry.params->items()) {
      const SizeWord* word = size_word(entry.layout, key);
      if (word != nullptr) visit(*word, params.integer(key, 1, kLargestSize));
    }
  };
  each([&](const SizeWord& word, std::int64_t value) {
    if (word.counts == Counts::batch) request.batch = value;
    if (word.counts == Counts::rows) request.rows = value;
  });
  if (has_foreign_input(entry)) {
    call.elements = 1;
    return;
  }
  const std::int64_t bits = 8 * entry.input.bytes();
  const std::int64_t rows = request.batch * request.rows;
  if (bits % rows != 0) bad_size("rows");
  const std::int64_t in_row = bits / rows;
  each([&](const SizeWord& word, std::int64_t value) {
    const auto stated = row_bits(entry, word.counts, value, params);
    if (stated && *stated != in_row) {
      broken(fmt::format("input has {} bytes, the parameters give {} rows of {} bits", entry.input.bytes(), rows, *stated), entry.where);
    }
    if (word.counts == Counts::elements) call.elements = value;
    if (word.counts == Counts::aligned_rows && value != rounded_up(request.rows, 4)) bad_size(word.key);
    if (word.counts == Counts::element_bytes && 8 * value != dtype_bits) bad_size(word.key);
  });
  if (in_row % request.unit_bits != 0) broken(fmt::format("rows of {} bits are no whole units of {}", in_row, request.unit_bits), entry.where);
  request.cols = in_row / request.unit_bits;
  if (call.elements == 0) call.elements = in_row / element_bits(entry);
}

/// Parameters that the block declares, and those that its name implies.
void read_params(const LayoutEntry& entry, std::span<const BlockParam> known, Fields& params, families::BlockParams& out) {
  for (const auto& [key, json] : entry.params->items()) {
    if (declared(known, key) != nullptr) {
      out[key] = number_of(key, params.at(key));
      continue;
    }
    for (const NamedWord& word : kNamedWords) {
      if (word.key == key && params.at(key) != word.said(entry.layout)) throw Unmodelled(key + " " + shown(json) + " of " + entry.layout);
    }
    for (const IdleWord& word : kIdleWords) {
      if (word.key == key && json == Json(std::string(word.word))) params.at(key);
    }
  }
}

template <typename Row>
const Row* known_row(std::span<const Row> rows, const LayoutEntry& entry) {
  const auto found = std::ranges::find(rows, std::string_view(entry.layout), &Row::name);
  if (found == rows.end()) return nullptr;
  if (std::ranges::find(found->versions, std::string_view(entry.version)) != found->versions.end()) return &*found;
  if (entry.stage == "stage-level") no_model(entry, " at version " + entry.version);
  return nullptr;  // a whole conversion, whose backend's row may know the version
}

/// Roles of building blocks are for people; the words are those of the vocabulary.
constexpr struct {
  std::string_view word;
} kRoles[] = {{"weight"},    {"scale"},           {"bias"},    {"rows"}, {"w13_weight"}, {"w13_weight_scale"}, {"w13_bias"},
              {"w2_weight"}, {"w2_weight_scale"}, {"w2_bias"}, {"all"}};

constexpr std::string_view kSwizzledFamily = "triton_kernels";  // of backends with something before a last layout

}  // namespace

void no_model(const LayoutEntry& entry, const std::string& why) { throw Unmodelled("no layout model for " + entry.layout + why); }

std::optional<BlockCall> block_call(const LayoutEntry& entry) {
  const families::BuildingBlock* block = known_row(families::all_building_blocks(), entry);
  if (block == nullptr) return std::nullopt;
  row_named(kRoles, "role", entry.role);
  if (entry.input.dtype == nullptr) broken("entry has no 'input'", entry.where);
  BlockCall call{};
  call.block = block;
  call.rank = static_cast<std::int64_t>(entry.input.extents.size());
  call.dtype = entry.input.dtype->word;
  call.element_bits = 8 * entry.input.dtype->bytes;
  call.request = {entry.version, 1, 1, 1, block->unit_bits == 0 ? call.element_bits : block->unit_bits, {}};
  Fields params(*entry.params, "params", entry.where);
  read_sizes(entry, params, call);
  read_params(entry, block->params, params, call.request.params);
  params.finish();
  return call;
}

std::optional<ValueCall> value_call(const LayoutEntry& entry) {
  const families::ValueBlock* block = known_row(families::all_value_blocks(), entry);
  if (block == nullptr) return std::nullopt;
  row_named(kRoles, "role", entry.role);
  const bool has_input = entry.input.dtype != nullptr;
  ValueCall call{block,
                 entry.version,
                 {},
                 std::nullopt,
                 entry.input,
                 static_cast<std::int64_t>(entry.input.extents.size()),
                 std::string(has_input ? entry.input.dtype->word : "")};
  Fields params(*entry.params, "params", entry.where);
  // The tensors come with their shapes; sizes in params say the same.
  for (const auto& [key, json] : entry.params->items()) {
    if (size_word(entry.layout, key) != nullptr) params.integer(key, 1, kLargestSize);
  }
  for (const char* size : {"intermediate", "hidden"}) {
    if (params.has(size)) params.integer(size, 1, kLargestSize);
  }
  if (params.has("scale_byte")) call.byte = static_cast<std::uint8_t>(params.integer("scale_byte", 0, 255));
  read_params(entry, block->params, params, call.params);
  params.finish();
  return call;
}

LayoutCall call_of(const LayoutEntry& entry) {
  if (entry.stage == "stage-level") {
    if (const auto block = block_call(entry)) return *block;
    if (const auto value = value_call(entry)) return *value;
    no_model(entry);
  }
  BackendCall call = backend_call(entry);
  const families::BackendLayout* row = call.row();
  // What triton reads on gfx1250 is what was there before its last layout.
  const bool strided = call.setting.arch == families::Arch::gfx1250 && call.setting.form.format == layout::WeightFormat::mxfp4;
  if (call.setting.of<families::TritonParameters>().before_swizzle && row != nullptr && row->family != kSwizzledFamily && !strided)
    throw Unmodelled("no layout model for stage " + entry.stage + " of " + entry.layout);
  return call;
}

}  // namespace mx::golden
