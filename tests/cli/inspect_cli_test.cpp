// inspect as a user types it, and what verify and convert say of the same file.

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "props/checkpoint/defects.hpp"
#include "support/json.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::tests::quoted;
using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;
using mx::tests::tiny;

/// The last scale of layer 1 becomes NaN.
std::string broken_copy(const ScratchDirectory& scratch) {
  const std::filesystem::path copy = scratch.path() / "broken";
  REQUIRE(std::system(("cp -r " + tiny() + " " + quoted(copy)).c_str()) == 0);
  std::fstream stream(copy / "model-00002-of-00002.safetensors", std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-1, std::ios::end);
  stream.put('\xff');
  return quoted(copy);
}

/// The text begins with the finding.
bool comes_first(const std::string& text, const std::string& what) { return text.find(what) < text.find('\n'); }

}  // namespace

TEST_CASE("a sound checkpoint is described, and the weights are not read unless they are asked for") {
  const Run shallow = run_mxact("inspect " + tiny()), deep = run_mxact("inspect --deep " + tiny());
  CHECK(shallow.status == 0);
  CHECK(shallow.out.find("weights         not read") != std::string::npos);
  CHECK(shallow.out.find("gpt-oss (Hugging Face names): 8 experts in 2 layers") != std::string::npos);
  CHECK(deep.status == 0);
  CHECK(deep.out.find("nothing is wrong that scales and weights show") != std::string::npos);
  const mx::support::Json json = run_json("inspect " + tiny());
  CHECK(json["deep"] == false);
  CHECK(json["faults"].empty());
  // Scales of two layers: 8 experts, 512 rows of 8 and 256 rows of 8.
  CHECK(json["bytes_read"] == 2 * 8 * (512 * 8 + 256 * 8));
  CHECK(run_mxact("inspect --deep --progress " + tiny()).err.find("100 %") != std::string::npos);
}

TEST_CASE("a scale that is no number is named first by inspect, verify and convert, whatever the backend") {
  const ScratchDirectory scratch;
  const std::string broken = broken_copy(scratch),
                    finding = "no numbers: 'model.layers.1.mlp.experts.gate_up_proj_scales': NaN, 1 in all, the first at [7, 511, 7]";
  const mx::support::Json json = run_json("inspect " + broken, 1);
  REQUIRE(json["faults"].size() == 1);
  CHECK(json["faults"][0]["fault"] == "nan");
  CHECK(json["faults"][0]["first"] == "[7, 511, 7]");
  CHECK(json["faults"][0]["seen"] == "scales");
  CHECK(json["verdict"] == "FAILED");
  CHECK(run_mxact("inspect " + broken).out.find(finding) != std::string::npos);
  const Run verified = run_mxact("verify " + broken + " --platform SM90 --tp 1 --backend MARLIN");
  CHECK(comes_first(verified.out, finding));
  int number = 0;
  for (const char* const backend : {"MARLIN", "FLASHINFER_CUTLASS_MXFP4_BF16"}) {
    const std::string how = std::string("convert ") + broken + " --backend " + backend + " --platform sm90 -o " +
                            quoted(scratch.path() / ("out" + std::to_string(++number)));
    const Run converted = run_mxact(how + " --fail-on-warning");
    INFO(backend << "\n" << converted.out << converted.err);
    CHECK(converted.status == 1);
    CHECK(comes_first(converted.out, finding));
  }
}

TEST_CASE("a report is made of an inspection, a picture too, and misuse gets one line") {
  const ScratchDirectory scratch;
  const std::string picture = quoted(scratch.path() / "scales.svg");
  CHECK(run_mxact("inspect " + tiny() + " -o " + picture).status == 0);
  CHECK(std::filesystem::file_size(scratch.path() / "scales.svg") > 1000);
  CHECK(run_mxact("inspect").status == 2);
  CHECK(run_mxact("inspect ''").status == 2);
  const Run nothing = run_mxact("inspect /no-such-checkpoint");
  CHECK(nothing.status == 3);
  CHECK(nothing.err.find("/no-such-checkpoint") != std::string::npos);
  CHECK(nothing.out.empty());
}

TEST_CASE("with --fail-on-warning no run of verify with a defect exits 0, of every kind that there is") {
  const ScratchDirectory scratch;
  std::size_t number = 0;
  for (const mx::props::Defect& defect : mx::props::defects()) {
    // Another form each time, and the next ones where it has nothing for the defect.
    std::optional<mx::props::Planted> where;
    for (std::uint64_t seed = 1; seed <= 40 && !where; ++seed) {
      const mx::props::SoundForm& form = mx::props::sound_forms()[(number + seed) % mx::props::sound_forms().size()];
      mx::props::SoundCheckpoint made = mx::props::sound_checkpoint(form, seed);
      where = defect.plant(made, 100 + seed);
      if (!where) continue;
      const std::filesystem::path at = scratch.path() / std::to_string(number);
      std::filesystem::create_directories(at);
      made.write(at);
      const Run run = run_mxact("verify " + quoted(at) + " --platform SM90 --tp 1 --no-execute --fail-on-warning");
      INFO(defect.id << " in " << form.id << ", seed " << seed << "\n" << run.out << run.err);
      if (run.status == 4) {  // what is not converted
        where.reset();
        continue;
      }
      CHECK((run.status == 1 || run.status == 5));
      const bool other = !where->other.empty() && run.out.find(where->other) != std::string::npos;
      CHECK((other || run.out.find(where->tensor) != std::string::npos));
    }
    INFO(defect.id);
    CHECK(where.has_value());
    ++number;
  }
}
