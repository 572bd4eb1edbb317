#pragma once
// What is taken without asking an oracle: by a quantization method, which looks at the device, and by a model's own file (model_file.hpp).

#include <optional>
#include <string_view>

#include "model/engine/vllm/select.hpp"
#include "model/engine/vllm/setup/constants.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::engine {

/// The backend of a choice whose memory is laid out as no backend of the oracle's is.
inline constexpr std::string_view kNotAsked = "NOT_ASKED";

struct OwnChoice {
  std::string_view backend;        ///< of the oracle, whose memory is made; else kNotAsked
  std::string_view kernel_class;   ///< empty: the oracle is asked
  deployment::Mask constants = 0;  ///< that the configuration is made with

  bool taken() const { return !kernel_class.empty(); }
};

/// The choice that is made whatever the oracle would answer. Its sizes are not rounded.
OwnChoice own_choice(const OracleTables& tables, const deployment::Deployment& deployment);

/// What the engine raises for a choice of its own; none where the oracle is asked. Throws as select does.
std::optional<Refusal> own_choice_refusal(const OracleTables& tables, const deployment::Deployment& deployment);

}  // namespace mx::engine
