// The matrix: cells worked out by hand from the engine's lists, the product against single searches, threads, groups, misuse.

#include "verbs/matrix/matrix.hpp"

#include <omp.h>

#include <algorithm>
#include <set>
#include <string>

#include "model/audit/resolve.hpp"
#include "model/engine/vllm/setup/routing_method.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "verbs/matrix/matrix_view.hpp"

using namespace mx;
using namespace mx::verbs;
using mx::tests::message_of;
using mx::tests::says;

namespace {

const MatrixCell& cell_of(const Matrix& matrix, const std::string& backend, const std::string& spread, const std::string& platform) {
  const auto place = [](const auto& rows, const std::string& name) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto* one) { return one->name == name; });
    REQUIRE(row != rows.end());
    return static_cast<std::size_t>(row - rows.begin());
  };
  const MatrixSection& section = matrix.sections.front();
  const auto backends = section.tables->backends;
  const auto row = std::find_if(backends.begin(), backends.end(), [&](const engine::BackendRow& one) { return one.name == backend; });
  REQUIRE(row != backends.end());
  const MatrixAnswer& answer = matrix.answer(section, place(matrix.spreads, spread), place(matrix.platforms, platform));
  return answer.cells[static_cast<std::size_t>(row - backends.begin())];
}

const MatrixCell* cell_in(const engine::OracleTables& tables, const MatrixAnswer& answer, std::string_view backend) {
  const auto row = std::ranges::find(tables.backends, backend, &engine::BackendRow::name);
  return row == tables.backends.end() ? nullptr : &answer.cells[static_cast<std::size_t>(row - tables.backends.begin())];
}

struct Expected {
  const char* backend;
  const char* spread;
  const char* platform;
  CellState state;
  const char* kernel_class;
  const char* code;
};

void check(const Matrix& matrix, std::span<const Expected> rows) {
  for (const Expected& row : rows) {
    INFO(row.backend << " " << row.spread << " " << row.platform);
    const MatrixCell& cell = cell_of(matrix, row.backend, row.spread, row.platform);
    CHECK(cell.state == row.state);
    CHECK(cell.kernel_class == row.kernel_class);
    CHECK(cell.code == row.code);
  }
}

bool same(const Matrix& a, const Matrix& b) {
  const auto same_cell = [](const MatrixCell& x, const MatrixCell& y) {
    return x.state == y.state && x.kernel_class == y.kernel_class && x.code == y.code && x.text == y.text;
  };
  const auto same_answer = [&](const MatrixAnswer& x, const MatrixAnswer& y) {
    return x.chosen == y.chosen && x.refusal == y.refusal && std::equal(x.cells.begin(), x.cells.end(), y.cells.begin(), y.cells.end(), same_cell);
  };
  return std::equal(a.sections.begin(), a.sections.end(), b.sections.begin(), b.sections.end(), [&](const MatrixSection& x, const MatrixSection& y) {
    return x.model == y.model && x.scheme == y.scheme &&
           std::equal(x.answers.begin(), x.answers.end(), y.answers.begin(), y.answers.end(), same_answer);
  });
}

}  // namespace

TEST_CASE("cells of gpt-oss-120b") {
  const Matrix matrix = run_matrix({.engine = mx::deployment::kVllm2026_05, .models = {"gpt-oss-120b"}, .schemes = {"mxfp4"}});
  REQUIRE(matrix.sections.size() == 1);
  const Expected rows[] = {
      {"FLASHINFER_TRTLLM_MXFP4_BF16", "tp1", "SM100", CellState::chosen, "TrtLlmMxfp4ExpertsMonolithic", ""},
      {"FLASHINFER_TRTLLM_MXFP4_MXFP8", "tp1", "SM100", CellState::possible, "TrtLlmMxfp4ExpertsMonolithic", ""},
      {"FLASHINFER_TRTLLM_MXFP4_BF16", "tp1", "SM90", CellState::refused, "TrtLlmMxfp4ExpertsModular", "device"},
      {"FLASHINFER_CUTLASS_MXFP4_BF16", "tp1", "SM90", CellState::possible, "FlashInferExperts", ""},
      {"FLASHINFER_CUTLASS_MXFP4_BF16", "tp1", "SM100", CellState::refused, "FlashInferExperts", "quant_scheme"},
      {"DEEPGEMM_MXFP4", "tp1", "SM100", CellState::refused, "DeepGemmFP4Experts", "activation"},
      {"TRITON", "tp8", "SM90", CellState::chosen, "OAITritonMxfp4ExpertsMonolithic", ""},
      {"TRITON", "dp8-ep", "SM90", CellState::chosen, "OAITritonExperts", ""},
      {"MARLIN", "tp1", "SM80", CellState::chosen, "MarlinExperts", ""},
      {"MARLIN", "dp8-ep-deepep-ll", "SM80", CellState::refused, "MarlinExperts", "activation_format"},
      {"BATCHED_MARLIN", "dp8-ep-deepep-ll", "SM80", CellState::chosen, "BatchedMarlinExperts", ""},
      {"MARLIN", "dp8-ep-nvlink-two-sided", "SM80", CellState::refused, "MarlinExperts", "parallel_config"},
      {"AITER_MXFP4_BF16", "tp1", "gfx950", CellState::refused, "AiterExperts", "device+aiter_hint"},
      {"HUMMING", "tp1", "CPU", CellState::refused, "*", "exc:ModuleNotFoundError"},
      {"CPU", "tp1", "CPU", CellState::chosen, "CPUExpertsMxfp4", ""},
      {"NONE", "tp1", "CPU", CellState::refused, "", ""},
  };
  check(matrix, rows);
}

TEST_CASE("a variable that is set everywhere") {
  const Matrix matrix =
      run_matrix({.engine = mx::deployment::kVllm2026_05, .models = {"gpt-oss-120b"}, .schemes = {"mxfp4"}, .env = {{"VLLM_ROCM_USE_AITER", "1"}}});
  const Expected rows[] = {{"AITER_MXFP4_BF16", "tp1", "gfx950", CellState::chosen, "AiterExperts", ""},
                           {"AITER_MXFP4_BF16", "tp1", "gfx942", CellState::refused, "AiterExperts", "quant_scheme"},
                           {"TRITON", "tp1", "gfx950", CellState::possible, "OAITritonMxfp4ExpertsMonolithic", ""}};
  check(matrix, rows);
}

TEST_CASE("a backend is chosen without a class that took the keys it was asked with, and NONE without a class") {
  // The CPU is forced with 16-bit activations whatever was asked for.
  const Expected forced[] = {{"CPU", "tp1", "CPU", CellState::chosen, "CPUExpertsMxfp4", ""}};
  check(run_matrix({.models = {"gpt-oss-120b"}, .schemes = {"mxfp4-fp8"}}), forced);
  const Matrix none = run_matrix({.models = {"Llama-4-Maverick"}, .schemes = {"fp8-channel"}, .platforms = {"CPU"}});
  // Oracle fp8 goes on without a backend there.
  CHECK(none.answer(none.sections.front(), 0, 0).chosen.has_value());
  const Expected rows[] = {{"NONE", "tp1", "CPU", CellState::chosen, "", ""}};
  check(none, rows);
}

TEST_CASE("the whole product: every answer is that of a single search") {
  const Matrix matrix = run_matrix({.every_scheme = true});
  CHECK(matrix.sections.size() == deployment::models().size() * deployment::schemes().size());
  CHECK(matrix.deployments() >= 20000);
  std::size_t wrong = 0;
  std::size_t raised = 0;
  for (const MatrixSection& section : matrix.sections) {
    for (std::size_t spread = 0; spread < matrix.spreads.size(); ++spread) {
      for (std::size_t platform = 0; platform < matrix.platforms.size(); ++platform) {
        const MatrixAnswer& answer = matrix.answer(section, spread, platform);
        deployment::Deployment deployment =
            deployment::deployment_of(*section.model, *section.scheme, *matrix.platforms[platform], matrix.spreads[spread]->request);
        deployment.parallel.all2all_backend = deployment::all2all_of(mx::deployment::kDefaultEngine, deployment.parallel.all2all_backend);
        const audit::Resolution single = audit::resolve(mx::deployment::kDefaultEngine, deployment, {section.scheme->oracle, deployment.layer});
        const engine::Decision& decision = single.decision;
        const auto chosen = std::count_if(answer.cells.begin(), answer.cells.end(), [](const MatrixCell& c) { return c.state == CellState::chosen; });
        const auto raises = std::count_if(answer.cells.begin(), answer.cells.end(), [](const MatrixCell& c) { return c.code == "raises"; });
        // A choice that the engine raises on afterwards is a refused cell with the chosen class.
        const MatrixCell* const cell = decision.choice ? cell_in(*section.tables, answer, decision.choice->backend) : nullptr;
        const bool names_class = cell == nullptr || cell->kernel_class == decision.choice->kernel_class;
        if (decision.choice && single.failure) ++raised;
        const bool right = single.failure ? !answer.chosen && chosen == 0 && answer.refusal == single.failure->refusal.error_type && names_class &&
                                                raises == (decision.choice ? 1 : 0) && (cell == nullptr || cell->code == "raises")
                                          : answer.chosen && chosen == 1 && raises == 0 && cell == &answer.cells[*answer.chosen] &&
                                                cell->state == CellState::chosen && names_class;
        if (!right) ++wrong;
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(raised > 0);
}

TEST_CASE("any number of threads gives the same matrix") {
  const MatrixRequest request{.models = {"DeepSeek-V3"}, .every_scheme = true};
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Matrix one = run_matrix(request, engine::Detail::texts);
  omp_set_num_threads(3);
  const Matrix three = run_matrix(request, engine::Detail::texts);
  omp_set_num_threads(before);
  CHECK(same(one, three));
  CHECK_FALSE(same(one, run_matrix(request)));
}

TEST_CASE("what looks the same is shown once, and nothing is lost") {
  const Matrix matrix = run_matrix({.engine = mx::deployment::kVllm2026_05, .models = {"gpt-oss-120b"}, .schemes = {"mxfp4"}});
  const MatrixSection& section = matrix.sections.front();
  const auto spreads = equal_spreads(matrix, section);
  std::set<std::size_t> seen;
  for (const MatrixGroup& group : spreads) {
    for (std::size_t member : group.members) CHECK(seen.insert(member).second);
    const auto platforms = equal_platforms(matrix, section, group.members.front());
    std::size_t next = 0;
    for (const MatrixGroup& column : platforms) {
      for (std::size_t platform : column.members) {
        CHECK(platform == next++);
        const MatrixAnswer& first = matrix.answer(section, group.members.front(), column.members.front());
        for (std::size_t spread : group.members) CHECK(matrix.answer(section, spread, platform).chosen == first.chosen);
      }
    }
    CHECK(next == matrix.platforms.size());
    for (const MatrixLine& line : lines_of(matrix, section, group.members.front(), platforms)) CHECK(line.words.size() == platforms.size());
  }
  CHECK(seen.size() == matrix.spreads.size());
  // Ranks that exchange nothing; data parallel ones, which monolithic classes do not take; batched exchanges; NVLink.
  // Three more by what raises behind the choice. The CPU's class routes by itself: with relocated experts, which part from the first, and where
  // chosen ones are exchanged, which parts DeepEP's high throughput and MoRI from the second. One-sided NVLink moves no MXFP4 activations, those of
  // XPU.
  CHECK(spreads.size() == 7);
  const std::set<std::string_view> raising = {"tp8-ep-eplb", "dp8-ep-deepep-ht", "dp8-ep-mori", "dp8-ep-nvlink-two-sided", "dp8-ep-nvlink-one-sided"};
  for (const deployment::PlatformPreset* platform : matrix.platforms) {
    for (const Spread* spread : matrix.spreads) {
      const MatrixCell& cell = cell_of(matrix, "CPU", std::string(spread->name), std::string(platform->name));
      INFO(spread->name << " " << platform->name);
      CHECK((cell.code == "raises") == (platform->name == "CPU" && raising.contains(spread->name)));
    }
  }
}

TEST_CASE("every code has a word of at most eight letters") {
  // The codes of recorded support files.
  for (const char* code : {"in_dtype", "device", "device+aiter_hint", "no_act_and_mul", "activation", "quant_scheme", "parallel_config",
                           "routing_method", "activation_format", "batch_invariance", "lora", "humming_activation_format", "humming_gemm_type",
                           "exc:ModuleNotFoundError", "exc:ValueError", "exc:KeyError"}) {
    INFO(code);
    CHECK(reason_of(code).word.size() <= 8);
  }
  CHECK(says(message_of(mx::ErrorCode::usage, [] { reason_of("devise"); }), "'devise'"));
}

TEST_CASE("models: the routing that the engine derives from their configuration") {
  struct Row {
    const char* model;
    engine::RoutingRequest request;
  };
  // Scoring, normalisation, groups and correction bias as in each config.json.
  const Row rows[] = {{"DeepSeek-V3", {"sigmoid", 8, true, 8, true}},           {"DeepSeek-V4-Flash", {"sqrtsoftplus", 6, true, {}, true}},
                      {"DeepSeek-V4-Pro", {"sqrtsoftplus", 6, true, {}, true}}, {"Qwen3-30B-A3B", {"softmax", 8, true, {}, false}},
                      {"Qwen3-235B-A22B", {"softmax", 8, true, {}, false}},     {"Mixtral-8x7B", {"softmax", 2, true, {}, false}},
                      {"Llama-4-Scout", {"sigmoid", 1, false, {}, false}},      {"Llama-4-Maverick", {"sigmoid", 1, false, {}, false}},
                      {"Nemotron-3-Nano", {"sigmoid", 6, true, 1, true}},       {"MiniMax-M2", {"sigmoid", 8, true, {}, true}}};
  for (const Row& row : rows) {
    INFO(row.model);
    CHECK(deployment::model_named(row.model).routing == name_of(engine::routing_method_of(mx::deployment::kVllm2026_05, row.request)));
  }
}

TEST_CASE("tables of models and schemes fit together") {
  for (const deployment::Model& model : deployment::models()) {
    INFO(model.name);
    CHECK_FALSE(model.published.empty());
    CHECK_FALSE(model.source.empty());
    for (std::string_view scheme : model.published) CHECK(deployment::scheme_named(scheme).name == scheme);
  }
  for (std::string_view name : engine::oracle_names(mx::deployment::kVllm2026_05)) {
    INFO(name);
    CHECK(std::any_of(deployment::schemes().begin(), deployment::schemes().end(),
                      [&](const deployment::Scheme& scheme) { return scheme.oracle == name; }));
  }
  // 2880 over 7 ranks is 411 and a bit.
  CHECK(deployment::layer_of(deployment::model_named("gpt-oss-20b"), {.tp = 7}).intermediate_per_partition == 412);
}

TEST_CASE("requests that cannot be") {
  struct Row {
    MatrixRequest request;
    const char* part;
  };
  const Row rows[] = {
      {{.models = {"gpt-oss-121b"}}, "unknown model 'gpt-oss-121b' (did you mean gpt-oss-120b?)"},
      {{.schemes = {"fp8-blocks"}}, "unknown scheme 'fp8-blocks' (did you mean fp8-block?)"},
      {{.oracles = {"mxfp5"}}, "unknown oracle 'mxfp5'"},
      {{.platforms = {"SM101"}}, "unknown platform 'SM101' (did you mean SM1"},
      {{.platforms = {"SM100", "sm-100"}}, "platform SM100 is given twice"},
      {{.spreads = {"tp-eight"}}, "unknown parallelism 'tp-eight'"},
      {{.env = {{"VLLM_USE_DEEP_GEM", "1"}}}, "unknown variable 'VLLM_USE_DEEP_GEM' (did you mean VLLM_USE_DEEP_GEMM?)"},
      {{.models = {"Mixtral-8x7B"}, .oracles = {"nvfp4"}}, "no checkpoint of these models"},
  };
  for (const Row& row : rows) {
    const std::string message = message_of(mx::ErrorCode::usage, [&] { run_matrix(row.request); });
    INFO(message);
    CHECK(says(message, row.part));
  }
}
