#include "verbs/select/row_words.hpp"

#include <fmt/core.h>

#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/error.hpp"
#include "sim/ranks/converter.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {
namespace {

/// What multiplies there; none for hardware without a row.
std::optional<families::Operation> operation_in(const engine::OracleTables& tables, const deployment::Deployment& deployment,
                                                layout::WeightFormat format) {
  try {
    families::Operation operation{sim::arch_of(deployment.hardware)};
    if (layout::has_squares(format)) operation.block = layout::block_side(families::group_of_key(engine::as_asked(tables, deployment).weight_key));
    return operation;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

families::BatchWord batch_in(deployment::Engine engine, const engine::OracleTables& tables, const deployment::Deployment& deployment,
                             std::string_view backend, families::LaunchChoice launch) {
  const std::string_view key = tables.weight_key ? deployment::name_of(*tables.weight_key) : std::string_view(deployment.weight_key);
  const std::optional<layout::WeightFormat> format = families::format_of_key(key);
  const families::ExecutionRow* const row = format ? families::find_execution(*format, backend) : nullptr;
  if (row == nullptr) return {families::Batch::unknown, "its arithmetic is not in mxact"};
  const std::optional<families::Operation> operation = operation_in(tables, deployment, *format);
  if (!operation) return {families::Batch::unknown, "what multiplies on this device is not in mxact"};
  const families::Quantizer* const keyed = row->keyed ? families::quantizer_of_key(deployment.activation_key) : nullptr;
  const bool is_invariant = engine::read_switch(deployment.env, engine::EnvVariable::batch_invariant) == engine::Switch::on;
  if (!launch.find(families::LaunchKey::batch_invariant)) launch.set(families::LaunchKey::batch_invariant, is_invariant ? 1 : 0);
  std::optional<std::int64_t> slots;
  if (const auto tokens = launch.find(families::LaunchKey::tokens)) slots = *tokens * deployment.layer.experts_per_token;
  return families::batch_of({*format, row->backend, *operation, engine, keyed, keyed, &launch, slots});
}

support::Json batch_json(const families::BatchWord& word) {
  support::Json json = {{"word", families::name_of(word.word)}};
  if (!word.where.empty()) json["where"] = word.where;
  if (word.word == families::Batch::unknown) return json;
  json["grounds"] = name_of(word.grounds);
  json["source"] = word.source;
  return json;
}

std::string batch_line(const families::BatchWord& word) {
  return fmt::format("a token's result and its batch: {}{}", families::text_of(word),
                     word.word == families::Batch::unknown ? "" : fmt::format(" ({})", name_of(word.grounds)));
}

support::Json recorded_json(const families::ExecutionRow* row, families::Arch arch) {
  Table table{{}, {in_json("set"), in_json("entries"), in_json("data"), in_json("versions"), in_json("device"), in_json("values")}};
  for (const Recording& recording : row == nullptr ? std::span<const Recording>() : families::recordings_on(*row, arch)) {
    const families::RecordedRun* const run = families::find_run(recording);
    if (run == nullptr) continue;
    table.add({recording.path, recording.entry.empty() ? Cell::none() : Cell(recording.entry), run->data, run->versions, run->device, run->values});
  }
  return table.json();
}

}  // namespace mx::verbs
