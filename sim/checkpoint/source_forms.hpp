#pragma once
// The forms that checkpoints of quantized experts come in: one row per form. `find_experts` (expert_tensors.hpp) reads every row.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/layout/source.hpp"
#include "model/layout/tensor.hpp"

namespace mx::sim {

/// Extents of a tensor, in terms of one matrix of N rows (output features) and K columns, and of the number of experts.
enum class Extent : std::uint8_t {
  experts,         ///< E
  rows,            ///< N: 2I or I of w13, H of w2
  columns,         ///< K: H of w13, I of w2
  packed_columns,  ///< K / 2: two codes a byte, the even element in the low nibble
  groups,          ///< K / group
  bytes_of_group,  ///< group / 2
  blocks_of_rows,  ///< N / 128, rounded up
  blocks_of_columns
};

/// What a tensor of an expert is.
enum class Piece : std::uint8_t {
  weight,
  scale,         ///< the first scales
  global_scale,  ///< the second scale of NVFP4
  bias,
  aside,  ///< known, not converted: a scale of activations
};

/// Whether a form can do without a tensor.
enum class Companion : std::uint8_t {
  optional,  ///< no scheme of the form needs it
  of_all,    ///< where one tensor has it, all have
  needed,    ///< the scheme is static
};

/// From the number in the file to the factor of the weights.
enum class Meaning : std::uint8_t { as_it_is, reciprocal };

/// One tensor of a projection.
struct TensorRow {
  Piece piece;
  std::string_view suffix;                   ///< behind the projection's name: ".weight_packed"
  std::span<const std::string_view> dtypes;  ///< any of them
  std::span<const Extent> extents;           ///< empty: one number, as [] or [1]
  std::string_view formula = {};             ///< of w13 and of w2, for messages: "[E, 2I, H/32, 16]", "[E, H, I/32, 16]"
  std::string_view w2_formula = {};
  Meaning meaning = Meaning::as_it_is;
  Companion companion = Companion::optional;  ///< of what is known and not converted
};

/// One matrix, or one half of one, under the name that checkpoints have for it.
struct Projection {
  std::string_view name;
  bool w13;
  int half;    ///< the first that it holds: 0 gate, 1 up
  int halves;  ///< 2: gate and up in one
};

/// How tensors are named: `before` layer `after` `experts` [expert "."] projection suffix.
struct Naming {
  std::string_view title;
  std::string_view before;   ///< empty: whatever ends with "layers."
  std::string_view after;    ///< empty: one word, ".mlp" or ".ffn"
  std::string_view experts;  ///< what every expert tensor's name goes on with: others that do are unknown, and refused
  bool numbered;             ///< each expert has tensors of its own
  std::span<const Projection> projections;
  std::string_view router_weight;  ///< behind `after`; empty: the router is left alone
  std::string_view router_bias;
};

/// What config.json, or hf_quant_config.json, says of such a checkpoint where it says anything. Components of the path are separated by dots; "*" is
/// any one. Numbers and lists as their JSON text.
struct ConfigFact {
  std::string_view path;
  std::span<const std::string_view> values;
};

/// What the engine makes of such a checkpoint: the row of oracle::schemes(), and what its layers are.
struct EngineUse {
  std::string_view scheme;
  bool asks_oracle;               ///< false: the method picks a class by the device
  bool rounds;                    ///< buffers are rounded up for the backend before loading
  std::string_view quant_method;  ///< of oracle::Deployment
  std::string_view activation;
  std::string_view routing;
};

struct SourceForm {
  std::string_view title;
  layout::Form form;
  std::span<const Naming> namings;
  std::span<const TensorRow> tensors;
  std::span<const ConfigFact> facts;
  std::string_view scales;  ///< what the numbers mean: "value = e2m1 * 2^(byte - 127)"
  EngineUse use;
  layout::Source source;
};

std::span<const SourceForm> source_forms();

}  // namespace mx::sim
