// The laws of oracles on one that is not ours.

#include <rapidcheck.h>

#include <algorithm>
#include <memory>

#include "model/audit/deployment_text.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "props/engine/vllm/law_tools.hpp"
#include "props/failure_file.hpp"
#include "props/subject.hpp"
#include "props/subjects/tools.hpp"

namespace mx::props {
namespace {

using deployment::Deployment;

using Held = std::shared_ptr<const OracleSubject>;

std::string text_of(const OracleAnswer& answer) { return answer.backend.empty() ? "a refusal (" + answer.refusal + ")" : answer.backend; }

/// What is wrong with an answer; "" when nothing is.
using Check = std::string (*)(const OracleSubject& subject, const Deployment& deployment, const OracleAnswer& answer);

std::string total(const OracleSubject& subject, const Deployment&, const OracleAnswer& answer) {
  if (answer.backend.empty() == answer.refusal.empty()) return "neither or both of a backend and a refusal";
  return answer.backend.empty() || restated_backend(subject.oracle, answer.backend) != nullptr ? "" : answer.backend + " is no backend of the oracle";
}

std::string as_restated(const OracleSubject& subject, const Deployment& deployment, const OracleAnswer& answer) {
  const RestatedAnswer said = restated_answer(subject.oracle, deployment);
  if (answer.backend == said.backend) return {};
  return "it answers " + text_of(answer) + ", the engine's search " + (said.backend.empty() ? "raises " + said.error_type : said.backend);
}

std::string met_or_refused(const OracleSubject& subject, const Deployment& deployment, const OracleAnswer& answer) {
  const std::string& wish = deployment.layer.moe_backend;
  if (wish == "auto" || answer.backend.empty() || wish_means(subject.oracle, wish, answer.backend)) return {};
  return "the wish for " + wish + " gets " + answer.backend;
}

/// Some class of the backend takes the layer with a key that the search may have asked with.
std::string takes(const OracleSubject& subject, const Deployment& deployment, const OracleAnswer& answer) {
  const RestatedBackend* const backend = restated_backend(subject.oracle, answer.backend);
  if (backend == nullptr || backend->classes.empty()) return {};
  const auto override_key = deployment::override_key_named(deployment.quantization_override);
  for (std::string_view key : {std::string_view(deployment.activation_key), backend->own_key, std::string_view("None"),
                               std::string_view("kMxfp8Dynamic"), override_key ? deployment::name_of(*override_key) : std::string_view("None")}) {
    Facts facts(kSearched, deployment);
    if (const auto weights = engine::tables_of(deployment::kVllm2026_05, subject.oracle).weight_key) facts.weight = deployment::name_of(*weights);
    facts.activation = key;
    for (std::string_view name : texts_of(backend->classes)) {
      if (restated_verdict(name, facts).empty()) return {};
    }
  }
  return "no class of " + answer.backend + " takes the layer";
}

HeldLaw law(const char* number, const char* statement, const Held& subject, Check check) {
  const auto run = [subject, check](const Law& law) {
    return on_random(law, subject->oracle, {}, [&](const Deployment& deployment) {
      const std::string wrong = told([&] { return check(*subject, deployment, subject->choose(deployment)); });
      if (!wrong.empty()) RC_FAIL(wrong + deployment_lines(info_file(subject->oracle, deployment)));
    });
  };
  return {std::string(number) + "/" + subject->name, statement, run};
}

}  // namespace

std::vector<HeldLaw> laws_of(const OracleSubject& given) {
  engine::tables_of(deployment::kVllm2026_05, given.oracle);  // refuses unknown names
  const auto subject = std::make_shared<const OracleSubject>(given);
  std::vector<HeldLaw> laws{law("O4", "every deployment has a backend of the oracle's or a refusal with a reason", subject, total)};
  // An oracle without names for its backends reads no wish.
  if (engine::user_names(engine::tables_of(deployment::kVllm2026_05, given.oracle)).size() > 1)
    laws.push_back(law("O2", "a wish is met or refused", subject, met_or_refused));
  laws.push_back(law("O1", "some class of the backend takes the layer", subject, takes));
  laws.push_back(law("O3", "the answer is that of the engine's search", subject, as_restated));
  return laws;
}

}  // namespace mx::props
