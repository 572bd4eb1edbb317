#include "props/failure_file.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/error.hpp"

namespace mx::props {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTry = "try: ";
constexpr std::string_view kReplay = "replay: ";
constexpr std::string_view kReproduce = "reproduce=";

std::string text_in(const Json& json, const char* key, const std::filesystem::path& path) {
  if (!json.contains(key) || !json[key].is_string()) throw Error(ErrorCode::input, std::string("no text '") + key + "' in a failure of a law", path);
  return json[key].get<std::string>();
}

/// "reproduce=..." of a line that replays.
std::string reproduce_in(const std::string& replay) {
  const std::size_t begin = replay.find(kReproduce);
  return begin == std::string::npos ? std::string() : replay.substr(begin, replay.find_first_of("'\" ", begin) - begin);
}

}  // namespace

FailureFile failure_of(const Law& law, const Outcome& outcome) {
  FailureFile failure{std::string(law.id), std::string(law.program), {}, {}, {}, {}};
  std::istringstream lines(outcome.message);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kTry)) {
      failure.command = line.substr(kTry.size());
    } else if (line.starts_with(kReplay)) {
      failure.replay = line.substr(kReplay.size());
    } else if (!line.empty()) {
      failure.counterexample.push_back(line);
    }
  }
  failure.reproduce = reproduce_in(failure.replay);
  return failure;
}

std::filesystem::path write_failure(const std::filesystem::path& directory, const FailureFile& failure) {
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::string name = failure.law;
  std::ranges::replace(name, '/', '-');
  const std::filesystem::path path = directory / (name + ".json");
  const Json json{{"law", failure.law},         {"program", failure.program},     {"counterexample", failure.counterexample},
                  {"command", failure.command}, {"reproduce", failure.reproduce}, {"replay", failure.replay}};
  std::ofstream file(path);
  file << json.dump(2) << '\n';
  file.close();
  if (!file) throw Error(ErrorCode::resource, "a failure of law " + failure.law + " cannot be written", path);
  return path;
}

FailureFile read_failure(const std::filesystem::path& path) {
  std::ifstream file(path);
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object()) throw Error(ErrorCode::input, "no failure of a law: not a JSON object", path);
  FailureFile failure{text_in(json, "law", path),       text_in(json, "program", path), {}, text_in(json, "command", path),
                      text_in(json, "reproduce", path), text_in(json, "replay", path)};
  for (const Json& line : json.value("counterexample", Json::array())) {
    if (line.is_string()) failure.counterexample.push_back(line.get<std::string>());
  }
  return failure;
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

}  // namespace mx::props
