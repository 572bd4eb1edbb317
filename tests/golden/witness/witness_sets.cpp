// The recorded sets that the project carries, held against the model.

#include <unistd.h>

#include "kernels/sweep/encode.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"
#include "tests/json_text.hpp"

namespace mx::tests::witness {

Scratch::Scratch(const std::string& name)
    : path_(std::filesystem::temp_directory_path() / ("mxact_golden_" + name + "_" + std::to_string(::getpid()))) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_bytes(const std::filesystem::path& file, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_text(const std::filesystem::path& file, const std::string& text) { write_bytes(file, {text.begin(), text.end()}); }

Json read_json(const std::filesystem::path& file) { return parsed_file(file); }

Outcome run(const std::filesystem::path& path, bool allow_unmodelled, int max_differences) {
  golden::WitnessOptions options;
  options.sweeps = false;
  options.max_differences = max_differences;
  Outcome outcome;
  try {
    outcome.sets = golden::run_witness(path, options);
    outcome.exit = golden::exit_code(outcome.sets, allow_unmodelled);
    for (const golden::SetResult& set : outcome.sets) outcome.text += text_of(set, true);
  } catch (const Error& error) {
    outcome.exit = static_cast<int>(error.code());
    outcome.text = error.what();
  }
  return outcome;
}

namespace {

struct RecordedSet {
  std::string path;
  std::int64_t entries;
  std::int64_t compared;  ///< exactly: a comparison that quietly does less is a failure
};

// Counts of values follow from the shapes in the manifests and their skip rules.
const RecordedSet kSets[] = {
    {"numerics/decode", 35, 7088},
    {"numerics/encode16", 94, 94 * 65536},
    {"numerics/encode32", 81, 81 * 38188 - 56763},
    {"numerics/layout", 5, 7168},
    // Every output but what the masks leave out: codes that microxcaling and vLLM do not give.
    {"numerics/block32", 114, 1462624 - 7248},
    // Scales and codes of 119 rows of 128: whole tensor, rows, groups of 64; codes alone under a given scale; for two formats.
    {"numerics/fp8_scaled", 8, 2 * (4 * 119 * 128 + 1 + 119 + 2 * 119)},
    {"numerics/gemm_hopper", 68, 66560},
    {"numerics/mma_extremes", 4, 4 * 64 * 16 * 8},
    {"numerics/bf16_tiny_h100", 4, (14 + 16 + 6) * 64 * 8 + 80 * 48},
    // Tensor and matrix cores: a sum is a value. Two and twenty products of 16 by 32.
    {"numerics-tensor-cores/tc_published", 48, 48 * 240},
    {"numerics-tensor-cores/tc_h100", 36, 7324},
    {"numerics-tensor-cores/tc_mmasim", 173, 10007},
    {"numerics-tensor-cores/tc_scaled_mm", 22, 22 * 16 * 32},
    // Stages of layers on an H100, parts of larger recordings: columns that are cut are masked.
    {"hardware/fp8_quant_h100", 11, 97982},
    {"hardware/fp8_products_h100", 38, 37392},
    {"hardware/fp8_swap_h100", 10, 11200},
    {"hardware/fp8_requant_h100", 1, 128 * 128 + 1},
    {"hardware/fp8_layer_h100", 4, 59916},
    {"hardware/slot_sum_h100", 9, 7168},
    {"hardware/mxfp4_layer_h100", 7, 40960},
    {"hardware/moe_scale_bytes_h100", 1, 16300},
    {"hardware/moe_drop_h100", 1, 48 * 80},
    {"hardware/marlin_split_h100", 2, 2 * 96 * 64},
    {"hardware/marlin_nvfp4_h100", 2, 2 * 12 * 96},
    {"hardware/marlin_fp8_h100", 6, 6 * 8 * 64},
    {"hardware/humming_product_h100", 29, 7770},
    {"hardware/humming_stages_h100", 10, 41604},
    // vLLM's kernels on an H200. Quantizers of 80 rows of 128 in groups of 128, 64 and 32; 28 products of 12 rows and 40; activations of 128 rows of
    // 128 and of 16 of 512; where a quantizer is joined, codes and scales of 48 rows of 512, and of those, and of 256 rows of 128.
    {"hardware/fp8_groups_h200", 11, 3 * (80 * 128 + 80) + 4 * (80 * 128 + 160) + 4 * (80 * 128 + 320)},
    {"hardware/fp8_squares_h200", 28, 28 * 12 * 40},
    {"hardware/activations_h200", 30, 10 * 128 * 128 + 2 * 16 * 512 + 11 * 48 * 516 + 4 * 128 * 129 + 2 * 16 * 516 + 256 * 129},
    // Libraries: products, casts, additions in memory.
    {"hardware/gpu_peers_h100", 116, 166182},
    // As python -m mxact.hwcheck records an H200: 36 classes of instructions, six with a second tile, 128 sums of each tile of 16 rows and 64; two
    // casts; and a product that cuBLASLt cuts.
    {"hardware/hwcheck_h200", 45, 21760 + 8 * 24},
    // Products of humming-kernels on an H200: k in two slices, and batch-invariant.
    {"hardware/humming_layer_h200", 2, 32 * 32 + 16 * 32},
    // Kernels of vLLM 0.26.0 on the same card, on memory that mxact packs: eight products of 8 rows and 24 columns, four of 16; casts to e4m3fn.
    {"hardware/engines_h200", 14, 6300},
    // Logits and slots; fourteen outputs of whole layers of 7 tokens; of one of them, each slot's stages; the fused stages' slots, products and
    // output.
    {"numerics/moe_0", 19, 7 * 8 + 2 * 28 + 14 * 7 * 256 + 28 * (512 + 256 + 256) - 7 * 256 + (28 + 8 + 28) + 28 * (512 + 256) + 7 * 256},
    // Logits of 24 tokens for 32 experts, six routers' ids and weights, one dense row a token.
    {"numerics/routing", 8, 24 * 32 + 6 * 2 * 24 * 6 + 24 * 32},
};

TEST_CASE("recorded numerics sets equal the model", "[witness]") {
  for (const RecordedSet& expected : kSets) {
    INFO(expected.path);
    const Outcome outcome = run(recorded(expected.path));
    INFO(outcome.text);
    REQUIRE(outcome.sets.size() == 1);
    CHECK(outcome.exit == 0);
    CHECK(outcome.sets[0].count(golden::EntryStatus::equal) == expected.entries);
    CHECK(static_cast<std::int64_t>(outcome.sets[0].entries.size()) == expected.entries);
    CHECK(outcome.sets[0].compared() == expected.compared);
    CHECK(outcome.sets[0].differing() == 0);
  }
}

// Today's Python libraries. What one of them makes of blocks with a NaN or an Inf is recorded for information: NaN payloads and casts of NaN and Inf
// to integers decide there, which processors do in their own ways.
struct PeerSet {
  std::string path;
  std::int64_t must;
  std::int64_t info;
  std::int64_t compared;  ///< of level must
};
const PeerSet kPeerSets[] = {
    {"numerics-peers/encode_peers", 25 - 1, 2, 195818},  // but the digest, which the sweeps of this file compare
    {"numerics-peers/block_peers", 48, 45, 390629},     {"numerics-peers/nvfp4_peers", 30, 30, 60480},
    {"numerics-peers/quark_mx", 18, 0, 71859},          {"numerics-peers/fp8_peers", 12, 0, 136048},
    {"numerics-peers/dequantize_peers", 14, 0, 27584},  {"numerics-peers/bridge_casts", 54, 0, 26103},
    {"numerics-peers/bridge_blocks", 18, 0, 28034},
};

TEST_CASE("recorded numerics of Python libraries equal the model", "[witness]") {
  for (const PeerSet& expected : kPeerSets) {
    INFO(expected.path);
    const Outcome outcome = run(recorded(expected.path));
    INFO(outcome.text);
    REQUIRE(outcome.sets.size() == 1);
    const golden::SetResult& set = outcome.sets[0];
    CHECK(outcome.exit == 0);
    CHECK(set.count(golden::EntryStatus::unmodelled) == 0);
    std::int64_t must = 0, info = 0, compared = 0;
    for (const golden::EntryResult& entry : set.entries) {
      (entry.counts() ? must : info) += entry.status == golden::EntryStatus::nothing_compared ? 0 : 1;
      compared += entry.counts() ? entry.compared : 0;
      if (entry.counts()) CHECK(entry.differing == 0);
    }
    CHECK(must == expected.must);
    CHECK(info == expected.info);
    CHECK(compared == expected.compared);
  }
}

// Words of the second form. What is recorded for information holds NaN payloads of a library and faults of peers.
const PeerSet kComposedSets[] = {
    {"numerics-2/encode_ieee", 151, 39, 229638},  {"numerics-2/encode_formats", 72, 16, 175129},
    {"numerics-2/encode_dialects", 41, 6, 47374}, {"numerics-2/encode_python_dialects", 26, 0, 35328},
    {"numerics-2/block_ggml", 8, 4, 40771},       {"numerics-2/block_mlx", 5, 0, 58113},
    {"numerics-2/nvfp4_te", 27, 1, 130016},       {"numerics-2/stochastic_peers", 3, 0, 12840},
    {"numerics-2/group_integers", 5, 0, 85998},   {"numerics-2/layout_ggml", 7, 0, 4451},
    {"numerics-2/mma_published", 5, 0, 750},
};

TEST_CASE("recorded compositions equal the model", "[witness]") {
  for (const PeerSet& expected : kComposedSets) {
    INFO(expected.path);
    const Outcome outcome = run(recorded(expected.path));
    INFO(outcome.text);
    REQUIRE(outcome.sets.size() == 1);
    CHECK(outcome.exit == 0);
    std::int64_t must = 0, info = 0, compared = 0;
    for (const golden::EntryResult& entry : outcome.sets[0].entries) {
      ++(entry.counts() ? must : info);
      if (!entry.counts()) continue;
      INFO(entry.id);
      CHECK(entry.status == golden::EntryStatus::equal);
      CHECK(entry.differing == 0);
      compared += entry.compared;
    }
    CHECK(must == expected.must);
    CHECK(info == expected.info);
    CHECK(compared == expected.compared);
  }
}

TEST_CASE("recorded layouts and oracle decisions equal the model", "[witness]") {
  const std::pair<std::string, std::int64_t> least_compared[] = {{"layouts", 1400000}, {"oracle", 7000}};
  for (const auto& [path, least] : least_compared) {
    INFO(path);
    const Outcome outcome = run(recorded(path));
    INFO(outcome.text);
    CHECK(outcome.exit == 0);
    REQUIRE(!outcome.sets.empty());
    std::int64_t compared = 0;
    for (const golden::SetResult& set : outcome.sets) {
      compared += set.compared();
      CHECK(set.compared() > 0);
      CHECK(set.count(golden::EntryStatus::equal) == static_cast<std::int64_t>(set.entries.size()));
    }
    CHECK(compared > least);
  }
}

// Whole conversions in two versions of the engine.
TEST_CASE("recorded conversions of both engine versions equal the model", "[witness]") {
  const Outcome outcome = run(recorded("layouts-rows"));
  INFO(outcome.text);
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.sets.size() == 1);
  const golden::SetResult& set = outcome.sets[0];
  CHECK(set.entries.size() == 1083);
  CHECK(set.compared() > 1600000);
  CHECK(set.count(golden::EntryStatus::equal) == 1083);
}

// What Humming itself makes of single matrices, run on a GPU: with every scale byte, and with activations of 16 and 8 bits.
TEST_CASE("recorded conversions of humming-kernels 0.1.19 equal the model", "[witness]") {
  const Outcome outcome = run(recorded("layouts-humming"));
  INFO(outcome.text);
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.sets.size() == 1);
  CHECK(outcome.sets[0].entries.size() == 38);
  CHECK(outcome.sets[0].count(golden::EntryStatus::equal) == 38);
  CHECK(outcome.sets[0].compared() > 149000);
}

// What the methods fp8, compressed-tensors and Quark's of three releases hand on where the device's FP8 is e4m3fnuz.
TEST_CASE("recorded codes and scales for e4m3fnuz equal the model", "[witness]") {
  const Outcome outcome = run(recorded("layouts-fnuz"));
  INFO(outcome.text);
  CHECK(outcome.exit == 0);
  REQUIRE(outcome.sets.size() == 1);
  CHECK(outcome.sets[0].entries.size() == 21);
  CHECK(outcome.sets[0].count(golden::EntryStatus::equal) == 21);
  CHECK(outcome.sets[0].compared() > 300000);
}

TEST_CASE("a directory above sets is searched in order", "[witness]") {
  const Outcome outcome = run(recorded("numerics"));
  std::vector<std::string> names;
  for (const golden::SetResult& set : outcome.sets) names.push_back(set.name);
  CHECK(names == std::vector<std::string>{"bf16_tiny_h100", "block32", "decode", "encode16", "encode32", "fp8_scaled", "gemm_hopper", "layout",
                                          "mma_extremes", "moe_0", "routing", "sweep32"});
}

TEST_CASE("sweeps that are switched off are reported, not passed", "[witness]") {
  const Outcome outcome = run(recorded("numerics/sweep32"));
  CHECK(outcome.exit == 5);
  REQUIRE(outcome.sets.size() == 1);
  CHECK(outcome.sets[0].count(golden::EntryStatus::nothing_compared) == 14);
  CHECK(outcome.text.find("switched off") != std::string::npos);
}

// One chunk of a sweep with arithmetic of its own: the digest is written out here, the codes come from the fast twin.
TEST_CASE("one chunk of 2^24 inputs gives the recorded digest", "[witness]") {
  struct Chunk {
    std::string file;
    const Format* to;
    Conversion how;
    std::uint64_t chunk;
  };
  // PTX cvt.rn.satfinite.e4m3x2.f32: NaN is 0x7F without sign. Chunk 0x43 holds 128..512, where the format ends; 0x3F and 0xBD are ordinary.
  const Conversion satfinite{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7F, 0x7F, 0, false};
  const Conversion to_bf16{Rounding::nearest_even, Overflow::ieee, NanRule::fixed, 0x7FFF, 0x7FFF, 0, false};
  const Chunk chunks[] = {
      {"e4m3fn.cuda_hw.satfinite.u64.bin", &kE4m3fn, satfinite, 0x43},
      {"e4m3fn.cuda_hw.satfinite.u64.bin", &kE4m3fn, satfinite, 0xBD},
      {"bf16.cuda.nearest_even_u16_code.u64.bin", &kBf16, to_bf16, 0x7F},
  };
  constexpr std::size_t kStep = 1U << 16;
  for (const Chunk& one : chunks) {
    INFO(one.file << " chunk " << one.chunk);
    const std::vector<std::uint8_t> bytes = read_bytes(recorded("numerics/sweep32") / one.file);
    REQUIRE(bytes.size() == 256 * 8);
    std::uint64_t want = 0;
    for (std::size_t b = 0; b < 8; ++b) want |= static_cast<std::uint64_t>(bytes[8 * one.chunk + b]) << (8 * b);

    std::vector<std::uint32_t> x(kStep);
    std::vector<std::uint32_t> codes(kStep);
    std::uint64_t digest = 0;
    for (std::uint64_t first = one.chunk << 24; first < (one.chunk + 1) << 24; first += kStep) {
      for (std::size_t i = 0; i < kStep; ++i) x[i] = static_cast<std::uint32_t>(first + i);
      kernels::encode(x, *one.to, one.how, codes);
      for (std::size_t i = 0; i < kStep; ++i) {
        std::uint64_t z = first + i + 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        digest += (codes[i] + std::uint64_t{1}) * (z ^ (z >> 31U));
      }
    }
    CHECK(digest == want);
  }
}

TEST_CASE("every recorded sweep over all 2^32 inputs equals the model", "[.sweep]") {
  const std::vector<golden::SetResult> sets = golden::run_witness(recorded("numerics/sweep32"), {});
  REQUIRE(sets.size() == 1);
  INFO(text_of(sets[0], true));
  CHECK(golden::exit_code(sets, false) == 0);
  CHECK(sets[0].compared() == 14 * 256);
}

}  // namespace
}  // namespace mx::tests::witness
