#pragma once
// Configurations with drawn lists and tables, and what each method's code makes of them, said a second time: as a table of what an entry of each kind
// names, not as rules for texts.

#include <string>
#include <string_view>
#include <vector>

namespace mx::props {

/// The methods whose lists are drawn. Kimi-K3's compressed-tensors is mxfp4 since 2026-08; Ling's FP8 holds MXFP4 and AutoRound has MX formats since
/// then.
enum class ListMethod {
  fp8,
  fp8_block,
  modelopt,
  modelopt_fp8,
  modelopt_mxfp8,
  compressed_tensors,
  groups,  ///< compressed-tensors, whose config_groups names modules
  quark,
  quark_layers,  ///< layer_quant_config has FP8 for modules
  mixed,
  kimi_k3,
  mxfp4,
  ling,
  auto_round,
  auto_round_8,
  auto_round_mixed,  ///< MXFP8, and MXFP4 where extra_config says 4 bits
  deepseek_v4,
  deepseek_v4_fp8,
  deepseek_v4_nvfp4  ///< since 2026-11 what `ignore` names stays MXFP4
};
inline constexpr int kListMethods = 19;

/// What an entry is about, of layer L.
enum class EntryKind {
  experts,           ///< model.layers.L.mlp.experts
  first_expert,      ///< its three projections of expert 0, an entry each
  first_projection,  ///< gate_proj of expert 0 alone
  later_expert,      ///< down_proj of expert 1
  parent,            ///< model.layers.L.mlp
  layer,             ///< model.layers.L
  begins_so,         ///< model.layers.L*
  has_it,            ///< *layers.L.mlp.experts*
  expression,        ///< an expression for what lies below mlp of layer L
  other_module,      ///< model.layers.L.block_sparse_moe.experts
  beside             ///< model.layers.L.mlp.gate_proj
};
inline constexpr int kEntryKinds = 11;

struct ListEntry {
  EntryKind kind;
  int layer;
};

/// A configuration: what its list leaves out, or what its table gives a scheme.
struct ListCase {
  ListMethod method;
  int month;  ///< of the engine: 202608
  std::vector<ListEntry> entries;
  int only = -1;  ///< auto_round_8: blocks that begin with this layer alone are quantized; below 0: all
};

/// What the engine makes of a layer's experts; `otherwise`: quantized by the second scheme of the method.
enum class Given { quantized, otherwise, left, raises };

/// Its answer, as the sources of the methods have it.
Given given(const ListCase& test, int layer);

/// How quantized experts lie in files of a form.
enum class Coded { fp8_tensor, fp8_block, nvfp4, mxfp8, mxfp4_packed, mxfp4_quark, mxfp4_ling, mxfp4_v4, fp8_v4 };
/// The form of a layer that the method quantizes.
Coded form_of(const ListCase& test, Given given);

/// "model.layers.3.mlp.experts", and what gate, up and down of an expert are called there.
std::string experts_of(const ListCase& test, int layer);
const std::vector<std::string>& projections_of(const ListCase& test);

/// The fact that tells the second scheme of the method from its first: key, value of the first, of the second; empty: it has one alone.
struct Telling {
  std::string_view key, first, second;
};
Telling telling(const ListCase& test);

/// config.json of a model with experts of the method's own form.
std::string config_of(const ListCase& test);

/// A random one with up to `most` entries about layers 0 to `last`.
ListCase random_list_case(int most, int last);

}  // namespace mx::props
