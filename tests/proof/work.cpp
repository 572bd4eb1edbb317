#include "tests/proof/work.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <exception>
#include <memory>
#include <mutex>

#include "model/error.hpp"
#include "tests/proof/specialized_encoder.hpp"
#include "tests/proof/twin.hpp"

namespace mx::tests {
namespace {

constexpr std::array<std::string_view, 6> kFunctionNames{"exp", "exp2", "log2", "log1p", "tanh", "erf"};

// One random number stands for all: any other moves the same thresholds along. These bits are neither symmetric nor near an end.
constexpr int kRandomBits = 16;
constexpr std::uint32_t kRandom = 0x5D2B;

/// A table of thresholds, derived when it is first asked for, and shared by the model's row and the twin's.
class Table {
 public:
  explicit Table(const ConversionProof& proof) : proof_(proof) {}
  const std::vector<Step>& steps() {
    std::call_once(once_, [this] { steps_ = mx::tests::thresholds(*proof_.facts, proof_.mode); });
    return steps_;
  }

 private:
  ConversionProof proof_;
  std::once_flag once_;
  std::vector<Step> steps_;
};

ProofRow conversion_row(std::string_view kind, const std::string& name, const std::shared_ptr<Table>& table, const Encoder& encode) {
  // The first step is pattern 0: no change.
  return {std::string(kind), name, [table, encode](std::uint32_t chunk) { return check_chunk(table->steps(), chunk, encode); },
          [table] { return table->steps().size() - 1; }};
}

struct Task {
  const ProofRow* row;
  std::uint32_t chunk;
};

}  // namespace

ChunkKey key_of(const ProofRow& row, std::uint32_t chunk) { return {row.kind, row.tier.empty() ? row.name : row.name + "/" + row.tier, chunk}; }

std::vector<ProofRow> all_rows() {
  const kernels::IsaTier& tier = kernels::isa_tier();
  std::vector<ProofRow> rows;
  std::vector<ProofRow> further;
  std::vector<ProofRow> twin;
  for (const ConversionProof& proof : conversion_proofs()) {
    const auto table = std::make_shared<Table>(proof);
    (proof.further ? further : rows)
        .push_back(conversion_row(proof.further ? kFurther : kConversions, proof.name, table, specialized_encoder(proof)));
    if (!has_twin(proof)) continue;
    twin.push_back(conversion_row(kTwin, proof.name, table, twin_encoder(proof, tier)));
    twin.back().tier = tier.name;
  }
  for (const ConversionProof& proof : stochastic_proofs(kRandomBits, kRandom)) {
    further.push_back(conversion_row(kFurther, proof.name, std::make_shared<Table>(proof), specialized_encoder(proof)));
  }
  rows.insert(rows.end(), further.begin(), further.end());
  rows.insert(rows.end(), twin.begin(), twin.end());
  for (const std::string_view name : kFunctionNames) {
    rows.push_back({std::string(kFunctions), std::string(name), [name](std::uint32_t chunk) { return check_function_chunk(name, chunk); }, {}});
  }
  return rows;
}

Shard shard_of(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, shard.part);
  const bool divided = part.ec == std::errc() && part.ptr != end && *part.ptr == '/';
  const auto parts = divided ? std::from_chars(part.ptr + 1, end, shard.parts) : part;
  if (!divided || parts.ec != std::errc() || parts.ptr != end || shard.part < 1 || shard.part > shard.parts) {
    throw Error(ErrorCode::usage, "--shard '" + text + "' is not i/n with 1 <= i <= n");
  }
  return shard;
}

Outcome run_rows(const std::vector<ProofRow>& rows, const Shard& shard, const Results& known,
                 const std::function<void(const ChunkKey&, const ChunkResult&)>& done) {
  Outcome outcome;
  std::vector<Task> tasks;
  std::uint64_t index = 0;
  for (const ProofRow& row : rows) {
    for (std::uint32_t chunk = 0; chunk < row.chunks; ++chunk, ++index) {
      if (index % shard.parts != shard.part - 1) continue;
      ++outcome.selected;
      const auto result = known.find(key_of(row, chunk));
      if (result == known.end()) {
        tasks.push_back({&row, chunk});
      } else {
        outcome.wrong += result->second.wrong;
      }
    }
  }
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> stop = false;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (stop) continue;
    // An exception may not leave the loop: the first one is thrown behind it.
    try {
      const Task& task = tasks[i];
      const ChunkResult result = task.row->check(task.chunk);
      const std::lock_guard lock(mutex);
      done(key_of(*task.row, task.chunk), result);
      ++outcome.run;
      outcome.wrong += result.wrong;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return outcome;
}

}  // namespace mx::tests
