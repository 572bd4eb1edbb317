// Files broken by rules, each read by its reader: an answer in one line that names the file and the place, nothing written, and memory within bounds.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/cli/run.hpp"
#include "tests/corrupt/readers.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFixedMemory = std::size_t{8} << 20;  // what a reader may take beyond twice its file: tables, and the page of a report

/// Names and contents below a folder.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    contents[entry.path().string()] = entry.is_regular_file() ? read_bytes(entry.path()) : std::string();
  }
  return contents;
}

/// What is wrong with an answer to a bad file, empty when nothing is.
std::string defect(const Reader& reader, const BadFile& bad, const std::optional<Error>& error, bool taken) {
  const bool may_be_taken = bad.fate == Fate::either && !(reader.sealed && bad.rule != "ends of lines as on Windows");
  if (!error) return taken && !may_be_taken ? "it was taken" : "";
  const std::string text = error->what();
  if (text.find('\n') != std::string::npos) return "not one line: " + text;
  const std::string name = fs::path(reader.file).filename().string();
  if (text.find(name) == std::string::npos && error->where().empty()) return "names no place: " + text;
  if (bad.fate == Fate::either) return "";
  if (error->code() != ErrorCode::input) return "exit status " + std::to_string(static_cast<int>(error->code())) + ": " + text;
  return text.find(name) == std::string::npos && text.find("line ") == std::string::npos ? "does not name " + name + ": " + text : "";
}

struct Count {
  std::size_t files = 0;
  std::size_t refused = 0;
  std::size_t most_memory = 0;  ///< beyond twice the file, bytes
  double slowest = 0;           ///< processor seconds
};

/// Every rule on one reader's file.
Count break_every_way(const Reader& reader) {
  const TemporaryDirectory directory;
  const fs::path folder = directory.path(), file = folder / reader.file;
  reader.prepare(folder);
  REQUIRE(reader.read(folder));
  const std::string good = read_bytes(file);
  Count count;
  for (const BadFile& bad : reader.rules(good)) {
    if (bad.bytes == good) continue;
    INFO(bad.rule);
    write_bytes(file, bad.bytes);
    const std::map<std::string, std::string> before = contents_of(folder);
    std::optional<Error> error;
    bool taken = false;
    const std::clock_t started = std::clock();
    const std::size_t memory = peak_of([&] { error = error_of([&] { taken = reader.read(folder); }); });
    count.slowest = std::max(count.slowest, static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC);
    CHECK(defect(reader, bad, error, taken) == "");
    CHECK(memory <= 2 * bad.bytes.size() + kFixedMemory);
    CHECK((contents_of(folder) == before));
    count.most_memory = std::max(count.most_memory, memory - std::min(memory, 2 * bad.bytes.size()));
    ++count.files;
    if (error || !taken) ++count.refused;
  }
  return count;
}

std::string with_folder(std::string command, const fs::path& folder) {
  for (std::size_t at = 0; (at = command.find("{}", at)) != std::string::npos;) command.replace(at, 2, folder.string());
  return command;
}

}  // namespace

TEST_CASE("files broken by rules are refused by every reader, with the place, within bounds, and nothing is written") {
  std::size_t files = 0, refused = 0;
  for (const Reader& reader : all_readers()) {
    INFO(reader.name);
    const Count count = break_every_way(reader);
    CHECK(count.files > 5);
    std::printf("%-36s %5zu files, %5zu refused, at most %4zu KiB beyond twice the file, at most %.2f s\n", reader.name.c_str(), count.files,
                count.refused, count.most_memory / 1024, count.slowest);
    files += count.files;
    refused += count.refused;
  }
  std::printf("%zu files, %zu refused\n", files, refused);
  CHECK(refused >= 300);
}

TEST_CASE("the program ends with status 3 and one line for bad files, and writes nothing") {
  std::size_t runs = 0;
  for (const Reader& reader : all_readers()) {
    if (reader.command.empty()) continue;
    INFO(reader.name);
    const TemporaryDirectory directory;
    reader.prepare(directory.path());
    const std::string good = read_bytes(directory.path() / reader.file);
    std::vector<BadFile> sure;
    std::ranges::copy_if(reader.rules(good), std::back_inserter(sure), [](const BadFile& bad) { return bad.fate == Fate::refused; });
    for (std::size_t i = 0; i < 4; ++i) {
      const BadFile& bad = sure[i * (sure.size() - 1) / 3];
      INFO(bad.rule);
      write_bytes(directory.path() / reader.file, bad.bytes);
      const std::map<std::string, std::string> before = contents_of(directory.path());
      const tests::Run run = tests::run_program(MXACT_PROGRAM, with_folder(reader.command, directory.path()));
      CHECK(run.status == 3);
      CHECK(run.out == "");
      CHECK(run.err.starts_with("mxact: error: "));
      CHECK(std::ranges::count(run.err, '\n') == 1);
      CHECK(run.err.find(fs::path(reader.file).filename().string()) != std::string::npos);
      CHECK((contents_of(directory.path()) == before));
      ++runs;
    }
  }
  std::printf("%zu runs of the program\n", runs);
  CHECK(runs > 40);
}

}  // namespace mx::tests
