#pragma once
// The data of an oracle: what each kernel class accepts, and how one oracle searches. The interpreters take these as spans, so another
// engine version, or a table with a mistake planted in it, is another value.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/deployment/version.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/deployment/where.hpp"
#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/oracles/priority.hpp"
#include "model/engine/vllm/rounding.hpp"

namespace mx::engine {

// Versions for which a row holds, by the months in which the tables change.
inline constexpr deployment::Versions kAlways = deployment::since(deployment::kVllm2026_05);
inline constexpr deployment::Versions kMay = deployment::before(deployment::kVllm2026_08);
inline constexpr deployment::Versions kAugust = deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11);
inline constexpr deployment::Versions kUntilNovember = deployment::before(deployment::kVllm2026_11);
inline constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);
inline constexpr deployment::Versions kSinceNovember = deployment::since(deployment::kVllm2026_11);

/// The rows of one version, in their order.
template <typename Row>
std::vector<Row> rows_of(deployment::Engine engine, std::span<const Row> rows) {
  std::vector<Row> of_engine;
  std::ranges::copy_if(rows, std::back_inserter(of_engine), [&](const Row& row) { return row.versions.has(engine); });
  return of_engine;
}

/// One alternative of a device predicate; all fields must hold. Checked in the order place, variables, probes.
struct DeviceRule {
  deployment::Where where = {};
  bool deployment::Software::*probe = nullptr;  ///< null: none
  std::span<const EnvVariable> switched_on = {};
  bool deployment::Software::*also = nullptr;   ///< a second probe
  bool deployment::Hardware::*trait = nullptr;  ///< of the processor
};

/// Every weight key of one set with every activation key of the other.
struct KeyPairs {
  deployment::Mask weights;
  deployment::Mask activations;
};

/// Pairs that are accepted where the place fits.
struct QuantRule {
  std::span<const KeyPairs> pairs;
  deployment::Where where = {};
};

/// Routing methods that are accepted for some keys alone.
struct RoutingRule {
  KeyPairs keys;
  deployment::Mask methods;
};

/// Facts about the parallel configuration that a class may refuse.
enum class ParallelFact : std::uint8_t {
  fi_nvl_two_sided,
  fi_nvl_one_sided,
  deepep_ht,
  all2all_kernels,
  all2all_other_than_ag_rs,
  eplb,
  dp_above_one,
  ep_above_one,
  use_ep,
  no_ep,
  sp_above_one,
  no_all2all_kernels,
  ag_rs,
  all2all_without_trtllm_fp8,  ///< all2all kernels other than allgather and reduce-scatter, DeepEP v2, FlashInfer's
  batched_format,
  no_moonep,
};

enum class ActivationFormat : std::uint8_t { standard, batched_experts };
std::string_view name_of(ActivationFormat format);  ///< the engine's: "Standard", "BatchedExperts"

/// The Humming classes replace the whole check by a comparison of GEMM types.
enum class HummingGemm : std::uint8_t { not_humming, indexed, grouped_contiguous, grouped_masked };

/// Checks of single classes, before and after those that all have.
enum class LayerRule : std::uint8_t {
  no_bias,
  half_dtype,  ///< float16 or bfloat16 input
  bfloat16_dtype,
  f32_or_bfloat16_dtype,
  situ_betas_4_25,
  plain_uninterleaved,      ///< SWIGLUOAI_UNINTERLEAVE without an activation key
  mxfp4_intermediate_32,    ///< with MXFP4 weights
  mxfp4_mxfp8_activations,  ///< with MXFP8 activations: SILU or SITU
  mxfp4_mxfp8_sizes,        ///< with MXFP8 activations: hidden in 256, intermediate in 32
  quark,
  no_lora,
  triton_experts,  ///< fewer than 1,024 experts on cuda and rocm, counted in warps of 32
  experts_2048,
  aiter_mxfp8,
  uninterleaved,  ///< SWIGLUOAI_UNINTERLEAVE alone
  silu_or_uninterleaved,
  oai_alpha_beta,            ///< alpha 1.702 and beta 1, both given
  uninterleaved_alpha_beta,  ///< the same for SWIGLUOAI_UNINTERLEAVE alone
  humming_gemm,
  arm,
  torch_int4_ops,
  sizes_32,
  hidden_32,
  sizes_16,
  cpu_plain,  ///< the rules of unquantized experts on a CPU, the class's own alignments
  cpu_plain_x86,
  cpu_plain_arm,
  cpu_plain_power,
  trtllm_fp8_constants,
  two_experts_per_token,
  moe_ep,
};

/// Activations that a class does not take on some platforms.
struct ActivationLoss {
  deployment::Where where;
  deployment::Mask activations;
};

/// One expert class of the engine.
struct KernelClass {
  std::string_view name;
  deployment::Engine first = deployment::kVllm2026_05;  ///< the version that the row came with; it holds until the next row of its name
  std::optional<deployment::Engine> end = {};           ///< the version that no longer has the class
  ActivationFormat format = ActivationFormat::standard;
  bool monolithic = false;           ///< routing happens inside the kernel
  std::string_view only_dtype = {};  ///< of the layer's input, asked before everything else; empty: any
  std::span<const DeviceRule> devices = {};
  bool takes_no_act_and_mul = false;
  deployment::Mask activations = 0;
  std::span<const QuantRule> quant = {};
  deployment::Mask refused_parallel = 0;
  deployment::Mask routings = deployment::kEverything;
  std::span<const RoutingRule> more_routings = {};
  bool batch_invariant = false;
  bool lora = false;
  std::string_view device_code = "device";  ///< a failed device check may carry a hint
  HummingGemm humming = HummingGemm::not_humming;
  bool humming_alone = false;  ///< format and GEMM type replace all other checks
  /// A pair of classes of which the engine picks one at run time: devices, act_and_mul, activations, keys and parallelism must suit all of them, the
  /// other columns are those of this row.
  std::span<const std::string_view> halves = {};
  std::span<const ActivationLoss> fewer_activations = {};
  bool deployment::Software::*situ = nullptr;                      ///< SITU is taken, too, where this probe says yes
  deployment::Mask router_logits = deployment::kEverything;        ///< dtypes, as numbered by dtype_names()
  deployment::Mask f32_logits_routings = deployment::kEverything;  ///< float32 router logits with these routing methods alone
  std::int64_t hidden_multiple = 1;
  std::span<const LayerRule> rules_before = {};
  std::span<const LayerRule> rules_after = {};
  bool hash_routing = false;       ///< of a monolithic class: takes layers with a hash table
  bool asked_as_standard = false;  ///< whatever format is asked for
};

/// Every class that an oracle of the version can name, and the halves. Source: vllm 7e1b45a09 (2026-05), 7ca49fbe4 (2026-08) and 4ba787ec9 (2026-11)
/// fused_moe/experts/*.py.
std::span<const KernelClass> kernel_classes(deployment::Engine engine);
/// Of the w4a8_int8 oracle, whose class shares its name with another. Source: vllm 7ca49fbe4 fused_moe/experts/cpu_int4_moe.py.
std::span<const KernelClass> cpu_int4_classes();

/// What an oracle asks of a backend before it asks the backend's classes.
enum class CallRule : std::uint8_t {
  no_zero_point_or_bias,
  no_call_bias,
  not_awq,
  no_desc_act,
  no_group_actorder,
  not_moe_wna16,
  marlin_shape,
  compressed_tensors_alone,
  no_zero_point,
  group_strategy,
  w4a8_on,
  group_in_4,
};

struct BackendRow {
  std::string_view name;
  std::span<const std::string_view> classes;                  ///< in the order of trial
  deployment::QuantKey own_key = deployment::QuantKey::none;  ///< of activations; counts where the oracle's KeyPolicy asks for it
  bool deployment::Software::*module = nullptr;               ///< importing the classes needs this package
  std::string_view module_name = {};
  bool global_sf_supported = false;  ///< one activation scale for the experts of all ranks (nvfp4)
  deployment::Versions versions = kAlways;
  bool takes_requested_key = false;   ///< under KeyPolicy::own: asked with the requested key where there is one
  std::string_view lora_class = {};   ///< tried before the others for a named backend with LoRA on
  bool refuses_lora_by_name = false;  ///< a named backend with LoRA on is a ValueError
  std::span<const CallRule> rules = {};
};

/// A value of moe_backend and the backends that it stands for, in order.
struct UserNameRow {
  std::string_view name;
  std::span<const std::string_view> backends;
  deployment::Versions versions = kAlways;
};

struct RewriteRow {
  std::string_view from;
  std::string_view to;
};

/// A backend of a priority list.
struct PriorityRow {
  std::string_view backend;
  deployment::Versions versions = kAlways;
};

/// Which activation key a backend's classes are asked with.
enum class KeyPolicy : std::uint8_t {
  requested_or_own,  ///< the requested one if there is one, else the backend's own
  own,               ///< the backend's own, the caller has no say
  callers,           ///< the caller's, "none" included
};

/// When a step is taken: every field must hold. Variables come last and in this order, as reading one may raise.
struct When {
  std::optional<bool> named = {};  ///< moe_backend is a name, or is auto
  deployment::Where where = {};
  deployment::Mask routings = deployment::kEverything;
  std::optional<ActivationFormat> format = {};  ///< that is asked for
  std::optional<bool> allow_vllm_cutlass = {};
  std::span<const EnvVariable> variables = {};          ///< one of them is set, and ...
  Switch switches = Switch::on;                         ///< ... on: all are on, with their defaults; off: one is off
  std::optional<bool> variant_set = {};                 ///< VLLM_FLASHINFER_MOE_BACKEND is set
  deployment::Mask variants = deployment::kEverything;  ///< of FlashinferVariant, which it chooses
  std::string_view wish = {};                           ///< moe_backend is this name
  std::optional<bool> key_requested = {};
  std::optional<bool> lora = {};
  std::optional<bool> swiglu_limit = {};          ///< the layer has one
  std::optional<bool> moonep = {};                ///< the exchange is MoonEP's
  std::span<const std::string_view> models = {};  ///< types of the text model; empty: any
  std::span<const EnvVariable> unset = {};        ///< none of them is set
  std::string_view not_removed = {};              ///< no step took this backend out
  std::int64_t intermediate_multiple = 1;         ///< of one rank
  bool deployment::Software::*probe = nullptr;
};

/// What a search does, one after the other. It holds a list of backends, at first those of the priority table in their order for the deployment.
enum class StepKind : std::uint8_t {
  resolve_key,  ///< the requested key becomes the override's or else the caller's; a contradiction is a ValueError
  candidates,   ///< the list becomes `backends`
  map_name,     ///< moe_backend, unless auto: the list becomes what the name stands for; an unknown name is a ValueError
  rewrite,      ///< backends become their batched members when BatchedExperts are asked for
  filter_keys,  ///< backends of other activation keys than the requested one leave the list
  remove,       ///< `backends` leave the list
  try_in_turn,  ///< ends the search: the first that is supported; a ValueError moves on, the last one is the answer
  force,        ///< ends the search: what the first of `backends` answers
  try_one,      ///< ends the search when the first of `backends` is supported
  try_class,    ///< ends the search when `kernel_class` of the first of `backends` is supported
  choose,       ///< ends the search with the first of `backends` and `kernel_class`, unasked
  set_key,      ///< the requested key becomes `key`
  walk,         ///< over `backends`, or the list: the first that is supported ends the search, exceptions of a check as well
  raise,        ///< ends the search with `error_type`
  choose_none,  ///< ends the search with the backend NONE and no class
};

struct Step {
  StepKind kind;
  When when = {};
  std::span<const std::string_view> backends = {};
  std::optional<deployment::QuantKey> key = {};  ///< of force: replaces the key that the policy gives
  std::string_view error_type = {};              ///< of raise
  std::string_view why = {};                     ///< of remove and raise, for people
  deployment::Versions versions = kAlways;
  std::string_view kernel_class = {};
};

/// One oracle of one version.
struct OracleTables {
  deployment::Engine engine = {};
  std::string_view name;
  std::optional<deployment::QuantKey> weight_key = {};  ///< none: the caller's
  KeyPolicy keys;
  KeyPolicy support_keys;  ///< with which support() asks
  /// What callers usually pass; where they have no say, what the oracle asks for and `none`.
  deployment::QuantKey usual_weight_key;
  deployment::QuantKey usual_activation_key;
  std::span<const KernelClass> classes = {};
  std::span<const BackendRow> backends = {};
  std::span<const UserNameRow> user_names = {};
  std::span<const std::string_view> priority = {};
  std::span<const FrontRow> to_front = {};  ///< what moves to its front, and where
  std::span<const RewriteRow> batched_rewrites = {};
  std::string_view survives_key_filter = {};              ///< kept by the activation-key filter whatever its own key
  bool filter_falls_back = false;                         ///< behind the requested key's backends, the filter keeps those without a key
  std::span<const std::string_view> counts_as_auto = {};  ///< values of moe_backend
  bool asks_backends = false;                             ///< support() says what each backend answers by itself, too
  std::string_view batched_wish = {};                     ///< a value of moe_backend that asks for BatchedExperts
  std::span<const Step> steps = {};
  std::span<const RoundingRow> roundings = {};  ///< empty: this oracle rounds nothing
};

/// Oracles of a version: mxfp4 (gpt-oss path), mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8; since 2026-08 unquantized, int_wna16, int8, w4a8_int8.
std::span<const std::string_view> oracle_names(deployment::Engine engine);
/// Of all versions.
std::span<const std::string_view> oracle_names();
/// Throws Error(usage) with the nearest known name, Error(unsupported) for a version that has no tables of this oracle, naming those that have.
const OracleTables& tables_of(deployment::Engine engine, std::string_view oracle);
/// Null for a version or an oracle without tables.
const OracleTables* find_tables(deployment::Engine engine, std::string_view oracle);

/// Source of all: vllm 7e1b45a09 (2026-05; w4a8: 4438b6e7d), 7ca49fbe4 (2026-08), 4ba787ec9 (2026-11) fused_moe/oracle/*.py.
const OracleTables& mxfp4_tables(deployment::Engine engine);
const OracleTables& mxfp4_deepseek_v4_tables(deployment::Engine engine);
const OracleTables& nvfp4_tables(deployment::Engine engine);
const OracleTables& fp8_tables(deployment::Engine engine);
const OracleTables& mxfp8_tables(deployment::Engine engine);
const OracleTables& w4a8_tables(deployment::Engine engine);
const OracleTables& unquantized_tables(deployment::Engine engine);  ///< since 2026-08
const OracleTables& int_wna16_tables(deployment::Engine engine);    ///< since 2026-08
const OracleTables& int8_tables(deployment::Engine engine);         ///< since 2026-08
const OracleTables& w4a8_int8_tables(deployment::Engine engine);    ///< since 2026-08

}  // namespace mx::engine
