// block_memory, byte_permutation, layout_choice: how ggml stores blocks of 4 bits.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/numbers.hpp"
#include "model/families/ggml_blocks.hpp"

namespace mx::golden {

namespace {

namespace ggml = families::ggml;

constexpr const ggml::StoredBlock* kStored[] = {&ggml::kMxfp4, &ggml::kNvfp4};
constexpr const ggml::Repack* kRepacks[] = {&ggml::kNone, &ggml::kFourRows, &ggml::kEightRows};

template <typename Row, std::size_t N>
const Row& named(const Row* const (&rows)[N], std::string_view what, const std::string& name) {
  const auto* const found = std::ranges::find_if(rows, [&](const Row* row) { return row->name == name; });
  if (found == std::end(rows)) throw Unmodelled(fmt::format("unknown {} '{}'", what, name));
  return **found;
}

std::span<const std::uint8_t> part(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  return std::span(tensor.bytes).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

/// A list of words among the parameters.
std::vector<std::string> words_of(Fields& params, std::string_view key) {
  const Json& list = params.at(key);
  if (!list.is_array()) throw Unmodelled(fmt::format("{} is no list of words", key));
  std::vector<std::string> words;
  for (const Json& word : list) words.push_back(word.is_string() ? word.text() : shown(word));
  return words;
}

}  // namespace

ModelOutputs evaluate_block_memory(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const ggml::StoredBlock& layout = named(kStored, "layout", params.text("layout"));
  const Format& format = format_word(params, "format");
  const std::int64_t block = params.integer("block", 1, layout.elements);
  const std::string scale = params.text("scale_format");
  params.finish();
  if (format != kE2m1 || block * layout.scales != layout.elements || (scale == "e8m0") != (layout.scales == 1)) {
    throw Unmodelled(fmt::format("{} of {} in blocks of {} under {}", layout.name, format.name, block, scale));
  }
  const Tensor codes = context.input("codes"), scales = context.input("scales");
  require_dtype(codes, "u8", "codes", where);
  require_dtype(scales, "u8", "scales", where);
  const std::int64_t blocks = codes.size() / layout.elements;
  if (codes.size() % layout.elements != 0 || scales.size() != blocks * layout.scales) broken("scales and codes have shapes that do not fit", where);
  Tensor bytes = zeros("u8", {blocks, layout.bytes()});
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::vector<std::uint8_t> made =
        ggml::stored(layout, part(scales, b * layout.scales, layout.scales), part(codes, b * layout.elements, layout.elements));
    std::ranges::copy(made, bytes.bytes.begin() + b * layout.bytes());
  }
  ModelOutputs outputs;
  outputs.emplace("bytes", ModelOutput{std::move(bytes), nullptr, false, {}});
  return outputs;
}

ModelOutputs evaluate_byte_permutation(const OpContext& context) {
  Fields params = params_of(context.entry);
  const ggml::Repack& repack = named(kRepacks, "layout", params.text("layout"));
  if (const std::string from = params.text("from"); from != ggml::kMxfp4.name) throw Unmodelled("a permutation from '" + from + "'");
  const std::int64_t cols = params.integer("cols", 1, kLargestExtent), rows = params.integer("rows", 1, kLargestExtent),
                     batch = params.integer("batch", 1, kLargestExtent);
  params.finish();
  const std::vector<std::uint32_t> made = ggml::repacked_source(repack, cols, rows, batch);
  Tensor source = zeros("u32", {static_cast<std::int64_t>(made.size())});
  for (std::size_t i = 0; i < made.size(); ++i) source.set_word(static_cast<std::int64_t>(i), made[i]);
  ModelOutputs outputs;
  outputs.emplace("source", ModelOutput{std::move(source), nullptr, false, {}});
  return outputs;
}

ModelOutputs evaluate_layout_choice(const OpContext& context) {
  const std::string& where = context.entry.where;
  Fields params = params_of(context.entry);
  const std::vector<std::string> layouts = words_of(params, "layouts"), features = words_of(params, "features");
  params.finish();
  const Tensor cols = context.input("cols"), rows = context.input("rows"), given = context.input("features");
  const auto width = static_cast<std::int64_t>(features.size());
  if (rows.size() != cols.size() || given.size() != cols.size() * width) broken("features, cols and rows have shapes that do not fit", where);
  const auto has = [&](std::int64_t i, std::string_view feature) {
    const auto at = std::ranges::find(features, feature) - features.begin();
    return at < width && given.word(i * width + at) != 0;
  };
  Tensor chosen = zeros("u8", cols.shape);
  for (std::int64_t i = 0; i < cols.size(); ++i) {
    const ggml::Features offered{has(i, "avx2"), has(i, "neon"), has(i, "dotprod")};
    const ggml::Repack& repack = ggml::repack_of(offered, static_cast<std::int64_t>(cols.word(i)), static_cast<std::int64_t>(rows.word(i)));
    const auto at = std::ranges::find(layouts, repack.name);
    if (at == layouts.end()) throw Unmodelled(fmt::format("layouts without {}", repack.name));
    chosen.set_word(i, static_cast<std::uint64_t>(at - layouts.begin()));
  }
  ModelOutputs outputs;
  outputs.emplace("layout", ModelOutput{std::move(chosen), nullptr, false, {}});
  return outputs;
}

}  // namespace mx::golden
