// JUnit's XML and Markdown of the verbs that check something, held to a schema by a program that is not ours.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/run_program.hpp"
#include "tests/skip.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_mxact;
using mx::tests::run_program;
using mx::tests::ScratchDirectory;

namespace fs = std::filesystem;

const fs::path kRoot = MXACT_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

bool has_validator() { return run_program("command", "-v xmllint").status == 0; }

void check_valid(const fs::path& xml) {
  const Run run = run_program("xmllint", "--noout --schema " + quoted(kRoot / "tests/cli/junit.xsd") + " " + quoted(xml));
  INFO(run.err << text_of(xml));
  CHECK(run.status == 0);
}

/// The checkpoint of the witness with another recorded output: the first number of the first layer, in float64, is 3.
void copy_with_wrong_output(const fs::path& to) {
  fs::copy(kRoot / "golden/witness/checkpoints/tiny-gpt-oss", to, fs::copy_options::recursive);
  std::string bytes = text_of(to / "expected.safetensors");
  std::size_t head = 0;
  for (int i = 7; i >= 0; --i) head = head << 8U | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  REQUIRE(bytes.find("\"layers.0.mlp.out.f64\":{\"dtype\":\"F64\",\"shape\":[9,256],\"data_offsets\":[0,") != std::string::npos);
  bytes.replace(8 + head, 8, std::string("\0\0\0\0\0\0\x08\x40", 8));
  std::ofstream(to / "expected.safetensors", std::ios::binary) << bytes;
}

struct Row {
  std::string command;  ///< behind "mxact "
  int status;
  std::string failure;  ///< a failing case, its name and what it says
  std::string place;
  fs::path input = "/dev/null";
  int errors = 0;
};

}  // namespace

TEST_CASE("JUnit of failing verbs is valid, names the place, and counts what it holds") {
  if (!has_validator()) return mx::tests::skip_without("tool: xmllint");
  const ScratchDirectory scratch;
  const fs::path at = scratch.path();
  // A name that XML and Markdown would read as their own.
  const fs::path checkpoint = at / "a<b> & |\x01\xFF";
  copy_with_wrong_output(checkpoint);
  fs::copy(kRoot / "golden/witness/numerics/routing", at / "set", fs::copy_options::recursive);
  std::string weights = text_of(at / "set/deepseek_v3.weights.f32.bin");
  weights[7] = static_cast<char>(weights[7] ^ 0x40);
  std::ofstream(at / "set/deepseek_v3.weights.f32.bin", std::ios::binary) << weights;
  // MX 1.0 section 5.3.3, magnitudes of e2m1 as bf16, but for the sign of -0.
  std::ofstream(at / "answers") << "0 0000\n1 3f00\n2 3f80\n3 3fc0\n4 4000\n5 4040\n6 4080\n7 40c0\n8 0000\n9 bf00\na bf80\nb bfc0\nc c000\nd c040\n"
                                   "e c080\nf c0c0\n";
  std::ofstream(at / "few") << "0 0000\n1 3f00\n";
  const std::vector<Row> rows{
      {"verify " + quoted(checkpoint) + " --platform SM90 --backend MARLIN --tp 1 --contract exact", 1, "name=\"layer 0\"",
       "place: token 0, column 0"},
      {"verify " + quoted(checkpoint) + " --platform SM90 --backend MARLIN --tp 1 --contract exact", 1, "name=\"layer 0\"",
       "ulp from the recorded float64 output (limit 4"},
      {"witness " + quoted(at / "set"), 1, "name=\"deepseek_v3\"", "place: weights[0][1]: recorded 0x"},
      {"ver e2m1_to_bf16", 1, "name=\"every answer\"", "place: line 9&#10;  a = 0x8 = 1 00 0 = -0", at / "answers"},
      {"ver e2m1_to_bf16", 5, "name=\"every answer\"", "2 of 16 vectors came", at / "few", 2},
      {"sim " + quoted(kRoot / "docs/examples/sim-b200-dp2.info") + " --backend FLASHINFER_CUTLASS_MXFP4_MXFP8", 1, ": dispatch\"",
       "place: rank 0: the kernel reads other numbers than were sent for token 1"},
      {"audit --oracle w4a8", 0, "name=\"any: exchange\"", "<skipped message=\"known: needs the exchange between ranks exists"},
  };
  for (const Row& row : rows) {
    INFO(row.command);
    const Run run = run_mxact(row.command + " --force --junit " + quoted(at / "checks.xml") + " --markdown " + quoted(at / "summary.md"), row.input);
    INFO(run.out << run.err);
    CHECK(run.status == row.status);
    check_valid(at / "checks.xml");
    const std::string xml = text_of(at / "checks.xml");
    const std::size_t found = xml.find(row.failure);
    REQUIRE(found != std::string::npos);
    CHECK(xml.substr(found, xml.find("</testcase>", found) - found).find(row.place) != std::string::npos);
    const auto cases = [&](const std::string& tag) { return count_of(xml, tag); };
    CHECK(xml.find("tests=\"" + std::to_string(cases("<testcase ")) + "\" failures=\"" + std::to_string(cases("<failure ")) + "\" errors=\"" +
                   std::to_string(cases("<error ")) + "\" skipped=\"" + std::to_string(cases("<skipped ")) + "\"") != std::string::npos);
    // Each case and the run as a whole say how long they took.
    CHECK(cases(" time=\"") == cases("<testcase ") + 1);
    // Where a file was read, each case names it.
    if (row.input == "/dev/null" && !row.command.starts_with("audit")) CHECK(cases(" file=\"") + (row.status == 0 ? 0 : 1) == cases("<testcase "));
    CHECK((cases("<failure ") > 0) == (row.status == 1));
    CHECK(cases("<error ") == static_cast<std::size_t>(row.errors));
    const std::string markdown = text_of(at / "summary.md");
    CHECK(markdown.starts_with("### mxact " + row.command.substr(0, row.command.find(' ')) + ": "));
    CHECK(markdown.find("| failed | mistrusted | skipped | passed |\n| --- | --- | --- | --- |\n") != std::string::npos);
  }
}

TEST_CASE("laws and reports write the same JUnit") {
  if (!has_validator()) return mx::tests::skip_without("tool: xmllint");
  const ScratchDirectory scratch;
  const fs::path xml = scratch.path() / "checks.xml";
  REQUIRE(run_program(MXACT_BINARY_DIR "/tests/props/mxact_laws", "N1/e2m1 N1/e4m3fn --junit " + quoted(xml)).status == 0);
  check_valid(xml);
  CHECK(text_of(xml).find("<testcase classname=\"mxact_laws\" name=\"N1/e2m1\" time=\"") != std::string::npos);
  const Run wrong = run_program(MXACT_BINARY_DIR "/tests/props/mxact_laws_example", "wrong --junit " + quoted(xml));
  CHECK(wrong.status == 1);
  check_valid(xml);
  CHECK(text_of(xml).find("again: RC_PARAMS='reproduce=") != std::string::npos);
  REQUIRE(run_mxact("report " + quoted(kRoot / "docs/examples/report/doctor.json") + " --force -o " + quoted(xml)).status == 0);
  check_valid(xml);
  // A case that passed with a word of its own has properties.
  REQUIRE(run_mxact("verify " + mx::tests::tiny() + " --platform SM90 --backend FLASHINFER_CUTLASS_MXFP4_BF16 --tp 1 --layers 1 --force --junit " +
                    quoted(xml))
              .status == 0);
  check_valid(xml);
  CHECK(text_of(xml).find("<property name=\"verdict\" value=\"KNOWN TO DIFFER\"/>") != std::string::npos);
}

TEST_CASE("files of checks are not overwritten, and what cannot be written is said before the work") {
  const ScratchDirectory scratch;
  const std::string set = "witness " + quoted(kRoot / "golden/witness/numerics/routing");
  for (const std::string option : {"--junit", "--markdown"}) {
    const fs::path file = scratch.path() / ("file" + option);
    CHECK(run_mxact(set + " " + option + " " + quoted(file)).status == 0);
    const std::string first = text_of(file);
    CHECK(first.size() > 100);
    const Run again = run_mxact(set + " " + option + " " + quoted(file));
    CHECK(again.status == 3);
    CHECK(again.out.empty());
    CHECK(again.err.find(file.string()) != std::string::npos);
    CHECK(text_of(file) == first);
    CHECK(run_mxact(set + " --force " + option + " " + quoted(file)).status == 0);
    CHECK(run_mxact(set + " " + option + " " + quoted(scratch.path() / "none/file")).status == 6);
  }
}
