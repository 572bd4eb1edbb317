// The ledger's files: what they give, and what is said about mistakes.

#include "support/findings_file.hpp"

#include <set>
#include <string>
#include <tuple>

#include "support/file.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::audit;

using mx::support::parse_findings;
using mx::support::parse_known_places;
using mx::tests::message_of;

namespace {

const std::string kDeployment = "{ platform SM90 layer { experts 4 top_k 1 hidden 2048 intermediate 384 } }\n";
const std::string kSizes = "sizes " + kDeployment;

/// Findings of the one class of w4a8.
std::string of_class(const std::string& rows) { return "w4a8 {\nCUTLASS {\nCutlassExpertsW4A8Fp8 {\n" + rows + "}\n}\n}\n"; }

std::string place(const std::string& name, const std::string& rest) { return name + " {\nwhat \"a place\"\n" + rest + "\n}\n"; }

std::string refused(const std::string& text) {
  return message_of(mx::ErrorCode::input, [&] { parse_findings(text, "f.info"); });
}
std::string refused_place(const std::string& text) {
  return message_of(mx::ErrorCode::input, [&] { parse_known_places(text, "p.info"); });
}

struct Row {
  std::string text;
  std::string message;
};

}  // namespace

TEST_CASE("findings are read in the order of the file, each with its deployment") {
  const auto findings = parse_findings("w4a8 { any { weight_of_one " + kDeployment + "}\nCUTLASS { CutlassExpertsW4A8Fp8 {\n" + kSizes + "rows " +
                                           kDeployment + "} } }\nmxfp4 { NOT_ASKED { CutlassExpertsMxfp4 { wish " + kDeployment + "} } }",
                                       "f.info");
  REQUIRE(findings.size() == 4);
  std::string names;
  for (const Finding& finding : findings) names += finding.oracle + " " + finding.backend + "/" + finding.kernel_class + " " + finding.need + "\n";
  CHECK(names ==
        "w4a8 any/ weight_of_one\nw4a8 CUTLASS/CutlassExpertsW4A8Fp8 sizes\nw4a8 CUTLASS/CutlassExpertsW4A8Fp8 rows\n"
        "mxfp4 NOT_ASKED/CutlassExpertsMxfp4 wish\n");
  CHECK(findings[1].smallest.layer.intermediate_per_partition == 384);
  // Keys that are left out are those of the oracle that the finding is of.
  CHECK(findings[0].smallest.weight_key == "kInt4Static");
  CHECK(findings[3].smallest.weight_key == "kMxfp4Static");
}

TEST_CASE("a finding that the tables or the reader do not know is refused, with its line") {
  const Row rows[] = {
      {"", "the ledger has nothing in it"},
      {"; nothing", "the ledger has nothing in it"},
      {"w4a9 {\nCUTLASS { }\n}", "f.info:1: unknown oracle 'w4a9' (did you mean w4a8?)"},
      {"W4A8 {\nCUTLASS { }\n}", "f.info:1: unknown oracle 'W4A8' (did you mean w4a8?)"},
      {"w4a8 1", "f.info:1: w4a8 takes a block in braces, not a value"},
      {"w4a8 { }", "f.info:1: w4a8 has nothing in it"},
      {"w4a8 {\nCUTLAS { }\n}", "f.info:2: unknown backend of w4a8 'CUTLAS' (did you mean CUTLASS?)"},
      {"w4a8 {\nCUTLASS { }\n}", "f.info:2: CUTLASS has nothing in it"},
      {"w4a8 {\nany { }\n}", "f.info:2: any has nothing in it"},
      {"w4a8 {\nCUTLASS {\nMarlinExperts { }\n}\n}", "f.info:3: unknown class of CUTLASS 'MarlinExperts' (known: CutlassExpertsW4A8Fp8)"},
      {of_class(""), "f.info:3: CutlassExpertsW4A8Fp8 has nothing in it"},
      {of_class("size " + kDeployment), "f.info:4: unknown need of w4a8 CutlassExpertsW4A8Fp8 'size' (did you mean sizes?)"},
      {of_class(kSizes + kSizes), "f.info:5: 'sizes' is already given in line 4"},
      {of_class(kSizes) + of_class("rows " + kDeployment), "f.info:8: 'w4a8' is already given in line 1"},
      {of_class("sizes 1\n"), "f.info:4: w4a8.CUTLASS.CutlassExpertsW4A8Fp8.sizes takes a block in braces, not a value"},
      {of_class("sizes {\nplatform SM90\n}\n"), "f.info:4: w4a8.CUTLASS.CutlassExpertsW4A8Fp8.sizes.layer is missing"},
      {of_class("sizes {\noracle w4a8\nplatform SM90\nlayer { experts 4 top_k 1 hidden 64 intermediate 64 }\n}\n"),
       "f.info:5: unknown key of w4a8.CUTLASS.CutlassExpertsW4A8Fp8.sizes 'oracle'"},
      {of_class("sizes {\nplatform SM91\nlayer { experts 4 top_k 1 hidden 64 intermediate 64 }\n}\n"), "f.info:5: "},
      {of_class("sizes {\nplatform SM90\nlayer { experts 4 top_k 5 hidden 64 intermediate 64 }\n}\n"),
       "top_k is '5', must be a whole number in [1, 4]"},
      {of_class("sizes {\nplatform SM90\nquantization_override mxfp8\nlayer { experts 4 top_k 1 hidden 64 intermediate 64 }\n}\n"),
       "f.info:6: quantization_override: oracle w4a8 does not read it"},
      {of_class(kSizes) + "}", "f.info:8: '}' closes nothing"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK_THAT(refused(row.text), Catch::Matchers::Contains(row.message));
  }
}

TEST_CASE("places are numbered, and each is shown or says why it is not") {
  const std::string shown = "shown { w4a8 { any { exchange { } } CUTLASS { CutlassExpertsW4A8Fp8 { bias { } rows { } } } } }";
  const auto places = parse_known_places(place("place-1", shown) + place("place-2", "unseen \"nobody looks\""), "p.info");
  REQUIRE(places.size() == 2);
  CHECK(places[0].number == 1);
  CHECK(places[0].what == "a place");
  REQUIRE(places[0].shown.size() == 3);
  CHECK(places[0].shown[0].kernel_class == "");
  CHECK(places[0].shown[2].need == "rows");
  CHECK(places[0].why_unseen == "");
  CHECK(places[1].number == 2);
  CHECK(places[1].shown.empty());
  CHECK(places[1].why_unseen == "nobody looks");
  const Row rows[] = {
      {"", "the file has nothing in it"},
      {place("place-2", shown), "p.info:1: place-2 must be place-1: places are numbered from 1"},
      {place("place-1", shown) + place("place-3", shown), "p.info:5: place-3 must be place-2"},
      {place("place-1", ""), "p.info:1: place-1 must have one of shown and unseen"},
      {place("place-1", shown + "\nunseen \"why\""), "p.info:1: place-1 must have one of shown and unseen"},
      {"place-1 {\n" + shown + "\n}", "p.info:1: place-1.what is missing"},
      {place("place-1", shown + "\nwhere x"), "p.info:4: unknown key of place-1 'where'"},
      {place("place-1", "shown { w4a8 { any { exchanges { } } } }"), "p.info:3: unknown need of w4a8 any 'exchanges' (did you mean exchange?)"},
      {place("place-1", "shown { w4a8 { any { exchange { platform SM90 } } } }"),
       "p.info:3: unknown key of place-1.shown.w4a8.any.exchange 'platform'"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK_THAT(refused_place(row.text), Catch::Matchers::Contains(row.message));
  }
}

TEST_CASE("what is built in is what the files say, each finding once") {
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
  for (const Finding& finding : mx::support::known_findings()) {
    INFO(finding.oracle << " " << finding.backend << " " << finding.kernel_class << " " << finding.need);
    CHECK(seen.insert({finding.oracle, finding.backend, finding.kernel_class, finding.need}).second);
  }
  const std::string folder = std::string(MXACT_SOURCE_DIR) + "/model/audit/";
  std::size_t next = 0;
  for (const char* oracle : {"mxfp4", "mxfp4_deepseek_v4", "nvfp4", "fp8", "mxfp8", "w4a8"}) {
    const std::string path = folder + "findings_" + oracle + ".info";
    const auto bytes = mx::support::read_file(path, 1 << 20);
    for (const Finding& finding : parse_findings({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path)) {
      INFO(finding.backend << " " << finding.kernel_class << " " << finding.need);
      CHECK(finding.oracle == oracle);
      REQUIRE(next < mx::support::known_findings().size());
      const Finding& known = mx::support::known_findings()[next++];
      CHECK(std::tie(finding.oracle, finding.backend, finding.kernel_class, finding.need) ==
            std::tie(known.oracle, known.backend, known.kernel_class, known.need));
      CHECK(finding.smallest == known.smallest);
    }
  }
  CHECK(next == mx::support::known_findings().size());
}
