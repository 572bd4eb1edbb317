#pragma once
// How each kind of layout entry is held against the model. Every function adds counts and differences to the findings; it throws Error(input) for a
// contradiction in the entry, Unmodelled for what the model does not claim, and Error(usage) when the model refuses what the converter did.

#include <filesystem>
#include <string>

#include "golden/witness/layout_entry.hpp"
#include "golden/witness/layout_model.hpp"

namespace mx::golden {

/// kind perm: one source unit per destination unit, forward and backward.
void run_perm(const LayoutEntry& entry, const std::filesystem::path& directory, LayoutFindings& findings);
/// kind hash: the digest of the output for generated input, and the way back.
void run_hash(const LayoutEntry& entry, LayoutFindings& findings);
/// kind io: literal bytes in and out.
void run_io(const LayoutEntry& entry, const std::filesystem::path& directory, LayoutFindings& findings);
/// kind error: the model refuses the call for the stated reason, and no longer once the precondition is met.
void run_error(const LayoutEntry& entry, LayoutFindings& findings);

/// The model's digest of its output for generated input, and whether its own way back gives the input.
void compare_digest(const LayoutCall& call, const LayoutModel& model, std::uint64_t seed, std::uint64_t digest, std::int64_t bytes,
                    LayoutFindings& findings);
/// The inputs of a block that changes values, against what its way back makes of the outputs; nothing where it has none.
void compare_undone(const ValueCall& call, const families::BlockTensors& inputs, const families::BlockTensors& outputs, LayoutFindings& findings);
/// 16 hexadecimal digits; a non-negative integer.
std::uint64_t read_digest(const Json& json, const std::string& where);
std::uint64_t read_seed(const Json& json, const std::string& where);

/// Throws Unmodelled for an input above `most` bytes, Error(input) where the entry has no input or one that the parameters contradict.
void check_input(const LayoutEntry& entry, std::int64_t most);
void check_input(const LayoutEntry& entry, const LayoutModel& model);

}  // namespace mx::golden
