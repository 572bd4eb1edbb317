#include <array>
#include <string>

#include "model/families/marlin/values.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/value.hpp"

namespace mx::families::marlin {
namespace {

/// The two scales of one weight.
struct ScaleRoles {
  layout::Role scale;
  layout::Role global;
};
constexpr std::array<ScaleRoles, 2> kScaleRoles{
    {{layout::Role::w13_weight_scale, layout::Role::w13_global_scale}, {layout::Role::w2_weight_scale, layout::Role::w2_global_scale}}};

layout::Units& of(layout::LayerUnits& units, layout::Role role) { return units[static_cast<std::size_t>(role)]; }

std::int64_t count_of(const layout::Units& units) { return static_cast<std::int64_t>(units.bytes.size()) * 8 / units.bits; }

std::string power_text(int exponent) { return "2^" + std::to_string(exponent); }

void add_loss(std::vector<layout::Loss>& losses, layout::Role role, std::string what, std::int64_t units, std::int64_t kept = 0) {
  if (units > 0) losses.push_back({role, std::move(what), units, kept});
}

/// Whether `after` times 2^exponent is the number that `before` was; NaNs are.
bool same_number(const Value& before, Value after, int exponent) {
  if (before.cls == ValueClass::nan || after.cls == ValueClass::nan) return before.cls == after.cls;
  after.exponent += exponent;
  return canonical(before) == canonical(after);
}

/// Every unit of a tensor through a function, into units of `bits`.
template <class Function>
layout::Units mapped(const layout::Units& from, int bits, Function function) {
  layout::Units to{bits, std::vector<std::uint8_t>(static_cast<std::size_t>((count_of(from) * bits + 7) / 8))};
  for (std::int64_t i = 0; i < count_of(from); ++i) {
    layout::set_grain(to.bytes, i, bits, function(static_cast<std::uint32_t>(layout::get_grain(from.bytes, i, from.bits))));
  }
  return to;
}

/// How many units differ after a function.
template <class Function>
std::int64_t count_changed(const layout::Units& units, Function function) {
  std::int64_t changed = 0;
  for (std::int64_t i = 0; i < count_of(units); ++i) {
    const auto unit = static_cast<std::uint32_t>(layout::get_grain(units.bytes, i, units.bits));
    if (function(unit) != unit) ++changed;
  }
  return changed;
}

}  // namespace

void nvfp4_values(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses) {
  for (const ScaleRoles& roles : kScaleRoles) {
    layout::Units& scale = of(units, roles.scale);
    layout::Units& global = of(units, roles.global);
    const int factor = nvfp4_factor(scale.bytes, setting.params_dtype);
    const auto byte_scale = [&](std::uint32_t code) { return nvfp4_scale(static_cast<std::uint8_t>(code), factor); };
    const auto global_scale = [&](std::uint32_t f32) { return nvfp4_global_scale(f32, factor, setting.params_dtype); };
    const auto scale_back = [&](std::uint32_t code) { return std::uint32_t{nvfp4_scale_back(byte_scale(code))}; };
    const auto global_back = [&](std::uint32_t f32) { return nvfp4_global_scale_back(global_scale(f32), setting.params_dtype); };
    // Scales go up by the factor and global scales down: a product that is as it was has lost nothing, though the way back would need the factor.
    const std::int64_t kept_scales = count_changed(scale, [&](std::uint32_t code) {
      return scale_back(code) != code && same_number(decode(kE4m3fn, code), decode(kE4m3fn, scale_back(code)), -factor) ? ~code : code;
    });
    const std::int64_t kept_globals = count_changed(global, [&](std::uint32_t f32) {
      return global_back(f32) != f32 && same_number(decode(kF32, f32), decode(kF32, global_back(f32)), factor) ? ~f32 : f32;
    });
    const std::string unknown = factor == 0 ? "" : "the factor " + power_text(factor) + " between these and the global scales is not kept";
    const auto what = [&](const std::string& destroyed, bool harmless) {
      return harmless ? unknown : destroyed + (unknown.empty() ? "" : ", and " + unknown);
    };
    const std::int64_t scales = count_changed(scale, scale_back), globals = count_changed(global, global_back);
    add_loss(
        losses, roles.scale,
        what("scales below " + power_text(-6 - factor) + " and negative ones become 0, NaNs lose their sign", scales == kept_scales && factor != 0),
        scales, kept_scales);
    add_loss(losses, roles.global, what("global scales may overflow", globals == kept_globals && factor != 0), globals, kept_globals);
    scale = mapped(scale, 8, byte_scale);
    global = mapped(global, 32, global_scale);
  }
}

void nvfp4_values_back(layout::LayerUnits& units, const Setting& setting) {
  for (const ScaleRoles& roles : kScaleRoles) {
    layout::Units& scale = of(units, roles.scale);
    layout::Units& global = of(units, roles.global);
    scale = mapped(scale, 8, [](std::uint32_t byte) { return nvfp4_scale_back(static_cast<std::uint8_t>(byte)); });
    global = mapped(global, 32, [&](std::uint32_t f32) { return nvfp4_global_scale_back(f32, setting.params_dtype); });
  }
}

void fp8_values(layout::LayerUnits& units, const Setting& setting, std::vector<layout::Loss>& losses) {
  for (const ScaleRoles& roles : kScaleRoles) {
    layout::Units& scale = of(units, roles.scale);
    const auto make = [&](std::uint32_t f32) { return fp8_scale(f32, setting.params_dtype); };
    add_loss(losses, roles.scale, "fp32 scales are rounded into " + std::string(name_of(setting.params_dtype)) + " or overflow there",
             count_changed(scale, [&](std::uint32_t f32) { return fp8_scale_back(make(f32), setting.params_dtype); }));
    scale = mapped(scale, 16, make);
  }
}

void fp8_values_back(layout::LayerUnits& units, const Setting& setting) {
  for (const ScaleRoles& roles : kScaleRoles) {
    layout::Units& scale = of(units, roles.scale);
    scale = mapped(scale, 32, [&](std::uint32_t code) { return fp8_scale_back(code, setting.params_dtype); });
  }
}

}  // namespace mx::families::marlin
