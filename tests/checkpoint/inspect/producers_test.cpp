// The ledger of what producers wrote wrongly: its rows, whose files they speak of, and what is said of a finding.

#include "checkpoint/inspect/producers.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/inspect/inspect.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/form_drafts.hpp"

namespace {

using namespace mx;
using namespace mx::tests;
using checkpoint::Depth;
using checkpoint::Inspection;
using checkpoint::ProducerFault;
using checkpoint::ScannedFault;
using checkpoint::ValueFault;
using layout::WeightFormat;

/// With words in its quantization configuration.
Draft with(const std::string& form, const std::string& words) {
  Draft draft = form_draft(form_case(form), 2);
  const std::string before = "\"quant_method\"";
  draft.config->insert(draft.config->find(before), words + ", ");
  return draft;
}

Inspection inspected(const Draft& draft) {
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return checkpoint::inspect_checkpoint(directory.path(), {.depth = Depth::weights});
}

std::vector<std::string> named(const std::string& producer, const std::string& version, WeightFormat format) {
  std::vector<std::string> ids;
  for (const ProducerFault* const row : checkpoint::faults_of({producer, version, {}}, format)) ids.push_back(row->id);
  return ids;
}
bool has(const std::vector<std::string>& ids, const std::string& id) { return std::ranges::find(ids, id) != ids.end(); }

}  // namespace

TEST_CASE("the ledger has a dozen rows, each with a report that tells it") {
  std::set<std::string> ids;
  for (const ProducerFault& row : checkpoint::producer_faults()) {
    INFO(row.id);
    CHECK(ids.insert(row.id).second);
    CHECK(row.source.find('/') < row.source.find('#'));
    CHECK_FALSE(row.what.empty());
    if (!row.mended.empty()) CHECK(checkpoint::is_before("0.0.1", row.mended));
  }
  CHECK(ids.size() >= 12);
}

TEST_CASE("releases are compared by their numbers") {
  CHECK(checkpoint::is_before("0.13.0", "0.14.0"));
  CHECK(checkpoint::is_before("0.9.4", "0.14.0"));
  CHECK(checkpoint::is_before("0.13.1.a20260101", "0.14.0"));
  CHECK(checkpoint::is_before("0.12.post1", "0.13"));
  CHECK_FALSE(checkpoint::is_before("0.14.0", "0.14.0"));
  CHECK_FALSE(checkpoint::is_before("0.14.0.1", "0.14.0"));
  CHECK_FALSE(checkpoint::is_before("0.14.0a2", "0.14.0"));
  CHECK_FALSE(checkpoint::is_before("1", "0.14.0"));
  CHECK_FALSE(checkpoint::is_before("", "0.14.0"));
  CHECK_FALSE(checkpoint::is_before("main", "0.14.0"));
}

TEST_CASE("a row speaks of its producer's releases and formats alone") {
  CHECK(has(named("compressed-tensors", "0.13.0", WeightFormat::mxfp4), "ct-mxfp4-bias-125"));
  CHECK_FALSE(has(named("compressed-tensors", "0.14.0", WeightFormat::mxfp4), "ct-mxfp4-bias-125"));
  CHECK_FALSE(has(named("compressed-tensors", "0.13.0", WeightFormat::nvfp4), "ct-mxfp4-bias-125"));
  CHECK_FALSE(has(named("modelopt", "0.13.0", WeightFormat::mxfp4), "ct-mxfp4-bias-125"));
  CHECK(has(named("modelopt", "0.44.0", WeightFormat::nvfp4), "modelopt-nvfp4-nan-scale"));
  CHECK_FALSE(has(named("modelopt", "0.45.0", WeightFormat::nvfp4), "modelopt-nvfp4-nan-scale"));
  CHECK(has(named("modelopt", "0.45.1", WeightFormat::nvfp4), "modelopt-nvfp4-half-scales"));
  CHECK(named("nobody", "0.1", WeightFormat::nvfp4).empty());
}

TEST_CASE("MXFP4 of compressed-tensors before 0.14.0 is named once for its layers, with the report") {
  const Inspection old = inspected(with("compressed-tensors MXFP4", R"("version": "0.13.0")"));
  REQUIRE(old.faults.size() == 1);
  const ScannedFault& fault = old.faults[0].fault;
  CHECK(fault.fault == ValueFault::known_producer);
  CHECK(old.faults[0].layer == 0);
  CHECK(fault.tensor == "model.layers.0.mlp.experts.0.gate_proj.weight_scale");
  CHECK(fault.detail.find("compressed-tensors 0.13.0") == 0);
  CHECK(fault.detail.find("two too low") != std::string::npos);
  CHECK(fault.detail.find("vllm-project/compressed-tensors#538") != std::string::npos);
  CHECK_FALSE(checkpoint::spoils(fault.fault));
  CHECK(inspected(with("compressed-tensors MXFP4", R"("version": "0.14.0")")).sound());
}

TEST_CASE("every reader of a checkpoint's numbers asks the ledger") {
  const TemporaryDirectory directory;
  with("compressed-tensors MXFP4", R"("version": "0.12.2")").write(directory.path());
  const checkpoint::Checkpoint opened(directory.path());
  const auto first = opened.scan(0), second = opened.scan(1);
  REQUIRE(first.size() == 1);
  CHECK(first[0].fault == ValueFault::known_producer);
  CHECK(second.empty());
}

TEST_CASE("what some files of a release have explains a finding, and is said apart where there is none") {
  const std::string producer = R"("producer": {"name": "modelopt", "version": "0.44.0"})";
  Draft draft = with("ModelOpt NVFP4", producer);
  draft.tensor("model.layers.0.mlp.experts.2.down_proj.weight_scale").bytes[17] = 0x7F;
  const Inspection broken = inspected(draft), whole = inspected(with("ModelOpt NVFP4", producer));
  REQUIRE(broken.faults.size() == 1);
  CHECK(broken.faults[0].fault.fault == ValueFault::not_a_number);
  CHECK(broken.faults[0].fault.detail.find("known of modelopt before 0.45.0: ") == 0);
  CHECK(broken.faults[0].fault.detail.find("NVIDIA/Model-Optimizer#1633") != std::string::npos);
  CHECK(whole.sound());
  CHECK(std::ranges::any_of(whole.known, [](const checkpoint::KnownOfProducer& one) { return one.id == "modelopt-nvfp4-nan-scale"; }));
}

TEST_CASE("what is known of scales of activations explains no scale of weights") {
  const auto cause = [](const std::string& tensor) {
    Draft draft = with("compressed-tensors NVFP4", R"("version": "0.17.0")");
    std::ranges::fill(draft.tensor("model.layers.0.mlp.experts.1.gate_proj." + tensor).bytes, std::uint8_t{0});
    std::string all;
    for (const checkpoint::InspectedFault& one : inspected(draft).faults) {
      CHECK(one.fault.tensor.ends_with(tensor));
      all += one.fault.fault == ValueFault::factor_infinite ? one.fault.detail : "";
    }
    return all;
  };
  CHECK(cause("input_global_scale").find("known of compressed-tensors: input_global_scale is Inf") != std::string::npos);
  CHECK(cause("weight_global_scale").find("known of") == std::string::npos);
}

TEST_CASE("a file that names nobody is nobody's") {
  const Inspection inspection = inspected(form_draft(form_case("ModelOpt NVFP4"), 1));
  CHECK(inspection.producer.name.empty());
  CHECK(inspection.known.empty());
}

TEST_CASE("a row that says too little is refused, with its line") {
  const auto parse = [](const std::string& text) { return [text] { checkpoint::parse_producer_faults(text, "ledger.info"); }; };
  const std::string good = "row { producer modelopt\n formats \"nvfp4\"\n what \"x\"\n source \"a/b#1\"\n";
  CHECK(checkpoint::parse_producer_faults(good + "}\n", "ledger.info").size() == 1);
  CHECK(input_error_defect(error_of(parse(good + " shows \"nothing\"\n}\n")), {"ledger.info", "'nothing' is no finding"}).empty());
  CHECK(input_error_defect(error_of(parse("row { producer p\n formats \"fp3\"\n what x\n source \"a/b#1\"\n}\n")), {"'fp3' is no format of weights"})
            .empty());
  CHECK(input_error_defect(error_of(parse("row { producer p\n formats any\n what x\n source \"said\"\n}\n")), {"repository#number"}).empty());
  CHECK(input_error_defect(error_of(parse("row { producer p\n formats any\n source \"a/b#1\"\n}\n")), {"what"}).empty());
  CHECK(input_error_defect(error_of(parse(good + " of weights\n}\n")), {"'weights' is not inputs"}).empty());
  CHECK(input_error_defect(error_of(parse(good + " until 3\n}\n")), {"until"}).empty());
}
