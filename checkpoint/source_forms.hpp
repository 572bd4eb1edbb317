#pragma once
// The forms that checkpoints of quantized experts come in: one row per form. `find_layer_groups` (expert_tensors.hpp) reads every row.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/layout/source.hpp"
#include "model/layout/tensor.hpp"

namespace mx::checkpoint {

/// Extents of a tensor, in terms of one matrix of N rows (output features) and K columns, and of the number of experts.
enum class Extent : std::uint8_t {
  experts,          ///< E
  rows,             ///< N: 2I or I of w13, H of w2
  columns,          ///< K: H of w13, I of w2
  packed_columns,   ///< K / 2: two codes a byte, the even element in the low nibble
  word_columns,     ///< K / 8: eight codes a word, lowest bits first
  six_bit_columns,  ///< 3 K / 4: four codes in three bytes
  groups,           ///< K / group
  bytes_of_group,   ///< group / 2
  blocks_of_rows,   ///< N / 128, rounded up
  blocks_of_columns,
  one,
  two
};

/// One shape that a tensor may have, and its formula of w13 and of w2, for messages: "[E, 2I, H/32, 16]", "[E, H, I/32, 16]".
struct ShapeRow {
  std::span<const Extent> extents;
  std::string_view formula;
  std::string_view w2_formula;
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
  std::span<const std::string_view> suffixes;  ///< behind the projection's name, any of them: ".weight_packed"
  std::span<const std::string_view> dtypes;    ///< any of them
  std::span<const ShapeRow> shapes;  ///< any of them; empty: one number, as [], [1] or [1, 1], or one for each expert where all share a tensor
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

/// How tensors are named: prefix, layer, prefix, `experts` [expert "."] projection suffix. What stands before `experts` is a prefix, whatever it is;
/// its last component of digits is the layer.
struct Naming {
  std::string_view title;
  std::string_view before;   ///< empty: anything
  std::string_view experts;  ///< what every expert tensor's name goes on with: others that do are unknown, and refused
  bool numbered;             ///< each expert has tensors of its own
  std::span<const Projection> projections;
  std::string_view router_weight;  ///< behind the prefix; empty: routers are found by the table of routers
  std::string_view router_bias;
};

/// What the configuration says of such a layer where it says anything, by the key of a DeclaredFact. Numbers and lists as their JSON text.
struct ConfigFact {
  std::string_view key;
  std::span<const std::string_view> values;
  bool is_none = false;  ///< it says none of them
};

/// What the engine makes of such a checkpoint: the row of deployment::schemes(), and what its layers are.
struct EngineUse {
  std::string_view scheme;        ///< empty: such experts are read and counted, and not converted
  bool rounds;                    ///< buffers are rounded up for the backend before loading
  std::string_view quant_method;  ///< of deployment::Deployment
  std::string_view activation;
  std::string_view routing;
  std::string_view missing = {};  ///< of what is not converted: what mxact lacks
};

/// What codes of 6 bits are: their dtype does not tell.
enum class SixBits : std::uint8_t { e2m3, e3m2 };

struct SourceForm {
  std::string_view title;
  layout::Form form;
  std::span<const Naming> namings;
  std::span<const TensorRow> tensors;
  std::span<const ConfigFact> facts;
  std::string_view scales;  ///< what the numbers mean: "value = e2m1 * 2^(byte - 127)"
  EngineUse use;
  layout::Source source;
  bool input_major = false;          ///< the rows of a matrix in the file are its inputs: each expert's is transposed
  bool by_model = false;             ///< whether they are follows from the model: it must be said
  SixBits six_bits = SixBits::e2m3;  ///< where its codes have 6 bits

  bool converts() const { return !use.scheme.empty(); }
};

std::span<const SourceForm> source_forms();

}  // namespace mx::checkpoint
