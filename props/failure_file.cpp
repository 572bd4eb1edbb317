#include "props/failure_file.hpp"

#include <algorithm>
#include <sstream>

#include "model/error.hpp"
#include "support/file.hpp"
#include "support/json.hpp"

namespace mx::props {
namespace {

using support::Json;

constexpr std::string_view kTry = "try: ";
constexpr std::string_view kReplay = "replay: ";
constexpr std::string_view kDeployment = "deployment.info:";
constexpr std::string_view kReproduce = "reproduce=";
constexpr support::JsonLimits kLimits{.bytes = std::uint64_t{4} << 20, .depth = 2, .memory = std::uint64_t{16} << 20};

std::string text_in(const Json& json, const char* key, const std::filesystem::path& path) {
  if (!json.contains(key) || !json[key].is_string()) throw Error(ErrorCode::input, std::string("no text '") + key + "' in a failure of a law", path);
  return json[key].get<std::string>();
}

/// "reproduce=..." of a line that replays.
std::string reproduce_in(const std::string& replay) {
  const std::size_t begin = replay.find(kReproduce);
  return begin == std::string::npos ? std::string() : replay.substr(begin, replay.find_first_of("'\" ", begin) - begin);
}

/// "N2-e4m3fn" of law N2/e4m3fn.
std::string stem_of(const FailureFile& failure) {
  std::string stem = failure.law;
  std::ranges::replace(stem, '/', '-');
  return stem;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  support::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, true);
}

std::vector<std::string> lines_in(const Json& json, const char* key, const std::filesystem::path& path) {
  const auto is_text = [](const Json& line) { return line.is_string(); };
  if (!json.contains(key) || !json[key].is_array() || !std::ranges::all_of(json[key], is_text))
    throw Error(ErrorCode::input, std::string("no lines '") + key + "' in a failure of a law", path);
  return json[key].get<std::vector<std::string>>();
}

}  // namespace

FailureFile failure_of(const Law& law, const Outcome& outcome) {
  FailureFile failure{std::string(law.id), std::string(law.program), {}, {}, {}, {}, {}};
  std::istringstream lines(outcome.message);
  bool in_deployment = false;
  for (std::string line; std::getline(lines, line);) {
    in_deployment = (in_deployment && !line.empty()) || line == kDeployment;
    if (in_deployment) {
      if (line != kDeployment) failure.deployment.push_back(line);
    } else if (line.starts_with(kTry)) {
      failure.command = line.substr(kTry.size());
    } else if (line.starts_with(kReplay)) {
      failure.replay = line.substr(kReplay.size());
    } else if (!line.empty()) {
      failure.counterexample.push_back(line);
    }
  }
  if (!failure.deployment.empty()) failure.command = "mxact select " + stem_of(failure) + ".info --explain";
  failure.reproduce = reproduce_in(failure.replay);
  return failure;
}

std::filesystem::path write_failure(const std::filesystem::path& directory, const FailureFile& failure) {
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::filesystem::path path = directory / (stem_of(failure) + ".json");
  const Json json{{"law", failure.law},
                  {"program", failure.program},
                  {"counterexample", failure.counterexample},
                  {"deployment", failure.deployment},
                  {"command", failure.command},
                  {"reproduce", failure.reproduce},
                  {"replay", failure.replay}};
  write_text(path, json.dump(2) + "\n");
  if (failure.deployment.empty()) return path;
  std::string info;
  for (const std::string& line : failure.deployment) info += line + "\n";
  write_text(directory / (stem_of(failure) + ".info"), info);
  return path;
}

FailureFile read_failure(const std::filesystem::path& path) {
  const Json json = support::parse_json(support::read_file(path, kLimits.bytes), kLimits, path.string());
  if (!json.is_object()) throw Error(ErrorCode::input, "no failure of a law: not a JSON object", path);
  return {.law = text_in(json, "law", path),
          .program = text_in(json, "program", path),
          .counterexample = lines_in(json, "counterexample", path),
          .deployment = lines_in(json, "deployment", path),
          .command = text_in(json, "command", path),
          .reproduce = text_in(json, "reproduce", path),
          .replay = text_in(json, "replay", path)};
}

std::vector<std::filesystem::path> failure_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  if (error) throw Error(ErrorCode::input, "no directory of failures: " + error.message(), directory);
  std::ranges::sort(paths);
  return paths;
}

std::string try_line(const std::string& command) { return "\n" + std::string(kTry) + command + "\n"; }
std::string deployment_lines(const std::string& info) { return "\n" + std::string(kDeployment) + "\n" + info; }

}  // namespace mx::props
