// State files: resuming, torn lines, merging, and everything that must be refused.

#include "tests/proof/state.hpp"

#include <fstream>
#include <iterator>

#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "tests/proof/check.hpp"
#include "tests/proof/table.hpp"
#include "tests/sim/verify/scratch.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

const Build kBuild{"0123456789abcdef", "abc123"};
const std::string kHeader = "mxact_proof-state-1 build 0123456789abcdef commit abc123\n";
const ChunkResult kRight{.inputs = kChunkInputs};
const ChunkResult kOneWrong{.inputs = kChunkInputs, .wrong = 1, .first_wrong = 0x07000001, .nearest_log2 = 0};

class Files {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    std::string path = (scratch_.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }

 private:
  tests::ScratchDirectory scratch_;
};

ChunkKey key(std::uint32_t chunk) { return {"twin", "e2m1/nearest_even/saturate", chunk}; }

std::string refusal(const std::string& path) {
  return message_of(ErrorCode::input, [&] { read_state(path); });
}

/// A row that needs no work: every chunk is right, but the wrong ones.
ProofRow row_that_counts(std::string name, std::vector<std::uint32_t>& checked, std::uint32_t wrong_chunk) {
  return {"twin", std::move(name),
          [&checked, wrong_chunk](std::uint32_t chunk) {
#pragma omp critical
            checked.push_back(chunk);
            return chunk == wrong_chunk ? ChunkResult{kChunkInputs, 1, chunk * kChunkInputs, 0} : kRight;
          },
          [] { return std::size_t{2}; }};
}

}  // namespace

TEST_CASE("what is appended is read again") {
  const Files files;
  const std::string path = files.path("state");
  {
    StateFile file(path, kBuild);
    CHECK(file.results().empty());
    file.append(key(3), kRight);
    file.append(key(7), kOneWrong);
    file.append({"functions", "exp", 0}, {.inputs = kChunkInputs, .wrong = 0, .first_wrong = 0, .nearest_log2 = -57.123456789});
  }
  const State state = read_state(path);
  CHECK(state.build == kBuild);
  REQUIRE(state.results.size() == 3);
  CHECK(state.results.at(key(3)).wrong == 0);
  CHECK(state.results.at(key(7)).first_wrong == 0x07000001);
  CHECK(state.results.at({"functions", "exp", 0}).nearest_log2 == -57.123456789);
  CHECK(StateFile(path, kBuild).results().size() == 3);
}

TEST_CASE("a torn last line is ignored, and cut off before the next one is written") {
  const Files files;
  const std::string whole = kHeader + "twin e2m1/nearest_even/saturate 3 16777216 0 - 0\n";
  const std::string next = "twin e2m1/nearest_even/saturate 4 16777216 0 - 0\n";
  for (std::size_t length = 1; length < next.size(); ++length) {
    const std::string path = files.write("state", whole + next.substr(0, length));
    CHECK(read_state(path).results.size() == 1);
    StateFile file(path, kBuild);
    CHECK(file.results().size() == 1);
    file.append(key(4), kRight);
    CHECK(Files::read(path) == whole + next);
  }
  const std::string torn_header = files.write("state", kHeader.substr(0, 20));
  CHECK(StateFile(torn_header, kBuild).results().empty());
  CHECK(Files::read(torn_header) == kHeader);
}

TEST_CASE("a state file of another build, or in use, is refused") {
  const Files files;
  const std::string path = files.write("state", kHeader);
  const auto open_with = [&](const Build& build) { return [&path, build] { StateFile file(path, build); }; };
  CHECK(says(message_of(ErrorCode::input, open_with({"fedcba9876543210", "abc123"})), "build 0123456789abcdef"));
  CHECK(says(message_of(ErrorCode::input, open_with({"0123456789abcdef", "other"})), "not of 0123456789abcdef (other)"));
  const StateFile first(path, kBuild);
  CHECK(says(message_of(ErrorCode::resource, open_with(kBuild)), "another run"));
  CHECK(says(message_of(ErrorCode::resource, [&] { StateFile file(files.path("none/state"), kBuild); }), "cannot be opened"));
}

TEST_CASE("a file that is no state file is left as it is") {
  const Files files;
  for (const std::string text : {"# a document\n", "half a word", "mxact_proof-state-2 build 0 commit 0\n"}) {
    const std::string path = files.write("document", text);
    CHECK(says(message_of(ErrorCode::input, [&] { StateFile file(path, kBuild); }), "no state file"));
    CHECK(Files::read(path) == text);
  }
}

TEST_CASE("a malformed line is refused with its place") {
  struct Row {
    std::string line;
    std::string says;
  };
  const std::vector<Row> rows{
      {"twin e2m1 3 16777216 0 -", "6 words"},
      {"twin e2m1 3 16777216 0 - 0 0", "8 words"},
      {"", "0 words"},
      {"twine e2m1 3 16777216 0 - 0", "'twine'"},
      {"twin e2m1 256 16777216 0 - 0", "chunk '256'"},
      {"twin e2m1 -1 16777216 0 - 0", "chunk '-1'"},
      {"twin e2m1 3 16777215 0 - 0", "'16777215' inputs"},
      {"twin e2m1 3 16777216 16777217 03000000 0", "'16777217' wrong"},
      {"twin e2m1 3 16777216 x - 0", "'x' wrong"},
      {"twin e2m1 3 16777216 1 - 0", "first wrong input '-'"},
      {"twin e2m1 3 16777216 0 03000000 0", "first wrong input '03000000'"},
      {"twin e2m1 3 16777216 1 3000000 0", "first wrong input '3000000'"},
      {"twin e2m1 3 16777216 1 04000000 0", "not in chunk 3"},
      {"twin e2m1 3 16777216 0 - 1", "nearest midpoint '1'"},
      {"twin e2m1 3 16777216 0 - nan", "nearest midpoint 'nan'"},
  };
  const Files files;
  for (const Row& row : rows) {
    const std::string text = kHeader + row.line + "\n";
    const std::string message = refusal(files.write("state", text));
    INFO(row.line << " -> " << message);
    CHECK(says(message, row.says));
    CHECK(says(message, "state:2"));
    CHECK(message_of(ErrorCode::input, [&] { StateFile file(files.path("state"), kBuild); }) == message);
    CHECK(Files::read(files.path("state")) == text);
  }
  CHECK(says(refusal(files.write("state", "")), "no complete line"));
}

TEST_CASE("states merge when they agree, and are refused when they contradict") {
  const Files files;
  const std::string three = "twin e2m1/nearest_even/saturate 3 16777216 0 - 0\n";
  const std::string three_wrong = "twin e2m1/nearest_even/saturate 3 16777216 1 03000000 0\n";
  const std::string four = "twin e2m1/nearest_even/saturate 4 16777216 0 - 0\n";
  State state = read_state(files.write("a", kHeader + three));
  merge_state(state, read_state(files.write("b", kHeader + four + three)), "b");
  CHECK(state.results.size() == 2);
  const State contradicting = read_state(files.write("c", kHeader + three_wrong));
  CHECK(says(message_of(ErrorCode::input, [&] { merge_state(state, contradicting, "c"); }), "chunk 3 has 1 wrong here and 0 elsewhere"));
  CHECK(says(refusal(files.write("d", kHeader + three + three_wrong)), "d:3"));
  State other = read_state(files.write("e", "mxact_proof-state-1 build 0 commit abc123\n"));
  CHECK(says(message_of(ErrorCode::input, [&] { merge_state(state, other, "e"); }), "e: is of build 0"));
}

TEST_CASE("a run checks what the state does not hold, and adds up both") {
  std::vector<std::uint32_t> checked;
  const std::vector<ProofRow> rows{row_that_counts("a", checked, 200)};
  Results known;
  for (std::uint32_t chunk = 0; chunk < 250; ++chunk) known[{"twin", "a", chunk}] = kRight;
  known[{"twin", "a", 9}].wrong = 4;
  int done = 0;
  const Outcome outcome = run_rows(rows, {1, 1}, known, [&](const ChunkKey&, const ChunkResult&) { ++done; });
  std::sort(checked.begin(), checked.end());
  CHECK(checked == std::vector<std::uint32_t>{250, 251, 252, 253, 254, 255});
  CHECK(done == 6);
  CHECK(outcome.selected == 256);
  CHECK(outcome.run == 6);
  CHECK(outcome.wrong == 4);
}

TEST_CASE("shards are disjoint and cover everything, a failure ends the run") {
  std::vector<std::uint32_t> checked;
  const std::vector<ProofRow> rows{row_that_counts("a", checked, 200)};
  std::uint64_t wrong = 0;
  for (std::uint32_t part = 1; part <= 3; ++part) wrong += run_rows(rows, {part, 3}, {}, [](const ChunkKey&, const ChunkResult&) {}).wrong;
  CHECK(wrong == 1);
  std::sort(checked.begin(), checked.end());
  CHECK(checked.size() == 256);
  CHECK(std::adjacent_find(checked.begin(), checked.end()) == checked.end());
  const auto refuse = [](const ChunkKey&, const ChunkResult&) { throw Error(ErrorCode::resource, "disk full"); };
  CHECK(message_of(ErrorCode::resource, [&] { run_rows(rows, {1, 1}, {}, refuse); }) == "disk full");
}

TEST_CASE("the table calls proven only what is complete and right") {
  std::vector<std::uint32_t> unused;
  const std::vector<ProofRow> twins{row_that_counts("a", unused, 0), row_that_counts("b", unused, 0), row_that_counts("c", unused, 0)};
  std::vector<ProofRow> rows;
  for (const ProofRow& twin : twins) {
    rows.push_back(twin);
    rows.push_back({std::string(kConversions), twin.name, twin.check, twin.thresholds});
  }
  rows.push_back({std::string(kFunctions), "exp", {}, {}});
  State state{kBuild, {}};
  for (const std::string kind : {"twin", "conversions"}) {
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
      state.results[{kind, "a", chunk}] = kRight;
      if (chunk > 0) state.results[{kind, "b", chunk}] = kRight;
      state.results[{kind, "c", chunk}] = chunk == 7 ? kOneWrong : kRight;
    }
  }
  state.results[{"functions", "exp", 5}] = {kChunkInputs, 0, 0, -57.25};
  const ProofTable table = proof_table(rows, state);
  CHECK(table.proven == 2);
  CHECK(table.incomplete == 3);
  CHECK(table.wrong == 2);
  CHECK(says(table.text, "| a | 2 | 4,294,967,296 | 0 | 4,294,967,296 | 0 |\n"));
  CHECK(says(table.text, "| b | 2 | incomplete: 4,278,190,080 | 0 | incomplete: 4,278,190,080 | 0 |\n"));
  CHECK(says(table.text, "| c | 2 | 4,294,967,296 | 1 | 4,294,967,296 | 1 |\n"));
  CHECK(says(table.text, "| exp | incomplete: 16,777,216 | 0 | 2^-57.2 |\n"));
  const ProofTable model = proof_table(rows, state, {std::string(kConversions)});
  CHECK(says(model.text, "| conversion from fp32 | thresholds | inputs, model | wrong |\n|---|--:|--:|--:|\n| a | 2 | 4,294,967,296 | 0 |\n"));
  CHECK(!says(model.text, "exp"));
  REQUIRE(model.documents.size() == 1);
  CHECK(model.documents[0].first == "conversions");
  CHECK(says(model.documents[0].second, ",\"rows\":[\n[\"a\",\"2\",\"4,294,967,296\",\"0\"],\n[\"b\","));
  const ProofTable twin = proof_table(rows, state, {std::string(kTwin)});
  CHECK(says(twin.text, "| conversion from fp32 | thresholds | inputs, fast twin | wrong |\n|---|--:|--:|--:|\n| a | 2 | 4,294,967,296 | 0 |\n"));
  CHECK(model.proven + twin.proven == table.proven);
  CHECK(says(proof_table(rows, state, {std::string(kFunctions)}).text, "inputs.\n\n| function in fp32 |"));
  state.results[{"twin", "d", 0}] = kRight;
  CHECK(says(message_of(ErrorCode::input, [&] { proof_table(rows, state); }), "'twin d'"));
}

TEST_CASE("a table takes the place of the one of its name in a document") {
  const Files files;
  State state;
  state.build = {"4567", "0123"};
  const ProofTable made = proof_table({}, state, {std::string(kTwin)});
  const std::string functions = "{\"name\":\"functions\",\"columns\":[\"a\"],\"rows\":[\n[\"b\"]]}]\n}\n";
  const std::string path = files.write("document", "{\n\"tables\":[\n{\"name\":\"twin\",\"rows\":[\n[\"old\"],\n[\"older\"]]},\n" + functions);
  ProofTable table{"", {{"twin", "{\"name\":\"twin\",\"rows\":[\n[\"new\"]]}"}}};
  write_into_document(path, table);
  CHECK(Files::read(path) == "{\n\"tables\":[\n{\"name\":\"twin\",\"rows\":[\n[\"new\"]]},\n" + functions);
  REQUIRE(made.documents.size() == 1);
  CHECK(made.documents[0].second ==
        "{\"name\":\"twin\",\"commit\":\"0123\",\"said\":\"Program 4567: 0 rows proven, 0 incomplete, 0 with wrong answers. A complete row has "
        "4,294,967,296 inputs.\",\"columns\":[\"conversion from fp32\",\"thresholds\",\"inputs, fast twin\",\"wrong\"],\"rows\":[]}");
  table.documents[0].first = "further";
  CHECK(says(message_of(ErrorCode::input, [&] { write_into_document(path, table); }), "has no table 'further'"));
  CHECK(says(message_of(ErrorCode::resource, [&] { write_into_document(files.path("none"), table); }), "cannot be read"));
}
