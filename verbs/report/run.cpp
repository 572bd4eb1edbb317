#include "verbs/report/run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "model/error.hpp"
#include "model/names.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "support/quote.hpp"

namespace mx::verbs {
namespace {

struct StandingRow {
  std::string_view word;
  int exit_code;
};
constexpr std::array<StandingRow, 6> kStandings{
    {{"SHOWN", 0}, {"PASSED", 0}, {"NOTHING CHECKED", 5}, {"MISTRUSTED", 5}, {"REFUSED", 4}, {"FAILED", 1}}};

/// What Google Benchmark writes has no schema of its own.
constexpr std::string_view kBenchmark = "google-benchmark";

[[noreturn]] void fail(const std::string& name, const std::string& message) { throw Error(ErrorCode::input, message, name); }

const Kind& kind_named(const std::string& name, std::string_view schema) {
  std::vector<std::string_view> known;
  for (const Kind& kind : kinds()) {
    if (kind.schema == schema) return kind;
    known.push_back(kind.schema);
  }
  fail(name, unknown_name("schema", schema, known));
}

/// "mxact-verify/1"
const Kind& kind_of_schema(const std::string& name, const std::string& schema) {
  const std::size_t slash = schema.rfind('/');
  if (slash == std::string::npos) fail(name, fmt::format("the schema {} has no version: NAME/1 is expected", support::in_quotes(schema)));
  const Kind& kind = kind_named(name, std::string_view(schema).substr(0, slash));
  int version = 0;
  const char* const end = schema.data() + schema.size();
  const auto [at, error] = std::from_chars(schema.data() + slash + 1, end, version);
  if (error != std::errc() || at != end || version != kind.version) {
    fail(name, fmt::format("the schema {} is of another version: reports read {}/{}", support::in_quotes(schema), kind.schema, kind.version));
  }
  return kind;
}

const Kind& kind_of(const std::string& name, const Json& json) {
  if (!json.is_object()) fail(name, fmt::format("the top level must be an object, not {}", json.type_name()));
  const auto schema = json.find("schema");
  if (schema != nullptr) {
    if (!schema->is_string()) fail(name, fmt::format("the schema must be text, not {}", schema->type_name()));
    return kind_of_schema(name, schema->text());
  }
  const bool is_benchmark = json.contains("context") && json.contains("benchmarks");
  if (!is_benchmark) fail(name, "has no \"schema\": reports read what a verb of mxact prints with --json, and what mxact_bench writes");
  return kind_named(name, kBenchmark);
}

}  // namespace

std::string_view word_of(Standing standing) { return kStandings.at(static_cast<std::size_t>(standing)).word; }

int exit_code(Standing standing) { return kStandings.at(static_cast<std::size_t>(standing)).exit_code; }

Run run_of(std::string name, Json json) {
  const Kind& kind = kind_of(name, json);
  return {std::move(name), &kind, std::move(json)};
}

Run read_run(const std::filesystem::path& path) {
  // A matrix of every model in every scheme with its reasons is 60 MB of text.
  constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{128} << 20, .depth = 16, .memory = std::uint64_t{2} << 30};
  const std::string name = path.string();
  const std::vector<std::uint8_t> text = support::read_file(path, kLimits.bytes);
  if (std::ranges::all_of(text, [](std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); })) {
    fail(name, "is empty: no JSON");
  }
  return run_of(name, support::parse_json(text, kLimits, name));
}

}  // namespace mx::verbs
