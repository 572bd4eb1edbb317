#include "tests/engine/vllm/mutants/equivalent_mutants.hpp"

#include <array>

namespace mx::tests {
namespace {

constexpr std::array kEquivalent = {
    // Classes: parallel configurations.
    EquivalentChanges{
        "class (TrtLlmMxfp4|OAITritonMxfp4|AiterW4A8)ExpertsMonolithic parallel with (fi_nvl_two_sided|fi_nvl_one_sided|deepep_ht|all2all_other)",
        "every exchange is refused already"},
    EquivalentChanges{"class (TrtLlmMxfp4|OAITritonMxfp4|AiterW4A8)ExpertsMonolithic parallel without all2all_kernels",
                      "there is an exchange only where dp is above 1, and that is refused too"},
    EquivalentChanges{"class TrtLlmNvFp4ExpertsMonolithic parallel with (fi_nvl_two_sided|fi_nvl_one_sided|deepep_ht|all2all_other)",
                      "every exchange is refused already"},
    EquivalentChanges{"class CutlassExpertsFp4 parallel with (fi_nvl_two_sided|fi_nvl_one_sided|deepep_ht|all2all_kernels|all2all_other)",
                      "an exchange splits the experts, and that is refused already"},
    EquivalentChanges{"class TrtLlmFp8Experts(Monolithic|Modular) parallel with (fi_nvl_two_sided|fi_nvl_one_sided|deepep_ht)",
                      "these are exchanges other than allgather and reduce-scatter, refused already"},
    EquivalentChanges{"class (CutlassExpertsFp8|DeepGemmExperts) parallel without fi_nvl_(two|one)_sided",
                      "TritonExperts, the other half, refuses the same"},
    // Classes: keys.
    EquivalentChanges{
        "class TrtLlmMxfp4Experts(Monolithic|Modular) quant rule#0 pairs pair#(0 activations with kMxfp8Dynamic|1 activations with None)",
        "the other pair of the rule has it"},
    EquivalentChanges{"class (Batched)?TritonExperts quant rule#[1-4] pairs pair#1 weights with kFp8StaticTensorSym", "pair 2 of the rule has it"},
    EquivalentChanges{"class FlashInferExperts quant rule#1 pairs pair#0 weights with None", "rule 0 has the unquantized pair from capability 90 on"},
    EquivalentChanges{"class CutlassExpertsFp8 quant rule#0 pairs pair#0 weights with (None|kFp8Static128BlockSym|kInt8StaticChannelSym)",
                      "TritonExperts, the other half, takes no such weights with these activations"},
    EquivalentChanges{"class CutlassExpertsFp8 quant rule#0 pairs pair#0 activations with .*",
                      "TritonExperts, the other half, takes no such activations with these weights"},
    EquivalentChanges{"class CutlassExpertsFp8 quant rule#0 pairs pair#1 weights with .*",
                      "TritonExperts, the other half, takes no such weights with these activations"},
    EquivalentChanges{"class CutlassExpertsFp8 quant rule#0 pairs pair#1 activations with (None|kFp8Dynamic128Sym|kInt8DynamicTokenSym)",
                      "TritonExperts, the other half, takes no such activations with these weights"},
    EquivalentChanges{"class DeepGemmExperts quant rule#0 pairs pair#0 (weights|activations) with .*",
                      "TritonExperts, the other half, takes no such pair"},
    EquivalentChanges{"class TrtLlmFp8ExpertsMonolithic more_routings rule#0 keys (weights|activations) with .*",
                      "the class takes none of these pairs, and keys are asked before the routing"},
    // Classes: devices and places.
    EquivalentChanges{"class FlashInferExperts quant rule#[0-2] where platforms with rocm", "the class is for cuda alone, asked before"},
    EquivalentChanges{"class FlashInferExperts quant rule#0 where capability (opened|low - 1)", "its devices begin with 90"},
    EquivalentChanges{"class FlashInferExperts quant rule#1 where capability (low - 1|below \\+ 1)", "its devices have neither 89 nor 91"},
    EquivalentChanges{"class FlashInferExperts quant rule#2 where capability low - 1", "its devices have no 99"},
    EquivalentChanges{"class TritonExperts quant rule#4 where platforms with cpu", "the class is not for cpu, asked before"},
    EquivalentChanges{
        "class CutlassExpertsFp4 devices rule#(0 where capability below \\+ 1|1 where capability low - 1|1 where capability below \\+ 1|"
        "2 where capability low - 1)",
        "the next family has it: 100 to 129 without a gap"},
    EquivalentChanges{"class AiterExperts devices rule#0 switches VLLM_ROCM_USE_AITER#0 behind its neighbour",
                      "both are words, and reading a word never raises"},
    // Classes: the rest.
    EquivalentChanges{"class BatchedHummingGroupedExperts humming other [012]", "for a batched class the format alone counts"},
    EquivalentChanges{"class (CutlassExpertsFp8|DeepGemmExperts) activations with RELU2", "TritonExperts, the other half, does not take it"},
    EquivalentChanges{"class TritonOr(Cutlass|DeepGemm)Experts halves TritonExperts#1 left out",
                      "the other half takes nothing that TritonExperts does not take on its devices"},
    EquivalentChanges{"class TritonOr(Cutlass|DeepGemm)Experts halves .*#0 behind its neighbour", "both must suit, and TritonExperts never raises"},

    // The gpt-oss path.
    EquivalentChanges{"mxfp4 keys own", "the filter leaves the backends that own the requested key, and EMULATION, whose class takes every key"},
    EquivalentChanges{"mxfp4 step resolve_key#0 behind its neighbour", "a contradiction and an unknown name are both ValueError"},
    EquivalentChanges{"(mxfp4|mxfp4_deepseek_v4|nvfp4) step rewrite#[1-3] when named dropped",
                      "the list has the batched member as well, and the backend itself is refused for its format"},
    EquivalentChanges{"mxfp4 step rewrite#2 behind its neighbour", "MARLIN and BATCHED_MARLIN own the same key"},
    EquivalentChanges{"mxfp4 step remove#5 behind its neighbour", "one is taken when the variable is off, the other when it is on"},
    EquivalentChanges{"mxfp4 step force#6 when where capability (low - 1|below \\+ 1)",
                      "FlashInferExperts refuses 89 and 91: ValueError, as the step behind raises"},
    EquivalentChanges{"mxfp4 step force#6 behind its neighbour", "no device is of both capabilities"},
    EquivalentChanges{"mxfp4 step force#7 when where capability (opened|low - 1|below \\+ 1)",
                      "TRTLLM refuses what is not of family 100: ValueError, as the step behind raises"},
    EquivalentChanges{"mxfp4 step raise#8 behind its neighbour", "where it raises, TRTLLM is refused: ValueError either way"},
    EquivalentChanges{"mxfp4 step force#9 key None", "the TRTLLM classes take both keys"},
    EquivalentChanges{"mxfp4 step force#11 key (next key|dropped)", "MarlinExperts looks at no activation key"},
    EquivalentChanges{"mxfp4 step walk#12 behind its neighbour", "on xpu the list holds no class for the device but that of XPU"},
    EquivalentChanges{"mxfp4 step force#13 behind its neighbour", "no device is of both platforms"},
    EquivalentChanges{"mxfp4 step force#14 when where platforms with xpu", "the step before ends every search on xpu"},
    EquivalentChanges{"mxfp4(_deepseek_v4)? rounding (DEEPGEMM_MXFP4#0|MARLIN#2|FLASHINFER_TRTLLM_MXFP4_BF16#3) behind its neighbour",
                      "no backend is in both rows"},
    // The DeepSeek-V4 path.
    EquivalentChanges{"(mxfp4_deepseek_v4|mxfp8) keys requested or own", "no step of these searches takes up a request"},
    EquivalentChanges{"mxfp4_deepseek_v4 survivor of the filter dropped", "its search has no filter"},
    EquivalentChanges{"mxfp4_deepseek_v4 step candidates#[01] when where platforms with (xpu|cpu)", "neither list has a class for these devices"},
    EquivalentChanges{"mxfp4_deepseek_v4 step try_in_turn#4 behind its neighbour",
                      "a walk over what a name stands for ends in the same class; a ValueError of a check is one for every class behind it"},
    EquivalentChanges{"(fp8|nvfp4|w4a8) support keys requested or own", "their backends own no key"},
    // nvfp4.
    EquivalentChanges{"nvfp4 step (raise#3|force#4|force#5) behind its neighbour", "no two of them are taken for the same variables"},
    EquivalentChanges{"nvfp4 step force#[56] when variants with (CUTLASS|TENSORRT_LLM)", "a step before ends the search for that variant"},
    EquivalentChanges{"nvfp4 step force#6 when variant set dropped", "unset means latency, which is never CuteDSL"},
    EquivalentChanges{"nvfp4 step walk#7 backends FLASHINFER_CUTEDSL(#2|_BATCHED#3) behind its neighbour",
                      "one is standard and the other batched, or for another device"},
    // fp8.
    EquivalentChanges{"fp8 to front (FLASHINFER_CUTLASS#0|TRITON#1|XPU#2) behind its neighbour", "no deployment fits both rows"},
    EquivalentChanges{"fp8 step rewrite#1 behind its neighbour", "what is removed is a backend with its batched member"},
    EquivalentChanges{"fp8 step remove#2 when named dropped", "they leave an unspecific list too, before anything walks it"},
    EquivalentChanges{"fp8 step (remove#4|force#5|force#6|remove#10) behind its neighbour", "no two of them are taken for the same variables"},
    EquivalentChanges{"fp8 step (force#6|raise#7) when variants with (CUTLASS|TENSORRT_LLM)", "a step before ends the search for that variant"},
    EquivalentChanges{"fp8 step raise#7 when variant set dropped", "unset means latency, which is never CuteDSL"},
    EquivalentChanges{"fp8 step (force#13|force#15) behind its neighbour", "what leaves the list does not matter to a step that forces a backend"},
    EquivalentChanges{"fp8 step remove#14 (?!when switches other).*",
                      "AITER's class asks for the same two variables: what is not removed is refused"},
    EquivalentChanges{"fp8 step force#15 when variables VLLM_ROCM_USE_AITER_MOE#1 left out",
                      "where that variable is off or set alone, the step before took AITER out"},
    EquivalentChanges{"fp8 step force#15 when variables VLLM_ROCM_USE_AITER#0 behind its neighbour",
                      "both are words, and reading a word never raises"},
    // mxfp8.
    EquivalentChanges{"mxfp8 step try_in_turn#1 (when named dropped|when named false|left out|behind its neighbour)",
                      "a name stands for one backend, and the walk behind ends in the same class or the same ValueError"},
};

}  // namespace

std::span<const EquivalentChanges> equivalent_changes() { return kEquivalent; }

}  // namespace mx::tests
