#pragma once
// Configurations with drawn lists and tables, and what each method's code makes of them, said a second time: as a table of what an entry of each kind
// names, not as rules for texts.

#include <string>
#include <vector>

namespace mx::props {

/// The methods whose lists are drawn. Kimi-K3's compressed-tensors is mxfp4 since 2026-08; Ling's FP8 holds MXFP4 and AutoRound has MXFP4 since then.
enum class ListMethod { fp8, modelopt, compressed_tensors, quark, mixed, kimi_k3, mxfp4, ling, auto_round };
inline constexpr int kListMethods = 9;

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

/// A configuration: what its list leaves out, or of `mixed` what its table gives NVFP4.
struct ListCase {
  ListMethod method;
  int month;  ///< of the engine: 202608
  std::vector<ListEntry> entries;
};

/// What the engine makes of a layer's experts.
enum class Given { quantized, left, raises };

/// Its answer, as the sources of the methods have it.
Given given(const ListCase& test, int layer);

/// config.json of a model with experts of the method's own form.
std::string config_of(const ListCase& test);

/// A random one with up to `most` entries about layers 0 to `last`.
ListCase random_list_case(int most, int last);

}  // namespace mx::props
