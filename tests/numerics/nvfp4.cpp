// NVFP4 recipes: the documented disagreements of implementations, and each implementation restated in plain fp32 arithmetic on random blocks.

#include <cmath>

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/scaled_cases.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

constexpr Conversion kCast{Rounding::nearest_even, Overflow::saturate, NanRule::fixed, 0x7F, 0x7F, 0, false};
constexpr Conversion kCastToNan{Rounding::nearest_even, Overflow::nan, NanRule::fixed, 0x7F, 0x7F, 0, false};

const Recipe& recipe_of(std::string_view profile) { return recipe(profile_named(profile), kNvfp4); }

bool takes_f32(std::string_view profile) { return std::get<Nvfp4Recipe>(recipe_of(profile).how).sources.f32; }

/// fp32 numbers, handed over as bf16 (which must hold them) where the recipe takes no fp32.
QuantizedBlock quantize(std::string_view profile, const std::vector<std::uint32_t>& block, const TensorScale& tensor) {
  if (takes_f32(profile)) return quantize_block(block, kF32, recipe_of(profile), tensor);
  std::vector<std::uint32_t> halves;
  for (std::uint32_t bits : block) {
    REQUIRE((bits & 0xFFFFU) == 0);
    halves.push_back(bits >> 16U);
  }
  return quantize_block(halves, kBf16, recipe_of(profile), tensor);
}

TensorScale encode_scale(float g) { return {.encode = bits_of(g), .decode = std::nullopt}; }
TensorScale decode_scale(float d) { return {.encode = std::nullopt, .decode = bits_of(d)}; }

/// The given numbers, then zeros.
std::vector<std::uint32_t> block_of(std::initializer_list<float> numbers) {
  std::vector<std::uint32_t> block;
  for (float number : numbers) block.push_back(bits_of(number));
  block.resize(16, 0);
  return block;
}

float code_value(std::uint32_t code) { return (code & 0x7FU) == 0x7F ? NAN : static_cast<float>(value_of(facts_of(kE4m3fn), code)); }

/// amax as torch (a NaN wins) or a device (NaNs are ignored) finds it.
float amax_of(const std::vector<std::uint32_t>& block, bool ignores_nan) {
  float amax = ignores_nan ? NAN : 0.0F;
  for (std::uint32_t bits : block) {
    const float magnitude = std::fabs(float_of(bits));
    amax = ignores_nan ? std::fmax(amax, magnitude) : std::isnan(amax) || std::isnan(magnitude) ? NAN : std::fmax(amax, magnitude);
  }
  return amax;
}

float flushed(float x, bool flush) { return flush && std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }

/// A block as one implementation computes it; `scale` and `decode` are the tensor's, `flush` the build's.
struct Restated {
  std::string_view profile;
  float g;
  float r;
  QuantizedBlock (*quantize)(const std::vector<std::uint32_t>& block, float g, float r);
};

struct Coder {
  SearchEncoder e4m3{facts_of(kE4m3fn)};
  SearchEncoder e2m1{facts_of(kE2m1)};
};
const Coder& coder() {
  static const Coder kCoder;
  return kCoder;
}

std::uint32_t fp4(float x, std::uint32_t nan) {
  return coder().e2m1.encode(x, {Rounding::nearest_even, Overflow::saturate, NanRule::fixed, nan, nan, 0, false});
}

QuantizedBlock vllm(const std::vector<std::uint32_t>& block, float g, float) {
  QuantizedBlock out{coder().e4m3.encode(g * (amax_of(block, false) * (1.0F / 6.0F)), kCast), {}, {}};
  const float product = code_value(out.scale) * (1.0F / g);
  const float factor = 1.0F / (product == 0.0F ? 1e8F : product);
  for (std::uint32_t bits : block) {
    const float scaled = float_of(bits) * factor;
    out.codes.push_back(scaled == 0.0F ? 0U : fp4(scaled, 0x7));
  }
  return out;
}

template <bool fast, bool flush>
QuantizedBlock flashinfer(const std::vector<std::uint32_t>& block, float g, float r) {
  const float amax = amax_of(block, true);
  const float sixth = flushed(flushed(amax, flush) * (1.0F / 6.0F), flush);
  QuantizedBlock out{coder().e4m3.encode(flushed(g * sixth, flush), kCast), {}, {}};
  const float divisor = flushed(code_value(out.scale) * r, flush || fast);
  float factor = fast ? flushed(1.0F / divisor, true) : std::isnan(divisor) ? NAN : std::fmin(1.0F / divisor, 0x1.FFFFFEp127F);
  if (flushed(amax, flush) == 0.0F) factor = 0;
  for (std::uint32_t bits : block) out.codes.push_back(fp4(flushed(flushed(float_of(bits), flush) * factor, flush), 0x7));
  return out;
}

QuantizedBlock torchao(const std::vector<std::uint32_t>& block, float, float d) {
  const float wanted = amax_of(block, false) / 6.0F / d;
  QuantizedBlock out{coder().e4m3.encode(wanted < 0x1p-6F ? 0x1p-6F : wanted, kCast), {}, {}};
  const float factor = (1.0F / d) / code_value(out.scale);
  for (std::uint32_t bits : block) out.codes.push_back(fp4(float_of(bits) * factor, 0x4));
  return out;
}

template <bool device>
QuantizedBlock triton_kernels(const std::vector<std::uint32_t>& block, float, float) {
  QuantizedBlock out{coder().e4m3.encode(amax_of(block, device) / 6.0F, device ? kCast : kCastToNan), {}, {}};
  const float scale = code_value(out.scale);
  const float factor = scale == 0.0F ? 0.0F : 1.0F / scale;
  for (std::uint32_t bits : block) out.codes.push_back(fp4(float_of(bits) * factor, 0x7));
  return out;
}

/// rcp.approx.ftz(336) on an H200 (numerics specification section 4): one below the correctly rounded reciprocal.
const float kApproximate = float_of(0x3B430C30);

const Restated kRestated[] = {
    {"vllm-nvfp4", 336.0F, 0, vllm},
    {"vllm-nvfp4", 0.0123F, 0, vllm},
    {"vllm-nvfp4", 1e30F, 0, vllm},
    {"flashinfer-fast", 336.0F, kApproximate, flashinfer<true, true>},
    {"flashinfer-exact", 336.0F, 1.0F / 336.0F, flashinfer<false, true>},
    {"flashinfer-fast-no-fast-math", 336.0F, kApproximate, flashinfer<true, false>},
    {"flashinfer-exact-no-fast-math", 0.0123F, 1.0F / 0.0123F, flashinfer<false, false>},
    {"torchao-nvfp4", 0, 1.0F / 336.0F, torchao},
    {"torchao-nvfp4", 0, 81.3F, torchao},
    {"torchao-nvfp4-single", 0, 1.0F, torchao},
    {"triton-kernels-nvfp4", 0, 0, triton_kernels<false>},
    {"triton-kernels-gpu-nvfp4", 0, 0, triton_kernels<true>},
};

TensorScale tensor_of(const Restated& row) {
  const Nvfp4Scale rule = std::get<Nvfp4Recipe>(recipe_of(row.profile).how).rule;
  if (rule == Nvfp4Scale::per_tensor) return decode_scale(row.r);
  if (rule != Nvfp4Scale::global) return {};
  TensorScale tensor = encode_scale(row.g);
  if (row.r != 0) tensor.decode = bits_of(row.r);
  return tensor;
}

}  // namespace

TEST_CASE("every NVFP4 recipe is the implementation restated") {
  Comparison comparison;
  std::mt19937 random(20251);
  for (const Restated& row : kRestated) {
    for (int round = 0; round < 4000; ++round) {
      std::vector<std::uint32_t> block = random_numbers(random, 16);
      if (!takes_f32(row.profile)) {
        for (std::uint32_t& bits : block) bits &= 0xFFFF0000U;
      }
      const QuantizedBlock got = quantize(row.profile, block, tensor_of(row));
      const QuantizedBlock expected = row.quantize(block, row.g, row.r);
      const auto describe = [&] {
        std::string text = std::string(row.profile) + " scale " + hex(got.scale) + ", expected " + hex(expected.scale) + ", block";
        for (std::size_t i = 0; i < block.size(); ++i) text += " " + hex(block[i]) + ":" + hex(got.codes[i]) + "/" + hex(expected.codes[i]);
        return text;
      };
      comparison.expect(got.scale == expected.scale && got.codes == expected.codes, describe);
    }
  }
  INFO(comparison.first);
  CHECK(comparison.failures == 0);
}

TEST_CASE("NVFP4 implementations disagree as recorded") {
  SECTION("a block of zeros") {
    const std::vector<std::uint32_t> zeros = block_of({0.0F, -0.0F});
    CHECK(quantize("vllm-nvfp4", zeros, encode_scale(1)).scale == 0x00);
    CHECK(quantize("flashinfer-exact", zeros, encode_scale(1)).scale == 0x00);
    CHECK(quantize("torchao-nvfp4", zeros, decode_scale(1)).scale == 0x08);
    // -0 keeps its sign, but not in vLLM's reference.
    CHECK(quantize("vllm-nvfp4", zeros, encode_scale(1)).codes[1] == 0x0);
    CHECK(quantize("flashinfer-exact", zeros, encode_scale(1)).codes[1] == 0x8);
    CHECK(quantize("torchao-nvfp4", zeros, decode_scale(1)).codes[1] == 0x8);
  }
  SECTION("a scale that rounds to 0") {
    const std::vector<std::uint32_t> tiny = block_of({0x1p-20F, -0x1p-20F});
    CHECK(quantize("vllm-nvfp4", tiny, encode_scale(1)).codes[0] == 0x0);
    CHECK(quantize("vllm-nvfp4", tiny, encode_scale(1)).codes[1] == 0x8);
    CHECK(quantize("triton-kernels-nvfp4", tiny, {}).codes[0] == 0x0);
    CHECK(quantize("flashinfer-exact", tiny, encode_scale(1)).codes[0] == 0x7);
    CHECK(quantize("flashinfer-exact", tiny, encode_scale(1)).codes[1] == 0xF);
    CHECK(quantize("flashinfer-exact", tiny, encode_scale(1)).scale == 0x00);
  }
  SECTION("a scale above 464") {
    const std::vector<std::uint32_t> large = block_of({6 * 465.0F});
    CHECK(quantize("triton-kernels-nvfp4", large, {}).scale == 0x7F);
    CHECK(quantize("triton-kernels-gpu-nvfp4", large, {}).scale == 0x7E);
  }
  SECTION("g = 336, the recorded row 'amax 1.75*2^0 +0ulp': byte 0xA6 on the fast path, 0xA5 on the exact one") {
    // bf16 numbers of the block and its recorded codes; the two paths differ in element 2.
    const std::vector<std::uint32_t> x{0xBEC8, 0x3F2F, 0x3F80, 0xBE76, 0x3F74, 0xBF89, 0x3F88, 0x3F12,
                                       0x3F9B, 0xBFD0, 0x3FC6, 0x3FDC, 0x3F9B, 0x3FD8, 0xBF26, 0xBF95};
    std::vector<std::uint32_t> codes{11, 4, 6, 10, 5, 14, 6, 4, 6, 15, 7, 7, 6, 7, 12, 14};
    TensorScale tensor = encode_scale(336);
    tensor.decode = bits_of(kApproximate);
    const QuantizedBlock fast = quantize_block(x, kBf16, recipe_of("flashinfer-fast"), tensor);
    CHECK(fast.scale == 0x6C);
    CHECK(fast.codes == codes);
    codes[2] = 5;
    CHECK(quantize_block(x, kBf16, recipe_of("flashinfer-exact"), encode_scale(336)).codes == codes);
  }
}

TEST_CASE("an NVFP4 recipe names the tensor scale that is missing or not taken") {
  const auto message = [](std::string_view profile, const TensorScale& tensor) -> std::string {
    try {
      quantize(profile, block_of({1.0F}), tensor);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return error.what();
    }
    return "accepted";
  };
  CHECK(message("vllm-nvfp4", {}).find("needs the encode scale") != std::string::npos);
  CHECK(message("flashinfer-fast", encode_scale(336)).find("approximate reciprocal") != std::string::npos);
  CHECK(message("torchao-nvfp4", {}).find("needs the decode scale") != std::string::npos);
  CHECK(message("torchao-nvfp4", encode_scale(2)).find("takes no encode scale") != std::string::npos);
  CHECK(message("torchao-nvfp4-single", decode_scale(2)).find("takes no decode scale") != std::string::npos);
  for (float g : {0.0F, -1.0F, INFINITY, NAN}) {
    CHECK(message("vllm-nvfp4", encode_scale(g)).find("no positive finite number") != std::string::npos);
  }
  CHECK(message("vllm-nvfp4", {.encode = bits_of(1), .decode = std::nullopt, .amax_bound = bits_of(1)}).find("bound") != std::string::npos);
  CHECK(message("vllm-nvfp4", encode_scale(1)) == "accepted");
  CHECK_THROWS_AS(quantize_block(std::vector<std::uint32_t>(15, 0), kF32, recipe_of("vllm-nvfp4"), encode_scale(1)), Error);
}

TEST_CASE("a recipe says what multiplies the elements where the scale code is zero, for either multiplier") {
  // 2^-10 / 6 is below half of e4m3's least number, so that the code is 0; then 2^-10 * 2^11 is 2, and 1.5 * 2^-11 * 2^11 is 1.5.
  constexpr std::uint32_t kTwoTo11 = 0x45000000U;
  for (const std::string_view profile : {"torchao-nvfp4", "torchao-nvfp4-single"}) {
    INFO(profile);
    Recipe changed = recipe_of(profile);
    auto& how = std::get<Nvfp4Recipe>(changed.how);
    how.least_scale = 0;
    how.multiplier_of_zero = kTwoTo11;
    const TensorScale tensor = how.rule == Nvfp4Scale::per_tensor ? decode_scale(1.0F) : TensorScale{};
    std::vector<std::uint32_t> x(16, 0);
    x[3] = 0x3A800000U;
    x[4] = 0xBA800000U;
    x[5] = 0x3A400000U;
    const QuantizedBlock got = quantize_block(x, kF32, changed, tensor);
    CHECK(got.scale == 0);
    CHECK(got.codes == std::vector<std::uint32_t>{0, 0, 0, 4, 12, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  }
}
