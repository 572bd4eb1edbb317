#pragma once
// What the methods of quantization hand to the oracles, as rows: from the words of a configuration to an oracle and its keys. Methods whose words
// decide otherwise than one by one (fp8, DeepSeek-V4's, ModelOpt's NVFP4) are their reader's.

#include <array>
#include <span>
#include <string_view>

#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// A condition: the word of that path is one of the values; with "" for the first value nothing is said at the path or below it.
struct SchemeWord {
  std::string_view path;
  std::array<std::string_view, 3> values = {};
};

/// What a method hands to an oracle for experts of a scheme.
struct ExpertSchemeRow {
  std::string_view method;         ///< the engine's name, after its hooks
  std::array<SchemeWord, 5> says;  ///< all of them; an empty path is none
  std::string_view oracle;
  std::string_view weights = "None";
  std::string_view activations = "None";
  bool allow_vllm_cutlass = false;
  std::string_view quant_method = "own";
  deployment::Versions versions = kAlways;
  std::string_view refusal = {};  ///< why no oracle can be asked, though the engine has such experts or says so itself; empty: one is
};

/// A method that the engine names only to refuse it.
struct RefusedMethodRow {
  std::string_view method;
  std::string_view why;
};

/// In the order in which they are tried; of compressed-tensors and quark words of the layer's group, of modelopt_mixed of its entry.
/// Source: vllm 0.33.0 and 0.29.0, quantization/ of each method, run on 62 configurations.
std::span<const ExpertSchemeRow> expert_schemes();
std::span<const RefusedMethodRow> refused_methods();

}  // namespace mx::engine
