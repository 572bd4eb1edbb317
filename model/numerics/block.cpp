#include "model/numerics/block.hpp"

#include <array>

#include "model/fault.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using fault::Fault;
using fault::planted;

constexpr std::array kBlockFormats{kMxfp8E4m3, kMxfp8E5m2, kMxfp6E2m3,     kMxfp6E3m2,   kMxfp4,      kMxint8Block, kMxfp8E4m3fnuz, kNvfp4,
                                   kFp8E4m3,   kFp8E5m2,   kFp8E4m3Square, kFp8Group128, kFp8Group32, kFp4Group128, kFp4Group32,    kFp6Group32};

}  // namespace

std::span<const BlockFormat> all_block_formats() { return kBlockFormats; }

const BlockFormat& block_format_named(std::string_view name) {
  return is_block_rules(name) ? block_format_of_text(name) : rows::named(kBlockFormats, "block format", name);
}

Value scaled_value(std::uint32_t code, std::uint32_t scale, const BlockFormat& format) {
  Value factor = decode(*format.scale, scale);
  if (planted(Fault::block_ignores_nan_scale) && factor.cls == ValueClass::nan) factor = decode(*format.scale, scale - 1U);
  return exact_product(decode(*format.element, code), factor);
}

std::uint32_t dequantize(std::uint32_t code, std::uint32_t scale, const BlockFormat& format) {
  const Value value = scaled_value(code, scale, format);
  return value.cls == ValueClass::nan ? f32::kNan : to_f32(value);
}

}  // namespace mx
