// A run that found a difference says where, and how to see it again, in every rendering.

#include "verbs/verify/verify_document.hpp"

#include <fstream>
#include <string>

#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run.hpp"
#include "tests/json_schema.hpp"
#include "tests/json_text.hpp"
#include "tests/sim/verify/scratch.hpp"
#include "tests/skip.hpp"

namespace {

using namespace mx::verbs;

const Head kHead{"1.2", "abc", "mxact verify", "a processor", "2026-01-02T03:04:05Z", 1.25};
const std::string kRoot = MXACT_SOURCE_DIR;

/// Two backends on one platform, of which one converts a byte of w13's weights wrong.
Document failing(const std::filesystem::path& at) {
  mx::checkpoint::write_synthetic_checkpoint(at / "my model", {1, 2, 160, 96, 2, 1});
  mx::sim::VerifyOptions options;
  options.platforms = {"SM100"};
  options.backends = {"TRITON", "MARLIN"};
  options.tp = {1};
  options.tokens = 1;
  options.contracts = {mx::Contract::f32_sequential};
  int layers = 0;
  options.tamper = [&](mx::families::PackedLayer& layer) {
    if (layers++ == 0) layer.tensors.front().bytes[5] ^= 0x10;
  };
  const mx::sim::VerifyReport report = mx::sim::verify(mx::checkpoint::Checkpoint(at / "my model"), options);
  REQUIRE(report.count(mx::sim::Verdict::failed) == 1);
  REQUIRE(report.held() == 1);
  mx::sim::VerifyRequest asked;
  asked.checkpoint = (at / "my model").string();
  asked.contracts = {"f32-sequential"};
  asked.engine = mx::deployment::name_of(options.engine);
  asked.tokens = 1;
  return verify_document(report, asked);
}

}  // namespace

TEST_CASE("a failed cell names the place of the difference and the command that repeats it") {
  const mx::tests::ScratchDirectory scratch;
  const Document document = failing(scratch.path());
  const std::string again = "mxact verify '" + (scratch.path() / "my model").string() + "' --platform SM100 --backend ";
  CHECK(document.exit_code == 1);
  CHECK(document.verdict == "FAILED");

  const Json json = to_json(document, kHead);
  const Json schema = mx::tests::parsed_file(kRoot + "/docs/schema/mxact.json");
  CHECK(mx::tests::JsonSchema(schema).problem(json) == "");
  std::size_t repeated = 0;
  std::string place;
  for (const Json& cell : json["cells"]) {
    CHECK(cell.contains("again") == (cell["verdict"] == "FAILED"));
    if (!cell.contains("again")) continue;
    ++repeated;
    CHECK(cell["again"].text().starts_with(again));
    CHECK(cell["again"].text().ends_with("--tp 1 --tokens 1 --seed 1 --contract f32-sequential"));
    place = json["conversions"][cell["conversion"].get<std::size_t>()]["detail"].text();
  }
  CHECK(repeated == 1);
  CHECK(place.find("w13_weight") != std::string::npos);

  CHECK(to_text(document).find("\nreplay: " + again) != std::string::npos);
  CHECK(to_markdown(document, kHead).find("| failed | mxact.verify.SM100.tp1 ") != std::string::npos);
  const std::string xml = to_junit(document, kHead);
  CHECK(xml.find("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\"") != std::string::npos);
  CHECK(xml.find("place: " + mx::support::xml_text(place) + "&#10;again: " + mx::support::xml_text(again)) != std::string::npos);
}

TEST_CASE("JUnit of a failed cell is valid") {
  if (mx::tests::run_program("command", "-v xmllint").status != 0) return mx::tests::skip_without("tool: xmllint");
  const mx::tests::ScratchDirectory scratch;
  const std::filesystem::path file = scratch.path() / "checks.xml";
  std::ofstream(file) << to_junit(failing(scratch.path()), kHead);
  const mx::tests::Run run = mx::tests::run_program("xmllint", "--noout --schema '" + kRoot + "/tests/cli/junit.xsd' '" + file.string() + "'");
  INFO(run.err);
  CHECK(run.status == 0);
}
