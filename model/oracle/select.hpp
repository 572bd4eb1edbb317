#pragma once
// Which backend the engine would choose, and why: the real oracles, decision for decision. See model/oracle/tables.hpp for the data.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/oracle/deployment.hpp"

namespace mx::oracle {

/// First failing check of a (backend, class) pair, in the engine's order; `none` when it is supported.
struct Verdict {
  bool supported;
  std::string code;  ///< "", "device", "quant_scheme", ... as the recorded support files name them
  std::string text;  ///< for people: what was asked, what the class takes
};

/// One step of the search.
struct Candidate {
  std::string backend;
  std::string kernel_class;  ///< empty when the backend was dropped before its classes were looked at
  Verdict verdict;
};

struct Choice {
  std::string backend;
  std::string kernel_class;
  std::int64_t rounded_hidden;
  std::int64_t rounded_intermediate;
};

/// The engine raises instead of choosing: an answer, not a failure of ours.
struct Refusal {
  std::string error_type;  ///< the engine's exception: ValueError, NotImplementedError, ...
  std::string text;
};

struct Decision {
  std::optional<Choice> choice;
  std::optional<Refusal> refusal;  ///< exactly one of the two is present
  std::vector<Candidate> trace;    ///< in the order in which the engine looked
};

/// The mxfp4 oracle, gpt-oss path. Total: every deployment gives a choice or a refusal; throws Error(usage) only for a deployment that
/// cannot exist (an unknown activation name, sizes that are not positive).
/// Source: vllm fused_moe/oracle/mxfp4.py select_mxfp4_moe_backend, round_up.
Decision select_mxfp4(const Deployment& deployment);

/// Verdict of every (backend, class) pair for a deployment, "BACKEND/Class", as the recorded support files list them.
std::vector<Candidate> support_mxfp4(const Deployment& deployment);

/// Sizes after the backend's round-up rule. Throws Error(usage) for an unknown backend.
struct RoundedSizes {
  std::int64_t hidden;
  std::int64_t intermediate;
};
RoundedSizes round_up_mxfp4(std::string_view backend, PlatformKind platform, std::int64_t hidden, std::int64_t intermediate);

/// The backend's own activation key ("None" for 16-bit activations). Throws Error(usage) for an unknown backend.
std::string_view activation_key_mxfp4(std::string_view backend);

}  // namespace mx::oracle
