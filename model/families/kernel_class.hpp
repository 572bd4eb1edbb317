#pragma once
// What needs ask of an engine's expert class whatever its weights are: one row for each class, in needs.cpp of its family.

#include <cstdint>
#include <span>
#include <string_view>

namespace mx::families {

/// What a class is given. Source: its base class, vllm fused_moe/experts/.
enum class ClassKind : std::uint8_t {
  plain,       ///< hidden states [M, H] and chosen experts
  monolithic,  ///< router logits: it routes by itself
  batched,     ///< hidden states [E, T, H]
};
std::string_view name_of(ClassKind kind);  ///< "plain", "monolithic", "batched"

/// How it knows a rank's experts.
enum class ExpertIds : std::uint8_t {
  offset,  ///< from local_expert_offset = ep_rank * E on
  range,   ///< from the number of ranks and its own: the kernel divides the experts
  map,     ///< by the expert map, on ROCm beside AITER's own
  other,   ///< in a way that no need speaks of
};

/// What it does with a router weight that is on the input.
enum class WeightOnInput : std::uint8_t {
  heeded,
  twice,    ///< applies it in any case, although the prepare step has multiplied the input by it
  late,     ///< applies it to the output: the monolithic prepare step does not multiply the input, and the kernel knows no weight there
  refused,  ///< an assertion
};

struct KernelClassFacts {
  std::string_view name;
  ClassKind kind;
  ExpertIds experts;
  WeightOnInput weight;
  bool needs_tokens = false;  ///< at least one
};

/// Every class, family by family.
std::span<const KernelClassFacts> kernel_class_facts();
/// The row of a class, or null.
const KernelClassFacts* find_class_facts(std::string_view name);

}  // namespace mx::families
