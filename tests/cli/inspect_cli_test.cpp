// inspect as a user types it, and what verify and convert say of the same file.

#include <fmt/format.h>

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
  // Any verb says who reads an ONNX model.
  std::ofstream(scratch.path() / "model.onnx") << "no matter";
  const std::string model = quoted(scratch.path() / "model.onnx");
  for (const std::string& words : {"inspect " + model, "compare " + model + " " + model, "audit " + model, "verify " + model}) {
    const Run run = run_mxact(words);
    INFO(words << run.out << run.err);
    CHECK(run.status == 4);
    CHECK(run.err.find("is an ONNX model, which the Python package reads: python -m mxact inspect, audit or compare FILE.onnx") != std::string::npos);
  }
}

TEST_CASE("with --fail-on-warning neither verify nor convert of a defect exits 0, of every kind that there is") {
  const ScratchDirectory scratch;
  std::size_t number = 0;
  for (const mx::props::Defect& defect : mx::props::defects()) {
    // Another form each time, and the next ones where it has nothing for the defect, or nothing that is converted.
    bool verified = false, converted = false;
    for (std::uint64_t seed = 1; seed <= 40 && !(verified && converted); ++seed) {
      const mx::props::SoundForm& form = mx::props::sound_forms()[(number + seed) % mx::props::sound_forms().size()];
      mx::props::SoundCheckpoint made = mx::props::sound_checkpoint(form, seed);
      const std::optional<mx::props::Planted> where = defect.plant(made, 100 + seed);
      if (!where) continue;
      // The engine chooses by the model.
      if (made.config.find("\"model_type\"") == std::string::npos) made.config.insert(1, R"("model_type": "qwen3_moe", )");
      const std::filesystem::path at = scratch.path() / fmt::format("{}-{}", number, seed);
      std::filesystem::create_directories(at);
      made.write(at);
      // Exit 1, with the finding in the text; what is not converted (2, 4) says nothing of the file.
      const auto says = [&](const Run& run) {
        INFO(defect.id << " in " << form.id << ", seed " << seed << "\n" << run.out << run.err);
        CHECK(run.status != 0);
        if (run.status != 1 && run.status != 5) return false;
        const bool other = !where->other.empty() && run.out.find(where->other) != std::string::npos;
        CHECK((other || run.out.find(where->tensor) != std::string::npos));
        return true;
      };
      verified |= says(run_mxact("verify " + quoted(at) + " --platform SM90 --tp 1 --no-execute --fail-on-warning"));
      converted |=
          says(run_mxact("convert " + quoted(at) + " --platform sm90 --fail-on-warning -o " + quoted(std::filesystem::path(at.string() + "-out"))));
    }
    INFO(defect.id);
    CHECK(verified);
    CHECK(converted);
    ++number;
  }
}
