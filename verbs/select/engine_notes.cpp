#include "verbs/select/engine_notes.hpp"

#include <fmt/core.h>

#include <optional>
#include <vector>

#include "model/engine/vllm/kernel_reports.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/releases.hpp"
#include "model/engine/vllm/variables.hpp"
#include "model/families/libraries.hpp"
#include "sim/ranks/weights_memory.hpp"

namespace mx::verbs {
namespace {

/// Whether other releases of the libraries change the weights' memory.
bool decides(const sim::WeightsMemory& own, const sim::WeightsMemory& other) {
  return own.is_known() && other.is_known() && own.tensors != other.tensors;
}

}  // namespace

AskedEngine asked_engine(std::string_view name) { return {deployment::engine_named(name), deployment::release_named(name)}; }

void EngineNotes::add(std::string text) {
  if (!text.empty() && said_.insert(text).second) document_.note(std::move(text));
}

void EngineNotes::about(std::string_view oracle, const deployment::Deployment& deployment) {
  for (std::string& text : engine::release_differences(asked_.release, oracle, deployment)) add(std::move(text));
  variables(deployment.env);
}

void EngineNotes::variables(const engine::Environment& env) {
  for (std::string& text : engine::unread_variables(env, asked_.engine)) add(std::move(text));
}

void EngineNotes::about(std::string_view oracle) {
  for (std::string& text : engine::release_differences(asked_.release, oracle)) add(std::move(text));
}

void EngineNotes::libraries() { add(engine::release_libraries(asked_.release)); }

void EngineNotes::weights(std::string_view oracle, const deployment::Deployment& deployment, const engine::Choice& choice) {
  const std::vector<std::string> libraries = families::libraries_asked_by(asked_.release);
  for (std::string& text : engine::kernel_reports(oracle, deployment, choice.backend)) add(std::move(text));
  const sim::WeightsMemory memory = sim::weights_memory(asked_.engine, oracle, deployment, choice, libraries);
  if (memory.conversion.row == nullptr) return add(fmt::format("{}: no layout of its weights", choice.backend));
  conversion(choice.backend, families::standing_text(memory.conversion, asked_.engine));
  if (libraries.empty() || !memory.conversion.is_own(asked_.engine)) return;
  if (decides(sim::weights_memory(asked_.engine, oracle, deployment, choice), memory))
    conversion(choice.backend, fmt::format("as {} has it, which {} asks for", libraries.front(), asked_.release));
}

void EngineNotes::conversion(std::string_view backend, std::string_view standing) {
  if (!standing.empty()) add(fmt::format("{}: conversion of its weights {}", backend, standing));
}

void EngineNotes::arithmetic() {
  if (asked_.engine == deployment::kVllm2026_05) return;
  add(fmt::format("arithmetic run at {}; of {} activations and quantizers alone", deployment::name_of(deployment::kVllm2026_05),
                  deployment::name_of(asked_.engine)));
}

}  // namespace mx::verbs
