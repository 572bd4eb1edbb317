// Changes of an oracle's own tables.

#include <array>

#include "model/engine/vllm/setup/flashinfer_variant.hpp"
#include "tests/engine/vllm/mutants/mutate.hpp"

namespace mx::tests {
namespace {

using namespace deployment;
using namespace engine;
using Name = std::string_view;
using Names = std::span<const Name>;

constexpr std::array<Name, 3> kVariants = {"CUTLASS", "TENSORRT_LLM", "CUTEDSL"};
/// In the order of StepKind.
constexpr std::array<Name, 15> kStepKinds = {"resolve_key", "candidates", "map_name", "rewrite", "filter_keys", "remove", "try_in_turn", "force",
                                             "try_one",     "try_class",  "choose",   "set_key", "walk",        "raise",  "choose_none"};
static_assert(kStepKinds.size() == static_cast<std::size_t>(StepKind::choose_none) + 1);

/// The next key of the vocabulary, and none.
Changes<QuantKey> key_changes(QuantKey key) {
  const auto count = quant_key_names(mx::deployment::kVllm2026_05).size();
  const auto next = static_cast<QuantKey>((static_cast<std::size_t>(key) + 1) % count);
  Changes<QuantKey> all = {{"next key", next}};
  if (key != QuantKey::none && next != QuantKey::none) all.push_back({"None", QuantKey::none});
  return all;
}

Changes<std::optional<QuantKey>> optional_key_changes(const std::optional<QuantKey>& key) {
  if (!key) return {{"of its own", QuantKey::mxfp4_static}};
  Changes<std::optional<QuantKey>> all = {{"dropped", std::nullopt}};
  for (const Change<QuantKey>& change : key_changes(*key)) all.push_back({change.id, change.value});
  return all;
}

Changes<std::span<const BackendRow>> backend_changes(Store& store, const OracleTables& tables) {
  return list_changes(
      store, tables.backends, {.swap = false}, [](const BackendRow& row) { return row.name; },
      [&](const BackendRow& row) {
        Changes<BackendRow> all;
        add_changes(all, row, &BackendRow::classes, "classes", name_changes(store, row.classes));
        if (tables.keys != KeyPolicy::callers) add_changes(all, row, &BackendRow::own_key, "own key", key_changes(row.own_key));
        add_changes(all, row, &BackendRow::global_sf_supported, "global_sf", flipped(row.global_sf_supported));
        if (row.module != nullptr) {
          BackendRow free = row;
          free.module = nullptr;
          all.push_back({"module dropped", free});
        }
        return all;
      });
}

Changes<std::span<const UserNameRow>> user_name_changes(Store& store, const OracleTables& tables) {
  return list_changes(
      store, tables.user_names, {.swap = false}, [](const UserNameRow& row) { return row.name; },
      [&](const UserNameRow& row) {
        Changes<UserNameRow> all;
        add_changes(all, row, &UserNameRow::backends, "means", name_changes(store, row.backends));
        return all;
      });
}

Changes<std::span<const FrontRow>> front_changes(Store& store, std::span<const FrontRow> rows) {
  return list_changes(
      store, rows, {}, [](const FrontRow& row) { return row.backend; },
      [](const FrontRow& row) {
        Changes<FrontRow> all;
        add_changes(all, row, &FrontRow::capability, "capability", range_changes(row.capability));
        add_changes(all, row, &FrontRow::weight_key, "weight key", dropped_condition(row.weight_key));
        add_changes(all, row, &FrontRow::activation_key, "activation key", dropped_condition(row.activation_key));
        add_changes(all, row, &FrontRow::experts_split, "experts split", other_condition(row.experts_split));
        for (const PlatformKind other : {PlatformKind::cuda, PlatformKind::rocm, PlatformKind::xpu, PlatformKind::cpu}) {
          FrontRow moved = row;
          moved.platform = other;
          if (other != row.platform) all.push_back({"on " + std::string(name_of(other)), moved});
        }
        return all;
      });
}

Changes<std::span<const RoundingRow>> rounding_changes(Store& store, std::span<const RoundingRow> rows) {
  const auto multiples = [](std::int64_t multiple) {
    Changes<std::int64_t> all = {{"doubled", 2 * multiple}};
    if (multiple > 1) all.push_back({"halved", multiple / 2});
    return all;
  };
  return list_changes(
      store, rows, {}, [](const RoundingRow& row) { return row.backends.empty() ? Name("others") : row.backends.front(); },
      [&](const RoundingRow& row) {
        Changes<RoundingRow> all;
        // A rule without names is one for all.
        add_changes(all, row, &RoundingRow::backends, "backends", name_changes(store, row.backends, {.swap = false}));
        add_changes(all, row, &RoundingRow::platform, "platform", dropped_condition(row.platform));
        add_changes(all, row, &RoundingRow::hidden, "hidden", multiples(row.hidden));
        add_changes(all, row, &RoundingRow::intermediate, "intermediate", multiples(row.intermediate));
        return all;
      });
}

Changes<When> when_changes(Store& store, const When& when) {
  Changes<When> all;
  add_changes(all, when, &When::named, "named", other_condition(when.named));
  add_changes(all, when, &When::where, "where", where_changes(store, when.where));
  if (when.routings != kEverything)
    add_changes(all, when, &When::routings, "routings", bit_changes(when.routings, routing_names(mx::deployment::kVllm2026_05)));
  add_changes(all, when, &When::format, "format", dropped_condition(when.format));
  if (when.format) {
    When other = when;
    other.format = *when.format == ActivationFormat::standard ? ActivationFormat::batched_experts : ActivationFormat::standard;
    all.push_back({"format other", other});
  }
  add_changes(all, when, &When::allow_vllm_cutlass, "allow_vllm_cutlass", other_condition(when.allow_vllm_cutlass));
  add_changes(all, when, &When::variables, "variables", variable_changes(store, when.variables));
  if (!when.variables.empty()) {
    When other = when;
    other.switches = when.switches == Switch::on ? Switch::off : Switch::on;
    all.push_back({"switches other", other});
  }
  add_changes(all, when, &When::variant_set, "variant set", other_condition(when.variant_set));
  if (when.variants != kEverything) add_changes(all, when, &When::variants, "variants", bit_changes(when.variants, kVariants));
  return all;
}

Changes<Step> step_changes(Store& store, const Step& step) {
  Changes<Step> all;
  add_changes(all, step, &Step::when, "when", when_changes(store, step.when));
  // Only the first backend of `force` is looked at, and it must have one; the order of what is removed means nothing.
  const bool forces = step.kind == StepKind::force;
  add_changes(all, step, &Step::backends, "backends",
              name_changes(store, step.backends, {.leave_none = !forces, .swap = step.kind != StepKind::remove}));
  if (step.key) {
    for (const Change<QuantKey>& change : key_changes(*step.key)) {
      Step other = step;
      other.key = change.value;
      all.push_back({"key " + change.id, other});
    }
    Step without = step;
    without.key.reset();
    all.push_back({"key dropped", without});
  }
  if (!step.error_type.empty()) {
    Step other = step;
    other.error_type = step.error_type == "ValueError" ? "NotImplementedError" : "ValueError";
    all.push_back({"error other", other});
  }
  return all;
}

Changes<KeyPolicy> policy_changes(KeyPolicy policy) {
  Changes<KeyPolicy> all;
  constexpr std::array<Name, 3> kNames = {"requested or own", "own", "the caller's"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (const auto other = static_cast<KeyPolicy>(i); other != policy) all.push_back({std::string(kNames[i]), other});
  }
  return all;
}

}  // namespace

Changes<OracleTables> oracle_changes(Store& store, const OracleTables& tables) {
  Changes<OracleTables> all;
  add_changes(all, tables, &OracleTables::weight_key, "weight key", optional_key_changes(tables.weight_key));
  add_changes(all, tables, &OracleTables::keys, "keys", policy_changes(tables.keys));
  add_changes(all, tables, &OracleTables::support_keys, "support keys", policy_changes(tables.support_keys));
  add_changes(all, tables, &OracleTables::backends, "backend", backend_changes(store, tables));
  add_changes(all, tables, &OracleTables::user_names, "name", user_name_changes(store, tables));
  add_changes(all, tables, &OracleTables::priority, "priority", name_changes(store, tables.priority));
  add_changes(all, tables, &OracleTables::to_front, "to front", front_changes(store, tables.to_front));
  add_changes(all, tables, &OracleTables::batched_rewrites, "rewrite",
              list_changes(
                  store, tables.batched_rewrites, {.swap = false}, [](const RewriteRow& row) { return row.from; },
                  [](const RewriteRow&) { return Changes<RewriteRow>{}; }));
  if (!tables.survives_key_filter.empty()) {
    OracleTables other = tables;
    other.survives_key_filter = {};
    all.push_back({"survivor of the filter dropped", other});
  }
  add_changes(all, tables, &OracleTables::steps, "step",
              list_changes(
                  store, tables.steps, {}, [](const Step& step) { return kStepKinds[static_cast<std::size_t>(step.kind)]; },
                  [&](const Step& step) { return step_changes(store, step); }));
  add_changes(all, tables, &OracleTables::roundings, "rounding", rounding_changes(store, tables.roundings));
  return all;
}

}  // namespace mx::tests
