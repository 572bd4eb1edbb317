// Conversions in jobs: the same bytes as in one go, whoever does which job and however often one is killed; what does not fit together is refused.

#include "checkpoint/jobs.hpp"

#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_conversion.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/json_text.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using checkpoint::JobOutcome;

constexpr const char* kProgram = "test 1";

checkpoint::ConvertOptions planned_options() {
  checkpoint::ConvertOptions options{.backend = "FLASHINFER_TRTLLM_MXFP4_BF16", .setting = {}};
  options.program = kProgram;
  return options;
}

/// A checkpoint of three layers in two shards, and its plan: five jobs.
struct Planned {
  TemporaryDirectory directory;
  fs::path source = directory.path() / "source";
  fs::path output = directory.path() / "packed";
  fs::path plan_file = directory.path() / "plan.json";
  checkpoint::JobPlan plan;

  Planned() {
    checkpoint::write_synthetic_checkpoint(source, {.layers = 3, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
    plan = checkpoint::make_plan(source, output, planned_options());
    write_bytes(plan_file, checkpoint::text_of(plan));
  }

  fs::path jobs() const { return checkpoint::jobs_directory(plan); }
  checkpoint::JobOptions unit_options() const { return {.directory = jobs(), .program = kProgram}; }
  void run(const std::vector<int>& numbers) const {
    checkpoint::JobRunner runner(plan, unit_options());
    for (const int job : numbers) runner.run(job);
  }
  checkpoint::ConvertReport merge() const { return checkpoint::merge_jobs(plan, {.directories = {jobs()}, .program = kProgram}); }
  std::string merge_defect(const std::vector<std::string>& parts) const {
    const std::string defect = input_error_defect(error_of([&] { merge(); }), parts);
    return fs::exists(output) ? "something was put in place; " + defect : defect;
  }
};

/// Changes the JSON of a file.
void edit(const fs::path& file, const std::function<void(support::Json&)>& change) {
  support::Json json = parsed(read_bytes(file));
  change(json);
  write_bytes(file, json.dump(1) + "\n");
}

}  // namespace

TEST_CASE("the jobs of a plan, in any order and from several directories, are the conversion byte for byte") {
  const Planned planned;
  const fs::path whole = planned.directory.path() / "whole", elsewhere = planned.directory.path() / "elsewhere";
  const checkpoint::ConvertReport expected = checkpoint::convert_checkpoint(planned.source, whole, planned_options());
  const checkpoint::JobPlan plan = checkpoint::read_plan(planned.plan_file);
  CHECK(checkpoint::text_of(plan) == checkpoint::text_of(planned.plan));
  REQUIRE(plan.jobs.size() == 5);
  CHECK(plan.jobs[2].what == "layer 2");
  CHECK(plan.jobs[4].what == "shard " + kSecondShard);
  planned.run({4, 1});
  checkpoint::JobOptions other = planned.unit_options();
  other.directory = elsewhere;
  checkpoint::JobRunner runner(plan, other);
  for (const int job : {3, 0, 2}) CHECK(runner.run(job) == JobOutcome::written);
  const checkpoint::ConvertReport report = checkpoint::merge_jobs(plan, {.directories = {planned.jobs(), elsewhere}, .program = kProgram});
  CHECK(report.finished);
  CHECK(report.digest == expected.digest);
  CHECK(report.layers == expected.layers);
  CHECK(report.bytes_in == expected.bytes_in);
  CHECK(report.bytes_out == expected.bytes_out);
  CHECK(report.other_tensors == expected.other_tensors);
  // Buffers are rounded up: more is written than is read, and room is asked for what is written.
  const checkpoint::CheckpointConversion conversion(planned.source, planned_options());
  CHECK(conversion.written_bytes() > conversion.total_bytes());
  CHECK(conversion.written_bytes() - conversion.total_bytes() == expected.bytes_out - expected.bytes_in);
  CHECK(file_differences(whole, planned.output) == "");
  CHECK_FALSE(fs::exists(planned.jobs()));
  CHECK_FALSE(fs::exists(elsewhere));
  CHECK(file_differences(planned.source, restored_from({planned.output}, planned.directory.path() / "restored")) == "");
}

TEST_CASE("a job that is done is left alone, and done again gives the same digest") {
  const Planned planned;
  checkpoint::JobOptions options = planned.unit_options();
  checkpoint::JobRunner runner(planned.plan, options);
  CHECK(runner.run(1) == JobOutcome::written);
  const std::string digest = runner.result().digest;
  const fs::path file = planned.jobs() / runner.result().file;
  const auto written = fs::last_write_time(file);
  CHECK(runner.run(1) == JobOutcome::there_already);
  CHECK(runner.result().digest == digest);
  CHECK(fs::last_write_time(file) == written);
  options.again = true;
  checkpoint::JobRunner again(planned.plan, options);
  CHECK(again.run(1) == JobOutcome::written);
  CHECK(again.result().digest == digest);
  // Half a file is no job.
  fs::resize_file(file, 100);
  CHECK(runner.run(1) == JobOutcome::written);
  CHECK(fs::file_size(file) == runner.result().size);
}

TEST_CASE("a conversion that is killed anywhere resumes and gives the same bytes") {
  const Planned planned;
  // Each child does the jobs from the first on and is killed one question later than the one before.
  int kills = 0;
  for (int after = 0;; ++after) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      omp_set_num_threads(1);  // the parent's other threads are not here
      checkpoint::JobOptions options = planned.unit_options();
      int asked = 0;
      options.stop = [&] {
        if (asked++ == after) ::kill(::getpid(), SIGKILL);
        return false;
      };
      checkpoint::JobRunner runner(planned.plan, options);
      for (const checkpoint::PlannedJob& job : planned.plan.jobs) runner.run(job.job);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) break;
    ++kills;
    for (const std::string& name : entries_of(planned.jobs())) {
      if (checkpoint::is_record_name(name)) CHECK(fs::exists(planned.jobs() / checkpoint::read_record(planned.jobs() / name).result.file));
    }
  }
  CHECK(kills > 3);
  CHECK(planned.merge().finished);
  // Nor does what the killed ones left stay behind.
  CHECK_FALSE(fs::exists(planned.jobs()));
  const fs::path whole = planned.directory.path() / "whole";
  checkpoint::convert_checkpoint(planned.source, whole, planned_options());
  CHECK(file_differences(whole, planned.output) == "");
}

TEST_CASE("what is stopped leaves the jobs as they are") {
  const Planned planned;
  planned.run({0, 1, 3, 4});
  for (int after = 0; after < 2; ++after) {
    checkpoint::JobOptions options = planned.unit_options();
    int asked = 0;
    options.stop = [&] { return asked++ == after; };
    checkpoint::JobRunner runner(planned.plan, options);
    CHECK(runner.run(2) == JobOutcome::stopped);
    CHECK_FALSE(fs::exists(planned.jobs() / checkpoint::record_name(2)));
  }
  planned.run({2});
  const std::set<std::string> before = entries_of(planned.jobs());
  checkpoint::MergeOptions options{.directories = {planned.jobs()}, .program = kProgram};
  options.stop = [] { return true; };
  CHECK_FALSE(checkpoint::merge_jobs(planned.plan, options).finished);
  CHECK(entries_of(planned.jobs()) == before);
  CHECK(entries_of(planned.directory.path()) == std::set<std::string>{"packed.units", "plan.json", "source"});
  CHECK(planned.merge().finished);
}

TEST_CASE("merge refuses jobs that are missing, there twice, of another plan or not as they were written") {
  struct Row {
    std::string id;
    std::function<void(const Planned&)> change;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {"one missing", [](const Planned& p) { fs::remove(p.jobs() / checkpoint::record_name(3)); }, {"job 3 of 5 is missing"}},
      {"several missing",
       [](const Planned& p) {
         for (const int job : {0, 2, 3}) fs::remove(p.jobs() / checkpoint::record_name(job));
       },
       {"jobs 0, 2..3 of 5 are missing"}},
      {"none there", [](const Planned& p) { fs::remove_all(p.jobs()); }, {"packed.units", "no directory of jobs"}},
      {"one twice",
       [](const Planned& p) { fs::copy_file(p.jobs() / checkpoint::record_name(1), p.jobs() / "unit-1-copy.json"); },
       {"is job 1, and so is"}},
      {"of another plan",
       [](const Planned& p) { edit(p.jobs() / checkpoint::record_name(1), [](auto& json) { json["plan"] = "xxh3:0000000000000000"; }); },
       {"unit-00001.json", "is a job of plan xxh3:0000000000000000"}},
      {"beyond the plan",
       [](const Planned& p) { edit(p.jobs() / checkpoint::record_name(4), [](auto& json) { json["unit"] = 5; }); },
       {"is job 5", "0..4"}},
      {"another file",
       [](const Planned& p) { edit(p.jobs() / checkpoint::record_name(4), [](auto& json) { json["file"] = "x.safetensors"; }); },
       {"x.safetensors", "planned was"}},
      {"a file elsewhere",
       [](const Planned& p) { edit(p.jobs() / checkpoint::record_name(4), [](auto& json) { json["file"] = "../x.safetensors"; }); },
       {"'../x.safetensors'", "plain"}},
      {"half a record",
       [](const Planned& p) { fs::resize_file(p.jobs() / checkpoint::record_name(4), 50); },
       {"unit-00004.json: byte", "not valid JSON"}},
      {"no record", [](const Planned& p) { write_bytes(p.jobs() / checkpoint::record_name(4), "{}"); }, {"unit-00004.json", "'schema' is missing"}},
      {"file gone", [](const Planned& p) { fs::remove(p.jobs() / kFirstLayer); }, {kFirstLayer, "is missing", "unit-00000.json"}},
      {"file cut short", [](const Planned& p) { fs::resize_file(p.jobs() / kFirstLayer, 1000); }, {kFirstLayer, "1000 bytes"}},
      {"a bit flipped",
       [](const Planned& p) {
         std::string bytes = read_bytes(p.jobs() / kFirstLayer);
         bytes[bytes.size() / 2] ^= 1;
         write_bytes(p.jobs() / kFirstLayer, bytes);
       },
       {kFirstLayer, "has the digest", "was written with"}},
      {"another checkpoint",
       [](const Planned& p) {
         fs::remove_all(p.source),
             checkpoint::write_synthetic_checkpoint(p.source, {.layers = 3, .experts = 2, .hidden = 128, .intermediate = 64, .top_k = 2});
       },
       {kFirstShard, "when the conversion was planned"}},
  };
  for (const Row& row : rows) {
    INFO(row.id);
    const Planned planned;
    planned.run({0, 1, 2, 3, 4});
    row.change(planned);
    CHECK(planned.merge_defect(row.parts) == "");
  }
}

TEST_CASE("a plan that was changed, another program's and jobs of another plan are refused by run too") {
  const Planned planned;
  planned.run({0});
  edit(planned.plan_file, [](auto& json) { json["backend"] = "TRITON"; });
  CHECK(input_error_defect(error_of([&] { checkpoint::read_plan(planned.plan_file); }), {"plan.json", "it was changed"}) == "");
  write_bytes(planned.plan_file, "{\"schema\": \"mxact-unit/1\"}");
  CHECK(input_error_defect(error_of([&] { checkpoint::read_plan(planned.plan_file); }), {"schema is 'mxact-unit/1', not mxact-plan/1"}) == "");
  const std::optional<Error> program = error_of([&] { checkpoint::JobRunner(planned.plan, {.directory = planned.jobs(), .program = "test 2"}); });
  REQUIRE(program);
  CHECK(program->code() == ErrorCode::usage);
  CHECK(std::string(program->what()).find("planned by test 1, this is test 2") != std::string::npos);
  const std::optional<Error> beyond = error_of([&] { planned.run({5}); });
  REQUIRE(beyond);
  CHECK(beyond->code() == ErrorCode::usage);
  CHECK(std::string(beyond->what()).find("job 5 is not in 0..4") != std::string::npos);
  edit(planned.jobs() / checkpoint::record_name(0), [](auto& json) { json["plan"] = "xxh3:0000000000000000"; });
  // Also for a job that is not there yet: its file might have the name of another job's of the other plan.
  for (const int job : {0, 1}) {
    CHECK(input_error_defect(error_of([&] { planned.run({job}); }), {"is a job of plan xxh3:0000000000000000", "name another directory"}) == "");
  }
  CHECK(entries_of(planned.jobs()).size() == 2);
}

TEST_CASE("a plan of the Python package is run by the program of its version, and by no other") {
  const Planned planned;
  checkpoint::ConvertOptions options = planned_options();
  options.program = "mxact 0.1.0 (Python)";
  const checkpoint::JobPlan plan = checkpoint::make_plan(planned.source, planned.directory.path() / "of the package", options);
  const auto refusal = [&](const std::string& program) {
    const std::optional<Error> error =
        error_of([&] { checkpoint::JobRunner(plan, {.directory = checkpoint::jobs_directory(plan), .program = program}); });
    return error ? std::string(error->what()) : std::string();
  };
  CHECK(refusal("mxact 0.1.0 (0123456789ab)").empty());
  CHECK(refusal("mxact 0.1.0 (Python)").empty());
  for (const char* const other : {"mxact 0.2.0 (0123456789ab)", "mxact 0.1.01 (0123456789ab)", "mxact", "test 1"}) {
    INFO(other);
    CHECK(refusal(other).find("was planned by mxact 0.1.0 (Python), this is " + std::string(other)) != std::string::npos);
  }
}

TEST_CASE("a plan whose checkpoint lost a file names it") {
  for (const char* gone : {"config.json", "model.safetensors.index.json", "model-00002-of-00002.safetensors"}) {
    const Planned planned;
    if (!fs::exists(planned.source / gone)) continue;
    const bool is_planned = std::ranges::find(planned.plan.files, gone, &checkpoint::PlannedFile::name) != planned.plan.files.end();
    if (!is_planned) continue;
    fs::remove(planned.source / gone);
    INFO(gone);
    CHECK(input_error_defect(error_of([&] { planned.run({0}); }), {gone, "is not there any more: the conversion was planned with it"}) == "");
    CHECK_FALSE(fs::exists(planned.jobs()));
  }
  const Planned planned;
  CHECK(std::ranges::find(planned.plan.files, "config.json", &checkpoint::PlannedFile::name) != planned.plan.files.end());
  planned.run({0, 1, 2, 3, 4});
  fs::remove(planned.source / "config.json");
  CHECK(planned.merge_defect({"config.json", "is not there any more"}) == "");
  fs::remove_all(planned.source);
  CHECK(planned.merge_defect({"source", "is not there any more: the conversion was planned from it"}) == "");
}

TEST_CASE("a full disk ends a job without half a file") {
  const Planned planned;
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small {
    10'000, before.rlim_max
  };
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::optional<Error> error = error_of([&] { planned.run({0}); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::resource);
  CHECK(entries_of(planned.jobs()).empty());
}

}  // namespace mx::tests
