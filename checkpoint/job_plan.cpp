#include "checkpoint/job_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "checkpoint/layout_tags.hpp"
#include "checkpoint/setting_json.hpp"
#include "checkpoint/staging.hpp"
#include "model/error.hpp"
#include "support/digest.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "support/json_fields.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

constexpr std::string_view kPlanSchema = "mxact-plan/1";
constexpr std::string_view kJobSchema = "mxact-unit/1";
constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{64} << 20, .depth = 8, .memory = std::uint64_t{256} << 20};
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

support::Json read_json(const std::filesystem::path& path) {
  return support::parse_json(support::read_file(path, kLimits.bytes), kLimits, path.string());
}

void check_schema(support::JsonFields& fields, std::string_view wanted) {
  const std::string schema = fields.text("schema");
  if (schema != wanted) fail(fields.where(), fmt::format("its schema is {}, not {}", support::in_quotes(schema), wanted));
}

std::uint64_t size_field(support::JsonFields& fields, const std::string& key) { return static_cast<std::uint64_t>(fields.integer(key, 0, kLargest)); }

/// Everything of a weight file that its header says.
std::string header_digest(const support::SafetensorsFile& file) {
  support::DigestStream digest;
  for (const auto& [name, view] : file.tensors()) {
    const std::string line = fmt::format("{} {} {} {}\n", name, view.dtype->name, support::shape_text(view.shape), view.file_offset);
    digest.add(std::span(reinterpret_cast<const std::uint8_t*>(line.data()), line.size()));
  }
  return digest.text();
}

/// All of a plan but its id.
support::Json plan_json(const JobPlan& plan) {
  const auto written = [&](const std::filesystem::path& path) { return (plan.base ? path.lexically_relative(*plan.base) : path).string(); };
  const PlannedGroup& first = plan.layer_groups.front();
  support::Json json{
      {"schema", kPlanSchema},          {"program", plan.program}, {"checkpoint", written(plan.checkpoint)}, {"output", written(plan.output)},
      {"backend", first.backend},       {"rank", plan.rank},       {"setting", setting_json(first.setting)}, {"files", support::Json::array()},
      {"units", support::Json::array()}};
  if (plan.base) json["relative"] = 1;
  if (first.layer_group > 0) json["family"] = first.layer_group;
  for (std::size_t i = 1; i < plan.layer_groups.size(); ++i) {
    const PlannedGroup& group = plan.layer_groups[i];
    json["further"].push_back({{"family", group.layer_group}, {"backend", group.backend}, {"setting", setting_json(group.setting)}});
  }
  for (const PlannedFile& file : plan.files) json["files"].push_back({{"name", file.name}, {"size", file.size}, {"header", file.header}});
  for (const PlannedJob& job : plan.jobs) {
    json["units"].push_back({{"unit", job.job}, {"what", job.what}, {"file", job.file}, {"bytes", job.bytes}});
    if (!job.digest.empty()) json["units"].back()["digest"] = job.digest;
  }
  return json;
}

std::string id_of(const JobPlan& plan) { return support::digest_of(plan_json(plan).dump()); }

/// Of the first layer group, the number 0 is not written.
PlannedGroup read_group(support::JsonFields& fields, const support::Json& json, const std::string& where) {
  const int layer_group = json.contains("family") ? static_cast<int>(fields.integer("family", 0, INT32_MAX)) : 0;
  return {layer_group, fields.text("backend"), read_setting(fields.at("setting"), where + ": setting")};
}

PlannedJob read_job(const support::Json& json, const std::string& where, std::size_t place) {
  support::JsonFields fields(json, where + ": jobs");
  const auto number = static_cast<std::int64_t>(place);
  PlannedJob job{static_cast<int>(fields.integer("unit", number, number)), fields.text("what"), fields.text("file"), size_field(fields, "bytes"), {}};
  if (json.contains("digest")) job.digest = fields.text("digest");
  fields.finish();
  return job;
}

support::Json losses_json(const std::vector<LayerLoss>& losses) {
  support::Json json = support::Json::array();
  for (const LayerLoss& entry : losses) {
    json.push_back({{"layer", entry.layer}});
    if (entry.further > 0) json.back()["family"] = entry.further;
    json.back().update(loss_json(entry.loss));
  }
  return json;
}

support::Json inputs_json(const std::vector<LayerInputs>& inputs) {
  support::Json json = support::Json::array();
  for (const LayerInputs& entry : inputs) {
    json.push_back({{"layer", entry.layer}});
    if (entry.further > 0) json.back()["family"] = entry.further;
    json.back().update(inputs_json(entry.scales));
  }
  return json;
}

LayerInputs read_layer_inputs(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where);
  LayerInputs inputs{static_cast<int>(fields.integer("layer", 0, INT32_MAX)), {}};
  if (json.contains("family")) inputs.further = static_cast<int>(fields.integer("family", 1, INT32_MAX));
  support::Json scales = json;
  for (const char* const key : {"layer", "family"}) scales.erase(key);
  inputs.scales = read_inputs(scales, where);
  return inputs;
}

LayerLoss read_layer_loss(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where);
  const int layer = static_cast<int>(fields.integer("layer", 0, INT32_MAX));
  const int further = json.contains("family") ? static_cast<int>(fields.integer("family", 1, INT32_MAX)) : 0;
  support::Json loss = json;
  for (const char* const key : {"layer", "family"}) loss.erase(key);
  return {layer, read_loss(loss, where), further};
}

std::filesystem::path absolute_of(const std::filesystem::path& path) {
  if (path.empty()) throw Error(ErrorCode::usage, "the path is empty", "output directory");
  return std::filesystem::absolute(path).lexically_normal();
}

}  // namespace

std::vector<PlannedFile> files_of(const Checkpoint& checkpoint) {
  std::vector<PlannedFile> files;
  for (const support::SafetensorsFile& file : checkpoint.contents().files) {
    files.push_back({file.path().filename().string(), file.size(), header_digest(file)});
  }
  const std::filesystem::path config = checkpoint.contents().directory / kConfigName;
  if (support::is_there(config)) files.push_back({std::string(kConfigName), support::file_size(config), support::digest_of_file(config)});
  return files;
}

ConvertOptions options_of(const JobPlan& plan) {
  ConvertOptions options{.backend = {}, .setting = plan.layer_groups.front().setting, .rank = plan.rank};
  options.program = plan.program;
  for (const PlannedGroup& group : plan.layer_groups) options.named.push_back({group.backend, group.layer_group, {}, group.setting.activation});
  return options;
}

JobPlan make_plan(const std::filesystem::path& checkpoint, const std::filesystem::path& output, const ConvertOptions& options,
                  const std::optional<std::filesystem::path>& base) {
  require_apart(output, std::span(&checkpoint, 1));
  const CheckpointConversion conversion(checkpoint, options);
  JobPlan plan{{},
               options.program,
               absolute_of(checkpoint),
               absolute_of(output),
               base ? std::optional(absolute_of(*base)) : std::nullopt,
               options.rank,
               {},
               {},
               {}};
  for (const GroupConversion& group : conversion.layer_groups())
    plan.layer_groups.push_back({group.checkpoint.layer_group(), group.name(), group.setting});
  plan.files = files_of(conversion.checkpoint());
  std::uint64_t done = 0;
  for (int job = 0; job < conversion.jobs(); ++job) {
    if (options.progress) options.progress("reading " + conversion.name_of(job), done, conversion.total_bytes());
    plan.jobs.push_back({job, conversion.name_of(job), conversion.file_of(job), conversion.bytes_of(job), conversion.source_digest(job)});
    done += plan.jobs.back().bytes;
  }
  plan.id = id_of(plan);
  return plan;
}

std::string text_of(const JobPlan& plan) {
  support::Json json = plan_json(plan);
  json["id"] = plan.id;
  return json.dump(1) + "\n";
}

JobPlan read_plan(const std::filesystem::path& path) {
  const std::string where = path.string();
  const support::Json json = read_json(path);
  support::JsonFields fields(json, where);
  check_schema(fields, kPlanSchema);
  JobPlan plan{fields.text("id"),
               fields.text("program"),
               fields.text("checkpoint"),
               fields.text("output"),
               std::nullopt,
               static_cast<int>(fields.integer("rank", 0, INT32_MAX)),
               {},
               {},
               {}};
  plan.layer_groups.push_back(read_group(fields, json, where));
  if (json.contains("further")) {
    for (const support::Json& entry : fields.array("further")) {
      support::JsonFields further(entry, where + ": further");
      plan.layer_groups.push_back(read_group(further, entry, further.where()));
      further.finish();
    }
  }
  if (json.contains("relative") && fields.integer("relative", 0, 1) == 1) {
    plan.base = absolute_of(path).parent_path();
    for (std::filesystem::path* const of : {&plan.checkpoint, &plan.output}) *of = (*plan.base / *of).lexically_normal();
  }
  for (const support::Json& entry : fields.array("files")) {
    support::JsonFields file(entry, where + ": files");
    plan.files.push_back({file.text("name"), size_field(file, "size"), file.text("header")});
    file.finish();
  }
  for (const support::Json& entry : fields.array("units")) plan.jobs.push_back(read_job(entry, where, plan.jobs.size()));
  fields.finish();
  if (const std::string id = id_of(plan); id != plan.id) {
    fail(where, fmt::format("says that it is plan {}, but its contents are those of {}: it was changed", support::in_quotes(plan.id), id));
  }
  return plan;
}

void require_files(const JobPlan& plan) {
  std::error_code ignored;
  const bool is_directory = std::filesystem::is_directory(plan.checkpoint, ignored);
  const std::filesystem::path directory = is_directory ? plan.checkpoint : plan.checkpoint.parent_path();
  if (!support::is_there(plan.checkpoint)) fail(plan.checkpoint.string(), "is not there any more: the conversion was planned from it");
  for (const PlannedFile& file : plan.files) {
    const std::filesystem::path path = directory / file.name;
    if (!support::is_there(path)) fail(path.string(), "is not there any more: the conversion was planned with it");
  }
}

namespace {

/// Jobs are made by the program that planned them, or by the one of the package that did: "mxact 0.1.0 (Python)" plans for "mxact 0.1.0 (COMMIT)".
bool plans_for(std::string_view planner, std::string_view program) {
  constexpr std::string_view kPackage = " (Python)";
  return planner == program ||
         (planner.ends_with(kPackage) && planner.substr(0, planner.size() - kPackage.size()) == program.substr(0, program.find(" (")));
}

}  // namespace

void check_plan(const JobPlan& plan, const CheckpointConversion& conversion, const std::string& program) {
  if (!plans_for(plan.program, program)) {
    throw Error(ErrorCode::usage, fmt::format("was planned by {}, this is {}: all jobs are made by one program", plan.program, program),
                "plan " + plan.id);
  }
  const std::vector<PlannedFile> files = files_of(conversion.checkpoint());
  for (std::size_t i = 0; i < std::max(files.size(), plan.files.size()); ++i) {
    if (i < files.size() && i < plan.files.size() && files[i] == plan.files[i]) continue;
    const std::string& name = i < plan.files.size() ? plan.files[i].name : files[i].name;
    fail((conversion.checkpoint().contents().directory / name).string(), "is not what it was when the conversion was planned");
  }
  if (static_cast<std::size_t>(conversion.jobs()) == plan.jobs.size()) return;
  fail(plan.checkpoint.string(), fmt::format("makes {} jobs, but {} were planned", conversion.jobs(), plan.jobs.size()));
}

void check_source(const PlannedJob& job, const CheckpointConversion& conversion) {
  if (job.digest.empty()) return;
  const std::string digest = conversion.source_digest(job.job);
  if (digest == job.digest) return;
  fail(conversion.checkpoint().contents().directory.string(),
       fmt::format("what job {}, {}, reads has the digest {}, but was planned with {}: the checkpoint has changed since", job.job, job.what, digest,
                   job.digest));
}

std::string record_name(int job) { return fmt::format("unit-{:05}.json", job); }

bool is_record_name(const std::string& name) { return name.starts_with("unit-") && name.ends_with(".json"); }

std::string text_of(const JobRecord& record) {
  const JobResult& result = record.result;
  const support::Json json{{"schema", kJobSchema},
                           {"plan", record.plan},
                           {"unit", record.job},
                           {"file", result.file},
                           {"size", result.size},
                           {"digest", result.digest},
                           {"layers", result.layers},
                           {"other_tensors", result.other_tensors},
                           {"bytes_in", result.bytes_in},
                           {"bytes_out", result.bytes_out},
                           {"up_scales_dropped", result.up_scales_dropped},
                           {"largest_scale_byte", result.largest_scale_byte},
                           {"losses", losses_json(result.losses)},
                           {"values", values_json(result.values)},
                           {"input_scales", inputs_json(result.inputs)},
                           {"tensors", result.tensors}};
  return json.dump(1) + "\n";
}

JobRecord read_record(const std::filesystem::path& path) {
  const std::string where = path.string();
  const support::Json json = read_json(path);
  support::JsonFields fields(json, where);
  check_schema(fields, kJobSchema);
  JobRecord record{fields.text("plan"), static_cast<int>(fields.integer("unit", 0, INT32_MAX)), {}};
  JobResult& result = record.result;
  result.file = fields.text("file");
  if (!is_shard_name(result.file)) fail(where, fmt::format("names the file {}, which is not a plain file name", support::in_quotes(result.file)));
  result.size = size_field(fields, "size");
  result.digest = fields.text("digest");
  result.layers = fields.integer("layers", 0, 1);
  result.other_tensors = fields.integer("other_tensors", 0, kLargest);
  result.bytes_in = size_field(fields, "bytes_in");
  result.bytes_out = size_field(fields, "bytes_out");
  result.up_scales_dropped = fields.integer("up_scales_dropped", 0, kLargest);
  result.largest_scale_byte = static_cast<int>(fields.integer("largest_scale_byte", 0, 255));
  for (const support::Json& loss : fields.array("losses")) result.losses.push_back(read_layer_loss(loss, where + ": losses"));
  if (json.contains("input_scales")) {
    for (const support::Json& one : fields.array("input_scales")) result.inputs.push_back(read_layer_inputs(one, where + ": input_scales"));
  }
  for (const support::Json& value : fields.array("values")) result.values.push_back(read_values(value, where));
  const support::Json& tensors = fields.at("tensors");
  support::JsonFields sizes(tensors, where + ": tensors");
  for (const auto& [name, value] : tensors.items()) result.tensors.emplace(name, size_field(sizes, name));
  fields.finish();
  return record;
}

}  // namespace mx::checkpoint
