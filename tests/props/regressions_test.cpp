// The recorded failures of tests/props/regressions: each is named after the planted fault that brings it back. With the fault the case fails as it
// did; without it the case holds.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "props/failure_file.hpp"
#include "props/faults.hpp"
#include "tests/catch.hpp"
#include "tests/props/all_laws.hpp"

namespace {

using mx::fault::Fault;
using mx::props::FailureFile;
using mx::props::Law;
using mx::props::Outcome;

const std::filesystem::path kFolder = std::filesystem::path(MXACT_SOURCE_DIR) / "tests" / "props" / "regressions";

Law law_named(std::string_view id) {
  for (const Law& law : mx::tests::all_laws()) {
    if (law.id == id) return law;
  }
  FAIL("no law " << id);
  return {};
}

Fault fault_named(std::string_view id) {
  for (const mx::props::FaultRow& row : mx::props::all_faults()) {
    if (row.id == id) return row.fault;
  }
  FAIL("no planted fault " << id);
  return Fault::none;
}

Outcome outcome_with(Fault fault, const Law& law) {
  mx::fault::set_active(fault);
  const Outcome outcome = law.run(law);
  mx::fault::set_active(Fault::none);
  return outcome;
}

Outcome replayed(Fault fault, const FailureFile& failure) {
  const mx::props::Replaying replaying(failure.reproduce);
  return outcome_with(fault, law_named(failure.law));
}

}  // namespace

TEST_CASE("recorded failures are back with their fault and gone without it") {
  const std::vector<std::filesystem::path> files = mx::props::failure_files(kFolder);
  CHECK(files.size() >= 10);  // one that is lost would be missed by nobody
  for (const std::filesystem::path& path : files) {
    INFO(path);
    const FailureFile failure = mx::props::read_failure(path);
    const Outcome wrong = replayed(fault_named(path.stem().string()), failure);
    INFO(wrong.message);
    CHECK_FALSE(wrong.held);
    CHECK(wrong.message.find("Falsifiable after 1 tests") != std::string::npos);
    const Outcome right = replayed(Fault::none, failure);
    INFO(right.message);
    CHECK(right.held);
  }
}

/// What writes them anew when a generator has changed: test_faults '[.record]' in the source's folder.
TEST_CASE("record the failures again", "[.record]") {
  unsetenv("RC_PARAMS");
  for (const auto& [fault, id] : {std::pair{"encode_ties_away", "N2/e4m3fn"},
                                  {"encode_drops_sticky", "N2/e2m1"},
                                  {"overflow_ignores_rounding", "N3/fp16"},
                                  {"sf128x4_only_padded", "L2/flashinfer_cutlass"},
                                  {"shuffle_a_wrong_stride", "L2/trtllm"},
                                  {"restore_mixes_padding", "L4/marlin"},
                                  {"halves_not_swapped", "L8/trtllm"},
                                  {"router_negative_is_zero", "S2/deepseek-v3-vllm"},
                                  {"oracle_ignores_wish", "O2/wish"},
                                  {"oracle_moves_nothing_to_front", "O3/order"},
                                  {"oracle_hides_refusals", "O6/visible"}}) {
    INFO(fault << " " << id);
    const Law law = law_named(id);
    const Outcome outcome = outcome_with(fault_named(fault), law);
    REQUIRE_FALSE(outcome.held);
    FailureFile failure = mx::props::failure_of(law, outcome);
    failure.deployment.clear();  // the replay draws it again
    if (failure.command.starts_with("mxact select")) failure.command.clear();
    const std::filesystem::path written = mx::props::write_failure(kFolder, failure);
    std::filesystem::rename(written, kFolder / (std::string(fault) + ".json"));
  }
}
