// What FP8 becomes in front of every backend where the device's codes are e4m3fnuz.

#include "model/families/fnuz.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "model/families/convert.hpp"
#include "model/numerics/fp8_recipe.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::refuses;

using Bytes = std::vector<std::uint8_t>;

Setting on_gfx942(const CanonicalLayer& layer) {
  return {.sizes = layer.sizes,
          .padded = layer.sizes,
          .form = layer.form,
          .arch = Arch::gfx942,
          .activation = ConverterActivation::silu,
          .has_bias = false};
}

/// Every code but that of -0 in turn, and scales of 1, 3 * 2^-140 (no normal number) and 2^126 in turn.
CanonicalLayer layer_of(WeightFormat format) {
  CanonicalLayer layer{{2, 128, 128, 1}, {format, SourceOrder::standard}, {}};
  for (const Role role : kAllRoles) {
    if (!has_role(format, role) || is_bias(role)) continue;
    Bytes& bytes = layer[role];
    bytes.resize(static_cast<std::size_t>(canonical(role, layer.sizes, layer.form).bytes()));
    constexpr std::array<std::array<std::uint8_t, 4>, 3> kScales{{{0, 0, 0x80, 0x3F}, {0, 0x06, 0, 0}, {0, 0, 0x80, 0x7E}}};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = is_scale(role) ? kScales[i / 4 % 3][i % 4] : static_cast<std::uint8_t>(i % 255 < 0x80 ? i % 255 : i % 255 + 1);
    }
  }
  return layer;
}

Bytes doubled(const Bytes& scales) {
  constexpr std::array<std::array<std::uint8_t, 4>, 3> kTwice{{{0, 0, 0, 0x40}, {0, 0x0C, 0, 0}, {0, 0, 0, 0x7F}}};
  Bytes made(scales.size());
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = kTwice[i / 4 % 3][i % 4];
  return made;
}

TEST_CASE("hazard: on gfx942 fp8 codes are read as e4m3fnuz, with doubled scales, whatever the backend and whatever a scale covers") {
  for (const WeightFormat format : {WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block}) {
    CanonicalLayer layer = layer_of(format);
    for (const std::string_view backend : {"TRITON", "BATCHED_TRITON", "AITER"}) {
      INFO(name_of(format) << " " << backend);
      const BackendLayout& row = backend_layout_named(backend, format, mx::deployment::kVllm2026_08);
      const PackedLayer packed = convert(layer, row, on_gfx942(layer));
      CHECK(packed.losses.empty());
      for (const Role role : {Role::w13_weight_scale, Role::w2_weight_scale}) CHECK(packed.find(role)->bytes == doubled(layer[role]));
      if (backend != "AITER") CHECK(packed.find(Role::w2_weight)->bytes == layer[Role::w2_weight]);
      CHECK(restore(packed).tensors == layer.tensors);

      Setting setting = on_gfx942(layer);
      setting.arch = Arch::gfx950;
      const PackedLayer plain = convert(layer, row, setting);
      CHECK(plain.find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
      // The codes are the same but for -0, in the same places.
      CHECK(plain.find(Role::w13_weight)->bytes == packed.find(Role::w13_weight)->bytes);
      setting = on_gfx942(layer);
      setting.leaves_e4m3fn = true;
      CHECK(convert(layer, row, setting).find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
    }
    // Of every other device and format nothing is read anew.
    Setting setting = on_gfx942(layer);
    CHECK(has_fnuz(setting));
    for (const Arch arch : {Arch::gfx90a, Arch::gfx950, Arch::gfx12, Arch::gfx1250, Arch::sm90}) {
      setting.arch = arch;
      CHECK_FALSE(has_fnuz(setting));
    }
    setting = on_gfx942(layer);
    setting.form.format = WeightFormat::mxfp8;
    CHECK_FALSE(has_fnuz(setting));
  }
}

TEST_CASE("a code of -0 and a scale that does not double cannot be given back") {
  CanonicalLayer layer = layer_of(WeightFormat::fp8_tensor);
  layer[Role::w13_weight][5] = 0x80;
  layer[Role::w2_weight_scale] = {0, 0, 0, 0x7F, 0, 0, 0x80, 0x3F};  // 2^127, 1
  const BackendLayout& row = backend_layout_named("TRITON", WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08);
  const PackedLayer packed = convert(layer, row, on_gfx942(layer));
  CHECK(packed.find(Role::w13_weight)->bytes[5] == 0);
  CHECK(packed.find(Role::w2_weight_scale)->bytes == Bytes{0, 0, 0x80, 0x7F, 0, 0, 0, 0x40});
  REQUIRE(packed.losses.size() == 2U);
  CHECK(packed.losses[0].role == Role::w13_weight);
  CHECK(packed.losses[0].units == 1);
  CHECK(packed.losses[0].destroyed() == 0);  // the number is zero before and after
  CHECK(packed.losses[1].role == Role::w2_weight_scale);
  CHECK(packed.losses[1].destroyed() == 1);
  CHECK(refuses(ErrorCode::usage, "codes of -0", [&] { restore(packed); }));
  CanonicalLayer back = restore(packed, OnLoss::mark);
  CHECK(back[Role::w13_weight][5] == 0);
  back[Role::w13_weight][5] = 0x80;
  CHECK(back[Role::w13_weight] == layer[Role::w13_weight]);
}

TEST_CASE("codes and scales in memory are those of the numerics, code by code") {
  for (int code = 0; code < 256; ++code) {
    Bytes one{static_cast<std::uint8_t>(code)};
    to_fnuz(Role::w2_weight, one);
    const mx::FnuzWeight weight = mx::e4m3fn_to_e4m3fnuz(static_cast<std::uint32_t>(code), 0x3F800000U);
    CHECK(std::uint32_t{one.front()} == weight.code);
  }
}

}  // namespace
