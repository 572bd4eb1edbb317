// Whole deployments: what the engine's loader cuts, what exchanges move, what ranks add up to; and what breaks, by the name of its link.

#include <algorithm>
#include <map>
#include <string>

#include "kernels/relayout/mover.hpp"
#include "model/error.hpp"
#include "sim/ranks/comparison.hpp"
#include "sim/ranks/legacy.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::families;
using namespace mx::sim;
using namespace mx::support;
using namespace mx::deployment;

std::string file_text(const std::string& platform, const std::string& parallel, const std::string& layer, const std::string& more = "") {
  return "platform " + platform + "\nparallel { " + parallel + " }\nlayer { " + layer + " }\n" + more;
}

const std::string kLayer = "experts 4 top_k 4 hidden 96 intermediate 96";

Simulation run_class(const Scenario& scenario, const std::string& backend, const std::string& kernel_class) {
  const SimulationRequest request{scenario.oracle, scenario.deployment, backend, kernel_class, scenario.engine};
  return simulate(request, scenario.layer, scenario.tokens, run_reference(request, scenario.layer, scenario.tokens, {}), in_process());
}

Simulation run(const std::string& text, const std::string& backend) {
  const Scenario scenario = make_scenario(parse_deployment_file(text, "test"), {.tokens = 3});
  const Selected choice = selected(scenario.engine, scenario.oracle, scenario.deployment, backend);
  REQUIRE(choice.answer != mx::audit::CellState::refused);
  return run_class(scenario, backend, choice.kernel_class);
}

LinkState state_of(const SimulationResult& result, Link link) { return std::ranges::find(result.links, link, &LinkCheck::link)->state; }

PlanRequest plan_request(const std::string& text, std::int64_t allocated_intermediate, ExpertAddress address) {
  const DeploymentFile file = parse_deployment_file(text, "test");
  const deployment::LayerConfig& layer = file.deployment.layer;
  const layout::Sizes whole{layer.num_experts, whole_intermediate(file.deployment), layer.hidden, 32};
  return {file.deployment.parallel, layout::SourceOrder::gpt_oss, whole, layer.hidden, allocated_intermediate, address, 0};
}

}  // namespace

TEST_CASE("the gpt-oss loader cuts 2880 in blocks of 32: the last ranks are short or empty") {
  // vllm models/gpt_oss.py _load_weights_mxfp4 (spec engine 2.2): 8 ranks of 384, the last 192; 16 ranks of 192, the last one empty.
  const std::string layer = "experts 4 top_k 2 hidden 288 intermediate 2880";
  const Plan eight = make_plan(plan_request(file_text("SM100", "tp 8", layer), 384, ExpertAddress::map));
  REQUIRE(eight.ranks.size() == 8);
  CHECK(eight.ranks[6].intermediate.first == 2304);
  CHECK(eight.ranks[6].intermediate.count == 384);
  CHECK(eight.ranks[7].intermediate.first == 2688);
  CHECK(eight.ranks[7].intermediate.count == 192);
  CHECK(broken_links(eight).empty());
  const Plan sixteen = make_plan(plan_request(file_text("SM100", "tp 16", layer), 256, ExpertAddress::map));
  CHECK(sixteen.ranks[14].intermediate.first == 2688);
  CHECK(sixteen.ranks[15].intermediate.count == 0);
  CHECK(broken_links(sixteen).empty());
}

TEST_CASE("experts that ranks do not divide: the gpt-oss loader loses the last ones, and the first line says so") {
  // Seven experts on two ranks: the loader floors to three each, the expert map has four and three (spec engine 2.2, 2.5).
  const Plan plan = make_plan(
      plan_request(file_text("SM100", "tp 2 expert_parallel true", "experts 7 top_k 2 hidden 288 intermediate 192"), 192, ExpertAddress::map));
  REQUIRE_FALSE(broken_links(plan).empty());
  CHECK(broken_links(plan).front().link == "load");
  CHECK(broken_links(plan).front().text.starts_with("expert 6 is loaded on no rank"));
}

TEST_CASE("kernels that take their experts by an offset look in the wrong place when ranks hold unequal numbers") {
  const std::string text = file_text("SM100", "tp 4 expert_parallel true", "experts 6 top_k 2 hidden 288 intermediate 192");
  PlanRequest request = plan_request(text, 192, ExpertAddress::offset);
  request.form = {layout::WeightFormat::mxfp4, layout::SourceOrder::standard};
  const std::vector<BrokenLink> broken = broken_links(make_plan(request));
  REQUIRE_FALSE(broken.empty());
  CHECK(broken.front().link == "experts");
  request.address = ExpertAddress::map;
  CHECK(broken_links(make_plan(request)).empty());
}

TEST_CASE("gate and up that are padded together meet each other's rows where I is no multiple of 64: vllm issue 55649") {
  // 2026-08 rounds I to 64 and copies the 2I rows of [up; gate] to the front; the kernel splits at the rounded I.
  for (const auto& [intermediate, breaks] : std::map<int, bool>{{32, true}, {64, false}, {96, true}, {128, false}, {160, true}}) {
    const std::string text =
        file_text("SM100", "tp 1", "experts 2 top_k 1 hidden 256 activation SILU bias false intermediate " + std::to_string(intermediate),
                  "oracle nvfp4 backend flashinfer_trtllm");
    const Scenario scenario = make_scenario(parse_deployment_file(text, "test", "", kVllm2026_08), {.tokens = 2});
    const Selected choice = selected(scenario.engine, scenario.oracle, scenario.deployment, "FLASHINFER_TRTLLM");
    const SimulationRequest request = request_of(scenario, scenario.deployment, "FLASHINFER_TRTLLM", choice.kernel_class);
    const Simulation got =
        simulate(request, scenario.layer, scenario.tokens, run_reference(request, scenario.layer, scenario.tokens, {}), in_process());
    INFO(intermediate << " " << (got.refusal ? got.refusal->text : ""));
    REQUIRE(got.result);
    CHECK((state_of(*got.result, Link::convert) == LinkState::broken) == breaks);
    // The twin that moves the weights and the reference make the same bytes.
    const families::BackendLayout& backend = families::backend_layout_named("FLASHINFER_TRTLLM", layout::WeightFormat::nvfp4, kVllm2026_08);
    families::Setting setting;
    setting.sizes = setting.padded = scenario.layer.experts.sizes;
    setting.form = scenario.layer.experts.form;
    setting.engine = kVllm2026_08;
    setting.arch = families::Arch::sm100;
    const families::PackedLayer quick =
        families::convert(scenario.layer.experts, backend, setting, kernels::relayout::mover_of(kernels::relayout::MoveBy::plans));
    const families::PackedLayer slow =
        families::convert(scenario.layer.experts, backend, setting, kernels::relayout::mover_of(kernels::relayout::MoveBy::model));
    REQUIRE(quick.tensors.size() == slow.tensors.size());
    for (std::size_t i = 0; i < quick.tensors.size(); ++i) CHECK(quick.tensors[i].bytes == slow.tensors[i].bytes);
  }
}

TEST_CASE("one rank from the packed form has the bits of one rank from the checkpoint") {
  for (const std::string backend : {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "MARLIN", "TRITON"}) {
    INFO(backend);
    const Simulation simulation = run(file_text("SM100", "tp 1", kLayer), backend);
    REQUIRE(simulation.result.has_value());
    CHECK(simulation.result->bit_equal);
    CHECK(simulation.result->broken() == nullptr);
    for (const LinkCheck& check : simulation.result->links) CHECK(check.state == LinkState::equal);
  }
}

TEST_CASE("a deployment whose outputs cannot show a wrong weight is mistrusted, not passed") {
  Scenario scenario = make_scenario(parse_deployment_file(file_text("SM90", "tp 2", kLayer), "test"), {.tokens = 3});
  const Selected choice = selected(scenario.engine, scenario.oracle, scenario.deployment, "TRITON");
  const SimulationRequest request{scenario.oracle, scenario.deployment, "TRITON", choice.kernel_class, scenario.engine};
  const auto simulated = [&] {
    return simulate(request, scenario.layer, scenario.tokens, run_reference(request, scenario.layer, scenario.tokens, {}), in_process());
  };
  const Simulation telling = simulated();
  REQUIRE(telling.result.has_value());
  CHECK(telling.result->mistrusted.empty());
  CHECK(telling.result->exit_code() == 0);
  // Every expert is the first: outputs differ, and an expert read in another's place would not show.
  const layout::CanonicalLayer kept = scenario.layer.experts;
  for (std::vector<std::uint8_t>& tensor : scenario.layer.experts.tensors) {
    const std::size_t one = tensor.size() / 4;
    for (std::size_t i = one; i < tensor.size(); ++i) tensor[i] = tensor[i % one];
  }
  const Simulation alike = simulated();
  REQUIRE(alike.result.has_value());
  CHECK(alike.result->broken() == nullptr);
  CHECK(alike.result->mistrusted.find("experts") != std::string::npos);
  CHECK(alike.result->exit_code() == 5);
  scenario.layer.experts = kept;
  // Codes of 0 and no bias behind the second matrix: whatever is exchanged and loaded, the layer gives zeros.
  for (const layout::Role role : {layout::Role::w2_weight, layout::Role::w2_bias}) std::ranges::fill(scenario.layer.experts[role], std::uint8_t{0});
  const Simulation blind = simulated();
  REQUIRE(blind.result.has_value());
  CHECK(blind.result->broken() == nullptr);
  CHECK_FALSE(blind.result->mistrusted.empty());
  CHECK(blind.result->exit_code() == 5);

  Comparison comparison;
  const Spread& spread = compared_spreads().front();
  comparison.cells.push_back({"TRITON", &spread, mx::audit::CellState::chosen, choice.kernel_class, {}, blind});
  CHECK(comparison.cells.front().verdict().starts_with("MISTRUSTED: "));
  CHECK(comparison.exit_code() == 5);
  comparison.cells.push_back({"TRITON", &spread, mx::audit::CellState::possible, choice.kernel_class, {}, blind});
  comparison.cells.front().simulation = telling;
  CHECK(comparison.exit_code() == 0);
}

TEST_CASE("tensor parallel ranks have the same activations bit for bit, their sums meet the bound") {
  for (const std::string parallel : {"tp 2", "tp 3", "dp 2", "tp 2 dp 3"}) {
    INFO(parallel);
    const Simulation simulation = run(file_text("SM90", parallel, kLayer), "TRITON");
    REQUIRE(simulation.result.has_value());
    CHECK(simulation.result->broken() == nullptr);
    CHECK(state_of(*simulation.result, Link::first_product) == LinkState::equal);
    CHECK(state_of(*simulation.result, Link::activation) == LinkState::equal);
    CHECK(simulation.result->worst_share < 1);
  }
}

TEST_CASE("expert parallel ranks have the same slots bit for bit, whatever the exchange") {
  for (const std::string all2all : {"allgather_reducescatter", "deepep_high_throughput", "mori_high_throughput"}) {
    INFO(all2all);
    const Simulation simulation =
        run(file_text("SM90", "dp 4 expert_parallel true all2all " + all2all, "experts 8 top_k 4 hidden 256 intermediate 192"), "MARLIN");
    REQUIRE(simulation.result.has_value());
    CHECK(simulation.result->plan.ranks.size() == 4);
    CHECK(state_of(*simulation.result, Link::dispatch) == LinkState::equal);
    CHECK(state_of(*simulation.result, Link::second_product) == LinkState::equal);
    CHECK(simulation.result->broken() == nullptr);
  }
}

TEST_CASE("batched experts get a row for each of their tokens") {
  const Simulation simulation = run(
      file_text("SM90", "dp 2 expert_parallel true all2all deepep_low_latency", "experts 4 top_k 2 hidden 288 intermediate 192"), "BATCHED_MARLIN");
  REQUIRE(simulation.result.has_value());
  CHECK(simulation.result->assembly.format == engine::ActivationFormat::batched_experts);
  // DeepEP's next hidden size, which Marlin's rounding to 256 keeps (spec oracle 11).
  CHECK(simulation.result->plan.allocated.hidden == 2048);
  CHECK(simulation.result->broken() == nullptr);
}

TEST_CASE("MXFP8 scales behind an all-gather reach CUTLASS row-major, and the first line names the exchange") {
  // vllm#42118: only NVFP4's scales are moved into the tile after an exchange.
  const Simulation cutlass = run(file_text("SM100", "dp 2 expert_parallel true", kLayer), "FLASHINFER_CUTLASS_MXFP4_MXFP8");
  REQUIRE(cutlass.result.has_value());
  REQUIRE(cutlass.result->broken() != nullptr);
  CHECK(cutlass.result->broken()->link == Link::dispatch);
  CHECK(cutlass.result->broken()->text.find("scales arrive row-major, the kernel reads the 128x4 tile") != std::string::npos);
  const Simulation trtllm = run(file_text("SM100", "dp 2 expert_parallel true", kLayer), "FLASHINFER_TRTLLM_MXFP4_MXFP8");
  REQUIRE(trtllm.result.has_value());
  CHECK(trtllm.result->broken() == nullptr);
}

TEST_CASE("a limit that a kernel does not take is named") {
  // Marlin's constants of SwiGLU-OAI are compiled in, TRT-LLM takes the model's (spec engine 1.4).
  const std::string layer = kLayer + " swiglu_limit true";
  const Simulation marlin = run(file_text("SM100", "tp 1", layer), "MARLIN");
  REQUIRE(marlin.result.has_value());
  REQUIRE(marlin.result->broken() != nullptr);
  CHECK(marlin.result->broken()->link == Link::activation);
  CHECK(marlin.result->broken()->text.starts_with("limit 0x40a00000 of the model is ignored"));
  CHECK(run(file_text("SM100", "tp 1", layer), "FLASHINFER_TRTLLM_MXFP4_BF16").result->broken() == nullptr);
}

TEST_CASE("what the engine refuses is an answer") {
  const std::string text = file_text("SM90", "dp 2 expert_parallel true all2all deepep_low_latency", "experts 4 top_k 2 hidden 8448 intermediate 64");
  const Scenario scenario = make_scenario(parse_deployment_file(text, "test"), {.tokens = 3});
  const Selected choice = selected(scenario.engine, scenario.oracle, scenario.deployment, "BATCHED_MARLIN");
  CHECK(choice.answer == mx::audit::CellState::refused);
  CHECK(choice.reason == "raises");
  const Simulation simulation = run_class(scenario, "BATCHED_MARLIN", "BatchedMarlinExperts");
  REQUIRE(simulation.refusal.has_value());
  CHECK(simulation.refusal->stage == "allocate");
  CHECK(simulation.refusal->text.starts_with("ValueError"));
}

TEST_CASE("deployments that contradict themselves or are too large are refused by name") {
  const auto plan = [](const std::string& parallel, const std::string& layer) {
    return make_plan(plan_request(file_text("SM100", parallel, layer), 192, ExpertAddress::map));
  };
  CHECK_THROWS_WITH(plan("dp 128 expert_parallel true", "experts 128 top_k 2 hidden 288 intermediate 192"), Catch::Contains("128 ranks: at most 64"));
  CHECK_THROWS_WITH(plan("pcp 2", kLayer), Catch::Contains("pcp 2 and sp 1"));
  CHECK_THROWS_WITH(plan("dp 16 expert_parallel true", kLayer), Catch::Contains("16 expert parallel ranks share 4 experts"));
  PlanRequest all_experts = plan_request(file_text("SM100", "dp 2 expert_parallel true", kLayer), 192, ExpertAddress::refused);
  CHECK_THROWS_WITH(make_plan(all_experts), Catch::Contains("asserts that a rank has all experts"));
  const DeploymentFile file = parse_deployment_file(file_text("SM100", "tp 1", "experts 128 top_k 4 hidden 2880 intermediate 2880"), "test");
  CHECK_THROWS_WITH(make_scenario(file, {}), Catch::Contains("--experts N"));
}

TEST_CASE("the reported table: TRT-LLM works in all three, CUTLASS MXFP8 fails with DP=2+EP in its exchange, the engine chooses TRT-LLM") {
  const Scenario scenario = make_scenario(parse_deployment_file(file_text("SM100", "tp 1", kLayer), "test"), {.tokens = 2});
  const Comparison comparison = compare_backends(scenario, {});
  std::map<std::string, std::string> verdicts;
  for (const ComparedCell& cell : comparison.cells) verdicts[cell.backend + " " + std::string(cell.spread->name)] = cell.verdict();
  CHECK(comparison.cells.size() == 48);
  for (const std::string backend : {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "TRITON", "MARLIN", "HUMMING"}) {
    INFO(backend);
    CHECK(verdicts[backend + " single"] == "bit-equal");
    CHECK(verdicts[backend + " TP=2"] == "within the bound");
    CHECK(verdicts[backend + " DP=2+EP"] == "within the bound");
  }
  CHECK(verdicts["FLASHINFER_CUTLASS_MXFP4_MXFP8 single"] == "bit-equal");
  CHECK(verdicts["FLASHINFER_CUTLASS_MXFP4_MXFP8 TP=2"] == "within the bound");
  CHECK(verdicts["FLASHINFER_CUTLASS_MXFP4_MXFP8 DP=2+EP"] == "BROKEN: dispatch");
  CHECK(verdicts["CPU single"] == "refused: device");
  CHECK(comparison.exit_code() == 0);
  // Of the report's twelve cells of Blackwell one deviates: nothing in these bits makes Triton raise.
  const auto reported = std::ranges::count_if(comparison.cells, [](const ComparedCell& cell) { return cell.reported != nullptr; });
  CHECK(reported == 12);
  for (const ComparedCell& cell : comparison.cells) {
    INFO(cell.backend << " " << cell.spread->name);
    CHECK(cell.agrees() == (cell.backend != "TRITON" || cell.spread->expert_parallel == false));
  }
}

TEST_CASE("a comparison fails for what the engine chooses, not for what it leaves") {
  const std::string backend = "FLASHINFER_CUTLASS_MXFP4_MXFP8";
  const Simulation broken = run(file_text("SM100", "dp 2 expert_parallel true", kLayer), backend);
  const Simulation good = run(file_text("SM100", "tp 1", kLayer), backend);
  Simulation refused;
  refused.refusal = SimulationRefusal{"convert", "a converter's words"};
  const Spread& spread = compared_spreads().front();
  const auto status = [&](const std::vector<std::pair<mx::audit::CellState, Simulation>>& cells) {
    Comparison comparison;
    for (const auto& [answer, simulation] : cells) comparison.cells.push_back({backend, &spread, answer, "FlashInferExperts", {}, simulation});
    return comparison.exit_code();
  };
  CHECK(status({{mx::audit::CellState::chosen, good}, {mx::audit::CellState::possible, broken}, {mx::audit::CellState::possible, refused}}) == 0);
  CHECK(status({{mx::audit::CellState::chosen, broken}, {mx::audit::CellState::chosen, refused}}) == 1);
  CHECK(status({{mx::audit::CellState::chosen, good}, {mx::audit::CellState::chosen, refused}}) == 4);
  CHECK(status({{mx::audit::CellState::refused, {}}}) == 5);
}

TEST_CASE("the legacy method executes what it chooses: path, padding and what FlashInfer is told") {
  // vllm ae067888d quantization/mxfp4.py (spec oracle 12, engine 5): cap 100 takes FlashInfer BF16 padded to 256; SM90 takes triton_kernels with
  // torch 2.8 and Marlin, 256 and 128, without.
  struct Expected {
    std::string platform, torch, more, path, backend;
    std::int64_t hidden, intermediate;
  };
  const Expected expected[] = {
      {"SM100", "2.8.0", "", "flashinfer", "FLASHINFER_TRTLLM_MXFP4_BF16", 256, 256},
      {"SM100", "2.8.0", "env { VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8 1 }\n", "flashinfer", "FLASHINFER_TRTLLM_MXFP4_MXFP8", 256, 256},
      {"SM90", "2.8.0", "", "triton", "TRITON", 96, 128},
      {"SM90", "2.7.1", "", "marlin", "MARLIN", 256, 128}};
  for (const Expected& row : expected) {
    INFO(row.platform << " " << row.torch << " " << row.more);
    const Scenario scenario = make_scenario(parse_deployment_file(file_text(row.platform, "tp 1", kLayer, row.more), "test"), {.tokens = 3});
    const auto answer = legacy_run(scenario, row.torch);
    REQUIRE(std::holds_alternative<LegacyRun>(answer));
    const LegacyRun& run = std::get<LegacyRun>(answer);
    CHECK(run.path == row.path);
    CHECK(run.request.backend == row.backend);
    CHECK(run.tile_tokens_dim == 8);
    const Simulation simulation =
        simulate(run.request, scenario.layer, scenario.tokens, run_reference(run.request, scenario.layer, scenario.tokens, {}), in_process());
    REQUIRE(simulation.result.has_value());
    CHECK(simulation.result->plan.allocated.hidden == row.hidden);
    CHECK(simulation.result->plan.allocated.intermediate == row.intermediate);
    CHECK(simulation.result->bit_equal);
  }
  const Scenario spread = make_scenario(parse_deployment_file(file_text("SM100", "tp 2 expert_parallel true", kLayer), "test"), {.tokens = 3});
  const auto refused = legacy_run(spread, "2.8.0");
  REQUIRE(std::holds_alternative<engine::Refusal>(refused));
  CHECK(std::get<engine::Refusal>(refused).error_type == "AssertionError");
}

TEST_CASE("NVFP4, FP8 and MXFP8 layers are cut, exchanged and combined too") {
  struct Spread {
    std::string platform, parallel, oracle, keys, layer, backend;
  };
  const std::string silu = " activation SILU routing Renormalize bias false";
  const Spread spreads[] = {
      {"SM100", "tp 2", "nvfp4", "", "experts 4 top_k 2 hidden 256 intermediate 256" + silu, "FLASHINFER_TRTLLM"},
      {"SM100", "dp 2 expert_parallel true", "nvfp4", "", "experts 4 top_k 2 hidden 128 intermediate 128" + silu, "FLASHINFER_CUTLASS"},
      {"SM90", "tp 2", "fp8", "", "experts 2 top_k 2 hidden 128 intermediate 256" + silu, "TRITON"},
      {"SM90", "dp 2 expert_parallel true", "fp8", "", "experts 4 top_k 2 hidden 128 intermediate 128" + silu, "TRITON"},
      {"SM90", "tp 2", "fp8", "weight_key kFp8StaticTensorSym\nactivation_key kFp8StaticTensorSym",
       "experts 2 top_k 2 hidden 64 intermediate 64" + silu, "TRITON"},
      {"SM100", "tp 2", "mxfp8", "", "experts 2 top_k 2 hidden 128 intermediate 256" + silu, "FLASHINFER_TRTLLM"},
  };
  for (const Spread& spread : spreads) {
    INFO(spread.oracle << " " << spread.backend << " " << spread.parallel);
    const Simulation simulation =
        run(file_text(spread.platform, spread.parallel, spread.layer, "oracle " + spread.oracle + "\n" + spread.keys + "\n"), spread.backend);
    INFO((simulation.refusal ? simulation.refusal->text : ""));
    REQUIRE(simulation.result.has_value());
    INFO((simulation.result->broken() != nullptr ? simulation.result->broken()->text : ""));
    CHECK(simulation.result->broken() == nullptr);
    CHECK(simulation.result->quality.not_finite == 0);
  }
}

TEST_CASE("a sample of rows and columns has the stages that the whole layer has there, and ranks agree on it") {
  const DeploymentFile file = parse_deployment_file(file_text("SM90", "tp 3", kLayer), "test");
  const Scenario whole = make_scenario(file, {.tokens = 2});
  const Scenario sampled = make_scenario(file, {.tokens = 2, .sample = 10});
  REQUIRE(sampled.sample.rows.has_value());
  CHECK(*sampled.sample.rows == std::vector<std::int64_t>{0, 9, 19, 28, 38, 48, 57, 67, 76, 86});
  const SimulationRequest request{whole.oracle, whole.deployment, "TRITON", "OAITritonExperts", whole.engine};
  const sim::Reference all = run_reference(request, whole.layer, whole.tokens, {});
  const sim::Reference some = run_reference(request, sampled.layer, sampled.tokens, sampled.sample);
  REQUIRE(some.out.size() == 2 * 10);
  for (std::size_t slot = 0; slot < all.stages.size(); ++slot) {
    for (const std::int64_t row : *sampled.sample.rows) {
      const auto at = static_cast<std::size_t>(row);
      CHECK(some.stages[slot].gate[at] == all.stages[slot].gate[at]);
      CHECK(some.stages[slot].activation[at] == all.stages[slot].activation[at]);
    }
    CHECK(some.stages[slot].activation[1] == 0);
  }
  const Simulation simulation = simulate(request, sampled.layer, sampled.tokens, some, in_process());
  REQUIRE(simulation.result.has_value());
  CHECK(simulation.result->broken() == nullptr);
  // Ten rows of gate and ten of up for each of two tokens' four slots, whichever rank has them.
  const auto first = std::ranges::find(simulation.result->links, Link::first_product, &LinkCheck::link);
  CHECK(first->state == LinkState::equal);
  CHECK(first->compared == 2 * 4 * 2 * 10);
}

TEST_CASE("a token has the same bits alone, among others and in another order, whatever the exchange") {
  for (const std::string all2all : {"allgather_reducescatter", "deepep_high_throughput"}) {
    INFO(all2all);
    const std::string text = file_text("SM90", "dp 2 expert_parallel true all2all " + all2all, "experts 4 top_k 2 hidden 64 intermediate 64");
    const Scenario scenario = make_scenario(parse_deployment_file(text, "test"), {.tokens = 5});
    const SimulationRequest request{scenario.oracle, scenario.deployment, "MARLIN", "MarlinExperts", scenario.engine};
    const auto outputs = [&](const std::vector<std::size_t>& order) {
      SampleTokens tokens;
      for (const std::size_t token : order) {
        tokens.x.insert(tokens.x.end(), scenario.tokens.x.begin() + static_cast<std::ptrdiff_t>(token * 64),
                        scenario.tokens.x.begin() + static_cast<std::ptrdiff_t>(token * 64 + 64));
        tokens.slots.push_back(scenario.tokens.slots[token]);
      }
      const sim::Reference reference = run_reference(request, scenario.layer, tokens, {});
      const Simulation simulation = simulate(request, scenario.layer, tokens, reference, in_process());
      REQUIRE(simulation.result.has_value());
      return simulation.result->out;
    };
    const std::vector<std::uint32_t> together = outputs({0, 1, 2, 3, 4});
    const std::vector<std::size_t> order{3, 0, 4, 2, 1};
    const std::vector<std::uint32_t> shuffled = outputs(order);
    for (std::size_t at = 0; at < order.size(); ++at) {
      CHECK(std::equal(shuffled.begin() + static_cast<std::ptrdiff_t>(at * 64), shuffled.begin() + static_cast<std::ptrdiff_t>(at * 64 + 64),
                       together.begin() + static_cast<std::ptrdiff_t>(order[at] * 64)));
    }
    CHECK(std::equal(together.begin() + 64, together.begin() + 128, outputs({1}).begin()));
  }
}
