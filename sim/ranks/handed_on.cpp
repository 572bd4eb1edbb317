#include "sim/ranks/handed_on.hpp"

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "model/engine/vllm/setup/constants.hpp"
#include "model/error.hpp"

namespace mx::sim {
namespace {

using engine::Constant;

struct NumberRow {
  Constant constant;
  std::uint32_t moe::ActivationConstants::*given;
  bool families::ActivationUse::*takes;
};
constexpr std::array kNumbers{
    NumberRow{Constant::limit, &moe::ActivationConstants::limit, &families::ActivationUse::takes_limit},
    NumberRow{Constant::alpha, &moe::ActivationConstants::alpha, &families::ActivationUse::takes_alpha},
    NumberRow{Constant::beta, &moe::ActivationConstants::beta, &families::ActivationUse::takes_beta},
};

/// What does not reach the kernel.
struct Lost {
  std::array<bool, kNumbers.size()> numbers{};
  bool bias = false;
  auto operator<=>(const Lost&) const = default;
};

/// Rows that were asked for; they live as long as the table's own.
const families::ExecutionRow& kept(const families::ExecutionRow& whole, const Lost& lost) {
  static std::mutex mutex;
  static std::map<std::pair<const families::ExecutionRow*, Lost>, families::ExecutionRow> rows;
  const std::scoped_lock lock(mutex);
  const auto [at, is_new] = rows.try_emplace({&whole, lost}, whole);
  if (!is_new) return at->second;
  families::ExecutionRow& row = at->second;
  for (families::ActivationUse* use : {&row.silu, &row.swiglu_oai}) {
    for (std::size_t i = 0; i < kNumbers.size(); ++i) {
      if (lost.numbers[i]) use->*kNumbers[i].takes = false;
    }
  }
  if (lost.bias) row.bias = families::BiasEntry::dropped;
  return row;
}

std::optional<engine::Reached> reached(const SimulationRequest& request, Constant constant) {
  return engine::reach(engine::tables_of(request.engine, request.oracle), request.deployment, request.backend, request.kernel_class, constant);
}

}  // namespace

std::string raised_for(const SimulationRequest& request, const ModelLayer& layer) {
  if (request.fixed) return {};
  for (const NumberRow& number : kNumbers) {
    if (layer.activation.constants.*number.given == 0) continue;
    const auto end = reached(request, number.constant);
    if (!end || end->reach != engine::Reach::raises) continue;
    return "the model's " + std::string(engine::name_of(number.constant)) + " raises: " + std::string(end->row->source);
  }
  return {};
}

const families::ExecutionRow& row_handed_on(const SimulationRequest& request, const ModelLayer& layer) {
  const families::ExecutionRow& whole = families::execution_of(layer.experts.form.format, request.backend);
  if (request.fixed) return whole;
  if (const std::string raised = raised_for(request, layer); !raised.empty()) throw Error(ErrorCode::unsupported, raised);
  Lost lost;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    const auto end = reached(request, kNumbers[i].constant);
    lost.numbers[i] = end && end->reach != engine::Reach::reaches;
  }
  const auto bias = reached(request, Constant::bias);
  lost.bias = bias && bias->reach == engine::Reach::does_not;
  return lost == Lost{} ? whole : kept(whole, lost);
}

}  // namespace mx::sim
