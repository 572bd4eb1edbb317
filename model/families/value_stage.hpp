#pragma once
// Building blocks that change values: converters of one or two tensors whose outputs are not a rearrangement of their inputs (scales that are folded,
// codes that are encoded, a factor taken over a whole tensor). By name, as recorded sets and `mxact layout list` name them.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/stage.hpp"
#include "model/layout/source.hpp"

namespace mx::families {

/// A tensor by its bytes: elements row-major, little endian, 4-bit elements two a byte with the even one in the low nibble.
struct StageTensor {
  int bits;  ///< of one element of `shape`
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const StageTensor&, const StageTensor&) = default;
};
using StageTensors = std::map<std::string, StageTensor, std::less<>>;

struct ValueStage {
  std::string_view name;
  std::string_view summary;
  std::string_view formula;
  std::span<const std::string_view> inputs;   ///< names of the tensors taken
  std::span<const std::string_view> outputs;  ///< names of the tensors given
  std::span<const std::string_view> versions;
  std::span<const StageParam> params;
  /// Throws Error(usage) naming the quantity, its value and the rule when the converter refuses.
  StageTensors (*run)(const StageTensors& inputs, const StageParams& params);
  layout::Source source;
  /// The inputs again from the outputs, where those determine them; null: they do not.
  StageTensors (*undo)(const StageTensors& outputs, const StageParams& params) = nullptr;
};

/// Every modelled value stage.
std::span<const ValueStage> all_value_stages();
/// Throws Error(usage) with the nearest name.
const ValueStage& value_stage_named(std::string_view name);

/// Fills in the standard parameters, checks parameters and that the inputs are those of the row, and runs it.
StageTensors run_stage(const ValueStage& stage, const StageTensors& inputs, StageParams params);

/// The rows of each family, joined by all_value_stages().
std::span<const ValueStage> deepgemm_value_stages();
std::span<const ValueStage> marlin_value_stages();
std::span<const ValueStage> humming_value_stages();
std::span<const ValueStage> cutlass_w4a8_value_stages();

}  // namespace mx::families
