// What the engine's method makes of FP8 where the device's codes are e4m3fnuz, which is the same for every backend. Said a second time in the host's
// own arithmetic (reading.cpp).

#include <rapidcheck.h>

#include <array>
#include <string>

#include "model/families/convert.hpp"
#include "model/families/matrix.hpp"
#include "props/families/layers.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::CanonicalLayer;
using layout::Role;
using layout::WeightFormat;

constexpr std::array kFormats{WeightFormat::fp8_tensor, WeightFormat::fp8_channel, WeightFormat::fp8_block};
constexpr std::int64_t kTile = 128;

/// A layer of any codes, and of scales that are numbers.
CanonicalLayer random_layer(const families::Setting& setting) {
  CanonicalLayer layer{setting.sizes, setting.form, {}};
  for (const Role role : layout::kAllRoles) {
    if (!layout::has_role(setting.form.format, role) || layout::is_bias(role)) continue;
    layer[role] = random_bytes(layout::canonical(role, setting.sizes, setting.form).bytes());
    // Neither Inf nor NaN: the exponent's highest bit is clear.
    if (layout::is_scale(role)) {
      for (std::size_t top = 3; top < layer[role].size(); top += 4) layer[role][top] &= 0x3FU;
    }
  }
  return layer;
}

CanonicalLayer layer_handed_on(const CanonicalLayer& layer, const families::Setting& setting) {
  CanonicalLayer made = layer;
  for (const Role role : layout::kAllRoles) {
    const int bits = layout::is_scale(role) ? 32 : 8;
    for (std::int64_t unit = 0; unit < static_cast<std::int64_t>(layer[role].size()) * 8 / bits; ++unit)
      put_unit(made[role], unit, bits, handed_on(role, setting, unit_at(layer[role], unit, bits)));
  }
  return made;
}

}  // namespace

Outcome law_one_fnuz(const Law& law) {
  return check_property(law, [] {
    for (const WeightFormat format : kFormats) {
      families::Setting setting{.sizes = {pick(1, 2), kTile * pick(1, 2), kTile, 1}, .padded = {}, .form = {format, layout::SourceOrder::standard}};
      setting.padded = setting.sizes;
      setting.arch = families::Arch::gfx942;
      setting.leaves_e4m3fn = pick(0, 3) == 0;
      setting.has_bias = false;
      const CanonicalLayer layer = random_layer(setting), wanted = layer_handed_on(layer, setting);
      int tried = 0;
      for (const families::BackendLayout& row : families::all_backend_layouts()) {
        if (row.format != format || row.build != families::as_loaded) continue;
        for (const deployment::Engine engine : families::kConversionEngines) {
          if (!row.converts(setting.form, engine)) continue;
          setting.engine = engine;
          ++tried;
          for (const layout::PackedTensor& tensor : families::convert(layer, row, setting).tensors) {
            if (tensor.bytes != wanted[tensor.role]) RC_FAIL(std::string(row.backend) + " has other " + std::string(layout::name_of(tensor.role)));
          }
        }
      }
      RC_ASSERT(tried > 1);
    }
  });
}

}  // namespace mx::props
