// TRITON on Hopper, from its own packed tensors, held against the stages that the real kernels gave: golden/witness/numerics/moe_0.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "model/numerics/convert.hpp"
#include "sim/execute/kernel.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using layout::Role;

// Sizes of the recorded layer (manifest.json).
constexpr std::int64_t kTokens = 7;
constexpr std::int64_t kTopK = 4;
constexpr layout::Sizes kSizes{8, 256, 256, 32};

std::vector<std::uint8_t> bytes_of(const std::string& name) {
  std::ifstream file(std::filesystem::path(WITNESS_DIRECTORY) / "numerics/moe_0" / name, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::uint32_t> words_of(const std::string& name, std::size_t width) {
  const std::vector<std::uint8_t> bytes = bytes_of(name);
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < width; ++b) word |= std::uint32_t{bytes[i + b]} << (8 * b);
    words.push_back(word);
  }
  return words;
}

layout::CanonicalLayer recorded_layer() {
  layout::CanonicalLayer layer{kSizes, layout::SourceOrder::gpt_oss, {}};
  layer[Role::w13_weight] = bytes_of("w13_blocks.bin");
  layer[Role::w13_weight_scale] = bytes_of("w13_scales.bin");
  layer[Role::w13_bias] = bytes_of("w13_bias.bin");
  layer[Role::w2_weight] = bytes_of("w2_blocks.bin");
  layer[Role::w2_weight_scale] = bytes_of("w2_scales.bin");
  layer[Role::w2_bias] = bytes_of("w2_bias.bin");
  return layer;
}

/// The slots as the kernels sorted them.
struct Sorted {
  std::vector<SlotWork> work;
  std::vector<std::uint32_t> source;  ///< token * top_k + position
  std::vector<std::uint32_t> gates;   ///< bf16 codes
};

Sorted recorded_slots() {
  Sorted sorted{{}, words_of("triton_hopper.gather_src.i32.bin", 4), words_of("triton_hopper.gate_scal.bf16.bin", 2)};
  const std::vector<std::uint32_t> histogram = words_of("triton_hopper.expert_hist.i32.bin", 4);
  for (std::size_t expert = 0; expert < histogram.size(); ++expert) {
    for (std::uint32_t i = 0; i < histogram[expert]; ++i)
      sorted.work.push_back({sorted.source[sorted.work.size()] / kTopK, static_cast<std::int64_t>(expert)});
  }
  REQUIRE(sorted.work.size() == kTokens * kTopK);
  return sorted;
}

}  // namespace

TEST_CASE("TRITON on Hopper reproduces the recorded stages from its own packed tensors") {
  const ExecutionRow& row = execution_of(layout::WeightFormat::mxfp4, "TRITON");
  const ModelActivation model{"SWIGLUOAI", {0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0}};
  const Execution execution = execution_on(row, layout::Arch::sm90, "None", model, {});
  CHECK(grounds_of(row, layout::Arch::sm90, *execution.first, *execution.second) == Grounds::verified);
  const layout::Setting setting{.sizes = kSizes, .padded = kSizes, .form = layout::SourceOrder::gpt_oss, .arch = layout::Arch::sm90};
  const layout::BackendLayout& backend = layout::backend_layout_named("TRITON", layout::WeightFormat::mxfp4, setting.engine);
  const layout::PackedLayer packed = layout::convert(recorded_layer(), backend, setting);
  const Weights weights = Weights::of_packed(packed, row, layout::SourceOrder::gpt_oss);
  const std::vector<std::uint32_t> x = words_of("x.bin", 2);
  const Activations input = quantized(*execution.first, x, kSizes.hidden, 0);
  const Sorted sorted = recorded_slots();
  const std::vector<SlotStages> stages = run_slots(execution, weights, input, sorted.work, {});

  const std::vector<std::uint32_t> h13 = words_of("triton_hopper.h13.bf16.bin", 2);
  const std::vector<std::uint32_t> act = words_of("triton_hopper.act.bf16.bin", 2);
  const std::vector<std::uint32_t> out = words_of("triton_hopper.out.bf16.bin", 2);
  const auto width = static_cast<std::size_t>(kSizes.intermediate);
  std::size_t wrong_h13 = 0;
  std::size_t wrong_act = 0;
  for (std::size_t slot = 0; slot < stages.size(); ++slot) {
    for (std::size_t i = 0; i < width; ++i) {
      if (to_bf16(stages[slot].gate[i]) >> 16U != h13[slot * 2 * width + 2 * i]) ++wrong_h13;
      if (to_bf16(stages[slot].up[i]) >> 16U != h13[slot * 2 * width + 2 * i + 1]) ++wrong_h13;
      if (stages[slot].activation[i] >> 16U != act[slot * width + i]) ++wrong_act;
    }
  }
  CHECK(wrong_h13 == 0);
  CHECK(wrong_act == 0);

  std::size_t wrong_out = 0;
  for (std::uint32_t token = 0; token < kTokens; ++token) {
    std::vector<WeighedSlot> slots;
    for (std::size_t slot = 0; slot < stages.size(); ++slot) {
      if (sorted.source[slot] / kTopK == token) slots.push_back({sorted.work[slot].expert, sorted.gates[slot] << 16U, stages[slot].down});
    }
    const std::vector<std::uint32_t> sums = combined(row, slots, static_cast<std::size_t>(kSizes.hidden));
    for (std::size_t n = 0; n < sums.size(); ++n) {
      if (sums[n] >> 16U != out[token * sums.size() + n]) ++wrong_out;
    }
  }
  CHECK(wrong_out == 0);
}
