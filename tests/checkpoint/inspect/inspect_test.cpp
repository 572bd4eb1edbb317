// What an inspection says of a file: its layers, ranges and histograms, counted by hand.

#include "checkpoint/inspect/inspect.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/form_drafts.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace {

using namespace mx;
using namespace mx::tests;
using checkpoint::Depth;
using checkpoint::Inspection;
using checkpoint::ValueFault;

Inspection inspected(const Draft& draft, Depth depth, support::Stop stop = {}) {
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return checkpoint::inspect_checkpoint(directory.path(), {.depth = depth, .stop = std::move(stop)});
}

std::vector<std::uint8_t> f32(float number) {
  std::vector<std::uint8_t> bytes(4);
  std::memcpy(bytes.data(), &number, 4);
  return bytes;
}

bool has(const Inspection& inspection, ValueFault fault, const std::string& tensor) {
  return std::ranges::any_of(inspection.faults,
                             [&](const checkpoint::InspectedFault& one) { return one.fault.fault == fault && one.fault.tensor == tensor; });
}

}  // namespace

TEST_CASE("every published form is inspected, deep and not, without a finding") {
  for (const PublishedForm& form : published_forms()) {
    for (const Depth depth : {Depth::scales, Depth::weights}) {
      const Inspection inspection = inspected(published_draft(form), depth);
      INFO(form.id);
      for (const checkpoint::InspectedFault& one : inspection.faults) {
        // FP8 codes of this sample end at 3.75.
        INFO(one.fault.text());
        CHECK(one.fault.fault == ValueFault::never_largest);
      }
      if (depth == Depth::scales) CHECK(inspection.sound());
      REQUIRE(inspection.groups.size() == 1);
      CHECK(inspection.groups[0].form == form.title);
      CHECK(inspection.groups[0].experts == kPublishedExperts);
      CHECK(inspection.groups[0].hidden == kPublishedHidden);
      CHECK(inspection.groups[0].intermediate == kPublishedIntermediate);
    }
  }
}

TEST_CASE("layers, blocks and tensors beside the experts are counted") {
  const FormCase& form = form_case("ModelOpt NVFP4");
  Draft draft = form_draft(form, 2);
  auto& shard = draft.shards[kFirstShard];
  const auto tensor = [&](const std::string& name) { shard.push_back({name, "BF16", {2, 2}, std::vector<std::uint8_t>(8, 1)}); };
  tensor("model.layers.0.mlp.shared_experts.gate_proj.weight");
  tensor("model.layers.0.self_attn.k_scale");
  tensor("model.layers.1.self_attn.v_scale");
  tensor("model.layers.2.mlp.gate_proj.weight");
  tensor("model.norm.weight");
  draft.config = draft.config->substr(0, draft.config->rfind("\"num_hidden_layers\"")) + "\"num_hidden_layers\": 3}";
  const std::string quantizer = R"("quant_algo": "NVFP4")";
  draft.config->replace(draft.config->find(quantizer), quantizer.size(),
                        quantizer + R"(, "ignore": ["lm_head"], "producer": {"name": "modelopt", "version": "0.47.0"})");
  const Inspection inspection = inspected(draft, Depth::scales);
  CHECK(inspection.sound());
  CHECK(inspection.files == 2);
  CHECK(inspection.method == "modelopt_fp4");
  CHECK(inspection.producer.name == "modelopt");
  CHECK(inspection.producer.version == "0.47.0");
  CHECK(inspection.producer.place == "quantization_config.producer.version");
  REQUIRE(inspection.ignored.size() == 1);
  CHECK(inspection.ignored[0] == R"(ignore: ["lm_head"])");
  CHECK(inspection.dense == std::vector<int>{2});
  CHECK(inspection.shared_experts == 1);
  CHECK(inspection.kv_scales == 2);
  CHECK(inspection.others == 7);  // the five above, and two routers
  CHECK(inspection.groups[0].layers == std::vector<int>{0, 1});
  const auto& kinds = inspection.groups[0].tensors;
  REQUIRE(kinds.size() == 12);
  CHECK(kinds[0].name == "gate_proj.weight");
  CHECK(kinds[0].dtype == "U8");
  CHECK(kinds[0].shape == std::vector<std::int64_t>{128, 128});
  CHECK(kinds[0].tensors == 6);
  CHECK(kinds[0].bytes == 6 * 128 * 128);
  // Of each layer three experts have three matrices with 2048 block scales.
  CHECK(inspection.read == 2 * 3 * 3 * 2048);
}

TEST_CASE("ranges and binades of scales are those of the bytes") {
  Draft draft = form_draft(form_case("compressed-tensors MXFP4"), 1);
  std::vector<std::uint8_t>& scales = draft.tensor("model.layers.0.mlp.experts.1.up_proj.weight_scale").bytes;
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<std::uint8_t>(i % 3 == 0 ? 120 : 121);
  for (const int expert : {0, 2}) {
    auto& other = draft.tensor("model.layers.0.mlp.experts." + std::to_string(expert) + ".up_proj.weight_scale").bytes;
    for (std::size_t i = 0; i < other.size(); ++i) other[i] = static_cast<std::uint8_t>(122 + i % 2);
  }
  const Inspection inspection = inspected(draft, Depth::scales);
  const auto& ranges = inspection.groups[0].scales;
  const auto up = std::ranges::find(ranges, "up_proj.weight_scale", &checkpoint::ScaleRange::name);
  REQUIRE(up != ranges.end());
  CHECK(up->count == 3 * 1024);
  CHECK(up->least == 0x1p-7);
  CHECK(up->most == 0x1p-4);
  CHECK(up->zeros == 0);
  CHECK(up->binades == checkpoint::Binades{{-7, 342}, {-6, 682}, {-5, 1024}, {-4, 1024}});
}

TEST_CASE("a divisor under a multiplier's name is told by the weights that it makes, and the other way") {
  Draft modelopt = form_draft(form_case("ModelOpt NVFP4"), 1);
  Draft compressed = published_draft(published_form("ct-nvfp4"));
  CHECK(inspected(modelopt, Depth::scales).sound());
  CHECK(inspected(compressed, Depth::scales).sound());
  const std::string expert = "model.layers.0.mlp.experts.1.";
  for (const char* const projection : {"gate_proj", "up_proj"}) {
    modelopt.tensor(expert + projection + ".weight_scale_2").bytes = f32(3584);
    compressed.tensor(expert + projection + ".weight_global_scale").bytes = f32(1 / 3584.0F);
  }
  const Inspection divisor = inspected(modelopt, Depth::scales), multiplier = inspected(compressed, Depth::scales);
  CHECK(has(divisor, ValueFault::reciprocal, expert + "gate_proj.weight_scale_2"));
  CHECK(has(multiplier, ValueFault::reciprocal, expert + "gate_proj.weight_global_scale"));
  REQUIRE(divisor.faults.size() == 1);
  CHECK(divisor.faults[0].fault.count == 2);
  CHECK(divisor.faults[0].fault.detail.find("weights reach ") == 0);
}

TEST_CASE("equal experts show in their scales alone, and in their codes") {
  const FormCase& form = form_case("FP8 block");
  Draft draft = form_draft(form_case("compressed-tensors MXFP4"), 1);
  const std::string base = "model.layers.0.mlp.experts.";
  for (const char* const projection : {"gate_proj", "up_proj", "down_proj"}) {
    for (const char* const suffix : {".weight_packed", ".weight_scale"})
      draft.tensor(base + "2." + projection + suffix).bytes = draft.tensor(base + "0." + projection + suffix).bytes;
  }
  const Inspection shallow = inspected(draft, Depth::scales), deep = inspected(draft, Depth::weights);
  CHECK(has(shallow, ValueFault::equal_experts, base + "2.gate_proj.weight_scale"));
  CHECK(has(deep, ValueFault::equal_experts, base + "2.gate_proj.weight_packed"));
  CHECK(deep.faults.front().fault.detail == "experts 0, 2 have the same codes");
  // A form with few scales cannot show it without its codes.
  Draft block = form_draft(form, 1);
  for (const char* const projection : {"gate_proj", "up_proj", "down_proj"}) {
    for (const char* const suffix : {".weight", ".weight_scale_inv"})
      block.tensor(base + "2." + projection + suffix).bytes = block.tensor(base + "0." + projection + suffix).bytes;
  }
  CHECK(inspected(block, Depth::scales).sound());
  CHECK(has(inspected(block, Depth::weights), ValueFault::equal_experts, base + "2.gate_proj.weight"));
}

TEST_CASE("scales of 0 are a question that the weights answer") {
  Draft draft = form_draft(form_case("ModelOpt NVFP4"), 1);
  const std::string name = "model.layers.0.mlp.experts.0.down_proj.weight_scale";
  draft.tensor(name).bytes[5] = 0;
  const Inspection shallow = inspected(draft, Depth::scales), deep = inspected(draft, Depth::weights);
  CHECK(shallow.sound());
  REQUIRE(shallow.open.size() == 1);
  CHECK(shallow.open[0].tensor == name);
  CHECK(shallow.open[0].count == 1);
  CHECK(has(deep, ValueFault::zero_over_codes, name));
  CHECK(deep.open.empty());
}

TEST_CASE("an inspection that is asked to stop has no result") {
  int asked = 0;
  const Inspection inspection = inspected(form_draft(form_case("ModelOpt MXFP8"), 2), Depth::weights, [&] { return ++asked > 3; });
  CHECK_FALSE(inspection.finished);
}

TEST_CASE("every fault has a row that says where it shows, what it usually is, and how sure that is") {
  for (const checkpoint::ValueFaultRow& row : checkpoint::value_fault_rows()) {
    INFO(row.name);
    CHECK(checkpoint::fault_named(row.name) == row.fault);
    CHECK_FALSE(row.means.empty());
    CHECK((row.sure == "certain" || row.sure == "very likely" || row.sure == "likely"));
  }
}
