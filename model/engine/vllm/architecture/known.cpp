// Model classes of the engine that have no row here, and why. Source: vllm 0.33.0 model_executor/models/registry.py and the modules that it names.

#include <algorithm>
#include <array>
#include <vector>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {
namespace {

using Names = std::string_view;

// clang-format off
/// Classes whose modules build no experts.
constexpr auto kDense = std::to_array<Names>({
    "ApertusForCausalLM", "ArceeForCausalLM", "BloomForCausalLM", "ChatGLMForConditionalGeneration", "ChatGLMModel", "Cohere2ForCausalLM",
    "Cohere2VisionForConditionalGeneration", "CohereForCausalLM", "CwmForCausalLM", "DeciLMForCausalLM", "Ernie4_5ForCausalLM",
    "Exaone4ForCausalLM", "ExaoneForCausalLM", "FalconForCausalLM", "FalconH1ForCausalLM", "FalconMambaForCausalLM", "GPT2LMHeadModel",
    "GPTBigCodeForCausalLM", "GPTJForCausalLM", "GPTNeoXForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration",
    "Gemma3nForCausalLM", "Gemma3nForConditionalGeneration", "GemmaForCausalLM", "Glm4ForCausalLM", "Glm4vForConditionalGeneration",
    "GlmForCausalLM", "GraniteForCausalLM", "HunYuanDenseV1ForCausalLM", "InternLM2ForCausalLM", "InternLM3ForCausalLM", "Lfm2ForCausalLM",
    "LlamaForCausalLM", "LlavaForConditionalGeneration", "Mamba2ForCausalLM", "MambaForCausalLM", "MiMoForCausalLM", "MiniCPM3ForCausalLM",
    "Ministral3ForCausalLM", "Mistral3ForConditionalGeneration", "MistralForCausalLM", "NemotronForCausalLM", "OPTForCausalLM", "Olmo2ForCausalLM",
    "Olmo3ForCausalLM", "OlmoForCausalLM", "OrionForCausalLM", "Phi3ForCausalLM", "Phi3VForCausalLM", "PhiForCausalLM",
    "PixtralForConditionalGeneration", "Plamo3ForCausalLM", "Qwen2ForCausalLM", "Qwen2VLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration", "Qwen3ForCausalLM", "Qwen3VLForConditionalGeneration", "Qwen3_5ForCausalLM",
    "Qwen3_5ForConditionalGeneration", "SeedOssForCausalLM", "SmolLM3ForCausalLM", "SolarForCausalLM", "StableLmForCausalLM",
    "Starcoder2ForCausalLM", "TeleChat2ForCausalLM", "TeleFLMForCausalLM", "VaultGemmaForCausalLM", "Zamba2ForCausalLM",
});

/// Classes with experts that were not taken apart.
constexpr auto kNotTakenApart = std::to_array<Names>({
    "AXK1ForCausalLM", "AliceAIForCausalLM", "AriaForConditionalGeneration", "BagelForConditionalGeneration", "BailingMoeForCausalLM",
    "BailingMoeV2ForCausalLM", "BailingMoeV2_5ForCausalLM", "BailingMoeV3ForCausalLM", "BailingMoeV3VLForConditionalGeneration", "BeamForCausalLM",
    "Cohere2MoeForCausalLM", "DeepseekForCausalLM", "DeepseekVLV2ForCausalLM", "DeepseekV41ForCausalLM", "DeepseekV4ForConditionalGeneration",
    "Dots3NoteForCausalLM", "Ernie4_5_VLMoeForConditionalGeneration", "FlexOlmoForCausalLM", "FlintForCausalLM", "Glm4vMoeForConditionalGeneration",
    "Glm5NextForCausalLM", "Glm5NextForConditionalGeneration", "GraniteMoeHybridForCausalLM", "GraniteMoeSWAForCausalLM",
    "GraniteMoeSharedForCausalLM", "HYV4ForCausalLM", "InklingForCausalLM", "InklingForConditionalGeneration",
    "InternS1ProForConditionalGeneration", "InternS2MobiusForConditionalGeneration", "K2HorizonForCausalLM", "KimiVLForConditionalGeneration",
    "Kolibri1ForCausalLM", "LagunaForCausalLM", "LongcatFlashForCausalLM", "LongcatFlashNgramForCausalLM", "MellumForCausalLM",
    "MiMoV2OmniForCausalLM", "MiniCPMForCausalLM", "Moondream3ForCausalLM", "MuseSparkForConditionalGeneration", "NemotronH_Nano_VL_V2",
    "NemotronH_Nano_Omni_Reasoning_V3", "NemotronH_Omni_Reasoning_V3", "NemotronH_Super_Omni_Reasoning_V3", "OpenPanguVLForConditionalGeneration",
    "Ovis2_6_MoeForCausalLM", "PanguProMoEV2ForCausalLM", "PanguUltraMoEForCausalLM", "Param2MoEForCausalLM",
    "Qwen3OmniMoeForConditionalGeneration", "Qwen4ExpForCausalLM", "Qwen4ExpForConditionalGeneration", "SarvamMLAForCausalLM",
    "SarvamMoEForCausalLM", "Step3p7ForConditionalGeneration", "Step5ForCausalLM", "Step5ForConditionalGeneration", "UnlimitedOCRForCausalLM",
});

struct DroppedRow {
  Names name;
  Names last_release;
};
/// _PREVIOUSLY_SUPPORTED_MODELS, those with experts.
constexpr std::array kDropped = {
    DroppedRow{"MotifForCausalLM", "0.10.2"},
    DroppedRow{"JAISLMHeadModel", "0.22.0"},
    DroppedRow{"Dots1ForCausalLM", "0.23.0"},
    DroppedRow{"BambaForCausalLM", "0.23.0"},
    DroppedRow{"MiniMaxForCausalLM", "0.23.0"},
    DroppedRow{"MiniMaxText01ForCausalLM", "0.23.0"},
    DroppedRow{"MiniMaxM1ForCausalLM", "0.23.0"},
    DroppedRow{"MiniMaxVL01ForConditionalGeneration", "0.23.0"},
    DroppedRow{"Grok1ModelForCausalLM", "0.24.0"},
    DroppedRow{"Grok1ForCausalLM", "0.24.0"},
    DroppedRow{"ArcticForCausalLM", "0.28.0"},
};
// clang-format on

template <typename... Spans>
std::vector<const ArchitectureRow*> pointers(const Spans&... spans) {
  std::vector<const ArchitectureRow*> rows;
  const auto add = [&](std::span<const ArchitectureRow> span) {
    for (const ArchitectureRow& row : span) rows.push_back(&row);
  };
  (add(spans), ...);
  return rows;
}

}  // namespace

std::span<const ArchitectureRow* const> architecture_rows() {
  static const std::vector<const ArchitectureRow*> kRows =
      pointers(deepseek_architectures(), qwen_architectures(), minimax_architectures(), mixtral_architectures(), step_architectures(),
               hybrid_architectures(), sigmoid_architectures());
  return kRows;
}

UnreadArchitecture unread_architecture(std::string_view name) {
  if (std::ranges::find(kDense, name) != kDense.end()) return {Unread::dense, {}};
  if (std::ranges::find(kNotTakenApart, name) != kNotTakenApart.end()) return {Unread::not_taken_apart, {}};
  const auto* const dropped = std::ranges::find(kDropped, name, &DroppedRow::name);
  return dropped == kDropped.end() ? UnreadArchitecture{} : UnreadArchitecture{Unread::dropped, dropped->last_release};
}

}  // namespace mx::engine
