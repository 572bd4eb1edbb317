// O5 the tables of choice, class, need and layout are complete.

#include <algorithm>
#include <array>

#include "model/audit/needs.hpp"
#include "model/families/memory.hpp"
#include "props/engine/vllm/law_tools.hpp"

namespace mx::props {
namespace {

using engine::BackendRow;
using engine::KernelClass;
using engine::OracleTables;
using Text = std::string_view;

template <typename Rows>
std::string joined(const Rows& names) {
  std::string text;
  for (Text name : names) text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

const KernelClass* class_named(Text name) {
  const auto classes = engine::kernel_classes(mx::deployment::kVllm2026_05);
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const KernelClass& row) { return row.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

/// Lines of what differs.
class Differences {
 public:
  explicit Differences(const OracleTables& tables) : tables_(tables) {}
  void expect(bool holds, const std::string& what) {
    if (!holds) lines_.push_back(std::string(tables_.name) + ": " + what);
  }
  std::vector<std::string> lines() && { return std::move(lines_); }

 private:
  const OracleTables& tables_;
  std::vector<std::string> lines_;
};

void compare_backends(Differences& differences, const OracleTables& tables) {
  for (const RestatedBackend& said : restated_backends()) {
    if (!has_word(said.oracles, tables.name)) continue;
    const auto row = std::find_if(tables.backends.begin(), tables.backends.end(), [&](const BackendRow& r) { return r.name == said.name; });
    const auto name = std::string(said.name);
    differences.expect(row != tables.backends.end(), name + " has no row");
    if (row == tables.backends.end()) continue;
    differences.expect(joined(row->classes) == said.classes, name + " has the classes " + joined(row->classes));
    const bool own = said.own_key.empty() || deployment::name_of(engine::activation_key(tables, said.name)) == said.own_key;
    differences.expect(own, name + " owns another activation key");
    differences.expect(row->global_sf_supported == said.global_sf, name + " has another answer about global activation scales");
  }
  for (const BackendRow& row : tables.backends) {
    differences.expect(restated_backend(tables.name, row.name) != nullptr, std::string(row.name) + " is not among the backends");
  }
}

void compare_names(Differences& differences, const OracleTables& tables) {
  for (const engine::UserNameRow& row : tables.user_names) {
    std::vector<Text> meant;
    for (const RestatedBackend& backend : restated_backends()) {
      if (has_word(backend.oracles, tables.name) && has_word(backend.wishes, row.name)) meant.push_back(backend.name);
    }
    differences.expect(joined(row.backends) == joined(meant), std::string(row.name) + " means " + joined(row.backends));
  }
  for (const RestatedBackend& backend : restated_backends()) {
    if (!has_word(backend.oracles, tables.name)) continue;
    for (Text wish : texts_of(backend.wishes)) {
      const auto known =
          std::any_of(tables.user_names.begin(), tables.user_names.end(), [&](const engine::UserNameRow& row) { return row.name == wish; });
      differences.expect(known, "the name " + std::string(wish) + " is not known");
    }
  }
}

/// On a device for which no backend is moved to the front and no other list is taken.
void compare_order(Differences& differences, const OracleTables& tables) {
  const deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named("SM100"), {}, {});
  const std::vector<Text> said = restated_order(tables.name, Facts(kSearched, deployment));
  differences.expect(joined(tables.priority) == joined(said), "the order is " + joined(tables.priority));
}

}  // namespace

std::vector<std::string> table_differences(const OracleTables& tables) {
  Differences differences(tables);
  compare_backends(differences, tables);
  compare_names(differences, tables);
  compare_order(differences, tables);
  return std::move(differences).lines();
}

namespace {

void check_needs(Exhaustive& cases, const OracleTables& tables) {
  for (const BackendRow& row : tables.backends) {
    for (Text class_name : row.classes) {
      const auto name = std::string(tables.name) + " " + std::string(row.name) + "/" + std::string(class_name);
      cases.expect(class_named(class_name) != nullptr, [&] { return name + " has no row"; });
      const auto needs = audit::needs_of(deployment::kVllm2026_05, tables.name, row.name, class_name);
      const bool own_need = std::any_of(needs.begin(), needs.end(), [](const families::KernelNeed* need) { return !audit::is_around(*need); });
      cases.expect(own_need, [&] { return name + " has no need"; });
    }
  }
}

void check_classes(Exhaustive& cases) {
  const std::vector<Text> restated = restated_classes(kSearched);
  for (const KernelClass& row : engine::kernel_classes(mx::deployment::kVllm2026_05)) {
    // Halves are asked through their pair alone.
    const auto classes = engine::kernel_classes(mx::deployment::kVllm2026_05);
    const bool half = std::any_of(classes.begin(), classes.end(), [&](const KernelClass& pair) {
      return std::find(pair.halves.begin(), pair.halves.end(), row.name) != pair.halves.end();
    });
    const bool said = std::find(restated.begin(), restated.end(), row.name) != restated.end();
    cases.expect(said || half, [&] { return "class " + std::string(row.name) + " is not restated"; });
    if (!said) continue;
    const Text kind = row.monolithic ? "monolithic" : row.format == engine::ActivationFormat::batched_experts ? "batched" : "plain";
    const families::KernelClassFacts* facts = families::find_class_facts(row.name);
    cases.expect(facts != nullptr && families::name_of(facts->kind) == kind,
                 [&] { return "the needs know class " + std::string(row.name) + " as another kind"; });
  }
  for (Text name : restated) {
    cases.expect(class_named(name) != nullptr, [&] { return "class " + std::string(name) + " has no row"; });
  }
}

}  // namespace

Outcome tables_are_complete(const Law& law) {
  Exhaustive cases(law);
  for (Text name : engine::oracle_names(mx::deployment::kVllm2026_05)) {
    const std::vector<std::string> differences = table_differences(engine::tables_of(deployment::kVllm2026_05, name));
    cases.expect(differences.empty(), [&] { return differences.front(); });
    check_needs(cases, engine::tables_of(deployment::kVllm2026_05, name));
  }
  check_classes(cases);
  return cases.outcome();
}

namespace {

using layout::WeightFormat;

/// The weights that an oracle chooses a backend for.
struct WeightsRow {
  Text oracle;
  WeightFormat format;
  Text backends;  ///< that are chosen for such weights
};
constexpr Text kMxfp4 =
    "DEEPGEMM_MXFP4 FLASHINFER_TRTLLM_MXFP4_BF16 FLASHINFER_TRTLLM_MXFP4_MXFP8 FLASHINFER_CUTLASS_MXFP4_BF16 FLASHINFER_CUTLASS_MXFP4_MXFP8 "
    "BATCHED_MARLIN MARLIN AITER_MXFP4_BF16 AITER_MXFP4_FP8 AITER_MXFP4_MXFP4 TRITON TRITON_UNFUSED XPU CPU EMULATION HUMMING";
constexpr std::array kWeights = {
    WeightsRow{"mxfp4", WeightFormat::mxfp4, kMxfp4},
    WeightsRow{"nvfp4", WeightFormat::nvfp4,
               "FLASHINFER_TRTLLM FLASHINFER_CUTLASS FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_B12X VLLM_CUTLASS MARLIN EMULATION"},
    WeightsRow{"fp8", WeightFormat::fp8_block,
               "FLASHINFER_TRTLLM FLASHINFER_CUTLASS DEEPGEMM BATCHED_DEEPGEMM MARLIN TRITON BATCHED_TRITON AITER CPU"},
    WeightsRow{"fp8", WeightFormat::fp8_tensor,
               "FLASHINFER_TRTLLM FLASHINFER_CUTLASS MARLIN TRITON BATCHED_TRITON AITER VLLM_CUTLASS BATCHED_VLLM_CUTLASS XPU"},
    WeightsRow{"fp8", WeightFormat::fp8_channel, "MARLIN TRITON BATCHED_TRITON AITER VLLM_CUTLASS BATCHED_VLLM_CUTLASS"},
    WeightsRow{"mxfp8", WeightFormat::mxfp8, "FLASHINFER_TRTLLM MARLIN XPU"},
    WeightsRow{"w4a8", WeightFormat::int4, "CUTLASS"},
};

/// Weights and backends that the table of layouts has and that of choices has not.
struct OneSidedRow {
  WeightFormat format;
  Text backends;
  Text why;
};
/// Laid out, and never chosen for these weights: the conversion exists, the classes refuse the keys or the backend is one that 2026-08 brought.
constexpr Text kOfAugust = "a backend of 2026-08, whose choices are not known";
constexpr std::array kNeverChosen = {
    OneSidedRow{WeightFormat::fp8_block, "XPU", "XPUExpertsFp8 takes weights with one scale a tensor"},
    OneSidedRow{WeightFormat::fp8_channel, "XPU", "XPUExpertsFp8 takes weights with one scale a tensor"},
    OneSidedRow{WeightFormat::fp8_tensor, "CPU", "CPUExpertsFp8 takes weights in blocks"},
    OneSidedRow{WeightFormat::mxfp8, "AITER_MXFP8 DEEPGEMM EMULATION HUMMING TRITON_MXFP8", kOfAugust},
    OneSidedRow{WeightFormat::fp8_tensor, "HPC HUMMING", kOfAugust},
    OneSidedRow{WeightFormat::fp8_channel, "HUMMING", kOfAugust},
    OneSidedRow{WeightFormat::fp8_pair, "HUMMING", kOfAugust},
    OneSidedRow{WeightFormat::fp8_block_e8m0, "DEEPGEMM BATCHED_DEEPGEMM", "the oracle's key of blocks does not say what their scales are"},
    OneSidedRow{WeightFormat::fp8_block, "HPC HUMMING", kOfAugust},
    OneSidedRow{WeightFormat::nvfp4, "B12X HUMMING", kOfAugust},
    OneSidedRow{WeightFormat::mxfp4, "B12X_MXFP4_MXFP8 B12X_MXFP4_BF16", kOfAugust},
    OneSidedRow{WeightFormat::mxfp4, "DEEPGEMM_MEGA_MOE", "DeepSeek-V4's own, no member of the oracle"},
};

bool is_never_chosen(Text backend, WeightFormat format) {
  return std::ranges::any_of(kNeverChosen, [&](const OneSidedRow& row) { return row.format == format && has_word(row.backends, backend); });
}

bool has_layout(Text backend, WeightFormat format) {
  const auto rows = families::all_backend_layouts();
  return std::any_of(rows.begin(), rows.end(), [&](const families::BackendLayout& row) { return row.backend == backend && row.format == format; });
}

}  // namespace

Outcome choices_have_layouts(const Law& law) {
  Exhaustive cases(law);
  for (const WeightsRow& row : kWeights) {
    for (Text backend : texts_of(row.backends)) {
      const std::string name = std::string(row.oracle) + ", " + std::string(layout::name_of(row.format)) + " weights, " + std::string(backend);
      cases.expect(restated_backend(row.oracle, backend) != nullptr, [&] { return name + ": no backend of that name"; });
      cases.expect(has_layout(backend, row.format), [&] { return name + ": has no layout"; });
    }
  }
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    const bool chosen = std::any_of(kWeights.begin(), kWeights.end(), [&](const WeightsRow& weights) {
      return weights.format == row.format && has_word(weights.backends, row.backend);
    });
    cases.expect(chosen != is_never_chosen(row.backend, row.format), [&] {
      return "chosen and listed as never chosen, or neither: " + std::string(layout::name_of(row.format)) + " " + std::string(row.backend);
    });
  }
  return cases.outcome();
}

}  // namespace mx::props
