#include "tests/proof/state.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "build_info.hpp"
#include "model/error.hpp"
#include "tests/proof/check.hpp"
#include "tests/proof/work.hpp"

namespace mx::tests {
namespace {

constexpr std::string_view kMagic = "mxact_proof-state-1";
constexpr std::array kKinds{kConversions, kFurther, kTwin, kFunctions, kVectors, kQuantizers, kThresholds};

[[noreturn]] void malformed(const std::string& where, const std::string& what) { throw Error(ErrorCode::input, what, where); }
[[noreturn]] void refused_by_system(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::resource, what + ": " + std::strerror(errno), path);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refused_by_system(path, "cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string header(const Build& build) { return std::string(kMagic) + " build " + build.digest + " commit " + build.commit + "\n"; }

template <typename Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> pattern(const std::string& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 8 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The distance as a number that reads back as itself: what was recorded and what is measured again must compare equal.
std::string text_of(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string line_of(const ChunkKey& key, const ChunkResult& result) {
  std::array<char, 16> first{"-"};
  if (result.wrong > 0) std::snprintf(first.data(), first.size(), "%08X", static_cast<unsigned>(result.first_wrong));
  return key.kind + " " + key.row + " " + std::to_string(key.chunk) + " " + std::to_string(result.inputs) + " " + std::to_string(result.wrong) + " " +
         first.data() + " " + text_of(result.nearest_log2) + "\n";
}

Build read_header(const std::string& line, const std::string& where) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() != 5 || words[0] != kMagic || words[1] != "build" || words[3] != "commit") malformed(where, "is no state file of mxact_proof");
  return {words[2], words[4]};
}

void read_line(const std::string& line, const std::string& where, Results& results) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() != 7) malformed(where, std::to_string(words.size()) + " words where a chunk has 7");
  bool known = false;
  for (const std::string_view kind : kKinds) known = known || kind == words[0];
  if (!known) malformed(where, "'" + words[0] + "' is no kind of proof");
  const auto chunk = number<std::uint32_t>(words[2]);
  if (!chunk || *chunk >= kChunks) malformed(where, "chunk '" + words[2] + "' is not one of 0 to 255");
  const auto inputs = number<std::uint64_t>(words[3]);
  if (!inputs || *inputs != kChunkInputs) malformed(where, "'" + words[3] + "' inputs where a chunk has " + std::to_string(kChunkInputs));
  const auto wrong = number<std::uint64_t>(words[4]);
  if (!wrong || *wrong > *inputs) malformed(where, "'" + words[4] + "' wrong of " + words[3] + " inputs");
  const auto first = *wrong == 0 && words[5] == "-" ? std::optional<std::uint32_t>(0) : pattern(words[5]);
  if (!first || (*wrong == 0) != (words[5] == "-")) malformed(where, "first wrong input '" + words[5] + "' with " + words[4] + " wrong");
  if (*wrong > 0 && *first / kChunkInputs != *chunk) malformed(where, "first wrong input '" + words[5] + "' is not in chunk " + words[2]);
  const auto nearest = number<double>(words[6]);
  if (!nearest || !(*nearest <= 0)) malformed(where, "nearest midpoint '" + words[6] + "' is no logarithm of a distance below 1");
  add_result(results, {words[0], words[1], *chunk}, {*inputs, *wrong, *first, *nearest}, where);
}

/// The file's complete lines as a state; `complete` is how many bytes they are.
State parse(const std::string& text, const std::string& path, std::size_t& complete) {
  State state;
  complete = 0;
  std::size_t number_of_line = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', complete)) {
    const std::string line = text.substr(complete, end - complete);
    const std::string where = path + ":" + std::to_string(++number_of_line);
    if (number_of_line == 1) {
      state.build = read_header(line, where);
    } else {
      read_line(line, where, state.results);
    }
    complete = end + 1;
  }
  return state;
}

}  // namespace

Build this_build() {
  const std::string bytes = bytes_of("/proc/self/exe");
  // FNV-1a: it tells builds apart, it guards against nobody.
  std::uint64_t digest = 0xCBF29CE484222325U;
  for (const char byte : bytes) digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
  return {text.data(), MXACT_COMMIT};
}

void add_result(Results& results, const ChunkKey& key, const ChunkResult& result, const std::string& where) {
  const auto [known, added] = results.emplace(key, result);
  const ChunkResult& other = known->second;
  if (added || line_of(key, other) == line_of(key, result)) return;
  malformed(where, key.kind + " " + key.row + " chunk " + std::to_string(key.chunk) + " has " + std::to_string(result.wrong) + " wrong here and " +
                       std::to_string(other.wrong) + " elsewhere, or another first or nearest one");
}

State read_state(const std::string& path) {
  std::size_t complete = 0;
  State state = parse(bytes_of(path), path, complete);
  if (complete == 0) malformed(path, "has no complete line");
  return state;
}

void merge_state(State& state, const State& other, const std::string& where) {
  if (state.build != other.build) {
    malformed(where,
              "is of build " + other.build.digest + " (" + other.build.commit + "), not of " + state.build.digest + " (" + state.build.commit + ")");
  }
  for (const auto& [key, result] : other.results) add_result(state.results, key, result, where);
}

StateFile::StateFile(const std::string& path, const Build& build) : path_(path), file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND, 0644)) {
  if (file_ < 0) refused_by_system(path, "cannot be opened");
  try {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) refused_by_system(path, "another run appends to it");
    const std::string text = bytes_of(path);
    std::size_t complete = 0;
    State state = parse(text, path, complete);
    // A run killed in its first write leaves the beginning of a header; anything else without a complete line is somebody's file.
    if (complete == 0 && !header(build).starts_with(text)) malformed(path, "is no state file of mxact_proof");
    if (ftruncate(file_, static_cast<off_t>(complete)) != 0) refused_by_system(path, "cannot be cut to its complete lines");
    if (complete == 0) {
      write_line(header(build));
    } else {
      State expected{build, {}};
      merge_state(expected, state, path);
    }
    results_ = std::move(state.results);
  } catch (...) {
    close(file_);
    throw;
  }
}

StateFile::~StateFile() { close(file_); }

void StateFile::append(const ChunkKey& key, const ChunkResult& result) {
  add_result(results_, key, result, path_);
  write_line(line_of(key, result));
}

void StateFile::write_line(const std::string& line) {
  const ssize_t written = write(file_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) refused_by_system(path_, "a line could not be written");
}

}  // namespace mx::tests
