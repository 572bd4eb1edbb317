// mxact_proof: checks all 2^32 inputs of every conversion and function, in as many runs as it takes, and prints the table of what is proven.

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/verb.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "tests/proof/check.hpp"
#include "tests/proof/table.hpp"

namespace mx::tests {
namespace {

constexpr int kWrong = 1;
constexpr int kNothingRan = 5;
constexpr int kInternal = 70;

struct Options {
  std::vector<std::string> rows;
  std::string shard = "1/1";
  std::string state;
  int threads = 0;
};

/// What is wrong with the name of a kind.
std::string unknown_kind(const std::string& name) {
  constexpr std::string_view kKnown[]{kConversions, kFurther, kTwin, kFunctions};
  return std::ranges::find(kKnown, name) != std::end(kKnown) ? "" : unknown_name("kind", name, kKnown);
}

/// One line for a name that no row has. There are many rows: without a near one it lists what their names begin with.
[[noreturn]] void unknown_row(const std::vector<ProofRow>& rows, const std::string& wanted) {
  std::vector<std::string_view> known;
  for (const ProofRow& row : rows) {
    const std::string_view begin = std::string_view(row.name).substr(0, row.name.find('/'));
    if (std::ranges::find(known, begin) == known.end()) known.push_back(begin);
  }
  throw Error(ErrorCode::usage, unknown_name("row", wanted, known));
}

/// The rows of this name, or, where there is none, those whose name begins with it and a slash.
std::vector<ProofRow> rows_named(const std::vector<ProofRow>& rows, const std::string& name) {
  std::vector<ProofRow> exact;
  std::vector<ProofRow> family;
  for (const ProofRow& row : rows) {
    if (row.name == name) exact.push_back(row);
    if (row.name.starts_with(name + "/")) family.push_back(row);
  }
  if (exact.empty() && family.empty()) unknown_row(rows, name);
  return exact.empty() ? family : exact;
}

/// The rows of a kind ("all" for every kind), or the wanted ones of them, each once.
std::vector<ProofRow> selected_rows(const std::string& kind, const std::vector<std::string>& wanted) {
  std::vector<ProofRow> rows = all_rows();
  if (kind != "all") std::erase_if(rows, [&](const ProofRow& row) { return row.kind != kind; });
  if (wanted.empty()) return rows;
  std::set<std::pair<std::string, std::string>> names;
  for (const std::string& name : wanted) {
    for (const ProofRow& row : rows_named(rows, name)) names.emplace(row.kind, row.name);
  }
  std::erase_if(rows, [&](const ProofRow& row) { return !names.contains({row.kind, row.name}); });
  return rows;
}

/// Runs what is left, says how far it is, and what was wrong.
int prove(const std::string& kind, const Options& options) {
  const Shard shard = shard_of(options.shard);
  const std::vector<ProofRow> rows = selected_rows(kind, options.rows);
  if (options.threads > 0) omp_set_num_threads(options.threads);
  std::optional<StateFile> file;
  if (!options.state.empty()) file.emplace(options.state, this_build());
  const Results known = file ? file->results() : Results{};
  std::uint64_t finished = 0;
  const Outcome outcome = run_rows(rows, shard, known, [&](const ChunkKey& key, const ChunkResult& result) {
    if (file) file->append(key, result);
    ++finished;
    if (result.wrong > 0) {
      std::fprintf(stderr, "mxact_proof: WRONG: %s %s, chunk %u: %llu inputs, the first 0x%08X\n", key.kind.c_str(), key.row.c_str(), key.chunk,
                   static_cast<unsigned long long>(result.wrong), static_cast<unsigned>(result.first_wrong));
    }
    if (finished % kChunks == 0) {
      std::fprintf(stderr, "mxact_proof: %llu chunks done, the last of %s %s\n", static_cast<unsigned long long>(finished), key.kind.c_str(),
                   key.row.c_str());
    }
  });
  std::printf("%llu chunks of 2^24 inputs in %zu rows: %llu checked now, %llu before; %llu wrong\n",
              static_cast<unsigned long long>(outcome.selected), rows.size(), static_cast<unsigned long long>(outcome.run),
              static_cast<unsigned long long>(outcome.selected - outcome.run), static_cast<unsigned long long>(outcome.wrong));
  if (outcome.selected == 0) return kNothingRan;
  return outcome.wrong > 0 ? kWrong : 0;
}

int print_table(const std::vector<std::string>& states, const Kinds& kinds, const std::string& document) {
  State state = read_state(states.front());
  for (std::size_t i = 1; i < states.size(); ++i) merge_state(state, read_state(states[i]), states[i]);
  const ProofTable table = proof_table(all_rows(), state, kinds);
  if (document.empty()) {
    std::printf("%s", table.text.c_str());
  } else {
    write_into_document(document, table);
  }
  if (table.wrong > 0) return kWrong;
  return table.incomplete > 0 ? kNothingRan : 0;
}

int run(int argc, char** argv) {
  const cli::Program program("mxact_proof",
                             "mxact_proof: all 2^32 inputs of every conversion and function, held to a judge that shares nothing with the model");
  const cli::Verb root = program.root();
  root.footer("exit status: 0 all right; 1 a wrong answer; 2 usage; 3 a bad state file; 5 nothing ran, or the table is incomplete; 6 resource");
  root.require_verb();
  Options options;
  std::string kind;
  for (const auto& [name, what] : std::vector<std::pair<std::string, std::string>>{
           {std::string(kConversions), "the model's conversions from fp32: five directions, saturating and not"},
           {std::string(kFurther),
            "the model's conversions in rarer ways: ties toward zero, overflow before rounding, flushing, payloads, random bits"},
           {std::string(kTwin), "the fast twin's conversions"},
           {std::string(kFunctions), "the model's elementary functions"},
           {"all", "all of these"}}) {
    const cli::Verb verb = root.add_verb(name, what);
    verb.add_option("--row", options.rows, "only the row of this name, or else the rows whose name begins with it (e4m3fn, e4m3fn/toward_zero)");
    verb.add_option("--shard", options.shard, "i/n: only every n-th chunk, beginning with the i-th (from 1)");
    verb.add_option("--state", options.state, "remember finished chunks in this file, and skip those that it holds");
    verb.add_option("--threads", options.threads, "how many threads (default: OpenMP's)").in_range(1, 1024);
    verb.callback([&kind, name = name] { kind = name; });
  }
  const cli::Verb table = root.add_verb("table", "merge state files and print the table of what is proven");
  std::vector<std::string> states;
  Kinds kinds;
  std::string document;
  table.add_option("--state", states, "state files of one build").required();
  table.add_option("--kind", kinds, "only rows of this kind (conversions, further, twin, functions), and of each other one named like this")
      .check(unknown_kind);
  table.add_option("--into", document, "put the table into this document of docs/measured, which has one of these kinds, instead of printing it");
  if (!program.parse({argv + 1, argv + argc})) return 0;
  return kind.empty() ? print_table(states, kinds, document) : prove(kind, options);
}

}  // namespace
}  // namespace mx::tests

int main(int argc, char** argv) {
  try {
    const int status = mx::tests::run(argc, argv);
    return std::fflush(stdout) == 0 ? status : static_cast<int>(mx::ErrorCode::resource);
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_proof: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mxact_proof: error: internal: %s\n", error.what());
    return mx::tests::kInternal;
  }
}
