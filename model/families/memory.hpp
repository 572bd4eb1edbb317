#pragma once
// Which layout each backend gives each tensor: one row per (weight format, backend, engine version), one file per backend family. This table is the
// answer to "which byte goes where".

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/families/setting.hpp"
#include "model/grounds.hpp"
#include "model/layout/plan.hpp"
#include "model/layout/source.hpp"
#include "model/layout/tensor.hpp"

namespace mx::families {

/// What a converter's preconditions speak of; each is a number of a Setting's padded sizes or of its options.
enum class Quantity {
  w13_rows,          ///< 2I, or I when not gated
  w2_rows,           ///< H
  w13_groups,        ///< H / group
  w2_groups,         ///< I / group
  hidden,            ///< H
  intermediate,      ///< I
  num_warps,         ///< of the Hopper scale layout
  activation_dtype,  ///< the InputDtype, as its number
  has_bias,          ///< 0 or 1
  has_input_scale,   ///< 0 or 1
  scale_byte,        ///< the largest byte of the scales
  padding,           ///< what I and H are rounded up by, together
  w13_scale_rest,    ///< bytes of all experts' shuffled scales that do not divide into E * 2I rows
  w2_scale_rest,     ///< likewise into E * H rows
  deepgemm_device,   ///< 1 on a device that DeepGEMM has FP8 kernels for, else 0
  deepgemm_packs,    ///< 1 on a device whose kernels take packed scales, else 0
  block_side,        ///< of the squares of FP8 that have a scale
};
/// "2I", "activation dtype": for messages; and the word of recorded preconditions: "w13_rows", "activation_dtype".
std::string_view symbol_of(Quantity quantity);
std::string_view name_of(Quantity quantity);
std::int64_t value_of(Quantity quantity, const Setting& setting);

enum class Rule {
  multiple_of,   ///< of the operand
  at_most,       ///< the operand
  equals,        ///< the operand
  power_of_two,  ///< no operand
};

/// One precondition of a converter.
struct Need {
  Quantity quantity;
  Rule rule;
  std::int64_t operand;
  std::string_view why;
  bool (*applies)(const Setting& setting) = nullptr;  ///< null: always
  std::string_view raises = {};                       ///< the exception that the engine ends with as it prepares weights, where that is known
  bool is_ours = false;                               ///< the engine goes on where it is broken; what it does there is not in mxact
};
bool holds(const Need& need, const Setting& setting);
/// "2I a multiple of 128: why", for people.
std::string text_of(const Need& need);

/// A precondition that a setting breaks.
struct BrokenNeed {
  Need need;
  std::int64_t value;
  std::string text() const;  ///< "2I = 64 is not a multiple of 128 (the next is 128): why"
};

/// What a converter makes of sizes that the engine has rounded: the next multiples of these numbers of elements, zeros behind. What a block fills its
/// own tile with is that block's, and no size of the kernel's. Source: the row's.
struct ConverterPadding {
  std::int64_t hidden = 1;     ///< of H
  std::int64_t gated = 1;      ///< of I, of a layer with gate and up
  std::int64_t not_gated = 1;  ///< of I, of one without a gate
  std::int64_t wide = 1;       ///< where H is no multiple of this ..
  std::int64_t narrow = 1;     ///< .. I becomes one of this instead
};

/// What was run of a row: the engine's whole converter, held to recordings in golden/witness.
struct Ran {
  Grounds grounds = Grounds::run;   ///< or run by parts
  std::string_view stand_ins = {};  ///< run by parts: what stood in for a device's own code, and what was not recorded
  bool standard = true;             ///< of the forms that the row converts, those that were run
  bool gpt_oss = true;
  bool not_gated = true;                                ///< in standard order; in gpt-oss order none was
  deployment::Engine until = deployment::kVllm2026_11;  ///< the first version of the engine of which nothing was run
};

/// What a version of the engine does otherwise in a conversion, by its source; nothing of it was run.
struct ChangedConversion {
  std::string_view what = {};  ///< empty: no version whose conversions are not known is known to differ
  std::string_view source = {};
  deployment::Engine since = deployment::kVllm2026_11;
};

/// One backend's conversion of a layer's tensors.
struct BackendLayout {
  layout::WeightFormat format;
  std::string_view backend;             ///< the oracle's name: FLASHINFER_TRTLLM_MXFP4_BF16
  std::string_view family;              ///< the folder's name; laws and lists go by it
  std::string_view summary;             ///< one line: row order, weight, scale, bias
  deployment::Versions engines;         ///< versions of the engine that this row describes
  deployment::Versions standard_order;  ///< those of them that convert checkpoints in standard order for it
  deployment::Versions gpt_oss_order;   ///< likewise for gpt-oss order
  bool takes_not_gated;                 ///< whether w13 may have a single shard
  bool finer_squares = false;           ///< whether squares of FP8 may have another side than layout::kBlockSide
  std::span<const Need> needs;
  ConverterPadding padding = {};
  /// The packed memory of a tensor, for a setting that breaks no need. Where `values` is given, of the units that it leaves.
  layout::TensorPlan (*build)(layout::Role role, const Setting& setting);
  /// Transforms that couple units or tensors (a factor over a whole tensor, scales that alter codes), before the units are placed; also adds and
  /// removes tensors. Null: there are none. Reports what it loses.
  void (*values)(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses);
  /// Undoes `values`. Null with `values` given: what is packed does not determine the checkpoint, and restore refuses.
  void (*undo_values)(layout::LayerUnits& units, const Setting& setting);
  layout::Source source;
  Ran ran = {};
  std::span<const layout::Role> adds = {};  ///< tensors that `values` makes beside those of the form
  std::string_view calls_library = {};      ///< whose converter the engine calls: a name of libraries(); empty: its own code alone
  ChangedConversion changed = {};

  bool converts(const layout::Form& form, deployment::Engine engine) const;
};

/// What a row stands on for a form and a version that it converts: what was run, else that it was read in its source.
Grounds grounds_of(const BackendLayout& row, const layout::Form& form, deployment::Engine engine);
/// The strongest over the forms that it converts: what the row's tables were held to.
Grounds grounds_of(const BackendLayout& row, deployment::Engine engine);
/// "layers without gate and up", "gpt-oss order": the forms of a version that were read where others were run; empty: none.
std::string forms_read(const BackendLayout& row, deployment::Engine engine);

/// The tensors of a converted layer, in the order of roles. Biases where the layer has them.
std::vector<layout::Role> tensors_of(const BackendLayout& row, bool has_bias);

/// The version that is meant where none is named, if it converts the form, else the first that does; none where none does.
std::optional<deployment::Engine> engine_for(const BackendLayout& row, const layout::Form& form);

/// Every modelled backend, each engine version a row of its own where they differ.
std::span<const BackendLayout> all_backend_layouts();
/// The row of a backend, or null when its converter is not modelled.
const BackendLayout* find_backend_layout(std::string_view backend, layout::WeightFormat format = layout::WeightFormat::mxfp4,
                                         deployment::Engine engine = deployment::kDefaultEngine);
/// The same; throws Error(usage) with the nearest name, or with the formats that the backend is known for.
const BackendLayout& backend_layout_named(std::string_view backend, layout::WeightFormat format, deployment::Engine engine);

/// Sizes of the matrices that a converter makes, which its kernel works with: a setting's padded ones, padded once more.
layout::Sizes padded_by(const BackendLayout& row, const Setting& setting);
layout::Sizes padded_by(const ConverterPadding& padding, const Setting& setting);

/// Every rule that a setting breaks, in the converter's order of checking; empty when the backend converts such a layer.
std::vector<BrokenNeed> broken_needs(const BackendLayout& row, const Setting& setting);

/// Throws Error(usage) naming the first broken rule, the value and the operand.
void check_needs(const BackendLayout& row, const Setting& setting);

}  // namespace mx::families
