// No row says more than was run: rows that say "run" name recordings, and the recordings are there.

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/families/arithmetic.hpp"
#include "model/grounds.hpp"
#include "model/numerics/contract.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"

namespace mx::golden::test {
namespace {

const std::filesystem::path kRoot = MXACT_ROOT;

/// Whether a set has entries whose ids contain the text, or a test has its file.
bool is_there(const Recording& recording) {
  const std::filesystem::path path = kRoot / recording.path;
  if (!std::filesystem::is_directory(path)) return recording.entry.empty() && std::filesystem::is_regular_file(path);
  const Json manifest = read_json(path / "manifest.json");
  return std::ranges::any_of(manifest.at("entries"),
                             [&](const Json& entry) { return entry.at("id").get<std::string>().find(recording.entry) != std::string::npos; });
}

void check(std::string_view row, Grounds grounds, std::span<const Recording> recordings) {
  INFO(row << " says " << name_of(grounds));
  CHECK(needs_recording(grounds) == !recordings.empty());
  for (const Recording& recording : recordings) {
    INFO(recording.path << " " << recording.entry);
    CHECK(is_there(recording));
  }
}

TEST_CASE("a row that says run names a recording, and it is there", "[witness]") {
  for (const ContractRow& row : all_contracts()) check(row.name, row.grounds, row.recordings);
  for (const sim::Quantizer& row : sim::all_quantizers()) check(row.name, row.grounds, row.recordings);
  for (const sim::ExecutionRow& row : sim::execution_rows()) check(row.backend, row.grounds, row.recordings);
  for (const sim::UnitRow& row : sim::unit_rows()) {
    INFO(row.source);
    if (needs_recording(row.grounds)) CHECK(row_of(row.contract).grounds == row.grounds);
  }
  CHECK_FALSE(is_there({"golden/witness/numerics/gemm_hopper", "no entry has this"}));
  CHECK_FALSE(is_there({"golden/witness/none"}));
}

TEST_CASE("what a row stands on is no more than its weakest part") {
  using enum Grounds;
  CHECK(weaker(run, read) == read);
  CHECK(weaker(assumed, definition) == assumed);
  CHECK(weaker(run_by_parts, run) == run_by_parts);
  CHECK(weaker(published, read) == published);
}

// Whose kernels were seen to compute something else.
TEST_CASE("rows that real kernels contradicted are flagged on the device that showed it") {
  struct Flagged {
    layout::WeightFormat format;
    std::string_view backend;
    layout::Arch arch;
  };
  using layout::Arch, layout::WeightFormat;
  for (const Flagged& one : {Flagged{WeightFormat::mxfp4, "TRITON", Arch::sm90},
                             {WeightFormat::mxfp4, "MARLIN", Arch::sm90},
                             {WeightFormat::nvfp4, "MARLIN", Arch::sm90},
                             {WeightFormat::fp8_tensor, "MARLIN", Arch::sm90},
                             {WeightFormat::fp8_channel, "MARLIN", Arch::sm90},
                             {WeightFormat::fp8_block, "MARLIN", Arch::sm90},
                             {WeightFormat::fp8_tensor, "TRITON", Arch::sm90},
                             {WeightFormat::fp8_channel, "TRITON", Arch::sm90},
                             {WeightFormat::fp8_block, "TRITON", Arch::sm90},
                             {WeightFormat::mxfp4, "HUMMING", Arch::sm90},
                             {WeightFormat::int4, "CUTLASS", Arch::sm90},
                             {WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16", Arch::sm90},
                             {WeightFormat::mxfp4, "CPU", Arch::cpu},
                             {WeightFormat::fp8_block, "CPU", Arch::cpu}}) {
    INFO(one.backend << " " << layout::name_of(one.format));
    const sim::ExecutionRow& row = sim::execution_of(one.format, one.backend);
    const sim::Quantizer& none = sim::quantizer_named("none");
    CHECK_FALSE(row.differences.empty());
    CHECK_FALSE(sim::differences_of(row, one.arch, none, none).empty());
  }
  const sim::Quantizer& none = sim::quantizer_named("none");
  const sim::ExecutionRow& mixed = sim::execution_of(WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16");
  CHECK(sim::differences_of(mixed, Arch::gfx950, none, none).empty());
}

TEST_CASE("the legend of the glossary is the model's") {
  std::ifstream file(kRoot / "docs" / "glossary.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  for (const GroundsWord& word : grounds_legend())
    CHECK(page.find("| " + std::string(word.name) + " | " + std::string(word.meaning) + " |") != std::string::npos);
  CHECK(page.find("| " + std::string(kKnownToDiffer) + " | " + std::string(kKnownToDifferMeaning) + " |") != std::string::npos);
}

}  // namespace
}  // namespace mx::golden::test
