// Needs that hold whatever the weights are: exchange, placement of experts, weights on the input, empty batches.

#include "model/audit/around.hpp"

#include <array>

#include "model/engine/vllm/env.hpp"
#include "model/families/facts.hpp"

namespace mx::audit {
namespace {

using namespace families::facts;
using enum families::Effect;
using enum Grounds;
using enum families::NeedOf;

using Facts = families::KernelClassFacts;

constexpr bool is_monolithic(const Facts& f) { return f.kind == families::ClassKind::monolithic; }
constexpr bool starts_at_offset(const Facts& f) { return f.experts == families::ExpertIds::offset; }
constexpr bool divides_experts(const Facts& f) { return f.experts == families::ExpertIds::range; }
constexpr bool wants_a_range(const Facts& f) { return starts_at_offset(f) || divides_experts(f); }
constexpr bool reads_map(const Facts& f) { return f.experts == families::ExpertIds::map; }
constexpr bool applies_twice(const Facts& f) { return f.weight == families::WeightOnInput::twice; }
constexpr bool applies_late(const Facts& f) { return f.weight == families::WeightOnInput::late; }
constexpr bool refuses_weight(const Facts& f) { return f.weight == families::WeightOnInput::refused; }
constexpr bool needs_tokens(const Facts& f) { return f.needs_tokens; }

/// A row about classes of several families.
constexpr families::KernelNeed need_where(Names id, bool (*of_classes)(const Facts&), families::NeedOf of, families::Effect effect, Grounds grounds,
                                          Names statement, Names consequence, bool (*holds)(const families::Placement&), Names source,
                                          Names reference = {}, deployment::Versions versions = deployment::since(deployment::kVllm2026_05)) {
  families::KernelNeed row = need(id, {}, {}, of, effect, grounds, statement, consequence, holds, source, reference, versions);
  row.of_classes = of_classes;
  return row;
}

bool kind_is(const families::Placement& p, families::ClassKind kind) {
  const Facts* facts = families::find_class_facts(p.kernel_class);
  return facts != nullptr && facts->kind == kind;
}

/// The layer hands out the mask of AITER's fused MoE where it should hand out the map.
bool hands_out_mask(const families::Placement& p) {
  const engine::Environment& env = p.deployment.env;
  return arch_is(p, {"gfx942", "gfx950"}) && p.deployment.software.aiter_found &&
         engine::read_switch(env, engine::EnvVariable::rocm_use_aiter) == engine::Switch::on &&
         engine::read_switch(env, engine::EnvVariable::rocm_use_aiter_moe) == engine::Switch::on;
}
/// By its name of 2026-05, or one of the two since 2026-08.
bool is_mori(const families::Placement& p) { return exchange_is(p, {"mori", "mori_high_throughput", "mori_low_latency"}); }
bool has_weight_on_input(const families::Placement& p) { return p.deployment.layer.router_weight_on_input; }

constexpr std::array<std::int64_t, 8> kDeepEpHidden = {2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192};

// E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is flashinfer-ai/flashinfer at 41e5aa29a.
constexpr std::array kExchangeNeeds = {
    need(
        "exchange", {}, {}, engine, error, read, "the exchange between ranks exists",
        "an assertion at assembly; the launcher turns pplx and naive into allgather_reducescatter before",
        [](const families::Placement& p) {
          return !exchange_is(p, {"pplx", "naive"});
        },
        "vllm fused_moe/all2all_utils.py maybe_make_prepare_finalize; config/parallel.py"),
    need("eplb", {}, {}, engine, error, read, "the quantization method supports expert load balancing where it is asked for",
         "the layer refuses after selection", nullptr, "vllm fused_moe/layer.py"),
    need(
        "exchange_hidden", {}, {}, engine, error, run, "DeepEP low latency and NIXL exchange hidden sizes of a list that ends at 8192",
        "ValueError when the hidden size is rounded up",
        [](const families::Placement& p) {
          return !has_batched_exchange(p) || std::find(kDeepEpHidden.begin(), kDeepEpHidden.end(), p.hidden) != kDeepEpHidden.end();
        },
        "vllm fused_moe/prepare_finalize/deepep_ll.py SUPPORTED_HIDDEN_SIZES"),
    need(
        "combine_dtype", {}, {}, engine, error, read, "DeepEP high throughput combines bfloat16", "an assertion in the combine step",
        [](const families::Placement& p) { return !exchange_is(p, {"deepep_high_throughput"}) || dtype_is(p, {"bfloat16"}); },
        "vllm fused_moe/prepare_finalize/deepep_ht.py"),
    need(
        "even_exchange", {}, {}, engine, silent, read,
        "the experts divide by the ranks: DeepEP low latency, NIXL and mori take G // ep as local count", "the experts beyond are not reached",
        [](const families::Placement& p) {
          return !is_uneven(p) || !(exchange_is(p, {"deepep_low_latency", "nixl_ep"}) || is_mori(p));
        },
        "vllm fused_moe/all2all_utils.py"),
    need(
        "weight_of_one", {}, {}, engine, error, read, "a weight on the input belongs to one expert a token", "an assertion in the prepare step",
        [](const families::Placement& p) {
          return !has_weight_on_input(p) || kind_is(p, families::ClassKind::monolithic) || p.deployment.layer.experts_per_token == 1;
        },
        "vllm fused_moe/prepare_finalize/"),
    need(
        "mori_weight", {}, {}, engine, error, read, "mori takes no weight on the input", "an assertion in its prepare step",
        [](const families::Placement& p) { return !has_weight_on_input(p) || !is_mori(p); }, "vllm fused_moe/prepare_finalize/mori.py"),
    need("empty_batch", {}, {}, kernel_class, error, assumed, "what a class does with no tokens at all", "not known, DeepGEMM and TRT-LLM aside",
         nullptr, "no public text"),
};

constexpr std::array kNeeds = {
    need(
        "format", {}, {}, engine, error, read, "a batched exchange meets a batched class, any other a standard one", "the tensors have another rank",
        [](const families::Placement& p) { return has_batched_exchange(p) == kind_is(p, families::ClassKind::batched); },
        "vllm modular_kernel.py: [E, T, H] or [M, H] hidden states"),
    need_where(
        "router", is_monolithic, engine, error, read,
        "a kernel that routes by itself gets router logits: no exchange of chosen experts, no relocated experts",
        "no prepare step fits the class; under EPLB the kernel chooses logical experts where physical ones are stored",
        [](const families::Placement& p) {
          return !p.deployment.parallel.enable_eplb && (!exchanges(p) || exchange_is(p, {"allgather_reducescatter"}));
        },
        "vllm fused_moe/prepare_finalize/: monolithic variants of no-DP/EP and naive DP/EP alone"),
    need_where(
        "even_ranges", starts_at_offset, kernel_class, silent, read, "the experts divide by the ranks: the first local expert is ep_rank * E",
        "from the first rank with one expert fewer on, tokens meet the wrong experts", [](const families::Placement& p) { return !is_uneven(p); },
        "E/: local_expert_offset; vllm fused_moe/expert_map_manager.py determine_expert_map"),
    need_where(
        "even_ranges", divides_experts, kernel, error, read, "the experts divide by the ranks", "an error in the kernel's launcher",
        [](const families::Placement& p) { return !is_uneven(p); }, "fi csrc/fused_moe/cutlass_backend/flashinfer_cutlass_fused_moe_binding.cu"),
    need_where(
        "linear_placement", wants_a_range, kernel_class, silent, read, "a rank's experts are consecutive", "tokens meet the wrong experts",
        [](const families::Placement& p) { return !is_round_robin(p); },
        "E/: local_expert_offset; vllm fused_moe/expert_map_manager.py: round robin"),
    need_where(
        "expert_mask", reads_map, engine, silent, read, "the expert map is a map",
        "with AITER's fused MoE on, the layer hands every class a mask of zeros and ones instead",
        [](const families::Placement& p) { return !has_ep(p) || !hands_out_mask(p); }, "vllm fused_moe/layer.py expert_map", {},
        deployment::before(deployment::kVllm2026_08)),
    need_where(
        "weight_twice", applies_twice, kernel_class, silent, read, "the router weight is not on the input: the class applies it in any case",
        "the weight is applied twice", [](const families::Placement& p) { return !has_weight_on_input(p); },
        "E/: apply_router_weight_on_input of each class; not run", "vllm pull request 43694"),
    need_where(
        "weight_late", applies_late, engine, silent, read, "the router weight is not on the input: the monolithic prepare ignores it",
        "the weight goes on the output of a layer that is not linear", [](const families::Placement& p) { return !has_weight_on_input(p); },
        "vllm fused_moe/prepare_finalize/no_dp_ep.py, monolithic variant; not run"),
    need_where(
        "humming_weight", refuses_weight, kernel_class, error, read, "no weight on the input", "an assertion in apply",
        [](const families::Placement& p) { return !has_weight_on_input(p); }, "E/fused_humming_moe.py apply"),
    need_where("tokens", needs_tokens, kernel, error, read, "at least one token: the number of tokens is no part of a deployment",
               "an error in the kernel's routing", nullptr, "fi csrc/trtllm_batched_gemm_runner.cu: routeAct requires numTokens > 0"),
};

}  // namespace

std::span<const families::KernelNeed> exchange_needs() { return kExchangeNeeds; }
std::span<const families::KernelNeed> common_needs() { return kNeeds; }

}  // namespace mx::audit
