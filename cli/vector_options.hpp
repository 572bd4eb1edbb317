#pragma once
// What gen and ver have in common: an operation with its choices, and which of its vectors.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/verb.hpp"
#include "golden/vectors/options.hpp"
#include "golden/vectors/vector_set.hpp"

namespace mx::cli {

struct VectorOptions {
  std::string op;
  std::map<std::string, std::string> choices;  ///< by key, only those given
  std::string set = "directed";
  std::optional<std::uint64_t> seed;
  std::string count;
  bool with_expected = false;
};

/// Adds OP, every choice of every family, --set, --seed, --count and --with-expected.
void add_vector_options(Verb verb, VectorOptions& options);

/// The choices that were typed.
golden::OpOptions choices_of(const VectorOptions& options);
/// Both throw Error(usage) for what was typed.
std::unique_ptr<golden::VectorOp> op_of(const VectorOptions& options);
/// Which format is meant where the operation was named by another word for it, and which is not; else empty.
std::string which_formats(const VectorOptions& options, const golden::VectorOp& op);
golden::SetChoice set_of(const VectorOptions& options);

/// The options as they would be typed again: "f32_to_e4m3fn --profile ocp-rz --set random --seed 1 --count 1000".
std::string typed(const VectorOptions& options);

}  // namespace mx::cli
