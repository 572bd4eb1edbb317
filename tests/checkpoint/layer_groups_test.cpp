// Several layer groups in one conversion: each by its own backend and form, in one go, in jobs and by rank, and back to the same files.

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/converted.hpp"
#include "checkpoint/jobs.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using layout::WeightFormat;

constexpr const char* kFurtherLayer = "mxact-family-2-layer-00000.safetensors";

/// The block of two_groups_draft() in the form of the first layer group.
Draft one_form() {
  Draft draft = published_draft(published_form("mixtral"));
  for (support::TensorData& tensor : published_tensors(published_form("mixtral"), "mtp.layers.", 0))
    draft.shards["model.safetensors"].push_back(std::move(tensor));
  // Other codes than the first layer group's, so that one in the other's place would be seen.
  for (support::TensorData& tensor : draft.shards["model.safetensors"]) {
    if (tensor.name.starts_with("mtp.") && tensor.dtype == "U8") std::ranges::reverse(tensor.bytes);
  }
  return draft;
}

checkpoint::ConvertOptions by(const std::string& backend, std::vector<checkpoint::NamedBackend> named = {}) {
  families::Setting setting{};
  setting.engine = deployment::kVllm2026_05;
  checkpoint::ConvertOptions options{.backend = backend, .setting = setting};
  options.named = std::move(named);
  options.program = "test 1";
  return options;
}

/// A checkpoint and the directory of its conversion.
struct Converted {
  TemporaryDirectory directory;
  fs::path source = directory.path() / "source";
  fs::path packed = directory.path() / "packed";
  checkpoint::ConvertReport report;

  explicit Converted(const Draft& draft) {
    fs::create_directory(source);
    draft.write(source);
  }
  Converted(const Draft& draft, const checkpoint::ConvertOptions& options) : Converted(draft) {
    report = checkpoint::convert_checkpoint(source, packed, options);
  }

  std::string restored_differences() const { return file_differences(source, restored_from({packed}, directory.path() / "restored")); }
  /// Of the layer of a layer group, from its file.
  std::string packed_differences(std::size_t place, const std::string& file) const {
    const checkpoint::ConvertedGroup& layer_group = report.converted.at(place);
    const layout::CanonicalLayer experts = checkpoint::Checkpoint(source, layer_group.layer_group).layer(0).experts;
    return packed_difference(packed / file, experts, layer_group.backend, layer_group.setting);
  }
};

std::string usage_text(const Draft& draft, const checkpoint::ConvertOptions& options) {
  const Converted made(draft);
  const std::optional<Error> error = error_of([&] { checkpoint::convert_checkpoint(made.source, made.packed, options); });
  if (fs::exists(made.packed)) return "something was written";
  if (!error || error->code() != ErrorCode::usage) return "was not refused as usage";
  return error->what();
}

}  // namespace

TEST_CASE("layer groups are converted in one run and come back to the same files") {
  struct Row {
    std::string id;
    Draft draft;
    checkpoint::ConvertOptions options;
    std::vector<std::string> backends;  ///< by which the layer groups are converted
  };
  const std::vector<Row> rows{
      {"one backend for two forms", two_groups_draft(), by("FLASHINFER_TRTLLM"), {"FLASHINFER_TRTLLM", "FLASHINFER_TRTLLM"}},
      {"one backend for one form", one_form(), by("FLASHINFER_CUTLASS"), {"FLASHINFER_CUTLASS", "FLASHINFER_CUTLASS"}},
      {"by format",
       two_groups_draft(),
       by("FLASHINFER_CUTLASS", {{.backend = "DEEPGEMM", .format = WeightFormat::fp8_block}}),
       {"FLASHINFER_CUTLASS", "DEEPGEMM"}},
      {"by number",
       one_form(),
       by("FLASHINFER_CUTLASS", {{.backend = "FLASHINFER_TRTLLM", .layer_group = 1}}),
       {"FLASHINFER_CUTLASS", "FLASHINFER_TRTLLM"}},
      {"a number goes before a format",
       one_form(),
       by("", {{.backend = "FLASHINFER_TRTLLM", .format = WeightFormat::nvfp4}, {.backend = "FLASHINFER_CUTLASS", .layer_group = 1}}),
       {"FLASHINFER_TRTLLM", "FLASHINFER_CUTLASS"}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const Converted made(row.draft, row.options);
    REQUIRE(made.report.converted.size() == 2);
    CHECK(made.report.layers == 2);
    std::vector<std::string> backends;
    for (const checkpoint::ConvertedGroup& layer_group : made.report.converted) {
      backends.push_back(layer_group.backend);
      CHECK(layer_group.layers == 1);
    }
    CHECK(backends == row.backends);
    CHECK(made.report.bytes_in == made.report.converted[0].bytes_in + made.report.converted[1].bytes_in);
    CHECK(made.packed_differences(0, kFirstLayer) == "");
    CHECK(made.packed_differences(1, kFurtherLayer) == "");
    CHECK_FALSE(tags_of(made.packed / kFirstLayer).contains("family"));
    CHECK(tags_of(made.packed / kFurtherLayer)["family"] == 2);
    if (made.report.losses.empty()) CHECK(made.restored_differences() == "");
  }
}

TEST_CASE("a layer group that is not asked for, or that the backend refuses, is left as it is") {
  const Converted other(two_groups_draft(), by("", {{.backend = "DEEPGEMM", .layer_group = 1}}));
  REQUIRE(other.report.converted.size() == 1);
  CHECK(other.report.converted[0].layer_group == 1);
  // The first that is converted has the names that it would have alone.
  CHECK(fs::exists(other.packed / kFirstLayer));
  CHECK(other.report.other_tensors == 24);
  // Half of the intermediate size is half a block.
  checkpoint::ConvertOptions halves = by("FLASHINFER_TRTLLM");
  halves.setting.tp_size = 2;
  const Converted made(two_groups_draft(), halves);
  REQUIRE(made.report.converted.size() == 1);
  CHECK(made.report.converted[0].layer_group == 0);
  CHECK(made.report.refusals[0].empty());
  CHECK(made.report.refusals[1].find("intermediate size 128 over TP=2") != std::string::npos);
  CHECK(fs::exists(made.packed / kFirstLayer));
  CHECK_FALSE(fs::exists(made.packed / kFurtherLayer));
  // Where it is named it must be taken.
  halves.named = {{.backend = "FLASHINFER_TRTLLM", .layer_group = 1}};
  CHECK(usage_text(two_groups_draft(), halves).find("intermediate size 128 over TP=2") != std::string::npos);
}

TEST_CASE("backends that no layer group takes are refused before anything is written") {
  CHECK(usage_text(two_groups_draft(), by("MARLIN", {{.backend = "MARLIN", .format = WeightFormat::mxfp8}}))
            .find("no layer group of the checkpoint is mxfp8, for which MARLIN is named; there are nvfp4, fp8_block") != std::string::npos);
  CHECK(usage_text(two_groups_draft(), by("MARLIN", {{.backend = "MARLIN", .layer_group = 2}}))
            .find("there is no layer group 3: the checkpoint has 2") != std::string::npos);
  CHECK(usage_text(two_groups_draft(), by("CPU", {{.backend = "MARLIN", .layer_group = 0}, {.backend = "MARLIN", .layer_group = 1}}))
            .find("every layer group of the checkpoint has a backend of its own") != std::string::npos);
  CHECK(usage_text(two_groups_draft(), by("", {{.backend = "MARLINE", .layer_group = 1}})).find("did you mean MARLIN") != std::string::npos);
  CHECK(usage_text(two_groups_draft(), by("TRITOM")).find("TRITOM") != std::string::npos);
  // What takes neither of those that are left.
  CHECK(usage_text(two_groups_draft(), by("DEEPGEMM", {{.backend = "MARLIN", .format = WeightFormat::fp8_block}})).find("DEEPGEMM converts") !=
        std::string::npos);
}

TEST_CASE("ranks of several layer groups are the checkpoint together") {
  const Converted made(one_form());
  CHECK(rank_differences(made.source, by("FLASHINFER_TRTLLM"), 2, made.directory.path()) == "");
  // A rank that has left a layer group is not of the same conversion.
  std::vector<fs::path> ranks;
  checkpoint::ConvertOptions options = by("FLASHINFER_TRTLLM");
  options.setting.tp_size = 2;
  for (options.rank = 0; options.rank < 2; ++options.rank) {
    if (options.rank == 1) options.layer_group = 0;
    ranks.push_back(made.directory.path() / ("of" + std::to_string(options.rank)));
    checkpoint::convert_checkpoint(made.source, ranks.back(), options);
  }
  CHECK(input_error_defect(error_of([&] { restored_from(ranks, made.directory.path() / "never"); }), {"has not the layers of"}) == "");
}

TEST_CASE("jobs of several layer groups are the conversion byte for byte") {
  const checkpoint::ConvertOptions options = by("FLASHINFER_CUTLASS", {{.backend = "FLASHINFER_TRTLLM", .format = WeightFormat::fp8_block}});
  const Converted made(two_groups_draft(), options);
  const fs::path file = made.directory.path() / "plan.json", output = made.directory.path() / "merged";
  write_bytes(file, checkpoint::text_of(checkpoint::make_plan(made.source, output, options)));
  const checkpoint::JobPlan plan = checkpoint::read_plan(file);
  CHECK(checkpoint::text_of(plan) == read_bytes(file));
  REQUIRE(plan.layer_groups.size() == 2);
  CHECK(plan.layer_groups[1].backend == "FLASHINFER_TRTLLM");
  REQUIRE(plan.jobs.size() == 3);
  CHECK(plan.jobs[1].what == "layer 0 of layer group 2");
  CHECK(plan.jobs[1].file == kFurtherLayer);
  checkpoint::JobRunner runner(plan, {.directory = checkpoint::jobs_directory(plan), .program = "test 1"});
  for (const int unit : {2, 1, 0}) CHECK(runner.run(unit) == checkpoint::JobOutcome::written);
  const checkpoint::ConvertReport report = checkpoint::merge_jobs(plan, {.directories = {checkpoint::jobs_directory(plan)}, .program = "test 1"});
  CHECK(report.finished);
  CHECK(report.digest == made.report.digest);
  REQUIRE(report.converted.size() == 2);
  CHECK(report.converted[1].bytes_out == made.report.converted[1].bytes_out);
  CHECK(file_differences(made.packed, output) == "");
}

TEST_CASE("what a further layer group lost is told of that layer group, in jobs too") {
  // Global scales of gate and up that are unlike are requantized away in FP8 with one scale: of the second layer group alone.
  Draft draft = one_form();
  const PublishedForm& fp8 = published_form("modelopt-fp8-bf16");
  std::erase_if(draft.shards["model.safetensors"], [](const support::TensorData& tensor) { return tensor.name.starts_with("mtp."); });
  for (support::TensorData& tensor : published_tensors(fp8, "mtp.layers.", 0)) draft.shards["model.safetensors"].push_back(std::move(tensor));
  draft.tensor("mtp.layers.0.mlp.experts.1.gate_proj.weight_scale").bytes = {0, 0x3C};
  draft.tensor("mtp.layers.0.mlp.experts.1.up_proj.weight_scale").bytes = {0x80, 0x3C};
  draft.config = R"({"hidden_act": "silu", "quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
      "model.layers.0.block_sparse_moe.experts": {"quant_algo": "NVFP4", "group_size": 16}, "mtp.layers.0.mlp.experts": {"quant_algo": "FP8"}}}})";
  const checkpoint::ConvertOptions options = by("FLASHINFER_CUTLASS");
  const Converted made(draft, options);
  REQUIRE(made.report.losses.size() == 1);
  CHECK(made.report.losses[0].layer == 0);
  CHECK(made.report.losses[0].further == 2);
  const std::optional<Error> error = error_of([&] { restored_from({made.packed}, made.directory.path() / "never"); });
  REQUIRE(error);
  CHECK(std::string(error->what()).find("w13_weight of layer 0 of layer group 2") != std::string::npos);
  const checkpoint::JobPlan plan = checkpoint::make_plan(made.source, made.directory.path() / "merged", options);
  checkpoint::JobRunner runner(plan, {.directory = checkpoint::jobs_directory(plan), .program = "test 1"});
  for (const checkpoint::PlannedJob& job : plan.jobs) runner.run(job.job);
  const checkpoint::ConvertReport report = checkpoint::merge_jobs(plan, {.directories = {checkpoint::jobs_directory(plan)}, .program = "test 1"});
  REQUIRE(report.losses.size() == 1);
  CHECK(report.losses[0].further == 2);
}

TEST_CASE("a layer that says another layer group, or none, does not belong") {
  struct Row {
    std::string id;
    std::function<void(support::Json&)> change;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {"no layer group", [](support::Json& tags) { tags.erase("family"); }, {"is of another conversion than"}},
      {"layer group 0", [](support::Json& tags) { tags["family"] = 0; }, {"'family' is '0'"}},
      {"another engine", [](support::Json& tags) { tags["setting"]["engine"] = "2026-08"; }, {"is of another conversion than"}},
      {"another rank", [](support::Json& tags) { tags["rank"] = 1; }, {"rank 1 of 1"}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const Converted made(two_groups_draft(), by("FLASHINFER_TRTLLM"));
    retag(made.packed / kFurtherLayer, row.change);
    CHECK(input_error_defect(error_of([&] { made.restored_differences(); }), row.parts) == "");
  }
  // Of one form and one backend nothing but the number tells them apart.
  const Converted made(one_form(), by("FLASHINFER_CUTLASS"));
  retag(made.packed / kFurtherLayer, [](support::Json& tags) { tags.erase("family"); });
  CHECK(input_error_defect(error_of([&] { made.restored_differences(); }), {"is layer 0, and so is"}) == "");
}

TEST_CASE("a shard with the name of a further layer group's layer is refused") {
  Draft draft = one_form();
  draft.has_index = true;
  draft.shards[kFurtherLayer] = std::move(draft.shards["model.safetensors"]);
  draft.shards.erase("model.safetensors");
  CHECK(usage_text(draft, by("FLASHINFER_CUTLASS")).find("this name is kept for a converted layer") != std::string::npos);
}

}  // namespace mx::tests
