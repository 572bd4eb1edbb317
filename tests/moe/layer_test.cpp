// The layer against a computation from the checkpoint's bytes in 113-bit floats, which are exact for the sums of these sizes.

#include "model/moe/layer.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/error.hpp"
#include "model/families/convert.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"
#include "tests/moe/small_layer.hpp"

namespace {

using namespace mx::tests;
using mx::Contract;
using mx::moe::Slot;

__extension__ typedef __float128 Wide;

/// What a kernel reads that trusts the backend's layout at the padded sizes: it does not know where the checkpoint ended.
std::unique_ptr<mx::moe::Experts> packed_experts(const mx::families::PackedLayer& layer) {
  const mx::families::BackendLayout& backend = mx::families::backend_layout_named(layer.backend, layer.setting.form.format, layer.setting.engine);
  mx::families::Setting kernel_view = layer.setting;
  kernel_view.sizes = layer.setting.padded;
  std::vector<mx::moe::ExpertMemory> tensors;
  for (const mx::layout::PackedTensor& tensor : layer.tensors) {
    const auto [memory, cast] = backend.build(tensor.role, kernel_view);
    tensors.push_back({tensor.role, memory, cast, tensor.bytes});
  }
  return mx::moe::memory_experts(layer.setting.padded, tensors);
}

/// Gate or up of one token; every sum here is exact in double: codes, scales, biases and x are small multiples of 2^-6.
std::vector<double> gate_up(const CanonicalLayer& layer, std::int64_t expert, std::int64_t half, const std::vector<double>& x) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < layer.sizes.intermediate; ++i) {
    const std::int64_t row = w13_row(layer, expert, half, i);
    double sum = bias_at(layer, Role::w13_bias, row);
    for (std::int64_t k = 0; k < layer.sizes.hidden; ++k) {
      sum += x[static_cast<std::size_t>(k)] * weight_at(layer, Role::w13_weight, Role::w13_weight_scale, row, k, layer.sizes.hidden);
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace

TEST_CASE("the exact layer equals a computation from the checkpoint's bytes, in both row orders") {
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    const Sizes sizes{3, 32, 64};
    const CanonicalLayer layer = random_layer(sizes, order, 99);
    const auto experts = mx::moe::canonical_experts(layer);
    std::vector<std::uint32_t> x;
    std::vector<double> x_values;
    for (int k = 0; k < 64; ++k) {
      x_values.push_back(static_cast<double>(k % 7 - 3) * 0.125);
      x.push_back(bf16(static_cast<float>(x_values.back())));
    }
    const std::vector<std::vector<Slot>> slots{{{2, bits(0.5F)}, {0, bits(0.25F)}}};
    // Down projection: products of 24 and 3 bits whose exponents differ by less than 60, and then of 24 and 24 bits: exact in 113.
    std::vector<Wide> expected(64, 0);
    for (const Slot& slot : slots[0]) {
      const std::vector<double> gate = gate_up(layer, slot.expert, 0, x_values);
      const std::vector<double> up = gate_up(layer, slot.expert, 1, x_values);
      for (std::int64_t n = 0; n < 64; ++n) {
        Wide sum = bias_at(layer, Role::w2_bias, slot.expert * 64 + n);
        for (std::int64_t i = 0; i < 32; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const std::uint32_t activation = mx::moe::swiglu_oai(bits(static_cast<float>(gate[at])), bits(static_cast<float>(up[at])), {});
          sum += static_cast<Wide>(std::bit_cast<float>(activation)) *
                 weight_at(layer, Role::w2_weight, Role::w2_weight_scale, slot.expert * 64 + n, i, 32);
        }
        expected[static_cast<std::size_t>(n)] += static_cast<Wide>(std::bit_cast<float>(slot.weight)) * static_cast<float>(sum);
      }
    }
    mx::moe::RunConfig config{};
    config.contract = Contract::exact;
    const std::vector<std::uint32_t> got = mx::moe::run_experts(*experts, config, x, 64, slots);
    REQUIRE(got.size() == 64);
    for (std::size_t n = 0; n < 64; ++n) {
      INFO("column " << n);
      CHECK(got[n] == bits(static_cast<float>(expected[n])));
    }
  }
}

TEST_CASE("the sequential layer equals fp32 loops over the checkpoint's bytes, in both row orders") {
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    const Sizes sizes{2, 64, 96};
    const CanonicalLayer layer = random_layer(sizes, order, 31);
    std::vector<std::uint32_t> x;
    std::vector<float> x_values;
    for (int k = 0; k < 96; ++k) {
      x_values.push_back(std::ldexp(1.0F + static_cast<float>(k * 5 % 128) / 128, k % 11 - 8) * (k % 3 == 0 ? -1.0F : 1.0F));
      x.push_back(bf16(x_values.back()));
    }
    const auto chain = [](std::size_t length, auto a, auto b, float bias) {
      float sum = 0;
      for (std::size_t k = 0; k < length; ++k) sum = std::fma(a(k), b(k), sum);
      return sum + bias;
    };
    const std::vector<std::vector<Slot>> slots{{{1, bits(0.6F)}, {0, bits(0.4F)}}};
    std::vector<float> expected(96, 0.0F);
    for (const Slot& slot : slots[0]) {
      std::vector<float> activations;
      for (std::int64_t i = 0; i < 64; ++i) {
        const auto half = [&](std::int64_t which) {
          const std::int64_t row = w13_row(layer, slot.expert, which, i);
          const auto weight = [&](std::size_t k) {
            return static_cast<float>(weight_at(layer, Role::w13_weight, Role::w13_weight_scale, row, static_cast<std::int64_t>(k), 96));
          };
          return chain(
              96, [&](std::size_t k) { return x_values[k]; }, weight, static_cast<float>(bias_at(layer, Role::w13_bias, row)));
        };
        activations.push_back(std::bit_cast<float>(mx::moe::swiglu_oai(bits(half(0)), bits(half(1)), {})));
      }
      for (std::int64_t n = 0; n < 96; ++n) {
        const auto weight = [&](std::size_t k) {
          return static_cast<float>(weight_at(layer, Role::w2_weight, Role::w2_weight_scale, slot.expert * 96 + n, static_cast<std::int64_t>(k), 64));
        };
        const float output = chain(
            64, [&](std::size_t k) { return activations[k]; }, weight, static_cast<float>(bias_at(layer, Role::w2_bias, slot.expert * 96 + n)));
        float& sum = expected[static_cast<std::size_t>(n)];
        sum = std::fma(std::bit_cast<float>(slot.weight), output, sum);
      }
    }
    mx::moe::RunConfig config{};
    config.contract = Contract::f32_sequential;
    const std::vector<std::uint32_t> got = mx::moe::run_experts(*mx::moe::canonical_experts(layer), config, x, 96, slots);
    for (std::size_t n = 0; n < 96; ++n) {
      INFO("column " << n);
      CHECK(got[n] == bits(expected[n]));
    }
  }
}

TEST_CASE("a layer without its weights is refused, one without biases runs") {
  const CanonicalLayer whole = random_layer({1, 32, 32}, SourceOrder::gpt_oss, 2);
  for (Role role : mx::layout::kRoles) {
    CanonicalLayer layer = whole;
    layer[role].clear();
    INFO(name_of(role));
    if (mx::layout::is_bias(role))
      CHECK(mx::moe::canonical_experts(layer) != nullptr);
    else
      CHECK_THROWS_AS(mx::moe::canonical_experts(layer), mx::Error);
  }
}

TEST_CASE("outside the default floating-point environment nothing is computed") {
  const CanonicalLayer layer = random_layer({1, 32, 32}, SourceOrder::gpt_oss, 2);
  const auto experts = mx::moe::canonical_experts(layer);
  const std::vector<std::uint32_t> x(32, bf16(1.0F));
  const std::vector<std::vector<Slot>> slots{{{0, bits(1.0F)}}};
  mx::moe::RunConfig config{};
  config.contract = Contract::f32_sequential;
  REQUIRE(mx::f32::environment_is_default());
  std::fesetround(FE_TOWARDZERO);
  const bool noticed = !mx::f32::environment_is_default();
  bool refused = false;
  try {
    mx::moe::run_experts(*experts, config, x, 32, slots);
  } catch (const mx::Error& error) {
    refused = error.code() == mx::ErrorCode::unsupported;
  }
  std::fesetround(FE_TONEAREST);
  CHECK(noticed);
  CHECK(refused);
}

TEST_CASE("both row orders of the same logical weights give the same bits") {
  const Sizes sizes{2, 32, 32};
  const CanonicalLayer interleaved = random_layer(sizes, SourceOrder::gpt_oss, 5);
  CanonicalLayer halves = interleaved;
  halves.form = SourceOrder::standard;
  for (Role role : {Role::w13_weight, Role::w13_weight_scale, Role::w13_bias}) {
    const std::size_t row_bytes = interleaved[role].size() / (2 * 64);
    for (std::size_t e = 0; e < 2; ++e) {
      for (std::size_t half = 0; half < 2; ++half) {
        for (std::size_t i = 0; i < 32; ++i) {
          for (std::size_t b = 0; b < row_bytes; ++b) {
            halves[role][((e * 2 + half) * 32 + i) * row_bytes + b] = interleaved[role][(e * 64 + 2 * i + half) * row_bytes + b];
          }
        }
      }
    }
  }
  std::vector<std::uint32_t> x(32, bf16(0.375F));
  const std::vector<std::vector<Slot>> slots{{{1, bits(0.75F)}}};
  mx::moe::RunConfig config{};
  config.contract = Contract::f32_sequential;
  CHECK(mx::moe::run_experts(*mx::moe::canonical_experts(interleaved), config, x, 32, slots) ==
        mx::moe::run_experts(*mx::moe::canonical_experts(halves), config, x, 32, slots));
}

TEST_CASE("the two contracts are two: data exist on which their bits differ") {
  const CanonicalLayer layer = random_layer({1, 64, 96}, SourceOrder::gpt_oss, 3);
  std::vector<std::uint32_t> x;
  for (int k = 0; k < 96; ++k) x.push_back(bf16(std::ldexp(1.0F + static_cast<float>(k) / 128, k % 20 - 10)));
  const std::vector<std::vector<Slot>> slots{{{0, bits(1.0F)}}};
  const auto experts = mx::moe::canonical_experts(layer);
  mx::moe::RunConfig exact{};
  exact.contract = Contract::exact;
  mx::moe::RunConfig sequential{};
  sequential.contract = Contract::f32_sequential;
  CHECK(mx::moe::run_experts(*experts, exact, x, 96, slots) != mx::moe::run_experts(*experts, sequential, x, 96, slots));
}

TEST_CASE("the second bias enters once") {
  const CanonicalLayer layer = random_layer({1, 32, 32}, SourceOrder::gpt_oss, 8);
  const std::vector<std::uint32_t> x(32, bf16(1.0F));
  const std::vector<std::vector<Slot>> slots{{{0, bits(1.0F)}}};
  const auto experts = mx::moe::canonical_experts(layer);
  mx::moe::RunConfig config{};
  config.contract = Contract::exact;
  const auto with = mx::moe::run_experts(*experts, config, x, 32, slots);
  config.add_w2_bias = false;
  CHECK(with != mx::moe::run_experts(*experts, config, x, 32, slots));
}

TEST_CASE("an expert that does not exist and a wrong width are refused") {
  const CanonicalLayer layer = random_layer({2, 32, 32}, SourceOrder::gpt_oss, 8);
  const auto experts = mx::moe::canonical_experts(layer);
  mx::moe::RunConfig config{};
  config.contract = Contract::exact;
  struct Refused {
    std::size_t values;
    std::int64_t hidden;
    std::int64_t expert;
    const char* part;
  };
  const Refused cases[] = {
      {32, 32, 2, "expert 2 is not in 0..1"},
      {32, 32, -1, "expert -1 is not in 0..1"},
      {32, 64, 1, "x has 32 values, not rows of 64"},
      {32, 0, 1, "x has 32 values, not rows of 0"},
      {64, 64, 1, "x has 64 values, 1 tokens of hidden 64 are routed and the experts take hidden 32"},
      {32, 16, 1, "x has 32 values, 1 tokens of hidden 16 are routed and the experts take hidden 32"},
  };
  for (const Refused& c : cases) {
    const std::vector<std::uint32_t> x(c.values, 0);
    const std::vector<std::vector<Slot>> slots{{{c.expert, bits(1.0F)}}};
    const std::string message = message_of(mx::ErrorCode::usage, [&] { mx::moe::run_experts(*experts, config, x, c.hidden, slots); });
    INFO(message);
    CHECK(says(message, c.part));
  }
  // Only a layer of values can be told of no columns at all.
  const mx::moe::LayerChoices<std::uint32_t> choices{mx::moe::GatedKind::silu_and_mul, 0, 0, 0, bits(1.0F), {}};
  const std::vector<std::vector<Slot>> none;
  CHECK(says(
      message_of(mx::ErrorCode::usage, [&] { mx::moe::run_layer(mx::moe::F32Arithmetic{Contract::exact}, *experts, choices, {}, 0, none, false); }),
      "0 tokens of hidden 0 are routed"));
}

TEST_CASE("a NaN of x makes every output the one NaN, whatever its sign and payload") {
  const CanonicalLayer layer = random_layer({1, 32, 32}, SourceOrder::gpt_oss, 9);
  std::vector<std::uint32_t> x(32, bf16(0.5F));
  x[7] = 0xFFA5;
  const std::vector<std::vector<Slot>> slots{{{0, bits(1.0F)}}};
  for (const Contract contract : {Contract::exact, Contract::f32_sequential}) {
    mx::moe::RunConfig config{};
    config.contract = contract;
    CHECK(mx::moe::run_experts(*mx::moe::canonical_experts(layer), config, x, 32, slots) == std::vector<std::uint32_t>(32, 0x7FC00000U));
  }
}

TEST_CASE("a packed tensor of another length, or of what its cast never makes, is refused") {
  const CanonicalLayer layer = random_layer({1, 32, 32}, SourceOrder::gpt_oss, 10);
  // DeepGEMM's scales are fp32 there: 2^(code - 127), made by shifting the code.
  const mx::families::PackedLayer packed = mx::families::convert(
      layer, mx::families::backend_layout_named("DEEPGEMM_MXFP4", mx::layout::WeightFormat::mxfp4, mx::deployment::kVllm2026_05), layer.sizes);
  REQUIRE(packed_experts(packed) != nullptr);
  const auto refused = [&](Role role, const auto& spoil) {
    mx::families::PackedLayer spoilt = packed;
    for (mx::layout::PackedTensor& tensor : spoilt.tensors)
      if (tensor.role == role) spoil(tensor.bytes);
    return message_of(mx::ErrorCode::usage, [&] { packed_experts(spoilt); });
  };
  CHECK(says(refused(Role::w2_weight, [](auto& bytes) { bytes.pop_back(); }), "w2_weight: holds 511 bytes, its layout needs 512"));
  CHECK(says(refused(Role::w2_weight_scale, [](auto& bytes) { bytes[5] = 0x12; }), "element 1 is nothing that e8m0_to_f32_shift makes"));
}
