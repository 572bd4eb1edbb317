#pragma once
// The engine's model classes as rows: which fields of a configuration say what of a layer's experts, and what stands in the class itself.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/architecture/fields.hpp"

namespace mx::engine {

/// Whether a number of each expert is added to the choice.
enum class Correction : std::uint8_t { never, always, by_method, by_flag };

/// Which layers have experts.
enum class SparseRule : std::uint8_t {
  all,
  behind_dense,    ///< i >= first and i % step == 0
  sparse_step,     ///< (i + 1) % step == 0 and i is not listed in mlp_only_layers
  interleaved,     ///< (i + 1) % step == 0
  offset,          ///< i % step == first
  span,            ///< start <= i <= end and (i + 1) % step == 0
  frequency_list,  ///< moe_layer_freq is a list of 0 and 1
  types,           ///< mlp_layer_types is a list of "sparse" and "dense"; without it as behind_dense
  enumerated,      ///< moe_layers_enum is "3,4,5", after mlp_layer_types; without both as behind_dense
  pattern,         ///< hybrid_override_pattern has an E there, or layers_block_type "moe"
};

/// What a class does with a layer that no field of the row says. `layer` is its number.
using LayerHook = void (*)(const FieldReader& fields, int layer, deployment::LayerConfig& config, deployment::Engine engine);
/// What it refuses of the whole model.
using ModelHook = void (*)(const FieldReader& fields);

/// One model class, or several that read alike.
struct ArchitectureRow {
  std::span<const std::string_view> architectures = {};
  std::span<const std::string_view> model_types = {};
  deployment::Versions versions = deployment::since(deployment::kVllm2026_05);
  bool nested = false;  ///< the fields are those of text_config
  SizeField experts = {};
  SizeField top_k = {};
  SizeField intermediate = {};
  SizeField hidden = {};
  SizeField layers = {};
  SizeField heads = {};
  bool none_is_dense = false;  ///< without a number of experts the model has none

  std::string_view routing = {};  ///< the class routes by a function of its own: the engine's name; else by the fields that follow
  WordField scoring = {"", "softmax"};
  FlagField renormalize = {"", true};
  Correction correction = Correction::never;
  FlagField correction_flag = {};  ///< of by_flag
  SizeField groups = {};
  SizeField topk_groups = {};
  NumberField factor = {};

  SparseRule rule = SparseRule::all;
  SizeField first = {};
  SizeField last = {};
  SizeField step = {};

  std::string_view activation = "SILU";
  std::string_view silu_alone = {};  ///< a field of which the class takes "silu" alone
  bool bias = false;
  bool gated = true;
  bool float_logits = false;  ///< the router's logits are fp32
  bool weight_on_input = false;
  bool sequence_parallel = false;       ///< the class splits tokens over ranks before its experts
  bool rank_has_expert = false;         ///< raises where tp is above the number of experts
  std::int64_t share_is_padded_to = 0;  ///< a rank has at least so many columns, where ranks cut experts; 0: as they are cut
  bool skips_reduce = false;            ///< leaves the last reduction to what follows, without an exchange; read since 2026-11
  std::string_view shared = {};         ///< a field above 0 says that there are shared experts; "*": there always are

  LayerHook of_layer = nullptr;
  ModelHook of_model = nullptr;
  std::string_view experts_module = "model.layers.N.mlp.experts";  ///< as the quantization's lists see it
  std::span<const std::string_view> projections = {};              ///< of one expert in the checkpoint; empty: gate_proj, up_proj, down_proj
  std::string_view source = {};
};

/// A row that is like another one but for some fields.
constexpr ArchitectureRow changed(ArchitectureRow row, void (*change)(ArchitectureRow& row)) {
  change(row);
  return row;
}

/// Rows by the files that they stand in.
std::span<const ArchitectureRow> deepseek_architectures();
std::span<const ArchitectureRow> qwen_architectures();
std::span<const ArchitectureRow> minimax_architectures();
std::span<const ArchitectureRow> mixtral_architectures();
std::span<const ArchitectureRow> step_architectures();
std::span<const ArchitectureRow> hybrid_architectures();
std::span<const ArchitectureRow> sigmoid_architectures();
/// All of them.
std::span<const ArchitectureRow* const> architecture_rows();

/// Why a class of the engine has no row.
enum class Unread : std::uint8_t { unknown, dense, not_taken_apart, dropped };
struct UnreadArchitecture {
  Unread why = Unread::unknown;
  std::string_view last_release = {};  ///< of `dropped`: the last one that had it
};
UnreadArchitecture unread_architecture(std::string_view name);

}  // namespace mx::engine
