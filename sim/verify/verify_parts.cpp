#include "sim/verify/verify_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "checkpoint/job_plan.hpp"
#include "checkpoint/layout_tags.hpp"
#include "checkpoint/setting_json.hpp"
#include "model/error.hpp"
#include "model/grounds.hpp"
#include "support/deployment_file.hpp"
#include "support/digest.hpp"
#include "support/json.hpp"
#include "support/json_fields.hpp"
#include "support/quote.hpp"
#include "support/tuned_file.hpp"

namespace mx::sim {
namespace {

constexpr std::string_view kSchema = "mxact-verify-part/1";
constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{64} << 20, .depth = 8, .memory = std::uint64_t{256} << 20};
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::array kVerdicts{Verdict::passed, Verdict::failed, Verdict::mistrusted, Verdict::not_modelled, Verdict::refused};

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

Verdict read_verdict(support::JsonFields& fields) {
  const std::string name = fields.text("verdict");
  const auto found = std::ranges::find(kVerdicts, name, [](Verdict verdict) { return name_of(verdict); });
  if (found == kVerdicts.end()) fail(fields.where(), fmt::format("'verdict' is {}, which is none", support::in_quotes(name)));
  return *found;
}

bool read_flag(support::JsonFields& fields, const std::string& key) { return fields.integer(key, 0, 1) == 1; }

/// Bits, since no rounding may touch what is compared with a limit.
double read_double(support::JsonFields& fields, const std::string& key) { return std::bit_cast<double>(fields.integer(key, 0, kLargest)); }
std::int64_t bits_of(double value) { return std::bit_cast<std::int64_t>(value); }

support::Json request_json(const VerifyRequest& request) {
  support::Json json{{"platforms", request.platforms},
                     {"backends", request.backends},
                     {"engine", request.engine},
                     {"env", request.env},
                     {"libraries", request.libraries},
                     {"tp", request.tp},
                     {"dp", request.dp},
                     {"expert_parallel", int{request.expert_parallel}},
                     {"contracts", request.contracts},
                     {"launch", request.launch},
                     {"layers", request.layers},
                     {"experts", request.experts},
                     {"family", request.layer_group},
                     {"tokens", request.tokens},
                     {"seed", request.seed},
                     {"no_execute", int{request.no_execute}},
                     {"fail_on_warning", int{request.fail_on_warning}},
                     {"reference", int{request.reference}}};
  if (request.checkpoint) json["checkpoint"] = *request.checkpoint;
  if (!request.deployment.empty()) json["deployment"] = support::Json::array({request.deployment_file, request.deployment});
  return json;
}

VerifyRequest read_request(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where + ": request");
  VerifyRequest request;
  request.platforms = fields.texts("platforms");
  request.backends = fields.texts("backends");
  request.engine = fields.text("engine");
  for (const auto& [name, value] : fields.at("env").items()) {
    if (!value.is_string()) fail(fields.where(), fmt::format("'env' has no text for {}", support::in_quotes(name)));
    request.env[name] = value.get<std::string>();
  }
  request.libraries = fields.texts("libraries");
  for (const std::int64_t tp : fields.integers("tp")) request.tp.push_back(static_cast<int>(std::clamp<std::int64_t>(tp, 0, INT32_MAX)));
  request.dp = static_cast<int>(fields.integer("dp", 1, INT32_MAX));
  request.expert_parallel = read_flag(fields, "expert_parallel");
  request.contracts = fields.texts("contracts");
  request.launch = fields.text("launch");
  request.layers = static_cast<int>(fields.integer("layers", 0, INT32_MAX));
  request.experts = fields.integer("experts", 0, kLargest);
  request.layer_group = static_cast<int>(fields.integer("family", 0, INT32_MAX));
  request.tokens = fields.integer("tokens", 1, kLargest);
  request.seed = fields.integer("seed", 0, kLargest);
  request.no_execute = read_flag(fields, "no_execute");
  request.fail_on_warning = read_flag(fields, "fail_on_warning");
  request.reference = read_flag(fields, "reference");
  if (json.contains("checkpoint")) request.checkpoint = fields.text("checkpoint");
  if (json.contains("deployment")) {
    const std::vector<std::string> deployment = fields.texts("deployment");
    if (deployment.size() != 2 || deployment[1].empty()) fail(fields.where(), "'deployment' is no file with its text");
    request.deployment_file = deployment[0];
    request.deployment = deployment[1];
  }
  fields.finish();
  return request;
}

support::Json losses_json(const std::vector<layout::Loss>& losses) {
  support::Json json = support::Json::array();
  for (const layout::Loss& loss : losses) json.push_back(checkpoint::loss_json(loss));
  return json;
}

std::vector<Grounds> read_grounds(support::JsonFields& fields) {
  std::vector<Grounds> grounds;
  for (const std::string& name : fields.texts("grounds")) {
    const auto legend = grounds_legend();
    const auto row = std::ranges::find(legend, name, &GroundsWord::name);
    if (row == legend.end()) fail(fields.where(), fmt::format("'grounds' holds {}, which is no word of the legend", support::in_quotes(name)));
    grounds.push_back(row->grounds);
  }
  return grounds;
}

KnownPlace read_place(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where + ": known_to_differ");
  KnownPlace place{fields.text("where"), fields.text("source")};
  fields.finish();
  return place;
}

support::Json result_json(const ConversionResult& result) {
  return {{"verdict", name_of(result.verdict)},
          {"detail", result.detail},
          {"not_asked", result.not_asked},
          {"execution", result.execution},
          {"grounds", grounds_json(result.grounds)},
          {"known_to_differ", places_json(result.known_to_differ)},
          {"losses", losses_json(result.losses)},
          {"units", result.units},
          {"units_compared", result.units_compared},
          {"compared_every", result.compared_every},
          {"units_differing", result.units_differing},
          {"outputs_compared", result.outputs_compared},
          {"outputs_differing", result.outputs_differing},
          {"seconds", bits_of(result.seconds)}};
}

ConversionResult read_result(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where + ": results");
  ConversionResult result{};
  result.verdict = read_verdict(fields);
  result.detail = fields.text("detail");
  result.not_asked = fields.texts("not_asked");
  result.execution = fields.text("execution");
  result.grounds = read_grounds(fields);
  for (const support::Json& place : fields.array("known_to_differ")) result.known_to_differ.push_back(read_place(place, where));
  for (const support::Json& loss : fields.array("losses")) result.losses.push_back(checkpoint::read_loss(loss, where + ": losses"));
  result.units = fields.integer("units", 0, kLargest);
  result.units_compared = fields.integer("units_compared", 0, kLargest);
  result.compared_every = fields.integer("compared_every", 1, kLargest);
  result.units_differing = fields.integer("units_differing", 0, kLargest);
  result.outputs_compared = fields.integer("outputs_compared", 0, kLargest);
  result.outputs_differing = fields.integer("outputs_differing", 0, kLargest);
  result.seconds = read_double(fields, "seconds");
  fields.finish();
  return result;
}

support::Json expected_json(const ExpectedResult& expected) {
  return {{"layer", expected.layer}, {"values", expected.values}, {"worst_ulp", bits_of(expected.worst_ulp)},
          {"token", expected.token}, {"column", expected.column}, {"verdict", name_of(expected.verdict)}};
}

ExpectedResult read_expected(const support::Json& json, const std::string& where) {
  support::JsonFields fields(json, where + ": expected");
  ExpectedResult expected;
  expected.layer = static_cast<int>(fields.integer("layer", 0, INT32_MAX));
  expected.values = fields.integer("values", 0, kLargest);
  expected.worst_ulp = read_double(fields, "worst_ulp");
  expected.token = fields.integer("token", 0, kLargest);
  expected.column = fields.integer("column", 0, kLargest);
  expected.verdict = read_verdict(fields);
  fields.finish();
  return expected;
}

/// All of a part but its id.
support::Json part_json(const VerifyPart& part) {
  const VerifyReport& report = part.report;
  support::Json json{{"schema", kSchema},
                     {"program", part.program},
                     {"request", request_json(part.request)},
                     {"share", support::Json::array({part.share.index, part.share.count})},
                     {"run", part.run},
                     {"tokens", report.tokens},
                     {"token_source", report.token_source},
                     {"router_source", report.router_source},
                     {"values", checkpoint::values_json(report.values)},
                     {"results", support::Json::array()},
                     {"expected", support::Json::array()}};
  for (const ConversionResult& result : report.conversions) json["results"].push_back(result_json(result));
  for (const ExpectedResult& expected : report.expected) json["expected"].push_back(expected_json(expected));
  return json;
}

/// What every part of a run must agree in.
std::string run_digest(const checkpoint::Checkpoint& checkpoint, const VerifyRequest& request, const VerifyReport& report,
                       const std::string& program) {
  support::Json json{
      {"program", program}, {"request", request_json(request)}, {"files", support::Json::array()}, {"conversions", support::Json::array()}};
  for (const checkpoint::PlannedFile& file : checkpoint::files_of(checkpoint))
    json["files"].push_back(support::Json::array({file.name, file.size, file.header}));
  for (const ConversionResult& result : report.conversions) {
    json["conversions"].push_back(
        support::Json::array({result.backend, result.tp, result.padded.hidden, result.padded.intermediate, families::name_of(result.arch)}));
  }
  return support::digest_of(json.dump());
}

/// Parts in the order of their shares, every share once.
std::vector<const ReadVerifyPart*> in_order(const std::vector<ReadVerifyPart>& parts) {
  std::vector<const ReadVerifyPart*> ordered;
  for (const ReadVerifyPart& part : parts) ordered.push_back(&part);
  std::ranges::stable_sort(ordered, {}, [](const ReadVerifyPart* part) { return part->part.share.index; });
  const int count = parts.front().part.share.count;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const auto& [path, part] = *ordered[i];
    if (part.share.count != count)
      fail(path.string(), fmt::format("is one of {} shares, but {} is one of {}", part.share.count, parts.front().path.string(), count));
    if (i > 0 && part.share.index == ordered[i - 1]->part.share.index)
      fail(path.string(), fmt::format("is share {} of {}, and so is {}", part.share.index, count, ordered[i - 1]->path.string()));
  }
  for (int index = 1; index <= count; ++index) {
    const auto at = static_cast<std::size_t>(index) - 1;
    if (at < ordered.size() && ordered[at]->part.share.index == index) continue;
    fail(parts.front().path.string(), fmt::format("is one of {} shares, and share {} is missing", count, index));
  }
  return ordered;
}

}  // namespace

support::Json grounds_json(const std::vector<Grounds>& grounds) {
  support::Json json = support::Json::array();
  for (const Grounds one : grounds) json.push_back(name_of(one));
  return json;
}

support::Json places_json(const std::vector<KnownPlace>& places) {
  support::Json json = support::Json::array();
  for (const KnownPlace& place : places) json.push_back({{"where", place.where}, {"source", place.source}});
  return json;
}

VerifyOptions options_of(const VerifyRequest& request) {
  VerifyOptions options;
  options.engine = deployment::engine_named(request.engine);
  options.platforms = request.platforms;
  if (!request.deployment.empty())
    options.deployment = support::parse_deployment_file(request.deployment, request.deployment_file, {}, options.engine);
  options.backends = request.backends;
  options.env = request.env;
  options.libraries = request.libraries;
  options.tp = request.tp;
  options.dp = request.dp;
  options.expert_parallel = request.expert_parallel;
  options.by = request.reference ? kernels::relayout::MoveBy::model : kernels::relayout::MoveBy::plans;
  options.executes = !request.no_execute;
  for (const std::string& name : request.contracts) options.contracts.push_back(contract_named(name));
  options.launch = support::launch_of(request.launch);
  if (request.layers > 0) options.max_layers = request.layers;
  if (request.experts > 0) options.max_experts = request.experts;
  options.tokens = request.tokens;
  options.seed = static_cast<std::uint64_t>(request.seed);
  return options;
}

VerifyPart part_of(const checkpoint::Checkpoint& checkpoint, const VerifyRequest& request, VerifyShare share, const std::string& program,
                   VerifyReport report) {
  std::string run = run_digest(checkpoint, request, report, program);
  return {program, request, share, std::move(run), std::move(report)};
}

std::string text_of(const VerifyPart& part) {
  support::Json json = part_json(part);
  json["id"] = support::digest_of(json.dump());
  return json.dump(1) + "\n";
}

VerifyPart read_verify_part(const std::filesystem::path& path) {
  const std::string where = path.string();
  const support::Json json = support::parse_json(support::read_file(path, kLimits.bytes), kLimits, where);
  support::JsonFields fields(json, where);
  if (const std::string schema = fields.text("schema"); schema != kSchema) {
    fail(where, fmt::format("its schema is {}, not {}", support::in_quotes(schema), kSchema));
  }
  VerifyPart part{fields.text("program"), read_request(fields.at("request"), where), {}, fields.text("run"), {}};
  const std::vector<std::int64_t> share = fields.integers("share");
  if (share.size() != 2 || share[0] < 1 || share[1] < share[0] || share[1] > INT32_MAX) fail(where, "'share' is no share I of N");
  part.share = {static_cast<int>(share[0]), static_cast<int>(share[1])};
  part.report.tokens = fields.integer("tokens", 0, kLargest);
  part.report.token_source = fields.text("token_source");
  part.report.router_source = fields.text("router_source");
  for (const support::Json& entry : fields.array("values")) part.report.values.push_back(checkpoint::read_values(entry, where));
  for (const support::Json& entry : fields.array("results")) part.report.conversions.push_back(read_result(entry, where));
  for (const support::Json& entry : fields.array("expected")) part.report.expected.push_back(read_expected(entry, where));
  const std::string id = fields.text("id");
  fields.finish();
  if (const std::string found = support::digest_of(part_json(part).dump()); found != id) {
    fail(where, fmt::format("says that it is part {}, but its contents are those of {}: it was changed", support::in_quotes(id), found));
  }
  return part;
}

VerifyReport merged_report(const checkpoint::Checkpoint& checkpoint, const std::vector<ReadVerifyPart>& parts, const std::string& program) {
  const std::vector<const ReadVerifyPart*> ordered = in_order(parts);
  const VerifyRequest& request = ordered.front()->part.request;
  VerifyReport report = planned_report(checkpoint, options_of(request));
  const std::string run = run_digest(checkpoint, request, report, program), read_router = report.router_source;
  for (const ReadVerifyPart* const entry : ordered) {
    const auto& [path, part] = *entry;
    if (part.program != program) {
      throw Error(ErrorCode::usage, fmt::format("was made by {}, this is {}: all shares are done by one program", part.program, program),
                  path.string());
    }
    if (part.run != run || part.report.conversions.size() != report.conversions.size()) {
      fail(path.string(), fmt::format("is of another run than {}, or the checkpoint has changed", ordered.front()->path.string()));
    }
    for (std::size_t i = 0; i < report.conversions.size(); ++i) add_later(report.conversions[i], part.report.conversions[i]);
    report.values.insert(report.values.end(), part.report.values.begin(), part.report.values.end());
    report.expected.insert(report.expected.end(), part.report.expected.begin(), part.report.expected.end());
    // What is said of a run is said of its last layer.
    if (part.report.token_source.empty()) continue;
    report.tokens = part.report.tokens;
    report.token_source = part.report.token_source;
    if (part.report.router_source != read_router) report.router_source = part.report.router_source;
  }
  for (const ConversionResult& result : report.conversions) report.compared_every = std::max(report.compared_every, result.compared_every);
  return report;
}

}  // namespace mx::sim
