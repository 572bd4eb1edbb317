#include "model/engine/vllm/setup/flashinfer_variant.hpp"

#include <array>
#include <string>

#include "model/engine/vllm/tables.hpp"

namespace mx::engine {
namespace {

constexpr std::string_view kVariable = "VLLM_FLASHINFER_MOE_BACKEND";
constexpr std::string_view kUnset = "latency";

constexpr std::array<std::string_view, 3> kNames = {"CUTLASS", "TENSORRT_LLM", "CUTEDSL"};

/// First match by word and capability.
struct VariantRow {
  std::string_view word;
  deployment::CapRange capability;
  FlashinferVariant variant;
};
constexpr std::array<VariantRow, 4> kRows = {{
    {"throughput", deployment::kAnyCapability, FlashinferVariant::cutlass},
    {"latency", deployment::cap_family(100), FlashinferVariant::tensorrt_llm},
    {"latency", deployment::kAnyCapability, FlashinferVariant::cutlass},
    {"masked_gemm", deployment::kAnyCapability, FlashinferVariant::cutedsl},
}};

}  // namespace

std::string_view name_of(FlashinferVariant variant) { return kNames[static_cast<std::size_t>(variant)]; }

Answer<FlashinferVariant> flashinfer_variant(const std::optional<int>& capability, const Environment& environment) {
  const auto set = environment.find(std::string(kVariable));
  const std::string word = set == environment.end() ? std::string(kUnset) : set->second;
  for (const VariantRow& row : kRows) {
    if (row.word == word && deployment::in_range(row.capability, capability)) return row.variant;
  }
  return Refusal{"ValueError", std::string(kVariable) + " is '" + word + "', must be throughput, latency or masked_gemm"};
}

}  // namespace mx::engine
