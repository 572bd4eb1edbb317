#include "tests/corrupt/readers.hpp"

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/compare/compare_checkpoints.hpp"
#include "checkpoint/convert.hpp"
#include "checkpoint/converted.hpp"
#include "checkpoint/inspect/producers.hpp"
#include "checkpoint/job_plan.hpp"
#include "checkpoint/jobs.hpp"
#include "checkpoint/served_model.hpp"
#include "golden/vectors/checker.hpp"
#include "golden/vectors/families.hpp"
#include "golden/vectors/files/coverage_file.hpp"
#include "golden/vectors/files/views.hpp"
#include "golden/witness/cases.hpp"
#include "golden/witness/witness.hpp"
#include "model/numerics/format.hpp"
#include "props/failure_file.hpp"
#include "sim/sweep/state.hpp"
#include "sim/verify/verify_parts.hpp"
#include "support/contract_file.hpp"
#include "support/deployment_file.hpp"
#include "support/file.hpp"
#include "support/findings_file.hpp"
#include "support/npy.hpp"
#include "support/tuned_file.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/published_forms.hpp"
#include "verbs/layout/identify/tensor_file.hpp"
#include "verbs/report/report.hpp"
#include "verbs/sweep/recorded.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;

/// One of the seeds that fuzzing begins with: small good files.
std::string seed(const std::string& name) { return read_bytes(fs::path(MXACT_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / name); }

std::function<void(const fs::path&)> from_seed(const std::string& file, const std::string& name) {
  return [=](const fs::path& folder) { write_bytes(folder / file, seed(name)); };
}

std::vector<BadFile> bad_state(const std::string& good) {
  return bad_lines(good, {.torn = Fate::either, .headless = Fate::refused, .blanks = Fate::refused});
}
std::vector<BadFile> bad_table(const std::string& good) {
  return bad_lines(good, {.torn = Fate::refused, .headless = Fate::either, .blanks = Fate::either});
}

/// Lines of fields. A '-' in a field's name is no fault: names are the same without it.
std::vector<BadFile> bad_contract(const std::string& good) {
  std::vector<BadFile> files;
  const auto add = [&](const std::string& rule, std::string bytes) { files.push_back({rule, std::move(bytes), Fate::refused}); };
  for (const char* text : {"x", "\xFF", "\xC3\xA4", "=", "\t", "24"}) {
    for (const char* field : {"hopper", "align", "keep"})
      add(std::string(text) + " in " + field, std::string(good).insert(good.find(field) + 2, text));
  }
  add("nothing", "");
  add("comments alone", "# hopper-bf16\n#align=24");
  add("byte order mark", "\xEF\xBB\xBF" + good);
  add("zeros", std::string(good.size(), '\0'));
  add("twice the same field", good + "keep=22\n");
  add("a name behind fields", good + "hopper-bf16\n");
  add("a long line", good + std::string(1'000'000, 'x') + "\n");
  add("cut in a value", good.substr(0, good.rfind('2')));
  add("too large", good + "group=99999999999999999999\n");
  return files;
}

// Checkpoints and what becomes of them.

void write_checkpoint(const fs::path& folder) {
  Draft draft = good_draft();
  draft.config = R"({"model_type": "gpt_oss", "hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 2, "experts_per_token": 1,
                     "quantization_config": {"quant_method": "mxfp4"}})";
  draft.write(folder);
}

/// The same with what a quantizer declares of modules: by name, by pattern, by expression, and what it left.
void write_declared(const fs::path& folder) {
  published_draft(published_form("ct-mxfp4-w4a16")).write(folder);
  write_bytes(folder / "config.json", R"({"model_type": "qwen3_moe", "hidden_size": 256, "quantization_config": {"quant_method": "compressed-tensors",
                 "ignore": ["lm_head", "re:^mtp\\.[0-9]+"], "config_groups": {"group_0": {"targets": ["re:.*experts$", "Linear"],
                 "weights": {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}, "input_activations": null}}}})");
}

bool read_checkpoint(const fs::path& folder) {
  checkpoint::Checkpoint{folder};
  return true;
}

checkpoint::ConvertOptions conversion() { return {.backend = "TRITON", .setting = {}, .program = "test 1"}; }

void write_plan(const fs::path& folder) {
  fs::create_directory(folder / "source");
  write_checkpoint(folder / "source");
  write_bytes(folder / "plan.json", checkpoint::text_of(checkpoint::make_plan(folder / "source", folder / "packed", conversion())));
}

void write_two_groups(const fs::path& folder) {
  fs::create_directories(folder / "source");
  two_groups_draft().write(folder / "source");
}

checkpoint::ConvertOptions conversion_of_two() {
  checkpoint::ConvertOptions options{.backend = "FLASHINFER_TRTLLM", .setting = {}, .program = "test 1"};
  options.setting.arch = families::Arch::sm100;
  return options;
}

/// With paths as seen from the plan.
void write_plan_of_two(const fs::path& folder) {
  write_two_groups(folder);
  write_bytes(folder / "plan.json", checkpoint::text_of(checkpoint::make_plan(folder / "source", folder / "packed", conversion_of_two(), folder)));
}

void write_converted_two(const fs::path& folder) {
  write_two_groups(folder);
  checkpoint::convert_checkpoint(folder / "source", folder / "packed", conversion_of_two());
  fs::remove_all(folder / "source");
}

void write_unit(const fs::path& folder) {
  write_plan(folder);
  const checkpoint::JobPlan plan = checkpoint::read_plan(folder / "plan.json");
  checkpoint::JobRunner(plan, {.directory = folder / "units", .program = "test 1"}).run(0);
}

void write_part(const fs::path& folder) {
  fs::create_directory(folder / "source");
  write_checkpoint(folder / "source");
  const checkpoint::Checkpoint checkpoint(folder / "source");
  sim::VerifyRequest request;
  request.checkpoint = (folder / "source").string();
  request.engine = deployment::name_of(deployment::kDefaultEngine);
  request.platforms = {"SM90"};
  request.tp = {1};
  request.no_execute = true;
  sim::VerifyOptions options = sim::options_of(request);
  options.share = {1, 2};
  write_bytes(folder / "part.json", sim::text_of(sim::part_of(checkpoint, request, options.share, "test 1", sim::verify(checkpoint, options))));
}

void write_converted(const fs::path& folder) {
  const TemporaryDirectory source;
  write_checkpoint(source.path());
  checkpoint::convert_checkpoint(source.path(), folder / "packed", conversion());
}

/// Opened, and restored: nothing may come of a bad one.
bool restore(const fs::path& folder) {
  const TemporaryDirectory elsewhere;
  checkpoint::restore_checkpoint({folder / "packed"}, elsewhere.path() / "restored", {});
  return true;
}

void add_checkpoints(std::vector<Reader>& readers) {
  const std::string convert = "convert '{}' --backend TRITON --platform SM90 -o '{}/out'";
  readers.push_back({"safetensors", "two.safetensors", from_seed("two.safetensors", "safetensors/two"),
                     [](const fs::path& folder) { return support::SafetensorsFile(folder / "two.safetensors").size() > 0; }, bad_container});
  readers.push_back({"shard of a checkpoint", kFirstShard, write_checkpoint, read_checkpoint, bad_container, false, "verify '{}'"});
  readers.push_back({"index of a checkpoint", "model.safetensors.index.json", write_checkpoint, read_checkpoint, bad_json, false, convert});
  readers.push_back({"config.json", "config.json", write_checkpoint, read_checkpoint, bad_json, false, convert});
  readers.push_back({"quantizer's groups in config.json", "config.json", write_declared, read_checkpoint, bad_json, false, convert});
  readers.push_back({"hf_quant_config.json", "hf_quant_config.json",
                     [](const fs::path& folder) {
                       write_checkpoint(folder);
                       write_bytes(folder / "hf_quant_config.json", R"({"producer": {"name": "modelopt", "version": "0.33"}, "quantization": {}})");
                     },
                     read_checkpoint, bad_json, false, convert});
  readers.push_back({"plan of a conversion", "plan.json", write_plan,
                     [](const fs::path& folder) {
                       checkpoint::read_plan(folder / "plan.json");
                       return true;
                     },
                     bad_json, true, "run '{}/plan.json' --job 0"});
  readers.push_back({"relative plan of two layer groups", "plan.json", write_plan_of_two,
                     [](const fs::path& folder) {
                       checkpoint::read_plan(folder / "plan.json");
                       return true;
                     },
                     bad_json, true, "run '{}/plan.json' --status"});
  readers.push_back({"table of layers in config.json", "source/config.json", write_two_groups,
                     [](const fs::path& folder) { return read_checkpoint(folder / "source"); }, bad_json, false,
                     "verify '{}/source' --platform SM100 --no-execute"});
  readers.push_back({"checkpoint that is compared", "source/model.safetensors", write_two_groups,
                     [](const fs::path& folder) { return checkpoint::compare_checkpoints(folder / "source", folder / "source", {}).finished; },
                     bad_container, false, "compare '{}/source' '{}/source'"});
  readers.push_back({"record of a unit", "units/unit-00000.json", write_unit,
                     [](const fs::path& folder) {
                       checkpoint::read_record(folder / "units" / "unit-00000.json");
                       return true;
                     },
                     bad_json, false, "merge '{}/plan.json' '{}/units'"});
  readers.push_back({"part of a run of verify", "part.json", write_part,
                     [](const fs::path& folder) {
                       sim::read_verify_part(folder / "part.json");
                       return true;
                     },
                     bad_json, true, "verify merge '{}/part.json'"});
  readers.push_back(
      {"converted layer", "packed/mxact-layer-00000.safetensors", write_converted, restore, bad_container, false, "restore '{}/packed' -o '{}/out'"});
  readers.push_back({"layer of a further layer group", "packed/mxact-family-2-layer-00000.safetensors", write_converted_two, restore, bad_container,
                     false, "restore '{}/packed' -o '{}/out'"});
  readers.push_back({"converted index", "packed/model.safetensors.index.json", write_converted, restore, bad_python_json, false,
                     "restore '{}/packed' -o '{}/out'"});
}

// Deployments.

/// The configuration of a model, without weights.
std::function<void(const fs::path&)> from_words(const std::string& model, const std::string& file) {
  return [=](const fs::path& folder) {
    fs::create_directories(folder / "served");
    for (const std::string& one : {std::string("config.json"), file})
      write_bytes(folder / "served" / one, read_bytes(fs::path(MXACT_SOURCE_DIR) / "golden" / "words" / model / one));
  };
}

void add_deployments(std::vector<Reader>& readers) {
  const auto read = [](const fs::path& folder) {
    support::load_deployment_file(folder / "deployment.info");
    return true;
  };
  for (const char* name : {"deepseek-v3-h200", "sim-b200-dp2"})
    readers.push_back({std::string("deployment ") + name, "deployment.info", from_seed("deployment.info", std::string("deployment/") + name), read,
                       bad_info, false, "select '{}/deployment.info'"});
  // Models that are served: their kinds of layers, nested fields, a scheme in a file of its own.
  const auto served = [](const fs::path& folder) { return !checkpoint::served_model(folder / "served", {.platform = "SM100"}).kinds.empty(); };
  for (const char* name : {"gpt-oss-120b", "kimi-k2.5"})
    readers.push_back({std::string("served model ") + name, "served/config.json", from_words(name, "config.json"), served, bad_python_json, false,
                       "select '{}/served' --platform SM100"});
  readers.push_back({"served model's hf_quant_config.json", "served/hf_quant_config.json",
                     from_words("qwen3-235b-nvfp4-sidecar", "hf_quant_config.json"), served, bad_python_json, false,
                     "audit '{}/served' --platform SM100"});
  readers.push_back(
      {"contract", "sums.contract",
       [](const fs::path& folder) { write_bytes(folder / "sums.contract", "# of our own\nhopper-bf16\nalign=24  # one bit less\nkeep=23\n"); },
       [](const fs::path& folder) {
         support::contract_word("@" + (folder / "sums.contract").string());
         return true;
       },
       bad_contract, false, "formats --contract '@{}/sums.contract'"});
  readers.push_back({"tuned file", "tuned.json", from_seed("tuned.json", "tuned/blocks"),
                     [](const fs::path& folder) { return !support::read_tuned_file(folder / "tuned.json").tiles.empty(); }, bad_json, false,
                     "verify --platform SM90 --backend TRITON --tp 1 --launch 'tuned={}/tuned.json'"});
}

// The ledger.

/// A file of the ledgers that are built in, and who parses it.
template <class Parse>
Reader ledger(const std::string& title, const fs::path& file, Parse parse) {
  const std::string name = file.filename().string();
  return {title, name, [=](const fs::path& folder) { write_bytes(folder / name, read_bytes(fs::path(MXACT_SOURCE_DIR) / file)); },
          [=](const fs::path& folder) { return !parse(read_bytes(folder / name), (folder / name).string()).empty(); }, bad_info};
}

void add_ledger(std::vector<Reader>& readers) {
  readers.push_back(ledger("ledger of findings", "model/audit/findings_w4a8.info", support::parse_findings));
  readers.push_back(ledger("known places", "model/audit/known_places.info", support::parse_known_places));
  readers.push_back(ledger("ledger of producers", "checkpoint/inspect/producers.info", checkpoint::parse_producer_faults));
}

// Witnesses and sweeps.

void write_set(const fs::path& folder) {
  write_bytes(folder / "manifest.json", seed("manifest/decode"));
  std::string values;
  for (int code = 0; code < 256; ++code) values += std::string("\0\0\0", 3) + static_cast<char>(code);
  write_bytes(folder / "d.bin", values);
}

bool run_set(const fs::path& folder) { return !golden::run_witness(folder, {.sweeps = false, .progress = {}}).empty(); }

const Format& target() { return format_named("e4m3fn"); }

void write_coverage(const fs::path& folder) {
  const golden::OpOptions options(std::vector<golden::OpSetting>{{"profile", "ocp-rz"}});
  const std::shared_ptr<const golden::VectorOp> op = golden::op_named("fp16_to_e5m2", options);
  golden::CheckReport report{};
  report.verdict = golden::CheckVerdict::failed;
  report.checked = 9;
  report.mismatched = 2;
  report.bins = {{"input", "+ infinity", 3, 2, 1}, {"input", "+ zero", 4, 0, 0}};
  write_bytes(folder / "coverage.json", golden::coverage_file_text(golden::coverage_of(op, options, {golden::SetKind::directed}, report)));
}

void add_witnesses(std::vector<Reader>& readers) {
  readers.push_back({"cases of the oracles", "cases.jsonl", from_seed("cases.jsonl", "cases/functions"),
                     [](const fs::path& folder) {
                       golden::run_cases(folder / "cases.jsonl", {});
                       return true;
                     },
                     bad_json_lines, false, "witness '{}/cases.jsonl'"});
  readers.push_back({"cases of the oracles, compressed", "cases.jsonl.gz", from_seed("cases.jsonl.gz", "recording/functions"),
                     [](const fs::path& folder) {
                       golden::run_cases(folder / "cases.jsonl", {});
                       return true;
                     },
                     bad_size, false, "witness '{}/cases.jsonl.gz'"});
  readers.push_back({"manifest of a witness", "manifest.json", write_set, run_set, bad_json, false, "witness '{}'"});
  readers.push_back({"array of a witness", "d.bin", write_set, run_set, bad_size, false, "witness '{}'"});
  readers.push_back({"coverage of a run of ver", "coverage.json", write_coverage,
                     [](const fs::path& folder) { return !golden::read_coverage_file(folder / "coverage.json").ops.empty(); }, bad_json, false,
                     "coverage merge '{}/coverage.json'"});
  readers.push_back({"state of a sweep", "sweep.state",
                     [](const fs::path& folder) {
                       write_bytes(folder / "sweep.state",
                                   "mxact-sweep/2 build-1 from=f32 to=e4m3fn\nchunk 3 0x0123456789abcdef\nchunk 17 0x00000000deadbeef\n");
                     },
                     [](const fs::path& folder) {
                       sim::read_sweep_state(folder / "sweep.state");
                       return true;
                     },
                     bad_state, false, "sweep merge '{}/sweep.state'"});
  readers.push_back({"digests of a sweep", "digests.bin", [](const fs::path& folder) { write_bytes(folder / "digests.bin", std::string(2048, 'd')); },
                     [](const fs::path& folder) {
                       verbs::recorded_sweep(folder / "digests.bin", target());
                       return true;
                     },
                     bad_size});
  readers.push_back({"container with a tensor", "tensor.safetensors", from_seed("tensor.safetensors", "safetensors/two"),
                     [](const fs::path& folder) { return !verbs::open_tensor((folder / "tensor.safetensors").string() + ":a").bytes.empty(); },
                     bad_container});
}

// Reports.

void add_reports(std::vector<Reader>& readers) {
  const auto read = [](const fs::path& folder) {
    const verbs::Run run = verbs::read_run(folder / "run.json");
    verbs::report_html({&run, 1});
    return true;
  };
  for (const char* name : {"verify", "select", "witness"})
    readers.push_back({std::string("run for a report: ") + name, "run.json", from_seed("run.json", std::string("json/") + name), read, bad_json,
                       false, "report '{}/run.json' -o '{}/out.html'"});
}

// Laws.

void add_failures(std::vector<Reader>& readers) {
  readers.push_back({"failure of a law", "N2-e4m3fn.json",
                     [](const fs::path& folder) {
                       props::write_failure(folder, {.law = "N2/e4m3fn",
                                                     .program = "mxact_laws",
                                                     .counterexample = {"0x41 is 0x42 afterwards"},
                                                     .deployment = {},
                                                     .command = "mxact encode e4m3fn 0x41",
                                                     .reproduce = "",
                                                     .replay = "mxact_laws N2/e4m3fn"});
                     },
                     [](const fs::path& folder) {
                       props::read_failure(folder / "N2-e4m3fn.json");
                       return true;
                     },
                     bad_json});
}

// Vectors.

bool check_stream(const fs::path& folder) {
  static const auto op = golden::op_named("e2m1_to_bf16", {});
  const std::string text = read_bytes(folder / "stream");
  golden::StreamChecker checker(*op, golden::VectorSet(*op, {.kind = golden::SetKind::directed}), 4, false);
  checker.take(text);
  return checker.finish().verdict == golden::CheckVerdict::passed;
}

const std::vector<golden::Column>& columns() {
  static const std::vector<golden::Column> all{{"a", 1, 4}, {"b", 3, 8}, {"c", 1, 16}, {"d", 2, 32}};
  return all;
}

void add_vectors(std::vector<Reader>& readers) {
  const auto read_array = [](const fs::path& folder) {
    support::npy_array(support::read_file(folder / "x.npy", std::uint64_t{1} << 30), std::uint64_t{1} << 20, "x.npy");
    return true;
  };
  readers.push_back({"numpy array", "x.npy", from_seed("x.npy", "npy/floats"), read_array, bad_size});
  readers.push_back({"stream of a device", "stream", from_seed("stream", "stream/right"), check_stream, bad_table});
  for (const golden::VectorView& view : golden::all_vector_views()) {
    const bool is_json = view.extension == "json", is_container = view.extension == "safetensors", is_array = view.extension == "npy";
    const std::string file = "vectors." + std::string(view.extension);
    const auto prepare = [=, &view](const fs::path& folder) {
      golden::VectorTable table{"// head\n", columns(), {}};
      for (std::uint32_t lane = 0; lane < 21; ++lane) table.lanes.push_back(lane % 7 == 0 ? lane / 7 : lane % 7 < 4 ? lane * 11 : lane * 2'000);
      const golden::FileBytes bytes = view.write(table);
      write_bytes(folder / file, std::string(bytes.begin(), bytes.end()));
    };
    const auto read = [=, &view](const fs::path& folder) {
      const fs::path path = folder / file;
      view.read(support::read_file(path, std::uint64_t{1} << 30), columns(), path.string());
      return true;
    };
    auto* const rules = is_json ? bad_json : is_container ? bad_container : is_array ? bad_size : bad_table;
    readers.push_back({"vectors as " + std::string(view.extension), file, prepare, read, rules});
  }
}

}  // namespace

std::vector<Reader> all_readers() {
  std::vector<Reader> readers;
  add_checkpoints(readers);
  add_deployments(readers);
  add_ledger(readers);
  add_witnesses(readers);
  add_reports(readers);
  add_failures(readers);
  add_vectors(readers);
  return readers;
}

}  // namespace mx::tests
