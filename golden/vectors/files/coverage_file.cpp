#include "golden/vectors/files/coverage_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "golden/vectors/families.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "support/json_fields.hpp"
#include "support/quote.hpp"

namespace mx::golden {
namespace {

using support::Json;
using support::JsonFields;

constexpr std::string_view kSchema = "mxact-coverage-file/1";
constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{16} << 20, .depth = 8, .memory = std::uint64_t{64} << 20};
/// Larger counts would not add up in 64 bits.
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() >> 16;
constexpr std::array kVerdicts{CheckVerdict::passed, CheckVerdict::failed, CheckVerdict::mistrusted};

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

std::string set_text(const SetChoice& set) {
  if (set.kind != SetKind::random) return std::string(name_of(set.kind));
  return fmt::format("random, seed {}, {} vectors", set.seed, set.count.value_or(0));
}

std::vector<std::vector<BinCount>> no_bins(const VectorOp& op) {
  std::vector<std::vector<BinCount>> bins;
  for (const CoverageAxis& axis : op.axes()) bins.emplace_back(axis.bins.size());
  return bins;
}

/// Where the axis or bin of that name stands; `count` where there is none.
std::size_t axis_named(const VectorOp& op, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(op.axes(), name, &CoverageAxis::name) - op.axes().begin());
}
std::size_t bin_named(const CoverageAxis& axis, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(axis.bins, name) - axis.bins.begin());
}

Json op_json(const CoveredOp& one) {
  Json json{{"op", one.op->name()}, {"options", Json::object()}, {"settings", Json::object()}, {"runs", Json::array()}, {"axes", Json::array()}};
  for (const OpSetting& option : one.options) json["options"][option.key] = option.value;
  for (const OpSetting& setting : one.op->settings()) json["settings"][setting.key] = setting.value;
  for (const CoverageRun& run : one.runs)
    json["runs"].push_back({{"set", run.set}, {"checked", run.checked}, {"wrong", run.wrong}, {"verdict", name_of(run.verdict)}});
  for (std::size_t axis = 0; axis < one.bins.size(); ++axis) {
    Json bins = Json::array();
    for (std::size_t bin = 0; bin < one.bins[axis].size(); ++bin) {
      const BinCount& count = one.bins[axis][bin];
      if (count.checked > 0) bins.push_back({{"bin", one.op->axes()[axis].bins[bin]}, {"checked", count.checked}, {"wrong", count.wrong}});
    }
    json["axes"].push_back({{"axis", one.op->axes()[axis].name}, {"bins", std::move(bins)}});
  }
  return json;
}

std::vector<OpSetting> read_settings(const Json& json, const std::string& where) {
  if (!json.is_object()) fail(where, "is no object");
  std::vector<OpSetting> settings;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) fail(where, fmt::format("{} is no text", support::in_quotes(key)));
    settings.push_back({key, value.text()});
  }
  return settings;
}

/// The operation, of this version, with the settings that the file says it had.
std::shared_ptr<const VectorOp> read_op(JsonFields& fields, Edition edition, std::vector<OpSetting>& options) {
  const std::string name = fields.text("op");
  options = read_settings(fields.at("options"), fields.where() + ": options");
  std::vector<OpSetting> all = options;
  all.push_back({"edition", std::string(name_of(edition))});
  std::shared_ptr<const VectorOp> op;
  try {
    op = op_named(name, OpOptions(std::move(all)));
  } catch (const Error& error) {
    fail(fields.where(), error.what());
  }
  if (op->name() != name) fail(fields.where(), fmt::format("'op' is {}, whose name is {}", support::in_quotes(name), op->name()));
  const std::vector<OpSetting> settings = read_settings(fields.at("settings"), fields.where() + ": settings");
  if (settings == op->settings()) return op;
  for (const OpSetting& setting : op->settings()) {
    const auto found = std::ranges::find(settings, setting.key, &OpSetting::key);
    if (found == settings.end() || *found != setting)
      fail(fields.where(), fmt::format("'settings' has {}={}, where this version has {}", setting.key,
                                       found == settings.end() ? "nothing" : support::in_quotes(found->value), setting.value));
  }
  fail(fields.where(), "'settings' are not those of this version");
}

CoverageRun read_run(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ": runs");
  CoverageRun run{};
  run.set = fields.text("set");
  run.checked = static_cast<std::uint64_t>(fields.integer("checked", 0, kMost));
  run.wrong = static_cast<std::uint64_t>(fields.integer("wrong", 0, kMost));
  const std::string verdict = fields.text("verdict");
  fields.finish();
  const auto found = std::ranges::find(kVerdicts, verdict, [](CheckVerdict one) { return name_of(one); });
  if (found == kVerdicts.end()) fail(fields.where(), fmt::format("'verdict' is {}, which is none", support::in_quotes(verdict)));
  run.verdict = *found;
  if (run.wrong > run.checked) fail(fields.where(), fmt::format("{} of {} vectors are wrong", run.wrong, run.checked));
  return run;
}

void read_bins(const Json& json, const std::string& where, const CoverageAxis& axis, std::uint64_t checked, std::vector<BinCount>& bins) {
  std::uint64_t sum = 0;
  JsonFields fields(json, where);
  fields.text("axis");
  for (const Json& element : fields.array("bins")) {
    JsonFields one(element, where + ": " + axis.name);
    const std::string name = one.text("bin");
    const std::size_t bin = bin_named(axis, name);
    if (bin == axis.bins.size()) fail(one.where(), fmt::format("no bin {}", support::in_quotes(name)));
    if (bins[bin].checked != 0) fail(one.where(), fmt::format("bin {} stands there twice", support::in_quotes(name)));
    bins[bin].checked = static_cast<std::uint64_t>(one.integer("checked", 1, kMost));
    bins[bin].wrong = static_cast<std::uint64_t>(one.integer("wrong", 0, kMost));
    one.finish();
    sum += bins[bin].checked;
    if (bins[bin].wrong > bins[bin].checked || sum > checked)
      fail(one.where(), fmt::format("bin {} has more vectors than there are", support::in_quotes(name)));
  }
  fields.finish();
}

CoveredOp read_covered(const Json& json, Edition edition, const std::string& where) {
  JsonFields fields(json, where);
  CoveredOp one;
  one.op = read_op(fields, edition, one.options);
  std::uint64_t checked = 0;
  for (const Json& run : fields.array("runs")) {
    one.runs.push_back(read_run(run, where));
    checked += one.runs.back().checked;
  }
  if (one.runs.empty()) fail(where, "'runs' is empty");
  one.bins = no_bins(*one.op);
  std::set<std::size_t> seen;
  for (const Json& element : fields.array("axes")) {
    if (!element.is_object()) fail(where + ": axes", "an element is no object");
    const Json* name = element.find("axis");
    const std::size_t axis = name != nullptr && name->is_string() ? axis_named(*one.op, name->text()) : one.bins.size();
    if (axis == one.bins.size()) fail(where + ": axes", fmt::format("{} has no such question", one.op->name()));
    if (!seen.insert(axis).second) fail(where + ": axes", fmt::format("{} stands there twice", support::in_quotes(one.op->axes()[axis].name)));
    read_bins(element, where + ": axes", one.op->axes()[axis], checked, one.bins[axis]);
  }
  if (seen.size() != one.bins.size()) fail(where + ": axes", fmt::format("{} of {} questions are there", seen.size(), one.bins.size()));
  fields.finish();
  return one;
}

/// What tells a set from others: of random vectors the seed, since more of them begin with the same ones.
std::string_view stream_of(std::string_view set) { return set.starts_with("random") ? set.substr(0, set.rfind(',')) : set; }

/// Refuses vectors that are there already, in whatever file.
void check_new(const CoveredOp& one, const std::filesystem::path& path, std::map<std::string, std::filesystem::path>& seen) {
  std::string what = one.op->name();
  for (const OpSetting& setting : one.op->settings()) what += fmt::format(" {}={}", setting.key, setting.value);
  for (const CoverageRun& run : one.runs) {
    const auto [known, is_new] = seen.emplace(fmt::format("{} {}", what, stream_of(run.set)), path);
    if (is_new) continue;
    throw Error(ErrorCode::usage, fmt::format("{} has the vectors of {} ({}), and so has {}: they would count twice", path.string(), one.name(),
                                              run.set, known->second == path ? "it again" : known->second.string()));
  }
}

bool is_same(const CoveredOp& a, const CoveredOp& b) { return a.op->name() == b.op->name() && a.op->settings() == b.op->settings(); }

void add(CoverageRecord& all, CoveredOp one) {
  const auto known = std::ranges::find_if(all.ops, [&](const CoveredOp& other) { return is_same(other, one); });
  if (known == all.ops.end()) {
    all.ops.push_back(std::move(one));
    return;
  }
  known->runs.insert(known->runs.end(), one.runs.begin(), one.runs.end());
  for (std::size_t axis = 0; axis < one.bins.size(); ++axis) {
    for (std::size_t bin = 0; bin < one.bins[axis].size(); ++bin) {
      known->bins[axis][bin].checked += one.bins[axis][bin].checked;
      known->bins[axis][bin].wrong += one.bins[axis][bin].wrong;
    }
  }
}

}  // namespace

std::string CoveredOp::name() const {
  std::string text = op->name();
  for (const OpSetting& option : options) text += fmt::format(" --{} {}", option.key, option.value);
  return text;
}

CoverageRecord coverage_of(std::shared_ptr<const VectorOp> op, const OpOptions& options, const SetChoice& set, const CheckReport& report) {
  CoveredOp one{{}, op, {{set_text(set), report.checked, report.mismatched, report.verdict}}, no_bins(*op)};
  std::ranges::copy_if(options.given(), std::back_inserter(one.options), [](const OpSetting& option) { return option.key != "edition"; });
  for (const BinCheck& check : report.bins) {
    const std::size_t axis = axis_named(*op, check.axis);
    one.bins[axis][bin_named(op->axes()[axis], check.bin)] = {check.checked, check.wrong};
  }
  const Edition edition = op->edition();
  return {edition, {std::move(one)}};
}

std::string coverage_file_text(const CoverageRecord& record) {
  Json json{{"schema", kSchema}, {"edition", name_of(record.edition)}, {"operations", Json::array()}};
  for (const CoveredOp& one : record.ops) json["operations"].push_back(op_json(one));
  return json.dump(1) + "\n";
}

CoverageRecord read_coverage_file(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Json json = support::parse_json(support::read_file(path, kLimits.bytes), kLimits, where);
  JsonFields fields(json, where);
  const std::string schema = fields.text("schema");
  if (schema != kSchema) fail(where, fmt::format("'schema' is {}, expected {}: a file of ver --coverage-out", support::in_quotes(schema), kSchema));
  const std::string edition = fields.text("edition");
  CoverageRecord record{};
  try {
    record.edition = edition_named(edition);
  } catch (const Error& error) {
    fail(where, error.what());
  }
  for (const Json& element : fields.array("operations")) {
    CoveredOp one = read_covered(element, record.edition, where);
    if (std::ranges::any_of(record.ops, [&](const CoveredOp& other) { return is_same(other, one); })) fail(where, one.name() + " stands there twice");
    record.ops.push_back(std::move(one));
  }
  fields.finish();
  if (record.ops.empty()) fail(where, "'operations' is empty");
  return record;
}

CoverageRecord merge_coverage_files(const std::vector<std::filesystem::path>& paths) {
  CoverageRecord all{};
  std::set<std::filesystem::path> seen;
  std::map<std::string, std::filesystem::path> streams;
  for (const std::filesystem::path& path : paths) {
    std::error_code ignored;
    if (!seen.insert(std::filesystem::weakly_canonical(path, ignored)).second)
      throw Error(ErrorCode::usage, path.string() + " is named twice: its vectors would count twice");
    CoverageRecord record = read_coverage_file(path);
    if (seen.size() > 1 && record.edition != all.edition)
      fail(path.string(), fmt::format("coverage of vectors {}, where {} is of {}: their questions are not the same", name_of(record.edition),
                                      paths.front().string(), name_of(all.edition)));
    all.edition = record.edition;
    for (CoveredOp& one : record.ops) {
      check_new(one, path, streams);
      add(all, std::move(one));
    }
  }
  return all;
}

std::vector<TableRecord> table_records(const CoverageRecord& record) {
  std::vector<TableRecord> records;
  for (const CoveredOp& one : record.ops) {
    Coverage met(*one.op);
    std::vector<std::uint8_t> bins(one.bins.size());
    for (std::size_t axis = 0; axis < one.bins.size(); ++axis) {
      for (std::size_t bin = 0; bin < one.bins[axis].size(); ++bin) {
        if (one.bins[axis][bin].checked == 0) continue;
        std::ranges::fill(bins, std::uint8_t{0});
        bins[axis] = static_cast<std::uint8_t>(bin + 1U);
        met.add(bins);
      }
    }
    records.push_back({one.name(), {{"set", {{"kind", "merged"}}}}, coverage_report(*one.op, met, directed_coverage(*one.op))});
  }
  return records;
}

}  // namespace mx::golden
