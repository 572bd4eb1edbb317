#pragma once
// Which backend the engine would choose, and why: the real oracles, decision for decision. See model/engine/vllm/tables.hpp for the data.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// First failing check of a (backend, class) pair, in the engine's order; `none` when it is supported.
struct Verdict {
  bool supported;
  /// As the recorded support files name it: "" when supported; in_dtype, device, no_act_and_mul, activation, quant_scheme, parallel_config,
  /// routing_method, activation_format, batch_invariance, lora; device+aiter_hint, humming_activation_format, humming_gemm_type;
  /// exc:<type> when the check itself raises. Steps of the search that ask no class: activation_key (removed by the filter on the requested
  /// key), environment (removed or refused because of a variable), caller (removed because of an argument), unknown_name,
  /// activation_key_conflict. Points to static storage.
  std::string_view code;
  std::string text;  ///< for people: what was asked, what the class takes; empty unless asked for (Detail)
};

/// One step of the search.
struct Candidate {
  std::string backend;       ///< or the user's name or the variable, for a step that concerns no backend
  std::string kernel_class;  ///< empty when the backend was dropped before its classes were looked at; "*" when they cannot be imported
  Verdict verdict;
};

struct Choice {
  std::string backend;
  std::string kernel_class;     ///< empty with the backend NONE
  std::int64_t rounded_hidden;  ///< as given where the oracle rounds nothing
  std::int64_t rounded_intermediate;

  bool operator==(const Choice&) const = default;
};

/// The engine raises instead of choosing: an answer, not a failure of ours.
struct Refusal {
  std::string error_type;  ///< the engine's exception: ValueError, NotImplementedError, ...
  std::string text;
  bool by_config = false;  ///< the layer was refused before an oracle was asked
};

struct Decision {
  std::optional<Choice> choice;
  std::optional<Refusal> refusal;  ///< exactly one of the two is present
  std::vector<Candidate> trace;    ///< in the order in which the engine looked
};

/// How much of the trace is written out. `codes` leaves Verdict::text empty, which is several times faster.
enum class Detail { codes, texts };

/// What the engine's oracle of that name answers. Total: every deployment gives a choice or a refusal; throws Error(usage) only for an oracle that
/// does not exist or a deployment that cannot (an unknown activation name, sizes that are not positive), Error(unsupported) as tables_of does.
Decision select(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment, Detail detail = Detail::codes);
/// The same from given tables, which may have a mistake planted in them.
Decision select(const OracleTables& tables, const deployment::Deployment& deployment, Detail detail = Detail::codes);

/// Verdict of every (backend, class) pair for a deployment, as the recorded support files list them: with the caller's activation key where the
/// oracle takes one and there is one, else the backend's own; the quantization override is not applied. Throws as select does.
std::vector<Candidate> support(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment,
                               Detail detail = Detail::codes);
std::vector<Candidate> support(const OracleTables& tables, const deployment::Deployment& deployment, Detail detail = Detail::codes);

/// Why no class of the backend takes the deployment: what the class that comes nearest fails first. Throws as select does, and for an unknown
/// backend.
std::string why_not(const OracleTables& tables, const deployment::Deployment& deployment, std::string_view backend);

/// Throws Error(usage) with the nearest known name.
const BackendRow& backend_named(const OracleTables& tables, std::string_view name);

/// Sizes that a backend's buffers get for a deployment whose layer has those given, by the rounding rule; as given where the oracle rounds nothing.
/// Throws Error(usage) for an unknown backend and as rounded_up does.
RoundedSizes round_up(const OracleTables& tables, std::string_view backend, const deployment::Deployment& deployment, const RoundedSizes& sizes);

/// The backend's own activation key ("None" for 16-bit activations). Throws Error(usage) for an unknown backend.
deployment::QuantKey activation_key(const OracleTables& tables, std::string_view backend);

/// The order in which the oracle tries its backends for a deployment, before keys and variables change it. Throws as select does.
std::vector<std::string_view> order_of(const OracleTables& tables, const deployment::Deployment& deployment);

/// Values of moe_backend that the oracle knows, "auto" first.
std::vector<std::string_view> user_names(const OracleTables& tables);

}  // namespace mx::engine
