#pragma once
// The data of an oracle: what each kernel class accepts, and how one oracle searches. The interpreters take these as spans, so another
// engine version, or a table with a mistake planted in it, is another value.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/deployment/version.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/deployment/where.hpp"
#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/oracles/fp8_priority.hpp"
#include "model/engine/vllm/rounding.hpp"

namespace mx::oracle {

/// One alternative of a device predicate; all fields must hold. Checked in the order place, variables, probe.
struct DeviceRule {
  Where where = {};
  bool Software::*probe = nullptr;  ///< null: none
  std::span<const EnvVariable> switched_on = {};
};

/// Every weight key of one set with every activation key of the other.
struct KeyPairs {
  Mask weights;
  Mask activations;
};

/// Pairs that are accepted where the place fits.
struct QuantRule {
  std::span<const KeyPairs> pairs;
  Where where = {};
};

/// Routing methods that are accepted for some keys alone.
struct RoutingRule {
  KeyPairs keys;
  Mask methods;
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
};

enum class ActivationFormat : std::uint8_t { standard, batched_experts };
std::string_view name_of(ActivationFormat format);  ///< the engine's: "Standard", "BatchedExperts"

/// The Humming classes replace the whole check by a comparison of GEMM types.
enum class HummingGemm : std::uint8_t { not_humming, indexed, grouped_contiguous, grouped_masked };

/// One expert class of the engine.
struct KernelClass {
  std::string_view name;
  ActivationFormat format = ActivationFormat::standard;
  bool monolithic = false;           ///< routing happens inside the kernel
  std::string_view only_dtype = {};  ///< of the layer's input, asked before everything else; empty: any
  std::span<const DeviceRule> devices = {};
  bool takes_no_act_and_mul = false;
  Mask activations = 0;
  std::span<const QuantRule> quant = {};
  Mask refused_parallel = 0;
  Mask routings = kEverything;
  std::span<const RoutingRule> more_routings = {};
  bool batch_invariant = false;
  bool lora = false;
  std::string_view device_code = "device";  ///< a failed device check may carry a hint
  HummingGemm humming = HummingGemm::not_humming;
  /// A pair of classes of which the engine picks one at run time: devices, act_and_mul, activations, keys and parallelism must suit all of them, the
  /// other columns are those of this row.
  std::span<const std::string_view> halves = {};
};

/// Every class that an oracle can name, and the halves. Source: vllm 7e1b45a09 fused_moe/experts/*.py.
std::span<const KernelClass> kernel_classes();

struct BackendRow {
  std::string_view name;
  std::span<const std::string_view> classes;  ///< in the order of trial
  QuantKey own_key = QuantKey::none;          ///< of activations; counts where the oracle's KeyPolicy asks for it
  bool Software::*module = nullptr;           ///< importing the classes needs this package
  std::string_view module_name = {};
  bool global_sf_supported = false;  ///< one activation scale for the experts of all ranks (nvfp4)
};

/// A value of moe_backend and the backends that it stands for, in order.
struct UserNameRow {
  std::string_view name;
  std::span<const std::string_view> backends;
};

struct RewriteRow {
  std::string_view from;
  std::string_view to;
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
  Where where = {};
  Mask routings = kEverything;
  std::optional<ActivationFormat> format = {};  ///< that is asked for
  std::optional<bool> allow_vllm_cutlass = {};
  std::span<const EnvVariable> variables = {};  ///< one of them is set, and ...
  Switch switches = Switch::on;                 ///< ... on: all are on, with their defaults; off: one is off
  std::optional<bool> variant_set = {};         ///< VLLM_FLASHINFER_MOE_BACKEND is set
  Mask variants = kEverything;                  ///< of FlashinferVariant, which it chooses
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
  walk,         ///< over `backends`, or the list: the first that is supported ends the search, exceptions of a check as well
  raise,        ///< ends the search with `error_type`
  choose_none,  ///< ends the search with the backend NONE and no class
};

struct Step {
  StepKind kind;
  When when = {};
  std::span<const std::string_view> backends = {};
  std::optional<QuantKey> key = {};  ///< of force: replaces the key that the policy gives
  std::string_view error_type = {};  ///< of raise
  std::string_view why = {};         ///< of remove and raise, for people
};

/// One oracle of one version.
struct OracleTables {
  Engine engine;
  std::string_view name;
  std::optional<QuantKey> weight_key;  ///< none: the caller's
  KeyPolicy keys;
  /// What callers usually pass; where they have no say, what the oracle asks for and `none`.
  QuantKey usual_weight_key;
  QuantKey usual_activation_key;
  std::span<const KernelClass> classes;
  std::span<const BackendRow> backends;
  std::span<const UserNameRow> user_names;
  std::span<const std::string_view> priority;
  std::span<const FrontRow> to_front;  ///< what moves to its front, and where
  std::span<const RewriteRow> batched_rewrites;
  std::string_view survives_key_filter;  ///< kept by the activation-key filter whatever its own key
  std::span<const Step> steps;
  std::span<const RoundingRow> roundings;  ///< empty: this oracle rounds nothing
};

/// mxfp4 (gpt-oss path), mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8.
std::span<const std::string_view> oracle_names();
/// Throws Error(usage) with the nearest known name, Error(unsupported) for a version that has no tables of this oracle, naming those that have.
const OracleTables& tables_of(Engine engine, std::string_view oracle);
/// Null for a version or an oracle without tables.
const OracleTables* find_tables(Engine engine, std::string_view oracle);

/// Source: vllm 7e1b45a09 fused_moe/oracle/mxfp4.py select_mxfp4_moe_backend.
const OracleTables& mxfp4_tables();
/// Source: the same file, select_deepseek_v4_mxfp4_moe_backend.
const OracleTables& mxfp4_deepseek_v4_tables();
/// Source: vllm 7e1b45a09 fused_moe/oracle/nvfp4.py.
const OracleTables& nvfp4_tables();
/// Source: vllm 7e1b45a09 fused_moe/oracle/fp8.py.
const OracleTables& fp8_tables();
/// Source: vllm 7e1b45a09 fused_moe/oracle/mxfp8.py.
const OracleTables& mxfp8_tables();
/// Source: vllm 4438b6e7d fused_moe/oracle/w4a8.py.
const OracleTables& w4a8_tables();

}  // namespace mx::oracle
