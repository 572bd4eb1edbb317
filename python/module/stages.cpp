// One layer run stage by stage: of a checkpoint, of what `mxact convert` wrote, of packed tensors in memory.

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <tuple>
#include <utility>

#include "kernels/relayout/tensor.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/contract.hpp"
#include "python/module/memory.hpp"
#include "sim/layer/layer_source.hpp"
#include "support/tuned_file.hpp"

namespace mx::python {
namespace {

using sim::StageValues;

/// Name, dtype (U8, BF16, F32), shape, bytes.
using GivenStage = std::tuple<std::string, std::string, std::vector<std::int64_t>, Bytes>;
using MadeStage = std::tuple<std::string, std::string, std::vector<std::int64_t>, nb::object>;

/// What enters: top_k and the columns of x (0: no x), bf16 codes of x, int32 ids, fp32 weights; of x and the weights no bytes where there are none.
using GivenTokens = std::tuple<std::size_t, std::size_t, Bytes, Bytes, Bytes>;

/// The stages, in words what computed them and what summed its products, and the ids and weights of the slots.
using Made = std::tuple<std::vector<MadeStage>, std::string, std::string, nb::object, nb::object>;

struct Asked {
  sim::LayerTokens tokens;
  std::vector<StageValues> start;
  std::vector<sim::LayerStage> wanted;

  Asked(const GivenTokens& given, const std::vector<GivenStage>& from, const std::vector<std::string>& stages) {
    const auto& [top_k, columns, x, ids, weights] = given;
    tokens.top_k = static_cast<std::int64_t>(top_k);
    tokens.columns = static_cast<std::int64_t>(columns);
    tokens.ids = words_of<std::int32_t>(ids);
    tokens.weights = words_of<std::uint32_t>(weights);
    for (const std::uint16_t code : words_of<std::uint16_t>(x)) tokens.x.push_back(code);
    for (const auto& [name, dtype, shape, bytes] : from) {
      const std::string_view known = dtype == "U8" ? "U8" : dtype == "BF16" ? "BF16" : "F32";
      start.push_back({sim::stage_named(name).stage, known, shape, sim::words_of(span_of(bytes), known)});
    }
    for (const std::string& name : stages) wanted.push_back(sim::stage_named(name).stage);
  }

  /// Without names: all behind the start.
  template <class Experts>
  std::vector<StageValues> run(const Experts& experts) const {
    return sim::run_layer(experts, tokens, start, wanted.empty() ? sim::stages_behind(sim::stage_forms(experts, tokens), tokens, start) : wanted);
  }
};

Made made_of(std::string how, std::string_view twin, const Asked& asked, const std::vector<StageValues>& stages) {
  std::vector<MadeStage> made;
  for (const StageValues& stage : stages) made.emplace_back(sim::row_of(stage.stage).name, stage.dtype, stage.shape, bytes_of(sim::bytes_of(stage)));
  return {std::move(made), std::move(how), std::string(twin.empty() ? "the model" : twin), bytes_of_words(asked.tokens.ids),
          bytes_of_words(asked.tokens.weights)};
}

Made made_of(const sim::LayerExperts& experts, const families::Setting& setting, const Asked& asked, const std::vector<StageValues>& stages) {
  const sim::LayerExperts launched = sim::settled(experts, asked.tokens.tokens(), asked.tokens.top_k);
  return made_of(sim::how_text(launched.execution, families::operation_of(setting), setting.computes(), false), sim::twin_of(launched.execution), asked,
                 stages);
}

Made made_of(const sim::ContractExperts& experts, const Asked& asked, const std::vector<StageValues>& stages) {
  return made_of(sim::how_text(experts), sim::twin_of(experts), asked, stages);
}

/// First and second scale as fp32 bits.
using Scales = std::optional<std::pair<std::uint32_t, std::uint32_t>>;

std::optional<sim::StaticScales> scales_of(const Scales& given) {
  if (!given) return std::nullopt;
  return sim::StaticScales{given->first, given->second};
}

Made run_file(const std::string& path, int layer, int rank, std::optional<int> layer_group, const std::optional<std::string>& backend,
              const Fields& fields, const Scales& scales, const std::string& launch, bool routes, const GivenTokens& given,
              const std::vector<GivenStage>& from, const std::vector<std::string>& stages) {
  Asked asked(given, from, stages);
  std::optional<sim::OpenedLayer> opened;
  std::vector<StageValues> made;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const sim::LayerChoice choice{.layer = layer, .scales = scales_of(scales), .routes = routes, .launch = support::launch_of(launch)};
    if (!sim::is_packed(path)) {
      if (!backend) throw Error(ErrorCode::usage, "is missing: a checkpoint does not say which kernels compute it", "backend");
      opened = sim::open_layer(path, convert_options(*backend, fields, rank, layer_group), choice);
    } else {
      if (backend || !fields.empty() || layer_group) throw Error(ErrorCode::usage, "is packed already: its files say backend and choices", path);
      opened = sim::open_packed_layer(path, choice);
    }
    if (routes) sim::take_router(*opened, asked.tokens);
    made = asked.run(opened->experts);
  }
  return made_of(opened->experts, opened->setting, asked, made);
}

/// Under a contract, of a checkpoint or of what `mxact convert` wrote. Of the fields the engine is read, by whom the checkpoint is.
Made run_contract_file(const std::string& path, int layer, std::optional<int> layer_group, const std::string& contract, const Fields& fields,
                       bool routes, const GivenTokens& given, const std::vector<GivenStage>& from, const std::vector<std::string>& stages) {
  Asked asked(given, from, stages);
  std::optional<sim::OpenedContractLayer> opened;
  std::vector<StageValues> made;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    checkpoint::ConvertOptions options{};
    for (const auto& [key, value] : fields) {
      if (key != "engine") throw Error(ErrorCode::usage, "is of a backend's kernels, and a contract is of none", key);
      options.setting.engine = families::conversion_engine_named(value);
    }
    if (layer_group) options.layer_group = *layer_group - 1;
    opened = sim::open_contract_layer(path, options, row_of(contract_named(contract)).contract, {.layer = layer, .routes = routes});
    if (routes) sim::take_router(*opened, asked.tokens);
    made = asked.run(opened->experts);
  }
  return made_of(opened->experts, asked, made);
}

/// Alpha, beta, limit, linear_beta as fp32 bits.
using Constants = std::array<std::uint32_t, 4>;

Made run_packed(const std::string& spec, const NamedBytes& tensors, const std::string& activation, const Constants& constants,
                const std::string& activation_key, const Scales& scales, const std::string& launch, const GivenTokens& given,
                const std::vector<GivenStage>& from, const std::vector<std::string>& stages) {
  const verbs::BackendChoice choice = backend_choice(verbs::query_from(spec, {}));
  const families::PackedLayer packed = packed_of(choice, tensors);
  const Asked asked(given, from, stages);
  std::optional<sim::LayerExperts> experts;
  std::vector<StageValues> made;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const auto [alpha, beta, limit, linear_beta] = constants;
    experts = sim::packed_experts(packed, {activation, {alpha, beta, limit, linear_beta}}, activation_key,
                                  scales_of(scales).value_or(sim::StaticScales{}), sim::SumsBy::twins, support::launch_of(launch));
    sim::require_scales(experts->execution, scales.has_value(), spec);
    made = asked.run(*experts);
  }
  return made_of(*experts, packed.setting, asked, made);
}

/// The same under a contract, of the layer that the tensors are restored to.
Made run_contract_packed(const std::string& spec, const NamedBytes& tensors, const std::string& activation, const Constants& constants,
                         const std::string& contract, const GivenTokens& given, const std::vector<GivenStage>& from,
                         const std::vector<std::string>& stages) {
  families::PackedLayer packed = packed_of(backend_choice(verbs::query_from(spec, {})), tensors);
  const Asked asked(given, from, stages);
  std::optional<sim::ContractExperts> experts;
  std::vector<StageValues> made;
  {
    const nb::gil_scoped_release unlocked;
    const OrdinaryMode mode;
    const Team team;
    const layout::CanonicalLayer layer = families::restore(std::move(packed), families::OnLoss::mark, kernels::relayout::kMoveByPlans);
    const auto [alpha, beta, limit, linear_beta] = constants;
    experts =
        sim::contract_experts(layer, {activation, {alpha, beta, limit, linear_beta}}, row_of(contract_named(contract)).contract, sim::SumsBy::twins);
    made = asked.run(*experts);
  }
  return made_of(*experts, asked, made);
}

/// Name, dtype, shape and meaning of each stage, in words.
std::vector<std::tuple<std::string, std::string, std::string, std::string>> stages() {
  std::vector<std::tuple<std::string, std::string, std::string, std::string>> all;
  for (const sim::StageRow& row : sim::stage_rows()) all.emplace_back(row.name, row.dtype, row.shape, row.what);
  return all;
}

}  // namespace

void bind_stages(nb::module_& module) {
  module.def("run_file", run_file, nb::arg("path"), nb::arg("layer"), nb::arg("rank"), nb::arg("layer_group").none(), nb::arg("backend").none(),
             nb::arg("fields"), nb::arg("scales").none(), nb::arg("launch"), nb::arg("routes"), nb::arg("given"), nb::arg("start"),
             nb::arg("stages"));
  module.def("run_packed", run_packed, nb::arg("spec"), nb::arg("tensors"), nb::arg("activation"), nb::arg("constants"), nb::arg("activation_key"),
             nb::arg("scales").none(), nb::arg("launch"), nb::arg("given"), nb::arg("start"), nb::arg("stages"));
  module.def("run_contract_file", run_contract_file, nb::arg("path"), nb::arg("layer"), nb::arg("layer_group").none(), nb::arg("contract"),
             nb::arg("fields"), nb::arg("routes"), nb::arg("given"), nb::arg("start"), nb::arg("stages"));
  module.def("run_contract_packed", run_contract_packed, nb::arg("spec"), nb::arg("tensors"), nb::arg("activation"), nb::arg("constants"),
             nb::arg("contract"), nb::arg("given"), nb::arg("start"), nb::arg("stages"));
  module.def(
      "is_packed", [](const std::string& path) { return sim::is_packed(path); }, nb::arg("path"));
  module.def("stages", stages);
}

}  // namespace mx::python
