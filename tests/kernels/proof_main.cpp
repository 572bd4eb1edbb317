// mxact_kernels_proof: the kernels against the model on more cases than a test run has time for. Prints a table of what it compared.

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "model/error.hpp"
#include "tests/kernels/proof_rows.hpp"

namespace mx::tests {
namespace {

constexpr int kWrong = 1;
constexpr int kNothingRan = 5;
constexpr int kInternal = 70;

struct Options {
  std::uint64_t blocks = 1000000;
  std::vector<std::string> only;
  std::vector<std::string> tiers;
  std::string shard = "1/1";
  std::string state;
  int threads = 0;
};

bool is_wanted(const Options& options, const std::string& name) {
  if (options.only.empty()) return true;
  return std::ranges::any_of(options.only, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

/// The tiers asked for, or all that run here.
Tiers tiers_of(const Options& options) {
  if (options.tiers.empty()) return tiers_here();
  Tiers out;
  for (const std::string& name : options.tiers) out.push_back(&kernels::isa_tier_named(name));
  return out;
}

/// Scales of a format: every byte, or fp32 numbers of each sign and exponent with a mantissa drawn for each.
std::vector<std::uint32_t> scales_of(const BlockFormat& format) {
  std::vector<std::uint32_t> out(*format.scale == kF32 ? 512 : 256);
  Words random(20260507);
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = *format.scale == kF32 ? i << 23 | (random() & 0x7FFFFFU) : i;
  return out;
}

/// All codes under these scales, each scale in a row of its own: with bytes every input that a block can hold.
Packed all_blocks(const BlockFormat& format, const std::vector<std::uint32_t>& scales, std::size_t cols) {
  const std::size_t block = format.block == 0 ? cols : static_cast<std::size_t>(format.block);
  const std::size_t codes = std::size_t{1} << format.element->width;
  const std::size_t scale_bytes = *format.scale == kF32 ? 4 : 1;
  Packed blocks;
  for (std::uint32_t scale : scales) {
    for (std::size_t i = 0; i < cols; ++i) {
      if (format.element->width != 4) blocks.codes.push_back(static_cast<std::uint8_t>(i % codes));
      if (format.element->width == 4 && i % 2 == 0) blocks.codes.push_back(static_cast<std::uint8_t>(i % 16 | (i + 1) % 16 << 4));
      for (std::size_t byte = 0; i % block == 0 && byte < scale_bytes; ++byte) {
        blocks.scales.push_back(static_cast<std::uint8_t>(scale >> (8 * byte)));
      }
    }
  }
  return blocks;
}

bool check_dequantizers(const Options& options, std::uint64_t& compared) {
  bool all_right = true;
  std::printf("| dequantizer | pairs of code and scale | wrong |\n|---|--:|--:|\n");
  for (const DequantizerCase& the : dequantizer_cases()) {
    if (kernels::dequantize_way(*the.how) == kernels::CodecWay::model || !is_wanted(options, the.name())) continue;
    const BlockFormat& format = *the.how->format;
    const std::size_t codes = std::size_t{1} << format.element->width;
    const std::vector<std::uint32_t> scales = scales_of(format);
    const kernels::Shape shape{scales.size(), std::max(codes, static_cast<std::size_t>(format.block))};
    const Packed blocks = all_blocks(format, scales, shape.cols);
    const TensorScale tensor = tensor_scale_for(needs_of(*the.how), 1);
    const auto want = dequantized_by_model(blocks, shape, *the.how, tensor);
    std::uint64_t wrong = 0;
    for (const kernels::IsaTier* tier : tiers_of(options)) {
      wrong += dequantized_by_kernel(blocks, shape, *the.how, tensor, {tier, 1}) == want ? 0U : 1U;
    }
    compared += codes * scales.size();
    std::printf("| %s | %zu | %llu |\n", the.name().c_str(), codes * scales.size(), static_cast<unsigned long long>(wrong));
    all_right = all_right && wrong == 0;
  }
  return all_right;
}

/// What of the rows is checked, now and before. Every wrong chunk is named at once.
class Checked {
 public:
  Checked(const Options& options, const std::vector<ProofRow>& rows) {
    std::optional<StateFile> file;
    if (!options.state.empty()) file.emplace(options.state, this_build());
    if (file) results_ = file->results();
    const Results known = results_;
    outcome_ = run_rows(rows, shard_of(options.shard), known, [&](const ChunkKey& key, const ChunkResult& result) {
      if (file) file->append(key, result);
      add_result(results_, key, result, "this run");
      if (result.wrong == 0) return;
      std::fprintf(stderr, "mxact_kernels_proof: WRONG: %s, chunk %u: %llu inputs, the first 0x%08X\n", key.row.c_str(), key.chunk,
                   static_cast<unsigned long long>(result.wrong), static_cast<unsigned>(result.first_wrong));
    });
  }

  const Outcome& outcome() const { return outcome_; }

  /// Inputs and wrong ones of a row, whoever checked them.
  ChunkResult of(const ProofRow& row) const {
    ChunkResult sum;
    for (std::uint32_t chunk = 0; chunk < row.chunks; ++chunk) {
      const auto result = results_.find({row.kind, row.name, chunk});
      if (result == results_.end()) continue;
      sum.inputs += result->second.inputs;
      sum.wrong += result->second.wrong;
      sum.nearest_log2 = std::min(sum.nearest_log2, result->second.nearest_log2);
    }
    return sum;
  }

 private:
  Results results_;
  Outcome outcome_;
};

unsigned long long printed(std::uint64_t number) { return number; }

/// True when nothing was wrong.
bool check_quantizers(const Options& options, std::uint64_t& compared) {
  std::vector<ProofRow> rows;
  const std::vector<QuantizerProof> proofs =
      quantizer_proofs(options.blocks, tiers_of(options), [&](const std::string& name) { return is_wanted(options, name); });
  for (const QuantizerProof& proof : proofs) rows.insert(rows.end(), proof.rows.begin(), proof.rows.end());
  const Checked checked(options, rows);
  std::printf("| quantizer | blocks | of | wrong batches' elements |\n|---|--:|--:|--:|\n");
  for (const QuantizerProof& proof : proofs) {
    ChunkResult sum;
    std::uint64_t chunks = 0;
    for (const ProofRow& row : proof.rows) {
      const ChunkResult part = checked.of(row);
      sum.inputs += part.inputs;
      sum.wrong += part.wrong;
      chunks += row.chunks;
    }
    const std::uint64_t blocks = sum.inputs / kChunkInputs * proof.blocks_per_chunk;
    compared += blocks;
    std::printf("| %s | %llu | %llu | %llu |\n", proof.name.c_str(), printed(blocks), printed(chunks * proof.blocks_per_chunk), printed(sum.wrong));
  }
  return checked.outcome().wrong == 0;
}

bool check_thresholds(const Options& options, std::uint64_t& compared) {
  const std::vector<ThresholdProof> proofs = threshold_proofs([&](const std::string& name) { return is_wanted(options, name); });
  std::vector<ProofRow> rows;
  for (const ThresholdProof& proof : proofs) rows.push_back(proof.row);
  const Checked checked(options, rows);
  std::printf("| scales of | largest magnitudes | of | left to the model | wrong |\n|---|--:|--:|--:|--:|\n");
  for (const ThresholdProof& proof : proofs) {
    const ChunkResult sum = checked.of(proof.row);
    compared += sum.inputs;
    std::printf("| %s | %llu | %llu | %llu | %llu |\n", proof.row.name.c_str(), printed(sum.inputs),
                printed(proof.row.chunks == 1 ? sum.inputs : std::uint64_t{proof.row.chunks} * kChunkInputs), printed(proof.left),
                printed(sum.wrong));
  }
  return checked.outcome().wrong == 0;
}

bool check_functions(const Options& options, std::uint64_t& compared) {
  const std::vector<ProofRow> rows = function_proofs(tiers_of(options), [&](const std::string& name) { return is_wanted(options, name); });
  const Checked checked(options, rows);
  std::printf("| function | inputs | of | wrong |\n|---|--:|--:|--:|\n");
  for (const ProofRow& row : rows) {
    const ChunkResult sum = checked.of(row);
    compared += sum.inputs;
    std::printf("| %s | %llu | %llu | %llu |\n", row.name.substr(0, row.name.find('/')).c_str(), printed(sum.inputs),
                printed(std::uint64_t{kChunks} * kChunkInputs), printed(sum.wrong));
  }
  return checked.outcome().wrong == 0;
}

int run(int argc, char** argv) {
  const cli::Program program("mxact_kernels_proof", "mxact_kernels_proof: the kernels of every tier that runs here against the model, bit for bit");
  const cli::Verb root = program.root();
  root.footer("exit status: 0 all right; 1 a wrong answer; 2 usage; 3 a bad state file; 5 nothing was compared; 6 resource");
  root.require_verb();
  Options options;
  using Check = bool (*)(const Options&, std::uint64_t&);
  Check check = nullptr;
  const auto add = [&](const std::string& name, const std::string& what, Check part) {
    const cli::Verb verb = root.add_verb(name, what);
    verb.add_option("--only", options.only, "only rows whose name contains one of these");
    verb.add_option("--tier", options.tiers, "only these tiers (default: all that run here)");
    verb.add_option("--threads", options.threads, "how many threads (default: OpenMP's)").in_range(1, 1024);
    verb.callback([&check, part] { check = part; });
    return verb;
  };
  const auto add_long = [&](const std::string& name, const std::string& what, Check part) {
    const cli::Verb verb = add(name, what, part);
    verb.add_option("--shard", options.shard, "i/n: only every n-th chunk, beginning with the i-th (from 1)");
    verb.add_option("--state", options.state, "remember finished chunks in this file, and skip those that it holds");
    return verb;
  };
  add_long("quantizers", "blocks of every recipe that a kernel knows", check_quantizers)
      .add_option("--blocks", options.blocks, "blocks of each (default 1000000), rounded up to chunks of 2^24 elements");
  add("dequantizers", "every code under every scale byte (fp32 scales: every exponent), for each dequantizer that a kernel knows",
      check_dequantizers);
  add_long("thresholds", "every largest magnitude of a block, for each recipe whose scales are looked up: 2^31 of fp32", check_thresholds);
  add_long("functions", "all 2^32 arguments of every elementary function, against correctly rounded results", check_functions);
  if (!program.parse({argv + 1, argv + argc})) return 0;
  if (options.threads > 0) omp_set_num_threads(options.threads);
  std::uint64_t compared = 0;
  const bool all_right = check(options, compared);
  std::string tiers;
  for (const kernels::IsaTier* tier : tiers_of(options)) tiers += " " + std::string(tier->name);
  std::printf("%llu cases on the tiers%s\n", printed(compared), tiers.c_str());
  if (compared == 0) return kNothingRan;
  return all_right ? 0 : kWrong;
}

}  // namespace
}  // namespace mx::tests

int main(int argc, char** argv) {
  try {
    const int status = mx::tests::run(argc, argv);
    return std::fflush(stdout) == 0 ? status : static_cast<int>(mx::ErrorCode::resource);
  } catch (const mx::Error& error) {
    std::fprintf(stderr, "mxact_kernels_proof: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mxact_kernels_proof: error: internal: %s\n", error.what());
    return mx::tests::kInternal;
  }
}
