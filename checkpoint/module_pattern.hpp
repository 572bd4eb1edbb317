#pragma once
// How configurations name modules: by name, by a pattern with '*', by an expression behind "re:".

#include <string>
#include <string_view>

namespace mx::checkpoint {

/// How exactly a pattern says which module it means.
enum class Match { none, kind, expression, name };

/// Whether a pattern of a configuration names a module: the name itself or one that lies above it ("model.layers.1"), a pattern with '*' of either,
/// an expression behind "re:" that fits from the name's beginning, or "Linear" or "*", which are every module (kind). `place` names the pattern in
/// errors. Expressions have literals, . [] [^] \d \w \. ^ $ | groups, (?:) (?!) (?=) and the repetitions * + ? {m,n}, lazy ones too. Throws
/// Error(input) for an expression that is none, is longer than 1024 characters or deeper than 32 groups, takes more than a million steps or 2048 at
/// once. Source: vllm-project/compressed-tensors src/compressed_tensors/utils/match.py, match_name; fnmatch of vllm quantization/modelopt.py.
Match match_module(std::string_view pattern, std::string_view module, const std::string& place);

}  // namespace mx::checkpoint
