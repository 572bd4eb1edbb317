// Scales that a backend keeps as exponents alone must be powers of two: any other is refused, never cut.

#include <rapidcheck.h>

#include "model/error.hpp"
#include "model/families/convert.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/packed.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::Role;

constexpr layout::Form kForm{layout::WeightFormat::fp8_block, layout::SourceOrder::standard};
constexpr std::uint64_t kOne = 0x3F800000U;

layout::CanonicalLayer layer_of_ones(const layout::Sizes& sizes) {
  layout::CanonicalLayer layer{sizes, kForm, {}};
  for (const Role role : {Role::w13_weight, Role::w13_weight_scale, Role::w2_weight, Role::w2_weight_scale}) {
    const layout::Layout memory = layout::canonical(role, sizes, kForm);
    layer[role].resize(static_cast<std::size_t>(memory.bytes()));
    if (!layout::is_scale(role)) continue;
    for (std::int64_t i = 0; i < memory.cosize(); ++i) layout::set_grain(layer[role], i, 32, kOne);
  }
  return layer;
}

bool converts(const layout::CanonicalLayer& layer) {
  layout::Setting setting{.sizes = layer.sizes, .padded = layer.sizes, .form = kForm, .engine = kVllm2026_05};
  setting.arch = layout::Arch::sm100;
  try {
    layout::convert(layer, layout::backend_layout_named("DEEPGEMM", kForm.format, setting.engine), setting);
    return true;
  } catch (const Error& error) {
    RC_ASSERT(error.code() == ErrorCode::unsupported);
    return false;
  }
}

}  // namespace

Outcome law_powers_of_two(const Law& law) {
  return check_property(law, [] {
    const layout::Sizes sizes{.experts = *rc::gen::inRange<std::int64_t>(1, 3), .intermediate = 128, .hidden = 128, .group = 128};
    layout::CanonicalLayer layer = layer_of_ones(sizes);
    const Role role = *rc::gen::element(Role::w13_weight_scale, Role::w2_weight_scale);
    const auto at = *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(layer[role].size()) / 4);
    const auto exponent = *rc::gen::inRange<std::uint64_t>(1, 255);
    const auto mantissa =
        *rc::gen::oneOf(rc::gen::just<std::uint64_t>(0), rc::gen::just<std::uint64_t>(1), rc::gen::inRange<std::uint64_t>(0, 1U << 23U));
    layout::set_grain(layer[role], at, 32, exponent << 23U | mantissa);
    RC_ASSERT(converts(layer) == (mantissa == 0));
  });
}

}  // namespace mx::props
