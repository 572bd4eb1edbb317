// O5 the tables of choice, class, need and layout are complete.

#include <algorithm>
#include <array>

#include "model/layout/backend.hpp"
#include "model/oracle/needs.hpp"
#include "props/oracle/law_tools.hpp"

namespace mx::props {
namespace {

using oracle::BackendRow;
using oracle::KernelClass;
using oracle::OracleTables;
using Text = std::string_view;

template <typename Rows>
std::string joined(const Rows& names) {
  std::string text;
  for (Text name : names) text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

const KernelClass* class_named(Text name) {
  const auto classes = oracle::kernel_classes();
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const KernelClass& row) { return row.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

void check_backends(Exhaustive& cases, const OracleTables& tables) {
  for (const RestatedBackend& said : restated_backends()) {
    if (!has_word(said.oracles, tables.name)) continue;
    const auto row = std::find_if(tables.backends.begin(), tables.backends.end(), [&](const BackendRow& r) { return r.name == said.name; });
    const auto name = std::string(tables.name) + " " + std::string(said.name);
    cases.expect(row != tables.backends.end(), [&] { return name + " has no row"; });
    if (row == tables.backends.end()) continue;
    cases.expect(joined(row->classes) == said.classes, [&] { return name + " has the classes " + joined(row->classes); });
    const bool own = said.own_key.empty() || name_of(oracle::activation_key(tables, said.name)) == said.own_key;
    cases.expect(own, [&] { return name + " owns another activation key"; });
    cases.expect(row->global_sf_supported == said.global_sf, [&] { return name + ": global activation scales"; });
  }
  for (const BackendRow& row : tables.backends) {
    const auto name = std::string(tables.name) + " " + std::string(row.name);
    cases.expect(row.name == "NONE" || restated_backend(tables.name, row.name) != nullptr, [&] { return name + " is not among the backends"; });
    for (Text class_name : row.classes) {
      cases.expect(class_named(class_name) != nullptr, [&] { return name + ": no row for class " + std::string(class_name); });
      const auto needs = oracle::needs_of(tables.name, row.name, class_name);
      const bool own_need = std::any_of(needs.begin(), needs.end(), [](const oracle::KernelNeed* need) { return !oracle::is_around(*need); });
      cases.expect(own_need, [&] { return name + "/" + std::string(class_name) + " has no need"; });
    }
  }
}

void check_names(Exhaustive& cases, const OracleTables& tables) {
  for (const oracle::UserNameRow& row : tables.user_names) {
    std::vector<Text> meant;
    for (const RestatedBackend& backend : restated_backends()) {
      if (has_word(backend.oracles, tables.name) && has_word(backend.wishes, row.name)) meant.push_back(backend.name);
    }
    cases.expect(joined(row.backends) == joined(meant),
                 [&] { return std::string(tables.name) + ": " + std::string(row.name) + " means " + joined(row.backends) + ", restated " + joined(meant); });
  }
  for (const RestatedBackend& backend : restated_backends()) {
    if (!has_word(backend.oracles, tables.name)) continue;
    for (Text wish : words_of(backend.wishes)) {
      const auto known = std::any_of(tables.user_names.begin(), tables.user_names.end(), [&](const oracle::UserNameRow& row) { return row.name == wish; });
      cases.expect(known, [&] { return std::string(tables.name) + " does not know the name " + std::string(wish); });
    }
  }
}

void check_classes(Exhaustive& cases) {
  const std::vector<Text> restated = restated_classes();
  for (const KernelClass& row : oracle::kernel_classes()) {
    // Halves are asked through their pair alone.
    const auto classes = oracle::kernel_classes();
    const bool half = std::any_of(classes.begin(), classes.end(), [&](const KernelClass& pair) {
      return std::find(pair.halves.begin(), pair.halves.end(), row.name) != pair.halves.end();
    });
    const bool said = std::find(restated.begin(), restated.end(), row.name) != restated.end();
    cases.expect(said || half, [&] { return "class " + std::string(row.name) + " is not restated"; });
    if (!said) continue;
    const Text kind = row.monolithic ? "monolithic" : row.format == oracle::ActivationFormat::batched_experts ? "batched" : "plain";
    for (const oracle::ClassList& list : oracle::class_lists()) {
      const auto times = std::count(list.classes.begin(), list.classes.end(), row.name);
      cases.expect(times == (list.kind == kind ? 1 : 0), [&] {
        return "class " + std::string(row.name) + " is " + std::to_string(times) + " times in the list of " + std::string(list.kind) + " classes";
      });
    }
  }
  for (Text name : restated) {
    cases.expect(class_named(name) != nullptr, [&] { return "class " + std::string(name) + " has no row"; });
  }
}

}  // namespace

Outcome tables_are_complete(const Law& law) {
  Exhaustive cases(law);
  for (Text name : oracle::oracle_names()) {
    check_backends(cases, oracle::tables_of(name));
    check_names(cases, oracle::tables_of(name));
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

bool has_layout(Text backend, WeightFormat format) {
  const auto rows = layout::all_backend_layouts();
  return std::any_of(rows.begin(), rows.end(), [&](const layout::BackendLayout& row) { return row.backend == backend && row.format == format; });
}

}  // namespace

Outcome choices_have_layouts(const Law& law) {
  Exhaustive cases(law);
  std::string lacking;
  for (const WeightsRow& row : kWeights) {
    for (Text backend : words_of(row.backends)) {
      cases.expect(restated_backend(row.oracle, backend) != nullptr, [&] { return std::string(backend) + " is no backend of " + std::string(row.oracle); });
      if (!has_layout(backend, row.format)) lacking += (lacking.empty() ? "" : "; ") + std::string(row.oracle) + " " + std::string(name_of(row.format)) + " " + std::string(backend);
    }
  }
  cases.expect(lacking.empty(), [&] { return lacking; });
  for (const layout::BackendLayout& row : layout::all_backend_layouts()) {
    const bool chosen = std::any_of(kWeights.begin(), kWeights.end(),
                                    [&](const WeightsRow& weights) { return weights.format == row.format && has_word(weights.backends, row.backend); });
    cases.expect(chosen, [&] { return "no oracle chooses the layout " + std::string(name_of(row.format)) + " " + std::string(row.backend); });
  }
  return cases.outcome();
}

}  // namespace mx::props
