#pragma once
// What a layer computes on its way from x to out: the one table of its stages, and what a run has of each.

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace mx::sim {

/// In the order in which they are computed.
enum class LayerStage : std::uint8_t { a1_codes, a1_scales, h13, act, act_codes, act_scales, y, out };

/// T tokens, S = T * top_k slots: token by token, the experts of each in the order of its ids. H is the layer's hidden size, I the intermediate size
/// that the kernel has, padded. All rows are row-major; a slot without an expert (id -1) has zeros.
struct StageRow {
  LayerStage stage;
  int step;  ///< stages of one step are made together, and a run starts from all of them
  std::string_view name;
  std::string_view dtype;  ///< as safetensors has it
  std::string_view shape;
  std::string_view what;
};
std::span<const StageRow> stage_rows();
const StageRow& row_of(LayerStage stage);
/// Throws Error(usage) with the nearest known name.
const StageRow& stage_named(std::string_view name);

/// One stage of one run: a word for each element, code or bits.
struct StageValues {
  LayerStage stage;
  std::string_view dtype = {};  ///< "U8", "BF16", "F32"
  std::vector<std::int64_t> shape = {};
  std::vector<std::uint32_t> words = {};
  /// By element, ascending: the words that it may have, where its sum has no fixed order; `words` has one of them.
  std::map<std::size_t, std::vector<std::uint32_t>> possible = {};

  friend bool operator==(const StageValues&, const StageValues&) = default;
};

/// Bytes of an element.
std::size_t width_of(std::string_view dtype);
/// The elements as memory has them, little-endian, and back.
std::vector<std::uint8_t> bytes_of(const StageValues& values);
std::vector<std::uint32_t> words_of(std::span<const std::uint8_t> bytes, std::string_view dtype);

}  // namespace mx::sim
