// mxact matrix from outside: tables, JSON, pictures, counts, misuse.

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

const std::string kSmall =
    "matrix --engine 2026-05 --model gpt-oss-120b --scheme mxfp4 --platform SM90 --platform SM100 --platform CPU --parallel tp8 --parallel "
    "dp8-ep-deepep-ll";

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("matrix says of each backend that runs whether a token's result depends on its batch, by platform and mode") {
  const std::string fp8 = "matrix --engine 2026-05 --model DeepSeek-V3 --scheme fp8-block --platform SM90 --platform SM100 --parallel tp8";
  const Run run = run_mxact(fp8);
  CHECK(run.out.find("\n  DEEPGEMM in fp8-block on SM90: invariant\n") != std::string::npos);
  CHECK(run.out.find("\n  TRITON in fp8-block on SM90: changes: from 64 to 65 tokens, without a tuned file\n") != std::string::npos);
  const auto word = [](const std::string& words, const char* platform) {
    const mx::support::Json json = run_json(words);
    for (const mx::support::Json& one : json["sections"][0]["deployments"]) {
      if (one["platform"] == platform) return one["backends"]["TRITON"]["batch"].get<std::string>();
    }
    return std::string("no such platform");
  };
  CHECK(word(fp8, "SM90") == "changes: from 64 to 65 tokens, without a tuned file");
  CHECK(word(fp8, "SM100") == "unknown: its launches were compared on sm90 alone");
  CHECK(word(fp8 + " --env VLLM_BATCH_INVARIANT=1", "SM90") == "invariant");
}

TEST_CASE("matrix as a table: a line for each backend, a column for each platform") {
  const Run run = run_mxact(kSmall);
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(run.out.find("gpt-oss-120b in mxfp4: oracle mxfp4") == 0);
  CHECK(run.out.find("\nTRITON                          CHOSEN    possible  device\n") != std::string::npos);
  CHECK(run.out.find("\nFLASHINFER_TRTLLM_MXFP4_BF16    device    CHOSEN    device\n") != std::string::npos);
  CHECK(run.out.find("\nno backend                                          RAISES\n") != std::string::npos);
  CHECK(run.out.find("\nformat   standard activations asked and batched taken") != std::string::npos);
  CHECK(
      run_mxact(kSmall + " --explain").out.find("\n  SM90 FLASHINFER_TRTLLM_MXFP4_BF16 (TrtLlmMxfp4ExpertsModular): device: cuda capability 90; ") !=
      std::string::npos);
}

TEST_CASE("matrix as JSON") {
  const mx::support::Json json = run_json(kSmall);
  CHECK(json["schema"] == "mxact-matrix/1");
  CHECK(json["counts"]["deployments"] == 6);
  CHECK(json["counts"]["choices"] == 5);
  REQUIRE(json["sections"].size() == 1);
  const mx::support::Json& first = json["sections"][0]["deployments"][0];
  CHECK(first["parallel"] == "tp8");
  CHECK(first["platform"] == "SM90");
  CHECK(first["chosen"] == "TRITON");
  CHECK(first["backends"]["TRITON"]["kernel_class"] == "OAITritonMxfp4ExpertsMonolithic");
  CHECK(first["backends"]["MARLIN"]["state"] == "possible");
  CHECK(first["backends"]["XPU"]["state"] == "refused");
  CHECK(first["backends"]["XPU"]["code"] == "device");
  CHECK_FALSE(first["backends"]["XPU"].contains("text"));
  const mx::support::Json explained = run_json(kSmall + " --explain");
  CHECK(explained["sections"][0]["deployments"][0]["backends"]["XPU"]["text"] == "cuda capability 90; the class needs xpu");
  // A CPU takes no batched activations.
  CHECK(json["sections"][0]["deployments"][5]["chosen"].is_null());
  CHECK(json["sections"][0]["deployments"][5]["refusal"] == "ValueError");
}

TEST_CASE("the full matrix has at least 20,000 deployments, and every deployment one answer") {
  const mx::support::Json json = run_json("matrix --full --count");
  CHECK(json["counts"]["deployments"].get<int>() >= 20000);
  CHECK(json["counts"]["chosen"] == json["counts"]["choices"]);
  CHECK(json["counts"]["choices"].get<int>() + json["counts"]["refusals"].get<int>() == json["counts"]["deployments"]);
  const Run text = run_mxact("matrix --count");
  CHECK(text.status == 0);
  CHECK(text.err.find(" deployments in ") != std::string::npos);
}

TEST_CASE("matrix as a picture and as a page: whole, from one file, for light and dark") {
  const ScratchDirectory scratch;
  for (const char* name : {"matrix.svg", "matrix.html"}) {
    const std::filesystem::path path = scratch.path() / name;
    const Run run = run_mxact(kSmall + " -o " + path.string());
    INFO(name << run.err);
    CHECK(run.status == 0);
    CHECK(run.out.empty());
    const std::string text = content(path);
    CHECK(text.find("prefers-color-scheme:dark") != std::string::npos);
    // Two tables of backends; the chosen cells of both: TRITON, TRTLLM and CPU, and BATCHED_MARLIN twice.
    // On the page, neighbours that say the same are one cell.
    CHECK(times(text, ">CHOSEN</t") + times(text, "<td class=\"chosen\" colspan=\"2\"") ==
          5 + 1 * static_cast<std::size_t>(std::string(name).ends_with("svg")));
    CHECK(times(text, ">RAISES</t") == 1 + 1 * static_cast<std::size_t>(std::string(name).ends_with("svg")));
    // Nothing is fetched from elsewhere.
    for (const char* outside : {"src=", "href=", "url(", "@import"}) CHECK(text.find(outside) == std::string::npos);
    const Run again = run_mxact(kSmall + " -o " + path.string());
    CHECK(again.status == 3);
    CHECK(content(path) == text);
    CHECK(run_mxact(kSmall + " --force -o " + path.string()).status == 0);
  }
}

TEST_CASE("the page of the full matrix is below 2 MB") {
  const ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path() / "full.html";
  CHECK(run_mxact("matrix --full -o " + path.string()).status == 0);
  CHECK(std::filesystem::file_size(path) > 500'000);
  CHECK(std::filesystem::file_size(path) < 2'000'000);
}

TEST_CASE("matrix: misuse gets one line and exit 2") {
  struct Row {
    const char* arguments;
    const char* message;
  };
  const Row rows[] = {{"matrix --model gpt-oss-12b", "unknown model 'gpt-oss-12b' (did you mean gpt-oss-120b?)"},
                      {"matrix --platform SM101", "unknown platform 'SM101'"},
                      {"matrix --parallel tp8-pe --parallel tp8", "unknown parallelism 'tp8-pe' (did you mean tp8-ep"},
                      {"matrix --scheme fp9", "unknown scheme 'fp9'"},
                      {"matrix --oracle nvpf4", "unknown oracle 'nvpf4' (did you mean nvfp4?)"},
                      {"matrix --platform CPU --platform cpu", "platform CPU is given twice"},
                      {"matrix --env VLLM_USE_DEEP_GEMM", "--env takes NAME=VALUE, not 'VLLM_USE_DEEP_GEMM'"},
                      {"matrix --env VLLM_USE_DEEP_GEM=1", "unknown variable 'VLLM_USE_DEEP_GEM'"},
                      {"matrix --env VLLM_USE_DEEP_GEMM=1 --env VLLM_USE_DEEP_GEMM=0", "--env VLLM_USE_DEEP_GEMM is given twice"},
                      {"matrix --full --scheme mxfp4", "excludes"},
                      {"matrix --model Mixtral-8x7B --oracle nvfp4", "no checkpoint of these models comes in these schemes for these oracles"},
                      {"matrix --model gpt-oss-20b -o matrix.png", "-o takes a file that ends in .svg or .html, not 'matrix.png'"}};
  for (const Row& row : rows) {
    const Run run = run_mxact(row.arguments);
    INFO("mxact " << row.arguments << "\n" << run.err);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(run.err.find(row.message) != std::string::npos);
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
}
