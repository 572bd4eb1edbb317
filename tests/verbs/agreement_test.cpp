// One deployment, every verb: no two of them contradict each other, and a chosen cell without verdict never ends with 0. Deployments are drawn from
// the audit's space for every version and oracle, written as files and read again.

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "model/audit/audit_space.hpp"
#include "model/audit/cells.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/deployment/version.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/tables.hpp"
#include "sim/ranks/comparison.hpp"
#include "sim/verify/verify.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "verbs/matrix/matrix.hpp"
#include "verbs/select/answer.hpp"

namespace {

using namespace mx;
using mx::deployment::Engine;
using mx::support::Json;

/// What each verb says of one deployment.
struct Told {
  int select_exit, audit_exit;
  Json select, audit;
  audit::BackendCells matrix;
  std::vector<sim::Selected> sim;  ///< of each backend of the oracle's table
};

Told told(const support::DeploymentFile& file) {
  const mx::verbs::Document select = verbs::select_document(file, verbs::ask(file, false), false, false);
  const mx::verbs::Document audit = verbs::deployment_audit_document(file);
  const engine::OracleTables& tables = engine::tables_of(file.engine, file.oracle);
  Told all{select.exit_code,
           audit.exit_code,
           mx::verbs::body_json(select),
           mx::verbs::body_json(audit),
           audit::backend_cells(tables, file.deployment, engine::Detail::codes),
           {}};
  for (const engine::BackendRow& row : tables.backends) all.sim.push_back(sim::selected(file.engine, file.oracle, file.deployment, row.name));
  return all;
}

using Contradictions = std::vector<std::string>;

/// What sim and matrix say of a backend, beside select's choice.
void add_contradictions(Contradictions& found, const Told& told, std::size_t at, const std::string& backend) {
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) found.push_back(backend + ": " + what);
  };
  const audit::BackendCell& cell = told.matrix.cells[at];
  const sim::Selected& simulated = told.sim[at];
  const bool raises = !told.select["failure"].is_null();
  const bool is_choice = told.select.contains("choice") && told.select["choice"]["backend"].text() == backend;
  expect(simulated.answer == cell.state, "sim and matrix answer otherwise");
  expect((cell.state == audit::CellState::chosen) == (is_choice && !raises), "matrix calls chosen what select does not");
  if (!is_choice) return;
  const Json& named = told.select["choice"]["kernel_class"];
  const std::string kernel_class = named.is_null() ? "" : named.text();
  expect(cell.kernel_class == kernel_class, "matrix has another class");
  if (raises) {
    expect(cell.code == "raises", "matrix does not say that the engine raises");
    expect(simulated.reason == "raises", "sim does not say that the engine raises");
  } else {
    expect(simulated.kernel_class == kernel_class, "sim has another class");
  }
}

Contradictions contradictions(const engine::OracleTables& tables, const Told& told) {
  Contradictions found;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) found.emplace_back(what);
  };
  const bool raises = !told.select["failure"].is_null();
  const bool breaks = !told.select["broken"].empty();
  expect(told.select_exit == (raises ? 4 : 0), "select's exit");
  expect(told.audit_exit == (raises ? 4 : breaks ? 1 : 0), "audit's exit");
  for (const char* key : {"choice", "refusal", "broken", "failure"}) {
    const bool both = told.select.contains(key) && told.audit.contains(key);
    expect(told.select.contains(key) == told.audit.contains(key) && (!both || told.select[key].dump() == told.audit[key].dump()), key);
  }
  expect(told.matrix.refusal.empty() != raises, "matrix's refusal");
  for (std::size_t i = 0; i < tables.backends.size(); ++i) add_contradictions(found, told, i, std::string(tables.backends[i].name));
  return found;
}

/// The place of the cell that is the choice; none where the choice is no backend of the table.
std::optional<std::size_t> chosen_at(const Told& told) {
  const auto cell = std::ranges::find(told.matrix.cells, audit::CellState::chosen, &audit::BackendCell::state);
  return cell == told.matrix.cells.end() ? std::nullopt : std::optional(static_cast<std::size_t>(cell - told.matrix.cells.begin()));
}

/// A verb that says otherwise than the others; false where the deployment has nothing to say it of.
struct Planted {
  const char* what;
  bool (*plant)(Told& told);
};
bool at_choice(Told& told, void (*change)(audit::BackendCell& cell, sim::Selected& simulated)) {
  const auto at = chosen_at(told);
  if (at) change(told.matrix.cells[*at], told.sim[*at]);
  return at.has_value();
}
bool forgets(Json& document, const char* key, bool applies, Json instead) {
  if (applies) document[key] = std::move(instead);
  return applies;
}
constexpr std::array kPlanted{
    Planted{"select forgets what is broken", [](Told& t) { return forgets(t.select, "broken", !t.select["broken"].empty(), Json::array()); }},
    Planted{"audit forgets what is broken", [](Told& t) { return forgets(t.audit, "broken", !t.audit["broken"].empty(), Json::array()); }},
    Planted{"select forgets that the engine raises", [](Told& t) { return forgets(t.select, "failure", !t.select["failure"].is_null(), nullptr); }},
    Planted{"audit forgets that the engine raises", [](Told& t) { return forgets(t.audit, "failure", !t.audit["failure"].is_null(), nullptr); }},
    Planted{"select ends with 0 where the engine raises", [](Told& t) { return std::exchange(t.select_exit, 0) != 0; }},
    Planted{"audit ends with 0 whatever is broken", [](Told& t) { return std::exchange(t.audit_exit, 0) != 0; }},
    Planted{"matrix hides that the engine raises",
            [](Told& t) {
              const bool applies = !t.matrix.refusal.empty();
              t.matrix.refusal.clear();
              return applies;
            }},
    Planted{"matrix has another class",
            [](Told& t) { return at_choice(t, [](audit::BackendCell& cell, sim::Selected&) { cell.kernel_class = "OtherExperts"; }); }},
    Planted{"sim has another class",
            [](Told& t) { return at_choice(t, [](audit::BackendCell&, sim::Selected& simulated) { simulated.kernel_class = "OtherExperts"; }); }},
    Planted{"matrix calls the choice possible",
            [](Told& t) { return at_choice(t, [](audit::BackendCell& cell, sim::Selected&) { cell.state = audit::CellState::possible; }); }},
    Planted{
        "sim refuses the choice",
        [](Told& t) { return at_choice(t, [](audit::BackendCell&, sim::Selected& simulated) { simulated.answer = audit::CellState::refused; }); }},
    Planted{"sim and matrix choose every backend",
            [](Told& t) {
              for (audit::BackendCell& cell : t.matrix.cells) cell.state = audit::CellState::chosen;
              for (sim::Selected& simulated : t.sim) simulated.answer = audit::CellState::chosen;
              return t.matrix.cells.size() > 1;
            }},
    Planted{"select has another choice",
            [](Told& t) {
              const bool applies = chosen_at(t).has_value();
              if (applies) t.select["choice"]["backend"] = "OTHER";
              return applies;
            }},
};

/// What verify says of a cell otherwise than a resolution of the same deployment.
Contradictions contradictions(const sim::Cell& cell, const audit::Resolution& resolution) {
  Contradictions found;
  const auto& choice = resolution.decision.choice;
  const auto& failure = resolution.failure;
  if (cell.backend != (choice ? choice->backend : "")) found.emplace_back("backend");
  if (cell.kernel_class != (choice ? choice->kernel_class : "")) found.emplace_back("class");
  if (cell.refusal.has_value() != failure.has_value() || (failure && cell.refusal->text != failure->refusal.text)) found.emplace_back("refusal");
  if (choice && cell.broken != resolution.broken) found.emplace_back("broken");
  return found;
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
  std::array<int, kPlanted.size()> planted{};
  for (const Engine engine : mx::deployment::known_engines()) {
    for (const std::string_view name : engine::oracle_names(engine)) {
      std::uint64_t at = 0;
      audit::for_each_deployment(engine::tables_of(engine, name), [&](const deployment::Deployment& deployment) {
        constexpr std::uint64_t kEvery = 2003;
        if (at++ % kEvery != 0) return;
        const std::string text = audit::info_text(engine, name, deployment);
        INFO(text);
        const engine::OracleTables& tables = engine::tables_of(engine, name);
        const Told all = told(support::parse_deployment_file(text, "drawn", {}, engine));
        for (const std::string& one : contradictions(tables, all)) FAIL_CHECK(one);
        ++checked;
        for (std::size_t i = 0; i < kPlanted.size(); ++i) {
          Told wrong = all;
          if (!kPlanted[i].plant(wrong)) continue;
          INFO(kPlanted[i].what);
          CHECK_FALSE(contradictions(tables, wrong).empty());
          ++planted[i];
        }
      });
    }
  }
  CHECK(checked > 100);
  for (std::size_t i = 0; i < kPlanted.size(); ++i) {
    INFO(kPlanted[i].what);
    CHECK(planted[i] > 0);
  }
}

TEST_CASE("the matrix has what select says of the same model, scheme, platform and spread") {
  std::mt19937_64 random(5);
  for (const Engine engine : mx::deployment::known_engines()) {
    mx::verbs::MatrixRequest request;
    request.engine = engine;
    const mx::verbs::Matrix matrix = mx::verbs::run_matrix(request);
    for (int i = 0; i < 200; ++i) {
      const mx::verbs::MatrixSection& section = matrix.sections[random() % matrix.sections.size()];
      const std::size_t spread = random() % matrix.spreads.size();
      const std::size_t platform = random() % matrix.platforms.size();
      deployment::Deployment deployment =
          deployment::deployment_of(*section.model, *section.scheme, *matrix.platforms[platform], matrix.spreads[spread]->request);
      deployment.parallel.all2all_backend = deployment::all2all_of(engine, deployment.parallel.all2all_backend);
      const std::string text = audit::info_text(engine, section.tables->name, deployment);
      INFO(text);
      const support::DeploymentFile file = support::parse_deployment_file(text, "drawn", {}, engine);
      const verbs::SelectAnswer answer = verbs::ask(file, false);
      const mx::verbs::MatrixAnswer& cell = matrix.answer(section, spread, platform);
      CHECK(cell.refusal.empty() != answer.resolution.failure.has_value());
      const auto& choice = answer.resolution.decision.choice;
      const bool runs = choice && !answer.resolution.failure && choice->backend != engine::kNotAsked;
      REQUIRE(cell.chosen.has_value() == runs);
      if (!runs) continue;
      CHECK(section.tables->backends[*cell.chosen].name == choice->backend);
      CHECK(cell.cells[*cell.chosen].kernel_class == choice->kernel_class);
    }
  }
}

TEST_CASE("verify's cells are what select says of the checkpoint's layer on each platform") {
  const checkpoint::Checkpoint checkpoint(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints/tiny-gpt-oss");
  for (const Engine engine : {mx::deployment::kVllm2026_05, mx::deployment::kVllm2026_08}) {
    const sim::VerifyReport report = sim::planned_report(checkpoint, options_of(engine, {}, {1, 2, 3}));
    std::size_t compared = 0;
    for (const sim::Cell& cell : report.cells) {
      if (cell.request != "auto" || cell.tp == 3) continue;
      INFO(cell.platform << " TP " << cell.tp);
      const std::string text =
          "platform " + cell.platform + "\nparallel { tp " + std::to_string(cell.tp) +
          " }\nlayer { experts 8  top_k 4  hidden 256  intermediate 256  activation SWIGLUOAI  routing Renormalize  bias true }\n";
      const support::DeploymentFile file = support::parse_deployment_file(text, "tiny", "mxfp4", engine);
      const audit::Resolution resolution = verbs::ask(file, false).resolution;
      for (const std::string& one : contradictions(cell, resolution)) FAIL_CHECK(one);
      for (void (*change)(sim::Cell&) : {+[](sim::Cell& one) { one.backend += "?"; }, +[](sim::Cell& one) { one.kernel_class += "?"; },
                                         +[](sim::Cell& one) {
                                           one.refusal = one.refusal ? std::nullopt : std::optional<engine::Refusal>({"ValueError", "?"});
                                         }}) {
        sim::Cell wrong = cell;
        change(wrong);
        CHECK_FALSE(contradictions(wrong, resolution).empty());
      }
      ++compared;
    }
    CHECK(compared >= 20);
  }
}

TEST_CASE("a deciding cell without verdict never ends with 0, whatever the others say") {
  const checkpoint::Checkpoint checkpoint(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints/tiny-gpt-oss");
  constexpr std::array kVerdicts{sim::Verdict::passed, sim::Verdict::failed, sim::Verdict::mistrusted, sim::Verdict::not_modelled,
                                 sim::Verdict::refused};
  std::mt19937_64 random(7);
  int clean = 0;
  for (int i = 0; i < 2000; ++i) {
    sim::VerifyReport report = sim::planned_report(checkpoint, options_of(mx::deployment::kVllm2026_05, {i % 2 == 0 ? "SM90" : "SM100"}, {1}));
    // Most pass, so that one of the others is seen alone.
    for (sim::ConversionResult& result : report.conversions) result.verdict = kVerdicts[random() % 4 == 0 ? random() % kVerdicts.size() : 0];
    const auto passed = [&](const sim::Cell& cell) { return sim::is_held(report.verdict(cell)); };
    const bool all_passed = std::ranges::all_of(report.cells, [&](const sim::Cell& cell) { return !cell.decides || passed(cell); });
    const int code = report.exit_code();
    if (!all_passed) CHECK(code != 0);
    if (code == 0) ++clean;
  }
  CHECK(clean > 0);
}
