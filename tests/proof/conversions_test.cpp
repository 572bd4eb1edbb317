// The model and its fast twin against the tables of thresholds: at and around each threshold, and over whole chunks.

#include "tests/proof/conversions.hpp"

#include "tests/catch.hpp"
#include "tests/numerics/search_encoder.hpp"
#include "tests/proof/specialized_encoder.hpp"
#include "tests/proof/twin.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

/// A conversion that is the model's but for one input.
Encoder wrong_at(const Encoder& encode, std::uint32_t where) {
  return [encode, where](std::span<const std::uint32_t> patterns, std::span<std::uint32_t> codes) {
    encode(patterns, codes);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i] == where) codes[i] ^= 1U;
    }
  };
}

const ConversionProof& proof_named(const std::vector<ConversionProof>& proofs, std::string_view name) {
  for (const ConversionProof& proof : proofs) {
    if (proof.name == name) return proof;
  }
  throw std::logic_error("no row " + std::string(name));
}

}  // namespace

TEST_CASE("every row holds at and around each threshold, in the model and in the twin") {
  std::uint64_t inputs = 0;
  int twins = 0;
  for (const ConversionProof& proof : conversion_proofs()) {
    INFO(proof.name);
    const std::vector<Step> steps = thresholds(*proof.facts, proof.mode);
    const ChunkResult model = check_around(steps, model_encoder(proof));
    INFO("first: " << hex(model.first_wrong));
    CHECK(model.wrong == 0);
    CHECK(check_around(steps, specialized_encoder(proof)).wrong == 0);
    inputs += model.inputs;
    if (!has_twin(proof)) continue;
    ++twins;
    CHECK(check_around(steps, twin_encoder(proof)).wrong == 0);
  }
  CHECK(inputs > 3'000'000);
  CHECK(twins >= 20);
}

TEST_CASE("compiled for its format the model gives the library's codes, for every row and for patterns from everywhere") {
  std::vector<ConversionProof> proofs = conversion_proofs();
  const std::vector<ConversionProof> stochastic = stochastic_proofs(16, 0x5D2B);
  proofs.insert(proofs.end(), stochastic.begin(), stochastic.end());
  std::vector<std::uint32_t> patterns(1U << 14);
  std::vector<std::uint32_t> library(patterns.size());
  std::vector<std::uint32_t> specialized(patterns.size());
  // An odd step visits different patterns in each row, of every exponent.
  std::uint32_t pattern = 0;
  for (const ConversionProof& proof : proofs) {
    INFO(proof.name);
    for (std::uint32_t& each : patterns) each = pattern += 0x9E3779B1U;
    model_encoder(proof)(patterns, library);
    specialized_encoder(proof)(patterns, specialized);
    CHECK(library == specialized);
  }
}

TEST_CASE("every stochastic direction holds at and around each threshold, for random numbers of few and of many bits") {
  struct Draw {
    int bits;
    std::uint32_t random;
  };
  int rows = 0;
  for (const Draw draw : {Draw{1, 0}, Draw{1, 1}, Draw{8, 0}, Draw{8, 0x5D}, Draw{8, 0x80}, Draw{8, 0xFF}, Draw{23, 0x2AAAAA}, Draw{32, 0},
                          Draw{32, 0x12345678}, Draw{32, 0xFFFFFFFF}}) {
    for (const ConversionProof& proof : stochastic_proofs(draw.bits, draw.random)) {
      if (proof.to->width > 8) continue;
      ++rows;
      const ChunkResult result = check_around(thresholds(*proof.facts, proof.mode), model_encoder(proof));
      INFO(proof.name << ", first: " << hex(result.first_wrong));
      CHECK(result.wrong == 0);
    }
  }
  // Ten draws, four directions, eight formats with a sign, and three without in two ways each.
  CHECK(rows == 10 * 4 * (8 + 3 * 2));
}

TEST_CASE("the rows are every direction with and without saturation of every format, each once") {
  const std::vector<ConversionProof> proofs = conversion_proofs();
  std::vector<std::string> names;
  for (const ConversionProof& proof : proofs) names.push_back(proof.name);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  for (const FormatFacts& facts : all_facts()) {
    for (const char* direction : {"nearest_even", "toward_zero", "toward_positive", "toward_negative", "nearest_away"}) {
      const std::string begin = std::string(facts.name) + "/" + direction + "/";
      const std::string end = facts.has_sign ? "" : "/magnitude";
      INFO(begin);
      CHECK(std::binary_search(names.begin(), names.end(), begin + "saturate" + end));
      if (facts.has_inf) CHECK(std::binary_search(names.begin(), names.end(), begin + "ieee" + end));
      if (facts.has_nan && !facts.has_inf) CHECK(std::binary_search(names.begin(), names.end(), begin + "nan" + end));
    }
  }
}

TEST_CASE("whole chunks hold, with overflow, infinities and NaNs in them") {
  const std::vector<ConversionProof> proofs = conversion_proofs();
  // 0x43 holds e4m3fn's largest values and its overflow, 0x7F fp32's top, Inf and NaN; 0x80 the negative subnormals.
  for (const auto& [name, chunk] : std::vector<std::pair<std::string_view, std::uint32_t>>{
           {"e4m3fn/nearest_even/nan", 0x43}, {"fp16/toward_negative/ieee", 0x7F}, {"e8m0/nearest_up/nan/negative_nan", 0x80}}) {
    INFO(name);
    const ConversionProof& proof = proof_named(proofs, name);
    const std::vector<Step> steps = thresholds(*proof.facts, proof.mode);
    const ChunkResult result = check_chunk(steps, chunk, model_encoder(proof));
    CHECK(result.inputs == kChunkInputs);
    CHECK(result.wrong == 0);
  }
}

TEST_CASE("the twin holds on a chunk of each row, on a different one for each") {
  std::uint32_t chunk = 0;
  for (const ConversionProof& proof : conversion_proofs()) {
    if (!has_twin(proof)) continue;
    INFO(proof.name << " chunk " << chunk);
    CHECK(check_chunk(thresholds(*proof.facts, proof.mode), chunk, twin_encoder(proof)).wrong == 0);
    chunk = (chunk + 59) % kChunks;
  }
}

TEST_CASE("one wrong answer in a chunk is counted and named") {
  const std::vector<ConversionProof> proofs = conversion_proofs();
  const ConversionProof& proof = proof_named(proofs, "e2m1/nearest_even/saturate");
  const std::vector<Step> steps = thresholds(*proof.facts, proof.mode);
  const std::uint32_t where = 0x3FABCDEFU;
  const ChunkResult result = check_chunk(steps, where >> 24, wrong_at(twin_encoder(proof), where));
  CHECK(result.wrong == 1);
  CHECK(result.first_wrong == where);
  CHECK(result.inputs == kChunkInputs);
}

TEST_CASE("every code of every format decodes to its value, in exact arithmetic") {
  for (const FormatFacts& facts : all_facts()) {
    INFO(facts.name);
    CHECK(wrong_decodes(facts).empty());
  }
}
