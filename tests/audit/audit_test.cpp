// The audit and its ledger, the places known beforehand, the smallest deployments, strict selection, and the document.

#include "model/audit/audit.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "model/audit/audit_space.hpp"
#include "model/audit/deployment_text.hpp"
#include "model/audit/findings.hpp"
#include "model/audit/findings_text.hpp"
#include "model/audit/known_places.hpp"
#include "model/audit/placement.hpp"
#include "model/audit/strict.hpp"
#include "model/deployment/models.hpp"
#include "model/error.hpp"
#include "support/deployment_file.hpp"
#include "support/findings_file.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::audit;
using namespace mx::deployment;
using namespace mx::engine;
using namespace mx::families;
using mx::support::known_findings;
using mx::support::known_places;
using mx::support::parse_deployment_file;

namespace {

std::string answer(const StrictDecision& strict) {
  std::string text;
  for (const Skipped& one : strict.skipped) text += "-" + std::string(one.backend) + ":" + std::string(one.need->id) + " ";
  return text + (strict.decision.choice ? strict.decision.choice->backend : strict.decision.refusal->error_type);
}

std::string strict(const std::string& info) {
  const mx::support::DeploymentFile file = parse_deployment_file(info, "f.info");
  return answer(select_strict(mx::deployment::kVllm2026_05, file.oracle, file.deployment));
}

}  // namespace

TEST_CASE("the audit finds what the ledger lists") {
  const AuditReport report = audit(mx::deployment::kVllm2026_05, oracle_names(mx::deployment::kVllm2026_05));
  CHECK(report.deployments > 1000000);
  CHECK(report.choices > 100000);
  CHECK(report.violations.size() == known_findings().size());
  for (const std::string& line : differences(report, oracle_names(mx::deployment::kVllm2026_05), known_findings())) FAIL_CHECK(line);
}

TEST_CASE("an unexpected, a vanished and a changed finding are differences") {
  const std::string_view oracles[] = {"w4a8"};
  AuditReport report = audit(mx::deployment::kVllm2026_05, oracles);
  REQUIRE(differences(report, oracles, known_findings()).empty());
  const Violation first = report.violations.front();
  report.violations.erase(report.violations.begin());
  REQUIRE(differences(report, oracles, known_findings()).size() == 1);
  CHECK(differences(report, oracles, known_findings())[0].starts_with("vanished: w4a8 "));
  report.violations.push_back(first);
  report.violations.back().smallest.layer.hidden += 256;
  CHECK(differences(report, oracles, known_findings())[0].starts_with("another smallest deployment: w4a8 "));
  report.violations.back() = first;
  report.violations.back().backend = "MARLIN";
  const std::vector<std::string> lines = differences(report, oracles, known_findings());
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("new: w4a8 MARLIN"));
  CHECK(lines[1].starts_with("vanished: "));
}

TEST_CASE("a row too few, one too many and a changed one are differences") {
  const std::string_view oracles[] = {"w4a8"};
  const AuditReport report = audit(mx::deployment::kVllm2026_05, oracles);
  std::vector<Finding> ledger(known_findings().begin(), known_findings().end());
  const Finding last = ledger.back();
  REQUIRE(last.oracle == "w4a8");
  const std::string name = "w4a8 " + last.backend + "/" + last.kernel_class + " " + last.need;
  ledger.pop_back();
  REQUIRE(differences(report, oracles, ledger).size() == 1);
  CHECK(differences(report, oracles, ledger)[0] == "new: " + name + ": " + info_text(mx::deployment::kVllm2026_05, "w4a8", last.smallest));
  ledger.push_back(last);
  ledger.back().smallest.layer.hidden += 256;
  REQUIRE(differences(report, oracles, ledger).size() == 1);
  CHECK(differences(report, oracles, ledger)[0].starts_with("another smallest deployment: " + name + ": "));
  ledger.back() = last;
  ledger.push_back(last);
  ledger.back().need = "device_of_nobody";
  CHECK(differences(report, oracles, ledger) ==
        std::vector<std::string>{"vanished: w4a8 " + last.backend + "/" + last.kernel_class + " device_of_nobody"});
}

TEST_CASE("every smallest deployment shows its finding, and its text is read back") {
  for (const Finding& finding : known_findings()) {
    const std::string text = info_text(mx::deployment::kVllm2026_05, finding.oracle, finding.smallest);
    INFO(finding.oracle << " " << finding.backend << " " << finding.kernel_class << " " << finding.need << ": " << text);
    CHECK(shows(finding, finding.smallest));
    const mx::support::DeploymentFile file = parse_deployment_file(text, "ledger");
    CHECK(file.oracle == finding.oracle);
    CHECK(file.deployment == finding.smallest);
  }
}

TEST_CASE("a placement that shows a finding leads to its row, one by another method to none that takes the method") {
  int by_method = 0;
  for (const Finding& finding : known_findings()) {
    const KernelNeed& need = need_of(finding);
    if (&need == &no_needless_refusal()) continue;  // shown by a refusal, which is placed nowhere
    INFO(finding.oracle << " " << finding.backend << " " << finding.kernel_class << " " << finding.need);
    const Deployment& deployment = finding.smallest;
    const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, finding.oracle);
    const auto placement = place(tables, deployment, select(tables, deployment));
    REQUIRE(placement);
    CHECK(find_finding(known_findings(), *placement, need) == &finding);
    if (deployment.quant_method == "own") continue;
    ++by_method;
    Deployment own = deployment;
    own.quant_method = "own";
    const Placement by_own{own,
                           placement->engine,
                           placement->oracle,
                           placement->backend,
                           placement->kernel_class,
                           placement->hidden,
                           placement->intermediate,
                           placement->weight_key};
    CHECK(find_finding(known_findings(), by_own, need) == nullptr);
  }
  CHECK(by_method > 0);
}

TEST_CASE("needs, schemes and models that the tables lack are refused by name") {
  using mx::tests::message_of;
  using mx::tests::says;
  Finding unknown = known_findings().front();
  unknown.need = "no_such_need";
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { need_of(unknown); }), "no need " + unknown.oracle));
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { need_of(unknown); }), " no_such_need"));
  const std::string scheme(schemes().front().name), model(models().front().name);
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { scheme_named(scheme + "x"); }), "unknown scheme '" + scheme + "x' (did you mean " + scheme));
  CHECK(says(message_of(mx::ErrorCode::usage, [&] { model_named(model + "x"); }), "unknown model '" + model + "x' (did you mean "));
}

TEST_CASE("hardware that no preset has, and empty variables, are written so that they are read back") {
  const std::string layer = " layer { experts 4 top_k 1 hidden 2048 intermediate 2048 }";
  for (const char* hardware : {"platform cuda capability 101", "platform rocm gcn_arch gfx1103", "platform cpu amx false"}) {
    const std::string text = "hardware { " + std::string(hardware) + " }" + layer + " env { VLLM_BATCH_INVARIANT \"\" }";
    const Deployment deployment = parse_deployment_file(text, "f.info").deployment;
    CHECK(info_text(mx::deployment::kVllm2026_05, "mxfp4", deployment) == text);
  }
}

TEST_CASE("places known beforehand are findings or say why they are not seen") {
  int number = 0;
  for (const KnownPlace& place : known_places()) {
    INFO(place.number << " " << place.what);
    CHECK(place.number == ++number);
    CHECK(place.shown.empty() != place.why_unseen.empty());
    for (const FindingId& shown : place.shown) {
      INFO(shown.backend << " " << shown.need);
      CHECK(find_finding(known_findings(), shown.oracle, shown.backend, shown.kernel_class, shown.need) != nullptr);
    }
  }
  CHECK(number == 28);
  // What is called unreachable is: the needs are there, and no finding breaks them.
  for (const Finding& finding : known_findings()) {
    CHECK(finding.need != "fn_codes");
    const bool aiter = finding.oracle.starts_with("mxfp4") && finding.kernel_class == "AiterExperts";
    CHECK_FALSE((aiter && (finding.need == "sizes" || finding.need == "device")));
  }
}

TEST_CASE("a known device that is refused is a finding") {
  CHECK(find_finding(known_findings(), "nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "refused") != nullptr);
  CHECK(find_finding(known_findings(), "mxfp4", "TRITON", "OAITritonExperts", "refused") == nullptr);  // its devices are not known
}

TEST_CASE("strict selection skips what cannot do the work and says why") {
  const std::string layer = " layer { experts 128 top_k 8 hidden 2048 intermediate 768 activation SILU bias false }";
  CHECK(strict("platform SM100" + layer) == "-FLASHINFER_TRTLLM_MXFP4_BF16:oai_constants -FLASHINFER_TRTLLM_MXFP4_BF16:oai_constants MARLIN");
  CHECK(strict("platform SM90 layer { experts 128 top_k 4 hidden 2880 intermediate 2880 }") ==
        "-TRITON:scale_groups -TRITON:scale_groups FLASHINFER_CUTLASS_MXFP4_BF16");
  CHECK(strict("platform SM90 layer { experts 128 top_k 4 hidden 2816 intermediate 2816 }") == "TRITON");
  CHECK(strict("platform SM100 backend deep_gemm layer { experts 128 top_k 8 hidden 2048 intermediate 768 activation SILU }") ==
        "-DEEPGEMM_MXFP4:bias ValueError");
  CHECK(strict("platform SM100 env { VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS 1 }" + layer) ==
        "-FLASHINFER_CUTLASS_MXFP4_MXFP8:oai_constants ValueError");
  CHECK(strict("platform SM100 quant_method compressed_tensors layer { experts 128 top_k 4 hidden 2880 intermediate 2880 bias false }") ==
        "-NOT_ASKED:sizes FLASHINFER_TRTLLM_MXFP4_BF16");
  CHECK(strict("platform SM100 quant_method compressed_tensors layer { experts 128 top_k 4 hidden 3072 intermediate 3072 bias false }") ==
        "NOT_ASKED");
  CHECK(strict("oracle w4a8 platform SM100" + layer) == "-CUTLASS:device NotImplementedError");
}

TEST_CASE("strict selection never breaks a need and changes nothing that works") {
  constexpr std::uint64_t kStride = 211;  // prime, so that every dimension of the product is met
  std::uint64_t index = 0, skipping = 0;
  for (std::string_view oracle : oracle_names(mx::deployment::kVllm2026_05)) {
    const OracleTables& tables = tables_of(mx::deployment::kVllm2026_05, oracle);
    for_each_deployment(tables, [&](const Deployment& deployment) {
      if (index++ % kStride != 0) return;
      const StrictDecision decision = select_strict(mx::deployment::kVllm2026_05, oracle, deployment);
      const Decision plain = decide(tables, deployment);
      if (!decision.skipped.empty()) ++skipping;
      if (decision.decision.choice) {
        const auto placement = place(tables, decision.asked, decision.decision);
        const bool clean = !placement || first_broken_need(*placement) == nullptr;
        if (!clean) FAIL_CHECK(info_text(mx::deployment::kVllm2026_05, oracle, deployment));
      }
      const auto placement = place(tables, deployment, plain);
      const bool works = placement && first_broken_need(*placement) == nullptr;
      if (works && (!decision.decision.choice || decision.decision.choice->backend != plain.choice->backend))
        FAIL_CHECK(info_text(mx::deployment::kVllm2026_05, oracle, deployment));
    });
  }
  CHECK(skipping > 100);
}

TEST_CASE("the text of the ledger has every finding and every place, and the page counts them") {
  const std::string ledger = findings_markdown(known_findings(), known_places());
  std::map<std::string, int> needs;  // by heading
  std::size_t subjects = 0;
  std::istringstream lines(ledger);
  std::string heading, need;
  std::set<std::pair<std::string, std::string>> seen;  // a need, and an oracle with a backend and its class
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) heading = line.substr(3);
    if (line.starts_with("* **")) {
      ++needs[heading];
      need = line.substr(4, line.find("**", 4) - 4);
    }
    if (!line.starts_with("    * ") || line.starts_with("    * smallest")) continue;
    const std::size_t colon = line.find(": ");
    std::string rest = line.substr(colon + 2, line.size() - colon - 3) + ", ";
    for (std::size_t end = rest.find(", "); end != std::string::npos; end = rest.find(", ")) {
      seen.insert({need, line.substr(6, colon - 6) + " " + rest.substr(0, end)});
      rest = rest.substr(end + 2);
      ++subjects;
    }
  }
  CHECK(subjects == known_findings().size());
  for (const Finding& finding : known_findings()) {
    const std::string of = finding.backend == kAnyBackend ? "every backend" : finding.backend + " (" + finding.kernel_class + ")";
    INFO(finding.oracle << " " << of << " " << finding.need);
    CHECK(seen.contains({finding.need, finding.oracle + " " + of}));
  }
  const auto shown = static_cast<std::size_t>(std::ranges::count_if(known_places(), [](const KnownPlace& place) { return !place.shown.empty(); }));
  for (const KnownPlace& place : known_places())
    CHECK(ledger.find("| " + std::to_string(place.number) + " | " + std::string(place.what)) != std::string::npos);
  const int silent = needs["Silent corruption"], errors = needs["Errors"], slow = needs["Slow paths"];
  std::ostringstream counts;
  counts << known_findings().size() << " findings, one for each (oracle, backend, class, need), break " << silent + errors + slow
         << " needs: " << silent << " corrupt silently, " << errors << " raise errors, " << slow << " is slow. " << known_places().size()
         << " places were known from the engine's issues before there was an audit; " << shown << " of them are among the findings, "
         << known_places().size() - shown << " ";
  std::ifstream stream(std::string(MXACT_SOURCE_DIR) + "/docs/findings.md");
  REQUIRE(stream.good());
  std::stringstream page;
  page << stream.rdbuf();
  std::string text = page.str();
  std::ranges::replace(text, '\n', ' ');
  INFO(counts.str());
  CHECK(text.find(counts.str()) != std::string::npos);
}

TEST_CASE("what later versions make of a finding: mended, refused, chosen otherwise or still shown") {
  const auto answer = [](const char* oracle, const char* backend, const char* kernel_class, const char* need, mx::deployment::Engine later) {
    const Finding* row = find_finding(known_findings(), oracle, backend, kernel_class, need);
    REQUIRE(row != nullptr);
    const KernelNeed& of = need_of(*row);
    return answer_at(later, {oracle, backend, kernel_class, &of, 1, row->smallest});
  };
  using enum AnswerThere;
  // vllm pull request 45836: NVFP4's MARLIN clamps since June; 42209: CUTEDSL_BATCHED is refused with a limit; fp8 blocks without a limit of SILU
  // are computed on gfx942 without it until November.
  CHECK(answer("nvfp4", "FLASHINFER_CUTLASS", "FlashInferExperts", "silu_limit", mx::deployment::kVllm2026_08) == mended);
  CHECK(answer("nvfp4", "FLASHINFER_TRTLLM", "TrtLlmNvFp4ExpertsModular", "silu_limit", mx::deployment::kVllm2026_11) == mended);
  CHECK(answer("nvfp4", "FLASHINFER_B12X", "FlashInferB12xExperts", "silu_limit", mx::deployment::kVllm2026_08) == refused);
  CHECK(answer("fp8", "TRITON", "TritonExperts", "silu_limit", mx::deployment::kVllm2026_08) == shown);
  CHECK(answer("fp8", "TRITON", "TritonExperts", "silu_limit", mx::deployment::kVllm2026_11) == mended);
}
