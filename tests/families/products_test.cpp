// How launches cut k and which contract they bring, worked out by hand from the rules that the headers cite.

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "model/error.hpp"
#include "model/families/humming_product.hpp"
#include "model/families/marlin_product.hpp"
#include "model/families/requantize.hpp"
#include "model/families/shifted_scale.hpp"
#include "model/families/slot_sum.hpp"
#include "model/families/triton_kernels_product.hpp"
#include "model/families/triton_moe_product.hpp"
#include "model/families/vllm_cutlass_product.hpp"
#include "model/numerics/convert.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::families;

namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

using Slices = std::vector<KSlice>;

}  // namespace

TEST_CASE("shared tiles are numbered one after the other and cut at multiples", "[families][product]") {
  const KCut cut{.tiles = 5, .shared = 3, .steps = 4, .length = 5};
  CHECK(cut.slices(0) == Slices{{0, 4}});
  CHECK(cut.slices(1) == Slices{{0, 4}});
  CHECK(cut.slices(2) == Slices{{0, 4}});
  CHECK(cut.slices(3) == Slices{{0, 1}, {1, 4}});
  CHECK(cut.slices(4) == Slices{{0, 2}, {2, 4}});
}

TEST_CASE("Marlin shares its last tiles", "[families][product]") {
  const marlin::Launch launch{8, 128, 128, 256, 132};
  // Fewer tiles than blocks: all are shared. 12 blocks of tokens by 4 tiles, 4 steps: ceil(4 * 48 / 132) = 2.
  const KCut few = marlin::cut_of(launch, 12, 512, 512, 1);
  CHECK(few.tiles == 48);
  CHECK(few.shared == 48);
  CHECK(few.length == 2);
  CHECK(few.slices(7) == Slices{{0, 2}, {2, 4}});
  // 160 tiles: 28 remain, 3 * 28 <= 132, so a whole round more is shared.
  CHECK(marlin::cut_of(launch, 40, 512, 512, 1).shared == 160);
  // 184 tiles: 52 remain, 3 * 52 > 132.
  CHECK(marlin::cut_of(launch, 46, 512, 512, 1).shared == 52);
  // Whole groups of scales: 128 in tiles of 64.
  const marlin::Launch narrow{8, 64, 128, 128, 132};
  CHECK(narrow.warps() == 2);
  CHECK(marlin::cut_of(narrow, 2, 256, 256, 128).length == 2);
  CHECK(marlin::cut_of(narrow, 2, 256, 256, 1).length == 1);
  CHECK_THROWS_AS(marlin::cut_of(launch, 1, 500, 512, 1), Error);
  CHECK_THROWS_AS(marlin::cut_of({8, 64, 128, 256, 132}, 1, 512, 512, 1), Error);
  CHECK_THROWS_AS(marlin::cut_of({8, 128, 128, 256, 0}, 1, 512, 512, 1), Error);
}

TEST_CASE("Marlin adds warps and slices in its order", "[families][product]") {
  // One nonzero product in each warp's part of one tile, of sizes that show every order of additions.
  const ContractRow& row = row_of(Contract::hopper_bf16);
  const marlin::Launch launch{8, 128, 64, 128, 1};
  const float parts[4] = {0x1p24F, 1.0F, 0.5F, 0.5F};
  std::vector<Value> x(256), w(256);
  for (std::size_t warp = 0; warp < 4; ++warp) {
    x[32 * warp + 5] = x[128 + 32 * warp + 9] = decode(kF32, bits(parts[warp]));
    w[32 * warp + 5] = w[128 + 32 * warp + 9] = decode(kF32, bits(1.0F));
  }
  const PreparedOperand a = marlin::by_warps(launch, prepare(row, Side::a, {.elements = x}));
  const PreparedOperand b = marlin::by_warps(launch, prepare(row, Side::b, {.elements = w}));
  const float block = parts[0] + (parts[1] + (parts[3] + parts[2]));
  const Slices two{{0, 1}, {1, 2}};
  CHECK(marlin::sum_of(launch, row, a, b, two, {}) == bits(block + block));
  CHECK(block != ((parts[0] + parts[1]) + parts[2]) + parts[3]);
  // Each slice's sum meets its scale before it is joined.
  const float scale = 1.0F + 0x1p-23F;
  CHECK(marlin::sum_of(launch, row, a, b, two, bits(scale)) == bits(block * scale + block * scale));
  // One slice: each warp has one chain over both tiles.
  const float sums[4] = {2 * parts[0], 2 * parts[1], 2 * parts[2], 2 * parts[3]};
  CHECK(marlin::sum_of(launch, row, a, b, Slices{{0, 2}}, {}) == bits(sums[0] + (sums[1] + (sums[3] + sums[2]))));
}

TEST_CASE("Marlin's FP8 weights and slot values", "[families][product]") {
  CHECK(to_f32(marlin::fp8_weight(0x38)) == bits(0x1p-120F));
  CHECK(to_f32(marlin::fp8_weight(0x7F)) == bits(480.0F * 0x1p-120F));
  CHECK(to_f32(marlin::fp8_weight(0xFF)) == bits(-480.0F * 0x1p-120F));
  CHECK(to_f32(marlin::fp8_weight(0x01)) == bits(0x1p-129F));
  const float sum = 1.0F + 0x1p-8F;  // a tie: bf16 has 1
  CHECK(marlin::slot_value(bits(sum), {}, {}) == bits(1.0F));
  CHECK(marlin::slot_value(bits(sum), bits(3.0F), {}) == bits(3.0F));
  // A global scale belongs to the weight where there is one: 1 * bf16(3 * 1.5), else to the sum.
  CHECK(marlin::slot_value(bits(sum), bits(3.0F), bits(1.5F)) == bits(4.5F));
  CHECK(marlin::slot_value(bits(sum), {}, bits(1.5F)) == bits(1.5F + 0x1p-7F));
}

TEST_CASE("Humming cuts by stages and groups, at most nine slices in a tile", "[families][product]") {
  humming::Launch launch{512, 2048, 8, 8, 256, 128, 64, 132, 4, 32, true};
  // 16 tiles of 16 steps on 132 blocks: max(ceil(256 / 132), ceil(15 / 9)) = 2, rounded up to 4 stages.
  KCut cut = humming::cut_of(launch);
  CHECK(cut.tiles == 16);
  CHECK(cut.shared == 16);
  CHECK(cut.length == 4);
  CHECK(cut.slices(3).size() == 4);
  launch.stages = 3;
  CHECK(humming::cut_of(launch).length == 3);
  launch.group = 256;  // two blocks of k share a scale
  CHECK(humming::cut_of(launch).length == 6);
  launch.group = 32;
  launch.blocks = 15;  // one tile remains: 10 * 1 <= 15, a round more
  CHECK(humming::cut_of(launch).shared == 16);
  launch.token_blocks = 13;  // 26 tiles: 11 remain, more than a tenth
  CHECK(humming::cut_of(launch).shared == 11);
  launch.stream_k = false;
  CHECK(humming::cut_of(launch).slices(25) == Slices{{0, 16}});
  launch.warp_k = 48;
  CHECK_THROWS_AS(humming::cut_of(launch), Error);
}

TEST_CASE("Humming joins slices in bf16 and warps in its order", "[families][product]") {
  // From the highest k down: 256 + 1 is a tie to 256, twice; the other way 2 would reach it.
  CHECK(humming::joined(std::vector{bits(1.0F), bits(1.0F), bits(256.0F)}) == bits(256.0F));
  CHECK(humming::joined(std::vector{bits(256.0F), bits(1.0F), bits(1.0F)}) == bits(258.0F));
  const ContractRow& row = row_of(Contract::hopper_bf16);
  const humming::Launch launch{64, 128, 1, 8, 64, 128, 16, 1, 1, 32, true};
  const float parts[8] = {0x1p24F, 1, 1, 1, 1, 1, 1, 1};
  std::vector<Value> x(128), w(128, decode(kF32, bits(1.0F)));
  for (std::size_t warp = 0; warp < 8; ++warp) x[16 * warp] = decode(kF32, bits(parts[warp]));
  const PreparedOperand a = prepare(row, Side::a, {.elements = x}), b = prepare(row, Side::b, {.elements = w});
  const float halves[4] = {parts[0] + parts[4], parts[1] + parts[5], parts[2] + parts[6], parts[3] + parts[7]};
  CHECK(humming::slice_sum(launch, row, a, b, {0, 1}, nullptr) == bits((halves[0] + halves[2]) + (halves[1] + halves[3])));
  // Groups: every chain's sum times its factor.
  const humming::Launch one{64, 128, 1, 8, 64, 128, 128, 1, 1, 64, true};
  const humming::ChainScales scales{64, [](std::int64_t group) { return bits(group == 0 ? 2.0F : 0x1p-24F); }};
  const float sums[2] = {parts[0], 4.0F};  // ones behind 2^24 are cut, group by group
  CHECK(humming::slice_sum(one, row, a, b, {0, 1}, &scales) == bits(std::fma(0x1p-24F, sums[1], 2.0F * sums[0])));
}

TEST_CASE("Humming adds four slices and more in any order: what can come is what the orders give", "[families][product]") {
  // Nearest even into bf16, restated for finite numbers.
  const auto added = [](std::uint32_t slice, std::uint32_t total) {
    const std::uint32_t sum = bits(std::bit_cast<float>(slice) + std::bit_cast<float>(total));
    return (sum + 0x7FFFU + (sum >> 16U & 1U)) & 0xFFFF0000U;
  };
  for (const std::vector<float>& slices : {std::vector{1.0F, 0.75F, -257.0F, 256.0F}, {1.0F, 3.0F, 1.5F, -2.5F, 300.0F}, {2.0F, 0.5F, 0.25F, 1.0F}}) {
    std::vector<std::uint32_t> all;
    for (const float slice : slices) all.push_back(bits(slice));
    std::vector<std::uint32_t> order(all.begin(), all.end() - 1);
    std::ranges::sort(order);
    std::set<std::uint32_t> want;
    do {
      std::uint32_t total = all.back();
      for (const std::uint32_t slice : order) total = added(slice, total);
      want.insert(total);
    } while (std::ranges::next_permutation(order).found);
    const std::vector<std::uint32_t> got = humming::possible(all);
    CHECK(std::set(got.begin(), got.end()) == want);
    CHECK(got.size() == want.size());
    CHECK(want.contains(humming::joined(all)));
    CHECK((want.size() > 1) == (slices.front() != 2.0F));
  }
  // Three have one order, though another would give more.
  const std::vector three{bits(256.0F), bits(1.0F), bits(1.0F)};
  CHECK(humming::possible(three) == std::vector{humming::joined(three)});
}

TEST_CASE("Humming's FP8 weights are powers of two below the expert's largest", "[families][product]") {
  const auto near = humming::PowersOfExpert::of(123, 116);
  CHECK(near.lowest == 116);
  CHECK(near.global() == bits(0x1p-6F));
  CHECK(to_f32(near.weight(0x7, 118)) == bits(6.0F * 0x1p-3F));
  const auto far = humming::PowersOfExpert::of(140, 20);
  CHECK(far.lowest == 129);
  CHECK(to_f32(far.weight(0x7, 128)) == bits(3.0F * 0x1p-5F));  // 6 at half the unit
  CHECK(to_f32(far.weight(0x1, 128)) == bits(0.5F * 0x1p-5F));  // 0.25 is a tie, away from zero
  CHECK(to_f32(far.weight(0x7, 120)) == 0U);
}

TEST_CASE("a launch of the FP8 Triton kernel brings its contract", "[families][product]") {
  using triton_moe::Launch, triton_moe::Scales, deployment::kVllm2026_05, deployment::kVllm2026_08;
  const auto text = [](const Launch& launch, Scales scales, deployment::Engine engine) {
    return text_of(triton_moe::contract_of(launch, scales, engine));
  };
  CHECK(text({64, 128, 128}, Scales::blocks, kVllm2026_05) == text_of(row_of(Contract::hopper_fp8_block_1x128)));
  CHECK(text({16, 128, 256}, Scales::blocks, kVllm2026_05) == text_of(row_of(contract_named("hopper-fp8-as-fp16-block"))));
  CHECK(text({16, 128, 128}, Scales::blocks, kVllm2026_08) == text_of(row_of(contract_named("hopper-fp8-block-exchanged"))));
  CHECK(text({16, 32, 128}, Scales::blocks, kVllm2026_08) == text({16, 32, 128}, Scales::blocks, kVllm2026_05));
  ContractRow pairs = row_of(contract_named("hopper-fp8-as-fp16"));
  pairs.scales = ScaleEntry::total_one_by_one;
  CHECK(text({16, 64, 128}, Scales::rows, kVllm2026_05) == text_of(pairs));
  CHECK(text({16, 64, 128}, Scales::rows, kVllm2026_08) == text({64, 64, 128}, Scales::rows, kVllm2026_05));
  CHECK(triton_moe::contract_of({64, 64, 32}, Scales::blocks, kVllm2026_05).restart == 32);
  CHECK(triton_moe::contract_of({16, 64, 64}, Scales::blocks, kVllm2026_08).restart == 64);
  // The tiles without a tuned file.
  const auto tile = [](Scales scales, std::int64_t tokens, deployment::Engine engine) {
    return triton_moe::default_launch(scales, tokens, engine, false);
  };
  CHECK(tile(Scales::blocks, 64, kVllm2026_05) == Launch{16, 128, 128});
  CHECK(tile(Scales::blocks, 65, kVllm2026_05) == Launch{64, 128, 128});
  CHECK(tile(Scales::blocks, 8, kVllm2026_05) == Launch{16, 128, 128});
  CHECK(tile(Scales::blocks, 8, kVllm2026_08) == Launch{16, 64, 128});
  CHECK(tile(Scales::blocks, 9, kVllm2026_08) == Launch{16, 128, 128});
  CHECK(tile(Scales::rows, 32, kVllm2026_05).block_m == 16);
  CHECK(tile(Scales::rows, 96, kVllm2026_05).block_m == 32);
  CHECK(tile(Scales::rows, 97, kVllm2026_05).block_m == 64);
  CHECK(tile(Scales::rows, 513, kVllm2026_08).block_m == 128);
  CHECK(triton_moe::default_launch(Scales::blocks, 1, kVllm2026_05, true) == Launch{64, 64, 32});
}

TEST_CASE("CUTLASS exchanges its operands up to 64 slots", "[families][product]") {
  CHECK(vllm_cutlass::scale_order(64) == EpilogueScale::activation_first);
  CHECK(vllm_cutlass::scale_order(65) == EpilogueScale::weight_first);
}

TEST_CASE("triton_kernels 3.5 ends every second row early", "[families][product]") {
  CHECK(triton::k_read(triton::Release::v3_5, 224, 1) == 192);
  CHECK(triton::k_read(triton::Release::v3_5, 224, 2) == 224);
  CHECK(triton::k_read(triton::Release::v3_5, 256, 1) == 256);
  CHECK(triton::k_read(triton::Release::v3_6, 224, 1) == 224);
  CHECK(shifted_scale(0).cls == ValueClass::zero);
  CHECK(shifted_scale(255).cls == ValueClass::infinity);
  CHECK(shifted_scale(1) == decode(kE8m0, 1));
}

// Sums that tell the orders apart: bf16 of 256 and 1 is 256; fp32 keeps all.
TEST_CASE("the sum of slots depends on how many there are, and on the version", "[families][product]") {
  const auto sum = [](SlotSum rule, std::vector<float> shares) {
    std::vector<std::uint32_t> words;
    for (const float share : shares) words.push_back(bits(share));
    return std::bit_cast<float>(sum_of_slots(rule, words));
  };
  CHECK(sum(SlotSum::moe_sum, {256, 1, 1}) == 256.0F);
  CHECK(sum(SlotSum::f32, {256, 1, 1}) == 258.0F);
  CHECK(sum(SlotSum::moe_sum, {256, 1, 1, 0, 0}) == 258.0F);
  CHECK(sum(SlotSum::bf16, {256, 1, 1, 0, 0}) == 256.0F);
  // Four accumulators: the slots k mod 4 = 0 meet first. 2^24 - 2^24 is 0, and 1 stays.
  CHECK(sum(SlotSum::moe_sum, {0x1p24F, 1, 0, 0, -0x1p24F}) == 1.0F);
  CHECK(sum(SlotSum::f32, {0x1p24F, 1, 0, 0, -0x1p24F}) == 0.0F);
  CHECK(std::bit_cast<std::uint32_t>(sum(SlotSum::f32, {-0.0F})) == 0U);
  CHECK(moe_sum_of(deployment::kVllm2026_05) == SlotSum::moe_sum);
  CHECK(moe_sum_of(deployment::kVllm2026_08) == SlotSum::f32);
  const std::vector<std::uint32_t> shares{bits(3.0F), bits(1.0F)}, weights{bits(1.0F / 3.0F), bits(-1.0F)};
  CHECK(fused_sum_of_slots(shares, weights) == bits(std::fma(1.0F, -1.0F, std::fma(3.0F, 1.0F / 3.0F, 0.0F))));
}

// Codes 448 and 1 under a scale of 3: amax / 448 = 3, up to 4; 1 * 3 / 4.
TEST_CASE("a block is quantized anew for a power of two", "[families][product]") {
  std::vector<std::uint8_t> codes{0x7E, 0x38, 0xB8, 0x00};
  CHECK(requantize_block(codes, bits(3.0F)) == bits(4.0F));
  CHECK(codes[0] == 0x7A);  // 336 is a tie between 320 and 352: even
  CHECK(codes[1] == 0x34);  // 0.75
  CHECK(codes[2] == 0xB4);
  CHECK(codes[3] == 0x00);
}
