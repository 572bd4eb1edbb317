// One deployment, every verb: no two of them contradict each other, and a chosen cell without verdict never ends with 0. Deployments are drawn from
// the audit's space for every version and oracle, written as files and read again.

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/audit/audit_space.hpp"
#include "model/audit/cells.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/deployment/version.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/tables.hpp"
#include "sim/checkpoint/checkpoint.hpp"
#include "sim/ranks/comparison.hpp"
#include "sim/verify/verify.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "verbs/matrix/matrix.hpp"
#include "verbs/select/answer.hpp"

namespace {

namespace oracle = mx::oracle;
namespace sim = mx::sim;
using mx::Engine;
using sim::Json;

/// The documents of select and audit, and what sim and matrix say of each backend.
void check_agreement(const sim::DeploymentFile& file) {
  const sim::SelectAnswer answer = sim::ask(file, false);
  const mx::verbs::Document select = sim::select_document(file, answer, false, false);
  const mx::verbs::Document audit = sim::deployment_audit_document(file);
  const Json said = mx::verbs::body_json(select);
  const Json audited = mx::verbs::body_json(audit);
  const bool raises = answer.resolution.failure.has_value();
  const bool breaks = !answer.resolution.broken.empty();
  CHECK(select.exit_code == (raises ? 4 : 0));
  CHECK(audit.exit_code == (raises ? 4 : breaks ? 1 : 0));
  for (const char* key : {"choice", "refusal", "broken", "failure"}) {
    INFO(key);
    CHECK(said.contains(key) == audited.contains(key));
    if (said.contains(key) && audited.contains(key)) CHECK(said[key].dump() == audited[key].dump());
  }
  const oracle::OracleTables& tables = oracle::tables_of(file.engine, file.oracle);
  const oracle::BackendCells cells = oracle::backend_cells(tables, file.deployment, oracle::Detail::codes);
  CHECK(cells.refusal.empty() != raises);
  const auto& choice = answer.resolution.decision.choice;
  for (std::size_t i = 0; i < tables.backends.size(); ++i) {
    const oracle::BackendCell& cell = cells.cells[i];
    const std::string_view backend = tables.backends[i].name;
    INFO(backend);
    const sim::Selected simulated = sim::selected(file.engine, file.oracle, file.deployment, backend);
    CHECK(simulated.answer == cell.state);
    const bool is_choice = choice && choice->backend == backend;
    CHECK((cell.state == oracle::CellState::chosen) == (is_choice && !raises));
    if (!is_choice) continue;
    CHECK(cell.kernel_class == choice->kernel_class);
    if (raises) {
      CHECK(cell.code == "raises");
      CHECK(simulated.reason == "raises");
    } else {
      CHECK(simulated.kernel_class == choice->kernel_class);
    }
  }
}

/// What verify says of a cell, against a resolution of the same deployment.
void check_cell(const sim::Cell& cell, const oracle::Resolution& resolution) {
  const auto& choice = resolution.decision.choice;
  CHECK(cell.backend == (choice ? choice->backend : ""));
  CHECK(cell.kernel_class == (choice ? choice->kernel_class : ""));
  CHECK(cell.refusal.has_value() == resolution.failure.has_value());
  if (cell.refusal && resolution.failure) CHECK(cell.refusal->text == resolution.failure->refusal.text);
  if (choice) CHECK(cell.broken == resolution.broken);
}

sim::VerifyOptions options_of(Engine engine, std::vector<std::string> platforms, std::vector<int> tp) {
  sim::VerifyOptions options;
  options.engine = engine;
  options.platforms = std::move(platforms);
  options.tp = std::move(tp);
  return options;
}

}  // namespace

TEST_CASE("every verb that answers for a deployment says the same of it") {
  std::uint64_t checked = 0;
  for (const Engine engine : mx::known_engines()) {
    for (const std::string_view name : oracle::oracle_names(engine)) {
      std::uint64_t at = 0;
      oracle::for_each_deployment(oracle::tables_of(engine, name), [&](const oracle::Deployment& deployment) {
        constexpr std::uint64_t kEvery = 2003;
        if (at++ % kEvery != 0) return;
        const std::string text = oracle::info_text(engine, name, deployment);
        INFO(text);
        check_agreement(sim::parse_deployment_file(text, "drawn", {}, engine));
        ++checked;
      });
    }
  }
  CHECK(checked > 100);
}

TEST_CASE("the matrix has what select says of the same model, scheme, platform and spread") {
  std::mt19937_64 random(5);
  for (const Engine engine : mx::known_engines()) {
    mx::verbs::MatrixRequest request;
    request.engine = engine;
    const mx::verbs::Matrix matrix = mx::verbs::run_matrix(request);
    for (int i = 0; i < 200; ++i) {
      const mx::verbs::MatrixSection& section = matrix.sections[random() % matrix.sections.size()];
      const std::size_t spread = random() % matrix.spreads.size();
      const std::size_t platform = random() % matrix.platforms.size();
      oracle::Deployment deployment =
          oracle::deployment_of(*section.model, *section.scheme, *matrix.platforms[platform], matrix.spreads[spread]->request);
      deployment.parallel.all2all_backend = oracle::all2all_of(engine, deployment.parallel.all2all_backend);
      const std::string text = oracle::info_text(engine, section.tables->name, deployment);
      INFO(text);
      const sim::DeploymentFile file = sim::parse_deployment_file(text, "drawn", {}, engine);
      const sim::SelectAnswer answer = sim::ask(file, false);
      const mx::verbs::MatrixAnswer& cell = matrix.answer(section, spread, platform);
      CHECK(cell.refusal.empty() != answer.resolution.failure.has_value());
      const auto& choice = answer.resolution.decision.choice;
      const bool runs = choice && !answer.resolution.failure && choice->backend != oracle::kNotAsked;
      REQUIRE(cell.chosen.has_value() == runs);
      if (!runs) continue;
      CHECK(section.tables->backends[*cell.chosen].name == choice->backend);
      CHECK(cell.cells[*cell.chosen].kernel_class == choice->kernel_class);
    }
  }
}

TEST_CASE("verify's cells are what select says of the checkpoint's layer on each platform") {
  const sim::Checkpoint checkpoint(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints/tiny-gpt-oss");
  for (const Engine engine : {mx::kVllm2026_05, mx::kVllm2026_08}) {
    const sim::VerifyReport report = sim::planned_report(checkpoint, options_of(engine, {}, {1, 2, 3}));
    std::size_t compared = 0;
    for (const sim::Cell& cell : report.cells) {
      if (cell.request != "auto" || cell.tp == 3) continue;
      INFO(cell.platform << " TP " << cell.tp);
      const std::string text =
          "platform " + cell.platform + "\nparallel { tp " + std::to_string(cell.tp) +
          " }\nlayer { experts 8  top_k 4  hidden 256  intermediate 256  activation SWIGLUOAI  routing Renormalize  bias true }\n";
      const sim::DeploymentFile file = sim::parse_deployment_file(text, "tiny", "mxfp4", engine);
      check_cell(cell, sim::ask(file, false).resolution);
      ++compared;
    }
    CHECK(compared >= 20);
  }
}

TEST_CASE("a deciding cell without verdict never ends with 0, whatever the others say") {
  const sim::Checkpoint checkpoint(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints/tiny-gpt-oss");
  constexpr std::array kVerdicts{sim::Verdict::passed, sim::Verdict::failed, sim::Verdict::mistrusted, sim::Verdict::not_modelled,
                                 sim::Verdict::refused};
  std::mt19937_64 random(7);
  int clean = 0;
  for (int i = 0; i < 2000; ++i) {
    sim::VerifyReport report = sim::planned_report(checkpoint, options_of(mx::kVllm2026_05, {i % 2 == 0 ? "SM90" : "SM100"}, {1}));
    // Most pass, so that one of the others is seen alone.
    for (sim::ConversionResult& result : report.conversions) result.verdict = kVerdicts[random() % 4 == 0 ? random() % kVerdicts.size() : 0];
    const auto passed = [&](const sim::Cell& cell) { return report.verdict(cell) == sim::Verdict::passed; };
    const bool all_passed = std::ranges::all_of(report.cells, [&](const sim::Cell& cell) { return !cell.decides || passed(cell); });
    const int code = report.exit_code();
    if (!all_passed) CHECK(code != 0);
    if (code == 0) ++clean;
  }
  CHECK(clean > 0);
}
