#include "golden/witness/layout_model.hpp"

#include <algorithm>

#include "model/layout/stage.hpp"

namespace mx::golden {

namespace {

/// A family of recorded layout names that the model covers, and the converter versions it covers them for.
struct CoveredNames {
  std::string_view prefix;
  std::string_view stage;
  std::string_view versions;  ///< separated by spaces
  bool whole_backend;
  layout::SourceOrder order;  ///< of whole backends
};
constexpr CoveredNames kCovered[] = {
    {"oracle.gpt_oss.", "full", "vllm-2026-08", true, layout::SourceOrder::gpt_oss},
    {"oracle.standard.", "full", "vllm-2026-08", true, layout::SourceOrder::standard},
    {"sf_128x4.cutlass_atom", "stage-level", "cutlass-2026-08", false, {}},
    {"sf_128x4", "stage-level", "flashinfer-2026-08 vllm-2026-08", false, {}},
    {"trtllm.", "stage-level", "flashinfer-2026-08", false, {}},
};

/// Names under which a set states one size of a building block; `cutlass_atom` speaks of elements, not of scales.
struct StageSize {
  std::string_view key;
  std::string_view size;
};
constexpr StageSize kStageSizes[] = {{"batch", "batch"}, {"rows", "rows"}, {"mn", "rows"}, {"cols", "cols"}, {"epilogue_tile_m", "epilogue_tile_m"}};

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

bool lists(std::string_view words, std::string_view word) {
  const std::string padded = " " + std::string(words) + " ";
  return padded.find(" " + std::string(word) + " ") != std::string::npos;
}

const CoveredNames& covered(const LayoutEntry& entry) {
  for (const CoveredNames& row : kCovered) {
    if (!entry.layout.starts_with(row.prefix)) continue;
    if (entry.stage != row.stage) throw Unmodelled("no layout model for stage " + entry.stage + " of " + entry.layout);
    if (!lists(row.versions, entry.version)) throw Unmodelled("no layout model for " + entry.layout + " at version " + entry.version);
    return row;
  }
  throw Unmodelled("no layout model for " + entry.layout);
}

void read_backend(const LayoutEntry& entry, const CoveredNames& row, KnownConversion& known) {
  known.backend =
      layout::find_backend_layout(std::string_view(entry.layout).substr(row.prefix.size()), layout::WeightFormat::mxfp4, layout::Engine::v2026_08);
  if (known.backend == nullptr) throw Unmodelled("no layout model for " + entry.layout);
  if (row.order == layout::SourceOrder::standard && !known.backend->standard_order.has(layout::Engine::v2026_08))
    throw Unmodelled("no layout model for " + entry.layout + " from standard order");
  known.order = row.order;
  Fields params(*entry.params, "params", entry.where);
  for (const char* key : {"E", "intermediate", "hidden"}) known.sizes.numbers[key] = params.integer(key, 1, kLargest);
  if (params.has("has_bias")) known.sizes.has_bias = params.boolean("has_bias");
  params.finish();
}

void read_stage(const LayoutEntry& entry, KnownConversion& known) {
  const auto stages = layout::all_stage_layouts();
  const bool exists = std::any_of(stages.begin(), stages.end(), [&](const layout::StageLayout& stage) { return stage.name == entry.layout; });
  if (!exists) throw Unmodelled("no layout model for " + entry.layout);
  known.stage_name = entry.layout;
  Fields params(*entry.params, "params", entry.where);
  known.sizes.numbers["batch"] = 1;
  for (const StageSize& size : kStageSizes) {
    if (params.has(size.key)) known.sizes.numbers[std::string(size.size)] = params.integer(size.key, 1, kLargest);
  }
  if (params.has("k")) {
    const std::int64_t elements = params.integer("sf_vec", 1, kLargest);
    known.sizes.numbers["cols"] = (params.integer("k", 1, kLargest) + elements - 1) / elements;
  }
  params.finish();
  for (const char* size : {"rows", "cols"}) {
    if (!known.sizes.numbers.contains(size)) broken("params do not say " + std::string(size), entry.where);
  }
}

layout::Sizes layer_sizes(const ConversionSizes& sizes) {
  return {sizes.numbers.at("E"), sizes.numbers.at("intermediate"), sizes.numbers.at("hidden")};
}

layout::Setting setting_of(const KnownConversion& conversion) {
  const layout::Sizes sizes = layer_sizes(conversion.sizes);
  return {.sizes = sizes, .padded = sizes, .form = conversion.order, .engine = layout::Engine::v2026_08, .has_bias = conversion.sizes.has_bias};
}

layout::Role role_of(const std::string& role) {
  for (const layout::Role known : layout::kRoles) {
    if (layout::name_of(known) == role) return known;
  }
  throw Unmodelled("unknown role '" + role + "'");
}

layout::Layout stage_layout_of(const KnownConversion& conversion, int element_bits) {
  const auto& numbers = conversion.sizes.numbers;
  layout::StageParams params;
  if (const auto tile = numbers.find("epilogue_tile_m"); tile != numbers.end()) params["epilogue_tile_m"] = tile->second;
  return layout::stage_layout(conversion.stage_name, numbers.at("batch"), numbers.at("rows"), numbers.at("cols"), element_bits, params);
}

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

KnownConversion conversion_of(const LayoutEntry& entry) {
  const CoveredNames& row = covered(entry);
  KnownConversion known;
  known.whole_backend = row.whole_backend;
  if (row.whole_backend) {
    read_backend(entry, row, known);
  } else {
    read_stage(entry, known);
  }
  return known;
}

LayoutModel build_model(const KnownConversion& conversion, const std::string& role, int element_bits) {
  if (!conversion.whole_backend) {
    layout::Layout packed = stage_layout_of(conversion, element_bits);
    return {layout::Layout(packed.logical(), packed.unit_bits()), packed, &layout::kKeep};
  }
  // A converter gets its shapes as they are: nothing is rounded up before it.
  const layout::Sizes sizes = layer_sizes(conversion.sizes);
  const layout::Role tensor = role_of(role);
  layout::TensorPlan plan = conversion.backend->build(tensor, setting_of(conversion));
  return {layout::canonical(tensor, sizes, conversion.order), std::move(plan.layout), plan.cast};
}

std::optional<std::string> refusal(const KnownConversion& conversion, const std::string& role, int element_bits) {
  try {
    if (conversion.whole_backend) {
      const auto rules = layout::broken_needs(*conversion.backend, setting_of(conversion));
      if (!rules.empty()) return std::string(layout::name_of(rules.front().need.quantity));
      build_model(conversion, role, element_bits);
    } else {
      stage_layout_of(conversion, element_bits);
    }
    return std::nullopt;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    return without_digits(error.what());
  }
}

}  // namespace mx::golden
