#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/json_text.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

}  // namespace

TEST_CASE("verify prints a table and exits 0 when every cell is bit-equal") {
  const Run run = run_mxact("verify " + tiny() + " --platform SM90 --platform SM100 --platform XPU");
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  for (const char* part : {"FLASHINFER_TRTLLM_MXFP4_BF16", "chosen", "PASSED", "0 not yet modelled\n", "0 failed", "within", "ulp"}) {
    INFO(part);
    CHECK(run.out.find(part) != std::string::npos);
  }
  CHECK(run.out.find("replay:") == std::string::npos);
}

TEST_CASE("verify says what it leaves out: experts, execution, contracts that are not the backend's") {
  const std::string cell = "verify " + tiny() + " --platform SM100 --backend FLASHINFER_TRTLLM_MXFP4_BF16 --tp 1 --layers 1 --json";
  const auto answer = [&](const std::string& arguments) {
    const Run run = run_mxact(cell + arguments);
    INFO(run.err);
    CHECK(run.status == 0);
    return mx::tests::parsed(run.out);
  };
  const mx::support::Json whole = answer(""), few = answer(" --experts 2"), bytes = answer(" --no-execute"), asked = answer(" --contract exact");
  CHECK(whole["checkpoint"]["experts_verified"] == 8);
  CHECK(whole["conversions"][0]["execution"] == "none x blackwell-bf16, assumed");
  CHECK(few["checkpoint"]["experts_verified"] == 2);
  CHECK(4 * few["conversions"][0]["units"].get<std::int64_t>() == whole["conversions"][0]["units"].get<std::int64_t>());
  CHECK(few["conversions"][0]["outputs_compared"].get<std::int64_t>() > 0);
  CHECK(few["expected"].size() == 0);  // recorded outputs are of all experts
  CHECK(bytes["conversions"][0]["outputs_compared"] == 0);
  CHECK(bytes["conversions"][0]["units_compared"] == whole["conversions"][0]["units_compared"]);
  CHECK(asked["conversions"][0]["execution"] == "none x exact, as asked");
  CHECK(asked["contracts"][0] == "exact");
  CHECK(run_mxact(cell + " --no-execute --contract exact").status == 2);
  CHECK(run_mxact(cell + " --experts 0").status == 2);
}

TEST_CASE("verify without a checkpoint makes one from the seed and leaves nothing behind") {
  const mx::tests::ScratchDirectory scratch;
  const std::string arguments = "verify --platform SM100 --tp 1 --layers 1 --tokens 1 --json";
  const std::string environment = "TMPDIR='" + scratch.path().string() + "' ";
  FILE* pipe = popen((environment + MXACT_PROGRAM + " " + arguments).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  const mx::support::Json report = mx::tests::parsed(out);
  CHECK(report["schema"] == "mxact-verify/1");
  CHECK(report["checkpoint"]["path"] == "generated, seed 1");
  CHECK(report["totals"]["passed"].get<int>() > 0);
  CHECK(report["totals"]["failed"] == 0);
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("verify's cells add up, in JSON as in the table") {
  const mx::support::Json report = run_json("verify " + tiny() + " --platform SM100 --platform gfx950 --layers 1");
  const auto& totals = report["totals"];
  CHECK(totals["cells"] == report["cells"].size());
  CHECK(totals["passed"].get<int>() + totals["known_to_differ"].get<int>() + totals["failed"].get<int>() + totals["mistrusted"].get<int>() +
            totals["refused"].get<int>() + totals["not_modelled"].get<int>() ==
        totals["cells"].get<int>());
  for (const auto& cell : report["cells"]) {
    if (!cell.contains("conversion")) continue;
    const auto& conversion = report["conversions"][cell["conversion"].get<std::size_t>()];
    CHECK(conversion["backend"] == cell["backend"]);
    CHECK(conversion["verdict"] == cell["verdict"]);
    if (cell["verdict"] == "PASSED") CHECK(conversion["units_compared"].get<long>() > 0);
  }
  REQUIRE(report["expected"].size() == 1);
  CHECK(report["expected"][0]["worst_ulp"].get<double>() <= 4);
}

TEST_CASE("shares of a run, merged, print what one run prints") {
  const ScratchDirectory scratch;
  const auto at = [&](const char* name) { return "'" + (scratch.path() / name).string() + "'"; };
  const std::string how = "verify --platform SM90,SM100 --tokens 1 --seed 7 --contract f32-sequential";
  const Run whole = run_mxact(how);
  REQUIRE(whole.status == 0);
  for (const char* share : {"1", "2", "3"}) {
    const Run part = run_mxact(how + " --shard " + share + "/3 --part " + at(share));
    INFO(part.out << part.err);
    CHECK(part.status == 0);
    CHECK(part.out.find("no verdict before") != std::string::npos);
    CHECK(part.out.find("PASSED") == std::string::npos);
  }
  const Run merged = run_mxact("verify merge " + at("3") + " " + at("1") + " " + at("2"));
  CHECK(merged.out == whole.out);
  CHECK(merged.err == whole.err);
  CHECK(merged.status == 0);
  CHECK(run_mxact("verify merge " + at("1") + " " + at("2")).err.find("share 3 is missing") != std::string::npos);
  CHECK(run_mxact(how + " --shard 1/3").err.find("--shard I/N and --part FILE go together") != std::string::npos);
  CHECK(run_mxact(how + " --shard 4/3 --part " + at("4")).status == 2);
  CHECK(run_mxact(how + " --shard 1/3 --part " + at("1")).err.find("exists already") != std::string::npos);
  CHECK(run_mxact("verify --tokens 1 merge " + at("1")).err.find("--tokens stands before merge") != std::string::npos);
}

TEST_CASE("verify refuses a directory without weights") {
  const mx::tests::ScratchDirectory scratch;
  const Run run = run_mxact("verify '" + scratch.path().string() + "'");
  INFO(run.err);
  CHECK(run.status == 3);
  CHECK(run.out.empty());
  CHECK(run.err.find(scratch.path().string()) != std::string::npos);
}

// TRITON's layers on SM90 are recorded, Marlin's products and sums; FlashInfer's kernel was seen to compute otherwise.
TEST_CASE("verify says what each result stands on, under which launch, and where real kernels differ") {
  const std::string cells = "verify " + tiny() + " --platform SM90 --backend TRITON,MARLIN,FLASHINFER_CUTLASS_MXFP4_BF16 --tp 1 --layers 1";
  const mx::support::Json json = run_json(cells);
  REQUIRE(json["conversions"].size() == 3);
  for (const mx::support::Json& one : json["conversions"]) {
    INFO(one.dump());
    const bool differs = one["backend"] == "FLASHINFER_CUTLASS_MXFP4_BF16";
    CHECK(one["known_to_differ"].empty() != differs);
    if (!differs) CHECK(one["grounds"] == mx::support::Json::array({one["backend"] == "TRITON" ? "run" : "run by parts"}));
    CHECK((one["execution"].text().find("; launch: w13: block_m 8, tile_k ") != std::string::npos) == (one["backend"] == "MARLIN"));
  }
  const Run run = run_mxact(cells);
  CHECK(run.out.find("\n  FLASHINFER_CUTLASS_MXFP4_BF16: ") != std::string::npos);
  CHECK(run.status == 0);
  CHECK(json["totals"]["passed"] == 2);
  CHECK(json["totals"]["known_to_differ"] == 1);
  CHECK(run.out.find("3 cells: 2 passed, 1 known to differ, 0 failed,") != std::string::npos);
  CHECK(run_json(cells + " --launch tile_k=64,tile_n=128,threads=128")["conversions"].dump().find("tile_k 64 (given)") != std::string::npos);
  // The legend: each word says its own meaning, in lines of a terminal, a screen of them.
  const std::string legend = run.out.substr(run.out.find("not yet modelled\n") + 17);
  std::istringstream lines(legend);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK(line.size() <= 80);
    CHECK(line.find("none of these") == std::string::npos);
  }
  CHECK(count <= 24);
  // Under a contract that was asked for, nothing is said of the backend's own arithmetic.
  const mx::support::Json asked = run_json(cells + " --contract exact");
  CHECK(asked["verdict"] == "PASSED");
  for (const mx::support::Json& one : asked["conversions"]) {
    CHECK(one["verdict"] == "PASSED");
    CHECK(one["grounds"].empty());
    CHECK(one["known_to_differ"].empty());
  }
}

TEST_CASE("what is known to differ is a property of its case in JUnit, and counted apart in Markdown") {
  const ScratchDirectory scratch;
  const std::string xml = (scratch.path() / "verify.xml").string(), page = (scratch.path() / "verify.md").string();
  const std::string verify = "verify " + tiny() + " --platform SM90 --backend FLASHINFER_CUTLASS_MXFP4_BF16 --tp 1 --layers 1";
  REQUIRE(run_mxact(verify + " --junit '" + xml + "' --markdown '" + page + "'").status == 0);
  const auto text_of = [](const std::string& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string junit = text_of(xml), markdown = text_of(page);
  INFO(junit << markdown);
  CHECK(junit.find("<property name=\"verdict\" value=\"KNOWN TO DIFFER\"/>") != std::string::npos);
  CHECK(junit.find("<property name=\"known to differ\" value=\"") != std::string::npos);
  CHECK(junit.find("failures=\"0\" errors=\"0\" skipped=\"0\"") != std::string::npos);
  CHECK(markdown.find("of these KNOWN TO DIFFER") != std::string::npos);
  CHECK(markdown.starts_with("### mxact verify: KNOWN TO DIFFER\n"));
}

namespace {

/// The INFO text of the tiny checkpoint on two tensor parallel ranks, with what a caller changes of it.
std::string placement(const std::string& from = {}, const std::string& to = {}) {
  std::string text = run_mxact("select " + tiny() + " --platform B200 --tp 2 --write-info").out;
  if (from.empty()) return text;
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("verify takes a whole deployment: the cells are those of its placement, and its variables, packages and wish hold") {
  const ScratchDirectory scratch;
  const auto file = [&](const std::string& text) {
    std::ofstream(scratch.path() / "placed.info") << text;
    return "'" + (scratch.path() / "placed.info").string() + "'";
  };
  const std::string common = " --layers 1 --tokens 1 --seed 3";
  mx::support::Json typed = run_json("verify " + tiny() + " --platform B200 --tp 2" + common);
  mx::support::Json placed = run_json("verify " + tiny() + " --deployment " + file(placement()) + common);
  for (const char* const key : {"cells", "conversions", "totals", "verdict"}) {
    INFO(key);
    for (mx::support::Json* const one : {&typed, &placed}) {
      for (std::size_t i = 0; key == std::string("conversions") && i < (*one)[key].size(); ++i) (*one)[key][i].erase("seconds");
    }
    CHECK(placed[key] == typed[key]);
  }
  // On four devices that share the experts: no rank cuts them.
  const mx::support::Json shared =
      run_json("verify " + tiny() + " --no-execute --deployment " + file(placement("tp 2", "tp 2 dp 2 expert_parallel true")) + common);
  CHECK(shared["conversions"][0]["intermediate"] ==
        run_json("verify " + tiny() + " --no-execute --platform B200 --tp 2 --dp 2 --ep" + common)["conversions"][0]["intermediate"]);
  const auto backend_of = [](const mx::support::Json& run) { return run["cells"][0]["backend"].text(); };
  CHECK(backend_of(placed) == "FLASHINFER_TRTLLM_MXFP4_BF16");
  CHECK(backend_of(run_json("verify " + tiny() + " --no-execute --deployment " + file(placement() + " backend marlin") + common)) == "MARLIN");
  CHECK(backend_of(run_json("verify " + tiny() + " --no-execute --deployment " + file(placement() + " software { has_flashinfer false }") +
                            common)) != "FLASHINFER_TRTLLM_MXFP4_BF16");
  // In shares, each of which knows the whole placement.
  const std::string part = "'" + (scratch.path() / "part").string();
  const std::string asked = "verify " + tiny() + " --deployment " + file(placement()) + common;
  for (const char* const share : {"1", "2"}) REQUIRE(run_mxact(asked + " --shard " + share + "/2 --part " + part + share + "'").status == 0);
  CHECK(run_json("verify merge " + part + "1' " + part + "2'")["cells"] == placed["cells"]);
}

TEST_CASE("verify refuses a deployment of another layer, and sizes beside one") {
  const ScratchDirectory scratch;
  const struct {
    std::string from, to, options;
    int status;
    const char* says;
  } rows[] = {{"hidden 256", "hidden 512", "", 3, "layer.hidden is 512, and the checkpoint has 256"},
              {"experts 8", "experts 16", "", 3, "layer.experts is 16, and the checkpoint has 8"},
              {"top_k 4", "top_k 2", "", 3, "layer.top_k is 2, and the checkpoint has 4"},
              {"top_k 4", "top_k 4 bias false", "", 3, "layer.bias is false, and the checkpoint has true"},
              {"top_k 4", "top_k 4 activation SILU", "", 3, "layer.activation is SILU, and the checkpoint has SWIGLUOAI"},
              {"hidden 256", "hiden 256", "", 3, "did you mean hidden?"},
              {"hidden 256", "hidden 256", " --platform B200", 2, "--platform"},
              {"hidden 256", "hidden 256", " --tp 2", 2, "--tp"},
              {"hidden 256", "hidden 256", " --ep", 2, "--ep"},
              {"hidden 256", "hidden 256", " --engine 2020-01", 4, "2020-01"}};
  for (const auto& row : rows) {
    std::ofstream(scratch.path() / "placed.info") << placement(row.from, row.to);
    const Run run =
        run_mxact("verify " + tiny() + " --no-execute --layers 1 --deployment '" + (scratch.path() / "placed.info").string() + "'" + row.options);
    INFO(row.to << row.options << "\n" << run.out << run.err);
    CHECK(run.status == row.status);
    CHECK(run.err.find(row.says) != std::string::npos);
  }
  CHECK(run_mxact("verify " + tiny() + " --deployment /no/such/file").status == 3);
  CHECK(run_mxact("verify --deployment '" + std::string(MXACT_SOURCE_DIR) + "/docs/examples/deepseek-v3-h200.info'")
            .err.find("oracle is fp8, and the checkpoint has mxfp4") != std::string::npos);
}
